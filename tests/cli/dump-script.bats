# cute-dump run with the options of a script that dumps a module: --module, --args, --kwargs.

setup() {
    dump="$CUTE_BIN/cute-dump"
    cd "$BATS_TEST_TMPDIR"
    [ ! -d "$CUTE_BIN/../cuda" ] || export CUTE_CUDA_PATH=$CUTE_BIN/../cuda
    mkdir -p src/mypkg
    cat >src/mypkg/mymod.mlir <<'EOF'
//!param N = 64
//!param X = 1.5 in 1.5, 2.5
gpu.module @m {
  gpu.func @fill(%x: memref<${N}xf32>) kernel {
    %i = gpu.thread_id x
    %v = arith.constant ${X} : f32
    memref.store %v, %x[%i] : memref<${N}xf32>
    gpu.return
  }
}
func.func @run(%x: memref<${N}xf32>) {
  %c1 = arith.constant 1 : index
  %n = arith.constant ${N} : index
  gpu.launch_func @m::@fill blocks in (%c1, %c1, %c1) threads in (%n, %c1, %c1) args(%x : memref<${N}xf32>)
  return
}
EOF
}

@test "a module is found by its name and instantiated by arguments" {
    "$dump" run --module mypkg.mymod -I src --func run --args "[128, 2.5]" -o d
    grep -q 'memref<128xf32>' d/00-before.mlir
    grep -q '2.5' d/00-before.mlir
    "$dump" run --module mypkg.mymod -I src --func run --args "[]" --kwargs '{"N": 32}' -o e
    grep -q 'memref<32xf32>' e/00-before.mlir
    (cd src && "$dump" run --module=mypkg.mymod --args='["96"]' --kwargs='{}' -o ../f)
    grep -q 'memref<96xf32>' f/00-before.mlir
}

# refused STATUS TEXT OPTION...
refused() {
    run "$dump" run -o d "${@:2}"
    [ "$status" -eq 2 ] || { echo "exit code $status: $output"; false; }
    [[ "$output" == *"$1"* ]] || { echo "$output"; false; }
}

@test "wrong names and arguments are refused" {
    refused "cannot find module 'mypkg.other': there is no 'mypkg/other.mlir'" --module mypkg.other -I src
    refused "searched the current folder and those of -I" --module mypkg.other -I src
    refused "--module and a file are mutually exclusive" --module mypkg.mymod src/mypkg/mymod.mlir
    refused "--args has 3 values, but 'src/mypkg/mymod.mlir' has 2 params (lines //!param NAME = VALUE)" src/mypkg/mymod.mlir --args "[1, 2, 3]"
    refused "--args expects a JSON list, as in" src/mypkg/mymod.mlir --args '{"N": 1}'
    refused "--kwargs expects a JSON object, as in" src/mypkg/mymod.mlir --kwargs '[1]'
    refused "--kwargs: expected numbers, strings or booleans for 'N'" src/mypkg/mymod.mlir --kwargs '{"N": [1]}'
    refused "--args requires a file, whose params it sets; --kwargs names them" --args "[1]"
    refused "--args" src/mypkg/mymod.mlir --args "[1"
    run "$dump" src/mypkg/mymod.mlir --args "[1]"
    [ "$status" -eq 2 ]
    [[ "$output" == *"--args has no effect on"* ]]
}
