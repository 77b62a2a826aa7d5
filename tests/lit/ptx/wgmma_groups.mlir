// Between two groups of products before one wait nothing touches the accumulators, whatever -O says.
// RUN: cute-ptx -arch sm_90a -O0 %s | FileCheck %s
// RUN: cute-ptx -arch sm_90a -O1 %s | FileCheck %s
// RUN: cute-ptx -arch sm_90a %s | FileCheck %s

// CHECK: .entry two_groups
// CHECK-NOT: .local
// CHECK: wgmma.mma_async{{[^{]*}}{[[ACC:[^}]*]]}
// CHECK-NOT: {{(st|ld|mov)[.].*%f}}
// CHECK: wgmma.mma_async{{[^{]*}}{[[ACC]]}
// CHECK: wgmma.wait_group.sync.aligned 0
!C = !cute.memref<f32, gmem, align<16>, "(64,64):(64,1)">
gpu.module @m {
  gpu.func @two_groups(%C: !C) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
    %bytes = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %pa = cute.recast_iter(%bytes) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
    %s = cute.make_view %pa, "(64,64):(64,1)"
    %atom = cute.make_atom : !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
    %mma = cute.make_tiled_mma %atom
    %tA = cute.tiled.mma.partition A (%mma, %s, %t)
    %tB = cute.tiled.mma.partition B (%mma, %s, %t)
    %rA = cute.mma.make_fragment A (%mma, %tA)
    %rB = cute.mma.make_fragment B (%mma, %tB)
    %tC = cute.tiled.mma.partition C (%mma, %C, %t)
    %acc = cute.mma.make_fragment C (%mma, %tC)
    %z = arith.constant 0.0 : f32
    cute.fill %acc, %z
    scf.for %k = %c0 to %c8 step %c1 : i32 {
      cute_nvgpu.arch.wgmma_fence
      cute.gemm %mma, %acc, %rA, %rB, %acc
      cute_nvgpu.arch.wgmma_commit_group
      cute.gemm %mma, %acc, %rA, %rB, %acc
      cute_nvgpu.arch.wgmma_commit_group
      cute_nvgpu.arch.wgmma_wait_group<{groups = 0 : i32}> () : () -> ()
    }
    cute.copy %acc, %tC
    gpu.return
  }
}
