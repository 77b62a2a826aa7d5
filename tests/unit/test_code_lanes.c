/* Lanes' values against brute force: random expressions over the lane's index and numbers that are not known but common are
 * computed both ways; for each choice of those numbers the lanes' values must be among those that the form allows. */
#include "lib/code/lanes.h"
#include "tests/unit/test.h"

enum { STEPS = 14, CHOICES = 12, EXPRESSIONS = 60000 };

typedef struct expression {
    lane_values form;
    uint64_t values[CHOICES][LANES];
} expression;

static uint64_t state = 7;

static uint64_t some(uint64_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % below;
}

/* Is there an x within the mask and a y, so that each lane has at ^ x + y * 2^free? */
static bool allowed(const lane_values *v, const uint64_t got[LANES])
{
    uint64_t ones = lanes_ones(v->bits), x = 0;
    if (v->varies) return true;
    for (;;) {
        uint64_t added = (got[0] - (v->at[0] ^ x)) & ones;
        bool fits = !(added & lanes_ones(v->free));
        for (int l = 1; fits && l < LANES; l++) fits = ((got[l] - (v->at[l] ^ x)) & ones) == added;
        if (fits) return true;
        if (x == v->mask) return false;
        x = (x - v->mask) & v->mask; /* the next part of the mask */
    }
}

static void and_bits(void *context, const uint64_t *const in[3], uint64_t out[LANES])
{
    (void)context;
    for (int l = 0; l < LANES; l++) out[l] = in[0][l] & in[1][l];
}
static void or_bits(void *context, const uint64_t *const in[3], uint64_t out[LANES])
{
    (void)context;
    for (int l = 0; l < LANES; l++) out[l] = in[0][l] | in[1][l];
}
static void xor_bits(void *context, const uint64_t *const in[3], uint64_t out[LANES])
{
    (void)context;
    for (int l = 0; l < LANES; l++) out[l] = in[0][l] ^ in[1][l];
}

/* Values of 32 bits that do not wrap: indices. */
enum { BITS = 32, SMALL = 10 };

static expression leaf(void)
{
    expression e;
    uint64_t kind = some(4), c = some(64), free = some(8);
    for (int k = 0; k < CHOICES; k++) {
        uint64_t u = some(1u << SMALL) << free;
        for (uint64_t l = 0; l < LANES; l++)
            e.values[k][l] = kind == 0 ? l : kind == 1 ? c : kind == 2 ? u : u & 0xf0;
    }
    if (kind == 0) {
        e.form = lanes_constant(BITS, 0);
        for (uint64_t l = 0; l < LANES; l++) e.form.at[l] = l;
    } else {
        e.form = kind == 1 ? lanes_constant(BITS, c) : lanes_same(BITS, (uint32_t)free, "u");
        if (kind == 3)
            e.form =
                lanes_bitwise(and_bits, NULL, (lane_values[]){e.form, lanes_constant(BITS, 0xf0)}, 2, BITS);
    }
    return e;
}

static uint64_t reversed(uint64_t x)
{
    uint64_t r = 0;
    for (int n = 0; n < BITS; n++) r |= (x >> n & 1) << (BITS - 1 - n);
    return r;
}

/* One operation on two of them. */
static expression combine(const expression *a, const expression *b)
{
    expression e = *a;
    uint64_t kind = some(10), by = some(6), factor = some(5);
    const lane_values both[2] = {a->form, b->form};
    lane_values number = lanes_constant(BITS, factor);
    switch (kind) {
    case 0: e.form = lanes_add(a->form, b->form); break;
    case 1: e.form = lanes_shl(a->form, (uint32_t)by); break;
    case 2: e.form = lanes_shr(a->form, (uint32_t)by, false); break;
    case 3: e.form = lanes_bitwise(and_bits, NULL, both, 2, BITS); break;
    case 4: e.form = lanes_bitwise(or_bits, NULL, both, 2, BITS); break;
    case 5: e.form = lanes_bitwise(xor_bits, NULL, both, 2, BITS); break;
    case 6: e.form = lanes_mul(a->form, number); break;
    case 7: e.form = lanes_mul(a->form, b->form); break;
    case 8: e.form = lanes_reverse(a->form); break;
    default: e.form = lanes_either(a->form, b->form); break;
    }
    for (int k = 0; k < CHOICES; k++) {
        bool first = some(2);
        for (int l = 0; l < LANES; l++) {
            uint64_t x = a->values[k][l], y = b->values[k][l];
            uint64_t z = kind == 0   ? x + y
                         : kind == 1 ? x << by
                         : kind == 2 ? x >> by
                         : kind == 3 ? (x & y)
                         : kind == 4 ? (x | y)
                         : kind == 5 ? (x ^ y)
                         : kind == 6 ? x * factor
                         : kind == 7 ? x * y
                         : kind == 8 ? reversed(x)
                         : first     ? x
                                     : y;
            e.values[k][l] = z;
        }
    }
    return e;
}

static bool small(const expression *e)
{
    for (int k = 0; k < CHOICES; k++)
        for (int l = 0; l < LANES; l++)
            if (e->values[k][l] >> 30) return false;
    return true;
}

static void test_expressions(void)
{
    int known = 0, sound = 0, all = 0;
    for (int n = 0; n < EXPRESSIONS / STEPS; n++) {
        expression list[STEPS + 3];
        int count = 3;
        for (int k = 0; k < 3; k++) list[k] = leaf();
        for (int s = 0; s < STEPS; s++) {
            expression e = combine(&list[some((uint64_t)count)], &list[some((uint64_t)count)]);
            if (!small(&e)) continue;
            list[count++] = e;
            all++;
            known += !e.form.varies;
            /* What has too many possible values is left to others. */
            if (__builtin_popcountll(e.form.mask) > 12) {
                sound++;
                continue;
            }
            bool fits = true;
            for (int k = 0; k < CHOICES; k++) fits &= allowed(&e.form, e.values[k]);
            sound += fits;
        }
    }
    CHECK_INT(sound, all);
    /* It would be sound to know nothing. */
    CHECK(known > all / 2);
}

static lane_values lane(void)
{
    lane_values v = lanes_constant(32, 0);
    for (uint64_t l = 0; l < LANES; l++) v.at[l] = l;
    return v;
}

static void test_swizzle(void)
{
    /* x ^ (x >> 3 & 0x70) of a row of 128 bytes a lane, at a stage of 4096 bytes that is not known. */
    lane_values x = lanes_add(lanes_shl(lane(), 7), lanes_same(32, 12, "the stage"));
    lane_values part = lanes_bitwise(
        and_bits, NULL, (lane_values[]){lanes_shr(x, 3, false), lanes_constant(32, 0x70)}, 2, 32);
    lane_values y = lanes_bitwise(xor_bits, NULL, (lane_values[]){x, part}, 2, 32);
    CHECK(!y.varies);
    CHECK(y.mask == 0xfffff000);
    for (uint64_t l = 0; l < LANES; l++) CHECK(y.at[l] == ((l << 7) ^ (l % 8 << 4)));
}

static void test_compare(void)
{
    uint32_t out;
    lane_values i = lanes_add(lane(), lanes_same(32, 7, "the round")), n = lanes_same(32, 0, "n");
    /* All of 32 lanes are in front of a multiple of 128, or none. */
    CHECK_INT(lanes_compare(i, lanes_constant(32, 256), LANES_LESS, &out), 1);
    CHECK_INT(lanes_compare(i, lanes_constant(32, 250), LANES_LESS, &out), -1);
    CHECK_INT(lanes_compare(i, n, LANES_LESS, &out), -1);
    CHECK_INT(lanes_compare(n, lanes_constant(32, 3), LANES_LESS, &out), 1);
    CHECK_INT(lanes_compare(lanes_shl(n, 1), lanes_constant(32, 3), LANES_EQUAL, &out), 0);
    CHECK_INT(out, 0);
}

int main(void)
{
    TEST("what is told of lanes holds for whatever is not known", test_expressions);
    TEST("a swizzle goes through a base that is not known", test_swizzle);
    TEST("comparisons that all lanes answer alike are told from others", test_compare);
    return test_finish();
}
