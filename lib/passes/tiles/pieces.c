/* How clusters share the tiles of the last waves: cute.tile.pieces and cute.tile.piece as arithmetic on i32. */
#include <mlir-c/BuiltinTypes.h>

#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/model/model.h"
#include "lib/passes/tiles/tiles.h"

typedef struct clusters {
    cute_builder b;
    MlirValue first, count, step, steps; /* this cluster; tiles; clusters; iterations of a tile */
    MlirValue zero, one;
} clusters;

static clusters clusters_of(MlirOperation op, intptr_t at)
{
    clusters c = {.b = cute_builder_before(op)};
    MlirValue *to[] = {&c.first, &c.count, &c.step, &c.steps};
    for (int i = 0; i < 4; i++) *to[i] = mlirOperationGetOperand(op, at + i);
    c.zero = cute_build_constant(&c.b, 32, 0);
    c.one = cute_build_constant(&c.b, 32, 1);
    return c;
}

static MlirValue number(const clusters *c, int64_t value)
{
    return cute_build_constant(&c->b, 32, value);
}

#define BINARY(name, op)                                                                                     \
    static MlirValue name(const clusters *c, MlirValue x, MlirValue y)                                       \
    {                                                                                                        \
        return cute_binary(&c->b, op, x, y);                                                                 \
    }
BINARY(add, "arith.addi")
BINARY(subtract, "arith.subi")
BINARY(multiply, "arith.muli")
BINARY(divide, "arith.divui")
BINARY(remainder_of, "arith.remui")
BINARY(smaller, "arith.minui")
BINARY(smaller_signed, "arith.minsi")
BINARY(larger, "arith.maxsi")
BINARY(both, "arith.andi")

static MlirValue compare(const clusters *c, cute_predicate is, MlirValue x, MlirValue y)
{
    return cute_compare(&c->b, is, x, y);
}

static MlirValue choose(const clusters *c, MlirValue condition, MlirValue yes, MlirValue no)
{
    return cute_select(&c->b, condition, yes, no);
}

typedef struct range {
    MlirValue start, stop;
} range;

typedef struct piece {
    MlirValue tile, from, to, others, distance;
} piece;

/* ---- split: each tile of the last wave among as many clusters ---- */

typedef struct last_wave {
    MlirValue divides;     /* i1: the wave is not full, and its tiles are divided */
    MlirValue rest, parts; /* tiles, at least 1; clusters for each */
    MlirValue part;        /* of this cluster; from `parts` on it has none */
    MlirValue full;        /* tiles in full waves */
} last_wave;

static last_wave last_wave_of(const clusters *c)
{
    last_wave w;
    MlirValue rest = remainder_of(c, c->count, c->step);
    w.rest = larger(c, rest, c->one);
    MlirValue parts = smaller(c, divide(c, c->step, w.rest), number(c, CUTE_MODEL_TAIL_CLUSTERS));
    parts = smaller(c, parts, c->steps);
    w.divides = both(c, compare(c, CUTE_IS_NE, rest, c->zero), compare(c, CUTE_IS_UGT, parts, c->one));
    w.parts = larger(c, parts, c->one);
    w.part = divide(c, c->first, w.rest);
    w.full = subtract(c, c->count, rest);
    return w;
}

static range range_of_split(const clusters *c)
{
    last_wave w = last_wave_of(c);
    MlirValue next = add(c, w.part, c->one);
    MlirValue early = both(c, w.divides, compare(c, CUTE_IS_ULT, next, w.parts)),
              last = compare(c, CUTE_IS_EQ, next, w.parts);
    MlirValue stop = add(c, w.full, choose(c, last, c->step, c->zero));
    return (range){choose(c, early, subtract(c, c->first, c->step), c->first),
                   choose(c, w.divides, stop, c->count)};
}

/* Pieces: that of a cluster whose part is not the last is in front of its whole tiles, below 0; the last part is behind them. */
static piece piece_of_split(const clusters *c, MlirValue i)
{
    last_wave w = last_wave_of(c);
    /* Unsigned: also of those below 0. */
    MlirValue is_part = both(c, w.divides, compare(c, CUTE_IS_UGE, i, w.full)), next = add(c, w.part, c->one);
    MlirValue low = divide(c, multiply(c, w.part, c->steps), w.parts),
              high = divide(c, multiply(c, next, c->steps), w.parts),
              completes = both(c, is_part, compare(c, CUTE_IS_EQ, next, w.parts));
    return (piece){.tile = choose(c, is_part, add(c, w.full, remainder_of(c, c->first, w.rest)), i),
                   .from = choose(c, is_part, low, c->zero),
                   .to = choose(c, is_part, high, c->steps),
                   .others = choose(c, completes, w.part, c->zero),
                   .distance = w.rest};
}

/* ---- stream-k: the iterations of the last two waves, divided evenly ---- */

typedef struct stream {
    MlirValue tiles;      /* that are divided; 0: none */
    MlirValue each, more; /* iterations of a cluster; the first `more` have one more */
    MlirValue low, high;  /* of this cluster */
    MlirValue steps;      /* at least 1 */
} stream;

static MlirValue low_of(const clusters *c, const stream *s, MlirValue cluster)
{
    return add(c, multiply(c, s->each, cluster), smaller(c, cluster, s->more));
}

static stream stream_of(const clusters *c)
{
    enum { LEAST = 4 }; /* iterations of a cluster */
    stream s;
    MlirValue rest = remainder_of(c, c->count, c->step), most = smaller(c, add(c, rest, c->step), c->count),
              all = multiply(c, most, c->steps);
    MlirValue worth = both(c, compare(c, CUTE_IS_NE, rest, c->zero),
                           compare(c, CUTE_IS_UGE, all, multiply(c, c->step, number(c, LEAST))));
    s.tiles = choose(c, worth, most, c->zero);
    MlirValue total = multiply(c, s.tiles, c->steps);
    s.each = divide(c, total, c->step);
    s.more = remainder_of(c, total, c->step);
    s.low = low_of(c, &s, c->first);
    s.high = low_of(c, &s, add(c, c->first, c->one));
    s.steps = larger(c, c->steps, c->one);
    return s;
}

static range range_of_stream(const clusters *c)
{
    stream s = stream_of(c);
    MlirValue end = divide(c, add(c, s.high, subtract(c, s.steps, c->one)), s.steps),
              begin = divide(c, s.low, s.steps), pieces = subtract(c, end, begin),
              own = add(c, s.tiles, c->first);
    return (range){subtract(c, own, multiply(c, pieces, c->step)), c->count};
}

/* The pieces of divided tiles are below `tiles` + the cluster, the last tile first. */
static piece piece_of_stream(const clusters *c, MlirValue i)
{
    stream s = stream_of(c);
    MlirValue own = add(c, s.tiles, c->first), is_part = compare(c, CUTE_IS_SLT, i, own);
    MlirValue nth = divide(c, subtract(c, own, i), c->step),
              tile = add(c, divide(c, s.low, s.steps), subtract(c, nth, c->one)),
              base = multiply(c, tile, c->steps);
    MlirValue from = larger(c, subtract(c, s.low, base), c->zero),
              to = smaller_signed(c, subtract(c, s.high, base), c->steps);
    /* The first cluster that has iterations of this tile: where `low_of` reaches its base. */
    MlirValue each = larger(c, s.each, c->one), longer = add(c, each, c->one),
              long_ones = multiply(c, s.more, longer);
    MlirValue begins = choose(c, compare(c, CUTE_IS_ULT, base, long_ones), divide(c, base, longer),
                              divide(c, subtract(c, base, s.more), each));
    MlirValue joins = both(
        c, is_part, both(c, compare(c, CUTE_IS_SGT, from, c->zero), compare(c, CUTE_IS_EQ, to, c->steps)));
    return (piece){.tile = choose(c, is_part, tile, i),
                   .from = choose(c, is_part, from, c->zero),
                   .to = choose(c, is_part, to, c->steps),
                   .others = choose(c, joins, subtract(c, c->first, begins), c->zero),
                   .distance = c->one};
}

/* ---- the operations ---- */

static bool streams(MlirOperation op)
{
    return cute_text_is(cute_tile_word(op, "tail"), "stream");
}

void tile_lower_pieces(MlirOperation op, void *context)
{
    (void)context;
    clusters c = clusters_of(op, 0);
    range r = streams(op) ? range_of_stream(&c) : range_of_split(&c);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), r.start);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 1), r.stop);
    mlirOperationDestroy(op);
}

void tile_lower_piece(MlirOperation op, void *context)
{
    (void)context;
    clusters c = clusters_of(op, 1);
    MlirValue i = mlirOperationGetOperand(op, 0);
    piece p = streams(op) ? piece_of_stream(&c, i) : piece_of_split(&c, i);
    const MlirValue results[] = {p.tile, p.from, p.to, p.others, p.distance};
    for (int k = 0; k < 5; k++) mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, k), results[k]);
    mlirOperationDestroy(op);
}
