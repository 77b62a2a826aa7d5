// flags = 0, the initial state that stream-K requires.
!flags = memref<?xi32, strided<[1], offset: ?>>
gpu.module @clearing {
  gpu.func @gemm_clear(%flags: !flags {cute.name = "flags"}) kernel
      attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %zero = arith.constant 0 : i32
    %t = gpu.thread_id x
    %count = memref.dim %flags, %c0 : !flags
    // The previous kernel may still use the flags, so wait for it; allow the next one to start.
    cute_nvgpu.arch.griddepcontrol_launch_dependents
    cute_nvgpu.arch.griddepcontrol_wait
    scf.for %i = %t to %count step %c256 {
      memref.store %zero, %flags[%i] : !flags
    }
    gpu.return
  }
}
func.func @gemm_clear(%flags: !flags {cute.name = "flags"}) {
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  gpu.launch_func @clearing::@gemm_clear blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1)
    args(%flags : !flags) {cute.programmatic}
  return
}
