// run: -p nest --tensor A=6x8x5:200,5,1:iota --tensor B=6x8x5 --expect 'B=2*A'
// run: -p nest --tensor A=3x4x9:iota --tensor B=3x4x9:1,3,12 --expect 'B=2*A'
!a = !cute.memref<f32, gmem, "(?,(?,?)):(?{i64},(?{i64},?{i64}))">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @nest(%A: !a, %B: !a) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %r = nvvm.read.ptx.sreg.ctaid.x : i32
    %c32 = arith.constant 32 : i32
    %c1 = arith.constant 1 : i32
    %n_ = cute.size<[1]> %A
    %n = cute.get_scalars %n_
    %a = cute.slice %A, (%r, _)
    scf.for %i = %t to %n step %c32 : i32 {
      %v = cute.memref.load %A[%r, %i]
      %w = cute.memref.load %a[%i]
      %x = arith.addf %v, %w : f32
      cute.store %x, %B[%r, %i]
    }
    gpu.return
  }
}
func.func @nest(%A: !a, %B: !a) {
  %s = cute.size<[0]> %A
  %x = cute.get_scalars %s
  %gx = arith.index_cast %x : i32 to index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@nest blocks in (%gx, %c1, %c1) threads in (%c32, %c1, %c1) args(%A : !a, %B : !a)
  return
}
}
