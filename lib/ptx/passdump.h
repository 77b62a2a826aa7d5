/* Dumps the IR before, between and after passes to files from which cute-opt can resume. */
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
    bool lineinfo; /* print locations inline; otherwise append a source map */
    cute_mlir_source *source;
    MlirOperation module;
    json_t *functions;           /* of the input */
    json_t *steps, *passes;      /* for passes.json: the planned steps, the passes that ran */
    json_t *files;               /* written files with their hashes */
    size_t next;                 /* the step to resume with */
    cute_buffer text;            /* the last printed text, with its source map */
    char hash[CUTE_SHA256_TEXT]; /* of `text`; empty: not computed yet */
    size_t ir_bytes;             /* of `text`, without the map */
    size_t operations;           /* in `text` */
    bool failed;                 /* a pass failed, or left an invalid module */
    cute_status status;
} cute_pass_dump;

/* Writes 00-before.mlir. */
cute_status cute_pass_dump_begin(cute_pass_dump *dump);
/* Writes pass-NNN-NAME.mlir after each pass of `manager`, which runs `pipeline`, steps on builtin.module. The
 * context must be single-threaded, since the whole module is printed after nested passes. */
void cute_pass_dump_observe(cute_pass_dump *dump, MlirPassManager manager, const char *pipeline);
/* Writes zz-after.mlir if `whole`, and passes.json. */
cute_status cute_pass_dump_end(cute_pass_dump *dump, bool whole);
void cute_pass_dump_release(cute_pass_dump *dump);

#endif
