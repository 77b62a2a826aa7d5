/* MLIR's diagnostics as ours. */
#ifndef CUTE_LIB_IR_DIAGNOSTICS_H
#define CUTE_LIB_IR_DIAGNOSTICS_H

#include <mlir-c/IR.h>

#include "cute/base.h"

typedef struct cute_mlir_source {
    cute_diag *diag;
    const char *label; /* the file name that locations carry for `text` */
    const char *text;
    size_t length;
} cute_mlir_source;

/* From now on what is reported in `context` goes to source->diag, with the source line where the place is in
 * `text`. Kept until the context is destroyed: `source`. */
void cute_mlir_diagnostics(MlirContext context, cute_mlir_source *source);
/* Gives `place`, which has a line of `source`, the line's text. */
void cute_mlir_source_line(const cute_mlir_source *source, cute_place *place);
/* The place of a location; its text where it lies in `source`. */
cute_place cute_mlir_place(const cute_mlir_source *source, MlirLocation location, cute_arena *arena);

#endif
