/* cute-lower-newer: lowers operations of nvvm and nvgpu that LLVM 19 does not have (newer.td) to PTX or
 * existing operations.
 *
 * Requires: nothing. Ensures: no such operations in gpu.modules, except those of sm_100 and later.
 *
 *     nvvm.mbarrier.txn %bar, %n {kind = #cuda.mbar_txn_kind<arrive>} : !llvm.ptr<3>, i32
 * ->
 *     llvm.inline_asm has_side_effects "mbarrier.arrive.release.cta.shared::cta.b64 _, [$0], $1;", "l,r,~{memory}" %bar, %n
 *
 * In the text of a row, `{kind}` is the value of the attribute `kind` (ptx_text.h).
 */
#include <mlir-c/BuiltinAttributes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/devices/ptx_text.h"
#include "lib/passes/devices/target.h"
#include "lib/passes/passes.h"

typedef struct newer {
    const char *name;
    /* Returns the replacement of the result, null without results; sets *failed after an error. */
    MlirValue (*lower)(const cute_builder *b, MlirOperation op, const struct newer *row, bool *failed);
    const char *text, *constraints; /* or parameters of `lower` */
} newer;

/* ---- PTX text of the row ---- */

static bool attribute_is(MlirOperation op, const char *name, const char *word)
{
    cute_buffer text = {0};
    bool same = cute_text_is(cute_ptx_word(op, cute_text(name), "", &text), word);
    cute_buffer_release(&text);
    return same;
}

/* Operands are numbered after the result. */
static MlirValue build_inline_asm(const cute_builder *b, MlirOperation op, const char *text,
                                  const char *constraints, MlirType result)
{
    MlirValue operands[8];
    intptr_t count = mlirOperationGetNumOperands(op);
    for (intptr_t i = 0; i < count && i < 8; i++) operands[i] = mlirOperationGetOperand(op, i);
    cute_buffer ptx = {0};
    cute_ptx_words(op, text, &ptx);
    bool effects = strstr(constraints, "memory");
    MlirValue value = cute_assembly(b, effects, cute_buffer_text(&ptx), constraints,
                                    (cute_operands){operands, count}, result);
    cute_buffer_release(&ptx);
    return value;
}

static MlirValue as_text(const cute_builder *b, MlirOperation op, const newer *row, bool *failed)
{
    (void)failed;
    MlirType result = {NULL};
    if (mlirOperationGetNumResults(op)) result = mlirValueGetType(mlirOperationGetResult(op, 0));
    return build_inline_asm(b, op, row->text, row->constraints, result);
}

/* ---- mbarriers ---- */

static MlirValue lower_txn(const cute_builder *b, MlirOperation op, const newer *row, bool *failed)
{
    (void)failed;
    const char *text =
        attribute_is(op, "kind", "expect_tx")
            ? "mbarrier.expect_tx.relaxed.{scope|cta}.shared::{space|cta}.b64 [$0], $1;"
        : attribute_is(op, "kind", "arrive_expect_tx")
            ? "mbarrier.arrive.expect_tx.release.{scope|cta}.shared::{space|cta}.b64 _, [$0], $1;"
            : "mbarrier.arrive.release.{scope|cta}.shared::{space|cta}.b64 _, [$0], $1;";
    return build_inline_asm(b, op, text, row->constraints, (MlirType){NULL});
}

/* An instruction that sets a predicate. */
static MlirValue lower_mbarrier_wait(const cute_builder *b, MlirOperation op, const newer *row, bool *failed)
{
    (void)failed;
    MlirType i32 = mlirIntegerTypeGet(b->context, 32);
    MlirValue flag = build_inline_asm(b, op, row->text, row->constraints, i32);
    return cute_compare(b, CUTE_IS_NE, flag, cute_integer(b, i32, 0));
}

/* ---- bulk copies ---- */

/* Optional operands are last; each has its own modifiers. */
static MlirValue lower_bulk_load(const cute_builder *b, MlirOperation op, const newer *row, bool *failed)
{
    (void)failed, (void)row;
    MlirAttribute sizes = mlirOperationGetAttributeByName(op, cute_text("operandSegmentSizes"));
    bool mask = mlirDenseI32ArrayGetElement(sizes, 4), hint = mlirDenseI32ArrayGetElement(sizes, 5);
    cute_buffer text = {0}, constraints = {0};
    cute_buffer_printf(
        &text, "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes%s%s [$0], [$1], $3, [$2]",
        mask ? ".multicast::cluster" : "", hint ? ".L2::cache_hint" : "");
    cute_buffer_puts(&constraints, "l,l,l,r");
    if (mask) cute_buffer_puts(&text, ", $4");
    if (mask) cute_buffer_puts(&constraints, ",h");
    if (hint) cute_buffer_printf(&text, ", $%d", mask ? 5 : 4);
    if (hint) cute_buffer_puts(&constraints, ",l");
    cute_buffer_puts(&text, ";");
    cute_buffer_puts(&constraints, ",~{memory}");
    build_inline_asm(b, op, cute_buffer_text(&text), cute_buffer_text(&constraints), (MlirType){NULL});
    cute_buffer_release(&text);
    cute_buffer_release(&constraints);
    return (MlirValue){NULL};
}

static MlirValue lower_bulk_store(const cute_builder *b, MlirOperation op, const newer *row, bool *failed)
{
    (void)failed, (void)row;
    bool hint = mlirOperationGetNumOperands(op) > 3;
    build_inline_asm(b, op,
                     hint ? "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [$0], [$1], $2, $3;"
                          : "cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2;",
                     hint ? "l,l,r,l,~{memory}" : "l,l,r,~{memory}", (MlirType){NULL});
    return (MlirValue){NULL};
}

/* ---- arithmetic ---- */

/* The operation named in `text`. */
static MlirValue as_binary(const cute_builder *b, MlirOperation op, const newer *row, bool *failed)
{
    (void)failed;
    return cute_binary(b, row->text, mlirOperationGetOperand(op, 0), mlirOperationGetOperand(op, 1));
}

static MlirValue refuse_newer(MlirOperation op, const char *expected, bool *failed)
{
    cute_buffer text = {0};
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    cute_buffer_printf(&text, "'%.*s' op %s", (int)name.length, name.data, expected);
    cute_emit_error(mlirOperationGetLocation(op), cute_buffer_text(&text));
    cute_buffer_release(&text);
    *failed = true;
    return (MlirValue){NULL};
}

/* arith rounds to nearest; other roundings are emitted for each element. `text`: the operation of arith or
 * math, a space, the instruction. */
static MlirValue lower_packed(const cute_builder *b, MlirOperation op, const newer *row, bool *failed)
{
    cute_buffer word = {0}, ptx = {0};
    MlirStringRef rnd = cute_ptx_word(op, cute_text("rnd"), "none", &word);
    bool nearest = cute_text_is(rnd, "none") || cute_text_is(rnd, "rn");
    bool toward = cute_text_is(rnd, "rz") || cute_text_is(rnd, "rm") || cute_text_is(rnd, "rp");
    MlirAttribute flag = mlirOperationGetAttributeByName(op, cute_text("ftz"));
    bool ftz = !mlirAttributeIsNull(flag) && mlirBoolAttrGetValue(flag);
    const char *blank = strchr(row->text, ' ');
    MlirValue operands[3], result = {NULL};
    intptr_t count = mlirOperationGetNumOperands(op);
    for (intptr_t i = 0; i < count; i++) operands[i] = mlirOperationGetOperand(op, i);
    MlirType pair = mlirValueGetType(operands[0]), element = cute_type_element(pair);
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)(blank - row->text), row->text);
    if (!nearest && !toward) {
        result = refuse_newer(op, "expected rounding rn, rz, rm or rp", failed);
    } else if (nearest && !ftz) {
        result = cute_build_value(b, name, pair, (cute_operands){operands, count}, CUTE_NO_NAMED);
    } else {
        cute_buffer_printf(&ptx, "%s.%.*s%s.f32 $0, $1, $2%s;", blank + 1, nearest ? 2 : (int)rnd.length,
                           nearest ? "rn" : rnd.data, ftz ? ".ftz" : "", count == 3 ? ", $3" : "");
        result = operands[0];
        for (int64_t at = 0; at < 2; at++) {
            MlirValue elements[3];
            for (intptr_t i = 0; i < count; i++) elements[i] = cute_vector_extract(b, operands[i], at);
            MlirValue one =
                cute_assembly(b, false, cute_buffer_text(&ptx), count == 3 ? "=f,f,f,f" : "=f,f,f",
                              (cute_operands){elements, count}, element);
            result = cute_vector_insert(b, result, one, at);
        }
    }
    cute_buffer_release(&word);
    cute_buffer_release(&ptx);
    return result;
}

static MlirValue lower_float_conversion(const cute_builder *b, MlirOperation op, const newer *row,
                                        bool *failed)
{
    MlirValue from = mlirOperationGetOperand(op, 0);
    MlirType to = mlirValueGetType(mlirOperationGetResult(op, 0));
    if (mlirTypeIsAInteger(cute_type_element(to)) ||
        mlirTypeIsAInteger(cute_type_element(mlirValueGetType(from))))
        return refuse_newer(op, "expected floats of at least 8 bits", failed);
    if (!attribute_is(op, "rnd", "rn") && cute_op_has(op, "rnd"))
        return refuse_newer(op, "expected rounding rn", failed);
    return cute_unary(b, row->text, from, to);
}

/* ---- rows ---- */

static const newer rows[] = {
    {"nvvm.mbarrier.txn", lower_txn, NULL, "l,r,~{memory}"},
    {"nvvm.mbarrier.wait.parity", lower_mbarrier_wait,
     "{ .reg .pred p; mbarrier.{kind}_wait.parity.acquire.{scope|cta}.shared::cta.b64 p, [$1], $2; "
     "selp.b32 $0, 1, 0, p; }",
     "=r,l,r,~{memory}"},
    {"nvvm.mapa", as_text, "mapa.u64 $0, $1, $2;", "=l,l,r"},
    {"nvvm.mapa.shared.cluster", as_text, "mapa.shared::cluster.u64 $0, $1, $2;", "=l,l,r"},
    {"nvvm.griddepcontrol.wait", as_text, "griddepcontrol.wait;", "~{memory}"},
    {"nvvm.griddepcontrol.launch.dependents", as_text, "griddepcontrol.launch_dependents;", "~{memory}"},
    {"nvvm.cp.async.bulk.shared.cluster.global", lower_bulk_load, NULL, NULL},
    {"nvvm.cp.async.bulk.global.shared.cta", lower_bulk_store, NULL, NULL},
    {"nvvm.cp.async.bulk.shared.cluster.shared.cta", as_text,
     "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [$0], [$1], $3, [$2];",
     "l,l,l,r,~{memory}"},
    {"nvvm.fmax", as_binary, "llvm.intr.maxnum", NULL},
    {"nvvm.fmin", as_binary, "llvm.intr.minnum", NULL},
    {"nvvm.add.packed.f32x2", lower_packed, "arith.addf add", NULL},
    {"nvvm.mul.packed.f32x2", lower_packed, "arith.mulf mul", NULL},
    {"nvvm.fma.packed.f32x2", lower_packed, "math.fma fma", NULL},
    {"nvgpu.cvt_fptrunc", lower_float_conversion, "arith.truncf", NULL},
    {"nvgpu.cvt_fpext", lower_float_conversion, "arith.extf", NULL},
};

static void lower_newer_op(MlirOperation op, void *context)
{
    cute_device_work *w = context;
    if (!cute_op_of(op, "nvvm.") && !cute_op_of(op, "nvgpu.")) return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!cute_op_is(op, rows[i].name)) continue;
        if (!cute_target_has(op, w->arch)) {
            cute_pass_fail(w->pass);
            return;
        }
        cute_builder b = cute_builder_before(op);
        bool failed = false;
        MlirValue value = rows[i].lower(&b, op, &rows[i], &failed);
        if (failed) {
            cute_pass_fail(w->pass);
            return;
        }
        if (mlirOperationGetNumResults(op))
            mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), value);
        mlirOperationDestroy(op);
        w->changed = true;
        return;
    }
}

static void run_lower_newer(MlirOperation root, cute_pass_run *pass)
{
    cute_lower_each(root, pass, NULL, CUTE_WALK_OUTER_FIRST, lower_newer_op);
}

static const cute_pass_option options[] = {
    CUTE_ARCH_OPTION,
};
const cute_pass cute_pass_lower_newer = {
    .name = "cute-lower-newer",
    .help = "Lower operations of nvvm and nvgpu that LLVM does not have to PTX",
    .anchor = "builtin.module",
    .options = options,
    .option_count = 1,
    .dialects = CUTE_DIALECT_ARITH | CUTE_DIALECT_LLVM | CUTE_DIALECT_MATH | CUTE_DIALECT_VECTOR,
    .run = run_lower_newer,
};
