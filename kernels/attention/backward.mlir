// Gradients of O = softmax(scale Q K^T) V from those of O, dO, and L, log(sum(exp(scale S))) of each
// row (attention.mlir with LSE=1): dQ, dK, dV, deterministic. Q, O, dO, dQ: (B,H,SQ,D); K, V, dK, dV:
// (B,HK,SK,D), HK divides H; L: (B,H,SQ). Three kernels: `sums` of O and dO in each row; `keys` adds up
// dK and dV over the rows and heads that use a block of keys, `queries` dQ over the keys of a block of
// rows, so S is computed twice and nothing is added atomically. -D T: elements; D; CAUSAL: 1 if row i
// has keys up to i; BM, BN: rows and keys of a tile of `keys`; QM, QN: of
// `queries`; without warpgroups 64 each.
//!param BM = 64 in 64, 128
//!param BN = 128 in 64, 128
//!param QM = 128 in 64, 128
//!param QN = 64 in 64, 128
!X = !cute.memref<${T}, gmem, align<16>,
    "(?,?,?,${D}):(?{i64 div=8},?{i64 div=8},?{i64 div=8},1)">
!L = !cute.memref<f32, gmem, "(?,?,?):(?{i64},?{i64},1)">
!S = !cute.memref<f32, gmem, align<256>, "(?,?,?):(?,?,1)">
!s = tensor<${QM}x${QN}xf32>
!st = tensor<${BN}x${BM}xf32>
!q = tensor<${QM}x${D}xf32>
!k = tensor<${BN}x${D}xf32>
gpu.module @kernels {
  gpu.func @sums(%O: !X, %dO: !X, %sums: !S) kernel {
    %b, %h, %m = cute.tile.program<[1, 1, ${BM}]> %sums
    %o = cute.tile.load<[${BM}, ${D}], f32> %O[%b, %h, %m, 0]
    %do = cute.tile.load<[${BM}, ${D}], f32> %dO[%b, %h, %m, 0]
    %both = cute.tile.mul %o, %do
    %sum = cute.tile.reduce<add, 1> %both
    %row = cute.tile.reshape<[${BM}]> %sum
    cute.tile.store %row, %sums[%b, %h, %m]
    gpu.return
  }
  gpu.func @keys(%Q: !X, %K: !X, %V: !X, %dO: !X, %L: !L, %sums: !S, %dK: !X, %dV: !X, %scale: f32)
      kernel {
    %batch = cute.tile.count<0, 1> %K   %heads = cute.tile.count<1, 1> %Q
    %headsK = cute.tile.count<1, 1> %K   %blocks = cute.tile.count<2, ${BN}> %K
    %b, %hk, %n = cute.tile.program %batch, %headsK, %blocks
    %share = cute.tile.udiv %heads, %headsK   %tiles = cute.tile.count<2, ${BM}> %Q
    %j0 = cute.tile.mul %n, ${BN}   %diagonal = cute.tile.udiv %j0, ${BM}
    %first = cute.tile.where ${CAUSAL}, %diagonal, 0   %from = cute.tile.min %first, %tiles
    %left = cute.tile.sub %tiles, %from   %all = cute.tile.mul %left, %share
    %c = cute.tile.mul %scale, 1.4426950408889634
    %k = cute.tile.load<[${BN}, ${D}]> %K[%b, %hk, %n, 0]
    %v = cute.tile.load<[${BN}, ${D}]> %V[%b, %hk, %n, 0]
    %h0 = cute.tile.mul %hk, %share
    %zero = arith.constant dense<0.0> : !st
    %none = arith.constant dense<0.0> : !k
    %c0 = arith.constant 0 : i32   %c1 = arith.constant 1 : i32
    %dk, %dv = scf.for %t = %c0 to %all step %c1 iter_args(%dki = %none, %dvi = %none)
        -> (!k, !k) : i32 {
      %head = cute.tile.udiv %t, %left   %done = cute.tile.mul %head, %left
      %within = cute.tile.sub %t, %done   %h = cute.tile.add %h0, %head
      %m = cute.tile.add %from, %within
      %q = cute.tile.load<[${BM}, ${D}]> %Q[%b, %h, %m, 0]
      %do = cute.tile.load<[${BM}, ${D}]> %dO[%b, %h, %m, 0]
      %l = cute.tile.load<[${BM}]> %L[%b, %h, %m]
      %sum = cute.tile.load<[${BM}]> %sums[%b, %h, %m]
      %s = cute.tile.gemm %k, %q, %zero
      %log = cute.tile.mul %l, -1.4426950408889634
      %e = cute.tile.fma %s, %c, %log
      %p0 = cute.tile.exp2 %e {fast}
      %i0 = cute.tile.mul %m, ${BM}   %i = cute.tile.iota<[1, ${BM}], 1> %i0
      %j = cute.tile.iota<[${BN}, 1], 0> %j0
      %seen = cute.tile.le %j, %i
      %masked = cute.tile.where %seen, %p0, 0.0   %p = cute.tile.where ${CAUSAL}, %masked, %p0
      %dp = cute.tile.gemm %v, %do, %zero
      %less = cute.tile.sub %dp, %sum   %ds = cute.tile.mul %p, %less
      %ph = cute.tile.cast<${T}> %p   %dsh = cute.tile.cast<${T}> %ds
      %dot = cute.tile.permute<[1, 0]> %do   %qt = cute.tile.permute<[1, 0]> %q
      %dv1 = cute.tile.gemm %ph, %dot, %dvi
      %dk1 = cute.tile.gemm %dsh, %qt, %dki
      scf.yield %dk1, %dv1 : !k, !k
    }
    %scaled = cute.tile.mul %dk, %scale
    cute.tile.store %scaled, %dK[%b, %hk, %n, 0]
    cute.tile.store %dv, %dV[%b, %hk, %n, 0]
    gpu.return
  }
  gpu.func @queries(%Q: !X, %K: !X, %V: !X, %dO: !X, %L: !L, %sums: !S, %dQ: !X, %scale: f32) kernel {
    %batch = cute.tile.count<0, 1> %Q   %heads = cute.tile.count<1, 1> %Q
    %headsK = cute.tile.count<1, 1> %K   %blocks = cute.tile.count<2, ${QM}> %Q
    %b, %h, %m = cute.tile.program %batch, %heads, %blocks
    %share = cute.tile.udiv %heads, %headsK   %hk = cute.tile.udiv %h, %share
    %tiles = cute.tile.count<2, ${QN}> %K   %i0 = cute.tile.mul %m, ${QM}
    %past = cute.tile.add %i0, ${QM+QN-1}   %diagonal = cute.tile.udiv %past, ${QN}
    %seen_tiles = cute.tile.min %diagonal, %tiles
    %to = cute.tile.where ${CAUSAL}, %seen_tiles, %tiles
    %c = cute.tile.mul %scale, 1.4426950408889634
    %q = cute.tile.load<[${QM}, ${D}]> %Q[%b, %h, %m, 0]
    %do = cute.tile.load<[${QM}, ${D}]> %dO[%b, %h, %m, 0]
    %l0 = cute.tile.load<[${QM}]> %L[%b, %h, %m]
    %sum0 = cute.tile.load<[${QM}]> %sums[%b, %h, %m]
    %l = cute.tile.reshape<[${QM}, 1]> %l0   %sum = cute.tile.reshape<[${QM}, 1]> %sum0
    %log = cute.tile.mul %l, -1.4426950408889634
    %zero = arith.constant dense<0.0> : !s
    %none = arith.constant dense<0.0> : !q
    %c0 = arith.constant 0 : i32   %c1 = arith.constant 1 : i32
    %dq = scf.for %n = %c0 to %to step %c1 iter_args(%dqi = %none) -> (!q) : i32 {
      %k = cute.tile.load<[${QN}, ${D}]> %K[%b, %hk, %n, 0]
      %v = cute.tile.load<[${QN}, ${D}]> %V[%b, %hk, %n, 0]
      %s = cute.tile.gemm %q, %k, %zero
      %e = cute.tile.fma %s, %c, %log
      %p0 = cute.tile.exp2 %e {fast}
      %j0 = cute.tile.mul %n, ${QN}   %i = cute.tile.iota<[${QM}, 1], 0> %i0
      %j = cute.tile.iota<[1, ${QN}], 1> %j0
      %seen = cute.tile.le %j, %i
      %masked = cute.tile.where %seen, %p0, 0.0   %p = cute.tile.where ${CAUSAL}, %masked, %p0
      %dp = cute.tile.gemm %do, %v, %zero
      %less = cute.tile.sub %dp, %sum   %ds = cute.tile.mul %p, %less
      %dsh = cute.tile.cast<${T}> %ds   %kt = cute.tile.permute<[1, 0]> %k
      %dq1 = cute.tile.gemm %dsh, %kt, %dqi
      scf.yield %dq1 : !q
    }
    %scaled = cute.tile.mul %dq, %scale
    cute.tile.store %scaled, %dQ[%b, %h, %m, 0]
    gpu.return
  }
}
func.func private @sums(!X, !X, !S)
func.func private @keys(!X, !X, !X, !X, !L, !S, !X, !X, f32)
func.func private @queries(!X, !X, !X, !X, !L, !S, !X, f32)
func.func @attention_backward(%Q: !X, %K: !X, %V: !X, %O: !X, %dO: !X, %L: !L, %dQ: !X, %dK: !X, %dV: !X, %scale: f32) {
  %shape = cute.shape %L
  %order = cute.static : !cute.int_tuple<"(2,1,0)">
  %layout = cute.make_ordered_layout(%shape, %order)
  %sums = cute.temporary %layout : !S
  func.call @sums(%O, %dO, %sums) : (!X, !X, !S) -> ()
  func.call @keys(%Q, %K, %V, %dO, %L, %sums, %dK, %dV, %scale) : (!X, !X, !X, !X, !L, !S, !X, !X, f32) -> ()
  func.call @queries(%Q, %K, %V, %dO, %L, %sums, %dQ, %scale) : (!X, !X, !X, !X, !L, !S, !X, f32) -> ()
  return
}
// In an editor: -D T=bf16 -D D=64 -D CAUSAL=1
