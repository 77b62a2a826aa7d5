/* Pictures as tables of text, as CuTe's print_layout draws them. */
#include "lib/calculator/picture.h"

#include <string.h>

static int count_digits(size_t n)
{
    int count = 1;
    while (n >= 10) {
        n /= 10;
        count++;
    }
    return count;
}

static void draw_rule(size_t columns, size_t width, int label, cute_buffer *out)
{
    cute_buffer_printf(out, "%*s", label + 2, "");
    for (size_t i = 0; i < columns; i++) {
        cute_buffer_putc(out, '+');
        for (size_t j = 0; j < width + 2; j++) cute_buffer_putc(out, '-');
    }
    cute_buffer_puts(out, "+\n");
}

static void draw_sheet(const cute_picture *p, const cute_cell *cells, size_t width, int label,
                       cute_buffer *out)
{
    cute_buffer_printf(out, "%*s", label + 2, "");
    for (size_t column = 0; column < p->columns; column++)
        cute_buffer_printf(out, "  %*zu%s", (int)width, column, column + 1 < p->columns ? " " : "\n");
    for (size_t row = 0; row < p->rows; row++) {
        draw_rule(p->columns, width, label, out);
        cute_buffer_printf(out, "%*zu  ", label, row);
        for (size_t column = 0; column < p->columns; column++) {
            const cute_cell *cell = &cells[row * p->columns + column];
            const char *first = cell->first ? cell->first : "", *second = cell->second ? cell->second : "";
            int space = (int)(width - strlen(first) - strlen(second));
            cute_buffer_printf(out, "| %*s%s%s ", space, "", first, second);
        }
        cute_buffer_puts(out, "|\n");
    }
    draw_rule(p->columns, width, label, out);
}

void cute_picture_table(const cute_picture *picture, cute_buffer *out)
{
    size_t width = cute_picture_cell_width(picture, true);
    int label = count_digits(picture->rows ? picture->rows - 1 : 0);
    if (label < 2) label = 2;
    if ((size_t)count_digits(picture->columns - 1) > width)
        width = (size_t)count_digits(picture->columns - 1);
    for (size_t i = 0; i < picture->sheets; i++) {
        if (picture->sheet_titles) cute_buffer_printf(out, "%s\n", picture->sheet_titles[i]);
        draw_sheet(picture, picture->cells + i * picture->rows * picture->columns, width, label, out);
    }
}
