/* Reports of counters (cute-run --counters --json): tables, counts beside the PTX and beside the source, findings with
 * them, or a reason. The text is the report of the PTX below; names of files in it would be opened. */
#include <string.h>

#include "cute/cubin.h"
#include "lib/base/diagnostics/diag.h"
#include "lib/report/explain/explain.h"
#include "lib/report/launch/counters.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry k(.param .u64 a)\n.reqntid 64, 1, 1\n{\n"
                          " .reg .b32 %r<4>;\n .reg .b64 %rd<4>;\n"
                          " ld.param.u64 %rd1, [a];\n mov.u32 %r1, %tid.x;\n"
                          " mul.wide.u32 %rd2, %r1, 4;\n add.s64 %rd3, %rd1, %rd2;\n"
                          " ld.global.u32 %r2, [%rd3];\n st.global.u32 [%rd3], %r2;\n ret;\n}\n";

static bool names_a_file(const uint8_t *data, size_t size)
{
    return memchr(data, '/', size) || memmem(data, size, "\\u", 2);
}

static void explain(const json_t *report, cute_buffer *out)
{
    cute_arena *arena = cute_arena_create();
    cute_module *module;
    explain_report found;
    if (cute_module_open("k.ptx", ptx, sizeof ptx - 1, NULL, &module, NULL) != CUTE_OK) __builtin_trap();
    const explain_input input = {
        .label = "k.ptx", .module = module, .no_code = "it is not compiled", .launch = report};
    if (explain_create(arena, &input, &found, NULL) == CUTE_OK) {
        explain_print(&found, true, false, out);
        json_decref(explain_json(&found));
    }
    cute_module_close(module);
    cute_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (names_a_file(data, size)) return 0;
    cute_diag *diag = cute_diag_create();
    cute_buffer out = {0};
    json_t *report = NULL;
    if (cute_json_parse("report.json", (const char *)data, size, &report, diag) == CUTE_OK) {
        for (int named = 0; named < 2; named++) {
            const char *kernel = named ? "k" : NULL;
            size_t before = cute_diag_errors(diag);
            cute_status status =
                cute_report_counted_ptx("report.json", report, kernel, ptx, sizeof ptx - 1, &out, diag);
            if ((status != CUTE_OK) != (cute_diag_errors(diag) != before)) __builtin_trap();
            before = cute_diag_errors(diag);
            status = cute_report_counted_source("report.json", report, kernel, &out, diag);
            if ((status != CUTE_OK) != (cute_diag_errors(diag) != before)) __builtin_trap();
        }
        cute_report_counters(json_object_get(report, "counters"), &out);
        explain(report, &out);
    } else if (!cute_diag_errors(diag)) {
        __builtin_trap();
    }
    json_decref(report);
    cute_buffer_release(&out);
    cute_diag_destroy(diag);
    return 0;
}
