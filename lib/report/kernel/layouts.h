/* The layouts of a kernel: tensors, tiled copies, tiled MMAs and boxes of TMA, as its metadata has them, and pictures. */
#ifndef CUTE_LIB_REPORT_KERNEL_LAYOUTS_H
#define CUTE_LIB_REPORT_KERNEL_LAYOUTS_H

#include "cute/cubin.h"
#include "cute/layout.h"
#include "lib/base/text/json.h"
#include "lib/calculator/picture.h"

typedef enum layout_kind {
    LAYOUT_TENSOR,
    LAYOUT_TILED_COPY,
    LAYOUT_MMA,
    LAYOUT_BOX,
    LAYOUT_KINDS
} layout_kind;
extern const char *const layout_kind_names[LAYOUT_KINDS]; /* "tensor", "tiled copy", "MMA", "TMA box" */

typedef struct layout_item {
    layout_kind kind;
    int number;       /* in the report, from 1 on: what a picture is asked by */
    const char *name; /* of the argument of a box; else NULL */
    const char *op;   /* that made it first; NULL: an argument */
    const char *file; /* NULL: not known */
    int64_t line;
    bool unread;              /* the type is not known to this version: there is only its text */
    const char *text;         /* the type */
    cute_value value;         /* not of a box */
    const char *space, *type; /* of a tensor, a box: "smem", "f16" */
    int bits;                 /* of an element; 0: not known */
    const char *layout;       /* of a tensor and a box; of a tiled copy that of threads and values */
    int64_t bytes;            /* that a tensor spans; -1: not known at compile time */
    int64_t threads, values;  /* of a tiled copy; threads of an MMA; 0: not known */
    const char *atom;         /* of a tiled copy and an MMA */
    const char *swizzle;      /* of a box; of a tensor that has one */
} layout_item;

typedef struct layout_kernel {
    const char *kernel;
    layout_item *items;
    size_t count;
    const char *why_none; /* where `count` is 0 */
} layout_kernel;

typedef struct layout_report {
    const char *label;
    layout_kernel *kernels;
    size_t count;
    int items; /* in all */
} layout_report;

/* Of the kernels of a module, or that named `only`. CUTE_INVALID: metadata that is no such thing. */
cute_status cute_layouts_read(cute_arena *arena, const char *label, const cute_module *module,
                              const char *only, layout_report *out, cute_diag *diag);

/* Pictures of an item: one of a tensor, coloured by banks in shared memory, one for each operand of the others. Of what has
 * more than so many rows and columns only the first are shown, and the title says so. *count 0: it has none, and *why says
 * why not. */
typedef struct layout_pictures {
    cute_picture items[3];
    size_t count;
    const char *why;
} layout_pictures;
cute_status cute_layouts_draw(cute_arena *arena, const layout_item *item, size_t rows, size_t columns,
                              layout_pictures *out, cute_diag *diag);

void cute_layouts_print(cute_arena *arena, const layout_report *report, cute_buffer *out);
/* The list, and each picture as a table of text. */
cute_status cute_layouts_print_tables(cute_arena *arena, const layout_report *report, cute_buffer *out,
                                      cute_diag *diag);
/* Picture `number`. CUTE_USAGE: there is no such one. */
cute_status cute_layouts_svg(cute_arena *arena, const layout_report *report, int64_t number, cute_buffer *out,
                             cute_diag *diag);
/* All of them on a page that needs no other file. */
cute_status cute_layouts_html(cute_arena *arena, const layout_report *report, cute_buffer *out,
                              cute_diag *diag);
json_t *cute_layouts_json(const layout_report *report);

#endif
