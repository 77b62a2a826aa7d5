// run: -p perm --tensor A=i16:3x5x7x9:iota --tensor B=i16:9x3x7x5 --expect 'B=A[j,l,k,i]'
// run: -p perm --tensor A=i16:2x1x4x6:1,2,2,8:iota --tensor B=i16:6x2x4x1:1,6,12,48 --expect 'B=A[j,l,k,i]'
!t = !cute.memref<i16, gmem, "(?,?,?,?):(?{i64},?{i64},?{i64},?{i64})">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @perm(%A: !t, %B: !t) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %b = nvvm.read.ptx.sreg.ctaid.x : i32
    %c32 = arith.constant 32 : i32
    %bb = arith.muli %b, %c32 : i32
    %o = arith.addi %bb, %t : i32
    %la = cute.get_layout %A
    %lp = cute.select<[3, 0, 2, 1]> %la
    %ia = cute.get_iter %A
    %P = cute.make_view %ia, %lp
    %s = cute.shape %B
    %n_ = cute.size %B
    %n = cute.get_scalars %n_
    %in = arith.cmpi slt, %o, %n : i32
    scf.if %in {
      %c = cute.idx2crd %o, %s
      %v = cute.memref.load(%P, %c)
      cute.memref.store(%B, %c, %v)
    }
    gpu.return
  }
}
func.func @perm(%A: !t, %B: !t) {
  %s = cute.size %B
  %b = cute.ceil_div %s, 32
  %x = cute.get_scalars %b
  %gx = arith.index_cast %x : i32 to index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@perm blocks in (%gx, %c1, %c1) threads in (%c32, %c1, %c1) args(%A : !t, %B : !t)
  return
}
}
