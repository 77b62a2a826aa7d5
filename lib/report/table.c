/* Measures while rows are added, pads when they are printed. Widths count bytes: cells are names and numbers.
 */
#include "lib/report/table.h"

#include <string.h>

#include "lib/base/list.h"

void cute_table_row(cute_table *t, const char *const *cells)
{
    if (!cute_arena_more(t->arena, &t->cells, t->rows, &t->capacity, t->columns * sizeof *t->cells, 16))
        return;
    for (size_t i = 0; i < t->columns; i++) {
        const char *cell = cells[i] ? cells[i] : "";
        size_t width = strlen(cell);
        t->cells[t->rows * t->columns + i] = cell;
        if (width > t->widths[i]) t->widths[i] = width;
    }
    t->rows++;
}

void cute_table_print(const cute_table *t, unsigned left, const char *indent, cute_buffer *out)
{
    for (size_t row = 0; row < t->rows; row++) {
        cute_buffer_puts(out, indent);
        for (size_t i = 0; i < t->columns; i++) {
            const char *cell = t->cells[row * t->columns + i];
            int width = (int)t->widths[i];
            bool last = i + 1 == t->columns;
            if (i) cute_buffer_puts(out, "  ");
            if (!(left >> i & 1))
                cute_buffer_printf(out, "%*s", width, cell);
            else if (last)
                cute_buffer_puts(out, cell);
            else
                cute_buffer_printf(out, "%-*s", width, cell);
        }
        while (out->length && out->data[out->length - 1] == ' ') out->data[--out->length] = 0;
        cute_buffer_putc(out, '\n');
    }
}
