/* cute-atom-validation: proves that atoms are compatible with their tilings and tensors.
 *
 * Requires: verified IR. Ensures: each tiled copy and MMA covers its tile, and writes each element in memory
 * once; copies and MMAs have the element types, memory spaces, alignment and extents that their instructions
 * need, and predicates where tiles exceed their tensors; `arch` (default: the targets of the gpu.module) has
 * the instructions. Changes nothing.
 *
 *     %t = cute.make_tiled_copy(%a) : (!cute_nvgpu.atom.universal_copy<f16>) -> !cute.tiled_copy<
 *         !cute_nvgpu.atom.universal_copy<f16>, layout_copy_tv = <"(32,2):(2,1)">, tiler_mn = <"[128:1]">>
 * ->
 *     error: 'cute.make_tiled_copy' op element (64,0) of its tile of 128 x 1 is in no thread
 */

#include "lib/atoms/validate.h"
#include "lib/base/list.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/check.h"
#include "lib/passes/checks/async.h"
#include "lib/passes/devices/target.h"
#include "lib/passes/passes.h"

typedef struct validation {
    const cute_arch *arch;
    cute_pass_run *pass;
    cute_arena *arena; /* for the whole run */
    MlirType *known;   /* tilings proved so far */
    size_t known_count, known_capacity;
    size_t proved;
} validation;

/* Reports "'cute.copy' op PREFIX: WHAT". */
static void fail_op(validation *v, MlirOperation op, const char *prefix, const char *what)
{
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    cute_buffer text = {0};
    cute_buffer_printf(&text, "'%.*s' op %s%s%s", (int)name.length, name.data, prefix, *prefix ? ": " : "",
                       what ? what : "out of memory");
    cute_emit_error(mlirOperationGetLocation(op), cute_buffer_text(&text));
    cute_buffer_release(&text);
    cute_pass_fail(v->pass);
}

/* ---- tilings ---- */

/* Errors for every use: an element that is missing, out of range, or twice in one thread. */
static bool is_broken_cover(const cute_cover *cover)
{
    return cover->kind == CUTE_COVER_OUTSIDE || cover->kind == CUTE_COVER_NEVER ||
           cover->kind == CUTE_COVER_TWICE;
}

static void prove_copy(validation *v, MlirOperation op, cute_arena *arena, const cute_value *copy,
                       cute_diag *diag)
{
    static const char *const formats[2] = {"reads wrong elements", "writes wrong elements"};
    for (int i = CUTE_ATOM_SOURCE; i <= CUTE_ATOM_DESTINATION; i++) {
        cute_cover cover;
        if (cute_tiling_cover(arena, copy, i, &cover, diag) != CUTE_OK) {
            fail_op(v, op, "", cute_diag_get(diag, 0)->text);
            return;
        }
        if (!is_broken_cover(&cover)) continue;
        fail_op(v, op, formats[i], cute_cover_text(arena, &cover));
        return;
    }
    v->proved++;
}

static void prove_mma(validation *v, MlirOperation op, cute_arena *arena, const cute_value *mma,
                      cute_diag *diag)
{
    static const char *const formats[3] = {"has wrong elements of A", "has wrong elements of B",
                                           "has wrong elements of C"};
    int64_t x[3], y[3];
    if (cute_mma_overlap(mma, x, y)) {
        const char *what = cute_arena_printf(arena, "(%lld,%lld,%lld) and (%lld,%lld,%lld)", (long long)x[0],
                                             (long long)x[1], (long long)x[2], (long long)y[0],
                                             (long long)y[1], (long long)y[2]);
        fail_op(v, op, "assigns two atoms of its layout the same threads", what);
        return;
    }
    /* Threads along K have separate partial sums of each element of C. */
    bool sums = mma->layout.shape->count == 3 && mma->layout.shape->items[2]->kind == CUTE_TREE_INT &&
                mma->layout.shape->items[2]->value.value == 1;
    for (int i = CUTE_ATOM_A; i <= CUTE_ATOM_C; i++) {
        cute_cover cover;
        if (cute_tiling_cover(arena, mma, i, &cover, diag) != CUTE_OK) {
            fail_op(v, op, "", cute_diag_get(diag, 0)->text);
            return;
        }
        bool doubled = i == CUTE_ATOM_C && sums && cover.kind == CUTE_COVER_SHARED;
        if (!is_broken_cover(&cover) && !doubled) continue;
        fail_op(v, op, formats[i], cute_cover_text(arena, &cover));
        return;
    }
    v->proved++;
}

/* ---- architecture ---- */

static bool only_target(const char *chip, const cute_arch *arch, void *context)
{
    (void)chip;
    const cute_arch **lowest = context;
    if (arch && (!*lowest || arch->number < (*lowest)->number)) *lowest = arch;
    return true;
}

/* The lowest target of the enclosing gpu.module; NULL outside of one. */
static const cute_arch *arch_of(MlirOperation op)
{
    const cute_arch *lowest = NULL;
    for (; !mlirOperationIsNull(op); op = mlirOperationGetParentOperation(op))
        if (cute_op_is(op, "gpu.module")) {
            cute_targets_each(op, only_target, &lowest);
            break;
        }
    return lowest;
}

static void prove_arch(validation *v, MlirOperation op, const cute_atom *atom)
{
    const cute_arch *arch = v->arch ? v->arch : arch_of(op);
    if (!arch || !atom->known) return;
    /* wgmma exists on sm_90a only. */
    bool has = atom->wgmma ? atom->arch == arch->number && arch->variant == 'a' : atom->arch <= arch->number;
    if (has) return;
    cute_buffer text = {0};
    cute_buffer_printf(&text, "'%s' needs sm_%d%s, the architecture is %s", atom->text, atom->arch,
                       atom->wgmma ? "a" : "", arch->name);
    fail_op(v, op, "", cute_buffer_text(&text));
    cute_buffer_release(&text);
}

/* Checks the type of a tiling or an atom when it is first used. */
static void validate_type(validation *v, MlirOperation op, MlirType type)
{
    cute_type kind;
    cute_value value;
    if (!cute_type_is(type, &kind) || kind < CUTE_ATOM) return;
    for (size_t i = 0; i < v->known_count; i++)
        if (mlirTypeEqual(v->known[i], type)) return;
    if (!cute_arena_more(v->arena, &v->known, v->known_count, &v->known_capacity, sizeof *v->known, 16))
        return;
    v->known[v->known_count++] = type;
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    if (arena && diag && cute_type_value(type, &value, diag) == CUTE_OK) {
        prove_arch(v, op, value.atom);
        if (kind == CUTE_TILED_COPY) prove_copy(v, op, arena, &value, diag);
        if (kind == CUTE_TILED_MMA) prove_mma(v, op, arena, &value, diag);
    }
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
}

/* ---- uses ---- */

static bool operand_value(MlirOperation op, intptr_t i, cute_value *out)
{
    return i < mlirOperationGetNumOperands(op) &&
           cute_type_is(mlirValueGetType(mlirOperationGetOperand(op, i)), NULL) &&
           cute_type_value(mlirValueGetType(mlirOperationGetOperand(op, i)), out, NULL) == CUTE_OK;
}

/* Several threads must not write an element; they may read it. */
static void check_partition(validation *v, MlirOperation op, cute_arena *arena, cute_diag *diag)
{
    cute_value copy, tensor;
    cute_cover cover;
    if (!operand_value(op, 0, &copy) || !operand_value(op, 1, &tensor) || tensor.type != CUTE_MEMREF ||
        tensor.pointer->space == CUTE_SPACE_RMEM ||
        cute_tiling_cover(arena, &copy, CUTE_ATOM_REFERENCE, &cover, diag) != CUTE_OK ||
        cover.kind != CUTE_COVER_SHARED)
        return;
    fail_op(v, op, "writes an element of memory twice", cute_cover_text(arena, &cover));
}

/* The first mode counted by `stride` (basis vectors) whose bound is not known to be a multiple of `count`;
 * -1: none. */
static int uneven_mode(const cute_tree *stride, const cute_tree *bounds, int64_t count)
{
    if (stride->kind == CUTE_TREE_TUPLE) {
        int mode = -1;
        for (uint32_t i = 0; i < stride->count && mode < 0; i++)
            mode = uneven_mode(stride->items[i], bounds, count);
        return mode;
    }
    if (stride->kind != CUTE_TREE_BASIS) return -1;
    const cute_tree *leaf = bounds;
    int mode = stride->count ? stride->path[0] : 0;
    for (uint32_t i = 0; i < stride->count; i++) {
        if (leaf->kind != CUTE_TREE_TUPLE || (uint32_t)stride->path[i] >= leaf->count) return mode;
        leaf = leaf->items[stride->path[i]];
    }
    if (leaf->kind != CUTE_TREE_INT) return mode;
    int64_t divisor = leaf->value.known ? leaf->value.value : leaf->value.divisor;
    return divisor && divisor % count == 0 ? -1 : mode;
}

/* Warns where one predicate guards several values that may straddle the bound. */
static void warn_of_extent(MlirOperation op, cute_arena *arena, const cute_tree *bounds, int mode,
                           int64_t values, const cute_atom *atom)
{
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    const char *text = cute_arena_printf(
        arena,
        "'%.*s' op mode %d of the extents %s is not known to be a multiple of %lld, the values of '%s' "
        "guarded by one predicate: expected ?{div=%lld} in the tensor's type, or an atom of one value",
        (int)name.length, name.data, mode, cute_tree_text(arena, bounds), (long long)values, atom->text,
        (long long)values);
    if (text) cute_emit_warning(mlirOperationGetLocation(op), text);
}

/* cute.predicate gives the predicate of a copy's first value. An atom that moves fewer values would apply
 * it to later values, which may be out of bounds. */
static void check_predicate(validation *v, MlirOperation op, cute_arena *arena)
{
    if (mlirOperationGetNumOperands(op) < 4) return;
    MlirOperation made = cute_defining_op(mlirOperationGetOperand(op, 3));
    while (!mlirOperationIsNull(made) && cute_op_is(made, "cute.slice"))
        made = cute_defining_op(mlirOperationGetOperand(made, 0));
    cute_value copy, source, coords, bounds;
    if (mlirOperationIsNull(made) || !cute_op_is(made, "cute.predicate") || !operand_value(op, 0, &copy) ||
        !operand_value(op, 1, &source) || !operand_value(made, 0, &coords) ||
        !operand_value(made, 1, &bounds) || !copy.atom->known)
        return;
    const cute_tree *shape = coords.layout.shape->items[0], *stride = coords.layout.stride->items[0];
    if (shape->kind != CUTE_TREE_TUPLE || !shape->count) return;
    int64_t shared = cute_check_size(shape->items[0]), values = copy.atom->operand[CUTE_ATOM_SOURCE].values;
    int uneven = uneven_mode(stride->items[0], bounds.tree, shared);
    if (uneven < 0) return;
    if (shared <= values) {
        warn_of_extent(op, arena, bounds.tree, uneven, shared, copy.atom);
        return;
    }
    const char *what = cute_arena_printf(
        arena,
        "the predicate covers %lld values, but '%s' moves %lld: partition the coordinates by its tiled copy "
        "(for an MMA: cute.make_tiled_copy_C), or use bounds that are multiples of %lld",
        (long long)shared, copy.atom->text, (long long)values, (long long)shared);
    fail_op(v, op, "", what);
}

static int64_t slot_extent(const cute_tree *slot)
{
    return cute_check_size(slot->kind == CUTE_TREE_LAYOUT ? slot->layout.shape : slot);
}

/* Tiles that do not divide the tensor's extents exceed it, which requires predicates. */
static void check_whole_tiles(validation *v, MlirOperation op, cute_arena *arena, intptr_t operand)
{
    static const char *const which[] = {"", "source", "destination"};
    MlirOperation made = cute_defining_op(mlirOperationGetOperand(op, operand));
    cute_value copy, tensor;
    if (mlirOperationIsNull(made) ||
        !(cute_op_is(made, "cute.tiled.copy.partition_S") ||
          cute_op_is(made, "cute.tiled.copy.partition_D")) ||
        !operand_value(made, 0, &copy) || !operand_value(made, 1, &tensor) || tensor.type != CUTE_MEMREF ||
        !copy.tree || copy.tree->kind != CUTE_TREE_TUPLE || tensor.layout.shape->kind != CUTE_TREE_TUPLE)
        return;
    for (uint32_t i = 0; i < copy.tree->count && i < tensor.layout.shape->count; i++) {
        int64_t tile = slot_extent(copy.tree->items[i]),
                extent = cute_check_size(tensor.layout.shape->items[i]);
        if (!tile || !extent || extent % tile == 0) continue;
        const char *what = cute_arena_printf(
            arena,
            "mode %u of the %s has extent %lld, which is not a multiple of the tile's %lld: the last tile is "
            "out of bounds; expected a predicate, or a tile that divides the extent",
            i, which[operand], (long long)extent, (long long)tile);
        fail_op(v, op, "", what);
        return;
    }
}

static void validate_op(MlirOperation op, void *context)
{
    validation *v = context;
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
        validate_type(v, op, mlirValueGetType(mlirOperationGetResult(op, i)));
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
        validate_type(v, op, mlirValueGetType(mlirOperationGetOperand(op, i)));
    bool partition = cute_op_is(op, "cute.tiled.copy.partition_D");
    if (!partition && !cute_op_is(op, "cute.copy")) return;
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    if (arena && diag && partition) check_partition(v, op, arena, diag);
    if (arena && !partition) check_predicate(v, op, arena);
    for (intptr_t i = 1; arena && !partition && i < 3 && mlirOperationGetNumOperands(op) < 4; i++)
        check_whole_tiles(v, op, arena, i);
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
}

/* ---- asynchronous kernels ---- */

static void check_asynchronous(validation *v, MlirOperation root)
{
    MlirStringRef given = cute_pass_text(v->pass, 1);
    char mode[16] = "on";
    if (given.length && !async_mode_known(given)) {
        cute_buffer text = {0};
        cute_buffer_printf(&text, "expected static-checks on, warn, strict or off, got '%.*s'",
                           (int)given.length, given.data);
        cute_emit_error(mlirOperationGetLocation(root), cute_buffer_text(&text));
        cute_buffer_release(&text);
        cute_pass_fail(v->pass);
        return;
    }
    if (given.length) {
        memcpy(mode, given.data, given.length);
        mode[given.length] = 0;
    }
    if (!async_check_kernels(v->pass, root, v->arch, mode)) cute_pass_fail(v->pass);
}

/* ---- the pass ---- */

static void run_atom_validation(MlirOperation root, cute_pass_run *pass)
{
    validation v = {.pass = pass, .arena = cute_arena_create()};
    if (v.arena && cute_pass_arch(pass, 0, root, &v.arch)) {
        cute_op_each(root, NULL, validate_op, &v);
        check_asynchronous(&v, root);
        if (v.proved)
            cute_pass_remark(pass, mlirOperationGetLocation(root), "%zu tilings cover their tiles", v.proved);
    }
    cute_arena_destroy(v.arena);
    cute_pass_unchanged(pass);
}

static const cute_pass_option options[] = {
    CUTE_ARCH_OPTION,
    {"static-checks", CUTE_PASS_TEXT,
     "Checks of asynchronous kernels: on, warn (no errors), strict (warnings are errors too) or off", 0,
     "on"},
};

const cute_pass cute_pass_atom_validation = {
    .name = "cute-atom-validation",
    .help = "Prove that tiled copies and MMAs cover their tiles, and check types, memory spaces, alignment "
            "and architecture",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_atom_validation,
};
