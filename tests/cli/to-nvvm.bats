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

@test "each cubin-format is linked, shown, taken out of the gpu.binary and run, with the kernel's names" {
    for format in isa bin fatbin; do
        to_nvvm "cubin-format=$format"
        cute-opt --emit-bytecode out.mlir -o out.bc
        cute-link out.mlir -o linked.cubin
        cute-link --extract=all out.mlir -o taken
        for module in linked.cubin taken out.mlir out.bc; do
            cute-dump "$module" >shown
            grep -q "1 kernel" shown
            grep -q "^sum " shown || [ "$format.$module" = isa.taken ]
            grep -q "argument  *kind  *type" shown
            cute-run -d emulator --check=all "$module" -c launch.json >out || { echo "$format $module"; false; }
            grep -q "check Y: passed" out
        done
    done
}

@test "cubin-chip is any architecture that there is" {
    for chip in sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_100a sm_101 sm_103 sm_110 sm_120 sm_121; do
        for format in isa bin fatbin; do
            cute-opt k.mlir --pass-pipeline="builtin.module(cute-to-nvvm{cubin-chip=$chip cubin-format=$format})" -o out.mlir
            grep -q "chip = \"${chip/101/110}\"" out.mlir
            [ $format != bin ] || cute-link out.mlir -o k.cubin
        done
        [ "$(cute-dump --json k.cubin | jq -r .arch)" = ${chip/101/110} ]
    done
    # bitcode is LLVM's own
    cute-opt k.mlir --pass-pipeline='builtin.module(cute-to-nvvm{cubin-chip=sm_100a})' >lowered.mlir
    run cute-opt lowered.mlir --emit-gpu-binary=compilation-target=llvm
    [ "$status" -eq 1 ]
    [[ "$output" == *"emit-gpu-binary expects an architecture of LLVM 19, got 'sm_100a'"* ]]
}

@test "what is wrong in a gpu.binary's code has its line, its note and exit code 1" {
    cat >big.mlir <<'END'
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  llvm.mlir.global internal @tile() {addr_space = 3 : i32} : !llvm.array<65536 x i32>
  llvm.func @k(%o: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %x = llvm.load volatile %tile : !llvm.ptr<3> -> i32
    llvm.store %x, %o : i32, !llvm.ptr<1>
    llvm.return
  }
}
END
    run cute-opt big.mlir --emit-gpu-binary=compilation-target=bin
    [ "$status" -eq 1 ]
    [[ "$output" == *"m.ptx:"*"uses too much shared data"*"use dynamic shared memory"* ]]
    run cute-opt big.mlir --emit-gpu-binary="compilation-target=fatbin lineinfo=true"
    [ "$status" -eq 1 ]
    [[ "$output" == *"big.mlir:3:1: error: "*"uses too much shared data"*"note: in the generated PTX"* ]]
    sed 's/llvm.store .*/"nvvm.made.up"() : () -> ()/' big.mlir >bad.mlir
    run cute-opt bad.mlir --emit-gpu-binary
    [ "$status" -eq 1 ]
    [[ "$output" == *"bad.mlir:6:5: error: 'nvvm.made.up' is not an operation of the dialect nvvm"* ]]
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
    [[ "$output" == *"error: emit-gpu-binary expects the root of a CUDA toolkit, got '/nowhere'"* ]]
    mkdir -p empty
    run to_nvvm "cubin-format=bin toolkitPath=$PWD/empty"
    [ "$status" -eq 1 ]
    [[ "$output" == *"empty', which has no bin/ptxas"* ]]
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

@test "cute-dump run keeps assertions and passes tensor maps by pointer; -arch and the assertions have other names too" {
    cute-dump run --enable-device-assertions k.mlir -o asserted
    grep -q assertfail asserted/*.ptx
    cute-dump run k.mlir -o plain
    [ "$(grep -c assertfail plain/*.ptx)" -eq 0 ]
    cute-ptx --gpu-arch=sm_90 --enable-device-assertions k.mlir | cute-link --gpu-arch sm_90 -o k.cubin
    cute-dump k.cubin >out
    grep -q "cubin for sm_90, 1 kernel" out
    run cute-run -d emulator k.cubin -c launch.json
    [[ "$output" == *"assertion 'a negative number' failed"* ]]
    cat >map.mlir <<'END'
gpu.module @m {
  memref.global "private" @tile : memref<64x64xf16, 3> {alignment = 1024}
  gpu.func @box(%map: !cute_nvgpu.tma_load<64x64xf16, 128B>, %o: memref<64x64xf16>) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %ticks = arith.constant 1000000 : index
    %even = arith.constant false
    %smem = memref.get_global @tile : memref<64x64xf16, 3>
    %barrier = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      nvgpu.mbarrier.init %barrier[%c0], %c1 : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
    }
    gpu.barrier
    scf.if %first {
      %bytes = arith.constant 8192 : index
      nvgpu.mbarrier.arrive.expect_tx %barrier[%c0], %bytes : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
      cute_nvgpu.tma_load_execute %map, %smem, %barrier
    }
    nvgpu.mbarrier.try_wait.parity %barrier[%c0], %even, %ticks : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
    scf.for %i = %c0 to %c64 step %c1 {
      %x = memref.load %smem[%t, %i] : memref<64x64xf16, 3>
      memref.store %x, %o[%t, %i] : memref<64x64xf16>
    }
    gpu.return
  }
}
END
    cute-dump run map.mlir -o by-value
    grep -q 'param .align 64 .b8 box_param_0\[128\]' by-value/*.ptx
    cute-dump run --tensor-map=memory map.mlir -o by-pointer
    [ "$(grep -c 'box_param_0\[128\]' by-pointer/*.ptx)" -eq 0 ]
    # What cute-run --template says of the map is what the kernel wants; another swizzle is refused.
    cute-run --template by-value/*.ptx | jq '.grid = 1' >map.json
    [ "$(jq -c '.args[0].tensor_map | [.box, .swizzle]' map.json)" = '[[64,64],"128B"]' ]
    cute-run -d emulator --no-bench by-value/*.ptx -c map.json
    jq '.args[0].tensor_map.swizzle = "none"' map.json >other.json
    run cute-run -d emulator by-value/*.ptx -c other.json
    [ "$status" -eq 1 ]
    [[ "$output" == *"expected swizzle 128B, as compiled into the kernel, got none"* ]]
}
