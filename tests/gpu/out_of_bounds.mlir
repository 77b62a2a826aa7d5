// Reads `distance` elements beyond each thread's own.
gpu.module @kernels {
  gpu.func @out_of_bounds(%in: !llvm.ptr<1> {cute.name = "in", cute.dtype = i32},
                          %out: !llvm.ptr<1> {cute.name = "out", cute.dtype = i32}, %distance: i64 {cute.name = "distance"}) kernel {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %i = arith.extsi %t : i32 to i64
    %far = arith.addi %i, %distance : i64
    %from = llvm.getelementptr %in[%far] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %v = llvm.load %from : !llvm.ptr<1> -> i32
    %to = llvm.getelementptr %out[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %v, %to : i32, !llvm.ptr<1>
    gpu.return
  }
}
