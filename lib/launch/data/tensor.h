/* A strided array in host memory, read and written as doubles by the position of an element in row-major
 * order of the shape, whatever the strides. */
#ifndef CUTE_LIB_LAUNCH_DATA_TENSOR_H
#define CUTE_LIB_LAUNCH_DATA_TENSOR_H

#include "lib/base/buffer.h"
#include "lib/launch/data/dtype.h"

enum { CUTE_TENSOR_RANK = 16 };

typedef struct cute_tensor {
    const char *name;
    cute_dtype dtype;
    int rank;
    int64_t shape[CUTE_TENSOR_RANK], strides[CUTE_TENSOR_RANK]; /* elements */
    int64_t offset;                                             /* elements before the first */
    /* computed by cute_tensor_layout */
    int64_t count;               /* elements */
    int64_t span;                /* elements of the allocation, the offset included */
    int64_t bytes;               /* of the allocation */
    int64_t inner, inner_stride; /* trailing dimensions that are one run */
    void *data;                  /* `bytes`, NULL while there is none */
} cute_tensor;

/* Row-major strides without gaps; false on overflow. */
bool cute_tensor_row_major(cute_tensor *tensor);
/* Computes count, span and bytes from shape, strides, offset; false when something does not fit in 64 bits.
 */
bool cute_tensor_layout(cute_tensor *tensor);
/* Whether no two elements share a place (sufficient, and exact for what tilings of one array give). */
bool cute_tensor_injective(const cute_tensor *tensor);
/* Whether the elements fill the span behind the offset without gaps, in row-major order. */
bool cute_tensor_contiguous(const cute_tensor *tensor);
/* The offset in elements of an element, from the start of the allocation. */
int64_t cute_tensor_position(const cute_tensor *tensor, int64_t linear);
/* `count` elements from position `linear` on; `data` is tensor->data or another array of that layout. */
void cute_tensor_load(const cute_tensor *tensor, const void *data, int64_t linear, int64_t count,
                      double *out);
void cute_tensor_store(const cute_tensor *tensor, void *data, int64_t linear, int64_t count,
                       const double *values);
/* "[3,1]"; "[]" of a scalar. */
void cute_tensor_index_text(const cute_tensor *tensor, int64_t linear, cute_buffer *out);
/* "1024x512" or, of a scalar, "1". */
void cute_tensor_shape_text(const cute_tensor *tensor, cute_buffer *out);

#endif
