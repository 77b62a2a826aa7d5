#!/usr/bin/env bats
# Bugs of asynchronous kernels are refused at compile time, and clean kernels are not.
bats_require_minimum_version 1.5.0

@test "planted bugs are told by the right check at the right line, and nothing is said of clean kernels" {
    run "$BATS_TEST_DIRNAME/../static-checks/run" "$CUTE_BIN"
    [ "$status" -eq 0 ] || { grep -v '^ok' <<<"$output"; false; }
    [ "$(grep -c '^ok' <<<"$output")" -ge 80 ]
}

@test "cute-ptx refuses a planted bug, warns of it, or lets it pass, as --static-checks says" {
    sed 's/%bytes = arith.constant 16384/%bytes = arith.constant 8192/' \
        "$BATS_TEST_DIRNAME/../static-checks/pipelined.mlir" > "$BATS_TEST_TMPDIR/bug.mlir"
    run "$CUTE_BIN/cute-ptx" -arch sm_90a "$BATS_TEST_TMPDIR/bug.mlir"
    [ "$status" -eq 1 ]
    [[ "$output" == *"error: 'cute_nvgpu.arch.mbarrier_arrive_and_expect_tx' op expects 8192 bytes, but the copies that complete in the phase transfer 16384: expected 16384 [expect-tx]"* ]]
    run "$CUTE_BIN/cute-ptx" -arch sm_90a --static-checks=warn "$BATS_TEST_TMPDIR/bug.mlir"
    [[ "$output" == *"warning: "*"[expect-tx]"* ]]
    run "$CUTE_BIN/cute-ptx" -arch sm_90a --static-checks=off "$BATS_TEST_TMPDIR/bug.mlir"
    [[ "$output" != *"expect-tx"* ]]
    run "$CUTE_BIN/cute-ptx" -arch sm_90a --static-checks=some "$BATS_TEST_TMPDIR/bug.mlir"
    [ "$status" -eq 2 ]
    [[ "$output" == *"--static-checks expects 'on' or 'warn' or 'strict' or 'off', got 'some'"* ]]
}

@test "random changes of asynchronous kernels crash and hang neither the checks nor the emulator" {
    run "$BATS_TEST_DIRNAME/../static-checks/mutate" "$CUTE_BIN" --count 24 --seed 1 --orders 2
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(sed -n 's/^ *\([0-9]*\) both$/\1/p' <<<"$output")" -ge 3 ]
}

@test "memory that a store staged and threads wrote again since is read with their swizzle" {
    cd "$BATS_TEST_TMPDIR"
    cat >k.mlir <<'END'
gpu.module @kernels {
  gpu.func @k(%a: !cute.memref<bf16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">,
              %b: !cute.memref<bf16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">,
              %c: !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">) kernel
      attributes {cute.schedule = "stages=1 cluster=1x1 persistent=1"} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %steps = cute.tile.count<0, 32> %a
    %i, %j = cute.tile.program<[128, 96]> %c
    %start = arith.constant dense<0.0> : tensor<128x96xf32>
    %sum = scf.for %k = %zero to %steps step %one iter_args(%s = %start) -> (tensor<128x96xf32>) : i32 {
      %at = cute.tile.load<[32, 128]> %a[%k, %i]
      %left = cute.tile.permute<[1, 0]> %at
      %right = cute.tile.load<[96, 32]> %b[%j, %k]
      %next = cute.tile.gemm %left, %right, %s
      scf.yield %next : tensor<128x96xf32>
    }
    cute.tile.store %sum, %c[%i, %j]
    gpu.return
  }
}
END
    run "$CUTE_BIN/cute-ptx" -arch sm_90a --static-checks=strict k.mlir -o k.ptx
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    grep -q wgmma.mma_async k.ptx
}
