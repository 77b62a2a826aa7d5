/* What every unit test uses. A test program is a table of named sentences:
 *     static void test_x(void) { CHECK(1 + 1 == 2); CHECK_INT(a, 3); CHECK_TEXT(s, "x"); }
 *     int main(void) { TEST("one plus one is two", test_x); return test_finish(); }
 * It prints `ok - name` or `not ok - name` (TAP), then `1..N`. */
#ifndef CUTE_TEST_H
#define CUTE_TEST_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int test_count, test_failed_count;
static bool test_failed;

static inline bool test_fail(const char *file, int line, const char *what)
{
    printf("# %s:%d: %s\n", file, line, what);
    test_failed = true;
    return false;
}
#define CHECK(condition) ((condition) ? true : test_fail(__FILE__, __LINE__, #condition))
#define CHECK_INT(actual, expected)                                                                          \
    do {                                                                                                     \
        int64_t actual_ = (int64_t)(actual), expected_ = (int64_t)(expected);                                \
        if (actual_ != expected_) {                                                                          \
            printf("# %s is %" PRId64 ", not %" PRId64 "\n", #actual, actual_, expected_);                   \
            test_fail(__FILE__, __LINE__, #actual);                                                          \
        }                                                                                                    \
    } while (0)
#define CHECK_TEXT(actual, expected)                                                                         \
    do {                                                                                                     \
        const char *actual_ = (actual), *expected_ = (expected);                                             \
        if (!actual_ || strcmp(actual_, expected_) != 0) {                                                   \
            printf("# %s is\n#   %s\n# not\n#   %s\n", #actual, actual_ ? actual_ : "(null)", expected_);    \
            test_fail(__FILE__, __LINE__, #actual);                                                          \
        }                                                                                                    \
    } while (0)
#define TEST(name, function)                                                                                 \
    do {                                                                                                     \
        test_failed = false;                                                                                 \
        function();                                                                                          \
        test_count++;                                                                                        \
        test_failed_count += test_failed;                                                                    \
        printf("%sok %d - %s\n", test_failed ? "not " : "", test_count, name);                               \
    } while (0)

static inline int test_finish(void)
{
    printf("1..%d\n", test_count);
    return test_failed_count != 0;
}

#endif
