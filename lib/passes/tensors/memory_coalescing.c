/* cute-memory-coalescing: makes the lanes of a warp access neighbouring elements of global memory.
 *
 * Requires: verified IR before cute-canonicalize. Ensures: a tiled copy that requests it
 * (cute.make_tiled_copy {cute.coalesce}; with `all`: each one) and whose requests to global memory touch
 * more sectors than necessary gets its threads ordered as the tensor's elements, if that reduces the
 * sectors. A block copies the same elements to the same addresses, but other threads do, so data exchanged
 * between threads must pass a barrier. Rejected if a thread keeps the copied data in registers, if threads
 * have predicates of their own, or if only some threads run the copy.
 *
 *     %t = cute.make_tiled_copy(%a) {cute.coalesce} ... layout_copy_tv = <"((32,4),1):((1,32),0)">
 * -> (contiguous rows of 4 elements)
 *     %t = cute.make_tiled_copy(%a) ... layout_copy_tv = <"((4,32),1):((32,1),0)">
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "lib/atoms/access.h"
#include "lib/atoms/atoms.h"
#include "lib/base/diagnostics/diag.h"
#include "lib/base/list.h"
#include "lib/base/numbers/checked.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"
#include "lib/passes/tensors/retype.h"
#include "lib/passes/tensors/warp_accesses.h"

static const char asked[] = "cute.coalesce", marked[] = "cute.marked";

static const cute_pass_option options[] = {
    {"all", CUTE_PASS_BOOL, "Consider all tiled copies, not only those that request it", 0, NULL},
};

/* Tiled copies of one type in one function, which are changed together. */
typedef struct group {
    MlirOperation function, first;
    MlirType type;
    MlirOperation *copies; /* each cute.copy that uses one of them */
    size_t count, capacity;
} group;

typedef struct coalescing {
    cute_pass_run *pass;
    MlirOperation root;
    cute_arena *arena;
    cute_diag *diag;
    group *groups;
    size_t count, capacity;
} coalescing;

/* ---- candidates ---- */

static MlirOperation enclosing_function(MlirOperation op)
{
    while (!mlirOperationIsNull(op) && !cute_op_is(op, "gpu.func") && !cute_op_is(op, "func.func") &&
           !cute_op_is(op, "cuda.kernel"))
        op = mlirOperationGetParentOperation(op);
    return op;
}

static void collect_group(MlirOperation op, void *context)
{
    coalescing *c = context;
    if (!cute_op_has(op, asked) && !cute_pass_int(c->pass, 0)) return;
    MlirOperation function = enclosing_function(op);
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
    for (size_t i = 0; i < c->count; i++)
        if (mlirOperationEqual(c->groups[i].function, function) && mlirTypeEqual(c->groups[i].type, type))
            return;
    if (mlirOperationIsNull(function) ||
        !cute_arena_more(c->arena, &c->groups, c->count, &c->capacity, sizeof *c->groups, 8))
        return;
    c->groups[c->count++] = (group){.function = function, .first = op, .type = type};
}

static bool is_of(const group *g, MlirValue tiled)
{
    return mlirTypeEqual(mlirValueGetType(tiled), g->type);
}

/* ---- legality: whether other threads may copy the elements ---- */

static bool is_copy_partition(MlirOperation op)
{
    return cute_op_is(op, "cute.tiled.copy.partition_S") || cute_op_is(op, "cute.tiled.copy.partition_D");
}

/* The source of a view: a partition, or the first operation that is not on tensors. */
static MlirOperation view_origin(MlirValue value)
{
    static const char *const views[] = {"cute.slice",       "cute.group_modes",   "cute.select",
                                        "cute.get_iter",    "cute.make_view",     "cute.coalesce",
                                        "cute.composition", "cute.add_offset",    "cute.append_to_rank",
                                        "cute.get",         "cute.logical_divide"};
    for (;;) {
        MlirOperation op = cute_defining_op(value);
        bool view = false;
        for (size_t i = 0; !mlirOperationIsNull(op) && i < sizeof views / sizeof *views && !view; i++)
            view = cute_op_is(op, views[i]);
        if (!view) return op;
        value = mlirOperationGetOperand(op, 0);
    }
}

static bool is_partitioned_by(const group *g, MlirValue tensor)
{
    MlirOperation op = view_origin(tensor);
    const cute_value *type = cute_type_peek(mlirValueGetType(tensor));
    return !mlirOperationIsNull(op) && is_copy_partition(op) && is_of(g, mlirOperationGetOperand(op, 0)) &&
           type && type->type == CUTE_MEMREF && type->pointer->space != CUTE_SPACE_RMEM;
}

/* Whether threads of a block may have different values; conservative. */
static bool is_thread_dependent(MlirValue value, int depth)
{
    static const char *const uniform[] = {"gpu.block_id",
                                          "gpu.block_dim",
                                          "gpu.grid_dim",
                                          "nvvm.read.ptx.sreg.ctaid.",
                                          "nvvm.read.ptx.sreg.ntid.",
                                          "nvvm.read.ptx.sreg.nctaid.",
                                          "arith.",
                                          "cute.",
                                          "builtin.unrealized_conversion_cast",
                                          "index."};
    MlirOperation op = cute_defining_op(value);
    if (depth > 200) return true;
    if (mlirOperationIsNull(op)) { /* an argument of the kernel, or of a loop with such bounds */
        MlirOperation parent = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
        if (!cute_op_is(parent, "scf.for")) return !mlirOperationEqual(parent, enclosing_function(parent));
        if (mlirBlockArgumentGetArgNumber(value)) return true;
        for (intptr_t i = 0; i < 3; i++)
            if (is_thread_dependent(mlirOperationGetOperand(parent, i), depth + 1)) return true;
        return false;
    }
    bool known = false;
    for (size_t i = 0; i < sizeof uniform / sizeof *uniform && !known; i++)
        known = cute_op_is(op, uniform[i]) || cute_op_of(op, uniform[i]);
    if (!known || cute_op_of(op, "cute.memref.") || cute_op_of(op, "cute.ptr.") ||
        mlirOperationGetNumRegions(op))
        return true;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
        if (is_thread_dependent(mlirOperationGetOperand(op, i), depth + 1)) return true;
    return false;
}

/* Reason why the threads of a copy must not change, or NULL. */
static const char *reason_to_keep(const group *g, MlirOperation copy)
{
    intptr_t count = mlirOperationGetNumOperands(copy);
    for (intptr_t i = 1; i < 3; i++)
        if (!is_partitioned_by(g, mlirOperationGetOperand(copy, i)))
            return "a thread keeps the copied elements in registers";
    if (count > 3) return "threads have different predicates";
    for (MlirOperation op = copy; !mlirOperationEqual(op, g->function);
         op = mlirOperationGetParentOperation(op)) {
        MlirOperation parent = mlirOperationGetParentOperation(op);
        if (cute_op_is(parent, "scf.if") && is_thread_dependent(mlirOperationGetOperand(parent, 0), 0))
            return "not all threads reach it";
        if (cute_op_is(parent, "scf.for"))
            for (intptr_t i = 0; i < 3; i++)
                if (is_thread_dependent(mlirOperationGetOperand(parent, i), 0))
                    return "threads run it different numbers of times";
        if (cute_op_is(parent, "scf.while")) return "threads may run it different numbers of times";
    }
    return NULL;
}

static bool same_threads(const cute_value *a, const cute_value *b)
{
    return cute_tree_equal(a->layout.shape, b->layout.shape) &&
           cute_tree_equal(a->layout.stride, b->layout.stride) && cute_tree_equal(a->tree, b->tree);
}

typedef struct looking {
    coalescing *c;
    group *group;
    MlirOperation stuck;
    const char *why;
} looking;

/* Checks all uses of partitions by the group: its copies, and views of them. */
static void check_use(MlirOperation op, void *context)
{
    looking *l = context;
    if (l->why) return;
    bool copy = cute_op_is(op, "cute.copy");
    intptr_t count = mlirOperationGetNumOperands(op);
    if (copy && is_of(l->group, mlirOperationGetOperand(op, 0))) {
        group *g = l->group;
        l->why = reason_to_keep(g, op);
        l->stuck = op;
        if (cute_arena_more(l->c->arena, &g->copies, g->count, &g->capacity, sizeof *g->copies, 8))
            g->copies[g->count++] = op;
        return;
    }
    for (intptr_t i = 0; i < count && !l->why; i++) {
        MlirValue value = mlirOperationGetOperand(op, i);
        const cute_value *type = cute_type_peek(mlirValueGetType(value));
        l->stuck = op;
        if (type && type->type == CUTE_TILED_COPY && is_of(l->group, value) && !is_copy_partition(op))
            l->why = "the tiled copy is used by another operation";
        /* A thread may read its own writes without a barrier. */
        if (type && type->type == CUTE_TILED_COPY && !is_of(l->group, value) &&
            same_threads(type, cute_type_peek(l->group->type)))
            l->why = "another tiled copy uses the same threads";
        if (!type || (type->type != CUTE_MEMREF && type->type != CUTE_COORD_TENSOR)) continue;
        MlirOperation from = view_origin(value);
        if (mlirOperationIsNull(from) || !is_copy_partition(from) ||
            !is_of(l->group, mlirOperationGetOperand(from, 0)))
            continue;
        /* The results of views are checked themselves. */
        if (mlirOperationGetNumResults(op) == 0 || cute_op_of(op, "cute.memref.") ||
            type->type == CUTE_COORD_TENSOR)
            l->why = "a thread accesses elements by its own index";
    }
}

/* ---- the new layout ---- */

enum { LARGE = 1024 };

/* Replaces unknown numbers by large multiples of their divisors. */
static const cute_tree *sample_unknowns(cute_arena *arena, const cute_tree *t)
{
    if (t->kind == CUTE_TREE_INT && !t->value.known) {
        int64_t value = LARGE;
        if (t->value.divisor > 0 && !cute_mul64(LARGE, t->value.divisor, &value)) value = LARGE;
        return cute_tree_number(arena, value);
    }
    if (t->kind != CUTE_TREE_TUPLE) return t;
    const cute_tree **items = cute_arena_array(arena, t->count + 1, sizeof *items);
    for (uint32_t i = 0; items && i < t->count; i++)
        if (!(items[i] = sample_unknowns(arena, t->items[i]))) return NULL;
    return items ? cute_tree_tuple(arena, items, t->count) : NULL;
}

/* The elements of the tile in the global tensor that a copy of the group accesses. */
static cute_status tile_of(coalescing *c, const group *g, const cute_value *tiled, cute_layout *out)
{
    for (size_t i = 0; i < g->count; i++)
        for (intptr_t k = 1; k < 3; k++) {
            MlirOperation partition = view_origin(mlirOperationGetOperand(g->copies[i], k));
            const cute_value *tensor =
                cute_type_peek(mlirValueGetType(mlirOperationGetOperand(partition, 1)));
            if (!tensor || tensor->type != CUTE_MEMREF || tensor->pointer->space != CUTE_SPACE_GMEM ||
                tensor->tree)
                continue;
            cute_layout known = {sample_unknowns(c->arena, tensor->layout.shape),
                                 sample_unknowns(c->arena, tensor->layout.stride)};
            if (!known.shape || !known.stride) return CUTE_SYSTEM;
            cute_value operands[] = {cute_value_of_layout(known), cute_value_of_tree(CUTE_TILE, tiled->tree)},
                       tile;
            CUTE_TRY(cute_apply(c->arena, NULL, CUTE_OP_COMPOSITION, operands, 2, NULL, &tile, c->diag));
            *out = tile.layout;
            return CUTE_OK;
        }
    return cute_fail(c->diag, CUTE_INVALID, NULL, "no copy by it accesses global memory");
}

static cute_status other_type(coalescing *c, const group *g, MlirType *out, bool *changed)
{
    const cute_value *tiled = cute_type_peek(g->type);
    const cute_atom *atom = tiled->atom;
    cute_layout tile, tv;
    *changed = false;
    if (!atom || !atom->known || atom->matrices || atom->operand[CUTE_ATOM_SOURCE].bits < 1)
        return cute_fail(c->diag, CUTE_INVALID, NULL, "its instruction determines the lanes");
    CUTE_TRY(tile_of(c, g, tiled, &tile));
    CUTE_TRY(cute_copy_transpose(c->arena, tiled->layout, atom->bits / atom->operand[CUTE_ATOM_SOURCE].bits,
                                 tile, &tv, changed, c->diag));
    cute_value other = *tiled;
    other.layout = tv;
    *out = cute_type_of_value(mlirTypeGetContext(g->type), c->arena, &other);
    return mlirTypeIsNull(*out) ? CUTE_SYSTEM : CUTE_OK;
}

/* ---- trial and change ---- */

typedef struct change {
    MlirType old, new; /* new: null for no change */
    char reason[160];
    bool failed;
} change;

static void retype_tiled_copy(MlirOperation op, void *context)
{
    change *t = context;
    MlirOperation stuck;
    MlirValue result = mlirOperationGetResult(op, 0);
    if (t->failed || !mlirTypeEqual(mlirValueGetType(result), t->old)) return;
    /* Operands with layouts of threads and values would repeat the old type; the type alone is sufficient. */
    MlirValue atom = mlirOperationGetOperand(op, 0);
    mlirOperationSetOperands(op, 1, &atom);
    if (cute_retype(result, t->new, &stuck)) return;
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(stuck)), file;
    unsigned line = 0, column;
    cute_location_place(mlirOperationGetLocation(stuck), &file, &line, &column);
    snprintf(t->reason, sizeof t->reason, "'%.*s' at line %u is incompatible with it", (int)name.length,
             name.data, line);
    t->failed = true;
}

static void find_marked_op(MlirOperation op, void *context)
{
    if (cute_op_has(op, marked)) *(MlirOperation *)context = op;
}

static bool prepare_trial(MlirOperation clone, void *context)
{
    change *t = context;
    MlirOperation function = {NULL};
    cute_op_walk(clone, NULL, CUTE_WALK_OUTER_FIRST, find_marked_op, &function);
    if (mlirOperationIsNull(function)) return false;
    if (!mlirTypeIsNull(t->new)) cute_op_each(function, "cute.make_tiled_copy", retype_tiled_copy, t);
    return !t->failed;
}

typedef struct costs {
    cute_traffic sectors, wavefronts;
    size_t unknown;
} costs;

/* Costs of the group's copies, for two warps. */
static bool measure_group(coalescing *c, const group *g, change *t, costs *out)
{
    cute_accesses all = {0};
    *out = (costs){0};
    mlirOperationSetDiscardableAttributeByName(g->function, cute_text(marked),
                                               mlirUnitAttrGet(mlirOperationGetContext(g->function)));
    MlirOperation clone = cute_lowered_clone(c->pass, c->root, prepare_trial, t), function = {NULL};
    mlirOperationRemoveDiscardableAttributeByName(g->function, cute_text(marked));
    if (mlirOperationIsNull(clone)) {
        if (!*t->reason) snprintf(t->reason, sizeof t->reason, "the kernel cannot be lowered with it");
        return false;
    }
    cute_op_walk(clone, NULL, CUTE_WALK_OUTER_FIRST, find_marked_op, &function);
    bool ok = !mlirOperationIsNull(function) && cute_accesses_of(c->arena, function, &all) == CUTE_OK;
    for (size_t i = 0; ok && i < all.count; i++) {
        bool own = false;
        for (size_t k = 0; k < g->count && !own; k++)
            own = mlirLocationEqual(all.items[i].location, mlirOperationGetLocation(g->copies[k]));
        /* The costs of all shared-memory accesses count, as those of the copy's other side may change. */
        if (!own && all.items[i].space == CUTE_SPACE_GMEM) continue;
        out->unknown += !all.items[i].known;
        for (uint32_t w = 0; all.items[i].known && w < all.items[i].count; w++) {
            if (all.items[i].space == CUTE_SPACE_GMEM)
                cute_traffic_add_sectors(&all.items[i].requests[w], &out->sectors);
            else
                cute_traffic_add_wavefronts(&all.items[i].requests[w], &out->wavefronts);
        }
    }
    mlirOperationDestroy(clone);
    return ok;
}

static void coalesce_group(coalescing *c, group *g)
{
    costs before, after;
    change t = {.old = g->type, .new = {NULL}};
    bool changed;
    MlirLocation location = mlirOperationGetLocation(g->first);
    looking l = {.c = c, .group = g};
    cute_op_walk(g->function, NULL, CUTE_WALK_OUTER_FIRST, check_use, &l);
    if (!measure_group(c, g, &t, &before)) {
        cute_pass_remark(c->pass, location, "is not considered: %s",
                         *t.reason ? t.reason : "its accesses are unknown");
    } else if (!before.sectors.requests) {
        cute_pass_remark(c->pass, location, "is not considered: no address in global memory is known");
    } else if (before.sectors.count == before.sectors.ideal) {
        cute_pass_remark(c->pass, location, "is coalesced: %llu sectors in %llu requests",
                         (unsigned long long)before.sectors.count,
                         (unsigned long long)before.sectors.requests);
    } else if (l.why) {
        MlirStringRef file;
        unsigned line = 0, column;
        cute_location_place(mlirOperationGetLocation(l.stuck), &file, &line, &column);
        cute_pass_remark(
            c->pass, location, "touches %llu sectors instead of %llu, but keeps its threads: %s (line %u)",
            (unsigned long long)before.sectors.count, (unsigned long long)before.sectors.ideal, l.why, line);
    } else if (other_type(c, g, &t.new, &changed) != CUTE_OK || !changed) {
        cute_pass_remark(c->pass, location, "touches %llu sectors instead of %llu, but keeps its threads: %s",
                         (unsigned long long)before.sectors.count, (unsigned long long)before.sectors.ideal,
                         cute_diag_count(c->diag) ? cute_diag_get(c->diag, 0)->text
                                                  : "they follow the order of the tensor's elements already");
    } else if (!measure_group(c, g, &t, &after)) {
        cute_pass_remark(c->pass, location, "keeps its threads: %s", t.reason);
    } else if (after.unknown != before.unknown || after.sectors.count >= before.sectors.count ||
               after.wavefronts.count >
                   before.wavefronts.count + (before.sectors.count - after.sectors.count)) {
        cute_pass_remark(
            c->pass, location,
            "keeps its threads: another order would change %llu sectors to %llu, and %llu wavefronts to %llu",
            (unsigned long long)before.sectors.count, (unsigned long long)after.sectors.count,
            (unsigned long long)before.wavefronts.count, (unsigned long long)after.wavefronts.count);
    } else {
        cute_op_each(g->function, "cute.make_tiled_copy", retype_tiled_copy, &t);
        if (t.failed) cute_pass_fail(c->pass);
        cute_pass_remark(
            c->pass, location,
            "has its threads in the order %s: %llu sectors become %llu, %llu wavefronts become %llu",
            cute_layout_text(c->arena, cute_type_peek(t.new)->layout),
            (unsigned long long)before.sectors.count, (unsigned long long)after.sectors.count,
            (unsigned long long)before.wavefronts.count, (unsigned long long)after.wavefronts.count);
    }
    cute_diag_clear(c->diag);
}

static void remove_mark(MlirOperation op, void *context)
{
    (void)context;
    mlirOperationRemoveDiscardableAttributeByName(op, cute_text(asked));
}

static void run_memory_coalescing(MlirOperation root, cute_pass_run *pass)
{
    coalescing c = {.pass = pass, .root = root, .arena = cute_arena_create(), .diag = cute_diag_create()};
    if (c.arena && c.diag) cute_op_each(root, "cute.make_tiled_copy", collect_group, &c);
    for (size_t i = 0; i < c.count; i++) coalesce_group(&c, &c.groups[i]);
    if (c.count)
        cute_op_each(root, "cute.make_tiled_copy", remove_mark, NULL);
    else
        cute_pass_unchanged(pass);
    cute_diag_destroy(c.diag);
    cute_arena_destroy(c.arena);
}

const cute_pass cute_pass_memory_coalescing = {
    .name = "cute-memory-coalescing",
    .help = "Order the threads of tiled copies that request it by the elements of global memory",
    .anchor = "builtin.module",
    .options = options,
    .option_count = 1,
    .dialects = CUTE_LOWERED_DIALECTS,
    .run = run_memory_coalescing,
};
