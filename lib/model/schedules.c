/* The schedules that a tile program may have, ranked by estimated time. See model.h. */
#include <stdio.h>

#include "lib/base/devices/multiprocessor.h"
#include "lib/base/sort.h"
#include "lib/model/model.h"

enum {
    GROUP = 128,          /* threads of a warpgroup */
    ADDRESSES = 80,       /* registers of a thread beside accumulators, without warpgroups */
    GROUP_ADDRESSES = 30, /* at least */
    MOST_REGISTERS = 255,
    BARRIER_BYTES = 16,   /* of a stage: two mbarriers */
    EPILOGUE_BYTES = 256, /* of K, which take as long as a tile's prologue and epilogue */
    TURN_BYTES =
        128 /* as long as a tile's prologue alone, where the epilogue is under another tile's main loop */
};

const cute_model_registers cute_model_group_registers[CUTE_MODEL_GROUPS + 1] = {
    {0, 0, 0}, {0, 0, 0}, {24, 240, 0}, {24, 160, 0}, {24, 120, 0}};
const cute_model_registers cute_model_factor_registers = {32, 168, 144};

int64_t cute_model_tile_depth(bool turns, int bits)
{
    return (turns ? TURN_BYTES : EPILOGUE_BYTES) * 8 / bits;
}

/* Registers of a thread that multiplies. */
static int64_t group_registers(int64_t groups)
{
    int own = cute_model_group_registers[groups < CUTE_MODEL_GROUPS ? groups : CUTE_MODEL_GROUPS].consumer;
    return own ? own : MOST_REGISTERS;
}

static int64_t bits_of(const cute_model_program *p)
{
    return p->problem.bits_a > p->problem.bits_b ? p->problem.bits_a : p->problem.bits_b;
}

static cute_model_block block_of(const cute_model_program *p, const cute_model_schedule *s)
{
    /* Of a tile; with turns there is another such group. */
    int64_t consumers = s->consumers > 0 ? s->consumers : 0, threads = !consumers      ? p->threads
                                                                       : s->turns == 1 ? GROUP
                                                                                       : GROUP * consumers;
    int64_t stage = consumers ? p->fetched : p->copied;
    bool staged = s->stages > 1;
    if (threads < 1) threads = GROUP;
    cute_model_block b = {.shared = p->beside + (staged ? s->stages * stage : 0),
                          .accumulators = p->sums / threads};
    if (consumers) {
        b.threads = GROUP * (consumers + 1);
        b.shared += s->stages * BARRIER_BYTES;
        b.stage_bytes = stage;
        b.registers = group_registers(consumers) * GROUP * consumers;
    } else {
        /* The compiler keeps a block's registers to those of a multiprocessor. */
        int64_t own = b.accumulators + ADDRESSES, most = CUTE_SM_REGISTERS / threads;
        if (own > most) own = b.accumulators + GROUP_ADDRESSES > most ? own : most;
        b.threads = threads;
        b.registers = (own < MOST_REGISTERS ? own : MOST_REGISTERS) * threads;
        if (staged && p->reuses) b.shared = p->beside > s->stages * stage ? p->beside : s->stages * stage;
        if (!staged && b.shared < stage) b.shared = stage;
    }
    return b;
}

bool cute_model_schedule_time(const cute_model_program *p, const cute_model_device *d,
                              const cute_model_schedule *s, cute_model_time *out, char *why, size_t size)
{
    cute_model_block block = block_of(p, s);
    int64_t consumers = s->consumers;
    if (!cute_model_fits(d->arch, &block, why, size)) return false;
    if (consumers > 0 && block.accumulators + GROUP_ADDRESSES > group_registers(consumers)) {
        snprintf(why, size, "sums take %lld registers of a thread, of which %d warpgroups have %lld",
                 (long long)block.accumulators, s->consumers, (long long)group_registers(consumers));
        return false;
    }
    cute_model_unit unit = consumers ? CUTE_MODEL_WGMMA : p->unit;
    cute_model_config c = {.bm = p->bm,
                           .bn = p->bn,
                           .bk = p->bk,
                           .stages = s->stages,
                           .cluster_m = s->cluster[0],
                           .cluster_n = s->cluster[1],
                           .split = 1,
                           .one_row = p->problem.m <= p->bm,
                           .order = s->order,
                           .tail = s->tail > 0 ? (cute_model_tail)s->tail : CUTE_MODEL_WHOLE,
                           .persistent = s->persistent,
                           .tma = consumers > 0,
                           .held = 1,
                           .resident = consumers || s->persistent ? 1 : cute_model_resident(d->arch, &block),
                           .overhead = cute_model_tile_depth(s->turns == 1, (int)bits_of(p)),
                           .rate =
                               cute_model_tile_rate(d, unit, p->element, p->bm, p->bn, p->row, consumers)};
    if (c.rate <= 0) {
        snprintf(why, size, "the device has no published rate for these elements");
        return false;
    }
    cute_model_estimate(&p->problem, &c, d, out);
    return true;
}

/* ---- candidates ---- */

typedef struct ranked {
    cute_model_choice choice;
    size_t rank; /* of preference */
} ranked;

typedef struct values {
    int count, at[8];
} values;

/* The stated value alone, else all candidates. */
static values either(int stated, int free, values all)
{
    return stated == free ? all : (values){1, {stated}};
}

static values consumers_of(const cute_model_program *p)
{
    values v = {0};
    static const int preferred[] = {2, 3, 1, 0};
    for (int i = 0; i < 4; i++) {
        int groups = preferred[i];
        /* Three for what two cannot divide: a tile of 192 rows. */
        if (!groups || (p->ahead && p->groups[groups] && (groups != 3 || !p->groups[2])))
            v.at[v.count++] = groups;
    }
    return v;
}

/* The most first: further stages hide more latency, as long as they fit. */
static values stages_of(const cute_model_program *p, int consumers)
{
    values v = {0};
    for (int i = consumers > 0 ? CUTE_MODEL_FETCHED : CUTE_MODEL_COPIED; i > 1 && p->ahead; i--)
        v.at[v.count++] = i;
    if (consumers <= 0) v.at[v.count++] = 1;
    return v;
}

static void add(ranked *all, size_t *count, const cute_model_program *p, const cute_model_device *d,
                const cute_model_schedule *s)
{
    char why[128];
    if (*count == CUTE_MODEL_CHOICES) return;
    ranked *r = &all[*count];
    if (!cute_model_schedule_time(p, d, s, &r->choice.time, why, sizeof why)) return;
    r->choice.schedule = *s;
    r->rank = (*count)++;
}

/* Clusters and orders of resident blocks; others are in the order of the grid, the last dimension fastest. */
static void add_orders(ranked *all, size_t *count, const cute_model_program *p, const cute_model_device *d,
                       const cute_model_schedule *stated, cute_model_schedule s)
{
    static const int shapes[][2] = {{1, 1}, {2, 1}, {1, 2}};
    bool resident = s.persistent == 1;
    for (int i = 0; i < 3; i++) {
        s.cluster[0] = stated->cluster[0] ? stated->cluster[0] : shapes[i][0];
        s.cluster[1] = stated->cluster[0] ? stated->cluster[1] : shapes[i][1];
        bool free = !stated->cluster[0], one = s.cluster[0] * s.cluster[1] == 1;
        if (!free && i) break;
        /* A cluster has work for all of its blocks. */
        bool fits =
            s.cluster[0] * p->bm < p->problem.m + p->bm && s.cluster[1] * p->bn < p->problem.n + p->bn;
        if (free && !one &&
            (!fits || !resident || s.consumers <= 0 || (s.cluster[0] > 1 && !p->cluster[0]) ||
             (s.cluster[1] > 1 && !p->cluster[1])))
            continue;
        values orders = either(stated->order, 0, resident ? (values){2, {8, 1}} : (values){1, {1}});
        static const values every = {3, {CUTE_MODEL_WHOLE, CUTE_MODEL_SPLIT, CUTE_MODEL_STREAM_K}};
        values tails =
            resident && p->splits && s.consumers > 0 && !s.turns ? every : (values){1, {CUTE_MODEL_WHOLE}};
        tails = either(stated->tail, CUTE_MODEL_FREE, tails);
        for (int o = 0; o < orders.count; o++)
            for (int t = 0; t < tails.count; t++) {
                s.order = orders.at[o];
                s.tail = tails.at[t];
                add(all, count, p, d, &s);
            }
    }
}

/* Whether warpgroups share each tile, and whether they take turns: two of resident blocks. */
static values turns_of(const cute_model_program *p, const cute_model_schedule *stated,
                       const cute_model_schedule *s)
{
    bool can = s->consumers == 2 && s->persistent == 1 && p->turns && p->groups[1];
    if (stated->turns == 1) return can ? (values){1, {1}} : (values){0};
    can = can && stated->tail <= CUTE_MODEL_WHOLE; /* alternate tiles are not split */
    return can && stated->turns == CUTE_MODEL_FREE ? (values){2, {0, 1}} : (values){1, {0}};
}

static int compare_times(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->choice.time.seconds != y->choice.time.seconds)
        return x->choice.time.seconds < y->choice.time.seconds ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Estimates are not exact: of those about as fast as the first, the preferred one, unless it is slower than without stages. */
static void prefer(ranked *all, size_t count)
{
    const double close = 1.005;
    size_t best = 0;
    double limit = count ? all[0].choice.time.seconds * close : 0;
    for (size_t i = 0; i < count; i++)
        if (all[i].choice.schedule.stages == 1 && all[i].choice.time.seconds < limit)
            limit = all[i].choice.time.seconds;
    for (size_t i = 1; i < count && all[i].choice.time.seconds <= limit; i++)
        if (all[i].rank < all[best].rank) best = i;
    ranked first = all[best];
    for (size_t i = best; i > 0; i--) all[i] = all[i - 1];
    if (count) all[0] = first;
}

size_t cute_model_schedules(const cute_model_program *p, const cute_model_device *d,
                            const cute_model_schedule *stated, cute_model_choice *out, size_t limit)
{
    ranked all[CUTE_MODEL_CHOICES];
    size_t count = 0;
    values groups = either(stated->consumers, CUTE_MODEL_FREE, consumers_of(p));
    for (int g = 0; g < groups.count; g++) {
        cute_model_schedule s = {.consumers = groups.at[g]};
        values stages = either(stated->stages, 0, stages_of(p, s.consumers));
        values resident = s.consumers > 0 && p->resident ? (values){2, {1, 0}} : (values){1, {0}};
        resident = either(stated->persistent, CUTE_MODEL_FREE, resident);
        for (int i = 0; i < stages.count; i++)
            for (int r = 0; r < resident.count; r++) {
                s.stages = stages.at[i];
                s.persistent = resident.at[r];
                values turns = turns_of(p, stated, &s);
                for (int t = 0; t < turns.count; t++) {
                    s.turns = turns.at[t];
                    add_orders(all, &count, p, d, stated, s);
                }
            }
    }
    cute_sort(all, count, sizeof *all, compare_times);
    prefer(all, count);
    if (count > limit) count = limit;
    for (size_t i = 0; i < count; i++) out[i] = all[i].choice;
    return count;
}
