// y(i,j) = (x(i,j) - mean_i) rstd_i w(j) + b(j): a block takes ROWS rows, which it reads once.
// -D T: f32, f16 or bf16; V: elements in 16 bytes; COLS: maximum columns. Any number of rows.
//!param ROWS = 4 in 1, 2, 4, 8
!X = !cute.memref<${T}, gmem, align<16>, "(?,?{div=${V}}):(?{i64 div=${V}},1)">
!W = !cute.memref<f32, gmem, align<16>, "?{div=4}:1">

gpu.module @kernels {
  gpu.func @layernorm(%x: !X, %w: !W, %b: !W, %y: !X, %eps: f32) kernel {
    %r, %c = cute.tile.program<[${ROWS}, ${COLS}]> %x
    %a = cute.tile.load<[${ROWS}, ${COLS}], f32> %x[%r, 0]
    %ww = cute.tile.load<[${COLS}]> %w[0]
    %bb = cute.tile.load<[${COLS}]> %b[0]
    %m = cute.tile.reduce<mean, 1> %a, %x
    %var = cute.tile.reduce<variance, 1> %a, %x
    %safe = cute.tile.add %var, %eps
    %rstd = cute.tile.rsqrt %safe
    %d = cute.tile.sub %a, %m
    %k = cute.tile.mul %d, %rstd
    %o = cute.tile.fma %k, %ww, %bb
    cute.tile.store %o, %y[%r, 0]
    gpu.return
  }
}
// In an editor: -D T=f32 -D V=4 -D COLS=1024
