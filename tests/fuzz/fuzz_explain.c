/* PTX of anybody: what is slow in it is told, in text, JSON and HTML, or why it cannot be looked at. */
#include <string.h>

#include "cute/cubin.h"
#include "lib/report/explain/explain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cute_arena *arena = cute_arena_create();
    cute_module *module = NULL;
    cute_buffer out = {0};
    if (cute_module_open("fuzz.ptx", data, size, NULL, &module, NULL) == CUTE_OK &&
        cute_module_get_format(module) == CUTE_MODULE_PTX) {
        const explain_input input = {.label = "fuzz.ptx", .module = module, .no_code = "it is not compiled"};
        explain_report report;
        cute_diag *diag = cute_diag_create();
        if (explain_create(arena, &input, &report, diag) == CUTE_OK) {
            explain_print(&report, true, false, &out);
            explain_html(&report, &out);
            json_decref(explain_json(&report));
        } else if (!cute_diag_errors(diag)) {
            __builtin_trap();
        }
        cute_diag_destroy(diag);
    }
    cute_module_close(module);
    cute_buffer_release(&out);
    cute_arena_destroy(arena);
    return 0;
}
