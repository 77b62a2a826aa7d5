// O = softmax(scale Q K^T) V, scale > 0, for each head of a batch on tensor cores: FlashAttention-2.
// Q, O are (B,SQ,H,D), K, V (B,SK,HK,D); H / HK heads of Q share one head of K, V. A block takes BM
// rows of Q and makes one pass over the keys, BN at a time, starting with the last tile, which may need a mask.
// -D T: f16, bf16; D: 64, 128; W: warps; CAUSAL: 1 if row i attends to keys 0 to i only, else 0.
!X = !cute.memref<${T}, gmem, align<16>, "(?,?,?,${D}):(?{i64 div=8},?{i64 div=8},?{i64 div=8},1)">
!ldsm = !cute_nvgpu.atom.ldsm<val_type=${T}, mode=<"(8,8)">, sz_pattern=u16, num_matrices=4, n>
!ldsmT = !cute_nvgpu.atom.ldsm<val_type=${T}, mode=<"(8,8)">, sz_pattern=u16, num_matrices=4, t>
!rowS = vector<${BN/4}xf32>
!rowO = vector<${D/4}xf32>
#unroll = #llvm.loop_annotation<unroll = <full = true>>
gpu.module @kernels {
  gpu.func @attention(%Q: !X, %K: !X, %V: !X, %O: !X, %scale: f32) kernel
      attributes {nvvm.reqntid = array<i32: ${32*W}, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %x = nvvm.read.ptx.sreg.ctaid.x : i32
    %h = nvvm.read.ptx.sreg.ctaid.y : i32
    %b = nvvm.read.ptx.sreg.ctaid.z : i32
    %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
    %heads = nvvm.read.ptx.sreg.nctaid.y : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %cBM = arith.constant ${BM} : i32
    %below = arith.constant ${BM-1} : i32
    %cBN = arith.constant ${BN} : i32
    %rows = arith.constant ${BM/W/8} : i32
    %cols = arith.constant ${BN/4} : i32
    %zero = arith.constant 0.0 : f32
    %octaves = arith.constant 8.0 : f32
    %high = arith.constant 1.0e30 : f32
    %minus_inf = arith.constant 0xFF800000 : f32
    %log2e = arith.constant 1.4426950408889634 : f32
    // Rows and heads of this block; blocks with the most keys start first.
    %behind = arith.addi %x, %c1 : i32
    %m = arith.subi %blocks, %behind : i32
    %lengths = cute.shape %K
    %batches, %sk, %headsK, %d = cute.get_scalars %lengths
    %share = arith.divui %heads, %headsK : i32
    %hk = arith.divui %h, %share : i32
    %Qh = cute.slice %Q, (%b, _, %h, _)
    %Kh = cute.slice %K, (%b, _, %hk, _)
    %iQ = cute.make_identity_tensor %Qh
    %iK = cute.make_identity_tensor %Kh
    %gQ = cute.local_tile %Qh, (${BM}, ${D}), (%m, 0)
    %gK = cute.local_tile %Kh, (${BN}, ${D}), (_, 0)
    %gV = cute.local_tile %V[%b, _, %hk, _], (${BN}, ${D}), (_, 0)
    %cQ = cute.local_tile %iQ, (${BM}, ${D}), (%m, 0)
    %cK = cute.local_tile %iK, (${BN}, ${D}), (_, 0)
    // Tiles in shared memory, padded by 16 bytes per row to avoid bank conflicts.
    %sQp = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<${T}, smem, align<16>>
    %sKp = cute.add_offset %sQp, ${BM*(D+8)}
    %sVp = cute.add_offset %sQp, ${(BM+BN)*(D+8)}
    %sQ = cute.make_view %sQp, "(${BM},${D}):(${D+8},1)"
    %sK = cute.make_view %sKp, "(${BN},${D}):(${D+8},1)"
    %sV = cute.make_view %sVp, "(${BN},${D}):(${D+8},1)"
    %sVt = cute.make_view %sVp, "(${D},${BN}):(1,${D+8})"
    %async = cute.make_atom : !cute_nvgpu.atom.simt_async_copy<${T}, cache = global, 128 b>
    %g2s = cute.make_tiled_copy %async, "(${256*W/D},${D/8}):(${D/8},1)", "(1,8):(0,1)"
    %tQgQ = cute.tiled.copy.partition_S %g2s, %gQ, %t
    %tKgK = cute.tiled.copy.partition_S %g2s, %gK, %t
    %tVgV = cute.tiled.copy.partition_S %g2s, %gV, %t
    %tQcQ = cute.tiled.copy.partition_S %g2s, %cQ, %t
    %tKcK = cute.tiled.copy.partition_S %g2s, %cK, %t
    %tQsQ = cute.tiled.copy.partition_D %g2s, %sQ, %t
    %tKsK = cute.tiled.copy.partition_D %g2s, %sK, %t
    %tVsV = cute.tiled.copy.partition_D %g2s, %sV, %t
    // Fragments of S = Q K^T and O = P V; S, P and R are a thread's (rows, columns), A is P as operand A.
    %atom = cute.make_atom : !cute_nvgpu.sm80.mma<16x8x16, elem_type = (${T}, ${T}, f32) >
    %mma = cute.make_tiled_mma %atom, "(${W},1,1):(1,0,0)", (${16*W}, 16, 16)
    %ldsm = cute.make_atom : !ldsm
    %ldsmT = cute.make_atom : !ldsmT
    %s2rQ = cute.make_tiled_copy_A %ldsm, %mma
    %s2rK = cute.make_tiled_copy_B %ldsm, %mma
    %s2rV = cute.make_tiled_copy_B %ldsmT, %mma
    %tXsQ = cute.tiled.copy.partition_S %s2rQ, %sQ, %t
    %tXsK = cute.tiled.copy.partition_S %s2rK, %sK, %t
    %tXsV = cute.tiled.copy.partition_S %s2rV, %sVt, %t
    %rQ = cute.tiled.mma.partition_fragment A (%mma, %sQ, %t)
    %rK = cute.tiled.mma.partition_fragment B (%mma, %sK, %t)
    %rV = cute.tiled.mma.partition_fragment B (%mma, %sVt, %t)
    %rO = cute.tiled.mma.partition_fragment C (%mma, %sQ, %t)
    %shapeS = cute.tiled.mma.partition_shape C (%mma, (${BM}, ${BN}))
    %rS = cute.mma.make_fragment C (%mma, %shapeS)
    %rP = cute.make_fragment_like(%rS) {element = ${T}}
    %tXrQ = cute.tiled.copy.retile %s2rQ, %rQ
    %tXrK = cute.tiled.copy.retile %s2rK, %rK
    %tXrV = cute.tiled.copy.retile %s2rV, %rV
    %S = cute.composition %rS, "((2,${BM/W/16}),(2,${BN/8})):((2,4),(1,${BM/W/4}))"
    %P = cute.composition %rP, "((2,${BM/W/16}),(2,${BN/8})):((2,4),(1,${BM/W/4}))"
    %R = cute.composition %rO, "((2,${BM/W/16}),(2,${D/8})):((2,4),(1,${BM/W/4}))"
    %A = cute.composition %rP, "((2,2,2),${BM/W/16},${BN/16}):((1,2,${BM/W/4}),4,${BM/W/2})"
    %shiftS = cute.make_fragment_like(%S[_, 0])
    %sum = cute.make_fragment_like(%S[_, 0])
    cute.fill %shiftS, %high
    cute.fill %sum, %zero
    cute.fill %rO, %zero
    // Row i attends to keys before i + ahead; whole tiles before that need no mask.
    %ahead = arith.constant ${CAUSAL ? 1 : 1073741824} : i32
    %row0 = arith.muli %m, %cBM : i32
    %seen = arith.addi %row0, %ahead : i32
    %all = arith.minui %seen, %sk : i32
    %unmasked = arith.divui %all, %cBN : i32
    %last = arith.addi %seen, %below : i32
    %some = arith.minui %last, %sk : i32
    %tiles = arith.ceildivui %some, %cBN : i32
    // Start the copies of Q and the last tile of K; elements outside of the tensors become 0.
    %top0 = arith.subi %tiles, %c1 : i32
    %predQ = cute.predicate %tQcQ, %Qh
    %predK = cute.predicate %tKcK[_, _, _, %top0], %Kh
    cute.copy %g2s, %tQgQ, %tQsQ, %predQ {zero_fill}
    cute.copy %g2s, %tKgK[_, _, _, %top0], %tKsK, %predK {zero_fill}
    nvvm.cp.async.commit.group
    // exp(scale x) = 2^(c x). The first row and column of a tile of S that this thread holds.
    %c = arith.mulf %scale, %log2e : f32
    %cs = vector.broadcast %c : f32 to !rowS
    %minus_c = arith.negf %c : f32
    %place = cute.layout_eval %t, "(4,8,${W}):(2@1,1@0,16@0)"
    %rowT, %colT = cute.get_scalars %place
    %lastT = arith.addi %seen, %rowT : i32
    // The same loop twice: with masks and predicates, and without.
    scf.for %phase = %c0 to %c2 step %c1 : i32 {
      %masked = arith.cmpi eq, %phase, %c0 : i32
      %from = arith.select %masked, %tiles, %unmasked : i32
      %to = arith.select %masked, %unmasked, %c0 : i32
      %both = arith.addi %from, %to : i32
      scf.for %up = %to to %from step %c1 : i32 {
        %next = arith.subi %both, %up : i32
        %n = arith.subi %next, %c1 : i32
        // S = Q K^T, overlapped with the copy of V.
        nvvm.cp.async.wait.group 0
        gpu.barrier
        scf.if %masked {
          %predV = cute.predicate %tKcK[_, _, _, %n], %Kh
          cute.copy %g2s, %tVgV[_, _, _, %n], %tVsV, %predV {zero_fill}
        } else {
          cute.copy %g2s, %tVgV[_, _, _, %n], %tVsV
        }
        nvvm.cp.async.commit.group
        cute.fill %rS, %zero
        cute.copy %s2rQ, %tXsQ, %tXrQ
        cute.copy %s2rK, %tXsK, %tXrK
        cute.gemm %mma, %rS, %rQ, %rK, %rS
        nvvm.cp.async.wait.group 0
        gpu.barrier
        // The row maxima of this thread's elements.
        %col0 = arith.muli %n, %cBN : i32
        %col = arith.addi %col0, %colT : i32
        %end = arith.subi %sk, %col : i32
        %diagonal = arith.subi %lastT, %col : i32
        %rise = scf.for %i = %c0 to %rows step %c1 iter_args(%far = %zero) -> (f32) : i32 {
          scf.if %masked {
            %iRow = cute.layout_eval %i, "(2,${BM/W/16}):(8,${16*W})"
            %rowI = cute.get_scalars %iRow
            %diagonalI = arith.addi %diagonal, %rowI : i32
            %endI = arith.minsi %diagonalI, %end : i32
            scf.for %j = %c0 to %cols step %c1 : i32 {
              %jCol = cute.layout_eval %j, "(2,${BN/8}):(1,8)"
              %colJ = cute.get_scalars %jCol
              %out = arith.cmpi sge, %colJ, %endI : i32
              scf.if %out {
                cute.store %minus_inf, %S[%i, %j]
              }
            } {loop_annotation = #unroll}
          }
          %s = cute.memref.load_vec %S[%i, _]
          %mine = vector.reduction <maxnumf>, %s : !rowS into f32
          %shift = cute.memref.load %shiftS[%i]
          %bits = math.fma %mine, %c, %shift : f32
          %farther = arith.maxnumf %far, %bits : f32
          scf.yield %farther : f32
        } {loop_annotation = #unroll}
        // Copy the next tile of K during the softmax and the product with V.
        %more = arith.cmpi ne, %n, %c0 : i32
        scf.if %more {
          %n1 = arith.subi %n, %c1 : i32
          cute.copy %g2s, %tKgK[_, _, _, %n1], %tKsK
          nvvm.cp.async.commit.group
        }
        // P = 2^(c S + shift); rescale shift, sums and O only if this would exceed 2^8.
        %is_far = arith.cmpf ogt, %rise, %octaves : f32
        %follow = cute_nvgpu.arch.vote<any> %is_far
        scf.if %follow {
          scf.for %i = %c0 to %rows step %c1 : i32 {
            %s = cute.memref.load_vec %S[%i, _]
            %mine = vector.reduction <maxnumf>, %s : !rowS into f32
            %quad = cute_nvgpu.arch.warp_all_reduce<max, 4> %mine
            %wanted = arith.mulf %quad, %minus_c : f32
            %old = cute.memref.load %shiftS[%i]
            %new = arith.minnumf %old, %wanted : f32
            cute.store %new, %shiftS[%i]
            %bits = arith.subf %new, %old : f32
            %factor = math.exp2 %bits fastmath<afn> : f32
            %was = cute.memref.load %sum[%i]
            %is = arith.mulf %was, %factor : f32
            cute.store %is, %sum[%i]
            %factors = vector.broadcast %factor : f32 to !rowO
            %o = cute.memref.load_vec %R[%i, _]
            %scaled = arith.mulf %o, %factors : !rowO
            cute.memref.store_vec %scaled, %R[%i, _]
          } {loop_annotation = #unroll}
        }
        // Convert P to the type of V and add its row sums; O = O + P V.
        scf.for %i = %c0 to %rows step %c1 : i32 {
          %s = cute.memref.load_vec %S[%i, _]
          %shift = cute.memref.load %shiftS[%i]
          %shifts = vector.broadcast %shift : f32 to !rowS
          %e = math.fma %s, %cs, %shifts : !rowS
          %p = math.exp2 %e fastmath<afn> : !rowS
          %short = arith.truncf %p : !rowS to vector<${BN/4}x${T}>
          cute.memref.store_vec %short, %P[%i, _]
          %before = cute.memref.load %sum[%i]
          %after = vector.reduction <add>, %p, %before : !rowS into f32
          cute.store %after, %sum[%i]
        } {loop_annotation = #unroll}
        cute.copy %s2rV, %tXsV, %tXrV
        cute.gemm %mma, %rO, %A, %rV, %rO
      }
    } {loop_annotation = #unroll}
    // Divide O by the sums over four threads each, and store it through the shared tile of Q.
    %tOsO = cute.tiled.mma.partition C (%mma, %sQ, %t)
    %sO = cute.composition %tOsO, "((2,${BM/W/16}),(2,${D/8})):((2,4),(1,${BM/W/4}))"
    scf.for %i = %c0 to %rows step %c1 : i32 {
      %mine = cute.memref.load %sum[%i]
      %quad = cute_nvgpu.arch.warp_all_reduce<add, 4> %mine
      %factor = nvvm.rcp.approx.ftz.f %quad : f32
      %factors = vector.broadcast %factor : f32 to !rowO
      %o = cute.memref.load_vec %R[%i, _]
      %mean = arith.mulf %o, %factors : !rowO
      %short = arith.truncf %mean : !rowO to vector<${D/4}x${T}>
      cute.memref.store_vec %short, %sO[%i, _]
    } {loop_annotation = #unroll}
    gpu.barrier
    %eight = cute.make_atom : !cute_nvgpu.atom.universal_copy<${T}, 128 b>
    %gO = cute.local_tile %O[%b, _, %h, _], (${BM}, ${D}), (%m, 0)
    %tOgO = cute.tiled.copy.partition_D %g2s, %gO, %t
    cute.copy %eight, %tQsQ, %tOgO, %predQ
    gpu.return
  }
}
func.func @attention(%Q: !X, %K: !X, %V: !X, %O: !X, %scale: f32) {
  %shape = cute.shape %Q
  %blocks = cute.ceil_div %shape, (1, ${BM})
  %b, %m, %h, %d = cute.get_scalars %blocks
  %c1 = arith.constant 1 : i32
  %threads = arith.constant ${32*W} : i32
  %bytes = arith.constant ${(BM+2*BN)*(D+8)*2} : i32
  gpu.launch_func @kernels::@attention blocks in (%m, %h, %b) threads in (%threads, %c1, %c1) : i32
    dynamic_shared_memory_size %bytes args(%Q : !X, %K : !X, %V : !X, %O : !X, %scale : f32)
  return
}
// In an editor: -D T=bf16 -D D=128 -D CAUSAL=0 -D BM=128 -D BN=48 -D W=4
