/* Comparisons of indices along a dimension with a few values, as masks make them: first + c < y, for many constants c in a thread, and few y. Each c
 * needs an addition, or its sum a register; with the distance of y from the first index, none:
 *
 *     first + c < y  =  c < min(max(y, first) - first, n),    0 <= c < n
 *
 * The difference does not wrap as an unsigned number. Indices are cute.tile.iota's, which are at most the largest i32. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/emit.h"

/* The vector that an iota became: element i is first + own[i]. */
struct tile_index {
    MlirValue value, first;
    const int32_t *own;
    int64_t count;
    struct tile_index *next;
};

void tile_note_index(tile_emitter *e, MlirValue value, MlirValue first, const int32_t *own, int64_t count)
{
    struct tile_index *index = cute_arena_alloc(e->arena, sizeof *index);
    if (!index) {
        e->failed = true;
        return;
    }
    *index = (struct tile_index){value, first, own, count, e->indices};
    e->indices = index;
}

/* A vector as elements of another one. */
typedef struct picked {
    MlirValue from;
    int32_t *map;   /* for each element */
    int64_t *first; /* one element of the vector for each different one of `from` */
    int64_t different;
} picked;

static bool find_picked(tile_emitter *e, MlirValue value, int64_t count, picked *out)
{
    out->from = value;
    out->different = 0;
    out->map = cute_arena_array(e->arena, (size_t)count, sizeof *out->map);
    out->first = cute_arena_array(e->arena, (size_t)count, sizeof *out->first);
    if (!out->map || !out->first) return !(e->failed = true);
    for (int64_t i = 0; i < count; i++) out->map[i] = (int32_t)i;
    MlirOperation op = cute_defining_op(value);
    while (!mlirOperationIsNull(op) && cute_op_is(op, "vector.shuffle")) {
        out->from = mlirOperationGetOperand(op, 0);
        int64_t all = cute_vector_count(mlirValueGetType(out->from));
        if (!mlirValueEqual(out->from, mlirOperationGetOperand(op, 1))) return false;
        for (int64_t i = 0; i < count; i++)
            out->map[i] = (int32_t)(tile_shuffled_from(op, out->map[i]) % all);
        op = cute_defining_op(out->from);
    }
    bool same = !mlirOperationIsNull(op) && cute_op_is(op, "vector.broadcast");
    for (int64_t i = 0; i < count; i++) {
        if (same) out->map[i] = 0;
        int64_t k = 0;
        while (k < out->different && out->map[out->first[k]] != out->map[i]) k++;
        if (k == out->different) out->first[out->different++] = i;
    }
    return true;
}

static const struct tile_index *index_of(const tile_emitter *e, const picked *p)
{
    const struct tile_index *index = e->indices;
    while (index && !mlirValueEqual(index->value, p->from)) index = index->next;
    return index;
}

/* For each different one of the `limits`, the number of constants c of which first + c is less, or also equal, as a vector of all of them. */
static MlirValue distances(tile_emitter *e, MlirValue value, const picked *limits, int64_t count,
                           MlirValue first, int64_t constants, bool equal)
{
    int64_t n = limits->different;
    int32_t *map = cute_arena_array(e->arena, (size_t)(n > count ? n : count), sizeof *map);
    if (!map) return e->failed = true, value;
    for (int64_t k = 0; k < n; k++) map[k] = (int32_t)limits->first[k];
    MlirValue y = tile_pick(e, value, map, n), x = tile_splat(e, first, n),
              most = cute_integer(&e->b, mlirValueGetType(y), constants - equal);
    MlirValue d = cute_binary(&e->b, "arith.subi", cute_binary(&e->b, "arith.maxsi", y, x), x);
    d = cute_binary(&e->b, "arith.minui", d, most);
    if (equal) {
        MlirValue one = cute_integer(&e->b, mlirValueGetType(y), 1),
                  none = cute_integer(&e->b, mlirValueGetType(y), 0);
        d = cute_select(&e->b, cute_compare(&e->b, CUTE_IS_SLT, y, x), none,
                        cute_binary(&e->b, "arith.addi", d, one));
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t k = 0;
        while (limits->map[limits->first[k]] != limits->map[i]) k++;
        map[i] = (int32_t)k;
    }
    return tile_pick(e, d, map, count);
}

static void compare_distances(MlirOperation op, void *context)
{
    enum { WORTH = 4 /* constants for each value */ };
    static const cute_predicate swapped[] = {[CUTE_IS_SLT] = CUTE_IS_SGT,
                                             [CUTE_IS_SLE] = CUTE_IS_SGE,
                                             [CUTE_IS_SGT] = CUTE_IS_SLT,
                                             [CUTE_IS_SGE] = CUTE_IS_SLE};
    tile_emitter *e = context;
    MlirAttribute predicate = mlirOperationGetAttributeByName(op, cute_text("predicate"));
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
    if (e->failed || !mlirTypeIsAVector(type) || mlirAttributeIsNull(predicate)) return;
    int64_t count = cute_vector_count(type), is = mlirIntegerAttrGetValueInt(predicate);
    if (is < CUTE_IS_SLT || is > CUTE_IS_SGE) return;
    for (int side = 0; side < 2; side++) {
        picked indices, limits;
        MlirValue value = mlirOperationGetOperand(op, 1 - side);
        if (!find_picked(e, mlirOperationGetOperand(op, side), count, &indices) ||
            !find_picked(e, value, count, &limits))
            continue;
        const struct tile_index *index = index_of(e, &indices);
        if (!index || indices.different < WORTH * limits.different) continue;
        int32_t *own = cute_arena_array(e->arena, (size_t)count, sizeof *own), most = 0;
        if (!own) {
            e->failed = true;
            return;
        }
        for (int64_t i = 0; i < count; i++) {
            own[i] = index->own[indices.map[i]];
            if (own[i] > most) most = own[i];
        }
        if (side) is = swapped[is];
        cute_builder here = e->b;
        e->b = cute_builder_before(op);
        bool equal = is == CUTE_IS_SLE || is == CUTE_IS_SGT;
        MlirValue d = distances(e, value, &limits, count, index->first, (int64_t)most + 1, equal);
        MlirValue out =
            e->failed
                ? d
                : cute_compare(&e->b, is == CUTE_IS_SLT || is == CUTE_IS_SLE ? CUTE_IS_SLT : CUTE_IS_SGE,
                               tile_i32_vector(e, own, count), d);
        e->b = here;
        if (e->failed) return;
        mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), out);
        mlirOperationDestroy(op);
        return;
    }
}

void tile_compare_indices(tile_emitter *e)
{
    if (e->indices && !e->naive)
        cute_op_walk(e->function, "arith.cmpi", CUTE_WALK_OUTER_FIRST, compare_distances, e);
}
