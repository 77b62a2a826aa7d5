/* Copies by the tensor memory accelerator (TMA): each instruction takes the coordinates of its first element
 * and that element's address in shared memory. The whole warp runs the copy; a lane selected by elect.sync
 * issues the instructions.
 *
 *     cute.copy(%atom, %coordinates, %shared) : (!cute_nvgpu.atom.tma_load<...>, !cute.coord_tensor<...>, !cute.memref<...>)
 * ->
 *     elect.sync _|elected, 0xffffffff;
 *     @elected cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [shared], [map, {c0, c1}], [barrier];
 */
#include "lib/passes/tensors/tma_lowering.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>

#include "lib/atoms/tma.h"
#include "lib/ir/dialects/fields.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/emitter.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"
#include "lib/passes/devices/arch.h"
#include "lib/passes/tensors/tensors.h"

/* PTX ISA 8.5, 9.7.9.26.4: alignment of the shared-memory address of a tensor copy, in bytes. */
enum { TENSOR_ALIGN = 128 };

static const cute_tma *tma_of(MlirValue value)
{
    const cute_value *type = cute_type_peek(mlirValueGetType(value));
    return type && type->atom ? type->atom->tma : NULL;
}

static const cute_bulk *bulk_of(MlirValue value)
{
    const cute_value *type = cute_type_peek(mlirValueGetType(value));
    return type && type->atom ? type->atom->bulk : NULL;
}

bool cute_tma_copies(MlirOperation op)
{
    if (mlirOperationGetNumOperands(op) == 0) return false;
    MlirValue atom = mlirOperationGetOperand(op, 0);
    return tma_of(atom) || bulk_of(atom);
}

/* ---- the state of an atom ---- */

typedef struct state {
    MlirValue map, barrier, mask, policy; /* of cute types, except the last two; null: not set */
} state;

/* Collects the fields set between the creation of an atom and `atom`. False if the creation is not found. */
static bool trace_atom(MlirValue atom, state *out)
{
    *out = (state){0};
    for (;;) {
        MlirOperation op = cute_defining_op(atom);
        if (mlirOperationIsNull(op)) return false;
        if (cute_op_is(op, "cute.make_atom")) return true;
        if (cute_op_is(op, "cute_nvgpu.atom.make_exec_tma")) {
            if (mlirValueIsNull(out->map)) out->map = mlirOperationGetOperand(op, 0);
            return true;
        }
        if (!cute_op_is(op, "cute_nvgpu.atom.set_value")) return false;
        MlirStringRef word = cute_word_text(mlirOperationGetAttributeByName(op, cute_text("field")));
        MlirValue *field = cute_text_is(word, "tma_bar")              ? &out->barrier
                           : cute_text_is(word, "mcast_mask")         ? &out->mask
                           : cute_text_is(word, "tma_descriptor_ptr") ? &out->map
                           : cute_text_is(word, "cache_policy")       ? &out->policy
                                                                      : NULL;
        if (field && mlirValueIsNull(*field))
            *field = mlirOperationGetOperand(op, 1); /* the last one applies */
        atom = mlirOperationGetOperand(op, 0);
    }
}

/* A generic pointer, from a non-executable atom or a cute pointer. */
static MlirValue map_pointer(const cute_builder *b, MlirValue map)
{
    const cute_value *type = cute_type_peek(mlirValueGetType(map));
    cute_space space = type && type->type == CUTE_PTR ? type->pointer->space : CUTE_SPACE_GENERIC;
    MlirValue pointer = cute_cast(b, map, cute_pointer_type(b->context, space));
    MlirType generic = mlirLLVMPointerTypeGet(b->context, 0);
    return space == CUTE_SPACE_GENERIC ? pointer : cute_unary(b, "llvm.addrspacecast", pointer, generic);
}

static cute_status state_of(const cute_expansion *x, MlirValue atom, state *out)
{
    if (trace_atom(atom, out)) return CUTE_OK;
    return cute_fail(x->diag, CUTE_INVALID, NULL,
                     "expects an atom whose make_exec_tma and set_value are visible: it must not pass a "
                     "loop, a branch or a call");
}

cute_status cute_tma_map_of(const cute_expansion *x, MlirOperation op, const cute_builder *b, MlirValue *out)
{
    MlirValue atom = mlirOperationGetOperand(op, 0);
    state s = {.map = atom};
    if (tma_of(atom)->executable) CUTE_TRY(state_of(x, atom, &s));
    *out = map_pointer(b, s.map);
    return CUTE_OK;
}

/* ---- coordinates ---- */

/* A tensor of coordinates: its leaves in order. */
typedef struct coordinates {
    cute_value value;
    int rank;
    cute_int first[CUTE_TMA_COORDINATES];
    size_t count;
    const cute_tree *shapes[CUTE_MAX_DEPTH], *strides[CUTE_MAX_DEPTH];
    int64_t size;
} coordinates;

static cute_status add_leaves(const cute_expansion *x, coordinates *c, const cute_tree *shape,
                              const cute_tree *stride)
{
    if (shape->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < shape->count; i++)
            CUTE_TRY(add_leaves(x, c, shape->items[i], stride->items[i]));
        return CUTE_OK;
    }
    if (!shape->value.known || c->count == CUTE_MAX_DEPTH ||
        __builtin_mul_overflow(c->size, shape->value.value, &c->size))
        return cute_fail(x->diag, CUTE_INVALID, NULL, "expects coordinates of known extents, got \"%s\"",
                         cute_layout_text(x->arena, c->value.layout));
    c->shapes[c->count] = shape;
    c->strides[c->count++] = stride;
    return CUTE_OK;
}

static cute_status bind_coordinates(const cute_expansion *x, MlirOperation op, intptr_t operand,
                                    coordinates *c)
{
    *c = (coordinates){.size = 1};
    MlirValue value = mlirOperationGetOperand(op, operand);
    const cute_value *type = cute_type_peek(mlirValueGetType(value));
    if (!type || type->type != CUTE_COORD_TENSOR)
        return cute_fail(x->diag, CUTE_INVALID, NULL,
                         "expects a tensor of coordinates as operand #%d: apply tma_partition to the "
                         "coordinates returned with the atom",
                         (int)operand);
    CUTE_TRY(cute_value_bind(x, op, value, &c->value));
    const cute_tree *first = c->value.tree;
    uint32_t rank = first->kind == CUTE_TREE_TUPLE ? first->count : 1;
    if (rank > CUTE_TMA_COORDINATES)
        return cute_fail(x->diag, CUTE_INVALID, NULL, "expects at most %d coordinates, got %s",
                         CUTE_TMA_COORDINATES, cute_tree_text(x->arena, first));
    c->rank = (int)rank;
    for (uint32_t i = 0; i < rank; i++) {
        const cute_tree *leaf = first->kind == CUTE_TREE_TUPLE ? first->items[i] : first;
        if (leaf->kind != CUTE_TREE_INT)
            return cute_fail(x->diag, CUTE_INVALID, NULL, "expects one integer per coordinate, got %s",
                             cute_tree_text(x->arena, first));
        c->first[i] = leaf->value;
    }
    return add_leaves(x, c, c->value.layout.shape, c->value.layout.stride);
}

/* The coordinates of element `index`. */
static cute_status coordinates_of(const cute_expansion *x, const cute_arith *arith, const coordinates *c,
                                  int64_t index, cute_int *out)
{
    for (int i = 0; i < c->rank; i++) out[i] = c->first[i];
    for (size_t i = 0; i < c->count; i++) {
        int64_t extent = c->shapes[i]->value.value, at = index % extent;
        const cute_tree *stride = c->strides[i];
        index /= extent;
        if (!at || (stride->kind == CUTE_TREE_INT && stride->value.known && !stride->value.value)) continue;
        if (stride->kind != CUTE_TREE_BASIS || stride->count != 1 || stride->path[0] >= c->rank)
            return cute_fail(x->diag, CUTE_INVALID, NULL, "expects strides of the %d coordinates, got \"%s\"",
                             c->rank, cute_layout_text(x->arena, c->value.layout));
        cute_int factor = {.known = true, .width = 32, .value = at}, step;
        cute_int *sum = &out[stride->path[0]];
        CUTE_TRY(cute_int_apply(arith, CUTE_MUL, stride->value, factor, &step, x->diag));
        CUTE_TRY(cute_int_apply(arith, CUTE_ADD, *sum, step, sum, x->diag));
    }
    return CUTE_OK;
}

/* Converts to `bits`: 32 for a coordinate, 16 for an offset. */
static MlirValue as_integer(const cute_builder *b, cute_int value, unsigned bits)
{
    MlirType type = mlirIntegerTypeGet(b->context, bits);
    if (value.known) return cute_integer(b, type, bits == 16 ? (int16_t)value.value : (int32_t)value.value);
    MlirValue number = {value.handle};
    unsigned width = mlirIntegerTypeGetWidth(mlirValueGetType(number));
    if (width == bits) return number;
    return cute_unary(b, width > bits ? "arith.trunci" : "arith.extsi", number, type);
}

/* ---- copies ---- */

/* The conjunction of the predicates of all elements of the copy. */
static cute_status copy_predicate(const cute_expansion *x, MlirOperation op, MlirValue *out)
{
    *out = (MlirValue){NULL};
    if (mlirOperationGetNumOperands(op) < 4) return CUTE_OK;
    cute_tensor t;
    CUTE_TRY(cute_tensor_bind(x, op, 3, &t));
    for (int64_t i = 0; i < t.size; i++) {
        MlirValue value;
        CUTE_TRY(cute_tensor_load(&t, i, 1, 0, &value));
        value = cute_compare(&t.at, CUTE_IS_NE, value, cute_integer(&t.at, t.stored, 0));
        *out = i ? cute_binary(&t.at, "arith.andi", *out, value) : value;
    }
    return CUTE_OK;
}

/* The number of instructions, which must be equal for both tensors. */
static cute_status count_runs(const cute_expansion *x, const cute_tma *tma, const coordinates *c,
                              int64_t shared, int64_t *out)
{
    int64_t elements = cute_tma_elements(tma);
    *out = c->size / elements;
    if (c->size % elements == 0 && *out && (shared < 0 || shared == c->size)) return CUTE_OK;
    return cute_fail(
        x->diag, CUTE_INVALID, NULL,
        "expects tensors of tiles of the %lld elements that an instruction copies, got %lld coordinates%s: "
        "apply tma_partition to the tile",
        (long long)elements, (long long)c->size,
        shared < 0 || shared == c->size ? "" : " and a different number of elements in shared memory");
}

static cute_status lower_runs(const cute_expansion *x, MlirOperation op, const cute_tma *tma,
                              cute_tma_copy *copy, intptr_t global, intptr_t shared, int64_t *runs)
{
    cute_tensor memory;
    coordinates *c = cute_arena_alloc(x->arena, sizeof *c);
    if (!c) return cute_fail_memory(x->diag);
    CUTE_TRY(bind_coordinates(x, op, global, c));
    int rank = (int)(tma->basis.shape->kind == CUTE_TREE_TUPLE ? tma->basis.shape->count : 1);
    int offsets = tma->im2col && tma->operation == CUTE_TMA_LOAD ? rank - 2 : 0;
    if (c->rank != rank + offsets)
        return cute_fail(x->diag, CUTE_INVALID, NULL, "expects %d coordinates for '%s', got %d",
                         rank + offsets, cute_layout_text(x->arena, tma->basis), c->rank);
    if (shared >= 0) {
        CUTE_TRY(cute_tensor_bind(x, op, shared, &memory));
        if (memory.value.pointer->space != CUTE_SPACE_SMEM)
            return cute_fail(x->diag, CUTE_INVALID, NULL, "expects a tensor in smem as operand #%d, got %s",
                             (int)shared, cute_space_name(memory.value.pointer->space));
        /* TMA applies the swizzle itself: it takes the unswizzled address. */
        cute_pointer plain = *memory.value.pointer;
        plain.swizzle = (cute_swizzle){0};
        memory.value.pointer = cute_pointer_with_handle(x->arena, &plain, plain.handle);
        if (!memory.value.pointer) return cute_fail_memory(x->diag);
    }
    CUTE_TRY(count_runs(x, tma, c, shared >= 0 ? memory.size : -1, runs));
    cute_tma_run *all = cute_arena_array(x->arena, (size_t)*runs, sizeof *all);
    if (!all) return cute_fail_memory(x->diag);
    int64_t elements = cute_tma_elements(tma), align;
    for (int64_t run = 0; run < *runs; run++) {
        cute_int at[CUTE_TMA_COORDINATES];
        cute_builder b = cute_builder_before(op);
        cute_arith arith = cute_emitter_start(x->emitter, &b);
        CUTE_TRY(coordinates_of(x, &arith, c, run * elements, at));
        for (int i = 0; i < c->rank; i++) all[run].coordinates[i] = as_integer(&b, at[i], i < rank ? 32 : 16);
        if (shared < 0) continue;
        CUTE_TRY(cute_tensor_address(&memory, run * elements, &all[run].shared, &align));
        if (align % TENSOR_ALIGN)
            return cute_fail(x->diag, CUTE_INVALID, NULL,
                             "expects addresses aligned to %d bytes in a copy by TMA, but those of operand "
                             "#%d are aligned to %lld",
                             TENSOR_ALIGN, (int)shared, (long long)align);
    }
    cute_builder b = cute_builder_before(op);
    copy->rank = rank;
    copy->offsets = offsets;
    copy->im2col = tma->im2col;
    cute_arch_tma(&b, copy, all, *runs);
    return CUTE_OK;
}

/* ---- bulk copies ---- */

/* Length of the runs of contiguous elements: each aligned run of that length is contiguous. */
static int64_t contiguous_run(const cute_tensor *t)
{
    int64_t run = 1;
    if (t->value.tree || t->value.pointer->swizzle.bits) return cute_tensor_run(t);
    for (size_t i = 0; i < t->leaf_count; i++) {
        if (t->leaves[i].extent == 1) continue;
        if (!t->leaves[i].stride.known || t->leaves[i].stride.value != run) break;
        run *= t->leaves[i].extent;
    }
    return run;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Binds both tensors and checks the elements and bytes of an instruction. */
static cute_status bind_bulk(const cute_expansion *x, MlirOperation op, const cute_bulk *bulk,
                             cute_tensor tensors[2], int64_t *elements)
{
    static const char *const names[] = {"a source", "a destination"};
    const cute_space spaces[] = {bulk->from, bulk->to};
    for (int i = 0; i < 2; i++) {
        CUTE_TRY(cute_tensor_bind(x, op, 1 + i, &tensors[i]));
        const cute_pointer *p = tensors[i].value.pointer;
        if (p->space != spaces[i])
            return cute_fail(x->diag, CUTE_INVALID, NULL, "expects %s in %s for a bulk copy, got %s",
                             names[i], cute_space_name(spaces[i]), cute_space_name(p->space));
        if (strcmp(p->element, bulk->element) != 0)
            return cute_fail(x->diag, CUTE_INVALID, NULL, "expects %s of elements of type %s, got %s",
                             names[i], bulk->element, p->element);
    }
    if (tensors[0].size != tensors[1].size)
        return cute_fail(x->diag, CUTE_INVALID, NULL,
                         "expects equal numbers of elements in both tensors, got %lld and %lld",
                         (long long)tensors[0].size, (long long)tensors[1].size);
    *elements = common_divisor(common_divisor(contiguous_run(&tensors[0]), contiguous_run(&tensors[1])),
                               tensors[0].size);
    if (*elements * bulk->bits % 128 == 0) return CUTE_OK;
    return cute_fail(x->diag, CUTE_INVALID, NULL,
                     "expects a multiple of 16 bytes that are contiguous in both tensors, got %lld elements "
                     "of %d bits: \"%s\" and \"%s\"",
                     (long long)*elements, bulk->bits, cute_layout_text(x->arena, tensors[0].value.layout),
                     cute_layout_text(x->arena, tensors[1].value.layout));
}

static cute_status lower_bulk(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    enum { RUNS = 4096, ALIGN = 16 };
    MlirValue atom = mlirOperationGetOperand(op, 0);
    const cute_bulk *bulk = bulk_of(atom);
    cute_tensor tensors[2];
    state s;
    int64_t elements = 1;
    bool global = bulk->to == CUTE_SPACE_GMEM;
    CUTE_TRY(state_of(x, atom, &s));
    if (!global && mlirValueIsNull(s.barrier))
        return cute_fail(
            x->diag, CUTE_INVALID, NULL,
            "expects a bulk copy to shared memory with a barrier: cute_nvgpu.atom.set_value {field = "
            "tma_bar}");
    CUTE_TRY(bind_bulk(x, op, bulk, tensors, &elements));
    int64_t count = tensors[0].size / elements;
    if (count > RUNS)
        return cute_fail(x->diag, CUTE_INVALID, NULL,
                         "expects at most %d instructions, got %lld of %lld elements", RUNS, (long long)count,
                         (long long)elements);
    cute_bulk_run *runs = cute_arena_array(x->arena, (size_t)count, sizeof *runs);
    if (!runs) return cute_fail_memory(x->diag);
    for (int64_t i = 0; i < count; i++) {
        MlirValue *addresses[] = {&runs[i].from, &runs[i].to};
        runs[i].bytes = elements * bulk->bits / 8;
        for (int j = 0; j < 2; j++) {
            int64_t align;
            CUTE_TRY(cute_tensor_address(&tensors[j], i * elements, addresses[j], &align));
            if (align % ALIGN)
                return cute_fail(
                    x->diag, CUTE_INVALID, NULL,
                    "expects addresses aligned to 16 bytes in a bulk copy, but those of operand #%d are "
                    "aligned to %lld",
                    1 + j, (long long)align);
        }
    }
    cute_builder b = cute_builder_before(op);
    cute_tma_copy copy = {.mask = bulk->from == CUTE_SPACE_GMEM ? s.mask : (MlirValue){NULL},
                          .policy = bulk->to == CUTE_SPACE_DSMEM ? (MlirValue){NULL} : s.policy};
    if (!global) {
        cute_space space = cute_type_peek(mlirValueGetType(s.barrier))->pointer->space;
        copy.barrier = cute_cast(&b, s.barrier, cute_pointer_type(b.context, space));
    }
    CUTE_TRY(copy_predicate(x, op, &copy.predicate));
    cute_arch_bulk(&b, &copy, bulk, runs, count);
    cute_pass_remark(pass, mlirOperationGetLocation(op), "%lld bulk copies, %lld bytes each",
                     (long long)count, (long long)runs[0].bytes);
    return CUTE_OK;
}

/* ---- entry points ---- */

cute_status cute_tma_lower_copy(const cute_expansion *x, const cute_pass_run *pass, MlirOperation op)
{
    MlirValue atom = mlirOperationGetOperand(op, 0);
    if (bulk_of(atom)) return lower_bulk(x, pass, op);
    const cute_tma *tma = tma_of(atom);
    bool load = tma->operation == CUTE_TMA_LOAD;
    state s;
    int64_t runs;
    if (!tma->executable)
        return cute_fail(x->diag, CUTE_INVALID, NULL,
                         "expects an executable atom, got '%s': cute_nvgpu.atom.make_exec_tma creates one",
                         cute_type_peek(mlirValueGetType(atom))->atom->mnemonic);
    CUTE_TRY(state_of(x, atom, &s));
    if (load && mlirValueIsNull(s.barrier))
        return cute_fail(x->diag, CUTE_INVALID, NULL,
                         "expects a load with a barrier: cute_nvgpu.atom.set_value {field = tma_bar}");
    if (load && tma->multicast && mlirValueIsNull(s.mask))
        return cute_fail(
            x->diag, CUTE_INVALID, NULL,
            "expects a multicast with a block mask: cute_nvgpu.atom.set_value {field = mcast_mask}");
    if (tma->blocks != 1)
        return cute_fail(x->diag, CUTE_INVALID, NULL, "is not supported for pairs of blocks (sm_100)");
    cute_builder b = cute_builder_before(op);
    cute_tma_copy copy = {.way = load ? CUTE_TMA_WAY_LOAD : CUTE_TMA_WAY_STORE,
                          .reduce = tma->reduce,
                          .map = map_pointer(&b, s.map),
                          .mask = load ? s.mask : (MlirValue){NULL},
                          .policy = s.policy};
    if (load) copy.barrier = cute_cast(&b, s.barrier, cute_pointer_type(b.context, CUTE_SPACE_SMEM));
    CUTE_TRY(copy_predicate(x, op, &copy.predicate));
    CUTE_TRY(lower_runs(x, op, tma, &copy, load ? 1 : 2, load ? 2 : 1, &runs));
    cute_pass_remark(pass, mlirOperationGetLocation(op), "%lld TMA instructions, %lld bits each",
                     (long long)runs, (long long)tma->copy_bits);
    return CUTE_OK;
}

cute_status cute_tma_lower_prefetch(const cute_expansion *x, MlirOperation op)
{
    cute_builder b = cute_builder_before(op);
    const cute_tma *tma = tma_of(mlirOperationGetOperand(op, 0));
    if (!tma)
        return cute_fail(x->diag, CUTE_INVALID, NULL,
                         "expects an atom with a tensor map: bulk copies do not prefetch");
    if (tma->im2col && tma->operation != CUTE_TMA_LOAD)
        return cute_fail(x->diag, CUTE_INVALID, NULL,
                         "expects the atom of a load to prefetch pixels: an atom of a store has no offsets");
    cute_tma_copy copy = {.way = CUTE_TMA_WAY_PREFETCH};
    state s;
    int64_t runs;
    CUTE_TRY(cute_tma_map_of(x, op, &b, &copy.map));
    if (tma->executable && trace_atom(mlirOperationGetOperand(op, 0), &s)) copy.policy = s.policy;
    return lower_runs(x, op, tma, &copy, 1, -1, &runs);
}

/* ---- tensor maps modified by the kernel ---- */

static MlirValue byte_at(const cute_builder *b, MlirValue pointer, int32_t at)
{
    return cute_build_value(
        b, "llvm.getelementptr", mlirValueGetType(pointer), CUTE_OPERANDS(pointer),
        CUTE_NAMED(
            cute_attribute(b->context, "rawConstantIndices", mlirDenseI32ArrayGet(b->context, 1, &at)),
            cute_attribute(b->context, "elem_type", mlirTypeAttrGet(mlirIntegerTypeGet(b->context, 8)))));
}

cute_status cute_tma_lower_copy_map(const cute_expansion *x, MlirOperation op)
{
    enum { STEP = 16 };
    cute_builder b = cute_builder_before(op);
    MlirType word = mlirIntegerTypeGet(b.context, 32);
    MlirType vector = mlirVectorTypeGet(1, (const int64_t[]){STEP / 4}, word);
    MlirType shared = cute_pointer_type(b.context, CUTE_SPACE_SMEM);
    MlirValue from, to = cute_cast(&b, mlirOperationGetOperand(op, 1), shared);
    CUTE_TRY(cute_tma_map_of(x, op, &b, &from));
    for (int32_t at = 0; at < CUTE_MAP_BYTES; at += STEP) {
        MlirValue bytes = cute_load(&b, vector, byte_at(&b, from, at), STEP);
        cute_store(&b, bytes, byte_at(&b, to, at), STEP);
    }
    return CUTE_OK;
}

/* The leaf of a tensor's shape, and of its stride, that a basis vector selects; false: none. */
static bool leaf_of(const cute_tree *basis, cute_layout layout, const cute_tree **extent,
                    const cute_tree **stride)
{
    *extent = layout.shape;
    *stride = layout.stride;
    if (basis->kind != CUTE_TREE_BASIS) return false;
    for (uint32_t i = 0; i < basis->count; i++) {
        int32_t mode = basis->path[i];
        if ((*extent)->kind != CUTE_TREE_TUPLE) return mode == 0 && basis->count == 1;
        if (mode < 0 || (uint32_t)mode >= (*extent)->count) return false;
        *extent = (*extent)->items[mode];
        *stride = (*stride)->items[mode];
    }
    return (*extent)->kind == CUTE_TREE_INT && (*stride)->kind == CUTE_TREE_INT;
}

/* New extent of dimension `i` of the map and its stride in bytes (except for the first one). */
static cute_status dimension_of(const cute_expansion *x, const cute_builder *b, const cute_tma *tma,
                                const cute_value *tensor, int i, cute_map_update *out)
{
    const cute_tree *basis = tma->basis.stride, *extent, *stride;
    if (basis->kind == CUTE_TREE_TUPLE) basis = basis->items[i];
    if (basis->kind == CUTE_TREE_TUPLE && basis->count > 1)
        return cute_fail(x->diag, CUTE_INVALID, NULL,
                         "expects an atom with one mode per dimension, got \"%s\"",
                         cute_layout_text(x->arena, tma->basis));
    if (basis->kind == CUTE_TREE_TUPLE) basis = basis->items[0];
    if (!leaf_of(basis, tensor->layout, &extent, &stride))
        return cute_fail(x->diag, CUTE_INVALID, NULL,
                         "expects a tensor with the modes of the atom, \"%s\", got \"%s\"",
                         cute_layout_text(x->arena, tma->basis), cute_layout_text(x->arena, tensor->layout));
    out->extents[i] = as_integer(b, extent->value, 32);
    int64_t bytes = tma->bits / 8;
    if (!i && (!stride->value.known || stride->value.value == 1)) return CUTE_OK;
    if (!i)
        return cute_fail(
            x->diag, CUTE_INVALID, NULL,
            "expects stride 1 in the mode whose elements are contiguous in shared memory, got \"%s\"",
            cute_layout_text(x->arena, tensor->layout));
    if (stride->value.known && (stride->value.value <= 0 || stride->value.value * bytes % 16))
        return cute_fail(x->diag, CUTE_INVALID, NULL,
                         "expects strides that are multiples of 16 bytes, got \"%s\" of elements of %d bits",
                         cute_layout_text(x->arena, tensor->layout), tma->bits);
    MlirType i64 = mlirIntegerTypeGet(b->context, 64);
    if (stride->value.known) {
        out->strides[i] = cute_integer(b, i64, stride->value.value * bytes);
        return CUTE_OK;
    }
    MlirValue number = {stride->value.handle};
    if (!mlirTypeEqual(mlirValueGetType(number), i64)) number = cute_unary(b, "arith.extsi", number, i64);
    out->strides[i] = bytes == 1 ? number : cute_binary(b, "arith.muli", number, cute_integer(b, i64, bytes));
    return CUTE_OK;
}

cute_status cute_tma_lower_update_map(const cute_expansion *x, MlirOperation op)
{
    cute_builder b = cute_builder_before(op);
    const cute_tma *tma = tma_of(mlirOperationGetOperand(op, 0));
    cute_value tensor;
    cute_map_update update = {
        .rank = (int)(tma->basis.shape->kind == CUTE_TREE_TUPLE ? tma->basis.shape->count : 1)};
    CUTE_TRY(cute_value_bind(x, op, mlirOperationGetOperand(op, 1), &tensor));
    if (tensor.tree)
        return cute_fail(
            x->diag, CUTE_INVALID, NULL,
            "expects a tensor whose layout has strides: tensor maps cannot have composed layouts");
    MlirValue address = {tensor.pointer->handle};
    update.address =
        cute_unary(&b, "llvm.ptrtoint", cute_cast(&b, address, cute_pointer_type(b.context, CUTE_SPACE_GMEM)),
                   mlirIntegerTypeGet(b.context, 64));
    for (int i = 0; i < update.rank; i++) CUTE_TRY(dimension_of(x, &b, tma, &tensor, i, &update));
    MlirType shared = cute_pointer_type(b.context, CUTE_SPACE_SMEM);
    update.map = cute_unary(&b, "llvm.ptrtoint", cute_cast(&b, mlirOperationGetOperand(op, 2), shared),
                            mlirIntegerTypeGet(b.context, 32));
    cute_arch_update_map(&b, &update);
    return CUTE_OK;
}
