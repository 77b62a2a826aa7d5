// Tensors, pointers, coordinates and layouts that loops and conditions carry, and that device functions take.
// run: -p k --tensor A=32x48:normal --tensor B=32x48 --expect 'B=j<24?A[i,j]*2:A[i,j]+1'
// run: -p k --tensor A=32x10:1,32:normal --tensor B=32x10 --expect 'B=j<24?A[i,j]*2:A[i,j]+1'
!t = !cute.memref<f32, gmem, "(?,?):(?{i64},?{i64})">
!row = !cute.memref<f32, gmem, "(?):(?{i64})">
module attributes {gpu.container_module} {
gpu.module @kernels {
  func.func @twice(%r: !row, %j: i32) -> f32 {
    %x = cute.memref.load %r[%j]
    %y = arith.addf %x, %x : f32
    return %y : f32
  }
  gpu.func @k(%A: !t, %B: !t) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c24 = arith.constant 24 : i32
    %one = arith.constant 1.0 : f32
    %n_ = cute.size<[1]> %A
    %n = cute.get_scalars %n_
    %a = cute.slice %A, (%t, _)
    %b = cute.slice %B, (%t, _)
    %p = cute.get_iter %b
    %l = cute.get_layout %b
    %d_ = cute.get_stride %l
    %d = cute.get_scalars %d_
    %e = scf.for %j = %c0 to %n step %c1 iter_args(%q = %p) -> (!cute.ptr<f32, gmem>) : i32 {
      %in = arith.cmpi slt, %j, %c24 : i32
      %v = scf.if %in -> (f32) {
        %x = func.call @twice(%a, %j) : (!row, i32) -> f32
        scf.yield %x : f32
      } else {
        %x = cute.memref.load %a[%j]
        %y = arith.addf %x, %one : f32
        scf.yield %y : f32
      }
      cute.ptr.store %q, %v
      %q2 = cute.add_offset %q, %d
      scf.yield %q2 : !cute.ptr<f32, gmem>
    }
    gpu.return
  }
}
func.func @k(%A: !t, %B: !t) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%A : !t, %B : !t)
  return
}
}
