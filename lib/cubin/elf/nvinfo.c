/* Reads .nv.info: an attribute is a format byte, a code and a value: none (2 unused bytes), a byte, a half,
 * or a size and that many bytes. */
#include "lib/cubin/elf/nvinfo.h"

#include <string.h>

enum { FORMAT_NONE = 1, FORMAT_BYTE, FORMAT_HALF, FORMAT_SIZED };

static const struct {
    const char *name;
    cute_nvinfo_shape shape;
} known[256] = {
#define ATTRIBUTE(code, name, shape) [code] = {#name, CUTE_NVINFO_##shape},
#include "lib/cubin/elf/nvinfo.def"
};

static uint32_t read_half(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}
static uint32_t read_word(const uint8_t *at)
{
    return read_half(at) | read_half(at + 2) << 16;
}

/* The number of bytes of each shape. */
static const size_t needs[] = {
    [CUTE_NVINFO_DIM3] = 12,   [CUTE_NVINFO_OF] = 8,   [CUTE_NVINFO_PARAM] = 12,
    [CUTE_NVINFO_PARAM2] = 12, [CUTE_NVINFO_BANK] = 8, [CUTE_NVINFO_SYMBOLS] = 0,
    [CUTE_NVINFO_WORD] = 4,    [CUTE_NVINFO_HALF] = 2, [CUTE_NVINFO_BYTE] = 1,
};

static void decode_attribute(cute_nvinfo *a)
{
    const uint8_t *d = a->data;
    switch (a->shape) {
    case CUTE_NVINFO_BYTE: a->words[0] = d[0]; break;
    case CUTE_NVINFO_HALF: a->words[0] = read_half(d); break;
    case CUTE_NVINFO_WORD: a->words[0] = read_word(d); break;
    case CUTE_NVINFO_DIM3:
        for (int i = 0; i < 3; i++) a->words[i] = read_word(d + 4 * i);
        break;
    case CUTE_NVINFO_OF:
        a->words[0] = read_word(d);
        a->words[1] = read_word(d + 4);
        break;
    case CUTE_NVINFO_PARAM: /* the upper 14 bits of the last word; below them: alignment, space, bank */
        a->words[0] = read_half(d + 4);
        a->words[1] = read_half(d + 6);
        a->words[2] = read_word(d + 8) >> 18;
        break;
    case CUTE_NVINFO_PARAM2:
        a->words[0] = read_half(d + 4);
        a->words[1] = read_half(d + 6);
        a->words[2] = read_half(d + 8);
        break;
    case CUTE_NVINFO_BANK:
        a->words[0] = read_word(d);
        a->words[1] = read_half(d + 4);
        a->words[2] = read_half(d + 6);
        break;
    case CUTE_NVINFO_BYTES:
    case CUTE_NVINFO_NONE:
    case CUTE_NVINFO_OFFSETS:
    case CUTE_NVINFO_SYMBOLS: break;
    }
}

cute_status cute_nvinfo_next(const cute_elf *elf, const cute_elf_section *section, size_t *offset,
                             cute_nvinfo *out, bool *more, cute_diag *diag)
{
    const cute_place file = {.file = elf->label};
    *more = section->data && *offset < section->size;
    if (!*more) return CUTE_OK;
    size_t left = section->size - *offset;
    const uint8_t *at = section->data + *offset;
    if (left < 4)
        return cute_fail(diag, CUTE_INVALID, &file, "section %s is truncated inside an attribute",
                         section->name);
    *out = (cute_nvinfo){.code = at[1], .name = known[at[1]].name, .shape = known[at[1]].shape};
    switch (at[0]) {
    case FORMAT_NONE: out->data = at + 2; break;
    case FORMAT_BYTE:
        out->data = at + 2;
        out->length = 1;
        break;
    case FORMAT_HALF:
        out->data = at + 2;
        out->length = 2;
        break;
    case FORMAT_SIZED:
        out->data = at + 4;
        out->length = read_half(at + 2);
        break;
    default:
        return cute_fail(diag, CUTE_INVALID, &file,
                         "section %s has an attribute of unknown format %u at byte %zu", section->name, at[0],
                         *offset);
    }
    if (at[0] == FORMAT_SIZED && out->length > left - 4)
        return cute_fail(diag, CUTE_INVALID, &file, "section %s is truncated inside %s", section->name,
                         out->name ? out->name : "an attribute");
    *offset += 4 + (at[0] == FORMAT_SIZED ? out->length : 0);
    /* A value shorter than its shape is not decoded. */
    size_t needed = (size_t)out->shape < sizeof needs / sizeof *needs ? needs[out->shape] : 0;
    if (out->length < needed && out->shape != CUTE_NVINFO_NONE) out->shape = CUTE_NVINFO_BYTES;
    decode_attribute(out);
    return CUTE_OK;
}
