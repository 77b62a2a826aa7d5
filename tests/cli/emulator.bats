# cute-run --device emulator as a user runs it: PTX by hand, PTX of nvcc, faults with their places.

setup() {
    run="$CUTE_BIN/cute-run"
    data="$BATS_TEST_DIRNAME/../data/emulator"
    cd "$BATS_TEST_TMPDIR"
}

# kernel BODY: k.ptx with one kernel over a buffer of 64 i32, %d points to its own element, %r0 is its number.
kernel() {
    cat >k.ptx <<END
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .b64 %d<4>; .reg .b32 %r<8>; .reg .pred %p<4>; .shared .align 8 .b8 s[256];
ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.s64 %d1, %d0, %d1;
$1
ret;
}
END
    echo '{"grid": [1], "block": [64], "args": ["out"], "buffers": {"out": {"dtype": "i32", "shape": [64]}},
           "check": {"out": {"expr": "'"${2:-i}"'"}}}' >k.json
}

emulate() { run "$run" k.ptx --config k.json --device emulator "$@"; }

says() { [[ "$output" == *"$1"* ]] || { echo "not said: $1"; echo "$output"; false; }; }

@test "PTX runs without a GPU, and its results are checked" {
    kernel "st.global.u32 [%d1], %r0;"
    emulate
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    says "check out: passed"
    kernel "shl.b32 %r0, %r0, 1; st.global.u32 [%d1], %r0;"
    emulate
    [ "$status" -eq 4 ]
}

@test "without a driver the emulator is the default, but a device that is named is meant" {
    [ ! -e /dev/nvidiactl ] || skip "there is a GPU"
    kernel "st.global.u32 [%d1], %r0;"
    unset CUTE_LIBCUDA
    run "$run" k.ptx --config k.json
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    says "PTX emulator"
    run "$run" k.ptx --config k.json --device 0
    [ "$status" -eq 3 ]
    CUTE_LIBCUDA=/nonexistent run "$run" k.ptx --config k.json
    [ "$status" -eq 3 ]
    emulate --device gpu
    [ "$status" -eq 2 ]
    says "expected a device's number, 'cuda:N' or 'emulator', got 'gpu'"
}

@test "an access out of bounds names the instruction and the thread" {
    kernel "st.global.u32 [%d1+65536], %r0;"
    emulate
    [ "$status" -eq 1 ]
    says "k.ptx:8:1: error: st writes 4 bytes"
    says "st.global.u32 [%d1+65536], %r0;"
    says "in kernel 'k', block (0, 0, 0), thread (0, 0, 0)"
}

@test "a check whose 'where' is true of no element does not hold" {
    kernel "st.global.u32 [%d1], %r0;"
    where() { sed -i "s/\"check\":.*/\"check\": {\"out\": {\"expr\": \"i * 99\", \"where\": \"$1\"$2}}}/" k.json; }
    where 'i < 0'
    emulate
    [ "$status" -eq 4 ]
    says "k.json:2:"
    says "expected elements of out to check, got none: 'where' is 0 for all 64"
    says "check out: FAILED, 'where' is 0 for all elements"
    run "$run" k.ptx --config k.json --device emulator --json
    [ "$status" -eq 4 ]
    [[ "$output" == *'"ok": false'* ]]
    where 'i < 0' ', "sample": 5'
    emulate
    [ "$status" -eq 4 ]
    says "'where' is 0 for all 5 samples"
    where 'i < 0' ', "sample": "2 + 4"'
    emulate
    says "'where' is 0 for all 6 samples"
    where 'i < 0' ', "sample": "1 - 1"'
    emulate
    [ "$status" -eq 1 ]
    says "\$.check.out.sample: expected at least 1 sample, got 0"
    where 'i == 0'
    emulate
    [ "$status" -eq 0 ] || { echo "$output"; false; }
}

@test "a source line is named where the PTX knows it" {
    kernel '.loc 1 17 3
ld.global.u32 %r1, [%d1+1]; st.global.u32 [%d1], %r1;'
    echo '.file 1 "saxpy.cu"' >>k.ptx
    sed -i '4i .file 1 "saxpy.cu"' k.ptx
    emulate
    [ "$status" -eq 1 ]
    says "misaligned ld of 4 bytes: address 0x700000000001, alignment 4"
    says "at saxpy.cu:17:3"
}

@test "a deadlock is found and explained" {
    kernel "setp.lt.u32 %p1, %r0, 32; @%p1 bar.sync 1; st.global.u32 [%d1], %r0; @!%p1 bar.sync 0, 64;"
    emulate
    [ "$status" -eq 1 ]
    says "deadlock: no warp of kernel 'k' can proceed"
    says "warp 1, lanes 0xffffffff: waits at barrier 0: 32 of 64 threads have arrived"
}

@test "loops that poll an mbarrier, with pauses, clocks or counters, end as a deadlock" {
    while read -r loop; do
        kernel "mov.u32 %r1, s; setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [%r1], 65; bar.sync 0;
mov.u32 %r2, 8; mov.u32 %r3, 0; mbarrier.arrive.shared.b64 %d2, [%r1]; W: mbarrier.test_wait.shared.b64 %p2, [%r1], %d2; @%p2 bra D; $loop bra W;
D: st.global.u32 [%d1], %r0;"
        emulate --timeout 20
        [ "$status" -eq 1 ]
        says "deadlock: no warp of kernel 'k' can proceed"
        says "warp 1, lanes 0xffffffff: waits for phase 0 of the mbarrier at shared address 0x400: 64 of 65 arrivals"
    done <<'T'
add.u32 %r3, %r3, 1;
nanosleep.u32 %r2; add.u32 %r2, %r2, 8;
mov.u64 %d3, %globaltimer; cvt.u32.u64 %r2, %d3; and.b32 %r2, %r2, 255; nanosleep.u32 %r2;
add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1; add.u32 %r3, %r3, 1;
T
}

@test "expect_tx that is two bytes too long is a deadlock that says so" {
    kernel "mov.u32 %r1, s; add.u32 %r2, %r1, 128; setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [%r2], 1;
bar.sync 0; @!%p1 bra W; mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 66;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0], 64, [%r2];
W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra W; st.global.u32 [%d1], %r0;"
    emulate
    [ "$status" -eq 1 ]
    says ": 1 of 1 arrivals, 2 bytes missing"
}

@test "a trap ends the kernel, a wait for what nobody writes is a deadlock, a loop without end ends with the timeout" {
    kernel "trap;"
    emulate
    [ "$status" -eq 1 ]
    says "the kernel executed trap"
    kernel "L: ld.volatile.global.u32 %r1, [%d0]; setp.ne.u32 %p1, %r1, 12345; @%p1 bra L;"
    emulate
    [ "$status" -eq 1 ]
    says "deadlock: no warp of kernel 'k' can proceed"
    says "warp 1, lanes 0xffffffff: spins reading global memory at 0x"
    kernel "L: add.u32 %r1, %r1, 1; bra L;"
    emulate --timeout 1
    [ "$status" -eq 1 ]
    says "kernel 'k' made no progress for 0.9 s (no memory written) and was stopped"
    says "block (0, 0, 0), warp 1, lanes 0xffffffff: is here"
}

@test "--timeout ends what writes for ever, waits at barriers for ever, or has too many blocks" {
    while read -r loop; do
        kernel "$loop"
        run timeout 20 "$run" k.ptx --config k.json --device emulator --timeout 1
        [ "$status" -eq 1 ] || { echo "$loop: $status"; false; }
        says "kernel 'k' did not end within 1 s and was stopped"
        says "block (0, 0, 0), warp 0, lanes 0xffffffff: is here"
    done <<'T'
L: add.u32 %r2, %r2, 1; st.global.u32 [%d1], %r2; bra L;
L: atom.global.add.u32 %r2, [%d1], 1; bra L;
L: bar.sync 0; bra L;
T
    kernel ""
    sed 's/"grid": \[1]/"grid": [2147483647, 65535, 65535]/' k.json >huge.json
    run timeout 20 "$run" k.ptx --config huge.json --device emulator --timeout 1
    [ "$status" -eq 1 ]
    says "kernel 'k' did not end within 1 s and was stopped"
    says "of 9223090559730712575 clusters or blocks had started"
}

@test "an instruction that is not known is refused by name and line" {
    kernel "frob.b32 %r1, %r2;"
    emulate
    [ "$status" -eq 1 ]
    says "k.ptx:8:1: error: unknown instruction frob.b32 at line 8"
}

@test "what is missing says so where it is executed, and keeps other kernels from nothing" {
    kernel "setp.eq.u32 %p1, %r0, 99; @%p1 vadd.s32.s32.s32 %r1, %r2, %r3; st.global.u32 [%d1], %r0;"
    emulate
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    while IFS='|' read -r text why; do
        kernel "$text"
        emulate
        [ "$status" -eq 1 ]
        says "k.ptx:8:1: error: ${text%%[. ]*} is not supported: $why"
        says "block (0, 0, 0), thread (0, 0, 0)"
    done <<'T'
tex.base.1d.v4.s32.s32 {%r1,%r2,%r3,%r4}, [%d0, {%r0}], {%r1};|mipmaps, multisampled textures and .v2 are not emulated
vadd.s32.s32.s32 %r1, %r2, %r3;|video instructions are not emulated
mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%r1,%r2}, {%r1,%r2,%r3,%r4}, %r0, 0;|sparse MMAs are not emulated
multimem.red.relaxed.sys.global.add.u32 [%d0], %r0;|multimem addresses are not emulated
T
}

@test "bytes that a widened load does not use may lie outside" {
    load='ld.shared.v4.u32 {%r1,%r2,%r3,%r4}, [twelve]; add.u32 %r1, %r1, %r3; sub.u32 %r1, %r1, 16; add.u32 %r0, %r0, %r1; st.global.u32 [%d1], %r0;'
    fill='.shared .align 16 .b8 twelve[12]; st.shared.u32 [twelve], 7; st.shared.u32 [twelve+4], 8; st.shared.u32 [twelve+8], 9;'
    for mask in 4095 0xfff; do
        kernel "$fill .pragma \"used_bytes_mask $mask\"; $load"
        emulate --check=memory,uninit
        [ "$status" -eq 0 ] || { echo "$output"; false; }
        says "check out: passed"
    done
    kernel "$fill .pragma \"nounroll\"; $load"
    emulate
    [ "$status" -eq 1 ]
    says "ld reads 16 bytes of shared memory at 0x500, outside the block's range 0x400 to 0x50c"
}

@test "buffers larger than the machine's memory are refused before they are filled" {
    kernel "st.global.u32 [%d1], %r0;"
    sed -i 's/"shape": \[64\]/"shape": [1099511627776]/' k.json
    run timeout 10 "$run" k.ptx --config k.json --device emulator
    [ "$status" -eq 3 ]
    says "the buffers up to 'out' need 4096.0 GiB, but this machine has"
}

@test "bench gives counts and no times" {
    kernel "st.global.u32 [%d1], %r0;"
    emulate --bench --json
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    says '"global_written": 256'
    [[ "$output" != *'"bench"'* ]]
}

@test "a fatbin runs by its PTX, and a cubin without PTX says what is missing" {
    command -v nvcc >/dev/null || skip "no nvcc"
    echo 'extern "C" __global__ void k(int *o) { o[threadIdx.x] = threadIdx.x; }' >k.cu
    kernel "ret;"
    nvcc -gencode 'arch=compute_90a,code=[sm_90a,compute_90a]' -fatbin k.cu -o k.fatbin
    nvcc -arch=sm_90a -cubin k.cu -o k.cubin
    run "$run" k.fatbin --config k.json --device emulator
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    says "check out: passed"
    run "$run" k.cubin --config k.json --device emulator
    [ "$status" -eq 1 ]
    says "the module has no PTX for the emulator to run"
}

@test "of a fatbin with PTX for sm_90 and for sm_90a that for sm_90a runs" {
    command -v nvcc >/dev/null || skip "no nvcc"
    cat >k.cu <<'END'
extern "C" __global__ void k(int *out)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    out[threadIdx.x] = threadIdx.x;
#else
    out[threadIdx.x] = -1;
#endif
}
END
    echo '{"grid": [1], "block": [64], "args": ["out"], "buffers": {"out": {"dtype": "i32", "shape": [64]}},
           "check": {"out": {"expr": "i"}}}' >k.json
    nvcc -gencode arch=compute_90,code=compute_90 -gencode arch=compute_90a,code=compute_90a -fatbin k.cu -o k.fatbin
    run "$run" k.fatbin --config k.json --device emulator
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    nvcc -gencode arch=compute_90,code=compute_90 -gencode 'arch=compute_90a,code=[sm_90a,compute_90a]' -fatbin k.cu -o k.fatbin
    run "$run" k.fatbin --config k.json --device emulator
    [ "$status" -eq 0 ] || { echo "$output"; false; }
}

@test "what nvcc makes runs, for every schedule" {
    command -v nvcc >/dev/null || skip "no nvcc"
    nvcc -arch=sm_90a -std=c++17 -ptx "$data/kernels.cu" -o cu.ptx
    one() { # kernel grid block args elements expression init
        echo '{"kernel": "'"$1"'", "grid": ['"$2"'], "block": ['"$3"'], "args": ['"$4"'], "buffers": {
                "in": {"dtype": "i32", "shape": [512], "init": '"${7:-{\"expr\": \"i * 7 % 61\"\}}"'},
                "out": {"dtype": "i32", "shape": ['"$5"'], "init": "zeros"}},
               "check": {"out": {"expr": "'"$6"'"}}}' >"$1.json"
        schedules "$1"
    }
    schedules() {
        for seed in 0 1 2 3; do
            run "$run" cu.ptx --config "$1.json" --device emulator --seed $seed
            [ "$status" -eq 0 ] || { echo "$1, seed $seed"; echo "$output"; return 1; }
        done
    }
    io='"in", "out"'
    other="(floor(i / 32) + 1 - 2 * (floor(i / 32) % 2))" # the block's neighbour: its rank with bit 0 turned
    one neighbours 8 32 "$io" 256 "($other * 32 + i % 32) * 7 % 61"
    one barriers 1 128 "$io" 128 "(127 - i) * 7 % 61 * 6"
    t="(i + 1) % 128"
    one pipeline 1 128 "$io" 128 "$t * 7 % 61 + ($t + 128) * 7 % 61 + ($t + 256) * 7 % 61 + ($t + 384) * 7 % 61"
    one scan 1 256 "$io" 256 "i + 1" '"ones"'
    one groups 1 64 "$io" 64 "16" '"ones"'
    one reduce 4 128 "$io" 1 "512" '"ones"'
    # 0! and 1!, 0 squared and 1 cubed.
    one calls 1 2 '"out"' 2 "1 + i"
    echo '{"kernel": "product", "grid": [1], "block": [32], "args": ["a", "b", "c"], "buffers": {
            "a": {"dtype": "f16", "shape": [16, 16], "init": {"integers": [-8, 8]}},
            "b": {"dtype": "f16", "shape": [16, 16], "init": {"integers": [-8, 8]}},
            "c": {"dtype": "f32", "shape": [16, 16]}},
           "check": {"c": {"einsum": "mk,kn->mn", "operands": ["a", "b"], "rtol": 0, "atol": 0}}}' >product.json
    schedules product
}

# 300 blocks on four threads; each prints two lines, and later blocks are done sooner.
@test "what blocks print comes in the order of the blocks, on any number of threads" {
    command -v nvcc >/dev/null || skip "no nvcc"
    cat >p.cu <<'END'
#include <cstdio>
extern "C" __global__ void k(int *out) {
    int sum = 0;
    for (int i = 0; i < 600 - 2 * blockIdx.x; i++) sum += out[i & 63] & i;
    printf("block %d\n", blockIdx.x);
    if (sum == 12345) out[0] = 1;
    printf("end of %d\n", blockIdx.x);
    if (blockIdx.x == 300) __trap();
}
END
    nvcc -arch=sm_90a -ptx p.cu -o p.ptx
    launch() { echo '{"kernel": "k", "grid": ['"$1"'], "block": [1], "args": ["o"],
                      "buffers": {"o": {"dtype": "i32", "shape": [64], "init": "zeros"}}}' >p.json; }
    launch 300
    for b in $(seq 0 299); do printf 'block %d\nend of %d\n' "$b" "$b"; done >expected
    for threads in 1 4; do
        "$run" p.ptx --config p.json --device emulator --threads=$threads | grep -E '^(block|end of) [0-9]+$' >printed
        cmp expected printed
    done
    # What was printed before a fault, and by no block behind it, is there too.
    launch 400
    printf 'block 300\nend of 300\n' >>expected
    for threads in 1 4; do
        run "$run" p.ptx --config p.json --device emulator --threads=$threads
        [ "$status" -eq 1 ]
        says "block (300, 0, 0)"
        printf '%s\n' "$output" | grep -E '^(block|end of) [0-9]+$' >printed
        cmp expected printed
    done
}

@test "--threads expects a number above 0" {
    kernel "st.global.u32 [%d1], %r0;"
    emulate --threads 0
    [ "$status" -eq 2 ]
    says "--threads expects a number from 1 to 1024, got '0'"
    emulate --threads 3
    [ "$status" -eq 0 ] || { echo "$output"; false; }
}

@test "--counters tell what each line did, and cute-dump puts it beside the PTX" {
    kernel "setp.lt.u32 %p1, %r0, 16;
@%p1 bra X;
add.u32 %r0, %r0, 0;
X: st.global.u32 [%d1], %r0;"
    emulate --counters
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    says "counters of k: 1 blocks, 64 threads"
    [[ "$output" =~ "global memory"\ +2\ +64 ]] # one store of each of two warps
    [[ "$output" =~ "PTX 9, bra"\ +2\ +16\ +1 ]] # the lower half of the first warp
    [[ "$output" != *registers* ]]
    "$run" k.ptx --config k.json --counters --json >report.json
    run "$CUTE_BIN/cute-dump" ptx k.ptx --counters=report.json
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [[ "$output" =~ [[:space:]]2[[:space:]]+16[[:space:]]+1[[:space:]]+"@%p1 bra X;" ]]
    [[ "$output" =~ [[:space:]]2[[:space:]]+48[[:space:]]+"add.u32 %r0, %r0, 0;" ]]
    [[ "$output" =~ [[:space:]]2[[:space:]]+64[[:space:]]+256[[:space:]]+"X: st.global.u32" ]]
    # Without --counters nothing is said.
    emulate --json
    [[ "$output" != *'"counters"'* ]]
}

@test "counters with checks have bank conflicts and sectors" {
    # Lanes 32 words apart: one bank, 32 turns for each of two warps; and 32 sectors of 32 bytes for 4 bytes each.
    kernel "and.b32 %r1, %r0, 31; shl.b32 %r1, %r1, 7; mov.u32 %r2, t; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], %r0; st.global.u32 [%d1], %r0;"
    sed -i 's/^ld.param.u64/.shared .align 8 .b8 t[4096];\n&/' k.ptx
    "$run" k.ptx --config k.json --check=bank,coalescing --counters --json >report.json
    python3 -c '
import json
k = json.load(open("report.json"))["counters"][0]
assert k["wavefronts"] == {"count": 64, "ideal": 2}, k["wavefronts"]
assert k["sectors"] == {"count": 8, "ideal": 8}, k["sectors"]'
}

@test "a report without counters, or of other PTX, is refused" {
    kernel "st.global.u32 [%d1], %r0;"
    "$run" k.ptx --config k.json --device emulator --json >plain.json
    run "$CUTE_BIN/cute-dump" ptx k.ptx --counters plain.json
    [ "$status" -eq 1 ]
    says 'the report has no "counters"'
    "$run" k.ptx --config k.json --counters --json >report.json
    head -n 4 k.ptx >short.ptx && echo "{ ret; }" >>short.ptx
    run "$CUTE_BIN/cute-dump" ptx short.ptx --counters report.json
    [ "$status" -eq 1 ]
    says "the counters belong to other PTX"
    run "$CUTE_BIN/cute-dump" ptx k.ptx --counters report.json --kernel other
    [ "$status" -eq 1 ]
    echo '{' >bad.json
    run "$CUTE_BIN/cute-dump" ptx k.ptx --counters bad.json
    [ "$status" -eq 1 ]
    emulate --counters --device 0
    [ "$status" -eq 2 ]
    says "--counters requires the emulator"
}

@test "cute-dump source shows what each line of the source did" {
    printf 'int first;\nint second;\nint third;\nint fourth;\n' >saxpy.cu
    kernel ".loc 1 2 3
setp.lt.u32 %p1, %r0, 16;
@%p1 bra X;
.loc 1 4 1
add.u32 %r0, %r0, 0;
X: st.global.u32 [%d1], %r0;"
    sed -i '4i .file 1 "saxpy.cu"' k.ptx
    "$run" k.ptx --config k.json --counters --json >report.json
    run "$CUTE_BIN/cute-dump" source report.json
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    says "saxpy.cu"
    # setp and the branch of two warps: 4, 64 + 16 lanes; add, st and ret: 6, 48 + 64 + 64.
    [[ "$output" =~ [[:space:]]4[[:space:]]+80[[:space:]]+1[[:space:]]+2[[:space:]]+"int second;" ]]
    [[ "$output" =~ [[:space:]]3[[:space:]]+"int third;" ]]
    [[ "$output" =~ [[:space:]]6[[:space:]]+176[[:space:]]+256[[:space:]]+4[[:space:]]+"int fourth;" ]]
    rm saxpy.cu
    run "$CUTE_BIN/cute-dump" source report.json -o out.txt
    [ "$status" -eq 0 ]
    grep -q "saxpy.cu (not found)" out.txt
    kernel "st.global.u32 [%d1], %r0;"
    "$run" k.ptx --config k.json --counters --json >report.json
    run "$CUTE_BIN/cute-dump" source report.json
    [ "$status" -eq 1 ]
    says "the counters have no source lines"
}

@test "a block does not end before its cp.async have come" {
    kernel "mov.u32 %r1, s; mad.lo.u32 %r1, %r0, 4, %r1;
        st.global.u32 [%d1], %r0; cp.async.ca.shared.global [%r1], [%d1], 4; cp.async.commit_group;"
    for seed in 0 1 2 3 4 5 6 7 8; do
        emulate --seed "$seed"
        [ "$status" -eq 0 ] || { echo "$output"; false; }
    done
    # Nor before what arrives behind them; the mbarrier's phase nobody waits for.
    kernel "mov.u32 %r1, s; mad.lo.u32 %r1, %r0, 2, %r1; and.b32 %r1, %r1, -4;
        setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [s+248], 65; bar.sync 0;
        st.global.u32 [%d1], %r0; cp.async.ca.shared.global [%r1], [%d1], 4;
        cp.async.mbarrier.arrive.noinc.shared.b64 [s+248];"
    for seed in 0 1 2 3 4 5 6 7 8; do
        emulate --seed "$seed"
        [ "$status" -eq 0 ] || { echo "$output"; false; }
    done
}
