/* Tensors in memory for the lowering of copies and MMAs: an LLVM pointer and the offset of each element.
 * Known parts of an offset become constants, so that LLVM can promote tensors in registers. */
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
    MlirValue *products; /* products of an unknown stride with 1, 2, ..., created on first use */
} cute_tensor_leaf;

typedef struct cute_tensor {
    const cute_expansion *x;
    MlirOperation op; /* location of errors */
    cute_builder b;   /* where offsets are computed */
    cute_builder at;  /* where memory is accessed: at `b`, or inside an operation that follows it */
    cute_value value; /* bound to values of the program */
    MlirType element; /* element type in the program */
    MlirType stored;  /* element type in LLVM memory; i8 below 8 bits */
    int bits;         /* of an element */
    MlirValue base;   /* an !llvm.ptr */
    size_t rank, leaf_count;
    size_t first[CUTE_MAX_DEPTH]; /* for each mode, the index of its first leaf; then leaf_count */
    cute_tensor_leaf *leaves;
    int64_t size; /* elements */
} cute_tensor;

/* Binds operand `i` of `op`. CUTE_INVALID if it is not a tensor in memory, or if its shape is unknown. */
cute_status cute_tensor_bind(const cute_expansion *x, MlirOperation op, intptr_t i, cute_tensor *out);
/* Elements in mode `i`; 1 for modes beyond its rank. */
int64_t cute_tensor_extent(const cute_tensor *t, size_t i);
/* Linear index of an element from its indices in the modes (first mode fastest). */
int64_t cute_tensor_index(const cute_tensor *t, const int64_t *modes, size_t count);
/* Length of the runs of contiguous elements, a power of two: each aligned run of that length is
 * contiguous. */
int64_t cute_tensor_run(const cute_tensor *t);

/* Address of element `index` (first mode fastest), and its known alignment in bytes. */
cute_status cute_tensor_address(cute_tensor *t, int64_t index, MlirValue *address, int64_t *align);

/* ---- values, in the order of their indices ---- */

/* Type of the words that carry `count` elements: 32 bits for smaller elements, or 8 or 16 bits if there
 * are fewer; otherwise the element type. Null if they do not fill a word. */
MlirType cute_tensor_word(const cute_tensor *t, int64_t count);
int64_t cute_tensor_words(const cute_tensor *t, int64_t count);
/* Loads `count` elements starting at `index` into words[], in the widest legal accesses. `align`:
 * alignment in bytes guaranteed in addition to the known one (0: none). */
cute_status cute_tensor_load(cute_tensor *t, int64_t index, int64_t count, int64_t align, MlirValue *words);
cute_status cute_tensor_store(cute_tensor *t, int64_t index, int64_t count, int64_t align,
                              const MlirValue *words);
/* Unpacks words to elements, and packs elements to words. */
void cute_tensor_unpack(const cute_tensor *t, const MlirValue *words, int64_t count, MlirValue *elements);
void cute_tensor_pack(const cute_tensor *t, const MlirValue *elements, int64_t count, MlirValue *words);

/* ---- one element at an address ---- */

/* Binds operand `tensor` and computes the address of the element at coordinate operand `coord`; for
 * elements below 8 bits, the address of its byte and its bit offset *shift (i8), otherwise null. */
cute_status cute_tensor_at(const cute_expansion *x, MlirOperation op, intptr_t tensor, intptr_t coord,
                           cute_tensor *out, MlirValue *address, int64_t *align, MlirValue *shift);
/* Converts an element to its representation in memory, and back. */
MlirValue cute_as_stored(const cute_tensor *t, MlirValue value);
MlirValue cute_as_element(const cute_tensor *t, MlirValue value);
MlirValue cute_load(const cute_builder *b, MlirType type, MlirValue address, int64_t align);
void cute_store(const cute_builder *b, MlirValue value, MlirValue address, int64_t align);

#endif
