// C = A B^T by one warp with one MMA: A is 16 by 16 and B is 8 by 16 in f16, C is 16 by 8 in f32.
!A = !cute.memref<f16, gmem, align<16>, "(16,16):(16,1)">
!B = !cute.memref<f16, gmem, align<16>, "(8,16):(16,1)">
!C = !cute.memref<f32, gmem, align<16>, "(16,8):(8,1)">
!ldsm4 = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!ldsm2 = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 2, n>

gpu.module @kernels {
  gpu.func @mma(%A: !A, %B: !B, %C: !C) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %lane = nvvm.read.ptx.sreg.tid.x : i32

    // Copy A and B to shared memory, 8 bytes per thread.
    %bytes = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %smem = cute.recast_iter %bytes : f16
    %behind = cute.add_offset %smem, 256
    %sA = cute.make_view %smem, "S<1,3,3> o 0 o (16,16):(16,1)"
    %sB = cute.make_view %behind, "S<1,3,3> o 0 o (8,16):(16,1)"
    %wide = cute.make_atom : !cute_nvgpu.atom.universal_copy<f16, 64 b>
    %g2s = cute.make_tiled_copy %wide, "(8,4):(4,1)", "(1,4):(0,1)"
    %fromA = cute.tiled.copy.partition_S %g2s, %A, %lane
    %fromB = cute.tiled.copy.partition_S %g2s, %B, %lane
    %toA = cute.tiled.copy.partition_D %g2s, %sA, %lane
    %toB = cute.tiled.copy.partition_D %g2s, %sB, %lane
    cute.copy %g2s, %fromA, %toA
    cute.copy %g2s, %fromB, %toB
    gpu.barrier

    // This thread's elements of A, B and C, and registers for them.
    %atom = cute.make_atom : !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
    %mma = cute.make_tiled_mma %atom
    %pA = cute.tiled.mma.partition A (%mma, %sA, %lane)
    %pB = cute.tiled.mma.partition B (%mma, %sB, %lane)
    %pC = cute.tiled.mma.partition C (%mma, %C, %lane)
    %rA = cute.mma.make_fragment A (%mma, %pA)
    %rB = cute.mma.make_fragment B (%mma, %pB)
    %rC = cute.mma.make_fragment C (%mma, %pC)

    // Load the fragments of A and B by ldmatrix: four matrices of 8 by 8, and two.
    %ldsm4 = cute.make_atom : !ldsm4
    %ldsm2 = cute.make_atom : !ldsm2
    %s2rA = cute.make_tiled_copy_A %ldsm4, %mma
    %s2rB = cute.make_tiled_copy_B %ldsm2, %mma
    %tXsA = cute.tiled.copy.partition_S %s2rA, %sA, %lane
    %tXsB = cute.tiled.copy.partition_S %s2rB, %sB, %lane
    %tXrA = cute.tiled.copy.retile %s2rA, %rA
    %tXrB = cute.tiled.copy.retile %s2rB, %rB
    cute.copy %s2rA, %tXsA, %tXrA
    cute.copy %s2rB, %tXsB, %tXrB

    %zero = arith.constant 0.0 : f32
    cute.fill %rC, %zero
    cute.gemm %mma, %rC, %rA, %rB, %rC
    cute.copy %rC, %pC
    gpu.return
  }
}

func.func @mma(%A: !A, %B: !B, %C: !C) {
  %one = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %bytes = arith.constant ${(16+8)*16*2} : i32
  gpu.launch_func @kernels::@mma blocks in (%one, %one, %one) threads in (%threads, %one, %one)
    dynamic_shared_memory_size %bytes args(%A : !A, %B : !B, %C : !C)
  return
}
