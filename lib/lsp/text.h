/* Positions in a text: the protocol counts lines from 0 and columns in UTF-16 units; the rest of this room
 * uses bytes. */
#ifndef CUTE_LIB_LSP_TEXT_H
#define CUTE_LIB_LSP_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The line without its terminator; NULL: no such line. */
const char *lsp_line_of(const char *text, size_t text_length, size_t line, size_t *length);
/* Converts a byte offset in a line to UTF-16 units, and back (at most `length`). */
size_t lsp_units_of(const char *line, size_t bytes);
size_t lsp_bytes_of(const char *line, size_t length, size_t units);

json_t *lsp_position(size_t line, size_t character);
/* The range of bytes `from` to `to` of a line. */
json_t *lsp_range_of(const char *text, size_t text_length, size_t line, size_t from, size_t to);
/* The range of offsets `from` to `to` of a text. */
json_t *lsp_range_between(const char *text, size_t text_length, size_t from, size_t to);

/* The offset of a position, clamped to the end of the line and of the text. False: not a position. */
bool lsp_offset_of(const char *text, size_t text_length, const json_t *position, size_t *offset);
/* Applies a change of didChange: the whole text, or a range. NULL: invalid, or out of memory. The caller
 * frees the result. */
char *lsp_text_changed(const char *text, size_t length, const json_t *change, size_t *new_length);

#endif
