// C = gelu(A B^T + bias) on the tensor cores of sm_80, one kernel: A is (M,K), B is (N,K), bias has
// N elements, C is (M,N), the last mode contiguous; any M, N; rows of multiples of 16 bytes. gelu
// is its form with tanh: x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3))). The product is that of
// gemm_sm80.
// -D T: f16 or bf16; BM BN BK: tiles; STAGES of these; WM WN: warps; S: swizzle.
!A = !cute.memref<${T}, gmem, align<16>, "(?,?):(?{i64 div=8},1)">
!bias = !cute.memref<${T}, gmem, align<16>, "?:1">
!mma = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (${T}, ${T}, f32) >
!ldsm = !cute_nvgpu.atom.ldsm<val_type = ${T}, mode = <"(8,8)">, sz_pattern = u16,
                              num_matrices = 4, n>
!async = !cute_nvgpu.atom.simt_async_copy<${T}, cache = global, 128 b>
#unroll = #llvm.loop_annotation<unroll = <full = true>>

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @gemm_gelu(%A: !A, %B: !A, %bias: !bias, %C: !A) kernel
      attributes {nvvm.reqntid = array<i32: ${32*WM*WN}, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %bm = nvvm.read.ptx.sreg.ctaid.x : i32
    %bn = nvvm.read.ptx.sreg.ctaid.y : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %stages = arith.constant ${STAGES} : i32
    %ahead = arith.constant ${STAGES-1} : i32
    %kblocks = arith.constant ${BK/16} : i32
    %last = arith.constant ${BK/16-1} : i32

    // The block's tiles, (BM,BK,k) and (BN,BK,k), and where their elements lie in A and B. The bias
    // is a matrix whose rows are the same.
    %tile = cute.make_tile ${BM}, ${BN}, ${BK}
    %block = cute.make_coord(%bm, %bn, _)
    %shapeA = cute.shape %A
    %shapeB = cute.shape %B
    %shapeC = cute.shape %C
    %rows_alike = cute.make_layout(%shapeC, (0, 1))
    %first = cute.get_iter %bias
    %D = cute.make_view %first, %rows_alike
    %iA = cute.make_identity_tensor %shapeA
    %iB = cute.make_identity_tensor %shapeB
    %iC = cute.make_identity_tensor %shapeC
    %gA = cute.local_tile(%A, %tile, %block, "(1,_,1)")
    %gB = cute.local_tile(%B, %tile, %block, "(_,1,1)")
    %gC = cute.local_tile(%C, %tile, %block, "(1,1,_)")
    %gD = cute.local_tile(%D, %tile, %block, "(1,1,_)")
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
    %g2s = cute.make_tiled_copy %async, "(${256*WM*WN/BK},${BK/8}):(${BK/8},1)", "(1,8):(0,1)"
    %tAgA = cute.tiled.copy.partition_S %g2s, %gA, %t
    %tBgB = cute.tiled.copy.partition_S %g2s, %gB, %t
    %tAcA = cute.tiled.copy.partition_S %g2s, %cA, %t
    %tBcB = cute.tiled.copy.partition_S %g2s, %cB, %t
    %tAsA = cute.tiled.copy.partition_D %g2s, %sA, %t
    %tBsB = cute.tiled.copy.partition_D %g2s, %sB, %t

    // Fragments of the MMA, and how ldmatrix fills them.
    %atom = cute.make_atom : !mma
    %mma = cute.make_tiled_mma %atom, "(${WM},${WN},1):(1,${WM},0)", (${16*WM}, ${16*WN}, 16)
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
    %zero = arith.constant 0.0 : f32
    cute.fill %acc, %zero

    // All but one stage are on their way; tiles behind K are zeros, as all outside of A and B.
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

    // While a k-block is multiplied, the next fragments are read, and one more tile is fetched.
    %kmode = cute.size<[2]> %gA
    %ktiles = cute.get_scalars %kmode
    scf.for %i = %c0 to %ktiles step %c1
        iter_args(%read = %c0, %write = %ahead) -> (i32, i32) : i32 {
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
          %predB = cute.predicate %tBcB[_, _, _, %coming], %shapeB
          cute.copy %g2s, %tAgA[_, _, _, %coming], %tAsA[_, _, _, %write], %predA
          cute.copy %g2s, %tBgB[_, _, _, %coming], %tBsB[_, _, _, %write], %predB
          nvvm.cp.async.commit.group
        }
        cute.gemm %mma, %acc, %rA[_, _, %k], %rB[_, _, %k], %acc
      } {loop_annotation = #unroll}
      scf.yield %next_stage, %read : i32, i32
    }

    // The thread's columns of the bias, two neighbours at a time: rD repeats them in each row.
    %pair = cute.make_atom : !cute_nvgpu.atom.universal_copy<${T}, 32 b>
    %pD = cute.tiled.mma.partition C (%mma, %gD, %t)
    %pI = cute.tiled.mma.partition C (%mma, %cC, %t)
    %rD = cute.make_fragment_like %pD
    %none = arith.constant 0.0 : ${T}
    cute.fill %rD, %none
    %predD = cute.predicate %pI[(_, 0), 0, _], %shapeC
    cute.copy %pair, %pD[(_, 0), 0, _], %rD[(_, 0), 0, _], %predD

    // Each sum, rounded once: x = sum + bias, x / (1 + 2^(x (p + q x^2))).
    %rC = cute.make_fragment_like(%acc) {element = ${T}}
    %count = arith.constant ${BM*BN/(32*WM*WN)} : i32
    %one = arith.constant 1.0 : f32
    %p = arith.constant -2.302208198 : f32
    %q = arith.constant -0.1029432397 : f32
    scf.for %i = %c0 to %count step %c1 : i32 {
      %sum = cute.load %acc[%i]
      %narrow = cute.load %rD[%i]
      %wide = arith.extf %narrow : ${T} to f32
      %x = arith.addf %sum, %wide : f32
      %x2 = arith.mulf %x, %x : f32
      %curve = math.fma %x2, %q, %p : f32
      %exponent = arith.mulf %x, %curve : f32
      %e = math.exp2 %exponent fastmath<afn> : f32
      %below = arith.addf %e, %one : f32
      %share = nvvm.rcp.approx.ftz.f %below : f32
      %y = arith.mulf %x, %share : f32
      %rounded = arith.truncf %y : f32 to ${T}
      cute.store %rounded, %rC[%i]
    } {loop_annotation = #unroll}
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
func.func @gemm_gelu(%A: !A, %B: !A, %bias: !bias, %C: !A) {
  %shape = cute.shape %C
  %blocks = cute.ceil_div %shape, (${BM}, ${BN})
  %m, %n = cute.get_scalars %blocks
  %gm = arith.index_cast %m : i32 to index
  %gn = arith.index_cast %n : i32 to index
  %c1 = arith.constant 1 : index
  %threads = arith.constant ${32*WM*WN} : index
  %bytes = arith.constant ${2*(BM+BN)*BK*STAGES} : i32
  gpu.launch_func @kernels::@gemm_gelu blocks in (%gm, %gn, %c1) threads in (%threads, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%A : !A, %B : !A, %bias : !bias, %C : !A)
  return
}
}
