/* launch.json as data: expressions are evaluated and names resolved, but nothing is compared with a kernel
 * yet. */
#ifndef CUTE_LIB_LAUNCH_CONFIG_CONFIG_H
#define CUTE_LIB_LAUNCH_CONFIG_CONFIG_H

#include "lib/launch/config/document.h"
#include "lib/launch/data/tensor.h"
#include "lib/launch/formula/formula.h"
#include "lib/launch/plan/hostplan.h"
#include "lib/launch/sms.h"

typedef enum config_init {
    INIT_NONE,
    INIT_VALUE,
    INIT_IOTA,
    INIT_UNIFORM,
    INIT_NORMAL,
    INIT_INTEGERS,
    INIT_NAN,
    INIT_EXPR,
    INIT_NPY,
    INIT_RAW
} config_init;

typedef struct config_buffer {
    cute_tensor tensor;
    cute_tensor
        reference; /* `tensor` as checks see it: the contents before the launches, or an output's after */
    const cute_path *path; /* $.buffers.NAME */
    config_init init;
    double a, b;       /* value; start, step; low, high; or mean, deviation */
    int64_t low, high; /* INIT_INTEGERS */
    const cute_expr *expr;
    const char *index_names[CUTE_TENSOR_RANK];
    const char *file; /* resolved path */
    int64_t skip;     /* bytes at the start of the file */
    int64_t seed;
    bool allow_unwritten;
    bool window;   /* other ranks put into it */
    bool global;   /* a variable of the module, without an allocation or guards */
    bool shard;    /* each rank holds an equal part of the first dimension */
    void *initial; /* a copy of the contents before the launches, if a check or output needs it; else NULL */
    bool checked, output;
} config_buffer;

typedef struct config_launch {
    const cute_path *path; /* $ or $.launches[i] */
    const json_t *json;
    const char *kernel;                    /* NULL: the module's only kernel */
    int64_t grid[3], block[3], cluster[3]; /* zeros: not given */
    int64_t dynamic_smem;                  /* -1: not given */
    bool cooperative, programmatic;
    const host_launch *host;        /* a launch of a host function, with its arguments; else NULL */
    const struct config_plan *plan; /* that function */
} config_launch;

/* A host function to run. */
typedef struct config_plan {
    const cute_path *path; /* $.plan or $.plan[i] */
    const json_t *json;    /* the object; NULL if only a name is given */
    host_plan host;
    config_buffer **buffers; /* indexed by host_number.base */
    size_t buffer_count;
    host_run run; /* its launches and temporaries */
} config_plan;

typedef struct config_plan_list {
    config_plan *items;
    size_t count;
} config_plan_list;

/* A step of launch.json, or of a host function. */
typedef struct config_step {
    const cute_path *path; /* $.steps[i], or the path of the launch or plan */
    const config_plan
        *plan; /* whose memory `step` refers to; NULL: its addresses have indices of buffers as bases */
    const char *stream; /* its name; NULL: the default stream */
    host_step step;     /* launches, streams and events have the indices of the sequence */
} config_step;

typedef struct config_steps {
    config_step *items;
    size_t count, capacity;
    int streams, events; /* streams include the default stream */
} config_steps;

typedef struct config_output {
    config_buffer *buffer;
    const cute_path *path;
    const char *npy, *raw; /* as given; NULL: not written */
    int64_t print;         /* maximum rows and columns; 0: not printed */
    bool stats;
} config_output;

typedef enum config_expected { EXPECT_EXPR, EXPECT_EINSUM, EXPECT_NPY, EXPECT_RAW } config_expected;

typedef struct config_check {
    config_buffer *buffer;
    const cute_path *path;
    config_expected kind;
    const cute_expr *expr, *epilogue, *where;
    const cute_expr *
        uncertain; /* nonzero: a wrong element is left out; with uncertain_bits its wrong bits in this mask */
    bool uncertain_bits;
    const char *einsum;
    config_buffer *operands[CUTE_TENSOR_RANK];
    int operand_count;
    const char *index_names[CUTE_TENSOR_RANK];
    const char *file;
    double rtol, atol;
    int64_t ulp; /* -1: none */
    bool nan_equal;
    int64_t sample; /* 0: all */
} config_check;

typedef enum config_peer { PEER_MEMCPY, PEER_MEMSET, PEER_LAUNCHES, PEER_CUBLAS } config_peer;

/* cuBLASLt's D = act(alpha A B + beta C + bias); c and bias may be NULL. */
typedef struct config_product {
    const config_buffer *a, *b, *c, *d, *bias;
    double alpha, beta;
    int activation; /* cublas_activation */
    bool fast;
} config_product;

typedef struct config_baseline {
    const char *name;
    config_peer peer;
    config_product product; /* PEER_CUBLAS */
    double bytes, flops;    /* 0: not given */
    config_launch *launches;
    size_t launch_count;
    config_steps steps;
} config_baseline;

typedef struct config_bench {
    bool present, cold, graph;
    int64_t warmup, samples, batch; /* batch 0: chosen */
    double bytes, flops;
    double lead; /* seconds of untimed runs before each sample, beside one batch */
    config_baseline *baselines;
    size_t baseline_count;
} config_bench;

/* Memory between the plans of launch.json, as large as the largest of its views. */
typedef struct config_temporary {
    const char *name;
    int64_t bytes;
} config_temporary;

typedef struct cute_config {
    cute_arena *arena;
    cute_document document;
    int job_rank, job_size;             /* of this process and all; 0 and 1 alone */
    const struct cute_plugins *plugins; /* whose reductions formulas may use; may be NULL */
    const char *folder;                 /* the file's, for relative paths */
    cute_formula_param *params;         /* includes `sms`, `ranks` and `rank` after their first use */
    size_t param_count;
    const config_device *device; /* the launch's device; may be NULL. Used only during cute_config_read */
    config_buffer *buffers;
    size_t buffer_count;
    const cute_tensor **tensors; /* the buffers' references, for formulas */
    const cute_module *module;   /* may be NULL */
    config_plan_list plans;
    config_temporary *temporaries;
    size_t temporary_count, temporary_capacity;
    json_t *plan_lines; /* the metadata that plans were read from; plans refer to it */
    bool from_options;  /* generated from options, which messages then name */
    config_launch *launches;
    size_t launch_count;
    config_steps steps; /* of the launches, in order */
    config_output *outputs;
    size_t output_count;
    config_check *checks;
    size_t check_count;
    config_bench bench;
    int64_t seed;
    double timeout; /* 0: not given */
    int64_t ranks;  /* devices that run the launches */
    int64_t rank;   /* the one whose arguments are being bound; -1: none */
} cute_config;

/* The source of a config. */
typedef struct config_source {
    const char *label, *text;
    size_t length;
    const char *folder;         /* the file's; may be NULL */
    const cute_module *module;  /* with the plans' host functions; may be NULL without plans */
    const char *const *defines; /* "NAME=VALUE" */
    size_t define_count;
    bool from_options;
    const config_device *device; /* may be NULL */
    int job_rank, job_size;      /* size 0: 1 */
} config_source;

/* Validates and reads launch.json; everything lives in `arena`. Call cute_config_release also after a
 * failure. */
cute_status cute_config_read(cute_arena *arena, const config_source *source, cute_config *out,
                             cute_diag *diag);
void cute_config_release(cute_config *config);

/* ---- for the readers of its parts ---- */

/* A path in the config's arena; NULL, which denotes "$", when memory is exhausted. */
const cute_path *config_member(const cute_config *config, const cute_path *up, const char *key);
/* The path of a key, or of the object itself where it does not have the key. */
const cute_path *config_key(const cute_config *config, const json_t *json, const cute_path *path,
                            const char *key);
const cute_path *config_element(const cute_config *config, const cute_path *up, size_t index);
/* An integer or an expression over the params. */
cute_status config_integer(const cute_config *config, const json_t *value, const cute_path *path,
                           int64_t *out, cute_diag *diag);
cute_status config_real(const cute_config *config, const json_t *value, const cute_path *path, double *out,
                        cute_diag *diag);
cute_status config_expr(const cute_config *config, const json_t *value, const cute_path *path,
                        const cute_expr **out, cute_diag *diag);
/* One integer or a list of at most `limit`; *count is the number read. */
cute_status config_integers(const cute_config *config, const json_t *value, const cute_path *path,
                            int64_t *out, int limit, int *count, cute_diag *diag);
/* Looks up a buffer; the error has "did you mean". */
cute_status config_find_buffer(const cute_config *config, const char *name, const cute_path *path,
                               config_buffer **out, cute_diag *diag);
/* Overrides the tensor's shape, strides and offset by those of `value`. */
cute_status config_view(const cute_config *config, const json_t *value, const cute_path *path,
                        cute_tensor *tensor, cute_diag *diag);
/* A view of a buffer: { "buffer", "offset", "shape", "strides" }; the defaults are the buffer's. */
cute_status config_buffer_view(const cute_config *config, const json_t *json, const cute_path *path,
                               const cute_tensor *whole, cute_tensor *out, cute_diag *diag);
/* The names of `rank` index variables: `list`, or i, j, k, ... */
cute_status config_names(const cute_config *config, const json_t *list, const cute_path *path, int rank,
                         const char **out, cute_diag *diag);
const char *config_file(const cute_config *config, const char *name);
const cute_formula_param *config_param(const cute_config *config, const char *name);
/* The device's number of multiprocessors: `sms` in expressions, unless a param or buffer has that name. */
cute_status config_sms(const cute_config *config, int64_t *out, cute_diag *diag);
/* config_ranks.c. Defines `ranks` and `rank` if the expression needs them. CUTE_INVALID: there is no rank yet. */
cute_status config_name_ranks(const cute_config *config, const cute_expr *expr, const cute_path *path,
                              cute_diag *diag);
/* Reads "shard". */
cute_status config_read_shard(const cute_config *config, const json_t *value, config_buffer *buffer,
                              cute_diag *diag);
/* The part of a buffer that a rank holds: all of it without "shard". */
cute_tensor config_piece(const cute_config *config, const config_buffer *buffer);
/* Replaces the tensors of the buffers by the parts that a rank holds, while arguments are bound; *wholes, which
 * config_use_wholes restores, is in the arena. */
cute_status config_use_pieces(cute_config *config, cute_tensor **wholes, cute_diag *diag);
void config_use_wholes(cute_config *config, const cute_tensor *wholes);
cute_status config_read_launch(cute_config *config, const json_t *value, const cute_path *path,
                               config_launch *out, cute_diag *diag);
/* Reads it into launches[*count] and counts it, unless its grid is empty: then there is no launch. */
cute_status config_add_launch(cute_config *config, const json_t *value, const cute_path *path,
                              config_launch *launches, size_t *count, cute_diag *diag);
bool config_has_blocks(const config_launch *launch);
/* config_read_plans reads the host functions under "plan", before the buffers are read; config_run_plans
 * makes their launches, after. */
cute_status config_read_plans(cute_config *config, cute_diag *diag);
cute_status config_run_plans(cute_config *config, config_plan_list *plans, config_launch **out, size_t *count,
                             config_steps *steps, cute_diag *diag);
/* Both steps, for the plans of a baseline. */
cute_status config_read_plan_launches(cute_config *config, const json_t *value, const cute_path *path,
                                      config_launch **out, size_t *count, config_steps *steps,
                                      cute_diag *diag);
/* Reads one plan; adds the temporaries that its arguments name. */
cute_status config_read_plan(cute_config *config, const json_t *item, const cute_path *path, config_plan *out,
                             cute_diag *diag);
cute_status config_add_temporaries(cute_config *config, const config_plan *plan, cute_diag *diag);
/* The two parts of config_run_plans for one plan: its run, for the arguments of launch.json, and its launches and steps on stream
 * `stream`, which are added. `launches` has room for all launches of the run. */
cute_status config_run_plan(cute_config *config, config_plan *plan, cute_diag *diag);
cute_status config_add_run(cute_config *config, const config_plan *plan, bool top, int stream,
                           const char *stream_name, config_launch *launches, size_t *count,
                           config_steps *steps, cute_diag *diag);
/* "steps" of launch.json: config_read_step_plans reads their plans, before the buffers are read. */
cute_status config_read_step_plans(cute_config *config, cute_diag *diag);
cute_status config_read_steps(cute_config *config, cute_diag *diag);
/* A buffer, or a part of it: { "buffer", "offset", "shape", "strides" }, and the address of its first element. */
cute_status config_read_part(const cute_config *config, const json_t *json, const cute_path *path,
                             cute_tensor *out, host_number *address, cute_diag *diag);
/* The same, whose elements follow each other in memory. */
cute_status config_read_range(const cute_config *config, const json_t *json, const cute_path *path,
                              cute_tensor *out, host_number *address, cute_diag *diag);
/* *out has its stream. */
cute_status config_read_collective(const cute_config *config, const json_t *json, const cute_path *path,
                                   host_step *out, cute_diag *diag);
cute_status config_add_step(cute_config *config, config_steps *steps, config_step step, cute_diag *diag);
/* Steps for launches in order on the default stream. */
cute_status config_launch_steps(cute_config *config, const config_launch *launches, size_t count,
                                config_steps *steps, cute_diag *diag);
/* Defaults of a buffer from the host function's parameter it is bound to: element type and static shape; and,
 * once the shape is known, strides. */
cute_status config_buffer_from_plan(const cute_config *config, const json_t *value, config_buffer *out,
                                    cute_diag *diag);
cute_status config_strides_from_plan(const cute_config *config, config_buffer *out, cute_diag *diag);
cute_status config_read_checks(cute_config *config, cute_diag *diag);
cute_status config_read_bench(cute_config *config, cute_diag *diag);

#endif
