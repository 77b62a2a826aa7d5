/* Entries of the cache as another program may leave them: found whole, or not at all; and what is kept as text in them (the
 * configuration that was fastest, the rates of a device) is read or not. The first byte says whose entry it is, and whether the
 * rest is a whole file or the contents of an entry that is otherwise well formed. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lib/base/system/cache.h"
#include "lib/base/system/file.h"
#include "lib/gemm/gemm.h"
#include "lib/report/roofline/calibrate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 32, LENGTH_AT = 16, SUM_AT = 28, KINDS = 3 };
static const char kind[] = "fuzz", key[] = "what it depends on";

/* A folder with one entry. */
static struct place {
    const char *folder, *path;
    cute_buffer front; /* of the entry: its head and its key */
} places[KINDS];
static cute_arena *arena;
static gemm_problem problem;
static const gemm_target target = {"sm_90a", 132};
static roof_device device;

static void leave(void)
{
    for (size_t n = 0; n < KINDS; n++) {
        cute_temp_remove(places[n].folder);
        cute_buffer_release(&places[n].front);
    }
    cute_arena_destroy(arena);
}

/* Where its entry lies, and how it begins. */
static void find_entry(struct place *p, size_t length)
{
    DIR *directory = opendir(p->folder);
    for (struct dirent *item; directory && (item = readdir(directory));)
        if (item->d_name[0] != '.') p->path = cute_arena_printf(arena, "%s/%s", p->folder, item->d_name);
    if (directory) closedir(directory);
    if (!p->path || cute_file_read(p->path, &p->front, NULL) != CUTE_OK || p->front.length < HEAD + length)
        abort();
    p->front.length -= length;
}

static void begin(void)
{
    cute_gemm_problem given = CUTE_GEMM_PROBLEM;
    given.m = given.n = given.k = 512;
    given.type_a = "f16";
    arena = cute_arena_create();
    for (size_t n = 0; n < KINDS; n++)
        if (cute_temp_directory(arena, &places[n].folder, NULL) != CUTE_OK) abort();
    if (gemm_problem_read(&given, -1, &problem, NULL) != CUTE_OK ||
        cute_roof_device_find("h100", &device, NULL) != CUTE_OK)
        abort();
    cute_cache_put(places[0].folder, kind, key, sizeof key, "", 0);
    find_entry(&places[0], 0);
    gemm_tuned_put(&problem, &target, "a device", places[1].folder, "sm80", 1, false);
    find_entry(&places[1], strlen("1.000000000e+00 measured sm80\n"));
    cute_roof_remember(places[2].folder, &device);
    find_entry(&places[2], strlen("{}"));
    atexit(leave);
}

/* An entry that says `data`, with all sums right. */
static void put_entry(FILE *out, const struct place *p, const uint8_t *data, size_t size)
{
    char head[HEAD];
    uint64_t length = size;
    uint32_t sum = (uint32_t)crc32(0, data, (uInt)size);
    memcpy(head, p->front.data, sizeof head);
    memcpy(head + LENGTH_AT, &length, sizeof length);
    memcpy(head + SUM_AT, &sum, sizeof sum);
    fwrite(head, 1, sizeof head, out);
    fwrite(p->front.data + HEAD, 1, p->front.length - HEAD, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cute_buffer found = {0};
    char name[64];
    double seconds;
    bool emulated;
    if (!size) return 0;
    if (!arena) begin();
    bool whole = data[0] % 2 == 0;
    const struct place *p = &places[data[0] / 2 % KINDS];
    data++, size--;
    FILE *out = fopen(p->path, "wb");
    if (!out) abort();
    if (!whole) put_entry(out, p, data, size);
    fwrite(data, 1, size, out);
    fclose(out);
    if (p == &places[0]) {
        bool is = cute_cache_get(p->folder, kind, key, sizeof key, &found);
        if (!whole && (!is || found.length != size || memcmp(cute_buffer_text(&found), data, size) != 0))
            __builtin_trap();
        if (!is && found.length) __builtin_trap();
    } else if (p == &places[1]) {
        if (gemm_tuned_find(&problem, &target, "a device", p->folder, name, sizeof name, &seconds,
                            &emulated) &&
            (!*name || strlen(name) >= sizeof name || !(seconds >= 0)))
            __builtin_trap();
    } else {
        roof_device d = device;
        (void)!cute_roof_recall(p->folder, &d);
        for (size_t n = 0; n < ROOF_CEILINGS; n++)
            if (!(d.measured[n] >= 0)) __builtin_trap();
        free(cute_roof_device_report(&d, true));
        free(cute_roof_device_report(&d, false));
    }
    cute_buffer_release(&found);
    return 0;
}
