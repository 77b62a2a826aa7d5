/* Views that report: accesses, layouts, findings, counters by source line, causes of errors, PTX instructions. */
#include "tools/cute-dump/dump.h"

#include <string.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/base/system/file.h"
#include "lib/emulator/machine/machine.h"
#include "lib/report/explain/explain.h"
#include "lib/report/launch/counters.h"
#include "lib/report/table.h"
#include "tools/cute-dump/explain.h"
#include "tools/cute-dump/kernel.h"

static kernel_request make_kernel_request(const dump_settings *s)
{
    return (kernel_request){.arena = s->arena,
                            .label = s->label,
                            .kernel = s->kernel,
                            .block = s->block,
                            .config = s->config,
                            .defines = s->defines,
                            .number = s->number,
                            .json = s->json,
                            .svg = s->svg,
                            .html = s->html,
                            .table = s->table};
}

cute_status do_accesses(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    CUTE_TRY(cute_dump_check_kernel(s, diag));
    const kernel_request q = make_kernel_request(s);
    return cute_dump_accesses(&q, s->module, out, diag);
}

cute_status do_layouts(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    CUTE_TRY(cute_dump_check_kernel(s, diag));
    const kernel_request q = make_kernel_request(s);
    return cute_dump_layouts(&q, s->module, out, diag);
}

cute_status do_schedule(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    CUTE_TRY(cute_dump_check_kernel(s, diag));
    const kernel_request q = make_kernel_request(s);
    return cute_dump_schedule(&q, s->module, out, diag);
}

cute_status do_explain(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    CUTE_TRY(cute_dump_check_kernel(s, diag));
    if (s->sms < 0 || s->sms > 4096)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected --sms=N from 1 to 4096, got %lld",
                         (long long)s->sms);
    const explain_request q = {.arena = s->arena,
                               .label = s->label,
                               .module = s->module,
                               .kernel = s->kernel,
                               .arch = s->arch,
                               .opt_level = s->opt_level,
                               .cuda_path = s->cuda_path,
                               .config = s->config,
                               .ncu = s->ncu,
                               .sms = s->sms,
                               .defines = s->defines,
                               .json = s->json,
                               .html = s->html,
                               .svg = s->svg,
                               .all = s->all,
                               .plugins = s->plugins,
                               .colour = cute_dump_wants_colour(s)};
    return cute_dump_explain(&q, out, diag);
}

cute_status do_source(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    cute_buffer text = {0};
    json_t *report = NULL;
    const char *label = cute_file_label(s->label);
    cute_status status = cute_file_read(s->label, &text, diag);
    if (status == CUTE_OK)
        status = cute_json_parse(label, cute_buffer_text(&text), text.length, &report, diag);
    if (status == CUTE_OK) status = cute_report_counted_source(label, report, s->kernel, out, diag);
    json_decref(report);
    cute_buffer_release(&text);
    return status;
}

/* The table of findings; with an operand the one with that code or id. */
cute_status do_findings(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    const char *name = strcmp(s->label, "-") == 0 ? NULL : s->label;
    json_t *list;
    CUTE_TRY(explain_check_plugins(s->plugins, diag));
    list = explain_findings_json(s->plugins, name);
    bool any = json_array_size(list) > 0;
    if (any && s->json)
        cute_dump_json(json_incref(list), out);
    else if (any)
        explain_print_findings(s->plugins, name, out);
    json_decref(list);
    if (any) return CUTE_OK;
    cute_fail(diag, CUTE_INVALID, NULL, "expected the code or the id of a finding, got '%s'", name);
    cute_note(diag, NULL, "cute-dump findings prints them all");
    return CUTE_INVALID;
}

static bool is_finding(const char *name)
{
    json_t *list = explain_findings_json(NULL, name);
    bool any = json_array_size(list) > 0;
    json_decref(list);
    return any;
}

static int compare_codes(const void *a, const void *b)
{
    return strcmp((*(const cute_cause *const *)a)->code, (*(const cute_cause *const *)b)->code);
}

/* Lists all classes of errors by code; with an operand only the one with that code or name, or the one that matches a
 * message. The codes of explain's findings are those of do_findings. */
cute_status do_causes(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    const cute_cause *one = NULL, **list = &one;
    size_t count = 1;
    if (strcmp(s->label, "-") == 0) {
        for (count = 0; cute_cause_get(count);) count++;
        list = cute_arena_array(s->arena, count, sizeof *list);
        if (!list) return cute_fail_memory(diag);
        for (size_t i = 0; i < count; i++) list[i] = cute_cause_get(i);
        qsort(list, count, sizeof *list, compare_codes);
    } else {
        one = cute_cause_find(s->label);
        if (!one && is_finding(s->label)) return do_findings(s, out, diag);
        if (!one) one = cute_cause_of(s->label);
        if (!one) {
            cute_fail(diag, CUTE_INVALID, NULL, "expected a code, a name or a message, got '%s'", s->label);
            cute_note(diag, NULL, "'cute-dump causes' lists all of them");
            return CUTE_INVALID;
        }
    }
    if (s->json) cute_buffer_putc(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (s->json) cute_buffer_puts(out, i ? ",\n" : "\n");
        (s->json ? cute_cause_json : cute_cause_text)(list[i], out);
    }
    if (s->json) cute_buffer_puts(out, "\n]\n");
    return CUTE_OK;
}

/* Lists PTX instructions with their meaning; with an operand only that one, such as mad or mad.lo.s32. */
cute_status do_instructions(dump_settings *s, cute_buffer *out, cute_diag *diag)
{
    bool all = strcmp(s->label, "-") == 0;
    size_t length = strcspn(s->label, ". ");
    cute_table table = {.arena = s->arena, .columns = 3};
    json_t *list = json_array();
    em_instruction_info info;
    for (size_t i = 0; em_instruction_get(i, &info); i++) {
        if (!all && (strlen(info.name) != length || memcmp(info.name, s->label, length) != 0)) continue;
        const char *whole = info.why && !info.partly ? info.why : "";
        cute_table_row(&table, (const char *[]){info.name, info.meaning, whole});
        json_t *one = json_pack("{s:s,s:s}", "instruction", info.name, "meaning", info.meaning);
        if (*info.modifiers) json_object_set_new(one, "modifiers", json_string(info.modifiers));
        if (info.why)
            json_object_set_new(one, info.partly ? "partly" : "not_emulated", json_string(info.why));
        json_array_append_new(list, one);
    }
    bool any = json_array_size(list) > 0;
    if (any && s->json)
        cute_dump_json(json_incref(list), out);
    else if (any)
        cute_table_print(&table, 7, "", out);
    json_decref(list);
    if (any) return CUTE_OK;
    cute_fail(diag, CUTE_INVALID, NULL, "expected a PTX instruction, got '%s'", s->label);
    cute_note(diag, NULL, "'cute-dump instructions' lists all of them");
    return CUTE_INVALID;
}
