/* Pictures as SVG: one document with a rectangle and text per cell, and row and column numbers. */
#include "lib/calculator/picture.h"

#include "lib/base/diagnostics/diag.h"

#include <string.h>

/* In user units, that is, pixels at the picture's nominal size. */
enum { CELL = 40, LETTER = 8, PADDING = 12, MARGIN = 12, LABEL = 40, TITLE = 28, DARK = 120, BASE = 5 };

static const char *const legends[] = {[CUTE_COLOUR_THREAD] = "; colours: threads",
                                      [CUTE_COLOUR_WARP] = "; colours: warps",
                                      [CUTE_COLOUR_BANK] = "; colours: banks of shared memory"};

static const char *legend_of(const cute_picture *p)
{
    size_t count = sizeof legends / sizeof *legends;
    return (size_t)p->palette < count && legends[p->palette] ? legends[p->palette] : "";
}

typedef struct geometry {
    size_t cell, sheet_height, width, height; /* of a cell, of a sheet with its title, of the picture */
} geometry;

static geometry lay_out(const cute_picture *p)
{
    geometry g;
    size_t title = strlen(p->title) + strlen(legend_of(p));
    g.cell = LETTER * cute_picture_cell_width(p, false) + PADDING;
    if (g.cell < CELL) g.cell = CELL;
    g.sheet_height = LABEL + CELL * p->rows + (p->sheet_titles ? TITLE : 0) + MARGIN;
    g.width = MARGIN + LABEL + g.cell * p->columns + MARGIN;
    if (title < 200 && g.width < title * LETTER + 2 * MARGIN) g.width = title * LETTER + 2 * MARGIN;
    g.height = TITLE + g.sheet_height * p->sheets + MARGIN;
    return g;
}

static void draw_text(size_t x, size_t y, const char *class, const char *text, cute_buffer *out)
{
    cute_buffer_printf(out, "<text x=\"%zu\" y=\"%zu\"", x, y + BASE);
    if (*class) cute_buffer_printf(out, " class=\"%s\"", class);
    cute_buffer_putc(out, '>');
    cute_text_xml(text, strlen(text), out);
    cute_buffer_puts(out, "</text>\n");
}

/* `names`: NULL for numbers. */
static void draw_number(size_t x, size_t y, const char *const *names, size_t number, cute_buffer *out)
{
    if (!names)
        cute_buffer_printf(out, "<text x=\"%zu\" y=\"%zu\" class=\"n\">%zu</text>\n", x, y + BASE, number);
    else if (names[number])
        draw_text(x, y, "n", names[number], out);
}

static void draw_cell(const cute_picture *p, const cute_cell *cell, size_t x, size_t y, size_t width,
                      cute_buffer *out)
{
    int rgb[3];
    if (cell->colour == CUTE_CELL_ABSENT) return;
    cute_picture_rgb(p->palette, cell->first ? cell->colour : -1, rgb);
    bool dark = rgb[0] < DARK && rgb[1] < DARK && rgb[2] < DARK;
    cute_buffer_printf(out,
                       "<rect x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%d\" fill=\"#%02x%02x%02x\"/>\n", x,
                       y, width, CELL, (unsigned)rgb[0], (unsigned)rgb[1], (unsigned)rgb[2]);
    if (cell->first)
        draw_text(x + width / 2, y + (cell->second ? CELL / 4 + 2 : CELL / 2), dark ? "w" : "", cell->first,
                  out);
    if (cell->second) draw_text(x + width / 2, y + CELL - CELL / 4 - 1, dark ? "w" : "", cell->second, out);
}

void cute_picture_svg(const cute_picture *p, cute_buffer *out)
{
    geometry g = lay_out(p);
    cute_buffer_printf(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" viewBox=\"0 0 %zu %zu\">\n"
        "<title>",
        g.width, g.height, g.width, g.height);
    cute_text_xml(p->title, strlen(p->title), out);
    cute_buffer_puts(out, "</title>\n"
                          "<style>text{font:13px monospace;text-anchor:middle}"
                          ".n{fill:#606060}.w{fill:#fff}.t{text-anchor:start}rect{stroke:#000}</style>\n"
                          "<rect width=\"100%\" height=\"100%\" fill=\"#fff\" style=\"stroke:none\"/>\n");
    cute_buffer_printf(out, "<text x=\"%d\" y=\"%d\" class=\"t\">", MARGIN, TITLE / 2 + 4 + BASE);
    cute_text_xml(p->title, strlen(p->title), out);
    cute_buffer_printf(out, "<tspan class=\"n\">%s</tspan></text>\n", legend_of(p));
    const cute_cell *cell = p->cells;
    for (size_t sheet = 0; sheet < p->sheets; sheet++) {
        size_t top = TITLE + sheet * g.sheet_height;
        if (p->sheet_titles) {
            draw_text(MARGIN, top + TITLE / 2, "t", p->sheet_titles[sheet], out);
            top += TITLE;
        }
        top += LABEL;
        for (size_t column = 0; column < p->columns; column++)
            draw_number(MARGIN + LABEL + g.cell * column + g.cell / 2, top - LABEL / 3, p->column_names,
                        column, out);
        for (size_t row = 0; row < p->rows; row++) {
            draw_number(MARGIN + LABEL / 2, top + CELL * row + CELL / 2, p->row_names, row, out);
            for (size_t column = 0; column < p->columns; column++)
                draw_cell(p, cell++, MARGIN + LABEL + g.cell * column, top + CELL * row, g.cell, out);
        }
    }
    cute_buffer_puts(out, "</svg>\n");
}
