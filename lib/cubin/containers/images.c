/* Lists the images of device code in a file, and selects one. */
#include "lib/cubin/containers/images.h"

#include <string.h>

#include "lib/cubin/containers/archive.h"
#include "lib/cubin/elf/hostelf.h"
#include "lib/cubin/kernels.h"
#include "lib/cubin/module.h"

typedef struct reader {
    cute_arena *arena;
    const char *label;
    cute_image *images;
    size_t count, room, modules;
    bool archs; /* the architectures of cubins are requested: each cubin is extracted */
    cute_diag *diag;
} reader;

static cute_image *add_image(reader *r)
{
    if (r->count == r->room) {
        size_t room = r->room ? 2 * r->room : 16;
        cute_image *images = cute_arena_alloc(r->arena, room * sizeof *images);
        if (!images) return NULL;
        if (r->count) memcpy(images, r->images, r->count * sizeof *images);
        r->images = images;
        r->room = room;
    }
    return &r->images[r->count++];
}

/* The architecture stated by a cubin or PTX: more precise than the container, which lacks "a" and "f". */
static const char *image_arch(reader *r, const cute_image *image)
{
    const char *stated = cute_arena_printf(r->arena, "sm_%u", image->entry.sm), *arch = NULL;
    const void *bytes;
    size_t length;
    cute_elf elf;
    if (!r->archs || image->entry.kind != CUTE_FATBIN_ELF) return stated;
    cute_arena *own = cute_arena_create();
    if (own && cute_image_extract(own, r->label, image, &bytes, &length, NULL) == CUTE_OK &&
        cute_elf_read(own, r->label, bytes, length, &elf, NULL) == CUTE_OK)
        arch = cute_elf_arch(r->arena, &elf);
    cute_arena_destroy(own);
    return arch && *arch ? arch : stated;
}

static cute_status add_fatbin(reader *r, const char *member, const void *bytes, size_t length)
{
    cute_fatbin_entry *entries;
    size_t count;
    CUTE_TRY(cute_fatbin_read(r->arena, r->label, bytes, length, &entries, &count, r->diag));
    r->modules++;
    for (size_t i = 0; i < count; i++) {
        cute_image *image = add_image(r);
        if (!image) return cute_fail_memory(r->diag);
        *image = (cute_image){.member = member,
                              .module = r->modules,
                              .kind = cute_fatbin_kind_name(r->arena, &entries[i]),
                              .compression = entries[i].compression,
                              .entry = entries[i],
                              .container = bytes,
                              .container_length = length};
        image->arch = image_arch(r, image);
        if (!image->kind || !image->arch) return cute_fail_memory(r->diag);
    }
    return CUTE_OK;
}

/* A cubin or PTX that is not in a container. */
static cute_status add_single(reader *r, const char *member, const void *bytes, size_t length)
{
    cute_module *module;
    CUTE_TRY(cute_module_open(r->label, bytes, length, NULL, &module, r->diag));
    bool ptx = cute_module_get_format(module) == CUTE_MODULE_PTX;
    const char *arch = cute_arena_copy(r->arena, cute_module_arch(module), strlen(cute_module_arch(module)));
    cute_module_close(module);
    cute_image *image = add_image(r);
    if (!image || !arch) return cute_fail_memory(r->diag);
    *image = (cute_image){.member = member,
                          .module = ++r->modules,
                          .kind = ptx ? "ptx" : "elf",
                          .arch = arch,
                          .compression = "none",
                          .entry = {.kind = ptx ? CUTE_FATBIN_PTX : CUTE_FATBIN_ELF,
                                    .compression = "none",
                                    .data = bytes,
                                    .length = length,
                                    .full_length = length},
                          .container = bytes,
                          .container_length = length};
    return CUTE_OK;
}

static cute_status add_host(reader *r, const char *member, const void *bytes, size_t length)
{
    cute_host_code *codes;
    size_t count;
    CUTE_TRY(cute_host_read(r->arena, r->label, bytes, length, &codes, &count, r->diag));
    for (size_t i = 0; i < count; i++) CUTE_TRY(add_fatbin(r, member, codes[i].bytes, codes[i].length));
    return CUTE_OK;
}

static cute_status add_content(reader *r, const char *member, const void *bytes, size_t length)
{
    if (cute_fatbin_is(bytes, length)) return add_fatbin(r, member, bytes, length);
    if (cute_host_is(bytes, length)) return add_host(r, member, bytes, length);
    return add_single(r, member, bytes, length);
}

/* Members without device code are common. */
static cute_status add_archive(reader *r, const void *bytes, size_t length)
{
    const cute_place file = {.file = r->label};
    cute_member *members;
    size_t count;
    cute_diag *diag = r->diag;
    CUTE_TRY(cute_archive_read(r->arena, r->label, bytes, length, &members, &count, diag));
    r->diag = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t before = r->count;
        if (add_content(r, members[i].name, members[i].bytes, members[i].length) != CUTE_OK)
            r->count = before;
    }
    r->diag = diag;
    if (!r->count)
        return cute_fail(diag, CUTE_INVALID, &file, "none of the %zu members of this archive has device code",
                         count);
    return CUTE_OK;
}

static cute_status read_images(cute_arena *arena, const char *label, const void *bytes, size_t length,
                               bool archs, cute_image **out, size_t *count, cute_diag *diag)
{
    reader r = {.arena = arena, .label = label, .archs = archs, .diag = diag};
    if (cute_content_of(bytes, length) == CUTE_CONTENT_ARCHIVE)
        CUTE_TRY(add_archive(&r, bytes, length));
    else
        CUTE_TRY(add_content(&r, NULL, bytes, length));
    if (!r.count)
        return cute_fail(diag, CUTE_INVALID, &(cute_place){.file = label},
                         "expected device code, got a fatbin without images");
    *out = r.images;
    *count = r.count;
    return CUTE_OK;
}

cute_status cute_images_read(cute_arena *arena, const char *label, const void *bytes, size_t length,
                             cute_image **out, size_t *count, cute_diag *diag)
{
    return read_images(arena, label, bytes, length, true, out, count, diag);
}

cute_status cute_image_extract(cute_arena *arena, const char *label, const cute_image *image,
                               const void **bytes, size_t *length, cute_diag *diag)
{
    if (image->container == image->entry.data) {
        *bytes = image->container;
        *length = image->container_length;
        return CUTE_OK;
    }
    return cute_fatbin_extract(arena, label, &image->entry, bytes, length, diag);
}

/* ---- selection ---- */

static bool has_kernel(const char *label, const char *kernel, const char *arch, const cute_image *image)
{
    cute_module *module;
    const cute_kernel *found;
    if (cute_module_open(label, image->container, image->container_length, arch, &module, NULL) != CUTE_OK)
        return false;
    bool has = cute_module_find_kernel(module, kernel, &found, NULL) == CUTE_OK;
    cute_module_close(module);
    return has;
}

/* Marks the modules that have the kernel; all if `kernel` is NULL. */
static size_t find_matching_modules(const char *label, const char *kernel, const char *arch,
                                    const cute_image *images, size_t count, const cute_image **first)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (i && images[i].module == images[i - 1].module) continue;
        if (kernel && !has_kernel(label, kernel, arch, &images[i])) continue;
        if (!found++) *first = &images[i];
    }
    return found;
}

cute_status cute_images_choose(cute_arena *arena, const char *label, int64_t number, const char *kernel,
                               const char *arch, const void **bytes, size_t *length, cute_diag *diag)
{
    const cute_place file = {.file = label};
    bool archive = cute_content_of(*bytes, *length) == CUTE_CONTENT_ARCHIVE;
    const cute_image *chosen = NULL;
    cute_image *images;
    size_t count;
    if (!number && !archive && !(kernel && cute_host_is(*bytes, *length))) return CUTE_OK;
    CUTE_TRY(read_images(arena, label, *bytes, *length, false, &images, &count, diag));
    if (number) {
        if (number < 0 || (uint64_t)number > count)
            return cute_fail(diag, CUTE_INVALID, &file, "expected an image of 1 to %zu, got %lld", count,
                             (long long)number);
        chosen = &images[number - 1];
        if (chosen->entry.kind != CUTE_FATBIN_ELF && chosen->entry.kind != CUTE_FATBIN_PTX)
            return cute_fail(diag, CUTE_INVALID, &file, "image %lld is neither a cubin nor PTX: %s",
                             (long long)number, chosen->kind);
        return cute_image_extract(arena, label, chosen, bytes, length, diag);
    }
    size_t found = find_matching_modules(label, kernel, arch, images, count, &chosen);
    if (found == 1) {
        *bytes = chosen->container;
        *length = chosen->container_length;
        return CUTE_OK;
    }
    if (!found)
        return cute_fail(diag, CUTE_INVALID, &file, "none of the %zu modules has a kernel '%s'%s%s",
                         images[count - 1].module, kernel, arch ? " for " : "", arch ? arch : "");
    if (kernel)
        cute_fail(diag, CUTE_INVALID, &file, "%zu modules have a kernel '%s'", found, kernel);
    else
        cute_fail(diag, CUTE_INVALID, &file, "expected one module, got an archive with %zu", found);
    cute_note(diag, NULL, "'cute-dump images' lists them; select one with --image=N%s",
              kernel ? "" : " or --kernel=NAME");
    return CUTE_INVALID;
}
