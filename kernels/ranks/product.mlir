// D = sum over ranks of A_r B_r^T, rows divided among the ranks: K is split, and each rank computes the partial sums of all
// rows of D, but keeps those of its own. Tiles are computed for the next rank first and for the own rank last; a tile's
// partial sums are stored to its owner's window from the epilogue, followed by a flag, while other tiles are computed. The
// block that computes a tile for its own rank then waits for the flags of all ranks, and adds their partial sums in the
// order of the ranks. It waits only for blocks of lower numbers, so blocks that start in order cannot wait for each other.
// A (ranks, m, K): the rank's columns of A, rows by owner; B (n, K); D (m, n): the rank's own rows. window: a table of each
// rank's (ranks, m, n) f32; flags: a table of each rank's gridDim.x + tiles slots, see meet.inc. The blocks of a number meet
// at first, when the peers' windows are no longer read.
// -D T: f16 or bf16; BM BN BK: tiles; WM WN: warps; STAGES: buffers in shared memory. n and K are multiples of 8.
!A = !cute.memref<${T}, gmem, align<16>, "(?,?,?{div=8}):(?{i64 div=8},?{i64 div=8},1)">
!B = !cute.memref<${T}, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!D = !cute.memref<${T}, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!sums = !cute.ptr<f32, gmem, align<16>>
!ldsm = !cute_nvgpu.atom.ldsm<val_type=${T}, mode=<"(8,8)">, sz_pattern=u16, num_matrices=4, n>
#unroll = #llvm.loop_annotation<unroll = <full = true>>
gpu.module @kernels {
//!include "meet.inc"
  // Partial sums in a window that are those of rank p.
  func.func private @slot(%window: !llvm.ptr<1>, %owner: i32, %p: i32, %m: i32, %n: i32) -> !sums {
    %entry = llvm.getelementptr %window[%owner] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    %base = llvm.load %entry : !llvm.ptr<1> -> i64
    %m64 = arith.extui %m : i32 to i64
    %n64 = arith.extui %n : i32 to i64
    %p64 = arith.extui %p : i32 to i64
    %c4 = arith.constant 4 : i64
    %size = arith.muli %m64, %n64 : i64
    %elements = arith.muli %p64, %size : i64
    %bytes = arith.muli %elements, %c4 : i64
    %at = arith.addi %base, %bytes : i64
    %aligned = cute.assume(%at) : (i64) -> !cute.i64<divby 16>
    %sums = cute.inttoptr(%aligned) : (!cute.i64<divby 16>) -> !sums
    return %sums : !sums
  }

  gpu.func @product(%A: !A, %B: !B, %D: !D, %window: !llvm.ptr<1> {cute.name = "window"}, %flags: !llvm.ptr<1> {cute.name = "flags"},
                    %rank: i32 {cute.name = "rank"}, %ranks: i32 {cute.name = "ranks"}, %epoch: i32 {cute.name = "epoch"})
      kernel attributes {nvvm.reqntid = array<i32: ${32*WM*WN}, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %cm = arith.constant ${BM} : i32
    %cn = arith.constant ${BN} : i32
    %stages = arith.constant ${STAGES} : i32
    %ahead = arith.constant ${STAGES-1} : i32
    %kblocks = arith.constant ${BK/16} : i32
    // The tile, and the rank that owns it.
    %m_size = cute.size<[0]> %D
    %n_size = cute.size<[1]> %D
    %m = cute.get_scalars %m_size
    %n = cute.get_scalars %n_size
    %tm = arith.ceildivui %m, %cm : i32
    %tn = arith.ceildivui %n, %cn : i32
    %tiles = arith.muli %tm, %tn : i32
    %turn = arith.divui %block, %tiles : i32
    %tile = arith.remui %block, %tiles : i32
    %bm = arith.divui %tile, %tn : i32
    %bn = arith.remui %tile, %tn : i32
    %plus = arith.addi %rank, %turn : i32
    %next_owner = arith.addi %plus, %c1 : i32
    %owner = arith.remui %next_owner, %ranks : i32
    func.call @meet(%flags, %block, %rank, %ranks, %epoch) : (!llvm.ptr<1>, i32, i32, i32, i32) -> ()

    // Tiles of A and B in STAGES buffers, and their fragments.
    %rows_of = cute.make_coord(%owner, _, _)
    %own_A = cute.slice %A, %rows_of
    %shape = cute.make_tile ${BM}, ${BN}, ${BK}
    %place = cute.make_coord(%bm, %bn, _)
    %gA = cute.local_tile(%own_A, %shape, %place, "(1,_,1)")
    %gB = cute.local_tile(%B, %shape, %place, "(_,1,1)")
    %gD = cute.local_tile(%D, %shape, %place, "(1,1,_)")
    %iA = cute.make_identity_tensor %own_A
    %iB = cute.make_identity_tensor %B
    %iD = cute.make_identity_tensor %D
    %cA = cute.local_tile(%iA, %shape, %place, "(1,_,1)")
    %cB = cute.local_tile(%iB, %shape, %place, "(_,1,1)")
    %cD = cute.local_tile(%iD, %shape, %place, "(1,1,_)")
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<${T}, smem, align<1024>>
    %tail = cute.add_offset %smem, ${BM*BK*STAGES}
    %sA = cute.make_view %smem, "S<2,3,3> o 0 o (${BM},${BK},${STAGES}):(${BK},1,${BM*BK})"
    %sB = cute.make_view %tail, "S<2,3,3> o 0 o (${BN},${BK},${STAGES}):(${BK},1,${BN*BK})"
    %fetch = cute.make_atom : !cute_nvgpu.atom.simt_async_copy<${T}, cache=global, 128 b>
    %g2s = cute.make_tiled_copy %fetch, "(${32*WM*WN*8/BK},${BK/8}):(${BK/8},1)", "(1,8):(0,1)"
    %tAgA = cute.tiled.copy.partition_S %g2s, %gA, %t
    %tBgB = cute.tiled.copy.partition_S %g2s, %gB, %t
    %tAcA = cute.tiled.copy.partition_S %g2s, %cA, %t
    %tBcB = cute.tiled.copy.partition_S %g2s, %cB, %t
    %tAsA = cute.tiled.copy.partition_D %g2s, %sA, %t
    %tBsB = cute.tiled.copy.partition_D %g2s, %sB, %t
    %atom = cute.make_atom : !cute_nvgpu.sm80.mma<16x8x16, elem_type = (${T}, ${T}, f32) >
    %mma = cute.make_tiled_mma %atom, "(${WM},${WN},1):(1,${WM},0)", (${16*WM}, ${16*WN}, 16)
    %ldsm = cute.make_atom : !ldsm
    %s2rA = cute.make_tiled_copy_A %ldsm, %mma
    %s2rB = cute.make_tiled_copy_B %ldsm, %mma
    %tXsA = cute.tiled.copy.partition_S %s2rA, %sA, %t
    %tXsB = cute.tiled.copy.partition_S %s2rB, %sB, %t
    %rA = cute.tiled.mma.partition_fragment A (%mma, %sA[_, _, 0], %t)
    %rB = cute.tiled.mma.partition_fragment B (%mma, %sB[_, _, 0], %t)
    %acc = cute.tiled.mma.partition_fragment C (%mma, %gD, %t)
    %tXrA = cute.tiled.copy.retile %s2rA, %rA
    %tXrB = cute.tiled.copy.retile %s2rB, %rB
    %zero = arith.constant 0.0 : f32
    cute.fill %acc, %zero

    %kmode = cute.size<[2]> %gA
    %ktiles = cute.get_scalars %kmode
    scf.for %s = %c0 to %ahead step %c1 : i32 { // past K elements are zero
      %predA = cute.predicate %tAcA[_, _, _, %s], %own_A
      %predB = cute.predicate %tBcB[_, _, _, %s], %B
      cute.copy %g2s, %tAgA[_, _, _, %s], %tAsA[_, _, _, %s], %predA {zero_fill}
      cute.copy %g2s, %tBgB[_, _, _, %s], %tBsB[_, _, _, %s], %predB {zero_fill}
      nvvm.cp.async.commit.group
    } {loop_annotation = #unroll}
    scf.for %k = %c0 to %ktiles step %c1 : i32 {
      nvvm.cp.async.wait.group ${STAGES-2}
      gpu.barrier
      %far = arith.addi %k, %ahead : i32
      %to = arith.remui %far, %stages : i32
      %from = arith.remui %k, %stages : i32
      %predA = cute.predicate %tAcA[_, _, _, %far], %own_A
      %predB = cute.predicate %tBcB[_, _, _, %far], %B
      cute.copy %g2s, %tAgA[_, _, _, %far], %tAsA[_, _, _, %to], %predA {zero_fill}
      cute.copy %g2s, %tBgB[_, _, _, %far], %tBsB[_, _, _, %to], %predB {zero_fill}
      nvvm.cp.async.commit.group
      scf.for %q = %c0 to %kblocks step %c1 : i32 {
        cute.copy %s2rA, %tXsA[_, _, %q, %from], %tXrA[_, _, %q]
        cute.copy %s2rB, %tXsB[_, _, %q, %from], %tXrB[_, _, %q]
        cute.gemm %mma, %acc, %rA[_, _, %q], %rB[_, _, %q], %acc
      } {loop_annotation = #unroll}
    }

    // The partial sums to the owner's window, then the tile's flag of this rank.
    %pair = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32, 64 b>
    %r2g = cute.make_tiled_copy_C %pair, %mma
    %tDcD = cute.tiled.copy.partition_D %r2g, %cD, %t
    %pred = cute.predicate %tDcD, %D
    %n64 = arith.extui %n : i32 to i64
    %row = cute.assume(%n64) : (i64) -> !cute.i64<divby 8>
    %extents = cute.shape %D
    %strides = cute.make_stride(%row) : (!cute.i64<divby 8>) -> !cute.stride<"(?{i64 div=8},1)">
    %layout = cute.make_layout %extents, %strides
    %theirs = func.call @slot(%window, %owner, %rank, %m, %n) : (!llvm.ptr<1>, i32, i32, i32, i32) -> !sums
    %W = cute.make_view %theirs, %layout
    %gW = cute.local_tile(%W, %shape, %place, "(1,1,_)")
    %tRrR = cute.tiled.copy.retile %r2g, %acc
    %tRgW = cute.tiled.copy.partition_D %r2g, %gW, %t
    cute.copy %r2g, %tRrR, %tRgW, %pred
    gpu.barrier
    %flag_slot = arith.addi %blocks, %tile : i32
    %first_flag = arith.muli %flag_slot, %ranks : i32
    %own_entry = llvm.getelementptr %flags[%rank] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    %their_entry = llvm.getelementptr %flags[%owner] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
    %own_flags = llvm.load %own_entry : !llvm.ptr<1> -> !llvm.ptr<1>
    %their_flags = llvm.load %their_entry : !llvm.ptr<1> -> !llvm.ptr<1>
    %is_first = arith.cmpi eq, %t, %c0 : i32
    scf.if %is_first {
      %to = arith.addi %first_flag, %rank : i32
      %raised = llvm.getelementptr %their_flags[%to] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %epoch, %raised atomic release {alignment = 4 : i64} : i32, !llvm.ptr<1>
    }

    // A tile of the own rows: the sums of all ranks.
    %is_own = arith.cmpi eq, %owner, %rank : i32
    scf.if %is_own {
      %is_peer = arith.cmpi ult, %t, %ranks : i32
      scf.if %is_peer {
        %from = arith.addi %first_flag, %t : i32
        %awaited = llvm.getelementptr %own_flags[%from] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
        scf.while : () -> () {
          %now = llvm.load %awaited atomic acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
          %behind = arith.subi %now, %epoch : i32
          %waits = arith.cmpi slt, %behind, %c0 : i32
          scf.condition(%waits)
        } do {
          scf.yield
        }
      }
      gpu.barrier
      %part = cute.make_fragment_like(%acc) {element = f32}
      %tPrP = cute.tiled.copy.retile %r2g, %part
      cute.fill %acc, %zero
      cute.fill %part, %zero
      scf.for %p = %c0 to %ranks step %c1 : i32 {
        %sums = func.call @slot(%window, %rank, %p, %m, %n) : (!llvm.ptr<1>, i32, i32, i32, i32) -> !sums
        %S = cute.make_view %sums, %layout
        %gS = cute.local_tile(%S, %shape, %place, "(1,1,_)")
        %tPgS = cute.tiled.copy.partition_S %r2g, %gS, %t
        cute.copy %r2g, %tPgS, %tPrP, %pred
        %x = cute.memref.load_vec %acc
        %y = cute.memref.load_vec %part
        %z = arith.addf %x, %y : vector<${BM*BN/32/WM/WN}xf32>
        cute.memref.store_vec %z, %acc
      }
      %rD = cute.make_fragment_like(%acc) {element = ${T}}
      %x = cute.memref.load_vec %acc
      %d = arith.truncf %x : vector<${BM*BN/32/WM/WN}xf32> to vector<${BM*BN/32/WM/WN}x${T}>
      cute.memref.store_vec %d, %rD
      %pair_D = cute.make_atom : !cute_nvgpu.atom.universal_copy<${T}, 32 b>
      %r2d = cute.make_tiled_copy_C %pair_D, %mma
      %tDrD = cute.tiled.copy.retile %r2d, %rD
      %tDgD = cute.tiled.copy.partition_D %r2d, %gD, %t
      cute.copy %r2d, %tDrD, %tDgD, %pred
    }
    gpu.return
  }
}
// In an editor: -D T=bf16 -D BM=64 -D BN=64 -D BK=32 -D WM=2 -D WN=2 -D STAGES=3
