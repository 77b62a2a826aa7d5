// Gated products of groups of rows (SwiGLU): rows i of group g have D(i,:) = silu(alpha(g) A(i,:) G(g)^T) beta(g) A(i,:) U(g)^T, with A (M,K) and
// D (M,N) packed as in grouped.mlir; G and U are (groups,N,K). A tile of A is loaded once for both products.
// -D T, ACC, TD: elements of A, G and U, of sums, of D; BITS, BITSD: of T, TD; Z: 0 of ACC; SCALE: 1 for alpha and beta.
//!param BM = 128 in 64, 128, 256
//!param BN = 64 in 32, 64, 96, 128
//!param BK = 64 in 32, 64, 128
!offsets = !cute.memref<i32, gmem, "?:1">
!map = !cute.memref<i32, gmem, align<16>, "(?,4):(4,1)">
!A = !cute.memref<${T}, gmem, align<16>, "(?,?{div=${128/BITS}}):(?{i64 div=${128/BITS}},1)">
!B = !cute.memref<${T}, gmem, align<16>,
    "(?,?,?{div=${128/BITS}}):(?{i64 div=${128/BITS}},?{i64 div=${128/BITS}},1)">
!D = !cute.memref<${TD}, gmem, align<16>, "(?,?{div=${128/BITSD}}):(?{i64 div=${128/BITSD}},1)">
!alpha = !cute.memref<f32, gmem, "?:1">
!sum = tensor<${BM}x${BN}x${ACC}>
gpu.module @kernels {
//!include "tiles.inc"
  gpu.func @products(%A: !A, %G: !B, %U: !B, %D: !D, %map: !map, %alpha: !alpha, %beta: !alpha) kernel {
    // a block for each tile of the map and of the columns of D
    %tiles = cute.tile.count<0, 1> %map
    %columns = cute.tile.count<1, 1> %D
    %memory = cute.get_iter %D
    %layout = cute.make_layout((%tiles, %columns), (0, 0))
    %grid = cute.make_view %memory, %layout
    %i, %j = cute.tile.program<[1, ${BN}]> %grid
    %g = cute.memref.load %map[%i, 0]
    %first = cute.memref.load %map[%i, 1]
    %rows = cute.memref.load %map[%i, 2]
    %a_rows = cute.tile.rows %A, %first, %rows
    %d_rows = cute.tile.rows %D, %first, %rows
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all = cute.tile.count<1, ${BK}> %A
    %any = arith.cmpi sgt, %rows, %c0 : i32
    %steps = arith.select %any, %all, %c0 : i32
    %zero = arith.constant dense<${Z}> : !sum
    %gate, %up = scf.for %k = %c0 to %steps step %c1 iter_args(%acc0 = %zero, %acc1 = %zero) -> (!sum, !sum) : i32 {
      %a = cute.tile.load<[${BM}, ${BK}]> %a_rows[0, %k]
      %w = cute.tile.load<[${BN}, ${BK}]> %G[%g, %j, %k]
      %v = cute.tile.load<[${BN}, ${BK}]> %U[%g, %j, %k]
      %d0 = cute.tile.gemm %a, %w, %acc0
      %d1 = cute.tile.gemm %a, %v, %acc1
      scf.yield %d0, %d1 : !sum, !sum
    }
    %f = cute.tile.cast<f32> %gate
    %u = cute.tile.cast<f32> %up
    %alpha_g = cute.memref.load %alpha[%g]
    %beta_g = cute.memref.load %beta[%g]
    %scaled_f = cute.tile.mul %f, %alpha_g
    %scaled_u = cute.tile.mul %u, %beta_g
    %x = cute.tile.where ${SCALE}, %scaled_f, %f
    %y = cute.tile.where ${SCALE}, %scaled_u, %u
    %s = cute.tile.silu %x {fast}
    %out = cute.tile.mul %s, %y
    cute.tile.store %out, %d_rows[0, %j]
    gpu.return
  }
}
func.func private @tiles(!offsets, !map)
func.func private @products(!A, !B, !B, !D, !map, !alpha, !alpha)
// There are at most M / BM whole tiles, and one more for each group: the host need not know the groups' sizes.
func.func @gated(%A: !A, %G: !B, %U: !B, %D: !D, %offsets: !offsets, %alpha: !alpha, %beta: !alpha) {
  %rows = cute.size<[0]> %A
  %whole = cute.ceil_div %rows, ${BM}
  %groups = cute.size<[0]> %G
  %most = cute.tuple_add %whole, %groups
  %n = cute.get_scalars %most
  %layout = cute.make_layout((%n, 4), (4, 1))
  %map = cute.temporary %layout : !map
  func.call @tiles(%offsets, %map) : (!offsets, !map) -> ()
  func.call @products(%A, %G, %U, %D, %map, %alpha, %beta) : (!A, !B, !B, !D, !map, !alpha, !alpha) -> ()
  return
}
// In an editor: -D T=bf16 -D ACC=f32 -D TD=bf16 -D BITS=16 -D BITSD=16 -D Z=0.0 -D SCALE=1
