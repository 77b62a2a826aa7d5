/* See ptx_text.h. */
#include "lib/passes/devices/ptx_text.h"

#include <string.h>

MlirStringRef cute_ptx_word(MlirOperation op, MlirStringRef name, const char *missing, cute_buffer *text)
{
    MlirAttribute attribute = mlirOperationGetAttributeByName(op, name);
    text->length = 0;
    if (mlirAttributeIsNull(attribute)) return cute_text(missing);
    if (mlirAttributeIsAString(attribute)) return mlirStringAttrGetValue(attribute);
    if (mlirAttributeIsAInteger(attribute)) {
        cute_buffer_printf(text, "%lld", (long long)mlirIntegerAttrGetValueInt(attribute));
        return cute_text(cute_buffer_text(text));
    }
    mlirAttributePrint(attribute, cute_print_to_buffer, text);
    const char *start = cute_buffer_text(text), *open = strchr(start, '<'), *close = strrchr(start, '>');
    return open && close ? mlirStringRefCreate(open + 1, (size_t)(close - open - 1)) : cute_text(start);
}

void cute_ptx_words(MlirOperation op, const char *text, cute_buffer *out)
{
    cute_buffer word = {0}, missing = {0};
    for (const char *open; (open = strchr(text, '{'));) {
        bool own = open[1] == ' ';
        cute_buffer_append(out, text, (size_t)(open - text) + own);
        text = open + 1;
        if (own) continue;
        const char *close = strchr(text, '}'), *bar = memchr(text, '|', (size_t)(close - text));
        missing.length = 0;
        if (bar) cute_buffer_append(&missing, bar + 1, (size_t)(close - bar - 1));
        MlirStringRef name = mlirStringRefCreate(text, (size_t)((bar ? bar : close) - text));
        MlirStringRef value = cute_ptx_word(op, name, bar ? cute_buffer_text(&missing) : "", &word);
        cute_buffer_append(out, value.data, value.length);
        text = close + 1;
    }
    cute_buffer_puts(out, text);
    cute_buffer_release(&word);
    cute_buffer_release(&missing);
}
