!X = !cute.memref<f32, gmem, "(?,?):(?{i64},1)">
gpu.module @kernels {
  gpu.func @softmax(%x: !X, %y: !X) kernel {
    %r, %c = cute.tile.program<[4, 512]> %x
    %a = cute.tile.load<[4, 512], neg_inf> %x[%r, 0]
    %m = cute.tile.reduce<max, 1> %a
    %d = cute.tile.sub %a, %m
    %e = cute.tile.exp %d
    %s = cute.tile.reduce<add, 1> %e
    %p = cute.tile.div %e, %s
    cute.tile.store %p, %y[%r, 0]
    gpu.return
  }
}
