/* Functions that launch one kernel, and the parameters of launches. */
#include <stdio.h>
#include <string.h>

#include "lib/aot/function.h"
#include "lib/atoms/tma.h"
#include "lib/launch/plan/plan.h"

enum { MAX_PARAM = 32764 }; /* bytes of all parameters of a kernel: PTX ISA */

bool aot_kernel_index(const cute_module *module, const char *name, size_t *out)
{
    for (size_t i = 0; i < cute_module_kernel_count(module); i++) {
        *out = i;
        if (strcmp(cute_module_kernel(module, i)->name, name) == 0) return true;
    }
    return false;
}

void aot_put_map(const char *tensor, const cute_tensor_map *map, cute_buffer *out)
{
    cute_buffer_puts(out, "{");
    aot_put_string(tensor, out);
    cute_buffer_printf(out, ", %d, %d, %d, %d, %d, %d, {", (int)map->type, map->rank, (int)map->interleave,
                       (int)map->swizzle, (int)map->l2_promotion, (int)map->fill);
    for (int i = 0; i < CUTE_MAP_RANK; i++)
        cute_buffer_printf(out, "%s%u", i ? ", " : "", (unsigned)map->box[i]);
    cute_buffer_puts(out, "}, {");
    for (int i = 0; i < CUTE_MAP_RANK; i++)
        cute_buffer_printf(out, "%s%u", i ? ", " : "", (unsigned)map->element_strides[i]);
    cute_buffer_printf(out, "}, %s, {", map->im2col ? "true" : "false");
    for (int i = 0; i < CUTE_MAP_SPATIAL; i++) cute_buffer_printf(out, "%d, ", (int)map->lower[i]);
    cute_buffer_puts(out, "0, 0}, {");
    for (int i = 0; i < CUTE_MAP_SPATIAL; i++) cute_buffer_printf(out, "%d, ", (int)map->upper[i]);
    cute_buffer_puts(out, "0, 0}}");
}

cute_status aot_put_param_room(const aot_writer *w, const cute_kernel *kernel, cute_buffer *out)
{
    for (size_t i = 0; i < kernel->param_count; i++) {
        int64_t size = kernel->params[i].size;
        if (size < 1 || size > MAX_PARAM)
            return cute_fail(w->diag, CUTE_INVALID, NULL,
                             "kernel '%s': expected 1 to %d bytes of parameter %zu, got %lld", kernel->name,
                             (int)MAX_PARAM, i, (long long)size);
        cute_buffer_printf(out, "    unsigned char p%zu[%lld] __attribute__((aligned(64))) = {0};\n", i,
                           (long long)size);
    }
    cute_buffer_puts(out, "    void *params[] = {");
    for (size_t i = 0; i < kernel->param_count; i++) cute_buffer_printf(out, "%sp%zu", i ? ", " : "", i);
    cute_buffer_printf(out, "%s};\n", kernel->param_count ? "" : "NULL");
    return CUTE_OK;
}

static bool is_struct(const cute_arg *arg)
{
    return arg->count == 1 && arg->field_count > 0;
}

size_t aot_leaf_count(const cute_arg *arg)
{
    return is_struct(arg) ? arg->field_count : arg->count;
}

bool aot_put_store(const cute_kernel *kernel, const cute_arg *arg, size_t leaf, const char *value,
                   cute_buffer *out)
{
    size_t param = arg->first + (is_struct(arg) ? 0 : leaf);
    if (leaf >= aot_leaf_count(arg) || param >= kernel->param_count) return false;
    int64_t room = kernel->params[param].size, at = is_struct(arg) ? arg->fields[leaf].offset : 0;
    int64_t size = is_struct(arg) ? arg->fields[leaf].size : room;
    if (size < 1 || size > 8 || at < 0 || at > room - size) return false;
    cute_buffer_printf(out, "memcpy(p%zu + %lld, &%s, %lld);", param, (long long)at, value, (long long)size);
    return true;
}

/* Whether a field of 4 or 8 bytes is in its argument. */
static bool is_within(const cute_arg *arg, const cute_field *field)
{
    return (field->size == 4 || field->size == 8) && field->offset >= 0 &&
           field->offset <= arg->size - field->size;
}

/* ---- layouts of tensors: the number of each leaf as an expression ---- */

typedef struct leaf_texts {
    const cute_arg *arg;
    aot_writer *w;
    size_t field;
    const char *items[2][AOT_MODES]; /* extents, strides */
    size_t counts[2];
} leaf_texts;

static bool list_leaves(leaf_texts *t, const cute_tree *tree, int kind)
{
    if (tree->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < tree->count; i++)
            if (!list_leaves(t, tree->items[i], kind)) return false;
        return true;
    }
    if (t->counts[kind] == AOT_MODES || tree->kind != CUTE_TREE_INT) return false;
    const char *text;
    if (tree->value.known) {
        text = cute_arena_printf(t->w->arena, "%lld", (long long)tree->value.value);
    } else {
        if (t->field >= t->arg->field_count) return false;
        const cute_field *field = &t->arg->fields[t->field++];
        if (!is_within(t->arg, field)) return false;
        text = cute_arena_printf(t->w->arena, "aot_read(p%zu + %lld, %lld)", t->arg->first,
                                 (long long)field->offset, (long long)field->size);
    }
    t->items[kind][t->counts[kind]++] = text ? text : "0";
    return true;
}

/* False: an unsupported layout. */
static bool read_leaves(aot_writer *w, const cute_arg *arg, leaf_texts *t)
{
    cute_value layout;
    *t = (leaf_texts){.arg = arg, .w = w, .field = 1};
    return arg->layout && arg->field_count &&
           cute_value_parse_any(w->arena, arg->layout, strlen(arg->layout), &layout, NULL, NULL) == CUTE_OK &&
           layout.layout.shape && list_leaves(t, layout.layout.shape, 0) &&
           list_leaves(t, layout.layout.stride, 1);
}

cute_status aot_put_offsets(aot_writer *w, const cute_arg *arg, cute_buffer *out)
{
    leaf_texts t;
    if (!arg->offset_leaf_count || !arg->layout || !arg->field_count) return CUTE_OK;
    if (!read_leaves(w, arg, &t))
        return cute_fail(w->diag, CUTE_INVALID, NULL, "argument '%s' has an unsupported layout: %s",
                         arg->name, arg->layout);
    cute_buffer_puts(out, "    { uint64_t farthest = 0;\n");
    for (size_t i = 0; i < arg->offset_leaf_count; i++) {
        int64_t leaf = arg->offset_leaves[i];
        if (leaf < 0 || (size_t)leaf >= t.counts[0] || (size_t)leaf >= t.counts[1]) continue;
        cute_buffer_printf(out, "      aot_reach(%s, %s, &farthest);\n", t.items[0][leaf], t.items[1][leaf]);
    }
    cute_buffer_puts(out, "      AOT_TRY(aot_offsets(run, ");
    aot_put_string(arg->name, out);
    cute_buffer_printf(out, ", farthest, %lld)); }\n", (long long)arg->offsets_below);
    return CUTE_OK;
}

/* ---- tensor maps that are derived from another argument ---- */

static cute_status put_derived_map(aot_writer *w, const cute_kernel *kernel, const cute_arg *arg,
                                   cute_buffer *out)
{
    const cute_arg *of = &kernel->args[arg->map_tensor];
    cute_tensor_map map;
    leaf_texts t;
    int bits = 0;
    cute_tensor_map_type type;
    if (arg->in_memory || kernel->params[arg->first].size != CUTE_MAP_BYTES ||
        !cute_arg_map_read(kernel, arg, &map) || !read_leaves(w, of, &t) ||
        !cute_tma_format_find(arg->map_format, strlen(arg->map_format), &type, &bits) || bits < 8)
        return cute_fail(w->diag, CUTE_INVALID, NULL, "kernel '%s': unsupported tensor map '%s'",
                         kernel->name, arg->name);
    cute_buffer_puts(out, "    { static const aot_map map = ");
    aot_put_map(of->name, &map, out);
    cute_buffer_puts(out, ";\n      const int64_t extents[] = {");
    for (int i = 0; i < map.rank; i++) {
        int64_t leaf = arg->map_modes[map.rank - 1 - i];
        if (leaf < 0 || (size_t)leaf >= t.counts[0] || (size_t)leaf >= t.counts[1])
            return cute_fail(w->diag, CUTE_INVALID, NULL, "kernel '%s': unsupported tensor map '%s'",
                             kernel->name, arg->name);
        cute_buffer_printf(out, "%s%s", i ? ", " : "", t.items[0][leaf]);
    }
    cute_buffer_puts(out, "}, strides[] = {0");
    for (int i = 1; i < map.rank; i++)
        cute_buffer_printf(out, ", %s * %d", t.items[1][arg->map_modes[map.rank - 1 - i]], bits / 8);
    cute_buffer_printf(
        out,
        "};\n      AOT_TRY(aot_encode(run, &map, aot_read(p%zu + %lld, 8), extents, strides, p%zu)); }\n",
        of->first, (long long)of->fields[0].offset, arg->first);
    return CUTE_OK;
}

/* ---- the function ---- */

static void put_own_extents(const char *key, const int64_t *own, cute_buffer *out)
{
    for (int i = 0; i < 3; i++)
        cute_buffer_printf(out, "    shape.%s[%d] = given->%s[0] ? given->%s[%d] : %lld;\n", key, i, key, key,
                           i, (long long)own[i]);
}

cute_status aot_put_kernel(aot_writer *w, const aot_function *f, size_t group, cute_buffer *out)
{
    const aot_body *body = &f->bodies[group];
    const cute_kernel *kernel = body->kernel;
    size_t index = 0, next = 0;
    aot_kernel_index(w->input->groups[group].module, kernel->name, &index);
    cute_buffer_printf(
        out, "static int launch_%zu_%s(aot_run *run, const %s_shape *given, const int64_t *leaf)\n{\n", group,
        f->symbol, w->prefix);
    cute_buffer_puts(out, "    aot_shape shape;\n    (void)leaf;\n"
                          "    if (!given) return aot_null(run->function, \"shape\");\n");
    put_own_extents("grid", kernel->grid, out);
    put_own_extents("block", kernel->reqntid[0] > 0 ? kernel->reqntid : kernel->block, out);
    put_own_extents("cluster", kernel->cluster, out);
    cute_buffer_printf(out, "    shape.shared = given->dynamic_smem > 0 ? given->dynamic_smem : %lld;\n",
                       (long long)(kernel->dynamic_smem > 0 ? kernel->dynamic_smem : 0));
    cute_buffer_puts(
        out, "    shape.cooperative = given->cooperative;\n    shape.programmatic = given->programmatic;\n");
    CUTE_TRY(aot_put_param_room(w, kernel, out));
    for (size_t i = 0; i < kernel->arg_count; i++) {
        const cute_arg *arg = &kernel->args[i];
        if (arg->kind == CUTE_ARG_TENSOR_MAP && arg->map_tensor >= 0) continue;
        const aot_param *p = &body->params[next++];
        if (p->bytes) {
            cute_buffer_printf(out, "    memcpy(p%zu, (const void *)(uintptr_t)leaf[%zu], %lld);\n",
                               arg->first, p->first, (long long)p->bytes);
            continue;
        }
        for (size_t k = 0; k < p->host.leaf_count; k++) {
            char text[40];
            snprintf(text, sizeof text, "leaf[%zu]", p->first + k);
            cute_buffer_puts(out, "    ");
            if (!aot_put_store(kernel, arg, k, text, out))
                return cute_fail(w->diag, CUTE_INVALID, NULL, "kernel '%s': unsupported argument '%s'",
                                 kernel->name, arg->name);
            cute_buffer_puts(out, "\n");
        }
        CUTE_TRY(aot_put_offsets(w, arg, out));
    }
    for (size_t i = 0; i < kernel->arg_count; i++)
        if (kernel->args[i].kind == CUTE_ARG_TENSOR_MAP && kernel->args[i].map_tensor >= 0)
            CUTE_TRY(put_derived_map(w, kernel, &kernel->args[i], out));
    cute_buffer_printf(out, "    return aot_start(run, %zu, &shape, params);\n}\n\n", index);
    return CUTE_OK;
}
