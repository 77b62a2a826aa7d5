# The pipeline of nine passes, as pages have it: its text is that of tests/lit/passes/Inputs/nine.txt.

setup() {
    PATH=$CUTE_BIN:$PATH
    ROOT=$BATS_TEST_DIRNAME/../..
    NINE=$(cat "$ROOT/tests/lit/passes/Inputs/nine.txt")
    cd "$BATS_TEST_TMPDIR"
}

# lower FILE: through the nine passes, and to PTX.
lower() {
    cute-opt --pass-pipeline="$NINE" "$1" -o nine.mlir 2>layouts
    cute-ptx nine.mlir -o nine.ptx
}

# A product by a loop with an index; @product is a func.func, and what makes it a kernel is an attribute.
write_product() {
    cat >product.mlir <<'END'
func.func @product(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) attributes {gpu.kernel} {
  %i = gpu.thread_id x
  %j = gpu.block_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %z = arith.constant 0.0 : f32
  %s = scf.for %k = %c0 to %c64 step %c1 iter_args(%acc = %z) -> (f32) {
    %a = memref.load %A[%j,%k] : memref<64x64xf16>
    %b = memref.load %B[%k,%i] : memref<64x64xf16>
    %ae = arith.extf %a : f16 to f32
    %be = arith.extf %b : f16 to f32
    %p = math.fma %ae, %be, %acc : f32
    scf.yield %p : f32
  }
  memref.store %s, %C[%j,%i] : memref<64x64xf32>
  return
}
END
    cat >product.json <<'END'
{"grid":64,"block":64,"buffers":{"A":{"dtype":"f16","shape":[64,64],"init":"normal"},"B":{"dtype":"f16","shape":[64,64],"init":"normal"},
 "C":{"dtype":"f32","shape":[64,64]}},"args":["A","B","C"],"check":{"C":{"expr":"sum(k,A[i,k]*B[k,j])","rtol":1e-4,"atol":1e-4}}}
END
}

@test "a kernel with a loop over an index, and memrefs by the names that the source gave, runs" {
    write_product
    lower product.mlir
    grep -q '^.visible .entry product(' nine.ptx
    cute-run --device emulator --config product.json nine.ptx >out
    grep -q 'check C: passed' out
    sed -i 's/"args":\["A","B","C"\]/"args":[{"memref":"A"},{"memref":"B"},{"memref":"C"}]/' product.json
    cute-run --device emulator --config product.json nine.ptx >out
    grep -q 'check C: passed' out
    sed -i 's/"A":{"dtype":"f16","shape":\[64,64\]/"A":{"dtype":"f16","shape":[32,64]/' product.json
    run -1 cute-run --device emulator --config product.json nine.ptx
    [[ $output == *"expected 64 elements in dimension 0 of argument 0 (A)"* ]]
}

@test "so does one whose loops became branches before the conversion, and one that is nested in the text" {
    write_product
    NINE=${NINE/gpu-kernel-outlining,/gpu-kernel-outlining, convert-scf-to-cf,}
    lower product.mlir
    cute-run --device emulator --config product.json nine.ptx | grep -q 'check C: passed'
    NINE='builtin.module(cute-to-standard,gpu.module(convert-gpu-to-nvvm),gpu-to-llvm,reconcile-unrealized-casts)'
    lower product.mlir
    cute-run --device emulator --config product.json nine.ptx | grep -q 'check C: passed'
}

@test "a kernel with TMA, whose tensor maps a launch makes, runs" {
    lower "$ROOT/tests/tensors/warpgroup_mma.mlir"
    cat >gemm.json <<'END'
{"kernel":"gemm","grid":[2,1,1],"block":128,"dynamic_smem":49184,"buffers":{"A":{"dtype":"f16","shape":[128,128],"init":"normal"},
 "B":{"dtype":"f16","shape":[128,128],"init":"normal"},"C":{"dtype":"f32","shape":[128,128]}},"args":["A","B","C"],
 "check":{"C":{"expr":"sum(q,A[i,q]*B[j,q])","rtol":1e-2,"atol":1e-2}}}
END
    cute-run --device emulator --check=all --config gemm.json nine.ptx >out
    grep -q 'check C: passed' out
}
