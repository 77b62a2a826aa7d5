/* Rendering of diagnostics with a tool's name before those that have no place. */
#ifndef CUTE_LIB_DIAG_H
#define CUTE_LIB_DIAG_H

#include "lib/base/buffer.h"

/* As cute_diag_render, appended to `out`; a text message without a place begins with "TOOL: " when `tool` is
 * not NULL. */
void cute_diag_render_for(const char *tool, const cute_diag *diag, cute_diag_format format, bool colour,
                          cute_buffer *out);

/* Whether memory ran out while a message was added. */
bool cute_diag_lost(const cute_diag *diag);

/* Appends `length` bytes as a person may see them: control characters but newline and tab become
 * <U+001B>, bytes that are not UTF-8 become <E2>. */
void cute_text_printable(const char *text, size_t length, cute_buffer *out);

/* Appends a JSON string, quotes included; bytes that are not UTF-8 become U+FFFD. */
void cute_text_json(const char *text, size_t length, cute_buffer *out);

/* One character of a text: how many bytes it has, how many columns it takes on a terminal, and whether it is
 * printable as it is. `length` is at least 1. */
typedef struct cute_glyph {
    uint32_t code;
    int bytes, columns;
    bool valid, printable;
} cute_glyph;
cute_glyph cute_glyph_at(const char *text, size_t length);

#endif
