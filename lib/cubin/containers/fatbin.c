/* Reads fatbins: a header of 16 bytes, then entries, each a header with its own size and a payload padded to
 * 8 bytes. */
#include "lib/cubin/containers/fatbin.h"

#include <string.h>
#include <zstd.h>

#include "lib/cubin/containers/lz4.h"

static const uint8_t magic[4] = {0x50, 0xed, 0x55, 0xba};

enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000 };
/* Offsets of the fields of an entry's header. */
enum {
    AT_KIND = 0,
    AT_HEADER = 4,
    AT_PADDED = 8,
    AT_PACKED = 16,
    AT_SM = 28,
    AT_FLAGS = 40,
    AT_FULL = 56,
    ENTRY = 64
};
/* Larger sizes are taken to be malicious. */
static const uint64_t largest = (uint64_t)512 << 20;

static uint64_t read_little_endian(const uint8_t *at, int bytes)
{
    uint64_t value = 0;
    for (int i = bytes; i-- > 0;) value = value << 8 | at[i];
    return value;
}

bool cute_fatbin_is(const void *bytes, size_t length)
{
    return length >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

size_t cute_fatbin_extent(const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    if (!cute_fatbin_is(bytes, length) || length < 16) return 0;
    uint64_t header = read_little_endian(at + 6, 2), size = read_little_endian(at + 8, 8);
    return header < 16 || header > length || size > length - header ? 0 : (size_t)(header + size);
}

static bool read_entry(const uint8_t *at, size_t left, cute_fatbin_entry *entry, uint64_t *total)
{
    if (left < ENTRY) return false;
    uint64_t header = read_little_endian(at + AT_HEADER, 4), padded = read_little_endian(at + AT_PADDED, 8),
             flags = read_little_endian(at + AT_FLAGS, 8);
    if (header < ENTRY || header > left || padded > left - header) return false;
    *entry = (cute_fatbin_entry){.kind = (unsigned)read_little_endian(at + AT_KIND, 2),
                                 .sm = (unsigned)read_little_endian(at + AT_SM, 4),
                                 .compression = "none",
                                 .data = at + header,
                                 .length = padded,
                                 .full_length = padded};
    if (flags & (FLAG_LZ4 | FLAG_ZSTD)) {
        entry->compression = flags & FLAG_ZSTD ? "zstd" : "lz4";
        entry->length = read_little_endian(at + AT_PACKED, 4);
        entry->full_length = read_little_endian(at + AT_FULL, 8);
        if (entry->length > padded) return false;
    }
    *total = header + padded;
    return *total > 0;
}

cute_status cute_fatbin_read(cute_arena *arena, const char *label, const void *bytes, size_t length,
                             cute_fatbin_entry **out, size_t *count, cute_diag *diag)
{
    const cute_place file = {.file = label};
    const uint8_t *at = bytes;
    *count = 0;
    *out = NULL;
    if (!cute_fatbin_is(bytes, length)) return cute_fail(diag, CUTE_INVALID, &file, "this is not a fatbin");
    if (!cute_fatbin_extent(bytes, length))
        return cute_fail(diag, CUTE_INVALID, &file, "the fatbin is truncated: it has %zu bytes", length);
    uint64_t header = read_little_endian(at + 6, 2), size = read_little_endian(at + 8, 8);
    cute_fatbin_entry *entries = cute_arena_array(arena, (size_t)(size / ENTRY) + 1, sizeof *entries);
    if (!entries) return cute_fail_memory(diag);
    for (uint64_t done = 0, total; done < size; done += total) {
        if (!read_entry(at + header + done, (size_t)(size - done), &entries[*count], &total))
            return cute_fail(diag, CUTE_INVALID, &file, "entry %zu of the fatbin is malformed or truncated",
                             *count + 1);
        ++*count;
    }
    *out = entries;
    return CUTE_OK;
}

cute_status cute_fatbin_extract(cute_arena *arena, const char *label, const cute_fatbin_entry *entry,
                                const void **bytes, size_t *length, cute_diag *diag)
{
    const cute_place file = {.file = label};
    if (entry->kind != CUTE_FATBIN_PTX && entry->kind != CUTE_FATBIN_ELF)
        return cute_fail(diag, CUTE_INVALID, &file,
                         "unsupported fatbin entry of kind %u for sm_%u (supported: PTX, ELF)", entry->kind,
                         entry->sm);
    const uint8_t *data = entry->data;
    size_t size = entry->length;
    if (*entry->compression != 'n') {
        bool zstd = *entry->compression == 'z';
        uint64_t most = zstd ? largest : (uint64_t)entry->length * 255 + 64;
        if (zstd && ZSTD_getFrameContentSize(data, size) != entry->full_length) most = 0;
        char *full = entry->full_length <= most && entry->full_length <= largest
                         ? cute_arena_alloc(arena, entry->full_length + 1)
                         : NULL;
        size_t got = 0;
        if (full && zstd) got = ZSTD_decompress(full, entry->full_length, data, size);
        if (full && !zstd) got = cute_lz4_decompress(data, size, (uint8_t *)full, entry->full_length);
        if (!full || got != entry->full_length)
            return cute_fail(diag, CUTE_INVALID, &file,
                             "the fatbin entry for sm_%u is damaged: cannot decompress its %s data",
                             entry->sm, entry->compression);
        data = (const uint8_t *)full;
        size = got;
    }
    if (entry->kind == CUTE_FATBIN_PTX) {
        size = strnlen((const char *)data, size);
        data = (const uint8_t *)cute_arena_copy(arena, (const char *)data, size);
        if (!data) return cute_fail_memory(diag);
    }
    *bytes = data;
    *length = size;
    return CUTE_OK;
}

const char *cute_fatbin_kind_name(cute_arena *arena, const cute_fatbin_entry *entry)
{
    if (entry->kind == CUTE_FATBIN_PTX) return "ptx";
    if (entry->kind == CUTE_FATBIN_ELF) return "elf";
    if (entry->kind == CUTE_FATBIN_LTO) return "lto";
    const char *name = cute_arena_printf(arena, "kind %u", entry->kind);
    return name ? name : "unknown";
}
