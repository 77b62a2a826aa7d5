/* mma.sync and wmma: the table of instructions, and D = A * B + C over a warp. */
#include <math.h>
#include <string.h>

#include "lib/numeric/dot.h"
#include "lib/numeric/fragment.h"
#include "lib/numeric/number.h"

/* ---- the instructions ---- */

/* Sets of types. */
#define S(type) (UINT64_C(1) << PTX_##type)
#define F8      (S(e4m3) | S(e5m2))
#define I8      (S(s8) | S(u8))
#define I4      (S(s4) | S(u4))
enum {
    MIXED = 1,    /* A and B may differ in type */
    WIDENING = 2, /* C f16 and D f32 */
    NARROWING = 4 /* C f32 and D f16 */
};

/* One row a shape and group of types: PTX ISA 8.5, tables of 9.7.14.2 (wmma) and 9.7.14.5 (mma). */
static const struct row {
    bool wmma;
    int16_t m, n, k;
    uint64_t inputs, accumulators;
    uint8_t rules;
} rows[] = {
    {false, 8, 8, 4, S(f16), S(f16) | S(f32), WIDENING},
    {false, 16, 8, 8, S(f16), S(f16) | S(f32), 0},
    {false, 16, 8, 16, S(f16), S(f16) | S(f32), 0},
    {false, 16, 8, 8, S(bf16), S(f32), 0},
    {false, 16, 8, 16, S(bf16), S(f32), 0},
    {false, 16, 8, 4, S(tf32), S(f32), 0},
    {false, 16, 8, 8, S(tf32), S(f32), 0},
    {false, 16, 8, 32, F8, S(f32), MIXED},
    {false, 8, 8, 4, S(f64), S(f64), 0},
    {false, 16, 8, 4, S(f64), S(f64), 0},
    {false, 16, 8, 8, S(f64), S(f64), 0},
    {false, 16, 8, 16, S(f64), S(f64), 0},
    {false, 8, 8, 16, I8, S(s32), MIXED},
    {false, 16, 8, 16, I8, S(s32), MIXED},
    {false, 16, 8, 32, I8, S(s32), MIXED},
    {false, 8, 8, 32, I4, S(s32), MIXED},
    {false, 16, 8, 32, I4, S(s32), MIXED},
    {false, 16, 8, 64, I4, S(s32), MIXED},
    {false, 8, 8, 128, S(b1), S(s32), 0},
    {false, 16, 8, 128, S(b1), S(s32), 0},
    {false, 16, 8, 256, S(b1), S(s32), 0},
    {true, 16, 16, 16, S(f16), S(f16) | S(f32), WIDENING | NARROWING},
    {true, 8, 32, 16, S(f16), S(f16) | S(f32), WIDENING | NARROWING},
    {true, 32, 8, 16, S(f16), S(f16) | S(f32), WIDENING | NARROWING},
    {true, 16, 16, 16, S(bf16), S(f32), 0},
    {true, 8, 32, 16, S(bf16), S(f32), 0},
    {true, 32, 8, 16, S(bf16), S(f32), 0},
    {true, 16, 16, 8, S(tf32), S(f32), 0},
    {true, 8, 8, 4, S(f64), S(f64), 0},
    {true, 16, 16, 16, I8, S(s32), 0},
    {true, 8, 32, 16, I8, S(s32), 0},
    {true, 32, 8, 16, I8, S(s32), 0},
    {true, 8, 8, 32, I4, S(s32), 0},
    {true, 8, 8, 128, S(b1), S(s32), 0},
};
enum { ROWS = sizeof rows / sizeof *rows };

static bool row_has(const struct row *r, ptx_type a, ptx_type b, ptx_type c, ptx_type d, num_mma_op op)
{
    if (!(r->inputs >> a & 1) || !(r->inputs >> b & 1) || (a != b && !(r->rules & MIXED))) return false;
    if (!(r->accumulators >> c & 1) || !(r->accumulators >> d & 1)) return false;
    if (c != d && !(r->rules & (c == PTX_f16 ? WIDENING : NARROWING))) return false;
    return (op != NUM_MUL_ADD) == (a == PTX_b1);
}

/* f16 operands of wmma come in eight registers whatever the shape. */
static int fragment_registers(bool wmma, num_operand operand, int m, int n, int k, ptx_type type)
{
    if (wmma && operand != NUM_C && type == PTX_f16) return 8;
    return num_fragment_registers(num_fragment_elements(operand, m, n, k), type);
}

bool num_mma_find(bool wmma, int m, int n, int k, ptx_type a, ptx_type b, ptx_type c, ptx_type d,
                  num_mma_op op, num_mma *out)
{
    if (a >= PTX_TYPES || b >= PTX_TYPES || c >= PTX_TYPES || d >= PTX_TYPES) return false;
    for (const struct row *r = rows; r < rows + ROWS; r++) {
        if (r->wmma != wmma || r->m != m || r->n != n || r->k != k || !row_has(r, a, b, c, d, op)) continue;
        *out = (num_mma){.m = r->m, .n = r->n, .k = r->k, .wmma = wmma, .op = (uint8_t)op};
        const ptx_type types[4] = {a, b, c, d};
        uint8_t *fields[4] = {&out->a, &out->b, &out->c, &out->d};
        for (int i = 0; i < 4; i++) {
            *fields[i] = (uint8_t)types[i];
            num_operand operand = i < 2 ? (num_operand)i : NUM_C;
            out->registers[i] = (uint8_t)fragment_registers(wmma, operand, m, n, k, types[i]);
        }
        if (num_is_quad(out)) /* four products a warp */
            for (int i = 0; i < 4; i++) out->registers[i] = i < 2 ? 2 : types[i] == PTX_f16 ? 4 : 8;
        return true;
    }
    return false;
}

int num_wmma_registers(num_operand operand, int m, int n, int k, ptx_type type)
{
    for (const struct row *r = rows; r < rows + ROWS; r++) {
        if (!r->wmma || r->m != m || r->n != n || r->k != k) continue;
        if ((operand == NUM_C ? r->accumulators : r->inputs) >> type & 1)
            return fragment_registers(true, operand, m, n, k, type);
    }
    return 0;
}

/* ---- multiplication ---- */

enum { MOST_M = 32, MOST_N = 32, MOST_K = 64, LANES = 32 };

typedef struct gather {
    const num_mma *mma;
    const num_mma_options *options;
} gather;

/* Where a register of a fragment that is not of m8n8k4 begins in its matrix, and how far lanes are apart
 * there: lane 4 * g + t is at first + g * down + t * across; its elements are `step` apart. */
typedef struct steps {
    int first, down, across, step;
} steps;

static steps steps_of(const gather *g, num_operand operand, ptx_type type, int reg, int stride)
{
    num_place p = num_fragment_place(g->mma, operand, type, g->options, 0, reg, 0);
    int first = p.row * stride + p.column, per = ptx_types[type].bits >= 32 ? 1 : 32 / ptx_types[type].bits;
    if (operand == NUM_A) return (steps){first, stride, per, 1};
    if (operand == NUM_B) return (steps){first, 1, per * stride, stride};
    return (steps){first, stride, 2, 1};
}

static void collect_register(const steps *s, int bits, const void *lanes, uint64_t *at)
{
    int per = bits >= 32 ? 1 : 32 / bits;
    uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    for (int lane = 0; lane < LANES; lane++) {
        uint64_t word = bits == 64 ? ((const uint64_t *)lanes)[lane] : ((const uint32_t *)lanes)[lane];
        uint64_t *to = at + s->first + (lane >> 2) * s->down + (lane & 3) * s->across;
        for (int i = 0; i < per; i++, word >>= bits & 63) to[i * s->step] = word & mask;
    }
}

/* Writes the elements of a fragment's matrix (of product `part`) to `at`, as bits, rows `stride` apart. */
static void collect(const gather *g, num_operand operand, ptx_type type, const void *const *registers,
                    uint64_t *at, int stride, int part)
{
    int bits = ptx_types[type].bits, per = bits >= 32 ? 1 : 32 / bits;
    bool quad = num_is_quad(g->mma);
    int count =
        quad ? (operand == NUM_C ? g->mma->registers[2] : 2)
             : num_fragment_registers(num_fragment_elements(operand, g->mma->m, g->mma->n, g->mma->k), type);
    for (int r = 0; r < count && !quad; r++) {
        steps s = steps_of(g, operand, type, r, stride);
        collect_register(&s, bits, registers[r], at);
    }
    for (int r = 0; r < count && quad; r++)
        for (int lane = 0; lane < LANES; lane++) {
            if (lane % 16 / 4 != part) continue;
            uint32_t word = ((const uint32_t *)registers[r])[lane];
            for (int i = 0; i < per; i++, word >>= 16) {
                num_place p = num_fragment_place(g->mma, operand, type, g->options, lane, r, i);
                at[p.row * stride + p.column] = per == 1 ? word : word & 0xffff;
            }
        }
}

/* Writes D: `bits` of the result at each place. */
static void scatter(const gather *g, void *const *registers, const uint64_t *result, int stride, int part)
{
    ptx_type type = (ptx_type)g->mma->d;
    int bits = ptx_types[type].bits;
    bool quad = num_is_quad(g->mma);
    for (int r = 0; r < g->mma->registers[3]; r++) {
        steps s = steps_of(g, NUM_C, type, r, stride);
        for (int lane = 0; lane < LANES; lane++) {
            num_place p =
                quad ? num_fragment_place(g->mma, NUM_C, type, g->options, lane, r, 0) : (num_place){0};
            if (p.part != part) continue;
            const uint64_t *from = result + (quad ? p.row * stride + p.column
                                                  : s.first + (lane >> 2) * s.down + (lane & 3) * s.across);
            if (bits == 64)
                ((uint64_t *)registers[r])[lane] = from[0];
            else
                ((uint32_t *)registers[r])[lane] =
                    (uint32_t)(bits == 16 ? (from[0] & 0xffff) | from[1] << 16 : from[0]);
        }
    }
}

static float as_float(uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float f;
    memcpy(&f, &word, sizeof f);
    return f;
}

static uint64_t from_float(float f)
{
    uint32_t word;
    memcpy(&word, &f, sizeof word);
    return f != f ? 0x7fffffff : word;
}

/* The matrices of one product, as bits. Columns of B and C that complete a vector are zeros. */
typedef struct matrices {
    uint64_t a[MOST_M * MOST_K], b[MOST_K * MOST_N], c[MOST_M * MOST_N];
    int padded; /* n, or 16 where it is 8 */
} matrices;

static void clear_padding(uint64_t *matrix, int count, int n, int padded)
{
    if (n == padded) return;
    for (int i = 0; i < count; i++) memset(matrix + i * MOST_N + n, 0, (size_t)(padded - n) * sizeof *matrix);
}

/* c += the products of the `k` columns of A and rows of B that `order` lists. */
static void float_tiles(const num_mma *mma, num_dot_rule rule, const matrices *x, const int *order, int k,
                        float *c)
{
    float av[MOST_M * 16], bv[16 * MOST_N];
    int16_t ae[MOST_M * 16], be[16 * MOST_N];
    num_tile a = {.values = av, .exponents = ae, .stride = 16},
             b = {.values = bv, .exponents = be, .stride = MOST_N};
    bool small = mma->a == PTX_e4m3 || mma->a == PTX_e5m2;
    num_tile_reset(&a);
    num_tile_reset(&b);
    for (int side = 0; side < 2; side++) {
        ptx_type type = (ptx_type)(side ? mma->b : mma->a);
        num_format format = type == PTX_e4m3 ? NUM_E4M3 : NUM_E5M2;
        int outer = side ? k : mma->m, inner = side ? x->padded : k;
        for (int i = 0; i < outer; i++) {
            uint32_t bits[MOST_N];
            for (int j = 0; j < inner; j++) {
                uint64_t v = side ? x->b[order[i] * MOST_N + j] : x->a[i * MOST_K + order[j]];
                bits[j] = (uint32_t)(small ? num_convert(NUM_F16, format, v, NUM_RN, 0) : v);
            }
            num_tile_set(side ? &b : &a, small ? PTX_f16 : type, i, 0, inner, bits);
        }
    }
    num_dot_float(&rule, mma->m, mma->n, k, &a, &b, c, MOST_N);
}

static void quad_product(const num_mma *mma, const matrices *x, float *c)
{
    for (int i = 0; i < mma->m; i++)
        for (int j = 0; j < mma->n; j++) {
            float sum = 0;
            for (int l = 0; l < mma->k; l++)
                sum = fmaf(num_half_to_float((uint32_t)x->a[i * MOST_K + l]),
                           num_half_to_float((uint32_t)x->b[l * MOST_N + j]), sum);
            c[i * MOST_N + j] += sum;
        }
}

static void float_product(const num_mma *mma, matrices *x)
{
    /* Columns in the order of k, and those with k % 4 < 2 before the others. */
    static const int order[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    static const int halves[32] = {0, 1, 4, 5, 8,  9,  12, 13, 16, 17, 20, 21, 24, 25, 28, 29,
                                   2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31};
    float c[MOST_M * MOST_N], d[MOST_M * MOST_N];
    for (int i = 0; i < mma->m; i++)
        for (int j = 0; j < x->padded; j++) {
            uint64_t bits = x->c[i * MOST_N + j];
            c[i * MOST_N + j] = mma->c == PTX_f16 ? num_half_to_float((uint32_t)bits) : as_float(bits);
        }
    num_dot_rule rule = num_dot_rule_of((ptx_type)mma->a, (ptx_type)mma->d, false);
    if (mma->a == PTX_e4m3 || mma->a == PTX_e5m2) {
        memset(d, 0, sizeof d);
        float_tiles(mma, rule, x, halves, 16, d);
        float_tiles(mma, rule, x, halves + 16, 16, d);
        for (int i = 0; i < mma->m; i++)
            for (int j = 0; j < mma->n; j++) c[i * MOST_N + j] += d[i * MOST_N + j];
    } else if (num_is_quad(mma)) {
        quad_product(mma, x, c);
    } else {
        if (mma->c == PTX_f32) rule.half = false;                /* wmma: the sum is f32, D its rounding */
        int step = mma->wmma && mma->a == PTX_tf32 ? 4 : mma->k; /* it becomes HMMA.1684, twice */
        for (int k = 0; k < mma->k; k += step) float_tiles(mma, rule, x, order + k, step, c);
    }
    for (int i = 0; i < mma->m; i++)
        for (int j = 0; j < mma->n; j++) {
            float f = c[i * MOST_N + j];
            x->c[i * MOST_N + j] = mma->d == PTX_f16 ? num_float_to_half(f) : from_float(f);
        }
}

static void double_product(const num_mma *mma, matrices *x)
{
    for (int i = 0; i < mma->m; i++)
        for (int j = 0; j < mma->n; j++) {
            uint64_t sum = x->c[i * MOST_N + j];
            for (int l = 0; l < mma->k; l++) {
                double v[3], r;
                uint64_t bits[3] = {x->a[i * MOST_K + l], x->b[l * MOST_N + j], sum};
                memcpy(v, bits, sizeof v);
                r = fma(v[0], v[1], v[2]);
                if (r != r)
                    sum = num_arithmetic(NUM_FMA, NUM_F64, bits[0], bits[1], bits[2], NUM_RN, 0);
                else
                    memcpy(&sum, &r, sizeof sum);
            }
            x->c[i * MOST_N + j] = sum;
        }
}

static int16_t small_integer(uint64_t bits, ptx_type type)
{
    int width = ptx_types[type].bits;
    int64_t top = (int64_t)(bits << (64 - width));
    return (int16_t)(ptx_types[type].kind == PTX_SIGNED ? top >> (64 - width)
                                                        : (int64_t)((uint64_t)top >> (64 - width)));
}

static void integer_product(const num_mma *mma, bool satfinite, matrices *x)
{
    int16_t a[MOST_M * MOST_K], b[MOST_K * MOST_N];
    int32_t c[MOST_M * MOST_N];
    for (int i = 0; i < mma->m; i++)
        for (int l = 0; l < mma->k; l++)
            a[i * MOST_K + l] = small_integer(x->a[i * MOST_K + l], (ptx_type)mma->a);
    for (int l = 0; l < mma->k; l++)
        for (int j = 0; j < x->padded; j++)
            b[l * MOST_N + j] = small_integer(x->b[l * MOST_N + j], (ptx_type)mma->b);
    for (int i = 0; i < mma->m; i++)
        for (int j = 0; j < x->padded; j++) c[i * MOST_N + j] = (int32_t)(uint32_t)x->c[i * MOST_N + j];
    num_dot_integer(satfinite, mma->m, mma->n, mma->k, a, MOST_K, b, MOST_N, c, MOST_N);
    for (int i = 0; i < mma->m; i++)
        for (int j = 0; j < mma->n; j++) x->c[i * MOST_N + j] = (uint32_t)c[i * MOST_N + j];
}

/* Single bits: a register holds 32 neighbours of k, of one row of A or one column of B. */
static void bit_product(const num_mma *mma, void *const *d, const void *const *a, const void *const *b,
                        const void *const *c)
{
    uint32_t x[16][8], y[8][8], z[16][8];
    const gather g = {mma, NULL};
    for (int lane = 0; lane < LANES; lane++) {
        for (int r = 0; r < mma->registers[0]; r++) {
            num_place at = num_fragment_place(mma, NUM_A, PTX_b1, NULL, lane, r, 0);
            x[at.row][at.column / 32] = ((const uint32_t *)a[r])[lane];
        }
        for (int r = 0; r < mma->registers[1]; r++) {
            num_place at = num_fragment_place(mma, NUM_B, PTX_b1, NULL, lane, r, 0);
            y[at.column][at.row / 32] = ((const uint32_t *)b[r])[lane];
        }
        for (int r = 0; r < mma->registers[2]; r++) {
            num_place at = num_fragment_place(mma, NUM_C, PTX_s32, NULL, lane, r, 0);
            z[at.row][at.column] = ((const uint32_t *)c[r])[lane];
        }
    }
    uint64_t result[16 * 8];
    for (int i = 0; i < mma->m; i++)
        for (int j = 0; j < mma->n; j++) {
            uint32_t sum = z[i][j];
            for (int l = 0; l < mma->k / 32; l++) {
                uint32_t word = mma->op == NUM_XOR_POPC ? x[i][l] ^ y[j][l] : x[i][l] & y[j][l];
                sum += (uint32_t)__builtin_popcount(word);
            }
            result[i * 8 + j] = sum;
        }
    scatter(&g, d, result, 8, 0);
}

void num_mma_run(const num_mma *mma, const num_mma_options *options, void *const *d, const void *const *a,
                 const void *const *b, const void *const *c)
{
    if (mma->a == PTX_b1) {
        bit_product(mma, d, a, b, c);
        return;
    }
    const gather g = {mma, options};
    int parts = num_is_quad(mma) ? 4 : 1;
    matrices x[4];
    for (int part = 0; part < parts; part++) {
        matrices *y = &x[part];
        y->padded = mma->n < NUM_DOT_COLUMNS ? NUM_DOT_COLUMNS : mma->n;
        clear_padding(y->b, mma->k, mma->n, y->padded);
        clear_padding(y->c, mma->m, mma->n, y->padded);
        collect(&g, NUM_A, (ptx_type)mma->a, a, y->a, MOST_K, part);
        collect(&g, NUM_B, (ptx_type)mma->b, b, y->b, MOST_N, part);
        collect(&g, NUM_C, (ptx_type)mma->c, c, y->c, MOST_N, part);
        if (mma->a == PTX_f64)
            double_product(mma, y);
        else if (mma->d == PTX_s32)
            integer_product(mma, options && options->satfinite, y);
        else
            float_product(mma, y);
    }
    for (int part = 0; part < parts; part++) scatter(&g, d, x[part].c, MOST_N, part);
}

/* ---- wmma.load and wmma.store ---- */

/* Moves one register of one lane: in one piece where its elements are neighbours in memory. */
static bool move_word(num_operand operand, int m, int k, ptx_type type, bool col_major, int64_t stride,
                      int lane, int reg, uint64_t *word, bool load, num_wmma_move move, void *context)
{
    int bits = ptx_types[type].bits, per = bits >= 32 ? 1 : 32 / bits;
    bool together = per == 1 || col_major == (operand == NUM_B);
    int pieces = together ? 1 : per, size = bits == 64 ? 8 : together ? 4 : bits / 8;
    for (int i = 0; i < pieces; i++) {
        num_place at = num_shape_place(operand, m, k, type, lane, reg, i);
        int64_t index = col_major ? at.column * stride + at.row : at.row * stride + at.column;
        uint8_t bytes[8];
        memcpy(bytes, (const uint8_t *)word + i * size, (size_t)size);
        if (!move(context, lane, index * bits / 8, size, bytes)) return false;
        if (load) memcpy((uint8_t *)word + i * size, bytes, (size_t)size);
    }
    return true;
}

static uint64_t lane_word(ptx_type type, const void *lanes, int lane)
{
    return type == PTX_f64 ? ((const uint64_t *)lanes)[lane] : ((const uint32_t *)lanes)[lane];
}

bool num_wmma_load(num_operand operand, int m, int n, int k, ptx_type type, bool col_major, int64_t stride,
                   void *const *registers, num_wmma_move move, void *context)
{
    int count = num_wmma_registers(operand, m, n, k, type);
    int needed = num_fragment_registers(num_fragment_elements(operand, m, n, k), type);
    for (int r = 0; r < needed; r++)
        for (int lane = 0; lane < LANES; lane++) {
            uint64_t word = 0;
            if (!move_word(operand, m, k, type, col_major, stride, lane, r, &word, true, move, context))
                return false;
            for (int copy = r; copy < count; copy += needed) {
                if (type == PTX_f64)
                    ((uint64_t *)registers[copy])[lane] = word;
                else
                    ((uint32_t *)registers[copy])[lane] = (uint32_t)word;
            }
        }
    return true;
}

bool num_wmma_store(int m, int n, int k, ptx_type type, bool col_major, int64_t stride,
                    const void *const *registers, num_wmma_move move, void *context)
{
    int count = num_wmma_registers(NUM_C, m, n, k, type);
    for (int r = 0; r < count; r++)
        for (int lane = 0; lane < LANES; lane++) {
            uint64_t word = lane_word(type, registers[r], lane);
            if (!move_word(NUM_C, m, k, type, col_major, stride, lane, r, &word, false, move, context))
                return false;
        }
    return true;
}
