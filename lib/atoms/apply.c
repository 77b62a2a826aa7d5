/* The operations of atom_ops.def: checks of operands and dispatch; tiling.c has the algorithms. */
#include <string.h>

#include "lib/atoms/smem_matrix.h"
#include "lib/atoms/tiling.h"
#include "lib/atoms/validate.h"
#include "lib/layout/pointer.h"

typedef struct atom_call {
    cute_algebra *a;
    const cute_value *in;
    size_t count;
    int64_t operand_id; /* for operations on one operand of an MMA: its index */
    cute_value *out;
} atom_call;

/* ---- operands ---- */

static const char *type_text(atom_call *c, const cute_value *value)
{
    if (value->type < CUTE_ATOM) return alg_type_text(c->a, value);
    const char *text = cute_atom_value_text(c->a->arena, value);
    const char *name = value->type == CUTE_TILED_COPY ? "tiled_copy" : "tiled_mma";
    if (text && value->type != CUTE_ATOM) text = cute_arena_printf(c->a->arena, "!cute.%s<%s>", name, text);
    text = text ? cute_arena_printf(c->a->arena, "'%s'", text) : NULL;
    return text ? text : "(out of memory)";
}

static bool expects_operand(atom_call *c, size_t operand, unsigned types, const char *what)
{
    if (types >> c->in[operand].type & 1) return true;
    alg_fail(c->a, "expects %s, but got %s", what, type_text(c, &c->in[operand]));
    return false;
}

#define BIT(type) (1u << (type))
enum {
    TENSORS = BIT(CUTE_MEMREF) | BIT(CUTE_COORD_TENSOR) | BIT(CUTE_LAYOUT) | BIT(CUTE_COMPOSED_LAYOUT),
};

static bool expects_atom(atom_call *c, size_t operand, unsigned types, const char *what)
{
    if (!expects_operand(c, operand, types, what)) return false;
    const cute_atom *atom = c->in[operand].atom;
    if (atom->known) return true;
    alg_fail(c->a, "the layouts of '%s' are not known", atom->mnemonic);
    return false;
}

/* Sets the prefix of messages: "cannot partition TENSOR by TILED". */
static void set_failure_prefix(atom_call *c, const char *verb, const char *preposition)
{
    c->a->sentence = cute_arena_printf(c->a->arena, "cannot %s %s %s %s", verb, type_text(c, &c->in[1]),
                                       preposition, type_text(c, &c->in[0]));
    if (c->a->sentence && strchr(c->a->sentence, '$')) c->a->sentence = NULL;
}

static cute_node thread_of(atom_call *c, size_t operand)
{
    const cute_value *v = &c->in[operand];
    if (!expects_operand(c, operand, BIT(CUTE_COORD) | BIT(CUTE_INT_TUPLE),
                         "the index of a thread as a coordinate"))
        return NULL;
    if (v->tree->kind == CUTE_TREE_INT) return v->tree;
    return alg_fail(c->a, "expects the index of a thread, one number, but got %s", type_text(c, v));
}

static cute_node wildcard(cute_algebra *a)
{
    cute_tree *t = cute_arena_alloc(a->arena, sizeof *t);
    if (!t) return alg_exhausted(a);
    t->kind = CUTE_TREE_UNDERSCORE;
    t->leaves = 1;
    return t;
}

/* The tensor with another layout, with its first modes fixed to a thread's coordinate. */
static bool slice_by_thread(atom_call *c, const cute_value *tensor, cute_layout layout,
                            const cute_node *threads, size_t thread_modes)
{
    alg_list list = {0};
    if (!alg_ok(layout)) return false;
    for (size_t i = 0; i < alg_rank(layout.shape); i++)
        alg_push(c->a, &list, i < thread_modes ? threads[i] : wildcard(c->a));
    cute_node coord = alg_tuple(c->a, &list);
    if (!coord) return false;
    cute_value operands[2] = {*tensor, cute_value_of_tree(CUTE_COORD, coord)};
    operands[0].layout = layout;
    cute_algebra *a = c->a;
    cute_status status = cute_apply(a->arena, a->arith, CUTE_OP_SLICE, operands, 2, NULL, c->out, a->diag);
    if (status != CUTE_OK && a->status == CUTE_OK) a->status = status;
    return status == CUTE_OK;
}

static bool give_like(atom_call *c, const cute_value *tensor, cute_layout layout)
{
    *c->out = *tensor;
    c->out->layout = layout;
    return alg_ok(layout);
}

/* ---- tiled copies ---- */

static bool partition_copy(atom_call *c, int which)
{
    if (!expects_atom(c, 0, BIT(CUTE_TILED_COPY), "a tiled copy") ||
        !expects_operand(c, 1, TENSORS, "a tensor"))
        return false;
    cute_node thread = thread_of(c, 2);
    if (!thread) return false;
    set_failure_prefix(c, "partition", "by");
    atom_partition p = atom_copy_partition(c->a, &c->in[0], which, c->in[1].layout);
    return slice_by_thread(c, &c->in[1], p.layout, &thread, p.threads);
}

static bool op_tiled_copy_partition_S(atom_call *c)
{
    return partition_copy(c, CUTE_ATOM_SOURCE);
}
static bool op_tiled_copy_partition_D(atom_call *c)
{
    return partition_copy(c, CUTE_ATOM_DESTINATION);
}

static bool op_tiled_copy_retile(atom_call *c)
{
    if (!expects_atom(c, 0, BIT(CUTE_TILED_COPY), "a tiled copy") ||
        !expects_operand(c, 1, TENSORS, "a tensor"))
        return false;
    set_failure_prefix(c, "retile", "for");
    return give_like(c, &c->in[1], atom_copy_retile(c->a, &c->in[0], c->in[1].layout));
}

/* ---- tiled MMAs ---- */

static cute_layout compact_layout(cute_algebra *a, cute_node shape)
{
    return (cute_layout){shape, shape ? alg_compact(a, shape, alg_number(a, 1)) : NULL};
}

static bool op_tiled_mma_partition(atom_call *c)
{
    if (!expects_atom(c, 0, BIT(CUTE_TILED_MMA), "a tiled MMA") ||
        !expects_operand(c, 1, TENSORS, "a tensor"))
        return false;
    cute_node thread = thread_of(c, 2), coordinate[3];
    if (!thread) return false;
    set_failure_prefix(c, "partition", "by");
    int which = (int)c->operand_id;
    atom_partition p = atom_mma_partition(c->a, &c->in[0], which, c->in[1].layout);
    if (!alg_ok(p.layout) || !atom_mma_coordinate(c->a, &c->in[0], which, thread, coordinate)) return false;
    return slice_by_thread(c, &c->in[1], p.layout, coordinate, p.threads);
}

static cute_node modes_from(cute_algebra *a, cute_layout layout, size_t from)
{
    return alg_ok(layout) ? alg_take(a, layout.shape, from, alg_rank(layout.shape)) : NULL;
}

static bool op_tiled_mma_partition_shape(atom_call *c)
{
    if (!expects_atom(c, 0, BIT(CUTE_TILED_MMA), "a tiled MMA") ||
        !expects_operand(c, 1, BIT(CUTE_SHAPE) | BIT(CUTE_INT_TUPLE), "a shape"))
        return false;
    set_failure_prefix(c, "partition", "by");
    atom_partition p =
        atom_mma_partition(c->a, &c->in[0], (int)c->operand_id, compact_layout(c->a, c->in[1].tree));
    *c->out = cute_value_of_tree(CUTE_SHAPE, modes_from(c->a, p.layout, p.threads));
    return c->out->tree != NULL;
}

/* make_fragment_like: the values of the atom vary fastest, then the other modes in the order of their
 * strides. */
static cute_layout fragment_like(cute_algebra *a, cute_layout like)
{
    cute_layout first = alg_layout_mode(like, 0);
    first.stride = alg_compact(a, alg_filter_zeros(a, first.stride, first.shape), alg_number(a, 1));
    cute_node size = first.stride
                         ? alg_product(a, alg_filter_zeros(a, alg_layout_mode(like, 0).stride, first.shape))
                         : NULL;
    if (!size || alg_rank(like.shape) == 1) return size ? first : alg_no_layout;
    cute_node shape = alg_take(a, like.shape, 1, alg_rank(like.shape));
    cute_node order = alg_take(a, like.stride, 1, alg_rank(like.shape));
    cute_node stride = shape && order ? alg_compact_order(a, shape, order) : NULL;
    if (!stride) return alg_no_layout;
    alg_layouts list = {0};
    alg_push_layout(a, &list, first);
    cute_layout vector = {size, alg_number(a, 1)}, rest = {shape, stride};
    cute_layout both = alg_product_of(a, vector, rest);
    if (!alg_ok(both)) return alg_no_layout;
    cute_layout tail = alg_layout_mode(both, 1);
    for (size_t i = 0; i < alg_rank(tail.shape); i++) alg_push_layout(a, &list, alg_layout_mode(tail, i));
    return alg_layouts_tuple(a, &list);
}

/* A view of the matrix descriptors of operand `which`: mode 0 is one matrix, the others step in units of 16
 * bytes. */
static bool describe_fragment(atom_call *c, const cute_atom *atom, int which)
{
    static const cute_pointer descriptors = {
        .element = "!cute_nvgpu.smem_desc", .space = CUTE_SPACE_DESC, .align = 1};
    enum { UNIT = 128 }; /* bits */
    cute_algebra *a = c->a;
    const cute_value *like = &c->in[1];
    const cute_atom_operand *o = &atom->operand[which];
    cute_smem_matrix matrix;
    if (like->type != CUTE_MEMREF)
        return alg_fail(a, "expects a partition in smem as %c, which wgmma reads there", "ABC"[which]) !=
               NULL;
    if (like->pointer->bits != o->bits)
        return alg_fail(a, "expects elements of %s, of %d bits, but got %s", o->type, o->bits,
                        like->pointer->element) != NULL;
    a->status = cute_smem_matrix_of(a->arena, like, atom->mn_major[which], atom->shape[which], atom->shape[2],
                                    &matrix, a->diag);
    if (a->status != CUTE_OK) return false;
    alg_layouts modes = {0};
    alg_push_layout(a, &modes, (cute_layout){alg_number(a, 1), alg_number(a, 0)});
    for (size_t i = 1; i < alg_rank(like->layout.shape); i++) {
        cute_layout mode = alg_layout_mode(like->layout, i), units = alg_upcast(a, UNIT / o->bits, mode);
        if (!alg_ok(units)) return false;
        int64_t elements = alg_known_size(mode.shape), steps = alg_known_size(units.shape);
        if (elements != steps)
            return alg_fail(a, "descriptors step by 16 bytes, %d elements, but mode %zu of %s does not",
                            UNIT / o->bits, i, alg_layout_text(a, like->layout)) != NULL;
        alg_push_layout(a, &modes, units);
    }
    *c->out =
        (cute_value){.type = CUTE_MEMREF, .pointer = &descriptors, .layout = alg_layouts_tuple(a, &modes)};
    return alg_ok(c->out->layout);
}

static bool op_mma_make_fragment(atom_call *c)
{
    const cute_value *like = &c->in[1];
    bool shape = like->type == CUTE_SHAPE || like->type == CUTE_INT_TUPLE;
    if (!expects_atom(c, 0, BIT(CUTE_TILED_MMA) | BIT(CUTE_ATOM), "a tiled MMA or its atom") ||
        !expects_operand(c, 1, TENSORS | BIT(CUTE_SHAPE) | BIT(CUTE_INT_TUPLE), "a partition or its shape"))
        return false;
    set_failure_prefix(c, "make a fragment of", "for");
    const cute_atom *atom = c->in[0].atom;
    if (atom->kind != CUTE_ATOM_MMA)
        return alg_fail(c->a, "expects an MMA atom, but got %s", type_text(c, &c->in[0])) != NULL;
    if (atom->operand[c->operand_id].described) return describe_fragment(c, atom, (int)c->operand_id);
    /* make_fragment_C: compact, regardless of strides in memory. */
    cute_layout layout = compact_layout(c->a, shape ? like->tree : like->layout.shape);
    if (!shape && c->operand_id != CUTE_ATOM_C) layout = fragment_like(c->a, like->layout);
    if (!alg_ok(layout)) return false;
    if (!cute_tree_is_static(layout.shape) || !cute_tree_is_static(layout.stride))
        return alg_fail(c->a, "registers need a static shape, but got %s", alg_layout_text(c->a, layout)) !=
               NULL;
    const cute_atom_operand *o = &atom->operand[c->operand_id];
    cute_pointer *pointer = cute_arena_alloc(c->a->arena, sizeof *pointer);
    if (!pointer) return alg_exhausted(c->a) != NULL;
    *pointer = (cute_pointer){.element = o->type, .bits = o->bits, .space = CUTE_SPACE_RMEM};
    /* Aligned to the values of one instruction. */
    int64_t bytes = o->values * o->bits / 8, natural = alg_natural_align(pointer);
    pointer->align = bytes > natural ? bytes & -bytes : natural;
    *c->out = (cute_value){.type = CUTE_MEMREF, .pointer = pointer, .layout = layout};
    return true;
}

/* ---- construction ---- */

static bool check_tiled(atom_call *c)
{
    size_t at;
    const char *text = cute_atom_value_text(c->a->arena, c->out);
    cute_value again;
    cute_status status =
        text ? cute_atom_value_parse(c->a->arena, c->out->type, text, strlen(text), &again, &at, c->a->diag)
             : CUTE_SYSTEM;
    if (status == CUTE_OK) status = cute_tiling_verify(c->a->arena, c->out, c->a->diag);
    if (status != CUTE_OK && c->a->status == CUTE_OK) c->a->status = status;
    return status == CUTE_OK;
}

static bool give_copy(atom_call *c, cute_layout layout, cute_node tiler)
{
    *c->out = (cute_value){.type = CUTE_TILED_COPY, .atom = c->in[0].atom, .layout = layout, .tree = tiler};
    return alg_ok(layout) && tiler && check_tiled(c);
}

static bool expects_kind(atom_call *c, cute_atom_kind kind)
{
    const char *what = kind == CUTE_ATOM_COPY ? "a copy atom" : "an MMA atom";
    if (!expects_operand(c, 0, BIT(CUTE_ATOM), what)) return false;
    if (c->in[0].atom->kind == kind) return true;
    alg_fail(c->a, "expects %s, but got %s", what, type_text(c, &c->in[0]));
    return false;
}

/* A tile of compact layouts with these sizes. */
static cute_node compact_tile(cute_algebra *a, cute_node first, cute_node second)
{
    return first && second ? alg_shape_to_tile(a, alg_pair(a, first, second)) : NULL;
}

/* From a thread layout and a value layout, both from coordinates of the tile: the inverse of their raked
 * product. */
static bool copy_of_product(atom_call *c)
{
    cute_algebra *a = c->a;
    cute_layout threads = c->in[1].layout, values = c->in[2].layout;
    cute_layout tile = alg_blocked(a, threads, values, true);
    cute_node sizes = alg_pair(a, alg_product(a, threads.shape), alg_product(a, values.shape));
    cute_layout inverse = alg_ok(tile) ? alg_right_inverse(a, tile) : alg_no_layout;
    if (!alg_ok(inverse) || !sizes) return false;
    alg_list extents = {0};
    for (size_t i = 0; i < alg_rank(tile.shape); i++)
        alg_push(a, &extents, alg_product(a, alg_mode(tile.shape, i)));
    cute_node shape = alg_tuple(a, &extents);
    return give_copy(c, alg_compose(a, inverse, compact_layout(a, sizes)),
                     shape ? alg_shape_to_tile(a, shape) : NULL);
}

static bool op_make_tiled_copy(atom_call *c)
{
    if (!expects_kind(c, CUTE_ATOM_COPY) || !expects_operand(c, 1, BIT(CUTE_LAYOUT), "a layout") ||
        !expects_operand(c, 2, BIT(CUTE_TILE) | BIT(CUTE_LAYOUT) | BIT(CUTE_SHAPE),
                         "a tiler or a value layout"))
        return false;
    if (c->in[2].type == CUTE_LAYOUT) return copy_of_product(c);
    cute_node tiler = c->in[2].type == CUTE_SHAPE ? alg_shape_to_tile(c->a, c->in[2].tree) : c->in[2].tree;
    return give_copy(c, c->in[1].layout, tiler);
}

static bool copy_of_mma(atom_call *c, int which)
{
    static const int modes[3][2] = {{0, 2}, {1, 2}, {0, 1}};
    if (!expects_kind(c, CUTE_ATOM_COPY) || !expects_atom(c, 1, BIT(CUTE_TILED_MMA), "a tiled MMA"))
        return false;
    const cute_value *mma = &c->in[1];
    cute_node m = atom_mma_tile(c->a, mma, modes[which][0]), n = atom_mma_tile(c->a, mma, modes[which][1]);
    return give_copy(c, atom_mma_layout(c->a, mma, which), compact_tile(c->a, m, n));
}

static bool op_make_tiled_copy_A(atom_call *c)
{
    return copy_of_mma(c, CUTE_ATOM_A);
}
static bool op_make_tiled_copy_B(atom_call *c)
{
    return copy_of_mma(c, CUTE_ATOM_B);
}
static bool op_make_tiled_copy_C(atom_call *c)
{
    return copy_of_mma(c, CUTE_ATOM_C);
}

static bool copy_of_copy(atom_call *c, int which)
{
    if (!expects_kind(c, CUTE_ATOM_COPY) || !expects_atom(c, 1, BIT(CUTE_TILED_COPY), "a tiled copy"))
        return false;
    return give_copy(c, atom_copy_layout(c->a, &c->in[1], which), c->in[1].tree);
}

static bool op_make_tiled_copy_S(atom_call *c)
{
    return copy_of_copy(c, CUTE_ATOM_SOURCE);
}
static bool op_make_tiled_copy_D(atom_call *c)
{
    return copy_of_copy(c, CUTE_ATOM_DESTINATION);
}

static cute_node pad_tile(cute_algebra *a, cute_node t, cute_node with)
{
    alg_list list = {0};
    alg_push_modes(a, &list, t);
    while (list.count < 3 && !list.failed) alg_push(a, &list, with);
    return alg_tuple(a, &list);
}

static bool op_make_tiled_mma(atom_call *c)
{
    cute_algebra *a = c->a;
    cute_node one = alg_number(a, 1), zero = alg_number(a, 0);
    if (!expects_kind(c, CUTE_ATOM_MMA) ||
        (c->count > 1 && !expects_operand(c, 1, BIT(CUTE_LAYOUT), "a layout of atoms")) ||
        (c->count > 2 && !expects_operand(c, 2, BIT(CUTE_TILE) | BIT(CUTE_SHAPE), "a permutation as a tile")))
        return false;
    cute_layout atoms = c->count > 1 ? c->in[1].layout : (cute_layout){one, zero};
    atoms = (cute_layout){pad_tile(a, atoms.shape, one), pad_tile(a, atoms.stride, zero)};
    cute_node tile = NULL;
    if (c->count > 2) {
        tile = c->in[2].type == CUTE_SHAPE ? alg_shape_to_tile(a, c->in[2].tree) : c->in[2].tree;
        tile = tile ? pad_tile(a, tile, wildcard(a)) : NULL;
        if (!tile) return false;
    }
    *c->out = (cute_value){.type = CUTE_TILED_MMA, .atom = c->in[0].atom, .layout = atoms, .tree = tile};
    return alg_ok(atoms) && check_tiled(c);
}

/* ---- dispatch ---- */

static const struct {
    bool (*function)(atom_call *);
    const char *name;
    size_t least, most;
} operations[] = {
#define CUTE_OPERATION(id, name, least, most, summary) {op_##name, #name, least, most},
#include "cute/atom_ops.def"
#undef CUTE_OPERATION
};
enum { FIRST = CUTE_OPERATIONS - sizeof operations / sizeof *operations };

cute_status cute_atom_apply(cute_arena *arena, const cute_arith *arith, cute_operation operation,
                            const cute_value *operands, size_t count, const cute_attributes *attributes,
                            cute_value *out, cute_diag *diag)
{
    if ((int)operation < FIRST)
        return cute_apply(arena, arith, operation, operands, count, attributes, out, diag);
    size_t row = (size_t)operation - FIRST;
    cute_algebra a = {.arena = arena, .arith = arith, .diag = diag};
    for (size_t i = 0; i < count; i++) /* CuTe DSL's conventions, as for all operations on tensors */
        a.dsl |= operands[i].type == CUTE_MEMREF || operands[i].type == CUTE_COORD_TENSOR;
    atom_call c = {.a = &a, .in = operands, .count = count, .out = out};
    *out = (cute_value){.type = CUTE_INT_TUPLE};
    if (count < operations[row].least || count > operations[row].most) {
        alg_fail_count(&a, operations[row].name, operations[row].least, operations[row].most, count);
        return a.status;
    }
    bool of_operand = operation == CUTE_OP_TILED_MMA_PARTITION ||
                      operation == CUTE_OP_TILED_MMA_PARTITION_SHAPE ||
                      operation == CUTE_OP_MMA_MAKE_FRAGMENT;
    if (of_operand) {
        if (!attributes || attributes->count != 1 || attributes->values[0] < 0 || attributes->values[0] > 2) {
            alg_fail(&a, "%s expects the operand of the MMA: 0, 1 or 2 for A, B or C", operations[row].name);
            return a.status;
        }
        c.operand_id = attributes->values[0];
    }
    if (!operations[row].function(&c) && a.status == CUTE_OK) alg_exhausted(&a);
    return a.status;
}
