/* Code as the findings look at it: PTX and machine code alike become instructions with values, in blocks with loops. What
 * an instruction computes of integers is known, so that the addresses of a warp's lanes can be told before anything runs. */
#ifndef CUTE_LIB_CODE_FUNCTION_H
#define CUTE_LIB_CODE_FUNCTION_H

#include "lib/code/assumptions.h"
#include "lib/code/lanes.h"
#include "lib/code/sass/code.h"

struct em_program;
struct em_function;
struct em_inst;

enum { X_LANES = LANES };

/* What is computed of integers; X_OTHER: not known here. */
typedef enum x_op {
    X_OTHER,
    X_MOV,
    X_ADD, /* any number of operands */
    X_SUB,
    X_NEG,
    X_MUL,
    X_MAD,
    X_SHL,
    X_SHR,
    X_AND,
    X_OR,
    X_XOR,
    X_NOT,
    X_LOP3,
    X_MIN,
    X_MAX,
    X_SELECT, /* a, b, condition */
    X_SETP,
    X_SETP_JOINED, /* a, b, and a condition that is joined as `table` says: x_join */
    X_SETP_HIGH,   /* of the upper words; the last operand: the comparison of the lower ones */
    X_BFE,
    X_EXTEND, /* cvt between integers */
    X_DIV,
    X_REM,
    X_LEA,      /* (a << shift) + b */
    X_LEA_HIGH, /* (a >> shift) + b */
    X_BREV,
    X_POPC,
    X_PERMUTE,  /* bytes of b:a as the digits of c select them */
    X_MUL_HIGH, /* the upper half of a product */
    X_SIGN,     /* the lower b bits, with their sign */
} x_op;

typedef enum x_join { X_JOIN_AND, X_JOIN_OR, X_JOIN_XOR } x_join;

/* X_NONZERO: the result of X_LOP3 is whether it has a bit. */
typedef enum x_compare { X_EQ, X_NE, X_LT, X_LE, X_GT, X_GE, X_NONZERO } x_compare;

/* What a value depends on. */
enum {
    X_TID_X = 1,
    X_TID_Y = 2,
    X_TID_Z = 4,
    X_LANE = 8,
    X_CTA_X = 16,
    X_CTA_Y = 32,
    X_CTA_Z = 64,
    X_ARGUMENT = 128,
    X_LOADED = 256,
    X_COUNTED = 512, /* what a loop carries */
    X_THREAD = X_TID_X | X_TID_Y | X_TID_Z | X_LANE,
    X_BLOCK = X_CTA_X | X_CTA_Y | X_CTA_Z
};

/* Special registers that have a value here. */
typedef enum x_sreg {
    X_S_TID_X,
    X_S_TID_Y,
    X_S_TID_Z,
    X_S_NTID_X,
    X_S_NTID_Y,
    X_S_NTID_Z,
    X_S_CTAID_X,
    X_S_CTAID_Y,
    X_S_CTAID_Z,
    X_S_NCTAID_X,
    X_S_NCTAID_Y,
    X_S_NCTAID_Z,
    X_S_LANE,
    X_S_LANEMASK_EQ,
    X_S_LANEMASK_LT,
    X_S_LANEMASK_LE,
    X_S_LANEMASK_GT,
    X_S_LANEMASK_GE,
    X_S_OTHER, /* the same for all lanes of a warp */
} x_sreg;

enum {
    F_VOLATILE = 1 << 0,
    F_SYSTEM_FENCE = 1 << 1,
    F_BARRIER = 1 << 2, /* of the block, or a part of it */
    F_DOUBLE = 1 << 3,  /* arithmetic of f64 */
    F_TO_DOUBLE = 1 << 4,
    F_FROM_DOUBLE = 1 << 5,
    F_HALF_SCALAR = 1 << 6, /* f16, bf16: one element a lane */
    F_SLOW_MATH = 1 << 7,   /* division, root with all bits */
    F_DIVIDE = 1 << 8,      /* of integers, by what is no constant */
    F_MULTIPLY_64 = 1 << 9,
    F_ASYNC = 1 << 10, /* cp.async */
    F_TMA = 1 << 11,   /* bulk copies */
    F_WAIT_ASYNC = 1 << 12,
    F_WAIT_MBARRIER = 1 << 13,
    F_WGMMA = 1 << 14,
    F_WGMMA_WAIT = 1 << 15,
    F_MMA = 1 << 16, /* other products on tensor cores */
    F_SETMAXNREG = 1 << 17,
    F_CALL = 1 << 18,
    F_MATH = 1 << 19, /* arithmetic of floating point, no moves and conversions */
    F_FMA = 1 << 20,
    F_WIDEN_HALF = 1 << 21, /* f16, bf16 to f32 */
    F_BRANCH = 1 << 22,
    F_HALF = 1 << 24,
    F_ADDRESS_TAKEN = 1 << 25, /* cvta of local memory */
    F_SPILL = 1 << 26,         /* local memory at a constant place of the stack */
    F_READ_ONLY = 1 << 27,
    F_FLOAT_ADD = 1 << 28,
    F_TENSOR_LOAD = 1 << 29, /* ldmatrix */
    F_ORDERED = 1 << 30,     /* acquire, relaxed: others write there */
};

typedef enum x_kind {
    X_NONE,
    X_VAR,
    X_IMM,
    X_ARG /* a parameter or a constant: imm is its place */,
    X_SREG
} x_kind;

typedef struct x_operand {
    uint8_t kind;
    bool negative, inverted; /* -a, ~a or !a */
    uint8_t bits;            /* 1 (a predicate), 8, 16, 32, 64; 0: more, of which nothing is known */
    uint32_t var, value;     /* value: after x_ssa */
    int64_t imm;
} x_operand;

struct x_seen;
typedef struct x_inst {
    const struct em_inst *ptx; /* NULL: of machine code */
    const struct x_seen *seen; /* NULL: no counters */
    uint8_t op, class, space, access, bits, compare, table, shift;
    bool is_signed;
    bool again; /* a load in front of it in the block had the same sectors: L1 has them */
    uint16_t
        chain; /* loads, this one among them, of which each has its address from the one before; 0: x_find_chains was not called */
    uint16_t width;   /* bytes of a lane */
    uint16_t element; /* bytes of an element; 0: not known */
    uint32_t flags;
    x_operand *uses;
    uint32_t *defs; /* variables; their values follow each other from first_value on */
    uint16_t use_count, def_count;
    int16_t address;  /* the operand that is the base of the address; -1: none */
    int16_t address2; /* what is added to it; -1: none */
    int16_t data;     /* the first operand that is stored; -1 */
    int16_t guard;    /* operand; -1: none */
    int64_t offset;   /* of the address; what a wait allows; bytes of a copy */
    uint32_t first_value, block;
    int64_t target;   /* of a branch; -1: none */
    const char *text; /* length bytes */
    uint32_t length;
    const char *file; /* NULL: not known */
    int64_t line, ptx_line /* 0: none */, sass /* address; -1: none */;
} x_inst;

typedef struct x_value {
    int64_t inst; /* -1: of a phi, or not defined */
    uint32_t block, next_phi;
    uint32_t *args; /* of a phi: by predecessor */
    uint32_t arg_count;
    uint32_t same; /* the value that this one is; itself mostly */
    uint32_t depends;
    bool phi, varying;        /* between lanes */
    const lane_values *lanes; /* of the last run (x_follow, x_analyse); NULL: it has not come there */
} x_value;
enum { X_NO_VALUE = 0 }; /* values[0]: not defined */

typedef struct x_block {
    uint32_t *before, before_count;
    uint32_t first_phi;
    uint32_t reconverge; /* PTX: the block where lanes of a branch come together; CUTE_NO_BLOCK: nowhere */
    uint32_t active;     /* lanes that come here; all where it is not known */
    bool in_loop;
    bool come; /* x_follow: some warp may come here */
    bool partial, joined,
        parted;     /* lanes that come are not known; ways meet here; a branch that lanes take differently */
    uint32_t *ways; /* lanes that come by each of `before` */
    double likely;  /* of blocks on the other side of what sizes decide: little */
    double weight;  /* times it runs */
} x_block;

typedef struct x_loop {
    double trips;
    bool counts;            /* a counter with a constant step meets a bound */
    bool waits;             /* it only looks whether something has happened */
    int64_t exit;           /* the branch that leaves it; -1: none is known */
    const x_operand *bound; /* where it counts to */
    int64_t step;           /* what an iteration adds */
    const x_inst *test;
    uint32_t counter; /* the value that counts */
} x_loop;

typedef struct x_function {
    cute_arena *arena;
    const char *name, *label; /* label: of the PTX */
    bool sass;                /* else PTX */
    x_inst *insts;
    size_t count;
    cute_code_function *flow; /* blocks, edges and loops: its instructions are insts */
    x_block *blocks;
    x_loop *loops;
    x_value *values;
    size_t value_count, value_capacity;
    uint32_t variables;
    const struct em_program *program; /* of PTX */
    const struct em_function *kernel;
    uint8_t *needed; /* by instruction: addresses and branches depend on it; NULL before x_find_needed */
    code_assumptions assume;
    uint32_t warp;       /* of the last run */
    bool tried;          /* x_try: `depends` and `varying` are set */
    int arch;            /* compute capability: 90; 0: not known */
    bool has_local;      /* PTX declares local arrays */
    double local_missed; /* the part of accesses to local memory that L1 does not hold */
} x_function;

/* The function of PTX or machine code, in static single assignment; false when memory is exhausted. */
bool x_from_ptx(cute_arena *arena, const struct em_program *program, const struct em_function *kernel,
                x_function *out);
bool x_from_sass(cute_arena *arena, cute_code_function *code, x_function *out);
bool x_ssa(x_function *f);
/* Behind x_ssa: a comparison of 64 bits, two of machine code, is that of its lower words, as its operands are followed. */
void x_join_comparisons(x_function *f);

/* The values of warp `index` of a block of PTX for all arguments and all rounds of loops: a fixed point over the blocks, in which loops
 * lose what their rounds change. Of instructions that are needed alone. Values are in `own`; lanes of blocks in their
 * `active`. Then visits each instruction that may run. */
struct x_run;
typedef void x_visit(void *context, struct x_run *r, const x_inst *i);
bool x_follow(x_function *f, cute_arena *own, uint32_t index, x_visit *visit, void *context);
/* Marks the instructions on which addresses and branches depend, and counts them. */
bool x_find_needed(x_function *f, uint32_t *count);

/* One case instead: arguments and loaded numbers that all lanes share are made up (assumptions.h), loops are in their first
 * iteration. The block has to be known. `visit` may be NULL. */
bool x_try(x_function *f, cute_arena *own, uint32_t index, x_visit *visit, void *context);
/* The first warp of one case, and how often blocks run then. Makes up the block where it is not known; arch has to be set. */
bool x_analyse(x_function *f);
void x_make_up_block(x_function *f);

/* ---- for the two runs above ---- */

struct evaluation;
/* What runs keep while they go: one warp. */
typedef struct x_run {
    x_function *f;
    cute_arena *own;
    bool made_up;
    struct evaluation *e;
    uint32_t current; /* block */
    struct x_region *regions;
    size_t region_count, region_capacity;
    bool changed, failed;
} x_run;
bool x_run_begin(x_run *r, x_function *f, cute_arena *own, uint32_t warp, bool made_up);
/* An operand's lanes, `bits` wide where it says nothing itself. */
lane_values x_operand_lanes(const x_run *r, const x_operand *o, uint32_t bits);
/* Sets the values that the instruction makes in lanes `mask`. */
void x_execute(x_run *r, const x_inst *i, uint32_t mask);
/* Sets the lanes of a value and notes whether they changed. */
void x_set_lanes(x_run *r, x_value *v, const lane_values *lanes);
/* An operation on integers: the table of what is computed, of PTX and machine code alike. `in`: its operands; `out` has the bits that
 * are asked for. False: nothing is known. Sizes that are made up do not overflow. */
bool x_compute(cute_arena *arena, const x_inst *i, const lane_values *in, unsigned count, bool made_up,
               lane_values *out);
/* Operands before the guard and the merged value. */
static inline unsigned x_sources(const x_inst *i)
{
    return i->guard >= 0 && i->guard < i->use_count ? (unsigned)i->guard : i->use_count;
}
/* An operand of PTX; a register's value is not set. */
struct em_operand;
x_operand x_ptx_operand(const x_function *f, const struct em_operand *o);
/* The lanes of what the instruction of PTX reads, by the emulator's operand. */
lane_values x_source(const x_run *r, const x_inst *i, const struct em_operand *from);
/* How often loops go round and blocks run; behind x_try. */
bool x_find_weights(x_function *f);

static inline x_value *x_at(const x_function *f, uint32_t value)
{
    return &f->values[f->values[value].same];
}
/* The value of an operand; values[0] where it has none. */
static inline x_value *x_use(const x_function *f, const x_operand *o)
{
    return x_at(f, o->kind == X_VAR ? o->value : X_NO_VALUE);
}
/* What lane `lane` has in an operand; false: not known. */
bool x_operand_lane(const x_function *f, const x_operand *o, int lane, uint64_t *out);
/* The lanes in which a predicate is true; false: not known. */
bool x_lanes_true(const x_function *f, const x_operand *o, uint32_t *out);
bool x_operand_varying(const x_function *f, const x_operand *o);
uint32_t x_operand_depends(const x_function *f, const x_operand *o);
/* All lanes of a value are known. */
static inline bool x_known(const x_value *v)
{
    return v->lanes && lanes_known(v->lanes);
}
/* The value that an address counts from, and what is added to it: constants are followed. NULL: no register. */
const x_value *x_root(const x_function *f, const x_inst *i, int64_t *offset);
/* Addresses of a memory instruction by lane; false: not known. `active`: lanes that do it. */
bool x_addresses(const x_function *f, const x_inst *i, uint64_t out[X_LANES], uint32_t *active);
bool x_address_varying(const x_function *f, const x_inst *i);
uint32_t x_address_depends(const x_function *f, const x_inst *i);
/* Lanes that execute it, as far as known. */
uint32_t x_active(const x_function *f, const x_inst *i);

static inline double x_weight(const x_function *f, const x_inst *i)
{
    return f->blocks[i->block].weight;
}
/* The innermost loop; CUTE_NO_LOOP. */
static inline uint32_t x_loop_of(const x_function *f, const x_inst *i)
{
    return f->flow->blocks[i->block].loop;
}
/* Whether the value is made in the loop. */
bool x_made_in(const x_function *f, const x_value *v, uint32_t loop);
/* What a phi begins with: in front of its loop, or on one of the ways. NULL: it is no phi. */
const x_value *x_entry(const x_function *f, const x_value *v);
bool x_reached(const x_function *f, const x_inst *i);
static inline bool x_is_header(const x_function *f, uint32_t block)
{
    uint32_t loop = f->flow->blocks[block].loop;
    return loop != CUTE_NO_LOOP && f->flow->loops[loop].header == block;
}
/* The conditional branch at the end of a block; NULL: it has none. */
const x_inst *x_branch_of(const x_function *f, uint32_t block);
bool x_has_word(const x_inst *i, const char *word);
/* A branch of the compiler's own: numbers of 64 bits whose upper halves are 0 are divided as 32 bits. The side of the others;
 * CUTE_NO_BLOCK: it is none. */
uint32_t x_long_division(const x_function *f, uint32_t block);
/* The same of the arguments above 105615 of sinf and its kin. */
uint32_t x_large_argument(const x_function *f, uint32_t block);

/* What the emulator counted for an instruction, each time that it was executed. */
typedef struct x_seen {
    double executed;     /* by a warp; 0: not known */
    double count, ideal; /* sectors or wavefronts */
} x_seen;

/* A load into the lanes' registers, not ldmatrix. */
static inline bool x_plain_load(const x_inst *i)
{
    return i->access == CUTE_ACCESS_LOAD && !(i->flags & F_TENSOR_LOAD);
}

/* A division of machine code whose divisor's inverse is computed elsewhere. */
static inline bool x_has_inverse(const x_function *f, const x_inst *i)
{
    return f->sass && i->flags & F_DIVIDE && i->class == CUTE_CODE_INTEGER;
}

/* Sets `chain` of all loads from global memory: the longest chain that it is a part of, within one iteration of each loop. */
bool x_find_chains(x_function *f);
enum { X_LONG_CHAIN = 4 };

#endif
