/* "did you mean": the word of a list that is nearest to one that is not in it. */
#ifndef CUTE_LIB_BASE_OPTIONS_NEAREST_H
#define CUTE_LIB_BASE_OPTIONS_NEAREST_H

#include <stddef.h>

/* One word of a list by its index; NULL after the last, "" for none. */
typedef const char *(*cute_word_at)(const void *list, size_t index);

/* The nearest word of `list` within a third of the length of `word` (at least one edit); NULL: none is near.
 * Of words as near as each other the first. */
const char *cute_nearest(const char *word, cute_word_at at, const void *list);
/* The same for the first `length` characters of `word`. */
const char *cute_nearest_of(const char *word, size_t length, cute_word_at at, const void *list);

#endif
