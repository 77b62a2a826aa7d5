/* A PTX module, decoded once: produced by the parser (parse.c, declare.c), run by the machine. Registers are
 * arrays of 32 lanes at offsets in a frame; constants are arrays of 32 equal lanes in a pool, so that
 * executors read both alike. Owned by the arena passed to em_program_parse. */
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

/* Classes of instructions in the counters. When decoded, ARITHMETIC becomes INTEGER or FLOAT by type, MEMORY
 * one of the spaces. */
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

/* How an instruction changes the flow of control. */
typedef enum em_control { EM_NEXT, EM_BRANCH, EM_BRANCH_INDEX, EM_EXIT, EM_RETURN, EM_TRAP } em_control;

/* How undefined bytes propagate from operands to results. From LOAD on, an undefined operand is an error. */
typedef enum em_dataflow {
    EM_FLOW_PURE, /* the results are undefined if a source is */
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
    EM_FLOW_HALVES, /* packed pairs: a half from the same half of each source; cvt: high, low */
    EM_FLOW_LANES,  /* from other lanes of the warp */
    EM_FLOW_LOAD,
    EM_FLOW_STORE,
    EM_FLOW_MMA,   /* rows and columns of D, if operands were loaded from uninitialised memory */
    EM_FLOW_WGMMA, /* reads D only if scale-d is true */
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

/* Special registers: 32-bit ones that are constant during the life of a warp come first, each an array of
 * lanes. */
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
    EM_O_LABEL,  /* at: index of the target instruction */
    EM_O_FUNCTION,
    EM_O_SREG,      /* read when executed */
    EM_O_IMMEDIATE, /* only while decoding */
    EM_O_ELEMENT,   /* only while decoding: array[offset bytes, and list[0] elements if there is a list] */
} em_operand_kind;

enum { EM_BASE_REGISTERS, EM_BASE_CONSTANTS, EM_BASE_SREGS, EM_BASES };

typedef struct em_operand {
    uint8_t kind, base;
    uint8_t bytes; /* of a value: 2 (in 4-byte lanes), 4, 8, 16; 0: a predicate, a 32-bit mask */
    uint8_t type;  /* as declared */
    bool negated;  /* !p */
    uint16_t count;
    uint32_t at;
    int64_t offset; /* of a memory operand; also the bits of an immediate */
    struct em_operand *list;
    const void *symbol; /* of an immediate while decoding: its variable; the function */
    bool real;          /* the immediate is a double */
} em_operand;

typedef struct em_warp em_warp;
typedef struct em_inst em_inst;
typedef void (*em_run)(em_warp *, const em_inst *, uint32_t mask);
typedef uint64_t (*em_lane_function)(const em_inst *, uint64_t a, uint64_t b, uint64_t c);

/* A decoded instruction. Common fields come first; the union has the fields of each family. */
struct em_inst {
    em_run run;
    em_run
        behind_wgmma; /* runs once the wgmma whose accumulator it accesses is done; NULL: it accesses none */
    em_operand *o;
    uint8_t count; /* number of operands */
    uint8_t opcode, class, control, dataflow;
    uint8_t results; /* number of leading operands that are destinations */
    uint8_t guard;   /* 0: none, 1: @p, 2: @!p */
    uint8_t space;   /* of the memory operand */
    union {
        uint8_t type;     /* the first of `types` */
        uint8_t types[4]; /* in written order */
    };
    uint8_t type_count;
    bool hidden; /* part of the instruction before or after it: not counted by itself */
    /* Not decoded (later architecture, or for reports); `why` is the reason. Its registers are in at most two
     * lists: those it may write, then the others. */
    bool unread;
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
            uint8_t used;      /* leading bytes of a ld that are used; 0: all */
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
            uint32_t allowed; /* groups that may still be pending after the wait */
        } group;
        const struct em_bulk_form *bulk;
        struct {
            uint8_t kind;            /* em_barrier_kind */
            uint8_t number, threads; /* operands; threads: 0: none */
        } barrier;
        struct {
            uint8_t kind;            /* em_mbarrier_kind */
            uint8_t address, number; /* operands; number: 0: none */
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
            uint8_t geometry, memory, vector, component; /* memory: the operand; component: of tld4 */
        } texture;
        struct {
            uint32_t target, reconverge; /* reconverge: UINT32_MAX: none */
        } branch;
        const struct em_call *call;
        struct {
            uint32_t align; /* of alloca */
        } stack;
        struct {
            uint32_t bytes; /* of an element: array[register] */
        } element;
        const char *why; /* reason why it is not emulated */
    };
    uint64_t mods[4];
    uint32_t where, length; /* of its text */
};

/* Reads texels through the texture path; accesses memory through objects. */
static inline bool em_is_fetch(const em_inst *i)
{
    return i->opcode == EM_OP_tex || i->opcode == EM_OP_tld4;
}
static inline bool em_uses_object(const em_inst *i)
{
    return em_is_fetch(i) || i->opcode == EM_OP_suld || i->opcode == EM_OP_sust || i->opcode == EM_OP_sured;
}

static inline bool em_has(const em_inst *i, em_modifier m)
{
    return i->mods[m >> 6] >> (m & 63) & 1;
}

typedef struct em_variable {
    const char *name;
    em_space space;
    ptx_type type;
    int64_t size, align, offset; /* offset: from the start of its area; unused for dynamic arrays */
    bool dynamic, external, array;
    struct em_function *owner; /* of a kernel's shared variable */
    uint64_t address;          /* of global and const variables */
    struct em_symbol
        *in_register; /* a parameter or result in .reg whose slot this is; while the function is parsed */
} em_variable;

/* A used register: its name and its offset in the register frame. */
typedef struct em_register {
    const char *name; /* in the text */
    uint32_t length, at;
} em_register;

/* The basic blocks of a function. Edges: to branch targets, in the order of the labels, then to the next
 * block. */
typedef struct em_flow {
    cute_graph graph;   /* of blocks; the last is code[end] alone */
    uint32_t *first;    /* by block: its first instruction; the last element is the one after the function */
    uint32_t *block_of; /* by instruction, from the function's first on */
} em_flow;

/* The offset of a module's .shared variable in the blocks of a kernel that uses it. */
typedef struct em_shared_place {
    const em_variable *variable;
    int64_t offset;
} em_shared_place;

typedef struct em_function {
    const char *name;
    bool entry, defined;
    bool calls_address, address_taken; /* makes an indirect call; may be the target of one */
    uint32_t index, start, end;        /* code[end] is the function's last instruction: its return */
    em_flow flow;                      /* of defined functions */
    uint32_t register_bytes;           /* of a register frame */
    int64_t stack_bytes;               /* per thread: .local and .param of calls */
    int64_t shared;                    /* static bytes declared in the kernel */
    int64_t shared_align;              /* of those; 0: none */
    int64_t shared_common;             /* bytes of module variables that a kernel reaches, which come first */
    em_variable **params;              /* formal ones; a kernel's have offsets in the parameter block */
    size_t param_count;
    int64_t param_bytes;
    em_variable **results;
    size_t result_count;
    uint32_t reqntid[3], maxntid[3], cluster[3];
    int64_t threads_limit;
    uint32_t line;
    em_register *registers; /* sorted by offset */
    size_t register_count, register_capacity;
    const em_variable **shared_used; /* module and dynamic variables named in its body */
    size_t shared_used_count, shared_used_capacity;
    struct em_function **callees; /* functions that it calls by name or takes the address of */
    size_t callee_count, callee_capacity;
    em_shared_place
        *shared_places; /* of a kernel: module variables it reaches, also by calls; sorted by variable */
    size_t shared_place_count;
    uint32_t reached; /* while those are computed */
} em_function;

typedef struct em_reloc {
    uint32_t at; /* in the pool */
    uint8_t bytes;
    const em_variable *variable;
    int64_t offset;
} em_reloc;

/* A source location. Inlined code has the location in the kernel author's code: the innermost one in the file
 * of the kernel, rather than in a header. */
typedef struct em_loc {
    const char *file;                       /* NULL: unknown */
    uint32_t line, column, number;          /* number: of the file */
    uint32_t at_number, at_line, at_column; /* the call site if inlined; at_line 0: not inlined */
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
    em_reloc *addresses; /* constants that are addresses of variables, of which each device has its own */
    size_t address_count, address_capacity;
    em_loc *locs; /* [0]: none */
    size_t loc_count, loc_capacity;
    uint8_t *image; /* initial values of the variables */
    size_t image_length, image_capacity;
    uint64_t base;  /* address of the image */
    int64_t shared; /* bytes of all shared variables declared outside kernels */
    bool scratch;   /* reads %reserved_smem_offset_1 */
    bool calls;     /* a function calls another */
    int version;
    const char *target;
} em_program;

/* Addresses. Generic addresses of shared and local memory are in windows; the blocks of a cluster are
 * consecutive in the shared one. */
#define EM_SHARED_WINDOW UINT64_C(0x0000010000000000)
#define EM_LOCAL_WINDOW  UINT64_C(0x0000020000000000)
#define EM_PARAM_WINDOW  UINT64_C(0x0000030000000000)
#define EM_CODE_BASE     UINT64_C(0x0000040000000000)
#define EM_WINDOW_SIZE   UINT64_C(0x0000000100000000)
enum { EM_SHARED_RESERVED = 1024, EM_RANK_SHIFT = 24 };
/* The end of the reserved shared memory, to which %reserved_smem_offset_1 points: cooperative groups keep
 * barriers of multi-warp groups there (details/memory.h of the CUDA toolkit). */
enum { EM_SCRATCH_BYTES = 128, EM_SCRATCH = EM_SHARED_RESERVED - EM_SCRATCH_BYTES };

/* `text` has to outlive the program and be terminated. `base`: address of the .global and .const variables.
 * Errors name line and column in `label`. */
cute_status em_program_parse(cute_arena *arena, const char *label, const char *text, size_t length,
                             uint64_t base, em_program **out, cute_diag *diag);
/* The same for reports, which do not run the program: accepts PTX of every architecture and version.
 * Unsupported instructions are kept as `unread`; external variables have addresses. */
cute_status em_program_read(cute_arena *arena, const char *label, const char *text, size_t length,
                            uint64_t base, em_program **out, cute_diag *diag);
/* The source location of an instruction; NULL: unknown. */
static inline const em_loc *em_loc_of(const em_program *program, const em_inst *i)
{
    const em_loc *loc = i->loc && i->loc < program->loc_count ? &program->locs[i->loc] : NULL;
    return loc && loc->file ? loc : NULL;
}
const em_function *em_program_find(const em_program *program, const char *name);
/* ---- shared.c: layout of a kernel's shared memory, after the part reserved by the system: the module's
 * variables that the kernel reaches, its own, then dynamic ones. ---- */

/* Lays out the shared memory of each kernel after parsing. False: out of memory. */
bool em_place_shared(em_program *program);
/* Static bytes of a kernel. */
int64_t em_static_shared(const em_function *kernel);
/* Offset of a variable in a kernel's shared memory; false: the kernel does not have it. */
bool em_shared_offset(const em_function *kernel, const em_variable *variable, int64_t *offset);
/* The register at an offset of the function's frame; NULL: unnamed. */
const em_register *em_register_at(const em_function *function, uint32_t at);
/* The place of an instruction in the PTX. */
cute_place em_place(const em_program *program, const em_inst *inst);

#endif
