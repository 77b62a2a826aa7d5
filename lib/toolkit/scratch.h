/* Input and output files of the toolkit's programs: in memory if their names don't matter, in a private
 * folder if they do, or under permanent names if the user keeps them. */
#ifndef CUTE_LIB_TOOLKIT_SCRATCH_H
#define CUTE_LIB_TOOLKIT_SCRATCH_H

#include "lib/base/buffer.h"

typedef struct cute_scratch {
    cute_arena *arena;
    bool named;         /* names matter: use a folder */
    bool dry;           /* dry run: nothing is created; paths are the names */
    const char *prefix; /* keep files as PREFIX.NAME instead of in a folder; NULL: do not keep */
    const char *folder; /* created with the first file */
    int descriptors[8];
    size_t descriptor_count;
} cute_scratch;

/* Creates a file with these bytes, or an empty output file. *path is valid in programs that inherit
 * `descriptors`. `name` has no slash. */
cute_status cute_scratch_file(cute_scratch *scratch, const char *name, const void *bytes, size_t length,
                              const char **path, cute_diag *diag);
/* Appends the contents of a file written by a program. */
cute_status cute_scratch_read(cute_scratch *scratch, const char *path, cute_buffer *out, cute_diag *diag);
/* Closes all files and removes those that are not kept. */
void cute_scratch_close(cute_scratch *scratch);

#endif
