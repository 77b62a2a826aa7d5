// C = A B^T in f32 without tensor cores: A is (M,K), B is (N,K), C is (M,N) row-major; any M, N, K.
// 256 threads, 16 by 16, hold (BM/16) x (BN/16) sums each. Each k-tile of (BM,BK) and (BN,BK) is staged
// in one of STAGES buffers in shared memory, with M and N contiguous.
// -D A B: rows (K is contiguous) or cols (M or N is: B is a row-major (K,N) matrix, and C = A B);
// V: 4 if rows of C and columns of cols are aligned to and multiples of 16 bytes, else 1.
!rows = !cute.memref<f32, gmem, "(?,?):(?{i64},1)">
!cols = !cute.memref<f32, gmem, align<${4*V}>, "(?{div=${V}},?):(1,?{i64 div=${V}})">
!C = !cute.memref<f32, gmem, align<${4*V}>, "(?,?{div=${V}}):(?{i64 div=${V}},1)">
!one = !cute_nvgpu.atom.simt_async_copy<f32, cache = always, 32 b>
!some = !cute_nvgpu.atom.simt_async_copy<f32, cache = always, ${32*V} b>
!fma = !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32>
#unroll = #llvm.loop_annotation<unroll = <full = true>>

gpu.module @kernels {
  gpu.func @sgemm(%A: !${A}, %B: !${B}, %C: !C) kernel
      attributes {nvvm.reqntid = array<i32: 256, 1, 1>, nvvm.minctasm = ${32768/(BM*BN)} : i32} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %bm = nvvm.read.ptx.sreg.ctaid.x : i32
    %bn = nvvm.read.ptx.sreg.ctaid.y : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %stages = arith.constant ${STAGES} : i32
    %last = arith.constant ${BK-1} : i32

    // The block's tiles, (BM,BK,k) and (BN,BK,k), and the coordinates of their elements in A and B.
    %tile = cute.make_tile ${BM}, ${BN}, ${BK}
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

    // The stages, and the copies that fill them: from cols V adjacent elements per thread; rows are transposed
    // element by element, with a pitch padded by 4 to avoid bank conflicts.
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<f32, smem, align<1024>>
    %behind = cute.add_offset %smem, ${(BM+4)*BK*STAGES}
    %sA = cute.make_view %smem, "(${BM},${BK},${STAGES}):(1,${BM+4},${(BM+4)*BK})"
    %sB = cute.make_view %behind, "(${BN},${BK},${STAGES}):(1,${BN+4},${(BN+4)*BK})"
    %one = cute.make_atom : !one
    %some = cute.make_atom : !some
    %rows = cute.make_tiled_copy %one, "(32,8):(8,1)", "(1,1):(0,0)"
    %cols = cute.make_tiled_copy %some, "(32,8):(1,32)", "(${V},1):(1,0)"
    %tAgA = cute.tiled.copy.partition_S %${A}, %gA, %t
    %tBgB = cute.tiled.copy.partition_S %${B}, %gB, %t
    %tAcA = cute.tiled.copy.partition_S %${A}, %cA, %t
    %tBcB = cute.tiled.copy.partition_S %${B}, %cB, %t
    %tAsA = cute.tiled.copy.partition_D %${A}, %sA, %t
    %tBsB = cute.tiled.copy.partition_D %${B}, %sB, %t

    // A thread's sums are squares of 4 by 4, 64 apart. A warp's threads are 4 along M by 8 along N,
    // adjacent in both, so that few addresses are read at once. rC holds the sums in the order of
    // the copy to C, N first; acc views the same registers in the order of the product.
    %fma = cute.make_atom : !fma
    %mma = cute.make_tiled_mma %fma, "(((2,2),4),(8,2),1):(((1,16),32),(2,128),0)",
                                     ("(16,4):(4,1)", "(16,4):(4,1)", _)
    %to = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32, ${32*V} b>
    %r2g = cute.make_tiled_copy %to, "(((2,2),4),(8,2)):(((1,16),32),(2,128))", "(4,4):(4,1)"
    %tCgC = cute.tiled.copy.partition_D %r2g, %gC, %t
    %tCcC = cute.tiled.copy.partition_D %r2g, %cC, %t
    %rC = cute.make_fragment_like %tCgC
    %sums = cute.get_iter %rC
    %acc = cute.make_view %sums, "(1,(4,${BM/64}),(4,${BN/64})):(0,(${BN/16},${BN/4}),(1,4))"
    %pA = cute.tiled.mma.partition A (%mma, %sA, %t)
    %pB = cute.tiled.mma.partition B (%mma, %sB, %t)
    %rA = cute.make_fragment_like %pA[_, _, _, 0]
    %rB = cute.make_fragment_like %pB[_, _, _, 0]
    %s2r = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32>
    %zero = arith.constant 0.0 : f32
    cute.fill %rC, %zero

    // Start the copies of all stages; tiles past K are zero-filled, like all elements outside of A and B.
    scf.for %s = %c0 to %stages step %c1 : i32 {
      %predA = cute.predicate %tAcA[_, _, _, %s], %A
      %predB = cute.predicate %tBcB[_, _, _, %s], %B
      cute.copy %${A}, %tAgA[_, _, _, %s], %tAsA[_, _, _, %s], %predA
      cute.copy %${B}, %tBgB[_, _, _, %s], %tBsB[_, _, _, %s], %predB
      nvvm.cp.async.commit.group
    } {loop_annotation = #unroll}
    nvvm.cp.async.wait.group ${STAGES-1}
    gpu.barrier
    cute.copy %s2r, %pA[_, _, 0, 0], %rA[_, _, 0]
    cute.copy %s2r, %pB[_, _, 0, 0], %rB[_, _, 0]

    // While a column of A and one of B are multiplied, read the next ones. When all threads
    // hold the last ones of this stage in registers, fetch one more tile into it.
    %kmode = cute.size<[2]> %gA
    %ktiles = cute.get_scalars %kmode
    scf.for %i = %c0 to %ktiles step %c1 iter_args(%this = %c0) -> (i32) : i32 {
      %coming = arith.addi %i, %stages : i32
      %up = arith.addi %this, %c1 : i32
      %wraps = arith.cmpi eq, %up, %stages : i32
      %that = arith.select %wraps, %c0, %up : i32
      scf.for %k = %c0 to %last step %c1 : i32 {
        %next = arith.addi %k, %c1 : i32
        cute.copy %s2r, %pA[_, _, %next, %this], %rA[_, _, %next]
        cute.copy %s2r, %pB[_, _, %next, %this], %rB[_, _, %next]
        cute.gemm %mma, %acc, %rA[_, _, %k], %rB[_, _, %k], %acc
      } {loop_annotation = #unroll}
      nvvm.cp.async.wait.group ${STAGES-2}
      gpu.barrier
      cute.copy %s2r, %pA[_, _, 0, %that], %rA[_, _, 0]
      cute.copy %s2r, %pB[_, _, 0, %that], %rB[_, _, 0]
      %predA = cute.predicate %tAcA[_, _, _, %coming], %A
      %predB = cute.predicate %tBcB[_, _, _, %coming], %B
      cute.copy %${A}, %tAgA[_, _, _, %coming], %tAsA[_, _, _, %this], %predA
      cute.copy %${B}, %tBgB[_, _, _, %coming], %tBsB[_, _, _, %this], %predB
      nvvm.cp.async.commit.group
      cute.gemm %mma, %acc, %rA[_, _, ${BK-1}], %rB[_, _, ${BK-1}], %acc
      scf.yield %that : i32
    }

    %predC = cute.predicate %tCcC, %C
    cute.copy %r2g, %rC, %tCgC, %predC
    gpu.return
  }
}

func.func @sgemm(%A: !${A}, %B: !${B}, %C: !C) {
  %shape = cute.shape %C
  %blocks = cute.ceil_div %shape, (${BM}, ${BN})
  %m, %n = cute.get_scalars %blocks
  %gm = arith.index_cast %m : i32 to index
  %gn = arith.index_cast %n : i32 to index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 256 : index
  %bytes = arith.constant ${4*(BM+BN+8)*BK*STAGES} : i32
  gpu.launch_func @kernels::@sgemm blocks in (%gm, %gn, %c1) threads in (%threads, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%A : !${A}, %B : !${B}, %C : !C)
  return
}
// In an editor: -D A=rows -D B=cols -D V=4 -D BM=128 -D BN=256 -D BK=16 -D STAGES=3
