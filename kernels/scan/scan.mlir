// y(i,j) = x(i,0) + ... + x(i,j): a block takes a row, COLS columns at a time, with the sum so far.
// -D T: f32 or i32. Any number of rows and columns.
//!param COLS = 1024 in 256, 512, 1024, 2048
!X = !cute.memref<${T}, gmem, "(?,?):(?{i64},1)">

gpu.module @kernels {
  gpu.func @scan(%x: !X, %y: !X) kernel {
    %rows = cute.tile.count<0, 1> %x
    %r = cute.tile.program %rows
    %n = cute.tile.count<1, ${COLS}> %x
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<${ZERO}> : tensor<1x1x${T}>
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%before = %zero) -> (tensor<1x1x${T}>) : i32 {
      %a = cute.tile.load<[1, ${COLS}]> %x[%r, %k]
      %s = cute.tile.scan<add, 1> %a
      %t = cute.tile.add %s, %before
      cute.tile.store %t, %y[%r, %k]
      %sum = cute.tile.reduce<add, 1> %a
      %now = cute.tile.add %before, %sum
      scf.yield %now : tensor<1x1x${T}>
    }
    gpu.return
  }
}
// In an editor: -D T=i32 -D ZERO=0
