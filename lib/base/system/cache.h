/* What was made before, on disk: a file an entry, found by everything that it depends on. An entry that is truncated,
 * damaged or of another key is as good as none, and so is one that another user owns or may have changed, a link, or what
 * is no plain file; a folder that can't be written, that another user owns (but root) or that others may write (without
 * the sticky bit) keeps nothing, the latter two with a warning of the log. Nothing here fails. */
#ifndef CUTE_LIB_BASE_SYSTEM_CACHE_H
#define CUTE_LIB_BASE_SYSTEM_CACHE_H

#include "lib/base/buffer.h"

/* The folder: `given`, where that is not NULL ("": none); else $CUTE_CACHE, $XDG_CACHE_HOME/libcute, ~/.cache/libcute.
 * NULL: there is none. In `arena`. */
const char *cute_cache_folder(cute_arena *arena, const char *given);
/* Appends the entry to *out; false: there is none. `kind` is a word; entries of different kinds never meet. */
bool cute_cache_get(const char *folder, const char *kind, const void *key, size_t key_length,
                    cute_buffer *out);
/* Writes the entry whole or not at all, also where others write the same one, for its owner alone. Above $CUTE_CACHE_SIZE MiB (512 without)
 * in all, the entries go that were used longest ago. */
void cute_cache_put(const char *folder, const char *kind, const void *key, size_t key_length,
                    const void *bytes, size_t length);
/* Removes all entries, and nothing else that is there; how many. */
size_t cute_cache_clear(const char *folder);

/* ---- programs of the pipe: what they made of the same input is what they would make ---- */

/* $CUTE_CACHE, in `arena`; NULL: not set, and nothing is kept. */
const char *cute_cache_pipe_folder(cute_arena *arena);
/* Adds to a key: this program's own file, its command line and folder, and the environment that it may read. */
void cute_cache_key_program(cute_buffer *key);
/* Of those the environment alone: every variable that may change what is made, as settings.def has it. */
void cute_cache_key_environment(cute_buffer *key);
/* Which file the code of `function` is in: a library, or the program. */
void cute_cache_key_code(cute_buffer *key, void (*function)(void));
/* Which file that is: path, size and time; of one that is not there that it is not. `path` may be NULL. */
void cute_cache_key_file(cute_buffer *key, const char *path);
/* Contents, so that two in a row are not others. */
void cute_cache_key_bytes(cute_buffer *key, const void *bytes, size_t length);

#endif
