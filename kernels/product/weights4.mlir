// D = A (W * S)^T for few rows of A: A is (M,K), W (N,K) of i4, S (K/128,N) scales of 128 of K, D (M,N), all of f16 but W. Bound by the
// bytes of W: SPLIT blocks share the K of a tile of BN columns, so that all multiprocessors load, and a second kernel adds up their sums.
//
// The order of K is the same for A and W, but not that in memory: each thread multiplies 32 adjacent elements of a row, a load of 16
// bytes of W. Of k = 32 t + 8 s + 4 b + 2 q + h, step 2 s + q of the MMA has k = 8 h + 2 t + b: the halves h of a byte go to different
// registers, bytes b that are two apart to one, so that a mask converts both.
//!param BN = 128 in 64, 128
//!param SPLIT = 4 in 1, 2, 4, 8, 16
//!param STAGES = 5 in 3, 4, 5, 6, 8
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=32}):(?{i64 div=32},1)">
!W = !cute.memref<i4, gmem, align<16>, "(?,?{div=32}):(?{i64 div=32},1)">
!S = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!sums = !cute.memref<f32, gmem, align<256>, "(${SPLIT},?,?{div=8}):(?{i64 div=8},?{i64 div=8},1)">
!tile = tensor<16x${BN}xf32>
gpu.module @kernels {
  gpu.func @partial(%A: !A, %W: !W, %S: !S, %sums: !sums) kernel attributes {cute.schedule = "stages=${STAGES} consumers=0"} {
    %z, %i, %j = cute.tile.program<[1, 16, ${BN}]> %sums
    %steps = cute.tile.count<1, 128> %A
    %c1 = arith.constant 1 : i32
    %split = arith.constant ${SPLIT} : i32
    %each = arith.ceildivui %steps, %split : i32
    %low = arith.muli %z, %each : i32
    %end = arith.addi %low, %each : i32
    %high = arith.minui %end, %steps : i32
    %zero = arith.constant dense<0.0> : !tile
    %sum = scf.for %k = %low to %high step %c1 iter_args(%acc = %zero) -> (!tile) : i32 {
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
    %o = cute.tile.reshape<[1, 16, ${BN}]> %sum
    cute.tile.store %o, %sums[%z, %i, %j]
    gpu.return
  }

  gpu.func @total(%sums: !sums, %D: !S) kernel {
    %i, %j = cute.tile.program<[16, 64]> %D
    %p = cute.tile.load<[${SPLIT}, 16, 64]> %sums[0, %i, %j]
    %s = cute.tile.reduce<add, 0> %p
    %h = cute.tile.cast<f16> %s
    %o = cute.tile.reshape<[16, 64]> %h
    cute.tile.store %o, %D[%i, %j]
    gpu.return
  }
}

func.func private @partial(!A, !W, !S, !sums)
func.func private @total(!sums, !S)
func.func @weights4(%A: !A, %W: !W, %S: !S, %D: !S) {
  %shape = cute.shape %D
  %m, %n = cute.get_scalars %shape
  %columns = cute.assume %n : i32 -> !cute.i32<divby 8>
  %rows = arith.extui %n : i32 to i64
  %row = cute.assume %rows : i64 -> !cute.i64<divby 8>
  %m64 = arith.extui %m : i32 to i64
  %all = arith.muli %rows, %m64 : i64
  %part = cute.assume %all : i64 -> !cute.i64<divby 8>
  %layout = cute.make_layout((${SPLIT}, %m, %columns), (%part, %row, 1))
  %sums = cute.temporary %layout : !sums
  func.call @partial(%A, %W, %S, %sums) : (!A, !W, !S, !sums) -> ()
  func.call @total(%sums, %D) : (!sums, !S) -> ()
  return
}
