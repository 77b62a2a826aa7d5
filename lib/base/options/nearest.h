/* "did you mean": the nearest word of a list. */
#ifndef CUTE_LIB_BASE_OPTIONS_NEAREST_H
#define CUTE_LIB_BASE_OPTIONS_NEAREST_H

#include <stddef.h>

/* The word of a list at an index; NULL after the last, "" to skip one. */
typedef const char *(*cute_word_at)(const void *list, size_t index);

/* The nearest word of `list` within an edit distance of a third of the length of `word` (at least 1), the
 * first of equals; NULL: none. */
const char *cute_nearest(const char *word, cute_word_at at, const void *list);
/* The same for the first `length` characters of `word`. */
const char *cute_nearest_of(const char *word, size_t length, cute_word_at at, const void *list);

#endif
