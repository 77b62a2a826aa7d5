/* MLIR's diagnostics as ours. */
#ifndef CUTE_LIB_IR_DIAGNOSTICS_DIAGNOSTICS_H
#define CUTE_LIB_IR_DIAGNOSTICS_DIAGNOSTICS_H

#include <mlir-c/IR.h>

#include "lib/ir/diagnostics/origin.h"

typedef struct cute_mlir_source {
    cute_diag *diag;
    cute_origin *origin;
    const char *label; /* the file that messages without a place name */
    bool settled;      /* locations are of the files that the user wrote (cute_locations_settle) */
    /* Called after each message with its notes, or NULL. */
    void (*told)(void *context);
    void *context;
} cute_mlir_source;

cute_mlir_source cute_mlir_source_of(cute_origin *origin, cute_diag *diag);
/* Parses the text; what it reports goes to source->diag, from now on. Null after an error. Kept until the context
 * is destroyed: `source`. */
MlirModule cute_mlir_source_parse(cute_mlir_source *source, MlirContext context);
/* From now on what is reported in `context` goes to source->diag, with the source line where it is known. Kept
 * until the context is destroyed: `source`. */
void cute_mlir_diagnostics(MlirContext context, cute_mlir_source *source);
/* The place of a location; its text where it is known. Its file is in `arena`. */
cute_place cute_mlir_place(const cute_mlir_source *source, MlirLocation location, cute_arena *arena);

#endif
