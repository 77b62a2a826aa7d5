/* Products by cuBLASLt, opened at run time, as something to be compared with. */
#ifndef CUTE_LIB_DEVICE_CUBLAS_H
#define CUTE_LIB_DEVICE_CUBLAS_H

#include "cute/device.h"

typedef struct cublas_matrix {
    cute_address address;
    bool by_rows;
    int64_t ld, stride; /* elements; stride: from one of a batch to the next */
} cublas_matrix;

typedef enum cublas_activation { CUBLAS_LINEAR, CUBLAS_RELU, CUBLAS_GELU } cublas_activation;

/* D = act(alpha A B + beta C + bias), m x k and k x n, C and D in the same order. Types as in launch.json; tf32 is f32
 * that is rounded by the library. Sums are f32, of i8 i32. */
typedef struct cublas_product {
    const char *type, *type_d;
    int64_t m, n, k, batch;
    cublas_matrix a, b, c, d; /* c: as d where beta is 0 */
    cute_address bias;        /* 0: none */
    cublas_activation activation;
    bool fast; /* sums of 8-bit floats may be those of the tensor cores */
    double alpha, beta;
} cublas_product;

typedef struct cute_cublas cute_cublas;

/* Of the algorithms that its heuristics propose the fastest, found by running each: D is written. The library is
 * $CUTE_LIBCUBLASLT, else libcublasLt.so.13, .12 or .so. CUTE_SYSTEM: there is none; CUTE_INVALID: it doesn't compute
 * that product; CUTE_USAGE: the device is no GPU. */
cute_status cute_cublas_open(cute_device *device, const cublas_product *product, cute_cublas **out,
                             cute_diag *diag);
/* NULL is taken. */
void cute_cublas_close(cute_cublas *cublas);
/* Starts the product on the device's own stream. */
cute_status cute_cublas_start(cute_cublas *cublas, cute_diag *diag);

#endif
