// loss(i) = log sum_j exp(x(i,j)) - x(i,target(i)): a block takes a row, COLS columns at a time, with the maximum and the
// sum so far. A target outside of the row costs log sum_j exp(x(i,j)).
// -D T: f32, f16 or bf16; V: elements in 16 bytes. Any number of rows; columns up to 2^31.
//!param COLS = 4096 in 1024, 2048, 4096, 8192
!X = !cute.memref<${T}, gmem, align<16>, "(?,?{div=${V}}):(?{i64 div=${V}},1)">

gpu.module @kernels {
  gpu.func @cross_entropy(%x: !X, %target: !cute.memref<i32, gmem, "?:1">, %loss: !cute.memref<f32, gmem, "?:1">) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = cute.tile.program<[1]> %loss
    %n = cute.tile.count<1, ${COLS}> %x
    %low = arith.constant dense<-1.0e30> : tensor<1x1xf32>
    %zero = arith.constant dense<0.0> : tensor<1x1xf32>
    %m, %l = scf.for %j = %c0 to %n step %c1 iter_args(%mi = %low, %li = %zero) -> (tensor<1x1xf32>, tensor<1x1xf32>) : i32 {
      %h = cute.tile.load<[1, ${COLS}], neg_inf> %x[%r, %j]
      %a = cute.tile.cast<f32> %h
      %t = cute.tile.reduce<max, 1> %a
      %mn = cute.tile.max %mi, %t
      %d = cute.tile.sub %a, %mn
      %e = cute.tile.exp %d {fast}
      %s = cute.tile.reduce<add, 1> %e
      %dm = cute.tile.sub %mi, %mn
      %al = cute.tile.exp %dm
      %ln = cute.tile.fma %li, %al, %s
      scf.yield %mn, %ln : tensor<1x1xf32>, tensor<1x1xf32>
    }
    %t1 = cute.tile.load<[1]> %target[%r]
    %at = cute.tile.reshape<[1, 1]> %t1
    %hit = cute.tile.gather %x, %r, %at
    %hf = cute.tile.cast<f32> %hit
    %log = cute.tile.log %l
    %lse = cute.tile.add %log, %m
    %o = cute.tile.sub %lse, %hf
    %out = cute.tile.reshape<[1]> %o
    cute.tile.store %out, %loss[%r]
    gpu.return
  }
}
// In an editor: -D T=f32 -D V=4
