// A wait holds the accumulators of the products that may be under way, not those that an earlier wait has completed: these
// may be read in any order, and a copy of theirs would be moved in front of the earlier wait.
// RUN: cute-ptx -arch sm_90a --static-checks=off --emit=llvm %s | FileCheck %s

// CHECK: @alternate
// CHECK: asm sideeffect "wgmma.wait_group.sync.aligned 1;", "{{(=f,){64}0,1,}}
// CHECK: asm sideeffect "wgmma.wait_group.sync.aligned 0;", "{{(=f,){32}0,1,}}
!C = !cute.memref<f32, gmem, align<16>, "(64,64):(64,1)">
!V = vector<32xf32>
gpu.module @m {
  gpu.func @alternate(%C: !C, %n: i32) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %first = arith.cmpi eq, %t, %c0 : i32
    %bytes = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %pa = cute.recast_iter(%bytes) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
    %bar = cute.recast_iter(%bytes) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<i64, smem, align<8>>
    %s = cute.make_view %pa, "(64,64):(64,1)"
    %atom = cute.make_atom : !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
    %mma = cute.make_tiled_mma %atom
    %tA = cute.tiled.mma.partition A (%mma, %s, %t)
    %tB = cute.tiled.mma.partition B (%mma, %s, %t)
    %rA = cute.mma.make_fragment A (%mma, %tA)
    %rB = cute.mma.make_fragment B (%mma, %tB)
    %tC = cute.tiled.mma.partition C (%mma, %C, %t)
    %one = cute.mma.make_fragment C (%mma, %tC)
    %two = cute.mma.make_fragment C (%mma, %tC)
    %sum = cute.mma.make_fragment C (%mma, %tC)
    %z = arith.constant dense<0.0> : !V
    scf.for %k = %c0 to %n step %c1 : i32 {
      cute_nvgpu.arch.wgmma_fence
      cute.gemm %mma, %one, %rA, %rB, %one
      cute_nvgpu.arch.wgmma_commit_group
      cute_nvgpu.arch.wgmma_fence
      cute.gemm %mma, %two, %rA, %rB, %two
      cute_nvgpu.arch.wgmma_commit_group
      cute_nvgpu.arch.wgmma_wait_group<{groups = 1 : i32}> () : () -> ()
      scf.if %first {
        cute_nvgpu.arch.mbarrier_arrive %bar
      }
      %v1 = cute.memref.load_vec %one : !V
      %s1 = arith.subf %z, %v1 : !V
      cute_nvgpu.arch.wgmma_wait_group<{groups = 0 : i32}> () : () -> ()
      scf.if %first {
        cute_nvgpu.arch.mbarrier_arrive %bar
      }
      %v2 = cute.memref.load_vec %two : !V
      %s2 = arith.subf %s1, %v2 : !V
      cute.memref.store_vec %s2, %sum
      cute.copy %sum, %tC
    }
    gpu.return
  }
}
