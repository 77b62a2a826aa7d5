/* A kernel in static single assignment, from PTX or SASS: instructions with values, basic blocks and loops. Integer operations
 * are evaluated per lane, which gives the addresses of a warp's lanes without running the kernel. */
#ifndef CUTE_LIB_CODE_FUNCTION_H
#define CUTE_LIB_CODE_FUNCTION_H

#include "lib/code/assumptions.h"
#include "lib/code/lanes.h"
#include "lib/code/sass/code.h"

struct em_program;
struct em_function;
struct em_inst;

/* Integer operations; SSA_OTHER: not evaluated. */
typedef enum ssa_op {
    SSA_OTHER,
    SSA_MOV,
    SSA_ADD, /* any number of operands */
    SSA_SUB,
    SSA_NEG,
    SSA_MUL,
    SSA_MAD,
    SSA_SHL,
    SSA_SHR,
    SSA_AND,
    SSA_OR,
    SSA_XOR,
    SSA_NOT,
    SSA_LOP3,
    SSA_MIN,
    SSA_MAX,
    SSA_SELECT, /* a, b, condition */
    SSA_SETP,
    SSA_SETP_COMBINED, /* a, b, and a predicate, combined by `table` (ssa_combine) */
    SSA_SETP_HIGH,     /* of the upper words; the last operand is the comparison of the lower words */
    SSA_BFE,
    SSA_EXTEND, /* cvt between integers */
    SSA_DIV,
    SSA_REM,
    SSA_LEA,      /* (a << shift) + b */
    SSA_LEA_HIGH, /* (a >> shift) + b */
    SSA_BREV,
    SSA_POPC,
    SSA_PERMUTE,     /* bytes of b:a, selected by the nibbles of c */
    SSA_MUL_HIGH,    /* upper half of the product */
    SSA_SIGN_EXTEND, /* of the lower b bits */
} ssa_op;

typedef enum ssa_combine { SSA_COMBINE_AND, SSA_COMBINE_OR, SSA_COMBINE_XOR } ssa_combine;

/* SSA_NONZERO: the result of SSA_LOP3 is the predicate `bits != 0`. */
typedef enum ssa_compare { SSA_EQ, SSA_NE, SSA_LT, SSA_LE, SSA_GT, SSA_GE, SSA_NONZERO } ssa_compare;

/* The inputs that a value depends on. */
enum {
    DEPENDS_TID_X = 1,
    DEPENDS_TID_Y = 2,
    DEPENDS_TID_Z = 4,
    DEPENDS_LANE = 8,
    DEPENDS_CTA_X = 16,
    DEPENDS_CTA_Y = 32,
    DEPENDS_CTA_Z = 64,
    DEPENDS_ARGUMENT = 128,
    DEPENDS_LOADED = 256,
    DEPENDS_LOOP_CARRIED = 512,
    DEPENDS_THREAD = DEPENDS_TID_X | DEPENDS_TID_Y | DEPENDS_TID_Z | DEPENDS_LANE,
    DEPENDS_BLOCK = DEPENDS_CTA_X | DEPENDS_CTA_Y | DEPENDS_CTA_Z
};

/* Special registers with a known value. */
typedef enum ssa_sreg {
    SSA_SREG_TID_X,
    SSA_SREG_TID_Y,
    SSA_SREG_TID_Z,
    SSA_SREG_NTID_X,
    SSA_SREG_NTID_Y,
    SSA_SREG_NTID_Z,
    SSA_SREG_CTAID_X,
    SSA_SREG_CTAID_Y,
    SSA_SREG_CTAID_Z,
    SSA_SREG_NCTAID_X,
    SSA_SREG_NCTAID_Y,
    SSA_SREG_NCTAID_Z,
    SSA_SREG_LANE,
    SSA_SREG_LANEMASK_EQ,
    SSA_SREG_LANEMASK_LT,
    SSA_SREG_LANEMASK_LE,
    SSA_SREG_LANEMASK_GT,
    SSA_SREG_LANEMASK_GE,
    SSA_SREG_UNIFORM, /* any other; uniform in a warp */
} ssa_sreg;

enum {
    INST_VOLATILE = 1 << 0,
    INST_SYSTEM_FENCE = 1 << 1,
    INST_BARRIER = 1 << 2, /* of the block or some of its warps */
    INST_DOUBLE = 1 << 3,  /* f64 arithmetic */
    INST_TO_DOUBLE = 1 << 4,
    INST_FROM_DOUBLE = 1 << 5,
    INST_HALF_SCALAR = 1 << 6, /* f16, bf16: one element a lane */
    INST_SLOW_MATH = 1 << 7,   /* IEEE-rounded division or square root */
    INST_DIVIDE = 1 << 8,      /* integer division by a non-constant */
    INST_MULTIPLY_64 = 1 << 9,
    INST_ASYNC = 1 << 10, /* cp.async */
    INST_TMA = 1 << 11,   /* bulk copies */
    INST_WAIT_ASYNC = 1 << 12,
    INST_WAIT_MBARRIER = 1 << 13,
    INST_WGMMA = 1 << 14,
    INST_WGMMA_WAIT = 1 << 15,
    INST_MMA = 1 << 16, /* tensor-core instructions other than wgmma */
    INST_SETMAXNREG = 1 << 17,
    INST_CALL = 1 << 18,
    INST_MATH = 1 << 19, /* floating-point arithmetic, without moves and conversions */
    INST_FMA = 1 << 20,
    INST_WIDEN_HALF = 1 << 21, /* f16, bf16 to f32 */
    INST_BRANCH = 1 << 22,
    INST_HALF = 1 << 24,
    INST_ADDRESS_TAKEN = 1 << 25, /* cvta of local memory */
    INST_SPILL = 1 << 26,         /* local memory at a constant offset from the stack pointer */
    INST_READ_ONLY = 1 << 27,
    INST_FLOAT_ADD = 1 << 28,
    INST_TENSOR_LOAD = 1 << 29, /* ldmatrix */
    INST_ORDERED = 1 << 30,     /* acquire, relaxed: other threads write the address */
};

typedef enum ssa_operand_kind {
    SSA_NONE,
    SSA_VAR,
    SSA_IMM,
    SSA_ARG /* a kernel parameter or constant; imm: its offset */,
    SSA_SREG
} ssa_operand_kind;

typedef struct ssa_operand {
    uint8_t kind;
    bool negative, inverted; /* -a, ~a or !a */
    uint8_t bits;            /* 1 (a predicate), 8, 16, 32, 64; 0: wider, not evaluated */
    uint32_t var, value;     /* value: set by ssa_build */
    int64_t imm;
} ssa_operand;

struct ssa_counters;
typedef struct ssa_inst {
    const struct em_inst *ptx;           /* NULL: SASS */
    const struct ssa_counters *counters; /* measured by the emulator; NULL: none */
    uint8_t op, class, space, access, bits, compare, table, shift;
    bool is_signed;
    bool cached; /* an earlier load of the block reads the same sectors: an L1 hit */
    uint16_t
        chain; /* length of the longest chain of dependent loads through it; 0: ssa_find_chains was not called */
    uint16_t width;   /* bytes per lane */
    uint16_t element; /* bytes of an element; 0: unknown */
    uint32_t flags;
    ssa_operand *uses;
    uint32_t *defs; /* variables; their values are consecutive from first_value */
    uint16_t use_count, def_count;
    int16_t address;  /* index of the base-address operand; -1: none */
    int16_t address2; /* index of the operand added to it; -1: none */
    int16_t data;     /* index of the first stored operand; -1: none */
    int16_t guard;    /* index of the guard predicate; -1: none */
    int64_t offset;   /* of the address; groups that a wait allows in flight; bytes of a copy */
    uint32_t first_value, block;
    int64_t target;   /* index of the branch target; -1: none */
    const char *text; /* length bytes */
    uint32_t length;
    const char *file; /* NULL: unknown */
    int64_t line, ptx_line /* 0: none */, sass /* address; -1: none */;
} ssa_inst;

typedef struct ssa_value {
    int64_t inst; /* -1: a phi, or undefined */
    uint32_t block, next_phi;
    uint32_t *args; /* of a phi, by predecessor */
    uint32_t arg_count;
    uint32_t same; /* the value that replaces this one; usually itself */
    uint32_t depends;
    bool phi, varying;        /* differs between lanes */
    const lane_values *lanes; /* of the last run; NULL: not reached */
} ssa_value;
enum { SSA_NO_VALUE = 0 }; /* values[0]: undefined */

typedef struct ssa_block {
    uint32_t *before, before_count;
    uint32_t first_phi;
    uint32_t
        reconverge; /* PTX: the immediate post-dominator, where a divergent branch reconverges; CUTE_NO_BLOCK: none */
    uint32_t active; /* active lanes; all if unknown */
    bool in_loop;
    bool reachable;       /* ssa_run_abstract: the warp may execute it */
    bool partial,         /* the active lanes are unknown */
        merges,           /* diverged lanes reconverge here */
        diverges;         /* its branch diverges with unknown lanes */
    uint32_t *edge_lanes; /* active lanes of each edge in `before` */
    double likely;        /* probability; small for the remainder side of a size check */
    double weight;        /* execution count */
} ssa_block;

typedef struct ssa_loop {
    double trips;
    bool counts;              /* a counter with a constant step is compared with a bound */
    bool waits;               /* it only polls memory or an mbarrier */
    int64_t exit;             /* index of the exit branch; -1: unknown */
    const ssa_operand *bound; /* of the counter */
    int64_t step;             /* added per iteration */
    const ssa_inst *test;
    uint32_t counter; /* its phi */
} ssa_loop;

typedef struct ssa_function {
    cute_arena *arena;
    const char *name, *label; /* label: the PTX file */
    bool sass;                /* else PTX */
    ssa_inst *insts;
    size_t count;
    cute_code_function *flow; /* blocks, edges and loops; its instructions correspond to insts */
    ssa_block *blocks;
    ssa_loop *loops;
    ssa_value *values;
    size_t value_count, value_capacity;
    uint32_t variables;
    const struct em_program *program; /* of PTX */
    const struct em_function *kernel;
    uint8_t *needed; /* by instruction: an address or a branch depends on it; NULL before ssa_find_needed */
    code_assumptions assume;
    uint32_t warp;          /* of the last run */
    bool has_depends;       /* `depends` and `varying` are set (ssa_run_example) */
    int arch;               /* compute capability: 90; 0: unknown */
    bool has_local;         /* PTX declares local arrays */
    double local_miss_rate; /* of local memory in L1 */
} ssa_function;

/* Builds the function from PTX or SASS; false when memory is exhausted. */
bool ssa_from_ptx(cute_arena *arena, const struct em_program *program, const struct em_function *kernel,
                  ssa_function *out);
bool ssa_from_sass(cute_arena *arena, cute_code_function *code, ssa_function *out);
bool ssa_build(ssa_function *f);
/* After ssa_build: SASS compares 64 bits with two instructions, which become the comparison of the lower words. */
void ssa_merge_comparisons(ssa_function *f);

/* Abstract interpretation of warp `index` of a block, PTX only: the values of all lanes for any arguments and any iteration, as a fixed
 * point over the basic blocks. Only needed instructions are evaluated. Values are in `own`, the lanes of blocks in their `active`. Then
 * visits each instruction that may execute. */
struct ssa_run;
typedef void ssa_visit(void *context, struct ssa_run *r, const ssa_inst *i);
bool ssa_run_abstract(ssa_function *f, cute_arena *own, uint32_t index, ssa_visit *visit, void *context);
/* Marks and counts the instructions that addresses and branches depend on. */
bool ssa_find_needed(ssa_function *f, uint32_t *count);

/* Evaluates one example: assumed values for arguments and uniform loads (assumptions.h), the first iteration of loops. The block
 * size must be known. `visit` may be NULL. */
bool ssa_run_example(ssa_function *f, cute_arena *own, uint32_t index, ssa_visit *visit, void *context);
/* The example for the first warp, and execution counts of blocks. Assumes a block size if it is unknown; arch must be set. */
bool ssa_analyse(ssa_function *f);
void ssa_assume_block(ssa_function *f);

/* ---- shared by both runs ---- */

struct evaluation;
/* The state of a run, for one warp. */
typedef struct ssa_run {
    ssa_function *f;
    cute_arena *own;
    bool example; /* ssa_run_example */
    struct evaluation *e;
    uint32_t current; /* block */
    struct ssa_region *regions;
    size_t region_count, region_capacity;
    bool changed, failed;
} ssa_run;
bool ssa_run_begin(ssa_run *r, ssa_function *f, cute_arena *own, uint32_t warp, bool example);
/* The lanes of an operand; `bits` is its width unless the operand states one. */
lane_values ssa_operand_lanes(const ssa_run *r, const ssa_operand *o, uint32_t bits);
/* Sets the results of the instruction for the lanes in `mask`. */
void ssa_execute(ssa_run *r, const ssa_inst *i, uint32_t mask);
/* Sets the lanes of a value and records a change. */
void ssa_set_lanes(ssa_run *r, ssa_value *v, const lane_values *lanes);
/* Evaluates an integer operation of PTX or SASS on its operands `in`. False: the result is unknown. In an example, products of
 * assumed sizes saturate instead of overflowing. */
bool ssa_compute(cute_arena *arena, const ssa_inst *i, const lane_values *in, unsigned count, bool example,
                 lane_values *out);
/* The number of operands before the guard and the merged values. */
static inline unsigned ssa_source_count(const ssa_inst *i)
{
    return i->guard >= 0 && i->guard < i->use_count ? (unsigned)i->guard : i->use_count;
}
/* Converts an operand of PTX; the value of a register is not set. */
struct em_operand;
ssa_operand ssa_ptx_operand(const ssa_function *f, const struct em_operand *o);
/* The lanes of an operand that the PTX instruction reads. */
lane_values ssa_source_lanes(const ssa_run *r, const ssa_inst *i, const struct em_operand *from);
/* Sets the trip counts of loops and the execution counts of blocks; after ssa_run_example. */
bool ssa_find_weights(ssa_function *f);

static inline ssa_value *ssa_value_at(const ssa_function *f, uint32_t value)
{
    return &f->values[f->values[value].same];
}
/* The value of an operand; values[0] if it has none. */
static inline ssa_value *ssa_value_of(const ssa_function *f, const ssa_operand *o)
{
    return ssa_value_at(f, o->kind == SSA_VAR ? o->value : SSA_NO_VALUE);
}
/* The operand in one lane; false: unknown. */
bool ssa_operand_lane(const ssa_function *f, const ssa_operand *o, int lane, uint64_t *out);
/* The lanes in which a predicate is true; false: unknown. */
bool ssa_lanes_true(const ssa_function *f, const ssa_operand *o, uint32_t *out);
bool ssa_operand_varies(const ssa_function *f, const ssa_operand *o);
uint32_t ssa_operand_depends(const ssa_function *f, const ssa_operand *o);
/* The value is known in all lanes. */
static inline bool ssa_is_known(const ssa_value *v)
{
    return v->lanes && lanes_known(v->lanes);
}
/* The value that an address is a constant *offset from; NULL: not a register. */
const ssa_value *ssa_address_root(const ssa_function *f, const ssa_inst *i, int64_t *offset);
/* The addresses of a memory instruction by lane and the active lanes; false: unknown. */
bool ssa_addresses(const ssa_function *f, const ssa_inst *i, uint64_t out[LANES], uint32_t *active);
bool ssa_address_varies(const ssa_function *f, const ssa_inst *i);
uint32_t ssa_address_depends(const ssa_function *f, const ssa_inst *i);
/* The lanes that execute it, as far as known. */
uint32_t ssa_active_lanes(const ssa_function *f, const ssa_inst *i);

static inline double ssa_weight(const ssa_function *f, const ssa_inst *i)
{
    return f->blocks[i->block].weight;
}
/* The innermost loop; CUTE_NO_LOOP. */
static inline uint32_t ssa_loop_of(const ssa_function *f, const ssa_inst *i)
{
    return f->flow->blocks[i->block].loop;
}
/* The value is defined in the loop. */
bool ssa_is_defined_in(const ssa_function *f, const ssa_value *v, uint32_t loop);
/* The initial value of a phi: before its loop, or from one of the predecessors. NULL: not a phi. */
const ssa_value *ssa_phi_entry(const ssa_function *f, const ssa_value *v);
bool ssa_is_reached(const ssa_function *f, const ssa_inst *i);
static inline bool ssa_is_header(const ssa_function *f, uint32_t block)
{
    uint32_t loop = f->flow->blocks[block].loop;
    return loop != CUTE_NO_LOOP && f->flow->loops[loop].header == block;
}
/* The conditional branch at the end of a block; NULL: none. */
const ssa_inst *ssa_branch_of(const ssa_function *f, uint32_t block);
/* The text of the instruction contains `word`. */
bool ssa_has_word(const ssa_inst *i, const char *word);
/* The compiler divides 64-bit numbers with zero upper halves as 32-bit numbers, by a branch. The 64-bit side of that branch;
 * CUTE_NO_BLOCK: the block has no such branch. */
uint32_t ssa_long_division(const ssa_function *f, uint32_t block);
/* The same for the large-argument side (above 105615) of sinf, cosf and tanf. */
uint32_t ssa_large_argument(const ssa_function *f, uint32_t block);

/* The emulator's counts for an instruction, per execution. */
typedef struct ssa_counters {
    double executed;     /* per warp; 0: unknown */
    double count, ideal; /* sectors or wavefronts */
} ssa_counters;

/* A load other than ldmatrix. */
static inline bool ssa_is_plain_load(const ssa_inst *i)
{
    return i->access == CUTE_ACCESS_LOAD && !(i->flags & INST_TENSOR_LOAD);
}

/* A SASS division whose reciprocal is computed elsewhere. */
static inline bool ssa_has_inverse(const ssa_function *f, const ssa_inst *i)
{
    return f->sass && i->flags & INST_DIVIDE && i->class == CUTE_CODE_INTEGER;
}

/* Sets `chain` of all global loads: the longest chain of dependent loads, within one iteration of each loop. */
bool ssa_find_chains(ssa_function *f);
enum { SSA_LONG_CHAIN = 4 };

#endif
