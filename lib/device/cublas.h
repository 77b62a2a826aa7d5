/* Matrix products by cuBLASLt, opened at run time, as a reference for comparisons. */
#ifndef CUTE_LIB_DEVICE_CUBLAS_H
#define CUTE_LIB_DEVICE_CUBLAS_H

#include "cute/device.h"

typedef struct cublas_matrix {
    cute_address address;
    bool by_rows;
    int64_t ld, stride; /* in elements; stride: between matrices of a batch */
} cublas_matrix;

typedef enum cublas_activation { CUBLAS_LINEAR, CUBLAS_RELU, CUBLAS_GELU } cublas_activation;

/* D = act(alpha A B + beta C + bias), m x k times k x n, C and D in the same order. Types as in launch.json;
 * tf32 is f32 that the library rounds. Accumulation is in f32, for i8 in i32. */
typedef struct cublas_product {
    const char *type, *type_d;
    int64_t m, n, k, batch;
    cublas_matrix a, b, c, d; /* c: the same as d if beta is 0 */
    cute_address bias;        /* 0: none */
    cublas_activation activation;
    bool fast; /* allow fast accumulation of 8-bit floats in tensor cores */
    double alpha, beta;
} cublas_product;

typedef struct cute_cublas cute_cublas;

/* Selects the fastest of the algorithms proposed by the library's heuristics by running each: D is written.
 * The library is $CUTE_LIBCUBLASLT, else libcublasLt.so.13, .12 or .so. CUTE_SYSTEM: no library;
 * CUTE_INVALID: the product is unsupported; CUTE_USAGE: the device is not a GPU. */
cute_status cute_cublas_open(cute_device *device, const cublas_product *product, cute_cublas **out,
                             cute_diag *diag);
/* NULL is allowed. */
void cute_cublas_close(cute_cublas *cublas);
/* Starts the product on the device's own stream. */
cute_status cute_cublas_start(cute_cublas *cublas, cute_diag *diag);

#endif
