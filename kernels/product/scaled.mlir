// D = A B^T of 8-bit floats with scales: A is (M,K) and has a scale for each row and 128 columns,
// SA (M,K/128); B is (N,K) and has one for each block of 128 x 128, SB (N/128,K/128). The sums of
// 128 terms are scaled and added in f32. -D T: f8E4M3FN or f8E5M2; TD: of D.
//!param BM = 128 in 64, 128
!A = !cute.memref<${T}, gmem, align<16>, "(?,?{div=16}):(?{i64 div=16},1)">
!S = !cute.memref<f32, gmem, "(?,?):(?{i64},1)">
!D = !cute.memref<${TD}, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!sum = tensor<${BM}x128xf32>
gpu.module @kernels {
  gpu.func @scaled(%A: !A, %B: !A, %SA: !S, %SB: !S, %D: !D) kernel {
    %i, %j = cute.tile.program<[${BM}, 128]> %D
    %n = cute.tile.count<1, 128> %A
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sum
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!sum) : i32 {
      %a = cute.tile.load<[${BM}, 128]> %A[%i, %k]
      %b = cute.tile.load<[128, 128]> %B[%j, %k]
      %u = cute.tile.load<[${BM}, 1]> %SA[%i, %k]
      %v = cute.tile.load<[1, 1]> %SB[%j, %k]
      %p = cute.tile.gemm %a, %b, %zero
      %s = cute.tile.mul %u, %v
      %t = cute.tile.fma %p, %s, %acc
      scf.yield %t : !sum
    }
    cute.tile.store %sum, %D[%i, %j]
    gpu.return
  }
}
// In an editor: -D T=f8E4M3FN -D TD=bf16
