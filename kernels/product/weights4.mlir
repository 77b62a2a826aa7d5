// D = A (W * S)^T for few rows of A: A is (M,K), W (N,K) of i4, S (K/128,N) scales of 128 of K, D (M,N), all of f16 but W. Bound by the
// bytes of W: blocks of a cluster (split), and groups of a block's warps (slices), share the K of a tile of BN columns, so that all
// multiprocessors load, and add up their sums.
//
// The order of K is the same for A and W, but not that in memory: each thread multiplies 32 adjacent elements of a row, a load of 16
// bytes of W. Of k = 32 t + 8 s + 4 b + 2 q + h, step 2 s + q of the MMA has k = 8 h + 2 t + b: the halves h of a byte go to different
// registers, bytes b that are two apart to one, so that a mask converts both.
//!param BN = 64 in 64, 128
//!param SPLIT = 2 in 1, 2, 4, 8
//!param SLICES = 1 in 1, 2, 4
//!param STAGES = 5 in 3, 4, 5, 6, 8
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=32}):(?{i64 div=32},1)">
!W = !cute.memref<i4, gmem, align<16>, "(?,?{div=32}):(?{i64 div=32},1)">
!S = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!tile = tensor<16x${BN}xf32>
gpu.module @kernels {
  gpu.func @weights4(%A: !A, %W: !W, %S: !S, %D: !S) kernel
      attributes {cute.schedule = "stages=${STAGES} consumers=0 split=${SPLIT} slices=${SLICES}"} {
    %i, %j = cute.tile.program<[16, ${BN}]> %D
    %steps = cute.tile.count<1, 128> %A
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !tile
    %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %zero) -> (!tile) : i32 {
      %a = cute.tile.load<[16, 128]> %A[%i, %k]
      %q = cute.tile.load<[${BN}, 128]> %W[%j, %k]
      %s = cute.tile.load<[1, ${BN}]> %S[%k, %j]
      %w = cute.tile.cast<f16> %q
      %a1 = cute.tile.reshape<[16, 4, 4, 2, 2, 2]> %a
      %a2 = cute.tile.permute<[0, 2, 4, 5, 1, 3]> %a1
      %a3 = cute.tile.reshape<[16, 128]> %a2
      %w1 = cute.tile.reshape<[${BN}, 4, 4, 2, 2, 2]> %w
      %w2 = cute.tile.permute<[0, 2, 4, 5, 1, 3]> %w1
      %w3 = cute.tile.reshape<[${BN}, 128]> %w2
      %d = cute.tile.gemm %a3, %w3, %zero
      %f = cute.tile.cast<f32> %s
      %next = cute.tile.fma %d, %f, %acc
      scf.yield %next : !tile
    }
    %d = cute.tile.cast<f16> %sum
    cute.tile.store %d, %D[%i, %j]
    gpu.return
  }
}
