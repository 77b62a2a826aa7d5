/* Products of matrices, D = act(alpha A B + beta C + bias), without a kernel of one's own: a plan is made for the shape,
 * types, layouts and device, runs as often as wanted, and is destroyed. Which kernel it is, with which tile and schedule,
 * follows from a table of measured configurations, or from a measurement for that very shape (cute_gemm_tune).
 *
 *     cute_gemm_problem problem = CUTE_GEMM_PROBLEM;
 *     problem.m = problem.n = problem.k = 4096;
 *     problem.type_a = "bf16";
 *     cute_gemm_options options = {.size = sizeof options, .device = device};
 *     cute_gemm_create(&problem, 1, &options, &gemm, diag);
 *     cute_gemm_operands operands = {.size = sizeof operands, .a = a, .b = b, .d = d};
 *     cute_gemm_run(gemm, &operands, diag);
 *
 * A is m x k, B is k x n, C and D are m x n. Any m, n and k from 1 on are taken, any leading dimension that leaves rows
 * (or columns) apart, any address: where a kernel wants more than it gets, matrices are copied to the workspace first,
 * in a form that it takes.
 *
 * Kernels are compiled when the plan is made, by the programs cute-ptx and ptxas, or in the process (cute/gemm_compiler.h
 * of libcute-compiler).
 *
 * What the calls of a class GemmExecutor are called here: GemmExecutor(M, N, K, arch): cute_gemm_create; execute:
 * cute_gemm_run; get_optimal_tile_size: cute_gemm_optimal_tile. */
#ifndef CUTE_GEMM_H
#define CUTE_GEMM_H

#include "cute/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cute_gemm_order {
    CUTE_GEMM_ROWS,    /* elements of a row are neighbours; the leading dimension is from row to row */
    CUTE_GEMM_COLUMNS, /* elements of a column are; it is from column to column */
} cute_gemm_order;

typedef enum cute_gemm_activation {
    CUTE_GEMM_LINEAR,
    CUTE_GEMM_RELU,
    CUTE_GEMM_GELU, /* its form with tanh */
} cute_gemm_activation;

/* Types are named as in launch.json(5). Begin with CUTE_GEMM_PROBLEM. */
typedef struct cute_gemm_problem {
    size_t size;
    int64_t m, n, k;
    /* f16, bf16, tf32 (stored as f32), f32 (not rounded: no tensor cores), e4m3, e5m2, i8. B is of the same type: NULL. */
    const char *type_a, *type_b;
    /* C is of the same type as D. f32, f16, bf16, e4m3, e5m2; of i8 also i32. NULL: i32 of i8, f32 of tf32 and of 8-bit
     * floats, else as A. */
    const char *type_d;
    /* f32; of i8 i32. NULL: that, but of 8-bit floats fast: the tensor cores' own sums, which have about 13 bits behind
     * the point; there f32 is sums of 128 terms each that are added as f32. */
    const char *accumulate;
    cute_gemm_order order_a, order_b, order_d; /* of C as of D */
    int64_t ld_a, ld_b, ld_c, ld_d;            /* elements; 0: without gaps */
    /* As many products, whose matrices lie so many elements apart (0: without gaps). The bias is the same for all. */
    int64_t batch, stride_a, stride_b, stride_c, stride_d;
    double alpha, beta; /* of i8 with D of i32 whole numbers; with beta 0, C is not read */
    bool bias;          /* n elements of D's type are added to each row */
    cute_gemm_activation activation;
    int64_t align; /* bytes that divide all addresses; 0: 16. Lower ones mean slower kernels */
} cute_gemm_problem;
#define CUTE_GEMM_PROBLEM ((cute_gemm_problem){.size = sizeof(cute_gemm_problem), .batch = 1, .alpha = 1})

/* Makes PTX of a kernel's source. *ptx is malloc'ed. */
typedef struct cute_gemm_compiler {
    size_t size;
    cute_status (*to_ptx)(void *context, const char *label, const char *source, size_t length,
                          const char *const *defines, size_t define_count, const char *arch, char **ptx,
                          size_t *ptx_length, cute_diag *diag);
    void *context;
    const char *version; /* of what compiles: part of the keys of the cache */
} cute_gemm_compiler;

typedef struct cute_gemm_options {
    size_t size;
    cute_device
        *device;      /* that runs it, which must outlive the plan; NULL: none, and the plan can't be run */
    const char *arch; /* NULL: the device's, else sm_90a */
    int64_t multiprocessors; /* 0: the device's, else those of the first device of `arch` that is made */
    const cute_gemm_compiler
        *compiler; /* NULL: the program cute-ptx, from the folder of the running program, or PATH */
    const char *configuration; /* by name; NULL: chosen */
    /* The folder where compiled kernels and what was measured are kept. NULL: $CUTE_CACHE, else $XDG_CACHE_HOME/libcute,
     * else ~/.cache/libcute; "": none. */
    const char *cache;
} cute_gemm_options;

/* A plan. Used by one thread at a time, as its device is. */
typedef struct cute_gemm cute_gemm;

/* A plan for `count` products: one, or a group whose members differ in shape, strides and scalars, but not in types. All
 * is copied. CUTE_USAGE: a problem that contradicts itself, or a type or configuration that there is not;
 * CUTE_INVALID: no kernel for it on that architecture; CUTE_SYSTEM: no compiler. */
CUTE_API cute_status cute_gemm_create(const cute_gemm_problem *problems, size_t count,
                                      const cute_gemm_options *options, cute_gemm **out, cute_diag *diag);
/* NULL is taken. Its work must be over. */
CUTE_API void cute_gemm_destroy(cute_gemm *gemm);

/* Bytes of device memory that a run needs beside the operands, at an address that 256 divides. */
CUTE_API size_t cute_gemm_workspace(const cute_gemm *gemm);

/* Where the matrices of one product lie. What a problem does not use is 0. */
typedef struct cute_gemm_operands {
    size_t size;
    cute_address a, b, c, d, bias;
    cute_address workspace; /* of the first operands only; 0 where none is needed */
    cute_stream *stream;    /* the same; NULL: the device's own */
} cute_gemm_operands;

/* Starts the products, one of `operands` for each; it does not wait on a GPU. D may be C. CUTE_USAGE: an address is
 * missing, or less aligned than the problem says. */
CUTE_API cute_status cute_gemm_run(cute_gemm *gemm, const cute_gemm_operands *operands, cute_diag *diag);

/* What was chosen for one of the products. */
typedef struct cute_gemm_choice {
    size_t size;
    const char *configuration; /* its name, for cute_gemm_options.configuration */
    const char *kernel;        /* the source: "gemm_sm80" */
    int64_t tile[3];           /* m, n, k */
    int64_t stages;
    bool tuned;                      /* measured for this shape, not estimated */
    bool swapped;                    /* D is computed as its transpose, B A */
    bool packs_a, packs_b, epilogue; /* steps of their own before and after the product */
    double seconds;                  /* measured or estimated */
    bool fused;                      /* alpha, beta, bias and activation are the kernel's */
    int64_t split;                   /* blocks that share the k of a tile */
} cute_gemm_choice;
/* CUTE_USAGE behind the last. Texts live as long as the plan. */
CUTE_API cute_status cute_gemm_chosen(const cute_gemm *gemm, size_t index, cute_gemm_choice *out,
                                      cute_diag *diag);

/* Runs each configuration that takes the problem on options.device, with data and memory of its own, and writes the
 * fastest to the cache, where cute_gemm_create finds it. `told` (may be NULL) hears of each when it was measured, or was
 * given up (`seconds` below 0). */
CUTE_API cute_status cute_gemm_tune(const cute_gemm_problem *problem, const cute_gemm_options *options,
                                    void (*told)(void *context, const char *configuration, size_t index,
                                                 size_t count, double seconds),
                                    void *context, cute_diag *diag);

/* The tile, m, n and k, that would be chosen for a product of f16 matrices on `arch` (NULL: sm_90a). */
CUTE_API cute_status cute_gemm_optimal_tile(int64_t m, int64_t n, int64_t k, const char *arch,
                                            int64_t tile[3], cute_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
