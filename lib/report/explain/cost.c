/* Cost of instructions: sectors, wavefronts, and cycles. The cycles are estimates that only rank findings. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/devices/rates.h"
#include "lib/base/devices/traffic.h"
#include "lib/code/function.h"
#include "lib/report/explain/context.h"

static explain_traffic count_traffic(void (*add)(const cute_request *, cute_traffic *),
                                     const uint64_t at[LANES], uint32_t active, unsigned width, bool load)
{
    cute_request request = {.bytes = width, .load = load};
    cute_traffic sum = {0};
    for (uint32_t l = 0; l < LANES; l++) {
        if (!(active >> l & 1)) continue;
        request.address[request.count] = at[l];
        request.lane[request.count++] = (uint8_t)l;
    }
    if (width) add(&request, &sum);
    return (explain_traffic){(int)sum.count, (int)sum.ideal};
}

explain_traffic explain_sectors(const uint64_t at[LANES], uint32_t active, unsigned width)
{
    return width > 128 ? (explain_traffic){0, 0}
                       : count_traffic(cute_traffic_add_sectors, at, active, width, true);
}

explain_traffic explain_wavefronts(const uint64_t at[LANES], uint32_t active, unsigned width, bool load)
{
    return width > 16 ? (explain_traffic){0, 0}
                      : count_traffic(cute_traffic_add_wavefronts, at, active, width, load);
}

/* Scheduler cycles per warp instruction: estimates for ranking, not the rates of one architecture. */
static const double costs[CUTE_CODE_CLASSES] = {
    [CUTE_CODE_TENSOR] = 16,     [CUTE_CODE_FLOAT] = 1,        [CUTE_CODE_HALF] = 1,
    [CUTE_CODE_SPECIAL] = 8,     [CUTE_CODE_INTEGER] = 1.5,    [CUTE_CODE_LOGIC] = 2,
    [CUTE_CODE_COMPARE] = 2,     [CUTE_CODE_MOVE] = 1,         [CUTE_CODE_CONVERT] = 3,
    [CUTE_CODE_CONSTANT] = 1,    [CUTE_CODE_LOAD_GLOBAL] = 32, [CUTE_CODE_STORE_GLOBAL] = 32,
    [CUTE_CODE_LOAD_SHARED] = 4, [CUTE_CODE_STORE_SHARED] = 4, [CUTE_CODE_LOAD_LOCAL] = 8,
    [CUTE_CODE_STORE_LOCAL] = 8, [CUTE_CODE_LOAD_TENSOR] = 8,  [CUTE_CODE_STORE_TENSOR] = 8,
    [CUTE_CODE_ATOMIC] = 32,     [CUTE_CODE_ASYNC] = 32,       [CUTE_CODE_TEXTURE] = 32,
    [CUTE_CODE_SHUFFLE] = 4,     [CUTE_CODE_SYNC] = 4,         [CUTE_CODE_CONTROL] = 2,
    [CUTE_CODE_SYSTEM] = 2,      [CUTE_CODE_OTHER] = 2,
};

enum { SECTOR = 32, LINE_SECTORS = 4, NEAR_LOADS = 16 /* preceding loads to compare with */ };
enum {
    BARRIER = 30,
    TMA_COPY = 1024,
    WGMMA = 64,
    DIVISION = 36, /* about 22 instructions, each of which is in the SASS */
    QUOTIENT = 18, /* the last ten of them */
    SLOW_MATH = 24,
    DIVISION_64 = 140,
    DOUBLE_MATH = 60
};

/* An f64 warp instruction on a quarter of the multiprocessor; 2 lanes per cycle if no rate is published. */
static double double_cost(int arch)
{
    const cute_rates *rates = cute_rates_of(arch);
    return 4 * LANES / (rates ? rates->fp64 : 2);
}

/* m64nNk occupies all tensor cores for N / 2 cycles. */
static double wgmma_cost(const ssa_inst *i)
{
    const char *at = memmem(i->text, i->length, ".m64n", 5), *machine = memmem(i->text, i->length, ".64x", 4);
    long n = at ? strtol(at + 5, NULL, 10) : machine ? strtol(machine + 4, NULL, 10) : 0;
    return n >= 8 && n <= 512 ? (double)n / 2 : WGMMA;
}

/* A bulk copy of constant size, issued by one lane for the block. The tile size of a tensor copy is unknown here. */
static double bulk_copy_cost(const ssa_function *f, const ssa_inst *i)
{
    const int64_t *b = f->assume.block;
    double warps = (double)(b[0] * b[1] * b[2] + LANES - 1) / LANES;
    uint64_t bytes = 0, units;
    if (memmem(i->text, i->length, ".tensor", 7)) return TMA_COPY;
    for (unsigned u = 0; u < i->use_count && !f->sass && !bytes; u++)
        if (i->uses[u].kind == SSA_IMM && i->uses[u].imm >= 16 && i->uses[u].imm % 16 == 0)
            bytes = (uint64_t)i->uses[u].imm;
    if (f->sass && memmem(i->text, i->length, "UBLKCP", 6) && i->use_count > 2 &&
        !(ssa_operand_depends(f, &i->uses[2]) & DEPENDS_ARGUMENT) &&
        ssa_operand_lane(f, &i->uses[2], 0, &units))
        bytes = (units & UINT16_MAX) * 16;
    if (!bytes) return TMA_COPY;
    double cost = (double)bytes / 32 * SECTOR_COST;
    return warps > 1 && __builtin_popcount(ssa_active_lanes(f, i)) == 1 ? cost / warps : cost;
}

static bool is_global_load(const ssa_function *f, const ssa_inst *i)
{
    return i->access == CUTE_ACCESS_LOAD && i->address >= 0 && i->width && i->width < 16 &&
           (i->space == CUTE_CODE_SPACE_GLOBAL || i->space == CUTE_CODE_SPACE_GENERIC) &&
           ssa_is_reached(f, i) && !(i->flags & (INST_VOLATILE | INST_ORDERED));
}

int explain_distinct_addresses(const uint64_t at[LANES], uint32_t active)
{
    int distinct = 0;
    for (int l = 0; l < LANES; l++) {
        bool seen = !(active >> l & 1);
        for (int o = 0; o < l && !seen; o++) seen = active >> o & 1 && at[o] == at[l];
        distinct += !seen;
    }
    return distinct;
}

int explain_constant_addresses(const ssa_function *f, const ssa_inst *i)
{
    uint64_t at[LANES];
    uint32_t active;
    if (!ssa_address_varies(f, i)) return 1;
    return ssa_addresses(f, i, at, &active) ? explain_distinct_addresses(at, active) : LANES / 2;
}

/* Each lane of `i` reads the same sector as in `before`. */
static bool same_sectors(const ssa_function *f, const ssa_inst *i, const ssa_inst *before)
{
    uint64_t at[LANES], earlier[LANES];
    uint32_t active, earlier_active;
    if (!ssa_addresses(f, i, at, &active) || !ssa_addresses(f, before, earlier, &earlier_active) ||
        active & ~earlier_active)
        return false;
    for (int l = 0; l < LANES; l++)
        if (active >> l & 1 &&
            (at[l] / SECTOR != earlier[l] / SECTOR || (at[l] + i->width - 1) / SECTOR != at[l] / SECTOR))
            return false;
    return true;
}

void explain_mark_cached_loads(ssa_function *f)
{
    for (size_t n = 0; n < f->count; n++) {
        ssa_inst *i = &f->insts[n];
        int64_t offset, other;
        const ssa_value *root = is_global_load(f, i) ? ssa_address_root(f, i, &offset) : NULL;
        size_t first = f->flow->blocks[i->block].first, seen = 0;
        for (size_t k = n; root && k > first && seen < NEAR_LOADS && !i->cached; k--) {
            const ssa_inst *o = &f->insts[k - 1];
            if (!is_global_load(f, o)) continue;
            seen++;
            i->cached = ssa_address_root(f, o, &other) == root && llabs(offset - other) < SECTOR &&
                        same_sectors(f, i, o);
        }
    }
}

double explain_division_cost(const ssa_function *f, const ssa_inst *i)
{
    return ssa_has_inverse(f, i) ? QUOTIENT : i->bits == 64 ? DIVISION_64 : DIVISION;
}

double explain_cost(const ssa_function *f, const ssa_inst *i)
{
    uint64_t at[LANES];
    uint32_t active;
    double cost = costs[i->class];
    if (i->flags & INST_TMA) return bulk_copy_cost(f, i);
    if (i->flags & INST_WGMMA) return wgmma_cost(i);
    if (i->flags & INST_BARRIER) return BARRIER;
    if (i->flags & INST_DIVIDE && !f->sass) return explain_division_cost(f, i);
    if (i->flags & INST_DOUBLE)
        return double_cost(f->arch) * (i->flags & INST_SLOW_MATH ? DOUBLE_MATH / 2 : 1);
    if (i->flags & INST_SLOW_MATH) return SLOW_MATH;
    if (i->access == CUTE_ACCESS_NONE || i->flags & INST_TENSOR_LOAD) return cost;
    if (i->space == CUTE_CODE_SPACE_CONST)
        return cost + WAVEFRONT_COST * (explain_constant_addresses(f, i) - 1);
    if (i->counters && i->counters->count > 0)
        return i->counters->count * (i->space == CUTE_CODE_SPACE_SHARED ? WAVEFRONT_COST : SECTOR_COST);
    unsigned width = i->width ? i->width : 4;
    bool known = ssa_addresses(f, i, at, &active);
    if (i->space == CUTE_CODE_SPACE_SHARED && i->access != CUTE_ACCESS_COPY) {
        explain_scatter expected;
        explain_traffic t = known ? explain_wavefronts(at, active, width, ssa_is_plain_load(i))
                                  : (explain_traffic){(int)(width + 3) / 4, 0};
        if (!known && ssa_address_depends(f, i) & DEPENDS_LOADED &&
            explain_expected_wavefronts(f, i, &expected))
            return WAVEFRONT_COST * expected.count;
        return WAVEFRONT_COST * (t.count ? t.count : 1);
    }
    if (i->space == CUTE_CODE_SPACE_GLOBAL || i->space == CUTE_CODE_SPACE_GENERIC) {
        explain_traffic t = {0, 0};
        if (known)
            t = explain_sectors(at, active, width);
        else if (ssa_address_varies(f, i))
            t.count = ssa_address_depends(f, i) & DEPENDS_LOADED ? LANES / 2 : LANES / 4;
        else
            t.count = 1;
        /* The same address in all warps: an L1 hit. */
        bool uniform = i->access == CUTE_ACCESS_LOAD && !ssa_address_varies(f, i) &&
                       !(ssa_address_depends(f, i) & (DEPENDS_THREAD | DEPENDS_BLOCK | DEPENDS_LOADED));
        if (uniform && i->width <= 4) return WAVEFRONT_COST;
        if (known && i->cached) return WAVEFRONT_COST * ((t.count + LINE_SECTORS - 1) / LINE_SECTORS);
        return SECTOR_COST * (t.count ? t.count : 1);
    }
    /* Local memory is interleaved by lane, so there are no bank conflicts. An L1 miss loads a sector for eight lanes with the same
     * index, or for one lane with its own. */
    if (i->space == CUTE_CODE_SPACE_LOCAL)
        cost += f->local_miss_rate * SECTOR_COST * (ssa_address_varies(f, i) ? LANES / 2 : LANES / 8);
    return cost * (width > 4 ? width / 4.0 : 1);
}
