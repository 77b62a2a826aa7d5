/* The index of names. */
#include "lib/base/text/names.h"

#include <stdio.h>

#include "tests/unit/test.h"

static void test_first_stays(void)
{
    cute_names names = {0};
    CHECK(cute_names_find(&names, "a", 1) == CUTE_NO_NAME);
    CHECK(cute_names_put(&names, "a", 1, 7));
    CHECK(cute_names_put(&names, "a", 1, 8));
    CHECK(cute_names_put(&names, "", 0, 9));
    CHECK(cute_names_find(&names, "a", 1) == 7);
    CHECK(cute_names_find(&names, "", 0) == 9);
    CHECK(cute_names_find(&names, "ab", 2) == CUTE_NO_NAME);
    CHECK(names.count == 2);
    cute_names_release(&names);
}

static void test_many(void)
{
    enum { COUNT = 20000 };
    static char text[COUNT][8];
    cute_names names = {0};
    size_t wrong = 0;
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(text[i], sizeof text[i], "k%zu", i);
        wrong += !cute_names_put(&names, text[i], strlen(text[i]), i);
    }
    for (size_t i = 0; i < COUNT; i++) wrong += cute_names_find(&names, text[i], strlen(text[i])) != i;
    CHECK(wrong == 0);
    CHECK(cute_names_find(&names, "k20000", 6) == CUTE_NO_NAME);
    cute_names_release(&names);
}

int main(void)
{
    TEST("the first of one name stays, and the empty name is one", test_first_stays);
    TEST("each of many names is found", test_many);
    return test_finish();
}
