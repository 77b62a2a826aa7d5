/* mma.sync and wmma: the table of instructions, and D = A * B + C over a warp. */
#include <math.h>
#include <string.h>

#include "lib/numeric/dot.h"
#include "lib/numeric/fragment.h"
#include "lib/numeric/number.h"
#include "lib/numeric/number_quick.h"

/* ---- table of instructions ---- */

/* Sets of types. */
#define S(type) (UINT64_C(1) << PTX_##type)
#define F8      (S(e4m3) | S(e5m2))
#define I8      (S(s8) | S(u8))
#define I4      (S(s4) | S(u4))
enum {
    MIXED = 1,    /* A and B may have different types */
    WIDENING = 2, /* C f16 and D f32 */
    NARROWING = 4 /* C f32 and D f16 */
};

/* One row per shape and group of types: PTX ISA 8.5, tables of 9.7.14.2 (wmma) and 9.7.14.5 (mma). */
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

/* f16 operands of wmma have eight registers for any shape. */
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
        if (num_is_quad(out)) /* four products per warp */
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

enum { MOST_TILES = 4, LANES = NUM_LANES }; /* of 8 rows, of 8 x 8 */

/* 32 lanes of each register of an operand's fragment. */
typedef const void *const *fragment;

/* Index of the register of an 8 x 8 piece of C and D, which has two registers, or one for f16. */
static int register_of(ptx_type type, int piece)
{
    return type == PTX_f16 ? piece : 2 * piece;
}

static void load_piece(const num_dot_lanes *lanes, ptx_type type, fragment c, int piece, float out[2][LANES])
{
    int r = register_of(type, piece);
    if (type == PTX_f16) {
        lanes->widen(c[r], (float *[]){out[0], out[1]});
        return;
    }
    memcpy(out[0], c[r], sizeof out[0]);
    memcpy(out[1], c[r + 1], sizeof out[1]);
}

static void store_piece(const num_dot_lanes *lanes, ptx_type type, void *const *d, int piece,
                        float in[2][LANES])
{
    int r = register_of(type, piece);
    if (type == PTX_f16) {
        lanes->narrow((const float *[]){in[0], in[1]}, d[r]);
        return;
    }
    memcpy(d[r], in[0], sizeof in[0]);
    memcpy(d[r + 1], in[1], sizeof in[1]);
}

/* sm_90 has no mma of 8-bit floats: they are converted to f16, and the sum of products is added to C. */
static bool is_small(const num_mma *mma)
{
    return mma->a == PTX_e4m3 || mma->a == PTX_e5m2;
}

static void add_halves(const num_dot_lanes *lanes, const num_dot_rule *rule, const num_side *a,
                       const num_side *b, float c[2][LANES])
{
    static const float zeros[LANES];
    float sums[2][LANES];
    float *const at[2] = {sums[0], sums[1]};
    lanes->floats(rule, 0, 16, a, b, (const float *const[]){zeros, zeros}, at);
    lanes->floats(rule, 16, 16, a, b, (const float *const *)at, at);
    lanes->add((const float *const *)at, (float *const[]){c[0], c[1]});
}

/* All products except those below. D may share registers with any operand: it is written last. */
static void tile_product(const num_mma *mma, bool satfinite, void *const *d, fragment a, fragment b,
                         fragment c)
{
    const num_dot_lanes *lanes = num_dot_lanes_of(0);
    bool integer = mma->d == PTX_s32, small = is_small(mma);
    int tiles = mma->m / NUM_PIECE, columns = mma->n / NUM_PIECE, k = mma->k;
    int chunks = k * ptx_types[mma->a].bits / 128;
    num_step steps_a[2 * NUM_MOST_STEPS], steps_b[NUM_MOST_STEPS];
    float sums[MOST_TILES][2][LANES];
    num_side sides[MOST_TILES], column = {.steps = steps_b};
    num_source source_a = num_source_of((ptx_type)mma->a, chunks, false),
               source_b = num_source_of((ptx_type)mma->b, chunks, false);
    if (small) source_a.floor = source_b.floor = num_source_of(PTX_f16, 0, false).floor;
    num_dot_rule rule = num_dot_rule_of((ptx_type)mma->a, (ptx_type)mma->d, false);
    if (mma->c == PTX_f32) rule.half = false;           /* wmma: the sum is f32 and rounded to D */
    int step = mma->wmma && mma->a == PTX_tf32 ? 4 : k; /* executed as HMMA.1684, twice */
    for (int i = 0; i < tiles; i++) {
        const uint32_t *from[NUM_MOST_CHUNKS];
        for (int n = 0; n < chunks; n++) from[n] = a[i + tiles * n];
        sides[i].steps = steps_a + i * k;
        lanes->rows(&source_a, from, &sides[i]);
    }
    for (int j = 0; j < columns; j++) {
        const uint32_t *from[NUM_MOST_CHUNKS];
        for (int n = 0; n < chunks; n++) from[n] = b[n + chunks * j];
        lanes->columns(&source_b, from, &column);
        for (int i = 0; i < tiles; i++) {
            int piece = i + tiles * j;
            float *const at[2] = {sums[piece][0], sums[piece][1]};
            load_piece(lanes, (ptx_type)mma->c, c, piece, sums[piece]);
            if (integer)
                lanes->integers(satfinite, k, &sides[i], &column, (const int32_t *const *)at,
                                (int32_t *const *)at);
            else if (small)
                add_halves(lanes, &rule, &sides[i], &column, sums[piece]);
            else
                for (int l = 0; l < k; l += step)
                    lanes->floats(&rule, l, step, &sides[i], &column, (const float *const *)at, at);
        }
    }
    for (int piece = 0; piece < tiles * columns; piece++)
        store_piece(lanes, (ptx_type)mma->d, d, piece, sums[piece]);
}

/* m8n8k4 of f16: four products of eight lanes each. */
static void quad_product(const num_mma *mma, const num_mma_options *options, void *const *d, fragment a,
                         fragment b, fragment c)
{
    float x[4][8][4], y[4][4][8], z[4][8][8];
    for (int lane = 0; lane < LANES; lane++) {
        for (int e = 0; e < 4; e++) {
            num_place p = num_fragment_place(mma, NUM_A, PTX_f16, options, lane, e / 2, e % 2);
            x[p.part][p.row][p.column] =
                num_half_to_float(((const uint32_t *)a[e / 2])[lane] >> (16 * (e % 2)) & 0xffff);
            p = num_fragment_place(mma, NUM_B, PTX_f16, options, lane, e / 2, e % 2);
            y[p.part][p.row][p.column] =
                num_half_to_float(((const uint32_t *)b[e / 2])[lane] >> (16 * (e % 2)) & 0xffff);
        }
        for (int e = 0; e < 8; e++) {
            bool half = mma->c == PTX_f16;
            int r = half ? e / 2 : e, index = half ? e % 2 : 0;
            num_place p = num_fragment_place(mma, NUM_C, (ptx_type)mma->c, options, lane, r, index);
            float *to = &z[p.part][p.row][p.column];
            uint32_t word = ((const uint32_t *)c[r])[lane];
            if (half)
                *to = num_half_to_float(word >> (16 * index) & 0xffff);
            else
                memcpy(to, &word, sizeof word);
        }
    }
    for (int part = 0; part < 4; part++)
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) {
                float sum = 0;
                for (int l = 0; l < 4; l++) sum = fmaf(x[part][i][l], y[part][l][j], sum);
                z[part][i][j] += sum;
            }
    for (int lane = 0; lane < LANES; lane++)
        for (int r = 0; r < mma->registers[3]; r++) {
            num_place p = num_fragment_place(mma, NUM_C, (ptx_type)mma->d, options, lane, r, 0);
            const float *from = &z[p.part][p.row][p.column];
            uint32_t word;
            memcpy(&word, from, sizeof word);
            if (mma->d == PTX_f16)
                word = num_float_to_half(from[0]) | num_float_to_half(from[1]) << 16;
            else if (from[0] != from[0])
                word = 0x7fffffff;
            ((uint32_t *)d[r])[lane] = word;
        }
}

/* A chain of fma per element; a NaN propagates to the end. */
#define CHAIN                                                                                                \
    for (int l = 0; l < k; l++)                                                                              \
        for (int i = 0; i < LANES; i++) sums[i] = __builtin_fma(x[l][i], y[l][i], sums[i]);

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void chain_wide(int k, double (*x)[LANES], double (*y)[LANES],
                                                           double *sums)
{
    CHAIN
}
#endif

static void chain_fma_plain(int k, double (*x)[LANES], double (*y)[LANES], double *sums)
{
    CHAIN
}

static void chain_fma(int k, double (*x)[LANES], double (*y)[LANES], double *sums)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        chain_wide(k, x, y, sums);
        return;
    }
#endif
    chain_fma_plain(k, x, y, sums);
}

static uint64_t chain_fma_exactly(int k, double (*x)[LANES], double (*y)[LANES], int lane, double c)
{
    uint64_t p, q, sum;
    memcpy(&sum, &c, sizeof sum);
    for (int l = 0; l < k; l++) {
        memcpy(&p, &x[l][lane], sizeof p);
        memcpy(&q, &y[l][lane], sizeof q);
        sum = num_arithmetic(NUM_FMA, NUM_F64, p, q, sum, NUM_RN, 0);
    }
    return sum;
}

/* Lane 4 * g + t of A's register for rows i and k 4 * n holds (8 * i + g, 4 * n + t); B's likewise for
 * columns. */
static void double_product(const num_mma *mma, void *const *d, fragment a, fragment b, fragment c)
{
    enum { MOST_K = 16 };
    int tiles = mma->m / NUM_PIECE;
    double x[2][MOST_K][LANES], y[2][MOST_K][LANES];
    uint64_t result[2 * MOST_TILES][LANES];
    for (int l = 0; l < mma->k; l++)
        for (int lane = 0; lane < LANES; lane++) {
            const double *column = (const double *)b[l / 4] + 8 * (lane & 3) + l % 4;
            y[0][l][lane] = column[0];
            y[1][l][lane] = column[4];
            for (int i = 0; i < tiles; i++)
                x[i][l][lane] = ((const double *)a[i + tiles * (l / 4)])[(lane & ~3) + l % 4];
        }
    for (int r = 0; r < 2 * tiles; r++) {
        double sums[LANES];
        memcpy(sums, c[r], sizeof sums);
        chain_fma(mma->k, x[r / 2], y[r % 2], sums);
        memcpy(result[r], sums, sizeof sums);
        for (int lane = 0; lane < LANES; lane++)
            if (sums[lane] != sums[lane])
                result[r][lane] =
                    chain_fma_exactly(mma->k, x[r / 2], y[r % 2], lane, ((const double *)c[r])[lane]);
    }
    for (int r = 0; r < 2 * tiles; r++) memcpy(d[r], result[r], sizeof result[r]);
}

/* Single bits: a register holds 32 neighbours of k, of one row of A or one column of B. */
static void bit_product(const num_mma *mma, void *const *d, fragment a, fragment b, fragment c)
{
    int tiles = mma->m / NUM_PIECE, chunks = mma->k / 128;
    uint32_t result[2 * MOST_TILES][LANES];
    for (int r = 0; r < 2 * tiles; r++)
        for (int lane = 0; lane < LANES; lane++) {
            int row = lane & ~3, column = 4 * (2 * (lane & 3) + r % 2);
            uint32_t sum = ((const uint32_t *)c[r])[lane];
            for (int l = 0; l < 4 * chunks; l++) {
                uint32_t x = ((const uint32_t *)a[r / 2 + tiles * (l / 4)])[row + l % 4],
                         y = ((const uint32_t *)b[l / 4])[column + l % 4];
                sum += (uint32_t)__builtin_popcount(mma->op == NUM_XOR_POPC ? x ^ y : x & y);
            }
            result[r][lane] = sum;
        }
    for (int r = 0; r < 2 * tiles; r++) memcpy(d[r], result[r], sizeof result[r]);
}

void num_mma_run(const num_mma *mma, const num_mma_options *options, void *const *d, fragment a, fragment b,
                 fragment c)
{
    if (mma->a == PTX_b1)
        bit_product(mma, d, a, b, c);
    else if (mma->a == PTX_f64)
        double_product(mma, d, a, b, c);
    else if (num_is_quad(mma))
        quad_product(mma, options, d, a, b, c);
    else
        tile_product(mma, options && options->satfinite, d, a, b, c);
}

/* ---- wmma.load and wmma.store ---- */

/* Moves one register of one lane, as a single access if its elements are contiguous in memory. */
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
