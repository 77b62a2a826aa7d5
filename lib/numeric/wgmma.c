/* wgmma.mma_async: descriptors, the order of operands in shared memory, and the product of a warpgroup. */
#include <string.h>

#include "lib/numeric/dot.h"
#include "lib/numeric/number_quick.h"
#include "lib/numeric/swizzle.h"
#include "lib/numeric/wgmma.h"

enum { M = 64, MOST_N = 256, LANES = 32, CHUNK = 16 };

num_descriptor num_descriptor_decode(uint64_t bits)
{
    static const uint8_t spans[4] = {0, 128, 64, 32};
    return (num_descriptor){
        .start = (uint32_t)(bits & 0x3fff) << 4,
        .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
        .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
        .base = (uint32_t)(bits >> 49 & 7),
        .swizzle = spans[bits >> 62],
    };
}

/* Shapes and types: PTX ISA 8.5, 9.7.15.2. Steps of N above 32 differ for integers and bits. */
static const struct {
    ptx_type a, b, d;
    int16_t k, step;
    bool satfinite, transposes, negates;
} kinds[] = {
    {PTX_f16, PTX_f16, PTX_f32, 16, 8, false, true, true},
    {PTX_f16, PTX_f16, PTX_f16, 16, 8, false, true, true},
    {PTX_bf16, PTX_bf16, PTX_f32, 16, 8, false, true, true},
    {PTX_tf32, PTX_tf32, PTX_f32, 8, 8, false, false, true},
    {PTX_e4m3, PTX_e4m3, PTX_f32, 32, 8, false, false, true},
    {PTX_e4m3, PTX_e4m3, PTX_f16, 32, 8, false, false, true},
    {PTX_e4m3, PTX_e5m2, PTX_f32, 32, 8, false, false, true},
    {PTX_e4m3, PTX_e5m2, PTX_f16, 32, 8, false, false, true},
    {PTX_e5m2, PTX_e4m3, PTX_f32, 32, 8, false, false, true},
    {PTX_e5m2, PTX_e4m3, PTX_f16, 32, 8, false, false, true},
    {PTX_e5m2, PTX_e5m2, PTX_f32, 32, 8, false, false, true},
    {PTX_e5m2, PTX_e5m2, PTX_f16, 32, 8, false, false, true},
    {PTX_s8, PTX_s8, PTX_s32, 32, 16, true, false, false},
    {PTX_s8, PTX_u8, PTX_s32, 32, 16, true, false, false},
    {PTX_u8, PTX_s8, PTX_s32, 32, 16, true, false, false},
    {PTX_u8, PTX_u8, PTX_s32, 32, 16, true, false, false},
    {PTX_b1, PTX_b1, PTX_s32, 256, 16, false, false, false},
};

const char *num_wgmma_check(const num_wgmma *w)
{
    const char *what = "wgmma does not support this combination of types";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].a != w->a || kinds[i].b != w->b || kinds[i].d != w->d) continue;
        if (kinds[i].k != w->k) {
            what =
                "wgmma requires a K of 256 bits: 8 for tf32, 16 for f16 and bf16, 32 for 8 bits, 256 for b1";
            continue;
        }
        int step = w->n > 32 ? kinds[i].step : 8;
        if (w->n < 8 || w->n > MOST_N || w->n % step)
            return kinds[i].step == 8 ? "wgmma requires an N of 8 to 256 in steps of 8"
                                      : "wgmma of integers and bits requires an N of 8, 16, 24, 32 or, to "
                                        "256, in steps of 16";
        if (w->satfinite && !kinds[i].satfinite) return ".satfinite of wgmma requires s8 or u8";
        if ((w->transpose_a || w->transpose_b) && !kinds[i].transposes)
            return "transposed operands of wgmma require f16 or bf16";
        if (w->transpose_a && w->a_in_registers) return "operand A in registers cannot be transposed";
        if ((w->negate_a || w->negate_b) && !kinds[i].negates)
            return "negated operands of wgmma require a floating-point type";
        if ((w->a == PTX_b1) != (w->op == NUM_AND_POPC) || w->op == NUM_XOR_POPC)
            return ".and.popc of wgmma requires b1, and b1 requires it";
        return NULL;
    }
    return what;
}

int num_wgmma_registers(const num_wgmma *w)
{
    return w->d == PTX_f16 ? w->n / 4 : w->n / 2;
}

/* ---- operands in shared memory ---- */

/* The canonical layouts of 9.7.15.5.1, in chunks of 16 bytes. K-major: eight rows of mn, `span` bytes (16
 * without a swizzle) apart; groups of eight `stride` apart; the two chunks of k side by side or, without a
 * swizzle, `leading` apart. MN-major: eight rows of k, `span` apart, of span / 16 chunks along mn; the next
 * span of mn is `leading` away and the next eight of k `stride`; without a swizzle these two change places.
 */
static uint32_t k_major_offset(const num_descriptor *d, int mn, int chunk)
{
    uint32_t row = (uint32_t)mn % 8, group = (uint32_t)mn / 8, c = (uint32_t)chunk;
    if (d->swizzle) return row * d->swizzle + group * d->stride + c * CHUNK;
    return row * CHUNK + group * d->stride + c * d->leading;
}

static uint32_t mn_major_offset(const num_descriptor *d, int k, int chunk)
{
    uint32_t row = (uint32_t)k % 8, group = (uint32_t)k / 8, c = (uint32_t)chunk, wide = d->swizzle / CHUNK;
    if (d->swizzle) return row * d->swizzle + group * d->stride + c % wide * CHUNK + c / wide * d->leading;
    return row * CHUNK + group * d->leading + c * d->stride;
}

static uint32_t chunk_address(const num_descriptor *d, uint32_t offset)
{
    return num_swizzle(d->start + offset, d->swizzle, d->base);
}

uint32_t num_descriptor_address(const num_descriptor *d, bool mn_major, int bits, int mn, int k, int *element)
{
    int per = 8 * CHUNK / bits;
    if (element) *element = (mn_major ? mn : k) % per;
    uint32_t offset = mn_major ? mn_major_offset(d, k, mn / per) : k_major_offset(d, mn, k / per);
    return chunk_address(d, offset);
}

/* Splits 16 bytes into elements' bits. */
static int split(const uint8_t bytes[CHUNK], int bits, uint32_t *out)
{
    if (bits == 32) {
        memcpy(out, bytes, CHUNK);
        return 4;
    }
    if (bits == 16) {
        uint16_t half[8];
        memcpy(half, bytes, CHUNK);
        for (int i = 0; i < 8; i++) out[i] = half[i];
        return 8;
    }
    for (int i = 0; i < CHUNK; i++) out[i] = bytes[i];
    return CHUNK;
}

/* The product's operands; A is `rows` x k from its row `first`, B is stored n-major (a row for each k). A
 * chunk of b1 is four words, of which k counts 32 at a time. */
typedef struct stage {
    int rows, first, k;
    uint32_t a[M][32], b[MOST_N][32]; /* bits: [mn][k] */
} stage;

static bool read_operand(const num_wgmma *w, num_operand operand, uint64_t descriptor, bool mn_major,
                         int first, int count, uint32_t (*out)[32], num_shared_read read, void *context)
{
    num_descriptor d = num_descriptor_decode(descriptor);
    int bits = ptx_types[operand == NUM_A ? w->a : w->b].bits;
    if (bits == 1) bits = 32; /* whole words */
    int per = 8 * CHUNK / bits, k = 32 * 8 / bits;
    uint8_t bytes[CHUNK];
    uint32_t values[CHUNK];
    if (!mn_major) {
        for (int i = 0; i < count; i++)
            for (int c = 0; c < 2; c++) {
                if (!read(context, operand, chunk_address(&d, k_major_offset(&d, first + i, c)), CHUNK,
                          bytes))
                    return false;
                split(bytes, bits, &out[i][c * per]);
            }
        return true;
    }
    for (int l = 0; l < k; l++)
        for (int i = 0; i < count; i += per) {
            uint32_t offset = mn_major_offset(&d, l, (first + i) / per);
            if (!read(context, operand, chunk_address(&d, offset), CHUNK, bytes)) return false;
            split(bytes, bits, values);
            for (int e = 0; e < per; e++) out[i + e][l] = values[e];
        }
    return true;
}

/* A in registers: the layout of mma's A of 16 rows, a warp above the other. */
static void read_registers(const num_wgmma *w, int count, const uint32_t *const *registers,
                           uint32_t (*out)[32])
{
    int bits = w->a == PTX_b1 ? 32 : ptx_types[w->a].bits, per = 32 / bits;
    uint32_t mask = bits == 32 ? UINT32_MAX : (UINT32_C(1) << bits) - 1;
    for (int warp = 0; warp < count; warp++)
        for (int r = 0; r < 4; r++)
            for (int lane = 0; lane < LANES; lane++) {
                uint32_t word = registers[warp * 4 + r][lane];
                int row = 16 * warp + lane / 4 + 8 * (r % 2), column = (r / 2 * 4 + lane % 4) * per;
                for (int i = 0; i < per; i++)
                    out[row][column + i] = per == 1 ? word : word >> (i * bits) & mask;
            }
}

/* ---- the accumulator: of warp w, lane 4g + t, register r: row 16w + g (+8), column 2t + r % 2 of a group of
 * 8 ---- */

typedef union accumulator {
    float f[M][MOST_N];
    int32_t i[M][MOST_N];
} accumulator;

static void load_accumulator(const num_wgmma *w, int count, uint32_t *const *d, accumulator *c)
{
    int registers = num_wgmma_registers(w);
    bool half = w->d == PTX_f16;
    for (int warp = 0; warp < count; warp++)
        for (int r = 0; r < registers; r++)
            for (int lane = 0; lane < LANES; lane++) {
                uint32_t word = d[warp * registers + r][lane];
                int piece = half ? r : r / 2, row = 16 * warp + lane / 4 + 8 * (piece % 2);
                int column = 8 * (piece / 2) + 2 * (lane % 4) + (half ? 0 : r % 2);
                if (half) {
                    c->i[row][column] = (int32_t)num_widen_half(word & 0xffff);
                    c->i[row][column + 1] = (int32_t)num_widen_half(word >> 16);
                } else {
                    c->i[row][column] = (int32_t)word; /* of a float too: the same bits */
                }
            }
}

static void store_accumulator(const num_wgmma *w, int count, const accumulator *c, uint32_t *const *d)
{
    int registers = num_wgmma_registers(w);
    bool half = w->d == PTX_f16, real = w->d == PTX_f32;
    for (int warp = 0; warp < count; warp++)
        for (int r = 0; r < registers; r++)
            for (int lane = 0; lane < LANES; lane++) {
                int piece = half ? r : r / 2, row = 16 * warp + lane / 4 + 8 * (piece % 2);
                int column = 8 * (piece / 2) + 2 * (lane % 4) + (half ? 0 : r % 2);
                uint32_t word = (uint32_t)c->i[row][column];
                if (real && (word & 0x7fffffff) > 0x7f800000) word = 0x7fffffff;
                if (half)
                    word = num_narrow_half(word) | num_narrow_half((uint32_t)c->i[row][column + 1]) << 16;
                d[warp * registers + r][lane] = word;
            }
}

/* ---- products ---- */

static void negate(ptx_type type, int rows, int k, uint32_t (*bits)[32])
{
    uint32_t sign = UINT32_C(1) << (ptx_types[type].bits - 1);
    for (int i = 0; i < rows; i++)
        for (int l = 0; l < k; l++) bits[i][l] ^= sign;
}

static void multiply_floats(const num_wgmma *w, stage *s, accumulator *c)
{
    float av[M * 32], bv[32 * MOST_N];
    int16_t ae[M * 32], be[32 * MOST_N];
    int padded = (w->n + NUM_DOT_COLUMNS - 1) / NUM_DOT_COLUMNS * NUM_DOT_COLUMNS;
    num_tile a = {.values = av, .exponents = ae, .stride = 32},
             b = {.values = bv, .exponents = be, .stride = MOST_N};
    num_tile_reset(&a);
    num_tile_reset(&b);
    if (w->negate_a) negate(w->a, s->rows, s->k, s->a);
    if (w->negate_b) negate(w->b, w->n, s->k, s->b);
    for (int i = 0; i < s->rows; i++) num_tile_set(&a, w->a, i, 0, s->k, s->a[i]);
    for (int l = 0; l < s->k; l++) {
        uint32_t row[MOST_N] = {0};
        for (int j = 0; j < w->n; j++) row[j] = s->b[j][l];
        num_tile_set(&b, w->b, l, 0, padded, row);
    }
    num_dot_rule rule = num_dot_rule_of(w->a, w->d, true);
    num_dot_float(&rule, s->rows, w->n, s->k, &a, &b, &c->f[0][0], MOST_N);
}

static void multiply_integers(const num_wgmma *w, const stage *s, accumulator *c)
{
    int16_t a[M * 32], b[32 * MOST_N];
    bool signed_a = w->a == PTX_s8, signed_b = w->b == PTX_s8;
    for (int i = 0; i < s->rows; i++)
        for (int l = 0; l < s->k; l++) a[i * 32 + l] = signed_a ? (int8_t)s->a[i][l] : (int16_t)s->a[i][l];
    memset(b, 0, sizeof b);
    for (int j = 0; j < w->n; j++)
        for (int l = 0; l < s->k; l++)
            b[l * MOST_N + j] = signed_b ? (int8_t)s->b[j][l] : (int16_t)s->b[j][l];
    num_dot_integer(w->satfinite, s->rows, w->n, s->k, a, 32, b, MOST_N, &c->i[0][0], MOST_N);
}

static void multiply_bits(const num_wgmma *w, const stage *s, accumulator *c)
{
    for (int i = 0; i < s->rows; i++)
        for (int j = 0; j < w->n; j++) {
            uint32_t sum = (uint32_t)c->i[i][j];
            for (int l = 0; l < 8; l++) sum += (uint32_t)__builtin_popcount(s->a[i][l] & s->b[j][l]);
            c->i[i][j] = (int32_t)sum;
        }
}

bool num_wgmma_run(const num_wgmma *w, int first, int count, const num_wgmma_operands *o,
                   num_shared_read read, void *context)
{
    stage s = {.rows = 16 * count, .first = 16 * first, .k = w->a == PTX_b1 ? 8 : w->k};
    accumulator c;
    if (w->a_in_registers)
        read_registers(w, count, o->a, s.a);
    else if (!read_operand(w, NUM_A, o->a_descriptor, w->transpose_a, s.first, s.rows, s.a, read, context))
        return false;
    if (!read_operand(w, NUM_B, o->b_descriptor, w->transpose_b, 0, w->n, s.b, read, context)) return false;
    /* Columns beyond N complete the last vector. */
    memset(&c, 0, sizeof c);
    if (w->scale_d) load_accumulator(w, count, o->d, &c);
    if (w->a == PTX_b1)
        multiply_bits(w, &s, &c);
    else if (w->d == PTX_s32)
        multiply_integers(w, &s, &c);
    else
        multiply_floats(w, &s, &c);
    store_accumulator(w, count, &c, o->d);
    return true;
}
