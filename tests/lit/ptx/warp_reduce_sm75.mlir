// Warps sum integers up by shuffles before sm_80, which has redux.sync.
// RUN: cute-ptx -arch sm_75 %s | FileCheck %s
// RUN: cute-ptx -arch sm_80 %s | FileCheck %s --check-prefix=REDUX

// CHECK: .entry k
// CHECK-NOT: redux
// CHECK-COUNT-25: shfl.sync.bfly.b32
// CHECK-NOT: {{shfl|redux}}

// REDUX: .entry k
// REDUX: redux.sync.min.s32
// REDUX: redux.sync.max.s32
// REDUX: redux.sync.add.s32
// REDUX: redux.sync.and.b32
// REDUX: redux.sync.xor.b32
gpu.module @m {
  gpu.func @k(%y: !cute.memref<i32, gmem, "?:1">) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %a = cute_nvgpu.arch.warp_all_reduce<min> %t
    %b = cute_nvgpu.arch.warp_all_reduce<max> %t
    %c = cute_nvgpu.arch.warp_all_reduce<add> %t
    %d = cute_nvgpu.arch.warp_all_reduce<and> %t
    %e = cute_nvgpu.arch.warp_all_reduce<xor> %t
    %ab = arith.addi %a, %b : i32
    %cd = arith.addi %c, %d : i32
    %abe = arith.addi %ab, %e : i32
    %all = arith.muli %abe, %cd : i32
    cute.store %all, %y[%t]
    gpu.return
  }
}
