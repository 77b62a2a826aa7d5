/* Rendering of diagnostics and of error reports, and printable text. */
#ifndef CUTE_LIB_BASE_DIAGNOSTICS_DIAG_H
#define CUTE_LIB_BASE_DIAGNOSTICS_DIAG_H

#include "lib/base/buffer.h"

/* As cute_diag_render, appended to `out`; a text message without a place begins with "TOOL: " when `tool` is
 * not NULL. */
void cute_diag_render_for(const char *tool, const cute_diag *diag, cute_diag_format format, bool colour,
                          cute_buffer *out);

/* Whether the format is for programs: written once, at the end, without colours. */
static inline bool cute_diag_is_data(cute_diag_format format)
{
    return format == CUTE_DIAG_JSON || format == CUTE_DIAG_SARIF;
}

/* The messages as a SARIF 2.1.0 log of one run of `tool` (NULL: libcute). */
void cute_diag_sarif(const char *tool, const cute_diag *diag, cute_buffer *out);

/* "error", "warning", "remark" or "note". */
const char *cute_severity_name(cute_severity severity);

/* Adds a message of another diag. */
void cute_diag_append(cute_diag *diag, const cute_message *message);

/* The value set by cute_diag_know; NULL: none. */
const char *cute_diag_fact(const cute_diag *diag, cute_fact fact);

/* The source lines that cute_diag_show stored for message `index`; NULL: none. */
const char *cute_diag_shown(const cute_diag *diag, size_t index, int *first);
/* The lines of `source` around the place, malloc'ed; NULL: no such line, or its text differs. */
char *cute_lines_around(const char *source, size_t length, const cute_place *place, int *first);

/* The report of an error and its notes up to message `end`. */
void cute_explanation_text(const cute_diag *diag, const cute_explanation *e, size_t index, size_t end,
                           bool colour, cute_buffer *out);
/* The members ",\"cause\":..." of the JSON object of message `index`. */
void cute_explanation_json(const cute_diag *diag, const cute_explanation *e, size_t index, cute_buffer *out);

/* A row of the table of causes, as text or as a JSON object. */
void cute_cause_text(const cute_cause *cause, cute_buffer *out);
void cute_cause_json(const cute_cause *cause, cute_buffer *out);

/* Appends the glyphs of a line that are entirely within columns [left, right), tabs as spaces. Returns the
 * number of columns printed. */
long cute_line_window(const char *text, size_t length, long left, long right, cute_buffer *out);

/* Whether memory ran out while a message was added. */
bool cute_diag_lost(const cute_diag *diag);

/* Appends `length` bytes in printable form: control characters except newline and tab become <U+001B>, bytes
 * that are not UTF-8 become <E2>. */
void cute_text_printable(const char *text, size_t length, cute_buffer *out);

/* The same, but keeps terminal colour sequences. */
void cute_text_coloured(const char *text, size_t length, cute_buffer *out);
/* Whether a line of text is printable unchanged. */
bool cute_text_is_printable(const char *text);
/* As cute_text_printable, escaped for XML and HTML text and attributes. */
void cute_text_xml(const char *text, size_t length, cute_buffer *out);

/* Appends a JSON string, quotes included; bytes that are not UTF-8 become U+FFFD. */
void cute_text_json(const char *text, size_t length, cute_buffer *out);

/* One character: its length in bytes, its width in terminal columns, and whether it is printable. `length` is
 * at least 1. */
typedef struct cute_glyph {
    uint32_t code;
    int bytes, columns;
    bool valid, printable;
} cute_glyph;
cute_glyph cute_glyph_at(const char *text, size_t length);

#endif
