/* Columns of text that line up. */
#ifndef CUTE_LIB_REPORT_TABLE_H
#define CUTE_LIB_REPORT_TABLE_H

#include "lib/base/buffer.h"

enum { CUTE_TABLE_COLUMNS = 16 };

typedef struct cute_table {
    cute_arena *arena;
    size_t columns, rows, capacity;
    size_t widths[CUTE_TABLE_COLUMNS];
    const char **cells; /* row by row */
} cute_table;

/* `columns` texts; kept, not copied. A row that memory has no room for is left out. */
void cute_table_row(cute_table *table, const char *const *cells);
/* Two spaces between columns; those whose bit is set in `left` are left-aligned, the others right-aligned. */
void cute_table_print(const cute_table *table, unsigned left, const char *indent, cute_buffer *out);

#endif
