// out(i,j) = exp(x(i,j) - max_i) / sum_j exp(x(i,j) - max_i): a block takes a row, which it reads once.
// -D T: f32, f16 or bf16; V: elements of an access of BITS bits; COLS: maximum columns. Any number of rows.
!X = !cute.memref<${T}, gmem, align<${BITS/8}>, "(?,?{div=${V}}):(?{i64 div=${V}},1)">

gpu.module @kernels {
  gpu.func @softmax(%x: !X, %out: !X) kernel {
    %r, %c = cute.tile.program<[1, ${COLS}]> %x
    %a = cute.tile.load<[1, ${COLS}], neg_inf, f32> %x[%r, 0]
    %m = cute.tile.reduce<max, 1> %a
    %d = cute.tile.sub %a, %m
    %e = cute.tile.exp %d {fast}
    %s = cute.tile.reduce<add, 1> %e
    %p = cute.tile.div %e, %s {fast}
    cute.tile.store %p, %out[%r, 0]
    gpu.return
  }
}
// In an editor: -D T=f32 -D V=4 -D BITS=128 -D COLS=8192
