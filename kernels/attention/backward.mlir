// Gradients of O = softmax(scale Q K^T) V from those of O, dO, and L, log(sum(exp(scale S))) of each row (attention.mlir with
// LSE=1): dQ, dK, dV. Q, O, dO, dQ: (B,H,SQ,D); K, V, dK, dV: (B,HK,SK,D), HK divides H; L: (B,H,SQ). Row i has keys i - window + 1
// (WINDOW) to i (CAUSAL). PACKED: B = 1, sequences of up to longestQ rows and longestK keys are concatenated, cuQ, cuK: cumulative
// lengths. `sums` of O and dO in each row; `keys` adds up dK and dV over the rows and heads that use a block of keys, and adds its
// part of dQ to sums in f32, which `rows` converts. DETERMINISTIC: dQ is computed by `rows` instead, so that S is computed twice and
// nothing is added atomically. -D T: elements; D. Parameters: rows and keys of a tile of `keys`, and of `rows`.
//!param BM = 64 in 64, 128
//!param BN = 128 in 64, 128
//!param QM = 128 in 64, 128
//!param QN = 64 in 64, 128
!X = !cute.memref<${T}, gmem, align<16>, "(?,?,?,${D}):(?{i64 div=8},?{i64 div=8},?{i64 div=8},1)">
!L = !cute.memref<f32, gmem, "(?,?,?):(?{i64},?{i64},1)">   !cu = !cute.memref<i32, gmem, "?:1">
!S = !cute.memref<f32, gmem, align<256>, "(?,?,?{div=4}):(?{i64 div=4},?{i64 div=4},1)">
!A = !cute.memref<f32, gmem, align<256>, "(?,?,?,${D}):(?{i64 div=4},?{i64 div=4},${D},1)">
!st = tensor<${BN}x${BM}xf32>   !k = tensor<${BN}x${D}xf32>
gpu.module @kernels {
  //!include "backward_rows.inc"
  gpu.func @keys(%Q: !X, %K: !X, %V: !X, %dO: !X, %logs: !S, %sums: !S, %acc: !A, %cuQ: !cu, %cuK: !cu, %longest: i32, %window: i32,
      %scale: f32, %dK: !X, %dV: !X) kernel {
    %ends = cute.tile.count<0, 1> %cuQ   %packs = cute.tile.sub %ends, 1   %batch = cute.tile.count<0, 1> %K
    %heads = cute.tile.count<1, 1> %Q   %headsK = cute.tile.count<1, 1> %K   %keys = cute.tile.count<2, 1> %K
    %sequences = cute.tile.where ${PACKED}, %packs, %batch   %most = cute.tile.where ${PACKED}, %longest, %keys
    %up = cute.tile.add %most, ${BN-1}   %blocks = cute.tile.udiv %up, ${BN}
    %z, %hk, %n = cute.tile.program %sequences, %headsK, %blocks
    //!include "backward_sequence.inc"
    %Qs = cute.tile.from<2> %Q, %beginQ   %dOs = cute.tile.from<2> %dO, %beginQ
    %Ks = cute.tile.from<2> %K, %beginK   %Vs = cute.tile.from<2> %V, %beginK
    %dKs = cute.tile.from<2> %dK, %beginK   %dVs = cute.tile.from<2> %dV, %beginK
    %share = cute.tile.udiv %heads, %headsK   %h0 = cute.tile.mul %hk, %share   %m0 = cute.tile.mul %slot, ${128/BM}
    // Tiles of rows that see these keys, and those in which all rows see all keys: rows %top to %least.
    %j0 = cute.tile.mul %n, ${BN}   %j1 = cute.tile.add %j0, ${BN-1}   %upQ = cute.tile.add %sq, ${BM-1}
    %tiles = cute.tile.udiv %upQ, ${BM}   %diagonal = cute.tile.udiv %j0, ${BM}
    %first = cute.tile.where ${CAUSAL}, %diagonal, 0   %from = cute.tile.min %first, %tiles
    %span = cute.tile.where ${WINDOW}, %window, 1073741824   %behind = cute.tile.add %j1, %span
    %upW = cute.tile.add %behind, ${BM-1}   %stop = cute.tile.udiv %upW, ${BM}   %past = cute.tile.min %stop, %tiles
    %any = cute.tile.lt %j0, %sk   %to = cute.tile.where %any, %past, %from
    // In the temporaries: rows from %r0 to %endR - 1 of each head see these keys, of which the first has row %jr.
    %cut = cute.tile.ge %j1, %sk   %skip = cute.tile.mul %slot, 128   %jr = cute.tile.add %j0, %skip   %endR = cute.tile.add %sq, %skip
    %i0 = cute.tile.mul %first, ${BM}   %r0 = cute.tile.add %i0, %skip
    %left = cute.tile.sub %to, %from   %all = cute.tile.mul %left, %share   %c = cute.tile.mul %scale, 1.4426950408889634
    %k = cute.tile.load<[${BN}, ${D}]> %Ks[%b, %hk, %n, 0]   %v = cute.tile.load<[${BN}, ${D}]> %Vs[%b, %hk, %n, 0]
    %zero = arith.constant dense<0.0> : !st   %none = arith.constant dense<0.0> : !k
    %noq = arith.constant dense<0.0> : tensor<${BM}x${D}xf32>
    %c0 = arith.constant 0 : i32   %c1 = arith.constant 1 : i32
    %dk, %dv, %hl, %rl = scf.for %t = %c0 to %all step %c1 iter_args(%dki = %none, %dvi = %none, %hi = %h0, %ri = %r0)
        -> (!k, !k, i32, i32) : i32 {
      %head = cute.tile.udiv %t, %left   %done = cute.tile.mul %head, %left   %within = cute.tile.sub %t, %done
      %h = cute.tile.add %h0, %head   %m = cute.tile.add %from, %within   %mt = cute.tile.add %m0, %m
      %q = cute.tile.load<[${BM}, ${D}]> %Qs[%b, %h, %m, 0]   %do = cute.tile.load<[${BM}, ${D}]> %dOs[%b, %h, %m, 0]
      %s = cute.tile.gemm %k, %q, %zero   %dp = cute.tile.gemm %v, %do, %zero
      %log = cute.tile.load<[${BM}]> %logs[%b, %h, %mt]
      %e = cute.tile.fma %s, %c, %log   %p0 = cute.tile.exp2 %e {fast}
      %ahead1 = cute.tile.sub %ri, %jr   %ahead2 = cute.tile.add %ahead1, ${BM}   %r1 = cute.tile.add %ri, ${BM}
      %early1 = cute.tile.lt %ahead1, ${BN-1}   %early = cute.tile.where ${CAUSAL}, %early1, 0   %late1 = cute.tile.gt %ahead2, %span
      %late = cute.tile.where ${WINDOW}, %late1, 0   %past1 = cute.tile.gt %r1, %endR   %past2 = cute.tile.where ${PACKED}, %past1, 0
      %any1 = cute.tile.or %early, %late   %any2 = cute.tile.or %any1, %past2   %masked = cute.tile.or %any2, %cut
      %p = scf.if %masked -> (!st) {
        %i = cute.tile.iota<[1, ${BM}], 1>
        %j = cute.tile.iota<[${BN}, 1], 0>
        %apart = cute.tile.sub %j, %i   %to1 = cute.tile.le %apart, %ahead1   %back = cute.tile.sub %ahead1, %span
        %from1 = cute.tile.gt %apart, %back   %keys1 = cute.tile.sub %sk, %j0   %rows1 = cute.tile.sub %endR, %ri
        %in1 = cute.tile.lt %j, %keys1   %in2 = cute.tile.and %in1, %to1   %in3 = cute.tile.where ${CAUSAL}, %in2, %in1
        %in4 = cute.tile.and %in3, %from1   %in5 = cute.tile.where ${WINDOW}, %in4, %in3   %own = cute.tile.lt %i, %rows1
        %in6 = cute.tile.and %in5, %own   %seen = cute.tile.where ${PACKED}, %in6, %in5
        %kept = cute.tile.where %seen, %p0, 0.0   scf.yield %kept : !st
      } else { scf.yield %p0 : !st }
      %ph = cute.tile.cast<${T}> %p   %dot = cute.tile.permute<[1, 0]> %do   %dv1 = cute.tile.gemm %ph, %dot, %dvi
      %sum = cute.tile.load<[${BM}]> %sums[%b, %h, %mt]
      %less = cute.tile.sub %dp, %sum   %ds = cute.tile.mul %p, %less   %dsh = cute.tile.cast<${T}> %ds
      %dst = cute.tile.permute<[1, 0]> %dsh   %kt = cute.tile.permute<[1, 0]> %k   %dq = cute.tile.gemm %dst, %kt, %noq
      %qt = cute.tile.permute<[1, 0]> %q   %dk1 = cute.tile.gemm %dsh, %qt, %dki
      %adds = arith.constant dense<${1-DETERMINISTIC}> : tensor<${BM}x1xi1>   %ma = cute.tile.udiv %ri, ${BM}
      cute.tile.store<add> %dq, %acc[%b, %hi, %ma, 0], %adds
      %back1 = cute.tile.sub %ahead2, ${BN-1}   %last1 = cute.tile.ge %back1, %span   %last = cute.tile.where ${WINDOW}, %last1, 0
      %end1 = cute.tile.ge %r1, %endR   %full = cute.tile.or %end1, %last   %h1 = cute.tile.add %hi, 1
      %hn = cute.tile.where %full, %h1, %hi   %rn = cute.tile.where %full, %r0, %r1
      scf.yield %dk1, %dv1, %hn, %rn : !k, !k, i32, i32 }
    %js = cute.tile.iota<[${BN}, 1], 0> %j0   %inside = cute.tile.lt %js, %sk   %kept = cute.tile.where ${PACKED}, %inside, 1
    %scaled = cute.tile.mul %dk, %scale   cute.tile.store %scaled, %dKs[%b, %hk, %n, 0], %kept
    cute.tile.store %dv, %dVs[%b, %hk, %n, 0], %kept   gpu.return } }
func.func private @sums(!X, !X, !L, !cu, !cu, i32, !S, !S, !A)
func.func private @keys(!X, !X, !X, !X, !S, !S, !A, !cu, !cu, i32, i32, f32, !X, !X)
func.func private @rows(!X, !X, !X, !X, !S, !S, !A, !cu, !cu, i32, i32, f32, !X)
func.func @attention_backward(%Q: !X, %K: !X, %V: !X, %O: !X, %dO: !X, %L: !L, %cuQ: !cu, %cuK: !cu, %longestQ: i32, %longestK: i32,
    %window: i32, %scale: f32, %dQ: !X, %dK: !X, %dV: !X) {
  // Rows of the temporaries: each sequence begins at a multiple of 128.
  %shape = cute.shape %Q   %shapeC = cute.shape %cuQ   %batch, %heads, %rows, %d = cute.get_scalars %shape
  %ends = cute.get_scalars %shapeC   %slots = cute.tile.mul %ends, ${128*PACKED}   %room = cute.tile.add %rows, %slots
  %up = cute.tile.add %room, 127   %full = cute.tile.udiv %up, 128   %units = cute.tile.max %full, 1
  %padded = cute.tile.mul %units, 128   %bA = cute.tile.where ${DETERMINISTIC}, 1, %batch
  %hA = cute.tile.where ${DETERMINISTIC}, 1, %heads   %rA = cute.tile.where ${DETERMINISTIC}, 1, %padded
  %r = cute.assume %padded : !cute.i32<divby 4>   %wide = arith.extsi %padded : i32 to i64
  %count = arith.extsi %heads : i32 to i64   %whole = cute.tile.mul %wide, %count   %wideA = cute.tile.mul %wide, ${D}
  %wholeA = cute.tile.mul %whole, ${D}   %s0 = cute.assume %whole : !cute.i64<divby 4>
  %s1 = cute.assume %wide : !cute.i64<divby 4>   %a0 = cute.assume %wholeA : !cute.i64<divby 4>
  %a1 = cute.assume %wideA : !cute.i64<divby 4>
  %layout = cute.make_layout((%batch, %heads, %r), (%s0, %s1, 1))
  %layoutA = cute.make_layout((%bA, %hA, %rA, ${D}), (%a0, %a1, ${D}, 1))
  %logs = cute.temporary %layout : !S   %sums = cute.temporary %layout : !S   %acc = cute.temporary %layoutA : !A
  func.call @sums(%O, %dO, %L, %cuQ, %cuK, %longestQ, %logs, %sums, %acc) : (!X, !X, !L, !cu, !cu, i32, !S, !S, !A) -> ()
  func.call @keys(%Q, %K, %V, %dO, %logs, %sums, %acc, %cuQ, %cuK, %longestK, %window, %scale, %dK, %dV)
      : (!X, !X, !X, !X, !S, !S, !A, !cu, !cu, i32, i32, f32, !X, !X) -> ()
  func.call @rows(%Q, %K, %V, %dO, %logs, %sums, %acc, %cuQ, %cuK, %longestQ, %window, %scale, %dQ)
      : (!X, !X, !X, !X, !S, !S, !A, !cu, !cu, i32, i32, f32, !X) -> ()
  return }
// In an editor: -D T=bf16 -D D=128 -D CAUSAL=1 -D WINDOW=0 -D PACKED=0 -D DETERMINISTIC=0
