// The gradients of layernorm.mlir: dx, and dw and db, which blocks sum over their rows and then add to dw and db. Each of BLOCKS
// blocks takes ROWS rows at a time, which it reads once.
// -D T: f32, f16 or bf16; V: elements in 16 bytes; COLS: maximum columns. Any number of rows.
//!param ROWS = 2 in 1, 2, 4, 8
//!param BLOCKS = 528 in 132, 264, 528
!X = !cute.memref<${T}, gmem, align<16>, "(?,?{div=${V}}):(?{i64 div=${V}},1)">
!W = !cute.memref<f32, gmem, align<16>, "?{div=4}:1">
!S = !cute.memref<f32, gmem, "?:1">
!sum = tensor<${ROWS}x${COLS}xf32>

gpu.module @kernels {
  gpu.func @layernorm_grad(%x: !X, %dy: !X, %w: !W, %dx: !X, %dw: !S, %db: !S, %eps: f32) kernel {
    %grid = arith.constant ${BLOCKS} : i32
    %b = cute.tile.program %grid
    %n = cute.tile.count<0, ${ROWS}> %x
    %ww = cute.tile.load<[${COLS}]> %w[0]
    %z = arith.constant dense<0.0> : !sum
    %ws, %bs = scf.for %r = %b to %n step %grid iter_args(%u = %z, %v = %z) -> (!sum, !sum) : i32 {
      %a = cute.tile.load<[${ROWS}, ${COLS}], f32> %x[%r, 0]
      %g = cute.tile.load<[${ROWS}, ${COLS}], f32> %dy[%r, 0]
      %m = cute.tile.reduce<mean, 1> %a, %x
      %var = cute.tile.reduce<variance, 1> %a, %x
      %safe = cute.tile.add %var, %eps
      %rstd = cute.tile.rsqrt %safe
      %d = cute.tile.sub %a, %m
      %k = cute.tile.mul %d, %rstd
      %dws = cute.tile.fma %g, %k, %u
      %dbs = cute.tile.add %v, %g
      // dx = (g w - mean(g w) - k mean(g w k)) rstd
      %gw = cute.tile.mul %g, %ww
      %gm = cute.tile.reduce<mean, 1> %gw, %x
      %gk = cute.tile.mul %gw, %k
      %km = cute.tile.reduce<mean, 1> %gk, %x
      %t0 = cute.tile.fma %k, %km, %gm
      %t1 = cute.tile.sub %gw, %t0
      %t = cute.tile.mul %t1, %rstd
      cute.tile.store %t, %dx[%r, 0]
      scf.yield %dws, %dbs : !sum, !sum
    }
    cute.tile.atomic<add> %ws, %dw
    cute.tile.atomic<add> %bs, %db
    gpu.return
  }
}
// In an editor: -D T=f32 -D V=4 -D COLS=1024
