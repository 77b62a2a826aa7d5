# The emulator's checks as a user asks for them: planted bugs that each have a clean version, and the reports.

setup() {
    run="$CUTE_BIN/cute-run"
    bugs="$CUTE_BIN/../bugs"
    scripts="$BATS_TEST_DIRNAME/../emulator/bugs"
    cd "$BATS_TEST_TMPDIR"
}

# checked KERNEL FLAGS...: one of the planted bugs under checks.
checked() {
    local kernel=$1
    shift
    run "$run" "$bugs/$kernel.ptx" --config "$bugs/launch.json" "$@"
}

@test "every planted bug is found at its line and nothing in its clean version" {
    "$scripts/table.sh" "$CUTE_BIN" >table.txt || { cat table.txt; false; }
    sed 's/^/# /' table.txt >&3
    found=$(grep -Ec ' (yes|deadlock) +clean( |$)' table.txt)
    [ "$found" -ge 120 ] && [ "$found" -eq "$(grep -vc '^#' "$bugs/bugs.txt")" ]
}

@test "nothing is reported on the clean versions in other schedules" {
    while read -r name _ _ config; do
        [ -n "$config" ] && [ "$name" != "#" ] || continue
        for seed in 1 2 3; do
            "$run" "$bugs/$name.clean.ptx" --config "$bugs/$config" --check=all --strict --seed=$seed >out.txt 2>&1 || { echo "$name $seed"; cat out.txt; false; }
        done
    done <"$bugs/bugs.txt"
}

@test "a finding names both lines, the array, the thread and how often" {
    checked dropped_barrier --check=race
    [ "$status" -eq 4 ]
    [[ "$output" == *"dropped_barrier.ptx:31:5: error: race: ld reads byte 124 of shared 'tile'"* ]]
    [[ "$output" == *"dropped_barrier.ptx:30:5: note: the other access is here"* ]]
    [[ "$output" == *"block (0, 0, 0), thread ("* ]]
    [[ "$output" == *" occurrences"* ]]
}

@test "what known hardware does as meant is a warning with its reason, and an error with --strict" {
    while read -r name check reason; do
        config=$bugs/$(awk -v name="$name" '$1 == name { print $4 }' "$bugs/bugs.txt")
        "$run" "$bugs/$name.ptx" --config "$config" --device emulator --check=race,barrier --json >out.json 2>err.txt || { echo "$name"; cat err.txt; false; }
        grep -q "$name.ptx:[0-9]*:[0-9]*: warning: $check: " err.txt
        grep -q "note: .*$reason.*; --strict makes it an error" err.txt || { cat err.txt; false; }
        ! grep -q 'error:' err.txt
        python3 -c 'import json, sys
found = json.load(open("out.json"))["kernel_checks"]["findings"]
assert found and all(f["severity"] == "warning" and sys.argv[1] in f["reason"] for f in found), found' "$reason"
        run "$run" "$bugs/$name.ptx" --config "$config" --device emulator --check=race,barrier --strict
        [ "$status" -eq 4 ]
        [[ "$output" == *"error: $check: "* ]]
    done <<'B'
mbarrier_initialised_twice barrier sm_90 initialises it again
mbarrier_init_without_fence race on sm_90 copies see
product_without_fence race ptxas inserts the fence
accumulator_scaled_without_fence race ptxas inserts the fence
product_after_its_accumulator_was_read race ptxas inserts the fence
remote_mbarrier_behind_a_relaxed_arrival race other blocks see the initialisation
first_product_without_fence race ptxas inserts the fence
lock_taken_by_cas_and_a_barrier race no known hardware needs one
read_of_a_launch_ahead_that_never_triggers race ends before the next one starts
return_before_barrier barrier does not wait for exited threads
warp_returns_before_barrier barrier does not wait for exited threads
accumulator_read_before_wait race C7514, C7517
accumulator_read_with_a_group_left race C7514, C7517
stage_given_back_by_one_lane race reads for the whole warp
last_load_never_comes barrier harmless unless
block_ends_while_its_tile_is_stored race until its bulk copies have read it
B
    run "$run" "$bugs/operand_changed_while_multiplied.ptx" --config "$bugs/tensor.json" --check=race
    [ "$status" -eq 4 ]
    run "$run" "$bugs/product_without_fence.ptx" --config "$bugs/tensor.json" --device emulator --strict
    [ "$status" -eq 2 ]
    [[ "$output" == *"--strict requires --check"* ]]
}

@test "a wrong count of arrivals, a thread that arrives twice and a barrier that cp.async lacks are named" {
    checked initialised_for_another_count --check=barrier
    [ "$status" -eq 1 ]
    [[ "$output" == *"expects 65 arrivals per phase, got 64 in the last one (1 missing); fix: add arrivals or lower the count"* ]]
    checked arrived_at_twice --check=barrier
    [[ "$output" == *"barrier: thread 0 arrives twice in one phase of the mbarrier at shared address 0x"* ]]
    [[ "$output" == *"note: the mbarrier is initialised here"* ]]
    checked cp_async_without_barrier --check=race
    [[ "$output" == *"cp.async.wait_group makes copies visible only to the waiting thread: expected a barrier after it"* ]]
    checked cp_async_not_waited_for --check=race
    [[ "$output" == *"no intervening wait for its completion"* ]]
    sed '/arrive.expect_tx/p' "$bugs/bulk_copy_not_waited_for.clean.ptx" >twice.ptx
    run "$run" twice.ptx --config "$bugs/launch.json" -d emulator
    [[ "$output" == *"exceed the 0 pending of 1; the phase still waits for 256 bytes: an extra arrival, or an expected count that is too low"* ]]
}

@test "what is allowed at a line is a warning, everything else stays an error" {
    cp "$bugs/dropped_barrier.ptx" "$bugs/launch.json" .
    mkdir deep && cp dropped_barrier.ptx deep/
    for allow in race race@deep/dropped_barrier.ptx:31,race@dropped_barrier.ptx:30 uninit,race@dropped_barrier.ptx:31,race@dropped_barrier.ptx:30; do
        run "$run" deep/dropped_barrier.ptx --config launch.json --check=race --strict --allow=$allow --json
        [ "$status" -eq 0 ] || { echo "$allow: $output"; false; }
        [[ "$output" == *'"allowed": true'* && "$output" == *'"severity": "warning"'* ]]
    done
    run "$run" deep/dropped_barrier.ptx --config launch.json --check=race --allow=uninit --allow=race@dropped_barrier.ptx:31,race@dropped_barrier.ptx:30
    [ "$status" -eq 0 ]
    [[ "$output" == *"31:5: warning: race: "*"note: allowed by --allow"* ]]
    for allow in uninit race@dropped_barrier.ptx:31 race@barrier.ptx:31,race@barrier.ptx:30 race@x/dropped_barrier.ptx:31 barrier@dropped_barrier.ptx:31; do
        run "$run" deep/dropped_barrier.ptx --config launch.json --check=race --allow=$allow
        [ "$status" -eq 4 ] || { echo "$allow: $output"; false; }
    done
    for allow in rac race@ race@x race@x: race@:3 race@x:0 race@x:-1 race@x:3y race@x:99999999999 '' ,race; do
        run "$run" dropped_barrier.ptx --config launch.json --check=race "--allow=$allow"
        [ "$status" -eq 2 ] || { echo "$allow: $output"; false; }
        [[ "$output" == *"--allow: expected CHECK or CHECK@FILE:LINE with CHECK one of memory, "*"coalescing, got "* ]]
    done
    run "$run" dropped_barrier.ptx --config launch.json --device emulator --allow=race
    [ "$status" -eq 2 ]
    [[ "$output" == *"--allow requires --check"* ]]
}

@test "a phase that expects bytes of which only some have come is an error when the block ends" {
    sed 's/^    ret;/    @!%p1 mbarrier.complete_tx.shared::cluster.relaxed.cluster.b64 [%r9], 16;\n    ret;/' "$bugs/last_load_never_comes.ptx" >some.ptx
    run "$run" some.ptx --config "$bugs/tensor.json" --check=all
    [ "$status" -eq 4 ]
    [[ "$output" == *"error: barrier: the block exits in a phase of the mbarrier at shared address 0x"*" expects 8192 bytes, got 16"* ]]
}

@test "ptxas mends what is a warning about wgmma, and says so" {
    command -v ptxas >/dev/null || skip "no ptxas"
    for pair in product_without_fence:C7519 accumulator_read_before_wait:C7517 accumulator_read_with_a_group_left:C7514; do
        run ptxas -arch sm_90a -o k.cubin "$bugs/${pair%:*}.ptx"
        [[ "$output" == *"${pair#*:}"* ]] || { echo "$pair: $output"; false; }
    done
}

@test "wgmma code that nvcc compiled with -G is right, and its accumulators are warnings" {
    command -v nvcc >/dev/null || skip "no nvcc"
    cuda="$BATS_TEST_DIRNAME/../emulator/cuda"
    nvcc -std=c++17 -G -arch=sm_90a -ptx -o k.ptx "$cuda/tma_wgmma.cu"
    for seed in 0 1 2; do
        run "$run" k.ptx --config "$cuda/tma_wgmma.json" -D m=256 -D n=128 -D k=128 --device emulator --check=all --seed=$seed
        [ "$status" -eq 0 ] || { echo "$output"; false; }
        [[ "$output" == *"check c: passed"*"passed, 3 warnings"* ]]
        [[ "$output" == *"warning: race: st reads a register that wgmma still writes"* ]]
    done
}

@test "an accumulator that is read before its wait has the sum, as ptxas makes it" {
    python3 - "$bugs" <<'P'
import json, sys
config = json.load(open(sys.argv[1] + "/tensor.json"))
config["outputs"] = {"C": {"npy": "C.npy"}, "D": {"npy": "D.npy"}}
json.dump(config, open("k.json", "w"))
P
    for version in ptx clean.ptx; do
        "$run" "$bugs/accumulator_read_before_wait.$version" --config k.json --device emulator --seed 3 -o "$version" >/dev/null
    done
    [ -n "$(ls ptx)" ]
    diff -r ptx clean.ptx
}

@test "what is undefined may be copied and masked away, but not used" {
    # %r13 was never written: stored to shared memory, read back, packed, cleared by an and, chosen away by a selp.
    sed -e 's|^    bar.sync 0;|    setp.eq.u32 %p1, %r1, 999;\n    @%p1 mov.u32 %r13, 1;\n    st.shared.u32 [%r6+1024], %r13;\n&\n    ld.shared.u32 %r14, [%r6+1024];\n    mov.b64 %rd9, {%r12, %r14};\n    mov.b64 {%r12, %r15}, %rd9;\n    and.b32 %r16, %r15, 0;\n    shr.u32 %r16, %r16, 3;\n    setp.lt.u32 %p2, %r14, 5;\n    and.pred %p2, %p2, %p1;\n    selp.b32 %r17, %r14, %r16, %p2;\n    setp.eq.and.u32 %p3, %r14, 7, %p1;\n    @%p3 bra $away;\n$away:\n    st.global.u32 [%rd5+512], %r17;|' \
        "$bugs/dropped_barrier.clean.ptx" >k.ptx
    "$run" k.ptx --config "$bugs/launch.json" --check=all --strict >out.txt 2>&1 || { cat out.txt; false; }
    sed -i 's|st.global.u32 \[%rd5+512\], %r17|st.global.u32 [%rd5+512], %r14|' k.ptx
    run "$run" k.ptx --config "$bugs/launch.json" --check=uninit
    [ "$status" -eq 4 ]
    [[ "$output" == *"uninitialised: ld reads byte 1024 of shared 'tile'"*"which was never written; st stores it"*"the use is here"* ]]
}

@test "races of two warps are those that their addresses and barriers have, whatever the pattern and width" {
    cat >rows.py <<'P'
# Warp 0 makes one access, warp 1 another, with or without bar.sync between. A race is a byte that two threads touch, one of
# them writing, within one instruction or without the barrier. Threads store different values. Smaller accesses than the
# checks have records for (2 bytes of shared, 4 of global memory) may hide each other.
import json, os, random, subprocess
run = os.environ["CUTE_BIN"] + "/cute-run"
random.seed(7)
types = {1: (".u8", "%r3"), 2: (".u16", "%h1"), 4: (".u32", "%r3"), 8: (".v2.u32", "{%r3, %r3}"), 16: (".v4.u32", "{%r3, %r3, %r3, %r3}")}
loads = {1: "%r4", 2: "%h2", 4: "%r4", 8: "{%r4, %r5}", 16: "{%r4, %r5, %r6, %r7}"}
# The lane's place, in PTX from %r2 into %r8, and in Python.
places = [("mov.u32 %r8, %r2;", lambda l: l), ("xor.b32 %r8, %r2, 31;", lambda l: 31 - l), ("shr.u32 %r8, %r2, 1;", lambda l: l // 2),
          ("mov.u32 %r8, 0;", lambda l: 0), ("shl.b32 %r8, %r2, 1;", lambda l: 2 * l), ("and.b32 %r8, %r2, 15;", lambda l: l % 16)]
def access(space):
    return dict(write=random.random() < 0.6, bytes=random.choice([4, 4, 4, 8, 16] + [2, 2] * (space == "shared")), place=random.randrange(len(places)) if random.random() < 0.6 else 0,
                offset=random.choice([0, 0, 0, 1, 32, 64]), lanes=random.choice([32, 32, 32, 16, 5]), space=space)
def text(a):
    kind, value = types[a["bytes"]]
    base = "%rd1" if a["space"] == "global" else "%rd2"
    lines = [places[a["place"]][0], f"mul.lo.u32 %r8, %r8, {a['bytes']};", "cvt.u64.u32 %rd3, %r8;", f"add.u64 %rd3, %rd3, {base};",
             f"setp.lt.u32 %p2, %r2, {a['lanes']};"]
    address = f"[%rd3+{a['offset'] * a['bytes']}]"
    lines.append(f"@%p2 st.{a['space']}{kind} {address}, {value};" if a["write"] else f"@%p2 ld.{a['space']}{kind} {loads[a['bytes']]}, {address};")
    return "\n    ".join(lines)
def touched(a, warp):
    for lane in range(a["lanes"]):
        begin = (places[a["place"]][1](lane) + a["offset"]) * a["bytes"]
        for byte in range(begin, begin + a["bytes"]):
            yield byte, 32 * warp + lane
def races(a, b, barrier):
    found = False
    for x, y, kx, ky in ((a, a, 0, 0), (b, b, 1, 1), (a, b, 0, 1)):
        if x is not y and barrier or not (x["write"] or y["write"]):
            continue
        by = {}
        for byte, thread in touched(x, kx):
            by.setdefault(byte, set()).add(thread)
        found |= any(by.get(byte, set()) - {thread} for byte, thread in touched(y, ky))
    return found
config = {"kernel": "k", "grid": [1], "block": [64], "args": ["C"], "buffers": {"C": {"dtype": "u8", "shape": [8192], "init": "zeros"}}}
json.dump(config, open("k.json", "w"))
wrong, counts = [], [0, 0]
for n in range(250):
    space = random.choice(["global", "shared"])
    a, b, barrier = access(space), access(space), random.random() < 0.4
    ptx = f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{{
    .reg .b32 %r<10>; .reg .b16 %h<4>; .reg .b64 %rd<6>; .reg .pred %p<4>;
    .shared .align 128 .b8 tile[8192];
    ld.param.u64 %rd1, [out];
    mov.u64 %rd2, tile;
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 31;
    add.u32 %r3, %r1, 1;
    cvt.u16.u32 %h1, %r3;
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra $skip;
    {text(a)}
$skip:
    {"bar.sync 0;" if barrier else ""}
    @!%p1 bra $end;
    {text(b)}
$end:
    ret;
}}
"""
    open("k.ptx", "w").write(ptx)
    r = subprocess.run([run, "k.ptx", "--config", "k.json", "--check=race", f"--seed={n % 3}"], capture_output=True, text=True)
    there = "error: race: " in r.stderr
    assert r.returncode == (4 if there else 0), r.stderr
    counts[there] += 1
    if there != races(a, b, barrier):
        wrong.append((n, there, a, b, barrier))
print(counts, "\n".join(map(str, wrong)))
assert not wrong and min(counts) > 40
P
    run python3 rows.py
    [ "$status" -eq 0 ] || { echo "$output"; false; }
}

@test "a register that nothing wrote is named, and where it came from" {
    checked register_set_in_one_branch --check=uninit
    [ "$status" -eq 4 ]
    [[ "$output" == *"register_set_in_one_branch.ptx:32:5: error: uninitialised: st stores %r13, which was never written"* ]]
    checked index_that_was_never_set --check=uninit
    [[ "$output" == *"ld computes an address from %rd6, which derives from a register that was never written"* ]]
    [[ "$output" == *"index_that_was_never_set.ptx:29:5: note: the undefined value originates here"* ]]
}

@test "half a packed pair is undefined: only its own half of a result is" {
    cat >k.ptx <<'E'
.version 8.5
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 c)
{
    .reg .b16 %h<8>;
    .reg .b32 %r<8>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [c];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.b16 %h1, 0x3c00;
    mov.b32 %r2, {%h1, %h2};
    fma.rn.f16x2 %r3, %r2, %r2, %r2;
    mov.b32 {%h3, %h4}, %r3;
    mov.f32 %f1, 0f3f800000;
    cvt.rn.f16x2.f32 %r4, %f2, %f1;
    mov.b32 {%h5, %h6}, %r4;
    st.global.b16 [%rd3], %h3;
    st.global.b16 [%rd3+2], %h5;
    ret;
}
E
    run "$run" k.ptx --config "$bugs/launch.json" --device emulator --check=all
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    for bad in 's/, %h3;/, %h4;/:%h4' 's/, %h5;/, %h6;/:%h6' 's/b16 \(.*\), %h3/b32 \1, %r3/:%r3'; do
        sed "/st.global/${bad%:*}" k.ptx >bad.ptx
        run "$run" bad.ptx --config "$bugs/launch.json" --device emulator --check=uninit
        [ "$status" -eq 4 ] || { echo "$bad: $output"; false; }
        [[ "$output" == *"error: uninitialised: st stores ${bad##*:}, which derives from a register that was never written"* ]]
    done
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
    [[ "$output" == *"expects a list of all, memory, uninit, race, barrier, swizzle, bank, coalescing, got 'races'"* ]]
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
            run "$run" k.ptx --config "$bugs/launch.json" --kernel $kernel --check=all --strict --seed=$seed
            [ "$status" -eq 0 ] || { echo "$kernel $seed: $output"; false; }
        done
    done
    run "$run" k.ptx --config "$bugs/launch.json" --kernel wrong --check=race
    [ "$status" -eq 4 ]
    [[ "$output" == *"race: ld reads"*"k.cu:39:"* ]]
}

@test "a kernel that ships and is run at no small size is an error" {
    cp -r "$BATS_TEST_DIRNAME/../../kernels" kernels
    grep -E '^#|^vector_add ' "$BATS_TEST_DIRNAME/../../kernels/kernels.txt" >kernels/kernels.txt
    grep -E '^small +vector_add ' "$BATS_TEST_DIRNAME/../../kernels/runs.txt" >kernels/runs.txt
    CUTE_RUN_FLAGS=--help kernels/run "$CUTE_BIN" . --small >out.txt
    echo 'other  vector_add/vector_add.mlir' >>kernels/kernels.txt
    run env CUTE_RUN_FLAGS=--help kernels/run "$CUTE_BIN" . --small
    [ "$status" -eq 1 ]
    [[ "$output" == *"not ok 5 - other has no small run in runs.txt"*"1..5" ]]
}

@test "the small kernels of kernels/run are refused with options that it does not know" {
    run "$BATS_TEST_DIRNAME/../../kernels/run" "$CUTE_BIN" . --seeds=0
    [ "$status" -eq 2 ]
    [[ "$output" == *"usage: kernels/run"* ]]
}

@test "sanitizer.sh names each bug's tools, hangs, and reports on the clean version" {
    "$scripts/sanitizer.sh" --prepare "$CUTE_BIN" folder
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

@test "a swizzle is reported where it is another one than the tensor copy's, and nowhere else" {
    cat >matrix.py <<'P'
# Tensor maps of each swizzle, read with each: a pattern moves 16-byte chunks by XOR of address bits 4 to 6 with the bits 7
# to 9 as far as its mask goes (PTX ISA 8.5, 5.5.6). Rows are as long as the map's pattern; without one 128 bytes.
import json, os, re, subprocess, sys
run, bugs = os.environ["CUTE_BIN"] + "/cute-run", sys.argv[1]
masks = {"none": 0, "32B": 0x10, "64B": 0x30, "128B": 0x70}
config = json.load(open(bugs + "/tensor.json"))
def reports(text, map_swizzle, columns):
    config["args"][0]["tensor_map"].update(box=[64, columns], swizzle=map_swizzle)
    open("k.json", "w").write(json.dumps(config))
    open("k.ptx", "w").write(text)
    r = subprocess.run([run, "k.ptx", "--config", "k.json", "--check=swizzle,race,barrier"], capture_output=True, text=True)
    found = re.findall(r"error: (\w+)", r.stderr)
    assert set(found) <= {"swizzle"}, r.stderr
    return "swizzle" in found
rows = open(bugs + "/ldmatrix_ignores_the_swizzle.clean.ptx").read()
head, tail = rows[:rows.index("    and.b32 %r22")], rows[rows.index("    ldmatrix"):]
for there in masks:
    pitch = int(there[:-1]) if there != "none" else 128
    for here, mask in masks.items():
        if mask >= pitch:
            continue
        text = head.replace("8192", str(64 * pitch)) + f"""    and.b32 %r22, %r1, 31;
    shr.u32 %r23, %r1, 5;
    and.b32 %r23, %r23, {pitch // 16 - 1};
    shl.b32 %r23, %r23, 4;
    mad.lo.u32 %r24, %r22, {pitch}, %r23;
    add.u32 %r24, %r24, %r4;
    shr.u32 %r25, %r24, 3;
    and.b32 %r25, %r25, {mask};
    xor.b32 %r24, %r24, %r25;
""" + tail
        assert reports(text, there, pitch // 2) == (here != there), ("ldmatrix", there, here)
# Rows in another order, as kernels that change the layout of 8-bit types take them, are one column.
assert not reports(text.replace("and.b32 %r22, %r1, 31;", "and.b32 %r22, %r1, 31;\n    shl.b32 %r22, %r22, 3;\n    or.b32 %r22, %r22, 1;\n    rem.u32 %r22, %r22, 61;"), "128B", 64)
# wgmma: rows of the pattern's length, groups of eight rows `8 * pitch` apart; without one rows of 16 bytes, two copies.
product = open(bugs + "/descriptor_of_another_swizzle.clean.ptx").read()
modes = {"none": 0, "128B": 1, "64B": 2, "32B": 3}
for there in masks:
    pitch = int(there[:-1]) if there != "none" else 16
    for here in masks:
        bits = modes[here] << 62 | (8 * pitch // 16) << 32 | (1024 // 16) << 16
        text = re.sub(r"0x4000004000010000", hex(bits), product)
        if there == "none":
            copy = re.search(r".*cp.async.bulk.tensor.*\n", text)[0]
            second = copy.replace("[%r4]", "[%r30]").replace("{%r20, %r20}", "{%r31, %r20}")
            text = text.replace(copy, copy + "    add.u32 %r30, %r4, 1024;\n    mov.u32 %r31, 8;\n" + second)
        text = text.replace("[%r9], 8192", f"[%r9], {64 * pitch * (2 if there == 'none' else 1)}")
        assert reports(text, there, pitch // 2) == (here != there), ("wgmma", there, here)
P
    python3 matrix.py "$bugs"
}

@test "no barrier, fence, wait, acquire or release can be taken out of right kernels unseen" {
    command -v nvcc >/dev/null || skip "no nvcc"
    # order is written so that none is redundant but the fence behind the count of the last block. Elsewhere some are: a fence beside another one, wgmma.fence where
    # only products write the accumulator, barriers behind the last access, the end of a cuda::pipeline.
    while read -r name found missed; do
        nvcc -std=c++17 -arch=sm_90a -lineinfo -ptx "$scripts/../cuda/$name.cu" -o $name.ptx 2>/dev/null
        "$scripts/mutants.py" "$run" $name.ptx "$scripts/../cuda/$name.json" >mutants.txt || [ "$missed" -gt 0 ] || { cat mutants.txt; false; }
        echo "# $name: $(tail -1 mutants.txt)" >&3
        got=$(sed -n 's/ found, .*//p' mutants.txt) not=$(sed -n 's/.* found, \(.*\) not/\1/p' mutants.txt)
        [ "$got" -ge "$found" ] && [ "$not" -le "$missed" ] || { cat mutants.txt; false; }
    done <<'T'
order 60 1
mbarrier 8 0
cluster 15 1
tma_wgmma 12 2
scan 4 0
T
}

@test "a GEMM of nvcc with one thing wrong is named at the source line, and the GEMM as it is not" {
    command -v nvcc >/dev/null || skip "no nvcc"
    nvcc -std=c++17 -arch=sm_90a -lineinfo -ptx "$scripts/../cuda/tma_wgmma.cu" -o gemm.ptx
    python3 "$scripts/variants.py" "$run" gemm.ptx >out.txt || { cat out.txt; false; }
    [ "$(grep -c ': ok$' out.txt)" -ge 15 ] || { cat out.txt; false; }
}

@test "a scan by decoupled look-back of the CUB library is clean in many orders" {
    command -v nvcc >/dev/null || skip "no nvcc"
    nvcc -std=c++17 -arch=sm_90a -lineinfo -ptx "$scripts/../checks/lookback.cu" -o lookback.ptx
    for seed in 0 1 2 3 4 5 6 7; do
        "$run" lookback.ptx --config "$scripts/../checks/lookback.json" --check=all --strict --seed=$seed >out.txt 2>&1 || { cat out.txt; false; }
    done
}

@test "blocks that wait for later ones get them under checks too" {
    # Blocks 0 to 38 spin until block 39 sets the flag: all have to run at once.
    sed 's/"grid": 2/"grid": 40/' "$bugs/launch.json" >launch.json
    cat >k.ptx <<'P'
.version 8.4
.target sm_90a
.address_size 64
.global .u32 flag;
.visible .entry k(.param .u64 pA, .param .u64 pC)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .reg .pred %p<4>;
    .shared .b32 tile[64];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd1, %r1, 4;
    mov.u64 %rd2, tile;
    add.u64 %rd2, %rd2, %rd1;
    st.shared.u32 [%rd2], %r1;
    ld.param.u64 %rd3, [pC];
    mov.u32 %r2, %ctaid.x;
    mov.u64 %rd1, flag;
    setp.eq.u32 %p1, %r2, 39;
    @%p1 bra $set;
$w: ld.acquire.gpu.global.u32 %r3, [%rd1];
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra $w;
    ld.global.u32 %r3, [%rd3];
    ret;
$set: setp.ne.u32 %p3, %r1, 0;
    @%p3 ret;
    st.global.u32 [%rd3], 7;
    st.release.gpu.global.u32 [%rd1], 1;
    ret;
}
P
    run "$run" k.ptx --config launch.json --check=all --strict
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    # Without the release the data is not there with the flag.
    sed 's/st.release.gpu/st.relaxed.gpu/' k.ptx >bug.ptx
    run "$run" bug.ptx --config launch.json --check=race
    [ "$status" -eq 4 ]
    [[ "$output" == *"bug.ptx:24:5: error: race: ld reads byte 0 of C"* ]]
}

@test "undefined bytes are followed through each kind of instruction" {
    while IFS= read -r line; do
        case $line in '#'*) continue ;; esac
        what=${line%% *}
        code=$(echo "${line#* }" | sed 's/^ *//')
        awk -v code="$code" '{ print } /xor.b32 %r11|add.u32 %r11/ {
            print "    .local .align 8 .b8 stack[8];"
            print "    ld.global.u32 %r12, [%rd4];"
            print "    cvt.u16.u32 %h3, %r12;"
            print "    st.shared.u8 [%r6], %h3;\n    st.shared.u8 [%r6+2], %h3;\n    st.shared.u8 [%r6+3], %h3;"
            print "    ld.shared.u32 %r13, [%r6];"
            print "    setp.eq.u32 %p1, %r1, 0;\n    setp.eq.u32 %p2, %r13, 5;"
            print "    " code
            print "    setp.eq.and.u32 %p4, %r14, 77, %p1;\n    @%p4 bra $away;\n$away:"
            print "    ret;\n}"
            exit
        }' "$bugs/dropped_barrier.ptx" >k.ptx
        status=0
        "$run" k.ptx --config "$bugs/launch.json" --check=uninit >out.txt 2>&1 || status=$?
        [ "$what:$status" = defined:0 ] || [ "$what:$status" = undefined:4 ] || { echo "$line: exit code $status"; cat out.txt; false; }
    done <"$scripts/../checks/bytes.txt"
}

@test "of a tensor's box only what is inside the tensor is read by a store, and counted" {
    # A box of 8 x 40 on a tensor of 8 x 32 u32: columns 32 to 39 of the shared tile are never written.
    cat >store.ptx <<'P'
.version 8.4
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 m[128]) {
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %d<3>;
    .shared .align 128 .b8 s[1280];
    mov.b64 %d1, m; cvta.param.u64 %d1, %d1;
    mov.u32 %r1, %tid.x; mov.u32 %r2, s; mov.u32 %r7, 0;
    shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3; mov.u32 %r5, 0;
L:  st.shared.u32 [%r4], %r1;
    add.u32 %r4, %r4, 160; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 8; @%p1 bra L;
    fence.proxy.async.shared::cta; bar.sync 0;
    setp.ne.u32 %p2, %r1, 0; @%p2 ret;
    OP.tile.bulk_group [%d1, {%r7, %r7}], [%r2];
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
    ret;
}
P
    echo '{"kernel": "k", "grid": 1, "block": 32, "buffers": {"p": {"dtype": "u32", "shape": [8, 32], "init": "zeros"}},
      "args": [{"tensor_map": {"buffer": "p", "box": [8, 40]}}], "check": {"p": "j"}}' >store.json
    while read -r op read; do
        sed "s/OP/$op/" store.ptx >k.ptx
        for seed in 0 1; do
            "$run" k.ptx --config store.json --check=all --strict --seed $seed --json >out.json 2>err.txt || { cat err.txt; false; }
            jq -e ".counts.shared_read == 1024 and .counts.global_written == 1024 and .counts.global_read == $read" out.json
        done
    done <<'O'
cp.async.bulk.tensor.2d.global.shared::cta 0
cp.reduce.async.bulk.tensor.2d.global.shared::cta.add 1024
O
}
