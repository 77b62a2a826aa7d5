// run: -p bgemm --tensor A=37x19x3:19,1,703:normal --tensor B=41x19x3:19,1,779:normal --tensor C=37x41x3 --expect 'C=sum(q,A[i,q,k]*B[j,q,k])'
// run: -p bgemm --tensor A=37x19x3:1,40,800:normal --tensor B=41x19x3:100,5,2:normal --tensor C=37x41x3:3,200,1 --expect 'C=sum(q,A[i,q,k]*B[j,q,k])'
!t = !cute.memref<f32, gmem, "(?,?,?):(?{i64},?{i64},?{i64})">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @bgemm(%A: !t, %B: !t, %C: !t) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %bm = nvvm.read.ptx.sreg.ctaid.x : i32
    %bn = nvvm.read.ptx.sreg.ctaid.y : i32
    %bl = nvvm.read.ptx.sreg.ctaid.z : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant 0.0 : f32
    %Ab = cute.slice %A, (_, _, %bl)
    %Bb = cute.slice %B, (_, _, %bl)
    %Cb = cute.slice %C, (_, _, %bl)
    %gA = cute.local_tile %Ab, (16, 8), (%bm, _)
    %gB = cute.local_tile %Bb, (16, 8), (%bn, _)
    %gC = cute.local_tile %Cb, (16, 16), (%bm, %bn)
    %sA_ = cute.shape %Ab
    %sB_ = cute.shape %Bb
    %sC_ = cute.shape %Cb
    %iA = cute.make_identity_tensor %sA_
    %iB = cute.make_identity_tensor %sB_
    %iC = cute.make_identity_tensor %sC_
    %cA = cute.local_tile %iA, (16, 8), (%bm, _)
    %cB = cute.local_tile %iB, (16, 8), (%bn, _)
    %cC = cute.local_tile %iC, (16, 16), (%bm, %bn)
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %pA = cute.recast_iter %smem : f32
    %pB = cute.add_offset %pA, 256
    %lS = cute.static "(16,8):(1,17)"
    %sA = cute.make_view %pA, %lS
    %sB = cute.make_view %pB, %lS
    %atom = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32>
    %cp = cute.make_tiled_copy %atom, "(16,4):(1,16)", "(1,2):(0,1)"
    %tAg = cute.tiled.copy.partition_S %cp, %gA, %t
    %tBg = cute.tiled.copy.partition_S %cp, %gB, %t
    %tAc = cute.tiled.copy.partition_S %cp, %cA, %t
    %tBc = cute.tiled.copy.partition_S %cp, %cB, %t
    %tAs = cute.tiled.copy.partition_D %cp, %sA, %t
    %tBs = cute.tiled.copy.partition_D %cp, %sB, %t
    %fma = cute.make_atom : !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32>
    %mma = cute.make_tiled_mma %fma, "(8,8,1):(1,8,0)"
    %mA = cute.tiled.mma.partition A (%mma, %sA, %t)
    %mB = cute.tiled.mma.partition B (%mma, %sB, %t)
    %mC = cute.tiled.mma.partition C (%mma, %gC, %t)
    %mI = cute.tiled.mma.partition C (%mma, %cC, %t)
    %rA = cute.mma.make_fragment A (%mma, %mA)
    %rB = cute.mma.make_fragment B (%mma, %mB)
    %rC = cute.mma.make_fragment C (%mma, %mC)
    cute.fill %rC, %zero
    %ks = cute.size<[2]> %gA
    %k = cute.get_scalars %ks
    scf.for %i = %c0 to %k step %c1 : i32 {
      %qA = cute.predicate %tAc[_, _, _, %i], %sA_
      %qB = cute.predicate %tBc[_, _, _, %i], %sB_
      cute.fill %tAs, %zero
      cute.fill %tBs, %zero
      cute.copy %cp, %tAg[_, _, _, %i], %tAs, %qA
      cute.copy %cp, %tBg[_, _, _, %i], %tBs, %qB
      gpu.barrier
      cute.copy %atom, %mA, %rA
      cute.copy %atom, %mB, %rB
      cute.gemm %mma, %rC, %rA, %rB, %rC
      gpu.barrier
    }
    %qC = cute.predicate %mI, %sC_
    cute.copy %atom, %rC, %mC, %qC
    gpu.return
  }
}
func.func @bgemm(%A: !t, %B: !t, %C: !t) {
  %s = cute.shape %C
  %b = cute.ceil_div %s, (16, 16, 1)
  %x, %y, %z = cute.get_scalars %b
  %gx = arith.index_cast %x : i32 to index
  %gy = arith.index_cast %y : i32 to index
  %gz = arith.index_cast %z : i32 to index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %bytes = arith.constant 2048 : i32
  gpu.launch_func @kernels::@bgemm blocks in (%gx, %gy, %gz) threads in (%c64, %c1, %c1) dynamic_shared_memory_size %bytes args(%A : !t, %B : !t, %C : !t)
  return
}
}
