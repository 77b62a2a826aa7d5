/* Copies of elements at strides, against sets of bytes. */
#include "lib/launch/plan/hostplan.h"
#include "tests/unit/test.h"

enum { BYTES = 4096, RANK = 3 };

static uint64_t next_random(void)
{
    static uint64_t state = 7;
    return state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407), state >> 33;
}

static host_box random_box(void)
{
    host_box b = {.rank = (int)(next_random() % (RANK + 1)), .size = 1 + (int64_t)(next_random() % 4)};
    for (int i = 0; i < b.rank; i++) {
        b.extents[i] = 1 + (int64_t)(next_random() % 4);
        b.to[i] = b.size * (int64_t)(next_random() % 12);
        b.from[i] = next_random() % 2 ? b.to[i] : b.size * (int64_t)(next_random() % 12);
    }
    return b;
}

/* map[target byte] = source byte + 1; *twice: a target byte is written by two elements. */
static void fill_map(const host_box *b, int dimension, int64_t to, int64_t from, int *map, bool *twice)
{
    if (dimension < b->rank) {
        for (int64_t n = 0; n < b->extents[dimension]; n++)
            fill_map(b, dimension + 1, to + n * b->to[dimension], from + n * b->from[dimension], map, twice);
        return;
    }
    for (int64_t n = 0; n < b->size; n++) {
        *twice |= map[to + n] != 0;
        map[to + n] = (int)(from + n + 1);
    }
}

static void test_a_simplified_box_copies_the_same_bytes(void)
{
    static int before[BYTES], after[BYTES];
    for (int n = 0; n < 20000; n++) {
        host_box b = random_box(), simple = b;
        bool twice = false, again = false;
        int64_t bytes, to, from, count = 0, last = 0;
        memset(before, 0, sizeof before);
        memset(after, 0, sizeof after);
        fill_map(&b, 0, 0, 0, before, &twice);
        host_box_simplify(&simple);
        fill_map(&simple, 0, 0, 0, after, &again);
        if (!CHECK(simple.rank <= b.rank && twice == again)) return;
        if (host_box_injective(&simple) && !CHECK(!twice)) return;
        if (twice) continue; /* which element remains depends on the order */
        if (!CHECK(!memcmp(before, after, sizeof before)) ||
            !CHECK(host_box_spans(&simple, &bytes, &to, &from)))
            return;
        for (int k = 0; k < BYTES; k++) {
            count += before[k] != 0;
            if (before[k]) last = k + 1;
        }
        CHECK_INT(bytes, count);
        CHECK_INT(to, last);
    }
}

static void test_overlaps_are_those_of_the_bytes(void)
{
    static int map[BYTES];
    int found = 0, apart = 0;
    for (int n = 0; n < 20000; n++) {
        host_box b = random_box();
        bool twice = false, overlaps = false;
        int64_t distance = (int64_t)(next_random() % 81) - 40;
        memcpy(b.from, b.to, sizeof b.from);
        memset(map, 0, sizeof map);
        fill_map(&b, 0, 0, 0, map, &twice);
        host_box_simplify(&b);
        if (twice || !host_box_injective(&b)) continue;
        for (int64_t k = 0; k < BYTES; k++)
            overlaps |= map[k] && k + distance >= 0 && k + distance < BYTES && map[k + distance];
        if (!CHECK(host_box_overlaps(&b, distance) == overlaps)) return;
        found += overlaps;
        apart += !overlaps;
    }
    CHECK(found > 1000 && apart > 1000);
}

static void test_sizes_beyond_64_bits_are_found(void)
{
    host_box b = {
        .rank = 2, .size = 8, .extents = {INT64_C(1) << 40, INT64_C(1) << 30}, .to = {8, 8}, .from = {8, 8}};
    int64_t bytes, to, from;
    CHECK(!host_box_spans(&b, &bytes, &to, &from));
    b = (host_box){.rank = 1, .size = 8, .extents = {3}, .to = {-8}, .from = {8}};
    CHECK(!host_box_spans(&b, &bytes, &to, &from));
}

int main(void)
{
    TEST("a simplified box copies the same bytes, and its spans are theirs",
         test_a_simplified_box_copies_the_same_bytes);
    TEST("overlaps of source and target are those of their bytes", test_overlaps_are_those_of_the_bytes);
    TEST("sizes beyond 64 bits and negative strides are found", test_sizes_beyond_64_bits_are_found);
    return test_finish();
}
