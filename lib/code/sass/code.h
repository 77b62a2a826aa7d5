/* SASS as data, read from nvdisasm's listing: instructions with their operands, basic blocks, loops, live registers. All memory is in
 * the arena that is passed. */
#ifndef CUTE_LIB_CODE_SASS_CODE_H
#define CUTE_LIB_CODE_SASS_CODE_H

#include "lib/base/buffer.h"
#include "lib/base/graph.h"

typedef enum cute_register_class {
    CUTE_REGISTER_R,  /* per thread, 32 bits */
    CUTE_REGISTER_UR, /* uniform: per warp, 32 bits */
    CUTE_REGISTER_P,  /* predicates */
    CUTE_REGISTER_UP, /* uniform predicates */
    CUTE_REGISTER_CLASSES,
} cute_register_class;

/* "R", "UR", "P", "UP". */
extern const char *const cute_register_class_name[CUTE_REGISTER_CLASSES];

/* All registers numbered consecutively by class; RZ, URZ, PT and UPT are the last of each class. Before Blackwell there are 63 uniform
 * registers; from sm_100, URZ is encoded as 255. */
enum { CUTE_REGISTERS_WIDE = 256, CUTE_REGISTERS_PREDICATE = 8 };
enum {
    CUTE_FIRST_R = 0,
    CUTE_FIRST_UR = CUTE_FIRST_R + CUTE_REGISTERS_WIDE,
    CUTE_FIRST_P = CUTE_FIRST_UR + CUTE_REGISTERS_WIDE,
    CUTE_FIRST_UP = CUTE_FIRST_P + CUTE_REGISTERS_PREDICATE,
    CUTE_REGISTERS = CUTE_FIRST_UP + CUTE_REGISTERS_PREDICATE,
};
/* By class: the number of the first register, and the count without the constant one. */
extern const unsigned cute_register_first[CUTE_REGISTER_CLASSES], cute_register_count[CUTE_REGISTER_CLASSES];

typedef enum cute_code_class {
#define CLASS(id, name, latency, text) CUTE_CODE_##id,
#include "lib/code/sass/classes.def"
    CUTE_CODE_CLASSES,
} cute_code_class;

typedef struct cute_code_class_info {
    const char *name; /* "tensor" */
    int latency;      /* cycles until the result is available: an estimate */
    const char *text; /* description */
} cute_code_class_info;
extern const cute_code_class_info cute_code_class_table[CUTE_CODE_CLASSES];

typedef enum cute_code_space {
    CUTE_CODE_SPACE_NONE,
    CUTE_CODE_SPACE_GLOBAL,
    CUTE_CODE_SPACE_SHARED,
    CUTE_CODE_SPACE_LOCAL,
    CUTE_CODE_SPACE_CONST,
    CUTE_CODE_SPACE_GENERIC,
    CUTE_CODE_SPACE_TENSOR, /* Blackwell's tensor memory */
    CUTE_CODE_SPACE_TEXTURE,
    CUTE_CODE_SPACES,
} cute_code_space;
extern const char *const cute_code_space_name[CUTE_CODE_SPACES];

/* The memory access of an opcode. */
typedef enum cute_code_access {
    CUTE_ACCESS_NONE,
    CUTE_ACCESS_LOAD,
    CUTE_ACCESS_STORE,
    CUTE_ACCESS_ATOMIC, /* reads and writes, with or without a result */
    CUTE_ACCESS_COPY,   /* between state spaces, without registers */
} cute_code_access;
extern const char *const cute_code_access_name[];

/* Control flow after an instruction. */
typedef enum cute_code_flow {
    CUTE_FLOW_NEXT,
    CUTE_FLOW_BRANCH,     /* to its label; falls through if conditional */
    CUTE_FLOW_INDEX,      /* to one of its labels, or to an unknown target */
    CUTE_FLOW_CALL,       /* to its label, then to the next instruction */
    CUTE_FLOW_RETURN,     /* to the instruction after the call */
    CUTE_FLOW_EXIT,       /* the thread ends */
    CUTE_FLOW_COLLECTIVE, /* to its label, and back to the next instruction */
} cute_code_flow;

/* A row of opcodes.def. */
typedef struct cute_opcode {
    const char *name, *pipe;
    cute_code_class class;
    cute_code_space space;
    cute_code_access access;
    cute_code_flow flow;
    const char *roles; /* see opcodes.def */
} cute_opcode;

/* `count` consecutive registers from `first`. */
typedef struct cute_code_use {
    uint8_t class; /* a cute_register_class */
    bool written;
    uint8_t first, count;
} cute_code_use;

typedef struct cute_code_place {
    const char *file;
    int64_t line;
    const struct cute_code_place *caller; /* the call site if inlined; NULL: not inlined */
} cute_code_place;

typedef struct cute_code_instruction {
    uint64_t address; /* in its function */
    uint64_t encoding[2];
    const char *text;             /* "@!P0 IADD3 R1, R1, -0x100, RZ ;" */
    const char *name;             /* points into `text`: "IADD3", name_length bytes, then modifiers */
    const cute_opcode *opcode;    /* never NULL */
    const cute_code_place *place; /* NULL: unknown */
    const cute_code_use *uses;
    const int64_t *targets; /* instruction indices; -1: outside of this function */
    uint8_t name_length, use_count, class, space;
    uint16_t target_count;
    bool guarded;   /* with a predicate that may be false */
    bool uniform;   /* on the uniform datapath: "U" before an opcode of the table */
    bool encoded;   /* `encoding` is set */
    uint16_t width; /* bytes per lane; 0: no memory access, or unknown */
    uint32_t block;
    uint16_t live[CUTE_REGISTER_CLASSES]; /* registers that are read later or written here */
} cute_code_instruction;

typedef struct cute_code_label {
    const char *name;   /* ".L_x_3", or a function within this one */
    size_t instruction; /* index of the instruction after it */
} cute_code_label;

enum { CUTE_NO_BLOCK = CUTE_NO_NODE, CUTE_NO_LOOP = CUTE_NO_NODE };

typedef enum cute_code_edge_kind {
    CUTE_EDGE_NEXT,
    CUTE_EDGE_BRANCH,
    CUTE_EDGE_CALL,
    CUTE_EDGE_RETURN,
} cute_code_edge_kind;

typedef struct cute_code_edge {
    uint32_t to;
    cute_code_edge_kind kind;
} cute_code_edge;

typedef struct cute_code_block {
    size_t first, count; /* instructions */
    const cute_code_edge *edges;
    uint32_t edge_count;
    uint32_t dominator; /* CUTE_NO_BLOCK: an entry, or unreachable */
    uint32_t loop;      /* the innermost one, or CUTE_NO_LOOP */
    bool reached;       /* reachable from the function's entry, including calls */
    bool leaves;        /* it has an unknown target, or the thread may exit */
} cute_code_block;

/* A natural loop. Outer loops precede inner ones. */
typedef struct cute_code_loop {
    uint32_t header, parent; /* parent CUTE_NO_LOOP: outermost */
    uint32_t depth;          /* 1: outermost */
    uint32_t block_count;    /* including inner loops */
    size_t instructions;
    bool innermost;
} cute_code_loop;

typedef struct cute_code_function {
    const char *name;
    cute_code_instruction *instructions;
    cute_code_label *labels;
    cute_code_block *blocks;
    cute_code_loop *loops;
    size_t count, label_count, block_count, loop_count;
    size_t capacity, label_capacity;
    size_t irreducible; /* retreating edges to a block that does not dominate their source */
    uint16_t peak[CUTE_REGISTER_CLASSES];
    size_t peak_at[CUTE_REGISTER_CLASSES]; /* index of the first instruction with the peak */
} cute_code_function;

typedef struct cute_code {
    cute_code_function *functions;
    size_t count, capacity;
} cute_code;

/* Disassembles a cubin and finds blocks, loops and live registers. CUTE_SYSTEM: nvdisasm not found; CUTE_INVALID: nvdisasm rejects the
 * cubin, with its message. `encodings` doubles the time. */
cute_status cute_code_read(cute_arena *arena, const char *label, const void *cubin, size_t length,
                           const char *cuda_path, bool encodings, cute_code *out, cute_diag *diag);
/* The same for the output of `nvdisasm -gi -c [-hex]`; unknown lines are skipped. */
cute_status cute_code_parse(cute_arena *arena, const char *text, size_t length, cute_code *out,
                            cute_diag *diag);

/* The steps of cute_code_parse, in order. */
/* Sets the fields that follow from `text`. False when memory is exhausted. */
bool cute_code_decode(cute_arena *arena, cute_code_instruction *instruction);
/* "`(.L_x_3)" -> ".L_x_3": iterates over the labels of an instruction; false: no more. */
bool cute_code_next_label(const char **at, const char **label, size_t *length);
bool cute_code_flow_find(cute_arena *arena, cute_code_function *function);
/* The last part of it, for given blocks: dominators, loops, reachability. */
bool cute_code_find_loops(cute_arena *arena, cute_code_function *function);
bool cute_code_liveness(cute_arena *arena, cute_code_function *function);

/* The source line of an instruction; for inlined code, the innermost line in the kernel's own file instead of a header (as em_loc_of
 * for PTX). NULL: unknown. */
const cute_code_place *cute_code_user_place(const cute_code_instruction *instruction);
/* `block` is in `loop`. */
bool cute_code_in_loop(const cute_code_function *function, uint32_t block, uint32_t loop);
/* The function of that name, or NULL. */
const cute_code_function *cute_code_find(const cute_code *code, const char *name);

#endif
