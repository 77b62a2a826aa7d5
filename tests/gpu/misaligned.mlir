// Writes an i32 `bytes` bytes into the buffer.
gpu.module @kernels {
  gpu.func @misaligned(%out: !llvm.ptr<1> {cute.name = "out", cute.dtype = i32}, %bytes: i64 {cute.name = "bytes"}) kernel {
    %one = arith.constant 1 : i32
    %at = llvm.getelementptr %out[%bytes] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    llvm.store volatile %one, %at : i32, !llvm.ptr<1>
    gpu.return
  }
}
