/* PTX and the metadata in it: any text opens or is refused with a reason. */
#include <string.h>

#include "cute/cubin.h"
#include "lib/report/module/module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char plain[] =
    "\n.version 8.0\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 s[24], .param .f32 x)\n"
    ".reqntid 128, 1, 1\n{\n ret;\n}\n";

static void look(const char *text, size_t length)
{
    cute_diag *diag = cute_diag_create();
    cute_module *module = NULL;
    cute_buffer out = {0};
    if (cute_module_open("fuzz.ptx", text, length, NULL, &module, diag) == CUTE_OK) {
        cute_report_module("fuzz.ptx", module, NULL, true, &out);
        json_decref(cute_report_module_json("fuzz.ptx", module, NULL, true));
        for (size_t i = 0; i < cute_module_kernel_count(module); i++) {
            const cute_kernel *k = cute_module_kernel(module, i);
            for (size_t a = 0; a < k->arg_count; a++)
                if (k->args[a].first + k->args[a].count > k->param_count) __builtin_trap();
        }
        cute_module_close(module);
    } else if (cute_diag_errors(diag) == 0) {
        __builtin_trap();
    }
    cute_buffer_release(&out);
    cute_diag_destroy(diag);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    look((const char *)data, size);
    /* The same as the metadata of a kernel that is there. */
    cute_buffer text = {0};
    cute_buffer_puts(&text, "//!cute ");
    for (size_t i = 0; i < size; i++)
        cute_buffer_putc(&text, data[i] == '\n' || data[i] == 0 ? ' ' : (char)data[i]);
    cute_buffer_puts(&text, plain);
    look(cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
    return 0;
}
