// f64 tensor cores; predicates of A, B and C by the tiled copies of the MMA; any M, N, K.
// run: -p k --tensor A=19x7:normal --tensor B=21x7:normal --tensor C=19x21 --expect 'C=sum(q,A[i,q]*B[j,q])'
// run: -p k --tensor A=16x4:1,20:normal --tensor B=16x4:1,16:normal --tensor C=16x16:1,17 --expect 'C=sum(q,A[i,q]*B[j,q])'
!t = !cute.memref<f64, gmem, "(?,?):(?{i64},?{i64})">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @k(%A: !t, %B: !t, %C: !t) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %bm = nvvm.read.ptx.sreg.ctaid.x : i32
    %bn = nvvm.read.ptx.sreg.ctaid.y : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant 0.0 : f64
    %sA = cute.shape %A
    %sB = cute.shape %B
    %sC = cute.shape %C
    %iA = cute.make_identity_tensor %sA
    %iB = cute.make_identity_tensor %sB
    %iC = cute.make_identity_tensor %sC
    %gA = cute.local_tile %A, (16, 4), (%bm, _)
    %gB = cute.local_tile %B, (8, 4), (%bn, _)
    %gC = cute.local_tile %C, (16, 8), (%bm, %bn)
    %cA = cute.local_tile %iA, (16, 4), (%bm, _)
    %cB = cute.local_tile %iB, (8, 4), (%bn, _)
    %cC = cute.local_tile %iC, (16, 8), (%bm, %bn)
    %atom = cute.make_atom : !cute_nvgpu.sm80.mma<8x8x4, elem_type = (f64, f64, f64) >
    %mma = cute.make_tiled_mma %atom, "(2,1,1):(1,0,0)"
    %one = cute.make_atom : !cute_nvgpu.atom.universal_copy<f64>
    %cpA = cute.make_tiled_copy_A %one, %mma
    %cpB = cute.make_tiled_copy_B %one, %mma
    %cpC = cute.make_tiled_copy_C %one, %mma
    %xA = cute.tiled.copy.partition_S %cpA, %gA, %t
    %xB = cute.tiled.copy.partition_S %cpB, %gB, %t
    %xC = cute.tiled.copy.partition_D %cpC, %gC, %t
    %yA = cute.tiled.copy.partition_S %cpA, %cA, %t
    %yB = cute.tiled.copy.partition_S %cpB, %cB, %t
    %yC = cute.tiled.copy.partition_D %cpC, %cC, %t
    %pA = cute.tiled.mma.partition A (%mma, %gA[_, _, 0], %t)
    %pB = cute.tiled.mma.partition B (%mma, %gB[_, _, 0], %t)
    %pC = cute.tiled.mma.partition C (%mma, %gC, %t)
    %rA = cute.mma.make_fragment A (%mma, %pA)
    %rB = cute.mma.make_fragment B (%mma, %pB)
    %rC = cute.mma.make_fragment C (%mma, %pC)
    %uA = cute.tiled.copy.retile %cpA, %rA
    %uB = cute.tiled.copy.retile %cpB, %rB
    %uC = cute.tiled.copy.retile %cpC, %rC
    cute.fill %rC, %zero
    %k_ = cute.size<[2]> %gA
    %k = cute.get_scalars %k_
    scf.for %i = %c0 to %k step %c1 : i32 {
      %qA = cute.predicate %yA[_, _, _, %i], %sA
      %qB = cute.predicate %yB[_, _, _, %i], %sB
      cute.fill %rA, %zero
      cute.fill %rB, %zero
      cute.copy %cpA, %xA[_, _, _, %i], %uA, %qA
      cute.copy %cpB, %xB[_, _, _, %i], %uB, %qB
      cute.gemm %mma, %rC, %rA, %rB, %rC
    }
    %qC = cute.predicate %yC, %sC
    cute.copy %cpC, %uC, %xC, %qC
    gpu.return
  }
}
func.func @k(%A: !t, %B: !t, %C: !t) {
  %s = cute.shape %C
  %b = cute.ceil_div %s, (16, 8)
  %x, %y = cute.get_scalars %b
  %gx = arith.index_cast %x : i32 to index
  %gy = arith.index_cast %y : i32 to index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @kernels::@k blocks in (%gx, %gy, %c1) threads in (%c64, %c1, %c1) args(%A : !t, %B : !t, %C : !t)
  return
}
}
