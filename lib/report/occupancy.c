/* Occupancy, by the rules of cuda_occupancy.h for compute capability 7.5 and later. */
#include "lib/report/occupancy.h"

enum {
    WARP = 32,
    REGISTERS = 65536,
    PARTITIONS = 4,
    REGISTER_UNIT = 256,
    MOST_THREADS = 1024,
    MOST_REGISTERS = 255
};

static const struct sm {
    int number, warps, blocks, smem_kib, block_kib, reserved, granule, barriers;
} table[] = {
#define SM(number, warps, blocks, smem, block, reserved, granule, barriers)                                  \
    {number, warps, blocks, smem, block, reserved, granule, barriers},
#include "lib/report/occupancy.def"
};

static int64_t round_up(int64_t value, int64_t step)
{
    return (value + step - 1) / step * step;
}

static int64_t by_registers(int64_t warps, int64_t registers)
{
    int64_t of_warp = round_up(registers * WARP, REGISTER_UNIT);
    if (of_warp == 0) return INT64_MAX;
    /* The hardware checks a block as if its warps filled all partitions. */
    if (of_warp * round_up(warps, PARTITIONS) > REGISTERS) return 0;
    return REGISTERS / PARTITIONS / of_warp * PARTITIONS / warps;
}

static int64_t by_smem(const struct sm *sm, int64_t bytes)
{
    int64_t used = round_up(bytes + sm->reserved, sm->granule);
    if (bytes > (int64_t)sm->block_kib * 1024) return 0;
    return used ? (int64_t)sm->smem_kib * 1024 / used : INT64_MAX;
}

bool cute_occupancy_compute(const cute_occupancy_input *in, cute_occupancy *out)
{
    const int64_t sane = 1 << 30;
    const struct sm *sm = NULL;
    *out = (cute_occupancy){0};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].number == in->sm) sm = &table[i];
    if (!sm || in->threads < 1 || in->threads > MOST_THREADS || in->registers < 0 ||
        in->registers > MOST_REGISTERS + 1 || in->static_smem < 0 || in->dynamic_smem < 0 ||
        in->static_smem > sane || in->dynamic_smem > sane || in->barriers < 0 || in->barriers > 16)
        return false;
    int64_t warps = (in->threads + WARP - 1) / WARP;
    out->max_warps = sm->warps;
    out->by_warps = sm->warps / warps;
    out->by_blocks = sm->blocks;
    out->by_registers = by_registers(warps, in->registers);
    out->by_smem = by_smem(sm, in->static_smem + in->dynamic_smem);
    out->by_barriers =
        in->barriers && sm->barriers ? (int64_t)sm->barriers * sm->blocks / in->barriers : INT64_MAX;
    const struct {
        const char *name;
        int64_t blocks;
    } limits[] = {{"warps", out->by_warps},
                  {"registers", out->by_registers},
                  {"shared memory", out->by_smem},
                  {"barriers", out->by_barriers},
                  {"blocks", out->by_blocks}};
    out->blocks = INT64_MAX;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].blocks < out->blocks) {
            out->blocks = limits[i].blocks;
            out->limit = limits[i].name;
        }
    out->warps = out->blocks * warps;
    out->fraction = (double)out->warps / (double)sm->warps;
    return true;
}
