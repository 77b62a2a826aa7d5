/* Atoms, tiled copies and MMAs, and their partitions, computed by lib/atoms. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "lib/atoms/smem_matrix.h"
#include "lib/atoms/validate.h"
#include "lib/ir/dialects/fields.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/emitter.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/check.h"

/* Whether the partition of an operand depends on the thread. */
static bool operand_varies_by_thread(const cute_value *mma, int which)
{
    static const uint32_t modes[2][2] = {{0, 2}, {1, 2}};
    for (int i = 0; i < 2; i++)
        if (cute_check_size(cute_check_mode(mma->layout.shape, modes[which][i])) != 1) return true;
    return false;
}

/* Creates the descriptor view of a partition in shared memory: the descriptor of its first matrix, and the
 * layout in units of 16 bytes. */
static cute_status describe_partition(const cute_expansion *x, MlirOperation op)
{
    enum { UNIT = 4, ADDRESS_BITS = 0x3fff }; /* 16 bytes as a shift; 14 bits */
    cute_value mma, tensor;
    cute_smem_matrix matrix;
    MlirAttribute id = mlirOperationGetAttributeByName(op, cute_text("operand_id"));
    int which = (int)mlirIntegerAttrGetValueInt(id);
    CUTE_TRY(cute_type_value(mlirValueGetType(mlirOperationGetOperand(op, 0)), &mma, x->diag));
    CUTE_TRY(cute_value_bind(x, op, mlirOperationGetOperand(op, 1), &tensor));
    CUTE_TRY(cute_smem_matrix_of(x->arena, &tensor, mma.atom->mn_major[which], mma.atom->shape[which],
                                 mma.atom->shape[2], &matrix, x->diag));
    cute_builder b = cute_builder_before(op);
    MlirType i32 = mlirIntegerTypeGet(b.context, 32);
    MlirValue address = cute_unary(&b, "cute.ptrtoint", (MlirValue){tensor.pointer->handle}, i32);
    if (tensor.tree) { /* the offset of a composed layout, in elements */
        cute_int offset = tensor.tree->value,
                 factor = {.known = true, .width = 32, .value = tensor.pointer->bits}, eight = factor;
        eight.value = 8;
        cute_arith arith = cute_emitter_start(x->emitter, &b);
        CUTE_TRY(cute_int_apply(&arith, CUTE_MUL, offset, factor, &offset, x->diag));
        CUTE_TRY(cute_int_apply(&arith, CUTE_DIV, offset, eight, &offset, x->diag));
        MlirValue bytes = offset.known ? cute_integer(&b, i32, offset.value) : (MlirValue){offset.handle};
        if (!mlirTypeEqual(mlirValueGetType(bytes), i32)) bytes = cute_unary(&b, "arith.trunci", bytes, i32);
        address = cute_binary(&b, "arith.addi", address, bytes);
    }
    address = cute_binary(&b, "arith.shrui", address, cute_integer(&b, i32, UNIT));
    address = cute_binary(&b, "arith.andi", address, cute_integer(&b, i32, ADDRESS_BITS));
    MlirValue low =
        cute_binary(&b, "arith.ori", address, cute_integer(&b, i32, cute_smem_matrix_low(&matrix)));
    if (operand_varies_by_thread(&mma, which)) /* uniform within an atom, which ptxas cannot infer */
        low = cute_unary(&b, "cute_nvgpu.arch.make_warp_uniform", low, i32);
    MlirValue high = cute_integer(&b, i32, (int32_t)cute_smem_matrix_high(&matrix));
    MlirValue words = cute_fields_poison(&b, cute_pointer_type(b.context, CUTE_SPACE_DESC));
    words = cute_insert_field(&b, cute_insert_field(&b, words, low, 0), high, 1);
    MlirValue first = cute_cast(&b, words, cute_type_get(b.context, CUTE_TYPE_INDEX_SmemDesc, cute_text("")));
    cute_value view;
    cute_attributes attributes = {&(int64_t){which}, 1};
    cute_value operands[2] = {mma, tensor};
    cute_arith arith = cute_emitter_start(x->emitter, &b);
    CUTE_TRY(cute_atom_apply(x->arena, &arith, CUTE_OP_MMA_MAKE_FRAGMENT, operands, 2, &attributes, &view,
                             x->diag));
    view.pointer = cute_pointer_with_handle(x->arena, view.pointer, (void *)first.ptr);
    if (!view.pointer) return cute_fail_memory(x->diag);
    return cute_value_replace(x, op, 0, &view);
}

/* Allocates the registers of a fragment, or creates its descriptor view. */
static cute_status expand_make_fragment(const cute_op_row *row, const cute_expansion *x, MlirOperation op)
{
    (void)row;
    MlirValue result = mlirOperationGetResult(op, 0);
    if (cute_type_peek(mlirValueGetType(result))->pointer->space == CUTE_SPACE_DESC)
        return describe_partition(x, op);
    const cute_value *type = cute_type_peek(mlirValueGetType(result));
    cute_value layout = cute_value_of_layout(type->layout);
    cute_builder b = cute_builder_before(op);
    MlirType layout_type = cute_type_of_value(b.context, x->arena, &layout);
    if (mlirTypeIsNull(layout_type)) return cute_fail_memory(x->diag);
    MlirValue shape = cute_build_value(&b, "cute.static", layout_type, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    MlirValue made = cute_build_value(&b, "cute.memref.alloca", mlirValueGetType(result),
                                      CUTE_OPERANDS(shape), CUTE_NO_NAMED);
    mlirValueReplaceAllUsesOfWith(result, made);
    return CUTE_OK;
}

static bool verify_make_atom(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    const cute_atom *atom = cute_check_result(&c, 0)->atom;
    intptr_t count = mlirOperationGetNumOperands(op);
    if (!atom->known || count == 0) return true;
    if (!atom->wgmma)
        return cute_check_fail(&c, "expects no operand: the type fully determines '%s'", atom->mnemonic);
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
    if (count == 1 && mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 1) return true;
    return cute_check_fail(&c, "expects at most an i1, whether '%s' adds to its accumulator", atom->mnemonic);
}

/* An empty struct; for wgmma an i1, whether it adds to its accumulator (default true). */
static bool lower_atom_or_tiling(const cute_op_row *row, const cute_op_lowering *l)
{
    (void)row;
    cute_builder b = cute_builder_before(l->op);
    const cute_value *result = cute_type_peek(l->results[0]);
    if (result->atom && result->atom->wgmma) {
        bool given = mlirOperationGetNumOperands(l->op) > 0;
        cute_lowered(l, given ? mlirOperationGetOperand(l->op, 0) : cute_build_constant(&b, 1, 1));
        return true;
    }
    cute_lowered(l, cute_fields_poison(&b, mlirValueGetType(mlirOperationGetResult(l->op, 0))));
    return true;
}

/* Whether the first operand is an atom without a row in atoms.def. */
static bool is_unknown_atom(const cute_op_query *query)
{
    cute_value value;
    return query->operand_count &&
           cute_type_value(mlirValueGetType(query->operands[0]), &value, NULL) == CUTE_OK && value.atom &&
           !value.atom->known;
}

/* Infers nothing for an unknown atom: the result type must be given. */
static bool infer_known_atom(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    return is_unknown_atom(query) || cute_algebra_infer(row, query, out);
}

/* With the atom alone, an explicit result type gives the tiling. */
static bool infer_tiling(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    return (query->operand_count == 1 && !query->follows) || cute_algebra_infer(row, query, out);
}

/* Checks that the atom is the result's and fits its layouts. */
static bool verify_tiling(const cute_op_row *row, MlirOperation op)
{
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    cute_value atom, tiled;
    cute_status status = arena && diag ? CUTE_OK : CUTE_SYSTEM;
    if (status == CUTE_OK)
        status = cute_type_value(mlirValueGetType(mlirOperationGetOperand(op, 0)), &atom, diag);
    if (status == CUTE_OK)
        status = cute_type_value(mlirValueGetType(mlirOperationGetResult(op, 0)), &tiled, diag);
    if (status == CUTE_OK && strcmp(atom.atom->text, tiled.atom->text) != 0)
        status = cute_fail(diag, CUTE_INVALID, NULL, "expects a result with the atom '%s', but got '%s'",
                           atom.atom->text, tiled.atom->text);
    if (status == CUTE_OK) status = cute_tiling_verify(arena, &tiled, diag);
    if (status != CUTE_OK && diag && cute_diag_count(diag))
        cute_op_fail(mlirOperationGetLocation(op), row->name, "%s", cute_diag_get(diag, 0)->text);
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return status == CUTE_OK;
}

/* A and B must have the atom's element types; C need not, as the fragment may be converted. tf32 may be f32, whose low bits
 * instructions ignore. */
static bool verify_fragment(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    const cute_atom *atom = cute_check_operand(&c, 0)->atom;
    const cute_value *input = cute_check_operand(&c, 1);
    MlirAttribute which = mlirOperationGetAttributeByName(op, cute_text("operand_id"));
    int64_t operand = mlirIntegerAttrGetValueInt(which);
    if (!atom->known || input->type != CUTE_MEMREF || operand < CUTE_ATOM_A || operand >= CUTE_ATOM_C)
        return true;
    const cute_atom_operand *wanted = &atom->operand[operand];
    if (!strcmp(wanted->type, "tf32") && !strcmp(input->pointer->element, "f32")) return true;
    return cute_check_element(&c, "operand #1", input->pointer->element, wanted->type);
}

#define TILING(id)                                                                                           \
    .algebra = CUTE_OP_##id, .infer = infer_tiling, .verify = verify_tiling, .lower = lower_atom_or_tiling
#define PARTITION(id) .algebra = CUTE_OP_##id, .infer = infer_known_atom, .expand = cute_algebra_expand

static const cute_op_row rows[] = {
    {.name = "cute.make_atom", .verify = verify_make_atom, .lower = lower_atom_or_tiling},
    {.name = "cute.make_tiled_copy", TILING(MAKE_TILED_COPY)},
    {.name = "cute.make_tiled_copy_A", TILING(MAKE_TILED_COPY_A)},
    {.name = "cute.make_tiled_copy_B", TILING(MAKE_TILED_COPY_B)},
    {.name = "cute.make_tiled_copy_C", TILING(MAKE_TILED_COPY_C)},
    {.name = "cute.make_tiled_copy_S", TILING(MAKE_TILED_COPY_S)},
    {.name = "cute.make_tiled_copy_D", TILING(MAKE_TILED_COPY_D)},
    {.name = "cute.make_tiled_mma", TILING(MAKE_TILED_MMA)},
    {.name = "cute.tiled.copy.partition_S", PARTITION(TILED_COPY_PARTITION_S)},
    {.name = "cute.tiled.copy.partition_D", PARTITION(TILED_COPY_PARTITION_D)},
    {.name = "cute.tiled.copy.retile", PARTITION(TILED_COPY_RETILE)},
    {.name = "cute.tiled.mma.partition", PARTITION(TILED_MMA_PARTITION)},
    {.name = "cute.tiled.mma.partition_shape", PARTITION(TILED_MMA_PARTITION_SHAPE)},
    {.name = "cute.mma.make_fragment",
     .algebra = CUTE_OP_MMA_MAKE_FRAGMENT,
     .infer = infer_known_atom,
     .verify = verify_fragment,
     .expand = expand_make_fragment},
};
const cute_op_family cute_family_atom = {rows, sizeof rows / sizeof *rows};
