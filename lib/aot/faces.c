/* Other faces of the functions: DLPack tensors, TVM-FFI's packed arguments, a PyTorch operator. The structs that they read are those
 * of dlpack.h (version 1) and tvm/ffi/c_api.h, declared from their public documentation. */
#include <string.h>

#include "lib/aot/function.h"

/* Functions whose tensors have a known type of elements; kernels have a launch shape, which has no place in packed arguments. */
static bool has_faces(const aot_function *f)
{
    bool any = false;
    if (!f->plan) return false;
    for (size_t i = 0; i < f->param_count; i++) {
        const aot_param *p = &f->bodies[0].params[i];
        if (p->host.kind == HOST_MEMREF) any = true;
        if (p->host.kind == HOST_MEMREF && p->unit == 0) return false;
    }
    return any;
}

static void put_declarations(const aot_writer *w, const aot_function *f, cute_buffer *out)
{
    const aot_body *body = &f->bodies[0];
    for (size_t i = 0; i < f->param_count; i++) {
        const aot_param *p = &body->params[i];
        if (p->host.kind == HOST_MEMREF) {
            cute_buffer_printf(out, "const void *%s, ", p->name);
        } else if (aot_is_number(p)) {
            for (size_t k = 0; k < p->host.leaf_count; k++) {
                const char *type = aot_scalar_type(aot_part_dtype(p, k));
                cute_buffer_printf(out, "%s%s%s, ", type ? type : "void *", type ? " " : "",
                                   aot_part_name(w, p, k));
            }
        }
    }
}

void aot_put_face_declarations(const aot_writer *w, const aot_function *f, cute_buffer *out)
{
    if (!has_faces(f)) return;
    cute_buffer_printf(
        out, "/* The same with a DLTensor (dlpack.h) for each tensor. */\n%s_status %s_dlpack_workspace(",
        w->prefix, f->symbol);
    put_declarations(w, f, out);
    cute_buffer_printf(out, "size_t *bytes);\n%s_status %s_dlpack(", w->prefix, f->symbol);
    put_declarations(w, f, out);
    cute_buffer_puts(out, "void *workspace, size_t workspace_bytes, struct CUstream_st *stream);\n");
}

/* ---- the source ---- */

static const char types_text[] =
    "/* ---- DLPack and TVM-FFI ---- */\n\n"
    "typedef struct aot_dltensor {\n    void *data;\n    int32_t device_type, device_id, ndim;\n    uint8_t "
    "code, bits;\n"
    "    uint16_t lanes;\n    int64_t *shape, *strides;\n    uint64_t byte_offset;\n} aot_dltensor;\n\n"
    "typedef struct aot_any {\n    int32_t type;\n    uint32_t zero;\n    union {\n        int64_t "
    "integer;\n        double real;\n"
    "        void *pointer;\n    } value;\n} aot_any;\n\n"
    "/* Checks device, type and rank, and copies address, shape and strides (NULL: row-major). */\n"
    "AOT_MAYBE static int aot_from_dlpack(const char *function, const char *name, const void *given, int "
    "rank, int code, int bits,\n"
    "                                     void **data, int64_t *shape, int64_t *strides)\n{\n"
    "    enum { CUDA = 2, CUDA_MANAGED = 13 };\n    const aot_dltensor *t = (const aot_dltensor *)given;\n   "
    " int64_t next = 1;\n"
    "    int device = 0;\n"
    "    if (!t) return aot_null(function, name);\n"
    "    if (t->device_type != CUDA && t->device_type != CUDA_MANAGED)\n"
    "        return aot_fail(AOT_ARGUMENT, \"%s: expected '%s' on a CUDA device, got DLPack's device type "
    "%d\", function, name,\n"
    "                        (int)t->device_type);\n"
    "    if (__atomic_load_n(&aot_cuda_ready, __ATOMIC_ACQUIRE) && aot_cuda.context_device(&device) == 0 && "
    "device != t->device_id)\n"
    "        return aot_fail(AOT_ARGUMENT, \"%s: expected '%s' on device %d, the current one, got %d\", "
    "function, name, device,\n"
    "                        (int)t->device_id);\n"
    "    if (t->code != code || t->bits != bits || t->lanes != 1)\n"
    "        return aot_fail(AOT_ARGUMENT,\n"
    "                        \"%s: expected elements of DLPack's type code %d with %d bits in '%s', got code "
    "%d with %d bits and %d lanes\",\n"
    "                        function, code, bits, name, (int)t->code, (int)t->bits, (int)t->lanes);\n"
    "    if (t->ndim != rank)\n"
    "        return aot_fail(AOT_ARGUMENT, \"%s: expected %d dimensions of '%s', got %d\", function, rank, "
    "name, (int)t->ndim);\n"
    "    *data = t->data ? (char *)t->data + t->byte_offset : NULL;\n"
    "    for (int i = rank; i-- > 0;) {\n        shape[i] = t->shape[i];\n        strides[i] = t->strides ? "
    "t->strides[i] : next;\n"
    "        if (!t->strides && __builtin_mul_overflow(next, shape[i], &next))\n"
    "            return aot_fail(AOT_ARGUMENT, \"%s: the size of '%s' exceeds 64 bits\", function, name);\n  "
    "  }\n    return AOT_OK;\n}\n\n"
    "/* TVM-FFI's own functions, which its library has. */\n"
    "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
    "__attribute__((weak)) void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *message);\n"
    "__attribute__((weak)) void *TVMFFIEnvGetStream(int32_t device_type, int32_t device_id);\n"
    "#ifdef __cplusplus\n}\n#endif\n\n"
    "AOT_MAYBE static int aot_raise(int status)\n{\n    if (status == AOT_OK) return 0;\n"
    "    if (TVMFFIErrorSetRaisedFromCStr)\n"
    "        TVMFFIErrorSetRaisedFromCStr(status == AOT_ARGUMENT || status == AOT_WORKSPACE ? \"ValueError\" "
    ": \"RuntimeError\", aot_message);\n"
    "    return -1;\n}\n\n"
    "/* The tensor of a packed argument; NULL: it is something else. */\n"
    "AOT_MAYBE static const aot_dltensor *aot_tensor_of(const aot_any *any)\n{\n"
    "    enum { DLTENSOR = 7, TENSOR = 70, OBJECT_HEADER = 24 };\n"
    "    if (any->type == DLTENSOR) return (const aot_dltensor *)any->value.pointer;\n"
    "    return any->type == TENSOR ? (const aot_dltensor *)(const void *)((const char *)any->value.pointer "
    "+ OBJECT_HEADER) : NULL;\n}\n"
    "AOT_MAYBE static bool aot_integer_of(const aot_any *any, int64_t *out)\n{\n    *out = "
    "any->value.integer;\n"
    "    return any->type == 1 || any->type == 2;\n}\n"
    "AOT_MAYBE static bool aot_real_of(const aot_any *any, double *out)\n{\n"
    "    *out = any->type == 3 ? any->value.real : (double)any->value.integer;\n"
    "    return any->type == 1 || any->type == 3;\n}\n"
    "AOT_MAYBE static bool aot_pointer_of(const aot_any *any, void **out)\n{\n    *out = any->type == 0 ? "
    "NULL : any->value.pointer;\n"
    "    return any->type == 0 || any->type == 4;\n}\n\n";

void aot_put_face_types(const aot_writer *w, cute_buffer *out)
{
    for (size_t i = 0; i < w->function_count; i++)
        if (has_faces(&w->functions[i])) {
            cute_buffer_puts(out, types_text);
            return;
        }
}

/* DLPack's type code and bits. */
static void dlpack_type(const char *dtype, int *code, int *bits)
{
    static const struct {
        const char *dtype;
        int code, bits;
    } types[] = {
        {"f64", 2, 64},  {"f32", 2, 32}, {"tf32", 2, 32}, {"f16", 2, 16}, {"bf16", 4, 16}, {"e4m3", 10, 8},
        {"e5m2", 12, 8}, {"i1", 6, 8},   {"i8", 0, 8},    {"i16", 0, 16}, {"i32", 0, 32},  {"i64", 0, 64},
        {"u8", 1, 8},    {"u16", 1, 16}, {"u32", 1, 32},  {"u64", 1, 64},
    };
    *code = *bits = 0;
    for (size_t i = 0; dtype && i < sizeof types / sizeof *types; i++)
        if (strcmp(dtype, types[i].dtype) == 0) {
            *code = types[i].code;
            *bits = types[i].bits;
        }
}

static void put_conversions(const aot_writer *w, const aot_function *f, cute_buffer *out)
{
    for (size_t i = 0; i < f->param_count; i++) {
        const aot_param *p = &f->bodies[0].params[i];
        int code, bits;
        if (p->host.kind != HOST_MEMREF) continue;
        dlpack_type(p->host.dtype, &code, &bits);
        cute_buffer_printf(out, "    %s_tensor%d aot_%zu;\n", w->prefix, p->modes, i);
        if (!p->modes) cute_buffer_puts(out, "    int64_t none[1];\n");
        cute_buffer_printf(out, "    AOT_TRY(aot_from_dlpack(\"%s_dlpack\", ", f->symbol);
        aot_put_string(p->host.name, out);
        cute_buffer_printf(out, ", %s, %d, %d, %d, &aot_%zu.data, ", p->name, p->modes, code, bits, i);
        if (p->modes)
            cute_buffer_printf(out, "aot_%zu.shape, aot_%zu.strides));\n", i, i);
        else
            cute_buffer_puts(out, "none, none));\n");
    }
}

static void put_names(const aot_writer *w, const aot_function *f, cute_buffer *out)
{
    for (size_t i = 0; i < f->param_count; i++) {
        const aot_param *p = &f->bodies[0].params[i];
        if (p->host.kind == HOST_MEMREF)
            cute_buffer_printf(out, "&aot_%zu, ", i);
        else if (aot_is_number(p))
            for (size_t k = 0; k < p->host.leaf_count; k++)
                cute_buffer_printf(out, "%s, ", aot_part_name(w, p, k));
    }
}

/* NAME_dlpack, or with `suffix` another function: converts the tensors and calls the function with `passed`, which `declared` declares. */
static void put_dlpack(const aot_writer *w, const aot_function *f, const char *suffix, const char *declared,
                       const char *passed, cute_buffer *out)
{
    cute_buffer_printf(out, "%s_status %s_dlpack%s(", w->prefix, f->symbol, suffix);
    put_declarations(w, f, out);
    cute_buffer_printf(out, "%s)\n{\n", declared);
    put_conversions(w, f, out);
    cute_buffer_printf(out, "    return %s%s(", f->symbol, suffix);
    put_names(w, f, out);
    cute_buffer_printf(out, "%s);\n}\n\n", passed);
}

/* One packed argument. */
static void put_unpack(const aot_writer *w, const aot_function *f, const aot_param *p, size_t k, size_t at,
                       cute_buffer *out)
{
    const char *dtype = p->host.kind == HOST_MEMREF ? NULL : aot_part_dtype(p, k);
    const char *name = p->host.kind == HOST_MEMREF ? p->name : aot_part_name(w, p, k),
               *type = aot_scalar_type(dtype);
    bool real = type && (!strcmp(type, "float") || !strcmp(type, "double"));
    const char *kind = p->host.kind == HOST_MEMREF ? "a tensor"
                       : real                      ? "a number"
                       : type                      ? "an integer"
                                                   : "a pointer";
    if (p->host.kind == HOST_MEMREF)
        cute_buffer_printf(out, "    const void *%s = aot_tensor_of(&args[%zu]);\n    if (!%s)", name, at,
                           name);
    else
        cute_buffer_printf(out, "    %s aot_at_%zu;\n    if (!aot_%s_of(&args[%zu], &aot_at_%zu))",
                           real   ? "double"
                           : type ? "int64_t"
                                  : "void *",
                           at,
                           real   ? "real"
                           : type ? "integer"
                                  : "pointer",
                           at, at);
    cute_buffer_printf(out,
                       "\n        return aot_raise(aot_fail(AOT_ARGUMENT, \"%s: expected %s for argument %zu "
                       "(%s), got type %%d\", (int)args[%zu].type));\n",
                       f->symbol, kind, at, name, at);
    if (p->host.kind != HOST_MEMREF)
        cute_buffer_printf(out, "    %s%s%s = (%s)aot_at_%zu;\n", type ? type : "void *", type ? " " : "",
                           name, type ? type : "void *", at);
}

static void put_packed(const aot_writer *w, const aot_function *f, cute_buffer *out)
{
    size_t at = 0, tensor = 0;
    cute_buffer body = {0};
    for (size_t i = f->param_count; i-- > 0;)
        if (f->bodies[0].params[i].host.kind == HOST_MEMREF) tensor = i;
    for (size_t i = 0; i < f->param_count; i++) {
        const aot_param *p = &f->bodies[0].params[i];
        size_t parts = p->host.kind == HOST_MEMREF ? 1 : aot_is_number(p) ? p->host.leaf_count : 0;
        for (size_t k = 0; k < parts; k++) put_unpack(w, f, p, k, at++, &body);
    }
    cute_buffer_printf(
        out,
        "#ifdef __cplusplus\nextern \"C\"\n#endif\nint __tvm_ffi_%s(void *handle, const aot_any *args, "
        "int32_t count, aot_any *result);\n"
        "/* The arguments of %s, then the workspace: a tensor of bytes on the device, or None. */\n"
        "int __tvm_ffi_%s(void *handle, const aot_any *args, int32_t count, aot_any *result)\n{\n"
        "    void *workspace = NULL, *stream = NULL;\n    size_t workspace_bytes = 0;\n    (void)handle, "
        "(void)result;\n"
        "    if (count < %zu || count > %zu)\n"
        "        return aot_raise(aot_fail(AOT_ARGUMENT, \"%s: expected %zu or %zu arguments, got %%d\", "
        "(int)count));\n",
        f->symbol, f->symbol, f->symbol, at, at + 1, f->symbol, at, at + 1);
    cute_buffer_append(out, cute_buffer_text(&body), body.length);
    cute_buffer_release(&body);
    cute_buffer_printf(
        out,
        "    const aot_dltensor *room = count > %zu ? aot_tensor_of(&args[%zu]) : NULL;\n"
        "    if (count > %zu && !room && args[%zu].type != 0)\n"
        "        return aot_raise(aot_fail(AOT_ARGUMENT, \"%s: expected a tensor or None for the workspace, "
        "got type %%d\", (int)args[%zu].type));\n"
        "    if (room) {\n        workspace = (char *)room->data + room->byte_offset;\n        "
        "workspace_bytes = room->bits / 8;\n"
        "        for (int i = 0; i < room->ndim; i++) workspace_bytes *= (size_t)room->shape[i];\n    }\n",
        at, at, at, at, f->symbol, at);
    cute_buffer_printf(out,
                       "    if (TVMFFIEnvGetStream)\n        stream = TVMFFIEnvGetStream(2, ((const "
                       "aot_dltensor *)%s)->device_id);\n"
                       "    return aot_raise(%s_dlpack(",
                       f->bodies[0].params[tensor].name, f->symbol);
    for (size_t i = 0; i < f->param_count; i++) {
        const aot_param *p = &f->bodies[0].params[i];
        if (p->host.kind == HOST_MEMREF)
            cute_buffer_printf(out, "%s, ", p->name);
        else if (aot_is_number(p))
            for (size_t k = 0; k < p->host.leaf_count; k++)
                cute_buffer_printf(out, "%s, ", aot_part_name(w, p, k));
    }
    cute_buffer_puts(out, "workspace, workspace_bytes, (struct CUstream_st *)stream));\n}\n\n");
}

void aot_put_faces(const aot_writer *w, const aot_function *f, cute_buffer *out)
{
    if (!has_faces(f)) return;
    put_dlpack(w, f, "_workspace", "size_t *bytes", "bytes", out);
    put_dlpack(w, f, "", "void *workspace, size_t workspace_bytes, struct CUstream_st *stream",
               "workspace, workspace_bytes, stream", out);
    put_packed(w, f, out);
}

/* ---- PyTorch ---- */

static void put_torch_type(const char *dtype, cute_buffer *out)
{
    static const char *const types[][2] = {
        {"f64", "kDouble"},    {"f32", "kFloat"},          {"tf32", "kFloat"},       {"f16", "kHalf"},
        {"bf16", "kBFloat16"}, {"e4m3", "kFloat8_e4m3fn"}, {"e5m2", "kFloat8_e5m2"}, {"i1", "kBool"},
        {"i8", "kChar"},       {"i16", "kShort"},          {"i32", "kInt"},          {"i64", "kLong"},
        {"u8", "kByte"},       {"u16", "kUInt16"},         {"u32", "kUInt32"},       {"u64", "kUInt64"},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(dtype, types[i][0]) == 0) cute_buffer_printf(out, "at::%s", types[i][1]);
}

static void put_torch_params(const aot_writer *w, const aot_function *f, bool schema, cute_buffer *out)
{
    size_t at = 0;
    for (size_t i = 0; i < f->param_count; i++) {
        const aot_param *p = &f->bodies[0].params[i];
        if (p->host.kind == HOST_MEMREF) {
            /* Any tensor may be an output. */
            cute_buffer_puts(out, at ? ", " : "");
            if (schema)
                cute_buffer_printf(out, "Tensor(%c!) %s", (int)('a' + at % 26), p->name);
            else
                cute_buffer_printf(out, "at::Tensor %s", p->name);
            at++;
        } else if (aot_is_number(p)) {
            for (size_t k = 0; k < p->host.leaf_count; k++) {
                const char *type = aot_scalar_type(aot_part_dtype(p, k));
                bool real = type && (!strcmp(type, "float") || !strcmp(type, "double"));
                cute_buffer_printf(out, "%s%s %s", at++ ? ", " : "",
                                   real ? (schema ? "float" : "double") : (schema ? "int" : "int64_t"),
                                   aot_part_name(w, p, k));
            }
        }
    }
}

static void put_torch_function(const aot_writer *w, const aot_function *f, cute_buffer *out)
{
    const char *first = "";
    cute_buffer_printf(out, "void %s(", f->symbol + strlen(w->prefix) + 1);
    put_torch_params(w, f, false, out);
    cute_buffer_puts(out, ")\n{\n");
    for (size_t i = 0; i < f->param_count; i++) {
        const aot_param *p = &f->bodies[0].params[i];
        if (p->host.kind != HOST_MEMREF) continue;
        if (!*first) {
            first = p->name;
            cute_buffer_printf(out, "    const c10::cuda::CUDAGuard guard(%s.device());\n", first);
        }
        cute_buffer_printf(out, "    const %s_tensor%d aot_%zu = view<%s_tensor%d, %d>(%s, ", w->prefix,
                           p->modes, i, w->prefix, p->modes, p->modes, p->name);
        put_torch_type(p->host.dtype, out);
        cute_buffer_printf(out, ", \"%s\");\n", p->name);
    }
    cute_buffer_puts(out, "    size_t bytes = 0;\n");
    for (int pass = 0; pass < 2; pass++) {
        cute_buffer_printf(out, "    check(::%s%s(", f->symbol, pass ? "" : "_workspace");
        for (size_t i = 0; i < f->param_count; i++) {
            const aot_param *p = &f->bodies[0].params[i];
            if (p->host.kind == HOST_MEMREF) {
                cute_buffer_printf(out, "&aot_%zu, ", i);
                continue;
            }
            for (size_t k = 0; aot_is_number(p) && k < p->host.leaf_count; k++) {
                const char *type = aot_scalar_type(aot_part_dtype(p, k));
                if (type)
                    cute_buffer_printf(out, "static_cast<%s>(%s), ", type, aot_part_name(w, p, k));
                else
                    cute_buffer_printf(out, "reinterpret_cast<void *>(%s), ", aot_part_name(w, p, k));
            }
        }
        if (pass)
            cute_buffer_puts(
                out,
                "bytes ? workspace.data_ptr() : nullptr, bytes, at::cuda::getCurrentCUDAStream()));\n}\n\n");
        else
            cute_buffer_printf(out,
                               "&bytes));\n    const at::Tensor workspace = "
                               "at::empty({static_cast<int64_t>(bytes)}, %s.options().dtype(at::kByte));\n",
                               first);
    }
}

void aot_put_torch(const aot_writer *w, cute_buffer *out)
{
    cute_buffer_printf(out,
                       "// PyTorch operators of %s: torch.ops.%s. Built with the object, for example by\n"
                       "//   torch.utils.cpp_extension.load(\"%s\", [\"%s_torch.cpp\"], "
                       "extra_ldflags=[\"%s.o\"], with_cuda=True, is_python_module=False)\n"
                       "#include <ATen/ATen.h>\n#include <ATen/cuda/CUDAContext.h>\n#include "
                       "<c10/cuda/CUDAGuard.h>\n#include <torch/library.h>\n\n"
                       "#include \"%s.h\"\n\nnamespace {\n\n"
                       "void check(%s_status status)\n{\n    TORCH_CHECK(status == %s_OK, %s_error());\n}\n\n"
                       "template <class T, int rank> T view(const at::Tensor &tensor, at::ScalarType type, "
                       "const char *name)\n{\n"
                       "    TORCH_CHECK(tensor.is_cuda(), \"expected '\", name, \"' on a CUDA device, got "
                       "\", tensor.device());\n"
                       "    TORCH_CHECK(tensor.scalar_type() == type, \"expected elements of \", type, \" in "
                       "'\", name, \"', got \", tensor.scalar_type());\n"
                       "    TORCH_CHECK(tensor.dim() == rank, \"expected \", rank, \" dimensions of '\", "
                       "name, \"', got \", tensor.dim());\n"
                       "    T out;\n    out.data = tensor.data_ptr();\n"
                       "    for (int i = 0; i < rank; i++) {\n        out.shape[i] = tensor.size(i);\n       "
                       " out.strides[i] = tensor.stride(i);\n    }\n"
                       "    return out;\n}\n\n",
                       w->prefix, w->prefix, w->prefix, w->prefix, w->prefix, w->prefix, w->prefix, w->upper,
                       w->prefix);
    for (size_t i = 0; i < w->function_count; i++)
        if (has_faces(&w->functions[i])) put_torch_function(w, &w->functions[i], out);
    cute_buffer_printf(out, "} // namespace\n\nTORCH_LIBRARY(%s, library)\n{\n", w->prefix);
    for (size_t i = 0; i < w->function_count; i++) {
        const aot_function *f = &w->functions[i];
        if (!has_faces(f)) continue;
        const char *name = f->symbol + strlen(w->prefix) + 1;
        cute_buffer_printf(out, "    library.def(\"%s(", name);
        put_torch_params(w, f, true, out);
        cute_buffer_printf(out, ") -> ()\");\n    library.impl(\"%s\", c10::kCUDA, &%s);\n", name, name);
    }
    cute_buffer_puts(out, "}\n");
}
