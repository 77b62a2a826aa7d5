/* The files that programs of the toolkit are fed with and write: in memory where their names don't matter, in
 * a private folder where they do, under names that stay where the user wants to keep them. */
#ifndef CUTE_LIB_TOOLKIT_SCRATCH_H
#define CUTE_LIB_TOOLKIT_SCRATCH_H

#include "lib/base/buffer.h"

typedef struct cute_scratch {
    cute_arena *arena;
    bool named;         /* names matter: a folder */
    bool dry;           /* nothing is made; paths are the names */
    const char *prefix; /* kept files: PREFIX.NAME, in the place of a folder; NULL: not kept */
    const char *folder; /* made when the first file is */
    int descriptors[8];
    size_t descriptor_count;
} cute_scratch;

/* A file with these bytes, or an empty one to be written. *path is for programs that inherit `descriptors`.
 * `name` has no slash. */
cute_status cute_scratch_file(cute_scratch *scratch, const char *name, const void *bytes, size_t length,
                              const char **path, cute_diag *diag);
/* Appends what a program wrote. */
cute_status cute_scratch_read(cute_scratch *scratch, const char *path, cute_buffer *out, cute_diag *diag);
/* Closes and removes all that is not kept. */
void cute_scratch_close(cute_scratch *scratch);

#endif
