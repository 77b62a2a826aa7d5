// Two grids, of which the second one may begin before the first has ended: it waits before it reads what that one wrote.
// arch: sm_90
// run: -p both --tensor X=f32:256:iota --tensor Y=f32:256 --tensor Z=f32:256 --expect 'Z=2*X[i]+1' --expect 'Y=2*X[i]'
!t = !cute.memref<f32, gmem, "(256):(1)">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @first(%X: !t, %Y: !t) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
    %t = gpu.global_id x
    %i = arith.index_cast %t : index to i32
    cute_nvgpu.arch.griddepcontrol_launch_dependents
    %x = cute.load %X[%i]
    %y = arith.addf %x, %x : f32
    cute.store %y, %Y[%i]
    gpu.return
  }
  gpu.func @second(%Y: !t, %Z: !t) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
    %t = gpu.global_id x
    %i = arith.index_cast %t : index to i32
    %one = arith.constant 1.0 : f32
    cute_nvgpu.arch.griddepcontrol_wait
    %y = cute.load %Y[%i]
    %z = arith.addf %y, %one : f32
    cute.store %z, %Z[%i]
    gpu.return
  }
}
func.func @both(%X: !t, %Y: !t, %Z: !t) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @kernels::@first blocks in (%c4, %c1, %c1) threads in (%c64, %c1, %c1) args(%X : !t, %Y : !t)
  gpu.launch_func @kernels::@second blocks in (%c4, %c1, %c1) threads in (%c64, %c1, %c1) args(%Y : !t, %Z : !t) {cute.programmatic}
  return
}
}
