/* The PTX emulator: blocks spread over threads of the host. Results in integers, messages and counts are
 * those of one thread, however the threads run. */
#include "tests/unit/test_emulator.h"

enum { ROUNDS = 10 };

/* Each of `blocks` blocks of `threads` writes one word; all runs give expected(block). */
static void all_runs(const char *ptx, int64_t blocks, uint32_t (*expected)(uint32_t block))
{
    uint32_t out[WORDS];
    for (int n = 0; n < ROUNDS; n++) {
        host_threads = 1 + n % 4;
        if (!CHECK(run(ptx, blocks, 1, 0, 0, out, (size_t)blocks))) return;
        for (uint32_t b = 0; b < (uint32_t)blocks; b++) CHECK_INT(out[b], expected(b));
    }
}

/* Thousands of additions to one word, of 32 and 64 bits, and a maximum. */
static void test_atomics(void)
{
    const char *ptx = BODY(
        "mov.u32 %r5,%tid.x; mov.u32 %r6,%ctaid.x; mov.u64 %d6,1; mov.u32 %r7,0;\nL: atom.global.add.u32 "
        "%r8,[%d1+4000],%r5; red.global.add.u64 [%d1+4008],%d6; red.global.max.u32 [%d1+4016],%r6; "
        "atom.global.inc.u32 %r8,[%d1+4020],0x7fffffff; add.u32 %r7,%r7,1; setp.lt.u32 %p1,%r7,20; @%p1 bra "
        "L; "
        "mov.u32 %r1,0;");
    for (int n = 0; n < ROUNDS; n++) {
        rig r;
        uint32_t words[6], zero[6] = {0};
        host_threads = 4;
        if (!CHECK(open_rig(&r, ptx, 0))) return;
        cute_device_upload(r.device, r.in + 4000, zero, sizeof zero, r.diag);
        CHECK(start(&r, 16, 64, 0) == CUTE_OK);
        cute_device_download(r.device, words, r.in + 4000, sizeof words, r.diag);
        print_messages(&r);
        CHECK_INT(words[0], 16 * 20 * 63 * 64 / 2);
        CHECK_INT(words[2], 16 * 20 * 64);
        CHECK_INT(words[4], 15);
        CHECK_INT(words[5], 16 * 20 * 64);
        close_rig(&r);
    }
}

/* A lock in global memory around a plain sum: in[0] is the lock (0), in[1] (7) the sum; each block adds 3. */
static uint32_t after_lock(uint32_t block)
{
    return block ? 1 : 7 + 3 * 300;
}

static void test_lock(void)
{
    const char *ptx =
        BODY("\nL: atom.acquire.gpu.global.cas.b32 %r5,[%d1],0,1; setp.ne.u32 %p1,%r5,0; @%p1 bra L; "
             "ld.global.u32 "
             "%r6,[%d1+4]; add.u32 %r6,%r6,3; st.global.u32 [%d1+4],%r6; st.release.gpu.global.u32 [%d1],0; "
             "mov.u32 "
             "%r1,1; mov.u32 %r7,%ctaid.x; setp.ne.u32 %p2,%r7,0; @%p2 bra X; mov.u32 %r8,907;\nW: "
             "ld.relaxed.gpu.global.u32 %r1,[%d1+4]; setp.ne.u32 %p2,%r1,%r8; @%p2 bra W;\nX:");
    all_runs(ptx, 300, after_lock);
}

/* Decoupled look-back: a block adds its number to the sum of the one before, which it awaits. Sum and flag go
 * as one access of 16 bytes: {flag, -, sum, -}. */
static uint32_t prefix(uint32_t block)
{
    return block * (block + 1) / 2;
}

static void test_look_back(void)
{
    const char *ptx = ".global .align 16 .b8 tiles[4096];\n" BODY(
        "mov.u32 %r5,%ctaid.x; mov.u64 %d5,tiles; mul.wide.u32 %d6,%r5,16; add.s64 %d5,%d5,%d6; mov.u32 "
        "%r1,%r5; "
        "setp.eq.u32 %p1,%r5,0; @%p1 bra S;\nL: ld.relaxed.gpu.global.v4.u32 {%r6,%r7,%r8,%r9},[%d5+-16]; "
        "setp.ne.u32 %p2,%r6,1; @%p2 bra L; add.u32 %r1,%r1,%r8;\nS: mov.u32 %r6,1; mov.u32 %r7,0; "
        "st.relaxed.gpu.global.v4.u32 [%d5],{%r6,%r7,%r1,%r7};");
    all_runs(ptx, 250, prefix);
}

/* Every block adds its number and takes a ticket; the last one writes the sum, the others 0. */
static void test_last_block(void)
{
    uint32_t out[200];
    const char *ptx = ".global .align 4 .u32 sum = 0;\n.global .align 4 .u32 tickets = 0;\n" BODY(
        "mov.u32 %r5,%ctaid.x; mov.u64 %d5,sum; mov.u64 %d6,tickets; red.global.add.u32 [%d5],%r5; "
        "membar.gl; "
        "atom.global.inc.u32 %r6,[%d6],199; mov.u32 %r1,0; setp.ne.u32 %p1,%r6,199; @%p1 bra X; membar.gl; "
        "ld.volatile.global.u32 %r1,[%d5];\nX:");
    for (int n = 0; n < ROUNDS; n++) {
        uint32_t all = 0;
        host_threads = 1 + n % 4;
        if (!CHECK(run(ptx, 200, 1, 0, 0, out, 200))) return;
        for (int b = 0; b < 200; b++) all += out[b];
        CHECK_INT(all, 199 * 200 / 2);
    }
}

/* A bulk reduction of every block adds ones to the same four words. */
static void test_bulk_reduction(void)
{
    const char *ptx =
        BODY(".shared .align 16 .b8 s[16]; mov.u32 %r2,s; mov.u32 %r3,1; st.shared.v4.u32 "
             "[%r2],{%r3,%r3,%r3,%r3}; "
             "fence.proxy.async; cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1],[%r2],16; "
             "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; mov.u32 %r1,0;");
    for (int n = 0; n < ROUNDS; n++) {
        rig r;
        uint32_t words[4] = {0};
        host_threads = 4;
        if (!CHECK(open_rig(&r, ptx, 0))) return;
        cute_device_upload(r.device, r.in, words, sizeof words, r.diag);
        CHECK(start(&r, 400, 1, 0) == CUTE_OK);
        cute_device_download(r.device, words, r.in, sizeof words, r.diag);
        for (int k = 0; k < 4; k++) CHECK_INT(words[k], 400);
        print_messages(&r);
        close_rig(&r);
    }
}

/* Blocks from 37 on trap, the later ones sooner. */
static void test_first_fault(void)
{
    const char *ptx = BODY("mov.u32 %r5,%ctaid.x; mov.u32 %r1,0; sub.u32 %r6,400,%r5; mul.lo.u32 "
                           "%r6,%r6,10;\nL: add.u32 %r1,%r1,1; "
                           "setp.lt.u32 %p1,%r1,%r6; @%p1 bra L; setp.ge.u32 %p2,%r5,37; @%p2 trap;");
    for (int n = 0; n < ROUNDS; n++) {
        rig r;
        host_threads = 4;
        if (!CHECK(open_rig(&r, ptx, 0))) return;
        CHECK(start(&r, 400, 1, 0) == CUTE_INVALID);
        CHECK(says(&r, "the kernel executed trap"));
        CHECK(says(&r, "block (37, 0, 0)"));
        CHECK_INT(cute_diag_count(r.diag), 2);
        close_rig(&r);
    }
}

static void test_waits_over_threads(void)
{
    uint32_t out[64];
    const char *later =
        BODY("mov.u32 %r6,%ctaid.x; mov.u32 %r1,%r6; setp.gt.u32 %p1,%r6,3; @%p1 bra N;\nL: "
             "ld.acquire.gpu.global.u32 %r5,[%d1]; setp.eq.u32 %p2,%r5,0; @%p2 bra L;\nN: setp.ne.u32 "
             "%p1,%r6,60; @%p1 bra X; st.release.gpu.global.u32 [%d1],1;\nX:");
    const char *never = BODY("\nL: ld.acquire.gpu.global.u32 %r5,[%d1]; setp.eq.u32 %p2,%r5,0; @%p2 bra L;");
    for (int n = 0; n < 4; n++) {
        rig r;
        host_threads = 4;
        if (CHECK(run(later, 64, 1, 0, 0, out, 64))) CHECK_INT(out[3], 3);
        uint32_t zero = 0;
        if (!CHECK(open_rig(&r, never, 0))) return;
        cute_device_upload(r.device, r.in, &zero, sizeof zero, r.diag);
        CHECK(start(&r, 20, 1, 0) == CUTE_INVALID);
        CHECK(says(&r, "deadlock: no warp of kernel 'k' can proceed"));
        CHECK(says(&r, "spins reading global memory"));
        CHECK(says(&r, "8 more warps are waiting"));
        close_rig(&r);
    }
}

static void test_counts(void)
{
    cute_emulator_counts counts[2];
    const char *ptx =
        BODY("ld.global.u32 %r1,[%d4]; and.b32 %r2,%r0,1; setp.eq.u32 %p1,%r2,0; @%p1 bra X; add.u32 "
             "%r1,%r1,1;\nX: bar.sync 0;");
    for (int n = 0; n < 2; n++) {
        rig r;
        host_threads = n ? 4 : 1;
        if (!CHECK(open_rig(&r, ptx, 0))) return;
        CHECK(start(&r, 16, 64, 0) == CUTE_OK);
        counts[n] = *cute_emulator_get_counts(r.device);
        close_rig(&r);
    }
    CHECK_INT(memcmp(&counts[0], &counts[1], sizeof counts[0]), 0);
    CHECK_INT(counts[1].global_read, 16 * 64 * 4);
    CHECK_INT(counts[1].divergences, 16 * 2);
}

int main(void)
{
    TEST("atomics of blocks on different threads add up", test_atomics);
    TEST("a lock in global memory is held by one block at a time", test_lock);
    TEST("a decoupled look-back sees sum and flag together", test_look_back);
    TEST("the last block sees what all others wrote", test_last_block);
    TEST("bulk reductions of blocks on different threads add up", test_bulk_reduction);
    TEST("the fault that is told is that of the first block", test_first_fault);
    TEST("blocks wait for blocks of other threads, and a deadlock of all is found", test_waits_over_threads);
    TEST("counts are those of one thread", test_counts);
    return test_finish();
}
