/* Images of a file with their storage and kernels. */
#include "lib/report/module/images.h"

#include <string.h>

#include "lib/base/text/demangle.h"
#include "lib/cubin/containers/images.h"
#include "lib/cubin/module.h"

/* The number of kernels in an image; -1: unreadable. The name of the first one is in `arena`. */
static int count_kernels(cute_arena *arena, const char *label, const cute_image *image, const char **first)
{
    const void *bytes;
    size_t length;
    cute_module *module;
    int count = -1;
    *first = NULL;
    if (image->entry.kind != CUTE_FATBIN_ELF && image->entry.kind != CUTE_FATBIN_PTX) return -1;
    cute_arena *own = cute_arena_create();
    if (own && cute_image_extract(own, label, image, &bytes, &length, NULL) == CUTE_OK &&
        cute_module_open(label, bytes, length, NULL, &module, NULL) == CUTE_OK) {
        count = (int)cute_module_kernel_count(module);
        /* An unmangled name belongs to the module; copy it. */
        const char *name = count ? cute_symbol_name(own, cute_module_kernel(module, 0)->name) : NULL;
        if (name) *first = cute_arena_copy(arena, name, strlen(name));
        cute_module_close(module);
    }
    cute_arena_destroy(own);
    return count;
}

static json_t *image_json(cute_arena *arena, const char *label, const cute_image *image)
{
    const char *first;
    int kernels = count_kernels(arena, label, image, &first);
    size_t size = image->entry.full_length ? image->entry.full_length : image->entry.length;
    json_t *value = json_pack("{s:o,s:o,s:o,s:I,s:I,s:I}", "kind", cute_json_text(image->kind), "arch",
                              cute_json_text(image->arch), "compression", cute_json_text(image->compression),
                              "stored", (json_int_t)image->entry.length, "size", (json_int_t)size, "module",
                              (json_int_t)image->module);
    if (image->member) json_object_set_new(value, "member", cute_json_text(image->member));
    json_object_set_new(value, "kernels", kernels < 0 ? json_null() : json_integer(kernels));
    if (first) json_object_set_new(value, "first_kernel", cute_json_text(first));
    return value;
}

cute_status cute_report_images_json(const char *label, const void *bytes, size_t length, json_t **out,
                                    cute_diag *diag)
{
    cute_arena *arena = cute_arena_create();
    json_t *list = json_array();
    cute_image *images;
    size_t count = 0;
    cute_status status = arena && list ? CUTE_OK : cute_fail_memory(diag);
    if (status == CUTE_OK) status = cute_images_read(arena, label, bytes, length, &images, &count, diag);
    for (size_t i = 0; status == CUTE_OK && i < count; i++)
        if (json_array_append_new(list, image_json(arena, label, &images[i])) != 0)
            status = cute_fail_memory(diag);
    cute_arena_destroy(arena);
    *out = status == CUTE_OK ? list : NULL;
    if (status != CUTE_OK) json_decref(list);
    return status;
}

void cute_report_images(const json_t *images, cute_buffer *out)
{
    json_t *image;
    size_t i;
    cute_buffer_puts(out, "image module kind     arch       compression     stored       size  kernels\n");
    json_array_foreach(images, i, image)
    {
        const json_t *kernels = json_object_get(image, "kernels");
        const char *first = json_string_value(json_object_get(image, "first_kernel"));
        const char *member = json_string_value(json_object_get(image, "member"));
        cute_buffer_printf(out, "%5zu %6lld %-8s %-10s %-11s %10lld %10lld  ", i + 1,
                           (long long)json_integer_value(json_object_get(image, "module")),
                           json_string_value(json_object_get(image, "kind")),
                           json_string_value(json_object_get(image, "arch")),
                           json_string_value(json_object_get(image, "compression")),
                           (long long)json_integer_value(json_object_get(image, "stored")),
                           (long long)json_integer_value(json_object_get(image, "size")));
        if (json_is_integer(kernels))
            cute_buffer_printf(out, "%7lld", (long long)json_integer_value(kernels));
        else
            cute_buffer_puts(out, "      -");
        if (first) cute_buffer_printf(out, "  %.60s%s", first, strlen(first) > 60 ? "..." : "");
        cute_buffer_printf(out, "%s%s%s\n", member ? "  (" : "", member ? member : "", member ? ")" : "");
    }
}
