// The communication of a warp, by a pattern that the launch chooses: each warp reads 32 numbers, and each of its lanes writes
// their sum, all of them, or that of lane 0.
//!param ALLREDUCE = 0
//!param ALLGATHER = 1
//!param BROADCAST = 2
!in = !cute.memref<f32, gmem, "(?,32):(32,1)">
!out = !cute.memref<f32, gmem, "(?,32,32):(1024,32,1)">
gpu.module @kernels {
  gpu.func @communicate(%input: !in, %output: !out, %pattern: i32)
      kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %lane = nvvm.read.ptx.sreg.tid.x : i32
    %warp = nvvm.read.ptx.sreg.ctaid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %x = cute.load %input[%warp, %lane]
    %which = arith.index_cast %pattern : i32 to index
    scf.index_switch %which
    case ${ALLREDUCE} {
      %sum = cute_nvgpu.arch.warp_all_reduce<add> %x
      cute.store %sum, %output[%warp, %lane, %c0]
      scf.yield
    }
    case ${ALLGATHER} {
      scf.for %i = %c0 to %c32 step %c1 : i32 {
        %y = cute_nvgpu.arch.warp_broadcast %x, %i
        cute.store %y, %output[%warp, %lane, %i]
      }
      scf.yield
    }
    case ${BROADCAST} {
      %y = cute_nvgpu.arch.warp_broadcast %x, %c0
      cute.store %y, %output[%warp, %lane, %c0]
      scf.yield
    }
    default {
      %false = arith.constant false
      cf.assert %false, "expected a pattern from 0 to 2"
    }
    gpu.return
  }
}
