/* The layouts of a kernel from its metadata: tensors, tiled copies, tiled MMAs and TMA boxes; and their pictures. */
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
    int number;       /* in the report, from 1; selects a picture */
    const char *name; /* the argument of a box; else NULL */
    const char *op;   /* the operation that created it first; NULL: an argument */
    const char *file; /* NULL: unknown */
    int64_t line;
    bool unread;              /* a type that this version does not know; only `text` is set */
    const char *text;         /* the type */
    cute_value value;         /* not for a box */
    const char *space, *type; /* of a tensor or box: "smem", "f16" */
    int bits;                 /* of an element; 0: unknown */
    const char *layout;       /* of a tensor or box; the thread-value layout of a tiled copy */
    int64_t bytes;            /* spanned by a tensor; -1: unknown at compile time */
    int64_t threads, values;  /* of a tiled copy; threads of an MMA; 0: unknown */
    const char *atom;         /* of a tiled copy or MMA */
    const char *swizzle;      /* of a box or tensor; NULL: none */
} layout_item;

typedef struct layout_kernel {
    const char *kernel;
    layout_item *items;
    size_t count;
    const char *why_none; /* if `count` is 0 */
} layout_kernel;

typedef struct layout_report {
    const char *label;
    layout_kernel *kernels;
    size_t count;
    int items; /* total */
} layout_report;

/* The layouts of a module's kernels, or of the one named `only`. CUTE_INVALID: invalid metadata. */
cute_status cute_layouts_read(cute_arena *arena, const char *label, const cute_module *module,
                              const char *only, layout_report *out, cute_diag *diag);

/* Draws an item: a tensor (coloured by bank in shared memory), or each operand of the others. Larger pictures are cropped to `rows` and
 * `columns`, as the title states. `count` 0: no picture, for the reason `why`. */
typedef struct layout_pictures {
    cute_picture items[3];
    size_t count;
    const char *why;
} layout_pictures;
cute_status cute_layouts_draw(cute_arena *arena, const layout_item *item, size_t rows, size_t columns,
                              layout_pictures *out, cute_diag *diag);

void cute_layouts_print(cute_arena *arena, const layout_report *report, cute_buffer *out);
/* The list, and each picture as a text table. */
cute_status cute_layouts_print_tables(cute_arena *arena, const layout_report *report, cute_buffer *out,
                                      cute_diag *diag);
/* Picture `number`. CUTE_USAGE: there is no such layout. */
cute_status cute_layouts_svg(cute_arena *arena, const layout_report *report, int64_t number, cute_buffer *out,
                             cute_diag *diag);
/* All pictures in one self-contained page. */
cute_status cute_layouts_html(cute_arena *arena, const layout_report *report, cute_buffer *out,
                              cute_diag *diag);
json_t *cute_layouts_json(const layout_report *report);

#endif
