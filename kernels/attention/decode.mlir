// Attention of the last SQ tokens of sequences whose keys and values are in pages (paged KV cache), split among num_splits blocks, or with 0 among
// as many as fill the multiprocessors (splits.inc); one split writes O itself:
// O = softmax(scale Q K^T) V. Q, O: (B,H,SQ,D), K, V: (pages,HK,PAGE,D) in any order of memory but D, HK divides H. Page i of sequence b
// is block_table(b,i), its keys are those before cache_seqlens(b); token t has keys up to cache_seqlens(b) - SQ + t, the last `window` of
// them with WINDOW. Tokens and the SHARE = H / HK heads of a key's head are rows of one tile of BT x SHARE, so that keys are read once.
// Elements of pages behind a sequence's end are read, and must be finite. L, (B,H,SQ): log(sum(exp(scale S))).
//!param BT = ${SHARE < 2 ? 16 : 8} in 1, 2, 4, 8, 16, 64
//!param BN = ${D == 256 ? 32 : 64} in 16, 32, 64, 128
!X = !cute.memref<${T}, gmem, align<16>, "(?,?,?,${D}):(?{i64 div=8},?{i64 div=8},?{i64 div=8},1)">
!Q = !cute.memref<${T}, gmem, align<16>,
    "(?,?,?,${SHARE},${D}):(?{i64 div=8},?{i64 div=8},?{i64 div=8},?{i64 div=8},1)">
!P = !cute.memref<${T}, gmem, align<16>,
    "(?,?,?,?,${SHARE},${D}):(?{i64 div=8},?{i64 div=8},?{i64 div=8},?{i64 div=8},?{i64 div=8},1)">
!M = !cute.memref<f32, gmem, "(?,?,?,?,${SHARE}):(?{i64},?{i64},?{i64},?{i64},?{i64})">
!table = !cute.memref<i32, gmem, "(?,?):(?{i64},1)">
!L = !cute.memref<f32, gmem, "(?,?,?):(?{i64},?{i64},?{i64})">
!lengths = !cute.memref<i32, gmem, "?:1">   !Ls = !cute.memref<f32, gmem, align<256>, "(?,?):(?,1)">
!Os = !cute.memref<f32, gmem, align<256>, "(?,?,${D}):(?{div=${D}},${D},1)">
!s = tensor<${BT*SHARE}x${BN}xf32>   !o = tensor<${BT*SHARE}x${D}xf32>   !row = tensor<${BT*SHARE}x1xf32>
gpu.module @kernels {
  // A block for each sequence, head of K and split.
  gpu.func @part(%Q: !Q, %K: !X, %V: !X, %table: !table, %lengths: !lengths, %Os: !Os, %Ls: !Ls, %O: !P, %L: !M,
      %splits: i32, %window: i32, %scale: f32) kernel {
    %shape = cute.shape %Q   %batch, %headsK, %tokens, %h, %d = cute.get_scalars %shape
    %z, %hk, %x = cute.tile.program %batch, %headsK, %splits
    %keys = cute.memref.load %lengths[%z]   %past = cute.tile.sub %keys, %tokens
    %round9 = cute.tile.add %keys, ${PAGE-1}   %pages = cute.tile.udiv %round9, ${PAGE}
    %Ks = cute.tile.pages %K, %table, %z, %pages   %Vs = cute.tile.pages %V, %table, %z, %pages
    %q4 = cute.tile.load<[${BT}, ${SHARE}, ${D}]> %Q[%z, %hk, 0, 0, 0]
    %q = cute.tile.reshape<[${BT*SHARE}, ${D}]> %q4
    // Token of each row, keys from to end - 1 that it sees; tiles lo to hi - 1 of this split.
    %i = cute.tile.iota<[${BT*SHARE}, 1], 0>
    %t = cute.tile.udiv %i, ${SHARE}
    %seen1 = cute.tile.add %past, 1   %seen = cute.tile.add %t, %seen1
    %end = cute.tile.min %seen, %keys   %span = cute.tile.where ${WINDOW}, %window, 1073741824
    %from = cute.tile.sub %seen, %span   %from1 = cute.tile.sub %seen1, %span
    %first = cute.tile.max %from1, 0   %begin = cute.tile.udiv %first, ${BN}
    %up = cute.tile.add %keys, ${BN-1}   %stop = cute.tile.udiv %up, ${BN}
    %tiles = cute.tile.sub %stop, %begin   %most = cute.tile.add %tiles, %splits
    %round = cute.tile.sub %most, 1   %each = cute.tile.udiv %round, %splits
    %far = cute.tile.mul %each, %x   %low = cute.tile.add %begin, %far   %next = cute.tile.add %low, %each
    %hi = cute.tile.min %next, %stop   %lo = cute.tile.min %low, %stop
    %c = cute.tile.mul %scale, 1.4426950408889634   %minus_c = cute.tile.neg %c
    %some = cute.tile.max %seen1, 0   %late2 = cute.tile.min %keys, %some   %early2 = cute.tile.add %from1, %tokens
    %o0 = arith.constant dense<0.0> : !o   %l0 = arith.constant dense<0.0> : !row
    %high = arith.constant dense<1.0e30> : !row   %step = arith.constant 1 : i32
    %o, %l, %t9 = scf.for %n = %lo to %hi step %step
        iter_args(%oi = %o0, %li = %l0, %ti = %high) -> (!o, !row, !row) : i32 {
      %at = cute.tile.udiv %n, ${PAGE > BN ? PAGE/BN : 1}   %in = cute.tile.urem %n, ${PAGE > BN ? PAGE/BN : 1}
      %k4 = cute.tile.load<[${PAGE > BN ? 1 : BN/PAGE}, 1, ${PAGE > BN ? BN : PAGE}, ${D}]> %Ks[%at, %hk, %in, 0]
      %k = cute.tile.reshape<[${BN}, ${D}]> %k4
      %zero = arith.constant dense<0.0> : !s   %s0 = cute.tile.gemm %q, %k, %zero
      %j0 = cute.tile.mul %n, ${BN}   %j1 = cute.tile.add %j0, ${BN}
      %late = cute.tile.gt %j1, %late2   %early = cute.tile.lt %j0, %early2
      %masked = cute.tile.or %late, %early   %s = scf.if %masked -> (!s) {
        %j = cute.tile.iota<[1, ${BN}], 1> %j0   %before = cute.tile.lt %j, %end
        %behind = cute.tile.ge %j, %from   %both = cute.tile.and %before, %behind
        %is = cute.tile.where ${WINDOW}, %both, %before
        %kept = cute.tile.where %is, %s0, 0xFF800000   scf.yield %kept : !s
      } else { scf.yield %s0 : !s }
      %e0 = cute.tile.fma %s, %c, %ti   %p0 = cute.tile.exp2 %e0 {fast}
      %sum0 = cute.tile.reduce<add, 1> %p0   %far9 = cute.tile.gt %sum0, ${LIMIT}
      %h0 = cute.tile.cast<${T}> %p0   %top = cute.tile.reduce<max, 1> %s
      %wanted = cute.tile.mul %top, %minus_c   %new = cute.tile.min %ti, %wanted
      %t1 = cute.tile.where %far9, %new, %ti {rare}   %less = cute.tile.sub %t1, %ti
      %f = cute.tile.exp2 %less {fast}   %lf = cute.tile.mul %li, %f   %of = cute.tile.mul %oi, %f
      %l1 = cute.tile.where %far9, %lf, %li {rare}   %o1 = cute.tile.where %far9, %of, %oi {rare}
      %e1 = cute.tile.fma %s, %c, %t1   %p1 = cute.tile.exp2 %e1 {fast}
      %sum1 = cute.tile.reduce<add, 1> %p1   %h1 = cute.tile.cast<${T}> %p1
      %sum = cute.tile.where %far9, %sum1, %sum0 {rare}   %p = cute.tile.where %far9, %h1, %h0 {rare}
      %l2 = cute.tile.add %l1, %sum   
      %v4 = cute.tile.load<[${PAGE > BN ? 1 : BN/PAGE}, 1, ${PAGE > BN ? BN : PAGE}, ${D}]> %Vs[%at, %hk, %in, 0]
      %v = cute.tile.reshape<[${BN}, ${D}]> %v4
      %vt = cute.tile.permute<[1, 0]> %v   %o2 = cute.tile.gemm %p, %vt, %o1
      scf.yield %o2, %l2, %t1 : !o, !row, !row }
    %over = cute.tile.div 1.0, %l {fast}   %none = cute.tile.eq %l, 0.0
    %scaled = cute.tile.where %none, 0.0, %over   %mean = cute.tile.mul %o, %scaled
    %bits = cute.tile.log2 %l {fast}   %log2 = cute.tile.sub %bits, %t9
    %log = cute.tile.mul %log2, 0.6931471805599453
    // The rows of this block in (sequence, head of K, token, head).
    %place = cute.tile.mul %z, %headsK   %group = cute.tile.add %place, %hk
    %rows = cute.tile.mul %tokens, ${SHARE}   %row = cute.tile.mul %group, %rows
    %one = cute.tile.eq %splits, 1   %alone = cute.tile.where ${64 % SHARE == 0}, %one, 0
    scf.if %alone {
      %whole = cute.tile.reshape<[1, 1, ${BT}, ${SHARE}, ${D}]> %mean   %logs = cute.tile.reshape<[${BT}, ${SHARE}]> %log
      %kept = arith.constant dense<${LSE}> : tensor<${BT}x${SHARE}xi1>
      cute.tile.store %whole, %O[%z, %x, %hk, 0, 0, 0]   cute.tile.store %logs, %L[%z, %x, %hk, 0, 0], %kept
    } else {
      %ownO = cute.tile.rows %Os, %row, %rows   %ownL = cute.tile.rows %Ls, %row, %rows
      %mean3 = cute.tile.reshape<[${BT*SHARE}, 1, ${D}]> %mean
      cute.tile.store %log, %ownL[0, %x]   cute.tile.store %mean3, %ownO[0, %x, 0]
    }
    gpu.return }
//!include "combine.inc"
}
func.func private @part(!Q, !X, !X, !table, !lengths, !Os, !Ls, !P, !M, i32, i32, f32)
func.func private @combine(!Os, !Ls, !X, !L)
func.func @decode(%Q: !X, %K: !X, %V: !X, %O: !X, %L: !L, %block_table: !table, %cache_seqlens: !lengths,
    %num_splits: i32, %window: i32, %scale: f32) {
  %shape = cute.shape %Q   %b, %h, %t, %d = cute.get_scalars %shape
  %g = arith.constant ${SHARE} : i32   %g64 = arith.constant ${SHARE} : i64   %d0 = arith.constant ${D} : i32
  // Q with heads as (head of K, SHARE).
  %hk = arith.divui %h, %g : i32   %stride = cute.stride %Q
  %s0, %s1, %s2, %s3 = cute.get_scalars %stride   %s9 = arith.muli %s1, %g64 : i64
  %q0 = cute.assume %s0 : i64 -> !cute.i64<divby 8>   %q1 = cute.assume %s1 : i64 -> !cute.i64<divby 8>
  %q2 = cute.assume %s2 : i64 -> !cute.i64<divby 8>   %q9 = cute.assume %s9 : i64 -> !cute.i64<divby 8>
  %layout = cute.make_layout((%b, %hk, %t, ${SHARE}, ${D}), (%q0, %q9, %q2, %q1, 1))
  %at = cute.get_iter %Q   %Qg = cute.make_view %at, %layout
  // O and L as Q, with the splits: one, if they are written.
  %one9 = arith.constant 1 : i32   %strideO = cute.stride %O   %u0, %u1, %u2, %u3 = cute.get_scalars %strideO
  %u9 = arith.muli %u1, %g64 : i64   %o0 = cute.assume %u0 : i64 -> !cute.i64<divby 8>
  %o1 = cute.assume %u1 : i64 -> !cute.i64<divby 8>   %o2 = cute.assume %u2 : i64 -> !cute.i64<divby 8>
  %o9 = cute.assume %u9 : i64 -> !cute.i64<divby 8>
  %layoutO = cute.make_layout((%b, %one9, %hk, %t, ${SHARE}, ${D}), (%o0, %o0, %o9, %o2, %o1, 1))
  %atO = cute.get_iter %O   %Og = cute.make_view %atO, %layoutO
  %strideL = cute.stride %L   %e0, %e1, %e2 = cute.get_scalars %strideL   %e9 = arith.muli %e1, %g64 : i64
  %layoutL = cute.make_layout((%b, %one9, %hk, %t, ${SHARE}), (%e0, %e0, %e9, %e2, %e1))
  %atL = cute.get_iter %L   %Lg = cute.make_view %atL, %layoutL   %blocks = arith.muli %b, %hk : i32
  %alone = arith.constant ${64 % SHARE == 0 ? 1 : 0} : i32 // heads are rows of O, as of the tile
//!include "splits.inc"
  func.call @part(%Qg, %K, %V, %block_table, %cache_seqlens, %Os, %Ls, %Og, %Lg, %splits, %window, %scale)
      : (!Q, !X, !X, !table, !lengths, !Os, !Ls, !P, !M, i32, i32, f32) -> ()
  scf.if %several { func.call @combine(%Os, %Ls, %O, %L) : (!Os, !Ls, !X, !L) -> () }
  return
}
// In an editor: -D T=bf16 -D D=128 -D SHARE=8 -D BT=8 -D PAGE=64 -D BN=64 -D WINDOW=0 -D LSE=0 -D LIMIT=16384.0
