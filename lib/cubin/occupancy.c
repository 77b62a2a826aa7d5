/* Occupancy by the rules of cuda_occupancy.h for compute capability 7.5 and later. */
#include "cute/occupancy.h"

#include "lib/base/abi.h"
#include "lib/base/devices/arch.h"
#include "lib/base/devices/multiprocessor.h"

enum {
    WARP = CUTE_SM_WARP,
    REGISTERS = CUTE_SM_REGISTERS,
    PARTITIONS = 4,
    REGISTER_UNIT = 256,
    MAX_THREADS = CUTE_SM_BLOCK_THREADS,
    MAX_REGISTERS = 256, /* the driver's limit; machine code addresses 255 */
    MAX_BARRIERS = 16,
    MAX_CLUSTER = 16,
    CLUSTER_BLOCKS = 8 /* per multiprocessor, the driver's limit for clusters */
};

/* Shared memory carveouts in KiB, up to the architecture's maximum. */
static const int64_t splits[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

typedef cute_multiprocessor sm_limits;

static int64_t round_up(int64_t value, int64_t step)
{
    return (value + step - 1) / step * step;
}

static int64_t warps_of(int64_t threads)
{
    return (threads + WARP - 1) / WARP;
}

static int64_t blocks_by_registers(int64_t warps, int64_t registers)
{
    int64_t of_warp = round_up(registers * WARP, REGISTER_UNIT);
    if (of_warp == 0) return INT64_MAX;
    /* The hardware rounds the warps of a block up to all partitions. */
    if (registers > MAX_REGISTERS || of_warp * round_up(warps, PARTITIONS) > REGISTERS) return 0;
    return REGISTERS / PARTITIONS / of_warp * PARTITIONS / warps;
}

/* The smallest carveout with `bytes` of shared memory. */
static int64_t split_for(const sm_limits *sm, int64_t bytes)
{
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++)
        if (splits[i] * 1024 >= sm->least_shared && splits[i] * 1024 <= sm->shared &&
            bytes <= splits[i] * 1024)
            return splits[i] * 1024;
    return sm->shared;
}

static int64_t block_smem(const sm_limits *sm, int64_t bytes)
{
    return round_up(bytes + sm->reserved, sm->granule);
}

/* A carveout is a hint: a block that needs more gets more, and then few other blocks fit. */
static int64_t total_smem(const sm_limits *sm, const cute_occupancy_input *in, int64_t bytes)
{
    int64_t most = sm->shared, used = block_smem(sm, bytes);
    int64_t wanted = in->has_carveout ? split_for(sm, in->carveout * most / 100) : most;
    return wanted >= used ? wanted : split_for(sm, used);
}

static int64_t blocks_by_smem(const sm_limits *sm, const cute_occupancy_input *in, int64_t bytes)
{
    int64_t used = block_smem(sm, bytes);
    if (used > sm->block_shared + sm->reserved) return 0;
    return used ? total_smem(sm, in, bytes) / used : INT64_MAX;
}

static int64_t blocks_by_barriers(const sm_limits *sm, int64_t barriers)
{
    return barriers && sm->barriers ? sm->barriers * sm->blocks / barriers : INT64_MAX;
}

/* ---- input ---- */

/* Reads and checks the caller's struct. */
static cute_status read_input(const cute_occupancy_input *given, cute_occupancy_input *in,
                              const sm_limits **found, cute_diag *diag)
{
    const int64_t sane = 1 << 30;
    const cute_arch *arch;
    CUTE_TRY(cute_struct_read(in, sizeof *in, given, "cute_occupancy_input", diag));
    CUTE_TRY(cute_arch_parse(in->arch ? in->arch : "", NULL, &arch, diag));
    *found = cute_multiprocessor_of(arch->number);
    if (!*found || !(*found)->warps)
        return cute_fail(diag, CUTE_USAGE, NULL, "the multiprocessor limits of %s are not published",
                         arch->name);
    const struct {
        const char *name;
        int64_t value, least, most;
    } ranges[] = {{"threads per block", in->threads, 1, MAX_THREADS},
                  {"registers per thread", in->registers, 0, MAX_REGISTERS},
                  {"bytes of static shared memory", in->static_smem, 0, sane},
                  {"bytes of dynamic shared memory", in->dynamic_smem, 0, sane},
                  {"barriers", in->barriers, 0, MAX_BARRIERS},
                  {"percent of shared memory", in->carveout, 0, 100},
                  {"blocks per cluster", in->cluster, 0, MAX_CLUSTER}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (ranges[i].value < ranges[i].least || ranges[i].value > ranges[i].most)
            return cute_fail(diag, CUTE_USAGE, NULL, "expected %lld to %lld %s, got %lld",
                             (long long)ranges[i].least, (long long)ranges[i].most, ranges[i].name,
                             (long long)ranges[i].value);
    if (in->cluster > 1 && !cute_arch_has(arch->number, CUTE_FEATURE_CLUSTERS))
        return cute_fail(diag, CUTE_USAGE, NULL, "%s does not support clusters; expected sm_%d or later",
                         arch->name, cute_feature_first(CUTE_FEATURE_CLUSTERS));
    return CUTE_OK;
}

/* ---- results ---- */

/* A cluster runs in one GPC, which must have a multiprocessor for each of its blocks, although several blocks
 * may then share a multiprocessor. The driver counts at most eight cluster blocks per multiprocessor. */
static int64_t count_clusters(const cute_occupancy_input *in, int64_t blocks)
{
    int64_t clusters = 0, counted = blocks < CLUSTER_BLOCKS ? blocks : CLUSTER_BLOCKS;
    if (!in->cluster || !in->gpcs) return -1;
    for (size_t i = 0; i < in->gpc_count; i++)
        if (in->gpcs[i] >= in->cluster) clusters += in->gpcs[i] * counted / in->cluster;
    return clusters;
}

cute_status cute_occupancy_compute(const cute_occupancy_input *given, cute_occupancy *out, cute_diag *diag)
{
    cute_occupancy_input in;
    const sm_limits *sm;
    CUTE_TRY(read_input(given, &in, &sm, diag));
    int64_t warps = warps_of(in.threads), bytes = in.static_smem + in.dynamic_smem;
    cute_occupancy o = {
        .max_warps = sm->warps,
        .block_registers = round_up(in.registers * WARP, REGISTER_UNIT) * warps,
        .block_smem = block_smem(sm, bytes),
        .registers = REGISTERS,
        .smem = total_smem(sm, &in, bytes),
        .by_warps = sm->warps / warps,
        .by_registers = blocks_by_registers(warps, in.registers),
        .by_smem = blocks_by_smem(sm, &in, bytes),
        .by_barriers = blocks_by_barriers(sm, in.barriers),
        .by_blocks = sm->blocks,
    };
    const struct {
        const char *name;
        unsigned bit;
        int64_t blocks;
    } limits[] = {{"warps", CUTE_LIMIT_WARPS, o.by_warps},
                  {"registers", CUTE_LIMIT_REGISTERS, o.by_registers},
                  {"shared memory", CUTE_LIMIT_SHARED, o.by_smem},
                  {"barriers", CUTE_LIMIT_BARRIERS, o.by_barriers},
                  {"blocks", CUTE_LIMIT_BLOCKS, o.by_blocks}};
    o.blocks = INT64_MAX;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i].blocks < o.blocks) {
            o.blocks = limits[i].blocks;
            o.limit = limits[i].name;
            o.limits = 0;
        }
        if (limits[i].blocks == o.blocks) o.limits |= limits[i].bit;
    }
    o.warps = o.blocks * warps;
    o.fraction = (double)o.warps / (double)sm->warps;
    o.clusters = count_clusters(&in, o.blocks);
    return cute_struct_write(out, &o, sizeof o, "cute_occupancy", diag);
}

cute_status cute_occupancy_find_most(const cute_occupancy_input *given, int64_t blocks,
                                     cute_occupancy_most *out, cute_diag *diag)
{
    cute_occupancy_input in;
    const sm_limits *sm;
    CUTE_TRY(read_input(given, &in, &sm, diag));
    if (blocks < 1)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected at least 1 block, got %lld", (long long)blocks);
    int64_t warps = warps_of(in.threads);
    cute_occupancy_most most = {sizeof most, -1, -1, -1, -1, sm->blocks};
    for (int64_t w = 1; w <= MAX_THREADS / WARP; w++)
        if (sm->warps / w >= blocks && blocks_by_registers(w, in.registers) >= blocks)
            most.threads = w * WARP;
    for (int64_t r = 1; r < MAX_REGISTERS; r++)
        if (blocks_by_registers(warps, r) >= blocks) most.registers = r;
    for (int64_t b = 0; b <= MAX_BARRIERS; b++)
        if (blocks_by_barriers(sm, b) >= blocks) most.barriers = b;
    /* Steps of one granule: the reserved size is a multiple of it. */
    for (int64_t bytes = 0; bytes <= sm->block_shared; bytes += sm->granule)
        if (blocks_by_smem(sm, &in, bytes) >= blocks) most.smem = bytes;
    return cute_struct_write(out, &most, sizeof most, "cute_occupancy_most", diag);
}
