#!/usr/bin/env bats
# cute-run --plan: what the host function of the source did, without a compiler.
bats_require_minimum_version 1.5.0

setup() {
    PATH="$CUTE_BIN:$PATH"
    cd "$BATS_TEST_TMPDIR"
    cat > host.mlir <<'MLIR'
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%a: i32, %n: i64) kernel { gpu.return }
    gpu.func @small() kernel { gpu.return }
  }
  func.func @main(%n: index {cute.name = "n"}) {
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %g = arith.ceildivui %n, %c128 : index
    %bytes = arith.index_cast %n : index to i64
    %minus = arith.constant -7 : i32
    %little = arith.cmpi ult, %n, %c128 : index
    %b = scf.if %little -> (index) {
      %q = arith.divui %c128, %n : index
      gpu.launch_func @m::@small blocks in (%q, %c1, %c1) threads in (%c1, %c1, %c1)
      scf.yield %n : index
    } else { scf.yield %c128 : index }
    gpu.launch_func @m::@k blocks in (%g, %c1, %c1) threads in (%b, %c1, %c1) args(%minus : i32, %bytes : i64)
    return
  }
  func.func @bad(%n: index) {
    %m = memref.alloc() : memref<4xindex>
    %v = memref.load %m[%n] : memref<4xindex>
    gpu.launch_func @m::@small blocks in (%v, %n, %n) threads in (%n, %n, %n)
    return
  }
  llvm.func @getenv(!llvm.ptr) -> !llvm.ptr
  llvm.func @atoi(!llvm.ptr) -> i32
  llvm.mlir.global internal constant @name("CUTE_TEST_COUNT\00") {addr_space = 0 : i32}
  func.func @from_environment() {
    %c1 = arith.constant 1 : index
    %a = llvm.mlir.addressof @name : !llvm.ptr
    %e = llvm.call @getenv(%a) : (!llvm.ptr) -> !llvm.ptr
    %v = llvm.call @atoi(%e) : (!llvm.ptr) -> i32
    %x = arith.index_cast %v : i32 to index
    gpu.launch_func @m::@small blocks in (%x, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
  func.func @idle() { return }
}
MLIR
    cute-ptx -arch sm_90a host.mlir > host.ptx
    cute-link host.ptx -o host.cubin
}

@test "a plan computes grids and arguments from the function's arguments" {
    # 1000 elements: ceil(1000/128) = 8 blocks of 128; no small launch.
    for module in host.cubin host.ptx; do
        run -0 --separate-stderr cute-run $module --plan main -D n=1000 --dry-run
        [ "${lines[0]}" = "k: grid 8x1x1, block 128x1x1" ]
        [[ "${lines[1]}" == *"= -7" ]]
        [[ "${lines[2]}" == *"= 1000" ]]
        [[ "$output" != *small* ]]
    done
}

@test "branches decide which launches there are, in the source's order" {
    # 50 elements: 128/50 = 2 blocks of small, then one block of 50.
    run -0 --separate-stderr cute-run host.cubin -p main -D n=50 -n
    mapfile -t launches < <(grep -v '^ ' <<<"$output")
    [ "${launches[0]}" = "small: grid 2x1x1, block 1x1x1" ]
    [ "${launches[1]}" = "k: grid 1x1x1, block 50x1x1" ]
    # One warp a block and two: as many blocks as there can be.
    [ "$(grep -c '^  occupancy on sm_90a: 32 blocks, ' <<<"$output")" -eq 2 ]
    run -0 --separate-stderr cute-run host.cubin -p main -D n=50 -n --json
    jq -e '[.launches[].occupancy | .blocks, .warps] == [32, 32, 32, 64] and .launches[1].occupancy.limit == "warps"' <<<"$output"
}

@test "a division by zero is an error where a launch needs it" {
    run -1 cute-run host.cubin --plan main -D n=0 -n
    [[ "$output" == *"the plan of 'main' launches 'small' with an undefined grid"* ]]
}

@test "numbers come from the environment where the source reads it" {
    CUTE_TEST_COUNT=5 run -0 cute-run host.cubin --plan from_environment -n
    [[ "$output" == *"small: grid 5x1x1, block 1x1x1"* ]]
    unset CUTE_TEST_COUNT
    run -1 cute-run host.cubin --plan from_environment -n
    [[ "$output" == *'reads $CUTE_TEST_COUNT, which is not set'* ]]
    CUTE_TEST_COUNT=5x run -1 cute-run host.cubin --plan from_environment -n
    [[ "$output" == *"expects an integer in \$CUTE_TEST_COUNT, got '5x'"* ]]
}

@test "a function without a plan says which operation is in the way" {
    run -1 cute-run host.cubin --plan bad -D n=1 -n
    [[ "$output" == *"host function 'bad' has no launch plan: 'memref.alloc' at line 22 is not supported in a launch plan"* ]]
}

@test "a function that launches nothing says so" {
    run -1 cute-run host.cubin --plan idle -n
    [[ "$output" == *"host function 'idle' has no launch plan: it launches no kernel"* ]]
    run -1 cute-run host.cubin --plan idle -n -D n=1
    [[ "$output" == *"host function 'idle' has no launch plan: it launches no kernel"* ]]
    cat >none.ptx <<'PTX'
//!cute {"format":1,"plan":"empty","args":[],"values":[]}
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k() { ret; }
PTX
    run -1 cute-run none.ptx --plan empty -n
    [[ "$output" == *"the plan of 'empty' has no list of launches"* ]]
}

@test "missing and wrong arguments, unknown functions" {
    run -2 cute-run host.cubin --plan main -n
    [[ "$output" == *"host function 'main' needs 'n': pass -D n=NUMBER"* ]]
    run -2 cute-run host.cubin --plan main -D n=many -n
    [[ "$output" == *"-D n expects an integer, got 'many'"* ]]
    run -1 cute-run host.cubin --plan mian -n
    [[ "$output" == *"no host function 'mian' that launches a kernel"* ]]
    [[ "$output" == *"available: main, bad, from_environment, idle"* ]]
    echo '{"grid": [1], "block": [1]}' > launch.json
    run -2 cute-run host.cubin --plan main --config launch.json -n
    [[ "$output" == *"--config and --plan are mutually exclusive"* ]]
}

# A persistent kernel: each block adds 1 to every gridDim'th element, and the host asks for the grid.
persistent() {
    cat > persistent.mlir <<'MLIR'
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%a: !llvm.ptr<1>, %n: i64) kernel attributes {nvvm.reqntid = array<i32: 1, 1, 1>} {
      %b = gpu.block_id z
      %g = gpu.grid_dim z
      %first = arith.index_cast %b : index to i64
      %step = arith.index_cast %g : index to i64
      scf.for %i = %first to %n step %step : i64 {
        %p = llvm.getelementptr %a[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
        %s = arith.trunci %step : i64 to i32
        llvm.store %s, %p : i32, !llvm.ptr<1>
      }
      gpu.return
    }
  }
  func.func @main(%a: !llvm.ptr<1> {cute.name = "a"}, %n: i64 {cute.name = "n"}) {
    %c1 = arith.constant 1 : index
    %sms = cute_nvgpu.host.sm_count() : () -> i32
    %c2 = arith.constant 2 : i32
    %twice = arith.muli %sms, %c2 : i32
    %z = arith.index_cast %twice : i32 to index
    gpu.launch_func @m::@k blocks in (%c1, %c1, %z) threads in (%c1, %c1, %c1) args(%a : !llvm.ptr<1>, %n : i64)
    return
  }
  func.func @one(%a: !llvm.ptr<1> {cute.name = "a"}, %n: i64 {cute.name = "n"}) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : !llvm.ptr<1>, %n : i64)
    return
  }
}
MLIR
    cute-opt persistent.mlir | cute-ptx -arch sm_90a -o persistent.ptx
}

@test "a plan that asks for the multiprocessors gets those of the device" {
    persistent
    sms() { cute-run persistent.ptx --device emulator --plan main --tensor a=i32:1000 -D n=1000 --expect "a=$1" "${@:2}"; }
    sms 264
    sms 10 --sms 5
    sms 10 --sms 5 --check=all
    run -4 sms 264 --sms 5
    run -2 sms 0 --sms 0
    [[ "$output" == *"--sms expects a positive number, got '0'"* ]]
    # a driver that tells of none: nothing runs, but a plan can be looked at
    CUTE_LIBCUDA=/nowhere/libcuda.so run -0 cute-run persistent.ptx -n --plan main --tensor a=i32:8 -D n=8
    [[ "$output" == *"no device found: assuming 132 multiprocessors"* ]]
    [[ "$output" == *"264"* ]]
    CUTE_LIBCUDA=/nowhere/libcuda.so run -3 cute-run persistent.ptx --plan main --tensor a=i32:8 -D n=8
    [[ "$output" == *"/nowhere/libcuda.so"* ]]
}

@test "launch.json knows the multiprocessors, and may say another grid than the plan" {
    persistent
    config() { echo '{"plan": "one", "params": {"n": 1000'"$2"'}, "buffers": {"a": {"dtype": "i32", "shape": ["n"]}}, '"$1"'}'; }
    config '"grid": ["1", "1", "sms"], "check": {"a": "sms"}' > k.json
    cute-run persistent.ptx --device emulator --config k.json
    cute-run persistent.ptx --device emulator --config k.json --sms 7
    config '"grid": [1, 1, "2 * blocks"], "check": {"a": "22"}' ', "blocks": "min(sms, 11)"' > k.json
    cute-run persistent.ptx --device emulator --config k.json
    config '"check": {"a": "1"}' > k.json
    cute-run persistent.ptx --device emulator --config k.json
    # a param of that name is the user's
    config '"grid": [1, 1, "sms"], "check": {"a": "3"}' ', "sms": 3' > k.json
    cute-run persistent.ptx --device emulator --config k.json --sms 7
}

@test "a tensor may be a part of a buffer" {
    persistent
    config() { echo '{"plan": {"function": "one", "args": {"a": '"$1"', "n": 4}}, "buffers": {"a": {"dtype": "i32", "shape": [12], "init": "zeros"}}, "check": {"a": "'"$2"'"}}'; }
    config '{"buffer": "a", "offset": "n", "shape": ["n"]}' 'i >= 4 && i < 8' | sed 's/"plan"/"params": {"n": 4}, "plan"/' > k.json
    cute-run persistent.ptx --device emulator --config k.json
    config '{"buffer": "a", "offset": 8, "shape": [4]}' 'i >= 8' > k.json
    cute-run persistent.ptx --device emulator --config k.json
    config '{"buffer": "a", "offset": 9, "shape": [4]}' 'i >= 8' > k.json
    run -1 cute-run persistent.ptx --device emulator --config k.json
    [[ "$output" == *"the view of 'a' is out of bounds: its last element is 12, but the buffer has 12 elements"* ]]
    config '{"buffer": "b"}' 'i >= 8' > k.json
    run -1 cute-run persistent.ptx --device emulator --config k.json
    [[ "$output" == *"unknown buffer 'b'"* ]]
    config '{"buffer": "a", "ofset": 9}' 'i >= 8' > k.json
    run -1 cute-run persistent.ptx --device emulator --config k.json
    # of a memref with a layout
    cat > view.mlir <<'MLIR'
!m = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
gpu.module @kernels {
  gpu.func @fill(%A: !m) kernel attributes {nvvm.reqntid = array<i32: 1, 1, 1>} {
    %one = arith.constant 1.0 : f32
    cute.memref.store %A, (1, 2), %one
    gpu.return
  }
}
func.func @main(%A: !m) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@fill blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%A : !m)
  return
}
MLIR
    cute-ptx view.mlir -arch sm_90a -o view.ptx
    view() { echo '{"plan": {"function": "main", "args": {"A": {"buffer": "x", '"$1"'}}}, "buffers": {"x": {"dtype": "f32", "shape": [64], "init": "zeros"}}, "check": {"x": "'"$2"'"}}' > k.json; }
    view '"offset": 8, "shape": [2, 4], "strides": [16, 1]' 'i == 8 + 16 + 2'
    cute-run view.ptx --device emulator --config k.json
    view '"offset": 7, "shape": [2, 4], "strides": [16, 1]' 'i == 8 + 16 + 2'
    run -1 cute-run view.ptx --device emulator --config k.json
    [[ "$output" == *"is misaligned: expected an offset that is a multiple of 16 bytes, got 28"* ]]
    view '"offset": 8, "shape": [2, 4], "strides": [15, 1]' 'i == 8 + 16 + 2'
    run -1 cute-run view.ptx --device emulator --config k.json
}

@test "sm_count is the host's" {
    cat > bad.mlir <<'MLIR'
gpu.module @m {
  gpu.func @k() kernel {
    %n = cute_nvgpu.host.sm_count() : () -> i32
    gpu.return
  }
}
MLIR
    run -1 cute-opt bad.mlir
    [[ "$output" == *"bad.mlir:3:"*"expects to be in a host function"* ]]
}

@test "a plan that was tampered with is an error" {
    sed -e '/"plan":"main"/s/\["const",64,1\]/["frob",64,0,0]/' host.ptx > frob.ptx
    run -1 cute-run frob.ptx --plan main -D n=1 -n
    [[ "$output" == *"an unknown operation 'frob'"* ]]
    sed -e '/"plan":"main"/s/\["ceildivu",64,0,/["ceildivu",64,99,/' host.ptx > later.ptx
    run -1 cute-run later.ptx --plan main -D n=1 -n
    [[ "$output" == *"an operand that is not an earlier value"* ]]
}
