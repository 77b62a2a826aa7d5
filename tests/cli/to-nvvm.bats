# cute-to-nvvm's options by what comes out of the programs behind it. Needs ptxas.

setup() {
    PATH=$CUTE_BIN:$PATH
    cd "$BATS_TEST_TMPDIR"
    cat >k.mlir <<'END'
gpu.module @kernels {
  gpu.func @sum(%X: !cute.memref<f32, gmem, "(64):(1)">, %Y: !cute.memref<f32, gmem, "(64):(1)">) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
    %zero = arith.constant 0.0 : f32
    %x = cute.load %X[%t]
    %positive = arith.cmpf oge, %x, %zero : f32
    cf.assert %positive, "a negative number"
    %s = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %zero) -> f32 : i32 {
      %b = arith.addf %a, %x : f32
      scf.yield %b : f32
    }
    cute.store %s, %Y[%t]
    gpu.return
  }
}
END
    cat >launch.json <<'END'
{ "kernel": "sum", "grid": [1, 1, 1], "block": [64, 1, 1],
  "buffers": { "X": { "dtype": "f32", "shape": [64], "init": "normal" }, "Y": { "dtype": "f32", "shape": [64] } },
  "args": [ { "buffer": "X" }, { "buffer": "Y" } ], "check": { "Y": "8*X[i]" } }
END
}

# to_nvvm OPTIONS: k.mlir to out.mlir.
to_nvvm() {
    cute-opt k.mlir --pass-pipeline="builtin.module(cute-to-nvvm{cubin-chip=sm_90a $1})" -o out.mlir
}

@test "each cubin-format is linked, shown and taken out of the gpu.binary; what has PTX runs on the emulator" {
    for format in isa bin fatbin; do
        to_nvvm "cubin-format=$format"
        cute-link out.mlir -o linked.cubin
        cute-link --extract=all out.mlir -o taken
        for module in linked.cubin taken; do
            cute-dump "$module" >shown
            grep -q "1 kernel" shown
            grep -q "^sum " shown || [ "$format.$module" = isa.taken ]
            run cute-run -d emulator --check=all "$module" -c launch.json
            if [ $format = bin ]; then
                [ "$status" -eq 1 ]
                [[ "$output" == *"the module has no PTX, which is what the emulator runs"* ]]
            else
                [ "$status" -eq 0 ] || { echo "$format $module: $output"; false; }
                [[ "$output" == *passed* ]]
            fi
        done
    done
}

@test "opt-level says how much is optimised" {
    to_nvvm "cubin-format=isa opt-level=0"
    cute-link --extract=all out.mlir -o 0.ptx
    to_nvvm "cubin-format=isa opt-level=3"
    cute-link --extract=all out.mlir -o 3.ptx
    # The loop is there, and is unrolled.
    grep -q "bra" 0.ptx
    [ "$(grep -c add.rn.f32 0.ptx)" -eq 1 ]
    [ "$(grep -c bra 3.ptx)" -eq 0 ]
    [ "$(grep -c add.rn.f32 3.ptx)" -eq 8 ]
    cute-run -d emulator 0.ptx -c launch.json >out
    grep -q passed out
}

@test "preserve-line-info gives machine code the lines of the source" {
    to_nvvm "cubin-format=bin preserve-line-info=true"
    cute-link out.mlir -o k.cubin
    cute-dump sass k.cubin >out
    grep -q 'k.mlir:8 .*cute.load %X' out
    to_nvvm "cubin-format=bin"
    cute-link out.mlir -o k.cubin
    cute-dump sass k.cubin >out
    [ "$(grep -c 'k.mlir:8' out)" -eq 0 ]
}

@test "enable-assertions stops the kernel at an assertion that does not hold" {
    to_nvvm "cubin-format=fatbin enable-assertions=true"
    run cute-run -d emulator out.mlir -c launch.json
    [ "$status" -ne 0 ] # it is linked first
    cute-link out.mlir -o k.cubin
    run cute-run -d emulator k.cubin -c launch.json
    [ "$status" -eq 1 ]
    [[ "$output" == *"assertion 'a negative number' failed"* ]]
    to_nvvm "cubin-format=fatbin"
    cute-link out.mlir -o k.cubin
    run cute-run -d emulator k.cubin -c launch.json
    [ "$status" -eq 0 ]
}

@test "a toolkitPath that is no folder of a toolkit is refused, and so is one without ptxas" {
    run to_nvvm "cubin-format=bin toolkitPath=/nowhere"
    [ "$status" -eq 1 ]
    [[ "$output" == *"error: emit-gpu-binary expects the folder of a CUDA toolkit, got '/nowhere'"* ]]
    mkdir -p empty
    run to_nvvm "cubin-format=bin toolkitPath=$PWD/empty"
    [ "$status" -eq 1 ]
    [[ "$output" == *"empty', in which there is no bin/ptxas"* ]]
}

@test "the dialect cuda and modules of kernels are read with and without the options that ask for them" {
    to_nvvm "cubin-format=isa"
    cp out.mlir plain.mlir
    to_nvvm "cubin-format=isa enable-cuda-dialect=true cuda-dialect-external-module=true"
    diff plain.mlir out.mlir
}

@test "what inline assembly needs of the PTX ISA is among the features of the target" {
    cat >k.mlir <<'END'
gpu.module @kernels {
  gpu.func @k(%bar: !cute.ptr<i64, smem>, %to: !cute.ptr<i32, smem>, %x: i32, %rank: i32) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %there = cute_nvgpu.arch.map_dsmem_ptr %to, %rank
    cute_nvgpu.arch.st_async %x, %to, %bar, %rank
    gpu.return
  }
}
END
    to_nvvm "cubin-format=bin"
    cute-link out.mlir -o k.cubin
    cute-dump k.cubin >out
    grep -q "cubin for sm_90a, 1 kernel" out
}
