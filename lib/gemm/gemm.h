/* Internals of matrix multiplication: the parsed problem, the table of kernels and configurations, the
 * algorithms for a problem, and an algorithm's sources with their defines and its launch.json, one plan a
 * step. */
#ifndef CUTE_LIB_GEMM_GEMM_H
#define CUTE_LIB_GEMM_GEMM_H

#include "cute/cubin.h"
#include "cute/gemm.h"
#include "lib/base/text/json.h"
#include "lib/epilogue/epilogue.h"
#include "lib/launch/data/dtype.h"
#include "lib/model/model.h"
#include "lib/ranks/comm.h"

/* ---- problems (problem.c) ---- */

typedef struct gemm_matrix {
    int64_t row, column; /* strides in elements */
    int64_t batch;       /* stride between the matrices of a batch */
    int64_t span;        /* elements that the whole batch covers, gaps included */
} gemm_matrix;

/* All defaults are filled in. */
typedef struct gemm_problem {
    cute_gemm_problem given;
    cute_dtype in, out, sum; /* types of A and B; of C, D and the bias; of the accumulator */
    bool fast;               /* 8-bit floats: tensor-core accumulation without promotion to f32 */
    gemm_matrix a, b, c, d;
    epilogue_tree *tree; /* of given.epilogue; NULL: none */
    const epilogue_value *values;
    size_t value_count;
} gemm_problem;

/* CUTE_USAGE: the problem is inconsistent. `which` is its index in a group, for messages; -1: not in a
 * group. */
cute_status gemm_problem_read(const cute_gemm_problem *given, int which, gemm_problem *out, cute_diag *diag);

/* Whether D = A B, without an epilogue. */
bool gemm_is_plain(const gemm_problem *problem);

/* Command-line values (options.c); NULL and 0: not given. */
typedef struct gemm_words {
    const char *shapes, *dtype, *dtype_d, *accumulate, *layout, *alpha, *beta;
    int64_t batch, align;
    bool bias, relu, gelu;
    const char *epilogue;
    const char *const *values; /* NAME=VALUE */
    size_t value_count;
} gemm_words;
/* The problems are allocated in `arena`; their strings are those of `words`. */
cute_status gemm_problems_parse(cute_arena *arena, const gemm_words *words, cute_gemm_problem **out,
                                size_t *count, cute_diag *diag);

/* ---- kernels and configurations (table.c) ---- */

/* Element types that share configurations. */
typedef enum gemm_class { GEMM_HALF, GEMM_TF32, GEMM_BYTE, GEMM_FP8, GEMM_SINGLE } gemm_class;
gemm_class gemm_class_of(cute_dtype in);

struct gemm_algo;
struct gemm_config;

/* "NAME=VALUE", as for -D. */
typedef struct gemm_defines {
    cute_arena *arena;
    const char **items;
    size_t count, capacity;
    bool failed;
} gemm_defines;
void gemm_define(gemm_defines *defines, const char *format, ...) CUTE_PRINTF(2, 3);

/* A source that computes D(m,n) = A(m,k) B(n,k). If it takes an epilogue, its host function has the parameters C, bias, alpha and beta,
 * too. */
typedef struct gemm_kernel {
    const char *name, *function; /* function: the host function */
    const char *source;
    const char *result, *addend; /* parameter names of D and C */
    int first_arch;
    bool arch_specific;     /* needs architecture-specific features: sm_90a */
    int64_t threads;        /* threads of a block; 0: 32 times the configuration's warps */
    int64_t store_bytes;    /* width of stores to D where its rows allow it, bytes; 0: elements */
    int64_t row_bytes;      /* required divisor of C's row length and row stride, bytes; 0: none */
    bool any_output_layout; /* C may have any strides, so either operand can be the kernel's A */
    bool takes_epilogue;    /* its host function has the epilogue's parameters */
    bool tiles; /* tensors have a leading mode, so that one launch computes a batch, and the bias two modes */
    /* Whether it can read A (rows x k) in place, with or without vector copies. */
    bool (*supports_operand)(const struct gemm_config *config, cute_dtype in, const gemm_matrix *operand,
                             int64_t rows, int64_t k, int64_t align, bool vectors);
    bool (*supports_output)(cute_dtype in, cute_dtype out); /* rounds the sums to that type; NULL: to any */
    /* Whether it can fuse alpha, beta, bias and activation; NULL: no. */
    bool (*supports_epilogue)(const struct gemm_config *config, const gemm_problem *problem);
    void (*define)(const struct gemm_algo *algo, gemm_defines *out);
} gemm_kernel;

/* A row of configs.def. */
typedef struct gemm_config {
    const gemm_kernel *kernel;
    gemm_class class;
    int64_t bm, bn, bk, stages, warps_m, warps_n;
    int64_t cluster_m, cluster_n; /* blocks */
    bool pingpong;                /* warpgroups compute alternate tiles; else they share one (cooperative) */
    bool promotes;                /* sums of 128 terms are added in f32 registers */
    int64_t split;                /* blocks of a cluster that split the k of a tile */
    cute_model_tail schedule;
    int64_t blocks_per_sm; /* 0: as many as fit */
    double rate;           /* TFLOP/s on 132 multiprocessors with 16-byte copies; 0: not measured */
    double narrow_rate;    /* the same with 1-element copies */
    char name[48];         /* "sm80:128x256:128:3" */
} gemm_config;

/* Operands of at most so many bytes are still in L2 when a product is run again. */
enum { GEMM_L2_RESIDENT = CUTE_MODEL_RESIDENT };

size_t gemm_config_count(void);
const gemm_config *gemm_config_at(size_t index);
extern const gemm_kernel gemm_kernel_sm80, gemm_kernel_sm90, gemm_kernel_split, gemm_kernel_sgemm;
/* The sources in kernels/gemm, embedded at build time. */
const char *gemm_source_pack(void);
const char *gemm_source_epilogue(void);
/* The source of a collective in kernels/ranks; NULL: there is no kernel of that kind. */
const char *gemm_source_collective(comm_kind kind);

/* ---- algorithms (choose.c) ---- */

/* Groups of rows of tiles of a product, counted when they are stored (signal.c). */
typedef struct gemm_signal {
    int64_t groups, rows; /* rows: of tiles in a group */
    bool peers;           /* D and the counters can be in the memory of other devices */
    int copies;           /* it stores D so many times more, each with counters of its own */
} gemm_signal;
enum { GEMM_COPIES_MOST = 7 };

/* How a problem, or every problem of a group, is computed. */
typedef struct gemm_algo {
    const gemm_config *config;
    const gemm_problem *first; /* the group has the same types and orders */
    bool vectors;              /* 16-byte copies, else 1-element copies */
    bool swapped;              /* D^T = B^T A^T */
    bool pack_a, pack_b;       /* copy the kernel's A and B first; if swapped, these are B and A */
    bool fused;                /* the kernel applies the epilogue */
    bool scales;               /* alpha of a problem is not 1 */
    bool epilogue;             /* the sums go to the workspace, and a separate step applies the epilogue */
    bool columns_a, columns_b; /* the kernel's A and B are contiguous along rows, not along k */
    bool columns_d;            /* its C and D are contiguous along rows of A, not of B */
    int64_t vc;                /* elements of which rows of C and D are multiples, so that stores are wide */
    int64_t multiprocessors;   /* of the device */
    cute_dtype product;        /* element type of the kernel's output */
    double seconds;
    const epilogue_program *program; /* of an expression; NULL: none */
    const struct gemm_own *own;      /* a product of the caller; NULL: none */
    gemm_signal signal;              /* groups 0: it counts no tiles */
    bool tuned, emulated;            /* tuned: `seconds` was measured; emulated: on the emulator */
    char name[56];                   /* the configuration's, and ":narrow" without vectors */
} gemm_algo;

typedef struct gemm_target {
    const char *arch;
    int64_t multiprocessors;
} gemm_target;

enum { GEMM_MAX_ALGOS = 64 };
/* All algorithms that support the problems, the one with the lowest estimate first. */
size_t gemm_algos(const gemm_problem *problems, size_t count, const gemm_target *target, gemm_algo *out,
                  size_t limit);
/* The error of problems without an algorithm: CUTE_INVALID. */
cute_status gemm_fail_unsupported(const gemm_problem *problems, size_t count, const gemm_target *target,
                                  cute_diag *diag);
/* The algorithm of that name; without a name, the one that was measured to be the fastest; else the first.
 * CUTE_INVALID: the problems are unsupported. */
cute_status gemm_choose(const gemm_problem *problems, size_t count, const gemm_target *target,
                        const char *name, const char *cache, const char *device, gemm_algo *out,
                        cute_diag *diag);

/* The problem's operands as the kernel sees them: A (rows, k), B (columns, k). */
typedef struct gemm_view {
    int64_t rows, columns, k;
    gemm_matrix a, b;
} gemm_view;
gemm_view gemm_view_of(const gemm_algo *algo, const gemm_problem *problem);
/* k, padded as in a packed operand. */
int64_t gemm_packed_k(const gemm_algo *algo, int64_t k);

/* ---- steps (document.c) ---- */

/* The launch.json: buffers, and one plan for each step in order. The buffers of a single problem are A, B, C,
 * D and bias, those of a group A0, B0, ...; the matrices between the steps are its temporaries packed_a, packed_b and sums. NULL
 * when memory is exhausted. */
/* Whether one launch computes all matrices of a batch. */
bool gemm_whole_batch(const gemm_algo *algo);
json_t *gemm_document(const gemm_algo *algo, const gemm_problem *problems, size_t count);
/* Adds random data and a check of D; adds a bench, with cuBLASLt as baseline if `cublas`. */
void gemm_document_check(json_t *document, const gemm_problem *problems, size_t count);
void gemm_document_bench(json_t *document, const gemm_problem *problems, size_t count, bool cold,
                         bool cublas);
/* Tolerances for the rounding of sums of k terms and of the result; the data has mean 0 and deviation 1. */
void gemm_tolerances(const gemm_problem *problem, double *rtol, double *atol);
/* Floating-point operations of all products. */
double gemm_flops(const gemm_problem *problems, size_t count);
/* ---- epilogues that are expressions (expression.c) ---- */

/* Parses the epilogue of a problem that was read; everything is copied to `arena`. CUTE_USAGE: the problem has other parts that exclude
 * it. */
cute_status gemm_expression_read(cute_arena *arena, gemm_problem *problem, cute_diag *diag);
/* Generates the program for the chosen tile, and gives `algo` a kernel of its own. */
cute_status gemm_expression_apply(cute_arena *arena, gemm_algo *algo, gemm_problem *problem,
                                  const char *passes, epilogue_program **out, cute_diag *diag);
/* Reads a problem with an epilogue, chooses an algorithm (that of the configuration, unless NULL), runs `passes` (NULL: the default ones)
 * on the tree and, where those include PassGetImpl, generates the program (else *out is NULL). */
cute_status gemm_expression_open(cute_arena *arena, const cute_gemm_problem *given, const gemm_target *target,
                                 const char *configuration, const char *passes, gemm_problem *problem,
                                 gemm_algo *algo, epilogue_program **out, cute_diag *diag);
/* The program with the values of its params, so that it is complete. */
bool gemm_expression_source(const gemm_algo *algo, cute_buffer *out);
/* Whether the product's kernel computes reductions of rows that matrices need, if any, with this algorithm. */
bool gemm_expression_has_rows(const gemm_algo *algo, const gemm_problem *problem);
/* Whether the tile's values fit into registers. */
bool gemm_expression_fits(const struct gemm_config *config, const gemm_problem *problem);
/* Adds random data and params to a launch.json; the checks of all results. */
json_t *gemm_expression_data(json_t *document, const gemm_problem *problem);
/* A problem and a device as the tree's passes need them. */
epilogue_problem gemm_expression_problem(const gemm_algo *algo, const gemm_problem *problem);
/* The same for sums in memory, which the kernels on matrices read in their own tiles. */
epilogue_problem gemm_expression_of_sums(const gemm_problem *problem);

/* The program of a problem that was read whose sums are an operand "acc" in memory, of this type. */
cute_status gemm_expression_finish(cute_arena *arena, gemm_problem *problem, cute_dtype sums,
                                   epilogue_program **out, cute_diag *diag);

const char *gemm_buffer_name(cute_arena *arena, const char *name, size_t index, size_t count);

/* ---- compiling (compile.c) ---- */

/* Links PTX to a cubin, which is appended to `out`. */
cute_status gemm_link(const char *name, const char *arch, const char *ptx, size_t size, cute_buffer *out,
                      cute_diag *diag);
/* Compiles and links an algorithm's sources: a cubin, or PTX if `ptx` or if the toolkit is not found. */
cute_status gemm_compile(const gemm_algo *algo, const char *arch, bool ptx,
                         const cute_gemm_compiler *compiler, const char *cache, cute_module **out,
                         cute_diag *diag);
/* Compiles one source with its defines. */
cute_status gemm_compile_source(const char *name, const char *source, const gemm_defines *defines,
                                const char *arch, bool ptx, const cute_gemm_compiler *compiler,
                                const char *cache, cute_module **out, cute_diag *diag);
/* The defines of gemm_epilogue, from sums of this type. */
void gemm_define_epilogue(const gemm_problem *problem, cute_dtype sums, gemm_defines *out);
/* Compiles by the program cute-ptx (programs.c); strings in `arena`. */
cute_status gemm_programs(cute_arena *arena, cute_gemm_compiler *out, cute_diag *diag);

/* ---- products that count their tiles (signal.c) ---- */

/* Whether the algorithm's kernel stores tiles of rows of D itself, once each. */
bool gemm_signal_supports(const gemm_algo *algo);
/* Gives `algo` a kernel of its own, which adds 1 to counter i / rows of the buffer "signals", i32, when a tile of its row i is stored. The buffer
 * has one more counter, of tiles beyond D. */
cute_status gemm_signal_apply(cute_arena *arena, gemm_algo *algo, gemm_signal signal, cute_diag *diag);
/* As cute_gemm_create, of a product whose kernel counts its tiles. CUTE_INVALID: it cannot. */
cute_status gemm_create_signalled(const cute_gemm_problem *problem, const cute_gemm_options *options,
                                  gemm_signal signal, cute_gemm **out, cute_diag *diag);
/* The memory of the counters, for later runs. */
cute_status gemm_set_signals(cute_gemm *gemm, cute_address counters, cute_diag *diag);
/* The memory of copy 1, 2, ... of D and its counters. */
cute_status gemm_set_copy(cute_gemm *gemm, int copy, cute_address d, cute_address counters, cute_diag *diag);

/* ---- epilogues as a step of their own (finish.c) ---- */

/* D = act(alpha S + beta C + bias), or an expression, of finished sums S: m x n by rows, the matrices of a batch `stride` elements apart. */
typedef struct gemm_finish gemm_finish;
/* `options` is complete: a device, an architecture and its multiprocessors. */
cute_status gemm_finish_create(const cute_gemm_problem *given, cute_dtype sums, int64_t stride,
                               const cute_gemm_options *options, gemm_finish **out, cute_diag *diag);
void gemm_finish_destroy(gemm_finish *finish);
size_t gemm_finish_workspace(const gemm_finish *finish);
/* Starts it on operands->stream. Of an expression, all operands and results are named. */
cute_status gemm_finish_run(gemm_finish *finish, cute_address sums, const cute_gemm_operands *operands,
                            cute_diag *diag);

/* ---- cached measurements (tuned.c) ---- */

/* The name of the fastest algorithm; false: not measured. */
bool gemm_tuned_find(const gemm_problem *problem, const gemm_target *target, const char *device,
                     const char *cache, char *name, size_t size, double *seconds, bool *emulated);
void gemm_tuned_put(const gemm_problem *problem, const gemm_target *target, const char *device,
                    const char *cache, const char *name, double seconds, bool emulated);

/* ---- plans of one rank (distributed/plan.c) ---- */

typedef struct gemm_ranks gemm_ranks;
/* `options` is complete: a device, an architecture and its multiprocessors. */
cute_status gemm_ranks_create(const cute_gemm_problem *problems, size_t count,
                              const cute_gemm_options *options, gemm_ranks **out, cute_diag *diag);
void gemm_ranks_destroy(gemm_ranks *ranks);
/* The plan of its first product; NULL: the rank computes none. */
const cute_gemm *gemm_ranks_first(const gemm_ranks *ranks);
size_t gemm_ranks_workspace(const gemm_ranks *ranks);
cute_status gemm_ranks_run(gemm_ranks *ranks, const cute_gemm_operands *operands, cute_diag *diag);
cute_status gemm_ranks_part(const gemm_ranks *ranks, const char *name, cute_gemm_part *out, cute_diag *diag);

/* ---- plans (plan.c) ---- */

/* For cute-run, which launches in another process. `device` is the device's name, the key of measurements;
 * `ptx`: do not link to a cubin. */
typedef struct gemm_settings {
    gemm_target target;
    const char *device, *configuration, *cache;
    bool ptx;
    bool untuned; /* choose by estimates only */
    gemm_signal signal;
    const cute_gemm_compiler *compiler;
    /* a product of the caller: cute_gemm_options */
    const cute_module *module;
    const char *source;
    size_t source_length;
    const char *const *defines;
    size_t define_count;
    const char *function;
} gemm_settings;

/* ---- products of the caller (own.c) ---- */

/* Compiles the caller's source. */
cute_status gemm_own_compile(const gemm_settings *settings, const cute_gemm_compiler *compiler,
                             cute_module **out, cute_diag *diag);
/* The algorithm that runs the module's host function. CUTE_INVALID: it has other parameters than a product. */
cute_status gemm_own_algorithm(cute_arena *arena, const cute_module *module, const char *function,
                               const gemm_problem *problem, gemm_algo *out, cute_diag *diag);
/* Its plan. */
json_t *gemm_own_plan(const gemm_algo *algo, const gemm_problem *problem);
cute_device *gemm_device(const cute_gemm *gemm);
cute_status gemm_create(const cute_gemm_problem *problems, size_t count, const gemm_settings *settings,
                        cute_gemm **out, cute_diag *diag);
/* The architecture to compile for on a device of `arch`, with its architecture-specific features: sm_90a for
 * sm_90. */
const char *gemm_arch_for(const char *arch);
const gemm_algo *gemm_algo_of(const cute_gemm *gemm);
const cute_module *gemm_module(const cute_gemm *gemm);
const gemm_problem *gemm_problems(const cute_gemm *gemm, size_t *count);

#endif
