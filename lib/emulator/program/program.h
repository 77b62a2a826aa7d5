/* A PTX module, decoded once: what the parser (parse.c, declare.c) makes and the machine runs. Registers are
 * arrays of 32 lanes at offsets into a window; constants are arrays of 32 equal lanes in a pool, so that an
 * executor reads both alike. Owned by the arena that em_program_parse is given. */
#ifndef CUTE_LIB_EMULATOR_PROGRAM_PROGRAM_H
#define CUTE_LIB_EMULATOR_PROGRAM_PROGRAM_H

#include "cute/base.h"
#include "lib/base/graph.h"
#include "lib/numeric/types.h"

enum { EM_LANES = 32 };

typedef enum em_opcode {
#define OP(id, ...) EM_OP_##id,
#include "lib/emulator/program/instructions.def"
    EM_OPCODES
} em_opcode;

/* Classes of instructions, as counters tell them. ARITHMETIC becomes INTEGER or FLOAT by the type, MEMORY one of the
 * spaces, when an instruction is decoded. */
typedef enum em_class {
    EM_CLASS_INTEGER,
    EM_CLASS_FLOAT,
    EM_CLASS_CONVERSION,
    EM_CLASS_MOVE,
    EM_CLASS_MEMORY_GLOBAL,
    EM_CLASS_MEMORY_SHARED,
    EM_CLASS_MEMORY_LOCAL,
    EM_CLASS_MEMORY_CONSTANT,
    EM_CLASS_MEMORY_GENERIC,
    EM_CLASS_WARP,
    EM_CLASS_CONTROL,
    EM_CLASS_BARRIER,
    EM_CLASS_TENSOR,
    EM_CLASS_COPY,
    EM_CLASSES,
    EM_CLASS_ARITHMETIC,
    EM_CLASS_MEMORY
} em_class;

/* Where an instruction leaves the order of the code. */
typedef enum em_control { EM_NEXT, EM_BRANCH, EM_BRANCH_INDEX, EM_EXIT, EM_RETURN, EM_TRAP } em_control;

/* How bytes that were never written go from operands to results. From LOAD on an undefined operand is an error. */
typedef enum em_dataflow {
    EM_FLOW_PURE, /* the results are undefined where a source is */
    EM_FLOW_COPY,
    EM_FLOW_CONVERT,
    EM_FLOW_AND,
    EM_FLOW_OR,
    EM_FLOW_BITWISE,
    EM_FLOW_SHIFT,
    EM_FLOW_INSERT,
    EM_FLOW_EXTRACT,
    EM_FLOW_PERMUTE,
    EM_FLOW_SELECT,
    EM_FLOW_COMPARE,
    EM_FLOW_LANES, /* from other lanes of the warp */
    EM_FLOW_LOAD,
    EM_FLOW_STORE,
    EM_FLOW_MMA,   /* rows and columns of D, where the operands come from memory that was never written */
    EM_FLOW_WGMMA, /* reads D only where scale-d says so */
    EM_FLOW_USE
} em_dataflow;

/* Modifiers of instructions: ".rn" is EM_M_rn. */
typedef enum em_modifier {
#define M(id, text) EM_M_##id,
#include "lib/emulator/program/modifiers.def"
#undef M
    EM_MODIFIERS
} em_modifier;

typedef enum em_space { EM_GENERIC, EM_GLOBAL, EM_CONST, EM_SHARED, EM_LOCAL, EM_PARAM } em_space;

/* Special registers: 32-bit ones that do not change while a warp lives come first, each an array of lanes. */
typedef enum em_sreg {
#define S(id, text, bytes) EM_SREG_##id,
#include "lib/emulator/program/sregs.def"
#undef S
    EM_SREGS
} em_sreg;

typedef enum em_operand_kind {
    EM_O_NONE,   /* _ */
    EM_O_VALUE,  /* lanes at base[base] + at */
    EM_O_MEMORY, /* [value + offset] */
    EM_O_VECTOR, /* {count operands at list} */
    EM_O_LABEL,  /* at: index of the instruction */
    EM_O_FUNCTION,
    EM_O_SREG,      /* one that is read when it is asked for */
    EM_O_IMMEDIATE, /* only while decoding */
    EM_O_ELEMENT,   /* likewise: array[offset bytes, and list[0] elements where there is a list] */
} em_operand_kind;

enum { EM_BASE_REGISTERS, EM_BASE_CONSTANTS, EM_BASE_SREGS, EM_BASES };

typedef struct em_operand {
    uint8_t kind, base;
    uint8_t bytes; /* of a value: 2 (in lanes of 4), 4, 8, 16; 0: a predicate, one 32-bit mask */
    uint8_t type;  /* as declared */
    bool negated;  /* !p */
    uint16_t count;
    uint32_t at;
    int64_t offset; /* of memory; also an immediate's bits */
    struct em_operand *list;
    const void *symbol; /* what an immediate refers to, while decoding; the function */
    bool real;          /* the immediate is a double */
} em_operand;

typedef struct em_warp em_warp;
typedef struct em_inst em_inst;
typedef void (*em_run)(em_warp *, const em_inst *, uint32_t mask);
typedef uint64_t (*em_lane_function)(const em_inst *, uint64_t a, uint64_t b, uint64_t c);

/* An instruction, decoded. What all have stands first; what a family of decoders leaves for its executors has names in
 * the union. */
struct em_inst {
    em_run run;
    em_run
        behind_wgmma; /* what it does once the wgmma whose accumulator it touches is done; NULL: it touches none */
    em_operand *o;
    uint8_t count; /* of operands */
    uint8_t opcode, class, control, dataflow;
    uint8_t results; /* operands that come first and are destinations */
    uint8_t guard;   /* 0 none, 1 @p, 2 @!p */
    uint8_t space;   /* of the memory operand */
    union {
        uint8_t type;     /* the first */
        uint8_t types[4]; /* as they are written */
    };
    uint8_t type_count;
    bool hidden; /* a part of the instruction before or behind it: not counted by itself */
    bool
        unread; /* not known, in PTX of a later architecture or for reports: `why` says why it was not decoded. Its registers stand in at most two lists: those
                    that it may write, then the others */
    uint32_t guard_at;
    uint32_t loc; /* index into locs */
    union {
        struct {
            em_lane_function function;
            uint8_t table; /* of lop3 */
        } lane;
        struct {
            bool subtract, carry_in, multiply;
        } carry;
        struct {
            uint8_t op, format, round, flags; /* num_op, num_format, num_round, NUM_FTZ ... */
        } real;
        struct {
            uint8_t type, outcomes; /* outcomes: bits of less 1, equal 2, greater 4, unordered 8 */
            bool is_unsigned;
        } compare;
        struct {
            uint8_t vector;    /* elements */
            uint8_t used;      /* bytes of a ld up to the last that counts; 0: all */
            uint8_t address;   /* of atom and red: the operand; the values follow it */
            uint8_t reduction; /* num_reduction of red.async; 0: st.async */
            bool strong;
        } memory;
        struct {
            bool to_space;   /* cvta.to */
            bool in_cluster; /* mapa.shared::cluster */
        } address;
        struct {
            uint8_t bytes, way; /* way: a cute_copy_way */
        } copy;                 /* cp.async */
        struct {
            uint8_t kind;     /* em_pending_kind */
            bool all;         /* wait_all */
            uint32_t allowed; /* groups that may be under way when the wait ends */
        } group;
        const struct em_bulk_form *bulk;
        struct {
            uint8_t kind;            /* em_barrier_kind */
            uint8_t number, threads; /* operands; threads: 0 none */
        } barrier;
        struct {
            uint8_t kind;            /* em_mbarrier_kind */
            uint8_t address, number; /* operands; number: 0 none */
            bool parity;
        } mbarrier;
        struct {
            const struct num_mma *form;
            bool satfinite, a_col, b_row;
        } mma;
        struct {
            uint8_t operand, type; /* num_operand, ptx_type */
            bool col, store;
            int16_t m, n, k;
        } fragment; /* wmma.load, wmma.store */
        const struct num_wgmma *wgmma;
        struct {
            uint8_t field, dimension, value; /* num_map_field; value: the operand */
        } map;
        struct {
            uint32_t target, reconverge; /* reconverge: UINT32_MAX none */
        } branch;
        const struct em_call *call;
        struct {
            uint32_t align; /* of alloca */
        } stack;
        struct {
            uint32_t bytes; /* of an element: array[register] */
        } element;
        const char *why; /* the emulator does not have it */
    };
    uint64_t mods[4];
    uint32_t where, length; /* of its text */
};

static inline bool em_has(const em_inst *i, em_modifier m)
{
    return i->mods[m >> 6] >> (m & 63) & 1;
}

typedef struct em_variable {
    const char *name;
    em_space space;
    ptx_type type;
    int64_t size, align, offset; /* offset: from the start of its area; of a dynamic array: not used */
    bool dynamic, external, array;
    struct em_function *owner; /* of a shared variable of one kernel */
    uint64_t address;          /* of global and const */
    struct em_symbol *
        in_register; /* a parameter or result in .reg, of which this is the slot; while the function is parsed */
} em_variable;

/* A register that is used: its name, and where it lies in the register frame. */
typedef struct em_register {
    const char *name; /* in the text */
    uint32_t length, at;
} em_register;

/* The basic blocks of a function. Edges: to where a branch leads, as its labels stand, then to what follows. */
typedef struct em_flow {
    cute_graph graph;   /* of blocks; the last is code[end] alone */
    uint32_t *first;    /* by block: its first instruction; behind the last the one after the function */
    uint32_t *block_of; /* by instruction, from the function's first on */
} em_flow;

/* Where a module's .shared variable lies in the blocks of a kernel that uses it. */
typedef struct em_shared_place {
    const em_variable *variable;
    int64_t offset;
} em_shared_place;

typedef struct em_function {
    const char *name;
    bool entry, defined;
    bool calls_address, address_taken; /* address_taken: it may be what such a call goes to */
    uint32_t index, start, end;        /* code[end] is the function's last instruction: its return */
    em_flow flow;                      /* of functions that are defined */
    uint32_t register_bytes;           /* of a register frame */
    int64_t stack_bytes;               /* of a thread: .local and .param of calls */
    int64_t shared;                    /* static bytes of its own, a kernel's */
    int64_t shared_align;              /* of those; 0: none */
    int64_t shared_common; /* a kernel's bytes of the module's variables that it reaches, which lie first */
    em_variable **params;  /* formal ones; a kernel's have offsets in the parameter block */
    size_t param_count;
    int64_t param_bytes;
    em_variable **results;
    size_t result_count;
    uint32_t reqntid[3], maxntid[3], cluster[3];
    int64_t threads_limit;
    uint32_t line;
    em_register *registers; /* by place */
    size_t register_count, register_capacity;
    const em_variable **shared_used; /* of the module, and dynamic ones, that its body names */
    size_t shared_used_count, shared_used_capacity;
    struct em_function **callees; /* what it calls by name or takes the address of */
    size_t callee_count, callee_capacity;
    em_shared_place
        *shared_places; /* of a kernel: what it reaches, also through what it calls; by variable */
    size_t shared_place_count;
    uint32_t reached; /* while that is found out */
} em_function;

typedef struct em_reloc {
    uint32_t at; /* in the pool */
    uint8_t bytes;
    const em_variable *variable;
    int64_t offset;
} em_reloc;

/* A place in the user's source. Code that was inlined has the line of the function that the kernel's author wrote: the
 * innermost one in the file of the kernel, and not that of a header it comes from. */
typedef struct em_loc {
    const char *file;                       /* NULL: not known */
    uint32_t line, column, number;          /* number: of the file */
    uint32_t at_number, at_line, at_column; /* where it was inlined; at_line 0: it was not */
} em_loc;

typedef struct em_program {
    cute_arena *arena;
    const char *label, *text;
    size_t length;
    em_inst *code;
    uint32_t count;
    size_t capacity;
    em_function **functions;
    size_t function_count, function_capacity;
    em_variable **variables; /* .global and .const */
    size_t variable_count, variable_capacity;
    uint8_t *pool; /* the constants */
    uint32_t pool_length, pool_capacity;
    em_reloc *relocs;
    size_t reloc_count, reloc_capacity;
    em_loc *locs; /* [0]: none */
    size_t loc_count, loc_capacity;
    uint8_t *image; /* the variables' first contents */
    size_t image_length, image_capacity;
    uint64_t base;  /* the image's address */
    int64_t shared; /* bytes of all shared variables outside of kernels */
    bool scratch;   /* reads %reserved_smem_offset_1 */
    bool calls;     /* some function calls another */
    int version;
    const char *target;
} em_program;

/* Addresses. Generic ones of shared and local memory lie in windows; a cluster's blocks follow each other in
 * the shared one. */
#define EM_SHARED_WINDOW UINT64_C(0x0000010000000000)
#define EM_LOCAL_WINDOW  UINT64_C(0x0000020000000000)
#define EM_PARAM_WINDOW  UINT64_C(0x0000030000000000)
#define EM_CODE_BASE     UINT64_C(0x0000040000000000)
#define EM_WINDOW_SIZE   UINT64_C(0x0000000100000000)
enum { EM_SHARED_RESERVED = 1024, EM_RANK_SHIFT = 24 };
/* The end of the reserved shared memory, where %reserved_smem_offset_1 points to: cooperative groups keep
 * barriers of groups of several warps there (details/memory.h of the CUDA toolkit). */
enum { EM_SCRATCH_BYTES = 128, EM_SCRATCH = EM_SHARED_RESERVED - EM_SCRATCH_BYTES };

/* `text` must outlive the program and be terminated. `base`: where .global and .const variables lie. Errors
 * name line and column in `label`. */
cute_status em_program_parse(cute_arena *arena, const char *label, const char *text, size_t length,
                             uint64_t base, em_program **out, cute_diag *diag);
/* The same for reports, which run nothing: PTX of every architecture and version. An instruction that the emulator does
 * not have is kept as `unread`; external variables have places. */
cute_status em_program_read(cute_arena *arena, const char *label, const char *text, size_t length,
                            uint64_t base, em_program **out, cute_diag *diag);
/* The place of an instruction in the user's source; NULL: not known. */
static inline const em_loc *em_loc_of(const em_program *program, const em_inst *i)
{
    const em_loc *loc = i->loc && i->loc < program->loc_count ? &program->locs[i->loc] : NULL;
    return loc && loc->file ? loc : NULL;
}
const em_function *em_program_find(const em_program *program, const char *name);
/* ---- shared.c: the shared memory of a kernel's blocks, what the system reserves not included. First come the module's
 * variables that the kernel reaches, then its own, then dynamic ones. */

/* Gives each kernel its places, once all is parsed. False: out of memory. */
bool em_place_shared(em_program *program);
/* Static bytes of a kernel. */
int64_t em_static_shared(const em_function *kernel);
/* Where a variable begins in a kernel's shared memory; false: the kernel does not have it. */
bool em_shared_offset(const em_function *kernel, const em_variable *variable, int64_t *offset);
/* The register at a place of the function's frame; NULL: it has no name. */
const em_register *em_register_at(const em_function *function, uint32_t at);
/* The place of an instruction in the PTX. */
cute_place em_place(const em_program *program, const em_inst *inst);

#endif
