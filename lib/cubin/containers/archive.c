/* Reads `ar` archives in System V and GNU format. */
#include "lib/cubin/containers/archive.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC = 8, HEADER = 60, NAME = 16, AT_SIZE = 48, SIZE = 10, AT_END = 58 };

static bool read_decimal(const char *text, size_t length, size_t *value)
{
    size_t i = 0;
    for (*value = 0; i < length && isdigit((unsigned char)text[i]); i++)
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, (size_t)(text[i] - '0'), value))
            return false;
    return i > 0;
}

/* "foo.o/", or "/12": an offset into the table of long names. */
static const char *member_name(cute_arena *arena, const char *header, const char *names, size_t names_length)
{
    size_t offset;
    const char *text = header;
    size_t left = NAME;
    if (*header == '/' && read_decimal(header + 1, NAME - 1, &offset)) {
        if (!names || offset >= names_length) return NULL;
        text = names + offset;
        left = names_length - offset;
    }
    size_t length = 0;
    while (length < left && text[length] != '/' && text[length] != '\n') length++;
    while (length && text[length - 1] == ' ') length--;
    return cute_arena_copy(arena, text, length);
}

cute_status cute_archive_read(cute_arena *arena, const char *label, const void *bytes, size_t length,
                              cute_member **out, size_t *count, cute_diag *diag)
{
    const cute_place file = {.file = label};
    const char *text = bytes, *names = NULL;
    size_t names_length = 0, size;
    *count = 0;
    if (length < MAGIC || memcmp(text, "!<arch>\n", MAGIC) != 0)
        return cute_fail(diag, CUTE_INVALID, &file,
                         length >= MAGIC && memcmp(text, "!<thin>\n", MAGIC) == 0
                             ? "this is a thin archive: its members are separate files"
                             : "this is not an archive");
    *out = cute_arena_array(arena, length / HEADER + 1, sizeof **out);
    if (!*out) return cute_fail_memory(diag);
    for (size_t at = MAGIC; at < length; at += HEADER + size + (size & 1)) {
        const char *header = text + at;
        if (length - at < HEADER || memcmp(header + AT_END, "`\n", 2) != 0 ||
            !read_decimal(header + AT_SIZE, SIZE, &size) || size > length - at - HEADER)
            return cute_fail(diag, CUTE_INVALID, &file, "the archive is damaged or truncated at byte %zu",
                             at);
        const char *data = header + HEADER;
        if (memcmp(header, "// ", 3) == 0) {
            names = data;
            names_length = size;
        } else if (memcmp(header, "/ ", 2) != 0 && memcmp(header, "/SYM64/", 7) != 0) {
            const char *name = member_name(arena, header, names, names_length);
            if (!name)
                return cute_fail(diag, CUTE_INVALID, &file, "the name of member %zu is missing", *count + 1);
            (*out)[(*count)++] = (cute_member){.name = name, .bytes = data, .length = size};
        }
    }
    return CUTE_OK;
}
