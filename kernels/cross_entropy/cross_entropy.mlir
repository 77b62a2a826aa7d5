// loss(i) = log sum_j exp(x(i,j)) - x(i,target(i)): a block takes a row, COLS columns at a time, with the maximum and the
// sum so far. A target outside of the row costs log sum_j exp(x(i,j)).
// -D T: f32, f16 or bf16; V: elements in 16 bytes. Any number of rows; columns up to 2^31.
//!param COLS = 4096 in 1024, 2048, 4096, 8192
!X = !cute.memref<${T}, gmem, align<16>, "(?,?{div=${V}}):(?{i64 div=${V}},1)">
!I = !cute.memref<i32, gmem, "?:1">
!L = !cute.memref<f32, gmem, "?:1">
!one = tensor<1x1xf32>

gpu.module @kernels {
  gpu.func @cross_entropy(%x: !X, %target: !I, %loss: !L) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = cute.tile.program<[1]> %loss
    %n = cute.tile.count<1, ${COLS}> %x
    %low = arith.constant dense<-1.0e30> : !one
    %zero = arith.constant dense<0.0> : !one
    %m, %l = scf.for %j = %c0 to %n step %c1
        iter_args(%mi = %low, %li = %zero) -> (!one, !one) : i32 {
      %a = cute.tile.load<[1, ${COLS}], neg_inf, f32> %x[%r, %j]
      %t = cute.tile.reduce<max, 1> %a
      %mn = cute.tile.max %mi, %t
      %d = cute.tile.sub %a, %mn
      %e = cute.tile.exp %d {fast}
      %s = cute.tile.reduce<add, 1> %e
      %dm = cute.tile.sub %mi, %mn
      %al = cute.tile.exp %dm
      %ln = cute.tile.fma %li, %al, %s
      scf.yield %mn, %ln : !one, !one
    }
    %t1 = cute.tile.load<[1]> %target[%r]
    %at = cute.tile.reshape<[1, 1]> %t1
    %hit = cute.tile.gather<f32> %x, %r, %at
    %log = cute.tile.log %l
    %lse = cute.tile.add %log, %m
    %o = cute.tile.sub %lse, %hit
    %out = cute.tile.reshape<[1]> %o
    cute.tile.store %out, %loss[%r]
    gpu.return
  }
}
// In an editor: -D T=f32 -D V=4
