// One warpgroup gives registers to the other; both compute.
// arch: sm_90a
// run: -p share --tensor X=f32:256:iota --tensor Y=f32:256 --expect 'Y=i<128?X[i]+1:3*X[i]'
!t = !cute.memref<f32, gmem, "(256):(1)">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @share(%X: !t, %Y: !t) kernel attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c128 = arith.constant 128 : i32
    %group = arith.divui %t, %c128 : i32
    %uniform = cute_nvgpu.arch.make_warp_uniform %group
    %c0 = arith.constant 0 : i32
    %gives = arith.cmpi eq, %uniform, %c0 : i32
    %x = cute.load %X[%t]
    scf.if %gives {
      cute_nvgpu.arch.setmaxregister_decrease<40>
      %one = arith.constant 1.0 : f32
      %y = arith.addf %x, %one : f32
      cute.store %y, %Y[%t]
    } else {
      cute_nvgpu.arch.setmaxregister_increase<232>
      %three = arith.constant 3.0 : f32
      %y = arith.mulf %x, %three : f32
      cute.store %y, %Y[%t]
    }
    gpu.return
  }
}
func.func @share(%X: !t, %Y: !t) {
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  gpu.launch_func @kernels::@share blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1) args(%X : !t, %Y : !t)
  return
}
}
