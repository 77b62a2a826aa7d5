/* The terminal's report as an SVG picture, for pages and slides. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/report/explain/explain.h"

enum { SIZE = 13, LINE = 18, MARGIN = 16 };
#define ADVANCE 7.83 /* of a character, in a monospaced font of SIZE pixels */

/* Appends the text of a line, whose colour sequences (ESC [ CODE m) become classes: "c1", "c31", ... */
static void put_line(const char *line, size_t length, cute_buffer *out)
{
    bool open = false;
    for (size_t at = 0; at < length;) {
        const char *escape = memchr(line + at, 033, length - at);
        size_t plain = escape ? (size_t)(escape - line) - at : length - at;
        cute_text_xml(line + at, plain, out);
        at += plain;
        if (!escape) break;
        char *end;
        long code = strtol(escape + 2, &end, 10);
        if (open) cute_buffer_puts(out, "</tspan>");
        open = code != 0;
        if (open) cute_buffer_printf(out, "<tspan class=\"c%ld\">", code);
        at = (size_t)(end + 1 - line);
    }
    if (open) cute_buffer_puts(out, "</tspan>");
}

/* Columns of a line without colour sequences. */
static size_t count_columns(const char *line, size_t length)
{
    size_t columns = 0;
    for (size_t i = 0; i < length;) {
        if (line[i] == 033) {
            i += strcspn(line + i, "m") + 1;
            continue;
        }
        cute_glyph glyph = cute_glyph_at(line + i, length - i);
        columns += (size_t)glyph.columns;
        i += (size_t)glyph.bytes;
    }
    return columns;
}

void explain_svg(const explain_report *r, bool all, cute_buffer *out)
{
    cute_buffer text = {0};
    size_t lines = 0, columns = 0;
    explain_print(r, all, true, &text);
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] == '\t') text.data[i] = ' ';
    const char *report = cute_buffer_text(&text);
    for (const char *at = report; *at; lines++) {
        size_t length = strcspn(at, "\n"), width = count_columns(at, length);
        if (width > columns) columns = width;
        at += length + (at[length] == '\n');
    }
    int width = (int)((double)columns * ADVANCE) + 2 * MARGIN, height = (int)lines * LINE + 2 * MARGIN;
    cute_buffer_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
        "<style>rect{fill:#f6f8fa;stroke:#d0d7de}text{font:%dpx ui-monospace,Menlo,Consolas,monospace;"
        "fill:#1f2328;white-space:pre}.c1{font-weight:bold}.c31{fill:#cf222e}.c33{fill:#9a6700}"
        ".c36{fill:#0969da}@media(prefers-color-scheme:dark){rect{fill:#161b22;stroke:#30363d}"
        "text{fill:#e6edf3}.c31{fill:#ff7b72}.c33{fill:#d29922}.c36{fill:#79c0ff}}</style>\n"
        "<rect x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n",
        width, height, width, height, SIZE, width - 1, height - 1);
    int y = MARGIN + SIZE;
    for (const char *at = report; *at; y += LINE) {
        size_t length = strcspn(at, "\n");
        cute_buffer_printf(out, "<text x=\"%d\" y=\"%d\" xml:space=\"preserve\">", MARGIN, y);
        put_line(at, length, out);
        cute_buffer_puts(out, "</text>\n");
        at += length + (at[length] == '\n');
    }
    cute_buffer_puts(out, "</svg>\n");
    cute_buffer_release(&text);
}
