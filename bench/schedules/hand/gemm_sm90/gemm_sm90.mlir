// C = A B^T on Hopper's tensor cores: A is (M,K), B (N,K), C (M,N) row-major. A producer warp loads tiles
// of A and B by TMA into STAGES buffers, two warpgroups multiply them by wgmma and store tiles of C by
// TMA. -D A MA, B MB: 0 and k if K is contiguous, 1 and mn if M or N is; T ACC TC BITS BITSC:
// types of A and B, sums, C; bits of T, TC; BM BN: a block's tile, BK: 128 bytes of K; CM CN: blocks
// of a cluster along M, N, which share tiles of B, A; PP: 0 if the warpgroups split a tile (cooperative), 1 if
// they alternate tiles (ping-pong); GROUP: tiles along M before the next along N; ST: the atom that
// stores C to its NC buffers of CW columns with swizzle SC; TRUNC: ACC to TC.
// PROMOTE, SUMS: 0 and acc, or 1 and total: sums of BK terms are added to total by ADD, starting from ZERO.
// FUSED, END: 0 and plain, or 1 and fused: C = act(alpha A B^T + beta S + bias), computed in f32. If fused, S
// is S, and PARAMS, ARGS, TYPES list S, bias, alpha, beta with leading commas; else S is C and they are
// empty. BETA: 1 if S is read, by TMA and the atom LD, into the buffers of C; BIAS: 0 none, 1 along N, 2
// along M; ACT: none, relu, gelu (tanh approximation); EFROM EEXT ETO: ACC and TC to f32, f32 to TC.
// SHARE, WORK: 0 and whole if a cluster computes whole tiles; 1 if clusters split tiles along k (PP is 0): tail, the
// tiles of a last wave that is less than half full; or streamed (stream-K), the tiles of the last two waves.
// The owner of the end of a tile's k range adds the partial sums of preceding clusters, which compute them first. Then
// SPACE, SPACE_ARGS, SPACE_TYPES are slots and flags with leading commas, 64 BN sums and a 0 per warpgroup, which are
// temporaries of the launch; else they are empty.
!t0 = !cute.memref<${T}, gmem, align<16>, "(?,?{div=${128/BITS}}):(?{i64 div=${128/BITS}},1)">
!t1 = !cute.memref<${T}, gmem, align<16>, "(?{div=${128/BITS}},?):(1,?{i64 div=${128/BITS}})">
!C = !cute.memref<${TC}, gmem, align<16>, "(?,?{div=${128/BITSC}}):(?{i64 div=${128/BITSC}},1)">
!mma = !cute_nvgpu.sm90.mma<64x${BN}x${256/BITS}, ab_major = (${MA}, ${MB}), elem_type = (${T}, ${T}, ${ACC}), frag_kind = ss>
!bias = !cute.memref<${TC}, gmem, align<${BITSC/8}>, "(?):(1)">
!sums = vector<${BM/(2-PP)/8}x${ACC}>
!singles = vector<${BM/(2-PP)/8}xf32>
!results = vector<${BM/(2-PP)/8}x${TC}>
!load = !cute_nvgpu.atom.${LD}
!store = !cute_nvgpu.atom.${ST}
!slots = !cute.memref<${ACC}, gmem, align<16>, "(${BM*BN},?):(1,${BM*BN})">
!flags = !cute.memref<i32, gmem, align<4>, "(2,?):(1,2)">
!part = vector<4x${ACC}>
!tile = vector<${BM/(2-PP)*BN/128}x${ACC}>
!slot = !cute.memref<${ACC}, gmem, align<16>, "(4,${BM/(2-PP)*BN/512}):(1,512)">
!mma16 = !cute_nvgpu.sm90.mma<64x16x${256/BITS}, ab_major = (${MA}, ${MB}), elem_type = (${T}, ${T}, ${ACC}), frag_kind = ss>
#unroll = #llvm.loop_annotation<unroll = <full = true>>
gpu.module @kernels {
  // Coordinates of tile %t: GROUP tiles along M, then the next column along N.
  func.func private @place(%t: i32, %tm: i32, %tn: i32) -> (i32, i32) {
    %group = arith.constant ${GROUP} : i32
    %many = arith.muli %group, %tn : i32
    %g = arith.divui %t, %many : i32
    %r = arith.remui %t, %many : i32
    %m0 = arith.muli %g, %group : i32
    %left = arith.subi %tm, %m0 : i32
    %high = arith.minui %left, %group : i32
    %dm = arith.remui %r, %high : i32
    %n = arith.divui %r, %high : i32
    %m = arith.addi %m0, %dm : i32
    return %m, %n : i32, i32
  }
  // Work of cluster %c of %count: the pieces %start, %start + %count, ... below %stop. %shared, %low and %high are arguments
  // of the next function.
  func.func private @whole_work(%c: i32, %count: i32, %tiles: i32, %ktiles: i32) -> (i32, i32, i32, i32, i32) {
    %c0 = arith.constant 0 : i32
    return %c, %tiles, %c0, %c0, %c0 : i32, i32, i32, i32, i32
  }
  // Piece %v: its tile and its range of k-tiles.
  func.func private @whole_piece(%v: i32, %c: i32, %count: i32, %tiles: i32, %shared: i32, %low: i32, %high: i32, %ktiles: i32) -> (i32, i32, i32) {
    %c0 = arith.constant 0 : i32
    return %v, %c0, %ktiles : i32, i32, i32
  }
  // The owner of the k-tiles below those of %c, and their first one.
  func.func private @whole_before(%c: i32, %count: i32, %tiles: i32, %shared: i32, %tile: i32, %ktiles: i32) -> (i32, i32) {
    %c0 = arith.constant 0 : i32
    return %c, %c0 : i32, i32
  }
  // Tiles from %shared on are each divided among the same number of clusters. The owner of a tile's end computes it last, the
  // others compute their parts first, so no cluster waits.
  func.func private @parts_of(%count: i32, %rest: i32, %ktiles: i32) -> i32 {
    %c1 = arith.constant 1 : i32
    %some = arith.maxui %rest, %c1 : i32
    %each = arith.divui %count, %some : i32
    // Adding more partial sums would take longer than it saves.
    %most = arith.constant 6 : i32
    %worth = arith.minui %each, %most : i32
    %parts = arith.minui %worth, %ktiles : i32
    return %parts : i32
  }
  func.func private @tail_work(%c: i32, %count: i32, %tiles: i32, %ktiles: i32) -> (i32, i32, i32, i32, i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %rest = arith.remui %tiles, %count : i32
    %parts = func.call @parts_of(%count, %rest, %ktiles) : (i32, i32, i32) -> i32
    %there = arith.cmpi ne, %rest, %c0 : i32
    %several = arith.cmpi ugt, %parts, %c1 : i32
    %divides = arith.andi %there, %several : i1
    %start, %stop, %shared, %low, %high = scf.if %divides -> (i32, i32, i32, i32, i32) {
      %full = arith.subi %tiles, %rest : i32
      %part = arith.divui %c, %rest : i32
      %next = arith.addi %part, %c1 : i32
      %low_k = arith.muli %part, %ktiles : i32
      %high_k = arith.muli %next, %ktiles : i32
      %low = arith.divui %low_k, %parts : i32
      %high = arith.divui %high_k, %parts : i32
      %is_last = arith.cmpi eq, %next, %parts : i32
      %is_before = arith.cmpi ult, %next, %parts : i32
      %first = arith.select %is_before, %count, %c0 : i32
      %start = arith.subi %c, %first : i32
      %after = arith.select %is_last, %count, %c0 : i32
      %stop = arith.addi %full, %after : i32
      scf.yield %start, %stop, %full, %low, %high : i32, i32, i32, i32, i32
    } else {
      scf.yield %c, %tiles, %tiles, %c0, %c0 : i32, i32, i32, i32, i32
    }
    return %start, %stop, %shared, %low, %high : i32, i32, i32, i32, i32
  }
  func.func private @tail_piece(%v: i32, %c: i32, %count: i32, %tiles: i32, %shared: i32, %low: i32, %high: i32, %ktiles: i32) -> (i32, i32, i32) {
    %c0 = arith.constant 0 : i32
    // The unsigned comparison also holds for negative %v.
    %is_part = arith.cmpi uge, %v, %shared : i32
    %tile, %k0, %k1 = scf.if %is_part -> (i32, i32, i32) {
      %rest = arith.subi %tiles, %shared : i32
      %nth = arith.remui %c, %rest : i32
      %tile = arith.addi %shared, %nth : i32
      scf.yield %tile, %low, %high : i32, i32, i32
    } else {
      scf.yield %v, %c0, %ktiles : i32, i32, i32
    }
    return %tile, %k0, %k1 : i32, i32, i32
  }
  func.func private @tail_before(%c: i32, %count: i32, %tiles: i32, %shared: i32, %tile: i32, %ktiles: i32) -> (i32, i32) {
    %rest = arith.subi %tiles, %shared : i32
    %that = arith.subi %c, %rest : i32
    %parts = func.call @parts_of(%count, %rest, %ktiles) : (i32, i32, i32) -> i32
    %part = arith.divui %that, %rest : i32
    %low_k = arith.muli %part, %ktiles : i32
    %low = arith.divui %low_k, %parts : i32
    return %that, %low : i32, i32
  }
  // The concatenated k ranges of tiles below %shared are divided evenly: each cluster computes %low to %high, the last tiles
  // first. Pieces below %shared + %c are these.
  func.func private @low_of(%c: i32, %count: i32, %total: i32) -> i32 {
    %each = arith.divui %total, %count : i32
    %more = arith.remui %total, %count : i32
    %before = arith.muli %each, %c : i32
    %extra = arith.minui %c, %more : i32
    %low = arith.addi %before, %extra : i32
    return %low : i32
  }
  func.func private @streamed_work(%c: i32, %count: i32, %tiles: i32, %ktiles: i32) -> (i32, i32, i32, i32, i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %least = arith.constant 4 : i32
    %rest = arith.remui %tiles, %count : i32
    %full = arith.cmpi eq, %rest, %c0 : i32
    %two = arith.addi %rest, %count : i32
    %most = arith.minui %two, %tiles : i32
    %all = arith.muli %most, %ktiles : i32
    %worth = arith.muli %count, %least : i32
    %short = arith.cmpi ult, %all, %worth : i32
    %not = arith.ori %full, %short : i1
    %shared = arith.select %not, %c0, %most : i32
    %total = arith.muli %shared, %ktiles : i32
    %low = func.call @low_of(%c, %count, %total) : (i32, i32, i32) -> i32
    %next = arith.addi %c, %c1 : i32
    %high = func.call @low_of(%next, %count, %total) : (i32, i32, i32) -> i32
    %end = arith.ceildivui %high, %ktiles : i32
    %begin = arith.divui %low, %ktiles : i32
    %pieces = arith.subi %end, %begin : i32
    %own = arith.addi %shared, %c : i32
    %back = arith.muli %pieces, %count : i32
    %start = arith.subi %own, %back : i32
    return %start, %tiles, %shared, %low, %high : i32, i32, i32, i32, i32
  }
  func.func private @streamed_piece(%v: i32, %c: i32, %count: i32, %tiles: i32, %shared: i32, %low: i32, %high: i32, %ktiles: i32) -> (i32, i32, i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %own = arith.addi %shared, %c : i32
    %is_part = arith.cmpi slt, %v, %own : i32
    %tile, %k0, %k1 = scf.if %is_part -> (i32, i32, i32) {
      %behind = arith.subi %own, %v : i32
      %nth = arith.divui %behind, %count : i32
      %lowest = arith.divui %low, %ktiles : i32
      %above = arith.subi %nth, %c1 : i32
      %tile = arith.addi %lowest, %above : i32
      %base = arith.muli %tile, %ktiles : i32
      %from = arith.subi %low, %base : i32
      %to = arith.subi %high, %base : i32
      %k0 = arith.maxsi %from, %c0 : i32
      %k1 = arith.minsi %to, %ktiles : i32
      scf.yield %tile, %k0, %k1 : i32, i32, i32
    } else {
      scf.yield %v, %c0, %ktiles : i32, i32, i32
    }
    return %tile, %k0, %k1 : i32, i32, i32
  }
  func.func private @streamed_before(%c: i32, %count: i32, %tiles: i32, %shared: i32, %tile: i32, %ktiles: i32) -> (i32, i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %that = arith.subi %c, %c1 : i32
    %total = arith.muli %shared, %ktiles : i32
    %low = func.call @low_of(%that, %count, %total) : (i32, i32, i32) -> i32
    %base = arith.muli %tile, %ktiles : i32
    %from = arith.subi %low, %base : i32
    %k = arith.maxsi %from, %c0 : i32
    return %that, %k : i32, i32
  }
  func.func private @flag(%flags: !flags, %i: i32) -> !llvm.ptr<1> {
    %base = cute.get_iter %flags
    %at = cute.add_offset %base, %i
    %address = cute.ptrtoint %at : i64
    %pointer = llvm.inttoptr %address : i64 to !llvm.ptr<1>
    return %pointer : !llvm.ptr<1>
  }
  // A thread's part of a warpgroup's slot: four sums, interleaved with those of the next thread, and so on.
  func.func private @slot(%slots: !slots, %i: i32, %t: i32) -> !slot {
    %base = cute.get_iter %slots
    %all = cute.make_view %base, "(4,${BM/(2-PP)*BN/512},128,1):(1,512,4,${BM/(2-PP)*BN})"
    %slot = cute.slice %all, (_, _, %t, %i)
    return %slot : !slot
  }
  // Adds the partial sums of the rest of k to the sums of a tile's end; other sums are written to this warpgroup's slot.
  func.func private @join0(%sums: !tile, %tile: i32, %k: i32, %ends: i1, %c: i32, %count: i32, %tiles: i32, %shared: i32, %ktiles: i32, %w: i32, %barrier: i32, %t: i32) -> !tile {
    return %sums : !tile
  }
  func.func private @join1(%given: !tile, %tile: i32, %k: i32, %ends: i1, %c: i32, %count: i32, %tiles: i32, %shared: i32, %ktiles: i32, %w: i32, %barrier: i32, %t: i32, %slots: !slots, %flags: !flags) -> !tile {
    %four = cute.static "(4,${BM/(2-PP)*BN/512}):(1,4)"
    %sums = cute.memref.alloca %four : ${ACC}
    cute.memref.store_vec %given, %sums
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c128 = arith.constant 128 : i32
    %quarters = arith.constant ${BM/(2-PP)*BN/512} : i32
    %warpgroups = arith.constant ${2*CM*CN} : i32
    %is_first = arith.cmpi eq, %t, %c0 : i32
    scf.if %ends {
      %last, %lowest = scf.while (%above = %c, %from = %k) : (i32, i32) -> (i32, i32) {
        %more = arith.cmpi ne, %from, %c0 : i32
        scf.condition(%more) %above, %from : i32, i32
      } do {
      ^bb0(%above: i32, %from: i32):
        %that, %low = func.call @${WORK}_before(%above, %count, %tiles, %shared, %tile, %ktiles) : (i32, i32, i32, i32, i32, i32) -> (i32, i32)
        %back = arith.subi %c, %that : i32
        %groups = arith.muli %back, %warpgroups : i32
        %of = arith.subi %w, %groups : i32
        scf.if %is_first {
          %flag = func.call @flag(%flags, %of) : (!flags, i32) -> !llvm.ptr<1>
          scf.while : () -> () {
            %there = llvm.load %flag atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
            %waits = arith.cmpi eq, %there, %c0 : i32
            scf.condition(%waits)
          } do {
            scf.yield
          }
        }
        cute_nvgpu.arch.warp_sync
        cute_nvgpu.arch.named_barrier_sync %barrier, %c128
        %slot = func.call @slot(%slots, %of, %t) : (!slots, i32, i32) -> !slot
        scf.for %j = %c0 to %quarters step %c1 : i32 {
          %x = cute.memref.load_vec %slot[_, %j]
          %y = cute.memref.load_vec %sums[_, %j]
          %z = arith.${ADD} %x, %y : !part
          cute.memref.store_vec %z, %sums[_, %j]
        } {loop_annotation = #unroll}
        scf.yield %that, %low : i32, i32
      }
    } else {
      %slot = func.call @slot(%slots, %w, %t) : (!slots, i32, i32) -> !slot
      scf.for %j = %c0 to %quarters step %c1 : i32 {
        %y = cute.memref.load_vec %sums[_, %j]
        cute.memref.store_vec %y, %slot[_, %j]
      } {loop_annotation = #unroll}
      cute_nvgpu.arch.named_barrier_sync %barrier, %c128
      scf.if %is_first {
        %flag = func.call @flag(%flags, %w) : (!flags, i32) -> !llvm.ptr<1>
        llvm.store %c1, %flag atomic syncscope("device") release {alignment = 4 : i64} : i32, !llvm.ptr<1>
      }
    }
    %joined = cute.memref.load_vec %sums
    return %joined : !tile
  }
  // Position of a warpgroup's tile: rows in units of its rows, columns in tiles.
  func.func private @corner(%m: i32, %n: i32, %rm: i32, %rn: i32, %half: i32) -> (i32, i32) {
    %cCM = arith.constant ${CM} : i32
    %cCN = arith.constant ${CN} : i32
    %ways_m = arith.constant ${2-PP} : i32
    %mc = arith.muli %m, %cCM : i32
    %nc = arith.muli %n, %cCN : i32
    %bm = arith.addi %mc, %rm : i32
    %bn = arith.addi %nc, %rn : i32
    %rows = arith.muli %bm, %ways_m : i32
    %row = arith.addi %rows, %half : i32
    return %row, %bn : i32, i32
  }
  // The epilogue.
  func.func private @none(%x: f32, %y: f32) -> (f32, f32) { return %x, %y : f32, f32 }
  func.func private @relu(%x: f32, %y: f32) -> (f32, f32) {
    %zero = arith.constant 0.0 : f32
    %a = arith.maximumf %x, %zero : f32
    %b = arith.maximumf %y, %zero : f32
    return %a, %b : f32, f32
  }
  // x / (1 + 2^(x (p + q x^2))) is x / below; one reciprocal of the product serves two elements. If 2^60 replaces a larger
  // value, x is negative and gelu is practically 0; NaN is preserved.
  func.func private @below(%x: f32) -> f32 {
    %one = arith.constant 1.0 : f32
    %most = arith.constant 60.0 : f32
    %p = arith.constant -2.302208198 : f32
    %q = arith.constant -0.1029432396 : f32
    %square = arith.mulf %x, %x : f32
    %curve = math.fma %square, %q, %p : f32
    %product = arith.mulf %x, %curve : f32
    %exponent = arith.minnumf %product, %most : f32
    %e = math.exp2 %exponent fastmath<afn> : f32
    %below = arith.addf %e, %one : f32
    return %below : f32
  }
  func.func private @gelu(%x: f32, %y: f32) -> (f32, f32) {
    %a = func.call @below(%x) : (f32) -> f32
    %b = func.call @below(%y) : (f32) -> f32
    %ab = arith.mulf %a, %b : f32
    %share = nvvm.rcp.approx.ftz.f %ab : f32
    %over_a = arith.mulf %b, %share : f32
    %over_b = arith.mulf %a, %share : f32
    %gx = arith.mulf %x, %over_a : f32
    %gy = arith.mulf %y, %over_b : f32
    return %gx, %gy : f32, f32
  }
  func.func private @bias_at(%bias: !bias, %from: i32, %i: i32, %limit: i32) -> f32 {
    %most = arith.constant ${BIAS==2?BM/(2-PP):BN} : i32
    %at = arith.addi %from, %i : i32
    %inside = arith.cmpi ult, %at, %limit : i32
    %mine = arith.cmpi ult, %i, %most : i32
    %there = arith.andi %inside, %mine : i1
    %x = scf.if %there -> (f32) {
      %y = cute.memref.load %bias[%at]
      %z = arith.${EEXT} %y : ${TC} to f32
      scf.yield %z : f32
    } else {
      %zero = arith.constant 0.0 : f32
      scf.yield %zero : f32
    }
    return %x : f32
  }
  // Loaded per thread during the last products: two elements of the bias, alpha, beta.
  func.func private @plain_fetch(%m: i32, %n: i32, %rm: i32, %rn: i32, %half: i32, %t: i32) -> vector<4xf32> {
    %none = arith.constant dense<0.0> : vector<4xf32>
    return %none : vector<4xf32>
  }
  func.func private @fused_fetch(%m: i32, %n: i32, %rm: i32, %rn: i32, %half: i32, %t: i32, %S: !C, %bias: !bias, %alpha: f32, %beta: f32) -> vector<4xf32> {
    %adds = arith.constant ${BIAS!=0} : i1
    %x, %y = scf.if %adds -> (f32, f32) {
      %shape = cute.shape %S
      %M, %N = cute.get_scalars %shape
      %row, %bn = func.call @corner(%m, %n, %rm, %rn, %half) : (i32, i32, i32, i32, i32) -> (i32, i32)
      %along_m = arith.constant ${BIAS==2} : i1
      %tile = arith.select %along_m, %row, %bn : i32
      %limit = arith.select %along_m, %M, %N : i32
      %size = arith.constant ${BIAS==2?BM/(2-PP):BN} : i32
      %from = arith.muli %tile, %size : i32
      %c128 = arith.constant 128 : i32
      %t1 = arith.addi %t, %c128 : i32
      %x1 = func.call @bias_at(%bias, %from, %t, %limit) : (!bias, i32, i32, i32) -> f32
      %y1 = func.call @bias_at(%bias, %from, %t1, %limit) : (!bias, i32, i32, i32) -> f32
      scf.yield %x1, %y1 : f32, f32
    } else {
      %zero = arith.constant 0.0 : f32
      scf.yield %zero, %zero : f32, f32
    }
    %early = vector.from_elements %x, %y, %alpha, %beta : vector<4xf32>
    return %early : vector<4xf32>
  }
  // Before columns from %g on of a tile: wait for S, and at first load the bias.
  func.func private @begin(%g: i32, %w: i32, %t: i32, %early: vector<4xf32>, %phase: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %at_first = arith.cmpi eq, %g, %c0 : i32
    %adds = arith.constant ${BIAS!=0} : i1
    %stages = arith.andi %at_first, %adds : i1
    scf.if %stages {
      %sbp = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<f32, smem, align<1024>>
      %sb = cute.add_offset %sbp, ${((BM+BN)*BK*STAGES*BITS+(PP?2:1)*BM*CW*NC*BITSC)/32+4*STAGES+4}
      %sbs = cute.make_view %sb, "(${BIAS==2?BM/(2-PP):BN},2):(1,${BIAS==2?BM/(2-PP):BN})"
      %most = arith.constant ${BIAS==2?BM/(2-PP):BN} : i32
      %x = vector.extract %early[0] : f32 from vector<4xf32>
      %y = vector.extract %early[1] : f32 from vector<4xf32>
      %is_mine = arith.cmpi ult, %t, %most : i32
      scf.if %is_mine {
        cute.memref.store %sbs[%t, %w], %x
      }
      %c128 = arith.constant 128 : i32
      %t1 = arith.addi %t, %c128 : i32
      %is_mine1 = arith.cmpi ult, %t1, %most : i32
      scf.if %is_mine1 {
        cute.memref.store %sbs[%t1, %w], %y
      }
    }
    %reads = arith.constant ${BETA} : i1
    scf.if %reads {
      %base = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i64, smem, align<1024>>
      %bars = cute.add_offset %base, ${((BM+BN)*BK*STAGES*BITS+(PP?2:1)*BM*CW*NC*BITSC)/64+2*STAGES}
      %bar = cute.add_offset %bars, %w
      %buffers = arith.constant ${NC} : i32
      %before = arith.divui %g, %buffers : i32
      %turned = arith.xori %before, %phase : i32
      %p = arith.andi %turned, %c1 : i32
      cute_nvgpu.arch.mbarrier_wait %bar, %p
    }
    return
  }
  // 16 columns.
  func.func private @end(%x: !sums, %piece: i32, %buffer: i32, %j: i32, %w: i32, %t: i32, %early: vector<4xf32>) -> !results {
    %atom = cute.make_atom : !mma16
    %mma = cute.make_tiled_mma %atom, "(1,1,1):(0,0,0)"
    %alpha = vector.extract %early[2] : f32 from vector<4xf32>
    %beta = vector.extract %early[3] : f32 from vector<4xf32>
    %f = arith.${EFROM} %x : !sums to !singles
    %alphas = vector.broadcast %alpha : f32 to !singles
    %x0 = arith.mulf %f, %alphas : !singles
    %reads = arith.constant ${BETA} : i1
    %x1 = scf.if %reads -> (!singles) {
      %sSp = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<${TC}, smem, align<1024>, ${SC}>
      %sS = cute.add_offset %sSp, ${(BM+BN)*BK*STAGES*BITS/BITSC}
      %sSs = cute.make_view %sS, "(${BM/(2-PP)},${CW},${NC},2):(${CW},1,${BM/(2-PP)*CW},${BM/(2-PP)*CW*NC})"
      %sSt = cute.slice %sSs, (_, _, %buffer, %w)
      %load = cute.make_atom : !load
      %s2r = cute.make_tiled_copy_C %load, %mma
      %tSs = cute.tiled.copy.partition_S %s2r, %sSt, %t
      %tSj = cute.slice %tSs, (_, _, %j)
      %lS = cute.static "((2,2,2),${BM/(2-PP)/64},1):((1,2,4),8,8)"
      %rS = cute.memref.alloca %lS : ${TC}
      %tSr = cute.tiled.copy.retile %s2r, %rS
      cute.copy %s2r, %tSj, %tSr[_, _, 0]
      %v = cute.memref.load_vec %rS
      %e = arith.${EEXT} %v : !results to !singles
      %betas = vector.broadcast %beta : f32 to !singles
      %s = math.fma %e, %betas, %x0 : !singles
      scf.yield %s : !singles
    } else {
      scf.yield %x0 : !singles
    }
    %adds = arith.constant ${BIAS!=0} : i1
    %x2 = scf.if %adds -> (!singles) {
      %sbp = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<f32, smem, align<1024>>
      %sb = cute.add_offset %sbp, ${((BM+BN)*BK*STAGES*BITS+(PP?2:1)*BM*CW*NC*BITSC)/32+4*STAGES+4}
      %sbs = cute.make_view %sb, "(${BM/(2-PP)},${BN},2):(${BIAS==2},${BIAS==1},${BIAS==2?BM/(2-PP):BN})"
      %sbw = cute.slice %sbs, (_, _, %w)
      %sbt = cute.local_tile %sbw, (${BM/(2-PP)}, 16), (0, %piece)
      %some = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32, ${BIAS==1?64:32} b>
      %s2r = cute.make_tiled_copy_C %some, %mma
      %tBs = cute.tiled.copy.partition_S %s2r, %sbt, %t
      %rB = cute.make_fragment_like(%tBs)
      cute.copy %s2r, %tBs, %rB
      %v = cute.memref.load_vec %rB
      %s = arith.addf %x1, %v : !singles
      scf.yield %s : !singles
    } else {
      scf.yield %x1 : !singles
    }
    %layout = cute.static "(${BM/(2-PP)/8}):(1)"
    %values = cute.memref.alloca %layout : f32
    cute.memref.store_vec %x2, %values
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %count = arith.constant ${BM/(2-PP)/8} : i32
    %c2 = arith.constant 2 : i32
    scf.for %i = %c0 to %count step %c2 : i32 {
      %i1 = arith.addi %i, %c1 : i32
      %v = cute.load %values[%i]
      %u = cute.load %values[%i1]
      %a, %b = func.call @${ACT}(%v, %u) : (f32, f32) -> (f32, f32)
      cute.store %a, %values[%i]
      cute.store %b, %values[%i1]
    } {loop_annotation = #unroll}
    %x3 = cute.memref.load_vec %values
    %y = arith.${ETO} %x3 : !singles to !results
    return %y : !results
  }
  gpu.func @gemm(%A: !t${A}, %B: !t${B}, %C: !C${PARAMS}${SPACE}) kernel
      attributes {nvvm.reqntid = array<i32: 384, 1, 1>, nvvm.cluster_dim = array<i32: ${CM*CN}, 1, 1>, nvvm.minctasm = 1 : i32} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %bid = nvvm.read.ptx.sreg.ctaid.x : i32
    %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %c5 = arith.constant 5 : i32
    %c256 = arith.constant 256 : i32
    %c128 = arith.constant 128 : i32
    %turns = arith.constant ${PP} : i1
    %ways = arith.constant ${1+PP} : i32
    %ways_m = arith.constant ${2-PP} : i32
    %chunks = arith.constant ${BN/CW} : i32
    %buffers = arith.constant ${NC} : i32
    %pieces = arith.constant ${CW/16} : i32
    %stages = arith.constant ${STAGES} : i32
    %cCM = arith.constant ${CM} : i32
    %cCN = arith.constant ${CN} : i32
    %wid = arith.shrui %tid, %c5 : i32
    %warp = cute_nvgpu.arch.make_warp_uniform %wid
    %group = arith.divui %warp, %c4 : i32
    %t = arith.remui %tid, %c128 : i32
    // This block's rank in its cluster, the cluster's tiles.
    %cluster = arith.constant ${CM*CN} : i32
    %rank = arith.remui %bid, %cluster : i32
    %rm = arith.remui %rank, %cCM : i32
    %rn = arith.divui %rank, %cCM : i32
    %inM = cute.make_coord %rm
    %inN = cute.make_coord %rn
    %alone = cute.make_coord 0
    %first = arith.divui %bid, %cluster : i32
    %step = arith.divui %blocks, %cluster : i32
    %shape = cute.shape %C
    %grid = cute.ceil_div %shape, (${BM*CM}, ${BN*CN})
    %tm, %tn = cute.get_scalars %grid
    %tiles = arith.muli %tm, %tn : i32
    // The buffers, and TMA copies of their tiles.
    %sAp = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<${T}, smem, align<1024>, S<3,4,3>>
    %sBp = cute.add_offset %sAp, ${BM*BK*STAGES}
    %sA = cute.make_view %sAp, "((${A?1024/BITS:BM},${A?BM*BITS/1024:1}),${BK},${STAGES}):((${A?1:BK},${A?1024/BITS*BK:0}),${A?1024/BITS:1},${BM*BK})"
    %sB = cute.make_view %sBp, "((${B?1024/BITS:BN},${B?BN*BITS/1024:1}),${BK},${STAGES}):((${B?1:BK},${B?1024/BITS*BK:0}),${B?1024/BITS:1},${BN*BK})"
    %sCp = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<${TC}, smem, align<1024>, ${SC}>
    %sC = cute.add_offset %sCp, ${(BM+BN)*BK*STAGES*BITS/BITSC}
    %base = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i64, smem, align<1024>>
    %full = cute.add_offset %base, ${((BM+BN)*BK*STAGES*BITS+(PP?2:1)*BM*CW*NC*BITSC)/64}
    %empty = cute.add_offset %full, ${STAGES}
    %lA = cute.make_composed_layout "S<3,4,3>", "0", "((${A?1024/BITS:BM},${A?BM*BITS/1024:1}),${BK}):((${A?1:BK},${A?1024/BITS*BK:0}),${A?1024/BITS:1})"
    %lB = cute.make_composed_layout "S<3,4,3>", "0", "((${B?1024/BITS:BN},${B?BN*BITS/1024:1}),${BK}):((${B?1:BK},${B?1024/BITS*BK:0}),${B?1024/BITS:1})"
    %lC = cute.make_composed_layout "${SC}", "0", "(${BM/(2-PP)},${CW}):(${CW},1)"
    %tmaA, %iA = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%A, %lA) {kind = #cute_nvgpu.tiled_tma_load<sm_90>, num_multicast = ${CN} : i32}
    %tmaB, %iB = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%B, %lB) {kind = #cute_nvgpu.tiled_tma_load<sm_90>, num_multicast = ${CM} : i32}
    %tmaC, %iC = cute_nvgpu.atom.make_non_exec_tiled_tma_store(%C, %lC)
    %tmaS, %iS = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%${S}, %lC) {kind = #cute_nvgpu.tiled_tma_load<sm_90>, num_multicast = 1 : i32}
    %fused = arith.constant ${FUSED} : i1
    %reads_s = arith.constant ${BETA} : i1
    // mbarriers: a buffer is full when its bytes have arrived, empty when all readers have released it.
    %is_first = arith.cmpi eq, %tid, %c0 : i32
    %readers = arith.constant ${(PP?1:2)*(CM+CN-1)} : i32
    scf.if %is_first {
      cute_nvgpu.prefetch_tma_desc %tmaA
      cute_nvgpu.prefetch_tma_desc %tmaB
      cute_nvgpu.prefetch_tma_desc %tmaC
      scf.if %reads_s {
        cute_nvgpu.prefetch_tma_desc %tmaS
      }
      scf.for %s = %c0 to %stages step %c1 : i32 {
        %f = cute.add_offset %full, %s
        %e = cute.add_offset %empty, %s
        cute_nvgpu.arch.mbarrier_init %f, %c1
        cute_nvgpu.arch.mbarrier_init %e, %readers
      }
      scf.if %reads_s {
        %bar_s = cute.add_offset %full, ${2*STAGES}
        %bar_s1 = cute.add_offset %bar_s, 1
        cute_nvgpu.arch.mbarrier_init %bar_s, %c1
        cute_nvgpu.arch.mbarrier_init %bar_s1, %c1
      }
      cute_nvgpu.arch.mbarrier_init_fence
    }
    cute_nvgpu.arch.cluster_arrive {relaxed}
    cute_nvgpu.arch.cluster_wait
    %kshape = cute.size<[1]> %A
    %kmode = cute.ceil_div %kshape, ${BK}
    %ktiles = cute.get_scalars %kmode
    %work, %stop, %shared, %low, %high = func.call @${WORK}_work(%first, %step, %tiles, %ktiles) : (i32, i32, i32, i32) -> (i32, i32, i32, i32, i32)
    cute_nvgpu.arch.griddepcontrol_launch_dependents
    %producer = arith.cmpi eq, %group, %c0 : i32
    scf.if %producer {
      // The producer warp loads the tiles of all k as buffers become empty.
      cute_nvgpu.arch.setmaxregister_decrease {registers = 24 : i32}
      %fetches = arith.cmpi eq, %warp, %c0 : i32
      scf.if %fetches {
        %one = cute_nvgpu.arch.elect_one
        %bytes = arith.constant ${(BM+BN)*BK*BITS/8} : i32
        %maskA = arith.constant ${CN==1 ? 1 : 1+(CM==2?4:2)} : i16
        %maskB = arith.constant ${CM==2?3:1} : i16
        %rm16 = arith.trunci %rm : i32 to i16
        %columns = arith.muli %rn, %cCM : i32
        %rn16 = arith.trunci %columns : i32 to i16
        %toA = arith.shli %maskA, %rm16 : i16
        %toB = arith.shli %maskB, %rn16 : i16
        %execA = cute_nvgpu.atom.make_exec_tma %tmaA
        %execB = cute_nvgpu.atom.make_exec_tma %tmaB
        %castA = cute_nvgpu.atom.set_value %execA, %toA {field = #cute_nvgpu.atom_copy_field_tmaload<mcast_mask>}
        %castB = cute_nvgpu.atom.set_value %execB, %toB {field = #cute_nvgpu.atom_copy_field_tmaload<mcast_mask>}
        // L2 merges concurrent reads of blocks in a GPC, but not multicasts: without sharing, use no multicast.
        %sharesA = arith.constant ${CN>1} : i1
        %sharesB = arith.constant ${CM>1} : i1
        // Wait for writes of the previous kernel, which may let this one start early.
        cute_nvgpu.arch.griddepcontrol_wait
        scf.for %v = %work to %stop step %step iter_args(%i0 = %c0, %p0 = %c1) -> (i32, i32) : i32 {
          %tile, %k0, %k1 = func.call @${WORK}_piece(%v, %first, %step, %tiles, %shared, %low, %high, %ktiles) : (i32, i32, i32, i32, i32, i32, i32, i32) -> (i32, i32, i32)
          %m, %n = func.call @place(%tile, %tm, %tn) : (i32, i32, i32) -> (i32, i32)
          %mc = arith.muli %m, %cCM : i32
          %nc = arith.muli %n, %cCN : i32
          %bm = arith.addi %mc, %rm : i32
          %bn = arith.addi %nc, %rn : i32
          %gA = cute.local_tile %iA, (${BM}, ${BK}), (%bm, _)
          %gB = cute.local_tile %iB, (${BN}, ${BK}), (%bn, _)
          %sA2 = cute.group_modes(%sA) <0, 2>
          %sB2 = cute.group_modes(%sB) <0, 2>
          %gA2 = cute.group_modes(%gA) <0, 2>
          %gB2 = cute.group_modes(%gB) <0, 2>
          %tAs, %tAg = cute_nvgpu.atom.tma_partition %tmaA, %inN, "(${CN}):(1)", %sA2, %gA2
          %tBs, %tBg = cute_nvgpu.atom.tma_partition %tmaB, %inM, "(${CM}):(1)", %sB2, %gB2
          %i2, %p2 = scf.for %k = %k0 to %k1 step %c1 iter_args(%i = %i0, %p = %p0) -> (i32, i32) : i32 {
            %f = cute.add_offset %full, %i
            %e = cute.add_offset %empty, %i
            cute_nvgpu.arch.mbarrier_wait %e, %p
            scf.if %one {
              cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %f, %bytes
            }
            scf.if %sharesA {
              %loadA = cute_nvgpu.atom.set_value %castA, %f {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>}
              cute.copy %loadA, %tAg[_, %k], %tAs[_, %i]
            } else {
              %loadA = cute_nvgpu.atom.set_value %execA, %f {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>}
              cute.copy %loadA, %tAg[_, %k], %tAs[_, %i]
            }
            scf.if %sharesB {
              %loadB = cute_nvgpu.atom.set_value %castB, %f {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>}
              cute.copy %loadB, %tBg[_, %k], %tBs[_, %i]
            } else {
              %loadB = cute_nvgpu.atom.set_value %execB, %f {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>}
              cute.copy %loadB, %tBg[_, %k], %tBs[_, %i]
            }
            %i1, %p1 = cute_nvgpu.arch.pipeline_advance<{stages = ${STAGES} : i32}> %i, %p
            scf.yield %i1, %p1 : i32, i32
          }
          scf.yield %i2, %p2 : i32, i32
        }
      }
    } else {
      cute_nvgpu.arch.setmaxregister_increase {registers = 240 : i32}
      %w = arith.subi %group, %c1 : i32
      // Blocks to notify that a buffer is empty: those that loaded parts of it.
      %peers = arith.constant ${CM+CN-1} : i32
      %tells = arith.cmpi ult, %t, %peers : i32
      %in_column = arith.cmpi ult, %t, %cCM : i32
      %from = arith.muli %rn, %cCM : i32
      %peerB = arith.addi %from, %t : i32
      %behind = arith.subi %t, %cCM : i32
      %skips = arith.cmpi uge, %behind, %rn : i32
      %skip = arith.extui %skips : i1 to i32
      %other = arith.addi %behind, %skip : i32
      %times = arith.muli %other, %cCM : i32
      %peerA = arith.addi %times, %rm : i32
      %peer = arith.select %in_column, %peerB, %peerA : i32
      // This warpgroup's rows of A, its fragments and its buffer of C.
      %half = arith.select %turns, %c0, %w : i32
      %sAw = cute.local_tile %sA, (${BM/(2-PP)}, ${BK}, ${STAGES}), (%half, 0, 0)
      %atom = cute.make_atom : !mma
      %mma = cute.make_tiled_mma %atom, "(1,1,1):(0,0,0)"
      %tCsA = cute.tiled.mma.partition A (%mma, %sAw, %t)
      %tCsB = cute.tiled.mma.partition B (%mma, %sB, %t)
      %rA = cute.mma.make_fragment A (%mma, %tCsA)
      %rB = cute.mma.make_fragment B (%mma, %tCsB)
      %shapeC = cute.tiled.mma.partition_shape C (%mma, (${BM/(2-PP)}, ${BN}))
      %acc = cute.mma.make_fragment C (%mma, %shapeC)
      %total = cute.mma.make_fragment C (%mma, %shapeC)
      %acc16 = cute.composition %${SUMS}, "((2,2,2),${BM/(2-PP)/64},1,${BN/16}):((1,2,4),${BN/2},0,8)"
      %rC = cute.make_fragment_like(%acc16[_, _, _, 0]) {element = ${TC}}
      %atom16 = cute.make_atom : !mma16
      %mma16 = cute.make_tiled_mma %atom16, "(1,1,1):(0,0,0)"
      %store = cute.make_atom : !store
      %r2s = cute.make_tiled_copy_C %store, %mma16
      %sCs = cute.make_view %sC, "(${BM/(2-PP)},${CW},${NC},2):(${CW},1,${BM/(2-PP)*CW},${BM/(2-PP)*CW*NC})"
      %sCt = cute.slice %sCs, (_, _, _, %w)
      %tRrC = cute.tiled.copy.retile %r2s, %rC
      %tRsC = cute.tiled.copy.partition_D %r2s, %sCt, %t
      %sC2 = cute.group_modes(%sCt) <0, 2>
      %execC = cute_nvgpu.atom.make_exec_tma %tmaC
      %w1 = arith.addi %w, %c1 : i32
      %promotes = arith.constant ${PROMOTE} : i1
      %kept = arith.constant ${1-PROMOTE} : i1
      %full_s = cute.add_offset %full, ${2*STAGES}
      %bar_s = cute.add_offset %full_s, %w
      %bytes_s = arith.constant ${BM/(2-PP)*CW*NC*BITSC/8} : i32
      %execS = cute_nvgpu.atom.make_exec_tma %tmaS
      %loadS = cute_nvgpu.atom.set_value %execS, %bar_s {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>}
      // Computed from the warp index, not the thread index, so that ptxas keeps uniform values in uniform registers.
      %in_group = arith.remui %warp, %c4 : i32
      %storer = arith.cmpi eq, %in_group, %c0 : i32
      // With PP the warpgroups multiply in turns: barrier 3 starts the turn of the first, barrier 4 that of the second.
      %turn = arith.addi %w, %c3 : i32
      %other_turn = arith.subi %c4, %w : i32
      %is_second = arith.cmpi eq, %w, %c1 : i32
      %begins = arith.andi %is_second, %turns : i1
      scf.if %begins {
        cute_nvgpu.arch.named_barrier_arrive %other_turn, %c256
      }
      // The second warpgroup starts one tile later, after the buffers of the first one.
      %late = arith.select %turns, %w, %c0 : i32
      %ahead = arith.muli %late, %step : i32
      %start = arith.addi %work, %ahead : i32
      %stride = arith.muli %step, %ways : i32
      // Buffers of the two warpgroups alternate, so skip those of the other one.
      %others = arith.select %turns, %ktiles, %c0 : i32
      %theirs = arith.muli %late, %ktiles : i32
      %i0, %p0 = cute_nvgpu.arch.pipeline_index_of<{stages = ${STAGES} : i32}> %theirs
      // The phase of S at the start of a tile.
      %fills_s = arith.constant ${BETA*(BN/CW/NC)%2} : i32
      // The temporaries are this launch's once the previous one is done.
      %shares = arith.constant ${SHARE} : i1
      %two = arith.constant 2 : i32
      %block_groups = arith.muli %bid, %two : i32
      %warpgroup = arith.addi %block_groups, %w : i32
      scf.if %shares {
        cute_nvgpu.arch.griddepcontrol_wait
      }
      scf.for %v = %start to %stop step %stride iter_args(%i1 = %i0, %p1 = %p0, %s1 = %c0) -> (i32, i32, i32) : i32 {
        %tile, %k0, %k1 = func.call @${WORK}_piece(%v, %first, %step, %tiles, %shared, %low, %high, %ktiles) : (i32, i32, i32, i32, i32, i32, i32, i32) -> (i32, i32, i32)
        %m, %n = func.call @place(%tile, %tm, %tn) : (i32, i32, i32) -> (i32, i32)
        scf.if %turns {
          cute_nvgpu.arch.named_barrier_sync %turn, %c256
        }
        scf.if %promotes {
          %none = arith.constant dense<${ZERO}> : !tile
          cute.memref.store_vec %none, %total
        }
        %i2, %p2, %latest = scf.for %k = %k0 to %k1 step %c1 iter_args(%i = %i1, %p = %p1, %before = %i1) -> (i32, i32, i32) : i32 {
          %f = cute.add_offset %full, %i
          cute_nvgpu.arch.mbarrier_wait %f, %p
          cute_nvgpu.arch.wgmma_fence
          %later = arith.cmpi ne, %k, %k0 : i32
          %goes_on = arith.andi %later, %kept : i1
          %on = cute_nvgpu.atom.set_value %mma, %goes_on {field = #cute_nvgpu.atom_mma_field_sm90<accum_c>}
          cute.gemm %on, %acc, %rA[_, _, _, %i], %rB[_, _, _, %i], %acc
          cute_nvgpu.arch.wgmma_commit_group
          cute_nvgpu.arch.wgmma_wait_group {groups = 1 : i32}
          // The previous product is complete, so its buffer is empty.
          %frees = arith.andi %later, %tells : i1
          scf.if %frees {
            %e = cute.add_offset %empty, %before
            cute_nvgpu.arch.mbarrier_arrive %e, %peer {reads_only}
          }
          scf.if %promotes {
            cute_nvgpu.arch.wgmma_wait_group {groups = 0 : i32}
            %x = cute.memref.load_vec %acc
            %y = cute.memref.load_vec %total
            %z = arith.${ADD} %x, %y : !tile
            cute.memref.store_vec %z, %total
          }
          %j, %q = cute_nvgpu.arch.pipeline_advance<{stages = ${STAGES} : i32}> %i, %p
          scf.yield %j, %q, %i : i32, i32, i32
        }
        %following = arith.addi %v, %step : i32
        %another = arith.cmpi slt, %following, %stop : i32
        %yields = arith.andi %another, %turns : i1
        scf.if %yields {
          cute_nvgpu.arch.named_barrier_arrive %other_turn, %c256
        }
        // During the last products, load the first columns of S and two elements of the bias.
        %ends = arith.cmpi eq, %k1, %ktiles : i32
        %end_reads_s = arith.andi %ends, %reads_s : i1
        scf.if %end_reads_s {
          scf.if %storer {
            %rowS, %bnS = func.call @corner(%m, %n, %rm, %rn, %half) : (i32, i32, i32, i32, i32) -> (i32, i32)
            %colS = arith.muli %bnS, %chunks : i32
            cute_nvgpu.arch.cp_async_bulk_wait_group {groups = 0 : i32, read}
            %one = cute_nvgpu.arch.elect_one
            scf.if %one {
              cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %bar_s, %bytes_s
            }
            scf.for %buffer = %c0 to %buffers step %c1 : i32 {
              %col = arith.addi %colS, %buffer : i32
              %gS = cute.local_tile %iS, (${BM/(2-PP)}, ${CW}), (%rowS, %col)
              %gS2 = cute.group_modes(%gS) <0, 2>
              %tSs, %tSg = cute_nvgpu.atom.tma_partition %tmaS, %alone, "1:0", %sC2, %gS2
              cute.copy %loadS, %tSg, %tSs[_, %buffer]
            } {loop_annotation = #unroll}
          }
        }
        %early = func.call @${END}_fetch(%m, %n, %rm, %rn, %half, %t${ARGS}) : (i32, i32, i32, i32, i32, i32${TYPES}) -> vector<4xf32>
        cute_nvgpu.arch.wgmma_wait_group {groups = 0 : i32}
        scf.if %tells {
          %e = cute.add_offset %empty, %latest
          cute_nvgpu.arch.mbarrier_arrive %e, %peer {reads_only}
        }
        %own = cute.memref.load_vec %${SUMS}
        %joined = func.call @join${SHARE}(%own, %tile, %k0, %ends, %first, %step, %tiles, %shared, %ktiles, %warpgroup, %w1, %t${SPACE_ARGS})
            : (!tile, i32, i32, i1, i32, i32, i32, i32, i32, i32, i32, i32${SPACE_TYPES}) -> !tile
        cute.memref.store_vec %joined, %${SUMS}
        scf.if %ends {
          // NC times CW columns at a time: convert to TC, store to the buffers, then to C.
          %rows2, %bn = func.call @corner(%m, %n, %rm, %rn, %half) : (i32, i32, i32, i32, i32) -> (i32, i32)
          %tilesN = arith.muli %bn, %chunks : i32
          scf.for %g = %c0 to %chunks step %buffers : i32 {
            scf.if %storer {
              cute_nvgpu.arch.cp_async_bulk_wait_group {groups = 0 : i32, read}
            }
            scf.if %reads_s {
              %is_later = arith.cmpi ne, %g, %c0 : i32
              %later_s = arith.andi %storer, %is_later : i1
              scf.if %later_s {
                %colS = arith.addi %tilesN, %g : i32
                %one = cute_nvgpu.arch.elect_one
                scf.if %one {
                  cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %bar_s, %bytes_s
                }
                scf.for %buffer = %c0 to %buffers step %c1 : i32 {
                  %col = arith.addi %colS, %buffer : i32
                  %gS = cute.local_tile %iS, (${BM/(2-PP)}, ${CW}), (%rows2, %col)
                  %gS2 = cute.group_modes(%gS) <0, 2>
                  %tSs, %tSg = cute_nvgpu.atom.tma_partition %tmaS, %alone, "1:0", %sC2, %gS2
                  cute.copy %loadS, %tSg, %tSs[_, %buffer]
                } {loop_annotation = #unroll}
              }
            }
            scf.if %fused {
              func.call @begin(%g, %w, %t, %early, %s1) : (i32, i32, i32, vector<4xf32>, i32) -> ()
            }
            cute_nvgpu.arch.named_barrier_sync %w1, %c128
            scf.for %buffer = %c0 to %buffers step %c1 : i32 {
              scf.for %j = %c0 to %pieces step %c1 : i32 {
                %h = arith.addi %g, %buffer : i32
                %hp = arith.muli %h, %pieces : i32
                %hj = arith.addi %hp, %j : i32
                %x = cute.memref.load_vec %acc16[_, _, _, %hj]
                %y = scf.if %fused -> (!results) {
                  %z = func.call @end(%x, %hj, %buffer, %j, %w, %t, %early) : (!sums, i32, i32, i32, i32, i32, vector<4xf32>) -> !results
                  scf.yield %z : !results
                } else {
                  %z = arith.${TRUNC} %x : !sums to !results
                  scf.yield %z : !results
                }
                cute.memref.store_vec %y, %rC
                cute.copy %r2s, %tRrC[_, _, 0], %tRsC[_, _, %j, %buffer]
              } {loop_annotation = #unroll}
            } {loop_annotation = #unroll}
            cute_nvgpu.arch.fence_view_async_shared
            cute_nvgpu.arch.named_barrier_sync %w1, %c128
            scf.if %storer {
              scf.for %buffer = %c0 to %buffers step %c1 : i32 {
                %col0 = arith.addi %tilesN, %g : i32
                %col = arith.addi %col0, %buffer : i32
                %gC = cute.local_tile %iC, (${BM/(2-PP)}, ${CW}), (%rows2, %col)
                %gC2 = cute.group_modes(%gC) <0, 2>
                %tCs, %tCg = cute_nvgpu.atom.tma_partition %tmaC, %alone, "1:0", %sC2, %gC2
                cute.copy %execC, %tCs[_, %buffer], %tCg
              } {loop_annotation = #unroll}
              cute_nvgpu.arch.cp_async_bulk_commit_group
            }
          } {loop_annotation = #unroll}
        }
        %i3, %p3 = cute_nvgpu.arch.pipeline_advance<{stages = ${STAGES} : i32}> %i2, %p2, %others
        %filled_s = arith.select %ends, %fills_s, %c0 : i32
        %s2 = arith.xori %s1, %filled_s : i32
        scf.yield %i3, %p3, %s2 : i32, i32, i32
      }
      scf.if %storer {
        cute_nvgpu.arch.cp_async_bulk_wait_group {groups = 0 : i32, read}
      }
    }
    cute_nvgpu.arch.cluster_arrive
    cute_nvgpu.arch.cluster_wait
    gpu.return
  }
}
func.func @gemm(%A: !t${A}, %B: !t${B}, %C: !C${PARAMS}) {
  %shape = cute.shape %C
  %grid = cute.ceil_div %shape, (${BM*CM}, ${BN*CN})
  %tm, %tn = cute.get_scalars %grid
  %tiles = arith.muli %tm, %tn : i32
  %cluster = arith.constant ${CM*CN} : i32
  %sms = cute_nvgpu.host.sm_count
  %most = arith.divui %sms, %cluster : i32
  %shares = arith.constant ${SHARE} : i1
  %full = arith.minui %tiles, %most : i32
  %clusters = arith.select %shares, %most, %full : i32
  %blocks = arith.muli %clusters, %cluster : i32
  %slots_layout = cute.make_layout((${BM*BN}, %blocks))
  %slots = cute.temporary %slots_layout : !slots
  %flags_layout = cute.make_layout((2, %blocks))
  %flags = cute.temporary<zero> %flags_layout : !flags
  %gx = arith.index_cast %blocks : i32 to index
  %c1 = arith.constant 1 : index
  %cx = arith.constant ${CM*CN} : index
  %threads = arith.constant 384 : index
  %bytes = arith.constant ${(BM+BN)*BK*STAGES*BITS/8+(PP?2:1)*BM*CW*NC*BITSC/8+16*STAGES+(BETA||BIAS?16:0)+(BIAS==2?8*BM/(2-PP):BIAS*8*BN)} : i32
  gpu.launch_func @kernels::@gemm clusters in (%cx, %c1, %c1) blocks in (%gx, %c1, %c1) threads in (%threads, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%A : !t${A}, %B : !t${B}, %C : !C${PARAMS}${SPACE}) {cute.programmatic}
  return
}
// In an editor: -D T=bf16 -D TC=bf16 -D ACC=f32 -D BITS=16 -D BITSC=16 -D TRUNC=truncf -D A=0 -D MA=k -D B=0 -D MB=k
// -D BM=128 -D BN=256 -D BK=64 -D STAGES=4 -D CM=2 -D CN=1 -D PP=0 -D GROUP=8 -D NC=2 -D CW=64 -D SC=S<3,4,3>
// -D ST=stsm<bf16,mode=<"(8,8)">,num_matrices=4,n>
// -D LD=ldsm<val_type=bf16,mode=<"(8,8)">,sz_pattern=u16,num_matrices=4,n> -D FUSED=0 -D END=plain -D S=C -D PARAMS=
// -D ARGS= -D TYPES= -D BETA=0 -D BIAS=0 -D ACT=none -D EFROM=bitcast -D EEXT=extf -D ETO=truncf -D PROMOTE=0
// -D SUMS=acc -D ADD=addf -D ZERO=0.0 -D SHARE=0 -D WORK=whole -D SPACE=
// -D SPACE_ARGS= -D SPACE_TYPES=
