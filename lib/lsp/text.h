/* Places in a text: the protocol counts lines from 0 and columns in UTF-16, everything else here bytes. */
#ifndef CUTE_LIB_LSP_TEXT_H
#define CUTE_LIB_LSP_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The line without its end; NULL: there is no such line. */
const char *lsp_line_of(const char *text, size_t text_length, size_t line, size_t *length);
/* The columns of UTF-16 that the first `bytes` of a line have, and the way back: no more than `length`. */
size_t lsp_units_of(const char *line, size_t bytes);
size_t lsp_bytes_of(const char *line, size_t length, size_t units);

json_t *lsp_position(size_t line, size_t character);
/* Bytes `from` to `to` of a line. */
json_t *lsp_range_of(const char *text, size_t text_length, size_t line, size_t from, size_t to);
/* Offsets `from` to `to` of a text. */
json_t *lsp_range_between(const char *text, size_t text_length, size_t from, size_t to);

/* The offset of a position; one beyond the line is its end, one beyond the text the text's. False: it is none. */
bool lsp_offset_of(const char *text, size_t text_length, const json_t *position, size_t *offset);
/* A text with one of didChange's changes: all of it, or a range. NULL: the change makes no sense, or memory ran out.
 * To be freed. */
char *lsp_text_changed(const char *text, size_t length, const json_t *change, size_t *new_length);

#endif
