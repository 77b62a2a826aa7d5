/* Verifiers of copy and MMA instructions and of tensor memory; run-time fields of atoms. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/ir/dialects/fields.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/check.h"
#include "lib/ir/ops/tma.h"

static MlirType operand_type(MlirOperation op, intptr_t index)
{
    return mlirValueGetType(mlirOperationGetOperand(op, index));
}

static const cute_pointer *pointer_at(const cute_check *c, intptr_t operand)
{
    return cute_check_operand(c, operand)->pointer;
}

static int64_t integer_of(MlirOperation op, const char *name)
{
    return mlirIntegerAttrGetValueInt(mlirOperationGetAttributeByName(op, cute_text(name)));
}

static bool verify_dyn_smem(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    return cute_check_space(&c, "result", cute_check_result(&c, 0)->pointer, CUTE_SPACE_SMEM);
}

/* ---- copies ---- */

static bool verify_cp_async(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    const cute_pointer *dst = pointer_at(&c, 0), *src = pointer_at(&c, 1);
    if (!cute_check_space(&c, "operand #0", dst, CUTE_SPACE_SMEM) ||
        !cute_check_space(&c, "operand #1", src, CUTE_SPACE_GMEM) ||
        !cute_check_element(&c, "operand #1", src->element, dst->element))
        return false;
    int bytes = dst->bits / 8;
    if (bytes != 4 && bytes != 8 && bytes != 16)
        return cute_check_fail(&c, "expects elements of 4, 8 or 16 bytes, but got '%s'", dst->element);
    for (intptr_t i = 0; i < 2; i++)
        if (pointer_at(&c, i)->align < bytes)
            return cute_check_fail(&c, "expects operand #%d to be aligned to %d bytes, but got %d", (int)i,
                                   bytes, (int)pointer_at(&c, i)->align);
    int prefetch = cute_op_has(op, "l2_prefetch") ? (int)integer_of(op, "l2_prefetch") : 64;
    if (prefetch != 64 && prefetch != 128 && prefetch != 256)
        return cute_check_fail(&c, "expects l2_prefetch of 64, 128 or 256 bytes, but got %d", prefetch);
    MlirStringRef mode = cute_word_text(mlirOperationGetAttributeByName(op, cute_text("cache_mode")));
    if (bytes != 16 && cute_text_is(mode, "global"))
        return cute_check_fail(&c, "expects 16 bytes with cache mode 'global', but got %d", bytes);
    return true;
}

static bool verify_matrices(const cute_check *c, const cute_pointer *pointer, MlirType registers)
{
    int64_t matrices = integer_of(c->op, "num_matrices"), count = mlirShapedTypeGetDimSize(registers, 0);
    if (!cute_check_space(c, "operand #0", pointer, CUTE_SPACE_SMEM)) return false;
    if (pointer->align < 16)
        return cute_check_fail(c,
                               "expects a pointer aligned to 16 bytes, the size of a matrix row, but got %d",
                               (int)pointer->align);
    if (matrices != 1 && matrices != 2 && matrices != 4)
        return cute_check_fail(c, "expects 1, 2 or 4 matrices, but got %d", (int)matrices);
    if (count == matrices) return true;
    return cute_check_fail(c, "expects a vector of %d registers, one per matrix, but got %d", (int)matrices,
                           (int)count);
}

/* One register per matrix. */
static bool infer_ldsm(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    MlirAttribute matrices = mlirDictionaryAttrGetElementByName(query->attributes, cute_text("num_matrices"));
    int64_t count = mlirAttributeIsNull(matrices) || !mlirAttributeIsAInteger(matrices)
                        ? 0
                        : mlirIntegerAttrGetValueInt(matrices);
    if (count != 1 && count != 2 && count != 4)
        return cute_op_fail(query->location, row->name, "expects num_matrices of 1, 2 or 4");
    cute_op_types_add(out, mlirVectorTypeGet(1, &count, mlirIntegerTypeGet(query->context, 32)));
    return true;
}

static bool verify_ldsm(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    return verify_matrices(&c, pointer_at(&c, 0), mlirValueGetType(mlirOperationGetResult(op, 0)));
}

static bool verify_stsm(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    return verify_matrices(&c, pointer_at(&c, 0), operand_type(op, 1));
}

/* ---- mma.sync ---- */

static void append_text(MlirStringRef text, void *buffer)
{
    cute_buffer_append(buffer, text.data, text.length);
}

/* The element type of the accumulator, by its first register. */
static void append_accumulator(cute_buffer *out, MlirType type)
{
    if (mlirTypeIsAVector(type)) type = mlirShapedTypeGetElementType(type);
    mlirTypePrint(type, append_text, out);
}

/* The atom for the shape and types, which determines the registers. */
static bool find_mma(const cute_check *c, cute_arena *arena, const cute_atom **out)
{
    MlirOperation op = c->op;
    MlirStringRef shape = cute_shape_text(mlirOperationGetAttributeByName(op, cute_text("shape_MNK")));
    cute_value mnk;
    if (mlirOperationGetNumResults(op) == 0 ||
        cute_value_parse(arena, CUTE_SHAPE, shape.data, shape.length, &mnk, NULL, NULL) ||
        mnk.tree->kind != CUTE_TREE_TUPLE || mnk.tree->count != 3 || !cute_value_is_static(&mnk) ||
        mnk.tree->depth != 1)
        return cute_check_fail(c, "expects shape_MNK of three static integers and registers of D");
    cute_buffer text = {0};
    cute_buffer_printf(&text, "%s<%lldx%lldx%lld, elem_type = (",
                       strstr(c->row->name, "SM89") ? "sm89.mma" : "sm80.mma",
                       (long long)mnk.tree->items[0]->value.value, (long long)mnk.tree->items[1]->value.value,
                       (long long)mnk.tree->items[2]->value.value);
    mlirTypePrint(mlirTypeAttrGetValue(mlirOperationGetAttributeByName(op, cute_text("a_type"))), append_text,
                  &text);
    cute_buffer_puts(&text, ", ");
    mlirTypePrint(mlirTypeAttrGetValue(mlirOperationGetAttributeByName(op, cute_text("b_type"))), append_text,
                  &text);
    cute_buffer_puts(&text, ", ");
    append_accumulator(&text, mlirValueGetType(mlirOperationGetResult(op, 0)));
    cute_buffer_puts(&text, ")>");
    cute_value value;
    cute_diag *diag = cute_diag_create();
    bool ok = cute_atom_value_parse(arena, CUTE_ATOM, cute_buffer_text(&text), text.length, &value, NULL,
                                    diag) == CUTE_OK;
    if (!ok) cute_op_fail_diag(mlirOperationGetLocation(op), diag);
    if (ok) *out = value.atom;
    cute_diag_destroy(diag);
    cute_buffer_release(&text);
    return ok;
}

static int bits_of(MlirType type)
{
    int count = 1;
    if (mlirTypeIsAVector(type)) {
        if (mlirShapedTypeGetRank(type) != 1) return 0;
        count = (int)mlirShapedTypeGetDimSize(type, 0);
        type = mlirShapedTypeGetElementType(type);
    }
    if (mlirTypeIsAInteger(type)) return count * (int)mlirIntegerTypeGetWidth(type);
    return mlirTypeIsAFloat(type) ? count * (int)mlirFloatTypeGetWidth(type) : 0;
}

static bool verify_mma_registers(const cute_check *c, const char *what, const cute_atom_operand *own,
                                 intptr_t count, MlirType (*type_at)(MlirOperation op, intptr_t i),
                                 intptr_t first)
{
    if (count != own->registers)
        return cute_check_fail(c, "expects %d registers of %s, but got %d", own->registers, what, (int)count);
    for (intptr_t i = 0; i < count; i++)
        if (bits_of(type_at(c->op, first + i)) != own->register_bits)
            return cute_check_fail(c, "expects registers of %s of %d bits, but got %d", what,
                                   own->register_bits, bits_of(type_at(c->op, first + i)));
    return true;
}

static MlirType result_type(MlirOperation op, intptr_t index)
{
    return mlirValueGetType(mlirOperationGetResult(op, index));
}

static bool verify_mma(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    cute_arena *arena = cute_arena_create();
    const cute_atom *atom = NULL;
    MlirAttribute sizes = mlirOperationGetAttributeByName(op, cute_text("operandSegmentSizes"));
    bool ok = arena && find_mma(&c, arena, &atom);
    intptr_t first = 0;
    static const char *const names[] = {"A", "B", "C"};
    for (intptr_t i = 0; ok && i < 3; i++) {
        int32_t count = mlirDenseI32ArrayGetElement(sizes, i);
        ok = verify_mma_registers(&c, names[i], &atom->operand[i], count, operand_type, first);
        first += count;
    }
    ok = ok && verify_mma_registers(&c, "D", &atom->operand[CUTE_ATOM_C], mlirOperationGetNumResults(op),
                                    result_type, 0);
    cute_arena_destroy(arena);
    return ok;
}

/* ---- atoms with run-time state ---- */

/* The text of an atom, or of the atom of a tiled copy or MMA. */
static MlirStringRef atom_text(const cute_check *c, intptr_t operand)
{
    return mlirStringRefCreateFromCString(cute_check_operand(c, operand)->atom->text);
}

static bool is_pointer(MlirType type, cute_space space)
{
    const cute_value *value = cute_type_peek(type);
    return value && value->type == CUTE_PTR &&
           (value->pointer->space == space || space == CUTE_SPACE_GENERIC);
}

static bool is_barrier(MlirType type)
{
    bool shared = is_pointer(type, CUTE_SPACE_SMEM) || is_pointer(type, CUTE_SPACE_DSMEM);
    return shared && cute_type_peek(type)->pointer->bits == 64;
}

static bool is_descriptor(MlirType type)
{
    return is_pointer(type, CUTE_SPACE_GENERIC) &&
           strstr(cute_type_peek(type)->pointer->element, "tma_descriptor");
}

static bool is_flag(MlirType type)
{
    return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 1;
}

static bool is_mask(MlirType type)
{
    return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 16;
}

static bool is_policy(MlirType type)
{
    return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 64;
}

enum {
    WHOLE_VALUE = -1,
    IN_INSTRUCTION = -2
}; /* the whole lowered value of a wgmma; an immediate of its instructions */

/* Run-time fields, the atoms that have them, and their types. */
static const struct field {
    const char *word, *atoms, *holds, *type; /* type: default result type of get_value */
    bool (*matches)(MlirType type);
    int at; /* index in the lowered struct, WHOLE_VALUE or IN_INSTRUCTION */
} fields[] = {
    {"tma_bar", "atom.tma_load atom.bulk_copy", "a pointer to 64 bits in shared memory",
     "!cute.ptr<i64, smem>", is_barrier, CUTE_TMA_BARRIER},
    {"mcast_mask", "atom.tma_load atom.bulk_copy", "an i16", "i16", is_mask, CUTE_TMA_MASK},
    {"tma_descriptor_ptr", "atom.tma_load atom.tma_store atom.tma_reduce", "a pointer to a TMA descriptor",
     "!cute.ptr<!cute_nvgpu.tma_descriptor_tiled, generic, align<128>>", is_descriptor, CUTE_TMA_DESCRIPTOR},
    {"cache_policy", "atom.tma_load atom.tma_store atom.tma_reduce atom.bulk_copy", "an i64", "i64",
     is_policy, CUTE_TMA_POLICY},
    {"accum_c", "sm90.mma sm100.mma", "an i1", "i1", is_flag, WHOLE_VALUE},
    {"neg_a", "sm90.mma sm100.mma", "an i1", "i1", is_flag, IN_INSTRUCTION},
    {"neg_b", "sm90.mma sm100.mma", "an i1", "i1", is_flag, IN_INSTRUCTION},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static const struct field *field_of(MlirAttribute word)
{
    for (size_t i = 0; !mlirAttributeIsNull(word) && i < FIELDS; i++)
        if (cute_text_is(cute_word_text(word), fields[i].word)) return &fields[i];
    return NULL;
}

static bool verify_field(const cute_check *c, MlirType value)
{
    const struct field *field = field_of(mlirOperationGetAttributeByName(c->op, cute_text("field")));
    const char *mnemonic = cute_check_operand(c, 0)->atom->mnemonic;
    if (!field) return true; /* a field of sm_100 atoms */
    if (!strstr(field->atoms, mnemonic))
        return cute_check_fail(c, "expects an atom with the field '%s', but got '%s'", field->word, mnemonic);
    const cute_atom *atom = cute_check_operand(c, 0)->atom;
    if (field->at == IN_INSTRUCTION && atom->known && atom->wgmma &&
        !strcmp(atom->operand[CUTE_ATOM_C].ptx, "s32"))
        return cute_check_fail(
            c, "expects a floating-point atom for the field '%s': integer wgmma cannot negate its operands",
            field->word);
    if (field->matches(value)) return true;
    return cute_check_fail(c, "expects %s as the field '%s'", field->holds, field->word);
}

static bool infer_set(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    (void)row;
    cute_op_types_add(out, mlirValueGetType(query->operands[0]));
    return true;
}

static bool infer_get(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    MlirAttribute word = mlirAttributeIsNull(query->attributes)
                             ? query->attributes
                             : mlirDictionaryAttrGetElementByName(query->attributes, cute_text("field"));
    const struct field *field = field_of(word);
    if (!field) return cute_op_fail(query->location, row->name, "expects the name of a field as 'field'");
    cute_op_types_add(out, mlirTypeParseGet(query->context, cute_text(field->type)));
    return true;
}

static const char NO_FIELD[] = "has no lowering for this field";

/* Reads or writes a field of the lowered struct. */
static bool lower_state(const cute_op_row *row, const cute_op_lowering *l)
{
    const struct field *field = field_of(mlirOperationGetAttributeByName(l->op, cute_text("field")));
    if (!field) return cute_op_fail(mlirOperationGetLocation(l->op), row->name, NO_FIELD);
    if (field->at == IN_INSTRUCTION) { /* cute-nvgpu-mma-lowering has encoded it in the instructions */
        if (mlirOperationGetNumOperands(l->op) == 1)
            return cute_op_fail(mlirOperationGetLocation(l->op), row->name, NO_FIELD);
        cute_lowered(l, mlirOperationGetOperand(l->op, 0));
        return true;
    }
    if (field->at == WHOLE_VALUE) {
        cute_lowered(l, mlirOperationGetOperand(l->op, mlirOperationGetNumOperands(l->op) - 1));
        return true;
    }
    cute_builder b = cute_builder_before(l->op);
    MlirValue atom = mlirOperationGetOperand(l->op, 0), value;
    MlirType stored = mlirLLVMStructTypeGetElementType(mlirValueGetType(atom), field->at);
    const int64_t at = field->at;
    if (mlirOperationGetNumOperands(l->op) == 1) {
        value = cute_fields_extract(&b, atom, stored, &at, 1);
        MlirType type = mlirValueGetType(mlirOperationGetResult(l->op, 0));
        cute_lowered(l,
                     mlirTypeEqual(type, stored) ? value : cute_unary(&b, "llvm.addrspacecast", value, type));
        return true;
    }
    value = mlirOperationGetOperand(l->op, 1);
    if (!mlirTypeEqual(mlirValueGetType(value), stored))
        value = cute_unary(&b, "llvm.addrspacecast", value, stored);
    cute_lowered(l, cute_fields_insert(&b, atom, value, &at, 1));
    return true;
}

static bool verify_set(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    if (!mlirTypeEqual(operand_type(op, 0), result_type(op, 0)))
        return cute_check_fail(&c, "expects a result of its atom's type");
    return verify_field(&c, operand_type(op, 1));
}

static bool verify_get(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    return verify_field(&c, result_type(op, 0));
}

/* ---- tensor memory ---- */

static bool verify_tmem_copy(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    if (!cute_check_space(&c, "operand #1", pointer_at(&c, 1), CUTE_SPACE_TMEM)) return false;
    MlirStringRef own = atom_text(&c, 0),
                  tiled = mlirStringRefCreateFromCString(cute_check_result(&c, 0)->atom->text);
    if (mlirStringRefEqual(own, tiled)) return true;
    return cute_check_fail(&c, "expects a result with the operand's atom '%.*s', but got '%.*s'",
                           (int)own.length, own.data, (int)tiled.length, tiled.data);
}

static bool verify_alloc_tmem(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    return cute_check_space(&c, "operand #1", pointer_at(&c, 1), CUTE_SPACE_SMEM) &&
           cute_check_element(&c, "operand #1", pointer_at(&c, 1)->element, "i32");
}

static bool verify_dealloc_tmem(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    return cute_check_space(&c, "operand #0", pointer_at(&c, 0), CUTE_SPACE_TMEM);
}

static bool verify_retrieve_tmem(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    return cute_check_space(&c, "operand #0", pointer_at(&c, 0), CUTE_SPACE_SMEM) &&
           cute_check_element(&c, "operand #0", pointer_at(&c, 0)->element, "i32") &&
           cute_check_space(&c, "result", cute_check_result(&c, 0)->pointer, CUTE_SPACE_TMEM);
}

static bool verify_sm_count(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    if (mlirOperationIsNull(cute_op_parent(op, "gpu.module")) &&
        mlirOperationIsNull(cute_op_parent(op, "gpu.launch")))
        return true;
    return cute_check_fail(
        &c, "expects to be in a host function: in a kernel, use an argument or nvvm.read.ptx.sreg.nsmid");
}

static const cute_op_row rows[] = {
    {.name = "cute_nvgpu.arch.get_dyn_smem", .verify = verify_dyn_smem},
    {.name = "cute_nvgpu.arch.get_dyn_smem_size"},
    {.name = "cute_nvgpu.host.sm_count", .verify = verify_sm_count},
    {.name = "cute_nvgpu.host.temporary"},
    {.name = "cute_nvgpu.arch.make_warp_uniform"},
    {.name = "cute_nvgpu.arch.copy.SM80.cp_async", .verify = verify_cp_async},
    {.name = "cute_nvgpu.arch.copy.ldsm", .infer = infer_ldsm, .verify = verify_ldsm},
    {.name = "cute_nvgpu.arch.copy.stsm", .verify = verify_stsm},
    {.name = "cute_nvgpu.arch.mma.SM80", .verify = verify_mma},
    {.name = "cute_nvgpu.arch.mma.SM89", .verify = verify_mma},
    {.name = "cute_nvgpu.atom.set_value", .infer = infer_set, .verify = verify_set, .lower = lower_state},
    {.name = "cute_nvgpu.atom.get_value", .infer = infer_get, .verify = verify_get, .lower = lower_state},
    {.name = "cute_nvgpu.atom.make_tmem_copy", .verify = verify_tmem_copy},
    {.name = "cute_nvgpu.arch.sm100.alloc_tmem", .verify = verify_alloc_tmem},
    {.name = "cute_nvgpu.arch.sm100.dealloc_tmem", .verify = verify_dealloc_tmem},
    {.name = "cute_nvgpu.arch.sm100.relinquish_tmem_alloc_permit"},
    {.name = "cute_nvgpu.arch.sm100.retrieve_tmem_ptr", .verify = verify_retrieve_tmem},
};
const cute_op_family cute_family_nvgpu = {rows, sizeof rows / sizeof *rows};
