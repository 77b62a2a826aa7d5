/* Shared by the files of the parser: tokens and errors (parse.c), declarations (declare.c), decoding
 * (decode.c). Discarded once the program is made. */
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
    EM_SYM_TARGETS, /* label or prototype list of brx.idx and call */
} em_symbol_kind;

typedef struct em_symbol {
    struct em_symbol *next;
    const char *name;
    uint32_t length;
    em_symbol_kind kind;
    ptx_type type;
    bool placed; /* the register has an offset */
    uint32_t at, count;
    em_variable *variable;
    em_function *function;
    struct em_operand *targets; /* labels, resolved at the end of the function */
} em_symbol;

typedef struct em_scope {
    struct em_scope *up;
    em_symbol **buckets;
    uint32_t bucket_count, count;
    int depth;
} em_scope;

/* A label used before its definition. */
typedef struct em_fixup {
    struct em_fixup *next;
    em_scope *scope;
    const char *name;
    uint32_t length;
    em_operand *operand;
} em_fixup;

typedef struct em_parser {
    bool in_call; /* an instruction with parenthesised lists */
    bool reading; /* for reports: em_program_read */
    bool later;   /* PTX above the emulator's architecture, or reading: instructions may be left unread */
    bool aside;   /* errors go to `problem` instead of diag: the instruction may be left unread */
    char problem[160];
    cute_arena *arena;
    em_program *program;
    em_lexer lexer;
    cute_diag *diag;
    em_scope *module, *scope;
    em_function *function; /* the function whose body is parsed; NULL: none */
    em_fixup *fixups;
    uint32_t loc;
    uint64_t used_bytes; /* of .pragma "used_bytes_mask", for the next ld; 0: none */
    const char **files;  /* by number of .file */
    size_t file_count;
    uint32_t register_bytes; /* used so far by the function */
    int64_t stack_bytes;
    uint32_t pool_index[4096]; /* recent constants by hash: offset + 1 */
} em_parser;

/* A parsed instruction, not yet decoded. */
typedef struct em_raw {
    em_opcode opcode; /* EM_OPCODES: unknown */
    uint32_t name_length;
    struct {
        const char *text;
        uint32_t length;
    } words[32]; /* modifiers and types */
    int word_count;
    uint8_t modifiers[32]; /* em_modifier, in written order */
    int modifier_count;
    int16_t m, n, k; /* the shape; 0: absent */
    em_operand *o;
    int count;
    bool second; /* has a second result: d|p */
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
/* An integer constant expression. */
cute_status em_constant(em_parser *p, int64_t *out);
/* A term of one, as after + and - in addresses. expression.c */
cute_status em_constant_term(em_parser *p, int64_t *out);
/* An integer or floating-point one; sets *out or *real. */
cute_status em_constant_number(em_parser *p, int64_t *out, double *real, bool *is_real);
/* Whether the expression continues. */
bool em_at_operator(const em_parser *p);
/* Offset of the current token. */
size_t em_token_at(const em_parser *p);
em_symbol *em_find(const em_scope *scope, const char *name, uint32_t length);
cute_status em_add_symbol(em_parser *p, em_scope *scope, const char *name, uint32_t length,
                          em_symbol_kind kind, em_symbol **out);
cute_status em_push_scope(em_parser *p);
/* An operand for the register, which gets its offset at its first use. */
cute_status em_register_operand(em_parser *p, em_symbol *symbol, em_operand *out);
/* The register of that name; registers of ranges are created at their first use. NULL: none. */
cute_status em_register_named(em_parser *p, const em_token *name, em_symbol **out);
/* Parses and decodes an instruction; an error ends the parse. */
cute_status em_parse_instruction(em_parser *p);
/* A body after its opening brace. */
cute_status em_parse_block(em_parser *p);

/* ---- declare.c ---- */
/* .reg; a variable of a space; .func and .entry. Earlier tokens of the declaration have been consumed. */
cute_status em_declare_registers(em_parser *p);
cute_status em_declare_variable(em_parser *p, em_space space, bool external);
cute_status em_declare_function(em_parser *p, bool entry, bool external);
bool em_space_of(const em_token *token, em_space *out);
cute_status em_skip_braces(em_parser *p);
/* Assigns the variable its offset. */
cute_status em_place_variable(em_parser *p, em_variable *v);

/* ---- lines.c ---- */
/* After the keywords .file and .loc. */
cute_status em_parse_file(em_parser *p);
cute_status em_parse_loc(em_parser *p);
/* At the end of the text: finds the source line of each .loc. */
cute_status em_find_lines(em_parser *p);

/* ---- unread.c ---- */
/* Like em_parse_instruction, but keeps unsupported instructions as unread. */
cute_status em_read_instruction(em_parser *p);

/* ---- decode.c ---- */
em_opcode em_find_opcode(const char *name, uint32_t length);
cute_status em_decode(em_parser *p, const em_raw *raw);
cute_status em_emit(em_parser *p, em_inst **out);
/* Sets the basic blocks of a function and the points of reconvergence of its branches. cfg.c */
cute_status em_find_flow(em_program *program, em_function *function, cute_diag *diag);
/* Instructions that access accumulators of wgmma wait for it. accumulators.c */
cute_status em_order_accumulators(em_program *program, const em_function *f, cute_diag *diag);

/* ---- slots.c: registers as parameters, arguments and results ---- */
cute_status em_slot(em_parser *p, ptx_type type, const char *name, em_variable **out);
/* Moves between a slot and a register; the value stored may be an immediate. `at` is the instruction that
 * needs the move. */
cute_status em_slot_store(em_parser *p, const em_raw *at, em_variable *slot, const em_operand *value);
cute_status em_slot_load(em_parser *p, const em_raw *at, em_variable *slot, const em_operand *value);
/* At the beginning of f's body, and before each return. */
cute_status em_take_parameters(em_parser *p, const em_function *f, const em_raw *at);
cute_status em_give_results(em_parser *p, const em_function *f, const em_raw *at);
/* After a decoded call. call.c */
cute_status em_take_results(em_parser *p, const em_raw *at);

#endif
