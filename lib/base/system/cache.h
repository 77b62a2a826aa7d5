/* The cache on disk: a file per entry, found by a key of everything that it depends on. Truncated or damaged
 * entries, entries of another key, entries that another user owns or may have changed, links and non-regular
 * files count as absent. A folder that can't be written, that another user (except root) owns, or that others
 * can write to (without the sticky bit) is not used; the latter two are logged as warnings. Nothing here
 * fails. */
#ifndef CUTE_LIB_BASE_SYSTEM_CACHE_H
#define CUTE_LIB_BASE_SYSTEM_CACHE_H

#include "lib/base/buffer.h"

/* The folder: `given` unless NULL ("": none); else $CUTE_CACHE (off or 0: none), $XDG_CACHE_HOME/libcute, ~/.cache/libcute.
 * NULL: none. In `arena`. */
const char *cute_cache_folder(cute_arena *arena, const char *given);
/* Appends the entry to *out; false: absent. `kind` is a word, part of the key. */
bool cute_cache_get(const char *folder, const char *kind, const void *key, size_t key_length,
                    cute_buffer *out);
/* Writes the entry atomically, readable by its owner only. If the cache exceeds $CUTE_CACHE_SIZE MiB (default
 * 512), the least recently used entries are removed. */
void cute_cache_put(const char *folder, const char *kind, const void *key, size_t key_length,
                    const void *bytes, size_t length);
/* Removes all entries and no other files; returns their number. */
size_t cute_cache_clear(const char *folder);

/* ---- programs of the pipe: the same input gives the same output ---- */

/* $CUTE_CACHE, in `arena`; NULL: not set, empty, off or 0, so nothing is cached. */
const char *cute_cache_pipe_folder(cute_arena *arena);
/* Adds to a key: this program's file, command line and working directory, and the environment that it may
 * read. */
void cute_cache_key_program(cute_buffer *key);
/* Adds only the environment: every variable that may change the output, according to settings.def. */
void cute_cache_key_environment(cute_buffer *key);
/* Adds the file that contains `function`: a library, or the program. */
void cute_cache_key_code(cute_buffer *key, void (*function)(void));
/* Adds path, size and modification time of a file, or that it does not exist. `path` may be NULL. */
void cute_cache_key_file(cute_buffer *key, const char *path);
/* Adds bytes with their length, so that adjacent parts are unambiguous. */
void cute_cache_key_bytes(cute_buffer *key, const void *bytes, size_t length);

#endif
