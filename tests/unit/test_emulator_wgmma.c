/* wgmma: operands are laid out in shared memory as the PTX ISA's figures of the canonical layouts show them
 * (rows and chunks of 16 bytes, exchanged by XOR), descriptors are made as CUTLASS makes them, and the
 * product is compared with three loops. */
#include <math.h>

#include "lib/numeric/number.h"
#include "lib/numeric/wgmma.h"
#include "tests/unit/test.h"

enum { LANES = 32, SHARED = 228 * 1024 };

static uint64_t seed = 7;
static uint32_t any(void)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 32);
}

static uint8_t shared[SHARED];
static int reads;

static bool read_shared(void *context, num_operand operand, uint32_t address, uint32_t size, void *out)
{
    (void)context;
    (void)operand;
    reads++;
    if (address % 16 || size != 16 || address + size > SHARED) return false;
    memcpy(out, shared + address, size);
    return true;
}

static uint64_t descriptor(uint32_t start, uint32_t leading, uint32_t stride, int swizzle)
{
    uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
    return (start >> 4 & 0x3fff) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 |
           mode << 62;
}

/* Byte of element (mn, k) in a tile at `base` (1024-aligned): K-major, rows of `width` bytes of k (16: no
 * swizzle). */
static uint32_t k_major(uint32_t base, int swizzle, uint32_t leading, uint32_t stride, int size, int mn,
                        int k)
{
    uint32_t byte = (uint32_t)(k * size), chunk = byte / 16, row = (uint32_t)mn % 8, group = (uint32_t)mn / 8;
    if (!swizzle) return base + group * stride + chunk * leading + row * 16 + byte % 16;
    uint32_t line =
        row * (uint32_t)swizzle; /* where the row begins: its 128-byte line says what is exchanged */
    uint32_t phase = (line / 128) % 8;
    if (swizzle == 64) phase = row / 2;
    if (swizzle == 32) phase = row / 4;
    if (swizzle == 128) phase = row;
    return base + group * stride + line + (chunk ^ phase) * 16 + byte % 16;
}

static uint32_t mn_major(uint32_t base, int swizzle, uint32_t leading, uint32_t stride, int size, int mn,
                         int k)
{
    uint32_t byte = (uint32_t)(mn * size), row = (uint32_t)k % 8, group = (uint32_t)k / 8;
    if (!swizzle) return base + byte / 16 * stride + group * leading + row * 16 + byte % 16;
    uint32_t width = (uint32_t)swizzle, phase = row * width / 128; /* 128: row, 64: row / 2, 32: row / 4 */
    uint32_t inside = byte % width;
    return base + byte / width * leading + group * stride + row * width + (inside / 16 ^ phase) * 16 +
           byte % 16;
}

typedef struct test_case {
    ptx_type a, b, d;
    int k, n, swizzle_a, swizzle_b;
    bool registers, ta, tb, na, nb, scale, satfinite;
    int step; /* which K step of the swizzled tile */
} test_case;

static double value(ptx_type type, uint32_t bits)
{
    static const num_format formats[] = {[PTX_f32] = NUM_F32,   [PTX_tf32] = NUM_TF32, [PTX_f16] = NUM_F16,
                                         [PTX_bf16] = NUM_BF16, [PTX_e4m3] = NUM_E4M3, [PTX_e5m2] = NUM_E5M2};
    if (type == PTX_s8) return (int8_t)bits;
    if (type == PTX_u8) return (double)bits;
    if (type == PTX_s32) return (int32_t)bits;
    uint64_t wide = num_convert(NUM_F64, formats[type], bits, NUM_RN, 0);
    double d;
    memcpy(&d, &wide, sizeof d);
    return d;
}

static uint32_t random_bits(ptx_type type)
{
    uint32_t x = any(), sign = x >> 31;
    switch (type) {
    case PTX_f32:
    case PTX_tf32: return sign << 31 | (125 + x % 5) << 23 | (any() & 0x7fffff);
    case PTX_f16: return sign << 15 | (12 + x % 5) << 10 | (any() & 0x3ff);
    case PTX_bf16: return sign << 15 | (124 + x % 5) << 7 | (any() & 0x7f);
    case PTX_e4m3: return (x & 0x80) | (0x30 + x % 0x10);
    case PTX_e5m2: return (x & 0x80) | (0x38 + x % 8);
    case PTX_s32: return x;
    default: return x & 0xff;
    }
}

static bool holds(const test_case *t)
{
    static uint32_t a[64][32], b[256][32], c[64][256];
    static uint32_t storage[4 * 128][LANES], pieces[16][LANES];
    uint32_t *d[4 * 128];
    const uint32_t *ra[16];
    num_wgmma w = {.n = t->n,
                   .k = t->k,
                   .a = t->a,
                   .b = t->b,
                   .d = t->d,
                   .a_in_registers = t->registers,
                   .transpose_a = t->ta,
                   .transpose_b = t->tb,
                   .negate_a = t->na,
                   .negate_b = t->nb,
                   .scale_d = t->scale,
                   .satfinite = t->satfinite};
    const char *why = num_wgmma_check(&w);
    if (why) {
        printf("# %s\n", why);
        return false;
    }
    int bits = ptx_types[t->a].bits, size = bits / 8;
    memset(shared, 0xee, sizeof shared);
    const uint32_t base[2] = {1024, 64 * 1024};
    uint64_t descriptors[2];
    for (int o = 0; o < 2; o++) {
        int rows = o ? t->n : 64, swizzle = o ? t->swizzle_b : t->swizzle_a;
        bool major = o ? t->tb : t->ta;
        uint32_t leading, stride, start = base[o];
        int shift = 0;
        if (!major) {
            /* without a swizzle: core matrices in any order; with one: groups of eight rows, K steps inside a
             * row */
            leading = swizzle ? 16 : 128 * 40;
            stride = swizzle ? (uint32_t)swizzle * 8 : 128;
            if (swizzle) {
                shift = t->step * 32 % swizzle / size;
                start += (uint32_t)(shift * size);
            }
        } else {
            leading = swizzle ? (uint32_t)swizzle * 16 : 128;
            stride = swizzle ? (uint32_t)swizzle * 8 : 256;
        }
        descriptors[o] = descriptor(start, leading, stride, swizzle);
        for (int i = 0; i < rows; i++)
            for (int l = 0; l < t->k; l++) {
                uint32_t x = random_bits(o ? t->b : t->a);
                (o ? b[i] : a[i])[l] = x;
                uint32_t at = major ? mn_major(base[o], swizzle, leading, stride, size, i, l)
                                    : k_major(base[o], swizzle, leading, stride, size, i, l + shift);
                memcpy(shared + at, &x, (size_t)size);
                num_descriptor e = num_descriptor_decode(descriptors[o]);
                int element;
                uint32_t found = num_descriptor_address(&e, major, bits, i, l, &element);
                if (found + (uint32_t)(element * size) != at) {
                    printf("# (%d, %d) is at %u, not %u\n", i, l, found + (uint32_t)(element * size), at);
                    return false;
                }
            }
    }
    int registers = num_wgmma_registers(&w), half = t->d == PTX_f16;
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < t->n; j++) c[i][j] = random_bits(t->d);
    /* Figure of the accumulator: lane l of warp w holds rows 16w + l/4 and + 8, columns 2 (l%4) and + 1 of
     * each eight. */
    for (int i = 0; i < 4 * registers; i++) {
        d[i] = storage[i];
        int warp = i / registers, r = i % registers;
        for (int l = 0; l < LANES; l++) {
            int e = half ? 2 * r : r, row = 16 * warp + l / 4 + (e / 2 % 2) * 8,
                column = e / 4 * 8 + l % 4 * 2 + e % 2;
            storage[i][l] = half ? c[row][column] | c[row][column + 1] << 16 : c[row][column];
        }
    }
    for (int i = 0; i < 16; i++) {
        ra[i] = pieces[i];
        for (int l = 0; l < LANES; l++) {
            int per = 32 / bits, row = i / 4 * 16 + l / 4 + i % 2 * 8, column = (i % 4 / 2 * 4 + l % 4) * per;
            pieces[i][l] = 0;
            for (int e = 0; e < per; e++) pieces[i][l] |= a[row][column + e] << (e * bits % 32);
        }
    }
    num_wgmma_operands o = {.a_descriptor = descriptors[0], .b_descriptor = descriptors[1], .a = ra, .d = d};
    reads = 0;
    if (any() % 2) {
        if (!num_wgmma_run(&w, 0, 4, &o, read_shared, NULL)) return false;
        int chunks = 2 * t->n + (t->registers ? 0 : 2 * 64);
        if (reads != chunks) {
            printf("# %d reads, not %d\n", reads, chunks);
            return false;
        }
    } else { /* warp by warp */
        for (int warp = 0; warp < 4; warp++) {
            num_wgmma_operands part = o;
            part.a = ra + 4 * warp;
            part.d = d + warp * registers;
            if (!num_wgmma_run(&w, warp, 1, &part, read_shared, NULL)) return false;
        }
    }
    bool small = bits == 8 && t->d != PTX_s32;
    for (int i = 0; i < 4 * registers; i++)
        for (int l = 0; l < LANES; l++)
            for (int s = 0; s <= half; s++) {
                int warp = i / registers, r = i % registers, e = half ? 2 * r + s : r;
                int row = 16 * warp + l / 4 + (e / 2 % 2) * 8, column = e / 4 * 8 + l % 4 * 2 + e % 2;
                double sum = t->scale ? value(t->d, c[row][column]) : 0, magnitude = fabs(sum);
                for (int k = 0; k < t->k; k++) {
                    double v = value(t->a, a[row][k]) * value(t->b, b[column][k]) * (t->na ? -1 : 1) *
                               (t->nb ? -1 : 1);
                    sum += v;
                    magnitude += fabs(v);
                }
                uint32_t word = half ? storage[i][l] >> (16 * s) & 0xffff : storage[i][l];
                bool fine;
                if (t->d == PTX_s32) {
                    int64_t want = (int64_t)sum;
                    if (t->satfinite)
                        want = want > INT32_MAX ? INT32_MAX : want < INT32_MIN ? INT32_MIN : want;
                    fine = word == (uint32_t)want;
                } else {
                    double bound = magnitude * (small ? 0x1p-9 : 0x1p-21) + (half ? fabs(sum) * 0x1p-10 : 0);
                    fine = fabs(value(t->d, word) - sum) <= bound;
                }
                if (!fine) {
                    printf("# types %d %d %d n %d swizzles %d %d transposed %d %d (%d, %d): %g, not %g\n",
                           t->a, t->b, t->d, t->n, t->swizzle_a, t->swizzle_b, t->ta, t->tb, row, column,
                           value(t->d, word), sum);
                    return false;
                }
            }
    return true;
}

static const int swizzles[4] = {0, 32, 64, 128};

static void test_k_major(void)
{
    static const struct {
        ptx_type a, b, d;
        int k;
    } kinds[] = {
        {PTX_f16, PTX_f16, PTX_f32, 16},   {PTX_f16, PTX_f16, PTX_f16, 16},
        {PTX_bf16, PTX_bf16, PTX_f32, 16}, {PTX_tf32, PTX_tf32, PTX_f32, 8},
        {PTX_e4m3, PTX_e5m2, PTX_f32, 32}, {PTX_e5m2, PTX_e4m3, PTX_f16, 32},
        {PTX_s8, PTX_u8, PTX_s32, 32},     {PTX_u8, PTX_s8, PTX_s32, 32},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int sa = 0; sa < 4; sa++)
            for (int sb = 0; sb < 4; sb++) {
                bool integer = kinds[i].d == PTX_s32;
                test_case t = {.a = kinds[i].a,
                               .b = kinds[i].b,
                               .d = kinds[i].d,
                               .k = kinds[i].k,
                               .n = integer ? 48 : 40,
                               .swizzle_a = swizzles[sa],
                               .swizzle_b = swizzles[sb],
                               .step = sa + sb,
                               .registers = (sa + sb) % 5 == 4,
                               .na = !integer && sa == 2,
                               .nb = !integer && sb == 1,
                               .scale = sa != 1,
                               .satfinite = integer && sb == 3};
                if (!CHECK(holds(&t))) return;
            }
}

static void test_mn_major(void)
{
    for (int bf = 0; bf < 2; bf++)
        for (int sa = 0; sa < 4; sa++)
            for (int sb = 0; sb < 4; sb++)
                for (int which = 1; which < 4; which++) {
                    ptx_type type = bf ? PTX_bf16 : PTX_f16;
                    test_case t = {.a = type,
                                   .b = type,
                                   .d = PTX_f32,
                                   .k = 16,
                                   .n = 136,
                                   .swizzle_a = swizzles[sa],
                                   .swizzle_b = swizzles[sb],
                                   .ta = which & 1,
                                   .tb = which & 2,
                                   .scale = true};
                    if (!CHECK(holds(&t))) return;
                }
}

static void test_every_n(void)
{
    for (int n = 8; n <= 256; n += 8) {
        test_case t = {.a = PTX_f16,
                       .b = PTX_f16,
                       .d = n % 16 ? PTX_f16 : PTX_f32,
                       .k = 16,
                       .n = n,
                       .swizzle_a = 128,
                       .swizzle_b = 128,
                       .scale = true,
                       .step = n / 8 % 4};
        if (!CHECK(holds(&t))) return;
    }
}

static void test_base_offset(void)
{
    /* A pattern that begins 256 bytes behind a multiple of 1024: base offset 2. Row 1 of the pattern lies at
     * 1024 + 256 + 128, and its chunk 0 at chunk 1 of that line. */
    num_descriptor d = num_descriptor_decode(descriptor(1024 + 256, 16, 1024, 128) | UINT64_C(2) << 49);
    CHECK_INT(d.base, 2);
    CHECK_INT(d.swizzle, 128);
    int element;
    CHECK_INT(num_descriptor_address(&d, false, 16, 0, 0, &element), 1280);
    CHECK_INT(num_descriptor_address(&d, false, 16, 1, 0, &element), 1280 + 128 + 16);
    CHECK_INT(num_descriptor_address(&d, false, 16, 7, 8, &element), 1280 + 7 * 128 + 6 * 16);
}

static void test_bits(void)
{
    num_wgmma w = {.n = 8, .k = 256, .a = PTX_b1, .b = PTX_b1, .d = PTX_s32, .op = NUM_AND_POPC};
    CHECK(num_wgmma_check(&w) == NULL);
    memset(shared, 0, sizeof shared);
    /* A: row i has its lowest i bits set; B: column j has bits 32 j to 32 j + 31. */
    for (int i = 0; i < 64; i++)
        for (int k = 0; k < i; k++)
            shared[1024 + i / 8 * 128 + i % 8 * 16 + (k >= 128 ? 4096 : 0) + k % 128 / 8] |=
                (uint8_t)(1 << k % 8);
    for (int j = 0; j < 8; j++) memset(shared + 16384 + j * 16 + (j >= 4 ? 4096 : 0) + j % 4 * 4, 0xff, 4);
    uint32_t storage[16][LANES], *d[16];
    for (int i = 0; i < 16; i++) d[i] = storage[i];
    num_wgmma_operands o = {.a_descriptor = descriptor(1024, 4096, 128, 0),
                            .b_descriptor = descriptor(16384, 4096, 128, 0),
                            .d = d};
    CHECK(num_wgmma_run(&w, 0, 4, &o, read_shared, NULL));
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 8; j++) {
            int low = i - 32 * j, want = low < 0 ? 0 : low > 32 ? 32 : low;
            CHECK_INT(storage[i / 16 * 4 + i % 16 / 8 * 2 + j % 2][i % 8 * 4 + j / 2], want);
        }
}

static void test_refusals(void)
{
    num_wgmma w = {.n = 12, .k = 16, .a = PTX_f16, .b = PTX_f16, .d = PTX_f32};
    CHECK_TEXT(num_wgmma_check(&w), "wgmma requires an N of 8 to 256 in steps of 8");
    w.n = 264;
    CHECK(num_wgmma_check(&w) != NULL);
    w.n = 256;
    CHECK(num_wgmma_check(&w) == NULL);
    w.b = PTX_bf16;
    CHECK_TEXT(num_wgmma_check(&w), "wgmma does not support this combination of types");
    w = (num_wgmma){.n = 8, .k = 8, .a = PTX_tf32, .b = PTX_tf32, .d = PTX_f32, .transpose_b = true};
    CHECK_TEXT(num_wgmma_check(&w), "transposed operands of wgmma require f16 or bf16");
    w = (num_wgmma){.n = 40, .k = 32, .a = PTX_s8, .b = PTX_s8, .d = PTX_s32};
    CHECK(num_wgmma_check(&w) != NULL);
}

static bool refuse(void *context, num_operand operand, uint32_t address, uint32_t size, void *out)
{
    (void)context;
    memset(out, 0, size);
    return operand != NUM_B || address < 2048;
}

static void test_failed_read(void)
{
    uint32_t storage[16][LANES], *d[16];
    for (int i = 0; i < 16; i++) {
        d[i] = storage[i];
        for (int l = 0; l < LANES; l++) storage[i][l] = 77;
    }
    num_wgmma w = {.n = 8, .k = 16, .a = PTX_f16, .b = PTX_f16, .d = PTX_f32};
    num_wgmma_operands o = {.b_descriptor = descriptor(2048, 0, 0, 0), .d = d};
    CHECK(!num_wgmma_run(&w, 0, 4, &o, refuse, NULL));
    CHECK_INT(storage[15][31], 77);
}

int main(void)
{
    TEST("K-major operands of every type and swizzle give the product of three loops", test_k_major);
    TEST("MN-major operands of 16 bits do as well", test_mn_major);
    TEST("every N from 8 to 256 works", test_every_n);
    TEST("the base offset says where a swizzle's pattern begins", test_base_offset);
    TEST("wgmma of bits counts common ones", test_bits);
    TEST("what wgmma does not have is refused with a reason", test_refusals);
    TEST("a read that fails leaves the accumulator as it was", test_failed_read);
    return test_finish();
}
