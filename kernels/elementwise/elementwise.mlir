// c = a + b, (m,n), any strides. If rows are contiguous and multiples of 16 bytes, 16 bytes per thread; else element by
// element.
// -D T: type; V: elements in 16 bytes.
!any = !cute.memref<${T}, gmem, "(?,?):(?{i64},?{i64})">
!row = !cute.memref<${T}, gmem, align<16>, "(?,?{div=${V}}):(?{i64 div=${V}},1)">

gpu.module @kernels {
  gpu.func @add_rows(%a: !row, %b: !row, %c: !row) kernel {
    %i, %j = cute.tile.program<[32, ${32*V}]> %c
    %x = cute.tile.load<[32, ${32*V}]> %a[%i, %j]
    %y = cute.tile.load<[32, ${32*V}]> %b[%i, %j]
    %z = cute.tile.add %x, %y
    cute.tile.store %z, %c[%i, %j]
    gpu.return
  }

  gpu.func @add_any(%a: !any, %b: !any, %c: !any) kernel {
    %i, %j = cute.tile.program<[32, 32]> %c
    %x = cute.tile.load<[32, 32]> %a[%i, %j]
    %y = cute.tile.load<[32, 32]> %b[%i, %j]
    %z = cute.tile.add %x, %y
    cute.tile.store %z, %c[%i, %j]
    gpu.return
  }
}
// In an editor: -D T=f32 -D V=4
