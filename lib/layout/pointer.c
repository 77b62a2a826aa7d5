/* Pointers: element types and their width, address spaces, alignment, swizzles. */
#include <string.h>

#include "lib/base/text/chars.h"
#include "lib/layout/pointer.h"

static const char *const spaces[CUTE_SPACES] = {"generic", "gmem", "smem", "rmem", "tmem", "dsmem", "desc"};

const char *cute_space_name(cute_space space)
{
    return spaces[space];
}

/* Shared memory is addressed in a window of 16 MiB; a thread has at most 512 KiB of local memory; tensor
 * memory has 32-bit addresses of words. */
static const uint64_t most_bytes[CUTE_SPACES] = {
    [CUTE_SPACE_GENERIC] = (uint64_t)1 << 63,
    [CUTE_SPACE_GMEM] = (uint64_t)1 << 63,
    [CUTE_SPACE_SMEM] = 1 << 24,
    [CUTE_SPACE_RMEM] = 1 << 19,
    [CUTE_SPACE_TMEM] = (uint64_t)1 << 34,
    [CUTE_SPACE_DSMEM] = 1 << 24,
    [CUTE_SPACE_DESC] = (uint64_t)1 << 63,
};

uint64_t alg_space_bytes(cute_space space)
{
    return most_bytes[space];
}

/* ---- elements ---- */

/* Width in memory; 0: unknown. Names that end in '<' or '.' are prefixes. */
static const struct {
    const char *name;
    int bits;
} elements[] = {
    {"f16", 16},        {"bf16", 16},       {"f32", 32},       {"f64", 64},     {"tf32", 32},
    {"f80", 80},        {"f128", 128},      {"index", 64},     {"f8E5M2", 8},   {"f8E4M3", 8},
    {"f8E4M3FN", 8},    {"f8E5M2FNUZ", 8},  {"f8E4M3FNUZ", 8}, {"f8E3M4", 8},   {"f8E4M3B11FNUZ", 8},
    {"f8E8M0FNU", 8},   {"f6E2M3FN", 6},    {"f6E3M2FN", 6},   {"f4E2M1FN", 4}, {"!llvm.ptr", 64},
    {"!llvm.ptr<", 64}, {"!cute.ptr<", 64},
};

enum { MOST_BITS = 1 << 20 };

/* A number from 1 to MOST_BITS; *at advances past its digits. */
static int parse_bit_count(const char *text, size_t length, size_t *at)
{
    int64_t value = 0;
    size_t start = *at;
    for (; *at < length && cute_is_digit(text[*at]); ++*at)
        if ((value = value * 10 + (text[*at] - '0')) > MOST_BITS) return 0;
    return *at > start ? (int)value : 0;
}

static int integer_bits(const char *text, size_t length)
{
    size_t at = length > 1 && (text[0] == 's' || text[0] == 'u') ? 1 : 0;
    if (at >= length || text[at] != 'i') return 0;
    at++;
    int bits = parse_bit_count(text, length, &at);
    return at == length ? bits : 0;
}

/* The text between `prefix` and a closing '>', or NULL. */
static const char *text_between(const char *text, size_t length, const char *prefix, size_t *size)
{
    size_t n = strlen(prefix);
    if (length <= n + 1 || memcmp(text, prefix, n) != 0 || text[length - 1] != '>') return NULL;
    *size = length - n - 1;
    return text + n;
}

bool cute_element_is_packed(const char *element)
{
    return !strcmp(element, "i4") || !strcmp(element, "f4E2M1FN");
}

bool alg_element_bits(const char *text, size_t length, int *bits)
{
    *bits = 0;
    if (length == 0) return false;
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        size_t n = strlen(elements[i].name);
        bool prefix = elements[i].name[n - 1] == '<';
        if ((prefix ? length < n : length != n) || memcmp(text, elements[i].name, n) != 0) continue;
        *bits = elements[i].bits;
        return true;
    }
    if ((*bits = integer_bits(text, length))) return true;
    size_t size, at = 0;
    int64_t count = 1;
    const char *of = text_between(text, length, "complex<", &size);
    if (of) {
        count = 2;
    } else if ((of = text_between(text, length, "vector<", &size))) {
        while (at < size && cute_is_digit(of[at])) {
            int extent = parse_bit_count(of, size, &at);
            if (extent < 1 || at >= size || of[at++] != 'x' || (count *= extent) > MOST_BITS) return false;
        }
        if (at == 0) return false;
    } else {
        return text[0] == '!' && length > 1;
    }
    if (of[at] == '!' || !alg_element_bits(of + at, size - at, bits) || count * *bits > MOST_BITS)
        return false;
    *bits *= (int)count;
    return true;
}

int64_t alg_natural_align(const cute_pointer *p)
{
    int64_t bytes = ((int64_t)p->bits + 7) / 8;
    return bytes ? bytes & -bytes : 1;
}

bool alg_space_named(const char *text, size_t length, cute_space *out)
{
    for (int i = 0; i < CUTE_SPACE_DESC; i++)
        if (strlen(spaces[i]) == length && !memcmp(spaces[i], text, length))
            return *out = (cute_space)i, true;
    return false;
}

uint64_t alg_space_elements(const cute_pointer *p)
{
    uint64_t bytes = alg_space_bytes(p->space);
    return p->bits < 8 ? bytes : bytes / ((uint64_t)p->bits / 8);
}

/* ---- whole pointers ---- */

bool alg_same_swizzle(cute_swizzle x, cute_swizzle y)
{
    return x.bits == y.bits && x.base == y.base && x.shift == y.shift;
}

bool alg_pointer_equal(const cute_pointer *p, const cute_pointer *q)
{
    return !strcmp(p->element, q->element) && p->space == q->space && p->align == q->align &&
           (alg_same_swizzle(p->swizzle, q->swizzle) || (p->swizzle.bits == 0 && q->swizzle.bits == 0));
}

const cute_pointer *cute_pointer_with_handle(cute_arena *arena, const cute_pointer *pointer, void *handle)
{
    cute_pointer *copy = cute_arena_alloc(arena, sizeof *copy);
    if (!copy) return NULL;
    *copy = *pointer;
    copy->handle = handle;
    return copy;
}

/* The alignment after advancing by a multiple of `divisor` elements of `bits` bits. */
static int64_t align_after(int64_t align, uint64_t divisor, int bits)
{
    int shift = bits ? __builtin_ctzll(divisor) + __builtin_ctz((unsigned)bits) - 3 : 0;
    int64_t bytes = shift <= 0 ? 1 : shift > 61 ? align : (int64_t)1 << shift;
    return bytes < align ? bytes : align;
}

const cute_pointer *alg_advance(cute_algebra *a, const cute_pointer *p, cute_node offset)
{
    if (!offset || !p) return NULL;
    if (alg_is_empty(offset) || alg_is(offset, 0)) return p;
    if (!alg_is_int(offset))
        return alg_fail(a, "expects one integer to advance a pointer by, but got %s", alg_text(a, offset));
    const cute_int *by = &offset->value;
    uint64_t distance = by->known ? alg_magnitude(by->value) : 0, most = alg_space_elements(p);
    if (distance >= most)
        return alg_fail(
            a, "expects an offset of less than %llu elements of %s, which are %llu bytes of %s, but got %lld",
            (unsigned long long)most, p->element, (unsigned long long)alg_space_bytes(p->space),
            cute_space_name(p->space), (long long)by->value);
    uint64_t divisor = by->known ? (uint64_t)by->value : by->divisor ? (uint64_t)by->divisor : 1;
    cute_pointer *moved = cute_arena_alloc(a->arena, sizeof *moved);
    if (!moved) return alg_exhausted(a);
    *moved = *p;
    moved->handle = NULL;
    moved->align = align_after(p->align, divisor, p->bits);
    if (!a->arith) return moved;
    cute_status status = a->arith->advance(a->arith->context, p, by, moved, &moved->handle, a->diag);
    if (status == CUTE_OK) return moved;
    if (a->status == CUTE_OK) a->status = status;
    return NULL;
}

bool alg_verify_pointer(cute_algebra *a, const cute_pointer *p)
{
    int bits;
    if (!alg_element_bits(p->element, strlen(p->element), &bits) || bits != p->bits)
        return alg_fail(a, "expects an element type such as f16, i8 or !dialect.type, but got %s of %d bits",
                        p->element, p->bits) != NULL;
    if (p->align < 1 || (p->align & (p->align - 1)))
        return alg_fail(a, "expects an alignment that is a power of two, but got %lld",
                        (long long)p->align) != NULL;
    if (!cute_swizzle_valid(p->swizzle.bits, p->swizzle.base, p->swizzle.shift))
        return alg_fail(a,
                        "S<bits,base,shift> needs |shift| >= bits and |shift| + bits + base <= 32, but got "
                        "S<%d,%d,%d>",
                        p->swizzle.bits, p->swizzle.base, p->swizzle.shift) != NULL;
    int base = 0;
    while ((int64_t)8 << base < p->bits) base++;
    if (!p->swizzle.bits || p->swizzle.base >= base) return true;
    return alg_fail(a,
                    "the swizzle of a pointer permutes bytes: S<%d,%d,%d> splits elements of %s, expects a "
                    "base of at least %d",
                    p->swizzle.bits, p->swizzle.base, p->swizzle.shift, p->element, base) != NULL;
}

int64_t alg_swizzled_align(cute_swizzle s, int64_t align)
{
    if (!s.bits) return align;
    /* The lowest address bit of the field that the swizzle reads, and the bit that it changes. */
    int64_t read = (int64_t)1 << (s.base + (s.shift > 0 ? s.shift : 0)), end = read << s.bits,
            changed = (int64_t)1 << (s.base + (s.shift < 0 ? -s.shift : 0));
    if (!align || align >= end) return align;
    if (align > read) changed *= align / read;
    return align < changed ? align : changed;
}
