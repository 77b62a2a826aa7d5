// An operation with effects and without tiles is of no role alone: the consumers compute the factor themselves.
// RUN: cute-ptx -arch sm_90a --schedule="stages=2 consumers=2 factors=1" --remarks=cute-tile-fit %s -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=PTX < %t
// CHECK: remark: the schedule '{{.*}} factors=1' does not fit, its operations cannot be divided between the warpgroup of a factor and the consumers: instead '{{.*}} factors=0'
// PTX: .reqntid 384, 1, 1
// PTX: vprintf
!X = !cute.memref<bf16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!D = !cute.memref<f32, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!R = !cute.memref<f32, gmem, "?:1">
gpu.module @m {
  gpu.func @chain(%q: !X, %k: !X, %v: !X, %d: !D, %rows: !R) kernel {
    %i = cute.tile.program<[64]> %rows
    %a = cute.tile.load<[64, 128]> %q[%i, 0]
    %n = cute.tile.count<0, 64> %k
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %o0 = arith.constant dense<0.0> : tensor<64x512xf32>
    %o = scf.for %t = %c0 to %n step %c1 iter_args(%oi = %o0) -> (tensor<64x512xf32>) : i32 {
      %b = cute.tile.load<[64, 128]> %k[%t, 0]
      %w = cute.tile.load<[64, 512]> %v[%t, 0]
      %zero = arith.constant dense<0.0> : tensor<64x64xf32>
      %s = cute.tile.gemm %a, %b, %zero
      cute.print("iteration {}", %t : i32)
      %h = cute.tile.cast<bf16> %s
      %p = cute.tile.max %h, 0.0
      %wt = cute.tile.permute<[1, 0]> %w
      %o2 = cute.tile.gemm %p, %wt, %oi
      scf.yield %o2 : tensor<64x512xf32>
    }
    cute.tile.store %o, %d[%i, 0]
    gpu.return
  }
}
