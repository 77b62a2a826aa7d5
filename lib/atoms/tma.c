/* See tma.h. */
#include "lib/atoms/tma.h"

#include <inttypes.h>
#include <string.h>

#include "lib/layout/pointer.h"

enum { BOX = 256, LINE = 16 }; /* elements in a dimension of the box; bytes that divide strides and the box */

/* ---- element types ---- */

static const struct {
    const char *name, *element; /* element: that it is the first choice for */
    cute_tensor_map_type type;
    int bits;
} formats[] = {
    {"F16_RN", "f16", CUTE_MAP_F16, 16},
    {"BF16_RN", "bf16", CUTE_MAP_BF16, 16},
    {"F32_RN", "f32", CUTE_MAP_F32, 32},
    {"TF32_RN", "tf32", CUTE_MAP_TF32, 32},
    {"F64_RN", "f64", CUTE_MAP_F64, 64},
    {"U8", "i8", CUTE_MAP_U8, 8},
    {"U16", "i16", CUTE_MAP_U16, 16},
    {"S32", "i32", CUTE_MAP_I32, 32},
    {"U32", "ui32", CUTE_MAP_U32, 32},
    {"S64", "i64", CUTE_MAP_I64, 64},
    {"U64", "ui64", CUTE_MAP_U64, 64},
    {"F32_FTZ_RN", NULL, CUTE_MAP_F32_FTZ, 32},
    {"TF32_FTZ_RN", NULL, CUTE_MAP_TF32_FTZ, 32},
};
enum { FORMATS = sizeof formats / sizeof *formats };

bool cute_tma_format_find(const char *name, size_t length, cute_tensor_map_type *type, int *bits)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (strlen(formats[i].name) != length || memcmp(formats[i].name, name, length) != 0) continue;
        *type = formats[i].type;
        *bits = formats[i].bits;
        return true;
    }
    return false;
}

const char *cute_tma_format_of(const char *element)
{
    int bits;
    if (!strncmp(element, "si", 2)) element++; /* an integer with a sign is one without, but for its name */
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].element && !strcmp(formats[i].element, element)) return formats[i].name;
    if (!strcmp(element, "ui8") || !strcmp(element, "ui16")) return element[2] == '8' ? "U8" : "U16";
    bool sized = alg_element_bits(element, strlen(element), &bits);
    return sized && bits == 8 ? "U8" : NULL; /* floats of 8 bits travel as bytes */
}

/* ---- what a type says ---- */

static int64_t size_of(const cute_tree *shape)
{
    int64_t size = 1;
    if (shape->kind == CUTE_TREE_INT) return shape->value.known ? shape->value.value : 0;
    for (uint32_t i = 0; i < shape->count; i++)
        if (__builtin_mul_overflow(size, size_of(shape->items[i]), &size)) return 0;
    return size;
}

int64_t cute_tma_elements(const cute_tma *tma)
{
    return tma->copy_bits / tma->bits;
}

static bool ends(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && !strcmp(text + length - tail, end);
}

cute_status cute_tma_of_fields(cute_arena *arena, const atom_family *family, const atom_fields *f,
                               const cute_tma **out, cute_diag *diag)
{
    cute_tma *t = cute_arena_alloc(arena, sizeof *t);
    if (!t) return cute_fail_memory(diag);
    const char *name = strstr(family->mnemonic, "tma_");
    *t = (cute_tma){.operation = !strcmp(name, "tma_load")    ? CUTE_TMA_LOAD
                                 : !strcmp(name, "tma_store") ? CUTE_TMA_STORE
                                                              : CUTE_TMA_REDUCE,
                    .executable = !strstr(family->mnemonic, "non_exec"),
                    .element = f->type[0],
                    .copy_bits = f->copy_bits,
                    .format = f->tma_format,
                    .kind = f->tma_kind,
                    .reduce = f->tma_reduce,
                    .multicast = f->tma_multicast && !strcmp(f->tma_multicast, "true"),
                    .blocks = f->num_cta ? (int)f->num_cta : 1};
    if (t->kind) t->multicast = ends(t->kind, "_multicast"), t->blocks = strstr(t->kind, "_2sm") ? 2 : 1;
    alg_element_bits(t->element, strlen(t->element), &t->bits);
    cute_value basis;
    CUTE_TRY(cute_value_parse(arena, CUTE_LAYOUT, f->basis, strlen(f->basis), &basis, NULL, diag));
    t->basis = basis.layout;
    int64_t size = size_of(t->basis.shape), bits;
    if (t->bits && size && !__builtin_mul_overflow(size, (int64_t)t->bits, &bits) && bits != t->copy_bits)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expected copy_bits = %" PRId64 ", the bits of the box in tma_gbasis, got %" PRId64,
                         bits, t->copy_bits);
    if (!t->bits || t->copy_bits < t->bits || t->copy_bits % t->bits)
        return cute_fail(diag, CUTE_INVALID, NULL, "%" PRId64 " bits are no whole number of %s", t->copy_bits,
                         t->element);
    *out = t;
    return CUTE_OK;
}

/* ---- bulk copies ---- */

enum { ARITHMETIC = 1, ORDER = 2, COUNT = 4, LOGIC = 8 };

/* PTX ISA 8.5, cp.reduce.async.bulk: which elements have which operations, and what they are called there. */
static const struct {
    const char *element, *sum, *order, *logic;
    int has;
} reductions[] = {
    {"f16", "noftz.f16", "f16", NULL, ARITHMETIC | ORDER},
    {"bf16", "noftz.bf16", "bf16", NULL, ARITHMETIC | ORDER},
    {"f32", "f32", NULL, NULL, ARITHMETIC},
    {"f64", "f64", NULL, NULL, ARITHMETIC},
    {"i32", "s32", "s32", "b32", ARITHMETIC | ORDER | LOGIC},
    {"ui32", "u32", "u32", "b32", ARITHMETIC | ORDER | COUNT | LOGIC},
    {"i64", "u64", "s64", "b64", ARITHMETIC | ORDER | LOGIC},
    {"ui64", "u64", "u64", "b64", ARITHMETIC | ORDER | LOGIC},
};

static const struct {
    const char *word, *ptx;
    int needs;
} kinds[] = {{"ADD", "add", ARITHMETIC}, {"MIN", "min", ORDER}, {"MAX", "max", ORDER}, {"INC", "inc", COUNT},
             {"DEC", "dec", COUNT},      {"AND", "and", LOGIC}, {"OR", "or", LOGIC},   {"XOR", "xor", LOGIC}};

cute_status cute_bulk_of_fields(cute_arena *arena, const atom_fields *f, const cute_bulk **out,
                                cute_diag *diag)
{
    cute_bulk *b = cute_arena_alloc(arena, sizeof *b);
    if (!b) return cute_fail_memory(diag);
    bool load = !strcmp(f->bulk, "g2s"), store = !strcmp(f->bulk, "s2g");
    *b = (cute_bulk){.from = load ? CUTE_SPACE_GMEM : CUTE_SPACE_SMEM,
                     .to = load    ? CUTE_SPACE_SMEM
                           : store ? CUTE_SPACE_GMEM
                                   : CUTE_SPACE_DSMEM,
                     .element = f->type[0]};
    alg_element_bits(b->element, strlen(b->element), &b->bits);
    *out = b;
    if (!f->tma_reduce) return CUTE_OK;
    int needs = 0, has = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].word, f->tma_reduce)) b->reduce = kinds[i].ptx, needs = kinds[i].needs;
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) {
        if (strcmp(reductions[i].element, b->element) != 0) continue;
        has = reductions[i].has;
        b->type = needs == ARITHMETIC ? reductions[i].sum
                  : needs == LOGIC    ? reductions[i].logic
                                      : reductions[i].order;
    }
    if (store && needs & has) return CUTE_OK;
    return cute_fail(diag, CUTE_INVALID, NULL,
                     store ? "there is no bulk reduction %s of elements of type %s"
                           : "only copies to global memory (s2g) reduce, not %s of %s",
                     f->tma_reduce, b->element);
}

static cute_status make_atom(cute_arena *arena, const char *mnemonic, const atom_fields *fields,
                             const cute_atom **out, cute_diag *diag)
{
    const char *text = atom_print(arena, atom_family_find(mnemonic, strlen(mnemonic)), fields);
    cute_value value;
    if (!text) return cute_fail_memory(diag);
    CUTE_TRY(cute_atom_value_parse(arena, CUTE_ATOM, text, strlen(text), &value, NULL, diag));
    *out = value.atom;
    return CUTE_OK;
}

static const char *const mnemonics[2][3] = {
    {"atom.non_exec_tiled_tma_load", "atom.non_exec_tiled_tma_store", "atom.non_exec_tiled_tma_reduce"},
    {"atom.tma_load", "atom.tma_store", "atom.tma_reduce"},
};

cute_status cute_tma_executable(cute_arena *arena, const cute_atom *atom, const cute_atom **out,
                                cute_diag *diag)
{
    const cute_tma *t = atom->tma;
    atom_fields f = {.type = {t->element}, .copy_bits = t->copy_bits, .tma_mode = "tiled"};
    f.basis = cute_layout_text(arena, t->basis);
    f.global_stride = "()";
    if (!f.basis) return cute_fail_memory(diag);
    if (t->operation == CUTE_TMA_LOAD) f.num_cta = t->blocks;
    if (t->multicast) f.tma_multicast = "true";
    f.tma_reduce = t->reduce;
    return make_atom(arena, mnemonics[1][t->operation], &f, out, diag);
}

/* ---- the algebra in short ---- */

typedef struct work {
    cute_arena *arena;
    const cute_arith *arith;
    cute_diag *diag;
} work;

static cute_status apply(const work *w, cute_operation operation, const cute_value *operands, size_t count,
                         cute_value *out)
{
    return cute_apply(w->arena, w->arith, operation, operands, count, NULL, out, w->diag);
}

static cute_status unary(const work *w, cute_operation operation, cute_layout in, cute_layout *out)
{
    cute_value operand = cute_value_of_layout(in), result;
    CUTE_TRY(apply(w, operation, &operand, 1, &result));
    *out = result.layout;
    return CUTE_OK;
}

static cute_status compose(const work *w, cute_layout a, cute_layout b, cute_layout *out)
{
    cute_value operands[2] = {cute_value_of_layout(a), cute_value_of_layout(b)}, result;
    CUTE_TRY(apply(w, CUTE_OP_COMPOSITION, operands, 2, &result));
    *out = result.layout;
    return CUTE_OK;
}

static const cute_tree *number(const work *w, int64_t value)
{
    return cute_tree_number(w->arena, value);
}

static const cute_tree *pair(const work *w, const cute_tree *a, const cute_tree *b)
{
    const cute_tree *items[2] = {a, b};
    return a && b ? cute_tree_tuple(w->arena, items, 2) : NULL;
}

static uint32_t rank_of(const cute_tree *t)
{
    return t->kind == CUTE_TREE_TUPLE ? t->count : 1;
}

static const cute_tree *mode_of(const cute_tree *t, uint32_t i)
{
    return t->kind == CUTE_TREE_TUPLE ? t->items[i] : t;
}

static cute_layout layout_mode(cute_layout layout, uint32_t i)
{
    return (cute_layout){mode_of(layout.shape, i), mode_of(layout.stride, i)};
}

/* `scale` times the basis vector of leaf `leaf`, `path` down to a mode. */
static const cute_tree *basis(const work *w, int64_t scale, const int32_t *path, uint32_t depth)
{
    cute_tree *t = cute_arena_alloc(w->arena, sizeof *t);
    int32_t *copy = cute_arena_array(w->arena, depth, sizeof *copy);
    if (!t || !copy) return NULL;
    memcpy(copy, path, depth * sizeof *copy);
    *t = (cute_tree){.kind = CUTE_TREE_BASIS,
                     .count = depth,
                     .leaves = 1,
                     .value = {.known = true, .width = 32, .value = scale},
                     .path = copy};
    return t;
}

/* ---- tensor maps ---- */

/* A dimension of the box on its way. */
typedef struct dimension {
    int64_t extent;
    const cute_tree *basis; /* of the tensor's modes, with a scale of 1 */
    uint32_t leaf;
} dimension;

typedef struct planner {
    work w;
    const cute_tma_request *request;
    cute_layout global;
    size_t leaf_count;
    const cute_tree **shapes, **strides, **bases; /* leaf by leaf */
    dimension dims[CUTE_MAX_DEPTH];
    int count, boxed; /* boxed: dimensions that the tile has */
    int span;         /* of the swizzle, in bytes; 0: none */
    int bits;
} planner;

static cute_status add_leaves(planner *p, const cute_tree *shape, const cute_tree *stride, int32_t *path,
                              uint32_t depth)
{
    if (shape->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < shape->count; i++) {
            path[depth] = (int32_t)i;
            CUTE_TRY(add_leaves(p, shape->items[i], stride->items[i], path, depth + 1));
        }
        return CUTE_OK;
    }
    p->shapes[p->leaf_count] = shape;
    p->strides[p->leaf_count] = stride;
    p->bases[p->leaf_count] = basis(&p->w, 1, path, depth ? depth : 1);
    return p->bases[p->leaf_count++] ? CUTE_OK : cute_fail_memory(p->w.diag);
}

static cute_status read_tensor(planner *p)
{
    const cute_value *tensor = p->request->tensor;
    cute_diag *diag = p->w.diag;
    if (tensor->type != CUTE_MEMREF || tensor->pointer->space != CUTE_SPACE_GMEM)
        return cute_fail(diag, CUTE_INVALID, NULL, "expects a tensor in gmem, but got a %s%s",
                         tensor->type == CUTE_MEMREF ? "tensor in " : cute_type_name(tensor->type),
                         tensor->type == CUTE_MEMREF ? cute_space_name(tensor->pointer->space) : "");
    if (tensor->tree)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects a tensor whose layout has strides: a tensor map has no composed layouts");
    p->global = tensor->layout;
    size_t leaves = p->global.shape->leaves + 1;
    p->shapes = cute_arena_array(p->w.arena, leaves, sizeof *p->shapes);
    p->strides = cute_arena_array(p->w.arena, leaves, sizeof *p->strides);
    p->bases = cute_arena_array(p->w.arena, leaves, sizeof *p->bases);
    if (!p->shapes || !p->strides || !p->bases) return cute_fail_memory(diag);
    int32_t path[CUTE_MAX_DEPTH + 1] = {0};
    return add_leaves(p, p->global.shape, p->global.stride, path, 0);
}

/* The tile's swizzle, which is one of bytes: that of the tensor map, and its span. */
static cute_status read_swizzle(planner *p, cute_layout *tile, cute_tensor_map_swizzle *out)
{
    const cute_value *value = p->request->tile;
    cute_diag *diag = p->w.diag;
    *tile = value->layout;
    *out = CUTE_MAP_SWIZZLE_NONE;
    if (value->type == CUTE_LAYOUT) return CUTE_OK;
    if (value->type != CUTE_COMPOSED_LAYOUT || value->inner.shape)
        return cute_fail(diag, CUTE_INVALID, NULL, "expects a layout, or one with a swizzle, as the tile");
    const cute_swizzle *s = &value->swizzle;
    bool zero = value->tree && value->tree->kind == CUTE_TREE_INT && value->tree->value.known &&
                !value->tree->value.value;
    if (!zero) return cute_fail(diag, CUTE_INVALID, NULL, "expects an offset of 0 in the tile's layout");
    if (!s->bits) return CUTE_OK;
    if (s->bits > 3 || s->base != 4 || s->shift != 3)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects the swizzle S<1,4,3>, S<2,4,3> or S<3,4,3> of the tile's addresses in "
                         "bytes (32, 64 or 128 bytes), but got S<%d,%d,%d>",
                         s->bits, s->base, s->shift);
    *out = (cute_tensor_map_swizzle)s->bits;
    p->span = 16 << s->bits;
    return CUTE_OK;
}

/* Top-level modes have the same sizes. */
static bool same_modes(cute_layout a, cute_layout b)
{
    if (rank_of(a.shape) != rank_of(b.shape)) return false;
    for (uint32_t i = 0; i < rank_of(a.shape); i++)
        if (size_of(mode_of(a.shape, i)) != size_of(mode_of(b.shape, i))) return false;
    return true;
}

/* The map from the tile's elements to the tensor's modes. */
static cute_status read_map(planner *p, cute_layout tile, cute_layout *map)
{
    cute_diag *diag = p->w.diag;
    if (!cute_tree_is_static(tile.shape) || !cute_tree_is_static(tile.stride))
        return cute_fail(diag, CUTE_INVALID, NULL, "expects a tile whose layout is known, but got \"%s\"",
                         cute_layout_text(p->w.arena, tile));
    if (p->request->map) {
        *map = p->request->map->layout;
        if (!cute_tree_is_static(map->shape) || !same_modes(tile, *map))
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "expects a map with the tile's modes, \"%s\", but got \"%s\"",
                             cute_tree_text(p->w.arena, tile.shape), cute_layout_text(p->w.arena, *map));
        return CUTE_OK;
    }
    uint32_t rank = rank_of(tile.shape);
    if (rank > rank_of(p->global.shape))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects a tile of at most the tensor's %u modes, but got %u: \"%s\"",
                         rank_of(p->global.shape), rank, cute_tree_text(p->w.arena, tile.shape));
    const cute_tree **shape = cute_arena_array(p->w.arena, rank, sizeof *shape);
    const cute_tree **stride = cute_arena_array(p->w.arena, rank, sizeof *stride);
    if (!shape || !stride) return cute_fail_memory(diag);
    for (uint32_t i = 0; i < rank; i++) {
        int32_t path = (int32_t)i;
        shape[i] = number(&p->w, size_of(mode_of(tile.shape, i)));
        stride[i] = basis(&p->w, 1, &path, 1);
        if (!shape[i] || !stride[i]) return cute_fail_memory(diag);
    }
    map->shape = cute_tree_tuple(p->w.arena, shape, rank);
    map->stride = cute_tree_tuple(p->w.arena, stride, rank);
    return map->shape && map->stride ? CUTE_OK : cute_fail_memory(diag);
}

static bool same_basis(const cute_tree *a, const cute_tree *b)
{
    return a->kind == CUTE_TREE_BASIS && b->kind == CUTE_TREE_BASIS && a->count == b->count &&
           !memcmp(a->path, b->path, a->count * sizeof *a->path);
}

static bool find_leaf(const planner *p, const cute_tree *basis, uint32_t *out)
{
    for (size_t i = 0; i < p->leaf_count; i++) {
        if (!same_basis(p->bases[i], basis)) continue;
        *out = (uint32_t)i;
        return true;
    }
    return false;
}

/* The largest divisor of `extent` that is at most `most`. */
static int64_t divisor_below(int64_t extent, int64_t most)
{
    int64_t d = extent < most ? extent : most;
    while (d > 1 && extent % d) d--;
    return d < 1 ? 1 : d;
}

/* Dimensions of the box: neighbours in shared memory that are neighbours in a mode of the tensor, as far as the order
 * of the tile's elements lets one box have them. */
static cute_status add_box(planner *p, cute_layout order)
{
    uint32_t rank = rank_of(order.shape);
    for (uint32_t i = 0; i < rank && p->count < CUTE_MAP_RANK; i++) {
        const cute_tree *s = mode_of(order.shape, i), *d = mode_of(order.stride, i);
        if (s->kind != CUTE_TREE_INT || !s->value.known) break;
        int64_t extent = s->value.value, most = BOX;
        if (extent == 1) continue;
        if (d->kind != CUTE_TREE_BASIS || !d->value.known || d->value.value != 1) break;
        dimension *dim = &p->dims[p->count];
        if (!find_leaf(p, d, &dim->leaf)) break;
        if (!p->count && p->span && p->span * 8 / p->bits < most) most = p->span * 8 / p->bits;
        dim->extent = divisor_below(extent, most);
        dim->basis = p->bases[dim->leaf];
        p->count++;
        if (dim->extent != extent) break;
    }
    p->boxed = p->count;
    return CUTE_OK;
}

/* The order of the tile's elements in shared memory, as modes of the tensor. */
static cute_status order_of(planner *p, cute_layout tile, cute_layout map, cute_layout *out)
{
    cute_layout inverse, composed, identity, modes;
    CUTE_TRY(unary(&p->w, CUTE_OP_RIGHT_INVERSE, tile, &inverse));
    CUTE_TRY(compose(&p->w, map, inverse, &composed));
    CUTE_TRY(unary(&p->w, CUTE_OP_COALESCE, composed, &modes));
    *out = modes;
    /* A mode of the tensor that has modes itself is told apart, where its extents are known. */
    bool nested = false;
    for (uint32_t i = 0; i < rank_of(modes.stride); i++) {
        const cute_tree *d = mode_of(modes.stride, i);
        uint32_t leaf;
        nested = nested || (d->kind == CUTE_TREE_BASIS && !find_leaf(p, d, &leaf));
    }
    if (!nested) return CUTE_OK;
    cute_value shape = cute_value_of_tree(CUTE_SHAPE, p->global.shape), result;
    CUTE_TRY(apply(&p->w, CUTE_OP_MAKE_IDENTITY_LAYOUT, &shape, 1, &result));
    identity = result.layout;
    CUTE_TRY(compose(&p->w, identity, modes, &composed));
    return unary(&p->w, CUTE_OP_FLATTEN, composed, out);
}

static bool is_number(const cute_tree *t, int64_t value)
{
    return t->kind == CUTE_TREE_INT && t->value.known && t->value.value == value;
}

/* Modes of the tensor that the tile has not: one element each. */
static cute_status add_rest(planner *p)
{
    for (size_t i = 0; i < p->leaf_count; i++) {
        if (is_number(p->shapes[i], 1) || is_number(p->strides[i], 0)) continue;
        bool found = false;
        for (int j = 0; j < p->count; j++) found = found || p->dims[j].leaf == i;
        if (found) continue;
        if (p->count == CUTE_MAP_RANK)
            return cute_fail(p->w.diag, CUTE_INVALID, NULL,
                             "expects a tensor of at most 5 modes that are no constant 1, but got \"%s\"",
                             cute_layout_text(p->w.arena, p->global));
        p->dims[p->count++] = (dimension){1, p->bases[i], (uint32_t)i};
    }
    return CUTE_OK;
}

static cute_status check_strides(planner *p)
{
    cute_diag *diag = p->w.diag;
    const cute_tree *first = p->strides[p->dims[0].leaf];
    if (!is_number(first, 1))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects stride 1 in the mode of the tensor whose elements lie side by side in "
                         "shared memory, mode %u of \"%s\"",
                         p->dims[0].leaf, cute_layout_text(p->w.arena, p->global));
    for (int i = 1; i < p->count; i++) {
        const cute_tree *d = p->strides[p->dims[i].leaf];
        int64_t bits;
        if (d->kind != CUTE_TREE_INT || !d->value.known) continue;
        if (__builtin_mul_overflow(d->value.value, (int64_t)p->bits, &bits) || bits <= 0 || bits % (8 * LINE))
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "expects a stride that is a multiple of 16 bytes in mode %u of the tensor, but "
                             "got %" PRId64 " elements of %d bits: \"%s\"",
                             p->dims[i].leaf, d->value.value, p->bits,
                             cute_layout_text(p->w.arena, p->global));
    }
    if (p->dims[0].extent * p->bits % (8 * LINE))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects a multiple of 16 bytes side by side in the tile, but got %" PRId64
                         " elements of %d bits",
                         p->dims[0].extent, p->bits);
    return CUTE_OK;
}

/* Blocks that share an instruction get the same box, of which each brings a part: the slowest dimensions are cut. */
static cute_status share(planner *p, cute_tma_map *out)
{
    int64_t left = p->request->multicast;
    for (int i = p->count; i-- > 0 && left > 1;) {
        int64_t extent = out->box[i];
        if (extent % left && left % extent) break;
        int64_t more = left > extent ? left / extent : 1;
        out->box[i] = extent > left ? extent / left : 1;
        left = more;
    }
    if (left > 1)
        return cute_fail(p->w.diag, CUTE_INVALID, NULL,
                         "expects a box that %" PRId64 " blocks can share, but it has %" PRId64 " elements",
                         p->request->multicast, size_of(out->atom->tma->basis.shape));
    if (out->box[0] * p->bits % (8 * LINE))
        return cute_fail(p->w.diag, CUTE_INVALID, NULL,
                         "expects a box of which each of %" PRId64 " blocks gets a multiple of 16 bytes",
                         p->request->multicast);
    return CUTE_OK;
}

/* tma_gbasis: from the fifth dimension on they are one. */
static cute_status put_basis(planner *p, atom_fields *f)
{
    const cute_tree *shape[CUTE_MAP_RANK], *stride[CUTE_MAP_RANK];
    for (int i = 0; i < p->count; i++) {
        shape[i] = number(&p->w, p->dims[i].extent);
        stride[i] = p->dims[i].basis;
        if (i == CUTE_MAP_RANK - 1) {
            shape[i] = shape[i] ? cute_tree_tuple(p->w.arena, &shape[i], 1) : NULL;
            stride[i] = cute_tree_tuple(p->w.arena, &stride[i], 1);
        }
        if (!shape[i] || !stride[i]) return cute_fail_memory(p->w.diag);
    }
    cute_layout layout = {cute_tree_tuple(p->w.arena, shape, (size_t)p->count),
                          cute_tree_tuple(p->w.arena, stride, (size_t)p->count)};
    if (layout.shape && layout.stride) f->basis = cute_layout_text(p->w.arena, layout);
    return f->basis ? CUTE_OK : cute_fail_memory(p->w.diag);
}

/* Where each mode of the tensor counts: a dimension, or nothing. */
static const cute_tree *coordinate_strides(planner *p, const cute_tree *shape, uint32_t *leaf)
{
    if (shape->kind == CUTE_TREE_TUPLE) {
        const cute_tree **items = cute_arena_array(p->w.arena, shape->count + 1, sizeof *items);
        for (uint32_t i = 0; items && i < shape->count; i++)
            if (!(items[i] = coordinate_strides(p, shape->items[i], leaf))) return NULL;
        return items ? cute_tree_tuple(p->w.arena, items, shape->count) : NULL;
    }
    uint32_t own = (*leaf)++;
    for (int i = 0; i < p->count; i++) {
        int32_t path = i;
        if (p->dims[i].leaf == own) return basis(&p->w, 1, &path, 1);
    }
    return number(&p->w, 0);
}

static cute_status put_coordinates(planner *p, cute_value *out)
{
    const cute_tree *zeros[CUTE_MAP_RANK], *zero = number(&p->w, 0);
    uint32_t leaf = 0;
    for (int i = 0; i < p->count; i++) zeros[i] = zero;
    *out = (cute_value){.type = CUTE_COORD_TENSOR};
    out->tree = zero ? cute_tree_tuple(p->w.arena, zeros, (size_t)p->count) : NULL;
    out->layout.shape = p->global.shape;
    out->layout.stride = coordinate_strides(p, p->global.shape, &leaf);
    return out->tree && out->layout.stride ? CUTE_OK : cute_fail_memory(p->w.diag);
}

static cute_status choose_format(planner *p, const char **name, cute_tensor_map_type *type)
{
    const cute_pointer *pointer = p->request->tensor->pointer;
    int bits;
    p->bits = pointer->bits;
    if (p->bits && p->bits < 8)
        return cute_fail(p->w.diag, CUTE_INVALID, NULL,
                         "expects elements of at least 8 bits, but got %s: view the tensor as i8 "
                         "(cute.recast_iter), the accelerator unpacks none before sm_100",
                         pointer->element);
    *name = p->request->format ? p->request->format : cute_tma_format_of(pointer->element);
    if (!*name || !cute_tma_format_find(*name, strlen(*name), type, &bits))
        return cute_fail(p->w.diag, CUTE_INVALID, NULL,
                         "expects elements that a tensor map has%s%s, but got %s", *name ? ", not " : "",
                         *name ? *name : "", pointer->element);
    if (bits == p->bits) return CUTE_OK;
    return cute_fail(p->w.diag, CUTE_INVALID, NULL, "expects a format of %d bits for %s, but got %s", p->bits,
                     pointer->element, *name);
}

cute_status cute_tma_plan(cute_arena *arena, const cute_tma_request *request, cute_tma_map *out,
                          cute_diag *diag)
{
    planner *p = cute_arena_alloc(arena, sizeof *p);
    if (!p) return cute_fail_memory(diag);
    *p = (planner){.w = {arena, NULL, diag}, .request = request};
    *out = (cute_tma_map){0};
    atom_fields f = {0};
    cute_layout tile, map, order;
    CUTE_TRY(read_tensor(p));
    CUTE_TRY(choose_format(p, &f.tma_format, &out->type));
    CUTE_TRY(read_swizzle(p, &tile, &out->swizzle));
    CUTE_TRY(read_map(p, tile, &map));
    CUTE_TRY(order_of(p, tile, map, &order));
    CUTE_TRY(add_box(p, order));
    if (!p->count)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects elements that lie side by side in the tile to do so in a mode of the "
                         "tensor, but the tile's order is \"%s\"",
                         cute_layout_text(arena, order));
    CUTE_TRY(add_rest(p));
    CUTE_TRY(check_strides(p));
    CUTE_TRY(put_basis(p, &f));
    f.type[0] = request->tensor->pointer->element;
    f.copy_bits = p->bits;
    for (int i = 0; i < p->count; i++) f.copy_bits *= p->dims[i].extent;
    if (request->operation == CUTE_TMA_LOAD)
        f.tma_kind = request->kind ? request->kind : request->multicast > 1 ? "sm_90_multicast" : "sm_90";
    if (request->operation == CUTE_TMA_REDUCE) f.tma_reduce = request->reduce ? request->reduce : "ADD";
    CUTE_TRY(make_atom(arena, mnemonics[0][request->operation], &f, &out->atom, diag));
    out->rank = p->count;
    for (int i = 0; i < p->count; i++) out->leaf[i] = p->dims[i].leaf, out->box[i] = p->dims[i].extent;
    CUTE_TRY(share(p, out));
    return put_coordinates(p, &out->coordinates);
}

/* ---- partitions ---- */

/* (what one instruction moves, instructions), as indices of a tile in the order of its elements in shared memory. */
static cute_status instructions_of(const work *w, int64_t elements, cute_layout tile, cute_layout *out)
{
    work silent = {w->arena, NULL, w->diag};
    int64_t size = size_of(tile.shape);
    if (!size || !cute_tree_is_static(tile.stride) || size % elements)
        return cute_fail(w->diag, CUTE_INVALID, NULL,
                         "expects mode 0 of the tensor in shared memory to be tiles of %" PRId64
                         " elements, which the atom copies, but got \"%s\"",
                         elements, cute_layout_text(w->arena, tile));
    cute_layout order;
    CUTE_TRY(unary(&silent, CUTE_OP_RIGHT_INVERSE, tile, &order));
    if (size_of(order.shape) != size) {
        const cute_tree *extent = number(w, size);
        cute_value operands[2] = {cute_value_of_layout(order),
                                  cute_value_of_tree(CUTE_SHAPE,
                                                     extent ? cute_tree_tuple(w->arena, &extent, 1) : NULL)},
                   result;
        if (!operands[1].tree) return cute_fail_memory(w->diag);
        operands[0].layout.shape = cute_tree_tuple(w->arena, &order.shape, 1);
        operands[0].layout.stride = cute_tree_tuple(w->arena, &order.stride, 1);
        if (!operands[0].layout.shape || !operands[0].layout.stride) return cute_fail_memory(w->diag);
        CUTE_TRY(apply(&silent, CUTE_OP_TILE_TO_SHAPE, operands, 2, &result));
        order = layout_mode(result.layout, 0);
    }
    cute_layout one = {pair(w, number(w, elements), number(w, size / elements)),
                       pair(w, number(w, 1), number(w, size == elements ? 0 : elements))};
    if (!one.shape || !one.stride) return cute_fail_memory(w->diag);
    return compose(&silent, order, one, out);
}

/* Mode 0 of a tensor by instructions; each part coalesced. */
static cute_status by_instructions(const work *w, cute_layout whole, cute_layout instructions,
                                   cute_layout *out)
{
    work silent = {w->arena, NULL, w->diag};
    cute_layout parts[2], mode = layout_mode(whole, 0);
    for (uint32_t i = 0; i < 2; i++) {
        CUTE_TRY(compose(&silent, mode, layout_mode(instructions, i), &parts[i]));
        CUTE_TRY(unary(&silent, CUTE_OP_COALESCE, parts[i], &parts[i]));
    }
    uint32_t rank = rank_of(whole.shape);
    const cute_tree **shape = cute_arena_array(w->arena, rank, sizeof *shape);
    const cute_tree **stride = cute_arena_array(w->arena, rank, sizeof *stride);
    if (!shape || !stride) return cute_fail_memory(w->diag);
    shape[0] = pair(w, parts[0].shape, parts[1].shape);
    stride[0] = pair(w, parts[0].stride, parts[1].stride);
    for (uint32_t i = 1; i < rank; i++) shape[i] = whole.shape->items[i], stride[i] = whole.stride->items[i];
    out->shape = shape[0] ? cute_tree_tuple(w->arena, shape, rank) : NULL;
    out->stride = stride[0] ? cute_tree_tuple(w->arena, stride, rank) : NULL;
    return out->shape && out->stride ? CUTE_OK : cute_fail_memory(w->diag);
}

/* The first element that the block brings, of those of an instruction: what is known of it is the factor. */
static cute_status block_offset(const work *w, int64_t elements, const cute_value *coordinate,
                                const cute_value *blocks, cute_int *out)
{
    cute_value operands[2] = {*coordinate, *blocks}, cosize, index;
    work silent = {w->arena, NULL, w->diag};
    CUTE_TRY(apply(&silent, CUTE_OP_COSIZE, &operands[1], 1, &cosize));
    if (cosize.tree->kind != CUTE_TREE_INT || !cosize.tree->value.known || cosize.tree->value.value < 1 ||
        elements % cosize.tree->value.value)
        return cute_fail(w->diag, CUTE_INVALID, NULL,
                         "expects a known number of blocks that divides the %" PRId64
                         " elements of a copy, but got \"%s\"",
                         elements, cute_layout_text(w->arena, blocks->layout));
    int64_t each = elements / cosize.tree->value.value;
    *out = (cute_int){.known = true, .width = 32};
    if (cosize.tree->value.value == 1) return CUTE_OK;
    operands[0].type = CUTE_COORD;
    CUTE_TRY(apply(w, CUTE_OP_CRD2IDX, operands, 2, &index));
    if (index.tree->kind != CUTE_TREE_INT)
        return cute_fail(w->diag, CUTE_INVALID, NULL, "expects blocks that are counted by integers");
    cute_int factor = {.known = true, .width = 32, .value = each};
    CUTE_TRY(cute_int_apply(w->arith, CUTE_MUL, index.tree->value, factor, out, w->diag));
    if (!out->known) out->divisor = each;
    return CUTE_OK;
}

/* The tensor from the element at `offset` of mode (0, 0) on. */
static cute_status advance(const work *w, cute_int offset, cute_value *tensor)
{
    if (offset.known && !offset.value) return CUTE_OK;
    cute_layout first = layout_mode(layout_mode(tensor->layout, 0), 0);
    const cute_tree *leaf = cute_tree_scalar(w->arena, offset);
    if (!leaf) return cute_fail_memory(w->diag);
    cute_value operands[2] = {cute_value_of_tree(CUTE_COORD, leaf), cute_value_of_layout(first)}, by, moved;
    CUTE_TRY(apply(w, CUTE_OP_CRD2IDX, operands, 2, &by));
    bool memory = tensor->type == CUTE_MEMREF;
    cute_value iterator = cute_value_of_tree(CUTE_ARITH_TUPLE_ITER, tensor->tree);
    if (memory) iterator = (cute_value){.type = CUTE_PTR, .pointer = tensor->pointer};
    if (memory && by.tree->kind == CUTE_TREE_INT && !by.tree->value.known) {
        cute_int sum = by.tree->value;
        sum.divisor = offset.divisor;
        by.tree = cute_tree_scalar(w->arena, sum);
        if (!by.tree) return cute_fail_memory(w->diag);
    }
    cute_value sum[2] = {iterator, cute_value_of_tree(CUTE_INT_TUPLE, by.tree)};
    CUTE_TRY(apply(w, CUTE_OP_ADD_OFFSET, sum, 2, &moved));
    if (memory)
        tensor->pointer = moved.pointer;
    else
        tensor->tree = moved.tree;
    return CUTE_OK;
}

cute_status cute_tma_partition(cute_arena *arena, const cute_arith *arith, const cute_tma *tma,
                               const cute_value *coordinate, const cute_value *blocks,
                               const cute_value *shared, const cute_value *global, cute_value *shared_part,
                               cute_value *global_part, cute_diag *diag)
{
    work w = {arena, arith, diag};
    cute_layout instructions;
    cute_int offset;
    int64_t elements = cute_tma_elements(tma);
    if (shared->tree || (global->type == CUTE_MEMREF && global->tree))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects tensors whose layouts have strides: a swizzle belongs to the pointer");
    int64_t tile = size_of(mode_of(shared->layout.shape, 0)),
            other = size_of(mode_of(global->layout.shape, 0));
    if (!tile || tile != other)
        return cute_fail(
            diag, CUTE_INVALID, NULL,
            "expects mode 0 of both tensors to be the tile, of as many elements, but got %" PRId64
            " in shared memory and %" PRId64 " of the tensor",
            tile, other);
    CUTE_TRY(instructions_of(&w, elements, layout_mode(shared->layout, 0), &instructions));
    *shared_part = *shared;
    *global_part = *global;
    CUTE_TRY(by_instructions(&w, shared->layout, instructions, &shared_part->layout));
    CUTE_TRY(by_instructions(&w, global->layout, instructions, &global_part->layout));
    CUTE_TRY(block_offset(&w, elements, coordinate, blocks, &offset));
    CUTE_TRY(advance(&w, offset, global_part));
    return advance(&w, offset, shared_part);
}
