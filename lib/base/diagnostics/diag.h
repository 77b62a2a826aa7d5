/* Rendering of diagnostics with a tool's name before those that have no place, and of the reports of errors. */
#ifndef CUTE_LIB_BASE_DIAGNOSTICS_DIAG_H
#define CUTE_LIB_BASE_DIAGNOSTICS_DIAG_H

#include "lib/base/buffer.h"

/* As cute_diag_render, appended to `out`; a text message without a place begins with "TOOL: " when `tool` is
 * not NULL. */
void cute_diag_render_for(const char *tool, const cute_diag *diag, cute_diag_format format, bool colour,
                          cute_buffer *out);

/* What cute_diag_know has been told; NULL: nothing. */
const char *cute_diag_fact(const cute_diag *diag, cute_fact fact);

/* What cute_diag_show has kept of message `index`; NULL: nothing. */
const char *cute_diag_shown(const cute_diag *diag, size_t index, int *first);
/* The lines of `source` around the place, malloc'ed; NULL: it has no such line, or another text there. */
char *cute_lines_around(const char *source, size_t length, const cute_place *place, int *first);

/* The report of an error, and of its notes up to message `end`, behind its messages. */
void cute_explanation_text(const cute_diag *diag, const cute_explanation *e, size_t index, size_t end,
                           bool colour, cute_buffer *out);
/* The members ",\"cause\":..." of the JSON object of message `index`. */
void cute_explanation_json(const cute_diag *diag, const cute_explanation *e, size_t index, cute_buffer *out);

/* A row of the table of causes, as text or as a JSON object. */
void cute_cause_text(const cute_cause *cause, cute_buffer *out);
void cute_cause_json(const cute_cause *cause, cute_buffer *out);

/* The glyphs of a line that lie wholly within the columns [left, right), tabs as spaces. Returns the columns printed. */
long cute_line_window(const char *text, size_t length, long left, long right, cute_buffer *out);

/* Whether memory ran out while a message was added. */
bool cute_diag_lost(const cute_diag *diag);

/* Appends `length` bytes as a person may see them: control characters but newline and tab become
 * <U+001B>, bytes that are not UTF-8 become <E2>. */
void cute_text_printable(const char *text, size_t length, cute_buffer *out);

/* The same but for the sequences of colours that a program adds for a terminal. */
void cute_text_coloured(const char *text, size_t length, cute_buffer *out);
/* Whether a line of text may be shown as it is. */
bool cute_text_is_printable(const char *text);
/* The same as an element's text or an attribute of XML and HTML, which cannot have control characters at all. */
void cute_text_xml(const char *text, size_t length, cute_buffer *out);

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
