/* See wgmma.h. wgmma reads and writes registers after it was issued: between its fence and the subsequent
 * wait, no other instruction may access its accumulators (PTX ISA 9.7.15.2), or ptxas serialises it. LLVM
 * does not know this, so the accumulators are operands and results of the fence, of each wgmma in place,
 * and of the wait. A fence, commit or wait that applies to a single adjacent wgmma is merged into its
 * statement; otherwise LLVM would copy the registers for each. */
#include "lib/passes/tensors/wgmma.h"

#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/ir/dialects/fields.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/emitter.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"
#include "lib/passes/devices/arch_sm90.h"
#include "lib/passes/tensors/carried.h"
#include "lib/passes/tensors/tensors.h"

enum { D, A, B, C, OPERANDS };

/* Synchronisation between wgmmas. */
typedef enum mark { MARK_NONE, MARK_FENCE, MARK_COMMIT, MARK_WAIT } mark;
static const struct {
    const char *name;
    mark is;
    const char *groups; /* of a wait: attribute with the number of groups that may be pending */
} marks[] = {
    {"nvvm.wgmma.fence.aligned", MARK_FENCE, NULL},
    {"nvvm.wgmma.commit.group.sync.aligned", MARK_COMMIT, NULL},
    {"nvvm.wgmma.wait.group.sync.aligned", MARK_WAIT, "group"},
    {"cute_nvgpu.arch.wgmma_fence", MARK_FENCE, NULL},
    {"cute_nvgpu.arch.wgmma_commit_group", MARK_COMMIT, NULL},
    {"cute_nvgpu.arch.wgmma_wait_group", MARK_WAIT, "groups"},
};

/* *groups: for a wait. */
static mark mark_of(MlirOperation op, int64_t *groups)
{
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (!cute_op_is(op, marks[i].name)) continue;
        MlirAttribute number = marks[i].groups
                                   ? mlirOperationGetAttributeByName(op, cute_text(marks[i].groups))
                                   : (MlirAttribute){NULL};
        bool known = !mlirAttributeIsNull(number) && mlirAttributeIsAInteger(number);
        if (groups) *groups = known ? mlirIntegerAttrGetValueInt(number) : 0;
        return marks[i].is;
    }
    return MARK_NONE;
}

/* ---- operands ---- */

static const cute_atom *gemm_atom(MlirOperation op)
{
    const cute_value *mma = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(op, 0)));
    return mma ? mma->atom : NULL;
}

static bool is_wgmma(MlirOperation op)
{
    if (!cute_op_is(op, "cute.gemm") && !cute_op_is(op, "cute.mma_atom_call")) return false;
    const cute_atom *atom = gemm_atom(op);
    return atom && atom->known && atom->wgmma;
}

/* The memory of a tensor or pointer in registers: the llvm.alloca created by copy lowering; null: unknown,
 * or several, two of which are other[0] and other[1]. */
static MlirOperation memory_of(MlirValue value, MlirOperation *other)
{
    static const char *const through[] = {"builtin.unrealized_conversion_cast", "cute.make_view",
                                          "cute.get_iter", "cute.add_offset", "cute.recast_iter"};
    cute_origins s = {.value = {value}, .count = 1};
    MlirOperation found = {NULL};
    for (size_t at = 0; at < s.count && !s.unknown; at++) {
        MlirOperation op = cute_defining_op(s.value[at]);
        size_t i = 0, count = sizeof through / sizeof *through;
        while (!mlirOperationIsNull(op) && i < count && !cute_op_is(op, through[i])) i++;
        if (mlirOperationIsNull(op) || (i == count && !cute_op_is(op, "llvm.alloca"))) {
            cute_origins_follow(&s, s.value[at]);
        } else if (i < count) {
            cute_origins_add(&s, mlirOperationGetOperand(op, 0));
        } else if (mlirOperationIsNull(found)) {
            found = op;
        } else if (!mlirOperationEqual(found, op)) {
            if (other) other[0] = found, other[1] = op;
            return (MlirOperation){NULL};
        }
    }
    return s.unknown ? (MlirOperation){NULL} : found;
}

/* ---- signs ---- */

enum { NOT_KNOWN = -1, UNSEEN = 2 };

static bool is_field(MlirOperation op, const char *operation, const char *field)
{
    return cute_op_is(op, operation) &&
           cute_text_is(cute_word_text(mlirOperationGetAttributeByName(op, cute_text("field"))), field);
}

/* Value of a constant i1. */
static int constant_of(MlirValue value)
{
    MlirOperation op = cute_defining_op(value);
    if (mlirOperationIsNull(op) || !cute_op_is(op, "arith.constant")) return NOT_KNOWN;
    MlirAttribute is = mlirOperationGetAttributeByName(op, cute_text("value"));
    if (mlirAttributeIsABool(is)) return mlirBoolAttrGetValue(is);
    return mlirAttributeIsAInteger(is) ? mlirIntegerAttrGetValueInt(is) != 0 : NOT_KNOWN;
}

/* The field neg_a or neg_b of an atom, 0 if not set. */
static int sign_of(MlirValue mma, const char *field)
{
    cute_origins s = {.value = {mma}, .count = 1};
    int sign = UNSEEN;
    for (size_t at = 0; at < s.count && !s.unknown; at++) {
        MlirOperation op = cute_defining_op(s.value[at]);
        bool argument = mlirOperationIsNull(op);
        if (argument) op = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(s.value[at]));
        bool sets = !argument && is_field(op, "cute_nvgpu.atom.set_value", field);
        int one = sets ? constant_of(mlirOperationGetOperand(op, 1)) : 0;
        if (cute_op_of(op, "scf.") || cute_op_is(op, "arith.select")) {
            cute_origins_follow(&s, s.value[at]);
            continue;
        }
        bool through =
            !argument && !sets &&
            (cute_op_is(op, "cute_nvgpu.atom.set_value") || cute_op_is(op, "cute.make_tiled_mma") ||
             cute_op_is(op, "builtin.unrealized_conversion_cast"));
        if (through) {
            cute_origins_add(&s, mlirOperationGetOperand(op, 0));
            continue;
        }
        if (one < 0 || (sign != UNSEEN && sign != one)) return NOT_KNOWN;
        sign = one;
    }
    return s.unknown ? NOT_KNOWN : sign == 1;
}

static const char *const signs[] = {"neg_a", "neg_b"};

static cute_status read_signs(const cute_expansion *x, MlirOperation op, bool negative[2])
{
    for (int i = 0; i < 2; i++) {
        int sign = sign_of(mlirOperationGetOperand(op, 0), signs[i]);
        if (sign < 0)
            return cute_fail(x->diag, CUTE_INVALID, NULL,
                             "expects the field '%s' to be a constant, equal on all paths: the sign is part "
                             "of the instruction",
                             signs[i]);
        negative[i] = sign;
    }
    return CUTE_OK;
}

typedef struct sign_uses {
    cute_pass_run *pass;
    bool any;
} sign_uses;

static void note_sign(MlirOperation op, void *context)
{
    sign_uses *uses = context;
    for (int i = 0; i < 2; i++) uses->any |= is_field(op, "cute_nvgpu.atom.set_value", signs[i]);
}

/* Requires the requested signs to be constants; an atom that leaves the function would lose its sign. */
static void check_sign(MlirOperation op, void *context)
{
    sign_uses *uses = context;
    bool followed = cute_op_of(op, "cute.") || cute_op_of(op, "cute_nvgpu.") || cute_op_of(op, "scf.") ||
                    cute_op_is(op, "arith.select") || cute_op_is(op, "builtin.unrealized_conversion_cast");
    for (int f = 0; f < 2; f++) {
        bool asks = is_field(op, "cute_nvgpu.atom.get_value", signs[f]);
        for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && (asks || !followed); i++) {
            const cute_value *type = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(op, i)));
            if (!type || !type->atom || !type->atom->known || !type->atom->wgmma) continue;
            int sign = sign_of(mlirOperationGetOperand(op, i), signs[f]);
            if (asks && sign >= 0) {
                cute_builder b = cute_builder_before(op);
                mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0),
                                              cute_build_constant(&b, 1, sign));
                mlirOperationDestroy(op);
                return;
            }
            if (!asks && sign == 0) continue;
            cute_op_fail(
                mlirOperationGetLocation(op), "cute_nvgpu.atom.set_value",
                asks ? "expects the field '%s' to be a constant where it is read"
                     : "expects an atom with the field '%s' to remain in its function and outside of blocks",
                signs[f]);
            cute_pass_fail(uses->pass);
        }
    }
}

static void check_signs(MlirOperation root, cute_pass_run *pass)
{
    sign_uses uses = {.pass = pass};
    cute_op_each(root, "cute_nvgpu.atom.set_value", note_sign, &uses);
    if (uses.any) cute_op_each(root, NULL, check_sign, &uses);
}

/* ---- adjacent operations ---- */

/* The last operation with side effects before `op` in its block; null: none. */
static MlirOperation effect_before(MlirOperation op)
{
    MlirOperation last = {NULL};
    for (MlirOperation at = mlirBlockGetFirstOperation(mlirOperationGetBlock(op));
         !mlirOperationEqual(at, op); at = mlirOperationGetNextInBlock(at))
        if (!cute_op_is_effect_free(at)) last = at;
    return last;
}

static MlirOperation effect_behind(MlirOperation op)
{
    do op = mlirOperationGetNextInBlock(op);
    while (!mlirOperationIsNull(op) && cute_op_is_effect_free(op));
    return op;
}

static bool is_mark(MlirOperation op, mark is)
{
    return !mlirOperationIsNull(op) && mark_of(op, NULL) == is;
}

/* ---- products ---- */

typedef struct matrices {
    cute_value view;        /* of descriptors, bound */
    cute_descriptor origin; /* of the first descriptor */
} matrices;

typedef struct product {
    const cute_expansion *x;
    const cute_atom *atom;
    cute_builder b;
    cute_tensor d, a_registers;
    bool negative[2];             /* A, B */
    matrices described[OPERANDS]; /* A and B */
    MlirValue adds;
    MlirValue always; /* constant true */
} product;

static int64_t view_extent(const cute_value *view, size_t mode)
{
    const cute_tree *shape = view->layout.shape;
    if (shape->kind != CUTE_TREE_TUPLE) return mode ? 1 : cute_tree_is_static(shape) ? shape->value.value : 0;
    if (mode >= shape->count) return 1;
    cute_value size, of = cute_value_of_tree(CUTE_SHAPE, shape->items[mode]);
    cute_arena *arena = cute_arena_create();
    bool known = arena && cute_apply(arena, NULL, CUTE_OP_SIZE, &of, 1, NULL, &size, NULL) == CUTE_OK &&
                 size.tree->kind == CUTE_TREE_INT && size.tree->value.known;
    int64_t count = known ? size.tree->value.value : 0;
    cute_arena_destroy(arena);
    return count;
}

static cute_status bind_matrices(product *p, MlirOperation op, int which)
{
    matrices *m = &p->described[which];
    CUTE_TRY(cute_value_bind(p->x, op, mlirOperationGetOperand(op, 1 + which), &m->view));
    if (m->view.type != CUTE_MEMREF || m->view.pointer->space != CUTE_SPACE_DESC)
        return cute_fail(p->x->diag, CUTE_INVALID, NULL, "expects descriptors of smem as %c", "DABC"[which]);
    MlirType i32 = mlirIntegerTypeGet(p->b.context, 32);
    MlirValue words = cute_cast(&p->b, (MlirValue){m->view.pointer->handle},
                                cute_pointer_type(p->b.context, CUTE_SPACE_DESC));
    m->origin = (cute_descriptor){cute_extract_field(&p->b, words, 0, -1, i32),
                                  cute_extract_field(&p->b, words, 1, -1, i32)};
    return CUTE_OK;
}

/* The descriptor at (0, i, k) of a view whose remaining modes are 1. */
static cute_status descriptor_at(product *p, int which, int64_t i, int64_t k, cute_descriptor *out)
{
    matrices *m = &p->described[which];
    cute_arena *arena = p->x->arena;
    const cute_tree *shape = m->view.layout.shape, *zero = cute_tree_number(arena, 0);
    size_t rank = shape->kind == CUTE_TREE_TUPLE ? shape->count : 1;
    *out = m->origin;
    if (rank < 2) return CUTE_OK;
    const cute_tree **items = cute_arena_array(arena, rank, sizeof *items);
    if (!items) return cute_fail_memory(p->x->diag);
    for (size_t j = 0; j < rank; j++)
        items[j] = j == 1 ? cute_tree_number(arena, i) : j == 2 ? cute_tree_number(arena, k) : zero;
    const cute_tree *coord = cute_tree_tuple(arena, items, rank);
    if (!coord) return cute_fail_memory(p->x->diag);
    cute_value operands[2] = {cute_value_of_tree(CUTE_COORD, coord), cute_value_of_layout(m->view.layout)},
               offset;
    cute_arith arith = cute_emitter_start(p->x->emitter, &p->b);
    CUTE_TRY(cute_apply(arena, &arith, CUTE_OP_LAYOUT_EVAL, operands, 2, NULL, &offset, p->x->diag));
    if (offset.tree->kind != CUTE_TREE_INT)
        return cute_fail(p->x->diag, CUTE_INVALID, NULL, "expects descriptors with integer strides");
    cute_int by = offset.tree->value;
    if (by.known && by.value == 0) return CUTE_OK;
    MlirType i32 = mlirIntegerTypeGet(p->b.context, 32);
    MlirValue step = by.known ? cute_integer(&p->b, i32, by.value) : (MlirValue){by.handle};
    if (!mlirTypeEqual(mlirValueGetType(step), i32)) step = cute_unary(&p->b, "arith.trunci", step, i32);
    out->low = cute_binary(&p->b, "arith.addi", out->low, step);
    return CUTE_OK;
}

static cute_status refuse_two(MlirOperation op, const MlirOperation made[2])
{
    const cute_emit_note notes[] = {{mlirOperationGetLocation(made[0]), "one of them is created here"},
                                    {mlirOperationGetLocation(made[1]), "another one is created here"}};
    cute_emit_with_notes(mlirOperationGetLocation(op), true,
                         "'cute.gemm' op expects the same accumulator on all paths, got one of several: "
                         "registers cannot be selected at run time",
                         notes, 2);
    return CUTE_INVALID;
}

static cute_status bind_product(product *p, MlirOperation op)
{
    cute_diag *diag = p->x->diag;
    const cute_atom_operand *o = p->atom->operand;
    if (!mlirValueEqual(mlirOperationGetOperand(op, 1), mlirOperationGetOperand(op, 4)))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects C and D to be the same tensor: %s accumulates in place", p->atom->name);
    CUTE_TRY(cute_tensor_bind(p->x, op, 1, &p->d));
    MlirOperation two[2] = {{NULL}};
    MlirOperation memory = memory_of((MlirValue){p->d.value.pointer->handle}, two);
    if (!mlirOperationIsNull(two[0])) return refuse_two(op, two);
    if (p->d.value.pointer->space != CUTE_SPACE_RMEM || mlirOperationIsNull(memory))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects an accumulator in registers that is created in this function");
    if (cute_tensor_extent(&p->d, 0) != o[CUTE_ATOM_C].values)
        return cute_fail(diag, CUTE_INVALID, NULL, "expects %lld values in mode 0 of D for %s, got \"%s\"",
                         (long long)o[CUTE_ATOM_C].values, p->atom->name,
                         cute_layout_text(p->x->arena, p->d.value.layout));
    CUTE_TRY(bind_matrices(p, op, B));
    if (o[CUTE_ATOM_A].described) return bind_matrices(p, op, A);
    CUTE_TRY(cute_tensor_bind(p->x, op, 1 + A, &p->a_registers));
    if (p->a_registers.value.pointer->space == CUTE_SPACE_RMEM &&
        cute_tensor_extent(&p->a_registers, 0) == o[CUTE_ATOM_A].values)
        return CUTE_OK;
    return cute_fail(diag, CUTE_INVALID, NULL,
                     "expects %lld values of A in rmem in mode 0 for %s, got \"%s\"",
                     (long long)o[CUTE_ATOM_A].values, p->atom->name,
                     cute_layout_text(p->x->arena, p->a_registers.value.layout));
}

static int64_t rows_of(const product *p, int which, size_t mode)
{
    bool registers = which == D || (which == A && !p->atom->operand[CUTE_ATOM_A].described);
    if (registers) return cute_tensor_extent(which == D ? &p->d : &p->a_registers, mode);
    return view_extent(&p->described[which].view, mode);
}

static cute_status step_at(product *p, int64_t m, int64_t n, int64_t k, cute_wgmma_step *out)
{
    const cute_atom_operand *a = &p->atom->operand[CUTE_ATOM_A];
    const int64_t at[3] = {0, m, k};
    MlirType i32 = mlirIntegerTypeGet(p->b.context, 32);
    /* The products of all k are summed even if the old accumulator is not added. */
    out->adds = k ? p->always : p->adds;
    CUTE_TRY(descriptor_at(p, B, n, k, &out->b));
    if (a->described) return descriptor_at(p, A, m, k, &out->a);
    CUTE_TRY(cute_tensor_load(&p->a_registers, cute_tensor_index(&p->a_registers, at, 3), a->values, 0,
                              out->a_words));
    for (int i = 0; i < a->registers; i++)
        if (!mlirTypeEqual(mlirValueGetType(out->a_words[i]), i32))
            out->a_words[i] = cute_unary(&p->b, "llvm.bitcast", out->a_words[i], i32);
    return CUTE_OK;
}

/* Emits the products for k to k + count - 1, with PTX before and after them. */
static cute_status emit_products(product *p, int64_t m, int64_t n, int64_t k, int count, const char *before,
                                 const char *behind)
{
    const cute_atom_operand *c = &p->atom->operand[CUTE_ATOM_C];
    MlirValue d[CUTE_MOST_TIED];
    cute_wgmma_step steps[CUTE_MOST_STEPS];
    const int64_t at[3] = {0, m, n};
    int64_t first = cute_tensor_index(&p->d, at, 3);
    CUTE_TRY(cute_tensor_load(&p->d, first, c->values, 0, d));
    MlirType word = mlirValueGetType(d[0]);
    for (int i = 0; i < count; i++) {
        CUTE_TRY(step_at(p, m, n, k + i, &steps[i]));
        for (int j = 0; j < 2; j++) steps[i].negative[j] = p->negative[j];
    }
    cute_arch_wgmma(&p->b, p->atom, d, steps, count, before, behind);
    for (int i = 0; i < c->registers; i++)
        if (!mlirTypeEqual(mlirValueGetType(d[i]), word))
            d[i] = cute_unary(&p->b, "llvm.bitcast", d[i], word);
    return cute_tensor_store(&p->d, first, c->values, 0, d);
}

/* Whether the product has one accumulator. */
static bool is_single(MlirOperation op)
{
    const cute_value *d = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(op, 1)));
    return d && d->type == CUTE_MEMREF && view_extent(d, 1) == 1 && view_extent(d, 2) == 1;
}

enum { WAIT_TEXT = 48 };

static void mark_text(MlirOperation op, char text[WAIT_TEXT])
{
    int64_t groups;
    if (mark_of(op, &groups) == MARK_FENCE)
        strcpy(text, "wgmma.fence.sync.aligned;");
    else
        snprintf(text, WAIT_TEXT, "wgmma.wait_group.sync.aligned %lld;", (long long)groups);
}

/* The fence before the product and the commit and wait after it, which cute_pin_wgmma left to its
 * statement. */
static void take_in(MlirOperation op, char before[WAIT_TEXT], char behind[2 * WAIT_TEXT])
{
    MlirOperation fence = effect_before(op), commit = effect_behind(op), wait = {NULL};
    if (is_mark(fence, MARK_FENCE)) {
        mark_text(fence, before);
        mlirOperationDestroy(fence);
    }
    if (is_mark(commit, MARK_COMMIT)) wait = effect_behind(commit);
    if (is_mark(wait, MARK_WAIT)) {
        strcpy(behind, "wgmma.commit_group.sync.aligned; ");
        mark_text(wait, behind + strlen(behind));
        mlirOperationDestroy(commit);
        mlirOperationDestroy(wait);
    }
}

cute_status cute_lower_wgmma(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    product *p = cute_arena_alloc(x->arena, sizeof *p);
    if (!p) return cute_fail_memory(x->diag);
    *p = (product){.x = x, .atom = gemm_atom(op), .b = cute_builder_before(op)};
    CUTE_TRY(bind_product(p, op));
    CUTE_TRY(read_signs(x, op, p->negative));
    int64_t m = rows_of(p, D, 1), n = rows_of(p, D, 2), k = rows_of(p, A, 2);
    if (m < 1 || n < 1 || k < 1 || m != rows_of(p, A, 1) || n != rows_of(p, B, 1) || k != rows_of(p, B, 2))
        return cute_fail(x->diag, CUTE_INVALID, NULL,
                         "expects D of (V,M,N), A of (V,M,K), B of (V,N,K) of known extents, got M of %lld "
                         "and %lld, N of %lld and %lld, K of %lld and %lld",
                         (long long)m, (long long)rows_of(p, A, 1), (long long)n, (long long)rows_of(p, B, 1),
                         (long long)k, (long long)rows_of(p, B, 2));
    p->adds = cute_cast(&p->b, mlirOperationGetOperand(op, 0), mlirIntegerTypeGet(p->b.context, 1));
    p->always = cute_integer(&p->b, mlirIntegerTypeGet(p->b.context, 1), 1);
    /* One accumulator: one statement for several k, or LLVM would copy its registers for each. */
    bool single = is_single(op);
    char before[WAIT_TEXT] = "", behind[2 * WAIT_TEXT] = "";
    if (single) take_in(op, before, behind);
    int64_t most = single ? CUTE_MOST_STEPS : 1;
    for (int64_t step = 0; step < k; step += most) {
        int count = (int)(k - step < most ? k - step : most);
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++)
                CUTE_TRY(
                    emit_products(p, i, j, step, count, step ? "" : before, step + count < k ? "" : behind));
    }
    cute_pass_remark(pass, mlirOperationGetLocation(op), "%lld runs of %s", (long long)(m * n * k),
                     p->atom->name);
    return CUTE_OK;
}

/* ---- fences and waits ---- */

typedef struct pins {
    cute_arena *arena;
    cute_pass_run *pass;
    bool a_too;            /* include registers of A */
    MlirOperation *memory; /* llvm.alloca */
    size_t count, capacity;
} pins;

static void pin_registers(pins *p, MlirValue tensor)
{
    const cute_value *type = cute_type_peek(mlirValueGetType(tensor));
    MlirOperation memory = type && type->type == CUTE_MEMREF && type->pointer->space == CUTE_SPACE_RMEM
                               ? memory_of(tensor, NULL)
                               : (MlirOperation){NULL};
    if (mlirOperationIsNull(memory)) return;
    for (size_t i = 0; i < p->count; i++)
        if (mlirOperationEqual(p->memory[i], memory)) return;
    if (cute_arena_more(p->arena, &p->memory, p->count, &p->capacity, sizeof *p->memory, 4))
        p->memory[p->count++] = memory;
}

static void pin_product(MlirOperation op, void *context)
{
    pins *p = context;
    if (!is_wgmma(op)) return;
    pin_registers(p, mlirOperationGetOperand(op, 1));
    if (p->a_too) pin_registers(p, mlirOperationGetOperand(op, 2));
}

static void pin_inside(pins *p, MlirOperation op)
{
    cute_op_each(op, "cute.", pin_product, p);
}

/* Whether the region of `op` has one block, so that the order of its operations is known. */
static bool is_structured(MlirOperation op)
{
    MlirBlock first = mlirRegionGetFirstBlock(mlirBlockGetParentRegion(mlirOperationGetBlock(op)));
    return mlirBlockIsNull(mlirBlockGetNextInRegion(first));
}

static bool is_function_like(MlirOperation op)
{
    return mlirOperationIsNull(op) || cute_op_of(op, "gpu.") || cute_op_of(op, "func.") ||
           cute_op_is(op, "llvm.func") || cute_op_of(op, "cuda.");
}

/* Adds registers of wgmmas after a fence, up to the end of their group. */
static void pin_behind(pins *p, MlirOperation op)
{
    for (;;) {
        MlirOperation parent = mlirOperationGetParentOperation(op);
        if (!is_structured(op)) pin_inside(p, parent);
        for (MlirOperation next = mlirOperationGetNextInBlock(op); !mlirOperationIsNull(next);
             next = mlirOperationGetNextInBlock(next)) {
            if (mark_of(next, NULL) == MARK_COMMIT) return;
            pin_inside(p, next);
        }
        if (is_function_like(parent)) return;
        pin_inside(p, parent); /* from the next iteration */
        op = parent;
    }
}

/* Groups committed between a point and a wait behind it, and the most that may be under way at the wait. */
typedef struct backlog {
    int64_t groups, most;
} backlog;

static bool pin_back(pins *p, MlirBlock block, MlirOperation end, backlog *b);

/* Adds registers of an operation with regions. *b becomes the backlog in front of it: of a branch, the longer one of its regions; a loop may run no
 * iteration. True: none before may be under way. */
static bool pin_regions(pins *p, MlirOperation op, backlog *b)
{
    bool branch = cute_op_is(op, "scf.if"), done = branch;
    if (!branch && !cute_op_is(op, "scf.for")) {
        pin_inside(p, op);
        return false;
    }
    backlog longest = *b;
    bool first = branch;
    for (intptr_t i = 0; i < mlirOperationGetNumRegions(op); i++) {
        MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i));
        backlog inside = *b;
        if (!mlirBlockIsNull(block) && pin_back(p, block, (MlirOperation){NULL}, &inside)) continue;
        done = false;
        if (first || inside.most - inside.groups > longest.most - longest.groups) longest = inside;
        first = false;
    }
    *b = longest;
    return done;
}

/* Adds registers of the wgmmas in a block, from `end` (null: its end) backwards, that may be under way. True:
 * none before the block may be. */
static bool pin_back(pins *p, MlirBlock block, MlirOperation end, backlog *b)
{
    MlirOperation *before = NULL, at = mlirBlockGetFirstOperation(block);
    size_t count = 0, capacity = 0;
    for (; !mlirOperationIsNull(at) && !mlirOperationEqual(at, end); at = mlirOperationGetNextInBlock(at))
        if (cute_arena_more(p->arena, &before, count, &capacity, sizeof *before, 64)) before[count++] = at;
    while (count-- > 0) {
        int64_t pending;
        mark is = mark_of(before[count], &pending);
        if (is == MARK_COMMIT && ++b->groups > b->most) return true;
        if (is == MARK_WAIT && pending < b->most - b->groups) b->most = b->groups + pending;
        if (!mlirOperationGetNumRegions(before[count]))
            pin_product(before[count], p);
        else if (pin_regions(p, before[count], b))
            return true;
    }
    return false;
}

/* Adds registers of the wgmmas that may be under way at a wait. */
static void pin_before(pins *p, MlirOperation op)
{
    backlog b = {0, INT64_MAX};
    for (;;) {
        MlirOperation parent = mlirOperationGetParentOperation(op);
        if (!is_structured(op))
            pin_inside(p, parent);
        else if (pin_back(p, mlirOperationGetBlock(op), op, &b))
            return;
        if (is_function_like(parent)) return;
        backlog previous = b;
        if (!cute_op_is(parent, "scf.if"))
            pin_regions(p, parent, &previous); /* from the previous iteration */
        op = parent;
    }
}

/* Element count and type of an llvm.alloca of an array, from the text of `!llvm.array<128 x f32>`: the C
 * API has no accessor. */
static MlirType elements_of(MlirOperation memory, int64_t *count)
{
    long long elements = 0;
    char type[32] = "";
    cute_buffer text = {0};
    mlirTypePrint(mlirTypeAttrGetValue(mlirOperationGetAttributeByName(memory, cute_text("elem_type"))),
                  cute_print_to_buffer, &text);
    bool array = sscanf(cute_buffer_text(&text), "!llvm.array<%lld x %31[a-z0-9]>", &elements, type) == 2;
    cute_buffer_release(&text);
    *count = elements;
    return array ? mlirTypeParseGet(mlirOperationGetContext(memory), cute_text(type)) : (MlirType){NULL};
}

/* Loads the registers of `memory` before the instruction and stores them after it. */
static void place_instruction(pins *p, MlirOperation op, const char *ptx)
{
    cute_builder b = cute_builder_before(op);
    MlirValue values[CUTE_MOST_TIED], addresses[CUTE_MOST_TIED];
    intptr_t count = 0;
    for (size_t i = 0; i < p->count; i++) {
        MlirValue base = mlirOperationGetResult(p->memory[i], 0);
        int64_t elements;
        MlirType stored = elements_of(p->memory[i], &elements);
        if (mlirTypeIsNull(stored)) continue;
        int bits = mlirTypeIsAInteger(stored) ? (int)mlirIntegerTypeGetWidth(stored)
                                              : (int)mlirFloatTypeGetWidth(stored);
        int64_t in_word = bits < 32 ? 32 / bits : 1;
        MlirType word = in_word == 1 ? stored : mlirIntegerTypeGet(b.context, 32);
        if (elements % in_word || count + elements / in_word > CUTE_MOST_TIED) continue;
        for (int64_t j = 0; j < elements; j += in_word) {
            addresses[count] = cute_advance(&b, base, stored, bits, (MlirValue){NULL}, j);
            values[count] = cute_load(&b, word, addresses[count], in_word * bits / 8);
            count++;
        }
    }
    cute_arch_pinned(&b, ptx, values, count);
    for (intptr_t i = 0; i < count; i++) cute_store(&b, values[i], addresses[i], 4);
    mlirOperationDestroy(op);
}

/* Whether a fence or wait applies only to the adjacent product, which absorbs it. */
static bool is_of_neighbour(const pins *p, MlirOperation op, mark is)
{
    MlirOperation of = is == MARK_FENCE ? effect_behind(op) : effect_before(op);
    if (is == MARK_WAIT) of = is_mark(of, MARK_COMMIT) ? effect_before(of) : (MlirOperation){NULL};
    if (mlirOperationIsNull(of) || !is_wgmma(of) || !is_single(of)) return false;
    MlirOperation d = memory_of(mlirOperationGetOperand(of, 1), NULL);
    MlirOperation a = p->a_too ? memory_of(mlirOperationGetOperand(of, 2), NULL) : d;
    for (size_t i = 0; i < p->count; i++)
        if (!mlirOperationEqual(p->memory[i], d) && !mlirOperationEqual(p->memory[i], a)) return false;
    return true;
}

static void pin_one(MlirOperation op, void *context)
{
    pins *p = context;
    mark is = mark_of(op, NULL);
    if (is != MARK_FENCE && is != MARK_WAIT) return;
    p->count = 0;
    p->a_too = is == MARK_FENCE;
    if (is == MARK_FENCE)
        pin_behind(p, op);
    else
        pin_before(p, op);
    if (!p->count || is_of_neighbour(p, op, is)) return;
    char text[WAIT_TEXT];
    mark_text(op, text);
    place_instruction(p, op, text);
}

void cute_pin_wgmma(MlirOperation root, cute_pass_run *pass)
{
    check_signs(root, pass);
    pins p = {.pass = pass, .arena = cute_arena_create()};
    /* Last first: the waits before one are still there. */
    if (p.arena) cute_op_walk(root, NULL, CUTE_WALK_LAST_FIRST, pin_one, &p);
    cute_arena_destroy(p.arena);
}

/* ---- warpgroup_mma ---- */

static void expand_product(MlirOperation op, void *context)
{
    *(bool *)context = true;
    cute_builder b = cute_builder_before(op);
    MlirValue mma = mlirOperationGetOperand(op, 0), a = mlirOperationGetOperand(op, 1),
              factor = mlirOperationGetOperand(op, 2), c = mlirOperationGetOperand(op, 3);
    MlirNamedAttribute all =
        cute_attribute(b.context, "groups", mlirIntegerAttrGet(mlirIntegerTypeGet(b.context, 32), 0));
    cute_build(&b, "cute_nvgpu.arch.wgmma_fence", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    cute_build(&b, "cute.gemm", CUTE_OPERANDS(mma, c, a, factor, c), CUTE_NO_TYPES, CUTE_NO_NAMED);
    cute_build(&b, "cute_nvgpu.arch.wgmma_commit_group", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    cute_build(&b, "cute_nvgpu.arch.wgmma_wait_group", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NAMED(all));
    if (mlirOperationGetNumOperands(op) > 4)
        cute_build(&b, "cute_nvgpu.arch.mbarrier_arrive", CUTE_OPERANDS(mlirOperationGetOperand(op, 4)),
                   CUTE_NO_TYPES, CUTE_NO_NAMED);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), c);
    mlirOperationDestroy(op);
}

bool cute_expand_warpgroup_mma(MlirOperation root)
{
    bool any = false;
    cute_op_each(root, "cute_nvgpu.arch.warpgroup_mma", expand_product, &any);
    return any;
}
