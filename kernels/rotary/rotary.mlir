// Pairs of columns are turned: y(i,2j) = x(i,2j) c(i,j) - x(i,2j+1) s(i,j), y(i,2j+1) = x(i,2j) s(i,j) + x(i,2j+1) c(i,j).
// -D T: f32, f16 or bf16; V: elements in 16 bytes; HALF: pairs of a row. Any number of rows.
//!param ROWS = 16 in 8, 16, 32
!X = !cute.memref<${T}, gmem, align<16>, "(?,${2*HALF}):(?{i64 div=${V}},1)">
!C = !cute.memref<f32, gmem, align<16>, "(?,${HALF}):(?{i64 div=4},1)">

gpu.module @kernels {
  gpu.func @rotary(%x: !X, %c: !C, %s: !C, %y: !X) kernel {
    %i, %z = cute.tile.program<[${ROWS}, ${2*HALF}]> %x
    %a = cute.tile.load<[${ROWS}, ${2*HALF}], f32> %x[%i, 0]
    %cc = cute.tile.load<[${ROWS}, ${HALF}]> %c[%i, 0]
    %ss = cute.tile.load<[${ROWS}, ${HALF}]> %s[%i, 0]
    %pairs = cute.tile.reshape<[${ROWS}, ${HALF}, 2]> %a
    %even = cute.tile.pick<0, 2> %pairs
    %odd = cute.tile.pick<1, 2> %pairs
    %ec = cute.tile.mul %even, %cc
    %os = cute.tile.mul %odd, %ss
    %p = cute.tile.sub %ec, %os
    %oc = cute.tile.mul %odd, %cc
    %q = cute.tile.fma %even, %ss, %oc
    %both = cute.tile.stack %p, %q
    %b = cute.tile.reshape<[${ROWS}, ${2*HALF}]> %both
    cute.tile.store %b, %y[%i, 0]
    gpu.return
  }
}
// In an editor: -D T=f32 -D V=4 -D HALF=64
