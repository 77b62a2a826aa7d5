/* Converts MLIR diagnostics to cute_diag, with places in the user's files. */
#ifndef CUTE_LIB_IR_DIAGNOSTICS_DIAGNOSTICS_H
#define CUTE_LIB_IR_DIAGNOSTICS_DIAGNOSTICS_H

#include <mlir-c/IR.h>

#include "lib/ir/diagnostics/origin.h"

typedef struct cute_mlir_source {
    cute_diag *diag;
    cute_origin *origin;
    const char *label; /* the file name for messages without a location */
    bool settled;      /* locations already refer to the user's files (cute_locations_settle) */
    /* Optional; called after each message and its notes. */
    void (*told)(void *context);
    void *context;
} cute_mlir_source;

cute_mlir_source cute_mlir_source_of(cute_origin *origin, cute_diag *diag);
/* Parses the text and attaches cute_mlir_diagnostics. Null after an error. `source` must outlive the
 * context. */
MlirModule cute_mlir_source_parse(cute_mlir_source *source, MlirContext context);
/* Redirects diagnostics of `context` to source->diag, with the source line if known. `source` must outlive
 * the context. */
void cute_mlir_diagnostics(MlirContext context, cute_mlir_source *source);
/* The place of a location, with the source line if known. The file name is in `arena`. */
cute_place cute_mlir_place(const cute_mlir_source *source, MlirLocation location, cute_arena *arena);

#endif
