/* Libraries that are opened at run time: which of a list, and what is said where there is none. */
#include <stdlib.h>

#include "lib/base/system/library.h"
#include "tests/unit/test.h"

static const char *const names[] = {"libnowhere.so.1", "libm.so.6", NULL};

static void test_first_that_is_there(void)
{
    const char *path = NULL;
    cute_buffer reasons = {0};
    unsetenv("A_LIBRARY");
    CHECK(cute_library_open("A_LIBRARY", names, &path, &reasons) != NULL);
    CHECK_TEXT(path, "libm.so.6");
    CHECK(strstr(cute_buffer_text(&reasons), "libnowhere.so.1"));
    setenv("A_LIBRARY", "", 1);
    CHECK(cute_library_open("A_LIBRARY", names, NULL, NULL) != NULL);
    cute_buffer_release(&reasons);
}

static void test_the_named_one_and_no_other(void)
{
    const char *path = NULL;
    cute_buffer reasons = {0};
    setenv("A_LIBRARY", "/nowhere/liba.so", 1);
    CHECK(cute_library_open("A_LIBRARY", names, &path, &reasons) == NULL);
    CHECK_TEXT(path, "/nowhere/liba.so");
    CHECK(strstr(cute_buffer_text(&reasons), "/nowhere/liba.so") && !strchr(reasons.data, '\n'));
    cute_buffer_release(&reasons);
}

static void test_notes(void)
{
    const char *const absent[] = {"libnowhere.so.1", "libnowhere.so.2", NULL};
    cute_diag *diag = cute_diag_create();
    cute_buffer reasons = {0};
    unsetenv("A_LIBRARY");
    CHECK(cute_library_open("A_LIBRARY", absent, NULL, &reasons) == NULL);
    cute_fail(diag, CUTE_SYSTEM, NULL, "no library");
    cute_library_notes(&reasons, diag);
    CHECK_INT(cute_diag_count(diag), 3);
    CHECK(strstr(cute_diag_get(diag, 2)->text, "libnowhere.so.2") && !reasons.data);
    cute_diag_destroy(diag);
}

int main(void)
{
    TEST("the first library of a list that is there is opened", test_first_that_is_there);
    TEST("a library that the environment names is opened, or none", test_the_named_one_and_no_other);
    TEST("a note says of each library why it was not opened", test_notes);
    return test_finish();
}
