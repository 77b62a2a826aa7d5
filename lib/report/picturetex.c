/* Pictures as a LaTeX document of its own: the class standalone and TikZ, rows downwards, a centimetre a cell
 * or as wide as its text. */
#include "lib/report/picture.h"

#include <string.h>

/* In centimetres: a dimension of TeX ends at 575 cm, so what is larger is drawn smaller. */
enum { DARK = 120, LONGEST = 550 };

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
    if (!cell->first) {
        cute_buffer_printf(out, "\\node[cell] at (%zu,%zu) {};\n", row, column);
        return;
    }
    cute_picture_rgb(p->palette, cell->colour, rgb);
    bool dark = rgb[0] < DARK && rgb[1] < DARK && rgb[2] < DARK;
    cute_buffer_puts(out, "\\node[cell");
    if (cell->colour >= 0)
        cute_buffer_printf(out, ",fill={rgb,255:red,%d;green,%d;blue,%d}", rgb[0], rgb[1], rgb[2]);
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
    double across = (double)(p->columns + 2) * (double)width / 100,
           down = (double)((p->rows + 3) * p->sheets);
    double longest = across > down ? across : down, scale = longest > LONGEST ? LONGEST / longest : 1;
    cute_buffer_printf(out,
                       "%% %s\n"
                       "\\documentclass{standalone}\n"
                       "\\usepackage{tikz}\n"
                       "\\begin{document}\n"
                       "\\begin{tikzpicture}[x={(0cm,-%.4gcm)},y={(%.4gcm,0cm)},\n",
                       p->title, scale, scale * (double)width / 100);
    if (scale < 1)
        cute_buffer_printf(out, "    every node/.style={inner sep=0pt,outer sep=0pt,scale=%.4f},\n", scale);
    else
        cute_buffer_puts(out, "    every node/.style={inner sep=0pt,outer sep=0pt},\n");
    cute_buffer_printf(out, "    cell/.style={draw,minimum width=%.4gcm,minimum height=1cm}]\n",
                       (double)width / 100);
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
        for (size_t row = 0; row < p->rows; row++)
            cute_buffer_printf(out, "\\node at (%zu,-1) {\\Large\\texttt{%zu}};\n", row, row);
        for (size_t column = 0; column < p->columns; column++)
            cute_buffer_printf(out, "\\node at (-1,%zu) {\\Large\\texttt{%zu}};\n", column, column);
        cute_buffer_puts(out, "\\end{scope}\n");
    }
    cute_buffer_puts(out, "\\end{tikzpicture}\n\\end{document}\n");
}
