/* Tensors in memory as the lowering of copies and products sees them: a pointer of LLVM's, and for each element where it is.
 * Known parts of a place are constants of an address, so that accesses of registers stay registers. */
#ifndef CUTE_LIB_PASSES_TENSORS_TENSORS_H
#define CUTE_LIB_PASSES_TENSORS_TENSORS_H

#include "cute/layout.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/ops/address.h"
#include "lib/ir/ops/ops.h"

/* One leaf of a tensor's shape and stride. */
typedef struct cute_tensor_leaf {
    int64_t extent;
    cute_int stride;
    MlirValue *products; /* of an unknown stride: times 1, 2, ..., made when first used */
} cute_tensor_leaf;

typedef struct cute_tensor {
    const cute_expansion *x;
    MlirOperation op; /* which errors are about */
    cute_builder b;   /* where places are computed */
    cute_builder at;  /* where memory is accessed: there, or inside of what that is followed by */
    cute_value value; /* bound to the program's values */
    MlirType element; /* of its values, as the program has them */
    MlirType stored;  /* what LLVM keeps one in; of less than 8 bits i8 */
    int bits;         /* of an element */
    MlirValue base;   /* an !llvm.ptr */
    size_t rank, leaf_count;
    size_t first[CUTE_MAX_DEPTH]; /* of each mode, the index of its first leaf; then leaf_count */
    cute_tensor_leaf *leaves;
    int64_t size; /* elements */
} cute_tensor;

/* Binds operand `i` of `op`. CUTE_INVALID where it is no tensor in memory, or where its shape is not known. */
cute_status cute_tensor_bind(const cute_expansion *x, MlirOperation op, intptr_t i, cute_tensor *out);
/* Elements in mode `i`; 1 for modes that it has not. */
int64_t cute_tensor_extent(const cute_tensor *t, size_t i);
/* The place of an element in the whole, from its indices in the modes (first mode fastest). */
int64_t cute_tensor_index(const cute_tensor *t, const int64_t *modes, size_t count);
/* How many elements, from 0 on, lie one behind the other in memory: a power of two, and all blocks of as many do. */
int64_t cute_tensor_run(const cute_tensor *t);

/* The address of element `index`, counted with the first mode fastest, and the bytes that are known to divide it. */
cute_status cute_tensor_address(cute_tensor *t, int64_t index, MlirValue *address, int64_t *align);

/* ---- values, in the order of their indices ---- */

/* The words in which `count` elements travel: 32 bits of elements that are smaller, elements otherwise; 8 or 16 bits
 * where there are no more. Null where they fill no word. */
MlirType cute_tensor_word(const cute_tensor *t, int64_t count);
int64_t cute_tensor_words(const cute_tensor *t, int64_t count);
/* Loads `count` elements from `index` on to words[], in accesses as wide as is legal. `align`: bytes that divide the
 * address, beyond what is known (0). */
cute_status cute_tensor_load(cute_tensor *t, int64_t index, int64_t count, int64_t align, MlirValue *words);
cute_status cute_tensor_store(cute_tensor *t, int64_t index, int64_t count, int64_t align,
                              const MlirValue *words);
/* Words as elements, and elements as words. */
void cute_tensor_unpack(const cute_tensor *t, const MlirValue *words, int64_t count, MlirValue *elements);
void cute_tensor_pack(const cute_tensor *t, const MlirValue *elements, int64_t count, MlirValue *words);

/* ---- one element at an address ---- */

/* Binds operand `tensor`, and finds the element at the coordinate that operand `coord` is: its address (of less than 8
 * bits, that of its byte, and *shift the i8 by which it is shifted there; null otherwise). */
cute_status cute_tensor_at(const cute_expansion *x, MlirOperation op, intptr_t tensor, intptr_t coord,
                           cute_tensor *out, MlirValue *address, int64_t *align, MlirValue *shift);
/* An element of the program as it is stored, and back. */
MlirValue cute_as_stored(const cute_tensor *t, MlirValue value);
MlirValue cute_as_element(const cute_tensor *t, MlirValue value);
MlirValue cute_load(const cute_builder *b, MlirType type, MlirValue address, int64_t align);
void cute_store(const cute_builder *b, MlirValue value, MlirValue address, int64_t align);

#endif
