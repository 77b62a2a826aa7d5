/* A strided array in host memory. Elements are read and written as doubles by their row-major index, whatever
 * the strides. */
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
    int64_t offset;                                             /* of the first element, in elements */
    /* computed by cute_tensor_layout */
    int64_t count;               /* elements */
    int64_t span;                /* elements of the allocation, including the offset */
    int64_t bytes;               /* of the allocation */
    int64_t inner, inner_stride; /* the trailing dimensions with a single stride */
    void *data;                  /* `bytes` bytes; NULL before allocation */
} cute_tensor;

/* Row-major strides without gaps; false on overflow. */
bool cute_tensor_row_major(cute_tensor *tensor);
/* Computes count, span and bytes from shape, strides and offset; false on 64-bit overflow. */
bool cute_tensor_layout(cute_tensor *tensor);
/* Whether no two elements share an address. A sufficient condition; exact for tilings of an array. */
bool cute_tensor_injective(const cute_tensor *tensor);
/* Whether the elements are in row-major order without gaps. */
bool cute_tensor_contiguous(const cute_tensor *tensor);
/* The offset of an element from the start of the allocation, in elements. */
int64_t cute_tensor_position(const cute_tensor *tensor, int64_t linear);
/* Reads `count` elements from row-major index `linear`; `data` is tensor->data or another array with that
 * layout. */
void cute_tensor_load(const cute_tensor *tensor, const void *data, int64_t linear, int64_t count,
                      double *out);
void cute_tensor_store(const cute_tensor *tensor, void *data, int64_t linear, int64_t count,
                       const double *values);
/* "[3,1]"; "[]" for a scalar. */
void cute_tensor_index_text(const cute_tensor *tensor, int64_t linear, cute_buffer *out);
/* "1024x512"; "1" for a scalar. */
void cute_tensor_shape_text(const cute_tensor *tensor, cute_buffer *out);

#endif
