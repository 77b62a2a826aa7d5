/* cute-vectorization: widens copies as far as their tensors allow.
 *
 * Requires: verified IR. Ensures: a cute.copy by universal copies or cp.async whose elements are contiguous
 * in both tensors, at addresses known to be aligned to more bytes than the atom moves, uses the widest legal
 * atom. It copies the same elements to the same addresses. Other copies do not change.
 *
 *     cute.copy(%scalar, %g, %r) : (!cute_nvgpu.atom.universal_copy<f32>,
 *         !cute.memref<f32, gmem, align<16>, "(1,8):(0,1)">, !cute.memref<f32, rmem, "(1,8):(0,1)">) -> ()
 * ->
 *     %t = cute.static : !cute.layout<"((4,1),2):((1,0),4)">
 *     %h = cute.composition(%g, %t)
 *     %s = cute.composition(%r, %t)
 *     cute.copy(%vector, %h, %s) : (!cute_nvgpu.atom.universal_copy<f32, 128 b>,
 *         !cute.memref<f32, gmem, align<16>, "((4,1),2):((1,0),4)">, !cute.memref<f32, rmem, "((4,1),2):((1,0),4)">) -> ()
 */
#include "lib/atoms/access.h"
#include "lib/atoms/atoms.h"
#include "lib/base/diagnostics/diag.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"

enum { MOST_BITS = 128 };

typedef struct vectorization {
    cute_pass_run *pass;
    cute_diag *diag; /* empty between operations */
    bool changed;
} vectorization;

/* Instructions that exist in several widths. */
static bool has_widths(const cute_atom *atom)
{
    static const char *const mnemonics[] = {"atom.universal_copy", "atom.simt_async_copy"};
    for (size_t i = 0; atom && atom->known && i < sizeof mnemonics / sizeof *mnemonics; i++)
        if (!strcmp(atom->mnemonic, mnemonics[i])) return true;
    return false;
}

/* A tensor composed with a known layout. */
static MlirValue compose_tensor(const cute_builder *b, cute_arena *arena, MlirValue tensor, cute_layout tile)
{
    cute_value value = cute_value_of_layout(tile);
    MlirType type = cute_type_of_value(b->context, arena, &value);
    MlirValue layout = cute_build_value(b, "cute.static", type, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    MlirOperation op =
        cute_build_inferred(b, "cute.composition", CUTE_OPERANDS(tensor, layout), CUTE_NO_NAMED);
    return mlirOperationIsNull(op) ? (MlirValue){NULL} : mlirOperationGetResult(op, 0);
}

/* Builds source, destination and predicate of the widened copy; false if an operation cannot be built. */
static bool replace_copy(MlirOperation op, cute_arena *arena, const cute_atom *atom,
                         const cute_widest *widest)
{
    cute_builder b = cute_builder_before(op);
    cute_value value = {.type = CUTE_ATOM, .atom = atom};
    MlirType type = cute_type_of_value(b.context, arena, &value);
    intptr_t count = mlirOperationGetNumOperands(op);
    MlirValue operands[4];
    if (mlirTypeIsNull(type)) return false;
    operands[0] = cute_build_value(&b, "cute.make_atom", type, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    for (intptr_t i = 1; i < count; i++) {
        operands[i] = compose_tensor(&b, arena, mlirOperationGetOperand(op, i),
                                     i == 3 ? widest->predicate_tile : widest->tile);
        if (mlirValueIsNull(operands[i])) return false;
    }
    MlirAttribute fill = mlirOperationGetInherentAttributeByName(op, cute_text("zero_fill"));
    MlirOperation made = cute_build(
        &b, "cute.copy", (cute_operands){operands, count}, CUTE_NO_TYPES,
        mlirAttributeIsNull(fill) ? CUTE_NO_NAMED : CUTE_NAMED(cute_attribute(b.context, "zero_fill", fill)));
    if (mlirOperationIsNull(made)) return false;
    for (intptr_t i = 0; i < mlirOperationGetNumDiscardableAttributes(op); i++) {
        MlirNamedAttribute a = mlirOperationGetDiscardableAttribute(op, i);
        mlirOperationSetDiscardableAttributeByName(made, mlirIdentifierStr(a.name), a.attribute);
    }
    mlirOperationDestroy(op);
    return true;
}

/* Checks that the tensors can be composed, before creating operations that would report an error. */
static cute_status check_composition(cute_arena *arena, const cute_value *operands, intptr_t count,
                                     const cute_widest *widest, cute_diag *diag)
{
    for (intptr_t i = 1; i < count; i++) {
        cute_value pair[] = {operands[i],
                             cute_value_of_layout(i == 3 ? widest->predicate_tile : widest->tile)};
        cute_value out;
        CUTE_TRY(cute_apply(arena, NULL, CUTE_OP_COMPOSITION, pair, 2, NULL, &out, diag));
    }
    return CUTE_OK;
}

static cute_status widen_copy(vectorization *v, cute_arena *arena, MlirOperation op)
{
    cute_value operands[4];
    intptr_t count = mlirOperationGetNumOperands(op);
    if (count < 3 || count > 4) return CUTE_OK;
    for (intptr_t i = 0; i < count; i++) {
        MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
        if (!cute_type_is(type, NULL)) return CUTE_OK;
        CUTE_TRY(cute_type_value(type, &operands[i], v->diag));
    }
    const cute_atom *atom = operands[0].atom, *wide;
    if (!has_widths(atom) || operands[1].type != CUTE_MEMREF || operands[2].type != CUTE_MEMREF)
        return CUTE_OK;
    int64_t bits = operands[1].pointer->bits;
    if (bits < 1 || atom->bits % bits) return CUTE_OK;
    if (atom->bits >= MOST_BITS) return CUTE_OK;
    cute_widest widest;
    CUTE_TRY(cute_copy_widest(arena, &operands[1], &operands[2], count == 4 ? &operands[3] : NULL,
                              atom->bits / bits, MOST_BITS, &widest, v->diag));
    int64_t most = widest.elements * bits;
    MlirLocation location = mlirOperationGetLocation(op);
    if (most > atom->bits) {
        CUTE_TRY(cute_atom_of_bits(arena, atom, most, &wide, v->diag));
        CUTE_TRY(check_composition(arena, operands, count, &widest, v->diag));
        if (!replace_copy(op, arena, wide, &widest))
            return cute_fail(v->diag, CUTE_INVALID, NULL, "its tensors cannot be divided by %lld elements",
                             (long long)widest.elements);
        v->changed = true;
        cute_pass_remark(v->pass, location, "copies %lld bits at once instead of %d%s%s", (long long)most,
                         atom->bits, widest.limit ? "; limited because " : "",
                         widest.limit ? widest.limit : "");
    } else {
        cute_pass_remark(v->pass, location, "copies %d bits at once: %s", atom->bits,
                         widest.limit ? widest.limit : "its instruction is not wider");
    }
    return CUTE_OK;
}

static void vectorize_copy(MlirOperation op, void *context)
{
    vectorization *v = context;
    cute_arena *arena = cute_arena_create();
    MlirLocation location = mlirOperationGetLocation(op);
    if (arena && widen_copy(v, arena, op) != CUTE_OK) {
        /* The copy is unchanged. */
        cute_pass_remark(v->pass, location, "is not considered: %s",
                         cute_diag_count(v->diag) ? cute_diag_get(v->diag, 0)->text : "out of memory");
        cute_diag_clear(v->diag);
    }
    cute_arena_destroy(arena);
}

static void run_vectorization(MlirOperation root, cute_pass_run *pass)
{
    vectorization v = {.pass = pass, .diag = cute_diag_create()};
    cute_op_each(root, "cute.copy", vectorize_copy, &v);
    cute_diag_destroy(v.diag);
    if (!v.changed) cute_pass_unchanged(pass);
}

const cute_pass cute_pass_vectorization = {
    .name = "cute-vectorization",
    .help = "Widen copies as far as layouts, alignments and predicates allow",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_CUTE_NVGPU,
    .run = run_vectorization,
};
