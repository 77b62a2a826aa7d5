/* Edit distance (insert, delete, replace, swap of neighbours) over short words. */
#include "lib/base/options/nearest.h"

#include <string.h>

enum { MAX_LENGTH = 63 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][MAX_LENGTH + 1]; /* for prefixes of `a` that are two, one and no characters shorter */
    for (size_t j = 0; j <= b_length; j++) rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            now[j] = smaller(smaller(before[j], now[j - 1]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smaller(now[j], earlier[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

const char *cute_nearest(const char *word, cute_word_at at, const void *list)
{
    return cute_nearest_of(word, strlen(word), at, list);
}

const char *cute_nearest_of(const char *word, size_t length, cute_word_at at, const void *list)
{
    size_t best = length / 3 > 1 ? length / 3 : 1;
    const char *found = NULL;
    if (length == 0 || length > MAX_LENGTH) return NULL;
    for (size_t i = 0; at(list, i); i++) {
        const char *other = at(list, i);
        size_t other_length = strlen(other);
        if (other_length == 0 || other_length > MAX_LENGTH) continue;
        size_t d = edit_distance(word, length, other, other_length);
        if (d < best || (d == best && !found)) {
            best = d;
            found = other;
        }
    }
    return found;
}
