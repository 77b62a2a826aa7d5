/* Occupancy against cuda_occupancy.h of CUDA 13.0: its cudaOccMaxActiveBlocksPerMultiprocessor, with all shared memory opted
 * in, gave the last column for the limits of the programming guide's table. */
#include "lib/report/occupancy.h"
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

static void test_published(void)
{
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        cute_occupancy out;
        cute_occupancy_input in = {.sm = published[i].sm,
                                   .threads = published[i].threads,
                                   .registers = published[i].registers,
                                   .static_smem = published[i].static_smem,
                                   .dynamic_smem = published[i].dynamic_smem,
                                   .barriers = published[i].barriers};
        CHECK(cute_occupancy_compute(&in, &out));
        if (out.blocks != published[i].blocks)
            printf("# sm_%d, %d threads, %d registers: %lld blocks, not %d\n", in.sm, published[i].threads,
                   published[i].registers, (long long)out.blocks, published[i].blocks);
        CHECK(out.blocks == published[i].blocks);
    }
}

static void test_limit(void)
{
    cute_occupancy out;
    /* 168 registers * 32 = 5376 a warp; 16384 / 5376 = 3 warps in each of 4 partitions; 12 / 12 warps = 1 block. */
    CHECK(cute_occupancy_compute(&(cute_occupancy_input){.sm = 90, .threads = 384, .registers = 168}, &out));
    CHECK_INT(out.blocks, 1);
    CHECK_INT(out.warps, 12);
    CHECK_INT(out.max_warps, 64);
    CHECK_TEXT(out.limit, "registers");
    /* 227 KiB are the most for a block of an H100. */
    CHECK(cute_occupancy_compute(
        &(cute_occupancy_input){.sm = 90, .threads = 32, .registers = 32, .dynamic_smem = 227 * 1024}, &out));
    CHECK_INT(out.blocks, 1);
    CHECK_TEXT(out.limit, "shared memory");
    CHECK(cute_occupancy_compute(
        &(cute_occupancy_input){.sm = 90, .threads = 32, .registers = 32, .dynamic_smem = 227 * 1024 + 1},
        &out));
    CHECK_INT(out.blocks, 0);
}

static void test_nonsense(void)
{
    cute_occupancy out;
    CHECK(!cute_occupancy_compute(&(cute_occupancy_input){.sm = 61, .threads = 32, .registers = 32}, &out));
    CHECK(!cute_occupancy_compute(&(cute_occupancy_input){.sm = 90, .threads = 0, .registers = 32}, &out));
    CHECK(!cute_occupancy_compute(&(cute_occupancy_input){.sm = 90, .threads = 1025, .registers = 32}, &out));
    CHECK(!cute_occupancy_compute(&(cute_occupancy_input){.sm = 90, .threads = 32, .registers = -1}, &out));
}

int main(void)
{
    TEST("blocks on a multiprocessor are those that CUDA's calculator gives", test_published);
    TEST("what limits the occupancy is named", test_limit);
    TEST("unknown architectures and impossible blocks are refused", test_nonsense);
    return test_finish();
}
