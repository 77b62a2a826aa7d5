/* The PTX emulator's counters by class, space and line. The numbers are counted by hand: instructions of
 * warps are issues, also of those whose guard is off; lanes are those on which they had an effect. */
#include <jansson.h>

#include "tests/unit/test_emulator.h"

/* Runs kernel k with counters; the report, of one kernel. */
static json_t *count(const char *ptx, int64_t blocks, int64_t threads, uint64_t seed, int host)
{
    rig r;
    json_t *report = NULL;
    host_threads = host;
    counters = true;
    if (!open_rig(&r, ptx, seed)) return NULL;
    if (start(&r, blocks, threads, 0) == CUTE_OK) {
        char *text = cute_emulator_counters_json(r.device);
        report = text ? json_loads(text, 0, NULL) : NULL;
        free(text);
    }
    print_messages(&r);
    close_rig(&r);
    json_t *first = json_incref(json_array_get(report, 0));
    json_decref(report);
    return first;
}

/* "classes.integer.lanes"; -1: not there. */
static int64_t at(const json_t *value, const char *path)
{
    char name[64];
    for (;;) {
        size_t n = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)n, path);
        value = json_object_get(value, name);
        if (!path[n]) return value ? json_integer_value(value) : -1;
        path += n + 1;
    }
}

/* The `n`th instruction of that name. */
static const json_t *line(const json_t *kernel, const char *name, int n)
{
    size_t index;
    json_t *item;
    json_array_foreach(json_object_get(kernel, "lines"), index,
                       item) if (!strcmp(json_string_value(json_object_get(item, "instruction")), name) &&
                                 n-- == 0) return item;
    return NULL;
}

/* In front of the code: two ld.param, three mov, mad, mul and two add; behind it st and ret. */
static void test_classes(void)
{
    const char *ptx =
        BODY("ld.global.u32 %r1,[%d4]; and.b32 %r2,%r0,1; setp.eq.u32 %p1,%r2,0; @%p1 bra X; add.u32 "
             "%r1,%r1,1;\nX: bar.sync 0;");
    for (int host = 1; host < 4; host += 2)
        for (uint64_t seed = 0; seed < 3; seed++) {
            json_t *k = count(ptx, 3, 64, seed, host); /* six warps */
            CHECK_INT(at(k, "blocks"), 3);
            CHECK_INT(at(k, "threads"), 3 * 64);
            CHECK_INT(at(k, "instructions"), 6 * 17);
            CHECK_INT(at(k, "lanes"),
                      6 * (15 * 32 + 2 * 16)); /* the branch and what it leaves out: half the lanes */
            CHECK_INT(at(k, "divergences"), 6);
            CHECK_INT(at(k, "classes.integer.instructions"), 6 * 7);
            CHECK_INT(at(k, "classes.integer.lanes"), 6 * (6 * 32 + 16));
            CHECK_INT(at(k, "classes.move.instructions"), 6 * 3);
            CHECK_INT(at(k, "classes.constants and parameters.instructions"), 6 * 2);
            CHECK_INT(at(k, "classes.global memory.instructions"), 6 * 2);
            CHECK_INT(at(k, "classes.control.instructions"), 6 * 2);
            CHECK_INT(at(k, "classes.control.lanes"), 6 * (16 + 32));
            CHECK_INT(at(k, "classes.synchronisation.instructions"), 6);
            CHECK_INT(at(k, "bytes.global.read"), 3 * 64 * 4);
            CHECK_INT(at(k, "bytes.global.written"), 3 * 64 * 4);
            CHECK_INT(at(k, "bytes.param.read"), 3 * 64 * 16);
            CHECK_INT(at(line(k, "bra", 0), "divergences"), 6);
            CHECK_INT(at(line(k, "bra", 0), "lanes"), 6 * 16);
            CHECK_INT(at(line(k, "add", 2), "lanes"), 6 * 16);
            CHECK_INT(at(line(k, "bar", 0), "lanes"), 6 * 32);
            CHECK_INT(at(line(k, "ld", 2), "bytes.global.read"), 3 * 64 * 4);
            json_decref(k);
        }
}

/* Through a generic address, as two vectors, by an atomic of half the lanes, by cp.async of which a part is
 * zeros. */
static void test_bytes(void)
{
    const char *ptx = BODY(
        ".shared .align 16 .b8 s[1024]; .local .align 4 .b8 l[8]; mov.u64 %d5,s; cvta.shared.u64 %d5,%d5; "
        "mov.u32 %r2,s; shl.b32 %r3,%r0,3; cvt.u64.u32 %d6,%r3; add.s64 %d5,%d5,%d6; add.u32 %r2,%r2,%r3; "
        "st.v2.u32 [%d5],{%r0,%r0}; ld.u32 %r1,[%d4]; setp.lt.u32 %p1,%r0,16; @%p1 atom.shared.add.u32 "
        "%r4,[%r2],1; cp.async.ca.shared.global [%r2],[%d1],8,4; cp.async.wait_all; st.local.u16 [l],%r0; "
        "cvt.rn.f32.u32 %r5,%r0;");
    json_t *k = count(ptx, 1, 32, 0, 1);
    CHECK_INT(at(line(k, "st", 0), "bytes.shared.written"), 32 * 8);
    CHECK_INT(at(line(k, "st", 0), "bytes.global.written"), -1);
    CHECK_INT(at(line(k, "ld", 2), "bytes.global.read"), 32 * 4);
    CHECK_INT(at(line(k, "atom", 0), "bytes.shared.read"), 16 * 4);
    CHECK_INT(at(line(k, "atom", 0), "bytes.shared.written"), 16 * 4);
    CHECK_INT(at(line(k, "atom", 0), "instructions"), 1);
    CHECK_INT(at(line(k, "cp", 0), "bytes.global.read"), 32 * 4);
    CHECK_INT(at(line(k, "cp", 0), "bytes.shared.written"), 32 * 8);
    CHECK_INT(at(k, "bytes.local.written"), 32 * 2);
    CHECK_INT(at(k, "classes.generic memory.instructions"), 2);
    CHECK_INT(at(k, "classes.asynchronous copies.instructions"), 1);
    CHECK_INT(at(k, "classes.conversion.instructions"), 2);
    CHECK_INT(at(k, "classes.float.instructions"), -1);
    json_decref(k);
}

/* Only block 0 calls; what no warp came to is listed with 0. */
static void test_code_that_does_not_run(void)
{
    const char *ptx =
        ".func (.param .b32 r) twice(.param .b32 n)\n{ .reg .b32 %a<3>; .reg .f32 %f<2>; ld.param.b32 "
        "%a1,[n]; add.u32 %a2,%a1,%a1; st.param.b32 [r],%a2; ret; }\n" BODY(
            "mov.u32 %r5,%ctaid.x; setp.ne.u32 %p1,%r5,0; @%p1 bra X; { .param .b32 x; .param .b32 y; "
            "st.param.b32 [x],%r0; call (y), twice, (x); ld.param.b32 %r1,[y]; }\nX: setp.lt.u32 "
            "%p2,%r5,99; @%p2 bra Y; not.b32 %r1,%r1;\nY:");
    json_t *k = count(ptx, 4, 32, 0, 1);
    CHECK_INT(at(line(k, "call", 0), "instructions"), 1);
    CHECK_INT(at(line(k, "call", 0), "lanes"), 32);
    CHECK_INT(at(line(k, "not", 0), "instructions"), 0);
    CHECK_INT(at(line(k, "bra", 0), "instructions"), 4);
    CHECK_INT(at(line(k, "bra", 0), "divergences"), 0);
    json_decref(k);
}

/* One warp; half of its lanes for the predicated ones. */
static void test_work(void)
{
    const char *ptx =
        BODY(".reg .b32 %h<3>; .reg .f32 %f<5>; .reg .f64 %g<3>; mov.f32 %f1,0f3F800000; "
             "fma.rn.f32 %f2,%f1,%f1,%f1; mul.f32 %f2,%f1,%f1; setp.lt.u32 %p1,%r0,16; @%p1 add.f32 "
             "%f2,%f1,%f1; mov.b32 %h1,0; fma.rn.f16x2 %h2,%h1,%h1,%h1; mov.f64 "
             "%g1,0d3FF0000000000000; fma.rn.f64 %g2,%g1,%g1,%g1; ex2.approx.f32 %f3,%f1; "
             "div.rn.f32 %f3,%f1,%f2;");
    json_t *k = count(ptx, 1, 32, 0, 1);
    CHECK_INT(at(k, "work.fp32.operations"), 32 * 2 + 32 + 16);
    CHECK_INT(at(k, "work.fp32.lanes"), 32 * (3 + 8)); /* and the quotient */
    CHECK_INT(at(k, "work.fp16.operations"), 32 * 4);
    CHECK_INT(at(k, "work.fp16.lanes"), 32);
    CHECK_INT(at(k, "work.fp64.operations"), 32 * 2);
    CHECK_INT(at(k, "work.special.operations"), 32 * 2);
    CHECK_INT(at(k, "work.special.lanes"), 32 * 2);
    CHECK_INT(at(k, "work.memory.lanes"), 32); /* the store behind the code */
    CHECK_INT(at(k, "work.tensor_f16.operations"), -1);
    CHECK_INT(at(k, "dram.read"), -1); /* no check looks at sectors */
    json_decref(k);
}

static void test_work_of_tensor_cores(void)
{
    const char *ptx = BODY(".reg .b32 %h<8>; .reg .f32 %f<4>; mov.b32 %h0,0; "
                           "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                           "{%f0,%f1,%f2,%f3},{%h0,%h0,%h0,%h0},{%h0,%h0},{%f0,%f1,%f2,%f3}; "
                           "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
                           "{%h1,%h2,%h3,%h4},{%h0,%h0,%h0,%h0},{%h0,%h0},{%h0,%h0,%h0,%h0};");
    json_t *k = count(ptx, 2, 64, 0, 1); /* four warps */
    CHECK_INT(at(k, "work.tensor_bf16.operations"), 4 * 2 * 16 * 8 * 16);
    CHECK_INT(at(k, "work.tensor_i8.operations"), 4 * 2 * 16 * 8 * 32);
    json_decref(k);
}

/* What the emulator does not have is of no class: nothing of it is decoded. */
static void test_work_of_what_faults(void)
{
    const char *ptx =
        BODY(".reg .f32 %f<4>; .reg .b32 %h<4>; mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
             "{%f0,%f1,%f2,%f3},{%h0,%h0},{%h0,%h0},{%f0,%f1,%f2,%f3},%h0,0x0;");
    rig r;
    counters = true;
    CHECK(open_rig(&r, ptx, 0));
    CHECK(start(&r, 1, 32, 0) != CUTE_OK);
    char *text = cute_emulator_counters_json(r.device);
    json_t *report = text ? json_loads(text, 0, NULL) : NULL;
    CHECK_INT(at(json_array_get(report, 0), "classes.tensor cores.instructions"), -1);
    json_decref(report);
    free(text);
    close_rig(&r);
}

int main(void)
{
    TEST("instructions, lanes and partings are counted by class and line, in every schedule", test_classes);
    TEST("bytes are counted by the space to which addresses lead", test_bytes);
    TEST("code that no warp came to is listed with 0", test_code_that_does_not_run);
    TEST("operations and lanes are counted by what they keep busy", test_work);
    TEST("operations of tensor cores are counted by type", test_work_of_tensor_cores);
    TEST("an instruction that the emulator lacks has no work", test_work_of_what_faults);
    return test_finish();
}
