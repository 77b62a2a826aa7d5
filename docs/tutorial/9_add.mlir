//!param N = 1024 in 512, 1024, 2048
!V = !cute.memref<f32, gmem, align<16>, "?{div=4}:1">
gpu.module @kernels {
  gpu.func @add(%x: !V, %y: !V, %z: !V) kernel {
    %i = cute.tile.program<[${N}]> %z
    %a = cute.tile.load<[${N}]> %x[%i]
    %b = cute.tile.load<[${N}]> %y[%i]
    %c = cute.tile.add %a, %b
    cute.tile.store %c, %z[%i]
    gpu.return
  }
}
