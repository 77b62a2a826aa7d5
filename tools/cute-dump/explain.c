/* 'explain': collects the evidence (machine code, counters of an emulated launch, ncu's table) and prints the findings of
 * lib/report/explain. Missing evidence is mentioned in the report and is not an error. */
#include "tools/cute-dump/explain.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/system/file.h"
#include "lib/cubin/link.h"
#include "lib/report/explain/explain.h"
#include "tools/cute-dump/emulate.h"

typedef struct parts {
    cute_link_result linked;
    cute_module *compiled;
    cute_code code;
    cute_buffer ncu;
    json_t *launch;
} parts;

static const char *first_message(cute_arena *arena, const cute_diag *diag)
{
    for (size_t n = 0; n < cute_diag_count(diag); n++) {
        const cute_message *m = cute_diag_get(diag, n);
        if (m->severity == CUTE_ERROR) return cute_arena_copy(arena, m->text, strlen(m->text));
    }
    return "compilation failed";
}

static const char *all_messages(cute_arena *arena, const cute_diag *diag)
{
    cute_buffer text = {0};
    for (size_t n = 0; n < cute_diag_count(diag); n++)
        cute_buffer_printf(&text, "%s\n", cute_diag_get(diag, n)->text);
    const char *out = cute_arena_copy(arena, cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
    return out;
}

/* Compiles PTX for its registers and machine code. Slow code is what explain reports, so ptxas warnings about it are allowed. */
static void compile_for_explain(const explain_request *q, parts *p, explain_input *in)
{
    static const char *const slow[] = {"wgmma-serialized,setmaxnreg-ignored"};
    cute_diag *diag = cute_diag_create();
    cute_link_input input = {.label = q->label};
    cute_link_options options = {.cuda_path = q->cuda_path,
                                 .opt_level = q->opt_level,
                                 .line_info = true,
                                 .allow = {(const char **)(uintptr_t)slow, 1}};
    input.bytes = cute_module_image(q->module, &input.length);
    const char *entry = q->kernel ? cute_arena_printf(q->arena, "--entry=%s", q->kernel) : NULL;
    if (entry) options.xptxas = (cute_option_list){&entry, 1};
    if (q->arch) options.archs = (cute_option_list){(const char **)(uintptr_t)&q->arch, 1};
    cute_status status = cute_link(q->arena, &options, &input, 1, &p->linked, diag);
    if (status == CUTE_OK)
        status = cute_module_open(q->label, cute_buffer_text(&p->linked.output), p->linked.output.length,
                                  NULL, &p->compiled, diag);
    if (status == CUTE_OK)
        in->messages = all_messages(q->arena, diag);
    else
        in->no_code = first_message(q->arena, diag);
    in->compiled = p->compiled;
    cute_diag_destroy(diag);
}

static void read_code(const explain_request *q, parts *p, explain_input *in)
{
    const cute_module *module = in->compiled ? in->compiled : q->module;
    size_t length;
    if (cute_module_get_format(module) == CUTE_MODULE_PTX) return;
    cute_diag *diag = cute_diag_create();
    const void *image = cute_module_image(module, &length);
    if (cute_code_read(q->arena, q->label, image, length, q->cuda_path, false, &p->code, diag) == CUTE_OK)
        in->code = &p->code;
    else
        in->no_code = first_message(q->arena, diag);
    cute_diag_destroy(diag);
}

cute_status cute_dump_explain(const explain_request *q, cute_buffer *out, cute_diag *diag)
{
    parts p = {0};
    explain_input in = {
        .label = q->label, .module = q->module, .kernel = q->kernel, .sms = q->sms, .plugins = q->plugins};
    explain_report report;
    cute_status status = CUTE_OK;
    if (q->json + q->html + q->svg > 1)
        return cute_fail(diag, CUTE_USAGE, NULL, "--json, --html and --svg are mutually exclusive");
    const emulate_request launch = {
        q->arena, q->label, q->module, q->kernel, q->config, q->defines, q->sms,
    };
    size_t length;
    bool runs = cute_module_ptx(q->module, &length) != NULL;
    if (q->config)
        status =
            runs ? cute_dump_emulate(&launch, &p.launch, diag) : cute_dump_launches(&launch, &p.launch, diag);
    in.launch = p.launch;
    if (status == CUTE_OK && q->ncu) {
        status = cute_file_read(q->ncu, &p.ncu, diag);
        in.ncu = cute_buffer_text(&p.ncu);
        in.ncu_length = p.ncu.length;
        in.ncu_label = cute_file_label(q->ncu);
    }
    if (status == CUTE_OK) {
        if (cute_module_get_format(q->module) == CUTE_MODULE_PTX) compile_for_explain(q, &p, &in);
        read_code(q, &p, &in);
        status = explain_create(q->arena, &in, &report, diag);
    }
    if (status == CUTE_OK && q->json) {
        json_t *value = explain_json(&report);
        cute_json_dump(value, true, out);
        if (out->length && out->data[out->length - 1] != '\n') cute_buffer_putc(out, '\n');
        json_decref(value);
    } else if (status == CUTE_OK && q->html) {
        explain_html(&report, out);
    } else if (status == CUTE_OK && q->svg) {
        explain_svg(&report, q->all, out);
    } else if (status == CUTE_OK) {
        explain_print(&report, q->all, q->colour, out);
    }
    json_decref(p.launch);
    cute_buffer_release(&p.ncu);
    cute_module_close(p.compiled);
    cute_buffer_release(&p.linked.output);
    cute_buffer_release(&p.linked.commands);
    return status;
}
