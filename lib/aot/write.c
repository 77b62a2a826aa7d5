/* Writes the header and the source of a library: types and functions, images, and the run-time part (runtime.h). */
#include "lib/aot/aot.h"

#include <ctype.h>
#include <string.h>

#include "lib/aot/function.h"
#include "lib/base/diagnostics/diag.h"

static const char runtime_text[] = {
#include "aot_runtime.inc"
    0};

/* ---- names ---- */

const char *cute_aot_identifier(cute_arena *arena, const char *text)
{
    static const char *const keywords[] = {
        "auto",     "break",    "case",      "char",     "const",     "continue", "default",  "do",
        "double",   "else",     "enum",      "extern",   "float",     "for",      "goto",     "if",
        "inline",   "int",      "long",      "register", "restrict",  "return",   "short",    "signed",
        "sizeof",   "static",   "struct",    "switch",   "typedef",   "union",    "unsigned", "void",
        "volatile", "while",    "and",       "bool",     "catch",     "class",    "delete",   "explicit",
        "export",   "false",    "friend",    "mutable",  "namespace", "new",      "not",      "operator",
        "or",       "private",  "protected", "public",   "template",  "this",     "throw",    "true",
        "try",      "typename", "using",     "virtual",  "xor",       "alignas",  "alignof",
    };
    bool digit = isdigit((unsigned char)*text) || !*text;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (strcmp(text, keywords[i]) == 0) return cute_arena_printf(arena, "%s_", text);
    char *id = (char *)(uintptr_t)cute_arena_printf(arena, "%s%s", digit ? "_" : "", text);
    for (char *at = id; at && *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '_') *at = '_';
    return id;
}

void aot_put_string(const char *text, cute_buffer *out)
{
    cute_buffer_putc(out, '"');
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at == '"' || *at == '\\')
            cute_buffer_printf(out, "\\%c", *at);
        else if (*at < ' ' || *at == '?' || *at > '~')
            cute_buffer_printf(out, "\\%03o", *at);
        else
            cute_buffer_putc(out, (char)*at);
    }
    cute_buffer_putc(out, '"');
}

void aot_put_comment(const char *text, cute_buffer *out)
{
    for (; *text; text++)
        cute_buffer_putc(out, *text == '*' || *text == '\\' || (unsigned char)*text < ' ' ? '_' : *text);
}

static const char *upper_case(cute_arena *arena, const char *text)
{
    char *copy = cute_arena_copy(arena, text, strlen(text));
    for (char *at = copy; at && *at; at++) *at = (char)toupper((unsigned char)*at);
    return copy;
}

/* ---- the functions of the groups ---- */

static cute_status read_plan(aot_writer *w, const cute_aot_group *group, const char *text, size_t length,
                             aot_function *f, aot_body *body)
{
    json_t *json;
    CUTE_TRY(cute_json_parse(group->label, text, length, &json, w->diag));
    CUTE_TRY(host_plan_read(w->arena, group->label, json, &body->plan, w->diag));
    if (body->plan.refused)
        return cute_fail(w->diag, CUTE_INVALID, &(cute_place){.file = group->label},
                         "host function '%s' has no launch plan: %s", body->plan.name, body->plan.refused);
    size_t temporaries = json_array_size(json_object_get(json, "temporaries"));
    if (temporaries > f->temporary_count) f->temporary_count = temporaries;
    f->param_count = body->plan.param_count;
    return aot_read_plan_params(w, group->label, body, &f->leaf_count);
}

/* Whether some plan of the module launches the kernel, with the field `key` unless it is NULL. */
static bool is_launched(const cute_module *module, const char *kernel, const char *key)
{
    const char *text;
    size_t length;
    bool found = false;
    for (size_t i = 0; !found && cute_module_plan_at(module, i, &text, &length); i++) {
        json_t *json = json_loadb(text, length, 0, NULL);
        const json_t *launches = json_object_get(json, "launches");
        for (size_t k = 0; k < json_array_size(launches); k++) {
            const json_t *launch = json_array_get(launches, k);
            const char *name = json_string_value(json_object_get(launch, "kernel"));
            found = found || (name && strcmp(name, kernel) == 0 && (!key || json_object_get(launch, key)));
        }
        json_decref(json);
    }
    return found;
}

static cute_status fail_group(const aot_writer *w, size_t group, const char *kind, const char *name,
                              const char *problem)
{
    cute_fail(w->diag, CUTE_INVALID, &(cute_place){.file = w->input->groups[group].label}, "%s '%s' %s", kind,
              name, problem);
    cute_note(w->diag, &(cute_place){.file = w->input->groups[0].label},
              "inputs of several architectures have the same functions with the same parameters");
    return CUTE_INVALID;
}

static bool same_declarations(const aot_writer *w, const aot_function *f, size_t group)
{
    cute_buffer first = {0}, other = {0};
    aot_function twin = *f;
    twin.bodies = &f->bodies[group];
    aot_put_declarations(w, f, &first);
    aot_put_declarations(w, &twin, &other);
    bool same = strcmp(cute_buffer_text(&first), cute_buffer_text(&other)) == 0;
    cute_buffer_release(&first);
    cute_buffer_release(&other);
    return same;
}

/* Reads function `name` in all groups. */
static cute_status read_function(aot_writer *w, const char *name, bool plan, aot_function *f)
{
    aot_body *bodies = cute_arena_array(w->arena, w->input->group_count, sizeof *bodies);
    const char *id = cute_aot_identifier(w->arena, name);
    *f = (aot_function){.name = name, .plan = plan, .bodies = bodies};
    f->symbol = id ? cute_arena_printf(w->arena, "%s_%s", w->prefix, id) : NULL;
    if (!bodies || !f->symbol) return cute_fail_memory(w->diag);
    for (size_t g = 0; g < w->input->group_count; g++) {
        const cute_aot_group *group = &w->input->groups[g];
        const char *text;
        size_t length, leaves = f->leaf_count, params = f->param_count, index;
        if (plan) {
            if (cute_module_find_plan(group->module, name, &text, &length, NULL) != CUTE_OK)
                return fail_group(w, g, "host function", name, "is missing");
            CUTE_TRY(read_plan(w, group, text, length, f, &bodies[g]));
        } else {
            if (!aot_kernel_index(group->module, name, &index))
                return fail_group(w, g, "kernel", name, "is missing");
            bodies[g].kernel = cute_module_kernel(group->module, index);
            CUTE_TRY(aot_read_kernel_params(w, group->label, &bodies[g], &f->param_count, &f->leaf_count));
        }
        if (g && (params != f->param_count || !same_declarations(w, f, g)))
            return fail_group(w, g, plan ? "host function" : "kernel", name, "has other parameters");
        if (leaves > f->leaf_count) f->leaf_count = leaves;
    }
    for (size_t i = 0; &w->functions[i] != f; i++)
        if (strcmp(w->functions[i].symbol, f->symbol) == 0)
            return cute_fail(w->diag, CUTE_INVALID, NULL, "'%s' and '%s' have the same name in C, %s",
                             w->functions[i].name, name, f->symbol);
    return CUTE_OK;
}

static cute_status read_functions(aot_writer *w)
{
    const cute_module *module = w->input->groups[0].module;
    const char *text, *name;
    size_t length, plans = 0, kernels = cute_module_kernel_count(module);
    while (cute_module_plan_at(module, plans, &text, &length)) plans++;
    w->functions = cute_arena_array(w->arena, plans + kernels + 1, sizeof *w->functions);
    if (!w->functions) return cute_fail_memory(w->diag);
    for (size_t i = 0; cute_module_plan_at(module, i, &text, &length); i++) {
        json_t *json;
        CUTE_TRY(cute_json_parse(w->input->groups[0].label, text, length, &json, w->diag));
        const char *plan = json_string_value(json_object_get(json, "plan"));
        name = cute_arena_printf(w->arena, "%s", plan ? plan : "");
        bool refused = json_object_get(json, "refused") != NULL;
        json_decref(json);
        if (!name) return cute_fail_memory(w->diag);
        if (refused) {
            cute_report(w->diag, CUTE_WARNING, NULL, "host function '%s' has no launch plan and is left out",
                        name);
            continue;
        }
        CUTE_TRY(read_function(w, name, true, &w->functions[w->function_count]));
        w->function_count++;
    }
    for (size_t i = 0; i < kernels; i++) {
        name = cute_module_kernel(module, i)->name;
        if (is_launched(module, name, NULL)) continue;
        CUTE_TRY(read_function(w, name, false, &w->functions[w->function_count]));
        w->function_count++;
    }
    if (w->function_count) return CUTE_OK;
    return cute_fail(w->diag, CUTE_INVALID, &(cute_place){.file = w->input->groups[0].label},
                     "expected a kernel or a launch plan, got none");
}

/* ---- the header ---- */

static void put_prototypes(const aot_writer *w, const aot_function *f, cute_buffer *out)
{
    if (f->plan) {
        cute_buffer_puts(out, "\n/* Host function '");
        aot_put_comment(f->name, out);
        cute_buffer_printf(out, "'. */\n%s_status %s_workspace(", w->prefix, f->symbol);
        aot_put_declarations(w, f, out);
        cute_buffer_printf(out, "size_t *bytes);\n%s_status %s(", w->prefix, f->symbol);
        aot_put_declarations(w, f, out);
        cute_buffer_puts(out, "void *workspace, size_t workspace_bytes, struct CUstream_st *stream);\n");
    } else {
        cute_buffer_puts(out, "\n/* Kernel '");
        aot_put_comment(f->name, out);
        cute_buffer_printf(out, "'. */\n%s_status %s(", w->prefix, f->symbol);
        aot_put_declarations(w, f, out);
        cute_buffer_puts(out, "struct CUstream_st *stream);\n");
    }
    aot_put_face_declarations(w, f, out);
}

static void put_header(const aot_writer *w, cute_buffer *out)
{
    const char *p = w->prefix, *u = w->upper;
    bool kernels = false;
    for (size_t i = 0; i < w->function_count; i++) kernels = kernels || !w->functions[i].plan;
    cute_buffer_printf(out, "/* %s: kernels compiled ahead of time by cute-link " CUTE_VERSION ", for", p);
    for (size_t i = 0; i < w->input->image_count; i++)
        cute_buffer_printf(out, "%s %s%s", i ? "," : "", w->input->images[i].arch->name,
                           w->input->images[i].binary ? "" : " (PTX)");
    cute_buffer_printf(out,
                       ".\n *\n"
                       " * All functions may be called by any thread that has a current CUDA context. They "
                       "work on the caller's stream (NULL: the\n"
                       " * default stream), do not wait, and allocate nothing, so that a CUDA graph can "
                       "capture them after %s_load. Temporaries\n"
                       " * are in the caller's workspace, aligned to 256 bytes, of as many bytes as "
                       "%s_..._workspace says for the same arguments.\n"
                       " * Link with -ldl where libc does not have dlopen. */\n",
                       p, p);
    cute_buffer_printf(
        out,
        "#ifndef CUTE_AOT_%s_H\n#define CUTE_AOT_%s_H\n\n#include <stdbool.h>\n#include <stddef.h>\n"
        "#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\nstruct CUstream_st; /* "
        "cudaStream_t and "
        "CUstream point to it */\n\n",
        u, u);
    cute_buffer_printf(out,
                       "/* Status codes. */\ntypedef int %s_status;\nenum {\n    %s_OK,\n"
                       "    %s_ARGUMENT,   /* an argument is wrong; nothing was launched */\n"
                       "    %s_WORKSPACE,  /* the workspace is missing, too small or misaligned */\n"
                       "    %s_NO_DRIVER,  /* libcuda.so.1 is missing or too old */\n"
                       "    %s_NO_CONTEXT, /* the thread has no current context */\n"
                       "    %s_NO_IMAGE,   /* no code for this device */\n"
                       "    %s_DRIVER,     /* the driver refused a call */\n"
                       "    %s_LIMIT       /* more than 64 contexts */\n};\n\n",
                       p, u, u, u, u, u, u, u, u);
    cute_buffer_printf(
        out,
        "/* The message of the last failure in this thread; \"\" before the first. */\nconst char "
        "*%s_error(void);\n"
        "/* \"%s_ARGUMENT\" and so on; a static string. */\nconst char *%s_status_name(%s_status status);\n"
        "/* Loads the kernels into the current context, as the first launch in it does otherwise. "
        "*/\n%s_status %s_load(void);\n\n",
        p, u, p, p, p, p);
    if (kernels)
        cute_buffer_printf(out,
                           "/* The shape of a launch; zeros select the values of the kernel's source. "
                           "*/\ntypedef struct %s_shape {\n"
                           "    int64_t grid[3], block[3], cluster[3], dynamic_smem;\n    bool cooperative, "
                           "programmatic;\n} %s_shape;\n\n",
                           p, p);
    cute_buffer_puts(out, "/* Tensors in device memory: the address of the first element, and extents and "
                          "strides in elements. */\n");
    for (int i = 0; i <= AOT_MODES; i++) {
        if (!w->ranks[i]) continue;
        cute_buffer_printf(out, "typedef struct %s_tensor%d {\n    void *data;\n", p, i);
        if (i) cute_buffer_printf(out, "    int64_t shape[%d], strides[%d];\n", i, i);
        cute_buffer_printf(out, "} %s_tensor%d;\n", p, i);
    }
    for (size_t i = 0; i < w->function_count; i++) put_prototypes(w, &w->functions[i], out);
    cute_buffer_puts(out, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

/* ---- the source ---- */

static void put_image(size_t index, const cute_aot_image *image, cute_buffer *out)
{
    cute_buffer_printf(out, "static const uint64_t aot_bytes_%zu[] = {", index);
    const uint8_t *bytes = image->bytes;
    for (size_t i = 0; i < image->length || !i; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, image->length - i < 8 ? image->length - i : 8);
        cute_buffer_printf(out, "%s0x%llx,", i % 64 ? "" : "\n", (unsigned long long)word);
    }
    cute_buffer_puts(out, "\n};\n");
}

static void put_tables(const aot_writer *w, cute_buffer *out)
{
    const cute_aot_input *in = w->input;
    for (size_t g = 0; g < in->group_count; g++) {
        const cute_module *module = in->groups[g].module;
        cute_buffer_printf(out, "static const aot_kernel aot_kernels_%zu[] = {\n", g);
        for (size_t i = 0; i < cute_module_kernel_count(module); i++) {
            const cute_kernel *kernel = cute_module_kernel(module, i);
            bool clusters = kernel->cluster[0] > 0 || is_launched(module, kernel->name, "cluster");
            cute_buffer_puts(out, "    {");
            aot_put_string(kernel->name, out);
            cute_buffer_printf(out, ", %s},\n", clusters ? "true" : "false");
        }
        cute_buffer_puts(out, "};\n");
    }
    for (size_t i = 0; i < in->image_count; i++) put_image(i, &in->images[i], out);
    cute_buffer_puts(out, "static const aot_image aot_images[] = {\n");
    for (size_t i = 0; i < in->image_count; i++) {
        const cute_aot_image *image = &in->images[i];
        cute_buffer_printf(out, "    {%d, %d, %s, %zu, aot_bytes_%zu, aot_kernels_%zu, %zu},\n",
                           image->arch->number, image->arch->variant, image->binary ? "true" : "false",
                           image->group, i, image->group,
                           cute_module_kernel_count(in->groups[image->group].module));
    }
    cute_buffer_puts(out, "};\nenum { AOT_IMAGES = sizeof aot_images / sizeof *aot_images };\n\n");
}

static void put_integer_operations(const aot_writer *w, cute_buffer *out)
{
    static const struct {
        const char *name, *condition, *result;
    } texts[] = {
#define CUTE_INTEGER(id, plan, arith, llvm, condition, result) {plan, #condition, #result},
#include "lib/base/numbers/integers.def"
    };
    for (int i = 0; i < CUTE_INTEGERS; i++) {
        if (!w->operations[i]) continue;
        cute_buffer_printf(out,
                           "static bool aot_op_%s(int64_t a, int64_t b, int width, int64_t *out)\n{\n"
                           "    const uint64_t x = aot_bits(a, width), y = aot_bits(b, width);\n"
                           "    const int64_t s = a, t = b, least = INT64_MIN >> (64 - width);\n"
                           "    (void)x, (void)y, (void)s, (void)t, (void)least;\n"
                           "    if (!(%s)) return false;\n    *out = aot_fit((int64_t)(%s), width);\n    "
                           "return true;\n}\n\n",
                           texts[i].name, texts[i].condition, texts[i].result);
    }
}

/* The function that both passes and the query of the workspace share. */
static void put_call(const aot_writer *w, const aot_function *f, cute_buffer *out)
{
    cute_buffer_printf(out, "static int call_%s(", f->symbol);
    aot_put_declarations(w, f, out);
    cute_buffer_puts(out, "void *workspace, size_t workspace_bytes, size_t *bytes, void *stream)\n{\n");
    cute_buffer_printf(out, "    int64_t leaf[%zu] = {0};\n", f->leaf_count ? f->leaf_count : 1);
    if (f->temporary_count)
        cute_buffer_printf(out, "    aot_temporary temporaries[%zu];\n", f->temporary_count);
    cute_buffer_puts(out, "    aot_run run;\n    uint64_t needed = 0;\n    run.function = ");
    aot_put_string(f->symbol, out);
    cute_buffer_printf(out,
                       ";\n    run.start = false;\n    run.stream = stream;\n    run.temporaries = %s;\n"
                       "    run.temporary_count = 0;\n    run.launched = 0;\n    run.fills = false;\n"
                       "    AOT_TRY(aot_enter(aot_images, AOT_IMAGES, &run.slot));\n",
                       f->temporary_count ? "temporaries" : "NULL");
    if (f->temporary_count)
        cute_buffer_printf(out,
                           "    for (size_t i = 0; i < %zu; i++) {\n        temporaries[i].address = 0;\n"
                           "        temporaries[i].bytes = 0;\n        temporaries[i].fill = -1;\n    }\n    "
                           "run.temporary_count = %zu;\n",
                           f->temporary_count, f->temporary_count);
    cute_buffer_puts(out, "    switch (run.slot->image->group) {\n");
    for (size_t g = 0; g < w->input->group_count; g++) {
        cute_buffer_printf(out, "    case %zu:\n        AOT_TRY(check_%zu_%s(&run, ", g, g, f->symbol);
        aot_put_names(f, out);
        cute_buffer_printf(out, "leaf));\n        AOT_TRY(%s_%zu_%s(&run, %sleaf));\n        break;\n",
                           f->plan ? "plan" : "launch", g, f->symbol, f->plan ? "" : "shape, ");
    }
    cute_buffer_puts(
        out,
        "    }\n    AOT_TRY(aot_place(&run, workspace, &needed));\n    if (bytes) {\n        *bytes = "
        "(size_t)needed;\n"
        "        return AOT_OK;\n    }\n    AOT_TRY(aot_begin(&run, workspace, workspace_bytes, needed));\n"
        "    switch (run.slot->image->group) {\n");
    for (size_t g = 0; g < w->input->group_count; g++)
        cute_buffer_printf(out, "    case %zu: return %s_%zu_%s(&run, %sleaf);\n", g,
                           f->plan ? "plan" : "launch", g, f->symbol, f->plan ? "" : "shape, ");
    cute_buffer_puts(out, "    }\n    return AOT_OK;\n}\n\n");
}

static void put_public(const aot_writer *w, const aot_function *f, cute_buffer *out)
{
    if (f->plan) {
        cute_buffer_printf(out, "%s_status %s_workspace(", w->prefix, f->symbol);
        aot_put_declarations(w, f, out);
        cute_buffer_printf(out,
                           "size_t *bytes)\n{\n    if (!bytes) return aot_null(\"%s_workspace\", "
                           "\"bytes\");\n    return call_%s(",
                           f->symbol, f->symbol);
        aot_put_names(f, out);
        cute_buffer_printf(out, "NULL, 0, bytes, NULL);\n}\n\n%s_status %s(", w->prefix, f->symbol);
        aot_put_declarations(w, f, out);
        cute_buffer_printf(
            out,
            "void *workspace, size_t workspace_bytes, struct CUstream_st *stream)\n{\n    return call_%s(",
            f->symbol);
        aot_put_names(f, out);
        cute_buffer_puts(out, "workspace, workspace_bytes, NULL, stream);\n}\n\n");
        return;
    }
    cute_buffer_printf(out, "%s_status %s(", w->prefix, f->symbol);
    aot_put_declarations(w, f, out);
    cute_buffer_printf(out, "struct CUstream_st *stream)\n{\n    return call_%s(", f->symbol);
    aot_put_names(f, out);
    cute_buffer_puts(out, "NULL, 0, NULL, stream);\n}\n\n");
}

static void put_status_functions(const aot_writer *w, cute_buffer *out)
{
    static const char *const names[] = {"OK",         "ARGUMENT", "WORKSPACE", "NO_DRIVER",
                                        "NO_CONTEXT", "NO_IMAGE", "DRIVER",    "LIMIT"};
    cute_buffer_printf(out,
                       "const char *%s_error(void)\n{\n    return aot_message;\n}\n\nconst char "
                       "*%s_status_name(%s_status status)\n{\n    switch (status) {\n",
                       w->prefix, w->prefix, w->prefix);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cute_buffer_printf(out, "    case AOT_%s: return \"%s_%s\";\n", names[i], w->upper, names[i]);
    cute_buffer_printf(out,
                       "    default: return \"an unknown status\";\n    }\n}\n\n%s_status %s_load(void)\n{\n "
                       "   aot_slot *slot;\n"
                       "    return aot_enter(aot_images, AOT_IMAGES, &slot);\n}\n\n",
                       w->prefix, w->prefix);
}

static cute_status put_functions(aot_writer *w, cute_buffer *out)
{
    for (size_t i = 0; i < w->function_count; i++) {
        const aot_function *f = &w->functions[i];
        for (size_t g = 0; g < w->input->group_count; g++) {
            aot_put_check(w, f, g, out);
            CUTE_TRY(f->plan ? aot_put_plan(w, f, g, out) : aot_put_kernel(w, f, g, out));
        }
        put_call(w, f, out);
        put_public(w, f, out);
    }
    return CUTE_OK;
}

static cute_status put_source(aot_writer *w, cute_buffer *out)
{
    cute_buffer functions = {0};
    size_t most = 1;
    cute_status status = put_functions(w, &functions);
    for (size_t g = 0; g < w->input->group_count; g++) {
        size_t count = cute_module_kernel_count(w->input->groups[g].module);
        if (count > most) most = count;
    }
    cute_buffer_printf(out, "/* %s.h, by cute-link " CUTE_VERSION ". */\n#include \"%s.h\"\n\n", w->prefix,
                       w->prefix);
    if (w->math) cute_buffer_puts(out, "#include <math.h> /* link with -lm */\n");
    cute_buffer_printf(out, "#define AOT_KERNEL_LIMIT %zu\n\n", most);
    cute_buffer_puts(out, runtime_text);
    cute_buffer_putc(out, '\n');
    put_tables(w, out);
    put_integer_operations(w, out);
    put_status_functions(w, out);
    cute_buffer_append(out, cute_buffer_text(&functions), functions.length);
    if (functions.failed) out->failed = true;
    cute_buffer_release(&functions);
    if (status != CUTE_OK) return status;
    aot_put_face_types(w, out);
    for (size_t i = 0; i < w->function_count; i++) aot_put_faces(w, &w->functions[i], out);
    return CUTE_OK;
}

cute_status cute_aot_write(cute_arena *arena, const cute_aot_input *input, cute_aot_output *out,
                           cute_diag *diag)
{
    aot_writer w = {.arena = arena, .input = input, .prefix = input->name, .diag = diag};
    *out = (cute_aot_output){0};
    w.upper = upper_case(arena, input->name);
    if (!w.upper) return cute_fail_memory(diag);
    cute_status status = read_functions(&w);
    if (status == CUTE_OK) status = put_source(&w, &out->source);
    if (status == CUTE_OK) put_header(&w, &out->header);
    if (status == CUTE_OK) aot_put_torch(&w, &out->torch);
    for (size_t i = 0; w.functions && i < w.function_count; i++)
        for (size_t g = 0; w.functions[i].plan && g < input->group_count; g++)
            json_decref((json_t *)(uintptr_t)w.functions[i].bodies[g].plan.json);
    if (status != CUTE_OK) return status;
    bool whole = cute_buffer_ok(&out->header) && cute_buffer_ok(&out->source) && cute_buffer_ok(&out->torch);
    return whole ? CUTE_OK : cute_fail_memory(diag);
}

void cute_aot_release(cute_aot_output *out)
{
    cute_buffer_release(&out->header);
    cute_buffer_release(&out->source);
    cute_buffer_release(&out->torch);
}
