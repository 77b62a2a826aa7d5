/* A growable byte string. After an allocation failure, appending does nothing; check cute_buffer_ok once at
 * the end. `data` is always terminated, so it is a C string; {0} is an empty buffer. */
#ifndef CUTE_LIB_BASE_BUFFER_H
#define CUTE_LIB_BASE_BUFFER_H

#include "cute/base.h"

typedef struct cute_buffer {
    char *data; /* NULL while nothing was appended */
    size_t length, capacity;
    bool failed;
} cute_buffer;

void cute_buffer_append(cute_buffer *buffer, const void *bytes, size_t length);
void cute_buffer_puts(cute_buffer *buffer, const char *text);
void cute_buffer_putc(cute_buffer *buffer, char byte);
void cute_buffer_printf(cute_buffer *buffer, const char *format, ...) CUTE_PRINTF(2, 3);
void cute_buffer_vprintf(cute_buffer *buffer, const char *format, va_list args) CUTE_PRINTF(2, 0);
void cute_buffer_release(cute_buffer *buffer);
static inline bool cute_buffer_ok(const cute_buffer *buffer)
{
    return !buffer->failed;
}
/* Never NULL. */
static inline const char *cute_buffer_text(const cute_buffer *buffer)
{
    return buffer->data ? buffer->data : "";
}

#endif
