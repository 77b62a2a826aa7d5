/* Products inside: a problem as it was read, the kernels and configurations there are, ways to compute a problem, and
 * what a way comes to: sources with defines, and a launch.json whose plans are its steps. */
#ifndef CUTE_LIB_GEMM_GEMM_H
#define CUTE_LIB_GEMM_GEMM_H

#include "cute/cubin.h"
#include "cute/gemm.h"
#include "lib/base/text/json.h"
#include "lib/launch/data/dtype.h"

/* ---- problems (problem.c) ---- */

typedef struct gemm_matrix {
    int64_t row, column; /* strides in elements */
    int64_t batch;       /* from one to the next */
    int64_t span;        /* elements from the first to behind the last, of all of the batch */
} gemm_matrix;

/* With every default filled in. */
typedef struct gemm_problem {
    cute_gemm_problem given;
    cute_dtype in, out, sum; /* of A and B; of C, D and the bias; of the sums */
    bool fast;               /* sums of 8-bit floats are as tensor cores make them */
    gemm_matrix a, b, c, d;
} gemm_problem;

/* CUTE_USAGE: what contradicts itself. `which` is its number in a group, for messages; -1: it is alone. */
cute_status gemm_problem_read(const cute_gemm_problem *given, int which, gemm_problem *out, cute_diag *diag);

/* D = A B. */
bool gemm_is_plain(const gemm_problem *problem);

/* Words of a command line (options.c); NULL and 0: not given. */
typedef struct gemm_words {
    const char *shapes, *dtype, *dtype_d, *accumulate, *layout, *alpha, *beta;
    int64_t batch, align;
    bool bias, relu, gelu;
} gemm_words;
/* The products in `arena`; their texts are those of `words`. */
cute_status gemm_problems_parse(cute_arena *arena, const gemm_words *words, cute_gemm_problem **out,
                                size_t *count, cute_diag *diag);

/* ---- kernels and configurations (table.c) ---- */

/* The classes of element types that configurations are for. */
typedef enum gemm_class { GEMM_HALF, GEMM_TF32, GEMM_BYTE, GEMM_FP8, GEMM_SINGLE } gemm_class;
gemm_class gemm_class_of(cute_dtype in);

struct gemm_way;
struct gemm_config;

/* Names and values of -D. */
typedef struct gemm_defines {
    cute_arena *arena;
    const char **items;
    size_t count, capacity;
    bool failed;
} gemm_defines;
void gemm_define(gemm_defines *defines, const char *format, ...) CUTE_PRINTF(2, 3);

/* A source that computes a product of rows of K elements: C(m,n) = A(m,k) B(n,k). Where it fuses an epilogue its
 * host function takes D, C, bias, alpha and beta. */
typedef struct gemm_kernel {
    const char *name, *function; /* function: of the host */
    const char *source;
    const char *result, *addend; /* what its D and C are called */
    int first_arch;
    bool this_chip;    /* that architecture's own features: sm_90a */
    int64_t threads;   /* of a block; 0: those of its warps */
    int64_t vc;        /* elements of a copy to C where its rows take that */
    int64_t row_bytes; /* that divide rows of C and what is from one to the next; 0: any */
    bool any_result;   /* the result's rows and columns may lie anywhere: either matrix may be its A */
    bool always_fused; /* its host function takes what an epilogue needs, even without one */
    /* Whether it takes A (rows x k) where it lies, with vectors or without. */
    bool (*takes)(const struct gemm_config *config, cute_dtype in, const gemm_matrix *operand, int64_t rows,
                  int64_t k, int64_t align, bool vectors);
    bool (*makes)(cute_dtype in, cute_dtype out); /* sums rounded to that type */
    /* Whether it makes D of the sums, with alpha, beta, bias and activation; NULL: no. */
    bool (*fuses)(const struct gemm_config *config, const gemm_problem *problem);
    void (*define)(const struct gemm_way *way, gemm_defines *out);
} gemm_kernel;

/* What clusters do with tiles of a last wave that is not full: some compute them whole; all divide them by k; all have as
 * much of the k of the last two waves (stream-K). */
typedef enum gemm_sharing { GEMM_WHOLE, GEMM_TAIL, GEMM_STREAMED } gemm_sharing;

/* A row of configs.def. */
typedef struct gemm_config {
    const gemm_kernel *kernel;
    gemm_class class;
    int64_t bm, bn, bk, stages, warps_m, warps_n;
    int64_t cluster_m, cluster_n; /* blocks */
    bool turns;                   /* of the warpgroups, at a tile each; else they halve one */
    bool promotes;                /* sums of 128 terms are added in registers */
    int64_t split;                /* blocks of a cluster that share the k of a tile */
    gemm_sharing sharing;         /* of tiles by clusters */
    int64_t resident;             /* blocks of a multiprocessor; 0: as many as have room */
    double vectors, narrow;       /* TFLOP/s measured on 132 multiprocessors, 0: not */
    char name[48];                /* "sm80:128x256:128:3" */
} gemm_config;

/* Bytes of operands that L2 still has when a product is run again. */
enum { GEMM_L2_KEEPS = 40 << 20 };

size_t gemm_config_count(void);
const gemm_config *gemm_config_at(size_t index);
extern const gemm_kernel gemm_kernel_sm80, gemm_kernel_sm90, gemm_kernel_split, gemm_kernel_sgemm;
/* The texts of kernels/gemm, embedded when the library is built. */
const char *gemm_source_pack(void);
const char *gemm_source_epilogue(void);
const char *gemm_source_clear(void);

/* ---- ways (choose.c) ---- */

/* How a problem, or all of a group, is computed. */
typedef struct gemm_way {
    const gemm_config *config;
    const gemm_problem *first; /* types and orders are those of all */
    bool vectors;              /* copies of 16 bytes, else of one element */
    bool swapped;              /* D^T = B^T A^T */
    bool pack_a, pack_b;       /* of the kernel's A and B, which are B and A if swapped */
    bool fused;                /* the kernel makes D of the sums, with what else D is made of */
    bool epilogue;             /* the product goes to the workspace, a step makes D of it */
    bool columns_a, columns_b; /* rows, not k, are neighbours in the kernel's A and B */
    int64_t vc;                /* elements of a copy to C */
    int64_t multiprocessors;   /* that it may run on */
    cute_dtype product;        /* the type that the kernel writes */
    double seconds;
    bool tuned, emulated; /* emulated: by times of the emulator, which are none of a GPU */
    char name[56];        /* of the configuration, with ":narrow" */
} gemm_way;

typedef struct gemm_target {
    const char *arch;
    int64_t multiprocessors;
} gemm_target;

enum { GEMM_WAYS = 64 };
/* All ways that take the problems, the fastest first by estimate. */
size_t gemm_ways(const gemm_problem *problems, size_t count, const gemm_target *target, gemm_way *out,
                 size_t limit);
/* One way: by name, else what was measured before, else the first. CUTE_INVALID: there is none. */
cute_status gemm_choose(const gemm_problem *problems, size_t count, const gemm_target *target,
                        const char *name, const char *cache, const char *device, gemm_way *out,
                        cute_diag *diag);

/* What the kernel sees of one problem: its A (rows, k), B (columns, k) and C. */
typedef struct gemm_view {
    int64_t rows, columns, k;
    gemm_matrix a, b;
} gemm_view;
gemm_view gemm_view_of(const gemm_way *way, const gemm_problem *problem);
/* k with the padding of a packed operand. */
int64_t gemm_packed_k(const gemm_way *way, int64_t k);

/* ---- steps (document.c) ---- */

/* Bytes of the parts of the workspace. */
typedef struct gemm_workspace {
    size_t a, b, sums, slots, flags; /* 0: not there; each a multiple of 256 */
} gemm_workspace;
cute_status gemm_workspace_of(const gemm_way *way, const gemm_problem *problems, size_t count,
                              gemm_workspace *out, cute_diag *diag);
/* The launch.json: buffers and one plan a step, in order. Of problem i of several the buffers are called A0, B0, ...; of
 * one alone A, B, C, D and bias; those of the workspace packed_a, packed_b, sums, slots and flags. NULL: memory is
 * exhausted. */
json_t *gemm_document(const gemm_way *way, const gemm_problem *problems, size_t count);
/* Adds data and a check of D to it; and what is timed, beside cuBLAS where `cublas`. */
void gemm_document_check(json_t *document, const gemm_problem *problems, size_t count);
void gemm_document_bench(json_t *document, const gemm_problem *problems, size_t count, bool cold,
                         bool cublas);
/* Operations of all products. */
double gemm_flops(const gemm_problem *problems, size_t count);
const char *gemm_buffer_name(cute_arena *arena, const char *name, size_t index, size_t count);

/* ---- compiling (compile.c) ---- */

/* The sources of a way, compiled and joined: a cubin, or PTX where `ptx` or where there is no toolkit. */
cute_status gemm_compile(const gemm_way *way, const char *arch, bool ptx, const cute_gemm_compiler *compiler,
                         const char *cache, cute_module **out, cute_diag *diag);
/* The program cute-ptx (programs.c); texts in `arena`. */
cute_status gemm_programs(cute_arena *arena, cute_gemm_compiler *out, cute_diag *diag);

/* ---- what was measured (tuned.c) ---- */

/* The name of the fastest way; false: not measured. */
bool gemm_tuned_find(const gemm_problem *problem, const gemm_target *target, const char *device,
                     const char *cache, char *name, size_t size, double *seconds, bool *emulated);
void gemm_tuned_put(const gemm_problem *problem, const gemm_target *target, const char *device,
                    const char *cache, const char *name, double seconds, bool emulated);

/* ---- plans (plan.c) ---- */

/* For cute-run, which launches in a process of its own. `name` is that of the device, for what was measured; `ptx`: the
 * module is PTX. */
typedef struct gemm_settings {
    gemm_target target;
    const char *device, *configuration, *cache;
    bool ptx;
    const cute_gemm_compiler *compiler;
} gemm_settings;
cute_status gemm_create(const cute_gemm_problem *problems, size_t count, const gemm_settings *settings,
                        cute_gemm **out, cute_diag *diag);
/* The architecture that kernels are compiled for, for a device of `arch`: with the features of this chip only. */
const char *gemm_arch_for(const char *arch);
const gemm_way *gemm_way_of(const cute_gemm *gemm);
const cute_module *gemm_module(const cute_gemm *gemm);
const gemm_problem *gemm_problems(const cute_gemm *gemm, size_t *count);

#endif
