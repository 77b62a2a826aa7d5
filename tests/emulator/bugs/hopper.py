"""Planted bugs with Hopper instructions: tensor copies, wgmma, mbarriers, clusters.

Those of CLUSTER run as the kernels of generate.py do, in clusters of two blocks. Those of TENSOR run as one warpgroup
and take three tensor maps: of A (64 x 64 f16) in one box with the 128-byte swizzle (%rd10), the same without (%rd11),
of D in boxes of 16 x 64 without (%rd12); and the addresses of A, C (1024 u32) and D."""

HEAD = """.version 8.4
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 mA[128], .param .align 64 .b8 mP[128], .param .align 64 .b8 mD[128],
                  .param .u64 pA, .param .u64 pC, .param .u64 pD)
{{
    .reg .b32 %r<48>;
    .reg .b32 %f<16>;
    .reg .b64 %rd<40>;
    .reg .pred %p<8>;
    .shared .align 1024 .b8 tile[16384];
    .shared .align 8 .b8 bar[32];
    mov.b64 %rd10, mA;
    cvta.param.u64 %rd10, %rd10;
    mov.b64 %rd11, mP;
    cvta.param.u64 %rd11, %rd11;
    mov.b64 %rd12, mD;
    cvta.param.u64 %rd12, %rd12;
    ld.param.u64 %rd1, [pA];
    ld.param.u64 %rd2, [pC];
    ld.param.u64 %rd3, [pD];
    mov.u32 %r1, %tid.x;
    mov.u32 %r4, tile;
    mov.u32 %r9, bar;
    mov.u32 %r20, 0;
    shl.b32 %r5, %r1, 4;
    add.u32 %r6, %r4, %r5;
    xor.b32 %r7, %r5, 2032;
    add.u32 %r8, %r4, %r7;
    mul.wide.u32 %rd4, %r1, 16;
    add.u64 %rd5, %rd2, %rd4;
    add.u64 %rd6, %rd3, %rd4;
    setp.ne.u32 %p1, %r1, 0;
{body}
    ret;
}}
"""

INIT = """    @!%p1 mbarrier.init.shared.b64 [%r9], 1;
    @!%p1 fence.mbarrier_init.release.cluster;
    bar.sync 0;
"""
EXPECT = "    @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 8192;\n"
COPY = ("    @!%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r4], "
        "[%rd10, {%r20, %r20}], [%r9];\n")
WAIT = "$w: mbarrier.try_wait.parity.shared.b64 %p2, [%r9], 0;\n    @!%p2 bra $w;\n"
LOAD = EXPECT + COPY + WAIT
READ = "    ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r8];\n"
WRITE = "    st.shared.v4.u32 [%r6], {%r1, %r1, %r1, %r1};\n"
OUT = "    st.global.v4.u32 [%rd5], {%r10, %r11, %r12, %r13};\n"
FENCE = "    fence.proxy.async.shared::cta;\n"
STORE = ("    @!%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd12, {%r20, %r20}], [%r4];\n")
COMMIT = "    cp.async.bulk.commit_group;\n"
# The descriptor of the tile: eight rows of 128 bytes, then the next eight; %rd20.
DESCRIPTOR = """    shr.u32 %r21, %r4, 4;
    cvt.u64.u32 %rd20, %r21;
    or.b64 %rd20, %rd20, {bits};
"""
S128 = DESCRIPTOR.format(bits="0x4000004000010000")
ZERO = "".join(f"    mov.f32 %f{n}, 0f00000000;\n" for n in range(4)) + "    setp.eq.u32 %p3, %r1, %r1;\n"
WGMMA_FENCE = "    wgmma.fence.sync.aligned;\n"
PRODUCT = "    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd20, %rd20, %p3, 1, 1, 0, 0;\n"
PRODUCTS_COMMIT = "    wgmma.commit_group.sync.aligned;\n"
PRODUCTS_WAIT = "    wgmma.wait_group.sync.aligned 0;\n"
# A second product into other registers, and a wait for all groups but the last.
ZERO4 = "".join(f"    mov.f32 %f{n}, 0f00000000;\n" for n in range(4, 8))
SECOND = PRODUCT.replace("%f0, %f1, %f2, %f3", "%f4, %f5, %f6, %f7")
ONE_LEFT = PRODUCTS_WAIT.replace("0;", "1;")
# A in registers.
FRAGMENTS = "".join(f"    mov.b32 %r{n}, 0x3c003c00;\n" for n in range(30, 34))
REGISTERS = PRODUCT.replace("%rd20, %rd20", "{%r30, %r31, %r32, %r33}, %rd20").replace("1, 1, 0, 0", "1, 1, 0")
WIDER = PRODUCT.replace("n8k16", "n16k16").replace("%f3}", "%f3, %f4, %f5, %f6, %f7}")
SUMS_AS_A = SECOND.replace("k16.f32.f16.f16", "k8.f32.tf32.tf32").replace("%rd20, %rd20", "{%f0, %f1, %f2, %f3}, %rd20").replace("1, 1, 0, 0", "1, 1")
RESULT = "    st.global.v4.f32 [%rd5], {%f0, %f1, %f2, %f3};\n"
# The rows of the tile that a lane gives to ldmatrix: row r22 (its lane in 8, and 8 a matrix), chunk r23 of 16 bytes.
ROWS = """    and.b32 %r22, %r1, 31;
    shr.u32 %r23, %r1, 5;
    shl.b32 %r24, %r22, 7;
    add.u32 %r24, %r4, %r24;
"""
LDMATRIX = "    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r24];\n"
SWIZZLED = "    and.b32 %r25, %r22, 7;\n    xor.b32 %r25, %r25, %r23;\n    shl.b32 %r25, %r25, 4;\n    add.u32 %r24, %r24, %r25;\n"
PLAIN = "    shl.b32 %r25, %r23, 4;\n    add.u32 %r24, %r24, %r25;\n"


# D gets a copy of A's tensor map; it is used from there.
MAP_CHANGED = INIT + """    cvta.to.global.u64 %rd13, %rd3;
    @%p1 bra $c;
""" + "".join(f"    ld.param.u64 %rd21, [mA+{n}];\n    st.global.u64 [%rd13+{n}], %rd21;\n" for n in range(0, 128, 8)) + """    tensormap.replace.tile.fill_mode.global.b1024.b32 [%rd13], 0;
    fence.proxy.tensormap::generic.release.gpu;
-    fence.proxy.tensormap::generic.acquire.gpu [%rd13], 128;
$c: bar.sync 0;
""" + EXPECT


def only(sign, text):
    return "".join(sign + line + "\n" for line in text.splitlines())


def mark(text):
    return "!" + text


TENSOR = {
    "tensor_load_not_waited_for": ("race", INIT + EXPECT + COPY + only("-", WAIT) + mark(READ) + OUT),
    "tensor_load_waits_for_the_phase_before": ("barrier", INIT + EXPECT + COPY + only("-", WAIT) + "+!" + WAIT.replace("], 0;", "], 1;").replace("\n    ", "\n+    ") + READ + OUT),
    "tensor_expect_short": ("barrier", INIT + only("-", EXPECT) + "+!" + EXPECT.replace("8192", "8190") + COPY + WAIT + READ + OUT),
    "tensor_expect_long": ("barrier", INIT + only("-", EXPECT) + "+!" + EXPECT.replace("8192", "8208") + COPY + WAIT + READ + OUT),
    "tensor_barrier_of_two_arrivals": ("barrier", only("-", INIT.splitlines()[0]) + only("+", INIT.splitlines()[0].replace("], 1;", "], 2;")) + "\n".join(INIT.splitlines()[1:]) + "\n" + EXPECT + COPY + mark(WAIT) + READ + OUT),
    "tensor_store_without_proxy_fence": ("race", WRITE + only("-", FENCE) + "    bar.sync 0;\n" + mark(STORE) + COMMIT + "    cp.async.bulk.wait_group 0;\n"),
    "tensor_store_overwritten": ("race", WRITE + FENCE + "    bar.sync 0;\n" + STORE + COMMIT + only("-", "    cp.async.bulk.wait_group.read 0;\n    bar.sync 0;") + mark(WRITE) + "    cp.async.bulk.wait_group 0;\n"),
    "tensor_store_not_committed": ("race", WRITE + FENCE + "    bar.sync 0;\n" + STORE + only("-", COMMIT) + "    cp.async.bulk.wait_group.read 0;\n    bar.sync 0;\n" + mark(WRITE) + only("+", COMMIT) + "    cp.async.bulk.wait_group 0;\n"),
    "tensor_store_read_back_too_early": ("race", WRITE + FENCE + "    bar.sync 0;\n" + STORE + COMMIT + only("+", "    cp.async.bulk.wait_group.read 0;") + only("-", "    cp.async.bulk.wait_group 0;") + "    bar.sync 0;\n" + mark("    ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd6];\n") + OUT),
    "block_ends_while_its_tile_is_stored": ("race", WRITE + FENCE + "    bar.sync 0;\n" + mark(STORE) + COMMIT + only("-", "    cp.async.bulk.wait_group.read 0;")),
    "block_ends_while_its_tile_is_loaded": ("race", WRITE + INIT + FENCE + EXPECT + mark(COPY) + only("-", WAIT) + OUT.replace("%r10, %r11, %r12, %r13", "%r4, %r4, %r4, %r4")),
    "copy_of_what_was_just_written": ("race", "    st.global.v4.u32 [%rd6], {%r1, %r1, %r1, %r1};\n" + only("-", "    fence.proxy.async.global;") + INIT + EXPECT.replace("8192", "2048") + mark("    @!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd3], 2048, [%r9];\n") + WAIT + READ + OUT),
    "tensor_map_changed_without_fence": ("race", MAP_CHANGED + mark(COPY.replace("%rd10", "%rd13")) + WAIT + READ + OUT),
    "product_without_proxy_fence": ("race", INIT + LOAD + S128 + ZERO + WRITE + only("-", FENCE) + "    bar.sync 0;\n" + WGMMA_FENCE + mark(PRODUCT) + PRODUCTS_COMMIT + PRODUCTS_WAIT + RESULT),
    "stage_overwritten_while_multiplied": ("race", INIT + LOAD + S128 + ZERO + WGMMA_FENCE + PRODUCT + PRODUCTS_COMMIT + only("-", PRODUCTS_WAIT + "    bar.sync 0;\n") + EXPECT + mark(COPY) + only("+", PRODUCTS_WAIT) + "$v: mbarrier.try_wait.parity.shared.b64 %p2, [%r9], 1;\n    @!%p2 bra $v;\n" + RESULT),
    "one_product_too_few_waited_for": ("race", INIT + LOAD + S128 + ZERO + WGMMA_FENCE + PRODUCT + PRODUCTS_COMMIT + "    add.u64 %rd20, %rd20, 2;\n" + PRODUCT + PRODUCTS_COMMIT + only("-", PRODUCTS_WAIT) + only("+", PRODUCTS_WAIT.replace("0;", "1;")) + "    bar.sync 0;\n" + EXPECT + mark(COPY) + PRODUCTS_WAIT + "$v: mbarrier.try_wait.parity.shared.b64 %p2, [%r9], 1;\n    @!%p2 bra $v;\n" + RESULT),
    "product_without_fence": ("race", INIT + LOAD + S128 + ZERO + only("-", WGMMA_FENCE) + mark(PRODUCT) + PRODUCTS_COMMIT + PRODUCTS_WAIT + RESULT),
    "accumulator_scaled_without_fence": ("race", INIT + LOAD + S128 + ZERO + WGMMA_FENCE + PRODUCT + PRODUCTS_COMMIT + PRODUCTS_WAIT + "    mul.f32 %f0, %f0, 0f40000000;\n" + only("-", WGMMA_FENCE) + mark(PRODUCT) + PRODUCTS_COMMIT + PRODUCTS_WAIT + RESULT),
    "product_after_its_accumulator_was_read": ("race", INIT + LOAD + S128 + ZERO + WGMMA_FENCE + PRODUCT + PRODUCTS_COMMIT + PRODUCTS_WAIT + RESULT + only("-", WGMMA_FENCE) + mark(PRODUCT) + PRODUCTS_COMMIT + PRODUCTS_WAIT + RESULT),
    "first_product_without_fence": ("race", INIT + LOAD + S128 + "    setp.ne.u32 %p3, %r1, %r1;\n" + only("-", WGMMA_FENCE) + mark(PRODUCT) + PRODUCTS_COMMIT + PRODUCTS_WAIT + RESULT),
    "accumulator_of_a_product_of_another_shape": ("race", INIT + LOAD + S128 + ZERO + ZERO4 + WGMMA_FENCE + PRODUCT + only("-", WGMMA_FENCE) + mark(WIDER) + PRODUCTS_COMMIT + PRODUCTS_WAIT + RESULT),
    "accumulator_that_becomes_an_operand": ("race", INIT + LOAD + S128 + ZERO + ZERO4 + FRAGMENTS + WGMMA_FENCE + REGISTERS + PRODUCTS_COMMIT + PRODUCTS_WAIT + only("-", WGMMA_FENCE) + mark(SUMS_AS_A) + PRODUCTS_COMMIT + PRODUCTS_WAIT + RESULT.replace("%f0, %f1, %f2, %f3", "%f4, %f5, %f6, %f7")),
    "accumulator_read_before_wait": ("race", INIT + LOAD + S128 + ZERO + WGMMA_FENCE + PRODUCT + PRODUCTS_COMMIT + only("-", PRODUCTS_WAIT) + mark("    mul.f32 %f0, %f0, 0f40000000;\n") + only("+", PRODUCTS_WAIT) + RESULT),
    "accumulator_read_with_a_group_left": ("race", INIT + LOAD + S128 + ZERO + WGMMA_FENCE + PRODUCT + PRODUCTS_COMMIT + only("-", PRODUCTS_WAIT) + only("+", PRODUCTS_WAIT.replace("0;", "1;")) + mark(RESULT) + PRODUCTS_WAIT),
    "second_accumulator_read_after_the_first_wait": ("race", INIT + LOAD + S128 + ZERO + ZERO4 + WGMMA_FENCE + PRODUCT + PRODUCTS_COMMIT + SECOND + PRODUCTS_COMMIT + ONE_LEFT + "-" + RESULT + "+!" + RESULT.replace("%f0, %f1, %f2, %f3", "%f4, %f5, %f6, %f7") + PRODUCTS_WAIT + "    add.f32 %f0, %f0, %f4;\n" + RESULT),
    "second_operand_changed_after_the_first_wait": ("race", INIT + LOAD + S128 + ZERO + ZERO4 + FRAGMENTS + WGMMA_FENCE + REGISTERS + PRODUCTS_COMMIT + "    mov.b32 %r34, %r30;\n    mov.b32 %r35, %r31;\n" + WGMMA_FENCE + SECOND.replace("%rd20, %rd20", "{%r34, %r35, %r32, %r33}, %rd20").replace("1, 1, 0, 0", "1, 1, 0") + PRODUCTS_COMMIT + ONE_LEFT + "-    mov.b32 %r30, 0;\n+!    mov.b32 %r34, 0;\n" + PRODUCTS_WAIT + "    add.f32 %f0, %f0, %f4;\n" + RESULT),
    "products_not_committed": ("race", INIT + LOAD + S128 + ZERO + WGMMA_FENCE + PRODUCT + only("-", PRODUCTS_COMMIT) + PRODUCTS_WAIT + mark(RESULT)),
    "operand_changed_while_multiplied": ("race", INIT + LOAD + S128 + ZERO + "".join(f"    mov.b32 %r{n}, 0x3c003c00;\n" for n in range(30, 34)) + WGMMA_FENCE + PRODUCT.replace("%rd20, %rd20", "{%r30, %r31, %r32, %r33}, %rd20").replace("1, 1, 0, 0", "1, 1, 0") + PRODUCTS_COMMIT + only("-", PRODUCTS_WAIT) + mark("    mov.b32 %r31, 0;\n") + only("+", PRODUCTS_WAIT) + "    st.global.u32 [%rd5+2048], %r31;\n" + RESULT),
    "accumulator_never_initialised": ("uninit", INIT + LOAD + S128 + only("-", ZERO) + only("+", "    setp.eq.u32 %p3, %r1, %r1;") + WGMMA_FENCE + mark(PRODUCT) + PRODUCTS_COMMIT + PRODUCTS_WAIT + RESULT),
    "operand_never_loaded": ("uninit", INIT + LOAD + S128 + ZERO + WGMMA_FENCE + only("+", "    add.u64 %rd20, %rd20, 512;") + mark(PRODUCT) + PRODUCTS_COMMIT + PRODUCTS_WAIT + RESULT),
    "ldmatrix_ignores_the_swizzle": ("swizzle", INIT + LOAD + ROWS + only("-", SWIZZLED) + only("+", PLAIN) + mark(LDMATRIX) + OUT),
    "ldmatrix_swizzles_a_plain_tile": ("swizzle", INIT + LOAD.replace("%rd10", "%rd11") + ROWS + only("+", SWIZZLED) + only("-", PLAIN) + mark(LDMATRIX) + OUT),
    "ldmatrix_swizzles_by_other_rows": ("swizzle", INIT + LOAD + ROWS + only("-", SWIZZLED) + only("+", SWIZZLED.replace("and.b32 %r25, %r22, 7;", "bfe.u32 %r25, %r22, 1, 2;")) + mark(LDMATRIX) + OUT),
    "descriptor_of_another_swizzle": ("swizzle", INIT + LOAD + only("-", S128) + only("+", DESCRIPTOR.format(bits="0x8000004000010000")) + ZERO + WGMMA_FENCE + mark(PRODUCT) + PRODUCTS_COMMIT + PRODUCTS_WAIT + RESULT),
    "descriptor_without_swizzle": ("swizzle", INIT + LOAD + only("-", S128) + only("+", DESCRIPTOR.format(bits="0x0000004000010000")) + ZERO + WGMMA_FENCE + mark(PRODUCT) + PRODUCTS_COMMIT + PRODUCTS_WAIT + RESULT),
    "descriptor_swizzles_a_plain_tile": ("swizzle", INIT + only("-", LOAD) + only("+", LOAD.replace("%rd10", "%rd11")) + S128 + ZERO + WGMMA_FENCE + mark(PRODUCT) + PRODUCTS_COMMIT + PRODUCTS_WAIT + RESULT),
    "stage_given_back_by_one_lane": ("race", "    @!%p1 mbarrier.init.shared.b64 [%r9+8], 4;\n" + INIT + LOAD + ROWS + SWIZZLED + LDMATRIX + only("-", "    bar.warp.sync 0xffffffff;") + "    setp.ne.u32 %p4, %r22, 0;\n    @!%p4 mbarrier.arrive.shared.b64 _, [%r9+8];\n$v: mbarrier.try_wait.parity.shared.b64 %p2, [%r9+8], 0;\n    @!%p2 bra $v;\n" + EXPECT + mark(COPY) + WAIT.replace("$w", "$u").replace("], 0;", "], 1;") + OUT),
    "arrivals_too_few_for_all": ("race", only("-", "    @!%p1 mbarrier.init.shared.b64 [%r9], 128;") + only("+", "    @!%p1 mbarrier.init.shared.b64 [%r9], 64;") + "    @!%p1 fence.mbarrier_init.release.cluster;\n    bar.sync 0;\n" + WRITE + "    bar.sync 0;\n" + mark(WRITE.replace("%r1,", "%r4,")) + "    mbarrier.arrive.shared.b64 _, [%r9];\n" + WAIT + READ + OUT),
    "mbarrier_initialised_twice": ("barrier", INIT + LOAD + READ + "    bar.sync 0;\n" + only("-", "    @!%p1 mbarrier.inval.shared.b64 [%r9];") + mark(INIT.replace("    bar.sync 0;\n", "")) + "    bar.sync 0;\n" + OUT),
    "mbarrier_reused_as_data": ("barrier", INIT + LOAD + READ + "    bar.sync 0;\n" + only("-", "    @!%p1 mbarrier.inval.shared.b64 [%r9];") + mark("    @!%p1 st.shared.u64 [%r9], %rd1;\n") + OUT),
    "setmaxnreg_in_part_of_a_warp": ("barrier", only("+", "    @%p1 bra $j;") + mark("    setmaxnreg.dec.sync.aligned.u32 64;\n") + "$j:\n" + WRITE + "    bar.sync 0;\n" + READ + OUT),
    "bulk_copy_of_a_part_of_16_bytes": ("memory", INIT + "    mov.u32 %r30, 8192;\n" + only("+", "    mov.u32 %r30, 8184;") + "    @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], %r30;\n" + mark("    @!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1], %r30, [%r9];\n") + WAIT + READ + OUT),
    "bulk_copy_to_a_part_of_16_bytes": ("memory", INIT + "    @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 8176;\n    add.u64 %rd7, %rd1, 16;\n" + only("+", "    add.u64 %rd7, %rd1, 8;") + mark("    @!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd7], 8176, [%r9];\n") + WAIT + "    ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r6];\n" + OUT),
    "ldmatrix_row_misaligned": ("memory", INIT + LOAD + ROWS + SWIZZLED + only("+", "    add.u32 %r24, %r24, 8;") + mark(LDMATRIX) + OUT),
    "ldmatrix_row_out_of_bounds": ("memory", INIT + LOAD + ROWS + SWIZZLED + only("+", "    add.u32 %r24, %r24, 16384;") + mark(LDMATRIX) + OUT),
    "stmatrix_without_barrier": ("race", ROWS + SWIZZLED + "    stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r24], {%r1, %r1, %r1, %r1};\n" + only("-", "    bar.sync 0;") + "    xor.b32 %r24, %r24, 16;\n" + mark(LDMATRIX) + OUT),
    "read_only_load_of_written_data": ("race", "    st.global.v4.u32 [%rd6], {%r1, %r1, %r1, %r1};\n    bar.sync 0;\n    xor.b32 %r7, %r5, 16;\n    cvt.u64.u32 %rd7, %r7;\n    add.u64 %rd7, %rd3, %rd7;\n" + only("-", "    ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd7];") + "+!    ld.global.nc.v4.u32 {%r10, %r11, %r12, %r13}, [%rd7];\n" + OUT),
    "copy_issued_by_every_lane": ("barrier", "    setp.ge.u32 %p4, %r1, 32;\n" + INIT + EXPECT + only("-", COPY) + "+!" + COPY.replace("@!%p1", "@!%p4") + WAIT + READ + OUT),
    "last_load_never_comes": ("barrier", INIT + LOAD + READ + "    bar.sync 0;\n" + mark(EXPECT) + only("-", COPY + WAIT.replace("$w", "$v").replace("], 0", "], 1")) + OUT),
    "mbarrier_init_without_fence": ("race", only("-", INIT) + only("+", INIT.replace("    @!%p1 fence.mbarrier_init.release.cluster;\n", "")) + EXPECT + mark(COPY) + WAIT + READ + OUT),
    "tensor_load_to_a_misaligned_tile": ("memory", INIT + only("+", "    add.u32 %r4, %r4, 64;") + EXPECT + mark(COPY) + WAIT + READ + OUT),
    "product_of_a_part_of_a_warp": ("memory", INIT + LOAD + S128 + ZERO + WGMMA_FENCE + only("+", "    setp.eq.u32 %p4, %r1, 5;\n    @%p4 exit;") + mark(PRODUCT) + PRODUCTS_COMMIT + PRODUCTS_WAIT + RESULT),
    "more_arrivals_than_expected": ("memory", "-    @!%p1 mbarrier.init.shared.b64 [%r9], 256;\n+    @!%p1 mbarrier.init.shared.b64 [%r9], 129;\n    @!%p1 fence.mbarrier_init.release.cluster;\n    bar.sync 0;\n" + WRITE + mark("    mbarrier.arrive.shared.b64 _, [%r9], 2;\n") + WAIT + READ + OUT),
    "cp_async_not_committed": ("race", "    add.u64 %rd7, %rd1, %rd4;\n    cp.async.cg.shared.global [%r6], [%rd7], 16;\n" + only("-", "    cp.async.commit_group;") + "    cp.async.wait_group 0;\n    bar.sync 0;\n" + mark(READ) + OUT),
}

# As in generate.py: %r1 the thread, %r6 and %r8 its own word and another thread's, %rd4 A's word, %rd5 C's, %r9 bar.
ONE = "    setp.ne.u32 %p1, %r1, 0;\n"
GLOBAL_LOAD = "    ld.global.u32 %r12, [%rd4];\n"
OUT_WORD = "    st.global.u32 [%rd5], %r12;\n"
MEET = "    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n"
OTHER = "    mov.u32 %r13, %cluster_ctarank;\n    xor.b32 %r13, %r13, 1;\n"
REMOTE = "    mapa.shared::cluster.u32 %r14, %r9, %r13;\n"
REMOTE_WORD = "    mapa.shared::cluster.u32 %r14, %r6, %r13;\n"
ARRIVE = "    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r14];\n"
WAIT_CLUSTER = "$w: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r9], 0;\n    @!%p2 bra $w;\n"

# One block of the two goes to $e at once, the other one comes long after.
LONG_AFTER = """    mov.u32 %r15, 0;
    setp.eq.u32 %p3, %r13, 1;
    @%p3 bra $e;
$s: nanosleep.u32 100;
    add.u32 %r15, %r15, 1;
    setp.lt.u32 %p4, %r15, 100;
    @%p4 bra $s;
"""

CLUSTER = {
    "remote_mbarrier_before_the_cluster_meets": ("race", ONE + OTHER + REMOTE + "    @!%p1 mbarrier.init.shared.b64 [%r9], 64;\n    @!%p1 fence.mbarrier_init.release.cluster;\n" + only("+", "    bar.sync 0;") + only("-", MEET) + mark(ARRIVE) + WAIT_CLUSTER + GLOBAL_LOAD + OUT_WORD + MEET),
    "remote_mbarrier_behind_a_relaxed_arrival": ("race", ONE + OTHER + REMOTE + "    @!%p1 mbarrier.init.shared.b64 [%r9], 64;\n-    barrier.cluster.arrive.aligned;\n+    barrier.cluster.arrive.relaxed.aligned;\n    barrier.cluster.wait.aligned;\n" + mark(ARRIVE) + WAIT_CLUSTER + GLOBAL_LOAD + OUT_WORD + MEET),
    "remote_arrival_missing": ("barrier", ONE + OTHER + REMOTE + "    @!%p1 mbarrier.init.shared.b64 [%r9], 64;\n    @!%p1 fence.mbarrier_init.release.cluster;\n" + MEET + "    setp.eq.u32 %p3, %r1, 63;\n" + only("-", ARRIVE) + only("+", ARRIVE.replace("    mb", "    @!%p3 mb")) + mark(WAIT_CLUSTER) + GLOBAL_LOAD + OUT_WORD + MEET),
    "remote_store_after_its_arrival": ("race", ONE + OTHER + REMOTE + "    mapa.shared::cluster.u32 %r15, %r6, %r13;\n    @!%p1 mbarrier.init.shared.b64 [%r9], 64;\n    @!%p1 fence.mbarrier_init.release.cluster;\n" + MEET + GLOBAL_LOAD + only("+", ARRIVE) + "    st.shared::cluster.u32 [%r15], %r12;\n" + only("-", ARRIVE) + WAIT_CLUSTER + mark("    ld.shared.u32 %r12, [%r8];\n") + OUT_WORD + MEET),
    "multicast_to_a_block_that_is_not_there": ("memory", ONE + "    @!%p1 mbarrier.init.shared.b64 [%r9], 1;\n    @!%p1 fence.mbarrier_init.release.cluster;\n" + MEET + """    mov.u32 %r13, %cluster_ctarank;
    setp.ne.u32 %p3, %r13, 0;
    or.pred %p3, %p1, %p3;
-    mov.b16 %h1, 3;
+    mov.b16 %h1, 6;
    @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 256;
!    @!%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r4], [%rd1], 256, [%r9], %h1;
$w: mbarrier.try_wait.parity.shared.b64 %p2, [%r9], 0;
    @!%p2 bra $w;
    ld.shared.u32 %r12, [%r6];
""" + OUT_WORD + MEET),
    "cluster_barrier_not_waited_for": ("race", GLOBAL_LOAD + "    st.shared.u32 [%r6], %r12;\n" + OTHER + REMOTE_WORD + "    barrier.cluster.arrive.aligned;\n" + only("-", "    barrier.cluster.wait.aligned;") + mark("    ld.shared::cluster.u32 %r12, [%r14];\n") + only("+", "    barrier.cluster.wait.aligned;") + MEET + OUT_WORD),
    "block_ends_before_it_is_read": ("race", GLOBAL_LOAD + "    st.shared.u32 [%r6], %r12;\n" + OTHER + REMOTE_WORD + MEET + mark("    ld.shared::cluster.u32 %r12, [%r14];\n") + only("-", MEET) + OUT_WORD),
    "block_has_ended_when_it_is_read": ("memory", GLOBAL_LOAD + "    st.shared.u32 [%r6], %r12;\n" + OTHER + REMOTE_WORD + MEET + LONG_AFTER + mark("    ld.shared::cluster.u32 %r12, [%r14];\n") + "$e:\n" + only("-", MEET) + OUT_WORD),
    "block_has_ended_when_it_is_written": ("race", GLOBAL_LOAD + OTHER + REMOTE_WORD + MEET + LONG_AFTER + mark("    st.shared::cluster.u32 [%r14], %r12;\n") + "$e:\n" + only("-", MEET) + OUT_WORD),
    "block_has_ended_at_a_remote_arrival": ("race", ONE + OTHER + REMOTE + "    @!%p1 mbarrier.init.shared.b64 [%r9], 128;\n    @!%p1 fence.mbarrier_init.release.cluster;\n" + MEET + LONG_AFTER + mark(ARRIVE) + "$e:\n" + only("-", MEET) + GLOBAL_LOAD + OUT_WORD),
    "multicast_before_the_other_block_is_done": ("race", ONE + OTHER + """    @!%p1 mbarrier.init.shared.b64 [%r9], 1;
    @!%p1 fence.mbarrier_init.release.cluster;
""" + MEET + """    setp.ne.u32 %p3, %r13, 1;
    or.pred %p3, %p1, %p3;
    mov.b16 %h1, 3;
    @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 256;
    @!%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r4], [%rd1], 256, [%r9], %h1;
$w: mbarrier.try_wait.parity.shared.b64 %p2, [%r9], 0;
    @!%p2 bra $w;
    ld.shared.u32 %r15, [%r6];
+    bar.sync 0;
""" + only("-", MEET) + """    @!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 256;
!    @!%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r4], [%rd1], 256, [%r9], %h1;
$v: mbarrier.try_wait.parity.shared.b64 %p2, [%r9], 1;
    @!%p2 bra $v;
    ld.shared.u32 %r12, [%r6];
    add.u32 %r12, %r12, %r15;
""" + OUT_WORD + MEET),
}

# Two launches, of which the second need not wait for the first: "first" writes C and reads D, k is the rest.
DEPENDENT_HEAD = """.version 8.4
.target sm_90a
.address_size 64
.visible .entry first(.param .u64 pC, .param .u64 pD)
{{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    griddepcontrol.launch_dependents;
    ld.param.u64 %rd1, [pC];
    ld.param.u64 %rd2, [pD];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd1, %rd1, %rd3;
    add.u64 %rd2, %rd2, %rd3;
    ld.global.u32 %r2, [%rd2];
    st.global.u32 [%rd1], %r2;
    ret;
}}
.visible .entry k(.param .u64 pC, .param .u64 pD)
{{
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [pC];
    ld.param.u64 %rd2, [pD];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd1, %rd1, %rd3;
    add.u64 %rd2, %rd2, %rd3;
{body}
    ret;
}}
"""
DEPENDENT = {
    "read_before_the_launch_ahead_has_ended": ("race", "-    griddepcontrol.wait;\n!    ld.global.u32 %r2, [%rd1];\n+    griddepcontrol.wait;\n    st.global.u32 [%rd2], %r2;\n"),
    "overwritten_before_the_launch_ahead_has_read": ("race", "-    griddepcontrol.wait;\n!    st.global.u32 [%rd2], %r1;\n+    griddepcontrol.wait;\n    ld.global.u32 %r2, [%rd1];\n    st.global.u32 [%rd2+1024], %r2;\n"),
}

# The launch ahead never lets its dependents begin.
NO_TRIGGER = {
    "read_of_a_launch_ahead_that_never_triggers": DEPENDENT["read_before_the_launch_ahead_has_ended"],
}
