/* qsort for lists that may be empty and NULL, which qsort does not allow. */
#ifndef CUTE_LIB_BASE_SORT_H
#define CUTE_LIB_BASE_SORT_H

#include <stdlib.h>

static inline void cute_sort(void *list, size_t count, size_t size,
                             int (*compare)(const void *, const void *))
{
    if (count > 1) qsort(list, count, size, compare);
}

#endif
