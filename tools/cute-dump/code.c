/* Views of machine code: each takes the code and gives it in the form that was asked for. */
#include "tools/cute-dump/code.h"

#include "lib/base/file.h"
#include "lib/cubin/fatbin.h"
#include "lib/cubin/hostelf.h"
#include "lib/cubin/module.h"

const code_habit cute_dump_habits[CUTE_DUMP_HABITS] = {
    {"sass", "sass", 0},
    {"dump-sass", "sass", 0},
    {"print-code", "sass", 'c'},
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

static void add_image(json_t *list, const char *kind, const char *arch, const char *compression,
                      size_t stored, size_t size)
{
    json_array_append_new(list,
                          json_pack("{s:s,s:s,s:s,s:I,s:I}", "kind", kind, "arch", arch, "compression",
                                    compression, "stored", (json_int_t)stored, "size", (json_int_t)size));
}

static cute_status add_fatbin(const code_question *q, const char *label, const void *bytes, size_t length,
                              json_t *list, cute_diag *diag)
{
    cute_fatbin_entry *entries;
    size_t count;
    CUTE_TRY(cute_fatbin_read(q->arena, label, bytes, length, &entries, &count, diag));
    for (size_t i = 0; i < count; i++) {
        const char *kind = cute_fatbin_kind_name(q->arena, &entries[i]);
        const char *arch = cute_arena_printf(q->arena, "sm_%u", entries[i].sm);
        if (!kind || !arch) return cute_fail_memory(diag);
        add_image(list, kind, arch, entries[i].compression, entries[i].length,
                  entries[i].full_length ? entries[i].full_length : entries[i].length);
    }
    return CUTE_OK;
}

static cute_status add_images(const code_question *q, const char *label, const char *arch, const char *bytes,
                              size_t length, json_t *list, cute_diag *diag)
{
    cute_module *module;
    if (cute_fatbin_is(bytes, length)) return add_fatbin(q, label, bytes, length, list, diag);
    if (cute_host_is(bytes, length)) {
        cute_host_code *codes;
        size_t count;
        CUTE_TRY(cute_host_read(q->arena, label, bytes, length, &codes, &count, diag));
        for (size_t i = 0; i < count; i++)
            CUTE_TRY(add_fatbin(q, label, codes[i].bytes, codes[i].length, list, diag));
        return CUTE_OK;
    }
    CUTE_TRY(cute_module_open(label, bytes, length, arch, &module, diag));
    add_image(list, cute_module_get_format(module) == CUTE_MODULE_PTX ? "ptx" : "elf",
              cute_module_arch(module), "none", length, length);
    cute_module_close(module);
    return CUTE_OK;
}

cute_status cute_dump_images(const code_question *q, const char *path, const char *arch, cute_buffer *out,
                             cute_diag *diag)
{
    cute_buffer bytes = {0};
    json_t *list = json_array(), *image;
    size_t i;
    code_question named = *q;
    named.label = cute_file_label(path);
    cute_status status = cute_file_read(path, &bytes, diag);
    if (status == CUTE_OK)
        status = add_images(q, named.label, arch, cute_buffer_text(&bytes), bytes.length, list, diag);
    cute_buffer_release(&bytes);
    if (status == CUTE_OK && q->json) {
        cute_dump_put(&named, json_incref(list), "images", out);
    } else if (status == CUTE_OK) {
        cute_buffer_puts(out, "image kind     arch       compression     stored       size\n");
        json_array_foreach(list, i, image)
            cute_buffer_printf(out, "%5zu %-8s %-10s %-11s %10lld %10lld\n", i + 1,
                               json_string_value(json_object_get(image, "kind")),
                               json_string_value(json_object_get(image, "arch")),
                               json_string_value(json_object_get(image, "compression")),
                               (long long)json_integer_value(json_object_get(image, "stored")),
                               (long long)json_integer_value(json_object_get(image, "size")));
    }
    json_decref(list);
    return status;
}
