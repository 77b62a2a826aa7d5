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
    [[ "$output" == *"k, blocks of 128 x 1 x 1 (--block): 3 accesses, 2 cost more than necessary, 1 estimated, 0 unknown"* ]]
    [[ "$output" == *"PTX 21 "*"st.shared.f32"*" 32 "*"32-way bank conflict"* ]]
    [[ "$output" == *"the stride between lanes is a multiple of the parameter 'stride'"* ]]
    run -0 cute-dump accesses k.ptx --json
    python3 - "$output" <<'PYTHON'
import json, sys
load, shared, store = json.loads(sys.argv[1])["kernels"][0]["accesses"]
assert (load["sectors"], load["ideal"], load["alignment_assumed"], load["block_assumed"]) == (4, 4, True, True)
assert (load["least"], load["most"], load["alignment"]) == (4, 5, 1)
assert (shared["wavefronts"], shared["ideal"], shared["layout"]) == (32, 1, "(32,4):(128,1)")
# In the one case in which the stride is a made-up number of thousands each lane has a sector.
assert (store["estimated"], store["sectors"], store["ideal"]) == ("the stride between lanes is a multiple of the parameter 'stride'", 32, 4)
assert "estimated" not in load and "estimated" not in shared
PYTHON
}

@test "accesses need PTX, and say so" {
    kernel
    cute-link -o k.cubin --strip k.ptx
    run -1 cute-dump accesses k.cubin
    [[ "$output" == *"got a cubin without PTX"* ]]
    run -2 cute-dump accesses k.ptx --block=2048
    [[ "$output" == *"expected --block=X"* ]]
}

@test "PTX of every architecture is looked at, and costs the same" {
    kernel
    run -0 cute-dump accesses k.ptx --block=128
    expected=$output
    for target in sm_75 sm_80 sm_89 sm_90 sm_100 sm_100a sm_100f sm_103a sm_110f sm_120 sm_121 sm_121a sm_121f sm_130x; do
        sed "s/sm_90a/$target/; s/version 8.0/version 9.4/" k.ptx >t.ptx
        run -0 cute-dump accesses t.ptx --block=128
        [ "$output" = "$expected" ]
        run -0 cute-dump explain t.ptx --cuda-path=/nonexistent
        [[ "$output" == *"(from PTX"* ]]
    done
}

@test "instructions that the emulator does not have are named, and what they write is not known" {
    kernel
    sed -i "s/version 8.0/version 9.4/; s/sm_90a/sm_100a/; s/^{/.a_directive_of_tomorrow 3, 4\n{/" k.ptx
    sed -i "/shl.b32/i\\
    .reg .pred %p<2>;\\
    tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r5, %r6}, [%r1];\\
    @%p1 tcgen05.mma.cta_group::1.kind::f16 [%r1], %d2, %d3, %r1, {%r1, %r1, %r1, %r1}, %p1;\\
    tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r5, %r6}, [%r1];\\
    st.shared.b32 [%r5], %r6;\\
    frob.b32 %r7, %r0, {%r0, %r1};\\
    st.shared.b32 [%r7], %r6;" k.ptx
    run -0 cute-dump accesses k.ptx --block=128
    [[ "$output" == *"5 accesses, 2 cost more than necessary, 1 estimated, 2 unknown"* ]]
    [[ "$output" == *"unsupported instructions: tcgen05.ld.sync.aligned.32x32b.x2.b32 (2 times, PTX 20), tcgen05.mma.cta_group::1.kind::f16 (PTX 21), frob.b32 (PTX 24)"* ]]
    run -0 cute-dump accesses k.ptx --block=128 --json
    python3 - "$output" <<'PYTHON'
import json, sys
kernel = json.loads(sys.argv[1])["kernels"][0]
assert [(u["operation"].split(".")[0], u["count"], u["ptx_line"]) for u in kernel["not_looked_at"]] == [
    ("tcgen05", 2, 20), ("tcgen05", 1, 21), ("frob", 1, 24)]
assert kernel["not_looked_at"][2]["why"] == "unknown instruction"
by_line = {a["ptx_line"]: a for a in kernel["accesses"]}
# What an unknown instruction reads keeps its value; what it may write does not.
assert by_line[23]["unknown"] == by_line[25]["unknown"] == "the result of an unsupported instruction"
assert by_line[29]["wavefronts"] == 128
PYTHON
    run -0 cute-dump explain k.ptx --cuda-path=/nonexistent
    [[ "$output" == *"not analysed: unsupported PTX instructions: tcgen05.ld.sync.aligned"* ]]
    # The emulator runs it up to the first of them.
    echo '{"kernel": "k", "grid": [1], "block": [128], "buffers": {"a": {"dtype": "f32", "shape": [1024], "init": "zeros"}},
        "args": ["a", 1]}' >k.json
    run cute-run k.ptx --config k.json --device emulator
    [[ "$status" -eq 1 && "$output" == *"k.ptx:20:"*"tcgen05 is not supported: requires sm_100"* ]]
    # What is no instruction is an error still.
    sed -i 's/frob.b32 .*/frob.b32 %r7, [%r0;/' k.ptx
    run -1 cute-dump accesses k.ptx
    [[ "$output" == *"k.ptx:24:"* ]]
}

@test "a kernel that calls functions has accesses too" {
    kernel
    sed -i 's/^\.visible/.func (.param .b32 o) f(.param .b32 i) { .reg .b32 %x; ld.param.u32 %x, [i]; st.param.b32 [o], %x; ret; }\n&/
        s/^    st.shared/    { .param .b32 i; st.param.b32 [i+0], %r3; .param .b32 o; call (o), f, (i); ld.param.b32 %r5, [o+0]; }\n&/' k.ptx
    run -0 cute-dump accesses k.ptx --block=128
    [[ "$output" == *"3 accesses, 2 cost more than necessary, 1 estimated, 0 unknown"* ]]
}

@test "lanes that come to an access one behind the other are requests of their own" {
    cat >k.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
{
    .reg .b64 %d<2>; .reg .b32 %r<8>; .reg .pred %p<4>; .shared .align 8 .b8 s[128];
    mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; mov.u32 %r3, 0;
    cvt.u64.u32 %d1, %r1; cvta.shared.u64 %d1, %d1;
    st.shared.u32 [%r1], %r0;
L:  setp.ne.u32 %p1, %r3, %r0; @%p1 bra N;
    ld.shared.u32 %r4, [%r1];
    ld.u32 %r4, [%d1];
    atom.shared.add.u32 %r4, [%r1], 1;
N:  add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 32; @%p2 bra L;
    ret;
}
END
    echo '{"launches": [{"kernel": "k", "grid": 1, "block": 32, "args": []}]}' >k.json
    for checks in bank all; do
        run -0 cute-run k.ptx --config k.json --device emulator --counters --check=$checks --json
        python3 - "$output" <<'PYTHON'
import json, sys
lines = {l["ptx_line"]: l for l in json.loads(sys.argv[1])["counters"][0]["lines"]}
assert [lines[n]["wavefronts"]["count"] for n in (9, 11, 12, 13)] == [1, 32, 32, 32], lines
PYTHON
    done
}

@test "wrong inputs of accesses are told" {
    kernel
    run -3 cute-dump accesses none.ptx
    run -1 cute-dump accesses k.ptx --kernel nope
    [[ "$output" == *"no kernel 'nope'"*"kernels: k"* ]]
    run -3 cute-dump accesses k.ptx --config none.json
    echo '{"kernel": "zzz", "grid": 1, "block": 32}' >c.json
    run -1 cute-dump accesses k.ptx --config c.json
    [[ "$output" == *"c.json:1:12: error: \$.kernel: no kernel 'zzz'"* ]]
    echo '{"grid": 1, "block": 32, "args": [null]}' >c.json
    run -1 cute-dump accesses k.ptx --config c.json
    [[ "$output" == *"expected 2 arguments for kernel 'k', got 1"* ]]
    echo '{"grid": 1, "block": 32, "args": [null, 8]}' >c.json
    run -2 cute-dump accesses k.ptx --config c.json --block=64
    [[ "$output" == *"--block cannot be combined with --config, which sets the block size"* ]]
    run -2 cute-dump accesses k.ptx --config c.json -D x=1
    [[ "$output" == *"c.json has no param 'x'"* ]]
    for option in --svg --html --table --dot; do
        run -2 cute-dump accesses k.ptx $option
        [[ "$output" == *"$option has no effect on 'accesses'"* ]]
    done
}

@test "a launch knows the strides, and says them as a layout" {
    kernel
    cat >c.json <<'END'
{"buffers": {"a": {"dtype": "f32", "shape": [65536]}}, "params": {"stride": 8},
 "launches": [{"kernel": "k", "grid": 2, "block": 64, "args": ["a", {"value": "stride"}]}]}
END
    run -0 cute-dump accesses k.ptx --config c.json --json
    python3 - "$output" <<'PYTHON'
import json, sys
kernel = json.loads(sys.argv[1])["kernels"][0]
store = kernel["accesses"][2]
assert kernel["block"] == [64, 1, 1] and (store["sectors"], store["ideal"], store["layout"]) == (64, 8, "(32,4):(32,1)"), store
PYTHON
    run -0 cute-dump accesses k.ptx --config c.json -D stride=1
    [[ "$output" == *"0 estimated, 0 unknown"* && "$output" != *"stride between lanes"* ]]
}

@test "what does not follow from the code is counted in the launch, and why it cannot be" {
    kernel
    # The addresses of the last store come from memory: lanes of even threads go to word 0, the others to words 8 apart.
    sed -i 's/mul.lo.u32 %r4, %r0, %r2;/ld.global.u32 %r4, [%d3];/; s/\[%d5\]/[%d5+16384]/' k.ptx
    cat >c.json <<'END'
{"buffers": {"a": {"dtype": "i32", "shape": [16384], "init": {"expr": "(i % 2) * i * 8"}}},
 "launches": [{"kernel": "k", "grid": 2, "block": 64, "args": ["a", {"value": 1}]}]}
END
    run -0 cute-dump accesses k.ptx --config c.json --json
    python3 - "$output" <<'PYTHON'
import json, sys
store = json.loads(sys.argv[1])["kernels"][0]["accesses"][-1]
assert store["unknown"] == "loaded values", store
# Two blocks of two warps: words 0 and 8 t of 16 threads, each in a sector of its own.
assert store["counted"] == {"requests": 4, "sectors": 4 * 17, "ideal": 4 * 3}, store
PYTHON
    run -0 cute-dump accesses k.ptx --config c.json
    [[ "$output" == *"1 unknown; 1 counted on the emulator"*"counted in 4 requests: loaded values"* ]]
    run -0 cute-dump accesses k.ptx --block=64
    [[ "$output" != *"counted"* ]]
    # A launch that does not run.
    sed -i 's/"expr": "[^"]*"/"expr": "100000000"/' c.json
    run -0 cute-dump accesses k.ptx --config c.json
    [[ "$output" == *"not counted: "* ]]
    run -0 cute-dump accesses k.ptx --config c.json --json
    [[ "$output" == *'"not_counted": '* ]]
}
