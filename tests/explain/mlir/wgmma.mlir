// Eight steps of K, each waited for before the next.
!mma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!h = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
gpu.module @kernels {
  gpu.func @slow(%A: !h, %B: !h, %C: !cute.memref<f32, gmem, align<16>, "(64,64):(64,1)">, %n: i32)
      kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %p = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
    %q = cute.add_offset %p, 4096
    %sA = cute.make_view %p, "(64,64):(64,1)"
    %sB = cute.make_view %q, "(64,64):(64,1)"
    %element = cute.make_atom : !cute_nvgpu.atom.universal_copy<f16, 128 b>
    %copy = cute.make_tiled_copy %element, "(16,8):(8,1)", "(1,8):(8,1)"
    %fromA = cute.tiled.copy.partition_S %copy, %A, %t
    %toA = cute.tiled.copy.partition_D %copy, %sA, %t
    %fromB = cute.tiled.copy.partition_S %copy, %B, %t
    %toB = cute.tiled.copy.partition_D %copy, %sB, %t
    cute.copy %copy, %fromA, %toA
    cute.copy %copy, %fromB, %toB
    cute_nvgpu.arch.fence_view_async_shared
    cute_nvgpu.arch.block_sync
    %atom = cute.make_atom : !mma
    %mma = cute.make_tiled_mma %atom
    %tA = cute.tiled.mma.partition A (%mma, %sA, %t)
    %tB = cute.tiled.mma.partition B (%mma, %sB, %t)
    %tC = cute.tiled.mma.partition C (%mma, %C, %t)
    %fA = cute.mma.make_fragment A (%mma, %tA)
    %fB = cute.mma.make_fragment B (%mma, %tB)
    %fC = cute.mma.make_fragment C (%mma, %tC)
    %zero = arith.constant 0.0 : f32
    cute.fill %fC, %zero
    scf.for %i = %c0 to %n step %c1 : i32 {
      scf.for %k = %c0 to %c4 step %c1 : i32 {
        nvvm.wgmma.fence.aligned
        cute.gemm %mma, %fC, %fA[_, _, %k], %fB[_, _, %k], %fC // FIND wgmma-serialised
        nvvm.wgmma.commit.group.sync.aligned
        nvvm.wgmma.wait.group.sync.aligned 0
      }
    }
    %out = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32>
    cute.copy %out, %fC, %tC
    gpu.return
  }
}
