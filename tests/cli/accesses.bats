#!/usr/bin/env bats
# What accesses to memory cost, told before a launch (cute-dump accesses).
bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR"
    PATH="$CUTE_BIN:$PATH"
}

@test "costs of accesses equal what the emulator counts and what Python computes" {
    [ -x "$CUTE_BIN/cute-ptx" ] || skip "no cute-ptx"
    PYTHONDONTWRITEBYTECODE=1 run -0 python3 "$BATS_TEST_DIRNAME/../accesses/run" "$CUTE_BIN" "$BATS_TEST_TMPDIR"
    echo "$output" | grep -v '^ok'
    [[ "$output" == *" passed, 0 failed"* ]]
    # Most of what runs is known and equal.
    [[ "$output" =~ kernels\ that\ ship:\ ([0-9]+)\ equal ]]
    [ "${BASH_REMATCH[1]}" -gt 2000 ]
}

kernel() {
    cat >k.ptx <<'END'
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 stride)
{
    .reg .b32 %r<9>;
    .reg .b64 %d<9>;
    .reg .f32 %f<9>;
    .shared .align 16 .b8 room[16384];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, room;
    ld.param.u32 %r2, [stride];
    ld.param.u64 %d0, [a];
    cvta.to.global.u64 %d1, %d0;
    mul.wide.u32 %d2, %r0, 4;
    add.u64 %d3, %d1, %d2;
    ld.global.f32 %f0, [%d3];
    shl.b32 %r3, %r0, 7;
    and.b32 %r3, %r3, 4095;
    add.u32 %r3, %r3, %r1;
    st.shared.f32 [%r3], %f0;
    mul.lo.u32 %r4, %r0, %r2;
    mul.wide.u32 %d4, %r4, 4;
    add.u64 %d5, %d1, %d4;
    st.global.f32 [%d5], %f0;
    ret;
}
END
}

@test "conflicts and strides are told with their lines, what is not known with its reason" {
    kernel
    run -0 cute-dump accesses k.ptx --block=128
    [[ "$output" == *"k, blocks of 128 x 1 x 1: 3 accesses, 1 cost more than they have to, 1 not known"* ]]
    [[ "$output" == *"PTX 21 "*"st.shared.f32"*" 32 "*"32-way bank conflict"* ]]
    [[ "$output" == *"lanes lie apart by a multiple of the parameter 'stride'"* ]]
    run -0 cute-dump accesses k.ptx --json
    python3 - "$output" <<'PYTHON'
import json, sys
load, shared, store = json.loads(sys.argv[1])["kernels"][0]["accesses"]
assert (load["sectors"], load["ideal"], load["alignment_assumed"], load["block_assumed"]) == (4, 4, True, True)
assert (load["least"], load["most"], load["alignment"]) == (4, 5, 1)
assert (shared["wavefronts"], shared["ideal"], shared["layout"]) == (32, 1, "(32,4):(128,1)")
assert store["unknown"] == "lanes lie apart by a multiple of the parameter 'stride'"
PYTHON
}

@test "accesses need PTX, and say so" {
    kernel
    cute-link -o k.cubin --strip k.ptx
    run -1 cute-dump accesses k.cubin
    [[ "$output" == *"no PTX is in this cubin"* ]]
    run -2 cute-dump accesses k.ptx --block=2048
    [[ "$output" == *"expected --block=X"* ]]
}
