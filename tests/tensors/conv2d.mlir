// run: -p conv --tensor X=20x18:normal --tensor F=3x5:normal --tensor Y=18x14 --expect 'Y=sum(p,3,sum(q,5,X[i+p,j+q]*F[p,q]))'
// run: -p conv --tensor X=9x33:1,11:normal --tensor F=3x5:normal --tensor Y=7x29:1,7 --expect 'Y=sum(p,3,sum(q,5,X[i+p,j+q]*F[p,q]))'
!x = !cute.memref<f32, gmem, "(?,?):(?{i64},?{i64})">
!f = !cute.memref<f32, gmem, "(3,5):(5,1)">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @conv(%X: !x, %F: !f, %Y: !x) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %b = nvvm.read.ptx.sreg.ctaid.x : i32
    %lx = cute.get_layout %X
    %ly = cute.get_layout %Y
    %sy = cute.get_shape %ly
    %d = cute.get_stride %lx
    %d0 = cute.get<[0]> %d
    %d1 = cute.get<[1]> %d
    %i0 = cute.get_scalars %d0
    %i1 = cute.get_scalars %d1
    %P, %Q = cute.get_scalars %sy
    // the windows: ((P,Q),(3,5)) with the strides of X twice
    %l = cute.make_layout (((%P, %Q), (3, 5)), ((%i0, %i1), (%i0, %i1)))
    %it = cute.get_iter %X
    %w = cute.make_view %it, %l
    %f = cute.group_modes<0, 2> %F
    %c32 = arith.constant 32 : i32
    %bb = arith.muli %b, %c32 : i32
    %o = arith.addi %bb, %t : i32
    %n = arith.muli %P, %Q : i32
    %in = arith.cmpi slt, %o, %n : i32
    scf.if %in {
      %win = cute.slice %w, (%o, _)
      %ll = cute.get_layout %win
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c15 = arith.constant 15 : i32
      %z = arith.constant 0.0 : f32
      %s = scf.for %k = %c0 to %c15 step %c1 iter_args(%acc = %z) -> (f32) : i32 {
        %a = cute.memref.load %win[%k]
        %g = cute.memref.load %F[%k]
        %m = arith.mulf %a, %g : f32
        %r = arith.addf %acc, %m : f32
        scf.yield %r : f32
      }
      cute.store %s, %Y[%o]
    }
    gpu.return
  }
}
func.func @conv(%X: !x, %F: !f, %Y: !x) {
  %s = cute.size %Y
  %b = cute.ceil_div %s, 32
  %x = cute.get_scalars %b
  %gx = arith.index_cast %x : i32 to index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@conv blocks in (%gx, %c1, %c1) threads in (%c32, %c1, %c1) args(%X : !x, %F : !f, %Y : !x)
  return
}
}
