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
    return test_finish();
}
