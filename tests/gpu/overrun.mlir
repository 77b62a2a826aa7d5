// Writes `count` elements of a buffer that has as many, or fewer.
gpu.module @kernels {
  gpu.func @overrun(%out: !llvm.ptr<1> {cute.name = "out", cute.dtype = i32}, %count: i32 {cute.name = "count"}) kernel {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %mine = arith.cmpi slt, %t, %count : i32
    scf.if %mine {
      %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %t, %to : i32, !llvm.ptr<1>
    }
    gpu.return
  }
}
