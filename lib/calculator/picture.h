/* Pictures of layouts: a grid of cells, drawn as a text table, as SVG, or as TikZ for LaTeX. */
#ifndef CUTE_LIB_CALCULATOR_PICTURE_H
#define CUTE_LIB_CALCULATOR_PICTURE_H

#include "cute/layout.h"
#include "lib/base/buffer.h"

typedef enum cute_picture_colour {
    CUTE_COLOUR_DEFAULT, /* by thread if there are threads, otherwise by index */
    CUTE_COLOUR_NONE,
    CUTE_COLOUR_INDEX,  /* eight shades of grey, by index modulo 8 */
    CUTE_COLOUR_THREAD, /* eight colours, by thread modulo 8; without threads by index */
    CUTE_COLOUR_WARP,   /* eight colours, by the thread's warp */
    CUTE_COLOUR_BANK,   /* 32 colours, by the shared-memory bank of the index */
} cute_picture_colour;

typedef struct cute_picture_options {
    cute_picture_colour colour;
    int64_t element_bits;           /* size of the indexed elements, for 32 banks of 32 bits; 0: 32 */
    const cute_tree *tile;          /* not NULL: draw this tile, the layout is a thread-value layout */
    uint64_t most_cells, most_side; /* limits in total and per row or column; larger pictures are rejected */
} cute_picture_options;

enum { CUTE_CELL_ABSENT = -2 };

typedef struct cute_cell {
    const char *first, *second; /* "12"; for threads and values "T3", "V1". NULL, NULL: empty */
    int colour;                 /* in the picture's palette; -1: none; CUTE_CELL_ABSENT: no cell is drawn */
} cute_cell;

typedef struct cute_picture {
    const char *title; /* the layout */
    size_t rows, columns, sheets;
    const char **sheet_titles; /* "(_,_,1)"; NULL for a single sheet */
    cute_cell *cells;          /* sheet by sheet, row by row */
    cute_picture_colour palette;
    size_t hidden; /* values that are not shown because their cell is occupied */
    /* Labels beside rows and above columns, "" or NULL for none; NULL: numbers. */
    const char **row_names, **column_names;
} cute_picture;

/* Mode 0 runs down, mode 1 to the right, further modes from sheet to sheet. Everything is allocated in
 * `arena`. CUTE_INVALID with a message if the value cannot be drawn: not a layout, unknown leaves, too many
 * cells, or a thread outside the tile. */
cute_status cute_picture_create(cute_arena *arena, const cute_value *value,
                                const cute_picture_options *options, cute_picture *out, cute_diag *diag);

void cute_picture_table(const cute_picture *picture, cute_buffer *out);
void cute_picture_svg(const cute_picture *picture, cute_buffer *out);
void cute_picture_tex(const cute_picture *picture, cute_buffer *out);

/* The red, green and blue values of a palette's colour. */
void cute_picture_rgb(cute_picture_colour palette, int colour, int rgb[3]);
/* The longest line of a cell in characters, at least 1. */
size_t cute_picture_cell_width(const cute_picture *picture, bool one_line);

#endif
