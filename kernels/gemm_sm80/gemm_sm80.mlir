// C = A B^T on the tensor cores of sm_80: A is (M,K), B is (N,K), C is (M,N), the last mode contiguous; any M and N, rows
// of multiples of 16 bytes. Each k-tile of (BM,BK) and (BN,BK) passes through one of STAGES buffers in shared memory.
// -D T TC ACC: types of A and B, of C, of the sums; SM MK: architecture and K of the MMA; WM WN: warps; V: elements in 16 bytes; S: swizzle.
!A = !cute.memref<${T}, gmem, align<16>, "(?,?):(?{i64 div=${V}},1)">
!C = !cute.memref<${TC}, gmem, align<16>, "(?,?):(?{i64 div=8},1)">
!atom = !cute_nvgpu.sm${SM}.mma<16x8x${MK}, elem_type = (${T}, ${T}, ${ACC}) >
!ldsm = !cute_nvgpu.atom.ldsm<val_type = ${T}, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!async = !cute_nvgpu.atom.simt_async_copy<${T}, cache = global, 128 b>
#unroll = #llvm.loop_annotation<unroll = <full = true>>

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @gemm(%A: !A, %B: !A, %C: !C) kernel attributes {nvvm.reqntid = array<i32: ${32*WM*WN}, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %bm = nvvm.read.ptx.sreg.ctaid.x : i32
    %bn = nvvm.read.ptx.sreg.ctaid.y : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %stages = arith.constant ${STAGES} : i32
    %ahead = arith.constant ${STAGES-1} : i32
    %kblocks = arith.constant ${BK/MK} : i32
    %last = arith.constant ${BK/MK-1} : i32

    // The block's tiles, (BM,BK,k) and (BN,BK,k), and where their elements lie in A and B.
    %tile = cute.make_tile ${BM}, ${BN}, ${BK}
    %block = cute.make_coord(%bm, %bn, _)
    %gA = cute.local_tile(%A, %tile, %block, "(1,_,1)")
    %gB = cute.local_tile(%B, %tile, %block, "(_,1,1)")
    %gC = cute.local_tile(%C, %tile, %block, "(1,1,_)")
    %shapeA = cute.shape %A
    %shapeB = cute.shape %B
    %shapeC = cute.shape %C
    %iA = cute.make_identity_tensor %shapeA
    %iB = cute.make_identity_tensor %shapeB
    %iC = cute.make_identity_tensor %shapeC
    %cA = cute.local_tile(%iA, %tile, %block, "(1,_,1)")
    %cB = cute.local_tile(%iB, %tile, %block, "(_,1,1)")
    %cC = cute.local_tile(%iC, %tile, %block, "(1,1,_)")

    // The stages, and how 16 bytes a thread come to them.
    %bytes = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %smem = cute.recast_iter %bytes : ${T}
    %behind = cute.add_offset %smem, ${BM*BK*STAGES}
    %sA = cute.make_view %smem, "${S} o 0 o (${BM},${BK},${STAGES}):(${BK},1,${BM*BK})"
    %sB = cute.make_view %behind, "${S} o 0 o (${BN},${BK},${STAGES}):(${BK},1,${BN*BK})"
    %async = cute.make_atom : !async
    %g2s = cute.make_tiled_copy %async, "(${32*WM*WN*V/BK},${BK/V}):(${BK/V},1)", "(1,${V}):(0,1)"
    %tAgA = cute.tiled.copy.partition_S %g2s, %gA, %t
    %tBgB = cute.tiled.copy.partition_S %g2s, %gB, %t
    %tAcA = cute.tiled.copy.partition_S %g2s, %cA, %t
    %tBcB = cute.tiled.copy.partition_S %g2s, %cB, %t
    %tAsA = cute.tiled.copy.partition_D %g2s, %sA, %t
    %tBsB = cute.tiled.copy.partition_D %g2s, %sB, %t

    // Fragments of the MMA, and how ldmatrix fills them.
    %atom = cute.make_atom : !atom
    %mma = cute.make_tiled_mma %atom, "(${WM},${WN},1):(1,${WM},0)", (${16*WM}, ${16*WN}, ${MK})
    %ldsm = cute.make_atom : !ldsm
    %s2rA = cute.make_tiled_copy_A %ldsm, %mma
    %s2rB = cute.make_tiled_copy_B %ldsm, %mma
    %tXsA = cute.tiled.copy.partition_S %s2rA, %sA, %t
    %tXsB = cute.tiled.copy.partition_S %s2rB, %sB, %t
    %pA = cute.tiled.mma.partition A (%mma, %sA[_, _, 0], %t)
    %pB = cute.tiled.mma.partition B (%mma, %sB[_, _, 0], %t)
    %pC = cute.tiled.mma.partition C (%mma, %gC, %t)
    %rA = cute.mma.make_fragment A (%mma, %pA)
    %rB = cute.mma.make_fragment B (%mma, %pB)
    %acc = cute.mma.make_fragment C (%mma, %pC)
    %tXrA = cute.tiled.copy.retile %s2rA, %rA
    %tXrB = cute.tiled.copy.retile %s2rB, %rB
    %zero = arith.constant ${ZERO} : ${ACC}
    cute.fill %acc, %zero

    // All but one stage are on their way; tiles behind K are zeros, as all that lies outside of A and B.
    scf.for %s = %c0 to %ahead step %c1 : i32 {
      %predA = cute.predicate %tAcA[_, _, _, %s], %shapeA
      %predB = cute.predicate %tBcB[_, _, _, %s], %shapeB
      cute.copy %g2s, %tAgA[_, _, _, %s], %tAsA[_, _, _, %s], %predA
      cute.copy %g2s, %tBgB[_, _, _, %s], %tBsB[_, _, _, %s], %predB
      nvvm.cp.async.commit.group
    } {loop_annotation = #unroll}
    nvvm.cp.async.wait.group ${STAGES-2}
    gpu.barrier
    cute.copy %s2rA, %tXsA[_, _, 0, 0], %tXrA[_, _, 0]
    cute.copy %s2rB, %tXsB[_, _, 0, 0], %tXrB[_, _, 0]

    // While a k-block is multiplied, the next one's fragments are read, and one more tile is fetched.
    %kmode = cute.size<[2]> %gA
    %ktiles = cute.get_scalars %kmode
    scf.for %i = %c0 to %ktiles step %c1 iter_args(%read = %c0, %write = %ahead) -> (i32, i32) : i32 {
      %coming = arith.addi %i, %ahead : i32
      %up = arith.addi %read, %c1 : i32
      %wraps = arith.cmpi eq, %up, %stages : i32
      %next_stage = arith.select %wraps, %c0, %up : i32
      scf.for %k = %c0 to %kblocks step %c1 : i32 {
        %is_first = arith.cmpi eq, %k, %c0 : i32
        %is_last = arith.cmpi eq, %k, %last : i32
        %stage = arith.select %is_last, %next_stage, %read : i32
        scf.if %is_last {
          nvvm.cp.async.wait.group ${STAGES-2}
          gpu.barrier
        }
        %plus = arith.addi %k, %c1 : i32
        %next = arith.remui %plus, %kblocks : i32
        cute.copy %s2rA, %tXsA[_, _, %next, %stage], %tXrA[_, _, %next]
        cute.copy %s2rB, %tXsB[_, _, %next, %stage], %tXrB[_, _, %next]
        scf.if %is_first {
          %predA = cute.predicate %tAcA[_, _, _, %coming], %shapeA
          cute.copy %g2s, %tAgA[_, _, _, %coming], %tAsA[_, _, _, %write], %predA
        }
        cute.gemm %mma, %acc, %rA[_, _, %k], %rB[_, _, %k], %acc
        scf.if %is_first {
          %predB = cute.predicate %tBcB[_, _, _, %coming], %shapeB
          cute.copy %g2s, %tBgB[_, _, _, %coming], %tBsB[_, _, _, %write], %predB
          nvvm.cp.async.commit.group
        }
      } {loop_annotation = #unroll}
      scf.yield %next_stage, %read : i32, i32
    }

    // The sums as the type of C, two neighbours at a time.
    %rC = cute.make_fragment_like(%acc) {element = ${TC}}
    %sums = cute.memref.load_vec %acc
    %rounded = arith.${TRUNC} %sums : vector<${BM*BN/(32*WM*WN)}x${ACC}> to vector<${BM*BN/(32*WM*WN)}x${TC}>
    cute.memref.store_vec %rounded, %rC
    %pair = cute.make_atom : !cute_nvgpu.atom.universal_copy<${TC}, ${PAIR} b>
    %r2g = cute.make_tiled_copy_C %pair, %mma
    %tCrC = cute.tiled.copy.retile %r2g, %rC
    %tCgC = cute.tiled.copy.partition_D %r2g, %gC, %t
    %tCcC = cute.tiled.copy.partition_D %r2g, %cC, %t
    %predC = cute.predicate %tCcC, %shapeC
    cute.copy %r2g, %tCrC, %tCgC, %predC
    gpu.return
  }
}

// M, N, K and the strides are those of the tensors.
func.func @gemm(%A: !A, %B: !A, %C: !C) {
  %shape = cute.shape %C
  %blocks = cute.ceil_div %shape, (${BM}, ${BN})
  %m, %n = cute.get_scalars %blocks
  %gm = arith.index_cast %m : i32 to index
  %gn = arith.index_cast %n : i32 to index
  %c1 = arith.constant 1 : index
  %threads = arith.constant ${32*WM*WN} : index
  %bytes = arith.constant ${(BM+BN)*BK*STAGES*BITS/8} : i32
  gpu.launch_func @kernels::@gemm blocks in (%gm, %gn, %c1) threads in (%threads, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%A : !A, %B : !A, %C : !C)
  return
}
}
