/* wgmma.mma_async: descriptors, the order of operands in shared memory, and the product of a warpgroup. */
#include <string.h>

#include "lib/numeric/dot.h"
#include "lib/numeric/swizzle.h"
#include "lib/numeric/wgmma.h"

enum { M = 64, MOST_N = 256, MOST_K = 32, LANES = NUM_LANES, CHUNK = 16 };

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

/* Shapes and types: PTX ISA 8.5, 9.7.15.2. Integers and bits have other steps of N above 32. */
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
 * without a swizzle) apart; groups of eight `stride` apart; the two chunks of k adjacent or, without a
 * swizzle, `leading` apart. MN-major: eight rows of k, `span` apart, of span / 16 chunks along mn; the next
 * span of mn is `leading` away and the next eight of k `stride`; without a swizzle these two are
 * exchanged. */
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

/* ---- operands as words of fragments ---- */

typedef struct source {
    const num_wgmma_operands *operands;
    num_shared_read read;
    void *context;
} source;

static inline bool read_chunk(const source *s, num_operand operand, uint32_t address, void *out)
{
    const num_wgmma_operands *o = s->operands;
    uint32_t at = address - o->shared_first;
    if (o->shared && at <= o->shared_bytes && o->shared_bytes - at >= CHUNK) {
        memcpy(out, o->shared + at, CHUNK);
        return true;
    }
    return s->read(s->context, operand, address, CHUNK, out);
}

/* Chunk `c` of piece `n` (8 rows of A, 8 columns of B). K-major: 16 bytes of a row are a chunk. MN-major: 16
 * bytes are 8 elements of mn for one k. */
typedef uint32_t piece_words[NUM_MOST_CHUNKS][LANES];

static bool read_pieces(const num_wgmma *w, num_operand operand, int first, int count, const source *s,
                        piece_words *out)
{
    bool a = operand == NUM_A, mn_major = a ? w->transpose_a : w->transpose_b;
    num_descriptor d = num_descriptor_decode(a ? s->operands->a_descriptor : s->operands->b_descriptor);
    uint32_t at[NUM_MOST_CHUNKS][NUM_PIECE], further = 0;
    uint8_t rows[NUM_PIECE][CHUNK];
    const void *from[NUM_PIECE];
    for (int i = 0; i < NUM_PIECE; i++) from[i] = rows[i];
    /* Groups of eight rows whose distance is a multiple of the swizzle's pattern are permuted alike. */
    bool alike = !mn_major && (!d.swizzle || d.stride % 1024 == 0);
    for (int n = 0; n < count; n++) {
        for (int c = 0; c < NUM_MOST_CHUNKS && (n == 0 || !alike); c++)
            for (int i = 0; i < NUM_PIECE; i++)
                at[c][i] = chunk_address(&d, mn_major ? mn_major_offset(&d, NUM_PIECE * c + i, first + n)
                                                      : k_major_offset(&d, NUM_PIECE * (first + n) + i, c));
        for (int c = 0; c < NUM_MOST_CHUNKS; c++) {
            for (int i = 0; i < NUM_PIECE; i++) {
                void *to = mn_major ? (void *)rows[i] : (void *)&out[n][c][4 * i];
                if (!read_chunk(s, operand, at[c][i] + further, to)) return false;
            }
            if (mn_major) num_dot_lanes_of(0)->transpose(from, out[n][c]);
        }
        if (alike) further += d.stride;
    }
    return true;
}

/* ---- products ---- */

/* A product of `pieces` of 8 rows. */
typedef struct warp_product {
    const num_wgmma *wgmma;
    int pieces;
    piece_words a[M / NUM_PIECE], b[MOST_N / NUM_PIECE];
    uint32_t *const *d;
} warp_product;

/* The registers of D that hold piece `i` of the rows and `j` of the columns: one for f16, else two. */
static uint32_t *const *registers_of_piece(const warp_product *p, int i, int j)
{
    int piece = i % 2 + 2 * j;
    return p->d + i / 2 * num_wgmma_registers(p->wgmma) + (p->wgmma->d == PTX_f16 ? piece : 2 * piece);
}

static void multiply_pieces(const warp_product *p)
{
    const num_wgmma *w = p->wgmma;
    const num_dot_lanes *lanes = num_dot_lanes_of(0);
    num_step steps_a[M / NUM_PIECE * MOST_K], steps_b[MOST_K];
    num_side rows[M / NUM_PIECE], column = {.steps = steps_b};
    num_source source_a = num_source_of(w->a, NUM_MOST_CHUNKS, w->negate_a),
               source_b = num_source_of(w->b, NUM_MOST_CHUNKS, w->negate_b);
    num_dot_rule rule = num_dot_rule_of(w->a, w->d, true);
    float pair[2][LANES];
    float *const both[2] = {pair[0], pair[1]};
    static const float zeros[LANES];
    const float *const none[2] = {zeros, zeros};
    for (int i = 0; i < p->pieces; i++) {
        rows[i].steps = steps_a + i * w->k;
        lanes->rows(&source_a, (const uint32_t *[]){p->a[i][0], p->a[i][1]}, &rows[i]);
    }
    for (int j = 0; j < w->n / NUM_PIECE; j++) {
        lanes->columns(&source_b, (const uint32_t *[]){p->b[j][0], p->b[j][1]}, &column);
        for (int i = 0; i < p->pieces; i++) {
            uint32_t *const *d = registers_of_piece(p, i, j);
            if (w->d == PTX_f16) {
                if (w->scale_d) lanes->widen(d[0], both);
                lanes->floats(&rule, 0, w->k, &rows[i], &column,
                              w->scale_d ? (const float *const *)both : none, both);
                lanes->narrow((const float *const *)both, d[0]);
            } else if (w->d == PTX_s32) {
                lanes->integers(w->satfinite, w->k, &rows[i], &column,
                                (const int32_t *const *)(w->scale_d ? (const void *)d : none),
                                (int32_t *const *)d);
            } else {
                lanes->floats(&rule, 0, w->k, &rows[i], &column, w->scale_d ? (const float *const *)d : none,
                              (float *const *)d);
            }
        }
    }
}

static void multiply_bits(const warp_product *p)
{
    for (int j = 0; j < p->wgmma->n / NUM_PIECE; j++)
        for (int i = 0; i < p->pieces; i++)
            for (int r = 0; r < 2; r++)
                for (int lane = 0; lane < LANES; lane++) {
                    uint32_t *d = registers_of_piece(p, i, j)[r], sum = p->wgmma->scale_d ? d[lane] : 0;
                    int row = lane & ~3, column = 4 * (2 * (lane & 3) + r);
                    for (int l = 0; l < 8; l++)
                        sum += (uint32_t)__builtin_popcount(p->a[i][l / 4][row + l % 4] &
                                                            p->b[j][l / 4][column + l % 4]);
                    d[lane] = sum;
                }
}

bool num_wgmma_run(const num_wgmma *w, int first, int count, const num_wgmma_operands *o,
                   num_shared_read read, void *context)
{
    const source s = {o, read, context};
    warp_product p;
    p.wgmma = w;
    p.pieces = 2 * count;
    p.d = o->d;
    if (!w->a_in_registers && !read_pieces(w, NUM_A, 2 * first, p.pieces, &s, p.a)) return false;
    if (!read_pieces(w, NUM_B, 0, w->n / NUM_PIECE, &s, p.b)) return false;
    for (int i = 0; i < p.pieces; i++)
        for (int c = 0; c < NUM_MOST_CHUNKS; c++)
            if (w->a_in_registers) memcpy(p.a[i][c], o->a[i / 2 * 4 + 2 * c + i % 2], sizeof p.a[i][c]);
    if (w->a == PTX_b1)
        multiply_bits(&p);
    else
        multiply_pieces(&p);
    return true;
}
