/* The cache on disk: what is put is found, what is damaged is not, and writers do not disturb each other. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/options/settings.h"
#include "lib/base/system/cache.h"
#include "lib/base/system/file.h"
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
    int bad = 0;
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, write_often, (void *)(uintptr_t)folder) == 0);
    for (int i = 0; i < 2000; i++) {
        char key[32];
        cute_buffer out = {0};
        snprintf(key, sizeof key, "key %d", i % 7);
        if (cute_cache_get(folder, "k", key, strlen(key), &out)) {
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
    CHECK_TEXT(cute_cache_pipe_folder(arena), "/here");
    static const char *const off[] = {"off", "0"};
    for (int i = 0; i < 2; i++) {
        setenv("CUTE_CACHE", off[i], 1);
        CHECK(!cute_cache_folder(arena, NULL) && !cute_cache_pipe_folder(arena));
        CHECK_TEXT(cute_cache_folder(arena, "/given"), "/given");
    }
    setenv("CUTE_CACHE", "", 1);
    CHECK_TEXT(cute_cache_folder(arena, NULL), "/there/libcute");
    CHECK(!cute_cache_pipe_folder(arena));
    unsetenv("CUTE_CACHE");
    CHECK_TEXT(cute_cache_folder(arena, NULL), "/there/libcute");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "/home/x", 1);
    CHECK_TEXT(cute_cache_folder(arena, NULL), "/home/x/.cache/libcute");
    unsetenv("HOME");
    CHECK(!cute_cache_folder(arena, NULL));
}

/* ---- what others may have had their hands on ---- */

static const char *other_place;

static void give_away(const char *path)
{
    CHECK(chown(path, 12345, 12345) == 0);
}

static void open_to_group(const char *path)
{
    CHECK(chmod(path, 0620) == 0);
}

static void open_to_all(const char *path)
{
    CHECK(chmod(path, 0602) == 0);
}

static void become_fifo(const char *path)
{
    CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
}

static void become_link(const char *path)
{
    CHECK(rename(path, other_place) == 0 && symlink(other_place, path) == 0);
}

static void become_folder(const char *path)
{
    CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
}

static bool others_file_is(const char *want)
{
    cute_buffer bytes = {0};
    bool same = cute_file_read(other_place, &bytes, NULL) == CUTE_OK && bytes.length == strlen(want) &&
                !memcmp(bytes.data, want, bytes.length);
    cute_buffer_release(&bytes);
    return same;
}

static void test_foreign_entries(void)
{
    void (*const changes[])(const char *) = {open_to_group, open_to_all, become_fifo, become_link, give_away};
    const char *folder = fresh_folder(), *elsewhere = fresh_folder();
    other_place = cute_arena_printf(arena, "%s/other", elsewhere);
    size_t count = sizeof changes / sizeof *changes - (geteuid() != 0); /* only root gives files away */
    for (size_t i = 0; i < count; i++) {
        put(folder, "a", "key", "value");
        CHECK(holds(folder, "a", "key", "value"));
        CHECK_INT(each_entry(folder, changes[i]), 1);
        CHECK(holds(folder, "a", "key", NULL));
        if (changes[i] == become_link)
            CHECK(cute_file_write(other_place, "precious", strlen("precious"), NULL) == CUTE_OK);
        put(folder, "a", "key", "value"); /* replaced, not written through */
        CHECK(holds(folder, "a", "key", "value"));
        if (changes[i] == become_link) CHECK(others_file_is("precious"));
    }
    CHECK_INT(each_entry(folder, become_folder), 1);
    put(folder, "a", "key", "value");
    CHECK(holds(folder, "a", "key", NULL));
    CHECK_INT(each_entry(folder, NULL), 1); /* nothing is left beside it */
    each_entry(folder, (void (*)(const char *))(uintptr_t)rmdir);
    cute_temp_remove(folder);
    cute_temp_remove(elsewhere);
}

static void own_mode(const char *path)
{
    struct stat info;
    CHECK(stat(path, &info) == 0 && (info.st_mode & 07777) == 0600);
}

static void test_foreign_folders(void)
{
    static const struct {
        mode_t mode;
        bool used;
    } cases[] = {{0700, true}, {0755, true}, {01777, true}, {0777, false}, {0775, false}, {0702, false}};
    struct stat info;
    const char *parent = fresh_folder(), *folder = cute_arena_printf(arena, "%s/made", parent);
    mode_t before = umask(0);
    put(folder, "a", "key", "value");
    umask(before);
    CHECK(stat(folder, &info) == 0 && (info.st_mode & 07777) == 0700);
    CHECK_INT(each_entry(folder, own_mode), 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(chmod(folder, cases[i].mode) == 0);
        CHECK(holds(folder, "a", "key", cases[i].used ? "value" : NULL));
        put(folder, "a", "another", "value");
        CHECK_INT(each_entry(folder, NULL), cases[i].used ? 2 : 1);
        CHECK(chmod(folder, 0700) == 0);
        CHECK_INT(cute_cache_clear(folder), cases[i].used ? 2 : 1);
        put(folder, "a", "key", "value");
    }
    if (geteuid() == 0) {
        CHECK(chown(folder, 12345, 12345) == 0);
        CHECK(holds(folder, "a", "key", NULL));
        CHECK_INT(cute_cache_clear(folder), 0);
        CHECK(chown(folder, 0, 0) == 0);
    }
    cute_cache_clear(folder);
    cute_temp_remove(folder);
    cute_temp_remove(parent);
}

/* ---- keys ---- */

static bool changes_key(const char *variable)
{
    cute_buffer without = {0}, with = {0};
    unsetenv(variable);
    cute_cache_key_program(&without);
    setenv(variable, "1", 1);
    cute_cache_key_program(&with);
    unsetenv(variable);
    bool changes = with.length != without.length || memcmp(with.data, without.data, with.length) != 0;
    cute_buffer_release(&without);
    cute_buffer_release(&with);
    return changes;
}

/* A row that shapes the output makes its variables count, whatever another row says of them. */
static bool some_row_counts(const char *variable)
{
    const cute_setting *setting;
    bool counts = false;
    for (size_t row = 0; (setting = cute_setting_at(row)) != NULL; row++)
        for (size_t v = 0; v < 4 && setting->variables[v]; v++)
            counts =
                counts || (!strcmp(setting->variables[v], variable) && setting->effect == CUTE_EFFECT_OUTPUT);
    return counts;
}

static void test_settings(void)
{
    static const char *const without_row[] = {"CUTE_NEW", "CUTLASS_NEW", "CUTE_DSL_NEW", "NVVM_NEW",
                                              "CUDA_NEW", "PATH",        "LD_PRELOAD"};
    const cute_setting *setting;
    size_t count = 0;
    for (size_t row = 0; (setting = cute_setting_at(row)) != NULL; row++)
        for (size_t v = 0; v < 4 && setting->variables[v]; v++, count++) {
            const char *variable = setting->variables[v];
            if (!CHECK(changes_key(variable) == some_row_counts(variable)))
                printf("# of the variable %s\n", variable);
        }
    CHECK(count > 20);
    CHECK(changes_key("CUTLASS_ARCH") && changes_key("CUTLASS_LINEINFO"));
    CHECK(!changes_key("CUTE_LOG_LEVEL") && !changes_key("CUTE_CACHE"));
    CHECK(!changes_key("PATHS") && !changes_key("TERM"));
    for (size_t i = 0; i < sizeof without_row / sizeof *without_row; i++) CHECK(changes_key(without_row[i]));
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
    TEST("an entry that another user owns or can write, a FIFO and a link are none, and nothing is written "
         "through them",
         test_foreign_entries);
    TEST("a folder that another user owns or can write is not used; one that is made is its owner's alone",
         test_foreign_folders);
    TEST(
        "each variable of settings.def changes the key of a program, unless its row says that it is harmless",
        test_settings);
    cute_arena_destroy(arena);
    return test_finish();
}
