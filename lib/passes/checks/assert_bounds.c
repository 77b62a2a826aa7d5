/* cute-assert-bounds: run-time bounds checks for tensor coordinates and thread indices.
 *
 * Requires: kernels in gpu.modules, before partitions are expanded. Ensures: each access to a tensor is
 * within its shape, and each thread index is within its tiled copy, tiled MMA or layout and within the
 * launch; where that cannot be proved, a message and a cf.assert are added, which cute-lower-assert lowers.
 * The accesses themselves do not change.
 *
 * The coordinates of a tile, partition or slice are those in the whole tensor, obtained by applying the same
 * operations to its identity tensor. A predicated copy is checked only where its predicate is not 0. A
 * tensor built from a pointer, or carried by a loop, counts as a whole tensor.
 *
 *     %x = cute.memref.load(%t, %c) : (!cute.memref<f32, gmem, "(?,8):(8,1)">, !cute.coord<"(?,?)">) -> f32
 * ->
 *     scf.if %outside {
 *       gpu.printf "k.mlir:7:10: coordinate (%lld,%lld) is outside the shape (%lld,8): block ..." %i, %j, %extent, ...
 *       cf.assert %false, "a coordinate outside the tensor's shape"
 *     }
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/atoms/atoms.h"
#include "lib/base/list.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/emitter.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/address.h"
#include "lib/ir/ops/algebra.h"
#include "lib/layout/width.h"
#include "lib/passes/passes.h"

/* A tensor and the coordinates of its elements in the whole tensor that it is a part of. */
typedef struct view {
    MlirValue tensor, coordinates, shape; /* coordinates: null for a whole tensor */
    bool whole, moves;                    /* moves: a run-time index selects the part */
} view;

typedef struct checks {
    cute_pass_run *pass;
    cute_emitter emitter;
    cute_diag *diag;
    view *views;
    size_t count, capacity;
    bool changed;
} checks;

/* ---- integers: constants, or i64 values of the program ---- */

typedef struct number {
    bool known;
    int64_t value;
    MlirValue handle;
} number;

static number known_number(int64_t value)
{
    return (number){.known = true, .value = value};
}

static MlirValue as_value(const cute_builder *b, number n)
{
    return n.known ? cute_build_constant(b, 64, n.value) : n.handle;
}

/* Converts an integer or index value. */
static number number_of_value(const cute_builder *b, MlirValue value)
{
    MlirType type = mlirValueGetType(value), i64 = mlirIntegerTypeGet(b->context, 64);
    if (mlirTypeIsAIndex(type)) return (number){.handle = cute_unary(b, "arith.index_cast", value, i64)};
    if (mlirTypeEqual(type, i64)) return (number){.handle = value};
    return (number){.handle = cute_unary(b, "arith.extsi", value, i64)};
}

static number of_int(const cute_builder *b, cute_int n)
{
    return n.known ? known_number(n.value) : number_of_value(b, (MlirValue){n.handle});
}

static number add_constant(const cute_builder *b, number n, int64_t by)
{
    if (n.known) return known_number(n.value + by);
    return by ? (number){.handle = cute_binary(b, "arith.addi", n.handle, cute_build_constant(b, 64, by))}
              : n;
}

/* ---- a check ---- */

enum { PLACES = CUTE_MAX_DEPTH, WORDS = 2 * PLACES + 8 };

/* Numbers that must be at least 0 and below their limits. */
typedef struct check {
    cute_builder b;
    MlirValue bad; /* i1, true if out of bounds; null: proved in bounds */
    cute_buffer text;
    MlirValue words[WORDS]; /* arguments for the %lld in the text */
    intptr_t word_count;
} check;

static void put_number(check *c, number n)
{
    if (n.known) {
        cute_buffer_printf(&c->text, "%lld", (long long)n.value);
    } else if (c->word_count < WORDS - 6) {
        cute_buffer_puts(&c->text, "%lld");
        c->words[c->word_count++] = n.handle;
    } else {
        cute_buffer_puts(&c->text, "...");
    }
}

static void put_numbers(check *c, const number *numbers, size_t count)
{
    if (count != 1) cute_buffer_putc(&c->text, '(');
    for (size_t i = 0; i < count; i++) {
        if (i) cute_buffer_putc(&c->text, ',');
        put_number(c, numbers[i]);
    }
    if (count != 1) cute_buffer_putc(&c->text, ')');
}

static MlirValue or_failures(const cute_builder *b, MlirValue x, MlirValue y)
{
    if (mlirValueIsNull(x)) return y;
    return mlirValueIsNull(y) ? x : cute_binary(b, "arith.ori", x, y);
}

/* The condition that 0 <= n < limit fails; null if it is known to hold. */
static MlirValue is_outside(const cute_builder *b, number n, number limit)
{
    if (n.known && n.value >= 0 && limit.known && n.value < limit.value) return (MlirValue){NULL};
    return cute_compare(b, CUTE_IS_UGE, as_value(b, n), as_value(b, limit));
}

static void put_escaped(cute_buffer *out, MlirStringRef text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] == '%') cute_buffer_putc(out, '%');
        cute_buffer_putc(out, text.data[i]);
    }
}

static check begin_check(MlirOperation op)
{
    check c = {.b = cute_builder_before(op)};
    MlirStringRef file;
    unsigned line, column;
    if (cute_location_place(c.b.location, &file, &line, &column)) {
        put_escaped(&c.text, file);
        cute_buffer_printf(&c.text, ":%u:%u: ", line, column);
    }
    return c;
}

/* Emits the failure branch: a message with block and thread, and an assertion that fails. */
static void end_check(checks *k, check *c, const char *claim)
{
    static const char *const where[] = {"ctaid.x", "ctaid.y", "ctaid.z", "tid.x", "tid.y", "tid.z"};
    MlirContext m = c->b.context;
    cute_buffer_puts(&c->text, ": block (%d,%d,%d), thread (%d,%d,%d)\n");
    if (mlirValueIsNull(c->bad) || !cute_buffer_ok(&c->text)) {
        cute_buffer_release(&c->text);
        return;
    }
    MlirRegion regions[2] = {mlirRegionCreate(), mlirRegionCreate()};
    MlirBlock then = mlirBlockCreate(0, NULL, NULL);
    mlirRegionAppendOwnedBlock(regions[0], then);
    cute_builder in = cute_builder_at_end(then, c->b.location);
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        char name[48];
        snprintf(name, sizeof name, "nvvm.read.ptx.sreg.%s", where[i]);
        c->words[c->word_count++] =
            cute_build_value(&in, name, mlirIntegerTypeGet(m, 32), CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    }
    cute_build(&in, "gpu.printf", (cute_operands){c->words, c->word_count}, CUTE_NO_TYPES,
               CUTE_NAMED(cute_attribute(m, "format", cute_string_attribute(m, cute_buffer_text(&c->text)))));
    cute_build(&in, "cf.assert", CUTE_OPERANDS(cute_build_constant(&in, 1, 0)), CUTE_NO_TYPES,
               CUTE_NAMED(cute_attribute(m, "msg", cute_string_attribute(m, claim))));
    cute_build(&in, "scf.yield", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    cute_build_regions(&c->b, "scf.if", CUTE_OPERANDS(c->bad), CUTE_NO_TYPES, CUTE_NO_NAMED, regions, 2);
    cute_buffer_release(&c->text);
    k->changed = true;
}

/* ---- parts of tensors ---- */

/* Operations whose result is a part of a tensor with unchanged coordinates, and the operand that selects
 * the part, or -1. */
static const struct {
    const char *name;
    intptr_t tensor, index;
} parts[] = {
    {"cute.slice", 0, 1},
    {"cute.local_tile", 0, 2},
    {"cute.local_partition", 0, 2},
    {"cute.tiled.copy.partition_S", 1, 2},
    {"cute.tiled.copy.partition_D", 1, 2},
    {"cute.tiled.copy.retile", 1, -1},
    {"cute.tiled.mma.partition", 1, 2},
    {"cute.group_modes", 0, -1},
    {"cute.select", 0, -1},
    {"cute.get", 0, -1},
    {"cute.composition", 0, -1},
    {"cute.logical_divide", 0, -1},
    {"cute.zipped_divide", 0, -1},
    {"cute.tiled_divide", 0, -1},
    {"cute.flat_divide", 0, -1},
};

static bool is_tensor(MlirValue value)
{
    cute_type kind;
    return cute_type_is(mlirValueGetType(value), &kind) && kind == CUTE_MEMREF;
}

/* A builder that inserts after the definition of a value. */
static cute_builder builder_after(MlirValue value)
{
    MlirOperation op = cute_defining_op(value), next;
    if (mlirOperationIsNull(op)) {
        MlirBlock block = mlirBlockArgumentGetOwner(value);
        return cute_builder_at_start(block, mlirOperationGetLocation(mlirBlockGetParentOperation(block)));
    }
    next = mlirOperationGetNextInBlock(op);
    cute_builder b = cute_builder_before(next);
    b.location = mlirOperationGetLocation(op);
    return b;
}

static MlirValue build_inferred(const cute_builder *b, const char *name, cute_operands operands,
                                cute_named attributes)
{
    MlirDiagnosticHandlerID quiet = cute_discard_diagnostics(b->context);
    MlirOperation made = cute_build_inferred(b, name, operands, attributes);
    mlirContextDetachDiagnosticHandler(b->context, quiet);
    return mlirOperationIsNull(made) ? (MlirValue){NULL} : mlirOperationGetResult(made, 0);
}

static MlirValue build_shape(const cute_builder *b, MlirValue tensor)
{
    MlirValue layout = build_inferred(b, "cute.get_layout", CUTE_OPERANDS(tensor), CUTE_NO_NAMED);
    if (mlirValueIsNull(layout)) return layout;
    return build_inferred(b, "cute.get_shape", CUTE_OPERANDS(layout), CUTE_NO_NAMED);
}

static MlirValue identity_of(const cute_builder *b, MlirValue shape)
{
    if (mlirValueIsNull(shape)) return shape;
    return build_inferred(b, "cute.make_identity_tensor", CUTE_OPERANDS(shape), CUTE_NO_NAMED);
}

/* Applies the partitioning operation `op` to the coordinates of the whole tensor. */
static MlirValue part_of(MlirOperation op, intptr_t tensor, MlirValue coordinates)
{
    enum { MOST = 8 };
    MlirValue operands[MOST];
    MlirNamedAttribute attributes[MOST];
    intptr_t count = mlirOperationGetNumOperands(op), named = mlirOperationGetNumAttributes(op);
    if (count > MOST || named > MOST) return (MlirValue){NULL};
    for (intptr_t i = 0; i < count; i++)
        operands[i] = i == tensor ? coordinates : mlirOperationGetOperand(op, i);
    for (intptr_t i = 0; i < named; i++) attributes[i] = mlirOperationGetAttribute(op, i);
    cute_builder b = builder_after(mlirOperationGetResult(op, 0));
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)name.length, name.data);
    return build_inferred(&b, text, (cute_operands){operands, count}, (cute_named){attributes, named});
}

static view *add_view(checks *k, view v)
{
    if (!cute_heap_more(&k->views, k->count, &k->capacity, sizeof *k->views, 16)) return NULL;
    k->views[k->count] = v;
    return &k->views[k->count++];
}

/* NULL when memory is exhausted. */
static const view *view_of(checks *k, MlirValue tensor)
{
    for (size_t i = 0; i < k->count; i++)
        if (mlirValueEqual(k->views[i].tensor, tensor)) return &k->views[i];
    MlirOperation op = cute_defining_op(tensor);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !mlirOperationIsNull(op); i++) {
        if (!cute_op_is(op, parts[i].name) || !is_tensor(mlirOperationGetOperand(op, parts[i].tensor)))
            continue;
        const view *from = view_of(k, mlirOperationGetOperand(op, parts[i].tensor));
        if (!from) return NULL;
        view v = {.tensor = tensor, .shape = from->shape, .moves = from->moves};
        if (!mlirValueIsNull(from->coordinates))
            v.coordinates = part_of(op, parts[i].tensor, from->coordinates);
        if (mlirValueIsNull(v.coordinates)) break;
        if (parts[i].index >= 0 && parts[i].index < mlirOperationGetNumOperands(op) &&
            !cute_type_is_static(mlirValueGetType(mlirOperationGetOperand(op, parts[i].index))))
            v.moves = true;
        return add_view(k, v);
    }
    cute_builder b = builder_after(tensor);
    MlirValue shape = build_shape(&b, tensor);
    return add_view(k, (view){tensor, identity_of(&b, shape), shape, true, false});
}

/* ---- coordinates ---- */

/* Leaves of a coordinate and of the shape. A leaf that indexes several modes is compared to the product of
 * their extents. */
typedef struct place {
    number at[PLACES], limit[PLACES];
    size_t count;
} place;

static bool mode_extent(const cute_builder *b, const cute_tree *shape, number *out)
{
    if (shape->kind == CUTE_TREE_INT) {
        *out = of_int(b, shape->value);
        return true;
    }
    if (shape->kind != CUTE_TREE_TUPLE) return false;
    *out = known_number(1);
    for (uint32_t i = 0; i < shape->count; i++) {
        number one;
        if (!mode_extent(b, shape->items[i], &one)) return false;
        if (out->known && one.known && !__builtin_mul_overflow(out->value, one.value, &out->value)) continue;
        *out = (number){.handle = cute_binary(b, "arith.muli", as_value(b, *out), as_value(b, one))};
    }
    return true;
}

/* False if coordinate and shape are not congruent; reports nothing. */
static bool match_coordinate(const cute_builder *b, const cute_tree *at, const cute_tree *shape, place *out)
{
    if (at->kind == CUTE_TREE_TUPLE && at->count == 1 && shape->kind != CUTE_TREE_TUPLE)
        return match_coordinate(b, at->items[0], shape, out);
    if (at->kind == CUTE_TREE_TUPLE) {
        if (shape->kind != CUTE_TREE_TUPLE || shape->count != at->count) return false;
        for (uint32_t i = 0; i < at->count; i++)
            if (!match_coordinate(b, at->items[i], shape->items[i], out)) return false;
        return true;
    }
    if (at->kind != CUTE_TREE_INT || out->count == PLACES || !mode_extent(b, shape, &out->limit[out->count]))
        return false;
    out->at[out->count++] = of_int(b, at->value);
    return true;
}

/* a + b, where 0 may represent a whole mode and trailing modes may be missing; NULL if they are not
 * congruent. */
static const cute_tree *sum_of(const cute_expansion *x, const cute_arith *arith, const cute_tree *a,
                               const cute_tree *b)
{
    cute_int sum;
    if (a->kind == CUTE_TREE_INT && a->value.known && a->value.value == 0) return b;
    if (b->kind == CUTE_TREE_INT && b->value.known && b->value.value == 0) return a;
    if (a->kind == CUTE_TREE_INT && b->kind == CUTE_TREE_INT)
        return cute_int_apply(arith, CUTE_ADD, a->value, b->value, &sum, NULL) == CUTE_OK
                   ? cute_tree_scalar(x->arena, sum)
                   : NULL;
    if (a->kind != CUTE_TREE_TUPLE || b->kind != CUTE_TREE_TUPLE) return NULL;
    const cute_tree *more = a->count < b->count ? b : a, *less = more == a ? b : a;
    const cute_tree **items = cute_arena_array(x->arena, more->count + 1, sizeof *items);
    for (uint32_t i = 0; items && i < more->count; i++) {
        items[i] = i < less->count ? sum_of(x, arith, more->items[i], less->items[i]) : more->items[i];
        if (!items[i]) return NULL;
    }
    return items ? cute_tree_tuple(x->arena, items, more->count) : NULL;
}

/* The coordinate of the element at `at` in a coordinate tensor, or NULL. */
static const cute_tree *coordinate_at(const cute_expansion *x, const cute_builder *b,
                                      const cute_value *coords, const cute_tree *at)
{
    cute_arith arith = cute_emitter_start(x->emitter, b);
    cute_value pair[] = {cute_value_of_tree(CUTE_COORD, at), cute_value_of_layout(coords->layout)}, offset;
    if (cute_layout_place(x->arena, &arith, &pair[0], &pair[1], &offset, NULL) != CUTE_OK) return NULL;
    return sum_of(x, &arith, coords->tree, offset.tree);
}

/* The coordinate of element `index`; false if it cannot be compared. */
static bool element_at(const cute_expansion *x, const cute_builder *b, const cute_value *coords,
                       const cute_tree *shape, int64_t index, place *out)
{
    const cute_tree *at = cute_tree_number(x->arena, index);
    const cute_tree *tree = at ? coordinate_at(x, b, coords, at) : NULL;
    *out = (place){0};
    return tree && match_coordinate(b, tree, shape, out);
}

static MlirValue any_outside(const cute_builder *b, const place *p)
{
    MlirValue bad = {NULL};
    for (size_t i = 0; i < p->count; i++) bad = or_failures(b, bad, is_outside(b, p->at[i], p->limit[i]));
    return bad;
}

static const char outside_claim[] = "a coordinate outside the tensor's shape";

static cute_status bind_shape(const cute_expansion *x, MlirOperation op, const view *v, const cute_tree **out)
{
    cute_value shape;
    CUTE_TRY(cute_value_bind(x, op, v->shape, &shape));
    *out = shape.tree;
    return CUTE_OK;
}

/* ---- accesses ---- */

/* Checks one coordinate: it must be within the tensor's shape, and its image within that of the whole
 * tensor. */
static cute_status check_place(checks *k, const cute_expansion *x, MlirOperation op, intptr_t operand)
{
    MlirValue tensor = mlirOperationGetOperand(op, operand);
    const view *v = view_of(k, tensor);
    if (!v) return cute_fail_memory(x->diag);
    if (mlirValueIsNull(v->coordinates)) return CUTE_OK;
    cute_value at, coords;
    const cute_tree *shape, *in_whole;
    cute_builder b = cute_builder_before(op);
    CUTE_TRY(cute_value_bind(x, op, mlirOperationGetOperand(op, operand + 1), &at));
    if (!v->whole) {
        MlirValue own = build_shape(&b, tensor);
        cute_value bound;
        check c = begin_check(op);
        place p = {0};
        if (!mlirValueIsNull(own) && cute_value_bind(x, op, own, &bound) == CUTE_OK &&
            match_coordinate(&b, at.tree, bound.tree, &p))
            c.bad = any_outside(&b, &p);
        cute_buffer_puts(&c.text, "coordinate ");
        put_numbers(&c, p.at, p.count);
        cute_buffer_puts(&c.text, " is outside the shape ");
        put_numbers(&c, p.limit, p.count);
        end_check(k, &c, outside_claim);
    }
    CUTE_TRY(cute_value_bind(x, op, v->coordinates, &coords));
    CUTE_TRY(bind_shape(x, op, v, &shape));
    in_whole = coordinate_at(x, &b, &coords, at.tree);
    check c = begin_check(op);
    place p = {0};
    if (in_whole && match_coordinate(&b, in_whole, shape, &p)) c.bad = any_outside(&b, &p);
    cute_buffer_puts(&c.text, "coordinate ");
    put_numbers(&c, p.at, p.count);
    cute_buffer_puts(&c.text, v->whole ? " is outside the shape " : " is outside the whole tensor's shape ");
    put_numbers(&c, p.limit, p.count);
    end_check(k, &c, outside_claim);
    return CUTE_OK;
}

static cute_status check_element(checks *k, const cute_expansion *x, MlirOperation op)
{
    return check_place(k, x, op, 0);
}

/* Checks an atomic update, whose value operands precede the tensor. */
static cute_status check_update(checks *k, const cute_expansion *x, MlirOperation op)
{
    return check_place(k, x, op, mlirOperationGetNumOperands(op) - 2);
}

static int64_t count_elements(const cute_tree *shape)
{
    int64_t product = 1;
    if (shape->kind == CUTE_TREE_INT) return shape->value.known ? shape->value.value : -1;
    for (uint32_t i = 0; i < shape->count; i++) {
        int64_t one = count_elements(shape->items[i]);
        if (one < 0 || __builtin_mul_overflow(product, one, &product)) return -1;
    }
    return shape->kind == CUTE_TREE_TUPLE ? product : -1;
}

/* condition ? x : y */
static number select_number(const cute_builder *b, MlirValue condition, number x, number y)
{
    if (x.known && y.known && x.value == y.value) return x;
    return (number){.handle = cute_select(b, condition, as_value(b, x), as_value(b, y))};
}

/* Predicate `index` as an i1. */
static MlirValue predicate_at(const cute_builder *b, cute_arena *arena, MlirValue predicates, int64_t index)
{
    const cute_tree *at = cute_tree_number(arena, index);
    const cute_value *type = cute_type_peek(mlirValueGetType(predicates));
    if (!at || !type) return (MlirValue){NULL};
    cute_value where = cute_value_of_tree(CUTE_COORD, at);
    MlirType element = cute_element_type(b->context, type->pointer->element);
    MlirType coord = cute_type_of_value(b->context, arena, &where);
    if (mlirTypeIsNull(element) || mlirTypeIsNull(coord) || !mlirTypeIsAInteger(element))
        return (MlirValue){NULL};
    MlirValue crd = cute_build_value(b, "cute.static", coord, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    MlirValue value =
        cute_build_value(b, "cute.memref.load", element, CUTE_OPERANDS(predicates, crd), CUTE_NO_NAMED);
    return cute_compare(b, CUTE_IS_NE, value, cute_integer(b, element, 0));
}

/* Checks the bounding box of all elements, or of those whose predicate is not 0. A predicate covers an
 * equal number of consecutive elements. */
static cute_status check_elements(checks *k, const cute_expansion *x, MlirOperation op, intptr_t operand,
                                  MlirValue predicates)
{
    MlirValue tensor = mlirOperationGetOperand(op, operand);
    const cute_value *type = cute_type_peek(mlirValueGetType(tensor));
    cute_space space = type->pointer->space;
    const view *v = space == CUTE_SPACE_TMEM || space == CUTE_SPACE_DESC ? NULL : view_of(k, tensor);
    int64_t size = count_elements(type->layout.shape), count = 1;
    if (!v || v->whole || size <= 0 || mlirValueIsNull(v->coordinates)) return CUTE_OK;
    if (space == CUTE_SPACE_RMEM && !v->moves) return CUTE_OK;
    if (!mlirValueIsNull(predicates)) {
        const cute_value *of = cute_type_peek(mlirValueGetType(predicates));
        count = of ? count_elements(of->layout.shape) : -1;
        if (count <= 0 || size % count) return CUTE_OK;
    }
    cute_value coords;
    const cute_tree *shape;
    CUTE_TRY(cute_value_bind(x, op, v->coordinates, &coords));
    CUTE_TRY(bind_shape(x, op, v, &shape));
    check c = begin_check(op);
    place first = {0}, last = {0};
    for (int64_t i = 0; i < count; i++) {
        place low, high;
        if (!element_at(x, &c.b, &coords, shape, i * (size / count), &low) ||
            !element_at(x, &c.b, &coords, shape, (i + 1) * (size / count) - 1, &high))
            break;
        MlirValue bad = or_failures(&c.b, any_outside(&c.b, &low), any_outside(&c.b, &high));
        if (mlirValueIsNull(bad)) continue;
        if (!mlirValueIsNull(predicates)) {
            MlirValue used = predicate_at(&c.b, x->arena, predicates, i);
            if (mlirValueIsNull(used)) break;
            bad = cute_binary(&c.b, "arith.andi", bad, used);
        }
        for (size_t n = 0; n < low.count; n++) {
            first.at[n] = i && first.count ? select_number(&c.b, bad, low.at[n], first.at[n]) : low.at[n];
            last.at[n] = i && first.count ? select_number(&c.b, bad, high.at[n], last.at[n]) : high.at[n];
            first.limit[n] = low.limit[n];
        }
        first.count = last.count = low.count;
        c.bad = or_failures(&c.b, c.bad, bad);
    }
    cute_buffer_puts(&c.text, "coordinates ");
    put_numbers(&c, first.at, first.count);
    cute_buffer_puts(&c.text, " to ");
    put_numbers(&c, last.at, last.count);
    cute_buffer_puts(&c.text, " are not all within the shape ");
    put_numbers(&c, first.limit, first.count);
    end_check(k, &c, outside_claim);
    return CUTE_OK;
}

static cute_status check_copy(checks *k, const cute_expansion *x, MlirOperation op)
{
    MlirValue none = {NULL}, predicates = none;
    if (mlirOperationGetNumOperands(op) > 3 && is_tensor(mlirOperationGetOperand(op, 3)))
        predicates = mlirOperationGetOperand(op, 3);
    if (is_tensor(mlirOperationGetOperand(op, 1))) CUTE_TRY(check_elements(k, x, op, 1, predicates));
    if (is_tensor(mlirOperationGetOperand(op, 2)))
        CUTE_TRY(check_elements(k, x, op, 2, cute_op_has(op, "zero_fill") ? none : predicates));
    return CUTE_OK;
}

static cute_status check_first(checks *k, const cute_expansion *x, MlirOperation op)
{
    return is_tensor(mlirOperationGetOperand(op, 0)) ? check_elements(k, x, op, 0, (MlirValue){NULL})
                                                     : CUTE_OK;
}

static cute_status check_second(checks *k, const cute_expansion *x, MlirOperation op)
{
    return is_tensor(mlirOperationGetOperand(op, 1)) ? check_elements(k, x, op, 1, (MlirValue){NULL})
                                                     : CUTE_OK;
}

/* ---- threads ---- */

/* Checks that an index is below `threads` and below the threads of a block. */
static cute_status check_index(checks *k, const cute_expansion *x, MlirOperation op, MlirValue index,
                               const cute_tree *threads, const char *of)
{
    static const char *const sizes[] = {"ntid.x", "ntid.y", "ntid.z"};
    cute_value at;
    CUTE_TRY(cute_value_bind(x, op, index, &at));
    check c = begin_check(op);
    place p = {0};
    if (match_coordinate(&c.b, at.tree, threads, &p)) c.bad = any_outside(&c.b, &p);
    cute_buffer_puts(&c.text, "thread index ");
    put_numbers(&c, p.at, p.count);
    cute_buffer_puts(&c.text, " is not below the ");
    put_numbers(&c, p.limit, p.count);
    cute_buffer_printf(&c.text, " threads of the %s", of);
    cute_builder b = c.b;
    end_check(k, &c, "a thread index that the tiling does not have");
    if (p.count != 1 || p.at[0].known) return CUTE_OK;
    MlirOperation from = cute_defining_op(p.at[0].handle);
    if (!mlirOperationIsNull(from) && cute_op_is(from, "arith.extsi"))
        from = cute_defining_op(mlirOperationGetOperand(from, 0));
    if (!mlirOperationIsNull(from) && cute_op_is(from, "nvvm.read.ptx.sreg.tid.x")) return CUTE_OK;
    MlirType i32 = mlirIntegerTypeGet(b.context, 32);
    MlirValue block = {NULL};
    for (size_t i = 0; i < 3; i++) {
        char name[48];
        snprintf(name, sizeof name, "nvvm.read.ptx.sreg.%s", sizes[i]);
        MlirValue one = cute_build_value(&b, name, i32, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
        block = i ? cute_binary(&b, "arith.muli", block, one) : one;
    }
    number limit = number_of_value(&b, block);
    check launch = begin_check(op);
    launch.bad = is_outside(&b, p.at[0], limit);
    cute_buffer_puts(&launch.text, "thread index ");
    put_number(&launch, p.at[0]);
    cute_buffer_puts(&launch.text, " is not below the ");
    put_number(&launch, limit);
    cute_buffer_puts(&launch.text, " threads of a block");
    end_check(k, &launch, "a thread index that the launch does not have");
    return CUTE_OK;
}

static cute_status check_copy_threads(checks *k, const cute_expansion *x, MlirOperation op)
{
    const cute_value *copy = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(op, 0)));
    const cute_tree *shape = copy ? copy->layout.shape : NULL;
    if (!shape || shape->kind != CUTE_TREE_TUPLE || shape->count < 2) return CUTE_OK;
    const cute_tree *count = cute_tree_number(x->arena, count_elements(shape->items[0]));
    if (!count) return cute_fail_memory(x->diag);
    return check_index(k, x, op, mlirOperationGetOperand(op, 2), count, "tiled copy");
}

static cute_status check_mma_threads(checks *k, const cute_expansion *x, MlirOperation op)
{
    const cute_value *mma = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(op, 0)));
    if (!mma || !mma->atom || !mma->atom->threads.shape || !mma->layout.shape) return CUTE_OK;
    int64_t one = count_elements(mma->atom->threads.shape), atoms = count_elements(mma->layout.shape);
    if (one <= 0 || atoms <= 0) return CUTE_OK;
    const cute_tree *count = cute_tree_number(x->arena, one * atoms);
    if (!count) return cute_fail_memory(x->diag);
    return check_index(k, x, op, mlirOperationGetOperand(op, 2), count, "tiled MMA");
}

static cute_status check_layout_threads(checks *k, const cute_expansion *x, MlirOperation op)
{
    cute_value threads;
    if (mlirOperationGetNumOperands(op) != 3) return CUTE_OK;
    const cute_value *type = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(op, 1)));
    if (!type || type->type != CUTE_LAYOUT) return CUTE_OK;
    CUTE_TRY(cute_value_bind(x, op, mlirOperationGetOperand(op, 1), &threads));
    return check_index(k, x, op, mlirOperationGetOperand(op, 2), threads.layout.shape, "layout of threads");
}

/* ---- MLIR memrefs ---- */

/* The memref is operand `at`, followed by its indices; the access covers `values` elements of the last
 * dimension. */
static cute_status check_memref(checks *k, MlirOperation op, intptr_t at, int64_t values)
{
    MlirValue memref = mlirOperationGetOperand(op, at);
    MlirType type = mlirValueGetType(memref);
    if (!mlirTypeIsAMemRef(type)) return CUTE_OK;
    int64_t rank = mlirShapedTypeGetRank(type);
    if (rank > PLACES || mlirOperationGetNumOperands(op) < at + 1 + rank) return CUTE_OK;
    check c = begin_check(op);
    place p = {.count = (size_t)rank};
    for (int64_t i = 0; i < rank; i++) {
        int64_t size = mlirShapedTypeGetDimSize(type, i);
        MlirValue index = mlirOperationGetOperand(op, at + 1 + i), dimension;
        MlirOperation constant = cute_defining_op(index);
        p.limit[i] = known_number(size);
        if (mlirShapedTypeIsDynamicDim(type, i)) {
            dimension = cute_integer(&c.b, mlirIndexTypeGet(c.b.context), i);
            dimension = cute_build_value(&c.b, "memref.dim", mlirIndexTypeGet(c.b.context),
                                         CUTE_OPERANDS(memref, dimension), CUTE_NO_NAMED);
            p.limit[i] = number_of_value(&c.b, dimension);
        }
        if (!mlirOperationIsNull(constant) && cute_op_is(constant, "arith.constant"))
            p.at[i] = known_number(
                mlirIntegerAttrGetValueInt(mlirOperationGetAttributeByName(constant, cute_text("value"))));
        else
            p.at[i] = number_of_value(&c.b, index);
        c.bad = or_failures(&c.b, c.bad, is_outside(&c.b, p.at[i], p.limit[i]));
        if (i == rank - 1 && values > 1)
            c.bad = or_failures(&c.b, c.bad,
                                is_outside(&c.b, add_constant(&c.b, p.at[i], values - 1), p.limit[i]));
    }
    cute_buffer_puts(&c.text, "coordinate ");
    put_numbers(&c, p.at, p.count);
    if (values > 1) cute_buffer_printf(&c.text, " and the %lld elements after it are", (long long)values - 1);
    cute_buffer_puts(&c.text, values > 1 ? " outside the shape " : " is outside the shape ");
    put_numbers(&c, p.limit, p.count);
    end_check(k, &c, "a coordinate outside the memref's shape");
    return CUTE_OK;
}

static cute_status check_memref_first(checks *k, const cute_expansion *x, MlirOperation op)
{
    (void)x;
    return check_memref(k, op, 0, 1);
}

static cute_status check_memref_second(checks *k, const cute_expansion *x, MlirOperation op)
{
    (void)x;
    return check_memref(k, op, 1, 1);
}

static int64_t last_extent(MlirType vector)
{
    if (!mlirTypeIsAVector(vector) || mlirShapedTypeGetRank(vector) < 1) return 1;
    return mlirShapedTypeGetDimSize(vector, mlirShapedTypeGetRank(vector) - 1);
}

static cute_status check_vector_load(checks *k, const cute_expansion *x, MlirOperation op)
{
    (void)x;
    return check_memref(k, op, 0, last_extent(mlirValueGetType(mlirOperationGetResult(op, 0))));
}

static cute_status check_vector_store(checks *k, const cute_expansion *x, MlirOperation op)
{
    (void)x;
    return check_memref(k, op, 1, last_extent(mlirValueGetType(mlirOperationGetOperand(op, 0))));
}

/* ---- the pass ---- */

static const struct {
    const char *name;
    cute_status (*check)(checks *k, const cute_expansion *x, MlirOperation op);
} rows[] = {
    {"cute.memref.load", check_element},
    {"cute.memref.store", check_element},
    {"cute.memref.load_vec", check_first},
    {"cute.memref.store_vec", check_second},
    {"cute.fill", check_first},
    {"cute.copy", check_copy},
    {"cute.copy_atom_call", check_copy},
    {"cute.tiled.copy.partition_S", check_copy_threads},
    {"cute.tiled.copy.partition_D", check_copy_threads},
    {"cute.tiled.mma.partition", check_mma_threads},
    {"cute.local_partition", check_layout_threads},
    {"memref.load", check_memref_first},
    {"memref.store", check_memref_second},
    {"memref.atomic_rmw", check_memref_second},
    {"memref.generic_atomic_rmw", check_memref_first},
#define CUTE_ATOMIC_OP(name, ...) {"cute.atomic_" #name, check_update},
#define CUTE_ATOMIC_CAS           CUTE_ATOMIC_OP
#include "lib/ir/ops/atomics.def"
    {"vector.load", check_vector_load},
    {"vector.store", check_vector_store},
};

static void check_op(MlirOperation op, void *context)
{
    checks *k = context;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!cute_op_is(op, rows[i].name)) continue;
        cute_arena *arena = cute_arena_create();
        cute_expansion x = {.emitter = &k->emitter, .arena = arena, .diag = k->diag};
        if (!arena || rows[i].check(k, &x, op) != CUTE_OK) {
            for (size_t n = 0; n < cute_diag_count(k->diag); n++)
                cute_op_fail(mlirOperationGetLocation(op), rows[i].name, "%s",
                             cute_diag_get(k->diag, n)->text);
            cute_pass_fail(k->pass);
            cute_diag_clear(k->diag);
        }
        cute_arena_destroy(arena);
        return;
    }
}

static void check_module(MlirOperation op, void *context)
{
    cute_op_walk(op, NULL, CUTE_WALK_OUTER_FIRST, check_op, context);
}

static void run_assert_bounds(MlirOperation root, cute_pass_run *pass)
{
    checks k = {.pass = pass, .diag = cute_diag_create()};
    cute_op_each(root, "gpu.module", check_module, &k);
    free(k.views);
    cute_diag_destroy(k.diag);
    if (!k.changed) cute_pass_unchanged(pass);
}

const cute_pass cute_pass_assert_bounds = {
    .name = "cute-assert-bounds",
    .help = "Assert that tensor coordinates and thread indices are within bounds",
    .anchor = "builtin.module",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH | CUTE_DIALECT_MATH | CUTE_DIALECT_SCF |
                CUTE_DIALECT_CF | CUTE_DIALECT_GPU | CUTE_DIALECT_NVVM | CUTE_DIALECT_MEMREF,
    .run = run_assert_bounds,
};
