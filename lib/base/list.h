/* Growable lists: room for one more element, doubling the capacity when full. */
#ifndef CUTE_LIB_BASE_LIST_H
#define CUTE_LIB_BASE_LIST_H

#include "cute/base.h"

/* `list` points to the list's pointer (a T **) with `count` elements of `size` bytes and room for *capacity;
 * the first allocation has room for `first`. False when memory is exhausted; then nothing has changed. The
 * old memory remains in the arena. */
bool cute_arena_more(cute_arena *arena, void *list, size_t count, size_t *capacity, size_t size,
                     size_t first);
/* The same for a list that free() releases. */
bool cute_heap_more(void *list, size_t count, size_t *capacity, size_t size, size_t first);

#endif
