/* Views of the contents of a file: kernels, PTX, ELF sections, images. */
#include "tools/cute-dump/dump.h"

#include <string.h>

#include "lib/base/system/file.h"
#include "lib/report/launch/counters.h"
#include "lib/report/module/elfview.h"
#include "lib/report/module/images.h"
#include "lib/report/module/module.h"

cute_status do_show(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    CUTE_TRY(cute_dump_check_kernel(s, diag));
    if (s->json)
        cute_dump_json(cute_report_module_json(s->label, s->module, s->kernel, true), out);
    else
        cute_report_module(s->label, s->module, s->kernel, !s->kernel, out);
    return CUTE_OK;
}

static cute_status print_counted_ptx(const dump_settings *s, const char *ptx, size_t length, cute_buffer *out,
                                     cute_diag *diag)
{
    cute_buffer text = {0};
    json_t *report = NULL;
    while (length && !ptx[length - 1]) length--;
    cute_status status = cute_file_read(s->counters, &text, diag);
    if (status == CUTE_OK)
        status = cute_json_parse(cute_file_label(s->counters), cute_buffer_text(&text), text.length, &report,
                                 diag);
    if (status == CUTE_OK)
        status =
            cute_report_counted_ptx(cute_file_label(s->counters), report, s->kernel, ptx, length, out, diag);
    json_decref(report);
    cute_buffer_release(&text);
    return status;
}

cute_status do_ptx(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    const cute_place file = {.file = s->label};
    size_t length;
    const char *ptx = cute_module_ptx(s->module, &length);
    if (!ptx) {
        cute_fail(diag, CUTE_INVALID, &file, "this cubin contains no PTX");
        cute_note(diag, NULL,
                  "cute-link embeds PTX in the section .cute.ptx, unless its inputs contain none or --strip "
                  "is given");
        return CUTE_INVALID;
    }
    if (s->counters && s->json)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "--counters and --json are mutually exclusive: the report is already JSON");
    if (s->counters) return print_counted_ptx(s, ptx, length, out, diag);
    if (!s->json) {
        cute_buffer_append(out, ptx, length);
        return CUTE_OK;
    }
    json_t *value = cute_report_module_json(s->label, s->module, NULL, false);
    json_object_set_new(value, "ptx", json_stringn(ptx, length));
    cute_dump_json(value, out);
    return CUTE_OK;
}

cute_status do_elf(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    const cute_place file = {.file = s->label};
    const cute_elf *elf = cute_module_elf(s->module);
    json_t *value;
    if (!elf)
        return cute_fail(diag, CUTE_INVALID, &file,
                         "PTX has no ELF sections; fix: compile it to a cubin with 'cute-link'");
    if (!s->json) return cute_report_elf(elf, out, diag);
    CUTE_TRY(cute_report_elf_json(elf, &value, diag));
    cute_dump_json(value, out);
    return CUTE_OK;
}

cute_status do_images(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    cute_buffer bytes = {0};
    json_t *images = NULL;
    const code_request q = {.label = cute_file_label(s->label)};
    cute_status status = cute_file_read(s->label, &bytes, diag);
    if (status == CUTE_OK)
        status = cute_report_images_json(q.label, cute_buffer_text(&bytes), bytes.length, &images, diag);
    cute_buffer_release(&bytes);
    if (status == CUTE_OK && s->json)
        cute_dump_write_json(&q, json_incref(images), "images", out);
    else if (status == CUTE_OK)
        cute_report_images(images, out);
    json_decref(images);
    return status;
}

/* The views of one module that apply to it, one after another. */
cute_status do_all(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    const struct {
        const char *name;
        bool has;
        cute_status (*run)(dump_settings *s, cute_buffer *out, cute_diag *diag);
    } parts[] = {
        {"show", true, do_show},
        {"elf", cute_module_elf(s->module) != NULL, do_elf},
        {"ptx", cute_module_ptx(s->module, &(size_t){0}) != NULL, do_ptx},
        {"sass", true, do_sass},
    };
    json_t *value = json_object();
    cute_status status = CUTE_OK;
    for (size_t i = 0; status == CUTE_OK && i < sizeof parts / sizeof *parts; i++) {
        cute_buffer part = {0};
        if (!parts[i].has) continue;
        status = parts[i].run(s, &part, diag);
        if (s->json)
            json_object_set_new(value, parts[i].name, json_loads(cute_buffer_text(&part), 0, NULL));
        else
            cute_buffer_printf(out, "%s==== %s ====\n%s", i ? "\n" : "", parts[i].name,
                               cute_buffer_text(&part));
        cute_buffer_release(&part);
    }
    if (s->json && status == CUTE_OK)
        cute_dump_json(value, out);
    else
        json_decref(value);
    return status;
}
