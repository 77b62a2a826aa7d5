// run: -p lp --tensor A=f64:40x24:normal --tensor B=f64:40x24:1,40 --expect 'B=A*A'
// run: -p lp --tensor A=f64:8x12:1,9:normal --tensor B=f64:8x12 --expect 'B=A*A'
!a = !cute.memref<f64, gmem, "(?{div=8},?{div=4}):(?{i64},?{i64})">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @lp(%A: !a, %B: !a) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %thr = cute.static "(8,4):(4,1)"
    %a = cute.local_partition %A, %thr, %t
    %b = cute.local_partition %B, %thr, %t
    %n_ = cute.size %a
    %n = cute.get_scalars %n_
    scf.for %i = %c0 to %n step %c1 : i32 {
      %v = cute.memref.load %a[%i]
      %w = arith.mulf %v, %v : f64
      cute.store %w, %b[%i]
    }
    gpu.return
  }
}
func.func @lp(%A: !a, %B: !a) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@lp blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%A : !a, %B : !a)
  return
}
}
