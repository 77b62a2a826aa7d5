/* Replaces lines `//!include "FILE"` by the content of the file, before -D and parsing. Maps each byte
 * back to its file and line. */
#ifndef CUTE_LIB_BASE_TEXT_INCLUDE_H
#define CUTE_LIB_BASE_TEXT_INCLUDE_H

#include "lib/base/buffer.h"

typedef struct cute_source_file {
    const char *name, *text;
    size_t length;
    size_t by, at; /* the including file, and the offset of the include line; unused for file 0 */
} cute_source_file;

/* The bytes of the joined text from `to` to the next part are those of `file` starting at `from`. */
typedef struct cute_source_part {
    size_t to, file, from;
} cute_source_part;

/* {.arena = ..., .folders = ...} is empty. */
typedef struct cute_sources {
    cute_arena *arena;
    const char *const *folders; /* searched after the folder of the including file, in order */
    size_t folder_count;
    cute_source_file *files; /* the first is the main text; one entry per inclusion */
    size_t file_count, file_capacity;
    cute_source_part *parts; /* none if nothing was included; *out of cute_include is then empty */
    size_t part_count, part_capacity;
} cute_sources;

/* Expands the includes of `text`, named `label`, into *out; `label` and `text` must outlive `sources`.
 * CUTE_INVALID at the include line for a missing file (with the searched folders), for recursion, and for
 * too deep nesting. */
cute_status cute_include(cute_sources *sources, const char *label, const char *text, size_t length,
                         cute_buffer *out, cute_diag *diag);
/* Adds the included files to a cache key (cache.h); false if one cannot be read. */
bool cute_include_key(const char *label, const char *text, size_t length, const char *const *folders,
                      size_t folder_count, cute_buffer *key);
/* The file and file offset of a byte of the joined text. */
const cute_source_file *cute_sources_find(const cute_sources *sources, size_t offset, size_t *from);
/* The same as a place with its line. */
cute_place cute_sources_place(const cute_sources *sources, size_t offset);

#endif
