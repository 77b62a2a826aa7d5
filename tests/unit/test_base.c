/* Arenas and buffers: alignment, zeroes, absurd sizes, failure that sticks. */
#include <stdalign.h>

#include "lib/base/buffer.h"
#include "tests/unit/test.h"

static void test_alignment(void)
{
    cute_arena *arena = cute_arena_create();
    for (size_t size = 0; size < 200; size++) {
        unsigned char *object = cute_arena_alloc(arena, size);
        if (!CHECK(object) || !CHECK((uintptr_t)object % alignof(max_align_t) == 0)) break;
        memset(object, 0xAA, size); /* the next object must be zero all the same */
    }
    cute_arena_destroy(arena);
}

static void test_zeroes(void)
{
    cute_arena *arena = cute_arena_create();
    size_t sizes[] = {1, 4000, 5000, 3, 1 << 20, 3 << 20, 7};
    unsigned char *objects[7];
    for (size_t i = 0; i < 7; i++) {
        objects[i] = cute_arena_alloc(arena, sizes[i]);
        for (size_t j = 0; j < sizes[i]; j++)
            if (!CHECK(objects[i][j] == 0)) break;
        memset(objects[i], (int)i + 1, sizes[i]);
    }
    /* No object was overwritten by a later one. */
    for (size_t i = 0; i < 7; i++) CHECK(objects[i][0] == i + 1 && objects[i][sizes[i] - 1] == i + 1);
    cute_arena_destroy(arena);
}

static void test_distinct(void)
{
    cute_arena *arena = cute_arena_create();
    CHECK(cute_arena_alloc(arena, 0) != cute_arena_alloc(arena, 0));
    cute_arena_destroy(arena);
}

static void test_absurd(void)
{
    cute_arena *arena = cute_arena_create();
    CHECK(!cute_arena_alloc(arena, SIZE_MAX));
    CHECK(!cute_arena_alloc(arena, SIZE_MAX - 8));
    CHECK(!cute_arena_alloc(arena, PTRDIFF_MAX));
    CHECK(!cute_arena_array(arena, SIZE_MAX / 2, 3)); /* 1.5 * 2^64 */
    CHECK(!cute_arena_array(arena, (size_t)1 << 32, (size_t)1 << 32));
    CHECK(!cute_arena_copy(arena, "", SIZE_MAX));
    CHECK(cute_arena_alloc(arena, 8)); /* still usable */
    cute_arena_destroy(arena);
}

static void test_texts(void)
{
    cute_arena *arena = cute_arena_create();
    CHECK_TEXT(cute_arena_copy(arena, "shape", 3), "sha");
    CHECK_TEXT(cute_arena_copy(arena, NULL, 0), "");
    CHECK_TEXT(cute_arena_printf(arena, "%d:%s", 7, "x"), "7:x");
    CHECK_INT(strlen(cute_arena_printf(arena, "%9000d", 1)), 9000);
    cute_arena_destroy(arena);
}

static void test_destroy_null(void)
{
    cute_arena_destroy(NULL);
}

static void test_buffer(void)
{
    cute_buffer b = {0};
    CHECK_TEXT(cute_buffer_text(&b), "");
    cute_buffer_puts(&b, "ab");
    cute_buffer_putc(&b, 'c');
    cute_buffer_append(&b, "\0d", 2);
    cute_buffer_printf(&b, "%03d", 5);
    CHECK_INT(b.length, 8);
    CHECK(memcmp(b.data, "abc\0d005", 9) == 0);
    cute_buffer_release(&b);
    CHECK(!b.data && b.length == 0);
}

static void test_buffer_grows(void)
{
    cute_buffer b = {0};
    for (int i = 0; i < 10000; i++) cute_buffer_printf(&b, "%d,", i);
    /* 10 one-digit, 90 two-digit, 900 three-digit and 9000 four-digit numbers, a comma each. */
    CHECK_INT(b.length, 10 * 2 + 90 * 3 + 900 * 4 + 9000 * 5);
    CHECK(memcmp(b.data + b.length - 10, "9998,9999,", 11) == 0);
    cute_buffer_release(&b);
}

static void test_buffer_failure(void)
{
    cute_buffer b = {0};
    cute_buffer_puts(&b, "kept");
    cute_buffer_append(&b, "x", SIZE_MAX); /* never read: there is no such room */
    CHECK(!cute_buffer_ok(&b));
    cute_buffer_puts(&b, "more");
    CHECK_TEXT(cute_buffer_text(&b), "kept");
    cute_buffer_release(&b);
    CHECK(cute_buffer_ok(&b));
}

int main(void)
{
    TEST("an arena's objects are aligned for any type", test_alignment);
    TEST("an arena's objects are zeroed and do not overlap, large ones too", test_zeroes);
    TEST("objects of no bytes have different addresses", test_distinct);
    TEST("an absurd size is refused and the arena stays usable", test_absurd);
    TEST("an arena copies and formats text", test_texts);
    TEST("destroying no arena is allowed", test_destroy_null);
    TEST("a buffer holds any bytes and is terminated", test_buffer);
    TEST("a buffer grows by small pieces", test_buffer_grows);
    TEST("after a buffer failed it keeps what it had and takes nothing more", test_buffer_failure);
    return test_finish();
}
