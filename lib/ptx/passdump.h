/* The IR before, between and after passes, as files that cute-opt takes on from. Knows no pass by name. */
#ifndef CUTE_LIB_PTX_PASSDUMP_H
#define CUTE_LIB_PTX_PASSDUMP_H

#include "lib/base/system/sha256.h"
#include "lib/base/text/json.h"
#include "lib/ir/diagnostics/diagnostics.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ptx/ptx.h"

typedef struct cute_pass_dump {
    cute_arena *arena;
    const char *folder;
    cute_dump_each each;
    bool lineinfo; /* locations stand in the text; else they follow it as a source map */
    cute_mlir_source *source;
    MlirOperation module;
    json_t *functions;           /* of the input */
    json_t *steps, *passes;      /* what passes.json will have: what was to run, what ran */
    json_t *files;               /* that were written, with their hashes */
    size_t next;                 /* the step to take on with */
    cute_buffer text;            /* as printed last, with its map */
    char hash[CUTE_SHA256_TEXT]; /* of it; empty: not asked for yet */
    size_t ir_bytes;             /* of it, without the map */
    size_t operations;           /* in it */
    bool failed;                 /* a pass did, or left a module that is wrong */
    cute_status status;
} cute_pass_dump;

/* Writes 00-before.mlir. */
cute_status cute_pass_dump_begin(cute_pass_dump *dump);
/* Writes pass-NNN-NAME.mlir after each pass of `manager`, which runs `pipeline`: steps on builtin.module. The context
 * has to have one thread: what a nested pass did is shown in the whole module. */
void cute_pass_dump_observe(cute_pass_dump *dump, MlirPassManager manager, const char *pipeline);
/* Writes zz-after.mlir where `whole`, and passes.json. */
cute_status cute_pass_dump_end(cute_pass_dump *dump, bool whole);
void cute_pass_dump_release(cute_pass_dump *dump);

#endif
