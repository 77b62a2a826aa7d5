// Every block waits until all have come: ends only if all are resident at once.
gpu.module @kernels {
  gpu.func @meet(%count: !llvm.ptr<1> {cute.name = "count", cute.dtype = i32},
                 %out: !llvm.ptr<1> {cute.name = "out", cute.dtype = i32}) kernel
      attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %first = arith.cmpi eq, %thread, %zero : i32
    scf.if %first {
      %before = llvm.atomicrmw add %count, %one acq_rel : !llvm.ptr<1>, i32
      %all = scf.while : () -> i32 {
        %here = llvm.load volatile %count : !llvm.ptr<1> -> i32
        %missing = arith.cmpi slt, %here, %blocks : i32
        scf.condition(%missing) %here : i32
      } do {
      ^bb0(%here: i32):
        scf.yield
      }
      %to = llvm.getelementptr %out[%block] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %all, %to : i32, !llvm.ptr<1>
    }
    gpu.return
  }
}
