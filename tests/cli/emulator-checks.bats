# The emulator's checks as a user asks for them: planted bugs that each have a clean version, and the reports.

setup() {
    run="$CUTE_BIN/cute-run"
    bugs="$BATS_TEST_DIRNAME/../emulator/bugs"
    cd "$BATS_TEST_TMPDIR"
}

# checked KERNEL FLAGS...: one of the planted bugs under checks.
checked() {
    local kernel=$1
    shift
    run "$run" "$bugs/$kernel.ptx" --config "$bugs/launch.json" "$@"
}

@test "every planted bug is found at its line and nothing in its clean version" {
    "$bugs/table.sh" "$CUTE_BIN" >table.txt || { cat table.txt; false; }
    sed 's/^/# /' table.txt >&3
    [ "$(grep -Ec ' (yes|deadlock) +clean( |$)' table.txt)" -ge 108 ]
}

@test "nothing is reported on the clean versions in other schedules" {
    while read -r name _ _ config; do
        [ -n "$config" ] && [ "$name" != "#" ] || continue
        for seed in 1 2 3; do
            "$run" "$bugs/$name.clean.ptx" --config "$bugs/$config" --check=all --seed=$seed >out.txt 2>&1 || { echo "$name $seed"; cat out.txt; false; }
        done
    done <"$bugs/bugs.txt"
}

@test "a finding names both lines, the array, the thread and how often" {
    checked dropped_barrier --check=race
    [ "$status" -eq 4 ]
    [[ "$output" == *"dropped_barrier.ptx:31:5: error: race: ld reads byte 124 of shared 'tile'"* ]]
    [[ "$output" == *"dropped_barrier.ptx:30:5: note: the other is here"* ]]
    [[ "$output" == *"block (0, 0, 0), thread ("* ]]
    [[ "$output" == *"times in all"* ]]
}

@test "what is undefined may be copied and masked away, but not used" {
    # %r13 was never written: stored to shared memory, read back, packed, cleared by an and, chosen away by a selp.
    sed -e 's|^    bar.sync 0;|    setp.eq.u32 %p1, %r1, 999;\n    @%p1 mov.u32 %r13, 1;\n    st.shared.u32 [%r6+1024], %r13;\n&\n    ld.shared.u32 %r14, [%r6+1024];\n    mov.b64 %rd9, {%r12, %r14};\n    mov.b64 {%r12, %r15}, %rd9;\n    and.b32 %r16, %r15, 0;\n    shr.u32 %r16, %r16, 3;\n    setp.lt.u32 %p2, %r14, 5;\n    and.pred %p2, %p2, %p1;\n    selp.b32 %r17, %r14, %r16, %p2;\n    setp.eq.and.u32 %p3, %r14, 7, %p1;\n    @%p3 bra $away;\n$away:\n    st.global.u32 [%rd5+512], %r17;|' \
        "$bugs/dropped_barrier.clean.ptx" >k.ptx
    "$run" k.ptx --config "$bugs/launch.json" --check=all >out.txt 2>&1 || { cat out.txt; false; }
    sed -i 's|st.global.u32 \[%rd5+512\], %r17|st.global.u32 [%rd5+512], %r14|' k.ptx
    run "$run" k.ptx --config "$bugs/launch.json" --check=uninit
    [ "$status" -eq 4 ]
    [[ "$output" == *"uninitialised: ld reads byte 1024 of shared 'tile'"*"which nothing wrote before; st stores it"*"it is used here"* ]]
}

@test "a register that nothing wrote is named, and where it came from" {
    checked register_set_in_one_branch --check=uninit
    [ "$status" -eq 4 ]
    [[ "$output" == *"register_set_in_one_branch.ptx:32:5: error: uninitialised: st stores %r13, which nothing wrote before"* ]]
    checked index_that_was_never_set --check=uninit
    [[ "$output" == *"ld makes an address of %rd6, which comes from a register that nothing wrote before"* ]]
    [[ "$output" == *"index_that_was_never_set.ptx:29:5: note: it comes from here"* ]]
}

@test "the report of --json holds findings and counts by line" {
    checked dropped_barrier --check=all --json
    [ "$status" -eq 4 ]
    "$run" "$bugs/dropped_barrier.ptx" --config "$bugs/launch.json" --check=all --json 2>err.txt >report.json || true
    python3 - <<'P'
import json
r = json.load(open("report.json"))["kernel_checks"]
assert r["checks"] == ["memory", "uninit", "race", "barrier", "swizzle", "bank", "coalescing"], r
f = next(f for f in r["findings"] if f["check"] == "race" and f["ptx_line"] == 31)
assert (f["other"]["ptx_line"], f["kernel"]) == (30, "k"), f
# 2 blocks of 2 warps: 4 requests; a warp stores 32 different words, one turn each; 128 bytes are 4 sectors.
lines = {(l["space"], l["ptx_line"]): (l["requests"], l["transactions"], l["ideal"]) for l in r["lines"]}
assert lines[("shared", 30)] == (4, 4, 4), lines
assert lines[("global", 29)] == (4, 16, 16), lines
P
}

@test "conflicts of banks and sectors are counted as hand arithmetic has them" {
    # Lanes 8 words apart: 4 banks serve 32 words, 8 turns; 32 sectors hold the 128 bytes that 4 could.
    sed -e 's|^    st.shared.u32 \[%r6\], %r12;|    mul.lo.u32 %r20, %r1, 32;\n    add.u32 %r20, %r4, %r20;\n    st.shared.u32 [%r20], %r12;|' \
        -e 's|^    st.global.u32 \[%rd5\], %r12;|    rem.u32 %r21, %r1, 32;\n    mul.wide.u32 %rd9, %r21, 32;\n    add.u64 %rd9, %rd1, %rd9;\n    ld.global.u32 %r22, [%rd9];|' \
        "$bugs/dropped_barrier.clean.ptx" >k.ptx
    "$run" k.ptx --config "$bugs/launch.json" --check=bank,coalescing >out.txt
    grep -Eq 'PTX line:32 st +4 +32 +4$' out.txt || { cat out.txt; false; }
    grep -Eq 'ld +4 +128 +16$' out.txt || { cat out.txt; false; }
}

@test "--check takes all or a list, and refuses what it does not know" {
    checked dropped_barrier --check=coalescing,barrier
    [ "$status" -eq 0 ]
    checked dropped_barrier --check=races
    [ "$status" -eq 2 ]
    [[ "$output" == *"not 'races'"* ]]
    checked dropped_barrier --check=all --device 0
    [ "$status" -eq 2 ]
    run "$run" "$bugs/dropped_barrier.ptx" --check=all
    [ "$status" -eq 2 ]
}

@test "a user's line is named where .loc says it" {
    sed -e '3a .file 1 "kernel.cu"' -e 's|^    ld.shared.u32 %r12, \[%r8\];|    .loc 1 42 7\n&|' "$bugs/dropped_barrier.ptx" >k.ptx
    run "$run" k.ptx --config "$bugs/launch.json" --check=race
    [ "$status" -eq 4 ]
    [[ "$output" == *"at kernel.cu:42:7"* ]]
}

@test "what nvcc makes is clean where it is right, and named by its source line where it is not" {
    command -v nvcc >/dev/null || skip "no nvcc"
    cat >k.cu <<'C'
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ unsigned count, partial[2];
extern "C" __global__ void last(const unsigned *A, unsigned *C)
{
    __shared__ unsigned s[64];
    __shared__ bool is_last;
    unsigned t = threadIdx.x;
    s[t] = A[blockIdx.x * 64 + t];
    __syncthreads();
    for (int k = 32; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        is_last = atomicInc(&count, gridDim.x) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (is_last && t == 0) C[0] = partial[0] + partial[1];
}
extern "C" __global__ void tiles(const unsigned *A, unsigned *C)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    __shared__ unsigned s[64];
    s[threadIdx.x] = A[threadIdx.x];
    tile.sync();
    unsigned v = s[threadIdx.x ^ 1];
    tile.sync();
    s[threadIdx.x] = v;
    __syncthreads();
    C[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void wrong(const unsigned *A, unsigned *C)
{
    __shared__ unsigned s[64];
    s[threadIdx.x] = A[threadIdx.x];
    C[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}
C
    nvcc -arch=sm_90a -lineinfo -ptx k.cu -o k.ptx
    for kernel in last tiles; do
        for seed in 0 1 2; do
            run "$run" k.ptx --config "$bugs/launch.json" --kernel $kernel --check=all --seed=$seed
            [ "$status" -eq 0 ] || { echo "$kernel $seed: $output"; false; }
        done
    done
    run "$run" k.ptx --config "$bugs/launch.json" --kernel wrong --check=race
    [ "$status" -eq 4 ]
    [[ "$output" == *"race: ld reads"*"k.cu:40:"* ]]
}

@test "every kernel that ships is right and clean under all checks, in 20 orders of warps" {
    [ -x "$CUTE_BIN/cute-opt" ] || skip "no cute-opt"
    kernels="$BATS_TEST_DIRNAME/../../kernels"
    "$kernels/build" "$CUTE_BIN" cubins >/dev/null
    CUTE_RUN_FLAGS="--device emulator --check=all" "$kernels/run" "$CUTE_BIN" cubins --small --seeds=20 >out.txt || { cat out.txt; false; }
    # copy_static_big is copy_static for another size: a minute and three gigabytes.
    while read -r name _; do
        case $name in '#'* | '' | copy_static_big) continue ;; esac
        grep -q "^ok .* - $name .*seeds 0 to 19" out.txt || { echo "$name is not run"; false; }
    done <"$kernels/kernels.txt"
}

@test "the small kernels of kernels/run are refused with options that it does not know" {
    run "$BATS_TEST_DIRNAME/../../kernels/run" "$CUTE_BIN" . --seeds=0
    [ "$status" -eq 2 ]
    [[ "$output" == *"usage: kernels/run"* ]]
}

@test "sanitizer.sh names each bug's tools, hangs, and reports on the clean version" {
    "$bugs/sanitizer.sh" --prepare "$CUTE_BIN" folder
    [ "$(ls folder/*.cubin | wc -l)" -eq "$(($(grep -vc '^#' "$bugs/bugs.txt") * 2))" ]
    (grep '^#' folder/bugs.txt; grep -m1 '^dropped_barrier ' folder/bugs.txt) >two && mv two folder/bugs.txt
    run folder/sanitizer.sh --dry-run folder
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 9 ] # alone, and four tools on both versions
    [[ "${lines[1]}" == *"compute-sanitizer --tool memcheck --error-exitcode 9 folder/bin/cute-run folder/dropped_barrier.cubin --config folder/launch.json"* ]]
    # Stands for compute-sanitizer: racecheck finds the bug, memcheck reports anything, synccheck hangs.
    cat >sanitizer <<'S'
#!/bin/sh
case "$*" in
--version) echo "Version 2025.3.1" ;;
*synccheck*) exec sleep 10 ;;
*racecheck*clean*) exit 0 ;;
*memcheck* | *racecheck*) exit 9 ;;
esac
S
    chmod +x sanitizer
    SANITIZER=$PWD/sanitizer LIMIT=1 run folder/sanitizer.sh folder
    [[ "${lines[0]}" == *"(Version 2025.3.1)"* ]]
    [[ "${lines[1]}" == "dropped_barrier alone:"*" memcheck:clean racecheck synccheck:hang" ]]
}
