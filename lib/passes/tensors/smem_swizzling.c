/* cute-smem-swizzling: swizzles tensors in shared memory to minimise the bank conflicts of the kernel's
 * accesses.
 *
 * Requires: verified IR before cute-expand-ops. Ensures: the pointer of a tensor that requests it
 * (cute.make_view {cute.swizzle}, or a cute.memref.alloca in shared memory; with `all`: of each tensor in
 * shared memory without a swizzle) is swizzled where that makes a warp's accesses cheaper, and so are all
 * tensors based on that pointer. Addresses change, values do not. The accesses considered are those of the
 * lowered kernel, in the first iteration of its loops.
 *
 *     %s = cute.make_view(%p, %l) {cute.swizzle} : (!cute.ptr<f32, smem, align<1024>>, ...)
 * ->
 *     %q = cute.recast_iter(%p) : (!cute.ptr<f32, smem, align<1024>>) -> !cute.ptr<f32, smem, align<1024>, S<5,2,5>>
 *     %s = cute.make_view(%q, %l) : (!cute.ptr<f32, smem, align<1024>, S<5,2,5>>, ...)
 *
 * cute-swizzle-optimization: the same for all tensors in shared memory, including those with a swizzle,
 * which is replaced or removed where that makes accesses cheaper.
 *
 *     %s = cute.make_view(%p, %l) : (!cute.ptr<f32, smem, align<1024>, S<1,2,5>>, ...)
 * ->
 *     %q = cute.recast_iter(%p) : (!cute.ptr<f32, smem, align<1024>, S<1,2,5>>) -> !cute.ptr<f32, smem, align<1024>, S<5,2,5>>
 *     %s = cute.make_view(%q, %l) : (!cute.ptr<f32, smem, align<1024>, S<5,2,5>>, ...)
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

#include "lib/atoms/access.h"
#include "lib/base/list.h"
#include "lib/base/numbers/checked.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"
#include "lib/passes/tensors/retype.h"
#include "lib/passes/tensors/warp_accesses.h"
#include "lib/passes/values/values.h"

static const char asked[] = "cute.swizzle", marked[] = CUTE_ROOT_ATTRIBUTE;

static const cute_pass_option options[] = {
    {"all", CUTE_PASS_BOOL, "Consider all tensors in shared memory, not only those that request it", 0, NULL},
};

typedef struct swizzling {
    cute_pass_run *pass;
    MlirOperation root;
    cute_arena *arena;
    MlirValue *pointers; /* of candidate tensors */
    size_t count, capacity;
    bool all;     /* include tensors that do not request it */
    bool replace; /* include tensors with a swizzle */
    bool changed;
} swizzling;

/* ---- candidates ---- */

static bool is_shared(MlirValue value, cute_type kind)
{
    const cute_value *v = cute_type_peek(mlirValueGetType(value));
    return v && v->type == kind && v->pointer->space == CUTE_SPACE_SMEM;
}

/* Splits a tensor that the kernel declares into its memory and a view. */
static void take_apart(MlirOperation op, void *context)
{
    swizzling *s = context;
    MlirValue tensor = mlirOperationGetResult(op, 0);
    bool wanted = cute_op_has(op, asked);
    const cute_value *type = cute_type_peek(mlirValueGetType(tensor));
    if (!wanted && !s->all) return;
    mlirOperationRemoveDiscardableAttributeByName(op, cute_text(asked));
    if (!is_shared(tensor, CUTE_MEMREF)) {
        if (wanted)
            cute_pass_remark(s->pass, mlirOperationGetLocation(op),
                             "has no swizzle: expected a tensor in shared memory");
        return;
    }
    cute_value pointer = {.type = CUTE_PTR, .pointer = type->pointer};
    cute_builder b = cute_builder_before(op);
    MlirType types[] = {cute_type_of_value(b.context, s->arena, &pointer), mlirValueGetType(tensor)};
    if (mlirTypeIsNull(types[0])) return;
    /* The layout is an operand, or static. */
    MlirValue layout;
    if (mlirOperationGetNumOperands(op)) {
        layout = mlirOperationGetOperand(op, 0);
    } else {
        cute_value laid_out = cute_value_of_layout(type->layout);
        MlirType of_layout = cute_type_of_value(b.context, s->arena, &laid_out);
        if (mlirTypeIsNull(of_layout)) return;
        layout = cute_build_value(&b, "cute.static", of_layout, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    }
    MlirOperation iterator =
        cute_build(&b, "cute.get_iter", CUTE_OPERANDS(tensor), (cute_types){types, 1}, CUTE_NO_NAMED);
    mlirOperationMoveAfter(iterator, op);
    MlirOperation view =
        cute_build(&b, "cute.make_view", CUTE_OPERANDS(mlirOperationGetResult(iterator, 0), layout),
                   (cute_types){types + 1, 1}, CUTE_NO_NAMED);
    mlirOperationMoveAfter(view, iterator);
    mlirValueReplaceAllUsesOfWith(tensor, mlirOperationGetResult(view, 0));
    mlirOperationSetOperand(iterator, 0, tensor);
    if (wanted)
        mlirOperationSetDiscardableAttributeByName(view, cute_text(asked), mlirUnitAttrGet(b.context));
}

static void collect_pointer(MlirOperation op, void *context)
{
    swizzling *s = context;
    MlirValue pointer = mlirOperationGetOperand(op, 0);
    bool wanted = cute_op_has(op, asked);
    if (!wanted && !s->all) return;
    if (!is_shared(pointer, CUTE_PTR)) {
        if (wanted)
            cute_pass_remark(s->pass, mlirOperationGetLocation(op),
                             "has no swizzle: expected a tensor in shared memory");
        return;
    }
    for (size_t i = 0; i < s->count; i++)
        if (mlirValueEqual(s->pointers[i], pointer)) return;
    if (cute_arena_more(s->arena, &s->pointers, s->count, &s->capacity, sizeof *s->pointers, 8))
        s->pointers[s->count++] = pointer;
}

/* A pointer, and the memory that tensors based on it reach. */
typedef struct region {
    MlirOperation op; /* defines the pointer */
    MlirLocation location;
    const cute_pointer *type;
    int64_t bytes;
} region;

/* Bytes that a tensor reaches, including the blocks that its own swizzle permutes; 0: unknown. */
static int64_t bytes_of_view(cute_arena *arena, MlirOperation view)
{
    const cute_value *tensor = cute_type_peek(mlirValueGetType(mlirOperationGetResult(view, 0)));
    cute_value size, layout = cute_value_of_layout(tensor->layout);
    if (tensor->type != CUTE_MEMREF || tensor->inner.shape || !cute_value_is_static(&layout) ||
        (tensor->tree && (tensor->tree->kind != CUTE_TREE_INT || !tensor->tree->value.known ||
                          tensor->tree->value.value < 0)) ||
        cute_apply(arena, NULL, CUTE_OP_COSIZE, &layout, 1, NULL, &size, NULL) ||
        size.tree->kind != CUTE_TREE_INT || !size.tree->value.known)
        return 0;
    int64_t count = size.tree->value.value, unit = 1;
    if (tensor->tree) {
        if (!cute_add64(count, tensor->tree->value.value, &count)) return 0;
        unit = (int64_t)1 << (tensor->swizzle.bits + tensor->swizzle.base);
    }
    if (!cute_add64(count, unit - 1, &count)) return 0;
    count = count / unit * unit;
    return cute_mul64(count, tensor->pointer->bits, &count) && count < INT64_MAX - 8 ? (count + 7) / 8 : 0;
}

/* Byte offset of a cute.add_offset. */
static bool offset_of(MlirOperation op, int64_t *out)
{
    const cute_value *pointer = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(op, 0))),
                     *by = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(op, 1)));
    if (pointer->type != CUTE_PTR || by->tree->kind != CUTE_TREE_INT || !by->tree->value.known ||
        !cute_mul64(by->tree->value.value, pointer->pointer->bits, out))
        return false;
    *out /= 8;
    return true;
}

/* Other users of a region's memory. */
typedef struct sharing {
    cute_arena *arena;
    MlirValue pointer; /* of the region */
    int64_t from, to;  /* byte offsets of the region from its root */
    MlirOperation found;
} sharing;

enum { MOST_DEPTH = 100 };

static bool is_shared_with(sharing *s, MlirValue pointer, int64_t at, int depth)
{
    for (MlirOpOperand use = mlirValueGetFirstUse(pointer);
         !mlirOpOperandIsNull(use) && mlirOperationIsNull(s->found); use = mlirOpOperandGetNextUse(use)) {
        MlirOperation user = mlirOpOperandGetOwner(use);
        int64_t by = 0, next;
        bool moved = cute_op_is(user, "cute.add_offset");
        if (cute_op_is(user, "cute.make_view")) {
            int64_t bytes = bytes_of_view(s->arena, user);
            bool apart = at >= s->to || (bytes && at <= s->from && bytes <= s->from - at);
            if (!mlirValueEqual(pointer, s->pointer) && !apart) s->found = user;
        } else if ((!moved && !cute_op_is(user, "cute.recast_iter")) || (moved && !offset_of(user, &by)) ||
                   !cute_add64(at, by, &next) || depth == MOST_DEPTH) {
            s->found = user;
        } else {
            is_shared_with(s, mlirOperationGetResult(user, 0), next, depth + 1);
        }
    }
    return !mlirOperationIsNull(s->found);
}

/* Dynamic shared memory is one variable, however many operations return it. */
static void find_others(MlirOperation op, void *context)
{
    sharing *s = context;
    if (mlirOperationIsNull(s->found)) is_shared_with(s, mlirOperationGetResult(op, 0), 0, 0);
}

static MlirOperation enclosing_function(MlirOperation op);

/* Reason why other users of the memory would not see the region's swizzle, or NULL. */
static const char *shared_by(cute_arena *arena, const region *r)
{
    static const char dynamic[] = "cute_nvgpu.arch.get_dyn_smem";
    sharing s = {.arena = arena, .pointer = mlirOperationGetResult(r->op, 0)};
    MlirOperation root = r->op;
    for (int64_t by; cute_op_is(root, "cute.recast_iter") || cute_op_is(root, "cute.add_offset");
         root = cute_defining_op(mlirOperationGetOperand(root, 0))) {
        by = 0;
        if ((cute_op_is(root, "cute.add_offset") && !offset_of(root, &by)) ||
            !cute_add64(s.from, by, &s.from))
            return "the offset of its pointer is unknown";
        if (mlirOperationIsNull(cute_defining_op(mlirOperationGetOperand(root, 0))))
            return "its memory is an argument";
    }
    if (!cute_add64(s.from, r->bytes, &s.to)) return "the offset of its pointer is unknown";
    MlirOperation function = enclosing_function(root);
    if (cute_op_is(root, dynamic) && !mlirOperationIsNull(function))
        cute_op_each(function, dynamic, find_others, &s);
    else
        is_shared_with(&s, mlirOperationGetResult(root, 0), 0, 0);
    if (mlirOperationIsNull(s.found)) return NULL;
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(s.found)), file;
    unsigned line = 0, column;
    cute_location_place(mlirOperationGetLocation(s.found), &file, &line, &column);
    return cute_arena_printf(arena, "'%.*s' at line %u may use the same memory", (int)name.length, name.data,
                             line);
}

/* Reason why the pointer cannot be swizzled, or NULL. */
static const char *region_of(swizzling *s, MlirValue pointer, region *out)
{
    *out =
        (region){.op = cute_defining_op(pointer), .type = cute_type_peek(mlirValueGetType(pointer))->pointer};
    out->location = cute_argument_location(pointer);
    for (MlirOpOperand use = mlirValueGetFirstUse(pointer); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use))
        if (cute_op_has(mlirOpOperandGetOwner(use), asked))
            out->location = mlirOperationGetLocation(mlirOpOperandGetOwner(use));
    if (mlirOperationIsNull(out->op)) return "its memory is an argument";
    if (out->type->swizzle.bits && !s->replace) return "it has one";
    if (out->type->bits < 8) return "its elements are smaller than a byte";
    for (MlirOpOperand use = mlirValueGetFirstUse(pointer); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
        MlirOperation user = mlirOpOperandGetOwner(use);
        if (!cute_op_is(user, "cute.make_view")) continue;
        int64_t bytes = bytes_of_view(s->arena, user);
        if (!bytes || cute_type_peek(mlirValueGetType(mlirOperationGetResult(user, 0)))->tree)
            return "its layout is unknown, or composed";
        if (bytes > out->bytes) out->bytes = bytes;
    }
    return shared_by(s->arena, out);
}

/* ---- accesses ---- */

static void find_marked_op(MlirOperation op, void *context)
{
    if (cute_op_has(op, marked)) *(MlirOperation *)context = op;
}

/* The function that contains an operation. */
static MlirOperation enclosing_function(MlirOperation op)
{
    static const char *const names[] = {"gpu.func", "func.func", "llvm.func", "cuda.kernel"};
    for (; !mlirOperationIsNull(op); op = mlirOperationGetParentOperation(op))
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (cute_op_is(op, names[i])) return op;
    return op;
}

typedef struct found {
    cute_requests requests;  /* of all accesses */
    MlirLocation *locations; /* of each access */
    int64_t together;        /* bytes of the widest access */
} found;

/* The accesses based on `root`. */
static cute_status select_accesses(cute_arena *arena, const cute_accesses *all, const void *root, found *out)
{
    size_t most = 0;
    for (size_t i = 0; i < all->count; i++) most += all->items[i].count;
    *out = (found){.together = 1,
                   .requests.items = cute_arena_array(arena, most + 1, sizeof *out->requests.items),
                   .locations = cute_arena_array(arena, most + 1, sizeof *out->locations)};
    if (!out->requests.items || !out->locations) return CUTE_SYSTEM;
    for (size_t i = 0; i < all->count; i++) {
        const cute_access *a = &all->items[i];
        if (!a->known || a->root != root) continue;
        if (a->bytes > out->together) out->together = a->bytes;
        for (uint32_t w = 0; w < a->count; w++) {
            if (!a->requests[w].count) continue;
            out->locations[out->requests.count] = a->location;
            out->requests.items[out->requests.count++] = a->requests[w];
        }
    }
    return CUTE_OK;
}

/* ---- the change ---- */

/* Rebases views of `from` on `to`. */
static void redirect_views(MlirValue from, MlirValue to)
{
    for (MlirOpOperand use = mlirValueGetFirstUse(from), next; !mlirOpOperandIsNull(use); use = next) {
        next = mlirOpOperandGetNextUse(use);
        MlirOperation user = mlirOpOperandGetOwner(use);
        if (cute_op_is(user, "cute.make_view")) mlirOperationSetOperand(user, 0, to);
    }
}

/* Inserts the swizzle between a pointer and its tensors. False, with `stuck`, as for cute_retype. */
static bool apply_swizzle(MlirOperation op, cute_swizzle swizzle, cute_arena *arena, MlirOperation *stuck)
{
    MlirValue pointer = mlirOperationGetResult(op, 0);
    cute_value type = *cute_type_peek(mlirValueGetType(pointer));
    cute_pointer swizzled = *type.pointer;
    swizzled.swizzle = swizzle;
    type.pointer = &swizzled;
    cute_builder b = cute_builder_before(op);
    MlirType new = cute_type_of_value(b.context, arena, &type), old = mlirValueGetType(pointer);
    MlirOperation cast =
        cute_build(&b, "cute.recast_iter", CUTE_OPERANDS(pointer), CUTE_TYPES(old), CUTE_NO_NAMED);
    *stuck = op;
    if (mlirTypeIsNull(new) || mlirOperationIsNull(cast)) return false;
    mlirOperationMoveAfter(cast, op);
    MlirValue result = mlirOperationGetResult(cast, 0);
    redirect_views(pointer, result);
    return cute_retype(result, new, stuck);
}

/* Makes the pointer a root of its own for lib/passes/values. */
static MlirOperation make_root(MlirOperation op)
{
    MlirValue pointer = mlirOperationGetResult(op, 0);
    cute_builder b = cute_builder_before(op);
    MlirNamedAttribute root = cute_attribute(b.context, marked, mlirUnitAttrGet(b.context));
    MlirOperation cast = cute_build(&b, "builtin.unrealized_conversion_cast", CUTE_OPERANDS(pointer),
                                    CUTE_TYPES(mlirValueGetType(pointer)), CUTE_NAMED(root));
    mlirOperationMoveAfter(cast, op);
    redirect_views(pointer, mlirOperationGetResult(cast, 0));
    return cast;
}

/* Parameters and result of a trial lowering. */
typedef struct trial {
    cute_arena *arena;
    bool change;          /* apply `swizzle`; otherwise measure the kernel unchanged */
    cute_swizzle swizzle; /* bits 0: no swizzle */
    char reason[160];
} trial;

static bool prepare_trial(MlirOperation clone, void *context)
{
    trial *t = context;
    MlirOperation op = {NULL}, stuck = {NULL};
    cute_op_walk(clone, NULL, CUTE_WALK_OUTER_FIRST, find_marked_op, &op);
    if (mlirOperationIsNull(op)) return false;
    mlirOperationRemoveDiscardableAttributeByName(op, cute_text(marked));
    op = make_root(op);
    if (t->change && !apply_swizzle(op, t->swizzle, t->arena, &stuck)) {
        MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(stuck)), file;
        unsigned line = 0, column = 0;
        cute_location_place(mlirOperationGetLocation(stuck), &file, &line, &column);
        snprintf(t->reason, sizeof t->reason, "'%.*s' at line %u is incompatible with it", (int)name.length,
                 name.data, line);
        return false;
    }
    return true;
}

/* The accesses to the region, with a swizzle on its pointer. */
static bool find_accesses(swizzling *s, const region *r, trial *t, found *out)
{
    cute_accesses all = {0};
    MlirAttribute unit = mlirUnitAttrGet(mlirOperationGetContext(s->root));
    mlirOperationSetDiscardableAttributeByName(r->op, cute_text(marked), unit);
    MlirOperation clone = cute_lowered_clone(s->pass, s->root, prepare_trial, t);
    mlirOperationRemoveDiscardableAttributeByName(r->op, cute_text(marked));
    if (mlirOperationIsNull(clone)) {
        if (!*t->reason) snprintf(t->reason, sizeof t->reason, "the kernel cannot be lowered with it");
        return false;
    }
    MlirOperation root = {NULL};
    cute_op_walk(clone, NULL, CUTE_WALK_OUTER_FIRST, find_marked_op, &root);
    bool ok = !mlirOperationIsNull(root) &&
              cute_accesses_of(s->arena, enclosing_function(root), &all) == CUTE_OK &&
              select_accesses(s->arena, &all, root.ptr, out) == CUTE_OK;
    if (!ok) snprintf(t->reason, sizeof t->reason, "its accesses are unknown");
    mlirOperationDestroy(clone);
    return ok;
}

/* ---- remarks ---- */

/* Ratio of the wavefronts of the worst request at a location to the minimum possible. */
static uint64_t ways_at(const found *f, MlirLocation location)
{
    uint64_t most = 0;
    for (size_t i = 0; i < f->requests.count; i++) {
        if (!mlirLocationEqual(f->locations[i], location)) continue;
        cute_traffic t = {0};
        cute_traffic_add_wavefronts(&f->requests.items[i], &t);
        if (t.ideal && t.count / t.ideal > most) most = t.count / t.ideal;
    }
    return most;
}

static void put_ways(cute_buffer *text, uint64_t ways)
{
    if (ways > 1)
        cute_buffer_printf(text, "%llu-way", (unsigned long long)ways);
    else
        cute_buffer_puts(text, "none");
}

/* Appends "; the 8-way conflict at line 41 becomes none". `after`: NULL to list only the present
 * conflicts. */
static void put_conflicts(cute_buffer *text, const found *before, const found *after)
{
    enum { MOST = 4 };
    int said = 0;
    for (size_t i = 0; i < before->requests.count && said < MOST; i++) {
        bool again = false;
        for (size_t k = 0; k < i; k++)
            again = again || mlirLocationEqual(before->locations[k], before->locations[i]);
        uint64_t ways = again ? 0 : ways_at(before, before->locations[i]);
        MlirStringRef file;
        unsigned line, column;
        if (ways < 2 || (after && ways_at(after, before->locations[i]) == ways) ||
            !cute_location_place(before->locations[i], &file, &line, &column))
            continue;
        cute_buffer_printf(text, "%s %llu-way conflict at line %u", said++ ? "," : "; the",
                           (unsigned long long)ways, line);
        if (!after) continue;
        cute_buffer_puts(text, " becomes ");
        put_ways(text, ways_at(after, before->locations[i]));
    }
}

/* ---- one region ---- */

static int64_t low_bit(int64_t x)
{
    return x & -x;
}

static const cute_swizzle none = {0};

static void put_swizzle(cute_buffer *text, cute_swizzle swizzle)
{
    if (swizzle.bits)
        cute_buffer_printf(text, "S<%d,%d,%d>", swizzle.bits, swizzle.base, swizzle.shift);
    else
        cute_buffer_puts(text, "no swizzle");
}

static uint64_t count_wavefronts(const found *f)
{
    return cute_requests_wavefronts(&f->requests, none).count;
}

/* Blocks that a swizzle may permute within. */
static int64_t region_block(const region *r)
{
    int64_t block = low_bit(r->bytes);
    return block < r->type->align ? block : r->type->align;
}

/* The accesses with the best swizzle, which is returned in t->swizzle; `plain`: those without a swizzle. */
static bool find_best(swizzling *s, const region *r, trial *t, const found *plain, found *out)
{
    t->swizzle = cute_requests_swizzle(&plain->requests, plain->together, region_block(r));
    t->change = true;
    if (t->swizzle.bits) return find_accesses(s, r, t, out);
    *out = *plain;
    return true;
}

static void swizzle_region(swizzling *s, const region *r)
{
    found before, plain, after;
    trial t = {.arena = s->arena};
    cute_swizzle has = r->type->swizzle;
    if (!find_accesses(s, r, &t, &before)) {
        cute_pass_remark(s->pass, r->location, "has no swizzle: %s", t.reason);
        return;
    }
    cute_traffic had = cute_requests_wavefronts(&before.requests, none);
    if (had.count == had.ideal) {
        cute_pass_remark(s->pass, r->location,
                         "needs no %sswizzle: the %llu requests of the first warps with known addresses have "
                         "no bank conflicts",
                         has.bits ? "other " : "", (unsigned long long)had.requests);
        return;
    }
    cute_buffer text = {0}, name = {0};
    MlirOperation stuck;
    bool ok = true;
    if (has.bits) {
        t.change = true;
        ok = find_accesses(s, r, &t, &plain);
    } else {
        plain = before;
    }
    ok = ok && find_best(s, r, &t, &plain, &after);
    put_swizzle(&name, ok ? t.swizzle : has);
    if (!ok) {
        cute_pass_remark(s->pass, r->location, has.bits ? "keeps %s: %s" : "has %s: %s",
                         cute_buffer_text(&name), t.reason);
    } else if (t.swizzle.bits == has.bits && t.swizzle.base == has.base && t.swizzle.shift == has.shift) {
        put_conflicts(&text, &before, NULL);
        cute_pass_remark(s->pass, r->location,
                         has.bits ? "keeps %s: no swizzle within blocks of %lld bytes is better%s"
                                  : "has %s: no swizzle within blocks of %lld bytes helps%s",
                         cute_buffer_text(&name), (long long)region_block(r), cute_buffer_text(&text));
    } else if (after.requests.count != before.requests.count || count_wavefronts(&after) >= had.count) {
        cute_pass_remark(s->pass, r->location, "%s: %s would not make its accesses cheaper",
                         has.bits ? "keeps its swizzle" : "has no swizzle", cute_buffer_text(&name));
    } else {
        put_conflicts(&text, &before, &after);
        s->changed = true;
        if (!apply_swizzle(r->op, t.swizzle, s->arena, &stuck)) cute_pass_fail(s->pass);
        cute_pass_remark(
            s->pass, r->location, "%s on its addresses%s: %llu wavefronts of the first warps become %llu%s",
            cute_buffer_text(&name), has.bits ? " instead of its own" : "", (unsigned long long)had.count,
            (unsigned long long)count_wavefronts(&after), cute_buffer_text(&text));
    }
    cute_buffer_release(&text);
    cute_buffer_release(&name);
}

static void remove_mark(MlirOperation op, void *context)
{
    (void)context;
    mlirOperationRemoveDiscardableAttributeByName(op, cute_text(asked));
}

static void swizzle_tensors(MlirOperation root, cute_pass_run *pass, bool all, bool replace)
{
    swizzling s = {.pass = pass, .root = root, .arena = cute_arena_create(), .all = all, .replace = replace};
    if (s.arena) cute_op_each(root, "cute.memref.alloca", take_apart, &s);
    if (s.arena) cute_op_each(root, "cute.make_view", collect_pointer, &s);
    for (size_t i = 0; i < s.count; i++) {
        region r;
        const char *why = region_of(&s, s.pointers[i], &r);
        if (why)
            cute_pass_remark(pass, r.location, "has no %sswizzle: %s", r.type->swizzle.bits ? "other " : "",
                             why);
        else
            swizzle_region(&s, &r);
    }
    if (s.count) cute_op_each(root, "cute.make_view", remove_mark, NULL);
    if (!s.count) cute_pass_unchanged(pass);
    cute_arena_destroy(s.arena);
}

static void run_smem_swizzling(MlirOperation root, cute_pass_run *pass)
{
    swizzle_tensors(root, pass, cute_pass_int(pass, 0), false);
}

static void run_optimization(MlirOperation root, cute_pass_run *pass)
{
    swizzle_tensors(root, pass, true, true);
}

const cute_pass cute_pass_smem_swizzling = {
    .name = "cute-smem-swizzling",
    .help = "Swizzle tensors in shared memory that request it, to minimise bank conflicts",
    .anchor = "builtin.module",
    .options = options,
    .option_count = 1,
    .dialects = CUTE_LOWERED_DIALECTS,
    .run = run_smem_swizzling,
};

const cute_pass cute_pass_swizzle_optimization = {
    .name = "cute-swizzle-optimization",
    .help = "Swizzle all tensors in shared memory, including swizzled ones, to minimise bank conflicts",
    .anchor = "builtin.module",
    .dialects = CUTE_LOWERED_DIALECTS,
    .run = run_optimization,
};
