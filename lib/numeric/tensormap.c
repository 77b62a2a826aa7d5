/* Tensor maps: limits, the library's 128-byte encoding, tensormap.replace, and reductions. boxcopy.c copies
 * boxes. */
#include <string.h>

#include "lib/numeric/number.h"
#include "lib/numeric/tensormap.h"

/* PTX ISA 8.5, cp.reduce.async.bulk: the operations of each element type. */
enum { ARITHMETIC = 1, ORDER = 2, COUNT = 4, LOGIC = 8 };

static const struct {
    uint8_t bytes;
    bool real;
    num_format format;
    uint8_t reductions;
} types[] = {
    [CUTE_MAP_U8] = {1, false, 0, 0},
    [CUTE_MAP_U16] = {2, false, 0, 0},
    [CUTE_MAP_U32] = {4, false, 0, ARITHMETIC | ORDER | COUNT | LOGIC},
    [CUTE_MAP_I32] = {4, false, 0, ARITHMETIC | ORDER | LOGIC},
    [CUTE_MAP_U64] = {8, false, 0, ARITHMETIC | ORDER | LOGIC},
    [CUTE_MAP_I64] = {8, false, 0, ORDER | LOGIC},
    [CUTE_MAP_F16] = {2, true, NUM_F16, ARITHMETIC | ORDER},
    [CUTE_MAP_F32] = {4, true, NUM_F32, ARITHMETIC},
    [CUTE_MAP_F64] = {8, true, NUM_F64, ARITHMETIC},
    [CUTE_MAP_BF16] = {2, true, NUM_BF16, ARITHMETIC | ORDER},
    [CUTE_MAP_F32_FTZ] = {4, true, NUM_F32, ARITHMETIC},
    [CUTE_MAP_TF32] = {4, true, NUM_F32, ARITHMETIC},
    [CUTE_MAP_TF32_FTZ] = {4, true, NUM_F32, ARITHMETIC},
};
enum { TYPES = sizeof types / sizeof *types };

int num_tensor_map_element_size(const cute_tensor_map *map)
{
    return types[map->type].bytes;
}

/* ---- limits (CUDA driver API, cuTensorMapEncodeTiled) ---- */

typedef struct problem {
    const char *why; /* NULL: none */
    int dimension;   /* -1: not specific to a dimension */
    uint64_t value;
} problem;

static problem check_tensor(const cute_tensor_map *m)
{
    uint64_t unit = m->interleave == 2 ? 32 : 16;
    if (m->address % unit)
        return (problem){unit == 32 ? "expected a tensor address that is a multiple of 32 (interleave 32B)"
                                    : "expected a tensor address that is a multiple of 16",
                         -1, m->address};
    for (int i = 0; i < m->rank; i++)
        if (m->dims[i] < 1 || m->dims[i] > UINT64_C(1) << 32)
            return (problem){"expected 1 to 2^32 elements in a dimension", i, m->dims[i]};
    for (int i = 0; i + 1 < m->rank; i++) {
        if (m->strides[i] % unit)
            return (problem){unit == 32 ? "expected a stride that is a multiple of 32 bytes (interleave 32B)"
                                        : "expected a stride that is a multiple of 16 bytes",
                             i + 1, m->strides[i]};
        if (m->strides[i] >= UINT64_C(1) << 40)
            return (problem){"expected a stride of less than 2^40 bytes", i + 1, m->strides[i]};
    }
    return (problem){0};
}

/* Limits of im2col parameters, which have fewer bits for more dimensions. */
static problem check_pixels(const cute_tensor_map *m)
{
    static const int bits[] = {15, 7, 4};
    static const char *const corners[] = {"expected a corner of the box of pixels from -32768 to 32767",
                                          "expected a corner of the box of pixels from -128 to 127",
                                          "expected a corner of the box of pixels from -16 to 15"};
    int spatial = m->rank - 2;
    int64_t half = INT64_C(1) << bits[spatial - 1];
    for (int i = 0; i < spatial; i++) {
        int64_t out = m->lower[i] < -half || m->lower[i] >= half ? m->lower[i] : m->upper[i];
        if (out < -half || out >= half) return (problem){corners[spatial - 1], i + 1, (uint64_t)out};
        if ((int64_t)m->dims[i + 1] + m->upper[i] - m->lower[i] < 1)
            return (problem){"expected corners that enclose at least one pixel", i + 1, m->dims[i + 1]};
    }
    if (m->box[1] < 1 || m->box[1] > 1024)
        return (problem){"expected 1 to 1024 pixels in a column", -1, m->box[1]};
    return (problem){0};
}

static problem check_box(const cute_tensor_map *m)
{
    problem p = m->im2col ? check_pixels(m) : (problem){0};
    if (p.why) return p;
    for (int i = 0; i < m->rank; i++) {
        if ((!m->im2col || i == 0) && (m->box[i] < 1 || m->box[i] > 256))
            return (problem){"expected 1 to 256 elements in a dimension of the box", i, m->box[i]};
        if (m->element_strides[i] < 1 || m->element_strides[i] > 8)
            return (problem){"expected an element stride from 1 to 8", i, m->element_strides[i]};
    }
    uint64_t inner = (uint64_t)m->box[0] * types[m->type].bytes;
    static const char *const spans[4] = {
        NULL, "expected at most 32 bytes in the box's fastest dimension with swizzle 32B",
        "expected at most 64 bytes in the box's fastest dimension with swizzle 64B",
        "expected at most 128 bytes in the box's fastest dimension with swizzle 128B"};
    if (m->interleave == 0 && inner % 16)
        return (problem){"expected a multiple of 16 bytes in the box's fastest dimension", 0, inner};
    if (m->interleave == 0 && m->swizzle && inner > UINT64_C(16) << m->swizzle)
        return (problem){spans[m->swizzle], 0, inner};
    return (problem){0};
}

static problem check_map(const cute_tensor_map *m)
{
    if ((unsigned)m->type >= TYPES) return (problem){"expected an element type from 0 to 12", -1, m->type};
    if (m->rank < 1 || m->rank > CUTE_MAP_RANK)
        return (problem){"expected 1 to 5 dimensions", -1, (uint64_t)m->rank};
    if (m->interleave < 0 || m->interleave > 2)
        return (problem){"expected an interleave of 0 (none), 1 (16B) or 2 (32B)", -1,
                         (uint64_t)m->interleave};
    if (m->swizzle < 0 || m->swizzle > 3)
        return (problem){"expected a swizzle of 0 (none), 1 (32B), 2 (64B) or 3 (128B)", -1,
                         (uint64_t)m->swizzle};
    if (m->l2_promotion < 0 || m->l2_promotion > 3)
        return (problem){"expected an L2 promotion of 0 (none), 1 (64B), 2 (128B) or 3 (256B)", -1,
                         (uint64_t)m->l2_promotion};
    if (m->fill < 0 || m->fill > 1)
        return (problem){"expected a fill of 0 (zeros) or 1 (NaN)", -1, (uint64_t)m->fill};
    if (m->fill && !types[m->type].real)
        return (problem){"expected a floating-point element type (6 to 12) for a fill with NaN", -1, m->type};
    if (m->interleave && m->rank < 3)
        return (problem){"expected at least 3 dimensions with an interleave", -1, (uint64_t)m->rank};
    if (m->im2col && m->rank < 3)
        return (problem){"expected 3 to 5 dimensions in the im2col mode", -1, (uint64_t)m->rank};
    if (m->im2col && m->interleave)
        return (problem){"expected no interleave in the im2col mode: it is not emulated", -1,
                         (uint64_t)m->interleave};
    if (m->interleave == 2 && m->swizzle != 1)
        return (problem){"expected swizzle 1 (32B) with an interleave of 32B", -1, (uint64_t)m->swizzle};
    problem p = check_tensor(m);
    return p.why ? p : check_box(m);
}

/* ---- encoding ---- */

/* Bytes 0 to 7 are the mark, followed by fields in little-endian order. */
static const char mark[8] = {'c', 'u', 't', 'e', 'm', 'a', 'p', '1'};
enum {
    AT_BYTES = 8,
    AT_ADDRESS = 16,
    AT_DIMS = 24,
    AT_STRIDES = 64,
    AT_BOX = 96,
    AT_ELEMENTS = 106,
    AT_IM2COL = 111,
    AT_LOWER = 112,
    AT_UPPER = 118
};

static void put_bytes(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get_bytes(const uint8_t *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) value |= (uint64_t)at[i] << (8 * i);
    return value;
}

cute_status num_tensor_map_encode(const cute_tensor_map *m, uint8_t out[CUTE_MAP_BYTES], cute_diag *diag)
{
    problem p = check_map(m);
    if (p.why && p.dimension < 0)
        return cute_fail(diag, CUTE_INVALID, NULL, "%s, got %llu", p.why, (unsigned long long)p.value);
    if (p.why && strstr(p.why, "corner of")) /* may be negative */
        return cute_fail(diag, CUTE_INVALID, NULL, "%s, got %lld in dimension %d (the fastest is 0)", p.why,
                         (long long)p.value, p.dimension);
    if (p.why)
        return cute_fail(diag, CUTE_INVALID, NULL, "%s, got %llu in dimension %d (the fastest is 0)", p.why,
                         (unsigned long long)p.value, p.dimension);
    memset(out, 0, CUTE_MAP_BYTES);
    memcpy(out, mark, sizeof mark);
    const int small[6] = {(int)m->type, m->rank, m->interleave, m->swizzle, m->l2_promotion, m->fill};
    for (int i = 0; i < 6; i++) out[AT_BYTES + i] = (uint8_t)small[i];
    put_bytes(out + AT_ADDRESS, m->address, 8);
    for (int i = 0; i < m->rank; i++) {
        put_bytes(out + AT_DIMS + 8 * i, m->dims[i], 8);
        if (i + 1 < m->rank) put_bytes(out + AT_STRIDES + 8 * i, m->strides[i], 8);
        put_bytes(out + AT_BOX + 2 * i, m->box[i], 2);
        out[AT_ELEMENTS + i] = (uint8_t)m->element_strides[i];
    }
    out[AT_IM2COL] = m->im2col;
    for (int i = 0; m->im2col && i < m->rank - 2; i++) {
        put_bytes(out + AT_LOWER + 2 * i, (uint64_t)m->lower[i], 2);
        put_bytes(out + AT_UPPER + 2 * i, (uint64_t)m->upper[i], 2);
    }
    return CUTE_OK;
}

bool num_tensor_map_decode(const uint8_t bytes[CUTE_MAP_BYTES], cute_tensor_map *m, const char **why)
{
    if (memcmp(bytes, mark, sizeof mark) != 0) {
        if (why) *why = "the bytes are not those of a tensor map";
        return false;
    }
    const uint8_t *small = bytes + AT_BYTES;
    *m = (cute_tensor_map){.size = sizeof *m,
                           .type = (cute_tensor_map_type)small[0],
                           .rank = small[1],
                           .interleave = small[2],
                           .swizzle = small[3],
                           .l2_promotion = small[4],
                           .fill = small[5]};
    m->address = get_bytes(bytes + AT_ADDRESS, 8);
    for (int i = 0; i < CUTE_MAP_RANK; i++) {
        m->dims[i] = get_bytes(bytes + AT_DIMS + 8 * i, 8);
        if (i + 1 < CUTE_MAP_RANK) m->strides[i] = get_bytes(bytes + AT_STRIDES + 8 * i, 8);
        m->box[i] = (uint32_t)get_bytes(bytes + AT_BOX + 2 * i, 2);
        m->element_strides[i] = bytes[AT_ELEMENTS + i];
    }
    m->im2col = bytes[AT_IM2COL];
    for (int i = 0; i < CUTE_MAP_SPATIAL; i++) {
        m->lower[i] = (int16_t)get_bytes(bytes + AT_LOWER + 2 * i, 2);
        m->upper[i] = (int16_t)get_bytes(bytes + AT_UPPER + 2 * i, 2);
    }
    problem p = check_map(m);
    if (why) *why = p.why;
    return !p.why;
}

bool num_tensor_map_replace(uint8_t bytes[CUTE_MAP_BYTES], num_map_field field, int ordinal, uint64_t value)
{
    static const uint8_t zeros[CUTE_MAP_BYTES];
    /* PTX orders element types differently from the driver. */
    static const uint8_t element_types[TYPES] = {CUTE_MAP_U8,      CUTE_MAP_U16, CUTE_MAP_U32,  CUTE_MAP_I32,
                                                 CUTE_MAP_U64,     CUTE_MAP_I64, CUTE_MAP_F16,  CUTE_MAP_F32,
                                                 CUTE_MAP_F32_FTZ, CUTE_MAP_F64, CUTE_MAP_BF16, CUTE_MAP_TF32,
                                                 CUTE_MAP_TF32_FTZ};
    bool empty = !memcmp(bytes, zeros, CUTE_MAP_BYTES);
    if (!empty && (memcmp(bytes, mark, sizeof mark) != 0 || bytes[AT_IM2COL])) return false;
    /* Field, offset, bytes, number of entries (with an ordinal), largest value, encoding of 0. */
    static const struct {
        uint8_t at, size, count, first;
        uint64_t most;
    } fields[] = {
        [NUM_MAP_GLOBAL_ADDRESS] = {AT_ADDRESS, 8, 1, 0, UINT64_MAX},
        [NUM_MAP_RANK] = {AT_BYTES + 1, 1, 1, 1, 4},
        [NUM_MAP_ELEMTYPE] = {AT_BYTES, 1, 1, 0, TYPES - 1},
        [NUM_MAP_INTERLEAVE] = {AT_BYTES + 2, 1, 1, 0, 2},
        [NUM_MAP_SWIZZLE] = {AT_BYTES + 3, 1, 1, 0, 3},
        [NUM_MAP_FILL] = {AT_BYTES + 5, 1, 1, 0, 1},
        [NUM_MAP_BOX_DIM] = {AT_BOX, 2, 5, 0, UINT16_MAX},
        [NUM_MAP_GLOBAL_DIM] = {AT_DIMS, 8, 5, 0, UINT32_MAX},
        [NUM_MAP_GLOBAL_STRIDE] = {AT_STRIDES, 8, 4, 0, UINT64_MAX},
        [NUM_MAP_ELEMENT_STRIDE] = {AT_ELEMENTS, 1, 5, 0, UINT8_MAX},
    };
    if ((size_t)field >= sizeof fields / sizeof *fields) return false;
    int index = fields[field].count > 1 ? ordinal : 0;
    if (index < 0 || index >= fields[field].count || value > fields[field].most) return false;
    if (empty) memcpy(bytes, mark, sizeof mark);
    if (field == NUM_MAP_ELEMTYPE) value = element_types[value];
    put_bytes(bytes + fields[field].at + index * fields[field].size, value + fields[field].first,
              fields[field].size);
    return true;
}

/* ---- reductions ---- */

bool num_reduction_exists(num_reduction reduction, cute_tensor_map_type type)
{
    static const uint8_t classes[] = {
        [NUM_REDUCE_NONE] = 0xff, [NUM_REDUCE_ADD] = ARITHMETIC, [NUM_REDUCE_MIN] = ORDER,
        [NUM_REDUCE_MAX] = ORDER, [NUM_REDUCE_INC] = COUNT,      [NUM_REDUCE_DEC] = COUNT,
        [NUM_REDUCE_AND] = LOGIC, [NUM_REDUCE_OR] = LOGIC,       [NUM_REDUCE_XOR] = LOGIC,
    };
    return reduction == NUM_REDUCE_NONE || (types[type].reductions & classes[reduction]);
}

static uint64_t reduce_integer(num_reduction reduction, bool is_signed, int bytes, uint64_t a, uint64_t b)
{
    int unused = 64 - 8 * bytes;
    bool less = is_signed ? (int64_t)(a << unused) < (int64_t)(b << unused) : a < b;
    switch (reduction) {
    case NUM_REDUCE_ADD: return a + b;
    case NUM_REDUCE_MIN: return less ? a : b;
    case NUM_REDUCE_MAX: return less ? b : a;
    case NUM_REDUCE_INC: return a >= b ? 0 : a + 1;
    case NUM_REDUCE_DEC: return a == 0 || a > b ? b : a - 1;
    case NUM_REDUCE_AND: return a & b;
    case NUM_REDUCE_OR: return a | b;
    case NUM_REDUCE_XOR: return a ^ b;
    case NUM_REDUCE_NONE: break;
    }
    return b;
}

void num_reduce(num_reduction reduction, cute_tensor_map_type type, void *memory, const void *value)
{
    int bytes = types[type].bytes;
    uint64_t a = get_bytes(memory, bytes), b = get_bytes(value, bytes), r = b;
    if (types[type].real && reduction != NUM_REDUCE_NONE) {
        num_op op = reduction == NUM_REDUCE_MIN ? NUM_MIN : reduction == NUM_REDUCE_MAX ? NUM_MAX : NUM_ADD;
        bool flush = type == CUTE_MAP_F32_FTZ || type == CUTE_MAP_TF32_FTZ;
        r = num_arithmetic(op, types[type].format, a, b, 0, NUM_RN, flush ? NUM_FTZ : 0);
    } else {
        r = reduce_integer(reduction, type == CUTE_MAP_I32 || type == CUTE_MAP_I64, bytes, a, b);
    }
    put_bytes(memory, r, bytes);
}
