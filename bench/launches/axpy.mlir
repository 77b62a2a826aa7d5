// y = a x + y: one launch, for the time that it takes the CPU.
!X = !cute.memref<f32, gmem, align<16>, "?{div=4}:1">
gpu.module @kernels {
  gpu.func @axpy(%x: !X, %y: !X, %a: f32) kernel {
    %i = cute.tile.program<[1024]> %y
    %u = cute.tile.load<[1024]> %x[%i]
    %v = cute.tile.load<[1024]> %y[%i]
    %r = cute.tile.fma %u, %a, %v
    cute.tile.store %r, %y[%i]
    gpu.return
  }
}
