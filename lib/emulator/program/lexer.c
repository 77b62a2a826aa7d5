/* The lexer of PTX: names, directives, numbers (0f and 0d bit-exact), strings. Knows no grammar. */
#include "lib/emulator/program/lexer.h"
#include "lib/base/text/chars.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

static bool is_name_char(char c)
{
    return cute_is_name(c) || c == '$';
}

static char peek_char(const em_lexer *x, size_t ahead)
{
    return x->at + ahead < x->length ? x->text[x->at + ahead] : '\0';
}

static void lex_bad_token(em_lexer *x, const char *problem)
{
    x->token.kind = EM_T_BAD;
    x->token.problem = problem;
}

/* Skips blank space and comments; false: an unterminated comment. */
static bool skip_blank_text(em_lexer *x)
{
    for (;;) {
        char c = peek_char(x, 0);
        if (x->at >= x->length) return true;
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v' || c == '\0') {
            x->at++;
        } else if (c == '/' && peek_char(x, 1) == '/') {
            while (x->at < x->length && x->text[x->at] != '\n') x->at++;
        } else if (c == '/' && peek_char(x, 1) == '*') {
            size_t start = x->at;
            x->at += 2;
            while (x->at < x->length && !(peek_char(x, 0) == '*' && peek_char(x, 1) == '/')) x->at++;
            if (x->at >= x->length) {
                x->at = start;
                return false;
            }
            x->at += 2;
        } else if (c == '#' ||
                   (c == '@' && peek_char(x, 1) == '@')) { /* line markers; @@DWARF of old producers */
            while (x->at < x->length && x->text[x->at] != '\n') x->at++;
        } else {
            return true;
        }
    }
}

/* 0f3F800000 and 0d3FF0000000000000. */
static bool lex_exact(em_lexer *x)
{
    char c = peek_char(x, 1);
    bool single = c == 'f' || c == 'F', twice = c == 'd' || c == 'D';
    if (peek_char(x, 0) != '0' || !(single || twice)) return false;
    size_t digits = single ? 8 : 16;
    uint64_t bits = 0;
    for (size_t i = 0; i < digits; i++) {
        int d = cute_hex_digit(peek_char(x, 2 + i));
        if (d < 0) {
            x->at += 2; /* skip the bad token */
            lex_bad_token(x, single ? "expected 8 hexadecimal digits after 0f"
                                    : "expected 16 hexadecimal digits after 0d");
            return true;
        }
        bits = bits << 4 | (uint64_t)d;
    }
    x->at += 2 + digits;
    x->token.kind = EM_T_REAL;
    if (single) {
        uint32_t word = (uint32_t)bits;
        float value;
        memcpy(&value, &word, sizeof value);
        x->token.real = (double)value;
        x->token.integer = word;
        x->token.punctuation = 'f';
    } else {
        memcpy(&x->token.real, &bits, sizeof bits);
        x->token.integer = bits;
        x->token.punctuation = 'd';
    }
    return true;
}

static void lex_number(em_lexer *x)
{
    if (lex_exact(x)) return;
    size_t start = x->at, end = x->at;
    while (end < x->length && cute_is_digit(x->text[end])) end++;
    bool real = false;
    if (end < x->length && x->text[end] == '.' &&
        (end + 1 >= x->length || cute_is_digit(x->text[end + 1]) ||
         !is_name_char(x->text[end + 1]))) { /* including 1. and .5 */
        real = true;
        end++;
        while (end < x->length && cute_is_digit(x->text[end])) end++;
    }
    if (end < x->length && (x->text[end] == 'e' || x->text[end] == 'E')) {
        size_t e = end + 1;
        if (e < x->length && (x->text[e] == '+' || x->text[e] == '-')) e++;
        if (e < x->length && cute_is_digit(x->text[e])) {
            real = true;
            while (e < x->length && cute_is_digit(x->text[e])) e++;
            end = e;
        }
    }
    if (real) {
        char copy[64];
        size_t n = end - start < sizeof copy - 1 ? end - start : sizeof copy - 1;
        memcpy(copy, x->text + start, n);
        copy[n] = '\0';
        x->token.kind = EM_T_REAL;
        x->token.real = strtod(copy, NULL);
        x->token.punctuation = 'n';
        x->at = end;
        return;
    }
    int base = 10;
    char second = peek_char(x, 1);
    if (peek_char(x, 0) == '0' && (second == 'x' || second == 'X'))
        base = 16;
    else if (peek_char(x, 0) == '0' && (second == 'b' || second == 'B'))
        base = 2;
    else if (peek_char(x, 0) == '0')
        base = 8;
    x->at += base == 16 || base == 2 ? 2 : 0;
    uint64_t value = 0;
    size_t digits = 0;
    for (int d; (d = cute_hex_digit(peek_char(x, 0))) >= 0 && d < base; x->at++, digits++) {
        if (value > (UINT64_MAX - (uint64_t)d) / (uint64_t)base) {
            lex_bad_token(x, "the number exceeds 64 bits");
            return;
        }
        value = value * (uint64_t)base + (uint64_t)d;
    }
    bool is_unsigned = peek_char(x, 0) == 'U' || peek_char(x, 0) == 'u';
    x->at += is_unsigned;
    if (digits == 0 || is_name_char(peek_char(x, 0))) {
        lex_bad_token(x, "malformed number");
        return;
    }
    x->token.kind = EM_T_INTEGER;
    x->token.punctuation = is_unsigned ? 'u' : '\0';
    x->token.integer = value;
}

/* .5 and .5e3; .2d is a directive. */
static bool is_fraction(const em_lexer *x)
{
    size_t n = 1;
    while (cute_is_digit(peek_char(x, n))) n++;
    bool exponent = peek_char(x, n) == 'e' || peek_char(x, n) == 'E';
    return n > 1 && (exponent || !is_name_char(peek_char(x, n)));
}

static void lex_string(em_lexer *x)
{
    x->at++;
    while (x->at < x->length && x->text[x->at] != '"' && x->text[x->at] != '\n')
        x->at += x->text[x->at] == '\\' && x->at + 1 < x->length ? 2 : 1;
    if (x->at >= x->length || x->text[x->at] != '"') {
        lex_bad_token(x, "unterminated string");
        return;
    }
    x->at++;
    x->token.kind = EM_T_STRING;
}

void em_lex_next(em_lexer *x)
{
    bool whole = skip_blank_text(x);
    size_t start = x->at;
    x->token = (em_token){.kind = EM_T_END, .text = x->text + start};
    char c = peek_char(x, 0);
    if (!whole) {
        lex_bad_token(x, "unterminated comment");
        x->at = x->length;
    } else if (x->at >= x->length) {
        return;
    } else if (is_name_start(c)) {
        x->at++;
        while (x->at < x->length && is_name_char(x->text[x->at])) x->at++;
        x->token.kind = EM_T_NAME;
    } else if (c == '.' && is_fraction(x)) {
        lex_number(x);
    } else if (c == '.' && is_name_char(peek_char(x, 1))) {
        x->token.text++;
        start = ++x->at;
        while (x->at < x->length &&
               (is_name_char(x->text[x->at]) ||
                (x->text[x->at] == ':' && peek_char(x, 1) == ':' && is_name_char(peek_char(x, 2)))))
            x->at += x->text[x->at] == ':' ? 2 : 1;
        x->token.kind = EM_T_DIRECTIVE;
    } else if (cute_is_digit(c)) {
        lex_number(x);
    } else if (c == '"') {
        lex_string(x);
    } else if ((c == '<' || c == '>') && peek_char(x, 1) == c) {
        x->token.kind = EM_T_PUNCTUATION;
        x->token.punctuation = c == '<' ? 'l' : 'r';
        x->at += 2;
    } else if (c > ' ' && c < 127) {
        x->token.kind = EM_T_PUNCTUATION;
        x->token.punctuation = c;
        x->at++;
    } else {
        x->at++;
        lex_bad_token(x, "unexpected character");
    }
    x->token.length = (uint32_t)(x->at - start);
}
