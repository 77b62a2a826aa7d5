/* What became of a kernel's schedule, for its metadata (docs/metadata.md, "schedule"): the reports of cute-dump read it. */
#ifndef CUTE_LIB_PASSES_TILES_DESCRIBE_SCHEDULE_H
#define CUTE_LIB_PASSES_TILES_DESCRIBE_SCHEDULE_H

#include "lib/ir/mlir/shim.h"
#include "lib/passes/tiles/emit.h"

/* The kernel's attribute that cute-tile-distribute writes, a dictionary, and that of refusals, an array. */
#define TILE_DESCRIPTION "cute.scheduled"
#define TILE_REFUSALS    "cute.refused"

/* A remark at `op`, and a note of it for the kernel's metadata: a choice of the schedule that was not applied, and why. */
void tile_refuse(const cute_pass_run *pass, MlirOperation op, const char *format, ...) CUTE_PRINTF(3, 4);

/* Roles, rings, pipes, products and grid, after tile_find_stages and before operations are lowered. */
MlirAttribute tile_describe_schedule(tile_emitter *e);
/* After all are lowered: adds memory and barriers, and writes the kernel's attribute. */
void tile_write_description(tile_emitter *e, MlirAttribute before);

#endif
