/* See cache.h. An entry is a head, its key and its bytes; the name is a hash of the key, which is compared whole. */
#include "lib/base/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/base/file.h"
#include "lib/base/list.h"
#include "lib/base/log.h"
#include "lib/base/mix.h"

static const char suffix[] = ".cute-cache";
static const char magic[8] = "cutecch1";
enum { USUAL_SIZE = 512 }; /* MiB */

typedef struct head {
    char magic[8];
    uint64_t key_length, length;
    uint32_t key_sum, sum; /* CRC-32 */
} head;

const char *cute_cache_folder(cute_arena *arena, const char *given)
{
    const char *own = getenv("CUTE_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (!given) given = own && *own ? own : NULL;
    if (given) return *given ? cute_arena_copy(arena, given, strlen(given)) : NULL;
    if (xdg && *xdg == '/') return cute_arena_printf(arena, "%s/libcute", xdg);
    return home && *home == '/' ? cute_arena_printf(arena, "%s/.cache/libcute", home) : NULL;
}

static void hash(const char *kind, const void *key, size_t length, uint64_t out[2])
{
    const unsigned char *bytes = key;
    out[0] = UINT64_C(0xcbf29ce484222325);
    out[1] = length;
    for (; *kind; kind++) out[0] = (out[0] ^ (unsigned char)*kind) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < length; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, length - i < 8 ? length - i : 8);
        out[0] = cute_mix(out[0] ^ word);
        out[1] = cute_mix(out[1] + CUTE_MIX_STEP + out[0]);
    }
}

static const char *path_of(cute_arena *arena, const char *folder, const char *kind, const void *key,
                           size_t length)
{
    uint64_t name[2];
    hash(kind, key, length, name);
    return cute_arena_printf(arena, "%s/%s-%016" PRIx64 "%016" PRIx64 "%s", folder, kind, name[0], name[1],
                             suffix);
}

static uint32_t sum_of(const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uLong sum = crc32(0, NULL, 0);
    for (size_t part; length; at += part, length -= part) {
        part = length < (1u << 30) ? length : (1u << 30);
        sum = crc32(sum, at, (uInt)part);
    }
    return (uint32_t)sum;
}

bool cute_cache_get(const char *folder, const char *kind, const void *key, size_t key_length,
                    cute_buffer *out)
{
    cute_buffer file = {0};
    cute_arena *arena = folder ? cute_arena_create() : NULL;
    const char *path = arena ? path_of(arena, folder, kind, key, key_length) : NULL;
    head h;
    bool found = path && cute_file_exists(path) && cute_file_read(path, &file, NULL) == CUTE_OK &&
                 cute_buffer_ok(&file) && file.length >= sizeof h;
    if (found) memcpy(&h, file.data, sizeof h);
    found = found && !memcmp(h.magic, magic, sizeof magic) && h.key_length == key_length &&
            h.length <= file.length && file.length == sizeof h + key_length + h.length;
    const char *stored = found ? file.data + sizeof h : NULL;
    found = found && !memcmp(stored, key, key_length) && h.key_sum == sum_of(key, key_length) &&
            h.sum == sum_of(stored + key_length, h.length);
    if (found) {
        cute_buffer_append(out, stored + key_length, h.length);
        utimensat(AT_FDCWD, path, NULL, 0); /* it was used now */
    }
    if (folder) cute_log(CUTE_LOG_INFO, "%s in the cache: %s", found ? "found" : "not", path ? path : folder);
    cute_buffer_release(&file);
    cute_arena_destroy(arena);
    return found;
}

/* ---- all entries of a folder ---- */

typedef struct entry {
    const char *path;
    int64_t size;
    struct timespec used;
} entry;

typedef struct entry_list {
    entry *items;
    size_t count, capacity;
    int64_t size;
} entry_list;

static bool is_entry(const char *name)
{
    size_t length = strlen(name), end = sizeof suffix - 1;
    return length > end && strcmp(name + length - end, suffix) == 0;
}

static void list_entries(cute_arena *arena, const char *folder, entry_list *out)
{
    DIR *directory = opendir(folder);
    for (struct dirent *item; directory && (item = readdir(directory));) {
        struct stat info;
        const char *path =
            is_entry(item->d_name) ? cute_arena_printf(arena, "%s/%s", folder, item->d_name) : NULL;
        if (!path || lstat(path, &info) != 0 || !S_ISREG(info.st_mode)) continue;
        if (!cute_arena_more(arena, &out->items, out->count, &out->capacity, sizeof *out->items, 64)) break;
        out->items[out->count++] = (entry){path, info.st_size, info.st_mtim};
        out->size += info.st_size;
    }
    if (directory) closedir(directory);
}

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const entry *)a)->used, *y = &((const entry *)b)->used;
    if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
    return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

static int64_t size_limit(void)
{
    const char *text = getenv("CUTE_CACHE_SIZE");
    char *end;
    long long mebibytes = text && *text ? strtoll(text, &end, 10) : USUAL_SIZE;
    if (text && *text && (*end || mebibytes < 0 || mebibytes > INT64_MAX >> 20)) mebibytes = USUAL_SIZE;
    return mebibytes << 20;
}

static void trim(cute_arena *arena, const char *folder)
{
    entry_list list = {0};
    int64_t limit = size_limit();
    list_entries(arena, folder, &list);
    if (list.size <= limit) return;
    qsort(list.items, list.count, sizeof *list.items, by_use);
    for (size_t i = 0; i < list.count && list.size > limit; i++) {
        unlink(list.items[i].path);
        list.size -= list.items[i].size;
    }
}

void cute_cache_put(const char *folder, const char *kind, const void *key, size_t key_length,
                    const void *bytes, size_t length)
{
    cute_buffer file = {0};
    cute_arena *arena = folder ? cute_arena_create() : NULL;
    const char *path = arena ? path_of(arena, folder, kind, key, key_length) : NULL;
    head h = {.key_length = key_length,
              .length = length,
              .key_sum = sum_of(key, key_length),
              .sum = sum_of(bytes, length)};
    memcpy(h.magic, magic, sizeof magic);
    cute_buffer_append(&file, &h, sizeof h);
    cute_buffer_append(&file, key, key_length);
    cute_buffer_append(&file, bytes, length);
    if (path && cute_buffer_ok(&file) && cute_make_directory(folder, NULL) == CUTE_OK &&
        cute_file_write(path, file.data, file.length, NULL) == CUTE_OK)
        trim(arena, folder);
    cute_buffer_release(&file);
    cute_arena_destroy(arena);
}

size_t cute_cache_clear(const char *folder)
{
    entry_list list = {0};
    size_t removed = 0;
    cute_arena *arena = folder ? cute_arena_create() : NULL;
    if (arena) list_entries(arena, folder, &list);
    for (size_t i = 0; i < list.count; i++) removed += unlink(list.items[i].path) == 0;
    cute_arena_destroy(arena);
    return removed;
}

/* ---- keys of programs ---- */

const char *cute_cache_pipe_folder(cute_arena *arena)
{
    const char *folder = getenv("CUTE_CACHE");
    return folder && *folder ? cute_arena_copy(arena, folder, strlen(folder)) : NULL;
}

void cute_cache_key_bytes(cute_buffer *key, const void *bytes, size_t length)
{
    cute_buffer_printf(key, "%zu:", length);
    cute_buffer_append(key, bytes, length);
}

void cute_cache_key_file(cute_buffer *key, const char *path)
{
    struct stat info;
    if (!path || stat(path, &info) != 0) {
        cute_buffer_printf(key, "none %s\n", path ? path : "");
        return;
    }
    cute_buffer_printf(key, "%s %lld %lld.%09ld %llu\n", path, (long long)info.st_size,
                       (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec, (unsigned long long)info.st_ino);
}

void cute_cache_key_program(cute_buffer *key)
{
    static const char *const variables[] = {
        "ARCH=", "CUTE_", "CUDA", "NV", "PATH=", "LD_LIBRARY_PATH=", "HOME="};
    extern char **environ;
    cute_buffer line = {0};
    cute_buffer_printf(key, "%s\n", cute_version());
    cute_cache_key_file(key, "/proc/self/exe");
    char *folder = getcwd(NULL, 0);
    cute_cache_key_bytes(key, folder ? folder : "", folder ? strlen(folder) : 0);
    free(folder);
    if (cute_file_read("/proc/self/cmdline", &line, NULL) == CUTE_OK)
        cute_cache_key_bytes(key, cute_buffer_text(&line), line.length);
    cute_buffer_release(&line);
    for (char **variable = environ; *variable; variable++) {
        bool matters = false;
        for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
            matters = matters || strncmp(*variable, variables[i], strlen(variables[i])) == 0;
        if (matters && strncmp(*variable, "CUTE_CACHE", 10) != 0)
            cute_cache_key_bytes(key, *variable, strlen(*variable));
    }
}
