/* Evaluation of values in the lanes of a warp (values.h): the table's lookup, an operation in all lanes, and
 * values of the dialect cute without unknown leaves, computed by lib/layout. Their pointers carry the variable
 * of shared memory that they point to, and the offset. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/atoms/atoms.h"
#include "lib/base/numbers/checked.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"
#include "lib/ir/ops/check.h"
#include "lib/passes/values/values.h"

lane_value lane_number(int64_t n)
{
    return (lane_value){.kind = LANE_INT, .number = n};
}

lane_value lane_of(const lane_value *v, int lane)
{
    return v->kind == LANE_EACH ? v->lanes[lane] : *v;
}

static bool is_same(const lane_value *a, const lane_value *b)
{
    if (a->kind == LANE_VALUE && b->kind == LANE_VALUE && a->value != b->value) {
        int64_t m, n;
        return lane_number_of(a, &m) && lane_number_of(b, &n) && m == n && a->value->type == b->value->type;
    }
    if (a->kind == LANE_ADDRESS && b->kind == LANE_ADDRESS)
        return a->place->root == b->place->root && a->place->byte == b->place->byte;
    return a->kind == b->kind && a->number == b->number;
}

lane_value lane_join(cute_arena *arena, const lane_value lanes[32])
{
    bool uniform = true;
    for (int lane = 1; lane < 32 && uniform; lane++) uniform = is_same(&lanes[0], &lanes[lane]);
    if (uniform) return lanes[0];
    lane_value *copy = cute_arena_array(arena, 32, sizeof *copy);
    if (!copy) return (lane_value){0};
    memcpy(copy, lanes, 32 * sizeof *copy);
    return (lane_value){.kind = LANE_EACH, .lanes = copy};
}

static int first_lane(uint32_t mask)
{
    return mask ? __builtin_ctz(mask) : 0;
}

static lane_value of_value(cute_arena *arena, cute_value value)
{
    cute_value *copy = cute_arena_alloc(arena, sizeof *copy);
    if (!copy) return (lane_value){0};
    *copy = value;
    return (lane_value){.kind = LANE_VALUE, .value = copy};
}

/* ---- places ---- */

static const cute_pointer *point(cute_arena *arena, const cute_pointer *pointer, lane_place place)
{
    lane_place *copy = cute_arena_alloc(arena, sizeof *copy);
    if (!copy) return NULL;
    *copy = place;
    return cute_pointer_with_handle(arena, pointer, copy);
}

static const lane_place *handle_of(const lane_value *v)
{
    if (v->kind != LANE_VALUE || !v->value->pointer) return NULL;
    return v->value->pointer->handle;
}

bool lane_place_of(const lane_value *v, lane_place *out)
{
    const lane_place *place = handle_of(v);
    if (!place || place->region == LANE_ELSEWHERE) return false;
    return *out = *place, true;
}

int lane_swizzle_of(const cute_value *v)
{
    if (v->type == CUTE_COMPOSED_LAYOUT) return v->inner.shape ? -1 : v->swizzle.bits;
    if (v->type == CUTE_LAYOUT) return 0;
    if (v->tree && v->type == CUTE_MEMREF && v->swizzle.bits) return v->swizzle.bits;
    return v->pointer ? v->pointer->swizzle.bits : -1;
}

int64_t lane_size_of(const cute_value *v)
{
    return v->layout.shape ? cute_check_size(v->layout.shape) : 0;
}

/* What lib/layout asks for where it moves a pointer: all numbers are known. */
static cute_status advance(void *context, const cute_pointer *from, const cute_int *offset,
                           const cute_pointer *to, void **handle, cute_diag *diag)
{
    lane_eval *x = context;
    (void)to;
    lane_place *place = cute_arena_alloc(x->arena, sizeof *place);
    if (!place || !from->handle) return CUTE_INVALID;
    *place = *(const lane_place *)from->handle;
    int64_t bits;
    if (offset && !offset->known) return CUTE_INVALID;
    if (offset &&
        (!cute_mul64(offset->value, from->bits, &bits) || !cute_add64(place->byte, bits / 8, &place->byte)))
        return cute_fail(diag, CUTE_INVALID, NULL, "an offset is too large");
    *handle = place;
    return CUTE_OK;
}

static cute_status emit(void *context, cute_arith_op op, const cute_int *a, const cute_int *b, int width,
                        void **handle, cute_diag *diag)
{
    (void)context, (void)op, (void)a, (void)b, (void)width, (void)handle, (void)diag;
    return CUTE_INVALID;
}

static cute_status if_begin(void *context, const cute_int *condition, cute_diag *diag)
{
    (void)context, (void)condition, (void)diag;
    return CUTE_INVALID;
}

/* ---- unknown leaves ---- */

typedef struct filling {
    cute_arena *arena;
    const int64_t *values;
    size_t count, next;
    const lane_setting *setting; /* of an argument, instead of values */
    bool stride, failed;
    int extents;
} filling;

static int64_t next_value(filling *f, const cute_int *leaf)
{
    if (f->values) {
        if (f->next < f->count) return f->values[f->next++];
        f->failed = true;
        return 1;
    }
    int64_t value = f->extents++ < 2 || f->stride ? f->setting->extent : f->setting->batch;
    int64_t divisor = leaf->divisor > 1 && leaf->divisor < (1 << 20) ? leaf->divisor : 1;
    return (value + divisor - 1) / divisor * divisor;
}

static const cute_tree *fill(filling *f, const cute_tree *tree)
{
    if (!tree || cute_tree_is_static(tree)) return tree;
    if (tree->kind == CUTE_TREE_TUPLE) {
        const cute_tree **items = cute_arena_array(f->arena, tree->count, sizeof *items);
        if (!items) return f->failed = true, tree;
        for (uint32_t i = 0; i < tree->count; i++) items[i] = fill(f, tree->items[i]);
        const cute_tree *made = cute_tree_tuple(f->arena, items, tree->count);
        if (!made) f->failed = true;
        return made ? made : tree;
    }
    cute_tree *made = cute_arena_alloc(f->arena, sizeof *made);
    if (!made) return f->failed = true, tree;
    *made = *tree;
    if (tree->kind == CUTE_TREE_LAYOUT) {
        made->layout.shape = fill(f, tree->layout.shape);
        made->layout.stride = fill(f, tree->layout.stride);
    } else {
        made->value = (cute_int){.known = true, .width = 32, .value = next_value(f, &tree->value)};
    }
    return made;
}

static void fill_value(filling *f, cute_value *value)
{
    /* The iterator of a coordinate tensor is stored first. */
    if (f->values && value->type == CUTE_COORD_TENSOR) value->tree = fill(f, value->tree);
    if (value->layout.shape) {
        value->layout.shape = fill(f, value->layout.shape);
        f->stride = true;
        value->layout.stride = fill(f, value->layout.stride);
        f->stride = false;
    }
    value->tree = fill(f, value->tree);
    if (value->inner.shape) {
        value->inner.shape = fill(f, value->inner.shape);
        value->inner.stride = fill(f, value->inner.stride);
    }
}

bool lane_value_of_leaves(cute_arena *arena, const cute_value *type, const int64_t *leaves, size_t count,
                          const lane_place *place, lane_value *out)
{
    static const int64_t none;
    cute_value value = *type;
    filling f = {.arena = arena, .values = count ? leaves : &none, .count = count};
    if (!type->pointer != !place) return false;
    if (type->type == CUTE_PTR) return *out = lane_of_cell(arena, *place), count == 0;
    fill_value(&f, &value);
    if (place && !(value.pointer = point(arena, value.pointer, *place))) return false;
    if (f.failed || f.next != count) return false;
    return *out = of_value(arena, value), true;
}

bool lane_value_of_type(MlirType type, lane_value *out)
{
    const cute_value *value = cute_type_peek(type);
    if (!value || value->type == CUTE_DIVISOR) return false;
    if (value->type >= CUTE_ATOM ? !value->atom || strstr(value->atom->mnemonic, "tma") ||
                                       strstr(value->atom->mnemonic, "bulk_copy")
                                 : !cute_value_is_static(value))
        return false;
    *out = (lane_value){.kind = LANE_VALUE, .value = value};
    return true;
}

bool lane_value_of_argument(cute_arena *arena, const lane_setting *s, MlirType type, lane_value *out)
{
    *out = (lane_value){0};
    if (mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 1)
        return *out = lane_number(s->scalar > 2), true;
    if (mlirTypeIsAInteger(type)) return *out = lane_number(s->scalar), true;
    if (mlirTypeIsAIndex(type)) return *out = lane_number(s->scalar), true;
    const cute_value *peeked = cute_type_peek(type);
    if (!peeked) return false;
    if (peeked->type == CUTE_DIVISOR || peeked->type == CUTE_INTEGER)
        return *out = lane_number(s->scalar), true;
    if (peeked->type >= CUTE_ATOM) {
        lane_atom *atom = cute_arena_alloc(arena, sizeof *atom);
        if (!atom) return false;
        *atom = (lane_atom){.type = peeked, .swizzle = -1};
        return *out = (lane_value){.kind = LANE_ATOM, .atom = atom}, true;
    }
    cute_value value = *peeked;
    filling f = {.arena = arena, .setting = s};
    fill_value(&f, &value);
    if (value.pointer) {
        value.pointer = point(arena, value.pointer, (lane_place){.region = LANE_ELSEWHERE});
        if (!value.pointer) return false;
    }
    if (f.failed) return false;
    *out = of_value(arena, value);
    return out->kind == LANE_VALUE;
}

/* The number of an integer, or of a tuple that is one. */
bool lane_number_of(const lane_value *v, int64_t *out)
{
    if (v->kind == LANE_INT) return *out = v->number, true;
    if (v->kind != LANE_VALUE || !v->value->tree || v->value->tree->kind != CUTE_TREE_INT ||
        !v->value->tree->value.known || v->value->layout.shape)
        return false;
    return *out = v->value->tree->value.value, true;
}

static MlirType result_type(const lane_op *i, intptr_t index)
{
    return mlirValueGetType(mlirOperationGetResult(i->op, index));
}

/* ---- values of lib/layout ---- */

static bool operand_value(lane_eval *x, const lane_value *in, cute_value *out)
{
    if (in->kind == LANE_VALUE) return *out = *in->value, true;
    if (in->kind == LANE_INT) {
        *out = cute_value_of_tree(CUTE_INT_TUPLE, cute_tree_number(x->arena, in->number));
        return out->tree != NULL;
    }
    if (in->kind == LANE_ATOM) return *out = *in->atom->type, true;
    return false;
}

bool lane_eval_algebra(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    cute_value *operands = cute_arena_array(x->arena, (size_t)i->in_count + 2, sizeof *operands), result;
    if (!operands) return false;
    for (int n = 0; n < i->in_count; n++)
        if (!operand_value(x, &in[n], &operands[n])) return false;
    cute_arith arith = {.context = x, .emit = emit, .if_begin = if_begin, .advance = advance};
    if (cute_algebra_evaluate(i->row, i->op, x->arena, &arith, operands, &result, NULL) != CUTE_OK)
        return false;
    out[0] = of_value(x->arena, result);
    return true;
}

/* make_coord and the like: what the type knows, and the operands for the rest. */
static bool eval_make(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    const cute_value *type = cute_type_peek(result_type(i, 0));
    int64_t *numbers = cute_arena_array(x->arena, (size_t)i->in_count, sizeof *numbers);
    if (!type || !numbers) return false;
    for (int n = 0; n < i->in_count; n++)
        if (!lane_number_of(&in[n], &numbers[n])) return false;
    cute_value value = *type;
    filling f = {.arena = x->arena, .values = numbers, .count = (size_t)i->in_count};
    fill_value(&f, &value);
    if (f.failed) return false;
    out[0] = of_value(x->arena, value);
    return true;
}

static bool eval_leaves(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    cute_value value, *parts;
    size_t count;
    if (!operand_value(x, &in[0], &value) ||
        cute_value_leaves(x->arena, &value, i->rule->which != 0, &parts, &count, NULL) != CUTE_OK ||
        count != (size_t)i->out_count)
        return false;
    for (size_t n = 0; n < count; n++) out[n] = of_value(x->arena, parts[n]);
    return true;
}

typedef struct scalars {
    const lane_op *i;
    lane_value *out;
    int next;
    bool only_unknown, failed;
} scalars;

static void add_scalars(scalars *s, const cute_tree *tree, const cute_tree *type)
{
    if (!tree || !type || tree->kind != type->kind) {
        s->failed |= tree != type;
        return;
    }
    switch (tree->kind) {
    case CUTE_TREE_UNDERSCORE: return;
    case CUTE_TREE_INT:
        if (s->only_unknown && type->value.known) return;
        if (s->next >= s->i->out_count || !tree->value.known) {
            s->failed = true;
            return;
        }
        s->out[s->next++] = lane_number(tree->value.value);
        return;
    case CUTE_TREE_TUPLE:
        if (tree->count != type->count) {
            s->failed = true;
            return;
        }
        for (uint32_t n = 0; n < tree->count; n++) add_scalars(s, tree->items[n], type->items[n]);
        return;
    default: s->failed = true;
    }
}

static bool eval_scalars(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    cute_value value;
    const cute_value *type = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(i->op, 0)));
    if (in[0].kind == LANE_INT && i->out_count == 1) return out[0] = in[0], true;
    if (!type || !operand_value(x, &in[0], &value) || value.type == CUTE_COMPOSED_LAYOUT ||
        value.type == CUTE_SWIZZLE)
        return false;
    scalars s = {.i = i, .out = out, .only_unknown = cute_op_has(i->op, "only_dynamic")};
    if (type->tree) add_scalars(&s, value.tree, type->tree);
    if (type->layout.shape) {
        add_scalars(&s, value.layout.shape, type->layout.shape);
        add_scalars(&s, value.layout.stride, type->layout.stride);
    }
    return !s.failed && s.next == i->out_count;
}

/* An integer in global memory: the first is 0, the next is `extent`, as boundaries of sequences would be. */
static bool eval_load(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    const lane_place *place = handle_of(&in[0]);
    if (!place || place->region != LANE_ELSEWHERE || in[0].value->pointer->space != CUTE_SPACE_GMEM ||
        !mlirTypeIsAInteger(result_type(i, 0)) || in[0].value->type != CUTE_MEMREF ||
        in[0].value->pointer->bits < 8)
        return false;
    cute_value operands[2], index;
    int64_t n, first = place->byte / (in[0].value->pointer->bits / 8);
    operands[1] = cute_value_of_layout(in[0].value->layout);
    if (i->in_count < 2 || !operand_value(x, &in[1], &operands[0]) ||
        cute_apply(x->arena, NULL, CUTE_OP_CRD2IDX, operands, 2, NULL, &index, NULL) != CUTE_OK ||
        !index.tree || index.tree->kind != CUTE_TREE_INT || !index.tree->value.known ||
        !cute_add64(index.tree->value.value, first, &n) || !cute_mul64(n, x->setting->extent, &n))
        return false;
    return out[0] = lane_number(n), true;
}

/* A pointer or tensor of this type at `place`. */
static bool eval_at(lane_eval *x, const cute_value *type, lane_place place, lane_value *out)
{
    cute_value value = *type;
    value.pointer = point(x->arena, type->pointer, place);
    if (!value.pointer) return false;
    out[0] = of_value(x->arena, value);
    return true;
}

/* The same pointer as the result's type has it. */
static bool eval_pointer(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    const lane_place *place = handle_of(&in[0]);
    const cute_value *type = cute_type_peek(result_type(i, 0));
    if (type && type->type >= CUTE_ATOM) /* of a tensor map that is a parameter */
        return lane_value_of_argument(x->arena, x->setting, result_type(i, 0), out);
    if (!place) return false;
    if (!type || type->type != CUTE_PTR) return out[0] = in[0], true; /* !llvm.ptr<3> */
    return eval_at(x, type, *place, out);
}

/* Memory that an operation makes: registers, or a variable of shared memory. */
static bool eval_memory(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    (void)in;
    const cute_value *type = cute_type_peek(result_type(i, 0));
    cute_value value;
    int region = i->rule->which ? LANE_DYNAMIC : 1 + i->id;
    if (type) {
        if (!type->pointer) return false;
        if (type->pointer->space != CUTE_SPACE_SMEM) region = LANE_ELSEWHERE;
        value = *type;
        if (!cute_tree_is_static(value.layout.shape ? value.layout.shape : cute_tree_number(x->arena, 1)))
            return false;
    } else {
        static const cute_pointer bytes = {.element = "i8", .bits = 8, .space = CUTE_SPACE_SMEM, .align = 16};
        value = (cute_value){.type = CUTE_PTR, .pointer = &bytes};
    }
    value.pointer = point(x->arena, value.pointer, (lane_place){.region = region, .cta = x->cta});
    if (!value.pointer) return false;
    out[0] = of_value(x->arena, value);
    return true;
}

/* A fragment: descriptors in steps of 16 bytes, or registers. */
static bool eval_fragment(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    const cute_value *type = cute_type_peek(result_type(i, 0));
    int tensor = i->in_count - 1;
    const lane_place *place = tensor >= 0 ? handle_of(&in[tensor]) : NULL;
    if (!type || !type->pointer || !type->layout.shape) return false;
    if (type->pointer->space != CUTE_SPACE_DESC) {
        cute_value value = *type;
        value.pointer = point(x->arena, type->pointer, (lane_place){.region = LANE_ELSEWHERE});
        if (!value.pointer) return false;
        return out[0] = of_value(x->arena, value), true;
    }
    if (!place || !cute_tree_is_static(type->layout.shape) || !cute_tree_is_static(type->layout.stride))
        return false;
    cute_pointer unit = *in[tensor].value->pointer;
    unit.element = "i128";
    unit.bits = 128;
    unit.swizzle = (cute_swizzle){.bits = lane_swizzle_of(in[tensor].value), .base = 4, .shift = 3};
    cute_value value = {
        .type = CUTE_MEMREF, .layout = type->layout, .pointer = point(x->arena, &unit, *place)};
    if (!value.pointer || unit.swizzle.bits < 0) return false;
    out[0] = of_value(x->arena, value);
    return true;
}

int64_t lane_copy_bits(const lane_atom *atom)
{
    const char *text = atom->type->atom ? strstr(atom->type->atom->text, "copy_bits = ") : NULL;
    if (!text) return 0;
    int64_t bits = strtoll(text + strlen("copy_bits = "), NULL, 10);
    return bits > 0 && bits < INT32_MAX ? bits : 0;
}

/* A partition; of an atom that lib/atoms does not know the tensor itself, of the result's layout. */
static void evaluate_uniform(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out);

/* Whether a warpgroup has one partition, as what wgmma reads in shared memory does. */
static bool is_of_warpgroup(const lane_op *i, const lane_value *mma)
{
    MlirAttribute id = mlirOperationGetAttributeByName(i->op, cute_text("operand_id"));
    int64_t which = mlirAttributeIsNull(id) ? -1 : mlirIntegerAttrGetValueInt(id);
    const cute_atom *atom = mma->kind == LANE_VALUE ? mma->value->atom : NULL;
    return atom && atom->wgmma && which >= 0 && which < CUTE_ATOM_C && atom->operand[which].described;
}

static bool eval_partition(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    int64_t thread;
    if (i->in_count == 3 && is_of_warpgroup(i, &in[0]) && lane_number_of(&in[2], &thread) &&
        thread % 128 > 0) {
        const lane_value first[3] = {in[0], in[1], lane_number(thread - thread % 128)};
        evaluate_uniform(x, i, first, out);
        return out[0].kind != LANE_UNKNOWN;
    }
    if (lane_eval_algebra(x, i, in, out)) return true;
    const lane_place *place = i->in_count > 1 ? handle_of(&in[1]) : NULL;
    const cute_value *type = cute_type_peek(result_type(i, 0));
    if (!place || !type || type->type != CUTE_MEMREF || !cute_tree_is_static(type->layout.shape) ||
        !cute_tree_is_static(type->layout.stride))
        return false;
    return eval_at(x, type, *place, out);
}

/* tma_partition: the boxes that a block copies of a tile, one behind the other. */
static bool eval_tma_partition(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    int64_t rank, blocks, bytes;
    cute_value atom_layout;
    const lane_place *place = i->in_count > 3 ? handle_of(&in[3]) : NULL;
    const cute_value *type = cute_type_peek(result_type(i, 0));
    if (!place || !type || type->type != CUTE_MEMREF || !lane_number_of(&in[1], &rank) ||
        !operand_value(x, &in[2], &atom_layout))
        return false;
    cute_value value = *type;
    lane_place at = *place;
    int64_t bits = in[0].kind == LANE_ATOM ? lane_copy_bits(in[0].atom) : 0;
    blocks = lane_size_of(&atom_layout);
    if (blocks > 1) {
        if (bits < 8 || rank < 0 || rank >= blocks || blocks > 16 || bits / 8 % blocks ||
            !cute_mul64(bits / 8 / blocks, rank, &bytes) || !cute_add64(at.byte, bytes, &at.byte))
            return false;
        at.sharers = (int)blocks;
    }
    value.pointer = point(x->arena, type->pointer, at);
    if (!value.pointer || !cute_tree_is_static(value.layout.shape)) return false;
    out[0] = of_value(x->arena, value);
    if (i->out_count < 2 || in[4].kind != LANE_VALUE) return true;
    /* Of the other only the extents matter: those of the tile's rest. */
    const cute_value *other = cute_type_peek(result_type(i, 1));
    if (!other || !other->layout.shape) return true;
    value = *other;
    const cute_tree *shape = other->layout.shape, *rest = in[4].value->layout.shape;
    if (shape->kind == CUTE_TREE_TUPLE && rest && rest->kind == CUTE_TREE_TUPLE &&
        shape->count == rest->count) {
        const cute_tree **items = cute_arena_array(x->arena, shape->count, sizeof *items);
        if (!items) return true;
        for (uint32_t n = 0; n < shape->count; n++) items[n] = n ? rest->items[n] : shape->items[0];
        value.layout.shape = cute_tree_tuple(x->arena, items, shape->count);
    }
    filling f = {.arena = x->arena, .setting = x->setting};
    fill_value(&f, &value);
    if (!f.failed && value.layout.shape) out[1] = of_value(x->arena, value);
    return true;
}

enum { MADE, EXEC, FIELD };

static bool eval_atom(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    const cute_value *type = cute_type_peek(result_type(i, 0));
    lane_atom *atom = cute_arena_alloc(x->arena, sizeof *atom);
    lane_value *copy;
    if (!type || !atom) return false;
    *atom = (lane_atom){.swizzle = -1};
    if (i->rule->which == MADE) {
        atom->made = i->op;
        MlirType layout =
            i->in_count > 1 ? mlirValueGetType(mlirOperationGetOperand(i->op, 1)) : (MlirType){NULL};
        const cute_value *smem = mlirTypeIsNull(layout) ? NULL : cute_type_peek(layout);
        if (smem) atom->swizzle = lane_swizzle_of(smem);
        MlirAttribute blocks = mlirOperationGetAttributeByName(i->op, cute_text("num_multicast"));
        if (!mlirAttributeIsNull(blocks)) atom->sharers = (int)mlirIntegerAttrGetValueInt(blocks);
        const cute_value *coordinates = i->out_count > 1 ? cute_type_peek(result_type(i, 1)) : NULL;
        if (coordinates && coordinates->layout.shape && in[0].kind == LANE_VALUE &&
            cute_tree_congruent(coordinates->layout.shape, in[0].value->layout.shape)) {
            cute_value tensor = *coordinates; /* of the tensor's extents */
            tensor.layout.shape = in[0].value->layout.shape;
            out[1] = of_value(x->arena, tensor);
        }
    } else if (i->in_count && in[0].kind == LANE_ATOM) {
        *atom = *in[0].atom;
    }
    atom->type = type;
    if (i->rule->which == FIELD && i->in_count > 1) {
        MlirStringRef word = cute_word_text(mlirOperationGetAttributeByName(i->op, cute_text("field")));
        copy = cute_arena_alloc(x->arena, sizeof *copy);
        if (!copy) return false;
        *copy = in[1];
        if (cute_text_is(word, "tma_bar")) atom->barrier = copy;
        if (cute_text_is(word, "mcast_mask")) atom->mask = copy;
    }
    out[0] = (lane_value){.kind = LANE_ATOM, .atom = atom};
    return true;
}

/* The same address in another block of the cluster. */
static bool eval_mapa(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    (void)i;
    int64_t rank;
    const lane_place *place = handle_of(&in[0]);
    if (!place || !lane_number_of(&in[1], &rank) || rank < 0 || rank > 255) return false;
    lane_place at = *place;
    at.cta = (int)rank;
    cute_value value = *in[0].value;
    value.pointer = point(x->arena, value.pointer, at);
    if (!value.pointer) return false;
    out[0] = of_value(x->arena, value);
    return true;
}

static bool eval_divmod(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    (void)x;
    int64_t a, b;
    if (!lane_number_of(&in[0], &a) || !lane_number_of(&in[1], &b) || b <= 0 || i->out_count != 2)
        return false;
    out[0] = lane_number(a / b);
    out[1] = lane_number(a % b);
    return true;
}

static bool eval_number(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    (void)x, (void)i;
    int64_t n;
    if (!lane_number_of(&in[0], &n)) return false;
    return out[0] = lane_number(n), true;
}

/* The index and phase of a pipeline's stage, `count` stages behind another. */
static bool later(const lane_op *i, int64_t index, int64_t phase, int64_t count, lane_value *out)
{
    MlirAttribute attribute = mlirOperationGetAttributeByName(i->op, cute_text("stages"));
    int64_t stages = mlirAttributeIsNull(attribute) ? 0 : mlirIntegerAttrGetValueInt(attribute), sum;
    if (stages < 1 || i->out_count != 2 || count < 0 || index < 0 || !cute_add64(index, count, &sum))
        return false;
    out[0] = lane_number(sum % stages);
    out[1] = lane_number(phase ^ (sum / stages & 1));
    return true;
}

static int64_t first_phase(const lane_op *i)
{
    MlirAttribute whose = mlirOperationGetAttributeByName(i->op, cute_text("whose"));
    return !mlirAttributeIsNull(whose) && mlirAttributeIsAString(whose) &&
           cute_text_is(mlirStringAttrGetValue(whose), "producer");
}

static bool eval_start(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    (void)x, (void)in;
    if (i->out_count != 2) return false;
    out[0] = lane_number(0);
    out[1] = lane_number(first_phase(i));
    return true;
}

static bool eval_advance(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    (void)x;
    int64_t index, phase, count = 1;
    if (i->in_count < 2 || !lane_number_of(&in[0], &index) || !lane_number_of(&in[1], &phase) ||
        (i->in_count > 2 && !lane_number_of(&in[2], &count)))
        return false;
    return later(i, index, phase, count, out);
}

static bool eval_index_of(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    (void)x;
    int64_t count;
    if (i->in_count < 1 || !lane_number_of(&in[0], &count)) return false;
    return later(i, 0, first_phase(i), count, out);
}

/* ---- the table ---- */

static int width_of(MlirValue value)
{
    MlirType type = mlirValueGetType(value);
    return mlirTypeIsAInteger(type) ? (int)mlirIntegerTypeGetWidth(type) : 64;
}

static const lane_rule rules[] = {
    {"nvvm.mapa", eval_mapa, 0, 0, LANE_RUN | LANE_ONCE},
    {"nvvm.mapa.shared.cluster", eval_mapa, 0, 0, LANE_RUN | LANE_ONCE},
    {"cute_nvgpu.arch.map_dsmem_ptr", eval_mapa, 0, 0, LANE_RUN | LANE_ONCE},
    {"cute_nvgpu.arch.pipeline_start", eval_start, 0, 0, LANE_RUN},
    {"cute_nvgpu.arch.pipeline_index_of", eval_index_of, 0, 0, LANE_RUN},
    {"cute_nvgpu.arch.get_dyn_smem", eval_memory, 1, 0, LANE_RUN | LANE_ONCE},
    {"cute.memref.alloca", eval_memory, 0, 1 << 30, LANE_RUN | LANE_ONCE},
    {"llvm.mlir.addressof", eval_memory, 0, 0, LANE_RUN | LANE_ONCE},
    {"cute.memref.load", eval_load, 0, 0, LANE_RUN},
    {"builtin.unrealized_conversion_cast", eval_pointer, 0, 0, LANE_RUN | LANE_ONCE | LANE_PARTIAL},
    {"cute.recast_iter", eval_pointer, 0, 1, LANE_RUN | LANE_ONCE},
    {"cute.make_int_tuple", eval_make, 0, 0, LANE_ANY | LANE_ONCE},
    {"cute.make_shape", eval_make, 0, 0, LANE_ANY | LANE_ONCE},
    {"cute.make_stride", eval_make, 0, 0, LANE_ANY | LANE_ONCE},
    {"cute.make_coord", eval_make, 0, 0, LANE_ANY | LANE_ONCE},
    {"cute.make_tile", eval_make, 0, 0, LANE_ANY | LANE_ONCE},
    {"cute.get_leaves", eval_leaves, 0, 0, LANE_RUN | LANE_ONCE},
    {"cute.get_layouts_from_tile", eval_leaves, 1, 0, LANE_RUN | LANE_ONCE},
    {"cute.get_scalars", eval_scalars, 0, 0, LANE_RUN | LANE_ONCE},
    {"cute.mma.make_fragment", eval_fragment, 0, 0, LANE_RUN | LANE_FIRST_LANE | LANE_ONCE},
    {"cute.tiled.mma.partition", eval_partition, 0, 0, LANE_RUN | LANE_ONCE},
    {"cute_nvgpu.atom.tma_partition", eval_tma_partition, 0, 0, LANE_RUN | LANE_PARTIAL | LANE_ONCE},
    {"cute_nvgpu.atom.make_non_exec_tiled_tma_load", eval_atom, MADE, 0,
     LANE_RUN | LANE_PARTIAL | LANE_FIRST_LANE},
    {"cute_nvgpu.atom.make_non_exec_tiled_tma_store", eval_atom, MADE, 0,
     LANE_RUN | LANE_PARTIAL | LANE_FIRST_LANE},
    {"cute_nvgpu.atom.make_non_exec_tiled_tma_reduce", eval_atom, MADE, 0,
     LANE_RUN | LANE_PARTIAL | LANE_FIRST_LANE},
    {"cute_nvgpu.atom.make_non_exec_im2col_tma_load", eval_atom, MADE, 0,
     LANE_RUN | LANE_PARTIAL | LANE_FIRST_LANE},
    {"cute_nvgpu.atom.make_non_exec_im2col_tma_store", eval_atom, MADE, 0,
     LANE_RUN | LANE_PARTIAL | LANE_FIRST_LANE},
    {"cute_nvgpu.atom.make_non_exec_im2col_tma_reduce", eval_atom, MADE, 0,
     LANE_RUN | LANE_PARTIAL | LANE_FIRST_LANE},
    {"cute_nvgpu.atom.make_exec_tma", eval_atom, EXEC, 0, LANE_RUN | LANE_PARTIAL | LANE_FIRST_LANE},
    {"cute.make_atom", eval_atom, EXEC, 0, LANE_RUN | LANE_PARTIAL | LANE_FIRST_LANE},
    {"cute_nvgpu.atom.set_value", eval_atom, FIELD, 0, LANE_RUN | LANE_PARTIAL | LANE_FIRST_LANE},
    {"cute.fast_divmod.create_divisor", eval_number, 0, 0, LANE_RUN},
    {"cute.fast_divmod.compute", eval_divmod, 0, 0, LANE_RUN},
    {"cute.assume", eval_number, 0, 0, LANE_RUN},
    {"cute_nvgpu.arch.pipeline_advance", eval_advance, 0, 0, LANE_RUN},
};
static const lane_rules own = {rules, sizeof rules / sizeof *rules};

static const lane_rule algebra = {NULL, lane_eval_algebra, 0, 0, LANE_RUN | LANE_ONCE},
                       assembly = {NULL, lane_eval_assemble, 0, 0, LANE_LOWERED};

const lane_rule *lane_rule_of(MlirOperation op, unsigned user)
{
    const lane_rules *const tables[] = {&lane_integer_rules, &own, &lane_address_rules};
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const lane_rule *rule = tables[t]->items; rule < tables[t]->items + tables[t]->count; rule++)
            if (rule->traits & user && rule->name && cute_text_is(name, rule->name)) return rule;
    const cute_op_row *row = cute_op_row_of(op);
    if (user == LANE_LOWERED) return row && row->parts != CUTE_PARTS_NONE ? &assembly : NULL;
    return row && row->infer && (row->algebra || cute_text_is(name, "cute.make_layout")) ? &algebra : NULL;
}

lane_op lane_op_of(MlirOperation op, const lane_rule *rule, int id)
{
    intptr_t in = mlirOperationGetNumOperands(op), out = mlirOperationGetNumResults(op);
    MlirAttribute predicate = mlirOperationGetAttributeByName(op, cute_text("predicate"));
    bool has = !mlirAttributeIsNull(predicate) && mlirAttributeIsAInteger(predicate);
    return (lane_op){
        .op = op,
        .row = cute_op_row_of(op),
        .rule = rule,
        .id = id,
        .in_count = (int)in,
        .out_count = (int)out,
        .width = out ? width_of(mlirOperationGetResult(op, 0)) : 64,
        .from = in ? width_of(mlirOperationGetOperand(op, 0)) : 64,
        .predicate = has ? (int)mlirIntegerAttrGetValueInt(predicate) : -1,
    };
}

/* ---- evaluation, each once ---- */

typedef struct memo_entry {
    int instr;
    int cta;
    const lane_value *in, *out;
} memo_entry;

typedef struct lane_memo {
    memo_entry *entries; /* a power of two */
} lane_memo;

static uint64_t hash_of(const lane_op *i, const lane_value *in, int cta)
{
    uint64_t h = (uint64_t)i->id * 0x9E3779B97F4A7C15ull + (uint64_t)cta;
    for (int n = 0; n < i->in_count; n++) {
        h ^= (uint64_t)in[n].number + ((uint64_t)in[n].kind << 56);
        h *= 0xFF51AFD7ED558CCDull;
        h ^= h >> 29;
    }
    return h;
}

static bool same_inputs(const memo_entry *e, const lane_op *i, const lane_value *in, int cta)
{
    if (e->instr != i->id || e->cta != cta) return false;
    for (int n = 0; n < i->in_count; n++)
        if (e->in[n].kind != in[n].kind || e->in[n].number != in[n].number) return false;
    return true;
}

static void evaluate_one(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    for (int n = 0; n < i->out_count; n++) out[n] = (lane_value){0};
    for (int n = 0; n < i->in_count; n++)
        if (in[n].kind == LANE_UNKNOWN && !(i->rule->traits & LANE_PARTIAL)) return;
    if (!i->rule->eval(x, i, in, out))
        for (int n = 0; n < i->out_count; n++) out[n] = (lane_value){0};
}

static void evaluate_uniform(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    if (!(i->rule->traits & LANE_ONCE) || i->id < 0) {
        evaluate_one(x, i, in, out);
        return;
    }
    if (!x->memo) {
        x->memo = cute_arena_alloc(x->arena, sizeof *x->memo);
        x->memo_size = 1 << 13;
        memo_entry *entries = x->memo ? cute_arena_array(x->arena, x->memo_size, sizeof *entries) : NULL;
        if (!entries) {
            x->memo = NULL;
            evaluate_one(x, i, in, out);
            return;
        }
        memset(entries, 0, x->memo_size * sizeof *entries);
        x->memo->entries = entries;
    }
    size_t at = (size_t)hash_of(i, in, x->cta) & (x->memo_size - 1);
    memo_entry *entry = NULL;
    for (int tries = 0; tries < 8; tries++, at = (at + 1) & (x->memo_size - 1)) {
        entry = &x->memo->entries[at];
        if (!entry->out) break;
        if (!same_inputs(entry, i, in, x->cta)) continue;
        memcpy(out, entry->out, (size_t)i->out_count * sizeof *out);
        return;
    }
    evaluate_one(x, i, in, out);
    lane_value *copy = cute_arena_array(x->arena, (size_t)(i->in_count + i->out_count) + 1, sizeof *copy);
    if (!copy) return;
    memcpy(copy, in, (size_t)i->in_count * sizeof *copy);
    memcpy(copy + i->in_count, out, (size_t)i->out_count * sizeof *copy);
    *entry = (memo_entry){i->id, x->cta, copy, copy + i->in_count};
}

/* Evaluates an operation whose operands differ between lanes in each lane. */
static void evaluate_lanes(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    lane_value in_lane[LANE_MOST], out_lane[LANE_MOST], results[LANE_MOST][32];
    for (int lane = 0; lane < 32; lane++) {
        for (int n = 0; n < i->in_count; n++) in_lane[n] = lane_of(&in[n], lane);
        evaluate_uniform(x, i, in_lane, out_lane);
        for (int r = 0; r < i->out_count; r++) results[r][lane] = out_lane[r];
    }
    for (int r = 0; r < i->out_count; r++) out[r] = lane_join(x->arena, results[r]);
}

static void evaluate_first_lane(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    lane_value in_lane[LANE_MOST];
    for (int n = 0; n < i->in_count; n++) in_lane[n] = lane_of(&in[n], first_lane(x->mask));
    evaluate_uniform(x, i, in_lane, out);
}

void lane_evaluate(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    bool lanes = false;
    for (int n = 0; n < i->in_count; n++) lanes |= in[n].kind == LANE_EACH;
    if (!lanes || (i->rule->traits & LANE_FIRST_LANE && i->in_count == 1))
        evaluate_uniform(x, i, in, out);
    else if (i->in_count > x->most_operands || (!i->first_lane && i->out_count > x->most_results))
        for (int n = 0; n < i->out_count; n++) out[n] = (lane_value){0};
    else if (i->first_lane) /* what else differs between lanes is computed for each */
        evaluate_first_lane(x, i, in, out);
    else
        evaluate_lanes(x, i, in, out);
}
