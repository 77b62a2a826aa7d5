/* cute-nvgpu-mma-lowering: lowers MMAs of fragments to instructions.
 *
 * Requires: cute-expand-ops. Ensures: no cute.gemm, mma_atom_call. D(v,m,n) = sum over k of A(v,m,k) *
 * B(v,n,k) + C(v,m,n): the atom runs once for each (m,n,k), k outermost; rows alternate in direction so that
 * consecutive runs share a fragment.
 *
 *     cute.gemm(%mma, %d, %a, %b, %c) : (!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, ...)
 * ->
 *     %d0 = llvm.inline_asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 ...", ...
 */
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>

#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"
#include "lib/passes/devices/arch.h"
#include "lib/passes/passes.h"
#include "lib/passes/tensors/carried.h"
#include "lib/passes/tensors/lower_each.h"
#include "lib/passes/tensors/tensors.h"
#include "lib/passes/tensors/wgmma.h"

enum { D, A, B, C, OPERANDS };
enum { MOST = 128 }; /* maximum values of an operand in one run */

typedef struct product {
    const cute_expansion *x;
    const cute_atom *atom;
    cute_tensor t[OPERANDS];
    int64_t values[OPERANDS]; /* per run */
    bool in_place;            /* D and C are the same tensor */
    MlirValue *fragments[2];  /* of A and B: words by run, loaded once for each k */
} product;

static const int operand_of[OPERANDS] = {CUTE_ATOM_C, CUTE_ATOM_A, CUTE_ATOM_B, CUTE_ATOM_C};

/* First element of an operand's run at (m, n, k). */
static int64_t first_of(const product *p, int which, int64_t m, int64_t n, int64_t k)
{
    int64_t modes[3] = {0};
    if (which == A) modes[1] = m, modes[2] = k;
    if (which == B) modes[1] = n, modes[2] = k;
    if (which == C || which == D) modes[1] = m, modes[2] = n;
    return cute_tensor_index(&p->t[which], modes, 3);
}

/* ---- one run ---- */

static bool is_float(MlirType type)
{
    return mlirTypeIsAF16(type) || mlirTypeIsABF16(type) || mlirTypeIsAF32(type) || mlirTypeIsAF64(type);
}

/* Converts to the accumulator's type. */
static MlirValue widen_to_sum(const cute_tensor *t, MlirValue value, MlirType type)
{
    value = cute_as_element(t, value);
    if (mlirTypeEqual(mlirValueGetType(value), type)) return value;
    return cute_unary(&t->at, is_float(type) ? "arith.extf" : "arith.extsi", value, type);
}

static cute_status scalar_product(product *p, const MlirValue *a, const MlirValue *b, const MlirValue *c,
                                  MlirValue *d)
{
    const cute_tensor *t = &p->t[D];
    const cute_builder *at = &t->at;
    MlirType type = t->element;
    if (p->t[A].bits > t->bits || p->t[B].bits > t->bits || is_float(type) != is_float(p->t[A].element) ||
        is_float(type) != is_float(p->t[B].element))
        return cute_fail(p->x->diag, CUTE_INVALID, NULL,
                         "expects factors that D's type can represent, got %s and %s in %s",
                         p->t[A].value.pointer->element, p->t[B].value.pointer->element,
                         t->value.pointer->element);
    MlirValue x = widen_to_sum(&p->t[A], a[0], type), y = widen_to_sum(&p->t[B], b[0], type),
              z = widen_to_sum(&p->t[C], c[0], type);
    if (is_float(type))
        d[0] = cute_build_value(at, "math.fma", type, CUTE_OPERANDS(x, y, z), CUTE_NO_NAMED);
    else
        d[0] = cute_binary(at, "arith.addi", cute_binary(at, "arith.muli", x, y), z);
    d[0] = cute_as_stored(t, d[0]);
    return CUTE_OK;
}

/* Loads the registers of a run. Elements of at least 32 bits are one word each. */
static cute_status load_fragment(product *p, int which, int64_t first, MlirValue *words)
{
    return cute_tensor_load(&p->t[which], first, p->values[which], 0, words);
}

static cute_status run_atom(product *p, const MlirValue *a, const MlirValue *b, int64_t m, int64_t n)
{
    MlirValue c[MOST], d[MOST];
    CUTE_TRY(load_fragment(p, C, first_of(p, C, m, n, 0), c));
    if (!p->atom->ptx)
        CUTE_TRY(scalar_product(p, a, b, c, d));
    else if (!cute_arch_mma(&p->t[D].at, p->atom, a, b, c, d))
        return cute_fail(p->x->diag, CUTE_INVALID, NULL, "is not supported by %s", p->atom->text);
    MlirType word = cute_tensor_word(&p->t[D], p->values[D]);
    for (int64_t i = 0; i < cute_tensor_words(&p->t[D], p->values[D]); i++)
        if (!mlirTypeEqual(mlirValueGetType(d[i]), word))
            d[i] = cute_unary(&p->t[D].at, "llvm.bitcast", d[i], word);
    return cute_tensor_store(&p->t[D], first_of(p, D, m, n, 0), p->values[D], 0, d);
}

/* ---- all runs ---- */

static cute_status load_fragments(product *p, int which, int64_t count, int64_t k)
{
    MlirValue *words = p->fragments[which == B];
    for (int64_t i = 0; i < count; i++)
        CUTE_TRY(load_fragment(p, which, first_of(p, which, i, i, k), words + i * p->values[which]));
    return CUTE_OK;
}

static cute_status bind_operands(product *p, MlirOperation op)
{
    const cute_expansion *x = p->x;
    for (int i = 0; i < OPERANDS; i++) {
        cute_tensor *t = &p->t[i];
        CUTE_TRY(cute_tensor_bind(x, op, 1 + i, t));
        if (t->value.pointer->space != CUTE_SPACE_RMEM)
            return cute_fail(x->diag, CUTE_INVALID, NULL, "expects fragments in rmem, got %s",
                             cute_space_name(t->value.pointer->space));
        const cute_atom_operand *o = &p->atom->operand[operand_of[i]];
        p->values[i] = o->values;
        if (o->values < 1 || o->values > MOST || cute_tensor_extent(t, 0) != o->values)
            return cute_fail(x->diag, CUTE_INVALID, NULL, "expects %lld values in mode 0 for %s, got \"%s\"",
                             (long long)o->values, p->atom->name,
                             cute_layout_text(x->arena, t->value.layout));
    }
    return CUTE_OK;
}

static cute_status lower_gemm(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    product *p = cute_arena_alloc(x->arena, sizeof *p);
    if (!p) return cute_fail_memory(x->diag);
    *p = (product){.x = x};
    const cute_value *mma = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(op, 0)));
    p->atom = mma ? mma->atom : NULL;
    if (!p->atom || !p->atom->known || p->atom->kind != CUTE_ATOM_MMA)
        return cute_fail(x->diag, CUTE_INVALID, NULL, "is not supported by %s",
                         p->atom ? p->atom->text : "its atom");
    if (p->atom->wgmma) return cute_lower_wgmma(x, pass, op);
    CUTE_TRY(bind_operands(p, op));
    int64_t m = cute_tensor_extent(&p->t[D], 1), n = cute_tensor_extent(&p->t[D], 2);
    int64_t k = cute_tensor_extent(&p->t[A], 2);
    if (m != cute_tensor_extent(&p->t[A], 1) || n != cute_tensor_extent(&p->t[B], 1) ||
        k != cute_tensor_extent(&p->t[B], 2) || m != cute_tensor_extent(&p->t[C], 1) ||
        n != cute_tensor_extent(&p->t[C], 2))
        return cute_fail(x->diag, CUTE_INVALID, NULL,
                         "expects D and C of (V,M,N), A of (V,M,K), B of (V,N,K), got \"%s\", \"%s\", \"%s\"",
                         cute_layout_text(x->arena, p->t[D].value.layout),
                         cute_layout_text(x->arena, p->t[A].value.layout),
                         cute_layout_text(x->arena, p->t[B].value.layout));
    for (int i = 0; i < 2; i++) {
        p->fragments[i] =
            cute_arena_array(x->arena, (size_t)((i ? n : m) * p->values[i ? B : A]), sizeof *p->fragments[i]);
        if (!p->fragments[i]) return cute_fail_memory(x->diag);
    }
    MlirValue given = mlirOperationGetOperand(op, 1);
    p->in_place = mlirValueEqual(given, mlirOperationGetOperand(op, 4));
    if (!p->in_place && k > 1) { /* D = C first, then D += */
        MlirValue *words = cute_arena_array(x->arena, (size_t)p->t[C].size, sizeof *words);
        if (!words) return cute_fail_memory(x->diag);
        CUTE_TRY(cute_tensor_load(&p->t[C], 0, p->t[C].size, 0, words));
        CUTE_TRY(cute_tensor_store(&p->t[D], 0, p->t[D].size, 0, words));
        CUTE_TRY(cute_tensor_bind(x, op, 1, &p->t[C]));
    }
    for (int64_t step = 0; step < k; step++) {
        CUTE_TRY(load_fragments(p, A, m, step));
        CUTE_TRY(load_fragments(p, B, n, step));
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                int64_t column = i & 1 ? n - 1 - j : j;
                CUTE_TRY(run_atom(p, p->fragments[0] + i * p->values[A],
                                  p->fragments[1] + column * p->values[B], i, column));
            }
    }
    cute_pass_remark(pass, mlirOperationGetLocation(op), "%lld runs of %s", (long long)(m * n * k),
                     p->atom->name);
    return CUTE_OK;
}

/* ---- the pass ---- */

static const cute_lower_row rows[] = {{"cute.gemm", lower_gemm}, {"cute.mma_atom_call", lower_gemm}};

static void run_mma_lowering(MlirOperation root, cute_pass_run *pass)
{
    cute_expand_warpgroup_mma(root);
    cute_carry_tensors(root);
    cute_pin_wgmma(root, pass);
    cute_lower_rows(root, pass, "cute.", rows, sizeof rows / sizeof *rows);
}

const cute_pass cute_pass_mma_lowering = {
    .name = "cute-nvgpu-mma-lowering",
    .help = "Lower MMAs of fragments to instructions",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH | CUTE_DIALECT_LLVM | CUTE_DIALECT_MATH |
                CUTE_DIALECT_NVVM | CUTE_DIALECT_VECTOR,
    .run = run_mma_lowering,
};
