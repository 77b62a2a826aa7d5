// run: -p k --tensor A=i32:10x9:iota --tensor B=i32:10x9 --expect 'B=100*i+j+A'
// run: -p k --tensor A=i32:5x3:iota --tensor B=i32:5x3:1,7 --expect 'B=100*i+j+A'
!t = !cute.memref<i32, gmem, "(?,?):(?{i64},?{i64})">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @k(%A: !t, %B: !t) kernel attributes {nvvm.reqntid = array<i32: 15, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %x = nvvm.read.ptx.sreg.ctaid.x : i32
    %y = nvvm.read.ptx.sreg.ctaid.y : i32
    %s = cute.shape %A
    %id = cute.make_identity_tensor %s
    %gA = cute.local_tile %A, (5, 3), (%x, %y)
    %gB = cute.local_tile %B, (5, 3), (%x, %y)
    %gI = cute.local_tile %id, (5, 3), (%x, %y)
    %c = cute.slice %gI, %t
    %it = cute.get_iter %c
    %crd = cute.deref_arith_tuple_iter %it
    %in = cute.elem_less %crd, %s
    %i, %j = cute.get_scalars %crd
    scf.if %in {
      %v = cute.memref.load %gA[%t]
      %w = cute.memref.load %A[%i, %j]
      %same = arith.cmpi eq, %v, %w : i32
      cf.assert %same, "the same element"
      %c100 = arith.constant 100 : i32
      %h = arith.muli %i, %c100 : i32
      %h1 = arith.addi %h, %j : i32
      %h2 = arith.addi %h1, %v : i32
      cute.store %h2, %gB[%t]
    }
    gpu.return
  }
}
func.func @k(%A: !t, %B: !t) {
  %s = cute.shape %A
  %b = cute.ceil_div %s, (5, 3)
  %m, %n = cute.get_scalars %b
  %gm = arith.index_cast %m : i32 to index
  %gn = arith.index_cast %n : i32 to index
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  gpu.launch_func @kernels::@k blocks in (%gm, %gn, %c1) threads in (%c15, %c1, %c1) args(%A : !t, %B : !t)
  return
}
}
