/* Character classes: ASCII, independent of the locale. */
#ifndef CUTE_LIB_BASE_TEXT_CHARS_H
#define CUTE_LIB_BASE_TEXT_CHARS_H

#include <stdbool.h>
#include <string.h>

static inline bool cute_is_digit(char c)
{
    return c >= '0' && c <= '9';
}
/* A letter or `_`. */
static inline bool cute_is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
/* A letter, `_` or a digit: the characters of names in C and MLIR. */
static inline bool cute_is_name(char c)
{
    return cute_is_name_start(c) || cute_is_digit(c);
}
/* The characters of MLIR's identifiers (after the sigil) and operation names. */
static inline bool cute_is_mlir_name(char c)
{
    return cute_is_name(c) || c == '.' || c == '-' || c == '$';
}
/* The sigils of MLIR's identifiers. */
static inline bool cute_is_sigil(char c)
{
    return c == '%' || c == '@' || c == '#' || c == '!' || c == '^';
}
/* A name character, or one of `more`. */
static inline bool cute_is_word(char c, const char *more)
{
    return cute_is_name(c) || (c && strchr(more, c));
}
/* The value of a hexadecimal digit, or -1. */
static inline int cute_hex_digit(char c)
{
    if (cute_is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}
/* Blanks within a line. */
static inline bool cute_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

#endif
