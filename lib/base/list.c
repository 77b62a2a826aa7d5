/* Growable lists. */
#include "lib/base/list.h"

#include <stdlib.h>
#include <string.h>

/* Doubles the capacity and computes its bytes; false on overflow. */
static bool double_capacity(size_t capacity, size_t size, size_t first, size_t *next, size_t *bytes)
{
    *next = first;
    return (!capacity || !__builtin_mul_overflow(capacity, 2, next)) &&
           !__builtin_mul_overflow(*next, size, bytes);
}

bool cute_arena_more(cute_arena *arena, void *list, size_t count, size_t *capacity, size_t size, size_t first)
{
    size_t next, bytes;
    void *old;
    if (count < *capacity) return true;
    if (!double_capacity(*capacity, size, first, &next, &bytes)) return false;
    void *more = cute_arena_alloc(arena, bytes);
    if (!more) return false;
    memcpy(&old, list, sizeof old);
    if (count) memcpy(more, old, count * size);
    memcpy(list, &more, sizeof more);
    *capacity = next;
    return true;
}

bool cute_heap_more(void *list, size_t count, size_t *capacity, size_t size, size_t first)
{
    size_t next, bytes;
    void *old;
    if (count < *capacity) return true;
    if (!double_capacity(*capacity, size, first, &next, &bytes)) return false;
    memcpy(&old, list, sizeof old);
    void *more = realloc(old, bytes);
    if (!more) return false;
    memcpy(list, &more, sizeof more);
    *capacity = next;
    return true;
}
