/* A hash table from names to numbers. */
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

/* Zero is an empty table. With `arena`, the slots are in it; without, they are on the heap: call
 * cute_names_release. */
typedef struct cute_names {
    cute_arena *arena;
    cute_name_slot *slots;
    size_t count, capacity;
} cute_names;

/* Adds `text` with `value` unless it is present. The text is not copied. False: out of memory. */
bool cute_names_put(cute_names *names, const char *text, size_t length, size_t value);
/* The value of `text`; CUTE_NO_NAME: absent. */
size_t cute_names_find(const cute_names *names, const char *text, size_t length);
/* The same for a terminated string. */
size_t cute_names_find_text(const cute_names *names, const char *text);
void cute_names_release(cute_names *names);

#endif
