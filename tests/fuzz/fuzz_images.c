/* Files of any kind as `cute-dump images` reads them: a table and its JSON, or a reason. */
#include "lib/base/diagnostics/diag.h"
#include "lib/report/module/images.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cute_diag *diag = cute_diag_create();
    cute_buffer out = {0};
    json_t *images;
    cute_status status = cute_report_images_json("fuzz.o", data, size, &images, diag);
    if ((status != CUTE_OK) != (cute_diag_errors(diag) != 0)) __builtin_trap();
    if (status == CUTE_OK) {
        json_t *image;
        size_t i;
        if (!json_array_size(images)) __builtin_trap(); /* no device code is an error */
        json_array_foreach(images, i, image) if (!json_is_string(json_object_get(image, "arch")))
            __builtin_trap();
        cute_report_images(images, &out);
        cute_json_dump(images, true, &out);
    }
    json_decref(images);
    cute_buffer_release(&out);
    cute_diag_destroy(diag);
    return 0;
}
