// out(i,j) = x(i,j) / sqrt(mean_j x(i,j)^2 + eps) * weight(0,j): a block takes a row, which it reads once.
// -D T: f32, f16 or bf16; V: elements of an access of BITS bits; COLS: maximum columns. Any number of rows.
!X = !cute.memref<${T}, gmem, align<${BITS/8}>, "(?,?{div=${V}}):(?{i64 div=${V}},1)">

gpu.module @kernels {
  gpu.func @rmsnorm(%x: !X, %weight: !X, %out: !X, %eps: f32) kernel {
    %r, %c = cute.tile.program<[1, ${COLS}]> %x
    %a = cute.tile.load<[1, ${COLS}], f32> %x[%r, 0]
    %w = cute.tile.load<[1, ${COLS}], f32> %weight[0, 0]
    %q = cute.tile.mul %a, %a
    %mean = cute.tile.reduce<mean, 1> %q, %x
    %safe = cute.tile.add %mean, %eps
    %scale = cute.tile.rsqrt %safe
    %y = cute.tile.mul %a, %scale
    %z = cute.tile.mul %y, %w
    cute.tile.store %z, %out[%r, 0]
    gpu.return
  }
}
// In an editor: -D T=f32 -D V=4 -D BITS=128 -D COLS=8192
