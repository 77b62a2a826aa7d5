/* Layouts as pictures: a grid of cells, drawn as a table of text, as SVG, or as TikZ for LaTeX. */
#ifndef CUTE_LIB_CALCULATOR_PICTURE_H
#define CUTE_LIB_CALCULATOR_PICTURE_H

#include "cute/layout.h"
#include "lib/base/buffer.h"

typedef enum cute_picture_colour {
    CUTE_COLOUR_DEFAULT, /* of threads where there are some, else of indices */
    CUTE_COLOUR_NONE,
    CUTE_COLOUR_INDEX,  /* eight shades of grey, by the index modulo 8 */
    CUTE_COLOUR_THREAD, /* eight colours, by the thread modulo 8; without threads an index is one */
    CUTE_COLOUR_WARP,   /* the same, by the thread's warp */
    CUTE_COLOUR_BANK,   /* 32 colours, by the bank of shared memory that an index is in */
} cute_picture_colour;

typedef struct cute_picture_options {
    cute_picture_colour colour;
    int64_t element_bits; /* how large what is indexed is: 32 banks of 32 bits; 0: 32 */
    const cute_tree
        *tile; /* not NULL: the layout is one of threads and values, the picture shows this tile */
    uint64_t most_cells, most_side; /* in all, in a row or column; what has more is refused */
} cute_picture_options;

enum { CUTE_CELL_ABSENT = -2 };

typedef struct cute_cell {
    const char *first, *second; /* "12"; of threads and values "T3", "V1". NULL, NULL: empty */
    int colour;                 /* in the picture's palette; -1: none; CUTE_CELL_ABSENT: nothing is drawn */
} cute_cell;

typedef struct cute_picture {
    const char *title; /* the layout */
    size_t rows, columns, sheets;
    const char **sheet_titles; /* "(_,_,1)"; NULL where there is one sheet */
    cute_cell *cells;          /* sheet by sheet, row by row */
    cute_picture_colour palette;
    size_t hidden; /* threads and values that are where another one is drawn */
    /* What stands beside rows and above columns, "" or NULL for nothing; NULL: their numbers. */
    const char **row_names, **column_names;
} cute_picture;

/* Mode 0 goes down, mode 1 to the right, further modes go from sheet to sheet. Everything is in `arena`.
 * CUTE_INVALID with a message for what makes no picture: a value that is no layout, unknown leaves, too many
 * cells, a thread outside of the tile. */
cute_status cute_picture_create(cute_arena *arena, const cute_value *value,
                                const cute_picture_options *options, cute_picture *out, cute_diag *diag);

void cute_picture_table(const cute_picture *picture, cute_buffer *out);
void cute_picture_svg(const cute_picture *picture, cute_buffer *out);
void cute_picture_tex(const cute_picture *picture, cute_buffer *out);

/* Red, green, blue of a colour of a palette. */
void cute_picture_rgb(cute_picture_colour palette, int colour, int rgb[3]);
/* The characters of the longest line in a cell, at least 1. */
size_t cute_picture_cell_width(const cute_picture *picture, bool one_line);

#endif
