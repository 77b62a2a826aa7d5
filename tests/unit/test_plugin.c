/* Files that pretend to be plugins are examined without a crash, whatever is wrong with them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/system/file.h"
#include "lib/plugin/plugins.h"
#include "tests/unit/test.h"

static const plugin_site site = {.program = "test"};

static cute_status examine(const char *path, const char *bytes, size_t length)
{
    CHECK(cute_file_write(path, bytes, length, NULL) == CUTE_OK);
    return plugin_examine(path, &site, NULL);
}

/* This program: an ELF file with symbols, dynamic entries and no cute_plugin_info. */
static void test_damaged(void)
{
    cute_buffer own = {0};
    char path[] = "/tmp/cute-plugin-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && close(fd) == 0);
    CHECK(cute_file_read("/proc/self/exe", &own, NULL) == CUTE_OK && own.length > 4096);
    CHECK(examine(path, own.data, own.length) == CUTE_INVALID);
    for (size_t length = 0; length < 4096; length += 31)
        CHECK(examine(path, own.data, length) == CUTE_INVALID);
    /* The header, the section headers and the rest of a small file. */
    uint64_t random = 1;
    size_t size = own.length < (1 << 20) ? own.length : 1 << 20, sections;
    memcpy(&sections, own.data + 40, sizeof sections); /* e_shoff */
    char *copy = malloc(own.length);
    CHECK(copy != NULL);
    for (int round = 0; round < 300; round++) {
        memcpy(copy, own.data, own.length);
        for (int k = 0; k < 8; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            size_t at = (size_t)(random >> 33);
            at = k < 2 ? at % 64 : k < 6 ? sections + at % 2048 : at % size;
            if (at >= 5 && at < own.length) copy[at] = (char)(random >> 20);
        }
        CHECK(examine(path, copy, own.length) == CUTE_INVALID);
    }
    free(copy);
    cute_buffer_release(&own);
    unlink(path);
}

static void test_bits(void)
{
    plugin_check checks[2] = {{.row = {.name = "once"}}, {.row = {.name = "twice"}}};
    const cute_plugins plugins = {.checks = checks, .check_count = 2};
    CHECK(cute_plugins_check_bits(NULL) == 0);
    CHECK(cute_plugins_check_bits(&plugins) == 3u * CUTE_CHECK_PLUGIN);
    CHECK(cute_plugins_check_bit(&plugins, "twice,race", 5) == 2u * CUTE_CHECK_PLUGIN);
    CHECK(cute_plugins_check_bit(&plugins, "tw", 2) == 0);
    CHECK(cute_plugins_check_bit(NULL, "once", 4) == 0);
}

int main(void)
{
    TEST("damaged libraries, and those that are not plugins, are refused", test_damaged);
    TEST("each check of plugins has a bit of its own", test_bits);
    return test_finish();
}
