/* Values of a kernel in the lanes of a warp: one table of operations and their evaluation, for the static
 * checks, which run a kernel abstractly before it is lowered (lib/passes/checks/async.h), and for the passes
 * that need the addresses of a warp's accesses after it is lowered (lib/passes/tensors/lane_values.h).
 * values.c evaluates values of the dialect cute, integers.c integers and thread coordinates, addresses.c
 * addresses of lowered code. */
#ifndef CUTE_LIB_PASSES_VALUES_VALUES_H
#define CUTE_LIB_PASSES_VALUES_VALUES_H

#include <mlir-c/IR.h>

#include "cute/layout.h"
#include "lib/ir/ops/ops.h"

/* ---- values ---- */

/* Target of a pointer. In the static checks: shared memory of a block of the cluster, registers, or other
 * memory. In lowered code: an offset in bytes from `root`, which stands for an address that is a multiple of all
 * powers of two that matter. */
enum { LANE_ELSEWHERE = -1, LANE_DYNAMIC = 0 };
typedef struct lane_place {
    const void *root; /* lowered code: an operation, argument or name; NULL: an absolute address */
    int region;       /* variable of shared memory; 0: dynamic shared memory */
    int cta;          /* rank of the block in the cluster */
    int64_t byte;
    int sharers; /* blocks that share the copies of tma_partition; 0 means 1 */
} lane_place;

/* A TMA atom with its run-time state. */
typedef struct lane_value lane_value;
typedef struct lane_atom {
    const cute_value *type;
    MlirOperation made; /* operation that created it; null: unknown */
    const lane_value *barrier, *mask;
    int swizzle; /* swizzle bits of its layout in shared memory; -1: unknown */
    int sharers; /* blocks that each copy a part of its box; 0 means 1 */
} lane_atom;

typedef enum lane_kind {
    LANE_UNKNOWN,
    LANE_INT,
    LANE_ADDRESS, /* an integer or pointer of lowered code; its root is not NULL */
    LANE_EACH,    /* differs between lanes */
    LANE_VALUE,   /* of the dialect cute, without unknown leaves */
    LANE_ATOM
} lane_kind;
struct lane_value {
    lane_kind kind;
    union {
        int64_t number;
        const lane_place *place;
        const lane_value *lanes; /* 32 values */
        const cute_value *value;
        const lane_atom *atom;
    };
};

lane_value lane_number(int64_t n);
/* The value in lane `lane`. */
lane_value lane_of(const lane_value *v, int lane);
/* An integer, or a tuple of one, as a number. */
bool lane_number_of(const lane_value *v, int64_t *out);
/* 32 values as one. */
lane_value lane_join(cute_arena *arena, const lane_value lanes[32]);
/* The value of a type without unknown leaves. */
bool lane_value_of_type(MlirType type, lane_value *out);
/* A value of `type` whose unknown leaves have these values, in storage order, and whose pointer, if it has
 * one, points to `place`. */
bool lane_value_of_leaves(cute_arena *arena, const cute_value *type, const int64_t *leaves, size_t count,
                          const lane_place *place, lane_value *out);
/* Address of a pointer or tensor in shared memory, in the static checks; false otherwise. */
bool lane_place_of(const lane_value *v, lane_place *out);
/* Bits that a TMA instruction moves, for all blocks that share it; 0: unknown. */
int64_t lane_copy_bits(const lane_atom *atom);
/* Swizzle of a pointer or tensor: its bits (3: 128 bytes). */
int lane_swizzle_of(const cute_value *v);
/* Number of elements of a layout; 0: unknown. */
int64_t lane_size_of(const cute_value *v);

/* ---- evaluation ---- */

/* Assumptions. */
typedef struct lane_setting {
    int64_t extent, batch,
        scalar; /* assumed extents of arguments (first two modes; other modes), assumed integer arguments */
    int64_t block[3], cluster[3], grid[3]; /* block[0] = 0: unknown, one row of threads */
} lane_setting;

/* The value of a kernel argument in the static checks. */
bool lane_value_of_argument(cute_arena *arena, const lane_setting *s, MlirType type, lane_value *out);

/* The warp being evaluated. */
typedef struct lane_eval {
    cute_arena *arena;
    const lane_setting *setting;
    int cta, warp; /* rank of the block in the cluster, warp in the block */
    uint32_t mask; /* active lanes */
    /* If operands differ between lanes, an operation with more operands or results is unknown. */
    int most_operands, most_results;
    struct lane_memo *memo;
    size_t memo_size;
} lane_eval;
enum { LANE_MOST = 64 }; /* of most_operands and most_results */

/* An operation whose results are computed. */
typedef struct lane_op lane_op;
typedef struct lane_rule {
    const char *name;
    bool (*eval)(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out);
    int which;
    int operands; /* bit set of the operands that matter; 0: all, as for users other than the static checks */
    unsigned traits;
} lane_rule;
enum {
    LANE_PARTIAL = 1,    /* the result may be known when an operand is not */
    LANE_FIRST_LANE = 2, /* uses the operands of the first lane */
    LANE_ONCE = 4,       /* depends on its operands only: computed once, unless its id is negative */
    LANE_CONSTANT = 8,   /* known before the run */
    /* Users of the rule: */
    LANE_RUN = 16,     /* the static checks; active lanes and assumptions about data are known to them only */
    LANE_LOWERED = 32, /* passes on lowered code, in which addresses are integers */
    LANE_ANY = LANE_RUN | LANE_LOWERED,
};

struct lane_op {
    MlirOperation op;
    const cute_op_row *row;
    const lane_rule *rule;
    int id; /* of the operation */
    int in_count, out_count;
    int width, from, predicate; /* integers: bits of result and first operand; comparison predicate */
    bool first_lane;            /* the result is that of the first lane */
};

/* The rule for an operation and a user; NULL: its results are unknown. */
const lane_rule *lane_rule_of(MlirOperation op, unsigned user);
lane_op lane_op_of(MlirOperation op, const lane_rule *rule, int id);
/* Writes the results of `i` to out[]. */
void lane_evaluate(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out);

/* A builtin.unrealized_conversion_cast with this attribute is a root: its memory is told apart from other
 * memory. */
#define CUTE_ROOT_ATTRIBUTE "cute.root"

/* ---- the parts of the table ---- */

typedef struct lane_rules {
    const lane_rule *items; /* those without a name are skipped */
    size_t count;
} lane_rules;
extern const lane_rules lane_integer_rules, lane_address_rules;

/* The results of an operation of the algebra, by lib/layout. */
bool lane_eval_algebra(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out);
/* The operands, one after the other, as the leaves of the result: make_view and the like in lowered code. */
bool lane_eval_assemble(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out);

/* Lowered code: an integer or pointer as an address; a number has no root. */
bool lane_cell_of(const lane_value *v, lane_place *out);
lane_value lane_of_cell(cute_arena *arena, lane_place place);
/* Arithmetic on addresses, at least one of the operands. */
bool lane_eval_address(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out);

#endif
