// D = act(alpha A B^T + beta C + bias): A is (L,M,K), B (L,N,K), C and D (L,M,N) for a batch of L. -D T, ACC, TD: elements of A and
// B, of sums, of C, D and bias; BITS, BITSD: of T, TD; Z: 0 of ACC; A, B: 0 if K is contiguous, 1 if M or N is; PROMOTE: 1 to add
// the sums of BK terms to others in ACC, outside of tensor cores; SCALE, ADD, BIAS: 1 for alpha, C, bias; ACT: 0 no activation, 1 relu,
// 2 gelu (tanh). f32 is multiplied as tf32.
//!param BM = 128 in 64, 128, 256
//!param BN = 256 in 16, 32, 64, 128, 176, 192, 240, 256
//!param BK = 64 in 32, 64, 128
!t0 = !cute.memref<${T}, gmem, align<16>, "(?,?,?{div=${128/BITS}}):(?{i64 div=${128/BITS}},?{i64 div=${128/BITS}},1)">
!t1 = !cute.memref<${T}, gmem, align<16>, "(?,?{div=${128/BITS}},?):(?{i64 div=${128/BITS}},1,?{i64 div=${128/BITS}})">
!D = !cute.memref<${TD}, gmem, align<16>, "(?,?,?{div=${128/BITSD}}):(?{i64 div=${128/BITSD}},?{i64 div=${128/BITSD}},1)">
!bias = !cute.memref<${TD}, gmem, "?:1">
!sum = tensor<${BM}x${BN}x${ACC}>
!tile = tensor<${BM}x${BN}xf32>
gpu.module @kernels {
  gpu.func @product(%A: !t${A}, %B: !t${B}, %D: !D, %C: !D, %bias: !bias, %alpha: f32, %beta: f32) kernel {
    %l, %i, %j = cute.tile.program<[1, ${BM}, ${BN}]> %D
    %steps = cute.tile.count<2, ${BK}> %A
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<${Z}> : !sum
    %promotes = arith.constant ${PROMOTE} : i1
    %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %zero) -> (!sum) : i32 {
      %a = cute.tile.load<[1, ${BM}, ${BK}]> %A[%l, %i, %k]
      %b = cute.tile.load<[1, ${BN}, ${BK}]> %B[%l, %j, %k]
      %x = cute.tile.reshape<[${BM}, ${BK}]> %a
      %y = cute.tile.reshape<[${BN}, ${BK}]> %b
      %from = arith.select %promotes, %zero, %acc : !sum
      %d = cute.tile.gemm %x, %y, %from {tf32}
      %total = cute.tile.add %acc, %d
      %next = arith.select %promotes, %total, %d : !sum
      scf.yield %next : !sum
    }
    %f = cute.tile.cast<f32> %sum
    %if_alpha = arith.constant ${SCALE} : i1
    %scaled = scf.if %if_alpha -> (!tile) {
      %s = cute.tile.mul %f, %alpha
      scf.yield %s : !tile
    } else { scf.yield %f : !tile }
    %if_c = arith.constant ${ADD} : i1
    %added = scf.if %if_c -> (!tile) {
      %c = cute.tile.load<[1, ${BM}, ${BN}], f32> %C[%l, %i, %j]
      %c2 = cute.tile.reshape<[${BM}, ${BN}]> %c
      %s = cute.tile.fma %c2, %beta, %scaled
      scf.yield %s : !tile
    } else { scf.yield %scaled : !tile }
    %if_bias = arith.constant ${BIAS} : i1
    %biased = scf.if %if_bias -> (!tile) {
      %v = cute.tile.load<[${BN}], f32> %bias[%j]
      %s = cute.tile.add %added, %v
      scf.yield %s : !tile
    } else { scf.yield %added : !tile }
    %act = arith.constant ${ACT} : index
    %e = scf.index_switch %act -> !tile
    case 1 {
      %r = cute.tile.relu %biased
      scf.yield %r : !tile
    }
    case 2 { // x sigmoid(x (p + q x^2))
      %q = cute.tile.mul %biased, %biased
      %p = cute.tile.fma %q, 0.071354816, 1.595769122
      %h = cute.tile.mul %biased, %p
      %g = cute.tile.sigmoid %h {fast}
      %r = cute.tile.mul %biased, %g
      scf.yield %r : !tile
    }
    default { scf.yield %biased : !tile }
    %out = cute.tile.cast<${TD}> %e
    %o = cute.tile.reshape<[1, ${BM}, ${BN}]> %out
    cute.tile.store %o, %D[%l, %i, %j]
    gpu.return
  }
}
// In an editor: -D T=bf16 -D ACC=f32 -D TD=bf16 -D BITS=16 -D BITSD=16 -D Z=0.0 -D A=0 -D B=0 -D PROMOTE=0 -D SCALE=0 -D ADD=0 -D BIAS=0 -D ACT=0
