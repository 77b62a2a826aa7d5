/* mma.sync, wmma, ldmatrix: layouts against tables copied by hand from the PTX ISA's figures and formulas;
 * products against triple loops in long double or integers over all instructions. */
#include <math.h>

#include "lib/numeric/matrix.h"
#include "lib/numeric/mma.h"
#include "lib/numeric/number.h"
#include "tests/unit/test.h"

enum { LANES = 32 };

static uint64_t seed = 99;
static uint32_t any(void)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 32);
}

/* ---- layouts ---- */

static bool at(const num_mma *m, num_operand operand, int lane, int reg, int index, int row, int column)
{
    num_place p = num_mma_place(m, operand, NULL, lane, reg, index);
    if (p.row == row && p.column == column) return true;
    printf("# m%dn%dk%d operand %d lane %d register %d element %d is at (%d, %d), not (%d, %d)\n", m->m, m->n,
           m->k, operand, lane, reg, index, p.row, p.column, row, column);
    return false;
}

static num_mma find(bool wmma, int m, int n, int k, ptx_type a, ptx_type b, ptx_type c)
{
    num_mma r = {0};
    num_mma_op product = a == PTX_b1 ? NUM_XOR_POPC : NUM_MUL_ADD;
    CHECK(num_mma_find(wmma, m, n, k, a, b, c, c, product, &r));
    return r;
}

/* The formulas of 9.7.14.5: element a_i of lane l, i counted over all registers. */
static void test_f16_layout(void)
{
    num_mma m = find(false, 16, 8, 16, PTX_f16, PTX_f16, PTX_f32);
    CHECK_INT(m.registers[0], 4);
    CHECK_INT(m.registers[1], 2);
    CHECK_INT(m.registers[2], 4);
    for (int l = 0; l < LANES; l++) {
        int group = l >> 2, t = l % 4;
        for (int i = 0; i < 8; i++) {
            int row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;
            int column = i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8;
            CHECK(at(&m, NUM_A, l, i / 2, i % 2, row, column));
        }
        for (int i = 0; i < 4; i++)
            CHECK(at(&m, NUM_B, l, i / 2, i % 2, i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, group));
        for (int i = 0; i < 4; i++) CHECK(at(&m, NUM_C, l, i, 0, i < 2 ? group : group + 8, t * 2 + (i & 1)));
    }
    m = find(false, 16, 8, 8, PTX_bf16, PTX_bf16, PTX_f32);
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < 4; i++)
            CHECK(at(&m, NUM_A, l, i / 2, i % 2, i < 2 ? l >> 2 : (l >> 2) + 8, l % 4 * 2 + (i & 1)));
}

static void test_other_layouts(void)
{
    num_mma m = find(false, 16, 8, 8, PTX_tf32, PTX_tf32, PTX_f32);
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < 4; i++) {
            CHECK(
                at(&m, NUM_A, l, i, 0, i == 0 || i == 2 ? l >> 2 : (l >> 2) + 8, i < 2 ? l % 4 : l % 4 + 4));
            if (i < 2) CHECK(at(&m, NUM_B, l, i, 0, i == 0 ? l % 4 : l % 4 + 4, l >> 2));
        }
    m = find(false, 16, 8, 16, PTX_f64, PTX_f64, PTX_f64);
    for (int l = 0; l < LANES; l++) {
        for (int i = 0; i < 8; i++)
            CHECK(at(&m, NUM_A, l, i, 0, i % 2 == 0 ? l >> 2 : (l >> 2) + 8,
                     i % 2 == 0 ? i * 2 + l % 4 : i * 2 - 2 + l % 4));
        for (int i = 0; i < 4; i++) CHECK(at(&m, NUM_B, l, i, 0, l % 4 + i * 4, l >> 2));
    }
    m = find(false, 16, 8, 32, PTX_s8, PTX_u8, PTX_s32);
    for (int l = 0; l < LANES; l++) {
        for (int i = 0; i < 16; i++) {
            int row = i < 4 || (i >= 8 && i < 12) ? l >> 2 : (l >> 2) + 8;
            int column = i < 8 ? l % 4 * 4 + (i & 3) : l % 4 * 4 + (i & 3) + 16;
            CHECK(at(&m, NUM_A, l, i / 4, i % 4, row, column));
        }
        for (int i = 0; i < 8; i++)
            CHECK(at(&m, NUM_B, l, i / 4, i % 4, i < 4 ? l % 4 * 4 + (i & 3) : l % 4 * 4 + (i & 3) + 16,
                     l >> 2));
    }
    m = find(false, 16, 8, 64, PTX_s4, PTX_s4, PTX_s32);
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < 32; i++) {
            int row = i < 8 || (i >= 16 && i < 24) ? l >> 2 : (l >> 2) + 8;
            CHECK(at(&m, NUM_A, l, i / 8, i % 8, row, l % 4 * 8 + (i & 7) + (i < 16 ? 0 : 32)));
        }
    m = find(false, 16, 8, 256, PTX_b1, PTX_b1, PTX_s32);
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < 128; i++) {
            int row = i < 32 || (i >= 64 && i < 96) ? l >> 2 : (l >> 2) + 8;
            CHECK(at(&m, NUM_A, l, i / 32, i % 32, row, l % 4 * 32 + (i & 31) + (i < 64 ? 0 : 128)));
        }
    m = find(false, 8, 8, 16, PTX_s8, PTX_s8, PTX_s32);
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < 2; i++) CHECK(at(&m, NUM_C, l, i, 0, l >> 2, l % 4 * 2 + (i & 1)));
}

/* 9.7.14.5.1: m8n8k4 of f16. */
static void test_quad_layout(void)
{
    num_mma m = find(false, 8, 8, 4, PTX_f16, PTX_f16, PTX_f32);
    num_mma_options other = {.a_col = true, .b_row = true};
    CHECK_INT(m.registers[0], 2);
    CHECK_INT(m.registers[2], 8);
    for (int l = 0; l < LANES; l++) {
        for (int i = 0; i < 4; i++) {
            int up = l < 16 ? 0 : 4;
            CHECK(at(&m, NUM_A, l, i / 2, i % 2, l % 4 + up, i));
            CHECK(at(&m, NUM_B, l, i / 2, i % 2, i, l % 4 + up));
            num_place a = num_mma_place(&m, NUM_A, &other, l, i / 2, i % 2);
            num_place b = num_mma_place(&m, NUM_B, &other, l, i / 2, i % 2);
            CHECK(a.row == i + up && a.column == l % 4 && a.part == l % 16 / 4);
            CHECK(b.row == l % 4 && b.column == i + up);
        }
        for (int i = 0; i < 8; i++) {
            int x = (l & 1) + (i & 2);
            CHECK(at(&m, NUM_C, l, i, 0, l < 16 ? x : x + 4, (i & 4) + (l & 2) + (i & 1)));
        }
    }
}

/* ---- every instruction ---- */

typedef struct shape {
    bool wmma;
    int m, n, k;
    ptx_type a, b, c, d;
} shape;

static shape shapes[200];
static int shape_count;

static void collect(void)
{
    static const int sizes[][3] = {{8, 8, 4},    {16, 8, 4},   {16, 8, 8},  {16, 8, 16}, {16, 8, 32},
                                   {16, 8, 64},  {8, 8, 16},   {8, 8, 32},  {8, 8, 128}, {16, 8, 128},
                                   {16, 8, 256}, {16, 16, 16}, {8, 32, 16}, {32, 8, 16}, {16, 16, 8}};
    static const ptx_type types[] = {PTX_f64, PTX_f32, PTX_tf32, PTX_f16, PTX_bf16, PTX_e4m3, PTX_e5m2,
                                     PTX_s32, PTX_s8,  PTX_u8,   PTX_s4,  PTX_u4,   PTX_b1};
    enum { TYPES = sizeof types / sizeof *types };
    num_mma out;
    for (int w = 0; w < 2; w++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int n = 0; n < TYPES * TYPES * TYPES * TYPES * 2; n++) { /* with and without popc */
                ptx_type a = types[n / 2 % TYPES], b = types[n / 2 / TYPES % TYPES],
                         c = types[n / 2 / TYPES / TYPES % TYPES], d = types[n / 2 / TYPES / TYPES / TYPES];
                const int *size = sizes[s];
                if (num_mma_find(w, size[0], size[1], size[2], a, b, c, d, n % 2 ? NUM_XOR_POPC : NUM_MUL_ADD,
                                 &out))
                    shapes[shape_count++] = (shape){w, size[0], size[1], size[2], a, b, c, d};
            }
}

/* Counted by hand from the tables: mma: f16 m8n8k4 3, k8 2, k16 2; bf16 2; tf32 2; fp8 4; f64 4; 8 bits 3 *
 * 4; 4 bits 3 * 4; b1 3. wmma: f16 3 * 4; bf16 3; tf32 1; f64 1; 8 bits 3 * 2; 4 bits 2; b1 1. */
static void test_table(void)
{
    CHECK_INT(shape_count, 3 + 2 + 2 + 2 + 2 + 4 + 4 + 12 + 12 + 3 + 12 + 3 + 1 + 1 + 6 + 2 + 1);
    num_mma out;
    CHECK(!num_mma_find(false, 16, 8, 16, PTX_f16, PTX_bf16, PTX_f32, PTX_f32, NUM_MUL_ADD, &out));
    CHECK(!num_mma_find(false, 16, 8, 12, PTX_f16, PTX_f16, PTX_f32, PTX_f32, NUM_MUL_ADD, &out));
    CHECK(!num_mma_find(false, 8, 8, 128, PTX_b1, PTX_b1, PTX_s32, PTX_s32, NUM_MUL_ADD, &out));
    ptx_type type;
    CHECK(ptx_type_find("e4m3", 4, &type) && type == PTX_e4m3);
    CHECK(!ptx_type_find("e4m", 3, &type));
    /* Every type that no matrix has is refused. */
    for (int t = 0; t < PTX_TYPES; t++) {
        bool known = false;
        for (int n = 0; n < shape_count; n++) known |= shapes[n].a == (ptx_type)t;
        for (int n = 0; n < shape_count && !known; n++)
            CHECK(!num_mma_find(shapes[n].wmma, shapes[n].m, shapes[n].n, shapes[n].k, (ptx_type)t,
                                shapes[n].b, shapes[n].c, shapes[n].d, NUM_MUL_ADD, &out));
    }
}

typedef struct fragment {
    uint64_t storage[16][LANES];
    void *registers[16];
} fragment;

static void fragment_begin(fragment *f)
{
    for (int r = 0; r < 16; r++) f->registers[r] = f->storage[r];
    memset(f->storage, 0, sizeof f->storage);
}

static void fragment_set(fragment *f, int bits, int lane, int reg, int index, uint64_t value)
{
    if (bits == 64)
        f->storage[reg][lane] = value;
    else
        ((uint32_t *)f->registers[reg])[lane] |= (uint32_t)value << (index * (bits < 32 ? bits : 0));
}

static uint64_t fragment_get(const fragment *f, int bits, int lane, int reg, int index)
{
    if (bits == 64) return f->storage[reg][lane];
    uint32_t word = ((const uint32_t *)f->registers[reg])[lane];
    return bits == 32 ? word : word >> (index * bits) & ((UINT32_C(1) << bits) - 1);
}

static long double number(ptx_type type, uint64_t bits)
{
    static const num_format formats[] = {
        [PTX_f64] = NUM_F64,   [PTX_f32] = NUM_F32,   [PTX_tf32] = NUM_TF32, [PTX_f16] = NUM_F16,
        [PTX_bf16] = NUM_BF16, [PTX_e4m3] = NUM_E4M3, [PTX_e5m2] = NUM_E5M2};
    if (type == PTX_s32) return (int32_t)(uint32_t)bits;
    if (type == PTX_s8) return (int8_t)bits;
    if (type == PTX_s4) return (int)((bits & 15) ^ 8) - 8;
    if (type == PTX_u8 || type == PTX_u4 || type == PTX_b1) return (long double)bits;
    uint64_t wide = num_convert(NUM_F64, formats[type], bits, NUM_RN, 0);
    double d;
    memcpy(&d, &wide, sizeof d);
    return d;
}

/* A finite value of moderate size. */
static uint64_t random_bits(ptx_type type)
{
    uint32_t x = any(), sign = x >> 31;
    switch (type) {
    case PTX_f64: return (uint64_t)sign << 63 | (UINT64_C(0x3fe) + x % 3) << 52 | (uint64_t)any() << 20;
    case PTX_f32:
    case PTX_tf32: return sign << 31 | (125 + x % 5) << 23 | (any() & 0x7fffff);
    case PTX_f16: return sign << 15 | (12 + x % 5) << 10 | (any() & 0x3ff);
    case PTX_bf16: return sign << 15 | (124 + x % 5) << 7 | (any() & 0x7f);
    case PTX_e4m3: return (x & 0x7f) == 0x7f ? 0 : x & 0xff;
    case PTX_e5m2: return (x & 0x7c) == 0x7c ? 0 : x & 0xff;
    default: return x & (type == PTX_s32 ? UINT32_MAX : (UINT32_C(1) << ptx_types[type].bits) - 1);
    }
}

static bool product_holds(const shape *s, num_mma_op product, bool satfinite)
{
    num_mma m;
    if (!num_mma_find(s->wmma, s->m, s->n, s->k, s->a, s->b, s->c, s->d, product, &m)) return false;
    static uint64_t matrix[3][4][256 * 256];
    fragment f[4];
    bool quad = s->k == 4 && s->a == PTX_f16;
    for (int o = 0; o < 3; o++) {
        ptx_type type = o == 0 ? s->a : o == 1 ? s->b : s->c;
        int bits = ptx_types[type].bits, per = bits < 32 ? 32 / bits : 1;
        static bool known[4][256 * 256];
        memset(known, 0, sizeof known);
        fragment_begin(&f[o]);
        for (int r = 0; r < m.registers[o]; r++)
            for (int l = 0; l < LANES; l++)
                for (int i = 0; i < per; i++) {
                    num_place p = num_mma_place(&m, (num_operand)o, NULL, l, r, i);
                    int index = p.row * 256 + p.column;
                    /* Where a fragment holds an element twice, both are equal. */
                    if (!known[p.part][index]) matrix[o][p.part][index] = random_bits(type);
                    known[p.part][index] = true;
                    fragment_set(&f[o], bits, l, r, i, matrix[o][p.part][index]);
                }
        int rows = o == 1 ? s->k : s->m, columns = o == 0 ? s->k : s->n;
        for (int part = 0; part < (quad ? 4 : 1); part++)
            for (int i = 0; i < rows; i++)
                for (int j = 0; j < columns; j++)
                    if (!known[part][i * 256 + j]) return false; /* an element that no lane holds */
    }
    fragment_begin(&f[3]);
    num_mma_options options = {.satfinite = satfinite};
    num_mma_run(&m, &options, f[3].registers, (const void *const *)f[0].registers,
                (const void *const *)f[1].registers, (const void *const *)f[2].registers);
    int bits = ptx_types[s->d].bits, per = bits < 32 ? 2 : 1;
    num_mma layout = m;
    layout.c = m.d;
    for (int r = 0; r < m.registers[3]; r++)
        for (int l = 0; l < LANES; l++)
            for (int i = 0; i < per; i++) {
                num_place p = num_mma_place(&layout, NUM_C, NULL, l, r, i);
                long double sum = number(s->c, matrix[2][p.part][p.row * 256 + p.column]), size = fabsl(sum);
                for (int k = 0; k < s->k; k++) {
                    uint64_t x = matrix[0][p.part][p.row * 256 + k],
                             y = matrix[1][p.part][k * 256 + p.column];
                    long double v = number(s->a, x) * number(s->b, y);
                    if (product == NUM_XOR_POPC) v = x ^ y;
                    if (product == NUM_AND_POPC) v = x & y;
                    sum += v;
                    size += fabsl(v);
                }
                uint64_t got = fragment_get(&f[3], bits, l, r, i);
                bool fine;
                if (s->d == PTX_s32) {
                    int64_t want = (int64_t)sum;
                    if (satfinite) want = want > INT32_MAX ? INT32_MAX : want < INT32_MIN ? INT32_MIN : want;
                    fine = (uint32_t)got == (uint32_t)want;
                } else {
                    /* 2^-21 of the sum of magnitudes, and half a unit of f16 or f64. */
                    long double bound = s->d == PTX_f64 ? size * 0x1p-50L : size * 0x1p-21L;
                    if (s->d == PTX_f16) bound += fabsl(sum) * 0x1p-10L;
                    fine = fabsl(number(s->d, got) - sum) <= bound;
                }
                if (!fine) {
                    printf("# %s m%dn%dk%d %d %d %d %d lane %d register %d: %Lg, not %Lg\n",
                           s->wmma ? "wmma" : "mma", s->m, s->n, s->k, s->a, s->b, s->c, s->d, l, r,
                           number(s->d, got), sum);
                    return false;
                }
            }
    return true;
}

static void test_products(void)
{
    for (int i = 0; i < shape_count; i++) {
        bool bit = shapes[i].a == PTX_b1, integer = shapes[i].d == PTX_s32;
        CHECK(product_holds(&shapes[i], bit ? NUM_XOR_POPC : NUM_MUL_ADD, false));
        if (bit) CHECK(product_holds(&shapes[i], NUM_AND_POPC, false));
        if (integer && !bit) CHECK(product_holds(&shapes[i], NUM_MUL_ADD, true));
    }
}

/* ---- rounding, by hand ---- */

static uint32_t one_dot(ptx_type type, ptx_type d, int k, const uint32_t *a, const uint32_t *b, uint32_t c)
{
    num_mma m = find(false, 16, 8, k, type, type, d);
    fragment f[4];
    int bits = ptx_types[type].bits;
    for (int o = 0; o < 4; o++) fragment_begin(&f[o]);
    for (int o = 0; o < 2; o++)
        for (int r = 0; r < m.registers[o]; r++)
            for (int l = 0; l < LANES; l++)
                for (int i = 0; i < (bits < 32 ? 32 / bits : 1); i++) {
                    num_place p = num_mma_place(&m, (num_operand)o, NULL, l, r, i);
                    if ((o ? p.column : p.row) == 0)
                        fragment_set(&f[o], bits, l, r, i, o ? b[p.row] : a[p.column]);
                }
    fragment_set(&f[2], 32, 0, 0, 0, c);
    num_mma_run(&m, NULL, f[3].registers, (const void *const *)f[0].registers,
                (const void *const *)f[1].registers, (const void *const *)f[2].registers);
    return ((uint32_t *)f[3].registers[0])[0];
}

static void test_rounding(void)
{
    /* f16: 0x3c00 1, 0x0001 2^-24, 0x1400 2^-10, 0x1000 2^-11, 0x0400 2^-14, 0x8400 -2^-14 */
    uint32_t a[16] = {0x3c00}, b[16] = {0x3c00};
    CHECK_INT(one_dot(PTX_f16, PTX_f32, 16, a, b, 0x3f800000), 0x40000000); /* 1 + 1 */
    /* 1 + 2^-24 is cut off to 1; 1 + 3 * 2^-24, whose last bit has weight 2^-24 >= 2^-25, to 1 + 2^-23 */
    a[1] = 0x0001;
    b[1] = 0x3c00;
    CHECK_INT(one_dot(PTX_f16, PTX_f32, 16, a, b, 0), 0x3f800000);
    a[2] = 0x0002;
    b[2] = 0x3c00;
    CHECK_INT(one_dot(PTX_f16, PTX_f32, 16, a, b, 0), 0x3f800001);
    /* Two times 2^-25 meet below the last place of f32, and are kept: 1 + 2^-24 cut; four times are 2^-23 */
    uint32_t p[16] = {0x3c00, 0x0400, 0x0400, 0x0400, 0x0400},
             q[16] = {0x3c00, 0x1000, 0x1000, 0x1000, 0x1000};
    CHECK_INT(one_dot(PTX_f16, PTX_f32, 16, p, q, 0), 0x3f800001);
    /* 2^-26 each is cut off before the sum: 15 of them leave 1 */
    for (int i = 1; i < 16; i++) {
        p[i] = 0x0400; /* 2^-14 */
        q[i] = 0x0c00; /* 2^-12 */
    }
    CHECK_INT(one_dot(PTX_f16, PTX_f32, 16, p, q, 0), 0x3f800000);
    /* -(1 + 2^-24) is cut towards zero, too */
    uint32_t n[16] = {0xbc00, 0x8001}, u[16] = {0x3c00, 0x3c00};
    CHECK_INT(one_dot(PTX_f16, PTX_f32, 16, n, u, 0), 0xbf800000);
    /* f16 results round to nearest even: 1 + 2^-11 is a tie, to 1; 1 + 3 * 2^-11 to 1 + 2^-9 */
    uint32_t t[16] = {0x3c00, 0x1000}, o[16] = {0x3c00, 0x3c00};
    CHECK_INT(one_dot(PTX_f16, PTX_f16, 16, t, o, 0), 0x3c00);
    t[1] = 0x1600;
    CHECK_INT(one_dot(PTX_f16, PTX_f16, 16, t, o, 0), 0x3c02);
    /* tf32 ignores the low 13 bits of its operands */
    uint32_t x[8] = {0x3f801fff}, y[8] = {0x3f800fff};
    CHECK_INT(one_dot(PTX_tf32, PTX_f32, 8, x, y, 0), 0x3f800000);
    /* bf16 beyond f32's range: 2^100 * 2^100 is infinite; 2^-100 * 2^-40 is subnormal, 2^-140 */
    uint32_t big[16] = {0x7180}, tiny[16] = {0x0d80}, small[16] = {0x2b80};
    CHECK_INT(one_dot(PTX_bf16, PTX_f32, 16, big, big, 0), 0x7f800000);
    CHECK_INT(one_dot(PTX_bf16, PTX_f32, 16, tiny, small, 0), 0x00000200);
    /* infinity - infinity, and NaN */
    uint32_t inf[16] = {0x7c00, 0xfc00}, ones[16] = {0x3c00, 0x3c00}, nan[16] = {0x7e01};
    CHECK_INT(one_dot(PTX_f16, PTX_f32, 16, inf, ones, 0), 0x7fffffff);
    CHECK_INT(one_dot(PTX_f16, PTX_f16, 16, nan, ones, 0), 0x7fff7fff); /* NaN * 0 beside it */
    inf[1] = 0;
    CHECK_INT(one_dot(PTX_f16, PTX_f32, 16, inf, ones, 0), 0x7f800000);
    CHECK_INT(one_dot(PTX_f16, PTX_f32, 16, ones, ones, 0xff800000), 0xff800000);
}

/* The sum as lib/numeric/dot.h describes it, in integers: each term is a significand times a power of two,
 * cut off at 2^(E - 25), and the sum is rounded towards zero to 24 bits. */
typedef struct term {
    bool negative;
    uint64_t significand;
    int exponent, label; /* value: significand * 2^exponent; label: the exponent that alignment sees */
} term;

static void take(uint32_t bits, int mantissa, int bias, term *t)
{
    int field = (int)(bits >> mantissa) & (bias * 2 + 1), low = field ? field : 1;
    t->negative = bits >> (mantissa + (bias == 15 ? 5 : 8)) & 1;
    t->significand = (bits & ((1u << mantissa) - 1)) | (field ? 1u << mantissa : 0);
    t->exponent = low - bias - mantissa;
    t->label = t->significand ? low - bias : -126;
}

static uint32_t model(int mantissa, int bias, int k, const uint32_t *a, const uint32_t *b, uint32_t c)
{
    term terms[17];
    int most = -1000;
    for (int i = 0; i <= k; i++) {
        term x, y = {.significand = 1};
        take(i < k ? a[i] : c, i < k ? mantissa : 23, i < k ? bias : 127, &x);
        if (i < k) take(b[i], mantissa, bias, &y);
        terms[i] = (term){x.negative != y.negative, x.significand * y.significand, x.exponent + y.exponent,
                          x.label + (i < k ? y.label : 0)};
        if (terms[i].label > most) most = terms[i].label;
    }
    int64_t sum = 0;
    for (int i = 0; i <= k; i++) {
        int shift = terms[i].exponent - (most - 25); /* to the left */
        uint64_t cut = shift >= 0    ? terms[i].significand << shift
                       : shift > -64 ? terms[i].significand >> -shift
                                     : 0;
        sum += terms[i].negative ? -(int64_t)cut : (int64_t)cut;
    }
    uint64_t magnitude = (uint64_t)(sum < 0 ? -sum : sum), sign = sum < 0;
    if (!magnitude) return 0;
    int exponent = most - 25, top = 63 - __builtin_clzll(magnitude);
    int drop = top - 23; /* to 24 bits, or fewer where the result is subnormal */
    if (exponent + top < -126) drop = -149 - exponent;
    uint64_t kept = drop >= 0 ? magnitude >> drop : magnitude << -drop;
    if (exponent + top < -126) return (uint32_t)(sign << 31 | kept);
    if (exponent + top > 127) return (uint32_t)(sign << 31 | 0x7f800000);
    return (uint32_t)(sign << 31 | (uint64_t)(exponent + top + 127) << 23 | (kept & 0x7fffff));
}

static void test_model(void)
{
    for (int n = 0; n < 6000; n++) {
        bool brain = n % 2;
        uint32_t a[16], b[16], c = any(), wide = any() % 4;
        for (int i = 0; i < 16; i++) {
            /* close exponents, all exponents, many zeros and subnormals */
            uint32_t mask = brain ? (wide == 0 ? 0x83ff : 0xffff) : (wide == 0 ? 0x8fff : 0xffff);
            uint32_t base = wide == 0 ? (brain ? 0x3c00 : 0x3000) : 0;
            a[i] = (any() & mask) | base;
            b[i] = (any() & mask) | base;
            if (wide == 2) a[i] &= brain ? 0x8fff : 0x9fff;
            if (wide == 3 && any() % 2) a[i] = b[i] = any() & 0x8007;
            uint32_t exponent = brain ? 0x7f80 : 0x7c00;
            if ((a[i] & exponent) == exponent) a[i] ^= 0x4000;
            if ((b[i] & exponent) == exponent) b[i] ^= 0x4000;
        }
        if (wide == 0) c = (c & 0x83ffffff) | 0x3c000000;
        if (wide == 3 && n % 3 == 0) c &= 0x80ffffff;
        if ((c & 0x7f800000) == 0x7f800000) c ^= 0x40000000;
        uint32_t want = brain ? model(7, 127, 16, a, b, c) : model(10, 15, 16, a, b, c);
        uint32_t got = one_dot(brain ? PTX_bf16 : PTX_f16, PTX_f32, 16, a, b, c);
        if (got != want) {
            printf("# %s, kind %u: %08x, not %08x\n", brain ? "bf16" : "f16", wide, got, want);
            CHECK_INT(got, want);
            return;
        }
    }
}

/* ---- memory ---- */

static bool access_bytes(void *context, int lane, int64_t offset, int size, void *bytes)
{
    (void)lane;
    memcpy(bytes, (char *)context + offset, (size_t)size);
    return true;
}

static bool store_bytes(void *context, int lane, int64_t offset, int size, void *bytes)
{
    (void)lane;
    memcpy((char *)context + offset, bytes, (size_t)size);
    return true;
}

/* A GEMM of one tile through wmma.load, mma and store, from memory in each order. */
static void test_wmma_memory(void)
{
    static const int sizes[][3] = {{16, 16, 16}, {8, 32, 16}, {32, 8, 16}};
    for (int s = 0; s < 3; s++)
        for (int order = 0; order < 8; order++) {
            int m = sizes[s][0], n = sizes[s][1], k = sizes[s][2];
            bool ca = order & 1, cb = order & 2, cd = order & 4;
            int8_t a[32 * 40], b[32 * 40];
            int32_t d[40 * 40] = {0};
            int sa = (ca ? m : k) + 3, sb = (cb ? k : n) + 5, sd = (cd ? m : n) + 1;
            for (int i = 0; i < 32 * 40; i++) {
                a[i] = (int8_t)any();
                b[i] = (int8_t)any();
            }
            fragment f[4];
            for (int o = 0; o < 4; o++) fragment_begin(&f[o]);
            num_mma w = find(true, m, n, k, PTX_s8, PTX_s8, PTX_s32);
            CHECK_INT(num_wmma_registers(NUM_A, m, n, k, PTX_s8), w.registers[0]);
            CHECK(num_wmma_load(NUM_A, m, n, k, PTX_s8, ca, sa, f[0].registers, access_bytes, a));
            CHECK(num_wmma_load(NUM_B, m, n, k, PTX_s8, cb, sb, f[1].registers, access_bytes, b));
            num_mma_run(&w, NULL, f[3].registers, (const void *const *)f[0].registers,
                        (const void *const *)f[1].registers, (const void *const *)f[2].registers);
            CHECK(num_wmma_store(m, n, k, PTX_s32, cd, sd, (const void *const *)f[3].registers, store_bytes,
                                 d));
            for (int i = 0; i < m; i++)
                for (int j = 0; j < n; j++) {
                    int32_t want = 0;
                    for (int l = 0; l < k; l++)
                        want += a[ca ? l * sa + i : i * sa + l] * b[cb ? j * sb + l : l * sb + j];
                    if (d[cd ? j * sd + i : i * sd + j] != want) {
                        CHECK_INT(d[cd ? j * sd + i : i * sd + j], want);
                        return;
                    }
                }
        }
    CHECK_INT(num_wmma_registers(NUM_A, 16, 16, 16, PTX_f16), 8);
    CHECK_INT(num_wmma_registers(NUM_B, 8, 32, 16, PTX_bf16), 8);
    CHECK_INT(num_wmma_registers(NUM_C, 16, 16, 16, PTX_f32), 8);
    CHECK_INT(num_wmma_registers(NUM_C, 16, 16, 16, PTX_bf16), 0);
}

static void test_ldmatrix(void)
{
    uint16_t memory[4][8][8];
    for (int m = 0; m < 4; m++)
        for (int r = 0; r < 8; r++)
            for (int c = 0; c < 8; c++) memory[m][r][c] = (uint16_t)(m << 8 | r << 4 | c);
    const void *rows[32];
    void *targets[32];
    uint16_t back[4][8][8];
    for (int i = 0; i < 32; i++) {
        rows[i] = memory[i / 8][i % 8];
        targets[i] = back[i / 8][i % 8];
    }
    for (int transposed = 0; transposed < 2; transposed++) {
        uint32_t d[4][LANES], *registers[4] = {d[0], d[1], d[2], d[3]};
        const uint32_t *sources[4] = {d[0], d[1], d[2], d[3]};
        num_ldmatrix(4, transposed, rows, registers);
        for (int m = 0; m < 4; m++)
            for (int l = 0; l < LANES; l++) {
                uint32_t r = (uint32_t)l / 4, c = (uint32_t)l % 4 * 2, base = (uint32_t)m << 8;
                uint32_t low = transposed ? base | c << 4 | r : base | r << 4 | c;
                uint32_t high = transposed ? base | (c + 1) << 4 | r : base | r << 4 | (c + 1);
                CHECK_INT(d[m][l], high << 16 | low);
            }
        memset(back, 0, sizeof back);
        num_stmatrix(4, transposed, targets, sources);
        CHECK(memcmp(back, memory, sizeof back) == 0);
    }
    uint32_t plain[LANES], turned[LANES], *one[4] = {plain}, *two[4] = {turned};
    num_ldmatrix(1, false, rows, one);
    num_ldmatrix(1, true, rows, two);
    num_movmatrix(plain, plain);
    CHECK(memcmp(plain, turned, sizeof plain) == 0);
}

int main(void)
{
    collect();
    TEST("the fragments of m16n8k16 and m16n8k8 of 16 bits are those of the PTX ISA", test_f16_layout);
    TEST("the fragments of tf32, f64, s8, s4 and b1 are those of the PTX ISA", test_other_layouts);
    TEST("m8n8k4 of f16 has four products, laid out as in the PTX ISA", test_quad_layout);
    TEST("the table has as many instructions as the PTX ISA", test_table);
    TEST("each instruction's product is that of three loops", test_products);
    TEST("sums are aligned, cut off below 25 bits and rounded as tensor cores do", test_rounding);
    TEST("random sums, with subnormals and far exponents, are those of the integer model", test_model);
    TEST("wmma loads and stores fragments in both orders", test_wmma_memory);
    TEST("ldmatrix and stmatrix move 8x8 matrices, transposed or not", test_ldmatrix);
    return test_finish();
}
