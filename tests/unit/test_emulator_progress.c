/* The PTX emulator: blocks that wait for each other through global memory. A device holds many blocks at
 * once, and each of them gets on; what waits for a block that can never come is told, not waited for. */
#include "tests/unit/test_emulator.h"

/* in[0] is 0 and in[1] is 7 when a kernel begins (see run). %r6 is the block's number. */
#define BLOCK              "mov.u32 %r6,%ctaid.x; mov.u32 %r1,%r6; "
#define IF_BLOCK(n, label) "setp.ne.u32 %p1,%r6," n "; @%p1 bra " label "; "

static void all_end(const char *ptx, int64_t blocks, uint64_t seed)
{
    uint32_t out[256];
    if (!CHECK(run(ptx, blocks, 1, 0, seed, out, (size_t)blocks))) return;
    for (uint32_t b = 0; b < (uint32_t)blocks; b++) CHECK_INT(out[b], b);
}

static void test_acquire_loop(void)
{
    const char *ptx = BODY(
        BLOCK IF_BLOCK("0", "N") "L: ld.acquire.gpu.global.u32 %r5,[%d1]; setp.eq.u32 %p2,%r5,0; @%p2 "
                                 "bra L;\nN: " IF_BLOCK("5", "X") "st.release.gpu.global.u32 [%d1],1;\nX:");
    for (uint64_t seed = 0; seed < 3; seed++) all_end(ptx, 8, seed);
}

static void test_volatile_loop(void)
{
    const char *ptx = BODY(BLOCK IF_BLOCK(
        "0", "N") "L: ld.volatile.global.u32 %r5,[%d1]; nanosleep.u32 100; setp.eq.u32 "
                  "%p2,%r5,0; @%p2 bra L;\nN: " IF_BLOCK("5", "X") "st.volatile.global.u32 [%d1],1;\nX:");
    all_end(ptx, 8, 0);
}

/* A lock that block 0 wants and that only block 5 opens: in[1] is not 0. */
static void test_atomic_loop(void)
{
    const char *ptx = BODY(
        BLOCK IF_BLOCK("0", "N") "L: atom.global.cas.b32 %r5,[%d1+4],0,1; setp.ne.u32 %p2,%r5,0; @%p2 "
                                 "bra L;\nN: " IF_BLOCK("5", "X") "atom.global.exch.b32 %r5,[%d1+4],0;\nX:");
    for (uint64_t seed = 0; seed < 3; seed++) all_end(ptx, 8, seed);
}

/* The wait counts, so its state never comes back; and it writes memory. */
static void test_counting_loop(void)
{
    const char *ptx = BODY(BLOCK IF_BLOCK(
        "0", "N") "mov.u32 %r7,0;\nL: add.u32 %r7,%r7,1; st.global.u32 [%d1+64],%r7; "
                  "ld.volatile.global.u32 %r5,[%d1]; setp.eq.u32 %p2,%r5,0; @%p2 bra L;\nN: " IF_BLOCK(
                      "1", "X") "st.volatile.global.u32 [%d1],1;\nX:");
    all_end(ptx, 2, 0);
}

/* Each block waits for the next one: all have to be there at once. */
static void test_chain(void)
{
    const char *ptx =
        BODY(BLOCK "setp.eq.u32 %p1,%r6,39; @%p1 bra N; mul.wide.u32 %d5,%r6,4; add.s64 %d5,%d0,%d5;\nL: "
                   "ld.acquire.gpu.global.u32 %r5,[%d5+4]; setp.ge.u32 %p2,%r5,40; @%p2 bra L;\nN:");
    all_end(ptx, 40, 0);
}

static void deadlocks(const char *ptx, int64_t blocks, const char *const *texts, size_t count)
{
    rig r;
    uint32_t zero[4] = {0};
    if (!CHECK(open_rig(&r, ptx, 0))) return;
    cute_device_upload(r.device, r.in, zero, sizeof zero, r.diag);
    CHECK(start(&r, blocks, 1, 0) == CUTE_INVALID);
    for (size_t i = 0; i < count; i++) CHECK(says(&r, texts[i]));
    close_rig(&r);
}
#define DEADLOCKS(ptx, blocks, ...)                                                                          \
    do {                                                                                                     \
        const char *const texts_[] = {__VA_ARGS__};                                                          \
        deadlocks(ptx, blocks, texts_, sizeof texts_ / sizeof *texts_);                                      \
    } while (0)

static void test_nobody_writes(void)
{
    DEADLOCKS(BODY(BLOCK "L: ld.volatile.global.u32 %r5,[%d1]; setp.eq.u32 %p2,%r5,0; @%p2 bra L;"), 4,
              "deadlock",
              "<ptx>:6:", "block (0, 0, 0), warp 0, lanes 0x00000001: spins reading global memory at 0x",
              "block (3, 0, 0), warp 0", "which holds 0x0 and does not change");
    DEADLOCKS(
        ".global .align 4 .u32 lock = 1;\n" BODY(
            "mov.u64 %d5,lock;\nL: atom.global.cas.b32 %r5,[%d5],0,1; setp.ne.u32 %p2,%r5,0; @%p2 bra L;"),
        1, "deadlock", "('lock'), which holds 0x1 and does not change");
}

/* A block of 200 KiB fills a multiprocessor, and there are 132: block 133 does not come while all wait for
 * it. */
static void test_device_is_full(void)
{
    DEADLOCKS(BODY(BLOCK
                   ".shared .align 16 .b8 s[200000]; setp.eq.u32 %p1,%r6,132; @%p1 st.volatile.global.u32 "
                   "[%d1],1;\nL: ld.volatile.global.u32 %r5,[%d1]; setp.eq.u32 %p2,%r5,0; @%p2 bra L;"),
              140, "deadlock", "8 more clusters or blocks have not started: the device is full");
    uint32_t out[256];
    const char *last = BODY(
        BLOCK ".shared .align 16 .b8 s[200000]; setp.ne.u32 %p3,%r6,0; setp.eq.u32 %p1,%r6,139; @%p1 "
              "st.volatile.global.u32 [%d1],1; @%p3 bra X;\nL: ld.volatile.global.u32 %r5,[%d1]; setp.eq.u32 "
              "%p2,%r5,0; @%p2 bra L;\nX:");
    if (CHECK(run(last, 140, 1, 0, 0, out, 140))) CHECK_INT(out[139], 139);
}

/* The wait is a function: its arguments and results pass through local memory, which comes back to what it
 * was. The one that counts in local memory ends after 50000 rounds. */
#define ASK                                                                                                  \
    ".func (.param .b32 r) ask(.param .b64 a)\n{ .reg .b64 %a<3>; .reg .b32 %b; ld.param.b64 %a1,[a]; "      \
    "ld.volatile.global.u32 %b,[%a1]; st.param.b32 [r],%b; ret; }\n"
#define CALL                                                                                                 \
    "{ .param .b64 x; .param .b32 y; st.param.b64 [x],%d1; call (y), ask, (x); ld.param.b32 %r5,[y]; } "

static void test_calls_in_the_loop(void)
{
    uint32_t out[1];
    DEADLOCKS(ASK BODY("L: " CALL "setp.eq.u32 %p2,%r5,0; @%p2 bra L;"), 2, "deadlock",
              "spins reading global memory");
    const char *counting =
        ASK BODY(".local .align 4 .b8 l[4]; mov.u32 %r1,0; st.local.u32 [l],%r1;\nL: " CALL
                 "ld.local.u32 %r1,[l]; add.u32 %r1,%r1,1; st.local.u32 [l],%r1; mov.u32 %r1,0; "
                 "ld.local.u32 %r6,[l]; setp.lt.u32 %p2,%r6,50000; mov.u32 %r6,0; @%p2 bra L; "
                 "ld.local.u32 %r1,[l];");
    if (CHECK(run(counting, 1, 1, 0, 0, out, 1))) CHECK_INT(out[0], 50000);
}

/* Long and without a store, but it ends: 300000 rounds over memory. */
static void test_long_loop_is_no_deadlock(void)
{
    uint32_t out[1];
    const char *ptx = BODY("mov.u32 %r1,0;\nL: ld.global.u32 %r5,[%d1+4]; add.u32 %r1,%r1,1; setp.lt.u32 "
                           "%p2,%r1,300000; @%p2 bra L;");
    if (CHECK(run(ptx, 1, 1, 0, 0, out, 1))) CHECK_INT(out[0], 300000);
}

/* Who waits for a time to pass asks the clock: its state comes back, and yet it ends. */
static void test_clock_is_no_deadlock(void)
{
    uint32_t out[1];
    const char *ptx =
        BODY("mov.u32 %r1,5; mov.u64 %d5,%clock64; add.s64 %d5,%d5,1000000;\nL: ld.volatile.global.u32 "
             "%r5,[%d1]; mov.u64 %d6,%clock64; setp.lt.u64 %p2,%d6,%d5; @%p2 bra L;");
    if (CHECK(run(ptx, 1, 1, 0, 0, out, 1))) CHECK_INT(out[0], 5);
}

int main(void)
{
    TEST("a block that waits for a later one with acquiring loads is not alone", test_acquire_loop);
    TEST("nor one that waits with volatile loads and sleeps", test_volatile_loop);
    TEST("nor one that wants a lock", test_atomic_loop);
    TEST("nor one whose loop counts and writes", test_counting_loop);
    TEST("forty blocks of which each waits for the next are there at once", test_chain);
    TEST("a wait for what nobody writes is a deadlock with its place, address and value", test_nobody_writes);
    TEST("there are no more blocks at once than a device holds", test_device_is_full);
    TEST("a wait in a function is found as well, and one that counts in local memory is none",
         test_calls_in_the_loop);
    TEST("a long loop without stores is no deadlock", test_long_loop_is_no_deadlock);
    TEST("a loop that asks the clock is no deadlock", test_clock_is_no_deadlock);
    return test_finish();
}
