/* Selects objects of gpu.binary and names their files by content. */
#include "lib/cubin/containers/extract.h"

#include <string.h>
#include <sys/stat.h>

#include "lib/base/options/nearest.h"
#include "lib/base/system/file.h"
#include "lib/cubin/containers/gpubinary.h"
#include "lib/cubin/module.h"

typedef struct pool {
    cute_object *items;
    size_t count;
} pool;

static const char *suffix_of(const cute_object *object)
{
    switch (cute_content_of(object->data, object->length)) {
    case CUTE_CONTENT_ELF: return "cubin";
    case CUTE_CONTENT_PTX: return "ptx";
    case CUTE_CONTENT_FATBIN: return "fatbin";
    case CUTE_CONTENT_LLVM: return "bc";
    default: return object->kind == CUTE_OBJECT_ASSEMBLY ? "ptx" : "bin";
    }
}

/* SYMBOL[.CHIP][.N].SUFFIX; optional parts only where needed for unique names. */
static const char *object_file_name(cute_arena *arena, const pool *all, size_t index)
{
    const cute_object *object = &all->items[index];
    bool alone = true, same_chip = false;
    const char *symbol = cute_file_plain_name(arena, object->symbol),
               *chip = cute_file_plain_name(arena, object->chip);
    const char *suffix = suffix_of(object);
    if (!symbol || !chip) return NULL;
    for (size_t i = 0; i < all->count; i++) {
        const char *other = i == index ? NULL : cute_file_plain_name(arena, all->items[i].symbol);
        if (!other || strcmp(other, symbol) != 0) continue;
        alone = false;
        same_chip = same_chip || strcmp(all->items[i].chip, object->chip) == 0;
    }
    if (alone) return cute_arena_printf(arena, "%s.%s", symbol, suffix);
    if (!same_chip && *object->chip) return cute_arena_printf(arena, "%s.%s.%s", symbol, chip, suffix);
    return cute_arena_printf(arena, "%s.%zu.%s", symbol, index, suffix);
}

static cute_status gather_objects(cute_arena *arena, const cute_link_input *inputs, size_t count, pool *out,
                                  cute_diag *diag)
{
    *out = (pool){0};
    for (size_t i = 0; i < count; i++) {
        cute_object *found;
        size_t n;
        CUTE_TRY(cute_gpu_binary_read(arena, inputs[i].label, inputs[i].bytes, inputs[i].length, &found, &n,
                                      diag));
        cute_object *joined = cute_arena_array(arena, out->count + n, sizeof *joined);
        if (!joined) return cute_fail_memory(diag);
        /* Text in an attribute has a terminating zero, which does not belong in a file. */
        for (size_t j = 0; j < n; j++)
            if (found[j].kind == CUTE_OBJECT_ASSEMBLY)
                while (found[j].length && ((const char *)found[j].data)[found[j].length - 1] == '\0')
                    found[j].length--;
        if (out->count) memcpy(joined, out->items, out->count * sizeof *joined);
        if (n) memcpy(joined + out->count, found, n * sizeof *joined);
        *out = (pool){joined, out->count + n};
    }
    return CUTE_OK;
}

static const char *symbol_at(const void *list, size_t index)
{
    const pool *all = list;
    return index < all->count ? all->items[index].symbol : NULL;
}

static void filter_objects(pool *all, const char *symbol, const cute_arch *arch)
{
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        const cute_object *o = &all->items[i];
        if (strcmp(symbol, "all") != 0 && strcmp(symbol, o->symbol) != 0) continue;
        if (arch && cute_arch_find(o->chip) != arch) continue;
        all->items[kept++] = *o;
    }
    all->count = kept;
}

static cute_status fail_empty(const char *label, const char *symbol, const cute_arch *arch,
                              const pool *before, cute_diag *diag)
{
    const cute_place file = {.file = label};
    if (before->count == 0) return cute_fail(diag, CUTE_INVALID, &file, "no gpu.binary operation to extract");
    const char *near = strcmp(symbol, "all") == 0 ? NULL : cute_nearest(symbol, symbol_at, before);
    if (near && strcmp(near, symbol) != 0)
        cute_fail(diag, CUTE_INVALID, &file, "no gpu.binary '@%s'; did you mean '@%s'?", symbol, near);
    else
        cute_fail(diag, CUTE_INVALID, &file, "no object of '%s' for %s", symbol,
                  arch ? arch->name : "any architecture");
    for (size_t i = 0; i < before->count && i < 16; i++)
        cute_note(diag, NULL, "available: @%s for %s (%s)", before->items[i].symbol,
                  *before->items[i].chip ? before->items[i].chip : "an unnamed chip",
                  cute_object_kind_name(before->items[i].kind));
    return CUTE_INVALID;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return path && *path &&
           (path[strlen(path) - 1] == '/' || (stat(path, &info) == 0 && S_ISDIR(info.st_mode)));
}

static cute_status write_folder(cute_arena *arena, const char *folder, const pool *all, cute_diag *diag)
{
    CUTE_TRY(cute_make_directory(folder, diag));
    for (size_t i = 0; i < all->count; i++) {
        const char *name = object_file_name(arena, all, i);
        const char *path = name ? cute_arena_printf(arena, "%s/%s", folder, name) : NULL;
        if (!path) return cute_fail_memory(diag);
        CUTE_TRY(cute_file_write(path, all->items[i].data, all->items[i].length, diag));
    }
    return CUTE_OK;
}

cute_status cute_extract(cute_arena *arena, const char *symbol, const cute_arch *arch, const char *output,
                         const cute_link_input *inputs, size_t count, cute_diag *diag)
{
    pool all, before;
    const cute_place file = {.file = inputs[0].label};
    CUTE_TRY(gather_objects(arena, inputs, count, &all, diag));
    before.count = all.count;
    before.items = cute_arena_array(arena, all.count, sizeof *before.items);
    if (!before.items) return cute_fail_memory(diag);
    if (all.count) memcpy(before.items, all.items, all.count * sizeof *before.items);
    filter_objects(&all, symbol, arch);
    if (all.count == 0) return fail_empty(inputs[0].label, symbol, arch, &before, diag);
    if (is_folder(output)) return write_folder(arena, output, &all, diag);
    if (all.count == 1) return cute_file_write(output, all.items[0].data, all.items[0].length, diag);
    cute_fail(diag, CUTE_INVALID, &file, "cannot write %zu objects to one file", all.count);
    for (size_t i = 0; i < all.count && i < 16; i++)
        cute_note(diag, NULL, "@%s for %s", all.items[i].symbol,
                  *all.items[i].chip ? all.items[i].chip : "an unnamed chip");
    cute_note(diag, NULL,
              "write them to a folder with -o DIR/, or select one with --extract=SYMBOL and -arch");
    return CUTE_INVALID;
}

cute_status cute_extract_all(cute_arena *arena, const char *folder, const cute_link_input *input,
                             cute_extracted **out, size_t *count, cute_diag *diag)
{
    pool all;
    CUTE_TRY(gather_objects(arena, input, 1, &all, diag));
    *count = all.count;
    *out = cute_arena_array(arena, all.count, sizeof **out);
    if (!*out) return cute_fail_memory(diag);
    for (size_t i = 0; i < all.count; i++)
        (*out)[i] = (cute_extracted){.symbol = all.items[i].symbol,
                                     .chip = all.items[i].chip,
                                     .kind = cute_object_kind_name(all.items[i].kind),
                                     .file = object_file_name(arena, &all, i),
                                     .length = all.items[i].length};
    return all.count ? write_folder(arena, folder, &all, diag) : CUTE_OK;
}
