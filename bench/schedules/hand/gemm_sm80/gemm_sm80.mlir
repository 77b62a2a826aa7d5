// C = A B^T on tensor cores: A is (M,K), B (N,K), C (M,N) row-major. Tiles of A and B are staged in
// STAGES buffers in shared memory. -D A TA, B TB: 0 and n if K is contiguous, 1 and t if M or
// N is; T ACC TC BITS BITSC: types of A and B, sums, C; bits of T, TC; V VC: elements per copy to
// the buffers, to C, which divide the contiguous extent; COPY CACHE: atom of the former; SM MK: target
// and K of MMA; WM WN: warps; SA SB: swizzles of the buffers; ZERO TRUNC: 0, and ACC to TC.
!t0 = !cute.memref<${T}, gmem, align<${V*BITS/8}>, "(?,?{div=${V}}):(?{i64 div=${V}},1)">
!t1 = !cute.memref<${T}, gmem, align<${V*BITS/8}>, "(?{div=${V}},?):(1,?{i64 div=${V}})">
!C = !cute.memref<${TC}, gmem, align<${VC*BITSC/8}>, "(?,?{div=${VC}}):(?{i64 div=${VC}},1)">
!ldsmA = !cute_nvgpu.atom.ldsm<val_type=${T}, mode=<"(8,8)">, sz_pattern=u16, num_matrices=4, ${TA}>
!ldsmB = !cute_nvgpu.atom.ldsm<val_type=${T}, mode=<"(8,8)">, sz_pattern=u16, num_matrices=4, ${TB}>
#unroll = #llvm.loop_annotation<unroll = <full = true>>
gpu.module @kernels {
  gpu.func @gemm(%A: !t${A}, %B: !t${B}, %C: !C) kernel
      attributes {nvvm.reqntid = array<i32: ${32*WM*WN}, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %bn = nvvm.read.ptx.sreg.ctaid.x : i32
    %bm = nvvm.read.ptx.sreg.ctaid.y : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %ahead = arith.constant ${STAGES-1} : i32
    %kblocks = arith.constant ${BK/MK} : i32
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
    // The stages, and the copies of V elements per thread that fill them.
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<${T}, smem, align<1024>>
    %tail = cute.add_offset %smem, ${BM*BK*STAGES}
    %sA = cute.make_view %smem, "${SA} o 0 o (${BM},${BK},${STAGES}):(${A?1:BK},${A?BM:1},${BM*BK})"
    %sB = cute.make_view %tail, "${SB} o 0 o (${BN},${BK},${STAGES}):(${B?1:BK},${B?BN:1},${BN*BK})"
    %fill = cute.make_atom : !cute_nvgpu.atom.${COPY}<${T}, ${CACHE} ${V*BITS} b>
    %g2s0 = cute.make_tiled_copy %fill, "(${32*WM*WN*V/BK},${BK/V}):(${BK/V},1)", "(1,${V}):(0,1)"
    %g2s1 = cute.make_tiled_copy %fill, "(8,${4*WM*WN}):(1,8)", "(${V},1):(1,0)"
    %tAgA = cute.tiled.copy.partition_S %g2s${A}, %gA, %t
    %tBgB = cute.tiled.copy.partition_S %g2s${B}, %gB, %t
    %tAcA = cute.tiled.copy.partition_S %g2s${A}, %cA, %t
    %tBcB = cute.tiled.copy.partition_S %g2s${B}, %cB, %t
    %tAsA = cute.tiled.copy.partition_D %g2s${A}, %sA, %t
    %tBsB = cute.tiled.copy.partition_D %g2s${B}, %sB, %t
    // Fragments of the MMA, and the ldmatrix copies that fill them.
    %atom = cute.make_atom : !cute_nvgpu.sm${SM}.mma<16x8x${MK}, elem_type = (${T}, ${T}, ${ACC}) >
    %mma = cute.make_tiled_mma %atom, "(${WM},${WN},1):(1,${WM},0)", (${16*WM}, ${16*WN}, ${MK})
    %ldsmA = cute.make_atom : !ldsmA
    %ldsmB = cute.make_atom : !ldsmB
    %s2rA = cute.make_tiled_copy_A %ldsmA, %mma
    %s2rB = cute.make_tiled_copy_B %ldsmB, %mma
    %tXsA = cute.tiled.copy.partition_S %s2rA, %sA, %t
    %tXsB = cute.tiled.copy.partition_S %s2rB, %sB, %t
    %rA = cute.tiled.mma.partition_fragment A (%mma, %sA[_, _, 0], %t)
    %rB = cute.tiled.mma.partition_fragment B (%mma, %sB[_, _, 0], %t)
    %acc = cute.tiled.mma.partition_fragment C (%mma, %gC, %t)
    %tXrA = cute.tiled.copy.retile %s2rA, %rA
    %tXrB = cute.tiled.copy.retile %s2rB, %rB
    %zero = arith.constant ${ZERO} : ${ACC}
    cute.fill %acc, %zero
    // Tiles are loaded in descending order, the partial tile of K first; past K and before 0 they are zero-filled.
    %kmode = cute.size<[2]> %gA
    %ktiles = cute.get_scalars %kmode
    %top = arith.subi %ktiles, %c1 : i32
    scf.for %s = %c0 to %ahead step %c1 : i32 {
      %below = arith.subi %top, %s : i32
      %tile_k = arith.minui %below, %ktiles : i32
      %predA = cute.predicate %tAcA[_, _, _, %tile_k], %A
      %predB = cute.predicate %tBcB[_, _, _, %tile_k], %B
      cute.copy %g2s${A}, %tAgA[_, _, _, %tile_k], %tAsA[_, _, _, %s], %predA {zero_fill}
      cute.copy %g2s${B}, %tBgB[_, _, _, %tile_k], %tBsB[_, _, _, %s], %predB {zero_fill}
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
      %wraps = arith.cmpi eq, %read, %ahead : i32
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
          cute.copy %g2s${A}, %tAgA[_, _, _, %coming], %tAsA[_, _, _, %to], %rowsA {zero_fill}
          cute.copy %g2s${B}, %tBgB[_, _, _, %coming], %tBsB[_, _, _, %to], %rowsB {zero_fill}
        }
        cute.gemm %mma, %acc, %rA[_, _, %k], %rB[_, _, %k], %acc
      } {loop_annotation = #unroll}
      scf.yield %after, %read : i32, i32
    }
    // Convert the sums to the type of C.
    %rC = cute.make_fragment_like(%acc) {element = ${TC}}
    %x = cute.memref.load_vec %acc
    %y = arith.${TRUNC} %x : vector<${BM*BN/32/WM/WN}x${ACC}> to vector<${BM*BN/32/WM/WN}x${TC}>
    cute.memref.store_vec %y, %rC
    %pair = cute.make_atom : !cute_nvgpu.atom.universal_copy<${TC}, ${VC*BITSC} b>
    %r2g = cute.make_tiled_copy_C %pair, %mma
    %tCrC = cute.tiled.copy.retile %r2g, %rC
    %tCgC = cute.tiled.copy.partition_D %r2g, %gC, %t
    %tCcC = cute.tiled.copy.partition_D %r2g, %cC, %t
    %predC = cute.predicate %tCcC, %C
    cute.copy %r2g, %tCrC, %tCgC, %predC
    gpu.return
  }
}
func.func @gemm(%A: !t${A}, %B: !t${B}, %C: !C) {
  %shape = cute.shape %C
  %blocks = cute.ceil_div %shape, (${BM}, ${BN})
  %m, %n = cute.get_scalars %blocks
  %gm = arith.index_cast %m : i32 to index
  %gn = arith.index_cast %n : i32 to index
  %c1 = arith.constant 1 : index
  %threads = arith.constant ${32*WM*WN} : index
  %bytes = arith.constant ${(BM+BN)*BK*STAGES*BITS/8} : i32
  gpu.launch_func @kernels::@gemm blocks in (%gn, %gm, %c1) threads in (%threads, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%A : !t${A}, %B : !t${B}, %C : !C)
  return
}
// In an editor: -D SM=80 -D T=f16 -D TC=f16 -D ACC=f32 -D ZERO=0.0 -D BITS=16 -D BITSC=16 -D TRUNC=truncf -D VC=2
// -D V=8 -D COPY=simt_async_copy -D CACHE=cache=global, -D MK=16 -D BM=128 -D BN=256 -D BK=64 -D STAGES=3 -D WM=2
// -D WN=4 -D A=0 -D TA=n -D B=0 -D TB=n -D SA=S<3,3,3> -D SB=S<3,3,3>
