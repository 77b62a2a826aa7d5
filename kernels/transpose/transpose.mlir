// b(j,i) = a(i,j): a is (M,N), b is (N,M), both row-major, with any M, N and row pitch.
// -D T: type; V ALIGN: elements and bytes of an access: 16 bytes if all rows are aligned to and multiples of 16 bytes,
// else one element; TM TN: the tile of a block.
!A = !cute.memref<${T}, gmem, align<${ALIGN}>, "(?{div=${V}},?{div=${V}}):(?{i64 div=${V}},1)">

gpu.module @kernels {
  gpu.func @transpose(%a: !A, %b: !A) kernel {
    %i, %j = cute.tile.program<[${TM}, ${TN}]> %a
    %x = cute.tile.load<[${TM}, ${TN}]> %a[%i, %j]
    %t = cute.tile.permute<[1, 0]> %x
    cute.tile.store %t, %b[%j, %i]
    gpu.return
  }
}
// In an editor: -D T=f32 -D V=4 -D ALIGN=16 -D TM=64 -D TN=64
