/* Pictures as a complete LaTeX document: class standalone with TikZ, one row per line, cells of a centimetre
 * or as wide as their text. A cell is one rectangle and one text, not a TikZ node, which needs twice the
 * memory of TeX. */
#include "lib/calculator/picture.h"

#include <string.h>

/* In centimetres: TeX's dimensions are limited to 575 cm, so larger pictures are scaled down. */
enum { DARK = 120, LONGEST = 550, COLOURS = 32 };

/* Centimetres. */
static double cell_width(const cute_picture *p)
{
    double width = 0.19 * (double)cute_picture_cell_width(p, false) + 0.3;
    return width > 1 ? width : 1;
}

static void define_colours(const cute_picture *p, cute_buffer *out)
{
    bool used[COLOURS] = {false};
    size_t count = p->rows * p->columns * p->sheets;
    for (size_t i = 0; i < count; i++)
        if (p->cells[i].first && p->cells[i].colour >= 0) used[p->cells[i].colour % COLOURS] = true;
    for (int i = 0; i < COLOURS; i++) {
        int rgb[3];
        if (!used[i]) continue;
        cute_picture_rgb(p->palette, i, rgb);
        cute_buffer_printf(out, "\\definecolor{c%d}{RGB}{%d,%d,%d}\n", i, rgb[0], rgb[1], rgb[2]);
    }
}

static void draw_cell(const cute_picture *p, const cute_cell *cell, size_t row, size_t column,
                      cute_buffer *out)
{
    int rgb[3];
    if (cell->colour == CUTE_CELL_ABSENT) return;
    cute_picture_rgb(p->palette, cell->first ? cell->colour : -1, rgb);
    bool dark = rgb[0] < DARK && rgb[1] < DARK && rgb[2] < DARK;
    cute_buffer_printf(out, "\\cell{%zu}{%zu}", row, column);
    if (cell->first && cell->colour >= 0)
        cute_buffer_printf(out, "{c%d}{", cell->colour % COLOURS);
    else
        cute_buffer_puts(out, "{white}{");
    if (cell->first && dark) cute_buffer_puts(out, "\\color{white}");
    if (cell->second)
        cute_buffer_printf(out, "\\shortstack{%s\\\\%s}", cell->first, cell->second);
    else if (cell->first)
        cute_buffer_puts(out, cell->first);
    cute_buffer_puts(out, "}\n");
}

static void draw_sheet(const cute_picture *p, size_t sheet, cute_buffer *out)
{
    const cute_cell *cell = p->cells + sheet * p->rows * p->columns;
    cute_buffer_printf(out, "\\begin{scope}[shift={(%zu,0)}]\n", sheet * (p->rows + 3));
    /* `_` is the only character of a title that TeX does not print literally. */
    if (p->sheet_titles) {
        cute_buffer_puts(out, "\\node[right] at (-1.5,-1.5) {\\texttt{");
        for (const char *c = p->sheet_titles[sheet]; *c; c++) {
            if (*c == '_') cute_buffer_putc(out, '\\');
            cute_buffer_putc(out, *c);
        }
        cute_buffer_puts(out, "}};\n");
    }
    for (size_t row = 0; row < p->rows; row++)
        for (size_t column = 0; column < p->columns; column++) draw_cell(p, cell++, row, column, out);
    for (size_t row = 0; row < p->rows; row++)
        if (!p->row_names)
            cute_buffer_printf(out, "\\mode{%zu}{-1}{%zu}\n", row, row);
        else if (p->row_names[row])
            cute_buffer_printf(out, "\\mode{%zu}{-1}{%s}\n", row, p->row_names[row]);
    for (size_t column = 0; column < p->columns; column++)
        if (!p->column_names)
            cute_buffer_printf(out, "\\mode{-1}{%zu}{%zu}\n", column, column);
        else if (p->column_names[column])
            cute_buffer_printf(out, "\\mode{-1}{%zu}{%s}\n", column, p->column_names[column]);
    cute_buffer_puts(out, "\\end{scope}\n");
}

void cute_picture_tex(const cute_picture *p, cute_buffer *out)
{
    double width = cell_width(p), across = (double)(p->columns + 2) * width;
    double down = (double)((p->rows + 3) * p->sheets), longest = across > down ? across : down;
    double scale = longest > LONGEST ? LONGEST / longest : 1;
    cute_buffer_printf(out,
                       "%% %s\n"
                       "\\documentclass{standalone}\n"
                       "\\usepackage{tikz}\n",
                       p->title);
    define_colours(p, out);
    cute_buffer_printf(out,
                       "%% row, column, colour, text\n"
                       "\\newcommand\\cell[4]{\\filldraw[fill=#3] (#1,#2) rectangle +(1,1);%%\n"
                       "  \\pgftext[at={\\pgfpointxy{#1+.5}{#2+.5}}]{\\scalebox{%.4g}{#4}}}\n"
                       "\\newcommand\\mode[3]{\\pgftext[at={\\pgfpointxy{#1+.5}{#2+.5}}]{"
                       "\\scalebox{%.4g}{\\Large\\texttt{#3}}}}\n"
                       "\\begin{document}\n"
                       "\\begin{tikzpicture}[x={(0cm,-%.4gcm)},y={(%.4gcm,0cm)}]\n",
                       scale, scale, scale, scale * width);
    for (size_t sheet = 0; sheet < p->sheets; sheet++) draw_sheet(p, sheet, out);
    cute_buffer_puts(out, "\\end{tikzpicture}\n\\end{document}\n");
}
