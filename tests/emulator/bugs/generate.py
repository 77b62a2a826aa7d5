#!/usr/bin/env python3
"""Planted bugs: writes NAME.ptx and NAME.clean.ptx for each kernel below into a folder, and the table bugs.txt with
the configurations that it names. `make bugs` writes them to build/bugs.

A kernel is written once; a line that starts with `-` is only in the clean version, one with `+` only in the buggy one.
A following `!` marks the line that the check has to report (the instruction that exposes the bug). Every kernel takes
the addresses of A (256 u32, input) and C (256 u32, output) and runs as 2 blocks of 64 threads."""
import glob
import os
import shutil
import sys

import hopper

HEAD = """.version 8.4
.target sm_90a
.address_size 64
{globals}
.visible .entry k(.param .u64 pA, .param .u64 pC){cluster}
{{
    .reg .b32 %r<32>;
    .reg .b16 %h<4>;
    .reg .b64 %rd<32>;
    .reg .pred %p<8>;
    .shared .align 1024 .b8 tile[4096];
    .shared .align 8 .b8 bar[16];
    ld.param.u64 %rd1, [pA];
    ld.param.u64 %rd2, [pC];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r3, %r2, 64, %r1;
    mul.wide.u32 %rd3, %r3, 4;
    add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd5, %rd2, %rd3;
    mov.u32 %r4, tile;
    shl.b32 %r5, %r1, 2;
    add.u32 %r6, %r4, %r5;
    xor.b32 %r7, %r5, 252;
    add.u32 %r8, %r4, %r7;
    mov.u32 %r9, bar;
    xor.b32 %r10, %r5, 4;
    add.u32 %r11, %r4, %r10;
{body}
    ret;
}}
"""
CLUSTER = " .reqnctapercluster 2, 1, 1"
FOOT = "    st.global.u32 [%rd5], %r12;\n"
LOAD = "    ld.global.u32 %r12, [%rd4];\n"
ONE = "    setp.ne.u32 %p1, %r1, 0;\n"
INIT = ONE + "    @!%p1 mbarrier.init.shared.b64 [%r9], 1;\n    @!%p1 fence.mbarrier_init.release.cluster;\n    bar.sync 0;\n"
WAIT = "$w: mbarrier.try_wait.parity.shared.b64 %p2, [%r9], 0;\n    @!%p2 bra $w;\n"
BULK = "    @!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1], 256, [%r9];\n"

HEAP = ".extern .func (.param .b64 r) malloc (.param .b64 s);\n.extern .func free (.param .b64 p);"
MALLOC = "    { .param .b64 s0; .param .b64 r0; st.param.b64 [s0], 16; call.uni (r0), malloc, (s0); ld.param.b64 %rd8, [r0]; }\n"

# name: (check, globals, body)
BUGS = {
    "dropped_barrier": ("race", "", LOAD + "    st.shared.u32 [%r6], %r12;\n-    bar.sync 0;\n!    ld.shared.u32 %r12, [%r8];\n" + FOOT),
    "dropped_second_barrier": ("race", "", LOAD + """    st.shared.u32 [%r6], %r12;
    bar.sync 0;
    ld.shared.u32 %r13, [%r8];
-    bar.sync 0;
!    st.shared.u32 [%r6], %r13;
    bar.sync 0;
    ld.shared.u32 %r12, [%r8];
""" + FOOT),
    "missing_syncwarp": ("race", "", LOAD + "    st.shared.u32 [%r6], %r12;\n-    bar.warp.sync -1;\n!    ld.shared.u32 %r12, [%r11];\n" + FOOT),
    "syncwarp_for_two_warps": ("race", "", LOAD + "    st.shared.u32 [%r6], %r12;\n+    bar.warp.sync -1;\n-    bar.sync 0;\n!    ld.shared.u32 %r12, [%r8];\n" + FOOT),
    "shuffle_is_no_barrier": ("race", "", LOAD + """    st.shared.u32 [%r6], %r12;
    shfl.sync.bfly.b32 %r13, %r12, 1, 31, -1;
-    bar.warp.sync -1;
!    ld.shared.u32 %r14, [%r11];
    add.u32 %r12, %r13, %r14;
""" + FOOT),
    "one_word_written_by_all": ("race", "", LOAD + "-    setp.ne.u32 %p3, %r1, 0;\n-    @!%p3 st.shared.u32 [%r4], %r12;\n+!    st.shared.u32 [%r4], %r12;\n    bar.sync 0;\n    ld.shared.u32 %r12, [%r4];\n" + FOOT),
    "histogram_without_atomics": ("race", "", """    mov.u32 %r13, 0;
    st.shared.u32 [%r6], %r13;
    bar.sync 0;
    and.b32 %r14, %r5, 28;
    add.u32 %r14, %r4, %r14;
-    red.shared.add.u32 [%r14], 1;
+    ld.shared.u32 %r15, [%r14];
+    add.u32 %r15, %r15, 1;
+!    st.shared.u32 [%r14], %r15;
    bar.sync 0;
    ld.shared.u32 %r12, [%r6];
""" + FOOT),
    "blocks_write_one_word": ("race", "", LOAD + "+    setp.ne.u32 %p3, %r1, 0;\n+!    @!%p3 st.global.u32 [%rd2+512], %r12;\n" + FOOT),
    "blocks_read_neighbours": ("race", "", LOAD + "-    xor.b32 %r13, %r3, 0;\n+    xor.b32 %r13, %r3, 64;\n    mul.wide.u32 %rd6, %r13, 4;\n    add.u64 %rd6, %rd2, %rd6;\n" + FOOT + "!    ld.global.u32 %r14, [%rd6];\n    st.global.u32 [%rd5+512], %r14;\n"),
    "flag_without_fence": ("race", ".global .u32 count;", LOAD + FOOT + """    bar.sync 0;
    mov.u64 %rd6, count;
    setp.ne.u32 %p3, %r1, 0;
    @%p3 bra $end;
-    fence.acq_rel.gpu;
    atom.global.add.u32 %r13, [%rd6], 1;
-    fence.acq_rel.gpu;
    setp.ne.u32 %p4, %r13, 1;
    @%p4 bra $end;
!    ld.global.u32 %r14, [%rd2+128];
    st.global.u32 [%rd2+512], %r14;
$end:
"""),
    "barrier_of_half_the_threads": ("race", "", LOAD + "    st.shared.u32 [%r6], %r12;\n    shr.u32 %r13, %r1, 5;\n    add.u32 %r13, %r13, 1;\n-    bar.sync 1, 64;\n+    bar.sync %r13, 32;\n!    ld.shared.u32 %r12, [%r8];\n" + FOOT),
    "uninitialised_tile": ("uninit", "", LOAD + "    setp.lt.u32 %p3, %r1, 63;\n+    @%p3 st.shared.u32 [%r6], %r12;\n-    st.shared.u32 [%r6], %r12;\n    bar.sync 0;\n!    ld.shared.u32 %r12, [%r8];\n" + FOOT),
    "uninitialised_accumulator": ("uninit", "", LOAD + "-    st.global.u32 [%rd5], 0;\n!    red.global.add.u32 [%rd5], %r12;\n"),
    "shared_atomics_on_garbage": ("uninit", "", "-    st.shared.u32 [%r6], 0;\n    bar.sync 0;\n!    atom.shared.add.u32 %r12, [%r6], 1;\n" + FOOT),
    "off_by_one_in_shared": ("uninit", "", LOAD + "    st.shared.u32 [%r6], %r12;\n    bar.sync 0;\n-    ld.shared.u32 %r12, [%r8];\n+!    ld.shared.u32 %r12, [%r8+4];\n" + FOOT),
    "off_by_one_in_global": ("memory", "", "    sub.u32 %r13, 255, %r3;\n    mul.wide.u32 %rd6, %r13, 4;\n    add.u64 %rd6, %rd1, %rd6;\n-    ld.global.u32 %r12, [%rd6];\n+!    ld.global.u32 %r12, [%rd6+4];\n" + FOOT),
    "out_of_bounds_shared": ("memory", "", LOAD + "-    st.shared.u32 [%r6+1024], %r12;\n+!    st.shared.u32 [%r6+4096], %r12;\n-    ld.shared.u32 %r12, [%r6+1024];\n" + FOOT),
    "far_out_of_bounds": ("memory", "", "    mul.wide.u32 %rd6, %r3, 8192;\n    add.u64 %rd6, %rd1, %rd6;\n-    ld.global.u32 %r12, [%rd4];\n+!    ld.global.u32 %r12, [%rd6];\n" + FOOT),
    "misaligned_vector": ("memory", "", "    mov.u32 %r13, 0;\n-    ld.global.u32 %r12, [%rd4];\n+!    ld.global.v2.u32 {%r12, %r13}, [%rd4];\n    add.u32 %r12, %r12, %r13;\n" + FOOT),
    "write_to_constant": ("memory", ".const .align 4 .u32 table[4] = {1, 2, 3, 4};", "    mov.u64 %rd6, table;\n    cvta.const.u64 %rd6, %rd6;\n    mov.u32 %r12, 7;\n-    ld.u32 %r12, [%rd6];\n+!    st.u32 [%rd6], %r12;\n" + FOOT),
    "divergent_barrier": ("barrier", "", LOAD + "    setp.lt.u32 %p3, %r1, 16;\n+    @!%p3 bra $else;\n+!    bar.sync 0;\n+    bra $join;\n+$else:\n    bar.sync 0;\n+$join:\n" + FOOT),
    "return_before_barrier": ("barrier", "", LOAD + "    setp.ge.u32 %p3, %r1, 60;\n+    @%p3 exit;\n!    bar.sync 0;\n" + FOOT),
    "warp_returns_before_barrier": ("barrier", "", LOAD + "    setp.ge.u32 %p3, %r1, 32;\n+    @%p3 exit;\n!    bar.sync 0;\n" + FOOT),
    "barrier_count_too_high": ("barrier", "", LOAD + "-    bar.sync 1, 64;\n+!    bar.sync 1, 96;\n" + FOOT),
    "wrong_member_mask_of_shuffle": ("barrier", "", LOAD + "-    shfl.sync.bfly.b32 %r13, %r12, 1, 31, -1;\n+!    shfl.sync.bfly.b32 %r13, %r12, 1, 31, 65535;\n    xor.b32 %r12, %r12, %r13;\n" + FOOT),
    "wrong_member_mask_of_vote": ("barrier", "", LOAD + "-    vote.sync.ballot.b32 %r13, 1, -1;\n+!    vote.sync.ballot.b32 %r13, 1, 65535;\n    xor.b32 %r12, %r12, %r13;\n" + FOOT),
    "wrong_member_mask_of_match": ("barrier", "", LOAD + "-    match.any.sync.b32 %r13, %r12, -1;\n+!    match.any.sync.b32 %r13, %r12, 65535;\n    xor.b32 %r12, %r12, %r13;\n" + FOOT),
    "wrong_member_mask_of_redux": ("barrier", "", LOAD + "-    redux.sync.add.u32 %r13, %r12, -1;\n+!    redux.sync.add.u32 %r13, %r12, 65535;\n    xor.b32 %r12, %r12, %r13;\n" + FOOT),
    "wrong_member_mask_of_elect": ("barrier", "", LOAD + "-    elect.sync %r13|%p3, -1;\n+!    elect.sync %r13|%p3, 65535;\n    xor.b32 %r12, %r12, %r13;\n" + FOOT),
    "wrong_member_mask": ("barrier", "", LOAD + "-    bar.warp.sync -1;\n+!    bar.warp.sync 65535;\n" + FOOT),
    "wrong_phase": ("barrier", "", INIT + "    @!%p1 mbarrier.arrive.shared.b64 _, [%r9];\n-" + WAIT.replace("\n    @", "\n-    @") + "+!$w: mbarrier.try_wait.parity.shared.b64 %p2, [%r9], 1;\n+    @!%p2 bra $w;\n" + LOAD + FOOT),
    "expect_tx_short": ("barrier", "", INIT + "-    @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 256;\n+!    @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 254;\n" + BULK + WAIT + "    ld.shared.u32 %r12, [%r6];\n" + FOOT),
    "arrival_missing": ("barrier", "", INIT.replace("], 1;", "], 2;") + "-    setp.ge.u32 %p3, %r1, 2;\n+    setp.ge.u32 %p3, %r1, 1;\n    @!%p3 mbarrier.arrive.shared.b64 _, [%r9];\n!" + WAIT + LOAD + FOOT),
    "arrived_at_twice": ("barrier", "", INIT.replace("], 1;", "], 64;") + "-    mbarrier.arrive.shared.b64 _, [%r9];\n+    setp.ge.u32 %p3, %r1, 62;\n+    @!%p3 mbarrier.arrive.shared.b64 _, [%r9];\n+!    @!%p1 mbarrier.arrive.shared.b64 _, [%r9];\n" + WAIT + LOAD + FOOT),
    "initialised_for_another_count": ("barrier", "", ONE + "-    @!%p1 mbarrier.init.shared.b64 [%r9], 64;\n+!    @!%p1 mbarrier.init.shared.b64 [%r9], 65;\n    bar.sync 0;\n    mbarrier.arrive.shared.b64 %rd6, [%r9];\n$w: mbarrier.test_wait.shared.b64 %p2, [%r9], %rd6;\n    @%p2 bra $d;\n    nanosleep.u32 20;\n    bra $w;\n$d:\n" + LOAD + FOOT),
    "bulk_copy_not_waited_for": ("race", "", INIT + "    @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 256;\n" + BULK + "-" + WAIT.replace("\n    @", "\n-    @") + "!    ld.shared.u32 %r12, [%r6];\n" + FOOT),
    "cp_async_not_waited_for": ("race", "", "    cp.async.ca.shared.global [%r6], [%rd4], 4;\n    cp.async.commit_group;\n-    cp.async.wait_group 0;\n+    cp.async.wait_group 1;\n!    ld.shared.u32 %r12, [%r6];\n" + FOOT),
    "cp_async_without_barrier": ("race", "", "    cp.async.ca.shared.global [%r6], [%rd4], 4;\n    cp.async.commit_group;\n    cp.async.wait_group 0;\n-    bar.sync 0;\n!    ld.shared.u32 %r12, [%r8];\n" + FOOT),
    "copy_of_what_another_copy_still_writes": ("race", "", INIT + "    @!%p1 mbarrier.init.shared.b64 [%r9+8], 1;\n    @!%p1 fence.mbarrier_init.release.cluster;\n    bar.sync 0;\n"
        "    @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 256;\n    @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9+8], 256;\n" + BULK + "-" + WAIT.replace("\n    @", "\n-    @") +
        "!    @!%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r4+1024], [%r4], 256, [%r9+8];\n"
        "$v: mbarrier.try_wait.parity.shared.b64 %p2, [%r9+8], 0;\n    @!%p2 bra $v;\n$u: mbarrier.try_wait.parity.shared.b64 %p2, [%r9], 0;\n    @!%p2 bra $u;\n"
        "    ld.shared.u32 %r12, [%r6+1024];\n" + FOOT),
    "stored_tile_refilled_by_a_copy": ("race", "", LOAD + INIT + """    st.shared.u32 [%r6], %r12;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    shl.b32 %r13, %r2, 8;
    cvt.u64.u32 %rd6, %r13;
    add.u64 %rd6, %rd2, %rd6;
    @!%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd6], [%r4], 256;
    cp.async.bulk.commit_group;
-    cp.async.bulk.wait_group.read 0;
    @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 256;
!""" + BULK + WAIT + "    cp.async.bulk.wait_group 0;\n"),
    "two_cp_async_of_a_group_to_one_word": ("race", "", """    cp.async.ca.shared.global [%r6], [%rd4], 4;
    cp.async.commit_group;
-    cp.async.wait_group 0;
!    cp.async.ca.shared.global [%r6], [%rd4+512], 4;
    cp.async.commit_group;
    cp.async.wait_group 0;
    ld.shared.u32 %r12, [%r6];
""" + FOOT),
    "missing_proxy_fence": ("race", "", LOAD + ONE + """    st.shared.u32 [%r6], %r12;
-    fence.proxy.async.shared::cta;
    bar.sync 0;
    shl.b32 %r13, %r2, 8;
    cvt.u64.u32 %rd6, %r13;
    add.u64 %rd6, %rd2, %rd6;
!    @!%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd6], [%r4], 256;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
"""),
    "tile_reused_too_early": ("race", "", LOAD + ONE + """    st.shared.u32 [%r6], %r12;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    shl.b32 %r13, %r2, 8;
    cvt.u64.u32 %rd6, %r13;
    add.u64 %rd6, %rd2, %rd6;
    @!%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd6], [%r4], 256;
    cp.async.bulk.commit_group;
-    cp.async.bulk.wait_group 0;
-    bar.sync 0;
!    st.shared.u32 [%r6], 0;
    cp.async.bulk.wait_group 0;
"""),
    "mbarrier_used_before_init": ("race", "", ONE + """    @!%p1 mbarrier.init.shared.b64 [%r9], 64;
    @!%p1 fence.mbarrier_init.release.cluster;
+    bar.warp.sync -1;
+    nanosleep.u32 100;
-    bar.sync 0;
!    mbarrier.arrive.shared.b64 _, [%r9];
""" + WAIT + LOAD + FOOT),
    "arrival_before_the_store": ("race", "", INIT.replace("], 1;", "], 64;") + LOAD + """+    mbarrier.arrive.shared.b64 _, [%r9];
    st.shared.u32 [%r6], %r12;
-    mbarrier.arrive.shared.b64 _, [%r9];
""" + WAIT + "!    ld.shared.u32 %r12, [%r8];\n" + FOOT),
    "slot_refilled_before_it_is_empty": ("race", "", ONE + """    @!%p1 mbarrier.init.shared.b64 [%r9], 1;
    @!%p1 mbarrier.init.shared.b64 [%r9+8], 64;
    @!%p1 fence.mbarrier_init.release.cluster;
    bar.sync 0;
    @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 256;
    @!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1], 256, [%r9];
$w: mbarrier.try_wait.parity.shared.b64 %p2, [%r9], 0;
    @!%p2 bra $w;
    ld.shared.u32 %r13, [%r6];
    mbarrier.arrive.shared.b64 _, [%r9+8];
    @%p1 bra $c;
-$e: mbarrier.try_wait.parity.shared.b64 %p2, [%r9+8], 0;
-    @!%p2 bra $e;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 256;
!    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1], 256, [%r9];
$c: bar.warp.sync -1;
$v: mbarrier.try_wait.parity.shared.b64 %p2, [%r9], 1;
    @!%p2 bra $v;
    ld.shared.u32 %r12, [%r6];
    add.u32 %r12, %r12, %r13;
""" + FOOT),
    "elected_arrival_without_syncwarp": ("race", "", ONE + """    shr.u32 %r13, %r1, 5;
    and.b32 %r14, %r1, 31;
    setp.ne.u32 %p5, %r14, 0;
    @!%p1 mbarrier.init.shared.b64 [%r9], 2;
    @!%p1 fence.mbarrier_init.release.cluster;
    bar.sync 0;
""" + LOAD + """    st.shared.u32 [%r6], %r12;
-    bar.warp.sync -1;
    @!%p5 mbarrier.arrive.shared.b64 _, [%r9];
""" + WAIT + "!    ld.shared.u32 %r12, [%r8];\n" + FOOT),
    "ldmatrix_without_barrier": ("race", "", LOAD + """    st.shared.u32 [%r6], %r12;
-    bar.sync 0;
    and.b32 %r13, %r1, 15;
    shl.b32 %r13, %r13, 4;
    add.u32 %r13, %r4, %r13;
!    ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r12, %r14}, [%r13];
    add.u32 %r12, %r12, %r14;
""" + FOOT),
    "generic_address_race": ("race", "", LOAD + """    cvt.u64.u32 %rd7, %r6;
    cvta.shared.u64 %rd7, %rd7;
    st.u32 [%rd7], %r12;
-    bar.sync 0;
    cvt.u64.u32 %rd8, %r8;
    cvta.shared.u64 %rd8, %rd8;
!    ld.u32 %r12, [%rd8];
""" + FOOT),
    "half_words_swapped": ("race", "", LOAD + """    cvt.u16.u32 %h1, %r12;
    shl.b32 %r13, %r1, 1;
    add.u32 %r13, %r4, %r13;
    st.shared.u16 [%r13], %h1;
    xor.b32 %r14, %r13, 2;
-    bar.warp.sync -1;
!    ld.shared.u16 %h2, [%r14];
    cvt.u32.u16 %r12, %h2;
""" + FOOT),
    "volatile_is_no_barrier_for_others": ("race", "", LOAD + """    st.volatile.shared.u32 [%r6], %r12;
-    bar.sync 0;
!    ld.shared.u32 %r12, [%r8];
""" + FOOT),
    "cluster_barrier_missing": ("race", "@cluster", LOAD + """    st.shared.u32 [%r6], %r12;
    mov.u32 %r13, %cluster_ctarank;
    xor.b32 %r13, %r13, 1;
    mapa.shared::cluster.u32 %r14, %r6, %r13;
+    bar.sync 0;
-    barrier.cluster.arrive.aligned;
-    barrier.cluster.wait.aligned;
!    ld.shared::cluster.u32 %r12, [%r14];
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
""" + FOOT),
    "one_stage_too_few_waited_for": ("race", "", """    add.u64 %rd6, %rd4, 256;
    cp.async.ca.shared.global [%r6], [%rd4], 4;
    cp.async.commit_group;
    cp.async.ca.shared.global [%r6+1024], [%rd4], 4;
    cp.async.commit_group;
    cp.async.wait_group 1;
    ld.shared.u32 %r13, [%r6];
-    cp.async.wait_group 0;
!    ld.shared.u32 %r14, [%r6+1024];
    add.u32 %r12, %r13, %r14;
""" + FOOT),
    "register_set_in_one_branch": ("uninit", "", LOAD + "    setp.gt.u32 %p3, %r12, 100;\n+    @%p3 mov.u32 %r13, %r12;\n-    selp.b32 %r13, %r12, 7, %p3;\n!    st.global.u32 [%rd5], %r13;\n"),
    "sum_that_begins_with_nothing": ("uninit", "", LOAD + "-    mov.u32 %r13, 0;\n    mov.u32 %r14, 0;\n$l: add.u32 %r13, %r13, %r12;\n    add.u32 %r14, %r14, 1;\n    setp.lt.u32 %p3, %r14, 4;\n    @%p3 bra $l;\n!    st.global.u32 [%rd5], %r13;\n"),
    "index_that_was_never_set": ("uninit", "", "-    mov.u32 %r13, %r3;\n    and.b32 %r14, %r13, 255;\n    mul.wide.u32 %rd6, %r14, 4;\n    add.u64 %rd6, %rd1, %rd6;\n!    ld.global.u32 %r12, [%rd6];\n" + FOOT),
    "branch_on_a_predicate_never_set": ("uninit", "", LOAD + "    setp.eq.u32 %p3, %r1, 0;\n+    @%p3 setp.gt.u32 %p4, %r12, 3;\n-    setp.gt.u32 %p4, %r12, 3;\n!    @%p4 bra $big;\n    mov.u32 %r12, 0;\n$big:\n" + FOOT),
    "accumulator_of_mma_never_set": ("uninit", "", LOAD + "-    mov.b32 %r20, 0;\n    mov.b32 %r21, 0;\n    mov.b32 %r22, 0;\n    mov.b32 %r23, 0;\n!    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r20, %r21, %r22, %r23}, {%r12, %r12, %r12, %r12}, {%r12, %r12}, {%r20, %r21, %r22, %r23};\n    st.global.u32 [%rd5], %r23;\n"),
    "rows_of_a_tile_never_loaded": ("uninit", "", LOAD + """    setp.lt.u32 %p3, %r1, 60;
+    @%p3 st.shared.u32 [%r6], %r12;
-    st.shared.u32 [%r6], %r12;
    bar.sync 0;
    and.b32 %r13, %r1, 15;
    shl.b32 %r13, %r13, 4;
    add.u32 %r13, %r4, %r13;
!    ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r12, %r14}, [%r13];
    mov.b32 %r15, 0;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r20, %r21, %r22, %r23}, {%r15, %r15, %r15, %r15}, {%r12, %r14}, {%r15, %r15, %r15, %r15};
    st.global.u32 [%rd5], %r23;
"""),
    "local_array_half_filled": ("uninit", "", """    .local .align 8 .b8 stack[64];
    mov.u64 %rd6, stack;
    and.b32 %r13, %r1, 7;
    mul.wide.u32 %rd7, %r13, 4;
    add.u64 %rd6, %rd6, %rd7;
    st.local.u32 [%rd6], %r13;
-    ld.local.u32 %r12, [%rd6];
+!    ld.local.u32 %r12, [%rd6+4];
""" + FOOT),
    "a_lane_shuffles_from_one_that_has_no_value": ("uninit", "", LOAD + "    and.b32 %r13, %r1, 31;\n    setp.lt.u32 %p3, %r13, 16;\n+    @%p3 mov.u32 %r14, %r12;\n-    mov.u32 %r14, %r12;\n    shfl.sync.bfly.b32 %r15, %r14, 16, 31, -1;\n!    st.global.u32 [%rd5], %r15;\n"),
    "half_of_a_pair_never_set": ("uninit", "", LOAD + "    cvt.u16.u32 %h1, %r12;\n-    mov.u16 %h2, %h1;\n    mov.b32 %r13, {%h1, %h2};\n    shr.u32 %r14, %r13, 16;\n    st.shared.u32 [%r6], %r14;\n    bar.warp.sync -1;\n-    ld.shared.u32 %r15, [%r11];\n+!    ld.shared.u32 %r15, [%r11];\n    and.b32 %r15, %r15, 255;\n    setp.ne.u32 %p3, %r15, 9;\n    @%p3 add.u32 %r12, %r12, 1;\n" + FOOT),
    "fence_of_the_block_for_other_blocks": ("race", ".global .u32 count;", LOAD + FOOT + """    bar.sync 0;
    mov.u64 %rd6, count;
    setp.ne.u32 %p3, %r1, 0;
    @%p3 bra $end;
-    fence.acq_rel.gpu;
+    fence.acq_rel.cta;
    atom.relaxed.gpu.global.add.u32 %r13, [%rd6], 1;
    fence.acq_rel.gpu;
    setp.ne.u32 %p4, %r13, 1;
    @%p4 bra $end;
!    ld.global.u32 %r14, [%rd2+128];
    st.global.u32 [%rd2+512], %r14;
$end:
"""),
    "flag_read_without_acquire": ("race", ".global .u32 flag;", LOAD + """    mov.u64 %rd6, flag;
    setp.ne.u32 %p3, %r1, 0;
    @%p3 bra $end;
    setp.ne.u32 %p4, %r2, 0;
    @%p4 bra $second;
    st.global.u32 [%rd2+768], %r12;
    st.release.gpu.global.u32 [%rd6], 1;
    bra $end;
$second:
-    ld.acquire.gpu.global.u32 %r13, [%rd6];
+    ld.relaxed.gpu.global.u32 %r13, [%rd6];
    setp.eq.u32 %p4, %r13, 0;
    @%p4 bra $second;
!    ld.global.u32 %r14, [%rd2+768];
    st.global.u32 [%rd2+512], %r14;
$end:
"""),
    "fence_before_the_flag_is_read": ("race", ".global .u32 flag;", LOAD + """    mov.u64 %rd6, flag;
    setp.ne.u32 %p3, %r1, 0;
    @%p3 bra $end;
    setp.ne.u32 %p4, %r2, 0;
    @%p4 bra $second;
    st.global.u32 [%rd2+768], %r12;
    membar.gl;
    st.volatile.global.u32 [%rd6], 1;
    bra $end;
$second:
+    membar.gl;
    ld.volatile.global.u32 %r13, [%rd6];
    setp.eq.u32 %p4, %r13, 0;
    @%p4 bra $second;
-    membar.gl;
!    ld.global.u32 %r14, [%rd2+768];
    st.global.u32 [%rd2+512], %r14;
$end:
"""),
    "atomics_of_the_block_on_a_counter_of_all": ("race", ".global .u32 count;", LOAD + "    mov.u64 %rd6, count;\n-    red.relaxed.gpu.global.add.u32 [%rd6], %r12;\n+!    red.relaxed.cta.global.add.u32 [%rd6], %r12;\n" + FOOT),
    "flag_of_one_block_without_a_barrier": ("race", ".global .u32 count;", LOAD + FOOT + """-    bar.sync 0;
    mov.u64 %rd6, count;
    setp.ne.u32 %p3, %r1, 0;
    @%p3 bra $end;
    fence.acq_rel.gpu;
    atom.global.add.u32 %r13, [%rd6], 1;
    fence.acq_rel.gpu;
    setp.ne.u32 %p4, %r13, 1;
    @%p4 bra $end;
!    ld.global.u32 %r14, [%rd2+128];
    st.global.u32 [%rd2+512], %r14;
$end:
"""),
    "lock_taken_by_cas_and_a_barrier": ("race", ".global .u32 flag;", LOAD + """    mov.u64 %rd6, flag;
    setp.ne.u32 %p3, %r1, 0;
    setp.ne.u32 %p4, %r2, 0;
    @%p4 bra $second;
    st.global.u32 [%rd5+512], %r12;
    bar.sync 0;
    @%p3 bra $end;
    fence.acq_rel.gpu;
    red.relaxed.gpu.global.add.u32 [%rd6], 1;
    bra $end;
$second:
    @%p3 bra $read;
$poll:
    atom.relaxed.gpu.global.cas.b32 %r13, [%rd6], 1, 0;
    setp.ne.u32 %p4, %r13, 1;
    @%p4 bra $poll;
-    fence.acq_rel.gpu;
$read:
    bar.sync 0;
!    ld.global.u32 %r14, [%rd5+256];
    st.global.u32 [%rd5], %r14;
$end:
"""),
    "flag_read_by_one_thread_for_all": ("race", ".global .u32 flag;", LOAD + """    mov.u64 %rd6, flag;
    setp.ne.u32 %p3, %r1, 0;
    setp.ne.u32 %p4, %r2, 0;
    @%p4 bra $second;
    @%p3 bra $end;
    st.global.u32 [%rd2+768], %r12;
    st.release.gpu.global.u32 [%rd6], 1;
    bra $end;
$second:
    @%p3 bra $read;
$poll:
    ld.acquire.gpu.global.u32 %r13, [%rd6];
    setp.eq.u32 %p5, %r13, 0;
    @%p5 bra $poll;
$read:
-    bar.sync 0;
!    ld.global.u32 %r14, [%rd2+768];
    st.global.u32 [%rd5], %r14;
$end:
"""),
    "lock_without_acquire": ("race", ".global .u32 lock;\n.global .u32 sum;", LOAD + """    mov.u64 %rd6, lock;
    mov.u64 %rd7, sum;
    setp.ne.u32 %p3, %r1, 0;
    @%p3 bra $end;
$take:
-    atom.acquire.gpu.global.cas.b32 %r13, [%rd6], 0, 1;
+    atom.relaxed.gpu.global.cas.b32 %r13, [%rd6], 0, 1;
    setp.ne.u32 %p4, %r13, 0;
    @%p4 bra $take;
!    ld.global.u32 %r14, [%rd7];
    add.u32 %r14, %r14, %r12;
    st.global.u32 [%rd7], %r14;
    st.release.gpu.global.u32 [%rd6], 0;
$end:
"""),
    "cluster_flag_with_a_fence_of_the_block": ("race", "@cluster", LOAD + """    st.shared.u32 [%r6], %r12;
    st.shared.u32 [%r9], 0;
    mov.u32 %r13, %cluster_ctarank;
    xor.b32 %r13, %r13, 1;
    mapa.shared::cluster.u32 %r14, %r6, %r13;
    mapa.shared::cluster.u32 %r15, %r9, %r13;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    setp.ne.u32 %p3, %r1, 0;
    @%p3 bra $wait;
    st.shared::cluster.u32 [%r14], 5;
-    fence.acq_rel.cluster;
+    fence.acq_rel.cta;
    st.relaxed.cluster.shared::cluster.u32 [%r15], 1;
$poll:
    ld.acquire.cluster.shared.u32 %r16, [%r9];
    setp.eq.u32 %p5, %r16, 0;
    @%p5 bra $poll;
!    ld.shared.u32 %r12, [%r6];
$wait:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
""" + FOOT),
    "used_after_free": ("memory", HEAP, LOAD + MALLOC + """    st.u32 [%rd8], %r12;
+    { .param .b64 a1; st.param.b64 [a1], %rd8; call.uni free, (a1); }
!    ld.u32 %r12, [%rd8];
-    { .param .b64 a1; st.param.b64 [a1], %rd8; call.uni free, (a1); }
""" + FOOT),
    "freed_twice": ("memory", HEAP, LOAD + MALLOC + """    { .param .b64 a1; st.param.b64 [a1], %rd8; call.uni free, (a1); }
+!    { .param .b64 a2; st.param.b64 [a2], %rd8; call.uni free, (a2); }
""" + FOOT),
    "allocation_never_written": ("uninit", HEAP, LOAD + MALLOC + """    st.u32 [%rd8], %r12;
-    ld.u32 %r12, [%rd8];
+!    ld.u32 %r12, [%rd8+8];
    { .param .b64 a1; st.param.b64 [a1], %rd8; call.uni free, (a1); }
""" + FOOT),
    "write_to_a_parameter": ("memory", "", LOAD + """    mov.b64 %rd6, pA;
    cvta.param.u64 %rd6, %rd6;
-    ld.u64 %rd7, [%rd6];
+!    st.u64 [%rd6], %rd2;
""" + FOOT),
    "column_of_a_product_never_loaded": ("uninit", "", LOAD + """    setp.lt.u32 %p3, %r1, 60;
    @%p3 st.shared.u32 [%r6], %r12;
    bar.sync 0;
    and.b32 %r13, %r1, 15;
    shl.b32 %r13, %r13, 4;
    add.u32 %r13, %r4, %r13;
!    ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r12, %r14}, [%r13];
    mov.b32 %r15, 0;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r20, %r21, %r22, %r23}, {%r15, %r15, %r15, %r15}, {%r12, %r14}, {%r15, %r15, %r15, %r15};
    and.b32 %r16, %r1, 3;
    setp.ne.u32 %p4, %r16, 3;
-    @%p4 st.global.u32 [%rd5], %r23;
+    st.global.u32 [%rd5], %r23;
"""),
    "tile_stored_by_stmatrix_never_computed": ("uninit", "", LOAD + """    mov.b32 %r15, %r12;
    setp.lt.u32 %p3, %r1, 48;
+    @%p3 mov.b32 %r14, %r12;
-    mov.b32 %r14, %r12;
    shr.u32 %r16, %r1, 5;
    shl.b32 %r16, %r16, 8;
    and.b32 %r13, %r1, 15;
    shl.b32 %r13, %r13, 4;
    add.u32 %r13, %r13, %r16;
    add.u32 %r13, %r4, %r13;
    stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r13], {%r15, %r14};
    bar.sync 0;
    add.u32 %r17, %r6, 128;
    add.u32 %r17, %r17, %r16;
    and.b32 %r18, %r1, 32;
    shl.b32 %r18, %r18, 2;
    sub.u32 %r17, %r17, %r18;
!    ld.shared.u32 %r12, [%r17];
""" + FOOT),
    "exchange_of_what_nothing_wrote": ("uninit", "", LOAD + "!    atom.shared.exch.b32 %r13, [%r6], %r12;\n+    st.global.u32 [%rd5], %r13;\n-    st.global.u32 [%rd5], %r12;\n"),
    "remote_tile_never_written": ("uninit", "@cluster", LOAD + """    setp.ge.u32 %p3, %r1, 4;
+    @%p3 st.shared.u32 [%r6], %r12;
-    st.shared.u32 [%r6], %r12;
    mov.u32 %r13, %cluster_ctarank;
    xor.b32 %r13, %r13, 1;
    mapa.shared::cluster.u32 %r14, %r6, %r13;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
!    ld.shared::cluster.u32 %r12, [%r14];
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
""" + FOOT),
    "bits_of_what_nothing_wrote": ("uninit", "", LOAD + "-    st.shared.u32 [%r6], %r12;\n!    ld.shared.u32 %r13, [%r6];\n    and.b32 %r12, %r13, 15;\n" + FOOT),
    "bit_field_never_set": ("uninit", "", LOAD + """    ld.shared.u32 %r13, [%r6];
    and.b32 %r14, %r13, -16;
    and.b32 %r15, %r12, 15;
    or.b32 %r14, %r14, %r15;
    st.shared.u32 [%r6], %r14;
!    ld.shared.u32 %r16, [%r6];
+    shr.u32 %r16, %r16, 8;
    and.b32 %r12, %r16, 15;
""" + FOOT),
    "cluster_waited_for_without_arrival": ("barrier", "@cluster", LOAD + "-    barrier.cluster.arrive.aligned;\n!    barrier.cluster.wait.aligned;\n" + FOOT),
    "cluster_arrived_at_twice": ("barrier", "@cluster", LOAD + "    barrier.cluster.arrive.aligned;\n-    barrier.cluster.wait.aligned;\n!    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n" + FOOT),
}


def version(body, buggy):
    lines, marked = [], 0
    for line in body.split("\n"):
        which, mark = "", False
        if line[:1] in "+-" and line:
            which, line = line[0], line[1:]
        if line[:1] == "!":
            mark, line = True, line[1:]
        if (which == "+" and not buggy) or (which == "-" and buggy):
            continue
        lines.append(line)
        if mark:
            marked = len(lines)
    return "\n".join(lines), marked


def write(out, name, head, body):
    """Both versions; the line that the buggy one marks."""
    for buggy in (False, True):
        text, marked = version(body, buggy)
        with open(os.path.join(out, name + ("" if buggy else ".clean") + ".ptx"), "w") as f:
            f.write(head.replace("@@", text.rstrip("\n")))
    return head.split("@@")[0].count("\n") + marked


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: generate.py FOLDER")
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    for config in glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "*.json")):
        shutil.copy(config, out)
    table = []
    for name, (check, variables, body) in BUGS.items():
        cluster = variables == "@cluster"
        head = HEAD.format(globals="" if cluster else variables, body="@@", cluster=CLUSTER if cluster else "")
        table.append(f"{name} {check} {write(out, name, head, body)} launch.json")
    for name, (check, body) in hopper.CLUSTER.items():
        head = HEAD.format(globals="", body="@@", cluster=CLUSTER)
        table.append(f"{name} {check} {write(out, name, head, body)} launch.json")
    for name, (check, body) in hopper.TENSOR.items():
        table.append(f"{name} {check} {write(out, name, hopper.HEAD.format(body='@@'), body)} tensor.json")
    for name, (check, body) in hopper.DEPENDENT.items():
        table.append(f"{name} {check} {write(out, name, hopper.DEPENDENT_HEAD.format(body='@@'), body)} dependent.json")
    for name, (check, body) in hopper.NO_TRIGGER.items():
        head = hopper.DEPENDENT_HEAD.replace("    griddepcontrol.launch_dependents;\n", "").format(body="@@")
        table.append(f"{name} {check} {write(out, name, head, body)} dependent.json")
    with open(os.path.join(out, "bugs.txt"), "w") as f:
        f.write("# Written by generate.py: kernel, check, line of the PTX that it names, configuration.\n" + "\n".join(table) + "\n")


main()
