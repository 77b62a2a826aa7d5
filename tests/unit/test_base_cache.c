/* The cache on disk: what is put is found, what is damaged is not, and writers do not disturb each other. */
#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/cache.h"
#include "lib/base/file.h"
#include "tests/unit/test.h"

static cute_arena *arena;

static const char *fresh_folder(void)
{
    const char *folder = NULL;
    CHECK(cute_temp_directory(arena, &folder, NULL) == CUTE_OK);
    return folder;
}

static bool holds(const char *folder, const char *kind, const char *key, const char *want)
{
    cute_buffer out = {0};
    bool found = cute_cache_get(folder, kind, key, strlen(key), &out);
    bool same = found && want && out.length == strlen(want) && !memcmp(out.data, want, out.length);
    cute_buffer_release(&out);
    return want ? same : !found;
}

static void put(const char *folder, const char *kind, const char *key, const char *text)
{
    cute_cache_put(folder, kind, key, strlen(key), text, strlen(text));
}

/* Calls `change` for each entry. */
static int each_entry(const char *folder, void (*change)(const char *path))
{
    int count = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *d; directory && (d = readdir(directory));) {
        if (*d->d_name == '.') continue;
        count++;
        if (change) change(cute_arena_printf(arena, "%s/%s", folder, d->d_name));
    }
    if (directory) closedir(directory);
    return count;
}

static void test_found(void)
{
    const char *folder = fresh_folder();
    CHECK(holds(folder, "a", "key", NULL));
    put(folder, "a", "key", "value");
    put(folder, "b", "key", "other");
    put(folder, "a", "", "empty key");
    put(folder, "a", "empty value", "");
    CHECK(holds(folder, "a", "key", "value"));
    CHECK(holds(folder, "b", "key", "other"));
    CHECK(holds(folder, "a", "", "empty key"));
    CHECK(holds(folder, "a", "empty value", ""));
    CHECK(holds(folder, "a", "kez", NULL));
    put(folder, "a", "key", "newer");
    CHECK(holds(folder, "a", "key", "newer"));
    CHECK(cute_file_write(cute_arena_printf(arena, "%s/mine.txt", folder), "x", 1, NULL) == CUTE_OK);
    CHECK_INT(cute_cache_clear(folder), 4);
    CHECK(holds(folder, "a", "key", NULL));
    CHECK_INT(each_entry(folder, NULL), 1);
    cute_temp_remove(folder);
}

static int64_t damaged_at;

static void damage(const char *path)
{
    FILE *f = fopen(path, "r+b");
    if (!CHECK(f != NULL)) return;
    fseek(f, damaged_at, SEEK_SET);
    int byte = fgetc(f);
    fseek(f, damaged_at, SEEK_SET);
    fputc(byte ^ 0x40, f);
    fclose(f);
}

static void cut(const char *path)
{
    CHECK(truncate(path, damaged_at) == 0);
}

static void test_damage(void)
{
    const char *folder = fresh_folder();
    put(folder, "a", "some key", "some value");
    struct stat info;
    int64_t size = (int64_t)(8 + 8 + 8 + 8 + strlen("some key") + strlen("some value"));
    for (damaged_at = 0; damaged_at < size; damaged_at++) {
        put(folder, "a", "some key", "some value");
        each_entry(folder, damage);
        CHECK(holds(folder, "a", "some key", NULL));
        put(folder, "a", "some key", "some value");
        each_entry(folder, cut);
        CHECK(holds(folder, "a", "some key", NULL));
    }
    put(folder, "a", "some key", "some value");
    CHECK(holds(folder, "a", "some key", "some value"));
    CHECK(stat(folder, &info) == 0);
    cute_temp_remove(folder);
}

static void *write_often(void *context)
{
    char key[32], value[4096];
    for (int i = 0; i < 200; i++) {
        snprintf(key, sizeof key, "key %d", i % 7);
        memset(value, 'a' + i % 7, sizeof value);
        cute_cache_put(context, "k", key, strlen(key), value, sizeof value);
    }
    return NULL;
}

static void test_writers(void)
{
    const char *folder = fresh_folder();
    pthread_t threads[4];
    int bad = 0, found = 0;
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, write_often, (void *)(uintptr_t)folder) == 0);
    for (int i = 0; i < 2000; i++) {
        char key[32];
        cute_buffer out = {0};
        snprintf(key, sizeof key, "key %d", i % 7);
        if (cute_cache_get(folder, "k", key, strlen(key), &out)) {
            found++;
            for (size_t at = 0; at < out.length; at++) bad += out.data[at] != 'a' + i % 7;
            bad += out.length != 4096;
        }
        cute_buffer_release(&out);
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    CHECK_INT(bad, 0);
    CHECK_INT(each_entry(folder, NULL), 7);
    cute_temp_remove(folder);
}

static void test_size(void)
{
    const char *folder = fresh_folder();
    size_t length = 400 << 10;
    char *value = calloc(1, length), key[8];
    setenv("CUTE_CACHE_SIZE", "1", 1);
    for (int i = 0; i < 6; i++) {
        snprintf(key, sizeof key, "%d", i);
        cute_cache_put(folder, "k", key, 1, value, length);
        usleep(20000);
        cute_buffer out = {0};
        if (i == 2) CHECK(cute_cache_get(folder, "k", "1", 1, &out)); /* used: it outlives entry 2 */
        cute_buffer_release(&out);
        usleep(20000);
        if (i == 3) {
            cute_buffer kept = {0};
            CHECK(cute_cache_get(folder, "k", "1", 1, &kept));
            CHECK(holds(folder, "k", "2", NULL));
            cute_buffer_release(&kept);
        }
    }
    CHECK_INT(each_entry(folder, NULL), 2);
    unsetenv("CUTE_CACHE_SIZE");
    free(value);
    cute_temp_remove(folder);
}

static void test_no_folder(void)
{
    CHECK(holds(NULL, "a", "key", NULL));
    put(NULL, "a", "key", "value");
    put("/proc/nowhere", "a", "key", "value");
    CHECK(holds("/proc/nowhere", "a", "key", NULL));
    CHECK_INT(cute_cache_clear("/proc/nowhere"), 0);
    setenv("CUTE_CACHE", "/here", 1);
    setenv("XDG_CACHE_HOME", "/there", 1);
    CHECK_TEXT(cute_cache_folder(arena, NULL), "/here");
    CHECK_TEXT(cute_cache_folder(arena, "/given"), "/given");
    CHECK(!cute_cache_folder(arena, ""));
    unsetenv("CUTE_CACHE");
    CHECK_TEXT(cute_cache_folder(arena, NULL), "/there/libcute");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "/home/x", 1);
    CHECK_TEXT(cute_cache_folder(arena, NULL), "/home/x/.cache/libcute");
    unsetenv("HOME");
    CHECK(!cute_cache_folder(arena, NULL));
}

int main(void)
{
    arena = cute_arena_create();
    unsetenv("CUTE_CACHE_SIZE");
    TEST("what was put is found under its kind and key, until it is cleared", test_found);
    TEST("an entry with any byte changed, or cut off anywhere, is none", test_damage);
    TEST("readers see whole entries while several threads write them", test_writers);
    TEST("above the limit the entries go that were used longest ago", test_size);
    TEST("the folder is given, of the environment, or none", test_no_folder);
    cute_arena_destroy(arena);
    return test_finish();
}
