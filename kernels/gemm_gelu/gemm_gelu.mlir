// C = gelu(A B^T + bias) on tensor cores: A is (M,K), B (N,K), C (M,N), the last mode contiguous;
// bias has N elements. The main loop is that of gemm_sm80. gelu is the tanh approximation,
// x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3))); each sum is rounded once.
// -D T: f16 or bf16. V divides K and VC divides N: 1 for any K and N. BM BN BK: tile sizes, STAGES:
// buffers. WM WN: warps. S: swizzle. COPY CACHE: atom that fills the buffers.
!A = !cute.memref<${T}, gmem, align<${2*V}>, "(?,?{div=${V}}):(?{i64 div=${V}},1)">
!C = !cute.memref<${T}, gmem, align<${2*VC}>, "(?,?{div=${VC}}):(?{i64 div=${VC}},1)">
!bias = !cute.memref<${T}, gmem, align<${2*VC}>, "?:1">
!atom = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (${T}, ${T}, f32) >
!ldsm = !cute_nvgpu.atom.ldsm<val_type=${T}, mode=<"(8,8)">, sz_pattern=u16, num_matrices=4, n>
#unroll = #llvm.loop_annotation<unroll = <full = true>>

gpu.module @kernels {
  gpu.func @gemm_gelu(%A: !A, %B: !A, %bias: !bias, %C: !C) kernel
      attributes {nvvm.reqntid = array<i32: ${32*WM*WN}, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %bn = nvvm.read.ptx.sreg.ctaid.x : i32
    %bm = nvvm.read.ptx.sreg.ctaid.y : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %stages = arith.constant ${STAGES} : i32
    %ahead = arith.constant ${STAGES-1} : i32
    %kblocks = arith.constant ${BK/16} : i32
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
    // The bias as a matrix of equal rows.
    %shape = cute.shape %C
    %alike = cute.make_layout(%shape, (0, 1))
    %first = cute.get_iter %bias
    %D = cute.make_view %first, %alike
    %gD = cute.local_tile(%D, %tile, %block, "(1,1,_)")
    // The stages, and the copies of V elements per thread that fill them.
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<${T}, smem, align<1024>>
    %behind = cute.add_offset %smem, ${BM*BK*STAGES}
    %sA = cute.make_view %smem, "${S} o 0 o (${BM},${BK},${STAGES}):(${BK},1,${BM*BK})"
    %sB = cute.make_view %behind, "${S} o 0 o (${BN},${BK},${STAGES}):(${BK},1,${BN*BK})"
    %fill = cute.make_atom : !cute_nvgpu.atom.${COPY}<${T}, ${CACHE} ${16*V} b>
    %g2s = cute.make_tiled_copy %fill, "(${32*WM*WN*V/BK},${BK/V}):(${BK/V},1)", "(1,${V}):(0,1)"
    %tAgA = cute.tiled.copy.partition_S %g2s, %gA, %t
    %tBgB = cute.tiled.copy.partition_S %g2s, %gB, %t
    %tAcA = cute.tiled.copy.partition_S %g2s, %cA, %t
    %tBcB = cute.tiled.copy.partition_S %g2s, %cB, %t
    %tAsA = cute.tiled.copy.partition_D %g2s, %sA, %t
    %tBsB = cute.tiled.copy.partition_D %g2s, %sB, %t
    // Fragments of the MMA, and the ldmatrix copies that fill them.
    %atom = cute.make_atom : !atom
    %mma = cute.make_tiled_mma %atom, "(${WM},${WN},1):(1,${WM},0)", (${16*WM}, ${16*WN}, 16)
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
    // Tiles are loaded in descending order, so that the partial tile of K is first; elements past K and
    // tiles before 0 are zero-filled. Start the copies of all but one stage.
    %kmode = cute.size<[2]> %gA
    %ktiles = cute.get_scalars %kmode
    %top = arith.subi %ktiles, %c1 : i32
    scf.for %s = %c0 to %ahead step %c1 : i32 {
      %below = arith.subi %top, %s : i32
      %tile_k = arith.minui %below, %ktiles : i32
      %predA = cute.predicate %tAcA[_, _, _, %tile_k], %A
      %predB = cute.predicate %tBcB[_, _, _, %tile_k], %B
      cute.copy %g2s, %tAgA[_, _, _, %tile_k], %tAsA[_, _, _, %s], %predA {zero_fill}
      cute.copy %g2s, %tBgB[_, _, _, %tile_k], %tBsB[_, _, _, %s], %predB {zero_fill}
      nvvm.cp.async.commit.group
    } {loop_annotation = #unroll}
    nvvm.cp.async.wait.group ${STAGES-2}
    gpu.barrier
    cute.copy %s2rA, %tXsA[_, _, 0, 0], %tXrA[_, _, 0]
    cute.copy %s2rB, %tXsB[_, _, 0, 0], %tXrB[_, _, 0]
    // While a k-block is multiplied, read the fragments of the next one and fetch one more tile.
    %rowsA = cute.predicate %tAcA[_, _, _, 0], %A
    %rowsB = cute.predicate %tBcB[_, _, _, 0], %B
    scf.for %i = %c0 to %ktiles step %c1 iter_args(%read = %c0, %to = %ahead) -> (i32, i32) : i32 {
      %far = arith.addi %i, %ahead : i32
      %coming = arith.subi %top, %far : i32
      %is_there = arith.cmpi sge, %coming, %c0 : i32
      %up = arith.addi %read, %c1 : i32
      %wraps = arith.cmpi eq, %up, %stages : i32
      %after = arith.select %wraps, %c0, %up : i32
      scf.for %k = %c0 to %kblocks step %c1 : i32 {
        %is_first = arith.cmpi eq, %k, %c0 : i32
        %plus = arith.addi %k, %c1 : i32
        %next = arith.remui %plus, %kblocks : i32
        %is_last = arith.cmpi eq, %next, %c0 : i32
        %stage = arith.select %is_last, %after, %read : i32
        scf.if %is_last {
          nvvm.cp.async.commit.group
          nvvm.cp.async.wait.group ${STAGES-2}
          gpu.barrier
        }
        cute.copy %s2rA, %tXsA[_, _, %next, %stage], %tXrA[_, _, %next]
        cute.copy %s2rB, %tXsB[_, _, %next, %stage], %tXrB[_, _, %next]
        %fetches = arith.andi %is_first, %is_there : i1
        scf.if %fetches {
          cute.copy %g2s, %tAgA[_, _, _, %coming], %tAsA[_, _, _, %to], %rowsA {zero_fill}
          cute.copy %g2s, %tBgB[_, _, _, %coming], %tBsB[_, _, _, %to], %rowsB {zero_fill}
        }
        cute.gemm %mma, %acc, %rA[_, _, %k], %rB[_, _, %k], %acc
      } {loop_annotation = #unroll}
      scf.yield %after, %read : i32, i32
    }
    // The bias of the thread's columns, broadcast over rows by rD.
    %pair = cute.make_atom : !cute_nvgpu.atom.universal_copy<${T}, ${16*VC} b>
    %pD = cute.tiled.mma.partition C (%mma, %gD, %t)
    %pI = cute.tiled.mma.partition C (%mma, %cC, %t)
    %rD = cute.make_fragment_like %pD
    %none = arith.constant 0.0 : ${T}
    cute.fill %rD, %none
    %predD = cute.predicate %pI[(_, 0), 0, _], %C
    cute.copy %pair, %pD[(_, 0), 0, _], %rD[(_, 0), 0, _], %predD
    // x = sum + bias and gelu(x) = x / (1 + 2^(x (p + q x^2))), converted to the type of C.
    %rC = cute.make_fragment_like(%acc) {element = ${T}}
    %sums = arith.constant ${BM*BN/(32*WM*WN)} : i32
    %one = arith.constant 1.0 : f32
    %p = arith.constant -2.302208198 : f32
    %q = arith.constant -0.1029432396 : f32
    scf.for %i = %c0 to %sums step %c1 : i32 {
      %sum = cute.load %acc[%i]
      %narrow = cute.load %rD[%i]
      %wide = arith.extf %narrow : ${T} to f32
      %x = arith.addf %sum, %wide : f32
      %square = arith.mulf %x, %x : f32
      %curve = math.fma %square, %q, %p : f32
      %exponent = arith.mulf %x, %curve : f32
      %e = math.exp2 %exponent fastmath<afn> : f32
      %below = arith.addf %e, %one : f32
      %share = nvvm.rcp.approx.ftz.f %below : f32
      %gelu = arith.mulf %x, %share : f32
      %rounded = arith.truncf %gelu : f32 to ${T}
      cute.store %rounded, %rC[%i]
    } {loop_annotation = #unroll}
    %r2g = cute.make_tiled_copy_C %pair, %mma
    %tCrC = cute.tiled.copy.retile %r2g, %rC
    %tCgC = cute.tiled.copy.partition_D %r2g, %gC, %t
    %tCcC = cute.tiled.copy.partition_D %r2g, %cC, %t
    %predC = cute.predicate %tCcC, %C
    cute.copy %r2g, %tCrC, %tCgC, %predC
    gpu.return
  }
}
// M, N, K and the strides are those of the tensors.
func.func @gemm_gelu(%A: !A, %B: !A, %bias: !bias, %C: !C) {
  %shape = cute.shape %C
  %blocks = cute.ceil_div %shape, (${BM}, ${BN})
  %m, %n = cute.get_scalars %blocks
  %gm = arith.index_cast %m : i32 to index
  %gn = arith.index_cast %n : i32 to index
  %c1 = arith.constant 1 : index
  %threads = arith.constant ${32*WM*WN} : index
  %bytes = arith.constant ${2*(BM+BN)*BK*STAGES} : i32
  gpu.launch_func @kernels::@gemm_gelu blocks in (%gn, %gm, %c1) threads in (%threads, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%A : !A, %B : !A, %bias : !bias, %C : !C)
  return
}
// In an editor: -D T=f16 -D BM=128 -D BN=256 -D BK=64 -D STAGES=3 -D WM=2 -D WN=4 -D S=S<3,3,3> -D V=8 -D VC=2
// -D COPY=simt_async_copy -D CACHE=cache=global,
