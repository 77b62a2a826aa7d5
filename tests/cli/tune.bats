#!/usr/bin/env bats
# cute-run --tune: the fastest value of each parameter and schedule of a kernel in MLIR, on the emulator and on a stand-in for the driver
# (tests/data/fakecuda.c); what it remembers; wrong command lines.
bats_require_minimum_version 1.5.0

setup() {
    PATH="$CUTE_BIN:$PATH"
    ROOT=$BATS_TEST_DIRNAME/../..
    cd "$BATS_TEST_TMPDIR"
    export XDG_CACHE_HOME="$BATS_TEST_TMPDIR/cache"
    unset CUTE_CACHE ARCH FAKECUDA
    [ -x "$CUTE_BIN/cute-ptx" ] || skip "no cute-ptx"
}

says() { [[ "$output" == *"$1"* ]] || { echo "not said: $1"; echo "$output"; false; }; }

# A product, and a config without checks of its tiles.
product() {
    cat >gemm.mlir <<'MLIR'
//!param BM = 128 in 64, 128
//!param BN = 64 in 64, 128
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
gpu.module @kernels {
  gpu.func @gemm(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[${BM}, ${BN}]> %c
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<${BM}x${BN}xf32>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<${BM}x${BN}xf32>) : i32 {
      %x = cute.tile.load<[${BM}, 64]> %a[%i, %k]
      %y = cute.tile.load<[${BN}, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : tensor<${BM}x${BN}xf32>
    }
    %h = cute.tile.cast<f16> %sum
    cute.tile.store %h, %c[%i, %j]
    gpu.return
  }
}
MLIR
    cat >gemm.json <<'JSON'
{ "plan": "gemm", "params": { "m": 72, "n": 80, "k": 136 }, "buffers": { "a": { "shape": ["m", "k"], "init": { "integers": [-2, 2] } },
  "b": { "shape": ["n", "k"], "init": { "integers": [-2, 2] } }, "c": { "shape": ["m", "n"] } },
  "check": { "c": { "einsum": "mk,nk->mn", "operands": ["a", "b"] } } }
JSON
}

# A kernel that the stand-in for the driver computes; blocks of 2000 threads more are refused.
vector() {
    cat >add.mlir <<'MLIR'
//!param BLOCK = 128 in 64, 128, 256
//!param MORE = 0 in 0, 2000
gpu.module @m {
  gpu.func @vector_add(%a: !llvm.ptr<1> {cute.name = "a", cute.dtype = f32}, %b: !llvm.ptr<1> {cute.name = "b", cute.dtype = f32},
                       %c: !llvm.ptr<1> {cute.name = "c", cute.dtype = f32}, %n: i64 {cute.name = "n"})
      kernel attributes {nvvm.reqntid = array<i32: ${BLOCK+MORE}, 1, 1>} {
    %t = gpu.thread_id x
    %block = gpu.block_id x
    %d = gpu.block_dim x
    %o = arith.muli %block, %d : index
    %g = arith.addi %o, %t : index
    %i = arith.index_cast %g : index to i64
    %in = arith.cmpi ult, %i, %n : i64
    scf.if %in {
      %pa = llvm.getelementptr %a[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %pb = llvm.getelementptr %b[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %pc = llvm.getelementptr %c[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %x = llvm.load %pa : !llvm.ptr<1> -> f32
      %y = llvm.load %pb : !llvm.ptr<1> -> f32
      %z = arith.addf %x, %y : f32
      llvm.store %z, %pc : f32, !llvm.ptr<1>
    }
    gpu.return
  }
}
MLIR
    cat >add.json <<'JSON'
{ "kernel": "vector_add", "params": { "n": 1000, "BLOCK": 128 }, "grid": ["ceil_div(n, BLOCK)"], "block": ["BLOCK"],
  "buffers": { "a": { "dtype": "f32", "shape": ["n"], "init": "iota" }, "b": { "dtype": "f32", "shape": ["n"], "init": 1 },
    "c": { "dtype": "f32", "shape": ["n"] } },
  "args": ["a", "b", "c", "n"], "check": { "c": { "expr": "i + 1", "index": ["i"] } }, "bench": { "samples": 2 } }
JSON
    export CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so"
}

tune() { timeout 100 cute-run "$@"; }

@test "on the emulator parameters and schedules are ranked by the model, and the results of the likeliest are checked" {
    product
    run -0 tune gemm.mlir -c gemm.json -d emulator --tune=3
    says "m=72,n=80,k=136: 4 combinations of parameters"
    says "ranked by the cost model, not measured"
    says "check c: passed, 5760 elements"
    says "remembered for this device and these sizes"
    tune gemm.mlir -c gemm.json -d emulator --tune=3 --json >out.json
    jq -e '.tune | .ranked_by == "model" and .combinations == 4 and .measured == 0 and .remembered
        and ([.candidates[] | select(.state == "compiled")] | length) == 3
        and (.candidates[.best] | .estimate_s > 0 and (.schedule | startswith("stages=")) and (.defines | length) == 2)' out.json
    jq -e '.checks[0].ok' out.json
}

@test "a later run with the same sizes uses what was remembered, unless told otherwise" {
    product
    tune gemm.mlir -c gemm.json -d emulator --tune=1 --json >first.json
    run -0 --separate-stderr tune gemm.mlir -c gemm.json -d emulator -v
    [[ "$stderr" == *"remark: tuned: BM="*"--no-tuned uses the defaults"* ]]
    run -0 --separate-stderr tune gemm.mlir -c gemm.json -d emulator
    [ -z "$stderr" ]
    best=$(jq -c '.tune | .candidates[.best] | [.defines, .schedule]' first.json)
    [ "$(tune gemm.mlir -c gemm.json -d emulator --json | jq -c '.tuned | [.defines, .schedule]')" = "$best" ]
    # -D that states the same sizes; a check or a description more
    jq '.description = "more" | del(.check) | .params.m = 1' gemm.json >same.json
    tune gemm.mlir -c same.json -D m=72 -d emulator --json | jq -e .tuned
    # other sizes, another text, a parameter or schedule of the user, other multiprocessors
    tune gemm.mlir -c gemm.json -D m=64 -d emulator --json | jq -e '.tuned == null'
    tune gemm.mlir -c gemm.json -D BM=64 -d emulator --json | jq -e '.tuned == null'
    tune gemm.mlir -c gemm.json --schedule=stages=2 -d emulator --json | jq -e '.tuned == null'
    tune gemm.mlir -c gemm.json --sms=7 -d emulator --json | jq -e '.tuned == null'
    tune gemm.mlir -c gemm.json --no-tuned -d emulator --json | jq -e '.tuned == null'
    CUTE_CACHE=off tune gemm.mlir -c gemm.json -d emulator --json | jq -e '.tuned == null'
    { cat gemm.mlir; echo "// more"; } >other.mlir
    tune other.mlir -c gemm.json -d emulator --json | jq -e '.tuned == null'
    CUTE_CACHE=off run -0 tune gemm.mlir -c gemm.json -d emulator --tune=1
    [[ "$output" != *remembered* ]]
}

@test "included files are part of what is remembered" {
    product
    sed -n '1,2p' gemm.mlir >params.mlir
    { echo '//!include "params.mlir"'; sed 1,2d gemm.mlir; } >whole.mlir
    tune whole.mlir -c gemm.json -d emulator --tune=1 >/dev/null
    tune whole.mlir -c gemm.json -d emulator --json | jq -e .tuned
    sed -i 's/in 64, 128/in 128/' params.mlir
    tune whole.mlir -c gemm.json -d emulator --json | jq -e '.tuned == null'
}

@test "parameters and a schedule that the user states are kept" {
    product
    tune gemm.mlir -c gemm.json -d emulator --tune=40 -D BM=64 --schedule="consumers=1 stages=3" --json >out.json
    jq -e '.tune | .combinations == 2 and all(.candidates[]; (.defines | length) == 1 and (.schedule | startswith("stages=3 consumers=1")))' out.json
}

@test "threads of a kernel without products are tried, and the same code once" {
    run -0 tune "$ROOT/kernels/layernorm/layernorm.mlir" -c "$ROOT/kernels/layernorm/launch.json" -D T=f32 -D V=4 -D COLS=1024 -D rows=3 -d emulator --tune -v
    says "4 combinations of parameters, 27 candidates"
    [[ "$output" =~ refused\ +-\ +[0-9.]+\ us\ +-D\ ROWS=4\ --schedule=\"threads=256\":\ same\ code:\ that\ of\ ROWS=4\ threads=0 ]]
    says "ranked by the cost model, not measured"
    says "remembered for this device and these sizes"
    # few long rows: blocks of many threads
    tune "$ROOT/kernels/softmax/softmax.mlir" -c "$ROOT/kernels/softmax/launch.json" -D T=f32 -D V=4 -D BITS=128 -D COLS=8192 -D rows=16 -D cols=8192 -d emulator --tune=6 --json >out.json
    jq -e '.tune | .candidates[.best].schedule == "threads=1024" and all(.candidates[]; .estimate_s > 0)' out.json
}

@test "a kernel that is no tile program is not ranked: the first that compiles is the best" {
    cat >fill.mlir <<'MLIR'
//!param VALUE = 1.0 in 1.0, 2.0
gpu.module @m {
  gpu.func @fill(%x: !llvm.ptr<1> {cute.name = "x", cute.dtype = f32}) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %v = arith.constant ${VALUE} : f32
    llvm.store %v, %x : f32, !llvm.ptr<1>
    gpu.return
  }
}
MLIR
    echo '{ "kernel": "fill", "grid": [1], "buffers": { "x": { "dtype": "f32", "shape": [1] } }, "args": ["x"] }' >fill.json
    run -0 tune fill.mlir -c fill.json -d emulator --tune
    says "not measured, and without an estimate"
    [[ "$output" != *remembered* ]]
}

@test "spills, errors of the compiler and too much shared memory are refused before a run, each with its reason" {
    product
    sed -i 's/^\/\/!param BM.*/\/\/!param BM = 64 in 64, 256/; s/^\/\/!param BN.*/\/\/!param BN = 64 in 0, 64, 256/' gemm.mlir
    # blocks of 512 threads with 128 sums each
    run -0 tune gemm.mlir -c gemm.json -d emulator --tune=30 -v --schedule=consumers=0
    says "compiler: gemm.mlir:"
    says "spills: 'gemm' spills "
    run -0 tune gemm.mlir -c gemm.json -d emulator --tune=30 --schedule=consumers=0
    says "refused before a run: "
    says "(--verbose lists them)"
    # without another candidate, those that spill are run
    run -0 tune gemm.mlir -c gemm.json -d emulator -D BM=256 -D BN=256 --tune -v --schedule=consumers=0
    says "spills: 'gemm' spills "
    says "check c: passed"
    tune gemm.mlir -c gemm.json -d emulator --tune=30 --schedule=consumers=0 --json | jq -e '.tune.refused | .compiler > 0 and .spills > 0'
    cat >shared.mlir <<'MLIR'
//!param S = 32 in 32, 100000
gpu.module @m {
  gpu.func @f(%x: !llvm.ptr<1> {cute.name = "x", cute.dtype = f32}) workgroup(%s: memref<${S}xf32, 3>) kernel
      attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %i = arith.index_cast %t : index to i64
    %c = arith.constant 1.0 : f32
    memref.store %c, %s[%t] : memref<${S}xf32, 3>
    gpu.barrier
    %v = memref.load %s[%t] : memref<${S}xf32, 3>
    %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %v, %p : f32, !llvm.ptr<1>
    gpu.return
  }
}
MLIR
    echo '{ "kernel": "f", "grid": [1], "block": [32], "buffers": { "x": { "dtype": "f32", "shape": [32] } }, "args": ["x"],
            "check": { "x": { "expr": "1" } } }' >shared.json
    run -0 tune shared.mlir -c shared.json -d emulator --tune -v
    says "-D S=100000: shared memory: shared.mlir:3: "
    says "refused before a run: 1 shared memory"
}

@test "on a GPU candidates are checked, timed in turns and the fastest is launched" {
    vector
    run -0 tune add.mlir -c add.json --tune -v
    says "tune on Fake GPU, n=1000: 6 combinations of parameters, 6 candidates, 6 compiled; measured"
    says "refused before a run: 3 launch"
    says 'requires a block of [2128, 1, 1], got [128, 1, 1]'
    says "check c: passed"
    tune add.mlir -c add.json --tune --json >out.json
    jq -e '.tune | .ranked_by == "measurement" and .measured == 3 and .refused == {"launch": 3} and .candidates[.best].seconds > 0
        and (.candidates[.best].seconds == ([.candidates[].seconds // empty] | min))' out.json
    jq -e '.bench' out.json
    tune add.mlir -c add.json --json | jq -e '.tuned.ranked_by == "measurement"'
    tune add.mlir -c add.json --tune=1 --json | jq -e '.tune.measured == 1'
}

@test "wrong results, faults and hangs of all candidates are an error, with the reason" {
    vector
    FAKECUDA=wrong run -4 tune add.mlir -c add.json --tune
    says "warning: the results of BLOCK=128 MORE=0 are wrong"
    says "note: \$.check.c: 1 of 1000 elements of c are wrong"
    says "error: expected a candidate with right results, but all 6 that were compiled were refused, failed or had wrong ones"
    FAKECUDA=launch run -1 tune add.mlir -c add.json --tune
    says "error: expected a candidate with right results, but all 6 that were compiled were refused or failed"
    says "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
    FAKECUDA=hang run -1 tune add.mlir -c add.json --tune --timeout=0.2
    says "did not end within 0.2 s"
    [ ! -e "$XDG_CACHE_HOME/libcute" ] || ! tune add.mlir -c add.json --json | jq -e .tuned
    FAKECUDA=nodevice run -3 tune add.mlir -c add.json --tune
}

@test "an error in a part of the config that candidates do not use is found before they are run" {
    vector
    jq '.bench.baselines = [{ "name": "other", "launches": [{ "kernel": "none", "grid": [1], "block": [1], "args": [] }] }]' add.json >peer.json
    FAKECUDA=hang run -1 timeout 30 cute-run add.mlir -c peer.json --tune --timeout=20
    says "no kernel 'none'"
    says "peer.json:"
}

@test "--plan instead of a config" {
    product
    run -0 tune gemm.mlir --plan gemm --tensor a=f16:64x64:normal --tensor b=f16:64x64:normal --tensor c=f16:64x64 -d emulator --tune=1
    says "remembered"
    tune gemm.mlir --plan gemm --tensor a=f16:64x64:normal --tensor b=f16:64x64:normal --tensor c=f16:64x64 -d emulator --json | jq -e .tuned
    tune gemm.mlir --plan gemm --tensor a=f16:64x72:normal --tensor b=f16:64x72:normal --tensor c=f16:64x64 -d emulator --json | jq -e '.tuned == null'
}

@test "command lines that cannot be tuned are refused" {
    product
    run -2 tune gemm.mlir --tune
    says "--tune requires --gemm=MxNxK, or MLIR with --config=launch.json or --plan=FUNCTION"
    run -2 tune gemm.mlir -c gemm.json -d emulator --tune=0
    says "--tune expects a number of candidates from 1 to 4096, got '0'"
    run -2 tune gemm.mlir -c gemm.json -d emulator --tune=many
    says "got 'many'"
    run -2 tune gemm.mlir -c gemm.json -d emulator --tune --dry-run
    says "--tune and --dry-run are mutually exclusive"
    run -2 tune --gemm 64x64x64 -d emulator --tune=3
    says "--tune with --gemm measures all configurations: expected no number, got '3'"
    cute-ptx -arch sm_90a gemm.mlir -o gemm.ptx
    run -2 tune gemm.ptx -c gemm.json -d emulator --tune
    says "--tune applies to MLIR only, and this file is already compiled"
    run -2 tune gemm.ptx -c gemm.json -d emulator --schedule=stages=2
    says "--schedule applies to MLIR only"
    echo '{' >bad.json
    run -1 tune gemm.mlir -c bad.json -d emulator --tune
    says "bad.json:"
    echo '//!param BM 3' >bad.mlir
    cat gemm.mlir >>bad.mlir
    run -1 tune bad.mlir -c gemm.json -d emulator --tune
    says "expected '//!param NAME = VALUE'"
    echo 'gpu.module @m { gpu.func @f() kernel { oops } }' >oops.mlir
    run -1 tune oops.mlir -c gemm.json -d emulator --tune
    says "expected a candidate with right results, but all 1 that were compiled were refused or failed"
    says "note: compiler: defaults: oops.mlir:1:"
    run -1 tune gemm.mlir -c gemm.json -d emulator --tune --schedule=stages=99
    says "expected a schedule"
}

@test "--no-tuned chooses a configuration of --gemm by its estimate" {
    tune --gemm 40x24x16 --dtype f32 -d emulator --tune >/dev/null
    tune --gemm 40x24x16 --dtype f32 -d emulator --json | jq -e '.gemm.chosen == "emulated"'
    tune --gemm 40x24x16 --dtype f32 -d emulator --no-tuned --json | jq -e '.gemm.chosen == "estimated"'
}
