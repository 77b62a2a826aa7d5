/* Several files that share text: a line `//!include "FILE"` is replaced by what the file holds, before -D and before
 * MLIR reads anything. Knows the way back to the file and line of each byte. */
#ifndef CUTE_LIB_IR_TEXT_INCLUDE_H
#define CUTE_LIB_IR_TEXT_INCLUDE_H

#include "lib/base/buffer.h"

typedef struct cute_source_file {
    const char *name, *text;
    size_t length;
    size_t by, at; /* the file and the byte of the line that includes it; of file 0 nothing */
} cute_source_file;

/* Bytes of the joined text from `to` on, up to the next part, are those of a file from `from` on. */
typedef struct cute_source_part {
    size_t to, file, from;
} cute_source_part;

/* {.arena = ..., .folders = ...} is empty. */
typedef struct cute_sources {
    cute_arena *arena;
    const char *const *folders; /* looked into behind the folder of the file that includes, in order */
    size_t folder_count;
    cute_source_file *files; /* the first is the text itself; each time that a file is included is one */
    size_t file_count, file_capacity;
    cute_source_part *parts; /* none: nothing was included, and *out of cute_include is empty */
    size_t part_count, part_capacity;
} cute_sources;

/* Joins `text`, called `label`, with what it includes into *out. Kept: label, text. CUTE_INVALID at the line with the
 * folders that were looked into where a file is missing, and for one that includes itself or is nested too deep. */
cute_status cute_include(cute_sources *sources, const char *label, const char *text, size_t length,
                         cute_buffer *out, cute_diag *diag);
/* Adds what `text` includes to the key of a cache's entry (cache.h); false: it cannot be read. */
bool cute_include_key(const char *label, const char *text, size_t length, const char *const *folders,
                      size_t folder_count, cute_buffer *key);
/* The file of a byte of the joined text, and which byte of it. */
const cute_source_file *cute_sources_find(const cute_sources *sources, size_t offset, size_t *from);
/* The same as a place with its line. */
cute_place cute_sources_place(const cute_sources *sources, size_t offset);

#endif
