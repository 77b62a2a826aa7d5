// counts(v) += the number of x(i) equal to v: a block takes SIZE elements. Values without a count are ignored.
//!param SIZE = 2048 in 1024, 2048, 4096
!X = !cute.memref<i32, gmem, "?:1">

gpu.module @kernels {
  gpu.func @histogram(%x: !X, %counts: !X) kernel {
    %i = cute.tile.program<[${SIZE}]> %x
    %v = cute.tile.load<[${SIZE}], inf> %x[%i]
    %one = arith.constant dense<1> : tensor<${SIZE}xi32>
    cute.tile.atomic<add> %one, %counts, %v
    gpu.return
  }
}
