// D = act(alpha A B^T + beta C + bias): A is (L,M,K), B (L,N,K), C and D (L,M,N) for a batch of L.
// -D T, ACC, TD: elements of A and B, of sums, of C, D, bias; BITS, BITSD: of T, TD; Z: 0 of ACC;
// A, B: 0 if K is contiguous, 1 if M or N is; D: of C and D, 0 if N is, 1 if M is; TF32: 1 for f32 as tf32, 0 for exact products;
// PROMOTE: 1 to add sums of BK terms in ACC, outside of tensor cores; SCALE, ADD: 1 for alpha, C;
// BIAS: 1 for a bias along N, 2 along M; ACT: 0 no activation, 1 relu, 2 gelu (tanh); E: epilogue;
// ALIGN, ALIGND: bytes of which rows of A and B begin at multiples, and rows of C and D are multiples;
// EDGE: of which the extents of A and B are multiples, if less than ALIGN.
//!param BM = 128 in 64, 128, 256
//!param BN = 256 in 16, 32, 64, 128, 176, 192, 240, 256
//!param BK = 64 in 32, 64, 128
//!param E = f32
//!param ALIGN = 16
//!param ALIGND = 16
//!param EDGE = 16
//!param D = 0
//!param SCHEDULE = auto
!t0 = !cute.memref<${T}, gmem, align<${ALIGN}>,
    "(?,?,?{div=${8*(EDGE<ALIGN?EDGE:ALIGN)/BITS}}):(?{i64 div=${8*ALIGN/BITS}},?{i64 div=${8*ALIGN/BITS}},1)">
!t1 = !cute.memref<${T}, gmem, align<${ALIGN}>,
    "(?,?{div=${8*(EDGE<ALIGN?EDGE:ALIGN)/BITS}},?):(?{i64 div=${8*ALIGN/BITS}},1,?{i64 div=${8*ALIGN/BITS}})">
!d0 = !cute.memref<${TD}, gmem, align<${ALIGND}>,
    "(?,?,?{div=${8*ALIGND/BITSD}}):(?{i64 div=${8*ALIGND/BITSD}},?{i64 div=${8*ALIGND/BITSD}},1)">
!d1 = !cute.memref<${TD}, gmem, align<${ALIGND}>,
    "(?,?{div=${8*ALIGND/BITSD}},?):(?{i64 div=${8*ALIGND/BITSD}},1,?{i64 div=${8*ALIGND/BITSD}})">
!bias = !cute.memref<${TD}, gmem, "(?,?):(${BIAS==2},${BIAS!=2})">
!sum = tensor<${BM}x${BN}x${ACC}>
gpu.module @kernels {
  gpu.func @product(%A: !t${A}, %B: !t${B}, %D: !d${D}, %C: !d${D}, %bias: !bias, %alpha: ${E}, %beta: ${E})
      kernel attributes {cute.schedule = "${SCHEDULE}"} {
    %l, %i, %j = cute.tile.program<[1, ${BM}, ${BN}]> %D
    %steps = cute.tile.count<2, ${BK}> %A
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<${Z}> : !sum
    %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %zero) -> (!sum) : i32 {
      %a = cute.tile.load<[${BM}, ${BK}]> %A[%l, %i, %k]
      %b = cute.tile.load<[${BN}, ${BK}]> %B[%l, %j, %k]
      %from = cute.tile.where ${PROMOTE}, %zero, %acc
      %d = cute.tile.gemm %a, %b, %from {tf32 = ${TF32}}
      %total = cute.tile.add %acc, %d
      %next = cute.tile.where ${PROMOTE}, %total, %d
      scf.yield %next : !sum
    }
    %f = cute.tile.cast<${E}> %sum
    %product = cute.tile.mul %f, %alpha
    %x = cute.tile.where ${SCALE}, %product, %f
    %c = cute.tile.load<[${BM}, ${BN}], ${E}> %C[%l, %i, %j]
    %with_c = cute.tile.fma %c, %beta, %x
    %y = cute.tile.where ${ADD}, %with_c, %x
    %b = cute.tile.load<[${BIAS==2 ? BM : 1}, ${BIAS==2 ? 1 : BN}], ${E}> %bias[%i, %j]
    %with_bias = cute.tile.add %y, %b
    %z = cute.tile.where ${BIAS>0}, %with_bias, %y
    %relu = cute.tile.relu %z
    %gelu = cute.tile.gelu_tanh %z {fast}
    %positive = cute.tile.where ${ACT==1}, %relu, %z
    %out = cute.tile.where ${ACT==2}, %gelu, %positive
    %d = cute.tile.cast<${TD}> %out
    cute.tile.store %d, %D[%l, %i, %j]
    gpu.return
  }
}
// In an editor: -D T=bf16 -D ACC=f32 -D TD=bf16 -D BITS=16 -D BITSD=16 -D Z=0.0 -D A=0 -D B=0
// -D TF32=0 -D PROMOTE=0 -D SCALE=0 -D ADD=0 -D BIAS=0 -D ACT=0
