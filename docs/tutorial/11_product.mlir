!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!C = !cute.memref<f32, gmem, "(?,?):(?{i64},1)">
gpu.module @kernels {
  gpu.func @product(%a: !A, %b: !A, %c: !C) kernel {
    %i, %j = cute.tile.program<[64, 64]> %c
    %n = cute.tile.count<1, 32> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %x = cute.tile.load<[64, 32]> %a[%i, %k]
      %y = cute.tile.load<[64, 32]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : tensor<64x64xf32>
    }
    cute.tile.store %sum, %c[%i, %j]
    gpu.return
  }
}
