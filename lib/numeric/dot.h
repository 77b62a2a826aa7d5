/* Products of tiles as computed by the tensor cores of sm_90, for mma, wmma and wgmma.
 *
 * This arithmetic is measured, not documented: Fasi, Higham, Mikaitis, Pranesh, "Numerical
 * behavior of NVIDIA tensor cores" (2021); Xie et al., "MMA-Sim" (arXiv 2511.10909), whose model for Hopper
 * matched the hardware bit for bit on random operands. For one element of D and one instruction:
 *   - each product is exact; its exponent is the sum of the operands' (a subnormal has the format's least
 * exponent, a zero -126);
 *   - products and accumulator are aligned to the largest exponent E and cut off, towards zero, below 2^(E -
 * F), with F = 25 bits, or 13 for wgmma of e4m3 and e5m2;
 *   - they are added exactly, all products of the instruction together, and the sum is rounded once: f32
 * towards zero (wgmma of 8-bit floats: to 13 bits of fraction), f16 to nearest, ties to even;
 *   - a zero is +0, even if the truncated terms or the rounded-off part are negative; a NaN is 0x7fffffff or
 * 0x7fff; overflow yields infinity.
 *
 * Operands are in the order of fragments (PTX ISA 9.7.14.5): a piece is 8 rows of A or 8 columns of B, in
 * chunks of 16 bytes of k. Lane 4 * g + t of a chunk's word holds row (column) g and the elements of k from
 * per * t of the chunk, per = 32 bits / those of the type. A piece of D is 8 x 8: of two registers lane 4 * g +
 * t holds row g, the first of column 2 * t, the second of column 2 * t + 1. */
#ifndef CUTE_LIB_NUMERIC_DOT_H
#define CUTE_LIB_NUMERIC_DOT_H

#include "lib/numeric/mma.h"

enum {
    NUM_LANES = 32,
    NUM_PIECE = 8, /* rows or columns */
    NUM_MOST_CHUNKS = 2,
    NUM_MOST_STEPS = 64 /* of k in a piece: s4 */
};

/* One k of a piece. For A: the lanes of its rows, twice 16. For B: its even and its odd columns, for 16 lanes
 * each. Exponents are in the order that dot_lanes.h uses. */
typedef struct num_step {
    _Alignas(64) float values[2][16];
    int32_t exponents[16];
} num_step;

/* Steps are ordered by element within the word, chunk, lane of four: k % per is the same for neighbours. The
 * order of k does not affect a sum; A and B have the same order. */
typedef struct num_side {
    num_step *steps;
    int floor;    /* the smallest exponent of the type */
    int most;     /* largest exponent */
    int least;    /* smallest exponent of nonzero elements; 1024: all are zero */
    bool special; /* contains an infinity or a NaN */
} num_side;

typedef struct num_dot_rule {
    int fraction; /* F above */
    int result;   /* fraction bits of an f32 result: 23 or 13 */
    bool half;    /* the accumulator is f16 */
} num_dot_rule;
static inline num_dot_rule num_dot_rule_of(ptx_type a, ptx_type d, bool wgmma)
{
    bool small = wgmma && (a == PTX_e4m3 || a == PTX_e5m2);
    return (num_dot_rule){.fraction = small ? 13 : 25, .result = small ? 13 : 23, .half = d == PTX_f16};
}

/* The encoding of a piece: elements of `type`, whose smallest exponent is `floor`, with signs inverted if
 * `negate`. */
typedef struct num_source {
    ptx_type type;
    int floor;
    int chunks;
    bool negate;
} num_source;
static inline num_source num_source_of(ptx_type type, int chunks, bool negate)
{
    static const int8_t least[PTX_TYPES] = {
        [PTX_tf32] = -126, [PTX_f16] = -14, [PTX_bf16] = -126, [PTX_e4m3] = -6, [PTX_e5m2] = -14};
    return (num_source){.type = type, .floor = least[type], .chunks = chunks, .negate = negate};
}

/* Implementations for different vector widths of the host. */
typedef struct num_dot_lanes {
    /* words[chunk] are 32 lanes. */
    void (*rows)(const num_source *source, const uint32_t *const *words, num_side *out);
    void (*columns)(const num_source *source, const uint32_t *const *words, num_side *out);
    /* The 8 x 8 sums over `count` steps from `first`: d = c + a * b; c and d hold 32 lanes for the even and
     * 32 for the odd columns, and may alias. Results are f32; an f16 result is rounded when it is
     * narrowed. */
    void (*floats)(const num_dot_rule *rule, int first, int count, const num_side *a, const num_side *b,
                   const float *const c[2], float *const d[2]);
    void (*integers)(bool satfinite, int count, const num_side *a, const num_side *b,
                     const int32_t *const c[2], int32_t *const d[2]);
    /* 8 x 8 sums, rounded to nearest; a NaN is 0x7fffffff. */
    void (*add)(const float *const terms[2], float *const sums[2]);
    /* The two columns of f16 in a word, to f32 and back. */
    void (*widen)(const uint32_t *words, float *const out[2]);
    void (*narrow)(const float *const in[2], uint32_t *words);
    /* Transposes 8 rows of 8 16-bit elements to 8 columns, in lane order. */
    void (*transpose)(const void *const rows[8], uint32_t *lanes);
} num_dot_lanes;
extern const num_dot_lanes num_dot_lanes_16, num_dot_lanes_8, num_dot_lanes_4;
/* The implementations that the host supports, fastest first; NULL past the last. */
const num_dot_lanes *num_dot_lanes_of(int n);

/* One element, for any operands: x and y are `count` values, with neighbours in k `stride_x` and `stride_y`
 * floats apart. */
float num_dot_element(const num_dot_rule *rule, int count, const float *x, size_t stride_x, int floor_x,
                      const float *y, size_t stride_y, int floor_y, float c);

#endif
