/* The PTX emulator: groups of asynchronous work. Copies are grouped by each thread, products by the warp (PTX
 * ISA, "Asynchronous operations"). What a wait does not ask for may come late, and for some seed it does. */
#include "tests/unit/test_emulator.h"

enum { SEEDS = 24, UNTOUCHED = -1 };

/* In how many of the schedules element `at` holds `value`. */
static int seeds_with(const char *ptx, int64_t threads, size_t count, size_t at, uint32_t value)
{
    uint32_t out[256];
    int found = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        if (!run(ptx, 1, threads, 0, seed, out, count)) return -1;
        found += out[at] == value;
    }
    return found;
}

/* Every lane copies two words, in two groups: in[1] is 7 and in[2] is 14. Before that a lane commits as many
 * empty groups as its number. */
#define TWO_GROUPS                                                                                           \
    ".shared .align 16 .b8 s[1024]; mov.u32 %r2,s; shl.b32 %r3,%r0,3; add.u32 %r2,%r2,%r3; mov.u32 %r4,%r0;" \
    "\nE: setp.eq.u32 %p1,%r4,0; @%p1 bra F; cp.async.commit_group; sub.u32 %r4,%r4,1; bra E;\nF: "          \
    "cp.async.ca.shared.global [%r2],[%d1+4],4; cp.async.commit_group; cp.async.ca.shared.global "           \
    "[%r2+4],[%d1+8],4; cp.async.commit_group; "

static void test_first_of_two(void)
{
    uint32_t out[32];
    const char *ptx = BODY(TWO_GROUPS "cp.async.wait_group 1; ld.shared.u32 %r1,[%r2]; cp.async.wait_all;");
    for (uint64_t seed = 0; seed <= SEEDS; seed++) {
        if (!CHECK(run(ptx, 1, 32, 0, seed, out, 32))) return;
        for (int t = 0; t < 32; t++) CHECK_INT(out[t], 7);
    }
}

static void test_second_of_two(void)
{
    const char *late =
        BODY(TWO_GROUPS "cp.async.wait_group 1; ld.shared.u32 %r1,[%r2+4]; cp.async.wait_all;");
    const char *there =
        BODY(TWO_GROUPS "cp.async.wait_group 0; ld.shared.u32 %r1,[%r2+4]; cp.async.wait_all;");
    int lanes[] = {0, 5, 31};
    for (size_t i = 0; i < 3; i++) {
        CHECK(seeds_with(late, 32, 32, (size_t)lanes[i], (uint32_t)UNTOUCHED) > 0);
        CHECK_INT(seeds_with(there, 32, 32, (size_t)lanes[i], 14), SEEDS);
    }
}

/* One instruction copies for all lanes; only the upper half waits. */
static void test_half_waits(void)
{
    const char *ptx =
        BODY(".shared .align 16 .b8 s[128]; mov.u32 %r2,s; shl.b32 %r3,%r0,2; add.u32 %r2,%r2,%r3; "
             "cp.async.ca.shared.global [%r2],[%d1+4],4; cp.async.commit_group; setp.lt.u32 %p1,%r0,16; "
             "@!%p1 cp.async.wait_group 0; ld.shared.u32 %r1,[%r2]; cp.async.wait_all;");
    CHECK(seeds_with(ptx, 32, 32, 3, (uint32_t)UNTOUCHED) > 0);
    CHECK_INT(seeds_with(ptx, 32, 32, 16, 7), SEEDS);
    CHECK_INT(seeds_with(ptx, 32, 32, 31, 7), SEEDS);
}

/* One instruction copies for all lanes; the lower half commits that before another copy, the upper half
 * behind it. So with one group left the lower half has its first word, and the upper half may have none. */
static void test_half_commits(void)
{
    const char *ptx =
        BODY(".shared .align 16 .b8 s[256]; mov.u32 %r2,s; shl.b32 %r3,%r0,3; add.u32 %r2,%r2,%r3; "
             "setp.lt.u32 %p1,%r0,16; cp.async.ca.shared.global [%r2],[%d1+4],4; @%p1 cp.async.commit_group; "
             "cp.async.ca.shared.global [%r2+4],[%d1+8],4; cp.async.commit_group; cp.async.wait_group 1; "
             "ld.shared.u32 %r1,[%r2]; cp.async.wait_all;");
    CHECK_INT(seeds_with(ptx, 32, 32, 0, 7), SEEDS);
    CHECK_INT(seeds_with(ptx, 32, 32, 15, 7), SEEDS);
    CHECK(seeds_with(ptx, 32, 32, 16, (uint32_t)UNTOUCHED) > 0);
}

static void test_wait_all(void)
{
    const char *ptx =
        BODY(".shared .align 16 .b8 s[128]; mov.u32 %r2,s; shl.b32 %r3,%r0,2; add.u32 %r2,%r2,%r3; "
             "cp.async.ca.shared.global [%r2],[%d1+4],4; cp.async.wait_all; ld.shared.u32 %r1,[%r2]; "
             "cp.async.wait_all;");
    CHECK_INT(seeds_with(ptx, 32, 32, 9, 7), SEEDS);
}

/* Lanes 0 and 1 store 16 bytes each, lane 1 also commits an empty group in front. Lane 0 waits for its own
 * store and reads it; then it reads that of lane 1, which has not waited. */
static void test_bulk(void)
{
    const char *ptx = BODY(
        ".shared .align 16 .b8 s[512]; mov.u32 %r2,s; shl.b32 %r3,%r0,4; add.u32 %r2,%r2,%r3; st.shared.u32 "
        "[%r2],77; fence.proxy.async; cvt.u64.u32 %d5,%r3; add.s64 %d6,%d1,%d5; setp.gt.u32 %p1,%r0,1; "
        "setp.eq.u32 %p2,%r0,1; setp.eq.u32 %p3,%r0,0; @%p2 cp.async.bulk.commit_group; @!%p1 "
        "cp.async.bulk.global.shared::cta.bulk_group [%d6],[%r2],16; @!%p1 cp.async.bulk.commit_group; @%p3 "
        "cp.async.bulk.wait_group 0; ld.global.u32 %r1,[%d6]; cp.async.bulk.wait_group 0;");
    CHECK_INT(seeds_with(ptx, 32, 32, 0, 77), SEEDS);
    CHECK(seeds_with(ptx, 32, 32, 1, 4 * 7) > 0); /* in[4] is 28 */
}

/* Two products of ones, 64x8x16: each element is 16. The halves of the warps part at P and would meet at X
 * only, as far as the flow graph tells; so they come to each commit apart. */
#define PRODUCT(d)                                                                                           \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " d                                                   \
    ",%d5,%d5,%p5,1,1,0,0; wgmma.commit_group.sync.aligned; "
#define PRODUCTS                                                                                             \
    ".reg .b32 %a<4>; .reg .b32 %b<4>; .shared .align 1024 .b8 s[4096]; mov.u32 %r2,s; mov.u32 %r3,%r0;\n"   \
    "I: shl.b32 %r4,%r3,2; add.u32 %r4,%r4,%r2; st.shared.u32 [%r4],0x3c003c00; add.u32 %r3,%r3,128; "       \
    "setp.lt.u32 %p1,%r3,1024; @%p1 bra I; fence.proxy.async; bar.sync 0; shr.u32 %r4,%r2,4; cvt.u64.u32 "   \
    "%d5,%r4; setp.ne.u32 %p5,%r0,%r0; mov.b32 %a0,0; mov.b32 %a1,0; mov.b32 %a2,0; mov.b32 %a3,0; mov.b32 " \
    "%b0,0; mov.b32 %b1,0; mov.b32 %b2,0; mov.b32 %b3,0; mov.u32 %r1,0; and.b32 %r5,%r0,31; "                \
    "setp.lt.u32 %p1,%r5,16; @%p1 bra P; add.u32 %r5,%r5,1; setp.gt.u32 %p2,%r5,999; @%p2 bra X;\nP: "       \
    "wgmma.fence.sync.aligned; " PRODUCT("{%a0,%a1,%a2,%a3}") PRODUCT("{%b0,%b1,%b2,%b3}")

/* The operands become zeros, which a product that is not over then takes. */
#define ZEROS                                                                                                \
    "bar.sync 0; shl.b32 %r4,%r0,2; add.u32 %r4,%r4,%r2; st.shared.u32 [%r4],0; st.shared.u32 [%r4+512],0; " \
    "st.shared.u32 [%r4+1024],0; st.shared.u32 [%r4+1536],0; st.shared.u32 [%r4+2048],0; "                   \
    "st.shared.u32 [%r4+2560],0; st.shared.u32 [%r4+3072],0; st.shared.u32 [%r4+3584],0; bar.sync 0; "
#define WAIT_ONE  PRODUCTS "wgmma.wait_group.sync.aligned 1; " ZEROS "wgmma.wait_group.sync.aligned 0; "
#define WAIT_BOTH PRODUCTS "wgmma.wait_group.sync.aligned 0; " ZEROS

static const uint32_t sixteen = 0x41800000; /* 16.0f */

static void test_products(void)
{
    const char *first = BODY(WAIT_ONE "mov.b32 %r1,%a0;\nX:"), *late = BODY(WAIT_ONE "mov.b32 %r1,%b0;\nX:"),
               *both = BODY(WAIT_BOTH "mov.b32 %r1,%b0;\nX:");
    CHECK_INT(seeds_with(first, 128, 128, 0, sixteen), SEEDS);
    CHECK_INT(seeds_with(first, 128, 128, 127, sixteen), SEEDS);
    CHECK(seeds_with(late, 128, 128, 0, 0) > 0);
    CHECK(seeds_with(late, 128, 128, 31, 0) > 0);
    CHECK_INT(seeds_with(both, 128, 128, 127, sixteen), SEEDS);
}

/* ptxas inserts the wait that is missing. */
static void test_early_read(void)
{
    const char *one = BODY(
        PRODUCTS "wgmma.wait_group.sync.aligned 1; mov.b32 %r1,%b0; wgmma.wait_group.sync.aligned 0;\nX:");
    const char *none = BODY(PRODUCTS "mov.b32 %r1,%b0; wgmma.wait_group.sync.aligned 0;\nX:");
    CHECK_INT(seeds_with(one, 128, 128, 0, sixteen), SEEDS);
    CHECK_INT(seeds_with(none, 128, 128, 127, sixteen), SEEDS);
}

/* Block b stores its number and its threads' to out[32 b]; nobody waits for the copy. */
#define TILE                                                                                                 \
    ".shared .align 128 .b8 s[128]; mov.u32 %r2,s; shl.b32 %r3,%r0,2; add.u32 %r4,%r2,%r3; "                 \
    "st.shared.u32 [%r4],%r18; fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1,%r0,0; @%p1 "      \
    "exit; "

static void test_block_end(void)
{
    static const char *const copies[] = {
        BODY(TILE "cp.async.bulk.global.shared::cta.bulk_group [%d3],[%r2],128; exit;"),
        BODY(TILE "cp.async.bulk.global.shared::cta.bulk_group [%d3],[%r2],128; "
                  "cp.async.bulk.commit_group; exit;"),
        BODY(TILE "cp.reduce.async.bulk.global.shared::cta.bulk_group.and.b32 [%d3],[%r2],128; "
                  "cp.async.bulk.commit_group; exit;"),
    };
    for (size_t n = 0; n < sizeof copies / sizeof *copies; n++)
        for (uint64_t seed = 0; seed <= SEEDS; seed++) {
            uint32_t out[256];
            if (!CHECK(run(copies[n], 8, 32, 0, seed, out, 256))) return;
            for (uint32_t i = 0; n < 2 && i < 256; i++) CHECK_INT(out[i], i);
            for (uint32_t i = 0; n == 2 && i < 256; i++) CHECK_INT(out[i], i & 0xa5a5a5a5);
        }
}

/* Loads that nobody waits for, products that nobody waits for. */
static void test_end_of_loads(void)
{
    const char *load =
        BODY(".shared .align 128 .b8 s[1024]; .shared .align 8 .b64 b; mov.u32 %r2,s; mov.u32 %r3,b; "
             "setp.ne.u32 %p1,%r0,0; "
             "@!%p1 mbarrier.init.shared.b64 [%r3],1; bar.sync 0; @!%p1 mbarrier.arrive.expect_tx.shared.b64 "
             "_,[%r3],1024; @!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
             "[%r2],[%d1],1024,[%r3]; mov.u32 %r1,5;");
    const char *products = BODY(PRODUCTS "mov.u32 %r1,5;\nX:");
    for (uint64_t seed = 0; seed <= SEEDS; seed++) {
        uint32_t out[256];
        CHECK(run(load, 2, 128, 0, seed, out, 256) && out[0] == 5 && out[255] == 5);
        CHECK(run(products, 2, 128, 0, seed, out, 256) && out[0] == 5 && out[255] == 5);
    }
}

/* Block 0 ends, block 1 goes on with its shared memory long after that. */
#define AFTER_END(access)                                                                                    \
    BODY(                                                                                                    \
        ".shared .align 128 .b8 s[1024]; mov.u32 %r2,s; mbarrier.init.shared.b64 [%r2],9; "                  \
        "fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait; mov.u32 "        \
        "%r3,%cluster_ctarank; mov.u32 %r1,3; setp.eq.u32 %p1,%r3,0; @%p1 mbarrier.inval.shared.b64 [%r2]; " \
        "@%p1 bra X; mov.u32 %r4,3000;\nL: sub.u32 %r4,%r4,1; setp.ne.u32 %p2,%r4,0; @%p2 bra L; "           \
        "mapa.shared::cluster.u32 %r5,%r2,0; " access "\nX:")

static void test_after_end(void)
{
    static const char *const lost[] = {
        AFTER_END("mbarrier.arrive.release.cluster.shared::cluster.b64 _,[%r5];"),
        AFTER_END("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _,[%r5],64;"),
        AFTER_END("mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _,[%r5];"),
        AFTER_END("st.shared::cluster.u32 [%r5+64],%r1;"),
        AFTER_END("cvt.u64.u32 %d5,%r5; add.u64 %d5,%d5,1099511627776; st.u32 [%d5+64],%r1;"),
        AFTER_END("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5+64],%r1,[%r5];"),
    };
    static const char *const wrong[] = {
        AFTER_END("ld.shared::cluster.u32 %r1,[%r5+64];"),
        AFTER_END("red.shared::cluster.add.u32 [%r5+64],%r1;"),
        AFTER_END("atom.shared::cluster.add.u32 %r1,[%r5+64],%r1;"),
        AFTER_END("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                  "[%r5+128],[%r2+128],16,[%r5];"),
    };
    for (uint64_t seed = 0; seed < 4; seed++) {
        for (size_t n = 0; n < sizeof lost / sizeof *lost; n++) {
            uint32_t out[2];
            CHECK(run(lost[n], 2, 1, 2, seed, out, 2) && out[0] == 3 && out[1] == 3);
        }
        for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++) {
            rig r;
            CHECK(open_rig(&r, wrong[n], seed));
            CHECK_INT(start(&r, 2, 1, 2), CUTE_INVALID);
            CHECK(says(&r, "shared memory of block 0 of the cluster, which has exited"));
            close_rig(&r);
        }
    }
}

int main(void)
{
    TEST("a lane that waits for all but its last group has the ones before", test_first_of_two);
    TEST("a lane does not wait for its last group, however many other lanes have committed",
         test_second_of_two);
    TEST("lanes that do not wait let their part of a copy come late", test_half_waits);
    TEST("a copy belongs to the group in which its lane commits it", test_half_commits);
    TEST("cp.async.wait_all waits for what no group has", test_wait_all);
    TEST("bulk groups belong to the lane that commits", test_bulk);
    TEST("a warp whose halves come to a commit apart commits one group of products", test_products);
    TEST("an accumulator that is read before its wait is complete, as ptxas has it", test_early_read);
    TEST("a block that ends with bulk copies under way has their results in every order", test_block_end);
    TEST("loads and products that nobody waits for do no harm at the end of their block", test_end_of_loads);
    TEST("stores and arrivals at a block that has ended are lost, other accesses fail, as on an H200",
         test_after_end);
    return test_finish();
}
