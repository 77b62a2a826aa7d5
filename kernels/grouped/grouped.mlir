// Products of groups of rows, each with its own matrix: rows i of group g have D(i,:) = alpha(g) A(i,:) B(g)^T + bias(g). A is (M,K), D (M,N), both packed:
// group g has rows offsets(g) to offsets(g+1), which are in device memory, as alpha and bias are; B is (groups,N,K). Groups may be empty.
// -D T, ACC, TD: elements of A and B, of sums, of D and bias; BITS, BITSD: of T, TD; Z: 0 of ACC; SCALE, BIAS: 1 for alpha, bias.
//!param BM = 128 in 64, 128, 256
//!param BN = 128 in 32, 64, 128, 192, 256
//!param BK = 64 in 32, 64, 128
!offsets = !cute.memref<i32, gmem, "?:1">
!map = !cute.memref<i32, gmem, align<16>, "(?,4):(4,1)">
!A = !cute.memref<${T}, gmem, align<16>, "(?,?{div=${128/BITS}}):(?{i64 div=${128/BITS}},1)">
!B = !cute.memref<${T}, gmem, align<16>,
    "(?,?,?{div=${128/BITS}}):(?{i64 div=${128/BITS}},?{i64 div=${128/BITS}},1)">
!D = !cute.memref<${TD}, gmem, align<16>, "(?,?{div=${128/BITSD}}):(?{i64 div=${128/BITSD}},1)">
!alpha = !cute.memref<f32, gmem, "?:1">
!bias = !cute.memref<${TD}, gmem, "(?,?):(?{i64},1)">
!sum = tensor<${BM}x${BN}x${ACC}>
gpu.module @kernels {
//!include "tiles.inc"
  gpu.func @products(%A: !A, %B: !B, %D: !D, %map: !map, %alpha: !alpha, %bias: !bias) kernel {
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
    %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %zero) -> (!sum) : i32 {
      %a = cute.tile.load<[${BM}, ${BK}]> %a_rows[0, %k]
      %b = cute.tile.load<[${BN}, ${BK}]> %B[%g, %j, %k]
      %d = cute.tile.gemm %a, %b, %acc
      scf.yield %d : !sum
    }
    %f = cute.tile.cast<f32> %sum
    %scale = cute.memref.load %alpha[%g]
    %scaled = cute.tile.mul %f, %scale
    %x = cute.tile.where ${SCALE}, %scaled, %f
    %b = cute.tile.load<[${BN}], f32> %bias[%g, %j]
    %with_bias = cute.tile.add %x, %b
    %out = cute.tile.where ${BIAS}, %with_bias, %x
    cute.tile.store %out, %d_rows[0, %j]
    gpu.return
  }
}
func.func private @tiles(!offsets, !map)
func.func private @products(!A, !B, !D, !map, !alpha, !bias)
// There are at most M / BM whole tiles, and one more for each group: the host need not know the groups' sizes.
func.func @grouped(%A: !A, %B: !B, %D: !D, %offsets: !offsets, %alpha: !alpha, %bias: !bias) {
  %rows = cute.size<[0]> %A
  %whole = cute.ceil_div %rows, ${BM}
  %groups = cute.size<[0]> %B
  %most = cute.tuple_add %whole, %groups
  %n = cute.get_scalars %most
  %layout = cute.make_layout((%n, 4), (4, 1))
  %map = cute.temporary %layout : !map
  func.call @tiles(%offsets, %map) : (!offsets, !map) -> ()
  func.call @products(%A, %B, %D, %map, %alpha, %bias) : (!A, !B, !D, !map, !alpha, !bias) -> ()
  return
}
// In an editor: -D T=bf16 -D ACC=f32 -D TD=bf16 -D BITS=16 -D BITSD=16 -D Z=0.0 -D SCALE=1 -D BIAS=1
