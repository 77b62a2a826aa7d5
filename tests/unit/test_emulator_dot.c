/* Products of tiles with each set of vectors that the host has: their sums are those of num_dot_element, which
 * test_emulator_mma.c compares with integers, and of three loops; halves and transpositions are number.h's. */
#include <string.h>

#include "lib/numeric/dot.h"
#include "lib/numeric/number.h"
#include "lib/numeric/number_quick.h"
#include "tests/unit/test.h"

enum { LANES = NUM_LANES, PIECE = NUM_PIECE };

static uint64_t seed = 11;
static uint32_t any(void)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 32);
}

/* What elements are drawn from: near exponents, all bits, all finite ones, zeros and subnormals, the largest, few
 * that are not zero, the same everywhere. */
enum { NEAR, BITS, FINITE, SMALL, LARGE, FEW, SAME, STYLES };

static uint32_t element(int exponent_bits, int fraction_bits, int style)
{
    uint32_t x = any(), top = (1u << exponent_bits) - 1, fraction = any() & ((1u << fraction_bits) - 1);
    uint32_t exponent = x % top, sign = x >> 31;
    if (style == NEAR || (style == FEW && x % 8 == 0)) exponent = top / 2 - 2 + x % 4;
    if (style == BITS) exponent = x % (top + 1);
    if (style == SMALL) exponent = x % 4 ? 0 : x % 3;
    if (style == LARGE) exponent = top - 1 - x % 2;
    if (style == SAME) exponent = top / 2, fraction = (1u << fraction_bits) - 1, sign = 0;
    if ((style == SMALL && x % 16 < 4) || (style == FEW && x % 8)) exponent = fraction = 0;
    return sign << (exponent_bits + fraction_bits) | exponent << fraction_bits | fraction;
}

static const struct {
    ptx_type type;
    int exponent, fraction;
} kinds[] = {{PTX_f16, 5, 10}, {PTX_bf16, 8, 7}, {PTX_tf32, 8, 23}, {PTX_e4m3, 4, 3}, {PTX_e5m2, 5, 2},
             {PTX_s8, 0, 8},   {PTX_u8, 0, 8},   {PTX_s4, 0, 4},    {PTX_u4, 0, 4}};
enum { KINDS = sizeof kinds / sizeof *kinds, REALS = 5 };

typedef struct piece {
    uint32_t lanes[NUM_MOST_CHUNKS][LANES];
    num_step steps[NUM_MOST_STEPS];
    num_side side;
} piece;

static void fill(piece *p, int kind, int style)
{
    int bits = kinds[kind].exponent + kinds[kind].fraction + (kinds[kind].exponent > 0);
    for (int c = 0; c < NUM_MOST_CHUNKS; c++)
        for (int l = 0; l < LANES; l++) {
            p->lanes[c][l] = 0;
            for (int at = 0; at < 32; at += bits)
                p->lanes[c][l] |= (kind < REALS ? element(kinds[kind].exponent, kinds[kind].fraction, style)
                                                : any() & ((1u << bits) - 1))
                                  << at;
        }
    p->side.steps = p->steps;
}

static float value(ptx_type type, uint32_t bits)
{
    static const num_format formats[] = {[PTX_tf32] = NUM_F32,
                                         [PTX_f16] = NUM_F16,
                                         [PTX_bf16] = NUM_BF16,
                                         [PTX_e4m3] = NUM_E4M3,
                                         [PTX_e5m2] = NUM_E5M2};
    switch (type) {
    case PTX_s8: return (int8_t)bits;
    case PTX_s4: return (float)((int)((bits & 15) ^ 8) - 8);
    case PTX_u8:
    case PTX_u4: return (float)bits;
    default: break;
    }
    if (type == PTX_tf32) bits &= ~UINT32_C(0x1fff);
    return num_as_float((uint32_t)num_convert(NUM_F32, formats[type], bits, NUM_RN, 0));
}

/* Element k of row (column) `at`, in the order of num_side. */
static float value_at(const piece *p, ptx_type type, int chunks, bool negate, int at, int step)
{
    int bits = ptx_types[type].bits, h = step / 4 / chunks;
    uint32_t word = p->lanes[step / 4 % chunks][4 * at + step % 4];
    float v = value(type, bits == 32 ? word : word >> (h * bits) & ((1u << bits) - 1));
    return negate ? -v : v;
}

static bool same_float(float x, float y)
{
    return num_as_bits(x) == num_as_bits(y);
}

static bool floats_hold(const num_dot_lanes *lanes, int kind_a, int kind_b, int style,
                        const num_dot_rule *rule)
{
    static piece a, b;
    static float c[2][LANES], d[2][LANES];
    ptx_type type_a = kinds[kind_a].type, type_b = kinds[kind_b].type;
    int chunks = 1 + (int)(any() % 2), count = chunks * 128 / ptx_types[type_a].bits, first = 0;
    bool negate_a = any() % 4 == 0, negate_b = any() % 4 == 0;
    num_source source_a = num_source_of(type_a, chunks, negate_a),
               source_b = num_source_of(type_b, chunks, negate_b);
    fill(&a, kind_a, style);
    fill(&b, kind_b, any() % 2 ? style : (int)(any() % STYLES));
    int style_c = (int)(any() % STYLES);
    for (int i = 0; i < 2 * LANES; i++)
        c[i % 2][i / 2] =
            rule->half ? value(PTX_f16, element(5, 10, style_c)) : num_as_float(element(8, 23, style_c));
    lanes->rows(&source_a, (const uint32_t *[]){a.lanes[0], a.lanes[1]}, &a.side);
    lanes->columns(&source_b, (const uint32_t *[]){b.lanes[0], b.lanes[1]}, &b.side);
    if (any() % 4 == 0) first = count /= 2;
    lanes->floats(rule, first, count, &a.side, &b.side, (const float *[]){c[0], c[1]},
                  (float *[]){d[0], d[1]});
    for (int i = 0; i < PIECE; i++)
        for (int j = 0; j < PIECE; j++) {
            float x[NUM_MOST_STEPS], y[NUM_MOST_STEPS];
            int lane = 4 * i + j / 2;
            for (int l = 0; l < count; l++) {
                x[l] = value_at(&a, type_a, chunks, negate_a, i, first + l);
                y[l] = value_at(&b, type_b, chunks, negate_b, j, first + l);
            }
            float want = num_dot_element(rule, count, x, 1, source_a.floor, y, 1, source_b.floor,
                                         c[j % 2][lane]),
                  got = d[j % 2][lane];
            if (rule->half) /* what the narrowing makes of it */
                got = num_as_float(num_widen_half(num_narrow_half(num_as_bits(got))));
            if (!same_float(got, want) && !(rule->half && got != got && want != want)) {
                printf("# %s x %s, style %d, F %d, half %d: (%d, %d) is %a, not %a\n", ptx_types[type_a].name,
                       ptx_types[type_b].name, style, rule->fraction, rule->half, i, j, (double)got,
                       (double)want);
                return false;
            }
        }
    return true;
}

static void test_floats(void)
{
    static const int pairs[][2] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {3, 4}, {4, 3}, {4, 4}};
    for (int n = 0; num_dot_lanes_of(n); n++)
        for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
            for (int style = 0; style < STYLES; style++)
                for (int round = 0; round < 12; round++) {
                    bool small = p >= 3;
                    num_dot_rule rule = num_dot_rule_of(kinds[pairs[p][0]].type,
                                                        round % 3 || p == 1 ? PTX_f32 : PTX_f16, small);
                    if (!CHECK(floats_hold(num_dot_lanes_of(n), pairs[p][0], pairs[p][1], style, &rule)))
                        return;
                }
}

/* An operand of zeros alone has an exponent, too: it cuts off what is 2^25 times less. */
static void test_zeros(void)
{
    num_dot_rule rule = num_dot_rule_of(PTX_bf16, PTX_f32, true);
    for (int n = 0; num_dot_lanes_of(n); n++) {
        const num_dot_lanes *lanes = num_dot_lanes_of(n);
        static piece a, b;
        float c[2][LANES], d[2][LANES];
        num_source source = num_source_of(PTX_bf16, 2, false);
        memset(a.lanes, 0, sizeof a.lanes);
        for (int l = 0; l < LANES; l++) {
            b.lanes[0][l] = b.lanes[1][l] = 0x71007100; /* 2^99 */
            c[0][l] = -0x1p-40f;                        /* beside zeros of 2^-126 * 2^99 */
            c[1][l] = -0x1.000002p-29f;
        }
        a.side.steps = a.steps;
        b.side.steps = b.steps;
        lanes->rows(&source, (const uint32_t *[]){a.lanes[0], a.lanes[1]}, &a.side);
        lanes->columns(&source, (const uint32_t *[]){b.lanes[0], b.lanes[1]}, &b.side);
        lanes->floats(&rule, 0, 16, &a.side, &b.side, (const float *[]){c[0], c[1]}, (float *[]){d[0], d[1]});
        for (int l = 0; l < LANES; l++) {
            CHECK(same_float(d[0][l], -0x1p-40f));
            CHECK(same_float(d[1][l], -0x1.000002p-29f));
        }
        /* 2^127: the zeros' exponent is 1, and 2^-40 is below 2^-24: +0. */
        for (int l = 0; l < LANES; l++) b.lanes[0][l] = b.lanes[1][l] = 0x7f007f00;
        lanes->columns(&source, (const uint32_t *[]){b.lanes[0], b.lanes[1]}, &b.side);
        lanes->floats(&rule, 0, 16, &a.side, &b.side, (const float *[]){c[0], c[1]}, (float *[]){d[0], d[1]});
        for (int l = 0; l < LANES; l++) CHECK(same_float(d[0][l], 0));
        /* One row of zeros among others of 2^20, beside columns of 2^100: exponents of zeros are -26 there. */
        for (int l = 0; l < LANES; l++) {
            a.lanes[0][l] = a.lanes[1][l] = l < 4 ? 0 : 0x49804980;
            b.lanes[0][l] = b.lanes[1][l] = 0x71807180;
            c[0][l] = 0x1p-52f;
            c[1][l] = 0x1.8p-50f;
        }
        lanes->rows(&source, (const uint32_t *[]){a.lanes[0], a.lanes[1]}, &a.side);
        lanes->columns(&source, (const uint32_t *[]){b.lanes[0], b.lanes[1]}, &b.side);
        lanes->floats(&rule, 0, 16, &a.side, &b.side, (const float *[]){c[0], c[1]}, (float *[]){d[0], d[1]});
        for (int l = 0; l < LANES; l++) {
            CHECK(same_float(d[0][l], l < 4 ? 0 : 0x1p124f));
            CHECK(same_float(d[1][l], l < 4 ? 0x1.8p-50f : 0x1p124f));
        }
    }
}

static void test_integers(void)
{
    static piece a, b;
    int32_t c[2][LANES], d[2][LANES];
    for (int n = 0; num_dot_lanes_of(n); n++)
        for (int round = 0; round < 200; round++) {
            const num_dot_lanes *lanes = num_dot_lanes_of(n);
            int kind_a = REALS + (int)(any() % 2), kind_b = REALS + (int)(any() % 2), chunks = 1 + round % 2;
            if (round % 3 == 0) kind_a += 2, kind_b += 2;
            ptx_type type_a = kinds[kind_a].type, type_b = kinds[kind_b].type;
            int count = chunks * 128 / ptx_types[type_a].bits;
            bool satfinite = any() % 2;
            fill(&a, kind_a, 0);
            fill(&b, kind_b, 0);
            for (int i = 0; i < 2 * LANES; i++) {
                uint32_t x = any();
                c[i % 2][i / 2] = x % 4 == 0   ? INT32_MAX - (int)(x % 1000)
                                  : x % 4 == 1 ? INT32_MIN + (int)(x % 1000)
                                               : (int32_t)x;
            }
            num_source source_a = num_source_of(type_a, chunks, false),
                       source_b = num_source_of(type_b, chunks, false);
            lanes->rows(&source_a, (const uint32_t *[]){a.lanes[0], a.lanes[1]}, &a.side);
            lanes->columns(&source_b, (const uint32_t *[]){b.lanes[0], b.lanes[1]}, &b.side);
            lanes->integers(satfinite, count, &a.side, &b.side, (const int32_t *[]){c[0], c[1]},
                            (int32_t *[]){d[0], d[1]});
            for (int i = 0; i < PIECE; i++)
                for (int j = 0; j < PIECE; j++) {
                    int lane = 4 * i + j / 2;
                    int64_t want = c[j % 2][lane];
                    for (int l = 0; l < count; l++)
                        want += (int64_t)(value_at(&a, type_a, chunks, false, i, l) *
                                          value_at(&b, type_b, chunks, false, j, l));
                    if (satfinite) want = want > INT32_MAX ? INT32_MAX : want < INT32_MIN ? INT32_MIN : want;
                    if (!CHECK(d[j % 2][lane] == (int32_t)(uint32_t)want)) return;
                }
        }
}

static void test_halves(void)
{
    for (int n = 0; num_dot_lanes_of(n); n++)
        for (uint32_t at = 0; at < 65536; at += LANES) {
            uint32_t words[LANES], back[LANES];
            float wide[2][LANES];
            for (uint32_t l = 0; l < LANES; l++) words[l] = (at + l) << 16 | (65535 - at - l);
            num_dot_lanes_of(n)->widen(words, (float *[]){wide[0], wide[1]});
            num_dot_lanes_of(n)->narrow((const float *[]){wide[0], wide[1]}, back);
            for (int l = 0; l < LANES; l++)
                for (int p = 0; p < 2; p++) {
                    uint32_t half = words[l] >> (16 * p) & 0xffff, want = num_widen_half(half);
                    bool nan = (half & 0x7fff) > 0x7c00;
                    if (!CHECK(nan ? wide[p][l] != wide[p][l] : num_as_bits(wide[p][l]) == want)) return;
                    if (!CHECK((back[l] >> (16 * p) & 0xffff) == (nan ? 0x7fff : half))) return;
                }
            for (int l = 0; l < LANES; l++) /* any f32 */
                for (int p = 0; p < 2; p++) wide[p][l] = num_as_float((any() & 0x8fffffff) | 0x30000000);
            num_dot_lanes_of(n)->narrow((const float *[]){wide[0], wide[1]}, back);
            for (int l = 0; l < LANES; l++)
                for (int p = 0; p < 2; p++)
                    if (!CHECK((back[l] >> (16 * p) & 0xffff) == num_narrow_half(num_as_bits(wide[p][l]))))
                        return;
        }
}

static void test_transposition(void)
{
    uint16_t in[PIECE][PIECE], out[PIECE][PIECE];
    const void *rows[PIECE];
    for (int i = 0; i < PIECE; i++) {
        rows[i] = in[i];
        for (int j = 0; j < PIECE; j++) in[i][j] = (uint16_t)(100 * i + j);
    }
    for (int n = 0; num_dot_lanes_of(n); n++) {
        uint32_t lanes[LANES];
        num_dot_lanes_of(n)->transpose(rows, lanes);
        memcpy(out, lanes, sizeof out);
        for (int i = 0; i < PIECE; i++)
            for (int j = 0; j < PIECE; j++) CHECK_INT(out[i][j], in[j][i]);
    }
}

int main(void)
{
    TEST("sums of floats are those of one element, with every set of vectors", test_floats);
    TEST("zeros cut off accumulators that are small beside them", test_zeros);
    TEST("sums of integers wrap or saturate", test_integers);
    TEST("halves are widened and narrowed as one by one", test_halves);
    TEST("8 x 8 elements of 16 bits are transposed", test_transposition);
    return test_finish();
}
