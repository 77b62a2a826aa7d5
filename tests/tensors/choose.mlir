// A tensor chosen by a condition, a layout that a loop carries, fast division, a fragment indexed by a loop.
// run: -p k --tensor A=64:iota --tensor B=64:iota --tensor C=2x64 --expect 'C=i==0?A[j]*2:B[63-j]*2'
!t = !cute.memref<f32, gmem, "(64):(1)">
!o = !cute.memref<f32, gmem, "(2,64):(64,1)">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @k(%A: !t, %B: !t, %C: !o) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %b = nvvm.read.ptx.sreg.ctaid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c63 = arith.constant 63 : i32
    %first = arith.cmpi eq, %b, %c0 : i32
    %x = scf.if %first -> (!t) {
      scf.yield %A : !t
    } else {
      scf.yield %B : !t
    }
    %l = cute.static "(2):(1)"
    %r = cute.memref.alloca %l : f32
    scf.for %i = %c0 to %c2 step %c1 : i32 {
      %m = arith.muli %i, %c2 : i32
      %tt = arith.muli %t, %c2 : i32
      %j = arith.addi %tt, %i : i32
      %k = arith.subi %c63, %j : i32
      %at = arith.select %first, %j, %k : i32
      %v = cute.memref.load %x[%at]
      cute.store %v, %r[%i]
    }
    scf.for %i = %c0 to %c2 step %c1 : i32 {
      %tt = arith.muli %t, %c2 : i32
      %j = arith.addi %tt, %i : i32
      %v = cute.memref.load %r[%i]
      %w = arith.addf %v, %v : f32
      cute.store %w, %C[%b, %j]
    }
    gpu.return
  }
}
func.func @k(%A: !t, %B: !t, %C: !o) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@k blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1) args(%A : !t, %B : !t, %C : !o)
  return
}
}
