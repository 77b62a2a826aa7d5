/* Locations of operations and the text that the user wrote: set after parsing, kept in a source map when the module is
 * printed. */
#ifndef CUTE_LIB_IR_DIAGNOSTICS_LOCATIONS_H
#define CUTE_LIB_IR_DIAGNOSTICS_LOCATIONS_H

#include "lib/ir/diagnostics/diagnostics.h"

/* After a module was parsed from source->origin: gives its operations the places that the user wrote, where they are
 * others than those in the parsed text, and arguments of functions their names (`%a` is loc("a"(...))). What the
 * text gives by `loc(...)` stays. */
void cute_locations_settle(cute_mlir_source *source, MlirOperation root);

/* What is printed on a line: an operation; `entry` is its first block, or null. Adds it to a
 * source map. */
typedef struct cute_map_builder {
    cute_origin *origin; /* of what was read */
    cute_source_map_writer map;
    const char *file_data; /* of the last file: locations share their strings */
    uint32_t file;
    struct {
        const char *data;
        uint32_t form;
    } names[256]; /* forms of names, by where their strings are */
} cute_map_builder;
void cute_locations_note(unsigned line, MlirLocation location, MlirBlock entry, void *builder);

#endif
