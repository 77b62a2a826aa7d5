/* Parameters of the functions: their declarations in C, and the checks that turn arguments into leaves. */
#include <string.h>

#include "lib/aot/function.h"
#include "lib/launch/data/dtype.h"

/* ---- names and types ---- */

static const struct {
    const char *dtype, *type;
} scalar_types[] = {
    {"f64", "double"},    {"f32", "float"},    {"tf32", "float"},   {"f16", "uint16_t"},
    {"bf16", "uint16_t"}, {"e4m3", "uint8_t"}, {"e5m2", "uint8_t"}, {"i1", "bool"},
    {"i8", "int8_t"},     {"i16", "int16_t"},  {"i32", "int32_t"},  {"i64", "int64_t"},
    {"u8", "uint8_t"},    {"u16", "uint16_t"}, {"u32", "uint32_t"}, {"u64", "uint64_t"},
};

const char *aot_scalar_type(const char *dtype)
{
    for (size_t i = 0; dtype && i < sizeof scalar_types / sizeof *scalar_types; i++)
        if (strcmp(dtype, scalar_types[i].dtype) == 0) return scalar_types[i].type;
    return NULL;
}

void aot_put_leaf(cute_buffer *out, const char *dtype, const char *expression)
{
    const char *type = aot_scalar_type(dtype);
    if (!type)
        cute_buffer_printf(out, "(int64_t)(uintptr_t)%s", expression);
    else if (strcmp(type, "double") == 0)
        cute_buffer_printf(out, "aot_from_f64(%s)", expression);
    else if (strcmp(type, "float") == 0)
        cute_buffer_printf(out, "aot_from_f32((double)%s)", expression);
    else
        cute_buffer_printf(out, "(int64_t)%s", expression);
}

bool aot_is_number(const aot_param *p)
{
    return !p->bytes && (p->host.kind == HOST_SCALAR || p->host.kind == HOST_TUPLE ||
                         p->host.kind == HOST_STRUCT || p->host.kind == HOST_POINTER);
}

const char *aot_part_dtype(const aot_param *p, size_t part)
{
    return p->host.kind == HOST_POINTER  ? NULL
           : p->host.kind == HOST_TUPLE  ? "i64"
           : p->host.kind == HOST_STRUCT ? p->host.fields[part].dtype
                                         : p->host.dtype;
}

const char *aot_part_name(const aot_writer *w, const aot_param *p, size_t part)
{
    bool one = p->host.kind == HOST_SCALAR || p->host.kind == HOST_POINTER;
    const char *name = one ? p->name : cute_arena_printf(w->arena, "%s_%zu", p->name, part);
    return name ? name : "";
}

/* ---- reading ---- */

static cute_status fail_param(const aot_writer *w, const char *label, const aot_param *p, const char *problem)
{
    return cute_fail(w->diag, CUTE_INVALID, &(cute_place){.file = label}, "parameter '%s' %s", p->host.name,
                     problem);
}

static bool list_modes(aot_param *p, const cute_tree *shape, const cute_tree *stride)
{
    if (shape->kind == CUTE_TREE_TUPLE) {
        if (stride->kind != CUTE_TREE_TUPLE || stride->count != shape->count) return false;
        for (uint32_t i = 0; i < shape->count; i++)
            if (!list_modes(p, shape->items[i], stride->items[i])) return false;
        return true;
    }
    if (p->modes == AOT_MODES || shape->kind != CUTE_TREE_INT || stride->kind != CUTE_TREE_INT) return false;
    p->extents[p->modes] = shape->value;
    p->strides[p->modes++] = stride->value;
    return true;
}

static cute_int known_or_not(const int64_t *values, size_t i)
{
    bool known = values[i] != CUTE_DYNAMIC;
    return (cute_int){.known = known, .width = 64, .value = known ? values[i] : 0};
}

static cute_status read_tensor(aot_writer *w, const char *label, aot_param *p)
{
    size_t unknown = 0;
    if (p->host.text) {
        const cute_layout *layout = &p->host.layout.layout;
        if (!layout->shape || !list_modes(p, layout->shape, layout->stride))
            return fail_param(w, label, p,
                              "has an unsupported layout: expected at most 16 leaves with integer strides");
        for (int i = 0; i < p->modes; i++) unknown += !p->extents[i].known + !p->strides[i].known;
        if (unknown + 1 != p->host.leaf_count)
            return fail_param(
                w, label, p, "has a composed layout whose unknown offset or swizzle a tensor cannot provide");
    } else {
        if (p->host.rank > AOT_MODES) return fail_param(w, label, p, "has more than 16 dimensions");
        for (p->modes = 0; (size_t)p->modes < p->host.rank; p->modes++) {
            p->extents[p->modes] = known_or_not(p->host.shape, (size_t)p->modes);
            p->strides[p->modes] = known_or_not(p->host.strides, (size_t)p->modes);
        }
    }
    w->ranks[p->modes] = true;
    return CUTE_OK;
}

/* Names that the functions use themselves. */
static const char *param_name(const aot_writer *w, const aot_param *others, size_t count, const char *name)
{
    static const char *const taken[] = {"workspace", "workspace_bytes", "bytes",  "stream", "shape", "run",
                                        "leaf",      "elements",        "unused", "status", "NULL",  "bool"};
    const char *id = cute_aot_identifier(w->arena, name);
    for (size_t i = 0; id && i < sizeof taken / sizeof *taken; i++)
        if (strcmp(id, taken[i]) == 0 || strncmp(id, "aot_", 4) == 0) {
            id = cute_arena_printf(w->arena, "%s_", id);
            break;
        }
    for (size_t i = 0; id && i < count; i++)
        if (strcmp(id, others[i].name) == 0) return cute_arena_printf(w->arena, "%s_%zu", id, count);
    return id;
}

static cute_status finish_params(aot_writer *w, const char *label, aot_param *params, size_t count,
                                 size_t *leaves)
{
    *leaves = 0;
    for (size_t i = 0; i < count; i++) {
        aot_param *p = &params[i];
        cute_dtype dtype;
        if (!(p->name = param_name(w, params, i, p->host.name))) return cute_fail_memory(w->diag);
        if (p->host.dtype && cute_dtype_find(p->host.dtype, &dtype))
            p->unit = (int)cute_dtype_get(dtype)->bytes;
        if (!p->bytes && p->host.kind == HOST_MEMREF) CUTE_TRY(read_tensor(w, label, p));
        p->first = *leaves;
        *leaves += p->bytes ? 1 : p->host.leaf_count;
    }
    return CUTE_OK;
}

cute_status aot_read_plan_params(aot_writer *w, const char *label, aot_body *body, size_t *leaves)
{
    size_t count = body->plan.param_count;
    body->params = cute_arena_array(w->arena, count + 1, sizeof *body->params);
    if (!body->params) return cute_fail_memory(w->diag);
    for (size_t i = 0; i < count; i++) body->params[i] = (aot_param){.host = body->plan.params[i]};
    return finish_params(w, label, body->params, count, leaves);
}

static bool is_derived(const cute_arg *arg)
{
    return arg->kind == CUTE_ARG_TENSOR_MAP && arg->map_tensor >= 0;
}

/* A kernel's argument as a parameter of a function. */
static cute_status read_kernel_param(aot_writer *w, const char *label, const cute_kernel *kernel,
                                     const cute_arg *arg, aot_param *p)
{
    host_field *fields;
    int64_t size = arg->first < kernel->param_count ? kernel->params[arg->first].size : 0;
    bool tensor = arg->kind == CUTE_ARG_MEMREF;
    p->host = (host_param){.name = arg->name, .type = arg->type, .dtype = arg->dtype, .align = arg->align};
    p->host.leaf_count = 1;
    if (tensor && arg->layout && arg->field_count) {
        p->host.kind = HOST_MEMREF;
        p->host.text = arg->layout;
        p->host.leaf_count = arg->field_count;
        if (cute_value_parse_any(w->arena, arg->layout, strlen(arg->layout), &p->host.layout, NULL, NULL) ==
            CUTE_OK)
            return CUTE_OK;
        return fail_param(w, label, p, "has a malformed layout");
    }
    if (tensor && arg->count > 1 && arg->shape && arg->strides) {
        p->host.kind = HOST_MEMREF;
        p->host.rank = arg->rank;
        p->host.shape = arg->shape;
        p->host.strides = arg->strides;
        p->host.leaf_count = arg->count;
        return CUTE_OK;
    }
    if (arg->kind == CUTE_ARG_POINTER || (tensor && arg->count == 1)) {
        p->host.kind = HOST_POINTER;
        return CUTE_OK;
    }
    if (arg->kind == CUTE_ARG_SCALAR && aot_scalar_type(arg->dtype)) {
        p->host.kind = HOST_SCALAR;
        return CUTE_OK;
    }
    if (arg->kind == CUTE_ARG_STRUCT && arg->field_count && arg->count == 1) {
        if (!(fields = cute_arena_array(w->arena, arg->field_count, sizeof *fields)))
            return cute_fail_memory(w->diag);
        bool typed = true;
        for (size_t i = 0; i < arg->field_count; i++) {
            const cute_field *field = &arg->fields[i];
            fields[i].dtype = field->dtype;
            typed = typed && field->size <= 8 && (aot_scalar_type(field->dtype) || field->size == 8);
        }
        p->host.kind = HOST_STRUCT;
        p->host.fields = fields;
        p->host.leaf_count = arg->field_count;
        if (typed) return CUTE_OK;
    }
    p->host.kind = HOST_OTHER;
    p->bytes = arg->kind == CUTE_ARG_TENSOR_MAP && arg->in_memory ? 0 : size;
    if (arg->kind == CUTE_ARG_TENSOR_MAP && arg->in_memory) p->host.kind = HOST_POINTER;
    if (arg->count == 1 && (p->bytes > 0 || arg->in_memory)) return CUTE_OK;
    return fail_param(w, label, p, "has an unknown size");
}

cute_status aot_read_kernel_params(aot_writer *w, const char *label, aot_body *body, size_t *count,
                                   size_t *leaves)
{
    const cute_kernel *kernel = body->kernel;
    body->params = cute_arena_array(w->arena, kernel->arg_count + 1, sizeof *body->params);
    if (!body->params) return cute_fail_memory(w->diag);
    *count = 0;
    for (size_t i = 0; i < kernel->arg_count; i++) {
        if (is_derived(&kernel->args[i])) continue;
        CUTE_TRY(read_kernel_param(w, label, kernel, &kernel->args[i], &body->params[*count]));
        ++*count;
    }
    return finish_params(w, label, body->params, *count, leaves);
}

/* ---- declarations ---- */

void aot_put_declarations(const aot_writer *w, const aot_function *f, cute_buffer *out)
{
    const aot_body *body = &f->bodies[0];
    if (!f->plan) cute_buffer_printf(out, "const %s_shape *shape, ", w->prefix);
    for (size_t i = 0; i < f->param_count; i++) {
        const aot_param *p = &body->params[i];
        if (p->bytes) {
            cute_buffer_printf(out, "const void *%s, ", p->name);
        } else if (p->host.kind == HOST_MEMREF) {
            cute_buffer_printf(out, "const %s_tensor%d *%s, ", w->prefix, p->modes, p->name);
        } else if (aot_is_number(p)) {
            for (size_t k = 0; k < p->host.leaf_count; k++) {
                const char *type = aot_scalar_type(aot_part_dtype(p, k));
                cute_buffer_printf(out, "%s%s%s, ", type ? type : "void *", type ? " " : "",
                                   aot_part_name(w, p, k));
            }
        }
    }
}

void aot_put_names(const aot_function *f, cute_buffer *out)
{
    const aot_body *body = &f->bodies[0];
    if (!f->plan) cute_buffer_puts(out, "shape, ");
    for (size_t i = 0; i < f->param_count; i++) {
        const aot_param *p = &body->params[i];
        bool one = p->bytes || p->host.kind == HOST_MEMREF || p->host.kind == HOST_SCALAR ||
                   p->host.kind == HOST_POINTER;
        if (one)
            cute_buffer_printf(out, "%s, ", p->name);
        else if (aot_is_number(p))
            for (size_t k = 0; k < p->host.leaf_count; k++) cute_buffer_printf(out, "%s_%zu, ", p->name, k);
    }
}

/* ---- checks ---- */

static void put_name_string(const aot_param *p, cute_buffer *out)
{
    aot_put_string(p->host.name, out);
}

static long long alignment(const aot_param *p)
{
    enum { MOST = 1 << 20 };
    int64_t align = p->host.align > p->unit ? p->host.align : p->unit > 0 ? p->unit : 1;
    return align > MOST ? MOST : align;
}

/* Leaf `k` of parameter `p` and the rest of a statement. */
static void begin_leaf(const aot_param *p, size_t k, cute_buffer *out)
{
    cute_buffer_printf(out, "    leaf[%zu] = ", p->first + k);
}

static void put_tensor_checks(const aot_param *p, cute_buffer *out)
{
    bool descriptor = !p->host.text;
    size_t next = descriptor ? 3 : 1;
    cute_buffer_printf(out, "    if (!%s) return aot_null(run->function, ", p->name);
    put_name_string(p, out);
    cute_buffer_puts(out, ");\n    elements = ");
    for (int i = 0; i < p->modes; i++)
        cute_buffer_printf(out, "%s%s->shape[%d] > 0", i ? " && " : "", p->name, i);
    cute_buffer_printf(out, "%s;\n    AOT_TRY(aot_pointer(run->function, ", p->modes ? "" : "true");
    put_name_string(p, out);
    cute_buffer_printf(out, ", %s->data, elements, %lld));\n", p->name, alignment(p));
    begin_leaf(p, 0, out);
    cute_buffer_printf(out, "(int64_t)(uintptr_t)%s->data;\n", p->name);
    if (descriptor) {
        cute_buffer_printf(out, "    leaf[%zu] = leaf[%zu];\n    leaf[%zu] = 0;\n", p->first + 1, p->first,
                           p->first + 2);
    }
    for (int i = 0; i < p->modes; i++) {
        const cute_int *e = &p->extents[i];
        cute_buffer_puts(out, "    AOT_TRY(aot_extent(run->function, ");
        put_name_string(p, out);
        cute_buffer_printf(out, ", %d, %s->shape[%d], %lld, %lld, %d));\n", i, p->name, i,
                           e->known ? (long long)e->value : -1LL, (long long)e->divisor,
                           e->known ? 64 : e->width);
        if (e->known && !descriptor) continue;
        begin_leaf(p, next++, out);
        cute_buffer_printf(out, "%s->shape[%d];\n", p->name, i);
    }
    for (int i = 0; i < p->modes; i++) {
        const cute_int *s = &p->strides[i];
        bool stored = !s->known || descriptor;
        cute_buffer_puts(out, "    AOT_TRY(aot_stride(run->function, ");
        put_name_string(p, out);
        cute_buffer_printf(out, ", %d, elements ? %s->shape[%d] : 0, %s->strides[%d], %s, %lld, %lld, %d, &",
                           i, p->name, i, p->name, i, s->known ? "true" : "false", (long long)s->value,
                           (long long)s->divisor, s->known ? 64 : s->width);
        if (stored)
            cute_buffer_printf(out, "leaf[%zu]));\n", p->first + next++);
        else
            cute_buffer_puts(out, "unused));\n");
    }
}

static void put_number_checks(const aot_writer *w, const aot_param *p, cute_buffer *out)
{
    cute_int parts[64];
    size_t tuple = p->host.kind == HOST_TUPLE ? cute_value_unknowns(&p->host.layout, parts, 64) : 0;
    for (size_t k = 0; k < p->host.leaf_count; k++) {
        const char *name = aot_part_name(w, p, k);
        int64_t divisor = p->host.kind == HOST_SCALAR ? p->host.divisor
                          : k < tuple && k < 64       ? parts[k].divisor
                                                      : 0;
        int width = k < tuple && k < 64 ? parts[k].width : 64;
        if (divisor > 1 || width < 64) {
            cute_buffer_puts(out, "    AOT_TRY(aot_number(run->function, ");
            aot_put_string(name, out);
            cute_buffer_printf(out, ", (int64_t)%s, %lld, %d));\n", name, (long long)divisor, width);
        }
        if (p->host.kind == HOST_POINTER) {
            cute_buffer_puts(out, "    AOT_TRY(aot_pointer(run->function, ");
            put_name_string(p, out);
            cute_buffer_printf(out, ", %s, true, %lld));\n", name, alignment(p));
        }
        begin_leaf(p, k, out);
        aot_put_leaf(out, aot_part_dtype(p, k), name);
        cute_buffer_puts(out, ";\n");
    }
}

void aot_put_check(const aot_writer *w, const aot_function *f, size_t group, cute_buffer *out)
{
    const aot_body *body = &f->bodies[group];
    cute_buffer_printf(out, "static int check_%zu_%s(const aot_run *run, ", group, f->symbol);
    aot_put_declarations(w, f, out);
    cute_buffer_puts(out, "int64_t *leaf)\n{\n    int64_t unused = 0;\n    bool elements = true;\n"
                          "    (void)run, (void)leaf, (void)unused, (void)elements");
    if (!f->plan) cute_buffer_puts(out, ", (void)shape");
    cute_buffer_puts(out, ";\n");
    for (size_t i = 0; i < f->param_count; i++) {
        const aot_param *p = &body->params[i];
        if (p->bytes) {
            cute_buffer_printf(out, "    if (!%s) return aot_null(run->function, ", p->name);
            put_name_string(p, out);
            cute_buffer_printf(out, ");\n    leaf[%zu] = (int64_t)(uintptr_t)%s;\n", p->first, p->name);
        } else if (p->host.kind == HOST_MEMREF) {
            put_tensor_checks(p, out);
        } else if (aot_is_number(p)) {
            put_number_checks(w, p, out);
        }
    }
    cute_buffer_puts(out, "    return AOT_OK;\n}\n\n");
}
