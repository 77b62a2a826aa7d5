/* Matrix multiplication D = act(alpha A B + beta C + bias) without writing a kernel: create a plan for the shape,
 * types, layouts and device, run it any number of times, and destroy it. The kernel, its tile and its schedule are
 * chosen from a table of measured configurations, or by measuring that shape (cute_gemm_tune).
 *
 *     cute_gemm_problem problem = CUTE_GEMM_PROBLEM;
 *     problem.m = problem.n = problem.k = 4096;
 *     problem.type_a = "bf16";
 *     cute_gemm_options options = {.size = sizeof options, .device = device};
 *     cute_gemm_create(&problem, 1, &options, &gemm, diag);
 *     cute_gemm_operands operands = {.size = sizeof operands, .a = a, .b = b, .d = d};
 *     cute_gemm_run(gemm, &operands, diag);
 *
 * A is m x k, B is k x n, C and D are m x n. m, n and k are at least 1; leading dimensions must keep rows (or columns)
 * from overlapping; addresses are arbitrary: matrices that do not meet a kernel's requirements are first copied to the
 * workspace.
 *
 * Kernels are compiled when the plan is created, by the programs cute-ptx and ptxas, or in the process
 * (cute/gemm_compiler.h of libcute-compiler).
 *
 * For users of a GemmExecutor class: GemmExecutor(M, N, K, arch) is cute_gemm_create; execute is cute_gemm_run, or
 * cute_gemm_run_host on arrays of the host; compile_from_mlir and load_compiled are cute_gemm_options.source and .module;
 * get_optimal_tile_size is cute_gemm_optimal_tile. */
#ifndef CUTE_GEMM_H
#define CUTE_GEMM_H

#include "cute/cubin.h"
#include "cute/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cute_gemm_order {
    CUTE_GEMM_ROWS,    /* row-major; the leading dimension is the distance between rows */
    CUTE_GEMM_COLUMNS, /* column-major; the leading dimension is the distance between columns */
} cute_gemm_order;

typedef enum cute_gemm_activation {
    CUTE_GEMM_LINEAR,
    CUTE_GEMM_RELU,
    CUTE_GEMM_GELU, /* the tanh approximation */
} cute_gemm_activation;

/* A scalar of an epilogue. */
typedef struct cute_gemm_value {
    const char *name;
    double value;
} cute_gemm_value;

/* Types are named as in launch.json(5). Initialize with CUTE_GEMM_PROBLEM. */
typedef struct cute_gemm_problem {
    size_t size;
    int64_t m, n, k;
    /* f16, bf16, tf32 (stored as f32), f32 (not rounded: no tensor cores), e4m3, e5m2, i8. type_b NULL:
     * type_a. */
    const char *type_a, *type_b;
    /* The type of C and D: f32, f16, bf16, e4m3, e5m2; for i8 operands also i32. NULL: i32 for i8 operands,
     * f32 for tf32 and 8-bit floats, else type_a. */
    const char *type_d;
    /* The accumulator: f32, or i32 for i8 operands. NULL: the same, except "fast" for 8-bit floats: the
     * tensor cores' own sums, with about 13 fractional bits; f32 then means sums of 128 terms each that are
     * added in f32. */
    const char *accumulate;
    cute_gemm_order order_a, order_b, order_d; /* order_d is also that of C */
    int64_t ld_a, ld_b, ld_c, ld_d;            /* elements; 0: packed */
    /* The number of products and the distance between their matrices in elements (0: packed). All share the
     * bias. */
    int64_t batch, stride_a, stride_b, stride_c, stride_d;
    double alpha, beta; /* whole numbers if D is i32; with beta 0, C is not read */
    bool bias;          /* n elements of D's type that are added to each row */
    cute_gemm_activation activation;
    int64_t align; /* bytes that divide all addresses; 0: 16. Smaller alignments select slower kernels */
    /* An expression instead of alpha, beta, bias and activation, see docs/epilogues.md: "D = gelu(acc + bias[j])". Of
     * one product or a batch, with D packed, by rows. Results are of each product of a batch, one behind the other;
     * so are operands with the index l, as C[l,i,j]. Its operands and results are named
     * (cute_gemm_operands); D may have other columns than N. NULL: none. */
    const char *epilogue;
    const cute_gemm_value *values; /* of its scalars; alpha and beta are those above unless listed */
    size_t value_count;
} cute_gemm_problem;
#define CUTE_GEMM_PROBLEM ((cute_gemm_problem){.size = sizeof(cute_gemm_problem), .batch = 1, .alpha = 1})

/* Compiles a kernel's source to PTX. *ptx is malloc'ed. */
typedef struct cute_gemm_compiler {
    size_t size;
    cute_status (*to_ptx)(void *context, const char *label, const char *source, size_t length,
                          const char *const *defines, size_t define_count, const char *arch, char **ptx,
                          size_t *ptx_length, cute_diag *diag);
    void *context;
    const char *version; /* of the compiler: part of the cache keys */
} cute_gemm_compiler;

/* Which extent of a product is divided among the ranks of a communicator, and how they communicate: docs/ranks.md. */
typedef enum cute_gemm_split {
    CUTE_GEMM_WHOLE,
    CUTE_GEMM_SPLIT_M,
    CUTE_GEMM_SPLIT_N,
    CUTE_GEMM_SPLIT_K
} cute_gemm_split;
typedef enum cute_gemm_collective {
    CUTE_GEMM_USUAL, /* all_gather; of partial sums all_reduce */
    CUTE_GEMM_ALL_GATHER,
    CUTE_GEMM_ALL_REDUCE,
    CUTE_GEMM_REDUCE_SCATTER,
} cute_gemm_collective;

typedef struct cute_gemm_options {
    size_t size;
    cute_device *device;     /* runs the plan and must outlive it; NULL: none, and the plan cannot be run */
    const char *arch;        /* NULL: the device's, else sm_90a */
    int64_t multiprocessors; /* 0: the device's, else those of the first device listed for `arch` */
    const cute_gemm_compiler
        *compiler; /* NULL: the program cute-ptx, from the folder of the running program or PATH */
    const char *configuration; /* its name; NULL: chosen */
    /* The folder of compiled kernels and measurements. NULL: $CUTE_CACHE, else $XDG_CACHE_HOME/libcute, else
     * ~/.cache/libcute; "": none. */
    const char *cache;
    /* A product of the caller instead of a configuration: a module (a cubin or PTX with metadata), which must outlive the plan, or
     * MLIR source, which is compiled. Its host function `function` (NULL: its only one) has parameters A (m,k), B (n,k) and D (m,n), or
     * three modes with a batch in front; also C, bias, alpha and beta if the problem has them. With an epilogue expression: a module of
     * the program of `cute-dump evt --emit=mlir` for this problem. */
    const cute_module *module;
    const char *source;
    size_t source_length;
    const char *const *defines; /* of the source: "NAME=VALUE" */
    size_t define_count;
    const char *function;
    /* An ncclComm_t, which must outlive the plan: `problems` is one product of all its ranks, each of which creates a plan, which waits for
     * the others, and runs it. The operands are this rank's parts (cute_gemm_part_of); partial sums are in the workspace, or, where ranks
     * store into each other's memory, in an allocation of the plan. The library is $CUTE_LIBNCCL or libnccl.so.2, the one that created the communicator. Only with `device`, and with neither a module nor a source. */
    void *communicator;
    cute_gemm_split split;
    cute_gemm_collective collective;
    const char *
        overlap; /* of --overlap: "sequence", "signal", ...; NULL: the model chooses. All ranks state the same */
} cute_gemm_options;

/* A plan. Used by one thread at a time, as its device is. */
typedef struct cute_gemm cute_gemm;

/* Creates a plan for `count` products: one, or a group whose members share types but may differ in shape,
 * strides and scalars. Everything is copied. CUTE_USAGE: a contradictory problem, or an unknown type or
 * configuration; CUTE_INVALID: no kernel for it on that architecture; CUTE_SYSTEM: no compiler. */
CUTE_API cute_status cute_gemm_create(const cute_gemm_problem *problems, size_t count,
                                      const cute_gemm_options *options, cute_gemm **out, cute_diag *diag);
/* NULL is allowed. Its work must have completed. */
CUTE_API void cute_gemm_destroy(cute_gemm *gemm);

/* Bytes of device memory that a run needs in addition to the operands, aligned to 256 bytes. */
CUTE_API size_t cute_gemm_workspace(const cute_gemm *gemm);

/* A matrix, vector or number of an epilogue in device memory, at a multiple of cute_gemm_problem.align bytes. */
typedef struct cute_gemm_named {
    const char *name;
    cute_address address;
} cute_gemm_named;

/* The addresses of one product's matrices; 0 for those that the problem does not use. */
typedef struct cute_gemm_operands {
    size_t size;
    cute_address a, b, c, d, bias;
    cute_address workspace; /* of the first operands only; 0: not needed */
    cute_stream *stream;    /* of the first operands only; NULL: the device's default stream */
    /* Operands and results of an expression; D and C may also be d and c. */
    const cute_gemm_named *named;
    size_t named_count;
} cute_gemm_operands;

/* Starts the products, one of `operands` per product; does not wait on a GPU. D may alias C. CUTE_USAGE: an
 * address is missing or less aligned than the problem states. */
CUTE_API cute_status cute_gemm_run(cute_gemm *gemm, const cute_gemm_operands *operands, cute_diag *diag);

/* An array in host memory: A, B, C, bias, D, or an operand or result of an epilogue. */
typedef struct cute_gemm_array {
    const char *name;
    void *data;
    size_t bytes;
} cute_gemm_array;

/* Runs a plan of one product on arrays in host memory: copies operands to the device, runs, waits, and copies results back. CUTE_USAGE: an
 * array is missing, unknown, or of another size than the problem's matrix, gaps between its rows included. */
CUTE_API cute_status cute_gemm_run_host(cute_gemm *gemm, const cute_gemm_array *arrays, size_t count,
                                        cute_diag *diag);

/* An array of a plan of one product: A, B, C, bias, D, or an operand or result of an epilogue. */
typedef struct cute_gemm_array_info {
    size_t size;
    const char *name, *type;
    int rank;                     /* with the batch in front */
    int64_t shape[3], strides[3]; /* elements */
    size_t bytes;                 /* with gaps between rows */
    bool result;
} cute_gemm_array_info;
/* CUTE_USAGE past the last array, and for groups and plans with a communicator. Texts are valid as long as the plan. */
CUTE_API cute_status cute_gemm_array_at(const cute_gemm *gemm, size_t index, cute_gemm_array_info *out,
                                        cute_diag *diag);

/* The choice made for one of the products. */
typedef struct cute_gemm_choice {
    size_t size;
    const char *configuration; /* for cute_gemm_options.configuration */
    const char *kernel;        /* the source: "product" */
    int64_t tile[3];           /* m, n, k */
    int64_t stages;
    bool tuned;                      /* measured for this shape, not estimated */
    bool swapped;                    /* D is computed as its transpose: B^T A^T */
    bool packs_a, packs_b, epilogue; /* separate steps before and after the product */
    double seconds;                  /* measured or estimated */
    bool fused;                      /* the kernel applies alpha, beta, bias and activation */
    int64_t split;                   /* blocks that share the k loop of a tile */
} cute_gemm_choice;
/* CUTE_USAGE past the last product. Texts are valid as long as the plan. */
CUTE_API cute_status cute_gemm_chosen(const cute_gemm *gemm, size_t index, cute_gemm_choice *out,
                                      cute_diag *diag);

/* This rank's part of A, B, C, D, the bias, or an operand or result of an expression: `rows` x `columns` of the whole from (first_row,
 * first_column), with leading dimension `ld`, in a buffer of `elements` elements, aligned to 16 bytes; the matrices of a batch are `stride`
 * elements apart. Of an A that is gathered before the product, the caller provides the `own_rows` rows from `own_row`; of a D that is
 * gathered after it, the rank computes these. A gathered A by columns consists of matrices of `block` rows (0: it does not), each of
 * `block` x `columns` elements. */
typedef struct cute_gemm_part {
    size_t size;
    int64_t first_row, first_column, rows, columns, ld, elements, own_row, own_rows, stride, block;
} cute_gemm_part;
/* CUTE_USAGE: the plan has no communicator, or an unknown name. */
CUTE_API cute_status cute_gemm_part_of(const cute_gemm *gemm, const char *name, cute_gemm_part *out,
                                       cute_diag *diag);

/* Runs each configuration that supports the problem on options.device, with its own data and memory, and
 * records the fastest in the cache, where cute_gemm_create finds it. `told` (may be NULL) is called for each
 * configuration after it was measured or abandoned (`seconds` below 0). */
CUTE_API cute_status cute_gemm_tune(const cute_gemm_problem *problem, const cute_gemm_options *options,
                                    void (*told)(void *context, const char *configuration, size_t index,
                                                 size_t count, double seconds),
                                    void *context, cute_diag *diag);

/* The tile (m, n, k) that is chosen for a product of f16 matrices on `arch` (NULL: sm_90a). */
CUTE_API cute_status cute_gemm_optimal_tile(int64_t m, int64_t n, int64_t k, const char *arch,
                                            int64_t tile[3], cute_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
