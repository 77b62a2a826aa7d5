# Who makes the PTX: LLVM's back end or libNVVM.

setup() {
    PATH=$CUTE_BIN:$PATH
    ROOT=$BATS_TEST_DIRNAME/../..
    unset ARCH CUTE_CACHE
    cd "$BATS_TEST_TMPDIR"
}

@test "both back ends make code for sm_100a that ptxas takes and the emulator computes the same with" {
    for backend in llvm libnvvm; do
        cute-ptx --backend=$backend -arch sm_100a "$ROOT/kernels/vector_add/vector_add.mlir" -o $backend.ptx
        grep -q '^\.target sm_100a' $backend.ptx
        cute-link $backend.ptx -o $backend.cubin
        # The emulator is an sm_90a device, and nothing else in the text is of another.
        sed 's/^\.target sm_100a/.target sm_90a/' $backend.ptx >as_90a.ptx
        run cute-run as_90a.ptx -c "$ROOT/kernels/vector_add/launch.json" -D n=5001 -d emulator
        [ "$status" -eq 0 ]
        [[ "$output" == *"check c: passed, 5001 elements"* ]]
    done
    ! cmp -s llvm.ptx libnvvm.ptx
    # Without the option it is libNVVM.
    cute-ptx -arch sm_100a "$ROOT/kernels/vector_add/vector_add.mlir" | cmp - libnvvm.ptx
}

@test "libNVVM makes code for architectures before sm_100 that ptxas takes and the emulator computes the same with" {
    for arch in sm_80 sm_89 sm_90 sm_90a; do
        cute-ptx --backend=libnvvm -arch $arch "$ROOT/kernels/vector_add/vector_add.mlir" -o $arch.ptx
        grep -q "^\.target $arch" $arch.ptx
        cute-link $arch.ptx -o $arch.cubin
        cute-run $arch.ptx -c "$ROOT/kernels/vector_add/launch.json" -D n=5001 -d emulator | grep "check c: passed, 5001 elements"
    done
    # wgmma of sm_90a is inline PTX for libNVVM too
    cute-ptx --backend=libnvvm -arch sm_90a "$ROOT/tests/tensors/warpgroup_mma.mlir" -o w.ptx
    grep -q wgmma.mma_async w.ptx
    cute-link w.ptx -o w.cubin
}

@test "LLVM's PTX for architectures that it does not know links for each of them" {
    for arch in sm_100 sm_100f sm_103a sm_110a sm_120 sm_120f sm_121a; do
        cute-ptx --backend=llvm -arch $arch "$ROOT/kernels/vector_add/vector_add.mlir" | cute-link -o $arch.cubin
        run cute-dump show $arch.cubin
        [[ "${lines[0]}" == "$arch.cubin: cubin for $arch, 1 kernel" ]]
    done
}

@test "tensor cores and asynchronous copies of sm_80 go through LLVM for sm_120" {
    defines=$(sed -n 's/^gemm_sm80 *[^ ]*\/gemm_sm80.mlir *//p' "$ROOT/kernels/kernels.txt" | head -1)
    args=()
    for d in $defines; do args+=(-D "$d"); done
    cute-ptx --backend=llvm -arch sm_120 "${args[@]}" "$ROOT/bench/schedules/hand/gemm_sm80/gemm_sm80.mlir" | cute-link -o g.cubin
    run cute-dump histogram g.cubin
    [[ "$output" == *HMMA* ]]
}

@test "named barriers of some threads go through both back ends, with the lines of the source" {
    cat >k.mlir <<'MLIR'
gpu.module @m {
  memref.global "private" @tile : memref<64xi32, 3>
  gpu.func @k(%o: memref<64xi32>) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c64 = arith.constant 64 : index
    %c63 = arith.constant 63 : index
    %id = arith.constant 1 : i32
    %n = arith.constant 64 : i32
    %tile = memref.get_global @tile : memref<64xi32, 3>
    %few = arith.cmpi ult, %t, %c64 : index
    scf.if %few {
      %v = arith.index_cast %t : index to i32
      memref.store %v, %tile[%t] : memref<64xi32, 3>
      nvvm.barrier_wait id = %id number_of_threads = %n
      %other = arith.subi %c63, %t : index
      %w = memref.load %tile[%other] : memref<64xi32, 3>
      memref.store %w, %o[%t] : memref<64xi32>
    }
    gpu.return
  }
}
MLIR
    echo '{"kernel": "k", "grid": 1, "block": 128, "buffers": {"o": {"dtype": "i32", "shape": [64]}}, "args": [{"memref": "o"}],
           "check": {"o": "63-i"}}' >launch.json
    for backend in llvm libnvvm; do
        cute-ptx -lineinfo --backend=$backend -arch sm_100a k.mlir -o $backend.ptx
        cute-link -lineinfo $backend.ptx -o $backend.cubin
        cute-dump lines $backend.cubin --at=k.mlir:14 | grep -q 'BAR.SYNC.*0x1, 0x40'
        [ "$(cute-dump --json $backend.cubin | jq '.kernels[0].resources.barriers')" -eq 2 ]
        sed 's/^\.target sm_100a/.target sm_90a/' $backend.ptx >as_90a.ptx
        cute-run as_90a.ptx -c launch.json -d emulator --check=all >out
        grep -q 'check o: passed' out
    done
}
