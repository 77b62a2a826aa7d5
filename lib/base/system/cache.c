/* An entry is a head, its key and its bytes; its file name is a hash of the key, and the whole key is
 * compared. */
#include "lib/base/system/cache.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/base/diagnostics/log.h"
#include "lib/base/list.h"
#include "lib/base/numbers/mix.h"
#include "lib/base/options/settings.h"
#include "lib/base/sort.h"
#include "lib/base/system/file.h"

static const char suffix[] = ".cute-cache";
static const char magic[8] = "cutecch1";
enum { DEFAULT_SIZE_MIB = 512 }; /* MiB */

typedef struct head {
    char magic[8];
    uint64_t key_length, length;
    uint32_t key_sum, sum; /* CRC-32 */
} head;

/* $CUTE_CACHE; NULL: unset or empty. *off: it turns the cache off. */
static const char *stated_folder(bool *off)
{
    const char *folder = getenv("CUTE_CACHE");
    *off = folder && (!strcmp(folder, "off") || !strcmp(folder, "0"));
    return folder && *folder && !*off ? folder : NULL;
}

const char *cute_cache_folder(cute_arena *arena, const char *given)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool off = false;
    if (!given) given = stated_folder(&off);
    if (off) return NULL;
    if (given) return *given ? cute_arena_copy(arena, given, strlen(given)) : NULL;
    if (xdg && *xdg == '/') return cute_arena_printf(arena, "%s/libcute", xdg);
    return home && *home == '/' ? cute_arena_printf(arena, "%s/.cache/libcute", home) : NULL;
}

static void hash_key(const char *kind, const void *key, size_t length, uint64_t out[2])
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

static const char *entry_name(cute_arena *arena, const char *kind, const void *key, size_t length)
{
    uint64_t name[2];
    hash_key(kind, key, length, name);
    return cute_arena_printf(arena, "%s-%016" PRIx64 "%016" PRIx64 "%s", kind, name[0], name[1], suffix);
}

/* ---- ownership ---- */

/* Opens a folder owned by this user or root; if others can write to it, it must have the sticky bit.
 * Negative: not usable. Entries are opened relative to it, so it cannot be swapped for another folder. */
static int open_folder(const char *folder, bool tell)
{
    struct stat info;
    const char *why = NULL;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0) return fd;
    if (info.st_uid != geteuid() && info.st_uid != 0)
        why = "it belongs to another user";
    else if ((info.st_mode & (S_IWGRP | S_IWOTH)) && !(info.st_mode & S_ISVTX))
        why = "other users can write to it; fix: chmod go-w";
    if (!why) return fd;
    if (tell) cute_log(CUTE_LOG_WARNING, "the cache %s is not used: %s", folder, why);
    close(fd);
    return -1;
}

/* Opens an entry written by this user that nobody else can have changed. Does not block on non-regular files,
 * and does not follow links. */
static int open_entry(int folder, const char *name, struct stat *info)
{
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return fd;
    if (fstat(fd, info) == 0 && S_ISREG(info->st_mode) && info->st_uid == geteuid() &&
        !(info->st_mode & (S_IWGRP | S_IWOTH)))
        return fd;
    close(fd);
    return -1;
}

static bool read_fully(int fd, void *bytes, size_t length, off_t at)
{
    char *to = bytes;
    while (length) {
        ssize_t got = pread(fd, to, length, at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        at += got;
        length -= (size_t)got;
    }
    return true;
}

static uint32_t checksum(const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uLong sum = crc32(0, NULL, 0);
    for (size_t part; length; at += part, length -= part) {
        part = length < (1u << 30) ? length : (1u << 30);
        sum = crc32(sum, at, (uInt)part);
    }
    return (uint32_t)sum;
}

/* Reads key and bytes of an entry whose lengths match the file; NULL: not an entry of this key. */
static char *read_entry(int fd, const struct stat *info, const void *key, size_t key_length, head *h)
{
    if (!read_fully(fd, h, sizeof *h, 0) || memcmp(h->magic, magic, sizeof magic) != 0) return NULL;
    uint64_t size = (uint64_t)info->st_size - sizeof *h;
    if (h->key_length != key_length || key_length > size || h->length != size - key_length) return NULL;
    char *stored = size < PTRDIFF_MAX ? malloc(size + 1) : NULL;
    if (stored && read_fully(fd, stored, size, sizeof *h) && !memcmp(stored, key, key_length) &&
        h->key_sum == checksum(key, key_length) && h->sum == checksum(stored + key_length, h->length))
        return stored;
    free(stored);
    return NULL;
}

bool cute_cache_get(const char *folder, const char *kind, const void *key, size_t key_length,
                    cute_buffer *out)
{
    struct stat info;
    head h;
    char *stored = NULL;
    cute_arena *arena = folder ? cute_arena_create() : NULL;
    const char *name = arena ? entry_name(arena, kind, key, key_length) : NULL;
    int place = name ? open_folder(folder, true) : -1;
    int fd = place < 0 ? -1 : open_entry(place, name, &info);
    if (fd >= 0 && info.st_size >= (off_t)sizeof h) stored = read_entry(fd, &info, key, key_length, &h);
    if (stored) {
        cute_buffer_append(out, stored + key_length, h.length);
        futimens(fd, NULL); /* marks it as used */
    }
    if (folder)
        cute_log(CUTE_LOG_INFO, "%s in the cache: %s/%s", stored ? "found" : "not", folder, name ? name : "");
    bool found = stored != NULL;
    free(stored);
    if (fd >= 0) close(fd);
    if (place >= 0) close(place);
    cute_arena_destroy(arena);
    return found;
}

/* ---- all entries of a folder ---- */

typedef struct entry {
    const char *name;
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

static void list_entries(cute_arena *arena, int folder, entry_list *out)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *item; directory && (item = readdir(directory));) {
        struct stat info;
        if (!is_entry(item->d_name) || fstatat(folder, item->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(info.st_mode))
            continue;
        const char *name = cute_arena_copy(arena, item->d_name, strlen(item->d_name));
        if (!name || !cute_arena_more(arena, &out->items, out->count, &out->capacity, sizeof *out->items, 64))
            break;
        out->items[out->count++] = (entry){name, info.st_size, info.st_mtim};
        out->size += info.st_size;
    }
    if (directory)
        closedir(directory);
    else if (fd >= 0)
        close(fd);
}

static int compare_by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const entry *)a)->used, *y = &((const entry *)b)->used;
    if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
    return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

static int64_t size_limit(void)
{
    const char *text = getenv("CUTE_CACHE_SIZE");
    char *end;
    long long mebibytes = text && *text ? strtoll(text, &end, 10) : DEFAULT_SIZE_MIB;
    if (text && *text && (*end || mebibytes < 0 || mebibytes > INT64_MAX >> 20)) mebibytes = DEFAULT_SIZE_MIB;
    return mebibytes << 20;
}

static void trim_cache(cute_arena *arena, int folder)
{
    entry_list list = {0};
    int64_t limit = size_limit();
    list_entries(arena, folder, &list);
    if (list.size <= limit) return;
    cute_sort(list.items, list.count, sizeof *list.items, compare_by_use);
    for (size_t i = 0; i < list.count && list.size > limit; i++) {
        unlinkat(folder, list.items[i].name, 0);
        list.size -= list.items[i].size;
    }
}

/* A folder created here is private. */
static int make_folder(cute_arena *arena, const char *folder)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/') length--;
    const char *plain = cute_arena_copy(arena, folder, length), *slash = plain ? strrchr(plain, '/') : NULL;
    if (slash > plain && cute_make_directory(cute_arena_copy(arena, plain, (size_t)(slash - plain)), NULL))
        return -1;
    if (!plain || (mkdir(plain, 0700) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES))
        return -1;
    return open_folder(plain, false); /* the lookup has already warned */
}

void cute_cache_put(const char *folder, const char *kind, const void *key, size_t key_length,
                    const void *bytes, size_t length)
{
    cute_buffer file = {0};
    cute_arena *arena = folder && *folder ? cute_arena_create() : NULL;
    const char *name = arena ? entry_name(arena, kind, key, key_length) : NULL;
    head h = {.key_length = key_length,
              .length = length,
              .key_sum = checksum(key, key_length),
              .sum = checksum(bytes, length)};
    memcpy(h.magic, magic, sizeof magic);
    cute_buffer_append(&file, &h, sizeof h);
    cute_buffer_append(&file, key, key_length);
    cute_buffer_append(&file, bytes, length);
    int place = name && cute_buffer_ok(&file) ? make_folder(arena, folder) : -1;
    if (place >= 0 && cute_file_write_private(place, name, file.data, file.length) == CUTE_OK)
        trim_cache(arena, place);
    if (place >= 0) close(place);
    cute_buffer_release(&file);
    cute_arena_destroy(arena);
}

size_t cute_cache_clear(const char *folder)
{
    entry_list list = {0};
    size_t removed = 0;
    cute_arena *arena = folder ? cute_arena_create() : NULL;
    int place = arena ? open_folder(folder, true) : -1;
    if (place >= 0) list_entries(arena, place, &list);
    for (size_t i = 0; i < list.count; i++) removed += unlinkat(place, list.items[i].name, 0) == 0;
    if (place >= 0) close(place);
    cute_arena_destroy(arena);
    return removed;
}

/* ---- keys of programs ---- */

const char *cute_cache_pipe_folder(cute_arena *arena)
{
    bool off;
    const char *folder = stated_folder(&off);
    return folder ? cute_arena_copy(arena, folder, strlen(folder)) : NULL;
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

void cute_cache_key_code(cute_buffer *key, void (*function)(void))
{
    Dl_info info;
    bool known = dladdr((void *)(uintptr_t)function, &info) != 0 && info.dli_fname && *info.dli_fname == '/';
    cute_cache_key_file(key, known ? info.dli_fname : "/proc/self/exe");
}

void cute_cache_key_environment(cute_buffer *key)
{
    extern char **environ;
    for (char **variable = environ; *variable; variable++)
        if (cute_setting_shapes_output(*variable, strcspn(*variable, "=")))
            cute_cache_key_bytes(key, *variable, strlen(*variable));
}

void cute_cache_key_program(cute_buffer *key)
{
    cute_buffer line = {0};
    cute_buffer_printf(key, "%s\n", cute_version());
    cute_cache_key_file(key, "/proc/self/exe");
    char *folder = getcwd(NULL, 0);
    cute_cache_key_bytes(key, folder ? folder : "", folder ? strlen(folder) : 0);
    free(folder);
    if (cute_file_read("/proc/self/cmdline", &line, NULL) == CUTE_OK)
        cute_cache_key_bytes(key, cute_buffer_text(&line), line.length);
    cute_buffer_release(&line);
    cute_cache_key_environment(key);
}
