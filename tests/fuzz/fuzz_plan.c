/* Launch plans: any line of metadata as the plan of a module, evaluated for numbers, and for the tensors of a
 * launch.json. What comes out of the first has to be a launch.json. */
#include <stdlib.h>
#include <string.h>

#include "cute/launch.h"
#include "lib/base/buffer.h"
#include "lib/base/text/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same plan with what launch.json gives: buffers and params by names that plans are likely to have. */
static void with_tensors(const cute_module *module)
{
    static const char text[] =
        "{\"plan\": \"main\", \"args\": {\"s\": [5, 4], \"t\": [1, 2]},"
        "\"params\": {\"n\": 16, \"m\": 4, \"x\": 0.5, \"scale\": 2, \"arg0\": 3, \"arg1\": 1},"
        "\"buffers\": {\"a\": {\"dtype\": \"f32\", \"shape\": [8, 4], \"init\": 0},"
        "\"b\": {\"shape\": [4, 8], \"init\": 0}, \"p\": {\"init\": 0, \"unwritten\": \"allow\"}}}";
    const cute_launch_options options = {.size = sizeof options, .dry_run = true, .no_check = true};
    cute_diag *diag = cute_diag_create();
    cute_launch *launch = NULL;
    cute_launch_open("c.json", text, sizeof text - 1, NULL, module, &options, &launch, diag);
    cute_launch_close(launch);
    cute_diag_destroy(diag);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const defines[] = {"n=1000", "arg0=-3", "arg1=1"};
    cute_buffer ptx = {0};
    cute_buffer_puts(&ptx, "//!cute ");
    for (size_t i = 0; i < size; i++)
        cute_buffer_putc(&ptx, data[i] && data[i] != '\n' ? (char)data[i] : ' ');
    cute_buffer_puts(&ptx,
                     "\n.version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n");
    cute_diag *diag = cute_diag_create();
    cute_module *module = NULL;
    char *json = NULL;
    if (cute_buffer_ok(&ptx) &&
        cute_module_open("fuzz", cute_buffer_text(&ptx), ptx.length, NULL, &module, diag) == CUTE_OK &&
        cute_module_plan(module, "main", defines, 3, &json, diag) == CUTE_OK) {
        json_t *parsed = NULL;
        if (cute_json_parse("fuzz", json, strlen(json), &parsed, NULL) != CUTE_OK) abort();
        /* none, if every grid is empty */
        if (!json_is_array(json_object_get(parsed, "launches"))) abort();
        json_decref(parsed);
    }
    free(json);
    if (module) with_tensors(module);
    cute_module_close(module);
    cute_diag_destroy(diag);
    cute_buffer_release(&ptx);
    return 0;
}
