// C = A B^T, A and B each K-major or M/N-major, by ldmatrix with and without .trans; C through shared memory with a swizzle.
// defs: -D LA="(64,64):(1,64)" -D SA="S<3,3,3> o 0 o (64,64):(1,64)" -D OA="t" -D TA="(8,16):(1,8)" -D VA="(8,1):(1,0)" -D LB="(64,64):(1,64)" -D SB="S<3,3,3> o 0 o (64,64):(1,64)" -D OB="t" -D TB="(8,16):(1,8)" -D VB="(8,1):(1,0)"
// run: -p gemm --tensor A=f16:64x64:1,64:normal --tensor B=f16:64x64:1,64:normal --tensor C=f32:64x64 --expect 'C=sum(q,A[i,q]*B[j,q])'
!ldA = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, ${OA}>
!ldB = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, ${OB}>
!A = !cute.memref<f16, gmem, align<16>, "${LA}">
!B = !cute.memref<f16, gmem, align<16>, "${LB}">
!C = !cute.memref<f32, gmem, align<16>, "(64,64):(64,1)">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @gemm(%A: !A, %B: !B, %C: !C) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %bytes = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %smem = cute.recast_iter %bytes : f16
    %behind = cute.add_offset %smem, 4096
    %sA = cute.make_view %smem, "${SA}"
    %sB = cute.make_view %behind, "${SB}"
    %async = cute.make_atom : !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
    %cpA = cute.make_tiled_copy %async, "${TA}", "${VA}"
    %cpB = cute.make_tiled_copy %async, "${TB}", "${VB}"
    %gA = cute.tiled.copy.partition_S %cpA, %A, %t
    %dA = cute.tiled.copy.partition_D %cpA, %sA, %t
    %gB = cute.tiled.copy.partition_S %cpB, %B, %t
    %dB = cute.tiled.copy.partition_D %cpB, %sB, %t
    cute.copy %cpA, %gA, %dA
    cute.copy %cpB, %gB, %dB
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    %atom = cute.make_atom : !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
    %mma = cute.make_tiled_mma %atom, "(2,2,1):(1,2,0)", (32, 32, 16)
    %la = cute.make_atom : !ldA
    %lb = cute.make_atom : !ldB
    %rdA = cute.make_tiled_copy_A %la, %mma
    %rdB = cute.make_tiled_copy_B %lb, %mma
    %xA = cute.tiled.copy.partition_S %rdA, %sA, %t
    %xB = cute.tiled.copy.partition_S %rdB, %sB, %t
    %pA = cute.tiled.mma.partition A (%mma, %sA, %t)
    %pB = cute.tiled.mma.partition B (%mma, %sB, %t)
    %pC = cute.tiled.mma.partition C (%mma, %C, %t)
    %rA = cute.mma.make_fragment A (%mma, %pA)
    %rB = cute.mma.make_fragment B (%mma, %pB)
    %acc = cute.mma.make_fragment C (%mma, %pC)
    %yA = cute.tiled.copy.retile %rdA, %rA
    %yB = cute.tiled.copy.retile %rdB, %rB
    %zero = arith.constant 0.0 : f32
    cute.fill %acc, %zero
    cute.copy %rdA, %xA, %yA
    cute.copy %rdB, %xB, %yB
    cute.gemm %mma, %acc, %rA, %rB, %acc
    gpu.barrier
    // through shared memory: pairs in, 16 bytes out
    %sm32 = cute.recast_iter %bytes : f32
    %sC = cute.make_view %sm32, "S<3,2,3> o 0 o (64,64):(64,1)"
    %pair = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32, 64 b>
    %r2s = cute.make_tiled_copy_C %pair, %mma
    %cr = cute.tiled.copy.retile %r2s, %acc
    %cs = cute.tiled.copy.partition_D %r2s, %sC, %t
    cute.copy %r2s, %cr, %cs
    gpu.barrier
    %four = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32, 128 b>
    %s2g = cute.make_tiled_copy %four, "(8,16):(16,1)", "(1,4):(0,1)"
    %os = cute.tiled.copy.partition_S %s2g, %sC, %t
    %og = cute.tiled.copy.partition_D %s2g, %C, %t
    cute.copy %s2g, %os, %og
    gpu.return
  }
}
func.func @gemm(%A: !A, %B: !B, %C: !C) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %bytes = arith.constant 16384 : i32
  gpu.launch_func @kernels::@gemm blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1) dynamic_shared_memory_size %bytes args(%A : !A, %B : !B, %C : !C)
  return
}
}
