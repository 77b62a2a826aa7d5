/* Occupancy against cuda_occupancy.h of CUDA 13.0: its cudaOccMaxActiveBlocksPerMultiprocessor, with all shared memory opted
 * in, gave the last column for the limits of the programming guide's table. */
#include "cute/occupancy.h"
#include "lib/base/devices/arch.h"
#include "lib/base/devices/multiprocessor.h"
#include "tests/unit/test.h"

static const struct {
    int sm, threads, registers, static_smem, dynamic_smem, barriers, blocks;
} published[] = {
    /* clang-format off */
    {75, 256, 32, 0, 0, 0, 4}, {75, 128, 168, 0, 0, 1, 3}, {75, 384, 168, 0, 229376, 4, 0},
    {75, 1024, 64, 4096, 0, 1, 1}, {75, 96, 40, 1000, 5000, 2, 10}, {75, 1, 255, 0, 0, 0, 8},
    {75, 1024, 65, 0, 0, 0, 0}, {75, 64, 16, 0, 0, 16, 16}, {75, 160, 72, 33, 0, 3, 5},
    {75, 256, 255, 0, 0, 0, 1}, {80, 256, 32, 0, 0, 0, 8}, {80, 128, 168, 0, 0, 1, 3}, {80, 384, 168, 0, 229376, 4, 0},
    {80, 1024, 64, 4096, 0, 1, 1}, {80, 96, 40, 1000, 5000, 2, 16}, {80, 1, 255, 0, 0, 0, 8},
    {80, 1024, 65, 0, 0, 0, 0}, {80, 64, 16, 0, 0, 16, 32}, {80, 160, 72, 33, 0, 3, 5},
    {80, 256, 255, 0, 0, 0, 1}, {86, 256, 32, 0, 0, 0, 6}, {86, 128, 168, 0, 0, 1, 3}, {86, 384, 168, 0, 229376, 4, 0},
    {86, 1024, 64, 4096, 0, 1, 1}, {86, 96, 40, 1000, 5000, 2, 14}, {86, 1, 255, 0, 0, 0, 8},
    {86, 1024, 65, 0, 0, 0, 0}, {86, 64, 16, 0, 0, 16, 16}, {86, 160, 72, 33, 0, 3, 5},
    {86, 256, 255, 0, 0, 0, 1}, {87, 256, 32, 0, 0, 0, 6}, {87, 128, 168, 0, 0, 1, 3}, {87, 384, 168, 0, 229376, 4, 0},
    {87, 1024, 64, 4096, 0, 1, 1}, {87, 96, 40, 1000, 5000, 2, 16}, {87, 1, 255, 0, 0, 0, 8},
    {87, 1024, 65, 0, 0, 0, 0}, {87, 64, 16, 0, 0, 16, 16}, {87, 160, 72, 33, 0, 3, 5},
    {87, 256, 255, 0, 0, 0, 1}, {89, 256, 32, 0, 0, 0, 6}, {89, 128, 168, 0, 0, 1, 3}, {89, 384, 168, 0, 229376, 4, 0},
    {89, 1024, 64, 4096, 0, 1, 1}, {89, 96, 40, 1000, 5000, 2, 14}, {89, 1, 255, 0, 0, 0, 8},
    {89, 1024, 65, 0, 0, 0, 0}, {89, 64, 16, 0, 0, 16, 24}, {89, 160, 72, 33, 0, 3, 5},
    {89, 256, 255, 0, 0, 0, 1}, {90, 256, 32, 0, 0, 0, 8}, {90, 128, 168, 0, 0, 1, 3}, {90, 384, 168, 0, 229376, 4, 1},
    {90, 1024, 64, 4096, 0, 1, 1}, {90, 96, 40, 1000, 5000, 2, 16}, {90, 1, 255, 0, 0, 0, 8},
    {90, 1024, 65, 0, 0, 0, 0}, {90, 64, 16, 0, 0, 16, 4}, {90, 160, 72, 33, 0, 3, 5},
    {90, 256, 255, 0, 0, 0, 1}, {100, 256, 32, 0, 0, 0, 8}, {100, 128, 168, 0, 0, 1, 3}, {100, 384, 168, 0, 229376, 4, 1},
    {100, 1024, 64, 4096, 0, 1, 1}, {100, 96, 40, 1000, 5000, 2, 16}, {100, 1, 255, 0, 0, 0, 8},
    {100, 1024, 65, 0, 0, 0, 0}, {100, 64, 16, 0, 0, 16, 4}, {100, 160, 72, 33, 0, 3, 5},
    {100, 256, 255, 0, 0, 0, 1}, {103, 256, 32, 0, 0, 0, 8}, {103, 128, 168, 0, 0, 1, 3}, {103, 384, 168, 0, 229376, 4, 1},
    {103, 1024, 64, 4096, 0, 1, 1}, {103, 96, 40, 1000, 5000, 2, 16}, {103, 1, 255, 0, 0, 0, 8},
    {103, 1024, 65, 0, 0, 0, 0}, {103, 64, 16, 0, 0, 16, 4}, {103, 160, 72, 33, 0, 3, 5},
    {103, 256, 255, 0, 0, 0, 1}, {110, 256, 32, 0, 0, 0, 6}, {110, 128, 168, 0, 0, 1, 3}, {110, 384, 168, 0, 229376, 4, 1},
    {110, 1024, 64, 4096, 0, 1, 1}, {110, 96, 40, 1000, 5000, 2, 12}, {110, 1, 255, 0, 0, 0, 8},
    {110, 1024, 65, 0, 0, 0, 0}, {110, 64, 16, 0, 0, 16, 1}, {110, 160, 72, 33, 0, 3, 5},
    {110, 256, 255, 0, 0, 0, 1}, {120, 256, 32, 0, 0, 0, 6}, {120, 128, 168, 0, 0, 1, 3}, {120, 384, 168, 0, 229376, 4, 0},
    {120, 1024, 64, 4096, 0, 1, 1}, {120, 96, 40, 1000, 5000, 2, 12}, {120, 1, 255, 0, 0, 0, 8},
    {120, 1024, 65, 0, 0, 0, 0}, {120, 64, 16, 0, 0, 16, 1}, {120, 160, 72, 33, 0, 3, 5},
    {120, 256, 255, 0, 0, 0, 1}, {121, 256, 32, 0, 0, 0, 6}, {121, 128, 168, 0, 0, 1, 3}, {121, 384, 168, 0, 229376, 4, 0},
    {121, 1024, 64, 4096, 0, 1, 1}, {121, 96, 40, 1000, 5000, 2, 12}, {121, 1, 255, 0, 0, 0, 8},
    {121, 1024, 65, 0, 0, 0, 0}, {121, 64, 16, 0, 0, 16, 1}, {121, 160, 72, 33, 0, 3, 5},
    {121, 256, 255, 0, 0, 0, 1},
    /* clang-format on */
};

static const char *arch_name(int sm)
{
    static char name[16];
    snprintf(name, sizeof name, "sm_%d", sm);
    return name;
}

static void test_published(void)
{
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        cute_occupancy out = {.size = sizeof out};
        cute_occupancy_input in = {.size = sizeof in,
                                   .arch = arch_name(published[i].sm),
                                   .threads = published[i].threads,
                                   .registers = published[i].registers,
                                   .static_smem = published[i].static_smem,
                                   .dynamic_smem = published[i].dynamic_smem,
                                   .barriers = published[i].barriers};
        CHECK(cute_occupancy_compute(&in, &out, NULL) == CUTE_OK);
        if (out.blocks != published[i].blocks)
            printf("# %s, %d threads, %d registers: %lld blocks, not %d\n", in.arch, published[i].threads,
                   published[i].registers, (long long)out.blocks, published[i].blocks);
        CHECK(out.blocks == published[i].blocks);
    }
}

#define INPUT(...)                                                                                           \
    &(cute_occupancy_input)                                                                                  \
    {                                                                                                        \
        .size = sizeof(cute_occupancy_input), __VA_ARGS__                                                    \
    }

static void test_limit(void)
{
    cute_occupancy out = {.size = sizeof out};
    /* 168 registers * 32 = 5376 a warp; 16384 / 5376 = 3 warps in each of 4 partitions; 12 / 12 warps = 1 block. */
    CHECK(cute_occupancy_compute(INPUT(.arch = "sm_90", .threads = 384, .registers = 168), &out, NULL) ==
          CUTE_OK);
    CHECK_INT(out.blocks, 1);
    CHECK_INT(out.warps, 12);
    CHECK_INT(out.max_warps, 64);
    CHECK_TEXT(out.limit, "registers");
    CHECK_INT(out.limits, CUTE_LIMIT_REGISTERS);
    CHECK_INT(out.block_registers, 5376 * 12);
    /* 227 KiB are the most for a block of an H100. */
    CHECK(cute_occupancy_compute(
              INPUT(.arch = "sm_90", .threads = 32, .registers = 32, .dynamic_smem = 227 * 1024), &out,
              NULL) == CUTE_OK);
    CHECK_INT(out.blocks, 1);
    CHECK_INT(out.block_smem, 228 * 1024);
    CHECK_TEXT(out.limit, "shared memory");
    CHECK(cute_occupancy_compute(
              INPUT(.arch = "sm_90", .threads = 32, .registers = 32, .dynamic_smem = 227 * 1024 + 1), &out,
              NULL) == CUTE_OK);
    CHECK_INT(out.blocks, 0);
    /* 256 threads with 32 registers: 8 blocks by warps, 65536 / (32 * 32 * 8) = 8 by registers. */
    CHECK(cute_occupancy_compute(INPUT(.arch = "90a", .threads = 256, .registers = 32), &out, NULL) ==
          CUTE_OK);
    CHECK_INT(out.limits, CUTE_LIMIT_WARPS | CUTE_LIMIT_REGISTERS);
}

static int64_t blocks_with(int64_t percent, const char *arch, int64_t bytes)
{
    cute_occupancy out = {.size = sizeof out};
    CHECK(cute_occupancy_compute(INPUT(.arch = arch, .threads = 32, .registers = 16, .has_carveout = true,
                                       .carveout = percent, .static_smem = bytes),
                                 &out, NULL) == CUTE_OK);
    return out.by_smem;
}

/* The splits of the guide: 0, 8, 16, 32, 64, 100, 132, 164, 196, 228 KiB, of Turing 32 and 64. */
static void test_carveout(void)
{
    CHECK_INT(blocks_with(100, "sm_90", 7 * 1024), 28);
    CHECK_INT(blocks_with(50, "sm_90", 7 * 1024), 16);  /* 114 -> 132 KiB, 8 a block */
    CHECK_INT(blocks_with(50, "sm_80", 7 * 1024), 12);  /* 82 -> 100 KiB */
    CHECK_INT(blocks_with(0, "sm_80", 7 * 1024), 1);    /* 0 is too little for one: 8 KiB */
    CHECK_INT(blocks_with(0, "sm_80", 8 * 1024), 1);    /* 9 -> 16 KiB */
    CHECK_INT(blocks_with(10, "sm_75", 8 * 1024), 4);   /* 32 KiB, nothing reserved */
    CHECK_INT(blocks_with(51, "sm_75", 8 * 1024), 8);   /* 64 KiB */
    CHECK_INT(blocks_with(99, "sm_86", 15 * 1024), 6);  /* 100 KiB, 16 a block */
    CHECK_INT(blocks_with(20, "sm_120", 15 * 1024), 2); /* 20 -> 32 KiB */
}

static void test_most(void)
{
    cute_occupancy_most most = {.size = sizeof most};
    /* 12 warps a block, 2 blocks: 6 warps a partition, 16384 / 6 = 2730 -> 2560 = 80 * 32. */
    CHECK(cute_occupancy_find_most(INPUT(.arch = "sm_90", .threads = 384, .registers = 168), 2, &most,
                                   NULL) == CUTE_OK);
    CHECK_INT(most.registers, 80);
    CHECK_INT(most.threads, 192); /* 12 warps of 168 registers in all: 6 a block */
    CHECK_INT(most.smem, 113 * 1024);
    CHECK_INT(most.barriers, 16);
    CHECK_INT(most.max_blocks, 32);
    CHECK(cute_occupancy_find_most(
              INPUT(.arch = "sm_90", .threads = 128, .registers = 32, .static_smem = 65536), 4, &most,
              NULL) == CUTE_OK);
    CHECK_INT(most.smem, 56 * 1024); /* 57 KiB less the 1 KiB that is reserved */
    CHECK_INT(most.registers, 128);
    CHECK(cute_occupancy_find_most(INPUT(.arch = "sm_90", .threads = 128, .registers = 32), 16, &most,
                                   NULL) == CUTE_OK);
    CHECK_INT(most.barriers, 4); /* 64 for 16 blocks */
    CHECK(cute_occupancy_find_most(INPUT(.arch = "sm_90", .threads = 1024, .registers = 32), 3, &most,
                                   NULL) == CUTE_OK);
    CHECK_INT(most.threads, 672); /* 64 / 3 = 21 warps */
    CHECK(cute_occupancy_find_most(INPUT(.arch = "sm_86", .threads = 64, .registers = 32), 17, &most, NULL) ==
          CUTE_OK);
    CHECK_INT(most.max_blocks, 16);
    CHECK(cute_occupancy_find_most(INPUT(.arch = "sm_90", .threads = 64), 0, &most, NULL) == CUTE_USAGE);
}

/* What find_most says is the last value that does, for many inputs. */
static void test_most_is_the_last(void)
{
    static const int registers[] = {16, 24, 40, 64, 96, 128, 168, 255};
    for (size_t i = 0; i < sizeof registers / sizeof *registers; i++)
        for (int threads = 32; threads <= 1024; threads += 96)
            for (int64_t blocks = 1; blocks < 6; blocks++) {
                cute_occupancy_input in = {
                    .size = sizeof in, .arch = "sm_90", .threads = threads, .registers = registers[i]};
                cute_occupancy_most most = {.size = sizeof most};
                cute_occupancy out = {.size = sizeof out};
                CHECK(cute_occupancy_find_most(&in, blocks, &most, NULL) == CUTE_OK);
                if (most.registers > 0) {
                    in.registers = most.registers;
                    CHECK(cute_occupancy_compute(&in, &out, NULL) == CUTE_OK && out.by_registers >= blocks);
                    in.registers++;
                    CHECK(cute_occupancy_compute(&in, &out, NULL) == CUTE_OK &&
                          (out.by_registers < blocks || in.registers == 256));
                }
                in.registers = registers[i];
                in.static_smem = most.smem;
                CHECK(cute_occupancy_compute(&in, &out, NULL) == CUTE_OK && out.by_smem >= blocks);
                in.static_smem++;
                CHECK(cute_occupancy_compute(&in, &out, NULL) == CUTE_OK && out.by_smem < blocks);
            }
}

static void test_clusters(void)
{
    static const int64_t gpcs[] = {16, 16, 18};
    cute_occupancy out = {.size = sizeof out};
    CHECK(cute_occupancy_compute(INPUT(.arch = "sm_90", .threads = 1024, .registers = 64, .cluster = 4,
                                       .gpcs = gpcs, .gpc_count = 3),
                                 &out, NULL) == CUTE_OK);
    CHECK_INT(out.blocks, 1);
    CHECK_INT(out.clusters, 4 + 4 + 4);
    CHECK(cute_occupancy_compute(INPUT(.arch = "sm_90", .threads = 32, .registers = 64, .cluster = 4), &out,
                                 NULL) == CUTE_OK);
    CHECK_INT(out.clusters, -1);
}

/* Answers of the driver on an H100 with these GPCs: clusters of 1 to 16 with 1 to 4 blocks on a multiprocessor, and of some with more. */
static void test_clusters_of_an_h100(void)
{
    static const int64_t gpcs[] = {18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2};
    static const int64_t few[16][4] = {
        {132, 264, 396, 528}, {66, 132, 198, 264}, {39, 79, 124, 163}, {30, 62, 92, 124},
        {22, 47, 69, 94},     {17, 39, 62, 79},    {15, 32, 47, 69},   {15, 30, 45, 62},
        {9, 23, 37, 51},      {7, 21, 30, 44},     {7, 16, 28, 37},    {7, 16, 28, 37},
        {7, 14, 23, 30},      {7, 14, 21, 30},     {7, 14, 21, 28},    {7, 14, 21, 28}};
    static const struct {
        int64_t blocks, cluster, clusters;
    } many[] = {{8, 4, 248},  {9, 8, 124},   {10, 1, 1056}, {12, 2, 528},
                {16, 4, 248}, {32, 1, 1056}, {32, 8, 124}};
    cute_occupancy_input in = {.size = sizeof in,
                               .arch = "sm_90",
                               .threads = 32,
                               .registers = 32,
                               .gpcs = gpcs,
                               .gpc_count = sizeof gpcs / sizeof *gpcs};
    cute_occupancy out = {.size = sizeof out};
    for (int64_t n = 0; n < 64 + (int64_t)(sizeof many / sizeof *many); n++) {
        int64_t blocks = n < 64 ? n % 4 + 1 : many[n - 64].blocks;
        in.cluster = n < 64 ? n / 4 + 1 : many[n - 64].cluster;
        in.dynamic_smem = (blocks == 1 ? 227 : 228 / blocks - 1) * 1024;
        CHECK_INT(cute_occupancy_compute(&in, &out, NULL), CUTE_OK);
        CHECK(blocks > 8 ? out.blocks > 8 : out.blocks == blocks);
        CHECK_INT(out.clusters, n < 64 ? few[n / 4][n % 4] : many[n - 64].clusters);
    }
}

static void test_nonsense(void)
{
    cute_occupancy out = {.size = sizeof out};
    cute_diag *diag = cute_diag_create();
    const struct {
        cute_occupancy_input in;
        const char *says;
    } cases[] = {
        {{.arch = "sm_61", .threads = 32, .registers = 32}, "unknown architecture 'sm_61'"},
        {{.arch = "sm_88", .threads = 32, .registers = 32},
         "the multiprocessor limits of sm_88 are not published"},
        {{.arch = NULL, .threads = 32, .registers = 32}, "unknown architecture ''"},
        {{.arch = "sm_90", .registers = 32}, "expected 1 to 1024 threads per block, got 0"},
        {{.arch = "sm_90", .threads = 1025}, "expected 1 to 1024 threads per block, got 1025"},
        {{.arch = "sm_90", .threads = 32, .registers = -1}, "expected 0 to 256 registers per thread, got -1"},
        {{.arch = "sm_90", .threads = 32, .static_smem = INT64_MAX},
         "expected 0 to 1073741824 bytes of static shared memory, got 9223372036854775807"},
        {{.arch = "sm_90", .threads = 32, .dynamic_smem = -1},
         "expected 0 to 1073741824 bytes of dynamic shared memory, got -1"},
        {{.arch = "sm_90", .threads = 32, .barriers = 17}, "expected 0 to 16 barriers, got 17"},
        {{.arch = "sm_90", .threads = 32, .carveout = 101},
         "expected 0 to 100 percent of shared memory, got 101"},
        {{.arch = "sm_90", .threads = 32, .cluster = 17}, "expected 0 to 16 blocks per cluster, got 17"},
        {{.arch = "sm_80", .threads = 32, .cluster = 2},
         "sm_80 does not support clusters; expected sm_90 or later"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cute_occupancy_input in = cases[i].in;
        in.size = sizeof in;
        cute_diag_clear(diag);
        CHECK(cute_occupancy_compute(&in, &out, diag) == CUTE_USAGE);
        const char *text = cute_diag_get(diag, 0)->text;
        CHECK(!strncmp(text, cases[i].says, strlen(cases[i].says)));
        if (strncmp(text, cases[i].says, strlen(cases[i].says))) printf("# %s\n", text);
    }
    cute_diag_clear(diag);
    CHECK(cute_occupancy_compute(&(cute_occupancy_input){.arch = "sm_90"}, &out, diag) == CUTE_USAGE);
    cute_diag_destroy(diag);
}

static void test_rows(void)
{
    const int numbers[] = {
#define ARCH(name, number, ...) number,
#include "lib/base/devices/arch.def"
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const cute_multiprocessor *sm = cute_multiprocessor_of(numbers[i]);
        CHECK(sm && sm->block_shared + sm->reserved <= sm->shared && sm->cluster > 0);
        CHECK(sm && (sm->cluster > 1) == (numbers[i] >= 90));
    }
    CHECK(!cute_multiprocessor_of(91));
}

int main(void)
{
    TEST("blocks on a multiprocessor are those that CUDA's calculator gives", test_published);
    TEST("what limits the occupancy is named", test_limit);
    TEST("a carveout is rounded to a split that there is, and a block gets what it needs", test_carveout);
    TEST("the most of each resource for a number of blocks", test_most);
    TEST("one more than the most is too much", test_most_is_the_last);
    TEST("clusters fit into GPCs", test_clusters);
    TEST("clusters go only to GPCs with a multiprocessor for each block", test_clusters_of_an_h100);
    TEST("each architecture has its multiprocessor", test_rows);
    TEST("unknown architectures and impossible blocks are refused", test_nonsense);
    return test_finish();
}
