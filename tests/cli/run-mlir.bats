# MLIR in the place of a module: cute-run and cute-dump compile it with the programs of the pipe.

setup() {
    PATH=$CUTE_BIN:$PATH
    ROOT=$BATS_TEST_DIRNAME/../..
    KERNEL=$ROOT/kernels/vector_add/vector_add.mlir
    CONFIG=$ROOT/kernels/vector_add/launch.json
    unset ARCH CUTE_CACHE
    cd "$BATS_TEST_TMPDIR"
}

# A kernel that adds ${BIAS}, and a config with a param n.
scaled() {
    cat >s.mlir <<'END'
gpu.module @m {
  gpu.func @bias(%x: memref<?xi32>) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %b = arith.constant ${BIAS} : i32
    %v = memref.load %x[%t] : memref<?xi32>
    %w = arith.addi %v, %b : i32
    memref.store %w, %x[%t] : memref<?xi32>
    gpu.return
  }
}
END
    cat >s.json <<'END'
{ "kernel": "bias", "params": { "n": 32, "want": 0 }, "grid": [1], "block": [32],
  "buffers": { "x": { "dtype": "i32", "shape": ["n"], "init": "iota" } },
  "args": ["x"], "check": { "x": { "expr": "i + want" } } }
END
}

@test "cute-run compiles MLIR and runs it" {
    run cute-run "$KERNEL" --config "$CONFIG" -D n=5000 --device emulator
    [ "$status" -eq 0 ]
    [[ "$output" == *"check c: passed, 5000 elements"* ]]
    run cute-run - --config "$CONFIG" -D n=5000 --device emulator <"$KERNEL"
    [ "$status" -eq 0 ]
    [[ "$output" == *"check c: passed, 5000 elements"* ]]
    cute-opt --emit-bytecode "$KERNEL" -o k.mlirbc
    run cute-run k.mlirbc --config "$CONFIG" -D n=5000 --device emulator
    [ "$status" -eq 0 ]
    [[ "$output" == *"check c: passed, 5000 elements"* ]]
}

@test "-D goes to the text that asks for it and to the config that has such a param; other names are refused" {
    scaled
    run cute-run s.mlir -c s.json -D BIAS=7 -D want=7 -d emulator
    [ "$status" -eq 0 ]
    [[ "$output" == *"check x: passed, 32 elements"* ]]
    run cute-run s.mlir -c s.json -D BIAS=7 -D want=6 -d emulator
    [ "$status" -eq 4 ]
    run cute-run s.mlir -c s.json -D BIAS=7 -D wand=7 -d emulator
    [ "$status" -eq 2 ]
    [[ "$output" == *"s.json has no param 'wand'; did you mean 'want'?"* ]]
    run cute-run s.mlir -c s.json -d emulator
    [ "$status" -eq 1 ]
    [[ "$output" == "s.mlir:4:27: error: unknown name 'BIAS'"* ]]
}

@test "an error of the compilation reads as in the pipe, as text and as JSON, with its exit code" {
    sed 's/%tid32 : i32 to/%tid33 : i32 to/' "$KERNEL" >bad.mlir
    run cute-run bad.mlir --config "$CONFIG" --device emulator
    [ "$status" -eq 1 ]
    piped=$(cute-ptx bad.mlir 2>&1 >/dev/null) || true
    [ "$output" = "$piped" ]
    [[ "$output" == "bad.mlir:15:24: error: use of undeclared SSA value name"* ]]
    run cute-dump --diagnostics=json show bad.mlir
    [ "$status" -eq 1 ]
    [ "$(jq -r .message <<<"$output")" = "use of undeclared SSA value name" ]
    run cute-run "$KERNEL" --config "$CONFIG" -arch sm_1 --device emulator
    [ "$status" -eq 2 ]
    [[ "$output" == *"unknown architecture 'sm_1'"* ]]
}

@test "MLIR is compiled for the device that it runs on, unless an option or the environment says otherwise" {
    FAKE=$CUTE_BIN/../tests/libfakecuda.so
    run env CUTE_LIBCUDA="$FAKE" cute-run "$KERNEL" --config "$CONFIG" -D n=5000 --no-check --no-bench
    [[ "$output" == *"device 0: Fake GPU (sm_90)"* ]]
    run env ARCH=sm_80 cute-dump ptx "$KERNEL"
    [[ "$output" == *".target sm_80"* ]]
    run env ARCH=sm_80 cute-dump ptx "$KERNEL" -arch sm_89
    [[ "$output" == *".target sm_89"* ]]
    cute-ptx "$KERNEL" -o k.ptx
    run cute-run k.ptx -arch sm_80
    [ "$status" -eq 2 ]
    [[ "$output" == *"k.ptx: error: -arch applies to MLIR only, and this file is already compiled"* ]]
}

@test "cute-dump's views take MLIR, with -D and -arch" {
    scaled
    run cute-dump resources s.mlir -D BIAS=3 -arch sm_80
    [ "$status" -eq 0 ]
    [[ "$output" == *"s.mlir: cubin for sm_80, 1 kernel"* ]]
    run cute-dump sass s.mlir -D BIAS=3
    [ "$status" -eq 0 ]
    [[ "$output" == *"s.mlir:6"* ]]
    run cute-dump ptx s.mlir -D BIAS=41
    [[ "$output" == *", 41;"* ]]
    cute-ptx s.mlir -D BIAS=3 -o s.ptx
    run cute-dump ptx s.ptx -D BIAS=3
    [ "$status" -eq 2 ]
    [[ "$output" == *"s.ptx: error: -D applies to MLIR only, and this file is already compiled"* ]]
}

@test "what was compiled before comes from the cache" {
    export CUTE_CACHE=$PWD/cache
    cute-dump show "$KERNEL" >first
    [ "$(ls cache | grep -c .)" -gt 0 ]
    files=$(find cache -type f | sort)
    cute-dump show "$KERNEL" >second
    cmp first second
    [ "$(find cache -type f | sort)" = "$files" ]
}


@test "a gpu.binary is taken as it is" {
    cute-opt --pass-pipeline='builtin.module(cute-to-nvvm{cubin-format=bin})' "$KERNEL" >gb.mlir
    run cute-run gb.mlir
    [ "$status" -eq 0 ]
    [[ "$output" == "vector_add(a: "* ]]
    cute-opt --emit-bytecode gb.mlir -o gb.bc
    cute-run gb.bc | diff - <(echo "$output")
    run cute-dump resources - <gb.mlir
    [ "$status" -eq 0 ]
    [[ "$output" == *": cubin for sm_90a, 1 kernel"* ]]
    [ "$(cute-dump resources - <gb.bc)" = "$output" ]
}

@test "variables of the programs that compile act on MLIR that is run or shown" {
    CUTLASS_DUMP_DIR=kept CUTLASS_KEEP_PTX=1 CUTLASS_KEEP_CUBIN=1 cute-dump show "$KERNEL" -arch sm_80 >shown
    [ "$(ls kept | tr '\n' ' ')" = "vector_add.sm_80.cubin vector_add.sm_80.ptx " ]
    CUTLASS_DUMP_DIR=run CUTLASS_KEEP_PTX=1 cute-run "$KERNEL" >shown
    [ "$(ls run)" = vector_add.sm_90a.ptx ]
    CUTLASS_DUMP_DIR=both CUTLASS_KEEP_CUBIN=1 cute-run --device emulator --config "$CONFIG" "$KERNEL" >shown
    [ "$(ls both)" = vector_add.sm_90a.cubin ]
    mkdir empty
    CUTE_CUDA_PATH=$PWD/empty CUTLASS_KEEP_CUBIN=1 cute-run --device emulator --config "$CONFIG" "$KERNEL" 2>err >shown
    grep -q 'warning: cannot keep a cubin: ptxas not found' err
    cat >assert.mlir <<'MLIR'
gpu.module @m { gpu.func @k(%n: i32) kernel {
  %c = arith.constant 3 : i32
  %ok = arith.cmpi slt, %n, %c : i32
  cf.assert %ok, "too many"
  gpu.return } }
MLIR
    echo '{"grid": 1, "block": 1, "args": [{"type": "i32", "value": 5}]}' >assert.json
    cute-run assert.mlir -c assert.json -d emulator
    run env CUTLASS_ENABLE_ASSERTIONS=1 cute-run assert.mlir -c assert.json -d emulator
    [ "$status" -eq 1 ]
    [[ "$output" == *"too many"* ]]
    # A toolkit that is none is told, also where cute-opt compiles a gpu.binary.
    run env -u CUTE_CUDA_PATH CUDA_TOOLKIT_PATH="$PWD/nowhere" cute-run "$KERNEL"
    [ "$status" -eq 2 ]
    [[ "$output" == *"CUDA_TOOLKIT_PATH expects a folder, got '$PWD/nowhere'"* ]]
    run env -u CUTE_CUDA_PATH CUDA_TOOLKIT_PATH="$PWD" cute-opt --pass-pipeline='builtin.module(cute-to-nvvm{cubin-format=bin})' "$KERNEL"
    [ "$status" -eq 1 ]
    [[ "$output" == *"expected a CUDA toolkit folder in the environment variable CUDA_TOOLKIT_PATH, got '$PWD'"*"the folder contains none of bin/ptxas"* ]]
}
