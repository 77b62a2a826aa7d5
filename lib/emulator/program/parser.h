/* What the files of the parser share: tokens with errors (parse.c), declarations (declare.c), decoding of one
 * instruction (decode.c). Nothing of it is left once the program is made. */
#ifndef CUTE_LIB_EMULATOR_PROGRAM_PARSER_H
#define CUTE_LIB_EMULATOR_PROGRAM_PARSER_H

#include "lib/emulator/program/lexer.h"
#include "lib/emulator/program/program.h"

typedef enum em_symbol_kind {
    EM_SYM_REGISTER, /* at: offset in the register frame */
    EM_SYM_RANGE,    /* %r<10> */
    EM_SYM_VARIABLE,
    EM_SYM_FUNCTION,
    EM_SYM_LABEL,
    EM_SYM_PROTOTYPE,
    EM_SYM_TARGETS, /* of brx.idx and call */
} em_symbol_kind;

typedef struct em_symbol {
    struct em_symbol *next;
    const char *name;
    uint32_t length;
    em_symbol_kind kind;
    ptx_type type;
    bool placed; /* the register has its place */
    uint32_t at, count;
    em_variable *variable;
    em_function *function;
    struct em_operand *targets; /* labels, resolved at the function's end */
} em_symbol;

typedef struct em_scope {
    struct em_scope *up;
    em_symbol **buckets;
    uint32_t bucket_count, count;
    int depth;
} em_scope;

/* A label that is used before it is known. */
typedef struct em_fixup {
    struct em_fixup *next;
    em_scope *scope;
    const char *name;
    uint32_t length;
    em_operand *operand;
} em_fixup;

typedef struct em_parser {
    bool in_call; /* an instruction with lists in parentheses */
    bool reading; /* for reports: em_program_read */
    bool
        later; /* PTX for an architecture above the emulator's, or reading: instructions may be left unread */
    bool aside; /* what is wrong goes to `problem` instead of diag: the instruction can be left unread */
    char problem[160];
    cute_arena *arena;
    em_program *program;
    em_lexer lexer;
    cute_diag *diag;
    em_scope *module, *scope;
    em_function *function; /* whose body this is; NULL outside */
    em_fixup *fixups;
    uint32_t loc;
    uint64_t used_bytes; /* of .pragma "used_bytes_mask", for the next ld; 0 none */
    const char **files;  /* of .file */
    size_t file_count;
    uint32_t register_bytes; /* of the function so far */
    int64_t stack_bytes;
    uint32_t pool_index[4096]; /* recent constants by hash, offset + 1 */
} em_parser;

/* An instruction as it is written. */
typedef struct em_raw {
    em_opcode opcode; /* EM_OPCODES: not known */
    uint32_t name_length;
    struct {
        const char *text;
        uint32_t length;
    } words[32]; /* modifiers and types */
    int word_count;
    uint8_t modifiers[32]; /* em_modifier, in the order of the words */
    int modifier_count;
    int16_t m, n, k; /* the shape, 0 without one */
    em_operand *o;
    int count;
    bool second; /* a second result was written: d|p */
    em_operand guard;
    uint32_t guard_kind;
    size_t at; /* offset in the text */
    uint32_t length;
} em_raw;

/* ---- parse.c ---- */
cute_status em_fail_at(em_parser *p, size_t offset, uint32_t length, const char *format, ...)
    CUTE_PRINTF(4, 5);
cute_status em_fail_token(em_parser *p, const char *wanted);
bool em_is(const em_parser *p, char punctuation);
bool em_is_directive(const em_parser *p, const char *text);
bool em_is_name(const em_parser *p, const char *text);
cute_status em_expect(em_parser *p, char punctuation);
void em_next(em_parser *p);
cute_status em_take_integer(em_parser *p, int64_t *out, const char *what);
/* A constant expression of integers. */
cute_status em_constant(em_parser *p, int64_t *out);
/* One without sums at its top, as behind + and - of addresses. expression.c */
cute_status em_constant_term(em_parser *p, int64_t *out);
/* One of either kind; *out or *real is set. */
cute_status em_constant_number(em_parser *p, int64_t *out, double *real, bool *is_real);
/* Whether an expression goes on. */
bool em_at_operator(const em_parser *p);
/* Where the current token begins. */
size_t em_token_at(const em_parser *p);
em_symbol *em_find(const em_scope *scope, const char *name, uint32_t length);
cute_status em_add_symbol(em_parser *p, em_scope *scope, const char *name, uint32_t length,
                          em_symbol_kind kind, em_symbol **out);
cute_status em_push_scope(em_parser *p);
/* A register's lanes; it gets its place when it is used first. */
cute_status em_register_operand(em_parser *p, em_symbol *symbol, em_operand *out);
/* The register of a name, those of ranges made when they are used first; NULL: there is none. */
cute_status em_register_named(em_parser *p, const em_token *name, em_symbol **out);
/* One statement that is an instruction, which an error stops. */
cute_status em_parse_instruction(em_parser *p);
/* A body between braces, the opening one taken. */
cute_status em_parse_block(em_parser *p);

/* ---- declare.c ---- */
/* .reg; a variable of a space; .func and .entry; what stands before them has been taken. */
cute_status em_declare_registers(em_parser *p);
cute_status em_declare_variable(em_parser *p, em_space space, bool external);
cute_status em_declare_function(em_parser *p, bool entry, bool external);
bool em_space_of(const em_token *token, em_space *out);
cute_status em_skip_braces(em_parser *p);
/* Gives the variable its place. */
cute_status em_place_variable(em_parser *p, em_variable *v);

/* ---- lines.c ---- */
/* What stands behind .file and .loc. */
cute_status em_parse_file(em_parser *p);
cute_status em_parse_loc(em_parser *p);
/* At the end of the text: the user's place of each .loc. */
cute_status em_find_lines(em_parser *p);

/* ---- unread.c ---- */
/* em_parse_instruction, but what the emulator does not have is kept as unread. */
cute_status em_read_instruction(em_parser *p);

/* ---- decode.c ---- */
em_opcode em_find_opcode(const char *name, uint32_t length);
cute_status em_decode(em_parser *p, const em_raw *raw);
cute_status em_emit(em_parser *p, em_inst **out);
/* Sets the basic blocks of a function, and the points of reconvergence of its branches. cfg.c */
cute_status em_find_flow(em_program *program, em_function *function, cute_diag *diag);
/* Instructions that touch accumulators of wgmma wait for it. accumulators.c */
cute_status em_order_accumulators(em_program *program, const em_function *f, cute_diag *diag);

/* ---- slots.c: registers as parameters, arguments and results ---- */
cute_status em_slot(em_parser *p, ptx_type type, const char *name, em_variable **out);
/* Moves between a slot and a register; the value of a store may be a number. `at` is the instruction that wants it. */
cute_status em_slot_store(em_parser *p, const em_raw *at, em_variable *slot, const em_operand *value);
cute_status em_slot_load(em_parser *p, const em_raw *at, em_variable *slot, const em_operand *value);
/* At the beginning of f's body, and in front of each return. */
cute_status em_take_parameters(em_parser *p, const em_function *f, const em_raw *at);
cute_status em_give_results(em_parser *p, const em_function *f, const em_raw *at);
/* Behind a call that was decoded. call.c */
cute_status em_take_results(em_parser *p, const em_raw *at);

#endif
