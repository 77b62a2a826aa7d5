/* Diagnostics about hostile text: nothing but printable text and colours reaches the terminal. */
#include <stdlib.h>
#include <string.h>

#include "cute/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int number(const uint8_t *data)
{
    int value;
    memcpy(&value, data, sizeof value);
    return value;
}

/* The first 16 bytes are the offset and the place's numbers, the rest is the source. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 16) return 0;
    const char *source = (const char *)data + 16;
    cute_place place = cute_place_at("f", source, size - 16, (size_t)(unsigned)number(data) % (size - 15));
    place.length = number(data + 4);
    if (data[8] & 1) place.column = number(data + 12);
    cute_diag *diag = cute_diag_create();
    cute_report(diag, (cute_severity)(data[9] & 3), &place, "%.*s", (int)(size - 16), source);
    char *text = cute_diag_render(diag, CUTE_DIAG_TEXT, false);
    for (const char *c = text; c && *c; c++)
        if ((unsigned char)*c < ' ' && *c != '\n' && *c != '\t') abort();
    free(text);
    free(cute_diag_render(diag, CUTE_DIAG_JSON, false));
    cute_diag_destroy(diag);
    return 0;
}
