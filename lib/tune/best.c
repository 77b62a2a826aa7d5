/* The cache of the fastest known candidates: "1.712000000e-04 measured VALUE\n". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/system/cache.h"
#include "lib/tune/tune.h"

static const char measured[] = " measured ", emulated[] = " emulated ";

bool tune_best_find(cute_arena *arena, const char *folder, const char *kind, const cute_buffer *key,
                    const char **value, tune_best *out)
{
    cute_buffer text = {0};
    char *end = NULL;
    bool found = folder && *folder && cute_buffer_ok(key) &&
                 cute_cache_get(folder, kind, key->data, key->length, &text) && cute_buffer_ok(&text);
    if (found) out->seconds = strtod(cute_buffer_text(&text), &end);
    /* Both words have the same length. */
    size_t skip = sizeof measured - 1, length = found ? strcspn(end, "\n") : 0;
    out->emulated = found && strncmp(end, emulated, skip) == 0;
    found = found && out->seconds >= 0 && length > skip && end[length] == '\n' &&
            (out->emulated || strncmp(end, measured, skip) == 0);
    *value = found ? cute_arena_copy(arena, end + skip, length - skip) : NULL;
    cute_buffer_release(&text);
    return *value != NULL;
}

void tune_best_put(const char *folder, const char *kind, const cute_buffer *key, const char *value,
                   const tune_best *best)
{
    cute_buffer text = {0};
    cute_buffer_printf(&text, "%.9e%s%s\n", best->seconds, best->emulated ? emulated : measured, value);
    if (folder && *folder && cute_buffer_ok(key) && cute_buffer_ok(&text))
        cute_cache_put(folder, kind, key->data, key->length, text.data, text.length);
    cute_buffer_release(&text);
}
