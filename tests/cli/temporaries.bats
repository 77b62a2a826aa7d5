#!/usr/bin/env bats
# Temporaries: device memory that a launch plan needs beside its arguments.
bats_require_minimum_version 1.5.0

setup() {
    PATH="$CUTE_BIN:$PATH"
    cd "$BATS_TEST_TMPDIR"
}

# A kernel adds 1 to its temporary of n elements, and writes the sum to out; `$1` is the initial value, `$2` the element of the
# temporary that a thread takes.
counter() {
    cat > counter.mlir <<MLIR
!T = !cute.memref<i32, gmem, align<256>, "?:1">
!out = !cute.memref<i32, gmem, "?:1">
gpu.module @m {
  gpu.func @add(%t: !T, %out: !out) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %i = nvvm.read.ptx.sreg.tid.x : i32
    %ahead = arith.constant ${2:-0} : i32
    %at = arith.addi %i, %ahead : i32
    %one = arith.constant 1 : i32
    %x = cute.load %t[%at]
    %y = arith.addi %x, %one : i32
    cute.store %y, %t[%at]
    cute.store %y, %out[%i]
    gpu.return
  }
}
func.func @count(%n: i32, %out: !out) {
  %layout = cute.make_layout(%n)
  %t = cute.temporary$1 %layout : i32
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @m::@add blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%t : !T, %out : !out)
  return
}
MLIR
    cute-ptx -arch sm_90a counter.mlir -o counter.ptx
}

count() { cute-run counter.ptx --device emulator --plan count --tensor out=i32:32 "$@"; }

@test "each run of a plan begins with the initial value" {
    counter '<zero>'
    count -D n=32 --expect out=1 --check=all
    counter '<ones>'
    count -D n=32 --expect out=0 --check=all
    # the same plan twice in a launch: the second run finds what the first one found
    counter '<zero>'
    echo '{"plan": ["count", "count"], "params": {"n": 32}, "buffers": {"out": {"shape": [32]}}, "check": {"out": "1"}}' > twice.json
    cute-run counter.ptx --device emulator --config twice.json --check=all
}

@test "the size is a formula of the arguments" {
    counter '<zero>'
    count -D n=1000 --json | jq -e '.temporaries == [{"name": "temporary 0 of plan '"'count'"'", "bytes": 4000, "init": 0}]'
    count -D n=32 | grep -qx "temporary 0 of plan 'count': 128 bytes"
    count -D n=48 --dry-run | grep -qx "temporary 0 of plan 'count': 192 bytes"
    for list in "cute-run counter.ptx" "cute-dump counter.ptx"; do
        $list | grep -q 'temporary 0: (n) elements of 4 bytes, filled with 0'
    done
    cute-dump counter.ptx --json | jq -e '.plans[0].temporaries == ["(n) elements of 4 bytes, filled with 0"]'
}

@test "sizes that are not positive, or beyond 64 bits, are refused" {
    counter '<zero>'
    for n in 0 -4; do
        run -1 count -D n=$n
        [[ "$output" == *"temporary 0 of plan 'count': expected extents of at least 1, got $n"* ]]
    done
    sed -i 's/%n: i32, %out/%n: i64, %out/; s/!T = .*/!T = !cute.memref<i32, gmem, align<256>, "?{i64}:1">/' counter.mlir
    cute-ptx -arch sm_90a counter.mlir -o counter.ptx
    count -D n=32 --expect out=1
    run -1 count -D n=4611686018427387904 # 2^62 elements of 4 bytes
    [[ "$output" == *"temporary 0 of plan 'count' has a size beyond 64 bits"* ]]
}

@test "the emulator's checks name a temporary" {
    counter '<zero>' 8
    run -4 count -D n=32 --check=memory
    [[ "$output" == *"temporary 0 of plan 'count'"* ]]
    [[ "$output" == *"128 bytes"* ]]
    counter ''
    run -4 count -D n=32 --check=uninit
    [[ "$output" == *"uninit"*"temporary 0 of plan 'count'"* ]]
}

@test "a temporary has tensor maps" {
    # b = a by way of a temporary with rows of a multiple of 64 bytes
    root=$BATS_TEST_DIRNAME/../..
    sed '/gpu.launch_func/,/args(/d; /^  return/,$d' $root/kernels/copy_tma/copy_tma.mlir > copy.mlir
    launch="gpu.launch_func @kernels::@copy blocks in (%gx, %c1, %c1) threads in (%threads, %c1, %c1) dynamic_shared_memory_size %bytes"
    cat >> copy.mlir <<MLIR
  %columns, %rows = cute.get_scalars %shape
  %c16 = arith.constant 16 : i32
  %sixteens = arith.ceildivui %rows, %c16 : i32
  %short = arith.muli %sixteens, %c16 : i32
  %row = arith.extsi %short : i32 to i64
  %layout = cute.make_layout(%shape, (%row, 1))
  %t = cute.temporary %layout : !A
  $launch args(%a : !A, %t : !A)
  $launch args(%t : !A, %b : !A)
  return
}
MLIR
    cute-ptx -arch sm_90a -D T=f32 -D BITS=32 -D TM=4 -D TN=256 copy.mlir -o copy.ptx
    cute-run copy.ptx --config $root/kernels/copy_tma/launch.json -D m=37 -D n=300 --no-bench --device emulator --check=all > out
    grep -qx "temporary 0 of plan 'copy': 44976 bytes" out
}

# A file with plans that copy i32 from `from` to `to`: x to y by way of a temporary of 40 elements.
between() {
    root=$BATS_TEST_DIRNAME/../..
    cute-ptx -arch sm_90a -D PT=i32 -D PZERO=0 "$root/kernels/gemm/gemm_pack.mlir" -o pack.ptx
    cat > between.json <<'JSON'
{ "plan": [ { "function": "gemm_pack", "args": { "from": "x", "to": { "temporary": "t", "dtype": "i32", "shape": [5, 7], "strides": [8, 1] } } },
            { "function": "gemm_pack", "args": { "from": { "temporary": "t", "dtype": "i32", "shape": [5, 7], "strides": [8, 1] }, "to": "y" } } ],
  "buffers": { "x": { "dtype": "i32", "shape": [5, 7], "init": "iota" }, "y": { "dtype": "i32", "shape": [5, 7] } },
  "check": { "y": { "expr": "7 * i + j", "index": ["i", "j"] } } }
JSON
}

@test "plans of a launch.json pass data on in a named temporary, as large as the largest of its tensors" {
    between
    cute-run pack.ptx --config between.json --device emulator --check=all --json > out.json
    jq -e '.temporaries == [{"name": "temporary '"'t'"'", "bytes": 156}]' out.json
    jq -e '[.buffers[].name] == ["x", "y"]' out.json
    cute-run pack.ptx --config between.json --device emulator | grep -qx "temporary 't': 156 bytes"
    jq '.plan[0].args.to.offset = 16 | .plan[1].args.from.offset = 16' between.json > later.json
    cute-run pack.ptx --config later.json --device emulator --check=all | grep -qx "temporary 't': 220 bytes"
}

@test "a named temporary has undefined contents at the start, a type and a shape" {
    between
    jq '.plan |= [.[1], .[0]]' between.json > early.json
    run -4 cute-run pack.ptx --config early.json --device emulator --check=uninit
    [[ "$output" == *"uninit"*"temporary 't'"* ]]
    for key in dtype shape; do
        jq "del(.plan[0].args.to.$key)" between.json > without.json
        run -1 cute-run pack.ptx --config without.json --device emulator
        [[ "$output" == *"without.json"*"$key"* ]] || { echo "$output"; false; }
    done
    jq '.plan[0].args.to.dtype = "f64"' between.json > wide.json
    run -1 cute-run pack.ptx --config wide.json --device emulator
    [[ "$output" == *"tensor 't': expected elements of i32, got f64"* ]]
    jq '.plan[0].args.to.shape = [4611686018427387904, 7]' between.json > large.json
    run -1 cute-run pack.ptx --config large.json --device emulator
    [[ "$output" == *"exceeds 64 bits"* ]]
}
