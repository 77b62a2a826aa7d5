gpu.module @m {
  gpu.func @broken(%p: !llvm.ptr) kernel {
    %0 = gpu.thread_id x
    %1 = arith.addi %0, %undefined : index
    gpu.return
  }
}
