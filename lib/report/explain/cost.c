/* What instructions cost: sectors and wavefronts of their addresses, and cycles. Estimates, by which findings are ranked. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/devices/traffic.h"
#include "lib/code/function.h"
#include "lib/report/explain/context.h"
#include "lib/report/roofline/roofline.h"

static x_traffic traffic(void (*add)(const cute_request *, cute_traffic *), const uint64_t at[X_LANES],
                         uint32_t active, unsigned width, bool load)
{
    cute_request request = {.bytes = width, .load = load};
    cute_traffic sum = {0};
    for (uint32_t l = 0; l < X_LANES; l++) {
        if (!(active >> l & 1)) continue;
        request.address[request.count] = at[l];
        request.lane[request.count++] = (uint8_t)l;
    }
    if (width) add(&request, &sum);
    return (x_traffic){(int)sum.count, (int)sum.ideal};
}

x_traffic x_sectors(const uint64_t at[X_LANES], uint32_t active, unsigned width)
{
    return width > 128 ? (x_traffic){0, 0} : traffic(cute_traffic_add_sectors, at, active, width, true);
}

x_traffic x_wavefronts(const uint64_t at[X_LANES], uint32_t active, unsigned width, bool load)
{
    return width > 16 ? (x_traffic){0, 0} : traffic(cute_traffic_add_wavefronts, at, active, width, load);
}

/* Cycles of a scheduler for an instruction of a warp: estimates for ranking, not the rates of one architecture. */
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

enum { SECTOR = 32, LINE_SECTORS = 4, NEAR_LOADS = 16 /* that are looked at, in front of a load */ };
enum {
    BARRIER = 30,
    TMA_COPY = 1024,
    WGMMA = 64,
    DIVISION = 36, /* about 22 instructions, of which machine code has each */
    QUOTIENT = 18, /* of the last ten of them */
    SLOW_MATH = 24,
    DIVISION_64 = 140,
    DOUBLE_MATH = 60
};

/* A warp of f64 on a quarter of the multiprocessor; few, where nothing is published. */
static double double_cost(int arch)
{
    const cute_roof_rates *rates = cute_roof_rates_of(arch);
    return 4 * X_LANES / (rates ? rates->fp64 : 2);
}

/* Of m64nNk: N / 2 cycles of all tensor cores. */
static double product_cost(const x_inst *i)
{
    const char *at = memmem(i->text, i->length, ".m64n", 5), *machine = memmem(i->text, i->length, ".64x", 4);
    long n = at ? strtol(at + 5, NULL, 10) : machine ? strtol(machine + 4, NULL, 10) : 0;
    return n >= 8 && n <= 512 ? (double)n / 2 : WGMMA;
}

/* A bulk copy whose size is a constant, by one lane for the block; of tensors the size of a tile is not known here. */
static double copy_cost(const x_function *f, const x_inst *i)
{
    const int64_t *b = f->assume.block;
    double warps = (double)(b[0] * b[1] * b[2] + X_LANES - 1) / X_LANES;
    uint64_t bytes = 0, units;
    if (memmem(i->text, i->length, ".tensor", 7)) return TMA_COPY;
    for (unsigned u = 0; u < i->use_count && !f->sass && !bytes; u++)
        if (i->uses[u].kind == X_IMM && i->uses[u].imm >= 16 && i->uses[u].imm % 16 == 0)
            bytes = (uint64_t)i->uses[u].imm;
    if (f->sass && memmem(i->text, i->length, "UBLKCP", 6) && i->use_count > 2 &&
        !(x_operand_depends(f, &i->uses[2]) & X_ARGUMENT) && x_operand_lane(f, &i->uses[2], 0, &units))
        bytes = (units & UINT16_MAX) * 16;
    if (!bytes) return TMA_COPY;
    double cost = (double)bytes / 32 * SECTOR_COST;
    return warps > 1 && __builtin_popcount(x_active(f, i)) == 1 ? cost / warps : cost;
}

static bool is_global_load(const x_function *f, const x_inst *i)
{
    return i->access == CUTE_ACCESS_LOAD && i->address >= 0 && i->width && i->width < 16 &&
           (i->space == CUTE_CODE_SPACE_GLOBAL || i->space == CUTE_CODE_SPACE_GENERIC) && x_reached(f, i) &&
           !(i->flags & (F_VOLATILE | F_ORDERED));
}

int x_distinct(const uint64_t at[X_LANES], uint32_t active)
{
    int distinct = 0;
    for (int l = 0; l < X_LANES; l++) {
        bool seen = !(active >> l & 1);
        for (int o = 0; o < l && !seen; o++) seen = active >> o & 1 && at[o] == at[l];
        distinct += !seen;
    }
    return distinct;
}

int x_constants(const x_function *f, const x_inst *i)
{
    uint64_t at[X_LANES];
    uint32_t active;
    if (!x_address_varying(f, i)) return 1;
    return x_addresses(f, i, at, &active) ? x_distinct(at, active) : X_LANES / 2;
}

/* Whether each lane of `i` reads the sector that it reads in `before`. */
static bool same_sectors(const x_function *f, const x_inst *i, const x_inst *before)
{
    uint64_t at[X_LANES], had[X_LANES];
    uint32_t active, were;
    if (!x_addresses(f, i, at, &active) || !x_addresses(f, before, had, &were) || active & ~were)
        return false;
    for (int l = 0; l < X_LANES; l++)
        if (active >> l & 1 &&
            (at[l] / SECTOR != had[l] / SECTOR || (at[l] + i->width - 1) / SECTOR != at[l] / SECTOR))
            return false;
    return true;
}

void x_mark_again(x_function *f)
{
    for (size_t n = 0; n < f->count; n++) {
        x_inst *i = &f->insts[n];
        int64_t offset, other;
        const x_value *root = is_global_load(f, i) ? x_root(f, i, &offset) : NULL;
        size_t first = f->flow->blocks[i->block].first, seen = 0;
        for (size_t k = n; root && k > first && seen < NEAR_LOADS && !i->again; k--) {
            const x_inst *o = &f->insts[k - 1];
            if (!is_global_load(f, o)) continue;
            seen++;
            i->again =
                x_root(f, o, &other) == root && llabs(offset - other) < SECTOR && same_sectors(f, i, o);
        }
    }
}

double x_division_cost(const x_function *f, const x_inst *i)
{
    return x_has_inverse(f, i) ? QUOTIENT : i->bits == 64 ? DIVISION_64 : DIVISION;
}

double x_cost(const x_function *f, const x_inst *i)
{
    uint64_t at[X_LANES];
    uint32_t active;
    double cost = costs[i->class];
    if (i->flags & F_TMA) return copy_cost(f, i);
    if (i->flags & F_WGMMA) return product_cost(i);
    if (i->flags & F_BARRIER) return BARRIER;
    if (i->flags & F_DIVIDE && !f->sass) return x_division_cost(f, i);
    if (i->flags & F_DOUBLE) return double_cost(f->arch) * (i->flags & F_SLOW_MATH ? DOUBLE_MATH / 2 : 1);
    if (i->flags & F_SLOW_MATH) return SLOW_MATH;
    if (i->access == CUTE_ACCESS_NONE || i->flags & F_TENSOR_LOAD) return cost;
    if (i->space == CUTE_CODE_SPACE_CONST) return cost + WAVEFRONT_COST * (x_constants(f, i) - 1);
    if (i->seen && i->seen->count > 0)
        return i->seen->count * (i->space == CUTE_CODE_SPACE_SHARED ? WAVEFRONT_COST : SECTOR_COST);
    unsigned width = i->width ? i->width : 4;
    bool known = x_addresses(f, i, at, &active);
    if (i->space == CUTE_CODE_SPACE_SHARED && i->access != CUTE_ACCESS_COPY) {
        x_scatter expected;
        x_traffic t =
            known ? x_wavefronts(at, active, width, x_plain_load(i)) : (x_traffic){(int)(width + 3) / 4, 0};
        if (!known && x_address_depends(f, i) & X_LOADED && x_expected_wavefronts(f, i, &expected))
            return WAVEFRONT_COST * expected.count;
        return WAVEFRONT_COST * (t.count ? t.count : 1);
    }
    if (i->space == CUTE_CODE_SPACE_GLOBAL || i->space == CUTE_CODE_SPACE_GENERIC) {
        x_traffic t = {0, 0};
        if (known)
            t = x_sectors(at, active, width);
        else if (x_address_varying(f, i))
            t.count = x_address_depends(f, i) & X_LOADED ? X_LANES / 2 : X_LANES / 4;
        else
            t.count = 1;
        /* All warps read the same: L1 has it. */
        bool common = i->access == CUTE_ACCESS_LOAD && !x_address_varying(f, i) &&
                      !(x_address_depends(f, i) & (X_THREAD | X_BLOCK | X_LOADED));
        if (common && i->width <= 4) return WAVEFRONT_COST;
        if (known && i->again) return WAVEFRONT_COST * ((t.count + LINE_SECTORS - 1) / LINE_SECTORS);
        return SECTOR_COST * (t.count ? t.count : 1);
    }
    /* Local memory is interleaved by lanes: each has its bank, whatever its index. What L1 does not hold are sectors, of eight lanes with
     * the same index, of one with others. */
    if (i->space == CUTE_CODE_SPACE_LOCAL)
        cost += f->local_missed * SECTOR_COST * (x_address_varying(f, i) ? X_LANES / 2 : X_LANES / 8);
    return cost * (width > 4 ? width / 4.0 : 1);
}
