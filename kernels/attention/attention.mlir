// O = softmax(scale Q K^T) V, scale > 0. Q, O: (B,H,SQ,D), K, V: (B,HK,SK,D), HK divides H. PACKED:
// B = 1, sequences of up to `longest` rows are concatenated, cuQ, cuK: cumulative lengths. Row i
// has keys i - window + 1 (WINDOW) to i (CAUSAL). LSE: L, (B,H,SQ), log(sum(exp(scale S))). -D T, V:
// of Q, K, V, elements in 16 bytes; TO: of O, 16 bits; D; VT: 1 if keys of V are contiguous, 0: D;
// LIMIT: P = 2^(c S + t) is computed again with the maximum of S where a row's sum exceeds this.
//!param BM = ${D == 64 && V == 8 ? 192 : 128} in 64, 128, 192
//!param BN = ${D == 256 ? (V == 8 ? 80 : 64) : D == 64 && V == 8 ? 96 : 128} in 64, 80, 96, 128
!X0 = !cute.memref<${T}, gmem, align<16>,
    "(?,?,?,${D}):(?{i64 div=${V}},?{i64 div=${V}},?{i64 div=${V}},1)">
!X1 = !cute.memref<${T}, gmem, align<16>,
    "(?,?,?{div=${V}},${D}):(?{i64 div=${V}},?{i64 div=${V}},1,?{i64 div=${V}})">
!O = !cute.memref<${TO}, gmem, align<16>, "(?,?,?,${D}):(?{i64 div=8},?{i64 div=8},?{i64 div=8},1)">
!L = !cute.memref<f32, gmem, "(?,?,?):(?{i64},?{i64},1)">   !cu = !cute.memref<i32, gmem, "?:1">
!s = tensor<${BM}x${BN}xf32>   !o = tensor<${BM}x${D}xf32>   !row = tensor<${BM}x1xf32>
gpu.module @kernels {
  gpu.func @attention(%Q: !X0, %K: !X0, %V: !X${VT}, %O: !O, %L: !L, %cuQ: !cu, %cuK: !cu,
      %longest: i32, %window: i32, %scale: f32) kernel {
    %shapeQ = cute.shape %Q   %shapeK = cute.shape %K   %ends = cute.tile.count<0, 1> %cuQ
    %batch, %heads, %rows, %d = cute.get_scalars %shapeQ
    %batchK, %headsK, %keys, %dK = cute.get_scalars %shapeK
    %packs = cute.tile.sub %ends, 1   %sequences = cute.tile.where ${PACKED}, %packs, %batch
    %most = cute.tile.where ${PACKED}, %longest, %rows   %up = cute.tile.add %most, ${BM-1}
    %blocks = cute.tile.udiv %up, ${BM}   %c = cute.tile.mul %scale, 1.4426950408889634
    %z, %h, %x = cute.tile.program %sequences, %heads, %blocks
    // Rows and keys of this block's sequence, its heads; blocks with the most keys start first.
    %z1 = cute.tile.add %z, 1   %b = cute.tile.where ${PACKED}, 0, %z   %minus_c = cute.tile.neg %c
    %q0 = cute.load %cuQ[%z]   %q1 = cute.load %cuQ[%z1]
    %k0 = cute.load %cuK[%z]   %k1 = cute.load %cuK[%z1]
    %beginQ = cute.tile.where ${PACKED}, %q0, 0   %endQ = cute.tile.where ${PACKED}, %q1, %rows
    %beginK = cute.tile.where ${PACKED}, %k0, 0   %endK = cute.tile.where ${PACKED}, %k1, %keys
    %sq = cute.tile.sub %endQ, %beginQ   %sk = cute.tile.sub %endK, %beginK
    %share = cute.tile.udiv %heads, %headsK   %hk = cute.tile.udiv %h, %share
    %x1 = cute.tile.add %x, 1   %m = cute.tile.sub %blocks, %x1   %row0 = cute.tile.mul %m, ${BM}
    %Qs = cute.tile.from<2> %Q, %beginQ   %Os = cute.tile.from<2> %O, %beginQ
    %Ks = cute.tile.from<2> %K, %beginK   %Vs = cute.tile.from<2> %V, %beginK
    %Ls = cute.tile.from<2> %L, %beginQ   %q = cute.tile.load<[${BM}, ${D}]> %Qs[%b, %h, %m, 0]
    // Keys of the first and the last row; tiles lo to hi - 1, of which those with a mask are split.
    %row1 = cute.tile.add %row0, 1   %seen1 = cute.tile.add %row0, ${CAUSAL ? 1 : 1073741824}
    %seen2 = cute.tile.add %seen1, ${BM-1}   %span = cute.tile.where ${WINDOW}, %window, 1073741824
    %some = cute.tile.min %seen2, %sk
    %from1 = cute.tile.sub %row1, %span   %from2 = cute.tile.add %from1, ${BM-1}
    %first = cute.tile.max %from1, 0   %past = cute.tile.add %some, ${BN-1}
    %lo = cute.tile.udiv %first, ${BN}   %stop = cute.tile.udiv %past, ${BN}
    %any = cute.tile.lt %row0, %sq   %hi = cute.tile.where %any, %stop, %lo
    %from = cute.tile.iota<[${BM}, 1], 0> %from1   %to = cute.tile.iota<[${BM}, 1], 0> %seen1
    %end = cute.tile.min %to, %sk   %l0 = arith.constant dense<0.0> : !row
    %o0 = arith.constant dense<0.0> : !o   %high = arith.constant dense<1.0e30> : !row
    %step = arith.constant 1 : i32   %o, %l, %t = scf.for %n = %lo to %hi step %step
        iter_args(%oi = %o0, %li = %l0, %ti = %high) -> (!o, !row, !row) : i32 {
      %k = cute.tile.load<[${BN}, ${D}]> %Ks[%b, %hk, %n, 0]
      %zero = arith.constant dense<0.0> : !s   %s0 = cute.tile.gemm %q, %k, %zero
      %j0 = cute.tile.mul %n, ${BN}   %j1 = cute.tile.add %j0, ${BN}
      %late1 = cute.tile.gt %j1, %seen1   %late2 = cute.tile.gt %j1, %sk   %late = cute.tile.or %late1, %late2
      %early = cute.tile.lt %j0, %from2   %masked = cute.tile.or %late, %early   %s = scf.if %masked -> (!s) {
        %j = cute.tile.iota<[1, ${BN}], 1> %j0   %before = cute.tile.lt %j, %end
        %behind = cute.tile.ge %j, %from   %both = cute.tile.and %before, %behind
        %seen = cute.tile.where ${WINDOW}, %both, %before
        %kept = cute.tile.where %seen, %s0, 0xFF800000   scf.yield %kept : !s
      } else { scf.yield %s0 : !s }
      %e0 = cute.tile.fma %s, %c, %ti   %p0 = cute.tile.exp2 %e0 {fast}
      %sum0 = cute.tile.reduce<add, 1> %p0   %far = cute.tile.gt %sum0, ${LIMIT}
      %h0 = cute.tile.cast<${T}> %p0   %top = cute.tile.reduce<max, 1> %s
      %wanted = cute.tile.mul %top, %minus_c   %new = cute.tile.min %ti, %wanted
      %t1 = cute.tile.where %far, %new, %ti {rare}   %less = cute.tile.sub %t1, %ti
      %f = cute.tile.exp2 %less {fast}   %lf = cute.tile.mul %li, %f   %of = cute.tile.mul %oi, %f
      %l1 = cute.tile.where %far, %lf, %li {rare}   %o1 = cute.tile.where %far, %of, %oi {rare}
      %e1 = cute.tile.fma %s, %c, %t1   %p1 = cute.tile.exp2 %e1 {fast}
      %sum1 = cute.tile.reduce<add, 1> %p1   %h1 = cute.tile.cast<${T}> %p1
      %sum = cute.tile.where %far, %sum1, %sum0 {rare}   %p = cute.tile.where %far, %h1, %h0 {rare}
      %l2 = cute.tile.add %l1, %sum   %v = cute.tile.load<[${BN}, ${D}]> %Vs[%b, %hk, %n, 0]
      %vt = cute.tile.permute<[1, 0]> %v   %o2 = cute.tile.gemm %p, %vt, %o1
      scf.yield %o2, %l2, %t1 : !o, !row, !row }
    %over = cute.tile.div 1.0, %l {fast}   %none = cute.tile.eq %l, 0.0
    %scaled = cute.tile.where %none, 0.0, %over   %mean = cute.tile.mul %o, %scaled
    %i = cute.tile.iota<[${BM}, 1], 0> %row0   %inside = cute.tile.lt %i, %sq
    %kept = cute.tile.where ${PACKED}, %inside, 1   cute.tile.store %mean, %Os[%b, %h, %m, 0], %kept
    %bits = cute.tile.log2 %l {fast}   %log2 = cute.tile.sub %bits, %t
    %log = cute.tile.mul %log2, 0.6931471805599453   %logs = cute.tile.reshape<[${BM}]> %log
    %wanted = cute.tile.where ${LSE}, %kept, 0   %maskL = cute.tile.reshape<[${BM}]> %wanted
    cute.tile.store %logs, %Ls[%b, %h, %m], %maskL   gpu.return } }
// In an editor: -D T=bf16 -D TO=bf16 -D V=8 -D VT=0 -D LIMIT=16384.0 -D D=128 -D CAUSAL=1 -D WINDOW=0
// -D PACKED=0 -D LSE=1
