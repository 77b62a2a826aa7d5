/* An index of names: what a name stands for is found in a time that does not grow with how many there are. */
#ifndef CUTE_LIB_BASE_TEXT_NAMES_H
#define CUTE_LIB_BASE_TEXT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cute/base.h"

#define CUTE_NO_NAME SIZE_MAX

typedef struct cute_name_slot {
    const char *text; /* NULL: free */
    size_t length, value;
    uint64_t hash;
} cute_name_slot;

/* Empty where it is zero, but for the arena that has its slots; without one they are released. */
typedef struct cute_names {
    cute_arena *arena;
    cute_name_slot *slots;
    size_t count, capacity;
} cute_names;

/* `text` stands for `value`, unless it is there already: the first one stays. The text is not copied. False: out of memory. */
bool cute_names_put(cute_names *names, const char *text, size_t length, size_t value);
/* What `text` stands for; CUTE_NO_NAME: it is not there. */
size_t cute_names_find(const cute_names *names, const char *text, size_t length);
/* What `text`, a string, stands for. */
size_t cute_names_find_text(const cute_names *names, const char *text);
void cute_names_release(cute_names *names);

#endif
