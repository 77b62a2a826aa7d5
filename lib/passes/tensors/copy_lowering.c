/* cute-nvgpu-copy-lowering: lowers operations on tensors in memory to loads and stores of pointers.
 *
 * Requires: cute-expand-ops. Ensures: no cute.copy, copy_atom_call, prefetch, fill, memref.alloca, load,
 * store, load_vec, store_vec, ptr.load, ptr.store, and no atomic updates. A copy runs its atom once for each
 * coordinate of the modes after the atom's values; tensors in registers are accessed in words at constant
 * offsets, so that LLVM can promote them.
 *
 *     cute.copy(%atom, %src, %dst) : (!cute_nvgpu.atom.universal_copy<f32, 128 b>, ...)
 * ->
 *     %v = llvm.load %address {alignment = 16} : !llvm.ptr<1> -> vector<4xf32>
 *     %x = vector.extract %v[0]
 *     llvm.store %x, %register
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>

#include "lib/ir/dialects/fields.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"
#include "lib/passes/devices/arch.h"
#include "lib/passes/passes.h"
#include "lib/passes/tensors/atomic_lowering.h"
#include "lib/passes/tensors/lower_each.h"
#include "lib/passes/tensors/shared_memory.h"
#include "lib/passes/tensors/tensors.h"
#include "lib/passes/tensors/tma_lowering.h"

/* ---- registers ---- */

/* The entry block of the function, or of the outermost operation, that contains `op`. */
static MlirBlock entry_block(MlirOperation op)
{
    MlirOperation parent = mlirOperationGetParentOperation(op);
    while (!mlirOperationIsNull(parent)) {
        if (cute_op_is(parent, "gpu.func") || cute_op_is(parent, "func.func") ||
            cute_op_is(parent, "llvm.func"))
            return mlirRegionGetFirstBlock(mlirOperationGetRegion(parent, 0));
        parent = mlirOperationGetParentOperation(parent);
    }
    return mlirOperationGetBlock(op);
}

/* The layout of a tensor in memory. */
static MlirValue layout_of(const cute_expansion *x, const cute_builder *b, MlirOperation op)
{
    if (mlirOperationGetNumOperands(op)) return mlirOperationGetOperand(op, 0);
    const cute_value *tensor = cute_type_peek(mlirValueGetType(mlirOperationGetResult(op, 0)));
    cute_value layout = cute_value_of_layout(tensor->layout);
    if (tensor->tree) {
        layout = *tensor;
        layout.type = CUTE_COMPOSED_LAYOUT;
        layout.pointer = NULL;
    }
    MlirType type = cute_type_of_value(b->context, x->arena, &layout);
    if (mlirTypeIsNull(type)) return (MlirValue){NULL};
    return cute_build_value(b, "cute.static", type, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
}

/* Builds the tensor that `op` creates from its memory. */
static cute_status make_tensor(const cute_expansion *x, MlirOperation op, MlirValue memory)
{
    cute_builder b = cute_builder_before(op);
    MlirValue result = mlirOperationGetResult(op, 0);
    cute_value at = {.type = CUTE_PTR, .pointer = cute_type_peek(mlirValueGetType(result))->pointer};
    MlirType type = cute_type_of_value(b.context, x->arena, &at);
    MlirValue layout = mlirTypeIsNull(type) ? (MlirValue){NULL} : layout_of(x, &b, op);
    if (mlirValueIsNull(layout)) return cute_fail_memory(x->diag);
    MlirValue iterator = cute_cast(&b, memory, type);
    MlirValue view = cute_build_value(&b, "cute.make_view", mlirValueGetType(result),
                                      CUTE_OPERANDS(iterator, layout), CUTE_NO_NAMED);
    mlirValueReplaceAllUsesOfWith(result, view);
    return CUTE_OK;
}

static cute_status lower_shared(const cute_expansion *x, MlirOperation op, const cute_value *type)
{
    cute_builder b = cute_builder_before(op);
    MlirOperation module = cute_op_parent(op, "gpu.module");
    int64_t bytes, align;
    if (mlirOperationIsNull(module))
        return cute_fail(x->diag, CUTE_INVALID, NULL,
                         "expects to be in a gpu.module: only kernels have shared memory");
    CUTE_TRY(cute_shared_size(x->arena, type, &bytes, &align, x->diag));
    if (bytes > CUTE_STATIC_SHARED) bytes = 0; /* already rejected */
    return make_tensor(x, op, cute_shared_static(&b, module, bytes, align));
}

static cute_status lower_alloca(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    MlirValue result = mlirOperationGetResult(op, 0);
    const cute_value *type = cute_type_peek(mlirValueGetType(result));
    if (type->pointer->space == CUTE_SPACE_SMEM) return lower_shared(x, op, type);
    cute_value layout = cute_value_of_layout(type->layout), size;
    cute_builder b = cute_builder_before(op);
    MlirContext c = b.context;
    const cute_pointer *pointer = type->pointer;
    MlirType element = cute_element_type(c, pointer->element);
    MlirType stored = mlirTypeIsNull(element) ? element : cute_stored_type(element, pointer->bits);
    CUTE_TRY(cute_apply(x->arena, NULL, CUTE_OP_COSIZE, &layout, 1, NULL, &size, x->diag));
    if (mlirTypeIsNull(stored) || !pointer->bits || size.tree->kind != CUTE_TREE_INT ||
        !size.tree->value.known)
        return cute_fail(x->diag, CUTE_INVALID, NULL, "expects a known number of elements of known size");
    int64_t count =
        pointer->bits < 8 ? (size.tree->value.value * pointer->bits + 7) / 8 : size.tree->value.value;
    if (count > CUTE_MAX_LEAVES)
        return cute_fail(x->diag, CUTE_INVALID, NULL, "expects at most %d elements in registers, got %lld",
                         CUTE_MAX_LEAVES, (long long)count);
    const char *name =
        cute_arena_printf(x->arena, "%s \"%s\"", pointer->element, cute_layout_text(x->arena, type->layout));
    if (!name) return cute_fail_memory(x->diag);
    cute_builder entry = cute_builder_at_start(entry_block(op), b.location);
    MlirType i32 = mlirIntegerTypeGet(c, 32), ptr = cute_pointer_type(c, CUTE_SPACE_RMEM);
    MlirValue one = cute_build_value(&entry, "llvm.mlir.constant", i32, CUTE_NO_OPERANDS,
                                     CUTE_NAMED(cute_attribute(c, "value", mlirIntegerAttrGet(i32, 1))));
    MlirNamedAttribute attributes[] = {
        cute_attribute(c, "elem_type", mlirTypeAttrGet(mlirLLVMArrayTypeGet(stored, (unsigned)count))),
        cute_attribute(c, "alignment", mlirIntegerAttrGet(mlirIntegerTypeGet(c, 64), pointer->align)),
        cute_attribute(c, CUTE_REGISTERS, cute_string_attribute(c, name))};
    MlirValue memory =
        cute_build_value(&entry, "llvm.alloca", ptr, CUTE_OPERANDS(one), (cute_named){attributes, 3});
    return make_tensor(x, op, memory);
}

/* ---- single elements ---- */

static cute_status lower_element_load(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    cute_tensor t;
    MlirValue address, shift;
    int64_t align;
    CUTE_TRY(cute_tensor_at(x, op, 0, 1, &t, &address, &align, &shift));
    MlirValue value = cute_load(&t.b, t.stored, address, align);
    if (!mlirValueIsNull(shift)) value = cute_binary(&t.b, "arith.shrui", value, shift);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), cute_as_element(&t, value));
    return CUTE_OK;
}

static cute_status lower_element_store(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    cute_tensor t;
    MlirValue address, shift;
    int64_t align;
    CUTE_TRY(cute_tensor_at(x, op, 0, 1, &t, &address, &align, &shift));
    MlirValue value = cute_as_stored(&t, mlirOperationGetOperand(op, 2));
    if (!mlirValueIsNull(shift)) { /* keeps the other elements of the byte */
        if (t.value.pointer->space != CUTE_SPACE_RMEM)
            return cute_fail(x->diag, CUTE_INVALID, NULL,
                             "cannot store an element of %d bits to memory shared by threads: expects rmem, "
                             "or a copy of whole bytes",
                             t.bits);
        MlirValue mask = cute_integer(&t.b, t.stored, ((int64_t)1 << t.bits) - 1);
        MlirValue old = cute_load(&t.b, t.stored, address, align);
        MlirValue hole = cute_binary(&t.b, "arith.xori", cute_binary(&t.b, "arith.shli", mask, shift),
                                     cute_integer(&t.b, t.stored, -1));
        old = cute_binary(&t.b, "arith.andi", old, hole);
        value = cute_binary(&t.b, "arith.shli", cute_binary(&t.b, "arith.andi", value, mask), shift);
        value = cute_binary(&t.b, "arith.ori", old, value);
    }
    cute_store(&t.b, value, address, align);
    return CUTE_OK;
}

/* ---- whole tensors ---- */

static cute_status lower_load_vec(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    cute_tensor t;
    CUTE_TRY(cute_tensor_bind(x, op, 0, &t));
    MlirValue *words = cute_arena_array(x->arena, (size_t)t.size, sizeof *words);
    MlirValue *elements = cute_arena_array(x->arena, (size_t)t.size, sizeof *elements);
    if (!words || !elements) return cute_fail_memory(x->diag);
    CUTE_TRY(cute_tensor_load(&t, 0, t.size, 0, words));
    cute_tensor_unpack(&t, words, t.size, elements);
    MlirValue result = mlirOperationGetResult(op, 0);
    MlirType type = mlirValueGetType(result);
    MlirValue vector = cute_build_value(&t.b, "vector.from_elements", cute_vector_flat(type),
                                        (cute_operands){elements, t.size}, CUTE_NO_NAMED);
    if (mlirShapedTypeGetRank(type) != 1) vector = cute_unary(&t.b, "vector.shape_cast", vector, type);
    mlirValueReplaceAllUsesOfWith(result, vector);
    return CUTE_OK;
}

/* The element that a vector repeats, or null. */
static MlirValue repeated_element(const cute_builder *b, MlirValue vector)
{
    MlirOperation op = cute_defining_op(vector);
    MlirValue none = {NULL};
    if (mlirOperationIsNull(op)) return none;
    if (cute_op_is(op, "vector.splat") || cute_op_is(op, "vector.broadcast")) {
        MlirValue from = mlirOperationGetOperand(op, 0);
        return mlirTypeIsAVector(mlirValueGetType(from)) ? none : from;
    }
    MlirAttribute value = cute_constant_splat(vector);
    if (mlirAttributeIsNull(value)) return none;
    return cute_build_value(b, "arith.constant", cute_type_element(mlirValueGetType(vector)),
                            CUTE_NO_OPERANDS, CUTE_NAMED(cute_attribute(b->context, "value", value)));
}

/* Stores one value to all elements. */
static cute_status store_all(cute_tensor *t, MlirValue value)
{
    MlirValue elements[32], *words = cute_arena_array(t->x->arena, (size_t)t->size, sizeof *words);
    if (!words) return cute_fail_memory(t->x->diag);
    int64_t count = cute_tensor_words(t, t->size), in_word = t->size / count;
    for (int64_t i = 0; i < in_word; i++) elements[i] = value;
    cute_tensor_pack(t, elements, in_word, words);
    for (int64_t i = 1; i < count; i++) words[i] = words[0];
    return cute_tensor_store(t, 0, t->size, 0, words);
}

static cute_status lower_store_vec(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    cute_tensor t;
    CUTE_TRY(cute_tensor_bind(x, op, 1, &t));
    MlirValue vector = mlirOperationGetOperand(op, 0), same = repeated_element(&t.b, vector);
    if (!mlirValueIsNull(same)) return store_all(&t, same);
    MlirValue *words = cute_arena_array(x->arena, (size_t)t.size, sizeof *words);
    MlirValue *elements = cute_arena_array(x->arena, (size_t)t.size, sizeof *elements);
    if (!words || !elements) return cute_fail_memory(x->diag);
    MlirType type = mlirValueGetType(vector);
    if (mlirShapedTypeGetRank(type) != 1)
        vector = cute_unary(&t.b, "vector.shape_cast", vector, cute_vector_flat(type));
    for (int64_t i = 0; i < t.size; i++) elements[i] = cute_vector_extract(&t.b, vector, i);
    cute_tensor_pack(&t, elements, t.size, words);
    return cute_tensor_store(&t, 0, t.size, 0, words);
}

static cute_status lower_fill(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    cute_tensor t;
    CUTE_TRY(cute_tensor_bind(x, op, 0, &t));
    return store_all(&t, mlirOperationGetOperand(op, 1));
}

/* ---- pointers ---- */

static cute_status bind_pointer(const cute_expansion *x, MlirOperation op, MlirValue *address, int64_t *align)
{
    MlirValue pointer = mlirOperationGetOperand(op, 0);
    const cute_value *type = cute_type_peek(mlirValueGetType(pointer));
    if (!type || type->type != CUTE_PTR) return cute_fail(x->diag, CUTE_INVALID, NULL, "expects a pointer");
    cute_builder b = cute_builder_before(op);
    *address = cute_cast(&b, pointer, cute_pointer_type(b.context, type->pointer->space));
    *address = cute_swizzled_address(&b, type->pointer, *address);
    *align = type->pointer->align;
    return CUTE_OK;
}

static cute_status lower_ptr_load(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    MlirValue address, result = mlirOperationGetResult(op, 0);
    int64_t align;
    CUTE_TRY(bind_pointer(x, op, &address, &align));
    cute_builder b = cute_builder_before(op);
    mlirValueReplaceAllUsesOfWith(result, cute_load(&b, mlirValueGetType(result), address, align));
    return CUTE_OK;
}

static cute_status lower_ptr_store(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    MlirValue address;
    int64_t align;
    CUTE_TRY(bind_pointer(x, op, &address, &align));
    cute_builder b = cute_builder_before(op);
    cute_store(&b, mlirOperationGetOperand(op, 1), address, align);
    return CUTE_OK;
}

/* ---- copies ---- */

typedef struct copy {
    const cute_expansion *x;
    MlirOperation op;
    const cute_atom *atom;
    cute_tensor from, to, predicate;
    bool predicated, zero_fill; /* writes zeros where the predicate is 0 */
    MlirValue policy;           /* of the L2 cache, or null */
    int64_t in, out, runs;      /* elements that a run of the atom reads and writes; number of runs */
} copy;

/* The predicate of a run as an i1; null: unpredicated. A run whose elements have predicates needs all of
 * them. */
static cute_status run_predicate(copy *c, int64_t run, MlirValue *out)
{
    *out = (MlirValue){NULL};
    if (!c->predicated) return CUTE_OK;
    cute_tensor *t = &c->predicate;
    int64_t each = t->size > c->runs ? t->size / c->runs : 1;
    int64_t first = run * t->size / c->runs;
    for (int64_t i = 0; i < each; i++) {
        MlirValue value;
        CUTE_TRY(cute_tensor_load(t, first + i, 1, 0, &value));
        value = cute_compare(&t->at, CUTE_IS_NE, value, cute_integer(&t->at, t->stored, 0));
        *out = i ? cute_binary(&t->at, "arith.andi", *out, value) : value;
    }
    return CUTE_OK;
}

/* Creates an scf.if before `op`. *inside and, if given, *other receive builders for its two blocks. */
static MlirOperation build_if(MlirOperation op, MlirValue condition, cute_types results, cute_builder *inside,
                              cute_builder *other)
{
    cute_builder b = cute_builder_before(op), *into[2] = {inside, other};
    MlirRegion regions[2] = {mlirRegionCreate(), mlirRegionCreate()};
    for (int i = 0; i < 2; i++) {
        if (!into[i]) continue;
        MlirBlock block = mlirBlockCreate(0, NULL, NULL);
        mlirRegionAppendOwnedBlock(regions[i], block);
        *into[i] = cute_builder_at_end(block, b.location);
    }
    return cute_build_regions(&b, "scf.if", CUTE_OPERANDS(condition), results, CUTE_NO_NAMED, regions, 2);
}

static cute_status load_run(copy *c, int64_t run, int64_t stated, MlirValue *words)
{
    CUTE_TRY(cute_tensor_load(&c->from, run * c->in, c->in, stated, words));
    MlirType word = cute_tensor_word(&c->to, c->out);
    for (int64_t i = 0; i < cute_tensor_words(&c->to, c->out); i++)
        if (!mlirTypeEqual(mlirValueGetType(words[i]), word))
            words[i] = cute_unary(&c->from.at, "llvm.bitcast", words[i], word);
    return CUTE_OK;
}

/* Predicates the loads only: the words are loaded, or zero. */
static cute_status load_or_zeros(copy *c, int64_t run, int64_t stated, MlirValue predicate, MlirValue *words)
{
    MlirType types[128], word = cute_tensor_word(&c->to, c->out);
    MlirValue zeros[128];
    int64_t count = cute_tensor_words(&c->to, c->out);
    for (int64_t i = 0; i < count; i++) types[i] = word;
    cute_builder outside = c->from.b, inside, other;
    MlirOperation made = build_if(c->op, predicate, (cute_types){types, count}, &inside, &other);
    c->from.b = cute_builder_before(made);
    c->from.at = inside;
    CUTE_TRY(load_run(c, run, stated, words));
    c->from.b = c->from.at = outside;
    cute_build(&inside, "scf.yield", (cute_operands){words, count}, CUTE_NO_TYPES, CUTE_NO_NAMED);
    for (int64_t i = 0; i < count; i++)
        zeros[i] = cute_build_value(&other, "llvm.mlir.zero", word, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    cute_build(&other, "scf.yield", (cute_operands){zeros, count}, CUTE_NO_TYPES, CUTE_NO_NAMED);
    for (int64_t i = 0; i < count; i++) words[i] = mlirOperationGetResult(made, i);
    return CUTE_OK;
}

static cute_status run_universal(copy *c, int64_t run)
{
    MlirValue words[128], predicate;
    if (c->in > 128)
        return cute_fail(c->x->diag, CUTE_INVALID, NULL, "expects at most 128 elements per run of the atom");
    CUTE_TRY(run_predicate(c, run, &predicate));
    /* An atom with a stated width also implies that alignment. */
    int64_t stated = c->atom->bits > c->from.bits ? c->atom->bits / 8 : 0;
    cute_tensor *tensors[] = {&c->from, &c->to};
    bool guarded = !mlirValueIsNull(predicate);
    if (guarded && c->zero_fill) {
        CUTE_TRY(load_or_zeros(c, run, stated, predicate, words));
        return cute_tensor_store(&c->to, run * c->out, c->out, stated, words);
    }
    cute_builder outside = c->from.b, inside = outside;
    if (guarded) {
        MlirOperation made = build_if(c->op, predicate, CUTE_NO_TYPES, &inside, NULL);
        for (int i = 0; i < 2; i++) tensors[i]->b = cute_builder_before(made), tensors[i]->at = inside;
    }
    CUTE_TRY(load_run(c, run, stated, words));
    CUTE_TRY(cute_tensor_store(&c->to, run * c->out, c->out, stated, words));
    if (guarded) {
        cute_build(&inside, "scf.yield", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
        for (int i = 0; i < 2; i++) tensors[i]->b = tensors[i]->at = outside;
    }
    return CUTE_OK;
}

/* Requires the elements of a run that has an address of its own to be contiguous. */
static cute_status need_contiguous(copy *c, const cute_tensor *t, int64_t count, const char *what)
{
    if (cute_tensor_run(t) >= count) return CUTE_OK;
    return cute_fail(c->x->diag, CUTE_INVALID, NULL, "expects %lld contiguous elements in %s, got \"%s\"",
                     (long long)count, what, cute_layout_text(c->x->arena, t->value.layout));
}

static cute_status run_async(copy *c, int64_t run)
{
    MlirValue from, to;
    int64_t align;
    cute_cp_async how = {.bytes = c->atom->bits / 8,
                         .prefetch = c->atom->l2_prefetch,
                         .global = c->atom->cache && !strcmp(c->atom->cache, "global")};
    if (c->atom->l2_eviction && mlirValueIsNull(c->policy))
        c->policy = cute_arch_policy(&c->from.b, c->atom->l2_eviction);
    how.policy = c->policy;
    CUTE_TRY(need_contiguous(c, &c->from, c->in, "the source"));
    CUTE_TRY(need_contiguous(c, &c->to, c->out, "the destination"));
    CUTE_TRY(run_predicate(c, run, &how.predicate));
    CUTE_TRY(cute_tensor_address(&c->from, run * c->in, &from, &align));
    CUTE_TRY(cute_tensor_address(&c->to, run * c->out, &to, &align));
    cute_arch_cp_async(&c->to.at, to, from, &how);
    return CUTE_OK;
}

static cute_status run_ldsm(copy *c, int64_t run)
{
    MlirValue from, words[4];
    int64_t align;
    CUTE_TRY(need_contiguous(c, &c->from, c->in, "the source"));
    CUTE_TRY(cute_tensor_address(&c->from, run * c->in, &from, &align));
    cute_arch_ldmatrix(&c->to.at, from, c->atom->matrices, c->atom->transposed, words);
    MlirType word = cute_tensor_word(&c->to, c->out);
    for (int i = 0; i < c->atom->matrices; i++)
        if (!mlirTypeEqual(mlirValueGetType(words[i]), word))
            words[i] = cute_unary(&c->to.at, "llvm.bitcast", words[i], word);
    return cute_tensor_store(&c->to, run * c->out, c->out, 0, words);
}

static cute_status run_stsm(copy *c, int64_t run)
{
    MlirValue to, words[4];
    int64_t align;
    CUTE_TRY(need_contiguous(c, &c->to, c->out, "the destination"));
    CUTE_TRY(cute_tensor_load(&c->from, run * c->in, c->in, 0, words));
    MlirType i32 = mlirIntegerTypeGet(c->to.at.context, 32);
    for (int i = 0; i < c->atom->matrices; i++)
        if (!mlirTypeEqual(mlirValueGetType(words[i]), i32))
            words[i] = cute_unary(&c->to.at, "llvm.bitcast", words[i], i32);
    CUTE_TRY(cute_tensor_address(&c->to, run * c->out, &to, &align));
    cute_arch_stmatrix(&c->to.at, to, c->atom->matrices, c->atom->transposed, words);
    return CUTE_OK;
}

/* Lowering of each atom, by the mnemonic of its type. `from`, `to`: memory spaces of the instruction;
 * GENERIC: any. */
static const struct {
    const char *mnemonic;
    cute_status (*run)(copy *c, int64_t run);
    bool predicate;
    cute_space from, to;
} atoms[] = {
    {"atom.universal_copy", run_universal, true, CUTE_SPACE_GENERIC, CUTE_SPACE_GENERIC},
    {"atom.simt_async_copy", run_async, true, CUTE_SPACE_GMEM, CUTE_SPACE_SMEM},
    {"atom.ldsm", run_ldsm, false, CUTE_SPACE_SMEM, CUTE_SPACE_RMEM},
    {"atom.stsm", run_stsm, false, CUTE_SPACE_RMEM, CUTE_SPACE_SMEM},
};

static cute_status copy_atom(const cute_expansion *x, MlirOperation op, const cute_atom **out)
{
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
    const cute_value *value = cute_type_peek(type);
    *out = value ? value->atom : NULL;
    if (*out && (*out)->known) return CUTE_OK;
    cute_buffer text = {0};
    mlirTypePrint(type, cute_print_to_buffer, &text);
    cute_status status =
        cute_fail(x->diag, CUTE_INVALID, NULL, "is not supported by %s", cute_buffer_text(&text));
    cute_buffer_release(&text);
    return status;
}

/* Elements of `t` that one run moves through `operand` of the atom. */
static cute_status elements_of_run(copy *c, const cute_tensor *t, int operand, int64_t *out)
{
    int64_t bits = (int64_t)c->atom->operand[operand].values * c->atom->operand[operand].bits;
    if (bits % t->bits == 0 && bits && t->size % (bits / t->bits) == 0) return *out = bits / t->bits, CUTE_OK;
    return cute_fail(c->x->diag, CUTE_INVALID, NULL,
                     "expects tensors of runs of %lld bits, as %s moves, got \"%s\" of elements of %d bits",
                     (long long)bits, c->atom->name, cute_layout_text(c->x->arena, t->value.layout), t->bits);
}

/* Widens runs of a single-element atom if both tensors allow it. */
static void widen_runs(copy *c)
{
    bool open = !strcmp(c->atom->mnemonic, "atom.universal_copy") && c->in == 1 && c->out == 1;
    if (!open || c->predicated || c->from.bits != c->to.bits) return;
    int64_t a = cute_tensor_run(&c->from), b = cute_tensor_run(&c->to), width = a < b ? a : b;
    while (width > 1 && (width * c->from.bits > 128 || c->runs % width)) width /= 2;
    c->in = c->out = width;
    c->runs /= width;
}

static cute_status lower_copy(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    copy *c = cute_arena_alloc(x->arena, sizeof *c);
    if (!c) return cute_fail_memory(x->diag);
    *c = (copy){.x = x,
                .op = op,
                .predicated = mlirOperationGetNumOperands(op) > 3,
                .zero_fill =
                    !mlirAttributeIsNull(mlirOperationGetAttributeByName(op, cute_text("zero_fill")))};
    if (cute_tma_copies(op)) return cute_tma_lower_copy(x, pass, op);
    CUTE_TRY(copy_atom(x, op, &c->atom));
    size_t i = 0;
    while (i < sizeof atoms / sizeof *atoms && strcmp(atoms[i].mnemonic, c->atom->mnemonic) != 0) i++;
    if (i == sizeof atoms / sizeof *atoms)
        return cute_fail(x->diag, CUTE_INVALID, NULL, "expects a copy atom, got %s", c->atom->text);
    if (c->predicated && !atoms[i].predicate)
        return cute_fail(x->diag, CUTE_INVALID, NULL,
                         "expects no predicate: %s cannot be predicated, all lanes run it", c->atom->name);
    CUTE_TRY(cute_tensor_bind(x, op, 1, &c->from));
    CUTE_TRY(cute_tensor_bind(x, op, 2, &c->to));
    if (c->predicated) CUTE_TRY(cute_tensor_bind(x, op, 3, &c->predicate));
    const cute_space spaces[] = {atoms[i].from, atoms[i].to};
    const cute_tensor *const tensors[] = {&c->from, &c->to};
    for (int j = 0; j < 2; j++)
        if (spaces[j] != CUTE_SPACE_GENERIC && spaces[j] != tensors[j]->value.pointer->space)
            return cute_fail(x->diag, CUTE_INVALID, NULL, "expects %s in %s for %s, got %s",
                             j ? "a destination" : "a source", cute_space_name(spaces[j]), c->atom->name,
                             cute_space_name(tensors[j]->value.pointer->space));
    CUTE_TRY(elements_of_run(c, &c->from, CUTE_ATOM_SOURCE, &c->in));
    CUTE_TRY(elements_of_run(c, &c->to, CUTE_ATOM_DESTINATION, &c->out));
    c->runs = c->from.size / c->in;
    if (c->runs != c->to.size / c->out ||
        (c->predicated && c->runs % c->predicate.size && c->predicate.size % c->runs))
        return cute_fail(x->diag, CUTE_INVALID, NULL,
                         "expects equal numbers of runs of %s in all operands, got %lld in the source, %lld "
                         "in the destination%s",
                         c->atom->name, (long long)c->runs, (long long)(c->to.size / c->out),
                         c->predicated ? " and a different number of predicates" : "");
    widen_runs(c);
    for (int64_t run = 0; run < c->runs; run++) CUTE_TRY(atoms[i].run(c, run));
    cute_pass_remark(pass, mlirOperationGetLocation(op), "%lld runs of %s, %lld bits each",
                     (long long)c->runs, c->atom->name, (long long)(c->out * c->to.bits));
    return CUTE_OK;
}

static cute_status lower_prefetch(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    copy c = {.x = x, .op = op};
    if (cute_tma_copies(op)) return cute_tma_lower_prefetch(x, op);
    CUTE_TRY(copy_atom(x, op, &c.atom));
    CUTE_TRY(cute_tensor_bind(x, op, 1, &c.from));
    CUTE_TRY(elements_of_run(&c, &c.from, CUTE_ATOM_SOURCE, &c.in));
    if (c.from.value.pointer->space != CUTE_SPACE_GMEM)
        return cute_fail(x->diag, CUTE_INVALID, NULL, "expects a tensor in gmem, got %s",
                         cute_space_name(c.from.value.pointer->space));
    for (int64_t i = 0; i < c.from.size; i += c.in) {
        MlirValue address;
        int64_t align;
        CUTE_TRY(cute_tensor_address(&c.from, i, &address, &align));
        cute_arch_prefetch(&c.from.at, address);
    }
    return CUTE_OK;
}

/* ---- the pass ---- */

static const cute_lower_row rows[] = {
    {"cute.memref.alloca", lower_alloca},
    {"cute.memref.load", lower_element_load},
    {"cute.memref.store", lower_element_store},
    {"cute.memref.load_vec", lower_load_vec},
    {"cute.memref.store_vec", lower_store_vec},
    {"cute.fill", lower_fill},
    {"cute.ptr.load", lower_ptr_load},
    {"cute.ptr.store", lower_ptr_store},
    {"cute.copy", lower_copy},
    {"cute.copy_atom_call", lower_copy},
    {"cute.prefetch", lower_prefetch},
};

static cute_status lower_copy_map(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    return cute_tma_lower_copy_map(x, op);
}

static cute_status lower_update_map(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    (void)pass;
    return cute_tma_lower_update_map(x, op);
}

static const cute_lower_row map_rows[] = {
    {"cute_nvgpu.copy_tma_desc", lower_copy_map},
    {"cute_nvgpu.update_tma_desc", lower_update_map},
};

static void run_copy_lowering(MlirOperation root, cute_pass_run *pass)
{
    const cute_lower_table tables[] = {{rows, sizeof rows / sizeof *rows}, cute_atomic_table};
    cute_shared_check(root, pass);
    cute_lower_rows(root, pass, "cute_nvgpu.", map_rows, sizeof map_rows / sizeof *map_rows);
    cute_lower_tables(root, pass, "cute.", tables, 2);
}

const cute_pass cute_pass_copy_lowering = {
    .name = "cute-nvgpu-copy-lowering",
    .help = "Lower copies, loads and stores of tensors to pointer accesses",
    .dialects = CUTE_DIALECT_CUTE | CUTE_DIALECT_ARITH | CUTE_DIALECT_LLVM | CUTE_DIALECT_NVVM |
                CUTE_DIALECT_SCF | CUTE_DIALECT_VECTOR,
    .run = run_copy_lowering,
};
