/* Text for terminals and JSON: UTF-8, column widths, escapes; independent of the locale. */
#include <string.h>

#include "lib/base/diagnostics/diag.h"

typedef struct range {
    uint32_t first, last;
} range;

/* Characters that take no column: the marks of common scripts, joiners, variation selectors. */
static const range zero_width[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F},
    {0x0900, 0x0902}, {0x0941, 0x0948}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF},
    {0x1DC0, 0x1DFF}, {0x200B, 0x200D}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
};
/* East Asian wide and full-width characters and emoji. */
static const range double_width[] = {
    {0x1100, 0x115F}, {0x231A, 0x231B}, {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF}, {0xA000, 0xA4CF}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD},
};
/* Characters that may change the display of the rest of a line: controls and bidirectional overrides. */
static const range unprintable[] = {
    {0x00, 0x1F},     {0x7F, 0x9F},     {0x200E, 0x200F}, {0x2028, 0x202E},
    {0x2066, 0x2069}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xFFFE, 0xFFFF},
};

static bool in_ranges(const range *ranges, size_t count, uint32_t code)
{
    for (size_t i = 0; i < count; i++)
        if (code >= ranges[i].first && code <= ranges[i].last) return true;
    return false;
}
#define IN(table, code) in_ranges(table, sizeof(table) / sizeof *(table), code)

/* RFC 3629: no overlong forms, surrogates or code points above U+10FFFF. 0: not UTF-8. */
static int decode_utf8(const unsigned char *s, size_t length, uint32_t *code)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
    for (size_t form = 0; form < 4; form++) {
        if ((s[0] & forms[form].mask) != forms[form].lead) continue;
        if (length < form + 1) return 0;
        uint32_t value = s[0] & (unsigned char)~forms[form].mask;
        for (size_t i = 1; i <= form; i++) {
            if ((s[i] & 0xC0) != 0x80) return 0;
            value = value << 6 | (s[i] & 0x3F);
        }
        if (value < forms[form].least || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return 0;
        *code = value;
        return (int)form + 1;
    }
    return 0;
}

cute_glyph cute_glyph_at(const char *text, size_t length)
{
    cute_glyph glyph = {.valid = true, .printable = true};
    glyph.bytes = decode_utf8((const unsigned char *)text, length, &glyph.code);
    if (!glyph.bytes) /* <E2> */
        return (cute_glyph){.code = (unsigned char)*text, .bytes = 1, .columns = 4};
    if (IN(unprintable, glyph.code)) { /* <U+001B> */
        glyph.printable = false;
        glyph.columns = glyph.code > 0xFFFF ? 9 : 8;
    } else
        glyph.columns = IN(zero_width, glyph.code) ? 0 : IN(double_width, glyph.code) ? 2 : 1;
    return glyph;
}

void cute_text_printable(const char *text, size_t length, cute_buffer *out)
{
    for (size_t i = 0; i < length;) {
        cute_glyph glyph = cute_glyph_at(text + i, length - i);
        if (!glyph.valid)
            cute_buffer_printf(out, "<%02X>", (unsigned)glyph.code);
        else if (glyph.printable || glyph.code == '\n' || glyph.code == '\t')
            cute_buffer_append(out, text + i, (size_t)glyph.bytes);
        else
            cute_buffer_printf(out, "<U+%04X>", (unsigned)glyph.code);
        i += (size_t)glyph.bytes;
    }
}

bool cute_text_is_printable(const char *text)
{
    for (size_t length = strlen(text), i = 0; i < length;) {
        cute_glyph glyph = cute_glyph_at(text + i, length - i);
        if (!glyph.valid || !glyph.printable) return false;
        i += (size_t)glyph.bytes;
    }
    return true;
}

/* The length of a colour sequence: "\033[", numbers, "m". 0: none. */
static size_t colour_at(const char *text, size_t length)
{
    size_t i = 2;
    if (length < 3 || text[0] != '\033' || text[1] != '[') return 0;
    while (i < length && i < 8 && ((text[i] >= '0' && text[i] <= '9') || text[i] == ';')) i++;
    return i < length && text[i] == 'm' ? i + 1 : 0;
}

void cute_text_coloured(const char *text, size_t length, cute_buffer *out)
{
    size_t from = 0;
    for (size_t i = 0; i < length;) {
        size_t colour = colour_at(text + i, length - i);
        if (colour) {
            cute_text_printable(text + from, i - from, out);
            cute_buffer_append(out, text + i, colour);
            from = i + colour;
        }
        i += colour ? colour : 1;
    }
    cute_text_printable(text + from, length - from, out);
}

void cute_text_xml(const char *text, size_t length, cute_buffer *out)
{
    static const char *const entities[128] = {
        ['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;"};
    for (size_t i = 0; i < length;) {
        cute_glyph glyph = cute_glyph_at(text + i, length - i);
        if (!glyph.valid)
            cute_buffer_printf(out, "&lt;%02X&gt;", (unsigned)glyph.code);
        else if (!glyph.printable && glyph.code != '\n' && glyph.code != '\t')
            cute_buffer_printf(out, "&lt;U+%04X&gt;", (unsigned)glyph.code);
        else if (glyph.code < 128 && entities[glyph.code])
            cute_buffer_puts(out, entities[glyph.code]);
        else
            cute_buffer_append(out, text + i, (size_t)glyph.bytes);
        i += (size_t)glyph.bytes;
    }
}

void cute_text_json(const char *text, size_t length, cute_buffer *out)
{
    static const char *const escapes[128] = {
        ['"'] = "\\\"", ['\\'] = "\\\\", ['\n'] = "\\n", ['\t'] = "\\t",
        ['\r'] = "\\r", ['\b'] = "\\b",  ['\f'] = "\\f",
    };
    cute_buffer_putc(out, '"');
    for (size_t i = 0; i < length;) {
        cute_glyph glyph = cute_glyph_at(text + i, length - i);
        if (!glyph.valid)
            cute_buffer_puts(out, "\xEF\xBF\xBD");
        else if (glyph.code < 128 && escapes[glyph.code])
            cute_buffer_puts(out, escapes[glyph.code]);
        else if (glyph.code < 0x20)
            cute_buffer_printf(out, "\\u%04x", (unsigned)glyph.code);
        else
            cute_buffer_append(out, text + i, (size_t)glyph.bytes);
        i += (size_t)glyph.bytes;
    }
    cute_buffer_putc(out, '"');
}
