/* See arch.h. */
#include "lib/passes/devices/arch.h"

#include <llvm/Config/llvm-config.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>

#include "lib/ir/dialects/fields.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/address.h"

static MlirNamedAttribute i32_attribute(const cute_builder *b, const char *name, int value)
{
    return cute_attribute(b->context, name, mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 32), value));
}

static MlirNamedAttribute parsed_attribute(const cute_builder *b, const char *name, const char *text)
{
    return cute_attribute(b->context, name, mlirAttributeParseGet(b->context, cute_text(text)));
}

MlirValue cute_arch_address(const cute_builder *b, MlirValue pointer)
{
    const cute_pointer *type = cute_type_peek(mlirValueGetType(pointer))->pointer;
    return cute_swizzled_address(b, type, cute_cast(b, pointer, cute_pointer_type(b->context, type->space)));
}

/* ---- cp.async ---- */

void cute_arch_cp_async(const cute_builder *b, MlirValue to, MlirValue from, const cute_cp_async *how)
{
    MlirType i32 = mlirIntegerTypeGet(b->context, 32), i1 = mlirIntegerTypeGet(b->context, 1);
    MlirValue operands[5] = {to, from};
    intptr_t count = 2;
    if (!mlirValueIsNull(how->predicate)) /* operand ignore-src */
        operands[count++] = cute_binary(b, "arith.xori", how->predicate, cute_integer(b, i1, 1));
    /* Inline PTX: shared-memory addresses have 32 bits. */
    char text[160], hint[32] = "", *at = text;
    if (how->prefetch) snprintf(hint, sizeof hint, ".L2::%dB", how->prefetch);
    bool policy = !mlirValueIsNull(how->policy);
    at += sprintf(at, "cp.async.%s.shared.global%s%s [$0], [$1], %d", how->global ? "cg" : "ca",
                  policy ? ".L2::cache_hint" : "", hint, how->bytes);
    char constraints[16] = "r,l";
    if (count == 3) at += sprintf(at, ", $2"), strcat(constraints, ",b");
    if (policy)
        at += sprintf(at, ", $%d", (int)count), strcat(constraints, ",l"), operands[count++] = how->policy;
    sprintf(at, ";");
    operands[0] = cute_unary(b, "llvm.ptrtoint", to, i32);
    cute_assembly(b, true, text, constraints, (cute_operands){operands, count}, (MlirType){NULL});
}

MlirValue cute_arch_policy(const cute_builder *b, const char *eviction)
{
    char text[80];
    snprintf(text, sizeof text, "createpolicy.fractional.L2::%s.b64 $0, 1.0;", eviction);
    return cute_assembly(b, false, text, "=l", CUTE_NO_OPERANDS, mlirIntegerTypeGet(b->context, 64));
}

/* ---- ldmatrix, stmatrix ---- */

static MlirNamedAttribute layout_attribute(const cute_builder *b, bool transposed)
{
    return parsed_attribute(b, "layout", transposed ? "#nvvm.mma_layout<col>" : "#nvvm.mma_layout<row>");
}

/* Layout of matrices in shared memory: `attributes`, `count` of them, or those that LLVM 22 requires in
 * addition. */
static cute_named matrix_attributes(const cute_builder *b, MlirNamedAttribute attributes[4], intptr_t count)
{
#if LLVM_VERSION_MAJOR >= 22
    attributes[count++] = parsed_attribute(b, "shape", "#nvvm.ld_st_matrix_shape<m = 8, n = 8>");
    attributes[count++] = parsed_attribute(b, "eltType", "#nvvm.ld_st_matrix_elt_type<b16>");
#else
    (void)b;
#endif
    return (cute_named){attributes, count};
}

void cute_arch_ldmatrix(const cute_builder *b, MlirValue from, int matrices, bool transposed,
                        MlirValue *words)
{
    MlirType i32 = mlirIntegerTypeGet(b->context, 32), all[4] = {i32, i32, i32, i32};
    MlirType type = matrices == 1 ? i32 : mlirLLVMStructTypeLiteralGet(b->context, matrices, all, false);
    MlirNamedAttribute attributes[4] = {i32_attribute(b, "num", matrices), layout_attribute(b, transposed)};
    MlirValue value =
        cute_build_value(b, "nvvm.ldmatrix", type, CUTE_OPERANDS(from), matrix_attributes(b, attributes, 2));
    for (int i = 0; i < matrices; i++)
        words[i] = matrices == 1 ? value : cute_extract_field(b, value, i, -1, i32);
}

void cute_arch_stmatrix(const cute_builder *b, MlirValue to, int matrices, bool transposed,
                        const MlirValue *words)
{
    MlirValue operands[5] = {to};
    for (int i = 0; i < matrices; i++) operands[1 + i] = words[i];
    MlirNamedAttribute attributes[4] = {layout_attribute(b, transposed)};
    cute_build(b, "nvvm.stmatrix", (cute_operands){operands, 1 + matrices}, CUTE_NO_TYPES,
               matrix_attributes(b, attributes, 1));
}

/* ---- mma.sync ---- */

MlirType cute_arch_register(const cute_builder *b, const cute_atom_operand *operand)
{
    switch (operand->constraint) {
    case 'f': return mlirF32TypeGet(b->context);
    case 'd': return mlirF64TypeGet(b->context);
    default: return mlirIntegerTypeGet(b->context, (unsigned)operand->register_bits);
    }
}

enum { REGISTERS = 16 }; /* maximum for one operand */

/* Appends {$3,$4}, and a constraint for each. */
static void put_operand(char **text, char **constraints, const cute_atom_operand *operand, const char *prefix,
                        int *next)
{
    for (int i = 0; i < operand->registers; i++) {
        *text += sprintf(*text, "%s$%d", i ? "," : "{", (*next)++);
        *constraints += sprintf(*constraints, "%s%s%c", *next == 1 ? "" : ",", prefix, operand->constraint);
    }
    *text += sprintf(*text, "}");
}

static MlirValue cast_to(const cute_builder *b, MlirValue value, MlirType type)
{
    return mlirTypeEqual(mlirValueGetType(value), type) ? value : cute_unary(b, "llvm.bitcast", value, type);
}

bool cute_arch_mma(const cute_builder *b, const cute_atom *atom, const MlirValue *a, const MlirValue *bs,
                   const MlirValue *c, MlirValue *d)
{
    const cute_atom_operand *o = atom->operand, *out = &o[CUTE_ATOM_C];
    for (int i = 0; i < CUTE_ATOM_OPERANDS; i++)
        if (o[i].registers < 1 || o[i].registers > REGISTERS) return false;
    if (!atom->ptx) return false;
    char text[512], constraints[256], *at = text, *kinds = constraints;
    int next = 0;
    at += sprintf(at, "%s ", atom->ptx);
    put_operand(&at, &kinds, out, "=", &next);
    MlirValue operands[3 * REGISTERS];
    intptr_t count = 0;
    const MlirValue *const registers[] = {a, bs, c};
    for (int i = 0; i < CUTE_ATOM_OPERANDS; i++) {
        at += sprintf(at, ", ");
        put_operand(&at, &kinds, &o[i], "", &next);
        MlirType type = cute_arch_register(b, &o[i]);
        for (int j = 0; j < o[i].registers; j++) operands[count++] = cast_to(b, registers[i][j], type);
    }
    sprintf(at, ";");
    MlirType one = cute_arch_register(b, out), all[REGISTERS];
    for (int i = 0; i < out->registers; i++) all[i] = one;
    MlirType type =
        out->registers == 1 ? one : mlirLLVMStructTypeLiteralGet(b->context, out->registers, all, false);
    MlirValue result = cute_assembly(b, false, text, constraints, (cute_operands){operands, count}, type);
    for (int i = 0; i < out->registers; i++)
        d[i] = out->registers == 1 ? result : cute_extract_field(b, result, i, -1, one);
    return true;
}

/* ---- prefetch ---- */

void cute_arch_prefetch(const cute_builder *b, MlirValue from)
{
    cute_assembly(b, true, "prefetch.global.L2 [$0];", "l", CUTE_OPERANDS(from), (MlirType){NULL});
}
