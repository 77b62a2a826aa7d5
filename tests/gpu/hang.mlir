// Waits for a flag that nobody sets.
gpu.module @kernels {
  gpu.func @hang(%flag: !llvm.ptr<1> {cute.name = "flag", cute.dtype = i32}) kernel {
    %zero = arith.constant 0 : i32
    scf.while : () -> () {
      %v = llvm.load volatile %flag : !llvm.ptr<1> -> i32
      %waiting = arith.cmpi eq, %v, %zero : i32
      scf.condition(%waiting)
    } do {
      scf.yield
    }
    gpu.return
  }
}
