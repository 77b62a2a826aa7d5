# cute-run takes the options of cute-ptx and cute-link: one command from MLIR to a checked result.

setup() {
    run="$CUTE_BIN/cute-run"
    cd "$BATS_TEST_TMPDIR"
    [ ! -d "$CUTE_BIN/../cuda" ] || export CUTE_CUDA_PATH=$CUTE_BIN/../cuda
    cat >k.mlir <<'EOF'
gpu.module @m {
  gpu.func @fill(%x: memref<64xf32>) kernel {
    %i = gpu.thread_id x
    %n = arith.index_cast %i : index to i32
    %ok = arith.constant true
    cf.assert %ok, "never"
    %v = arith.sitofp %n : i32 to f32
    memref.store %v, %x[%i] : memref<64xf32>
    gpu.return
  }
}
EOF
    echo '{ "grid": 1, "block": 64, "buffers": { "x": { "dtype": "f32", "shape": [64] } }, "check": { "x": "i" } }' >launch.json
}

@test "one command compiles with options, keeps the files of all stages, runs and checks" {
    run "$run" k.mlir --opt-level=2 --gpu-arch=sm_90 --keep-ir --keep-ptx --dump-dir=d --pass-pipeline='builtin.module(canonicalize,cse)' \
        --enable-assertions --config launch.json --device emulator
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [[ "$output" == *"check x: passed"* ]]
    [ "$(ls d)" = $'fill.sm_90.mlir\nfill.sm_90.ptx' ]
    grep -q '^.target sm_90$' d/fill.sm_90.ptx
    grep -q __assertfail d/fill.sm_90.ptx
}

@test "options of ptxas are applied on the emulator too" {
    "$CUTE_BIN/cute-link" k.mlir >/dev/null 2>&1 || true
    "$CUTE_BIN/cute-ptx" k.mlir | "$CUTE_BIN/cute-link" -o k.cubin || skip "no ptxas"
    run "$run" k.mlir -O1 -Xptxas=-v -maxrregcount=32 --keep-cubin --config launch.json --device emulator
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [[ "$output" == *"Used "*"registers"* ]]
    [ -s fill.sm_90a.cubin ]
    run "$run" k.mlir -Xptxas=--no-such-option --config launch.json --device emulator
    [ "$status" -ne 0 ]
    [[ "$output" == *no-such-option* ]]
}

@test "without ptxas its options are a warning" {
    mkdir -p none
    run env -u CUTE_CUDA_PATH -u CUDA_HOME -u CUDA_PATH -u CUDA_TOOLKIT_PATH PATH=/usr/bin:/bin "$run" k.mlir -Xptxas=-v --config launch.json --device emulator
    [ "$status" -eq 0 ]
    [[ "$output" == *"cannot apply options of ptxas: ptxas not found"* || "$output" == *"Used "* ]]
}

@test "options of the compilation are refused where nothing is compiled" {
    "$CUTE_BIN/cute-ptx" k.mlir -o k.ptx
    run "$run" k.ptx --keep-ptx
    [ "$status" -eq 2 ]
    [[ "$output" == *"--keep-ptx applies to MLIR only, and this file is already compiled"* ]]
    run "$run" --gemm 16x16x16 -O2
    [ "$status" -eq 2 ]
    [[ "$output" == *"'--opt-level' cannot be combined with --gemm, which defines the whole launch"* ]]
    run "$run" k.mlir --config launch.json --tune --keep-ptx
    [ "$status" -eq 2 ]
    [[ "$output" == *"--tune and --keep-ptx are mutually exclusive: run again without --tune"* ]]
    run "$run" k.mlir -O7 --config launch.json --device emulator
    [ "$status" -eq 2 ]
}
