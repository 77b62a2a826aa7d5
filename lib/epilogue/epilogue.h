/* Epilogues of matrix products as expressions: `z = alpha * acc + bias[j]; D = gelu(z); amax = max(abs(D))`. Text
 * becomes a tree of operations, passes annotate it, and a tile program and the launches of a launch.json are
 * generated from it. docs/epilogues.md is the manual of the language. */
#ifndef CUTE_LIB_EPILOGUE_EPILOGUE_H
#define CUTE_LIB_EPILOGUE_EPILOGUE_H

#include "lib/base/buffer.h"
#include "lib/base/text/json.h"
#include "lib/launch/data/dtype.h"

/* ---- the tree ---- */

/* Rows: M or one. Columns: N mul / div, or one if mul is 0. */
typedef struct epilogue_shape {
    bool rows;
    int32_t mul, div;
} epilogue_shape;

typedef struct epilogue_function {
    const char *name;
    int operands;
    const char *tile, *body, *check, *derivative;
    double slope;
    bool approximate;
} epilogue_function;
size_t epilogue_function_count(void);
const epilogue_function *epilogue_function_at(size_t index);
const epilogue_function *epilogue_function_find(const char *name);

typedef enum epilogue_op {
    EPILOGUE_ACC,    /* the product's sum */
    EPILOGUE_LOAD,   /* an operand in memory */
    EPILOGUE_SCALAR, /* a number given at launch */
    EPILOGUE_CONSTANT,
    EPILOGUE_COMPUTE,    /* a function or operator */
    EPILOGUE_SLICE,      /* every step-th column from `first` on */
    EPILOGUE_INTERLEAVE, /* columns of two matrices in turn */
    EPILOGUE_REPEAT,     /* each column `step` times */
    EPILOGUE_PLACES, /* place values of bits: 1, 2, 4 to 2 ** (step - 1), in turn, for each column of a value */
    EPILOGUE_REDUCE,      /* along an axis, along groups of columns, or of all elements */
    EPILOGUE_CAST,        /* rounds to an element type */
    EPILOGUE_COMMUNICATE, /* a collective of some level, which PassCustomCommunication lowers */
} epilogue_op;

typedef enum epilogue_kind { EPILOGUE_SUM, EPILOGUE_MEAN, EPILOGUE_MAX, EPILOGUE_MIN } epilogue_kind;
typedef enum epilogue_collective {
    EPILOGUE_ALL_REDUCE,
    EPILOGUE_REDUCE_SCATTER,
    EPILOGUE_ALL_GATHER,
    EPILOGUE_BROADCAST,
} epilogue_collective;
typedef enum epilogue_level {
    EPILOGUE_WARP,
    EPILOGUE_BLOCK,
    EPILOGUE_CLUSTER,
    EPILOGUE_DEVICE,
    EPILOGUE_DEVICES /* between devices: a step of the launch plan */
} epilogue_level;

/* Where a node's value is computed. */
typedef enum epilogue_impl {
    EPILOGUE_UNUSED,
    EPILOGUE_REGISTERS,         /* of the kernel of its stage */
    EPILOGUE_CLUSTER_REGISTERS, /* the same, combined by the blocks of a cluster through distributed shared memory */
    EPILOGUE_PARTIAL,           /* a partial result of each tile, which a later kernel combines */
    EPILOGUE_FOLDED,            /* a constant or scalar of the operation that uses it */
    EPILOGUE_TILE_LOAD,         /* loaded with the tile */
} epilogue_impl;

typedef struct epilogue_node {
    epilogue_op op;
    const epilogue_function *function; /* EPILOGUE_COMPUTE */
    struct epilogue_node *args[3];
    int count;
    double value;        /* EPILOGUE_CONSTANT */
    const char *name;    /* of an operand or scalar, or of the statement that defines it; may be NULL */
    int64_t step, first; /* EPILOGUE_SLICE, EPILOGUE_REPEAT */
    epilogue_kind kind;  /* EPILOGUE_REDUCE */
    int axis;            /* EPILOGUE_REDUCE: 0 rows, 1 columns, -1 both */
    int64_t group;       /* EPILOGUE_REDUCE: columns of a group; 0: all */
    epilogue_collective collective;
    epilogue_level level;
    cute_dtype dtype;      /* EPILOGUE_CAST: rounded to; EPILOGUE_LOAD: in memory */
    bool stated;           /* EPILOGUE_LOAD: the text states its dtype */
    bool turned;           /* EPILOGUE_LOAD: columns are contiguous */
    bool batched;          /* EPILOGUE_LOAD: each product of a batch has its own */
    size_t offset, length; /* place in the text */
    int number;            /* in the order of definition, operands first */
    /* by PassShapeTypePropagation */
    epilogue_shape shape;
    bool shaped;
    bool condition; /* true or false */
    bool summed;    /* depends on the product */
    /* by PassGetImpl */
    epilogue_impl impl;
    int stage;         /* 0: the product's kernel; a reduction over tiles is of the next one */
    bool materialized; /* a later stage reads it from memory */
} epilogue_node;

typedef struct epilogue_output {
    const char *name;
    epilogue_node *node;
    cute_dtype dtype;
    bool stated, main;            /* stated: the text states its dtype; main: D, or the first matrix */
    bool indexed;                 /* name[i], name[j] or name[i,j] */
    bool index_row, index_column; /* with `l` in front or not */
    bool turned;                  /* name[j,i]: columns are contiguous */
    size_t offset, length;
} epilogue_output;

enum {
    EPILOGUE_BYTE_COLUMNS = 8 /* of packed bits */,
    EPILOGUE_NODES = 512,
    EPILOGUE_OUTPUTS = 16,
    EPILOGUE_DEPTH = 64,
    EPILOGUE_TEXT = 16384
};

/* A collective between devices, which is a step of the launch plan: of the product's sums, of a result, or of an operand. */
typedef enum epilogue_moment { EPILOGUE_OF_SUMS, EPILOGUE_OF_RESULT, EPILOGUE_OF_OPERAND } epilogue_moment;
typedef struct epilogue_step {
    epilogue_collective collective;
    epilogue_moment moment;
    const epilogue_node *node; /* whose value it combines */
    const char *name;          /* "acc", or that of the result or operand */
    size_t offset, length;     /* place in the text */
} epilogue_step;
enum { EPILOGUE_STEPS = 16 };

/* The problem that the passes need. */
typedef struct epilogue_problem {
    int64_t m, n, k;
    int64_t batch;           /* products; each has its own results */
    cute_dtype in, sum, out; /* out: of D */
    int64_t tile_m, tile_n;
    int64_t cluster_most; /* blocks that a cluster may have along N */
    int64_t align;        /* bytes that divide all addresses */
} epilogue_problem;

typedef struct epilogue_tree {
    cute_arena *arena;
    const char *label, *text;
    size_t length;
    epilogue_node *nodes[EPILOGUE_NODES]; /* arguments come before the nodes that use them */
    int count;
    epilogue_output outputs[EPILOGUE_OUTPUTS];
    int output_count;
    epilogue_problem problem;
    const char *passes[16]; /* that have run, in order */
    int pass_count;
    epilogue_step steps[EPILOGUE_STEPS]; /* by PassCustomCommunication */
    int step_count;
    int stages;        /* kernels' stages: 1 if all is in the product's kernel */
    int64_t cluster_n; /* blocks of a cluster along N, which have whole rows; 1: no clusters */
    /* The product's sums as an operand "acc" in memory (epilogue_read_sums); else NULL. */
    epilogue_node *sums;
} epilogue_tree;

/* Instructions of an epilogue for each of the product's sums, roughly. Requires PassShapeTypePropagation. */
double epilogue_operations(const epilogue_tree *t);
/* floor, ceil and round: integers of real numbers. */
bool epilogue_rounds(const epilogue_function *f);
/* The condition whose bits `n` packs into bytes (functions.def); NULL: another value. */
const epilogue_node *epilogue_packed(const epilogue_node *n);
/* Whether a function is approximated: no matrix that is stored has more than 16 bits. */
bool epilogue_approximates(const epilogue_tree *t, const epilogue_node *n);

/* Parses `text`; the tree and copies of all names are in `arena`. `label` names the text in messages. CUTE_INVALID at the place of an
 * error. */
cute_status epilogue_parse(cute_arena *arena, const char *label, const char *text, size_t length,
                           epilogue_tree **out, cute_diag *diag);
/* The sums become an M x N operand "acc" of this type, which another program computes: the program has no product, and its kernels begin
 * with stage 1. Before any other pass than PassShapeTypePropagation. */
void epilogue_read_sums(epilogue_tree *tree, cute_dtype dtype);
cute_place epilogue_place(const epilogue_tree *tree, size_t offset, size_t length);
/* A node with these fields: an existing one if there is one. NULL: too many, or no memory. */
epilogue_node *epilogue_node_get(epilogue_tree *tree, const epilogue_node *fields);
epilogue_node *epilogue_compute(epilogue_tree *tree, const char *function, epilogue_node *a,
                                epilogue_node *b);
epilogue_node *epilogue_reduce(epilogue_tree *tree, epilogue_node *x, epilogue_kind kind, int axis,
                               int64_t group);
epilogue_node *epilogue_repeat(epilogue_tree *tree, epilogue_node *x, int64_t times);
const char *epilogue_op_name(epilogue_op op);
const char *epilogue_kind_name(epilogue_kind kind);
const char *epilogue_level_name(epilogue_level level);
const char *epilogue_collective_name(epilogue_collective collective);
const char *epilogue_impl_name(epilogue_impl impl);
/* "behind the product's kernel, with --split=k". */
const char *epilogue_step_text(const epilogue_step *step);
/* "M x N/2", "M x 1". */
void epilogue_shape_text(epilogue_shape shape, cute_buffer *out);
int64_t epilogue_rows(const epilogue_tree *tree, epilogue_shape shape);
int64_t epilogue_columns(const epilogue_tree *tree, epilogue_shape shape);
/* Elements in memory of a result, or of an operand that each product of a batch has or all share. */
int64_t epilogue_elements(const epilogue_tree *tree, epilogue_shape shape, bool batched);

/* Whether a matrix needs a reduction of whole rows: it is in the product's kernel where a cluster has them. */
bool epilogue_needs_rows(const epilogue_tree *tree);
/* The blocks that have whole rows; 0: more than a cluster may have. */
int64_t epilogue_row_blocks(const epilogue_problem *problem);

/* ---- passes (passes.def) ---- */

typedef struct epilogue_pass {
    const char *name, *help;
    const char *const *dependencies; /* ends with NULL */
    cute_status (*requires)(epilogue_tree *tree, cute_diag *diag);
    cute_status (*call)(epilogue_tree *tree, cute_diag *diag);
    cute_status (*ensures)(epilogue_tree *tree, cute_diag *diag);
} epilogue_pass;
size_t epilogue_pass_count(void);
const epilogue_pass *epilogue_pass_at(size_t index);
/* The names, separated by commas, in an order in which each pass follows its dependencies, which are added; otherwise the order given. NULL
 * or "": the default passes. CUTE_USAGE: an unknown pass. */
enum { EPILOGUE_PASSES = 16 };
cute_status epilogue_pass_order(const char *names, const epilogue_pass **out, size_t *count, cute_diag *diag);
cute_status epilogue_run_passes(epilogue_tree *tree, const char *names, cute_diag *diag);

/* ---- the program and its launches (program.c, document.c, expected.c) ---- */

typedef enum epilogue_role {
    EPILOGUE_MATRIX,     /* (rows, columns) */
    EPILOGUE_ROW_TERM,   /* M elements, as a matrix with equal columns */
    EPILOGUE_COL_TERM,   /* N elements, as a matrix with equal rows */
    EPILOGUE_VECTOR,     /* one mode */
    EPILOGUE_ONE,        /* one element */
    EPILOGUE_PARTS,      /* partial results of tiles: (tiles, elements) */
    EPILOGUE_FLAT_PARTS, /* the same, as one mode */
    EPILOGUE_NUMBER,     /* a scalar */
    EPILOGUE_FACTOR,     /* A or B of the product */
} epilogue_role;

/* An argument of a kernel: a buffer or a temporary with its extents and strides. */
typedef struct epilogue_arg {
    const char *name; /* of the parameter; also of the buffer or temporary */
    epilogue_role role;
    bool temporary;
    cute_dtype dtype;
    int64_t shape[2], strides[2];
    bool batched;    /* a mode for the products of a batch is in front */
    int64_t between; /* elements from one product's to the next's */
} epilogue_arg;

/* TILE_M, TILE_N: of the kernels on matrices behind the product. */
enum { EPILOGUE_ARGS = 40, EPILOGUE_KERNELS = 16, EPILOGUE_TILE_M = 32, EPILOGUE_TILE_N = 256 };
typedef struct epilogue_kernel {
    const char *function;
    epilogue_arg args[EPILOGUE_ARGS];
    int count;
} epilogue_kernel;

/* The kernels in the order of their launches; the first is the product, unless the tree reads its sums. */
typedef struct epilogue_program {
    epilogue_kernel kernels[EPILOGUE_KERNELS];
    int count;
    const char *text; /* tile programs with the defines of kernels/product */
} epilogue_program;
/* Bytes that divide the address of an argument: its lines are multiples of them, and so are the distances of a batch's products. */
int64_t epilogue_arg_bytes(const epilogue_tree *tree, const epilogue_arg *arg);
/* Of a tree on which PassGetImpl ran. */
cute_status epilogue_program_make(epilogue_tree *tree, epilogue_program **out, cute_diag *diag);

typedef struct epilogue_value {
    const char *name;
    double value;
} epilogue_value;
/* Adds buffers of operands and outputs. */
bool epilogue_put_buffers(const epilogue_tree *tree, json_t *buffers);
/* The arguments of a kernel for `items` products of a batch, from `first` on, without A and B. */
json_t *epilogue_kernel_args(const epilogue_kernel *kernel, const epilogue_value *values, size_t count,
                             int64_t first, int64_t items);
/* The allowed difference of an output from its value in double, for sums and operands of deviation about 1. `sum_error`: of the sums, in
 * addition to that of the product. */
void epilogue_tolerances(const epilogue_tree *tree, const epilogue_output *output, double sum_error,
                         double *rtol, double *atol);
/* Appends the value of an output at (i,j) as a formula of launch.json(5) that reads the sums from a matrix "acc". False: it is too long. */
bool epilogue_formula(const epilogue_tree *tree, const epilogue_output *output, cute_buffer *out);
/* Appends a formula over the same names: nonzero for elements that may differ from their value in double since a value is within its error
 * of a threshold, or, with *bits, a mask of such bits of packed bytes. False: the output has none, or it is too long. */
bool epilogue_thresholds(const epilogue_tree *tree, const epilogue_output *output, double sum_error,
                         bool *bits, cute_buffer *out);
/* Whether a value needs elements of other rows. */
bool epilogue_reads_rows(const epilogue_node *node);
/* Expected results of all outputs, from A (m,k) and B (k,n), with a mode for the products of a batch in front. */
json_t *epilogue_checks(const epilogue_tree *tree);

/* ---- views ---- */

void epilogue_text(const epilogue_tree *tree, cute_buffer *out);
json_t *epilogue_json(const epilogue_tree *tree);
void epilogue_svg(const epilogue_tree *tree, cute_buffer *out);

#endif
