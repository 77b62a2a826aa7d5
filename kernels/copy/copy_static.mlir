// b(i,j) = a(i,j) with static shapes and strides, which fold into the code: -D M N LDA LDB, in elements.
!A = !cute.memref<f32, gmem, align<16>, "(${M},${N}):(${LDA},1)">
!B = !cute.memref<f32, gmem, align<16>, "(${M},${N}):(${LDB},1)">

gpu.module @kernels {
  gpu.func @copy_static(%a: !A, %b: !B) kernel {
    %i, %j = cute.tile.program<[16, 256]> %b
    %x = cute.tile.load<[16, 256]> %a[%i, %j]
    cute.tile.store %x, %b[%i, %j]
    gpu.return
  }
}
// In an editor: -D M=1021 -D N=1004 -D LDA=1008 -D LDB=1024
