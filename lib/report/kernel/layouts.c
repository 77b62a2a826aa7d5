/* See layouts.h: reads layouts from metadata, and draws them. */
#include "lib/report/kernel/layouts.h"

#include <stdlib.h>
#include <string.h>

#include "lib/atoms/atoms.h"
#include "lib/calculator/atoms.h"

enum { MOST_CELLS = 1 << 18, MOST_SIDE = 1 << 14 };

const char *const layout_kind_names[LAYOUT_KINDS] = {"tensor", "tiled copy", "MMA", "TMA box"};

/* ---- reading ---- */

static const char *text_of(cute_arena *arena, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? cute_arena_copy(arena, text, strlen(text)) : NULL;
}

static int64_t static_size(const cute_tree *tree)
{
    int64_t size = 1;
    if (!tree || (tree->kind != CUTE_TREE_INT && tree->kind != CUTE_TREE_TUPLE)) return -1;
    if (tree->kind == CUTE_TREE_INT) return tree->value.known ? tree->value.value : -1;
    for (uint32_t n = 0; n < tree->count; n++) {
        int64_t one = static_size(tree->items[n]);
        if (one < 0 || __builtin_mul_overflow(size, one, &size)) return -1;
    }
    return size;
}

static cute_value layout_value(const cute_value *tensor)
{
    cute_value layout = *tensor;
    layout.type = tensor->tree ? CUTE_COMPOSED_LAYOUT : CUTE_LAYOUT;
    layout.pointer = NULL;
    return layout;
}

static void describe_tensor(cute_arena *arena, layout_item *item)
{
    const cute_pointer *p = item->value.pointer;
    cute_value layout = layout_value(&item->value), cosize;
    item->layout = cute_value_text(arena, &layout);
    if (p) {
        item->space = cute_space_name(p->space);
        item->type = p->element;
        item->bits = p->bits;
    }
    const cute_swizzle *swizzle = p && p->swizzle.bits ? &p->swizzle : &item->value.swizzle;
    if (swizzle->bits && (p->swizzle.bits || (item->value.tree && !item->value.inner.shape)))
        item->swizzle = cute_arena_printf(arena, "S<%d,%d,%d>", swizzle->bits, swizzle->base, swizzle->shift);
    item->bytes = -1;
    cute_value plain = cute_value_of_layout(item->value.layout);
    if (item->bits && cute_value_is_static(&plain) &&
        cute_apply(arena, NULL, CUTE_OP_COSIZE, &plain, 1, NULL, &cosize, NULL) == CUTE_OK && cosize.tree &&
        cosize.tree->kind == CUTE_TREE_INT && cosize.tree->value.known)
        item->bytes = (cosize.tree->value.value * item->bits + 7) / 8;
}

static void describe_tiled(cute_arena *arena, layout_item *item)
{
    const cute_value *v = &item->value;
    item->atom = v->atom ? v->atom->text : NULL;
    item->layout = cute_layout_text(arena, v->layout);
    if (item->kind == LAYOUT_TILED_COPY && v->layout.shape && v->layout.shape->count == 2) {
        item->threads = static_size(v->layout.shape->items[0]);
        item->values = static_size(v->layout.shape->items[1]);
    }
    if (item->kind == LAYOUT_MMA && v->atom) {
        int64_t atoms = static_size(v->layout.shape);
        int64_t threads = static_size(v->atom->threads.shape);
        item->threads = atoms > 0 && threads > 0 ? atoms * threads : 0;
    }
}

static cute_status read_item(cute_arena *arena, const char *label, const json_t *json, layout_kind kind,
                             layout_item *item, cute_diag *diag)
{
    static const cute_type types[] = {CUTE_MEMREF, CUTE_TILED_COPY, CUTE_TILED_MMA};
    const cute_place file = {.file = label};
    *item = (layout_item){.kind = kind, .line = json_integer_value(json_object_get(json, "line"))};
    item->text = text_of(arena, json, "type");
    item->op = text_of(arena, json, "op");
    item->file = text_of(arena, json, "file");
    if (!item->text)
        return cute_fail(diag, CUTE_INVALID, &file, "the metadata has a %s without a type",
                         layout_kind_names[kind]);
    /* A type of another version is shown as text. */
    if (cute_atom_value_parse(arena, types[kind], item->text, strlen(item->text), &item->value, NULL, NULL) !=
        CUTE_OK) {
        item->unread = true;
        return CUTE_OK;
    }
    if (kind == LAYOUT_TENSOR)
        describe_tensor(arena, item);
    else
        describe_tiled(arena, item);
    return CUTE_OK;
}

static void read_box(cute_arena *arena, const cute_arg *arg, layout_item *item)
{
    cute_buffer shape = {0};
    *item = (layout_item){
        .kind = LAYOUT_BOX, .name = arg->name, .text = arg->type, .type = arg->dtype, .bytes = -1};
    item->swizzle = arg->swizzle;
    item->space = "smem";
    /* The last dimension is the fastest. */
    cute_buffer_putc(&shape, '(');
    for (size_t d = 0; d < arg->box_rank; d++)
        cute_buffer_printf(&shape, "%s%lld", d ? "," : "", (long long)arg->box[d]);
    cute_buffer_putc(&shape, ')');
    item->layout = cute_arena_copy(arena, cute_buffer_text(&shape), shape.length);
    cute_buffer_release(&shape);
}

static cute_status read_kernel(cute_arena *arena, const char *label, const cute_kernel *k,
                               layout_report *report, layout_kernel *out, cute_diag *diag)
{
    static const char *const keys[] = {"tensors", "tiled_copies", "mmas"};
    json_t *metadata = NULL;
    size_t most = k->arg_count, index;
    json_t *item;
    cute_status status = CUTE_OK;
    *out = (layout_kernel){.kernel = k->name};
    if (k->metadata) CUTE_TRY(cute_json_parse(label, k->metadata, strlen(k->metadata), &metadata, diag));
    for (size_t n = 0; n < 3; n++) most += json_array_size(json_object_get(metadata, keys[n]));
    out->items = cute_arena_array(arena, most + 1, sizeof *out->items);
    if (!out->items) status = cute_fail_memory(diag);
    for (size_t n = 0; status == CUTE_OK && n < 3; n++)
        json_array_foreach(json_object_get(metadata, keys[n]), index, item)
        {
            if (status == CUTE_OK)
                status = read_item(arena, label, item, (layout_kind)n, &out->items[out->count++], diag);
        }
    for (size_t a = 0; status == CUTE_OK && a < k->arg_count; a++)
        if (k->args[a].kind == CUTE_ARG_TENSOR_MAP && k->args[a].box_rank)
            read_box(arena, &k->args[a], &out->items[out->count++]);
    for (size_t n = 0; n < out->count; n++) out->items[n].number = ++report->items;
    if (!out->count)
        out->why_none =
            metadata ? "its IR has no tensors, tiled copies or MMAs" : "it has no metadata of cute-ptx";
    json_decref(metadata);
    return status;
}

cute_status cute_layouts_read(cute_arena *arena, const char *label, const cute_module *module,
                              const char *only, layout_report *out, cute_diag *diag)
{
    size_t count = cute_module_kernel_count(module);
    *out = (layout_report){.label = label};
    out->kernels = cute_arena_array(arena, count + 1, sizeof *out->kernels);
    if (!out->kernels) return cute_fail_memory(diag);
    for (size_t n = 0; n < count; n++) {
        const cute_kernel *k = cute_module_kernel(module, n);
        if (only && strcmp(only, k->name) != 0) continue;
        CUTE_TRY(read_kernel(arena, label, k, out, &out->kernels[out->count++], diag));
    }
    return CUTE_OK;
}

/* ---- drawing ---- */

/* Converts a swizzle of byte addresses to one of elements. */
static void swizzle_elements(cute_value *layout, const cute_pointer *p, cute_arena *arena)
{
    int shift = 0;
    while (shift < 8 && (8 << shift) < p->bits) shift++;
    if (!p->swizzle.bits || (8 << shift) != p->bits || p->swizzle.base < shift || layout->type != CUTE_LAYOUT)
        return;
    layout->type = CUTE_COMPOSED_LAYOUT;
    layout->tree = cute_tree_number(arena, 0);
    layout->inner = (cute_layout){0};
    layout->swizzle = p->swizzle;
    layout->swizzle.base -= shift;
}

/* Keeps only the first sheet, rows and columns. */
static cute_status crop_picture(cute_arena *arena, cute_picture *p, size_t rows, size_t columns,
                                cute_diag *diag)
{
    size_t r = p->rows < rows ? p->rows : rows, c = p->columns < columns ? p->columns : columns;
    if (r == p->rows && c == p->columns && p->sheets == 1) return CUTE_OK;
    cute_cell *cells = cute_arena_array(arena, r * c + 1, sizeof *cells);
    cute_buffer title = {0};
    cute_buffer_printf(&title, "%s", p->title);
    if (r < p->rows || c < p->columns)
        cute_buffer_printf(&title, ", %zu x %zu of %zu x %zu", r, c, p->rows, p->columns);
    if (p->sheets > 1) cute_buffer_printf(&title, ", the first of %zu", p->sheets);
    const char *text = cute_arena_copy(arena, cute_buffer_text(&title), title.length);
    cute_buffer_release(&title);
    if (!cells || !text) return cute_fail_memory(diag);
    for (size_t row = 0; row < r; row++)
        memcpy(cells + row * c, p->cells + row * p->columns, c * sizeof *cells);
    p->title = text;
    p->cells = cells;
    p->rows = r;
    p->columns = c;
    p->sheets = 1;
    p->sheet_titles = NULL;
    return CUTE_OK;
}

static cute_status draw_tensor(cute_arena *arena, const layout_item *item, layout_pictures *out,
                               cute_diag *own)
{
    cute_value layout = layout_value(&item->value);
    cute_picture_options options = {.most_cells = MOST_CELLS, .most_side = MOST_SIDE};
    options.element_bits = item->bits;
    const cute_pointer *p = item->value.pointer;
    if (p && p->space == CUTE_SPACE_SMEM) options.colour = CUTE_COLOUR_BANK;
    if (p) swizzle_elements(&layout, p, arena);
    CUTE_TRY(cute_picture_create(arena, &layout, &options, &out->items[0], own));
    out->count = 1;
    return CUTE_OK;
}

/* The elements of a box as the swizzle arranges its 16-byte units. */
static cute_status draw_box(cute_arena *arena, const layout_item *item, layout_pictures *out, cute_diag *own)
{
    static const struct {
        const char *name, *swizzle;
    } swizzles[] = {{"32", "S<1,4,3>"}, {"64", "S<2,4,3>"}, {"128", "S<3,4,3>"}};
    cute_value value;
    cute_picture_options options = {
        .most_cells = MOST_CELLS, .most_side = MOST_SIDE, .colour = CUTE_COLOUR_BANK};
    int64_t sizes[8], columns = 1, rows = 1;
    size_t rank = 0;
    for (const char *at = item->layout; *at && rank < 8; at += strcspn(at, "0123456789"))
        if (*at >= '0' && *at <= '9') sizes[rank++] = strtoll(at, (char **)(uintptr_t)&at, 10);
    const char *type = item->type ? item->type : "";
    size_t digits = strcspn(type, "0123456789");
    int64_t bits = !strncmp(type, "e4m3", 4) || !strncmp(type, "e5m2", 4) ? 8
                   : !strcmp(type, "tf32")                                ? 32
                                                                          : strtoll(type + digits, NULL, 10);
    if (!rank || bits < 8 || (bits & (bits - 1))) return CUTE_INVALID;
    columns = sizes[rank - 1];
    for (size_t d = 0; d + 1 < rank; d++)
        if (__builtin_mul_overflow(rows, sizes[d], &rows)) return CUTE_INVALID;
    const char *swizzle = NULL;
    for (size_t n = 0; item->swizzle && n < 3; n++)
        if (strstr(item->swizzle, swizzles[n].name)) swizzle = swizzles[n].swizzle;
    int base = 4;
    for (int64_t b = 8; b < bits; b *= 2) base--;
    const char *text = swizzle
                           ? cute_arena_printf(arena, "S<%c,%d,3> o 0 o (%lld,%lld):(%lld,1)", swizzle[2],
                                               base, (long long)rows, (long long)columns, (long long)columns)
                           : cute_arena_printf(arena, "(%lld,%lld):(%lld,1)", (long long)rows,
                                               (long long)columns, (long long)columns);
    if (!text) return CUTE_SYSTEM;
    options.element_bits = bits;
    CUTE_TRY(cute_value_parse(arena, swizzle ? CUTE_COMPOSED_LAYOUT : CUTE_LAYOUT, text, strlen(text), &value,
                              NULL, own));
    CUTE_TRY(cute_picture_create(arena, &value, &options, &out->items[0], own));
    out->count = 1;
    return CUTE_OK;
}

cute_status cute_layouts_draw(cute_arena *arena, const layout_item *item, size_t rows, size_t columns,
                              layout_pictures *out, cute_diag *diag)
{
    const cute_picture_options options = {.most_cells = MOST_CELLS, .most_side = MOST_SIDE};
    *out = (layout_pictures){0};
    if (item->unread || (item->space && !strcmp(item->space, "rmem"))) {
        out->why = item->unread ? "unknown type" : "it is in registers";
        return CUTE_OK;
    }
    cute_diag *own = cute_diag_create();
    cute_status status = item->kind == LAYOUT_TENSOR ? draw_tensor(arena, item, out, own)
                         : item->kind == LAYOUT_BOX  ? draw_box(arena, item, out, own)
                                                     : cute_atom_all_pictures(arena, &item->value, &options,
                                                                              out->items, &out->count, own);
    if (status == CUTE_INVALID) {
        const char *why = own && cute_diag_count(own) ? cute_diag_get(own, 0)->text : "its sizes are unknown";
        out->why = cute_arena_copy(arena, why, strlen(why));
        out->count = 0;
        status = CUTE_OK;
    }
    cute_diag_destroy(own);
    if (status != CUTE_OK) return cute_fail_memory(diag);
    for (size_t n = 0; n < out->count; n++)
        CUTE_TRY(crop_picture(arena, &out->items[n], rows, columns, diag));
    return CUTE_OK;
}
