// O = softmax(scale Q K^T) V on the tensor cores of sm_80, for each head of a batch: Q and O are (B,SQ,H,D), K and V (B,SK,HK,D); H is a
// multiple of HK, and H / HK heads of Q share one of K and V. FlashAttention-2: a block has BM rows of Q, and passes over the keys once, BN at
// a time, the last tile first; the softmax's maximum and sum are corrected when a larger value comes.
// -D T: f16 or bf16; D: 64 or 128; BM BN: tiles; W: warps; CAUSAL: 1 if row i attends to keys 0 to i only, else 0.
!X = !cute.memref<${T}, gmem, align<16>, "(?,?,?,${D}):(?{i64 div=8},?{i64 div=8},?{i64 div=8},1)">
!atom = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (${T}, ${T}, f32) >
!ldsm = !cute_nvgpu.atom.ldsm<val_type = ${T}, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!ldsmT = !cute_nvgpu.atom.ldsm<val_type = ${T}, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, t>
!async = !cute_nvgpu.atom.simt_async_copy<${T}, cache = global, 128 b>
!row = vector<${BN/4}xf32>
#unroll = #llvm.loop_annotation<unroll = <full = true>>

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @attention(%Q: !X, %K: !X, %V: !X, %O: !X, %scale: f32) kernel attributes {nvvm.reqntid = array<i32: ${32*W}, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %bx = nvvm.read.ptx.sreg.ctaid.x : i32
    %h = nvvm.read.ptx.sreg.ctaid.y : i32
    %b = nvvm.read.ptx.sreg.ctaid.z : i32
    %nx = nvvm.read.ptx.sreg.nctaid.x : i32
    %heads = nvvm.read.ptx.sreg.nctaid.y : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %causal = arith.constant ${CAUSAL} : i1
    %f0 = arith.constant 0.0 : f32
    %low = arith.constant -1.0e30 : f32
    %inf = arith.constant 0xFF800000 : f32
    %rows = arith.constant ${BM/W/8} : i32
    %cols = arith.constant ${BN/4} : i32
    %kblocksS = arith.constant ${D/16} : i32
    %kblocksO = arith.constant ${BN/16} : i32

    // This block's rows, those with the most keys first, and its heads.
    %nx1 = arith.subi %nx, %c1 : i32
    %back = arith.subi %nx1, %bx : i32
    %m = arith.select %causal, %back, %bx : i32
    %sizeH = cute.size<[2]> %K
    %headsK = cute.get_scalars %sizeH
    %share = arith.divui %heads, %headsK : i32
    %hk = arith.divui %h, %share : i32
    %Qh = cute.slice %Q, (%b, _, %h, _)
    %Kh = cute.slice %K, (%b, _, %hk, _)
    %Vh = cute.slice %V, (%b, _, %hk, _)
    %Oh = cute.slice %O, (%b, _, %h, _)
    %shapeQ = cute.shape %Qh
    %shapeK = cute.shape %Kh
    %iQ = cute.make_identity_tensor %shapeQ
    %iK = cute.make_identity_tensor %shapeK
    %gQ = cute.local_tile %Qh, (${BM}, ${D}), (%m, 0)
    %gO = cute.local_tile %Oh, (${BM}, ${D}), (%m, 0)
    %gK = cute.local_tile %Kh, (${BN}, ${D}), (_, 0)
    %gV = cute.local_tile %Vh, (${BN}, ${D}), (_, 0)
    %cQ = cute.local_tile %iQ, (${BM}, ${D}), (%m, 0)
    %cK = cute.local_tile %iK, (${BN}, ${D}), (_, 0)

    // Tiles in shared memory, and how 16 bytes a thread come to them. V is read by columns.
    %bytes = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %smem = cute.recast_iter %bytes : ${T}
    %smemK = cute.add_offset %smem, ${BM*D}
    %smemV = cute.add_offset %smem, ${(BM+BN)*D}
    %sQ = cute.make_view %smem, "S<3,3,${log2(D)-3}> o 0 o (${BM},${D}):(${D},1)"
    %sK = cute.make_view %smemK, "S<3,3,${log2(D)-3}> o 0 o (${BN},${D}):(${D},1)"
    %sV = cute.make_view %smemV, "S<3,3,${log2(D)-3}> o 0 o (${BN},${D}):(${D},1)"
    %sVt = cute.make_view %smemV, "S<3,3,${log2(D)-3}> o 0 o (${D},${BN}):(1,${D})"
    %async = cute.make_atom : !async
    %g2s = cute.make_tiled_copy %async, "(${256*W/D},${D/8}):(${D/8},1)", "(1,8):(0,1)"
    %tQgQ = cute.tiled.copy.partition_S %g2s, %gQ, %t
    %tKgK = cute.tiled.copy.partition_S %g2s, %gK, %t
    %tVgV = cute.tiled.copy.partition_S %g2s, %gV, %t
    %tQcQ = cute.tiled.copy.partition_S %g2s, %cQ, %t
    %tKcK = cute.tiled.copy.partition_S %g2s, %cK, %t
    %tQsQ = cute.tiled.copy.partition_D %g2s, %sQ, %t
    %tKsK = cute.tiled.copy.partition_D %g2s, %sK, %t
    %tVsV = cute.tiled.copy.partition_D %g2s, %sV, %t

    // Fragments: S = Q K^T and O = P V, where P is what S becomes, in the same registers' order.
    %atom = cute.make_atom : !atom
    %mma = cute.make_tiled_mma %atom, "(${W},1,1):(1,0,0)", (${16*W}, 16, 16)
    %ldsm = cute.make_atom : !ldsm
    %ldsmT = cute.make_atom : !ldsmT
    %s2rQ = cute.make_tiled_copy_A %ldsm, %mma
    %s2rK = cute.make_tiled_copy_B %ldsm, %mma
    %s2rV = cute.make_tiled_copy_B %ldsmT, %mma
    %tXsQ = cute.tiled.copy.partition_S %s2rQ, %sQ, %t
    %tXsK = cute.tiled.copy.partition_S %s2rK, %sK, %t
    %tXsV = cute.tiled.copy.partition_S %s2rV, %sVt, %t
    %pQ = cute.tiled.mma.partition A (%mma, %sQ, %t)
    %pK = cute.tiled.mma.partition B (%mma, %sK, %t)
    %pV = cute.tiled.mma.partition B (%mma, %sVt, %t)
    %pO = cute.tiled.mma.partition C (%mma, %gO, %t)
    %shapeS = cute.tiled.mma.partition_shape C (%mma, (${BM}, ${BN}))
    %rQ = cute.mma.make_fragment A (%mma, %pQ)
    %rK = cute.mma.make_fragment B (%mma, %pK)
    %rV = cute.mma.make_fragment B (%mma, %pV)
    %rO = cute.mma.make_fragment C (%mma, %pO)
    %rS = cute.mma.make_fragment C (%mma, %shapeS)
    %tXrQ = cute.tiled.copy.retile %s2rQ, %rQ
    %tXrK = cute.tiled.copy.retile %s2rK, %rK
    %tXrV = cute.tiled.copy.retile %s2rV, %rV
    %itS = cute.get_iter %rS
    %itO = cute.get_iter %rO
    %rowsS = cute.make_view %itS, "((2,${BM/W/16}),(2,${BN/8})):((2,4),(1,${BM/W/4}))"
    %rowsO = cute.make_view %itO, "((2,${BM/W/16}),(2,${D/8})):((2,4),(1,${BM/W/4}))"
    %rP = cute.make_fragment_like(%rS) {element = ${T}}
    %itP = cute.get_iter %rP
    %aP = cute.make_view %itP, "((2,2,2),${BM/W/16},${BN/16}):((1,2,${BM/W/4}),4,${BM/W/2})"
    %max = cute.make_fragment_like(%rowsS[_, 0]) {element = f32}
    %sum = cute.make_fragment_like(%rowsS[_, 0]) {element = f32}
    cute.fill %rO, %f0
    cute.fill %max, %low
    cute.fill %sum, %f0

    // Tiles of keys: [0, tiles), of which [0, full) need no mask.
    %sizeK = cute.size<[0]> %Kh
    %sk = cute.get_scalars %sizeK
    %cBM = arith.constant ${BM} : i32
    %cBN = arith.constant ${BN} : i32
    %row0 = arith.muli %m, %cBM : i32
    %row1 = arith.addi %row0, %cBM : i32
    %upto = arith.minsi %row1, %sk : i32
    %keys = arith.select %causal, %upto, %sk : i32
    %tiles = arith.ceildivsi %keys, %cBN : i32
    %whole = arith.minsi %row0, %sk : i32
    %free = arith.select %causal, %whole, %sk : i32
    %full = arith.divui %free, %cBN : i32

    // Q and the last tile of K are on their way; what is outside of the tensors is 0.
    %last = arith.subi %tiles, %c1 : i32
    %predQ = cute.predicate %tQcQ, %shapeQ
    %predK = cute.predicate %tKcK[_, _, _, %last], %shapeK
    cute.copy %g2s, %tQgQ, %tQsQ, %predQ
    cute.copy %g2s, %tKgK[_, _, _, %last], %tKsK, %predK
    nvvm.cp.async.commit.group

    // This thread's first row, and its first column in a tile of S.
    %log2e = arith.constant 1.4426950408889634 : f32
    %c = arith.mulf %scale, %log2e : f32
    %minus = arith.negf %c : f32
    %vc = vector.broadcast %c : f32 to !row
    %tRow = cute.layout_eval %t, "(4,8,${W}):(0,1,16)"
    %tCol = cute.layout_eval %t, "(4,8,${W}):(2,0,0)"
    %rowT = cute.get_scalars %tRow
    %colT = cute.get_scalars %tCol
    %rowB = arith.addi %row0, %rowT : i32

    // Twice the same loop: with masks and predicates, and without.
    scf.for %phase = %c0 to %c2 step %c1 : i32 {
      %masked = arith.cmpi eq, %phase, %c0 : i32
      %from = arith.select %masked, %tiles, %full : i32
      %to = arith.select %masked, %full, %c0 : i32
      %steps = arith.subi %from, %to : i32
      scf.for %step = %c0 to %steps step %c1 : i32 {
        %left = arith.subi %from, %step : i32
        %n = arith.subi %left, %c1 : i32

        // S = Q K^T, while V comes.
        nvvm.cp.async.wait.group 0
        gpu.barrier
        scf.if %masked {
          %predV = cute.predicate %tKcK[_, _, _, %n], %shapeK
          cute.copy %g2s, %tVgV[_, _, _, %n], %tVsV, %predV
        } else {
          cute.copy %g2s, %tVgV[_, _, _, %n], %tVsV
        }
        nvvm.cp.async.commit.group
        cute.fill %rS, %f0
        scf.for %k = %c0 to %kblocksS step %c1 : i32 {
          cute.copy %s2rQ, %tXsQ[_, _, %k], %tXrQ[_, _, %k]
          cute.copy %s2rK, %tXsK[_, _, %k], %tXrK[_, _, %k]
          cute.gemm %mma, %rS, %rQ[_, _, %k], %rK[_, _, %k], %rS
        } {loop_annotation = #unroll}
        nvvm.cp.async.wait.group 0
        gpu.barrier

        // P = exp(scale (S - max)), while the next tile of K comes.
        %more = arith.cmpi sgt, %n, %c0 : i32
        scf.if %more {
          %next = arith.subi %n, %c1 : i32
          cute.copy %g2s, %tKgK[_, _, _, %next], %tKsK
          nvvm.cp.async.commit.group
        }
        scf.for %i = %c0 to %rows step %c1 : i32 {
          scf.if %masked {
            %iRow = cute.layout_eval %i, "(2,${BM/W/16}):(8,${16*W})"
            %rowI = cute.get_scalars %iRow
            %row = arith.addi %rowB, %rowI : i32
            %behind = arith.addi %row, %c1 : i32
            %below = arith.minsi %behind, %sk : i32
            %limit = arith.select %causal, %below, %sk : i32
            %col0 = arith.muli %n, %cBN : i32
            %colN = arith.addi %col0, %colT : i32
            %room = arith.subi %limit, %colN : i32
            scf.for %j = %c0 to %cols step %c1 : i32 {
              %jCol = cute.layout_eval %j, "(2,${BN/8}):(1,8)"
              %col = cute.get_scalars %jCol
              %out = arith.cmpi sge, %col, %room : i32
              scf.if %out {
                cute.store %inf, %rowsS[%i, %j]
              }
            } {loop_annotation = #unroll}
          }
          %s = cute.memref.load_vec %rowsS[%i, _]
          %mine = vector.reduction <maxnumf>, %s : !row into f32
          %right = cute_nvgpu.arch.shuffle<bfly> %mine, %c1
          %pair = arith.maxnumf %mine, %right : f32
          %other = cute_nvgpu.arch.shuffle<bfly> %pair, %c2
          %quad = arith.maxnumf %pair, %other : f32
          %old = cute.memref.load %max[%i]
          %new = arith.maxnumf %old, %quad : f32
          cute.store %new, %max[%i]
          %shift = arith.mulf %new, %minus : f32
          %shifts = vector.broadcast %shift : f32 to !row
          %x = math.fma %s, %vc, %shifts : !row
          %p = math.exp2 %x fastmath<afn> : !row
          cute.memref.store_vec %p, %rowsS[%i, _]
          %rise = arith.subf %old, %new : f32
          %drop = arith.mulf %rise, %c : f32
          %alpha = math.exp2 %drop fastmath<afn> : f32
          %before = cute.memref.load %sum[%i]
          %kept = arith.mulf %before, %alpha : f32
          %after = vector.reduction <add>, %p, %kept : !row into f32
          cute.store %after, %sum[%i]
          %alphas = vector.broadcast %alpha : f32 to vector<${D/4}xf32>
          %o = cute.memref.load_vec %rowsO[%i, _]
          %scaled = arith.mulf %o, %alphas : vector<${D/4}xf32>
          cute.memref.store_vec %scaled, %rowsO[%i, _]
        } {loop_annotation = #unroll}
        %sP = cute.memref.load_vec %rS
        %tP = arith.truncf %sP : vector<${BM*BN/32/W}xf32> to vector<${BM*BN/32/W}x${T}>
        cute.memref.store_vec %tP, %rP

        // O = O + P V.
        scf.for %k = %c0 to %kblocksO step %c1 : i32 {
          cute.copy %s2rV, %tXsV[_, _, %k], %tXrV[_, _, %k]
          cute.gemm %mma, %rO, %aP[_, _, %k], %rV[_, _, %k], %rO
        } {loop_annotation = #unroll}
      }
    } {loop_annotation = #unroll}

    // O over the sum of all threads of a row, through the tile of Q to memory.
    scf.for %i = %c0 to %rows step %c1 : i32 {
      %mine = cute.memref.load %sum[%i]
      %right = cute_nvgpu.arch.shuffle<bfly> %mine, %c1
      %pair = arith.addf %mine, %right : f32
      %other = cute_nvgpu.arch.shuffle<bfly> %pair, %c2
      %quad = arith.addf %pair, %other : f32
      %one = arith.constant 1.0 : f32
      %inverse = arith.divf %one, %quad : f32
      %inverses = vector.broadcast %inverse : f32 to vector<${D/4}xf32>
      %o = cute.memref.load_vec %rowsO[%i, _]
      %mean = arith.mulf %o, %inverses : vector<${D/4}xf32>
      cute.memref.store_vec %mean, %rowsO[%i, _]
    } {loop_annotation = #unroll}
    %rT = cute.make_fragment_like(%rO) {element = ${T}}
    %sums = cute.memref.load_vec %rO
    %rounded = arith.truncf %sums : vector<${BM*D/32/W}xf32> to vector<${BM*D/32/W}x${T}>
    cute.memref.store_vec %rounded, %rT
    %two = cute.make_atom : !cute_nvgpu.atom.universal_copy<${T}, 32 b>
    %r2s = cute.make_tiled_copy_C %two, %mma
    %tXrT = cute.tiled.copy.retile %r2s, %rT
    %tXsO = cute.tiled.copy.partition_D %r2s, %sQ, %t
    cute.copy %r2s, %tXrT, %tXsO
    gpu.barrier
    %eight = cute.make_atom : !cute_nvgpu.atom.universal_copy<${T}, 128 b>
    %s2g = cute.make_tiled_copy %eight, "(${256*W/D},${D/8}):(${D/8},1)", "(1,8):(0,1)"
    %tOsO = cute.tiled.copy.partition_S %s2g, %sQ, %t
    %tOgO = cute.tiled.copy.partition_D %s2g, %gO, %t
    cute.copy %s2g, %tOsO, %tOgO, %predQ
    gpu.return
  }
}

// Lengths, heads and strides are those of the tensors.
func.func @attention(%Q: !X, %K: !X, %V: !X, %O: !X, %scale: f32) {
  %shape = cute.shape %Q
  %blocks = cute.ceil_div %shape, (1, ${BM})
  %b, %m, %h, %d = cute.get_scalars %blocks
  %gb = arith.index_cast %b : i32 to index
  %gm = arith.index_cast %m : i32 to index
  %gh = arith.index_cast %h : i32 to index
  %c1 = arith.constant 1 : index
  %threads = arith.constant ${32*W} : index
  %bytes = arith.constant ${(BM+2*BN)*D*2} : i32
  gpu.launch_func @kernels::@attention blocks in (%gm, %gh, %gb) threads in (%threads, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%Q : !X, %K : !X, %V : !X, %O : !X, %scale : f32)
  return
}
}
