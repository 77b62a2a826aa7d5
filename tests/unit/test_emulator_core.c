/* The PTX emulator: parser, instructions, control flow, memory, barriers. Kernels are PTX written here;
 * expected values are worked out by hand from the PTX ISA. */
#include "tests/unit/test_emulator.h"

/* ---- one instruction ---- */

typedef struct one {
    const char *code; /* from %a0 %a1 %a2 (32 bits: %r0.. ; 64: %d0..; predicates %p0..) to %d9 */
    uint64_t a, b, c, expected;
} one;

/* d0..d2 and r0..r2 are the inputs and their low halves; h0.. their low quarters. The result is %d9. */
static bool run_one(const one *o)
{
    static char text[8192];
    rig r;
    uint64_t in[3] = {o->a, o->b, o->c}, out = 0;
    snprintf(text, sizeof text,
             ".visible .entry k" PARAMS
             "\n{ .reg .b64 %%d<12>; .reg .b32 %%r<12>; .reg .b16 %%h<12>; .reg .pred %%p<4>;\n"
             " .reg .f32 %%f<8>; .reg .f64 %%g<8>; .reg .b64 %%x, %%y;\n"
             " ld.param.u64 %%x,[out]; ld.param.u64 %%y,[in]; ld.global.u64 %%d0,[%%y]; ld.global.u64 "
             "%%d1,[%%y+8]; "
             "ld.global.u64 %%d2,[%%y+16];\n"
             " cvt.u32.u64 %%r0,%%d0; cvt.u32.u64 %%r1,%%d1; cvt.u32.u64 %%r2,%%d2; cvt.u16.u64 %%h0,%%d0; "
             "cvt.u16.u64 "
             "%%h1,%%d1; cvt.u16.u64 %%h2,%%d2;\n mov.b32 %%f0,%%r0; mov.b32 %%f1,%%r1; mov.b32 %%f2,%%r2; "
             "mov.u64 %%d9,0; "
             "mov.u32 %%r9,0;\n %s\n st.global.u64 [%%x],%%d9; ret; }\n",
             o->code);
    bool ok = open_rig(&r, text, 0) && cute_device_upload(r.device, r.in, in, sizeof in, r.diag) == CUTE_OK &&
              start(&r, 1, 1, 0) == CUTE_OK &&
              cute_device_download(r.device, &out, r.out, 8, r.diag) == CUTE_OK;
    if (!ok) print_messages(&r);
    close_rig(&r);
    if (ok && out == o->expected) return true;
    printf("# %s gives 0x%" PRIx64 ", not 0x%" PRIx64 "\n", o->code, out, o->expected);
    return false;
}

#define R9 "cvt.u64.u32 %d9,%r9;"
#define H9 "cvt.u64.u16 %d9,%h9;"
#define P1 "selp.u64 %d9,1,0,%p1;"

static const one integers[] = {
    {"add.s32 %r9,%r0,%r1;" R9, 0xffffffff, 2, 0, 1},
    {"add.sat.s32 %r9,%r0,%r1;" R9, 0x7fffffff, 1, 0, 0x7fffffff},
    {"sub.sat.s32 %r9,%r0,%r1;" R9, 0x80000000, 1, 0, 0x80000000},
    {"add.u16 %h9,%h0,%h1;" H9, 0xffff, 3, 0, 2},
    {"add.cc.u32 %r8,%r0,%r1; addc.u32 %r9,%r2,0;" R9, 0xffffffff, 1, 7, 8},
    {"sub.cc.u32 %r8,%r0,%r1; subc.u32 %r9,%r2,0;" R9, 0, 1, 7, 6},
    {"add.cc.u64 %d8,%d0,%d1; addc.u64 %d9,%d2,0;", UINT64_MAX, 1, 7, 8},
    {"mul.lo.u64 %d9,%d0,%d1;", 0x100000001, 0x100000001, 0, 0x200000001},
    {"mul.hi.s32 %r9,%r0,%r1;" R9, 0xffffffff, 2, 0, 0xffffffff}, /* -2 >> 32 */
    {"mul.hi.u64 %d9,%d0,%d1;", UINT64_MAX, UINT64_MAX, 0, UINT64_MAX - 1},
    {"mul.wide.s32 %d9,%r0,%r1;", 0xfffffffe, 3, 0, (uint64_t)-6},
    {"mul.wide.u16 %r9,%h0,%h1;" R9, 0xffff, 0xffff, 0, 0xfffe0001},
    {"mad.lo.s32 %r9,%r0,%r1,%r2;" R9, 5, 7, 0xffffffff, 34},
    {"mad.hi.u32 %r9,%r0,%r1,%r2;" R9, 0x80000000, 4, 1, 3},
    {"mad.wide.u32 %d9,%r0,%r1,%d2;", 0xffffffff, 2, 3, 0x200000001},
    {"mad.lo.cc.u32 %r8,%r0,%r1,%r2; madc.hi.u32 %r9,%r0,%r1,0;" R9, 0xffffffff, 2, 2,
     2}, /* 0x1fffffffe + 2 */
    {"mul24.lo.u32 %r9,%r0,%r1;" R9, 0xff000002, 3, 0, 6},
    {"sad.u32 %r9,%r0,%r1,%r2;" R9, 3, 10, 100, 107},
    {"div.s32 %r9,%r0,%r1;" R9, (uint32_t)-7, 2, 0, (uint32_t)-3},
    {"rem.s32 %r9,%r0,%r1;" R9, (uint32_t)-7, 2, 0, (uint32_t)-1},
    {"div.s32 %r9,%r0,%r1;" R9, 0x80000000, 0xffffffff, 0, 0x80000000},
    {"abs.s32 %r9,%r0;" R9, (uint32_t)-5, 0, 0, 5},
    {"neg.s64 %d9,%d0;", 5, 0, 0, (uint64_t)-5},
    {"min.s32 %r9,%r0,%r1;" R9, 0xffffffff, 1, 0, 0xffffffff},
    {"max.u32 %r9,%r0,%r1;" R9, 0xffffffff, 1, 0, 0xffffffff},
    {"min.s16 %h9,%h0,%h1;" H9, 0xffff, 1, 0, 0xffff},
    {"and.b64 %d9,%d0,%d1;", 0xff00ff, 0xf0f0f0, 0, 0xf000f0},
    {"not.b16 %h9,%h0;" H9, 0xff00, 0, 0, 0x00ff},
    {"cnot.b32 %r9,%r0;" R9, 0, 0, 0, 1},
    {"shl.b32 %r9,%r0,%r1;" R9, 1, 32, 0, 0},
    {"shr.s32 %r9,%r0,%r1;" R9, 0x80000000, 40, 0, 0xffffffff},
    {"shr.u64 %d9,%d0,%r1;", 1ull << 63, 63, 0, 1},
    {"shr.s16 %h9,%h0,%r1;" H9, 0x8000, 3, 0, 0xf000},
    {"shf.l.wrap.b32 %r9,%r0,%r1,%r2;" R9, 0x80000000, 1, 33, 3},
    {"shf.r.clamp.b32 %r9,%r0,%r1,%r2;" R9, 5, 6, 40, 6},
    {"bfe.u32 %r9,%r0,%r1,%r2;" R9, 0xabcd1234, 8, 8, 0x12},
    {"bfe.s32 %r9,%r0,%r1,%r2;" R9, 0x0000f000, 12, 4, 0xffffffff},
    {"bfe.s32 %r9,%r0,%r1,%r2;" R9, 0x80000000, 31, 8, 0xffffffff},
    {"bfi.b32 %r9,%r0,%r1,8,4;" R9, 0x5, 0xffffffff, 0, 0xfffff5ff},
    {"bfind.u32 %r9,%r0;" R9, 0x00010000, 0, 0, 16},
    {"bfind.s32 %r9,%r0;" R9, 0xffffffff, 0, 0, 0xffffffff},
    {"bfind.shiftamt.u32 %r9,%r0;" R9, 0x00010000, 0, 0, 15},
    {"brev.b32 %r9,%r0;" R9, 0x00000001, 0, 0, 0x80000000},
    {"clz.b64 %r9,%d0;" R9, 1, 0, 0, 63},
    {"popc.b32 %r9,%r0;" R9, 0xf0f0, 0, 0, 8},
    {"lop3.b32 %r9,%r0,%r1,%r2,0x96;" R9, 0xff00, 0xf0f0, 0xcccc, 0xff00 ^ 0xf0f0 ^ 0xcccc},
    {"prmt.b32 %r9,%r0,%r1,0x7610;" R9, 0x33221100, 0x77665544, 0, 0x77661100},
    {"prmt.b32 %r9,%r0,%r1,0x0008;" R9, 0x000000ff, 0, 0, 0xffffffff}, /* byte 0's sign, then byte 0 */
    {"dp4a.s32.s32 %r9,%r0,%r1,%r2;" R9, 0x01fe0302, 0x04030201, 10, 10 + 2 + 6 - 6 + 4},
    {"dp2a.lo.u32.u32 %r9,%r0,%r1,%r2;" R9, 0x00030002, 0x00000504, 1, 1 + 2 * 4 + 3 * 5},
    {"fns.b32 %r9,%r0,0,2;" R9, 0x0000002c, 0, 0, 3}, /* bits 2, 3, 5: the second is 3 */
    {"bmsk.clamp.b32 %r9,%r0,%r1;" R9, 4, 4, 0, 0xf0},
    {"szext.wrap.s32 %r9,%r0,%r1;" R9, 0x80, 8, 0, 0xffffff80},
    {"mov.b64 {%r8,%r9},%d0;" R9, 0x0123456789abcdef, 0, 0, 0x01234567},
    {"mov.b32 %r9,{%h0,%h1};" R9, 0x1111, 0x2222, 0, 0x22221111},
    {"selp.u64 %d9,%d0,%d1,%p0;", 1, 2, 0, 2},
    {"slct.u64.s32 %d9,%d0,%d1,%r2;", 1, 2, (uint32_t)-1, 2},
    {"set.lt.u32.s32 %r9,%r0,%r1;" R9, (uint32_t)-1, 0, 0, 0xffffffff},
    {"setp.lt.u32 %p1,%r0,%r1;" P1, (uint32_t)-1, 0, 0, 0},
    {"setp.hi.u32 %p1,%r0,%r1;" P1, 5, 4, 0, 1},
    {"setp.eq.and.s32 %p2|%p1,%r0,%r1,!%p0;" P1, 4, 5, 0, 1},
    {"cvt.s64.s8 %d9,%r0;", 0x80, 0, 0, (uint64_t)-128},
    {"cvt.sat.u8.s32 %r9,%r0;" R9, 300, 0, 0, 255},
    {"cvt.s32.s16 %r9,%h0;" R9, 0x8000, 0, 0, 0xffff8000},
};

static const one reals[] = {
    {"add.f32 %f4,%f0,%f1; mov.b32 %r9,%f4;" R9, 0x3f800000, 0x40000000, 0, 0x40400000}, /* 1 + 2 = 3 */
    {"add.rz.f32 %f4,%f0,%f1; mov.b32 %r9,%f4;" R9, 0x3f800000, 0x33ffffff, 0,
     0x3f800000}, /* 1 + less than an ulp */
    {"add.rp.f32 %f4,%f0,%f1; mov.b32 %r9,%f4;" R9, 0x3f800000, 0x00000001, 0, 0x3f800001},
    {"add.ftz.f32 %f4,%f0,%f1; mov.b32 %r9,%f4;" R9, 0x00000001, 0x00000001, 0, 0},
    {"add.sat.f32 %f4,%f0,%f1; mov.b32 %r9,%f4;" R9, 0x40000000, 0x3f800000, 0, 0x3f800000},
    {"fma.rn.f32 %f4,%f0,%f1,%f2; mov.b32 %r9,%f4;" R9, 0x3f800001, 0x3f800001, 0xbf800002,
     0x28800000}, /* 2^-46 */
    {"max.f32 %f4,%f0,%f1; mov.b32 %r9,%f4;" R9, 0x7fc00000, 0x3f800000, 0, 0x3f800000},
    {"max.NaN.f32 %f4,%f0,%f1; mov.b32 %r9,%f4;" R9, 0x7fc00000, 0x3f800000, 0, 0x7fffffff},
    {"div.rn.f32 %f4,%f0,%f1; mov.b32 %r9,%f4;" R9, 0x3f800000, 0x40400000, 0, 0x3eaaaaab}, /* 1/3 */
    {"sqrt.rn.f32 %f4,%f0; mov.b32 %r9,%f4;" R9, 0x40800000, 0, 0, 0x40000000},
    {"add.f64 %g4,%g0,%g1;mov.b64 %d9,%g4;", 0, 0, 0, 0},
    {"mov.b64 %g1,%d0; mov.b64 %g2,%d1; mul.f64 %g4,%g1,%g2; mov.b64 %d9,%g4;", 0x4008000000000000,
     0x4010000000000000, 0, 0x4028000000000000},          /* 3 * 4 = 12 */
    {"cvt.rni.s32.f32 %r9,%f0;" R9, 0x40200000, 0, 0, 2}, /* 2.5 to even */
    {"cvt.rzi.u32.f32 %r9,%f0;" R9, 0xbf800000, 0, 0, 0}, /* -1 is clamped */
    {"cvt.rn.f32.s32 %f4,%r0; mov.b32 %r9,%f4;" R9, (uint32_t)-3, 0, 0, 0xc0400000},
    {"cvt.rn.f16.f32 %h9,%f0;" H9, 0x3fc00000, 0, 0, 0x3e00}, /* 1.5 */
    {"cvt.f32.f16 %f4,%h0; mov.b32 %r9,%f4;" R9, 0x3e00, 0, 0, 0x3fc00000},
    {"cvt.rn.bf16x2.f32 %r9,%f0,%f1;" R9, 0x40400000, 0x3f800000, 0, 0x40403f80},
    {"fma.rn.f16x2 %r9,%r0,%r1,%r2;" R9, 0x40003c00, 0x40003c00, 0x3c003c00, 0x45004000}, /* {2*2+1, 1*1+1} */
    {"setp.ltu.f32 %p1,%f0,%f1;" P1, 0x7fc00000, 0, 0, 1},
    {"setp.lt.f32 %p1,%f0,%f1;" P1, 0x7fc00000, 0, 0, 0},
    {"setp.ne.f32 %p1,%f0,%f1;" P1, 0x7fc00000, 0, 0, 0},
    {"setp.nan.f32 %p1,%f0,%f1;" P1, 0x7fc00000, 0, 0, 1},
    {"testp.infinite.f32 %p1,%f0;" P1, 0x7f800000, 0, 0, 1},
    {"copysign.f32 %f4,%f0,%f1; mov.b32 %r9,%f4;" R9, 0x80000000, 0x3f800000, 0, 0xbf800000},
};

static void test_integers(void)
{
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) CHECK(run_one(&integers[i]));
}
static void test_reals(void)
{
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) CHECK(run_one(&reals[i]));
}

/* ---- programs ---- */

/* Each lane counts to its own number: Collatz-like loops that leave at different times. */
static void test_divergence(void)
{
    uint32_t out[64];
    const char *ptx =
        BODY("mov.u32 %r1,0; mov.u32 %r2,%r0;\nL: setp.eq.u32 %p1,%r2,0; @%p1 bra D; and.b32 %r3,%r2,1; "
             "setp.eq.u32 %p2,%r3,0; @%p2 bra E; add.u32 %r1,%r1,100; bra.uni N;\nE: add.u32 %r1,%r1,1;\n"
             "N: sub.u32 %r2,%r2,1; bra L;\nD:");
    for (uint64_t seed = 0; seed < 4; seed++) {
        if (!CHECK(run(ptx, 1, 64, 0, seed, out, 64))) return;
        for (uint32_t t = 0; t < 64; t++) CHECK_INT(out[t], (t + 1) / 2 * 100 + t / 2);
    }
}

static void test_calls(void)
{
    uint32_t out[32];
    const char *ptx =
        ".func (.param .b32 r) fact(.param .b32 n)\n{ .reg .b32 %a<6>; .reg .pred %p; ld.param.b32 %a1,[n]; "
        "setp.lt.u32 "
        "%p,%a1,2; @%p bra ONE; sub.u32 %a2,%a1,1; { .param .b32 x; .param .b32 y; st.param.b32 [x],%a2; "
        "call.uni (y), fact, "
        "(x); ld.param.b32 %a3,[y]; } mul.lo.u32 %a4,%a3,%a1; st.param.b32 [r],%a4; ret;\nONE: st.param.b32 "
        "[r],1; ret; }\n"
        ".func (.param .b32 r) plus(.param .b32 n)\n{ .reg .b32 %a<6>; ld.param.b32 %a1,[n]; add.u32 "
        "%a1,%a1,1000; "
        "st.param.b32 [r],%a1; ret; }\n" BODY("mov.u64 %d5,fact; mov.u64 %d6,plus; and.b32 %r2,%r0,1; "
                                              "setp.eq.u32 %p1,%r2,0; selp.b64 %d7,%d5,%d6,%p1; rem.u32 "
                                              "%r3,%r0,8; { .param .b32 x; .param .b32 y; st.param.b32 "
                                              "[x],%r3;\nP: .callprototype (.param .b32 _) _ (.param "
                                              ".b32 _);\n call (y), %d7, (x), P; ld.param.b32 %r1,[y]; }");
    static const uint32_t factorials[8] = {1, 1, 2, 6, 24, 120, 720, 5040};
    for (uint64_t seed = 0; seed < 2; seed++) {
        if (!CHECK(run(ptx, 1, 32, 0, seed, out, 32))) return;
        for (uint32_t t = 0; t < 32; t++) CHECK_INT(out[t], t & 1 ? t % 8 + 1000 : factorials[t % 8]);
    }
}

static void test_branch_index(void)
{
    uint32_t out[32];
    const char *ptx =
        BODY("rem.u32 %r2,%r0,3;\nT: .branchtargets A, B, C;\n brx.idx %r2,T;\nA: mov.u32 %r1,10; bra X;\nB: "
             "mov.u32 %r1,20; bra X;\nC: mov.u32 %r1,30;\nX:");
    if (!CHECK(run(ptx, 1, 32, 0, 0, out, 32))) return;
    for (uint32_t t = 0; t < 32; t++) CHECK_INT(out[t], 10 + t % 3 * 10);
}

/* Reversal through shared memory, over warps in any order. */
static void test_barrier(void)
{
    uint32_t out[256];
    const char *ptx = BODY(
        ".shared .align 4 .b8 s[1024]; mov.u32 %r2,s; shl.b32 %r3,%r0,2; add.u32 %r4,%r2,%r3; st.shared.u32 "
        "[%r4],%r0; bar.sync 0; sub.u32 %r5,%r2,%r3; ld.shared.u32 %r1,[%r5+1020];");
    for (uint64_t seed = 0; seed < 6; seed++) {
        if (!CHECK(run(ptx, 1, 256, 0, seed, out, 256))) return;
        for (uint32_t t = 0; t < 256; t++) CHECK_INT(out[t], 255 - t);
    }
}

/* Threads that have returned do not count at a barrier. */
static void test_early_exit(void)
{
    uint32_t out[96];
    const char *ptx = BODY("mov.u32 %r1,5; setp.ge.u32 %p1,%r0,40; @%p1 ret; bar.sync 0;");
    if (CHECK(run(ptx, 1, 96, 0, 0, out, 40))) CHECK_INT(out[39], 5);
}

static void test_named_barrier(void)
{
    uint32_t out[128];
    /* Warps 2 and 3 produce, 0 and 1 consume: 128 threads at barrier 1, of which half only arrive. */
    const char *ptx = BODY(
        ".shared .align 4 .b8 s[512]; mov.u32 %r2,s; and.b32 %r3,%r0,63; shl.b32 %r3,%r3,2; add.u32 "
        "%r4,%r2,%r3; setp.lt.u32 %p1,%r0,64; @%p1 bra C; mul.lo.u32 %r5,%r0,3; st.shared.u32 [%r4],%r5; "
        "mov.u32 %r1,7; bar.arrive 1,128; bra X;\nC: bar.sync 1,128; ld.shared.u32 %r1,[%r4];\nX:");
    for (uint64_t seed = 0; seed < 4; seed++) {
        if (!CHECK(run(ptx, 1, 128, 0, seed, out, 128))) return;
        for (uint32_t t = 0; t < 64; t++) CHECK_INT(out[t], (t + 64) * 3);
    }
}

static void test_warp(void)
{
    uint32_t out[32];
    /* A butterfly sum of 0 to 31 is 496; the ballot of the odd ones is 0xaaaaaaaa. */
    const char *sum =
        BODY("mov.u32 %r1,%r0; shfl.sync.bfly.b32 %r2,%r1,16,31,-1; add.u32 %r1,%r1,%r2; shfl.sync.bfly.b32 "
             "%r2,%r1,8,31,-1; add.u32 %r1,%r1,%r2; shfl.sync.bfly.b32 %r2,%r1,4,31,-1; add.u32 %r1,%r1,%r2; "
             "shfl.sync.bfly.b32 %r2,%r1,2,31,-1; add.u32 %r1,%r1,%r2; shfl.sync.bfly.b32 %r2,%r1,1,31,-1; "
             "add.u32 %r1,%r1,%r2; redux.sync.add.u32 %r3,%r0,-1; add.u32 %r1,%r1,%r3;");
    const char *up =
        BODY("shfl.sync.up.b32 %r1|%p1,%r0,3,0,-1; selp.u32 %r2,100,0,%p1; add.u32 %r1,%r1,%r2;");
    const char *ballot = BODY("and.b32 %r2,%r0,1; setp.eq.u32 %p1,%r2,1; vote.sync.ballot.b32 %r1,%p1,-1;");
    const char *meet =
        BODY("setp.lt.u32 %p1,%r0,16; @%p1 bra A; mov.u32 %r2,1; bar.warp.sync -1; bra X;\nA: mov.u32 %r2,2; "
             "bar.warp.sync -1;\nX: match.any.sync.b32 %r1,%r2,-1;");
    /* Halves of a warp with masks of their own: sums of 0 to 15 and of 16 to 31. */
    const char *halves =
        BODY("and.b32 %r2,%r0,16; mov.u32 %r3,65535; shl.b32 %r3,%r3,%r2; redux.sync.add.u32 %r1,%r0,%r3;");
    if (CHECK(run(halves, 1, 32, 0, 0, out, 32))) {
        CHECK_INT(out[3], 120);
        CHECK_INT(out[20], 376);
    }
    if (CHECK(run(sum, 1, 32, 0, 0, out, 32))) CHECK_INT(out[9], 992);
    if (CHECK(run(up, 1, 32, 0, 0, out, 32))) {
        CHECK_INT(out[2], 2);
        CHECK_INT(out[10], 107);
    }
    if (CHECK(run(ballot, 1, 32, 0, 0, out, 32))) CHECK_INT(out[0], 0xaaaaaaaa);
    if (CHECK(run(meet, 1, 32, 0, 0, out, 32))) {
        CHECK_INT(out[0], 0xffff);
        CHECK_INT(out[31], 0xffff0000);
    }
}

static void test_atomics(void)
{
    uint32_t out[4] = {0};
    rig r;
    const char *ptx =
        BODY("ld.param.u64 %d3,[out]; atom.global.add.u32 %r2,[%d3],%r0; red.global.max.u32 [%d3+4],%r0; "
             "atom.global.cas.b32 %r3,[%d3+8],0,77; red.global.inc.u32 [%d3+12],9; ld.global.u32 %r1,[%d3];");
    if (!CHECK(open_rig(&r, ptx, 0))) return;
    cute_device_upload(r.device, r.out, out, sizeof out, r.diag);
    CHECK(start(&r, 2, 64, 0) == CUTE_OK);
    cute_device_download(r.device, out, r.out, sizeof out, r.diag);
    CHECK_INT(out[0], 2 * 63 * 64 / 2);
    CHECK_INT(out[1], 63);
    CHECK_INT(out[2], 77);
    CHECK_INT(out[3], 128 % 10);
    print_messages(&r);
    close_rig(&r);
}

/* A lock within a warp: lanes that wait must not keep the one that holds it from going on. */
static void test_spin_lock(void)
{
    uint32_t out[32], zero[2] = {0};
    rig r;
    const char *ptx = ".global .align 4 .u32 lock = 0;\n.global .align 4 .u32 sum = 0;\n" BODY(
        "mov.u64 %d5,lock; mov.u64 %d6,sum;\nL: atom.global.cas.b32 %r2,[%d5],0,1; setp.ne.u32 %p1,%r2,0; "
        "@%p1 bra L; "
        "ld.global.u32 %r3,[%d6]; add.u32 %r3,%r3,1; st.global.u32 [%d6],%r3; membar.gl; "
        "atom.global.exch.b32 %r4,[%d5],0; "
        "ld.volatile.global.u32 %r1,[%d6];");
    (void)zero;
    if (!CHECK(open_rig(&r, ptx, 0))) return;
    bool ok = CHECK(start(&r, 1, 32, 0) == CUTE_OK);
    if (!ok) print_messages(&r);
    if (ok) cute_device_download(r.device, out, r.out, sizeof out, r.diag);
    uint32_t most = 0;
    for (int t = 0; ok && t < 32; t++) most = out[t] > most ? out[t] : most;
    if (ok) CHECK_INT(most, 32);
    close_rig(&r);
}

/* Producer and consumer over a mbarrier with a bulk copy of 256 bytes. */
static void test_mbarrier(void)
{
    uint32_t out[64];
    const char *ptx =
        BODY(".shared .align 16 .b8 s[256]; .shared .align 8 .b8 bar[8]; mov.u32 %r2,s; mov.u32 %r3,bar; "
             "setp.ne.u32 %p1,%r0,0; @%p1 "
             "bra W; mbarrier.init.shared.b64 [%r3],1; mbarrier.arrive.expect_tx.shared.b64 _,[%r3],256; "
             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2],[%d1],256,[%r3];\nW: "
             "bar.sync 0;\nT: "
             "mbarrier.try_wait.parity.shared.b64 %p2,[%r3],0; @!%p2 bra T; shl.b32 %r4,%r0,2; add.u32 "
             "%r4,%r4,%r2; ld.shared.u32 "
             "%r1,[%r4];");
    for (uint64_t seed = 0; seed < 6; seed++) {
        if (!CHECK(run(ptx, 1, 64, 0, seed, out, 64))) return;
        for (uint32_t t = 0; t < 64; t++) CHECK_INT(out[t], t * 7 % 64);
    }
}

static void test_cluster(void)
{
    uint32_t out[4];
    const char *ptx = BODY(
        ".shared .align 4 .b8 s[4]; mov.u32 %r2,s; mov.u32 %r3,%cluster_ctarank; add.u32 %r4,%r3,50; "
        "st.shared.u32 [%r2],%r4; barrier.cluster.arrive; barrier.cluster.wait; xor.b32 %r5,%r3,1; "
        "mapa.shared::cluster.u32 %r6,%r2,%r5; ld.shared::cluster.u32 %r1,[%r6]; barrier.cluster.arrive; "
        "barrier.cluster.wait;");
    for (uint64_t seed = 0; seed < 4; seed++) {
        if (!CHECK(run(ptx, 4, 1, 2, seed, out, 4))) return;
        CHECK_INT(out[0], 51);
        CHECK_INT(out[1], 50);
        CHECK_INT(out[3], 50);
    }
}

/* The first warp arrives at the barrier of the cluster and ends; the last one arrives late. */
static void test_cluster_arrive_and_exit(void)
{
    static uint32_t out[192];
    const char *ptx = BODY(
        ".shared .align 4 .b8 s[4]; mov.u32 %r2,s; mov.u32 %r5,%tid.x; setp.lt.u32 %p1,%r5,32; @%p1 bra A; "
        "setp.lt.u32 %p1,%r5,64; @%p1 bra B; mov.u32 %r6,0;\nL: add.u32 %r6,%r6,1; setp.lt.u32 "
        "%p1,%r6,3000; @%p1 bra L; st.shared.u32 [%r2],%r6; bra B;\nA: barrier.cluster.arrive; ret;\nB: "
        "barrier.cluster.arrive; barrier.cluster.wait; ld.shared.u32 %r1,[%r2];");
    for (uint64_t seed = 0; seed < 6; seed++) {
        if (!CHECK(run(ptx, 2, 96, 2, seed, out, 192))) return;
        CHECK_INT(out[32], 3000);
        CHECK_INT(out[95], 3000);
        CHECK_INT(out[96 + 40], 3000);
    }
}

static void test_cp_async(void)
{
    uint32_t out[32];
    const char *ptx =
        BODY(".shared .align 16 .b8 s[128]; mov.u32 %r2,s; shl.b32 %r3,%r0,2; add.u32 %r2,%r2,%r3; "
             "cp.async.ca.shared.global [%r2],[%d4],4; cp.async.commit_group; cp.async.wait_group 0; "
             "ld.shared.u32 %r1,[%r2];");
    for (uint64_t seed = 0; seed < 4; seed++) {
        if (!CHECK(run(ptx, 1, 32, 0, seed, out, 32))) return;
        CHECK_INT(out[31], 31 * 7 % 64);
    }
}

static void test_local(void)
{
    uint32_t out[32];
    const char *ptx =
        BODY(".local .align 4 .b8 l[16]; st.local.u32 [l+4],%r0; mov.u64 %d5,l; cvta.local.u64 %d6,%d5; "
             "ld.u32 %r1,[%d6+4]; ld.global.v2.u32 {%r2,%r3},[%d1+8]; add.u32 %r1,%r1,%r3;");
    if (CHECK(run(ptx, 1, 32, 0, 0, out, 32))) CHECK_INT(out[5], 5 + 21);
    const char *dynamic =
        BODY("stacksave.u64 %d5; add.u32 %r2,%r0,4; cvt.u64.u32 %d6,%r2; alloca.u64 %d7,%d6,16; "
             "st.local.u32 [%d7],%r0; ld.local.u32 %r1,[%d7]; stackrestore.u64 %d5;");
    if (CHECK(run(dynamic, 1, 32, 0, 0, out, 32))) CHECK_INT(out[31], 31);
    const char *too_much = BODY("alloca.u64 %d7,1000000,16;");
    rig r;
    CHECK(open_rig(&r, too_much, 0) && start(&r, 1, 32, 0) == CUTE_INVALID);
    CHECK(says(&r, "alloca of 1000000 bytes"));
    close_rig(&r);
}

/* ---- what goes wrong ---- */

static void fails(const char *ptx, int64_t threads, const char *const *texts, size_t count)
{
    rig r;
    bool loaded = open_rig(&r, ptx, 0);
    CHECK(!loaded || start(&r, 1, threads, 0) == CUTE_INVALID);
    for (size_t i = 0; i < count; i++) CHECK(says(&r, texts[i]));
    close_rig(&r);
}
#define FAILS(ptx, threads, ...)                                                                             \
    do {                                                                                                     \
        const char *const texts_[] = {__VA_ARGS__};                                                          \
        fails(ptx, threads, texts_, sizeof texts_ / sizeof *texts_);                                         \
    } while (0)

static void test_bounds(void)
{
    FAILS(BODY("ld.global.u32 %r1,[%d0+8192];"), 1, "ld reads 4 bytes",
          "0 bytes past the end of the allocation of 8192 bytes", "thread (0, 0, 0)", "<ptx>:6:");
    FAILS(BODY("ld.global.v4.u32 {%r1,%r2,%r3,%r4},[%d0+8];"), 1, "misaligned ld of 16 bytes: address 0x",
          ", alignment 16");
    FAILS(".const .u32 c = 1;\n" BODY("mov.u64 %d5,c; st.global.u32 [%d5],1;"), 1,
          "writes to the constant 'c'");
    FAILS(BODY(".shared .b32 s; ld.shared.u32 %r1,[s+4];"), 1, "of shared memory");
}

static void test_deadlock(void)
{
    FAILS(BODY("setp.lt.u32 %p1,%r0,32; @%p1 bar.sync 0; @!%p1 bar.sync 1;"), 64, "deadlock",
          "waits at barrier 0: 32 of 64", "waits at barrier 1");
    FAILS(BODY(".shared .align 8 .b8 b[8]; mov.u32 %r2,b; mbarrier.init.shared.b64 [%r2],2; "
               "mbarrier.arrive.expect_tx.shared.b64 "
               "_,[%r2],16;\nT: mbarrier.try_wait.parity.shared.b64 %p1,[%r2],0; @!%p1 bra T;"),
          1, "deadlock", "waits for phase 0 of the mbarrier", ": 1 of 2 arrivals, 16 bytes missing");
}

static void test_errors(void)
{
    FAILS(BODY("frob.b32 %r1,%r2;"), 1, "unknown instruction frob.b32 at line 6", "<ptx>:6:1");
    FAILS(BODY("add.f128x.u32 %r1,%r2,%r3;"), 1, "unknown modifier '.f128x' of add");
    FAILS(BODY("add.u32 %r1,%r2;"), 1, "add expects 3 operands, got 2");
    FAILS(BODY("add.u32 %r1,%q2,%r3;"), 1, "undeclared register '%q2'");
    FAILS(BODY("add.u32 %r1,%r2,%d3;"), 1, "expected a register of 32 bits, got one of type .b64");
    FAILS(BODY("bra NOWHERE;"), 1, "undeclared name 'NOWHERE'");
    FAILS(".visible .entry k" PARAMS " { .reg .b32 %r1; ", 1, "'}'");
    FAILS(BODY("elect.sync 1|2;"), 1, "elect.sync expects d|p, membermask");
    FAILS(BODY("mov.f32 %r1, 0f12G4;"), 1, "expected 8 hexadecimal digits after 0f");
    FAILS(".pragma 0f1\n", 1, "expected ';' at end of file");
    FAILS("/* no end", 1, "unterminated comment");
}

static void test_hooks_are_quiet(void)
{
    rig r;
    const char *ptx = BODY("ld.global.u32 %r1,[%d4];");
    if (!CHECK(open_rig(&r, ptx, 0))) return;
    CHECK(start(&r, 1, 64, 0) == CUTE_OK);
    const cute_emulator_counts *counts = cute_emulator_get_counts(r.device);
    /* Two warps of eleven instructions: nine before, the load, the store; and ret. */
    CHECK_INT(counts->instructions, 2 * 12);
    CHECK_INT(counts->lanes, 64 * 12);
    CHECK_INT(counts->global_read, 64 * 4);
    CHECK_INT(counts->global_written, 64 * 4);
    close_rig(&r);
}

/* What ptxas of CUDA 13.0 charges each kernel: a 32768 bytes, b none, c and d 512 (100 of `other`, 400 of f's), e 1000. */
#define SHARED_OF_MODULE                                                                                     \
    ".shared .align 128 .b8 big[32768]; .shared .align 4 .b8 other[100]; .shared .align 4 .b8 "              \
    "nobodys[70000];"                                                                                        \
    ".extern .shared .align 128 .b8 dyn[];\n"                                                                \
    ".func f(.param .u64 p) { .reg .b64 %d<2>; .reg .b32 %r<3>; .shared .align 4 .b8 inner[400]; "           \
    "ld.param.u64 %d1,[p]; st.shared.u32 [inner],9; ld.shared.u32 %r1,[inner]; st.shared.u32 [other],%r1; "  \
    "st.global.u32 [%d1],%r1; ret; }\n.global .u64 table[1] = { f };\n"                                      \
    ".visible .entry a" PARAMS "{ st.shared.u32 [big],1; ret; }\n"                                           \
    ".visible .entry k" PARAMS "{ .reg .b32 %r<3>; .reg .b64 %d<2>; ld.param.u64 %d1,[out]; "                \
    "st.shared.u32 [dyn+230000],7; ld.shared.u32 %r2,[dyn+230000]; st.global.u32 [%d1],%r2; ret; }\n"        \
    ".visible .entry c" PARAMS "{ .reg .b64 %d<2>; .param .u64 q; ld.param.u64 %d1,[out]; st.param.u64 "     \
    "[q],%d1; call f,(q); ret; }\n"                                                                          \
    ".visible .entry d" PARAMS "{ .reg .b64 %d<4>; .param .u64 q; ld.param.u64 %d1,[out]; mov.u64 "          \
    "%d2,table; ld.global.u64 %d3,[%d2]; st.param.u64 [q],%d1; P: .callprototype _ (.param .u64 x); call "   \
    "%d3,(q),P; ret; }\n"                                                                                    \
    ".visible .entry e" PARAMS "{ .shared .align 4 .b8 mine[1000]; ret; }\n"                                 \
    ".visible .entry g" PARAMS "{ .shared .align 1024 .b8 mine[1024]; .reg .b32 %r<3>; .reg .b64 %d<2>; "    \
    "ld.param.u64 %d1,[out]; mov.u32 %r1,other; st.shared.u32 [%r1],5; mov.u32 %r2,mine; st.shared.u32 "     \
    "[%r2],6; ld.shared.u32 %r1,[%r1]; and.b32 %r2,%r2,1023; add.u32 %r1,%r1,%r2; st.global.u32 "            \
    "[%d1],%r1; ret; }\n"

/* Kernel `name` with so much dynamic shared memory; the first word of `out`. */
static bool launch_kernel(rig *r, const char *name, int64_t dynamic, uint32_t *out)
{
    cute_device_function *f;
    cute_device_launch launch = {
        .size = sizeof launch, .grid = {1, 1, 1}, .block = {1, 1, 1}, .dynamic_smem = dynamic};
    void *params[] = {&r->out, &r->in};
    return cute_device_get_function(r->device, r->module, name, &f, r->diag) == CUTE_OK &&
           cute_device_prepare(r->device, f, &launch, r->diag) == CUTE_OK &&
           cute_device_start(r->device, f, &launch, params, r->diag) == CUTE_OK &&
           cute_device_download(r->device, out, r->out, sizeof *out, r->diag) == CUTE_OK;
}

static void test_module_shared(void)
{
    static const struct {
        const char *kernel;
        int64_t bytes;
    } rows[] = {{"a", 32768}, {"k", 0}, {"c", 512}, {"d", 512}, {"e", 1000}, {"g", 2048}};
    rig r;
    uint32_t out = 0;
    CHECK(open_rig(&r, SHARED_OF_MODULE, 0));
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        cute_device_function *f;
        cute_function_info info = {.size = sizeof info};
        CHECK(cute_device_get_function(r.device, r.module, rows[n].kernel, &f, r.diag) == CUTE_OK);
        CHECK(cute_device_function_info(r.device, f, &info, r.diag) == CUTE_OK);
        CHECK_INT(info.static_smem, rows[n].bytes);
    }
    CHECK(launch_kernel(&r, "k", 232448, &out) && out == 7); /* all that a block can have */
    CHECK(launch_kernel(&r, "c", 0, &out) && out == 9);
    CHECK(launch_kernel(&r, "d", 0, &out) && out == 9);
    CHECK(launch_kernel(&r, "g", 0, &out) && out == 5);
    print_messages(&r);
    close_rig(&r);
}

int main(void)
{
    TEST("integer and bit instructions give what the ISA says", test_integers);
    TEST("floating-point instructions give what the ISA says", test_reals);
    TEST("lanes that part in loops and branches come together again", test_divergence);
    TEST("functions call themselves and each other through addresses", test_calls);
    TEST("brx.idx goes to the target of each lane", test_branch_index);
    TEST("a barrier orders shared memory in every schedule", test_barrier);
    TEST("threads that have ended do not count at a barrier", test_early_exit);
    TEST("a named barrier counts those that only arrive", test_named_barrier);
    TEST("lanes of a warp shuffle, vote, match and meet", test_warp);
    TEST("atomics of all lanes add up", test_atomics);
    TEST("a lock within a warp is passed on", test_spin_lock);
    TEST("a bulk copy completes its mbarrier in every schedule", test_mbarrier);
    TEST("blocks of a cluster read each other's shared memory", test_cluster);
    TEST("who arrives at the barrier of the cluster and ends is counted once", test_cluster_arrive_and_exit);
    TEST("cp.async is complete after wait_group in every schedule", test_cp_async);
    TEST("local memory has generic addresses", test_local);
    TEST("accesses out of bounds, misaligned or to constants are refused with their place", test_bounds);
    TEST("a deadlock names who waits for what", test_deadlock);
    TEST("text that is no program is refused with line and caret", test_errors);
    TEST("instructions, lanes and bytes are counted", test_hooks_are_quiet);
    TEST("a module's shared arrays belong to the kernels that reach them, through calls and addresses too, "
         "and lie aligned",
         test_module_shared);
    return test_finish();
}
