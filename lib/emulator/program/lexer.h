/* PTX text to tokens, which point into the text. Skips comments. */
#ifndef CUTE_LIB_EMULATOR_PROGRAM_LEXER_H
#define CUTE_LIB_EMULATOR_PROGRAM_LEXER_H

#include "cute/base.h"

typedef enum em_token_kind {
    EM_T_END,
    EM_T_NAME,      /* identifier, %register, $label */
    EM_T_DIRECTIVE, /* .word::word; `text` omits the dot */
    EM_T_INTEGER,
    EM_T_REAL, /* 0f, 0d: bit-exact; others: as a double */
    EM_T_STRING,
    EM_T_PUNCTUATION, /* one character, << or >> */
    EM_T_BAD
} em_token_kind;

typedef struct em_token {
    em_token_kind kind;
    const char *text;
    uint32_t length;
    char punctuation; /* EM_T_PUNCTUATION: the character, 'l' <<, 'r' >>; EM_T_INTEGER: 'u' with suffix U */
    uint64_t integer;
    double real;
    const char *problem; /* of EM_T_BAD */
} em_token;

typedef struct em_lexer {
    const char *text;
    size_t length, at;
    em_token token; /* the current one */
} em_lexer;

void em_lex_next(em_lexer *lexer);

#endif
