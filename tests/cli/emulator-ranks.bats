# Several emulated devices in one process: memory, arguments, schedules, and the checks between devices.

setup() {
    run="$CUTE_BIN/cute-run"
    scripts="$BATS_TEST_DIRNAME/../emulator/ranks"
    cd "$BATS_TEST_TMPDIR"
    cat >k.ptx <<'P'
.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 counter = 5;
.visible .entry k(.param .u64 peers, .param .u64 next, .param .u64 y, .param .u32 rank)
{
    .reg .b64 %d<8>;
    .reg .b32 %r<8>;
    ld.param.u64 %d1, [peers];
    ld.param.u64 %d2, [next];
    ld.param.u64 %d3, [y];
    ld.param.u32 %r1, [rank];
    mul.wide.u32 %d4, %r1, 8;
    add.u64 %d5, %d1, %d4;
    ld.global.u64 %d6, [%d5];
    ld.global.u32 %r2, [%d6];
    ld.global.u32 %r3, [%d2];
    atom.global.add.u32 %r4, [counter], 1;
    st.global.u32 [%d3], %r2;
    st.global.u32 [%d3+4], %r3;
    st.global.u32 [%d3+8], %r4;
    ret;
}
P
    cat >k.json <<'J'
{ "buffers": {
    "x": { "dtype": "u32", "shape": ["ranks"], "init": { "expr": "10 * i + 1" }, "shard": true },
    "y": { "dtype": "u32", "shape": ["ranks", 3], "shard": true } },
  "globals": { "counter": { "dtype": "u32", "shape": [1] } },
  "grid": 1, "block": 1,
  "args": [ { "peers": "x" }, { "buffer": "x", "rank": "(rank + 1) % ranks" }, "y", { "type": "u32", "value": "rank" } ],
  "check": { "y": "j == 0 ? 10 * i + 1 : j == 1 ? 10 * ((i + 1) % ranks) + 1 : 5", "counter": "6" } }
J
}

@test "each device has its own memory and variables, and reads those of its peers" {
    for devices in 1 2 3 8 16; do
        run "$run" k.ptx --config k.json --devices=$devices --check=all
        [ "$status" -eq 0 ] || { echo "$output"; false; }
        [[ "$output" == *"check y: passed, $((3 * devices)) elements"* ]]
        [[ $devices -eq 1 || "$output" == *"devices 0 to $((devices - 1)): PTX emulator (sm_90a)"* ]]
    done
}

@test "the planted bugs between devices are found with every seed, and nothing in their clean versions" {
    run python3 "$scripts/bugs.py" "$CUTE_BIN"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *"33 planted bugs, 0 failures"* ]]
}

@test "a tile program that stores into the next device's memory is clean, and its planted bugs are found with every seed" {
    run python3 "$scripts/peer.py" "$CUTE_BIN"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *"3 planted bugs and a clean version, 0 failures"* ]]
}

@test "copies that have to be equal are compared, and a difference is an error that names the ranks" {
    sed -i 's/"shape": \["ranks", 3\], "shard": true/"shape": [3]/; s/"y": "j.*5", //' k.json
    run "$run" k.ptx --config k.json --devices=2 --device emulator
    [ "$status" -eq 0 ] # y is neither checked nor an output
    sed -i 's/"check": {/"outputs": { "y": "print" }, "check": {/' k.json
    run "$run" k.ptx --config k.json --devices=3
    [ "$status" -eq 4 ]
    [[ "$output" == *"2 of 3 elements of y differ between ranks 0 and 1, the first at [0]"* ]]
    [[ "$output" == *"elements of y differ between ranks 0 and 2"* ]]
    [[ "$output" == *'fix: make the copies equal, or give each rank its own elements with "shard": true'* ]]
}

@test "a write behind a part of a buffer is found on any device" {
    sed -i 's/\[%d3+8\], %r4/[%d3+12], %r4/; s/st.global.u32 \[%d3+4\], %r3;/&\n    st.global.u32 [%d3+8], %r4;/' k.ptx
    run "$run" k.ptx --config k.json --devices=2
    [ "$status" -eq 4 ]
    [[ "$output" == *"the kernel wrote beyond its end, at byte 24 of 24"* ]]
}

@test "a fault names the rank" {
    sed -i 's/ld.global.u32 %r3, \[%d2\];/mul.wide.u32 %d7, %r1, 1048576; add.u64 %d2, %d2, %d7; &/' k.ptx
    run "$run" k.ptx --config k.json --devices=2
    [ "$status" -eq 1 ]
    [[ "$output" == *"in kernel 'k', rank 1, block (0, 0, 0), thread (0, 0, 0)"* ]]
}

@test "findings in JSON have the rank, without several devices they have none" {
    python3 - "$scripts" <<'P'
import sys
sys.path.insert(0, sys.argv[1])
import bugs
open("b.ptx", "w").write(bugs.versions(bugs.BUGS["fence_gpu"][2])[0])
open("b.json", "w").write(bugs.CONFIG % (1, 1, bugs.LAUNCH % 1))
P
    code=0
    "$run" b.ptx --config b.json --devices=3 --check=race --json >out.json 2>err.txt || code=$?
    [ $code -eq 4 ]
    python3 -c '
import json
found = json.load(open("out.json"))["kernel_checks"]["findings"]
assert [f["code"] for f in found] == ["K0325"] and found[0]["rank"] in (0, 1, 2), found
assert json.load(open("out.json"))["device"]["count"] == 3'
    "$run" "$CUTE_BIN/../bugs/dropped_barrier.ptx" --config "$CUTE_BIN/../bugs/launch.json" --check=race --json >plain.json 2>err.txt || code=$?
    python3 -c '
import json
found = json.load(open("plain.json"))["kernel_checks"]["findings"]
assert found and "rank" not in found[0], found'
}

# refused TEXT ARGUMENT...: wrong input or command line, with that message.
refused() {
    local text=$1 code=$2
    shift 2
    run "$run" k.ptx --config k.json "$@"
    [ "$status" -eq "$code" ] || { echo "$output"; false; }
    [[ "$output" == *"$text"* ]] || { echo "$output"; false; }
}

@test "what several devices cannot do is refused with the reason" {
    refused "--devices expects a number from 1 to 16, got '17'" 2 --devices=17
    refused "--devices expects a number from 1 to 16, got '0'" 2 --devices=0
    refused "--devices requires the emulator, got device 0" 2 --devices=2 --device 0
    run "$run" --gemm 64x64x64 --devices=2
    [ "$status" -eq 2 ]
    [[ "$output" == *"--devices with --gemm requires --split=m, n or k"* ]]
    cp k.json given.json
    sed -i 's/"grid": 1/"grid": "rank + 1"/' k.json
    refused "'rank' differs between the ranks: expected it in 'args' only" 1 --devices=2
    sed 's/"shape": \["ranks"\]/"shape": [5]/' given.json >k.json
    refused "expected a first dimension that is a multiple of the 2 ranks, got 5" 1 --devices=2
    sed 's/"shape": \["ranks"\]/"shape": []/; s/10 \* i + 1/1/' given.json >k.json
    refused "expected a dimension to divide among the ranks, got a scalar" 1 --devices=2
    sed 's/"shape": \["ranks"\]/"shape": ["ranks"], "strides": [2]/' given.json >k.json
    refused "expected compact row-major strides and no offset: ranks hold consecutive rows" 1 --devices=2
    sed 's/(rank + 1) % ranks/rank + 1/' given.json >k.json
    refused "expected a rank from 0 to 1, got 2" 1 --devices=2
    sed 's/"peers": "x"/"peers": "counter"/' given.json >k.json
    refused "expected a buffer, got the variable 'counter' of the module" 1 --devices=2
    sed 's/"peers": "x"/"peers": "xx"/' given.json >k.json
    refused "unknown buffer 'xx'; did you mean 'x'?" 1 --devices=2
}

@test "a buffer or param may be called rank or ranks" {
    sed -i 's/"args"/"params": { "rank": 1 }, "args"/; s/"(rank + 1) % ranks"/1/' k.json
    run "$run" k.ptx --config k.json --devices=2
    [ "$status" -eq 4 ] # both read the first argument's entry 1
    [[ "$output" == *"elements of y are wrong"* ]]
}

@test "the kernels of kernels/ranks are right in random cases, and each of their synchronisations is needed" {
    run python3 "$scripts/kernels.py" "$CUTE_BIN" 30
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *"30 cases, 0 failures"*"40 synchronisations removed, 0 missed"* ]]
}

@test "steps copy and fill the memory of each rank" {
    cat >steps.json <<'J'
{ "buffers": {
    "x": { "dtype": "u32", "shape": ["ranks"], "init": { "expr": "10 * i + 1" }, "shard": true },
    "y": { "dtype": "u32", "shape": ["ranks", 3], "shard": true },
    "u": { "dtype": "u32", "shape": ["ranks", 3], "shard": true },
    "v": { "dtype": "u32", "shape": [2] } },
  "steps": [
    { "kernel": "k", "grid": 1, "block": 1,
      "args": [ { "peers": "x" }, { "buffer": "x", "rank": "(rank + 1) % ranks" }, "y", { "type": "u32", "value": "rank" } ] },
    { "copy": "y", "to": "u" }, { "fill": "v", "value": 7 } ],
  "check": { "u": "j == 0 ? 10 * i + 1 : j == 1 ? 10 * ((i + 1) % ranks) + 1 : 5", "v": "7" } }
J
    for devices in 1 3; do
        run "$run" k.ptx --config steps.json --devices=$devices --device emulator --check=all
        [ "$status" -eq 0 ] || { echo "$output"; false; }
        [[ "$output" == *"check u: passed, $((3 * devices)) elements"*"check v: passed, 2 elements"* ]]
    done
}
