/* Pictures as a LaTeX document of its own: the class standalone and TikZ, rows downwards, a centimetre a cell
 * or as wide as its text. */
#include "lib/report/picture.h"

#include <string.h>

enum { DARK = 120 };

/* The one character of a layout's text that TeX reads otherwise is `_`; `<` and `>` need its typewriter font.
 */
static void escape(const char *text, cute_buffer *out)
{
    for (; *text; text++) {
        if (*text == '_') cute_buffer_putc(out, '\\');
        cute_buffer_putc(out, *text);
    }
}

/* Hundredths of a centimetre. */
static size_t cell_width(const cute_picture *p)
{
    size_t width = 19 * cute_picture_cell_width(p, false) + 30;
    return width > 100 ? width : 100;
}

static void draw_cell(const cute_picture *p, const cute_cell *cell, size_t row, size_t column,
                      cute_buffer *out)
{
    int rgb[3];
    if (!cell->first) return;
    cute_picture_rgb(p->palette, cell->colour, rgb);
    bool dark = rgb[0] < DARK && rgb[1] < DARK && rgb[2] < DARK;
    cute_buffer_puts(out, "\\node[");
    if (cell->colour >= 0)
        cute_buffer_printf(out, "fill={rgb,255:red,%d;green,%d;blue,%d}", rgb[0], rgb[1], rgb[2]);
    cute_buffer_printf(out, "%s] at (%zu,%zu) {", dark ? ",text=white" : "", row, column);
    if (cell->second)
        cute_buffer_printf(out, "\\shortstack{%s \\\\ %s}", cell->first, cell->second);
    else
        cute_buffer_puts(out, cell->first);
    cute_buffer_puts(out, "};\n");
}

void cute_picture_tex(const cute_picture *p, cute_buffer *out)
{
    size_t width = cell_width(p);
    cute_buffer_printf(
        out,
        "%% %s\n"
        "\\documentclass{standalone}\n"
        "\\usepackage[T1]{fontenc}\n"
        "\\usepackage{tikz}\n"
        "\\begin{document}\n"
        "\\begin{tikzpicture}[x={(0cm,-1cm)},y={(%zu.%02zucm,0cm)},\n"
        "    every node/.style={minimum width=%zu.%02zucm,minimum height=1cm,inner sep=0pt,outer sep=0pt}]\n",
        p->title, width / 100, width % 100, width / 100, width % 100);
    const cute_cell *cell = p->cells;
    for (size_t sheet = 0; sheet < p->sheets; sheet++) {
        size_t shift = sheet * (p->rows + 3);
        cute_buffer_printf(out, "\\begin{scope}[shift={(%zu,0)}]\n", shift);
        if (p->sheet_titles) {
            cute_buffer_puts(out, "\\node[anchor=west] at (-2,-1) {\\texttt{");
            escape(p->sheet_titles[sheet], out);
            cute_buffer_puts(out, "}};\n");
        }
        for (size_t row = 0; row < p->rows; row++)
            for (size_t column = 0; column < p->columns; column++) draw_cell(p, cell++, row, column, out);
        cute_buffer_printf(out, "\\draw[thick,shift={(-0.5,-0.5)}] (0,0) grid (%zu,%zu);\n", p->rows,
                           p->columns);
        for (size_t row = 0; row < p->rows; row++)
            cute_buffer_printf(out, "\\node at (%zu,-1) {\\Large\\texttt{%zu}};\n", row, row);
        for (size_t column = 0; column < p->columns; column++)
            cute_buffer_printf(out, "\\node at (-1,%zu) {\\Large\\texttt{%zu}};\n", column, column);
        cute_buffer_puts(out, "\\end{scope}\n");
    }
    cute_buffer_puts(out, "\\end{tikzpicture}\n\\end{document}\n");
}
