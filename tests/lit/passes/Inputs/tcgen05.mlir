gpu.module @m {
  gpu.func @k() kernel {
    nvvm.tcgen05.wait <load>
    gpu.return
  }
}
