// y(i,j) = (x(i,j) - mean_i) rstd_i w(j) + b(j), and its gradients: dx, and dw and db summed over the rows of a block, which adds
// them to what is there. A block takes ROWS rows, which it reads once.
// -D T: f32, f16 or bf16; V: elements in 16 bytes; COLS: maximum columns. Any number of rows.
//!param ROWS = 4 in 1, 2, 4, 8
!X = !cute.memref<${T}, gmem, align<16>, "(?,?{div=${V}}):(?{i64 div=${V}},1)">
!W = !cute.memref<f32, gmem, align<16>, "?{div=4}:1">
!S = !cute.memref<f32, gmem, "?:1">

gpu.module @kernels {
  gpu.func @layernorm(%x: !X, %w: !W, %b: !W, %y: !X, %eps: f32) kernel {
    %r, %c = cute.tile.program<[${ROWS}, ${COLS}]> %x
    %h = cute.tile.load<[${ROWS}, ${COLS}]> %x[%r, 0]
    %ww = cute.tile.load<[${COLS}]> %w[0]
    %bb = cute.tile.load<[${COLS}]> %b[0]
    %a = cute.tile.cast<f32> %h
    %n = cute.tile.count<1, 1> %x
    %nf = arith.sitofp %n : i32 to f32
    %s = cute.tile.reduce<add, 1> %a
    %m = cute.tile.div %s, %nf
    %d0 = cute.tile.sub %a, %m
    %j = cute.tile.iota<[${COLS}], 0>
    %in = cute.tile.lt %j, %n
    %d = cute.tile.where %in, %d0, 0.0
    %q = cute.tile.mul %d, %d
    %v = cute.tile.reduce<add, 1> %q
    %var = cute.tile.div %v, %nf
    %safe = cute.tile.add %var, %eps
    %rstd = cute.tile.rsqrt %safe
    %k = cute.tile.mul %d, %rstd
    %o = cute.tile.fma %k, %ww, %bb
    %z = cute.tile.cast<${T}> %o
    cute.tile.store %z, %y[%r, 0]
    gpu.return
  }

  gpu.func @layernorm_backward(%x: !X, %dy: !X, %w: !W, %dx: !X, %dw: !S, %db: !S, %eps: f32) kernel {
    %r, %c = cute.tile.program<[${ROWS}, ${COLS}]> %x
    %xh = cute.tile.load<[${ROWS}, ${COLS}]> %x[%r, 0]
    %gh = cute.tile.load<[${ROWS}, ${COLS}]> %dy[%r, 0]
    %ww = cute.tile.load<[${COLS}]> %w[0]
    %a = cute.tile.cast<f32> %xh
    %g = cute.tile.cast<f32> %gh
    %n = cute.tile.count<1, 1> %x
    %nf = arith.sitofp %n : i32 to f32
    %s = cute.tile.reduce<add, 1> %a
    %m = cute.tile.div %s, %nf
    %d0 = cute.tile.sub %a, %m
    %j = cute.tile.iota<[${COLS}], 0>
    %in = cute.tile.lt %j, %n
    %d = cute.tile.where %in, %d0, 0.0
    %q = cute.tile.mul %d, %d
    %v = cute.tile.reduce<add, 1> %q
    %var = cute.tile.div %v, %nf
    %safe = cute.tile.add %var, %eps
    %rstd = cute.tile.rsqrt %safe
    %k = cute.tile.mul %d, %rstd
    // dx = (g w - mean(g w) - k mean(g w k)) rstd
    %gw = cute.tile.mul %g, %ww
    %gs = cute.tile.reduce<add, 1> %gw
    %gm = cute.tile.div %gs, %nf
    %gk = cute.tile.mul %gw, %k
    %ks = cute.tile.reduce<add, 1> %gk
    %km = cute.tile.div %ks, %nf
    %t0 = cute.tile.sub %gw, %gm
    %t1 = cute.tile.mul %k, %km
    %t2 = cute.tile.sub %t0, %t1
    %t = cute.tile.mul %t2, %rstd
    %z = cute.tile.cast<${T}> %t
    cute.tile.store %z, %dx[%r, 0]
    %gx = cute.tile.mul %g, %k
    %ws = cute.tile.reduce<add, 0> %gx
    %bs = cute.tile.reduce<add, 0> %g
    cute.tile.atomic<add> %ws, %dw, %j
    cute.tile.atomic<add> %bs, %db, %j
    gpu.return
  }
}
// In an editor: -D T=f32 -D V=4 -D COLS=1024
