// Decode attention with latent keys (DeepSeek's MLA): O = softmax(scale Q K^T) K(:,0:D). Q: (B,H,SQ,D+R), O: (B,H,SQ,D), in any order of memory
// but the last mode; K: (pages,PAGE,D+R), the only head of keys, whose first D columns are the values: a tile is loaded once, for both
// products. Splits, tokens and block_table, cache_seqlens, L are those of decode.mlir. Rows are BT tokens of HT heads, of SHARE = H.
//!param BT = 1 in 1, 2, 4, 8
//!param HT = 64 in 8, 16, 32, 64
//!param BN = 64 in 16, 32, 64
!Q = !cute.memref<${T}, gmem, align<16>, "(?,?,${SHARE},${D+R}):(?{i64 div=8},?{i64 div=8},?{i64 div=8},1)">
!G = !cute.memref<${T}, gmem, align<16>, "(?,?,?,${D+R}):(?{i64 div=8},?{i64 div=8},?{i64 div=8},1)">
!K = !cute.memref<${T}, gmem, align<16>, "(?,?,${D+R}):(?{i64 div=8},?{i64 div=8},1)">
!X = !cute.memref<${T}, gmem, align<16>, "(?,?,?,${D}):(?{i64 div=8},?{i64 div=8},?{i64 div=8},1)">
!P = !cute.memref<${T}, gmem, align<16>, "(?,?,?,${SHARE},${D}):(?{i64 div=8},?{i64 div=8},?{i64 div=8},?{i64 div=8},1)">
!M = !cute.memref<f32, gmem, "(?,?,?,${SHARE}):(?{i64},?{i64},?{i64},?{i64})">
!L = !cute.memref<f32, gmem, "(?,?,?):(?{i64},?{i64},?{i64})">   !table = !cute.memref<i32, gmem, "(?,?):(?{i64},1)">
!lengths = !cute.memref<i32, gmem, "?:1">   !Ls = !cute.memref<f32, gmem, align<256>, "(?,?):(?,1)">
!Os = !cute.memref<f32, gmem, align<256>, "(?,?,${D}):(?{div=${D}},${D},1)">
!s = tensor<${BT*HT}x${BN}xf32>   !o = tensor<${BT*HT}x${D}xf32>   !row = tensor<${BT*HT}x1xf32>
gpu.module @kernels {
  // A block for each sequence, tile of rows and split.
  gpu.func @part(%Q: !Q, %K: !K, %table: !table, %lengths: !lengths, %Os: !Os, %Ls: !Ls, %O: !P, %L: !M, %splits: i32,
      %scale: f32) kernel {
    %shape = cute.shape %Q   %batch, %tokens, %heads, %d = cute.get_scalars %shape
    %up9 = cute.tile.add %tokens, ${BT-1}   %more = cute.tile.udiv %up9, ${BT}
    %blocks = cute.tile.mul %more, ${SHARE/HT}   %z, %m, %x = cute.tile.program %batch, %blocks, %splits
    %tm = cute.tile.udiv %m, ${SHARE/HT}   %hm = cute.tile.urem %m, ${SHARE/HT}
    %keys = cute.memref.load %lengths[%z]   %past = cute.tile.sub %keys, %tokens
    %round9 = cute.tile.add %keys, ${PAGE-1}   %pages = cute.tile.udiv %round9, ${PAGE}
    %Ks = cute.tile.pages %K, %table, %z, %pages
    %qc3 = cute.tile.load<[${BT}, ${HT}, ${D}]> %Q[%z, %tm, %hm, 0]
    %qr3 = cute.tile.load<[${BT}, ${HT}, ${R}]> %Q[%z, %tm, %hm, ${D/R}]
    %qc = cute.tile.reshape<[${BT*HT}, ${D}]> %qc3   %qr = cute.tile.reshape<[${BT*HT}, ${R}]> %qr3
    // Keys from 0 to end - 1 of each row; tiles lo to hi - 1 of this split.
    %i = cute.tile.iota<[${BT*HT}, 1], 0>
    %t0 = cute.tile.udiv %i, ${HT}   %tb = cute.tile.mul %tm, ${BT}   %seen1 = cute.tile.add %past, 1
    %first = cute.tile.add %seen1, %tb   %seen = cute.tile.add %t0, %first   %end = cute.tile.min %seen, %keys
    %up = cute.tile.add %keys, ${BN-1}   %stop = cute.tile.udiv %up, ${BN}   %most = cute.tile.add %stop, %splits
    %round = cute.tile.sub %most, 1   %each = cute.tile.udiv %round, %splits   %low = cute.tile.mul %each, %x
    %next = cute.tile.add %low, %each   %hi = cute.tile.min %next, %stop   %lo = cute.tile.min %low, %stop
    %c = cute.tile.mul %scale, 1.4426950408889634   %minus_c = cute.tile.neg %c
    %some = cute.tile.max %first, 0   %late2 = cute.tile.min %keys, %some
    %o0 = arith.constant dense<0.0> : !o   %l0 = arith.constant dense<0.0> : !row
    %high = arith.constant dense<1.0e30> : !row   %step = arith.constant 1 : i32
    %o, %l, %t9 = scf.for %n = %lo to %hi step %step
        iter_args(%oi = %o0, %li = %l0, %ti = %high) -> (!o, !row, !row) : i32 {
      %at = cute.tile.udiv %n, ${PAGE > BN ? PAGE/BN : 1}   %in = cute.tile.urem %n, ${PAGE > BN ? PAGE/BN : 1}
      %kc3 = cute.tile.load<[${PAGE > BN ? 1 : BN/PAGE}, ${PAGE > BN ? BN : PAGE}, ${D}]> %Ks[%at, %in, 0]
      %kr3 = cute.tile.load<[${PAGE > BN ? 1 : BN/PAGE}, ${PAGE > BN ? BN : PAGE}, ${R}]> %Ks[%at, %in, ${D/R}]
      %kc = cute.tile.reshape<[${BN}, ${D}]> %kc3   %kr = cute.tile.reshape<[${BN}, ${R}]> %kr3
      %zero = arith.constant dense<0.0> : !s   %sr = cute.tile.gemm %qr, %kr, %zero
      %s0 = cute.tile.gemm %qc, %kc, %sr
      %j0 = cute.tile.mul %n, ${BN}   %j1 = cute.tile.add %j0, ${BN}
      %masked = cute.tile.gt %j1, %late2   %s = scf.if %masked -> (!s) {
        %j = cute.tile.iota<[1, ${BN}], 1> %j0   %before = cute.tile.lt %j, %end
        %kept = cute.tile.where %before, %s0, 0xFF800000   scf.yield %kept : !s
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
      %vt = cute.tile.permute<[1, 0]> %kc   %o2 = cute.tile.gemm %p, %vt, %o1
      scf.yield %o2, %l2, %t1 : !o, !row, !row }
    %over = cute.tile.div 1.0, %l {fast}   %none = cute.tile.eq %l, 0.0
    %scaled = cute.tile.where %none, 0.0, %over   %mean = cute.tile.mul %o, %scaled
    %bits = cute.tile.log2 %l {fast}   %log2 = cute.tile.sub %bits, %t9
    %log = cute.tile.mul %log2, 0.6931471805599453
    // The rows of this block in (sequence, token, head).
    %tz = cute.tile.mul %z, %tokens   %tt = cute.tile.add %tz, %tb
    %rt = cute.tile.mul %tt, ${SHARE}   %rh = cute.tile.mul %hm, ${HT}   %row = cute.tile.add %rt, %rh
    %left = cute.tile.sub %tokens, %tb   %lr = cute.tile.mul %left, ${HT}   %rows = cute.tile.min %lr, ${BT*HT}
    %alone = cute.tile.eq %splits, 1
    scf.if %alone {
      %whole = cute.tile.reshape<[1, 1, ${BT}, ${HT}, ${D}]> %mean   %logs = cute.tile.reshape<[${BT}, ${HT}]> %log
      %kept = arith.constant dense<${LSE}> : tensor<${BT}x${HT}xi1>
      cute.tile.store %whole, %O[%z, %x, %tm, %hm, 0]   cute.tile.store %logs, %L[%z, %x, %tm, %hm], %kept
    } else {
      %ownO = cute.tile.rows %Os, %row, %rows   %ownL = cute.tile.rows %Ls, %row, %rows
      %mean3 = cute.tile.reshape<[${BT*HT}, 1, ${D}]> %mean
      cute.tile.store %log, %ownL[0, %x]   cute.tile.store %mean3, %ownO[0, %x, 0]
    }
    gpu.return }
//!include "combine.inc"
}
func.func private @part(!Q, !K, !table, !lengths, !Os, !Ls, !P, !M, i32, f32)
func.func private @combine(!Os, !Ls, !X, !L)
func.func @mla_decode(%Q: !G, %K: !K, %O: !X, %L: !L, %block_table: !table, %cache_seqlens: !lengths,
    %num_splits: i32, %scale: f32) {
  %shape = cute.shape %Q   %b, %h, %t, %d = cute.get_scalars %shape
  %d0 = arith.constant ${D} : i32   %stride = cute.stride %Q
  %s0, %s1, %s2, %s3 = cute.get_scalars %stride
  %q0 = cute.assume %s0 : i64 -> !cute.i64<divby 8>   %q1 = cute.assume %s1 : i64 -> !cute.i64<divby 8>
  %q2 = cute.assume %s2 : i64 -> !cute.i64<divby 8>
  %layout = cute.make_layout((%b, %t, ${SHARE}, ${D+R}), (%q0, %q2, %q1, 1))
  %at = cute.get_iter %Q   %Qg = cute.make_view %at, %layout
  // O and L as Q, with the splits: one, if they are written.
  %one9 = arith.constant 1 : i32
  %strideO = cute.stride %O   %u0, %u1, %u2, %u3 = cute.get_scalars %strideO
  %o0 = cute.assume %u0 : i64 -> !cute.i64<divby 8>   %o1 = cute.assume %u1 : i64 -> !cute.i64<divby 8>
  %o2 = cute.assume %u2 : i64 -> !cute.i64<divby 8>
  %layoutO = cute.make_layout((%b, %one9, %t, ${SHARE}, ${D}), (%o0, %o0, %o2, %o1, 1))
  %atO = cute.get_iter %O   %Og = cute.make_view %atO, %layoutO
  %strideL = cute.stride %L   %e0, %e1, %e2 = cute.get_scalars %strideL
  %layoutL = cute.make_layout((%b, %one9, %t, ${SHARE}), (%e0, %e0, %e2, %e1))
  %atL = cute.get_iter %L   %Lg = cute.make_view %atL, %layoutL
  %bt = arith.constant ${BT} : i32   %tiles = arith.ceildivsi %t, %bt : i32   %parts9 = arith.constant ${SHARE/HT} : i32
  %each = arith.muli %tiles, %parts9 : i32   %blocks = arith.muli %b, %each : i32
  %alone = arith.constant 1 : i32
//!include "splits.inc"
  func.call @part(%Qg, %K, %block_table, %cache_seqlens, %Os, %Ls, %Og, %Lg, %splits, %scale)
      : (!Q, !K, !table, !lengths, !Os, !Ls, !P, !M, i32, f32) -> ()
  scf.if %several { func.call @combine(%Os, %Ls, %O, %L) : (!Os, !Ls, !X, !L) -> () }
  return
}
// In an editor: -D T=bf16 -D D=512 -D R=64 -D SHARE=16 -D BT=4 -D HT=16 -D PAGE=64 -D BN=64 -D LSE=0 -D LIMIT=16384.0
