/* See tensors.h. */
#include "lib/passes/tensors/tensors.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdlib.h>

#include "lib/base/numbers/checked.h"
#include "lib/ir/dialects/fields.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/emitter.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/algebra.h"
#include "lib/layout/pointer.h"
#include "lib/layout/width.h"

enum { WIDEST = 16, WORD_BITS = 32 }; /* bytes of the widest access, bits of a register */

static int64_t low_bit(int64_t value)
{
    return value & -value;
}

/* The largest power of two that divides both; every power divides 0. */
static int64_t common_low_bit(int64_t a, int64_t b)
{
    if (!a || !b) return low_bit(a ? a : b);
    return low_bit(a) < low_bit(b) ? low_bit(a) : low_bit(b);
}

static int64_t min_int64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- types ---- */

static MlirType vector_type(MlirType element, int64_t count)
{
    return count == 1 ? element : mlirVectorTypeGet(1, &count, element);
}

/* ---- single operations ---- */

static MlirNamedAttribute alignment_attribute(const cute_builder *b, int64_t align)
{
    return cute_attribute(b->context, "alignment",
                          mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), align));
}

MlirValue cute_load(const cute_builder *b, MlirType type, MlirValue address, int64_t align)
{
    return cute_build_value(b, "llvm.load", type, CUTE_OPERANDS(address),
                            CUTE_NAMED(alignment_attribute(b, align)));
}

void cute_store(const cute_builder *b, MlirValue value, MlirValue address, int64_t align)
{
    cute_build(b, "llvm.store", CUTE_OPERANDS(value, address), CUTE_NO_TYPES,
               CUTE_NAMED(alignment_attribute(b, align)));
}

/* ---- binding ---- */

static cute_status push_leaves(cute_tensor *t, const cute_tree *shape, const cute_tree *stride)
{
    cute_diag *diag = t->x->diag;
    if (shape->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < shape->count; i++)
            CUTE_TRY(push_leaves(t, shape->items[i], stride->items[i]));
        return CUTE_OK;
    }
    if (!shape->value.known)
        return cute_fail(diag, CUTE_INVALID, NULL, "expects a tensor of known shape, got \"%s\"",
                         cute_layout_text(t->x->arena, t->value.layout));
    if (stride->kind != CUTE_TREE_INT)
        return cute_fail(diag, CUTE_INVALID, NULL, "expects strides that are integers, got \"%s\"",
                         cute_layout_text(t->x->arena, t->value.layout));
    if (__builtin_mul_overflow(t->size, shape->value.value, &t->size) || t->size > CUTE_MAX_LEAVES)
        return cute_fail(diag, CUTE_INVALID, NULL, "expects at most %d elements, got \"%s\"", CUTE_MAX_LEAVES,
                         cute_layout_text(t->x->arena, t->value.layout));
    t->leaves[t->leaf_count++] = (cute_tensor_leaf){shape->value.value, stride->value, NULL};
    return CUTE_OK;
}

/* Describes an operand in an error message. */
static cute_status refuse_operand(const cute_expansion *x, MlirValue operand, const char *expected)
{
    cute_buffer text = {0};
    mlirTypePrint(mlirValueGetType(operand), cute_print_to_buffer, &text);
    cute_status status =
        cute_fail(x->diag, CUTE_INVALID, NULL, "expects %s, got %s", expected, cute_buffer_text(&text));
    cute_buffer_release(&text);
    return status;
}

/* Sets all fields but the leaves. */
static cute_status bind_layout(const cute_expansion *x, MlirOperation op, intptr_t i, cute_tensor *t)
{
    MlirValue operand = mlirOperationGetOperand(op, i);
    const cute_value *type = cute_type_peek(mlirValueGetType(operand));
    if (!type || type->type != CUTE_MEMREF) return refuse_operand(x, operand, "a tensor in memory");
    *t = (cute_tensor){.x = x, .op = op, .size = 1};
    CUTE_TRY(cute_value_bind(x, op, operand, &t->value));
    t->b = t->at = cute_builder_before(op);
    const cute_pointer *pointer = t->value.pointer;
    t->bits = pointer->bits;
    t->element = cute_element_type(t->b.context, pointer->element);
    t->stored = mlirTypeIsNull(t->element) ? t->element : cute_stored_type(t->element, t->bits);
    if (mlirTypeIsNull(t->stored) || t->bits == 0)
        return refuse_operand(x, operand, "elements of a type that memory can hold");
    t->base = cute_cast(&t->b, (MlirValue){pointer->handle}, cute_pointer_type(t->b.context, pointer->space));
    return CUTE_OK;
}

cute_status cute_tensor_bind(const cute_expansion *x, MlirOperation op, intptr_t i, cute_tensor *t)
{
    CUTE_TRY(bind_layout(x, op, i, t));
    cute_layout layout = t->value.layout;
    t->leaves = cute_arena_array(x->arena, layout.shape->leaves + 1, sizeof *t->leaves);
    if (!t->leaves) return cute_fail_memory(x->diag);
    bool tuple = layout.shape->kind == CUTE_TREE_TUPLE;
    t->rank = tuple ? layout.shape->count : 1;
    if (t->rank >= CUTE_MAX_DEPTH) return refuse_operand(x, mlirOperationGetOperand(op, i), "fewer modes");
    for (size_t mode = 0; mode < t->rank; mode++) {
        t->first[mode] = t->leaf_count;
        CUTE_TRY(push_leaves(t, tuple ? layout.shape->items[mode] : layout.shape,
                             tuple ? layout.stride->items[mode] : layout.stride));
    }
    t->first[t->rank] = t->leaf_count;
    return CUTE_OK;
}

int64_t cute_tensor_extent(const cute_tensor *t, size_t i)
{
    int64_t extent = 1;
    if (i >= t->rank) return 1;
    for (size_t leaf = t->first[i]; leaf < t->first[i + 1]; leaf++) extent *= t->leaves[leaf].extent;
    return extent;
}

int64_t cute_tensor_index(const cute_tensor *t, const int64_t *modes, size_t count)
{
    int64_t index = 0, size = 1;
    for (size_t i = 0; i < count && i < t->rank; i++) {
        index += modes[i] * size;
        size *= cute_tensor_extent(t, i);
    }
    return index;
}

int64_t cute_tensor_run(const cute_tensor *t)
{
    int64_t run = 1;
    for (size_t i = 0; i < t->leaf_count; i++) {
        if (t->leaves[i].extent == 1) continue;
        if (!t->leaves[i].stride.known || t->leaves[i].stride.value != run) break;
        run *= t->leaves[i].extent;
    }
    run = low_bit(run);
    const cute_value *v = &t->value;
    if (v->tree) run = v->inner.shape ? 1 : min_int64(run, (int64_t)1 << v->swizzle.base);
    if (v->pointer->swizzle.bits)
        run = min_int64(run, (((int64_t)1 << v->pointer->swizzle.base) * 8 + t->bits - 1) / t->bits);
    return run;
}

/* ---- offsets ---- */

/* An unknown stride times a coordinate. */
static cute_status stride_product(cute_tensor *t, cute_tensor_leaf *leaf, int64_t by, MlirValue *out)
{
    if (!leaf->products) {
        leaf->products = cute_arena_array(t->x->arena, (size_t)leaf->extent, sizeof *leaf->products);
        if (!leaf->products) return cute_fail_memory(t->x->diag);
        for (int64_t i = 0; i < leaf->extent; i++) leaf->products[i] = (MlirValue){NULL};
    }
    if (by == 1) {
        leaf->products[by] = (MlirValue){leaf->stride.handle};
    } else if (mlirValueIsNull(leaf->products[by])) {
        cute_int factor = {.known = true, .width = leaf->stride.width, .value = by}, result;
        cute_arith arith = cute_emitter_start(t->x->emitter, &t->b);
        CUTE_TRY(cute_int_apply(&arith, CUTE_MUL, leaf->stride, factor, &result, t->x->diag));
        leaf->products[by] = (MlirValue){result.handle};
    }
    *out = leaf->products[by];
    return CUTE_OK;
}

/* Offset of an element: a known number of elements, unknown terms, and a divisor of their sum (0: any). */
typedef struct place {
    int64_t known, divisor;
    size_t count;
    cute_int terms[CUTE_MAX_DEPTH];
} place;

static cute_status element_offset(cute_tensor *t, int64_t index, place *out)
{
    *out = (place){0};
    for (size_t i = 0; i < t->leaf_count; i++) {
        cute_tensor_leaf *leaf = &t->leaves[i];
        int64_t at = index % leaf->extent, step;
        index /= leaf->extent;
        if (at == 0) continue;
        if (leaf->stride.known) {
            if (__builtin_mul_overflow(at, leaf->stride.value, &step) ||
                __builtin_add_overflow(out->known, step, &out->known))
                return cute_fail(t->x->diag, CUTE_INVALID, NULL,
                                 "the offset of an element overflows 64 bits");
            continue;
        }
        if (out->count == CUTE_MAX_DEPTH)
            return cute_fail(t->x->diag, CUTE_INVALID, NULL, "expects at most %d unknown strides",
                             CUTE_MAX_DEPTH);
        int64_t divisor = leaf->stride.divisor ? leaf->stride.divisor : 1;
        MlirValue value = {NULL};
        CUTE_TRY(stride_product(t, leaf, at, &value));
        out->terms[out->count++] = (cute_int){.width = leaf->stride.width, .handle = (void *)value.ptr};
        out->divisor = common_low_bit(out->divisor, low_bit(divisor) * low_bit(at));
    }
    out->divisor = common_low_bit(out->divisor, out->known);
    return CUTE_OK;
}

static int64_t count_bytes(int64_t elements, int bits)
{
    int64_t bytes = elements * bits / 8;
    return elements && !bytes ? 1 : bytes;
}

static cute_int known_int(int64_t value)
{
    return (cute_int){.known = true, .width = value == (int32_t)value ? 32 : 64, .value = value};
}

/* A o offset o B: A(offset + B(c)), in elements. */
static cute_status composed_index(cute_tensor *t, const place *at, cute_int *out, int64_t *divisor)
{
    const cute_value *v = &t->value;
    cute_diag *diag = t->x->diag;
    cute_arith arith = cute_emitter_start(t->x->emitter, &t->b);
    if (v->tree->kind != CUTE_TREE_INT)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects an integer as offset of a composed layout, got %s",
                         cute_tree_text(t->x->arena, v->tree));
    cute_int sum = v->tree->value;
    *divisor = common_low_bit(at->divisor, sum.known ? sum.value : sum.divisor ? sum.divisor : 1);
    CUTE_TRY(cute_int_apply(&arith, CUTE_ADD, sum, known_int(at->known), &sum, diag));
    for (size_t i = 0; i < at->count; i++)
        CUTE_TRY(cute_int_apply(&arith, CUTE_ADD, sum, at->terms[i], &sum, diag));
    const cute_tree *leaf = cute_tree_scalar(t->x->arena, sum);
    if (!leaf) return cute_fail_memory(diag);
    bool layout = v->inner.shape;
    cute_value operands[2] = {cute_value_of_tree(layout ? CUTE_COORD : CUTE_INT_TUPLE, leaf),
                              cute_value_of_layout(v->inner)};
    if (!layout) operands[1] = (cute_value){.type = CUTE_SWIZZLE, .swizzle = v->swizzle};
    cute_value result;
    CUTE_TRY(cute_apply(t->x->arena, &arith, layout ? CUTE_OP_LAYOUT_EVAL : CUTE_OP_SWIZZLE_EVAL, operands, 2,
                        NULL, &result, diag));
    *out = result.tree->value;
    *divisor = layout ? 1 : alg_swizzled_align(v->swizzle, *divisor);
    return CUTE_OK;
}

/* The address `offset` elements after another. */
static MlirValue address_after(cute_tensor *t, MlirValue from, cute_int offset)
{
    MlirValue by = {offset.known ? NULL : offset.handle};
    return cute_advance(&t->b, from, t->stored, t->bits, by, offset.known ? offset.value : 0);
}

cute_status cute_tensor_address(cute_tensor *t, int64_t index, MlirValue *address, int64_t *align)
{
    place at;
    const cute_pointer *pointer = t->value.pointer;
    CUTE_TRY(element_offset(t, index, &at));
    int64_t divisor = at.divisor;
    *address = t->base;
    if (t->bits < 8 && divisor * t->bits % 8)
        return cute_fail(t->x->diag, CUTE_INVALID, NULL,
                         "expects elements of %d bits to begin at byte boundaries, but element %lld of "
                         "\"%s\" is not known to",
                         t->bits, (long long)index, cute_layout_text(t->x->arena, t->value.layout));
    if (t->value.tree) {
        cute_int offset;
        CUTE_TRY(composed_index(t, &at, &offset, &divisor));
        *address = address_after(t, *address, offset);
    } else {
        for (size_t i = 0; i < at.count; i++) *address = address_after(t, *address, at.terms[i]);
        *address = address_after(t, *address, known_int(at.known));
    }
    *align = common_low_bit(pointer->align, count_bytes(divisor, t->bits));
    if (pointer->swizzle.bits) {
        *align = alg_swizzled_align(pointer->swizzle, *align);
        *address = cute_swizzled_address(&t->b, pointer, *address);
    }
    return CUTE_OK;
}

/* ---- words ---- */

/* Elements in a word. */
static int64_t word_group(const cute_tensor *t, int64_t count)
{
    int64_t most = t->bits < WORD_BITS && WORD_BITS % t->bits == 0 ? WORD_BITS / t->bits : 1;
    if (count % most == 0) return most;
    return t->bits < 8 && count * t->bits % 8 == 0 ? 8 / t->bits : 1;
}

MlirType cute_tensor_word(const cute_tensor *t, int64_t count)
{
    int64_t elements = word_group(t, count);
    if (elements == 1) return t->stored;
    return mlirIntegerTypeGet(t->b.context, (unsigned)(elements * t->bits));
}

int64_t cute_tensor_words(const cute_tensor *t, int64_t count)
{
    return count / word_group(t, count);
}

/* Converts an element to its representation in memory, and back. */
MlirValue cute_as_stored(const cute_tensor *t, MlirValue value)
{
    MlirType type = mlirValueGetType(value);
    if (mlirTypeEqual(type, t->stored)) return value;
    if (t->bits < 8 && mlirTypeIsAInteger(type)) return cute_unary(&t->at, "arith.extui", value, t->stored);
    return cute_unary(&t->at, "arith.bitcast", value, t->stored);
}

MlirValue cute_as_element(const cute_tensor *t, MlirValue value)
{
    if (mlirTypeEqual(t->element, mlirValueGetType(value))) return value;
    if (t->bits < 8 && mlirTypeIsAInteger(t->element))
        return cute_unary(&t->at, "arith.trunci", value, t->element);
    return cute_unary(&t->at, "arith.bitcast", value, t->element);
}

/* Element type of a vector that holds a word's parts: the element type below 8 bits, else the stored type. */
static MlirType part_type(const cute_tensor *t)
{
    return t->bits < 8 ? mlirIntegerTypeGet(t->b.context, (unsigned)t->bits) : t->stored;
}

void cute_tensor_unpack(const cute_tensor *t, const MlirValue *words, int64_t count, MlirValue *elements)
{
    int64_t in_word = word_group(t, count);
    for (int64_t i = 0; i < count; i++) {
        if (in_word == 1) {
            elements[i] = cute_as_element(t, words[i]);
            continue;
        }
        MlirValue parts =
            cute_unary(&t->at, "llvm.bitcast", words[i / in_word], vector_type(part_type(t), in_word));
        for (int64_t j = 0; j < in_word; j++)
            elements[i + j] = cute_as_element(t, cute_vector_extract(&t->at, parts, j));
        i += in_word - 1;
    }
}

void cute_tensor_pack(const cute_tensor *t, const MlirValue *elements, int64_t count, MlirValue *words)
{
    int64_t in_word = word_group(t, count);
    MlirType word = cute_tensor_word(t, count), part = part_type(t);
    for (int64_t i = 0; i < count; i += in_word) {
        if (in_word == 1) {
            words[i] = cute_as_stored(t, elements[i]);
            continue;
        }
        MlirValue parts = cute_undefined(&t->at, vector_type(part, in_word));
        for (int64_t j = 0; j < in_word; j++) {
            MlirValue value = elements[i + j];
            if (!mlirTypeEqual(mlirValueGetType(value), part))
                value = cute_unary(&t->at, "arith.bitcast", value, part);
            parts = cute_vector_insert(&t->at, parts, value, j);
        }
        words[i / in_word] = cute_unary(&t->at, "llvm.bitcast", parts, word);
    }
}

/* The next access in a sequence of elements: address and element count. */
typedef struct access {
    MlirValue address;
    int64_t align, width;
} access;

/* The next access at `index`, with `left` elements to go: words in registers, otherwise as many
 * contiguous, aligned elements as fit 16 bytes. `stated`: guaranteed alignment in bytes. */
static cute_status next_access(cute_tensor *t, int64_t index, int64_t left, int64_t in_word, int64_t stated,
                               access *out)
{
    bool registers = t->value.pointer->space == CUTE_SPACE_RMEM;
    CUTE_TRY(cute_tensor_address(t, index, &out->address, &out->align));
    if (stated > out->align) out->align = stated;
    int64_t width = registers ? in_word : (int64_t)WIDEST * 8 / t->bits, run = cute_tensor_run(t);
    if (run < width) width = run;
    if (index && low_bit(index) < width) width = low_bit(index);
    while (width > left || (!registers && width > 1 && width * t->bits > out->align * 8)) width /= 2;
    out->width = width > 1 ? width : 1;
    if (t->bits >= 8 || (out->width >= in_word && out->width * t->bits >= 8)) return CUTE_OK;
    return cute_fail(t->x->diag, CUTE_INVALID, NULL,
                     "expects elements of %d bits to fill bytes, but those of \"%s\" are not contiguous",
                     t->bits, cute_layout_text(t->x->arena, t->value.layout));
}

/* Loads a word in pieces; the first access has been determined. */
static cute_status load_pieces(cute_tensor *t, int64_t index, int64_t in_word, access a, MlirValue *word)
{
    MlirValue elements[WORD_BITS / 8];
    for (int64_t i = 0; i < in_word; i += a.width) {
        if (i) CUTE_TRY(next_access(t, index + i, a.width, in_word, 0, &a));
        MlirValue piece = cute_load(&t->at, vector_type(t->stored, a.width), a.address, a.align);
        for (int64_t j = 0; j < a.width; j++)
            elements[i + j] = a.width == 1 ? piece : cute_vector_extract(&t->at, piece, j);
    }
    cute_tensor_pack(t, elements, in_word, word);
    return CUTE_OK;
}

static cute_status store_pieces(cute_tensor *t, int64_t index, int64_t in_word, access a, MlirValue word)
{
    MlirValue parts = cute_unary(&t->at, "llvm.bitcast", word, vector_type(t->stored, in_word));
    for (int64_t i = 0; i < in_word; i += a.width) {
        if (i) CUTE_TRY(next_access(t, index + i, a.width, in_word, 0, &a));
        MlirValue piece = cute_vector_extract(&t->at, parts, i);
        if (a.width > 1) {
            MlirValue first = piece;
            piece = cute_undefined(&t->at, vector_type(t->stored, a.width));
            for (int64_t j = 0; j < a.width; j++)
                piece = cute_vector_insert(&t->at, piece,
                                           j ? cute_vector_extract(&t->at, parts, i + j) : first, j);
        }
        cute_store(&t->at, piece, a.address, a.align);
    }
    return CUTE_OK;
}

cute_status cute_tensor_load(cute_tensor *t, int64_t index, int64_t count, int64_t stated, MlirValue *words)
{
    int64_t in_word = word_group(t, count);
    MlirType word = cute_tensor_word(t, count);
    for (int64_t done = 0; done < count;) {
        access a;
        MlirValue *out = &words[done / in_word];
        CUTE_TRY(next_access(t, index + done, count - done, in_word, stated, &a));
        int64_t loaded = a.width / in_word;
        if (loaded == 0) {
            CUTE_TRY(load_pieces(t, index + done, in_word, a, out));
            done += in_word;
            continue;
        }
        MlirValue value = cute_load(&t->at, vector_type(word, loaded), a.address, a.align);
        for (int64_t i = 0; i < loaded; i++)
            out[i] = loaded == 1 ? value : cute_vector_extract(&t->at, value, i);
        done += a.width;
    }
    return CUTE_OK;
}

cute_status cute_tensor_store(cute_tensor *t, int64_t index, int64_t count, int64_t stated,
                              const MlirValue *words)
{
    int64_t in_word = word_group(t, count);
    MlirType word = cute_tensor_word(t, count);
    for (int64_t done = 0; done < count;) {
        access a;
        const MlirValue *from = &words[done / in_word];
        CUTE_TRY(next_access(t, index + done, count - done, in_word, stated, &a));
        int64_t stored = a.width / in_word;
        if (stored == 0) {
            CUTE_TRY(store_pieces(t, index + done, in_word, a, *from));
            done += in_word;
            continue;
        }
        MlirValue value = *from;
        if (stored > 1) {
            value = cute_undefined(&t->at, vector_type(word, stored));
            for (int64_t i = 0; i < stored; i++) value = cute_vector_insert(&t->at, value, from[i], i);
        }
        cute_store(&t->at, value, a.address, a.align);
        done += a.width;
    }
    return CUTE_OK;
}

/* ---- one element ---- */

static int64_t divisor_of(cute_int x)
{
    return x.known ? x.value : x.divisor ? x.divisor : 1;
}

static int64_t low_bit_product(int64_t a, int64_t b)
{
    int64_t product;
    return cute_mul64(low_bit(a), low_bit(b), &product) ? product : INT64_MIN;
}

/* An index into leaves; the preceding leaves have `*before` elements (0: unknown), first leaf of a mode
 * fastest. */
static int64_t index_divisor(int64_t index, const cute_tree *shape, const cute_tree *stride, int64_t *before)
{
    int64_t all = 0, part;
    if (shape->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < shape->count; i++)
            all = common_low_bit(all, index_divisor(index, shape->items[i], stride->items[i], before));
        return all;
    }
    if (stride->kind != CUTE_TREE_INT) return 1;
    int64_t whole = *before && index % *before == 0 ? index / *before : 1;
    part = common_low_bit(whole, shape->value.known ? shape->value.value : whole ? 1 : 0);
    if (index == 0 || (shape->value.known && whole % shape->value.value == 0)) part = 0;
    if (!shape->value.known || !cute_mul64(*before, shape->value.value, before)) *before = 0;
    return low_bit_product(part, divisor_of(stride->value));
}

/* A power of two that divides the offset of a coordinate in elements, 0 for all: the layout arithmetic
 * does not track it. */
static int64_t place_divisor(const cute_tree *coord, const cute_tree *shape, const cute_tree *stride)
{
    if (coord->kind == CUTE_TREE_TUPLE && shape->kind == CUTE_TREE_TUPLE) {
        int64_t all = 0;
        for (uint32_t i = 0; i < coord->count; i++)
            all = common_low_bit(all, place_divisor(coord->items[i], shape->items[i], stride->items[i]));
        return all;
    }
    if (coord->kind != CUTE_TREE_INT) return 1;
    for (; shape->kind == CUTE_TREE_TUPLE && shape->count == 1; stride = stride->items[0])
        shape = shape->items[0];
    if (shape->kind == CUTE_TREE_INT && stride->kind == CUTE_TREE_INT)
        return low_bit_product(divisor_of(coord->value), divisor_of(stride->value));
    int64_t before = 1;
    return index_divisor(divisor_of(coord->value), shape, stride, &before);
}

cute_status cute_tensor_at(const cute_expansion *x, MlirOperation op, intptr_t tensor, intptr_t coord,
                           cute_tensor *t, MlirValue *address, int64_t *align, MlirValue *shift)
{
    CUTE_TRY(bind_layout(x, op, tensor, t));
    cute_value operands[2], result;
    CUTE_TRY(cute_value_bind(x, op, mlirOperationGetOperand(op, coord), &operands[0]));
    operands[1] = cute_value_of_layout(t->value.layout);
    cute_arith arith = cute_emitter_start(x->emitter, &t->b);
    CUTE_TRY(cute_layout_place(x->arena, &arith, &operands[0], &operands[1], &result, x->diag));
    if (result.tree->kind != CUTE_TREE_INT)
        return cute_fail(x->diag, CUTE_INVALID, NULL, "expects the coordinate of one element");
    cute_int offset = result.tree->value;
    int64_t divisor = divisor_of(offset);
    if (!offset.known) {
        int64_t more = place_divisor(operands[0].tree, t->value.layout.shape, t->value.layout.stride);
        if (!more || low_bit(more) > low_bit(divisor)) divisor = more;
    }
    if (t->value.tree) {
        place at = {.divisor = divisor};
        if (offset.known)
            at.known = offset.value;
        else
            at.terms[at.count++] = offset;
        CUTE_TRY(composed_index(t, &at, &offset, &divisor));
    }
    *shift = (MlirValue){NULL};
    if (t->bits < 8) {
        MlirType i8 = mlirIntegerTypeGet(t->b.context, 8);
        int64_t inside = 8 / t->bits - 1;
        if (offset.known) {
            *shift = cute_integer(&t->b, i8, (offset.value & inside) * t->bits);
        } else {
            MlirValue low = cute_unary(&t->b, "arith.trunci", (MlirValue){offset.handle}, i8);
            low = cute_binary(&t->b, "arith.andi", low, cute_integer(&t->b, i8, inside));
            *shift = cute_binary(&t->b, "arith.muli", low, cute_integer(&t->b, i8, t->bits));
        }
    }
    *address = address_after(t, t->base, offset);
    *align = common_low_bit(t->value.pointer->align, count_bytes(divisor, t->bits));
    if (t->value.pointer->swizzle.bits) {
        *align = alg_swizzled_align(t->value.pointer->swizzle, *align);
        *address = cute_swizzled_address(&t->b, t->value.pointer, *address);
    }
    return CUTE_OK;
}
