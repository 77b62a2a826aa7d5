/* .npy files: a tensor whose elements all lie within the file, or a reason. The first byte says which type is wanted. */
#include <stdlib.h>
#include <string.h>

#include "cute/base.h"
#include "lib/base/diagnostics/diag.h"
#include "lib/launch/data/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ELEMENTS = 64 /* that are looked at */ };

static void look(const cute_tensor *t, const char *bytes, size_t length)
{
    double value;
    cute_buffer text = {0};
    int64_t width = cute_dtype_get(t->dtype)->bytes;
    const char *first = t->data;
    if (t->bytes < 0 || first < bytes || (size_t)t->bytes > length || first + t->bytes > bytes + length)
        __builtin_trap();
    for (int64_t i = 0; i < t->count && i < ELEMENTS; i++) {
        int64_t at = i % 2 ? t->count - 1 - i / 2 : i / 2, position = cute_tensor_position(t, at);
        if (position < 0 || position * width >= t->bytes) __builtin_trap();
        cute_tensor_load(t, t->data, at, 1, &value);
        cute_tensor_store(t, t->data, at, 1, &value);
        cute_tensor_index_text(t, at, &text);
    }
    cute_tensor_shape_text(t, &text);
    text.length = 0;
    cute_tensor_pack(t, t->data, &text);
    if (text.length != (size_t)(t->count * width)) __builtin_trap();
    cute_buffer_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cute_tensor tensor;
    if (!size) return 0;
    cute_dtype wanted = (cute_dtype)(data[0] / 2 % CUTE_DTYPE_COUNT);
    cute_diag *diag = cute_diag_create();
    char *bytes = malloc(size); /* is written to: elements are moved and their bytes swapped */
    memcpy(bytes, data + 1, size - 1);
    cute_status status = cute_npy_parse("fuzz.npy", bytes, size - 1, wanted, data[0] % 2, &tensor, diag);
    if ((status != CUTE_OK) != (cute_diag_errors(diag) != 0)) __builtin_trap();
    if (status == CUTE_OK) look(&tensor, bytes, size - 1);
    free(bytes);
    cute_diag_destroy(diag);
    return 0;
}
