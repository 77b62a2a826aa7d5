#!/usr/bin/env bats
# Launches whose tensors are larger than the offsets that the kernel computes in 32 bits.
bats_require_minimum_version 1.5.0

setup_file() {
    PATH="$CUTE_BIN:$PATH"
    cd "$BATS_FILE_TMPDIR"
    for width in '' '{i64}'; do
        cat > "k${width:+64}.mlir" <<MLIR
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%x: !cute.memref<i8, gmem, "(?,?):(?$width,1)">, %i: i32) kernel {
      %v = cute.load %x[%i, 0]
      cute.store %v, %x[%i, 1]
      gpu.return
    }
  }
  func.func @main(%x: !cute.memref<i8, gmem, "(?,?):(?$width,1)">, %i: i32) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : !cute.memref<i8, gmem, "(?,?):(?$width,1)">, %i : i32)
    return
  }
}
MLIR
        cute-ptx -arch sm_80 "k${width:+64}.mlir" -o "k${width:+64}.ptx"
    done
    echo '{"kernel": "k", "grid": 1, "block": 1, "args": ["x", 3], "buffers": {"x": {"dtype": "i8", "shape": [4, 8], "strides": [1073741824, 1]}}}' > far.json
    sed 's/1073741824/715827880/' far.json > near.json
    echo '{"plan": "main", "args": {"x": "x", "i": 3}, "buffers": {"x": {"dtype": "i8", "shape": [4, 8], "strides": [1073741824, 1]}}}' > plan.json
}
setup() {
    PATH="$CUTE_BIN:$PATH"
    cd "$BATS_FILE_TMPDIR"
}

@test "a tensor that passes 2^31 elements is refused where the kernel computes offsets in 32 bits" {
    run -1 cute-run --dry-run -d emulator k.ptx -c far.json
    [[ "$output" == *"expected the last element of buffer 'x' less than 2147483648 elements from the first for argument 0 (x), got 3221225479"* ]]
    [[ "$output" == *"fix: declare the strides as ?{i64}, or the extents if the strides are static: the kernel uses 32-bit offsets"* ]]
    # 3 * 715827880 + 7 is 2147483647, the last that fits
    run -0 cute-run --dry-run -d emulator k.ptx -c near.json
}

@test "a host function that launches with such a tensor is refused too" {
    run -1 cute-run --dry-run -d emulator k.ptx -c plan.json
    [[ "$output" == *"host function 'main' launches 'k': expected the last element of argument 0 (x) less than 2147483648 elements from the first, got 3221225479"* ]]
}

@test "strides declared as 64 bits take tensors of any size" {
    run -0 cute-run --dry-run -d emulator k64.ptx -c far.json
    run -0 cute-run --dry-run -d emulator k64.ptx -c plan.json
}
