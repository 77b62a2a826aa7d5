/* Matrix products that several ranks compute together: which part a rank computes, the steps with their collectives, their estimated
 * times, the choice among them, and running them. docs/ranks.md describes the schedules. */
#ifndef CUTE_LIB_GEMM_DISTRIBUTED_DISTRIBUTED_H
#define CUTE_LIB_GEMM_DISTRIBUTED_DISTRIBUTED_H

#include "lib/gemm/gemm.h"
#include "lib/model/links.h"
#include "lib/ranks/comm.h"
#include "lib/ranks/team.h"

/* ---- problems (shards.c) ---- */

typedef enum dist_split { DIST_M, DIST_N, DIST_K } dist_split;
/* AUTO: the model chooses. */
typedef enum dist_overlap {
    DIST_AUTO,
    DIST_SEQUENCE,
    DIST_SIGNAL,
    DIST_PARTS,
    DIST_ROTATE,
    DIST_PEER
} dist_overlap;

const char *dist_split_name(dist_split split);
const char *dist_overlap_name(dist_overlap overlap);

/* Command-line values; NULL and 0: not given. */
typedef struct dist_words {
    const char *split, *collective, *overlap, *link, *provider;
    int64_t ranks, groups, node, seeds;
} dist_words;

/* The value of --overlap that runs every schedule. */
#define DIST_EACH "each"

typedef struct dist_problem {
    cute_gemm_problem whole; /* one product of rank 0 to size - 1 together */
    gemm_problem read;       /* the same, with its defaults and the tree of its epilogue */
    dist_split split;
    comm_kind collective;
    int rank, size;
    bool finishes;   /* the epilogue is a step on finished sums, else the products' kernels have it */
    bool whole_rows; /* a product cannot be computed in parts of rows */
    cute_dtype sums; /* of the products' results: D's type, if they are D */
    int64_t unit_m, unit_n, unit_k; /* parts of M, N and K are divided at multiples of so many */
} dist_problem;

/* Checks a product and the names of its split and collective (NULL: the default of the split) for `size` ranks; the tree of its epilogue is
 * in `arena`. CUTE_USAGE, CUTE_INVALID: not supported together. */
cute_status dist_problem_read(cute_arena *arena, const cute_gemm_problem *whole, const char *split,
                              const char *collective, int rank, int size, dist_problem *out, cute_diag *diag);
/* Whether sums are divided among the ranks: --split=k with reduce-scatter. */
bool dist_scatters(const dist_problem *problem);
/* Rows of the part of a rank, of M divided among all. */
int64_t dist_rows_of(const dist_problem *problem, int rank);
/* The passes on an expression of several ranks, whose kernels are not written yet. */
cute_status dist_run_passes(epilogue_tree *tree, cute_diag *diag);
/* A remark, if the epilogue is a step of its own: why. */
void dist_problem_explain(const dist_problem *problem, cute_diag *diag);
cute_status dist_overlap_read(const dist_problem *problem, const char *name, dist_overlap *out,
                              cute_diag *diag);

/* The part of a rank. A communicated matrix is in parts of `chunk` rows for each rank, of which the last ones may be shorter or empty. */
typedef struct dist_shard {
    int64_t m, n, k;                   /* the rank's product */
    int64_t first_m, first_n, first_k; /* of its elements in the whole */
    int64_t chunk;                     /* rows */
} dist_shard;
dist_shard dist_shard_of(const dist_problem *problem, int rank);

/* Rows, columns and numbers of the whole D that a rank's epilogue computes. */
typedef struct dist_region {
    int64_t first_row, rows, first_column, columns;
} dist_region;
dist_region dist_region_of(const dist_problem *problem, int rank);

/* A rank's buffers. P: the product's sums, S: finished sums before an epilogue of its own. OPERANDS and the following: operands and results
 * of an expression but for its main result, which is D. */
enum { DIST_OPERANDS_MOST = 48 };
typedef enum dist_buffer {
    DIST_A,
    DIST_B,
    DIST_D,
    DIST_P,
    DIST_S,
    DIST_C,
    DIST_BIAS,
    DIST_OPERANDS,
    DIST_BUFFERS = DIST_OPERANDS + DIST_OPERANDS_MOST
} dist_buffer;
/* The buffer that the rank's product writes, D if it has the epilogue. */
dist_buffer dist_result_of(const dist_problem *problem);
/* Products of a batch that a launch computes: all, or one where the kernel has an expression, whose operands are packed. */
int64_t dist_launch_batch(const dist_problem *problem);
/* The buffer that the collectives behind the product write. */
dist_buffer dist_sums_of(const dist_problem *problem);
/* C, D, the bias, and the operands and results of an expression. */
typedef struct dist_operand {
    const char *name;
    epilogue_shape shape;
    cute_dtype dtype;
    bool result;
    bool columns;                  /* columns are contiguous */
    bool batched;                  /* each product of a batch has its own */
    const epilogue_output *output; /* of a result of an expression */
} dist_operand;
/* False: the problem does not have it. */
bool dist_operand_of(const dist_problem *problem, dist_buffer buffer, dist_operand *out);
/* The buffer of a collective between devices in an expression, of a result or operand. */
dist_buffer dist_step_buffer(const dist_problem *problem, const epilogue_step *step);
/* "A", "partial sums", "bias"; NULL: no such buffer. */
const char *dist_buffer_name(const dist_problem *problem, dist_buffer buffer);
/* A buffer as matrices: the part of the whole that it has after a run. */
typedef struct dist_matrix {
    int64_t rows, columns, first_row, first_column; /* of the whole; for P and S of D */
    int64_t row, column;                            /* strides in elements */
    int64_t items, stride;                          /* matrices of a batch, and elements between them */
    int64_t elements;                               /* of the allocation; 0: no such buffer */
    int64_t block;                                  /* rows of a block, each by columns; 0: none */
    bool window;                                    /* others put into it */
    cute_dtype dtype;
} dist_matrix;
dist_matrix dist_matrix_of(const dist_problem *problem, dist_buffer buffer, int rank);
size_t dist_matrix_bytes(const dist_matrix *matrix);
/* The element at which a row begins: a multiple of `block`, if the matrix has blocks. */
int64_t dist_matrix_row(const dist_matrix *matrix, int64_t row);

/* ---- steps (steps.c) ---- */

/* RESET: of the counters of groups of tiles; AWAIT: until those of a group are stored; CLEAR: zeros, in a result that the rank adds nothing to;
 * ARRIVE: until all tiles of a rank are stored in this rank's window; SUM: of the parts of all ranks there. */
typedef enum dist_kind {
    DIST_PRODUCT,
    DIST_COLLECTIVE,
    DIST_EPILOGUE,
    DIST_RESET,
    DIST_AWAIT,
    DIST_CLEAR,
    DIST_ARRIVE,
    DIST_SUM,
    DIST_RECORD,
    DIST_WAIT
} dist_kind;
/* Products are on stream 0, collectives on stream 1. */
enum { DIST_STREAMS = 2, DIST_NO_ROWS = -1 };

typedef struct dist_step {
    dist_kind kind;
    int stream, event; /* event: of RECORD and WAIT */
    /* PRODUCT: rows of the rank's product; AWAIT: of the group */
    int64_t first, rows;
    /* AWAIT: the counter, and tiles of the group */
    int64_t group, tiles; /* ARRIVE: tiles of rank `peer` */
    /* COLLECTIVE, on elements of buffers */
    comm_kind call;
    dist_buffer from, to;
    int64_t from_offset, to_offset, count;
    int peer; /* of PEER: PRODUCT: the rank that has the rows; SUM: none */
    int64_t signals;
    bool begins, ends; /* the first or last of a group that starts together */
} dist_step;

/* The tiles of a product that counts them, and its configuration. m 0: there is none. */
typedef struct dist_tiles {
    int64_t m, n;
    char configuration[56];
} dist_tiles;

/* How ranks send without the other's call: puts, and signals alone between ranks that reach each other's windows. */
typedef struct dist_means {
    bool puts, reaches;
    bool foreign; /* buffers are the caller's memory: the ranks reach only windows of their own */
    bool inside;  /* one process has all ranks: no collectives run beside products */
} dist_means;

typedef struct dist_schedule {
    dist_overlap overlap;
    int64_t groups;   /* of SIGNAL and PARTS: parts of the product that are sent while the next is computed */
    dist_tiles tiles; /* of SIGNAL and PEER */
    int64_t group_rows;         /* of SIGNAL: a multiple of tiles.m */
    bool puts;                  /* rows and shards are sent by puts, else by collectives */
    bool windows[DIST_BUFFERS]; /* buffers that other ranks write */
    dist_step *steps;
    size_t count;
    int events;
} dist_schedule;

/* The steps of this rank, in `arena`. groups 0: the number of ranks. SIGNAL requires tiles (else NULL) that fit (dist_tiles_fit). */
cute_status dist_schedule_build(const dist_problem *problem, dist_overlap overlap, int64_t groups,
                                dist_means means, const dist_tiles *tiles, cute_arena *arena,
                                dist_schedule *out, cute_diag *diag);
/* Whether each group of tiles can belong to one collective; its rows, for so many groups. */
bool dist_tiles_fit(const dist_problem *problem, const dist_tiles *tiles, int64_t groups, int64_t *rows);
/* Why the epilogues of the ranks' kernels cannot store into the windows of others; NULL: they can. */
const char *dist_peers_lack(const dist_problem *problem, const dist_tiles *tiles, dist_means means);
/* A rank's window of PEER: with split k partial sums of its rows from each rank, and a counter for each. */
typedef struct dist_window {
    int64_t item; /* elements from a product of a batch to the next */
    int64_t part; /* bytes from the part of a rank to that of the next */
    int64_t counters, bytes;
} dist_window;
enum { DIST_COUNTER = 256 }; /* bytes from a counter to the next */
dist_window dist_window_of(const dist_problem *problem);
/* "product of rows 0 to 127", "broadcast of D, rank 1". */
void dist_step_text(const dist_step *step, char *out, size_t size);

/* ---- estimates (estimate.c) ---- */

/* The multiprocessors of a schedule's products, of `all`: a collective that runs beside them has the others. */
int64_t dist_multiprocessors(const dist_schedule *schedule, int64_t all);

typedef struct dist_estimate {
    double product, collective, total;     /* seconds: of each stream alone, and of both */
    double bytes;                          /* that the rank sends */
    double *seconds, *begins, *step_bytes; /* of each step */
} dist_estimate;

/* `seconds` of gemm configurations for products on `target`, and of collectives on `network`. */
cute_status dist_estimate_of(const dist_problem *problem, const dist_schedule *schedule,
                             const gemm_target *target, const char *configuration,
                             const cute_model_network *network, cute_arena *arena, dist_estimate *out,
                             cute_diag *diag);

typedef struct dist_choice {
    dist_schedule schedule;
    dist_estimate estimate,
        sequence;     /* of the choice, and of the product and its collective one after the other */
    const char *lack; /* of dist_peers_lack, if PEER was asked for */
} dist_choice;
/* The schedule of the lowest estimated time among those that `overlap` and `groups` (0: any) allow. All ranks choose the same. */
cute_status dist_choose(const dist_problem *problem, dist_overlap overlap, int64_t groups, dist_means means,
                        const gemm_target *target, const char *configuration,
                        const cute_model_network *network, cute_arena *arena, dist_choice *out,
                        cute_diag *diag);
/* All of these schedules, in `arena`. */
cute_status dist_choose_each(const dist_problem *problem, dist_overlap overlap, int64_t groups,
                             dist_means means, const gemm_target *target, const char *configuration,
                             const cute_model_network *network, cute_arena *arena, dist_choice **out,
                             size_t *count, cute_diag *diag);
/* Remarks: why. */
void dist_choice_explain(const dist_problem *problem, const dist_choice *choice, cute_diag *diag);

/* ---- running (run.c) ---- */

typedef struct gemm_dist gemm_dist;

/* Creates the product plans of a schedule, which must outlive it, as must `comm` (NULL with one rank) and the device of `options`. */
cute_status gemm_dist_create(const dist_problem *problem, const dist_schedule *schedule, cute_comm *comm,
                             const cute_gemm_options *options, gemm_dist **out, cute_diag *diag);
void gemm_dist_destroy(gemm_dist *dist);
size_t gemm_dist_workspace(const gemm_dist *dist);
/* The plan of the first product; NULL: the rank computes none. */
const cute_gemm *gemm_dist_first(const gemm_dist *dist);

/* The windows (cute_comm_window) of buffers, and of PEER's parts and counters (-1: none), copied; and the ranks that are told of each step
 * (may be NULL). */
typedef struct dist_windows {
    int of[DIST_BUFFERS], parts;
} dist_windows;
void gemm_dist_use(gemm_dist *dist, const dist_windows *windows, cute_ranks *ranks);

typedef enum dist_part { DIST_ALL, DIST_PRODUCTS_ONLY, DIST_COLLECTIVES_ONLY } dist_part;
/* Starts all steps, or those of one kind, after the earlier work of the stream (NULL: the device's own), which waits for them. */
cute_status gemm_dist_run(gemm_dist *dist, const cute_address buffers[DIST_BUFFERS], cute_address workspace,
                          cute_stream *stream, dist_part part, cute_diag *diag);

/* ---- collectives in one process (inside.c) ---- */

typedef struct dist_inside dist_inside;

/* Communicators of the ranks of a team, whose kernels are compiled for `arch`, which has to outlive them. */
cute_status dist_inside_open(cute_team *team, const char *arch, dist_inside **out, cute_diag *diag);
/* NULL is allowed. Before the team. */
void dist_inside_close(dist_inside *inside);
cute_comm *dist_inside_comm(dist_inside *inside, int rank);

/* ---- data and checks (data.c) ---- */

/* Fills a buffer of this rank with its part of the whole matrix's random data, results with NaN (or -1), P with zeros. */
void dist_data_fill(const dist_problem *problem, dist_buffer buffer, uint64_t seed, void *out);

typedef struct dist_result {
    int64_t compared, bad,
        left_out;        /* left_out: bits and elements that differ within rounding of a threshold */
    int64_t row, column; /* of the first bad element, in the whole */
    double got, want, max_error;
    bool has_digest;
    uint64_t
        digest; /* of the bits of this rank's part of D: the digests of disjoint parts add up to that of the whole */
} dist_result;
/* `count` values of a buffer's whole matrix from (row, column) on, along the row, or down the column if `down`. */
void dist_data_values(const dist_problem *problem, dist_buffer buffer, uint64_t seed, int64_t item,
                      int64_t row, int64_t column, int64_t count, bool down, double *out);
/* Compares this rank's parts of the results with sums in double of the whole data: all elements, or samples of a large product.
 * results: of each buffer that is a result. */
cute_status dist_data_check(const dist_problem *problem, uint64_t seed,
                            const void *const results[DIST_BUFFERS], dist_result *out, cute_diag *diag);
/* Adds counts; the first bad element is that of the earlier one. */
void dist_result_add(dist_result *out, const dist_result *more);
/* The additional error of sums that ranks round before they are added. */
double dist_data_rounding(const dist_problem *problem);
/* The part of a comparison that an expression has (data_expression.c): adds to `out`. */
cute_status dist_expression_check(const dist_problem *problem, uint64_t seed,
                                  const void *const results[DIST_BUFFERS], dist_result *out, cute_diag *diag);

/* ---- one run of all ranks (job.c) ---- */

typedef struct dist_job {
    dist_problem problem;
    dist_overlap overlap;
    int64_t groups;
    const char *configuration;
    cute_model_network network;
    comm_provider provider;
    cute_ranks *ranks;
    cute_device *device;
    gemm_target target;
    uint64_t seed;
    int64_t seeds; /* of data that is checked, from `seed` on */
    bool check, bench, cublas;
    bool each; /* run all schedules that `overlap` and `groups` allow, not only the model's choice */
} dist_job;

/* Seconds; 0: not measured. */
typedef struct dist_times {
    double product, collective; /* the sequence's, each alone */
    double sequence, all;       /* the product and then its collective; the schedule */
    double cublas, peer;        /* cuBLASLt's product alone; then the collective of NCCL */
} dist_times;

/* The outcome of one rank, which all ranks exchange. */
typedef struct dist_record {
    dist_result result;
    dist_times times;
    char device[64];
} dist_record;

/* A schedule that was run: its outcome on the slowest rank, and on all together. */
typedef struct dist_trial {
    dist_choice choice;
    double seconds; /* 0: not measured */
    dist_result result;
} dist_trial;

typedef struct dist_outcome {
    dist_choice choice;
    char provider[64], configuration[64]; /* configuration: of the rank's first product; "": it has none */
    bool timed;
    dist_record *records; /* of all ranks */
    /* Of D's bits, when all ranks have digests: its parts together, or, if all ranks have all of D, the same on each. */
    bool has_digest;
    uint64_t digest;
    int differs;        /* a rank whose D differs from that of rank 0; -1: none */
    dist_trial *trials; /* NULL unless each schedule was run */
    size_t trial_count;
} dist_outcome;

/* Creates the data, runs the product, checks it, times it and exchanges the records. Everything in `arena`. CUTE_MISMATCH: a check of any
 * rank failed; the outcome is complete. */
cute_status dist_job_run(const dist_job *job, cute_arena *arena, dist_outcome *out, cute_diag *diag);
/* The same of all ranks in this process: `jobs` has one for each rank of the team, whose devices they have; nothing is timed. */
cute_status dist_job_run_inside(const dist_job *jobs, cute_team *team, cute_arena *arena, dist_outcome *out,
                                cute_diag *diag);

#endif
