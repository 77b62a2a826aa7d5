// C = A B^T as in 6_gemm.mlir, with tiles of 128 by 128 by 32 and STAGES buffers in shared memory: while the tiles of
// one step are multiplied, those of the next STAGES - 1 are being copied. Build with -D STAGES=3.
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!B = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!C = !cute.memref<f32, gmem, align<16>, "(?,?{div=2}):(?{i64 div=4},1)">
#unroll = #llvm.loop_annotation<unroll = <full = true>>
!ldsm = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>

gpu.module @kernels {
  gpu.func @gemm(%A: !A, %B: !B, %C: !C) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %bm = nvvm.read.ptx.sreg.ctaid.x : i32
    %bn = nvvm.read.ptx.sreg.ctaid.y : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32

    %stages = arith.constant ${STAGES} : i32
    %ahead = arith.constant ${STAGES-1} : i32

    // The block's tiles, and the coordinates of their elements.
    %tile = cute.make_tile 128, 128, 32
    %block = cute.make_coord(%bm, %bn, _)
    %gA = cute.local_tile(%A, %tile, %block, "(1,_,1)")
    %gB = cute.local_tile(%B, %tile, %block, "(_,1,1)")
    %gC = cute.local_tile(%C, %tile, %block, "(1,1,_)")
    %iA = cute.make_identity_tensor %A
    %iB = cute.make_identity_tensor %B
    %iC = cute.make_identity_tensor %C
    %cA = cute.local_tile(%iA, %tile, %block, "(1,_,1)")
    %cB = cute.local_tile(%iB, %tile, %block, "(_,1,1)")
    %cC = cute.local_tile(%iC, %tile, %block, "(1,1,_)")

    // Global to shared memory by cp.async, 16 bytes per thread; the last mode of the buffers is the stage.
    %bytes = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %smem = cute.recast_iter %bytes : f16
    %behind = cute.add_offset %smem, ${128*32*STAGES}
    %sA = cute.make_view %smem, "S<2,3,3> o 0 o (128,32,${STAGES}):(32,1,${128*32})"
    %sB = cute.make_view %behind, "S<2,3,3> o 0 o (128,32,${STAGES}):(32,1,${128*32})"
    %async = cute.make_atom : !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
    %g2s = cute.make_tiled_copy %async, "(32,4):(4,1)", "(1,8):(0,1)"
    %tAgA = cute.tiled.copy.partition_S %g2s, %gA, %t
    %tBgB = cute.tiled.copy.partition_S %g2s, %gB, %t
    %tAcA = cute.tiled.copy.partition_S %g2s, %cA, %t
    %tBcB = cute.tiled.copy.partition_S %g2s, %cB, %t
    %tAsA = cute.tiled.copy.partition_D %g2s, %sA, %t
    %tBsB = cute.tiled.copy.partition_D %g2s, %sB, %t

    // Shared memory to fragments by ldmatrix.
    %atom = cute.make_atom : !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
    %mma = cute.make_tiled_mma %atom, "(2,2,1):(1,2,0)", (32, 32, 16)
    %ldsm = cute.make_atom : !ldsm
    %s2rA = cute.make_tiled_copy_A %ldsm, %mma
    %s2rB = cute.make_tiled_copy_B %ldsm, %mma
    %tXsA = cute.tiled.copy.partition_S %s2rA, %sA, %t
    %tXsB = cute.tiled.copy.partition_S %s2rB, %sB, %t
    %rA = cute.tiled.mma.partition_fragment A (%mma, %sA[_, _, 0], %t)
    %rB = cute.tiled.mma.partition_fragment B (%mma, %sB[_, _, 0], %t)
    %acc = cute.tiled.mma.partition_fragment C (%mma, %gC, %t)
    %tXrA = cute.tiled.copy.retile %s2rA, %rA
    %tXrB = cute.tiled.copy.retile %s2rB, %rB
    %zero = arith.constant 0.0 : f32
    cute.fill %acc, %zero

    // Start the copies of the first STAGES - 1 tiles, one group each.
    scf.for %s = %c0 to %ahead step %c1 : i32 {
      %predA = cute.predicate %tAcA[_, _, _, %s], %A
      %predB = cute.predicate %tBcB[_, _, _, %s], %B
      cute.copy %g2s, %tAgA[_, _, _, %s], %tAsA[_, _, _, %s], %predA
      cute.copy %g2s, %tBgB[_, _, _, %s], %tBsB[_, _, _, %s], %predB
      nvvm.cp.async.commit.group
    } {loop_annotation = #unroll}

    // Wait until at most STAGES - 2 groups are pending: tile k has arrived. After the barrier this holds for all
    // threads, and none still reads the stage of tile k - 1, so tile k + STAGES - 1 can overwrite it. Tiles beyond K
    // are zeros that are never read.
    %kmode = cute.size<[2]> %gA
    %ktiles = cute.get_scalars %kmode
    scf.for %k = %c0 to %ktiles step %c1 : i32 {
      nvvm.cp.async.wait.group ${STAGES-2}
      gpu.barrier
      %coming = arith.addi %k, %ahead : i32
      %write = arith.remui %coming, %stages : i32
      %predA = cute.predicate %tAcA[_, _, _, %coming], %A
      %predB = cute.predicate %tBcB[_, _, _, %coming], %B
      cute.copy %g2s, %tAgA[_, _, _, %coming], %tAsA[_, _, _, %write], %predA
      cute.copy %g2s, %tBgB[_, _, _, %coming], %tBsB[_, _, _, %write], %predB
      nvvm.cp.async.commit.group
      %read = arith.remui %k, %stages : i32
      cute.copy %s2rA, %tXsA[_, _, _, %read], %tXrA
      cute.copy %s2rB, %tXsB[_, _, _, %read], %tXrB
      cute.gemm %mma, %acc, %rA, %rB, %acc
    }

    // Each thread stores its sums, two adjacent ones at a time.
    %pair = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32, 64 b>
    %r2g = cute.make_tiled_copy_C %pair, %mma
    %tCrC = cute.tiled.copy.retile %r2g, %acc
    %tCgC = cute.tiled.copy.partition_D %r2g, %gC, %t
    %tCcC = cute.tiled.copy.partition_D %r2g, %cC, %t
    %predC = cute.predicate %tCcC, %C
    cute.copy %r2g, %tCrC, %tCgC, %predC
    gpu.return
  }
}

func.func @gemm(%A: !A, %B: !B, %C: !C) {
  %shape = cute.shape %C
  %blocks = cute.ceil_div %shape, (128, 128)
  %m, %n = cute.get_scalars %blocks
  %x = arith.index_cast %m : i32 to index
  %y = arith.index_cast %n : i32 to index
  %one = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %bytes = arith.constant ${(128+128)*32*2*STAGES} : i32
  gpu.launch_func @kernels::@gemm blocks in (%x, %y, %one) threads in (%threads, %one, %one)
    dynamic_shared_memory_size %bytes args(%A : !A, %B : !B, %C : !C)
  return
}
