// C = A B^T by tiles of 64 x 64 x 32 on tensor cores: each tile is waited for as soon as its copies are issued.
!t = !cute.memref<f16, gmem, align<16>, "(1024,1024):(1024,1)">
!C = !cute.memref<f32, gmem, align<16>, "(1024,1024):(1024,1)">
!ldsm = !cute_nvgpu.atom.ldsm<val_type=f16, mode=<"(8,8)">, sz_pattern=u16, num_matrices=4, n>
#unroll = #llvm.loop_annotation<unroll = <full = true>>
gpu.module @kernels {
  gpu.func @slow(%A: !t, %B: !t, %C: !C) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %bn = nvvm.read.ptx.sreg.ctaid.x : i32
    %bm = nvvm.read.ptx.sreg.ctaid.y : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %tiles = arith.constant 32 : i32
    %tile = cute.make_tile 64, 64, 32
    %block = cute.make_coord(%bm, %bn, _)
    %gA = cute.local_tile(%A, %tile, %block, "(1,_,1)")
    %gB = cute.local_tile(%B, %tile, %block, "(_,1,1)")
    %gC = cute.local_tile(%C, %tile, %block, "(1,1,_)")
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<f16, smem, align<1024>>
    %tail = cute.add_offset %smem, 2048
    %sA = cute.make_view %smem, "S<2,3,3> o 0 o (64,32):(32,1)"
    %sB = cute.make_view %tail, "S<2,3,3> o 0 o (64,32):(32,1)"
    %fill = cute.make_atom : !cute_nvgpu.atom.simt_async_copy<f16, cache=global, 128 b>
    %g2s = cute.make_tiled_copy %fill, "(32,4):(4,1)", "(1,8):(0,1)"
    %tAgA = cute.tiled.copy.partition_S %g2s, %gA, %t
    %tBgB = cute.tiled.copy.partition_S %g2s, %gB, %t
    %tAsA = cute.tiled.copy.partition_D %g2s, %sA, %t
    %tBsB = cute.tiled.copy.partition_D %g2s, %sB, %t
    %atom = cute.make_atom : !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
    %mma = cute.make_tiled_mma %atom, "(2,2,1):(1,2,0)", (32, 32, 16)
    %ldsm = cute.make_atom : !ldsm
    %s2rA = cute.make_tiled_copy_A %ldsm, %mma
    %s2rB = cute.make_tiled_copy_B %ldsm, %mma
    %tXsA = cute.tiled.copy.partition_S %s2rA, %sA, %t
    %tXsB = cute.tiled.copy.partition_S %s2rB, %sB, %t
    %rA = cute.tiled.mma.partition_fragment A (%mma, %sA, %t)
    %rB = cute.tiled.mma.partition_fragment B (%mma, %sB, %t)
    %acc = cute.tiled.mma.partition_fragment C (%mma, %gC, %t)
    %tXrA = cute.tiled.copy.retile %s2rA, %rA
    %tXrB = cute.tiled.copy.retile %s2rB, %rB
    %zero = arith.constant 0.0 : f32
    cute.fill %acc, %zero
    scf.for %i = %c0 to %tiles step %c1 : i32 {
      cute.copy %g2s, %tAgA[_, _, _, %i], %tAsA 
      cute.copy %g2s, %tBgB[_, _, _, %i], %tBsB
      nvvm.cp.async.commit.group
      nvvm.cp.async.wait.group 0 // FIND no-stages
      gpu.barrier
      scf.for %k = %c0 to %c2 step %c1 : i32 {
        cute.copy %s2rA, %tXsA[_, _, %k], %tXrA[_, _, %k]
        cute.copy %s2rB, %tXsB[_, _, %k], %tXrB[_, _, %k]
        cute.gemm %mma, %acc, %rA[_, _, %k], %rB[_, _, %k], %acc
      } {loop_annotation = #unroll}
      gpu.barrier
    }
    %pair = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32, 64 b>
    %r2g = cute.make_tiled_copy_C %pair, %mma
    %tCrC = cute.tiled.copy.retile %r2g, %acc
    %tCgC = cute.tiled.copy.partition_D %r2g, %gC, %t
    cute.copy %r2g, %tCrC, %tCgC
    gpu.return
  }
}
