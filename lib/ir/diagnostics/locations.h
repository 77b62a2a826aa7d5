/* Maps operation locations to the user's files after parsing, and writes a source map when a module is
 * printed. */
#ifndef CUTE_LIB_IR_DIAGNOSTICS_LOCATIONS_H
#define CUTE_LIB_IR_DIAGNOSTICS_LOCATIONS_H

#include "lib/ir/diagnostics/diagnostics.h"

/* After parsing source->origin: replaces locations in the parsed text by those in the user's files, and
 * names the locations of function arguments (`%a` gets loc("a"(...))). Explicit `loc(...)` is kept. */
void cute_locations_settle(cute_mlir_source *source, MlirOperation root);

typedef struct cute_map_builder {
    cute_origin *origin; /* of the input */
    cute_source_map_writer map;
    const char *file_data; /* the last file name, compared by pointer: locations share their strings */
    uint32_t file;
    struct {
        const char *data;
        uint32_t form;
    } names[256]; /* cache of name forms, by string address */
} cute_map_builder;
/* Adds the operation printed on `line` to the source map; `entry` is its first block, or null. */
void cute_locations_note(unsigned line, MlirLocation location, MlirBlock entry, void *builder);

#endif
