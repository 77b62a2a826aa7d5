/* The growable byte string. An allocation failure is remembered: see cute_buffer_ok. */
#include "lib/base/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` bytes and the terminator. */
static bool reserve(cute_buffer *buffer, size_t more)
{
    if (buffer->failed) return false;
    size_t need;
    if (__builtin_add_overflow(buffer->length, more, &need) || need >= PTRDIFF_MAX) {
        buffer->failed = true;
        return false;
    }
    need++;
    if (need <= buffer->capacity) return true;
    size_t capacity = buffer->capacity ? buffer->capacity : 64;
    while (capacity < need) capacity = capacity > PTRDIFF_MAX / 2 ? PTRDIFF_MAX : capacity * 2;
    char *data = realloc(buffer->data, capacity);
    if (!data) {
        buffer->failed = true;
        return false;
    }
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

void cute_buffer_append(cute_buffer *buffer, const void *bytes, size_t length)
{
    if (!reserve(buffer, length)) return;
    if (length) memcpy(buffer->data + buffer->length, bytes, length);
    buffer->length += length;
    buffer->data[buffer->length] = 0;
}

void cute_buffer_puts(cute_buffer *buffer, const char *text)
{
    cute_buffer_append(buffer, text, strlen(text));
}

void cute_buffer_putc(cute_buffer *buffer, char byte)
{
    cute_buffer_append(buffer, &byte, 1);
}

void cute_buffer_vprintf(cute_buffer *buffer, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length < 0)
        buffer->failed = true;
    else if (reserve(buffer, (size_t)length)) {
        vsnprintf(buffer->data + buffer->length, (size_t)length + 1, format, again);
        buffer->length += (size_t)length;
    }
    va_end(again);
}

void cute_buffer_printf(cute_buffer *buffer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cute_buffer_vprintf(buffer, format, args);
    va_end(args);
}

void cute_buffer_release(cute_buffer *buffer)
{
    free(buffer->data);
    *buffer = (cute_buffer){0};
}
