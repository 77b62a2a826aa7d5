// b(i,j) = a(i,j) for matrices (m,n) with contiguous rows, of any size and row pitch.
// -D T: type; V ALIGN: elements and bytes of an access: 16 bytes if all rows are aligned to and multiples of 16 bytes,
// else one element.
!A = !cute.memref<${T}, gmem, align<${ALIGN}>, "(?,?{div=${V}}):(?{i64 div=${V}},1)">

gpu.module @kernels {
  gpu.func @copy(%a: !A, %b: !A) kernel {
    %i, %j = cute.tile.program<[16, 256]> %b
    %x = cute.tile.load<[16, 256]> %a[%i, %j]
    cute.tile.store %x, %b[%i, %j]
    gpu.return
  }
}
// In an editor: -D T=f32 -D V=4 -D ALIGN=16
