/* Views of machine code: each takes the code and gives it in the form that was asked for. */
#include "tools/cute-dump/code.h"

#include <string.h>

#include "lib/base/demangle.h"
#include "lib/base/file.h"
#include "lib/cubin/images.h"
#include "lib/cubin/module.h"

const code_habit cute_dump_habits[CUTE_DUMP_HABITS] = {
    [CUTE_DUMP_LINES] = {"print-line-info", "sass", 'g'},
    {"sass", "sass", 0},
    {"dump-sass", "sass", 0},
    {"print-code", "sass", 'c'},
    {"print-line-info-inline", "sass", 0},
    {"gi", "sass", 0},
    {"ptx", "ptx", 0},
    {"dump-ptx", "ptx", 0},
    {"elf", "elf", 0},
    {"dump-elf", "elf", 0},
    {"lelf", "images", 0},
    {"list-elf", "images", 0},
    {"lptx", "images", 0},
    {"list-ptx", "images", 0},
    {"res-usage", "resources", 0},
    {"dump-resource-usage", "resources", 0},
    {"all", "all", 0},
    {"all-fatbin", "all", 0},
    {"cfg", "cfg", 0},
    {"output-control-flow-graph", "cfg", 0},
};

void cute_dump_put(const code_question *q, json_t *functions, const char *key, cute_buffer *out)
{
    json_t *value = json_object();
    json_object_set_new(value, "file", cute_json_text(q->label));
    json_object_set_new(value, key, functions);
    cute_json_dump(value, true, out);
    if (out->length && out->data[out->length - 1] != '\n') cute_buffer_putc(out, '\n');
    json_decref(value);
}

cute_status cute_dump_sass(const code_question *q, const cute_code *code, cute_buffer *out, cute_diag *diag)
{
    (void)diag;
    if (q->json)
        cute_dump_put(q, cute_code_json_sass(code, q->kernel, &q->sass), "functions", out);
    else
        cute_code_print_sass(code, q->kernel, &q->sass, out);
    return CUTE_OK;
}

cute_status cute_dump_cfg(const code_question *q, const cute_code *code, cute_buffer *out, cute_diag *diag)
{
    if (q->json + q->dot + q->svg > 1)
        return cute_fail(diag, CUTE_USAGE, NULL, "one of --json, --dot and --svg at a time");
    if (q->json)
        cute_dump_put(q, cute_code_json_cfg(code, q->kernel), "functions", out);
    else if (q->dot)
        cute_code_dot_cfg(code, q->kernel, out);
    else if (q->svg)
        cute_code_svg_cfg(code, q->kernel, out);
    else
        cute_code_print_cfg(code, q->kernel, out);
    return CUTE_OK;
}

cute_status cute_dump_histogram(const code_question *q, const cute_code *code, cute_buffer *out,
                                cute_diag *diag)
{
    json_t *value;
    if (!q->json) return cute_code_print_histogram(code, q->kernel, out, diag);
    cute_status status = cute_code_json_histogram(code, q->kernel, &value, diag);
    cute_dump_put(q, value, "functions", out);
    return status;
}

cute_status cute_dump_lines(const code_question *q, const cute_code *code, cute_buffer *out, cute_diag *diag)
{
    json_t *value;
    if (!q->json) return cute_code_print_lines(q->label, code, q->kernel, q->at, out, diag);
    CUTE_TRY(cute_code_json_lines(q->label, code, q->kernel, q->at, &value, diag));
    cute_dump_put(q, value, "lines", out);
    return CUTE_OK;
}

/* ---- images ---- */

/* Kernels of an image; -1: it could not be read. */
static int count_kernels(const code_question *q, const cute_image *image, const char **first)
{
    const void *bytes;
    size_t length;
    cute_module *module;
    int count = -1;
    *first = "";
    if (image->entry.kind != CUTE_FATBIN_ELF && image->entry.kind != CUTE_FATBIN_PTX) return -1;
    cute_arena *own = cute_arena_create();
    if (own && cute_image_extract(own, q->label, image, &bytes, &length, NULL) == CUTE_OK &&
        cute_module_open(q->label, bytes, length, NULL, &module, NULL) == CUTE_OK) {
        count = (int)cute_module_kernel_count(module);
        if (count) *first = cute_symbol_name(q->arena, cute_module_kernel(module, 0)->name);
        cute_module_close(module);
    }
    cute_arena_destroy(own);
    return count;
}

static json_t *image_json(const code_question *q, const cute_image *image)
{
    const char *first;
    int kernels = count_kernels(q, image, &first);
    size_t size = image->entry.full_length ? image->entry.full_length : image->entry.length;
    json_t *value = json_pack("{s:s,s:s,s:s,s:I,s:I,s:I}", "kind", image->kind, "arch", image->arch,
                              "compression", image->compression, "stored", (json_int_t)image->entry.length,
                              "size", (json_int_t)size, "module", (json_int_t)image->module);
    if (image->member) json_object_set_new(value, "member", cute_json_text(image->member));
    json_object_set_new(value, "kernels", kernels < 0 ? json_null() : json_integer(kernels));
    if (kernels > 0) json_object_set_new(value, "first_kernel", cute_json_text(first));
    return value;
}

static void print_images(const json_t *list, cute_buffer *out)
{
    json_t *image;
    size_t i;
    cute_buffer_puts(out, "image module kind     arch       compression     stored       size  kernels\n");
    json_array_foreach(list, i, image)
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

cute_status cute_dump_images(const code_question *q, const char *path, cute_buffer *out, cute_diag *diag)
{
    cute_buffer bytes = {0};
    json_t *list = json_array();
    code_question named = *q;
    cute_image *images;
    size_t count = 0;
    named.label = cute_file_label(path);
    cute_status status = cute_file_read(path, &bytes, diag);
    if (status == CUTE_OK)
        status = cute_images_read(q->arena, named.label, cute_buffer_text(&bytes), bytes.length, &images,
                                  &count, diag);
    for (size_t i = 0; status == CUTE_OK && i < count; i++)
        json_array_append_new(list, image_json(&named, &images[i]));
    cute_buffer_release(&bytes);
    if (status == CUTE_OK && q->json)
        cute_dump_put(&named, json_incref(list), "images", out);
    else if (status == CUTE_OK)
        print_images(list, out);
    json_decref(list);
    return status;
}
