/* Lists that grow: room for one more element, doubled where there is none. */
#ifndef CUTE_LIB_BASE_LIST_H
#define CUTE_LIB_BASE_LIST_H

#include "cute/base.h"

/* `list` points to the list's pointer (a T **), `count` elements of `size` bytes are in it, *capacity fit;
 * `first` fit when it is made. False when memory is exhausted; then nothing has changed. The old memory stays
 * in the arena. */
bool cute_arena_more(cute_arena *arena, void *list, size_t count, size_t *capacity, size_t size,
                     size_t first);
/* The same for a list that free() releases. */
bool cute_heap_more(void *list, size_t count, size_t *capacity, size_t size, size_t first);

#endif
