// One product of a warp, C = A * B + C, in the spellings of texts on GPUs.
!a = !cute.memref<${T}, gmem, align<16>, "(16,16):(16,1)">
!b = !cute.memref<${T}, gmem, align<16>, "(16,8):(8,1)">
!c = !cute.memref<f32, gmem, align<16>, "(16,8):(8,1)">
gpu.module @kernels {
  gpu.func @product(%A: !a, %B: !b, %C: !c, %R: memref<16x8xf32>) kernel {
    %t = nvvm.read_ptx_sreg_tid_x : i32
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %four = arith.constant 4 : i32
    %eight = arith.constant 8 : i32
    %sixteen = arith.constant 16 : i32
    %bytes = constant 512 : !cute.i32<divby 16>
    %base = cute_nvgpu.arch.get_dyn_smem : !cute.ptr<i8, smem, align<1024>>
    %behind = cute.add_offset %base, %bytes
    %q = cute.recast_iter %behind : ${T}
    %sA = gpu.alloc_shared_memory("(16,16):(16,1)", ${T})
    %sB = cute.make_tensor %q, "(16,8):(8,1)"
    scf.for %e = %zero to %eight step %one : i32 {
      %first = arith.muli %t, %eight : i32
      %k = arith.addi %first, %e : i32
      %row = arith.divui %k, %sixteen : i32
      %column = arith.remui %k, %sixteen : i32
      %x = gpu.load %A[%row, %column] : ${T}
      gpu.store %x, %sA[%row, %column] : ${T}
    }
    scf.for %e = %zero to %four step %one : i32 {
      %first = arith.muli %t, %four : i32
      %k = arith.addi %first, %e : i32
      %row = arith.divui %k, %eight : i32
      %column = arith.remui %k, %eight : i32
      %x = gpu.load %B[%row, %column] : ${T}
      gpu.store %x, %sB[%row, %column] : ${T}
    }
    %warp = arith.constant 32 : i32
    nvvm.barrier_wait id = %one number_of_threads = %warp
    %row = arith.remui %t, %sixteen : i32
    %half = arith.divui %t, %sixteen : i32
    %c8 = arith.muli %half, %eight : i32
    %column = cute.assume %c8 : !cute.i32<divby 8>
    %a = cute_nvgpu.ldmatrix %sA[%row, %column]
    %b = cute_nvgpu.ldmatrix<x2, trans> %sB[%row, 0]
    %r0 = arith.divui %t, %four : i32
    %r1 = arith.addi %r0, %eight : i32
    %in = arith.remui %t, %four : i32
    %n0 = arith.muli %in, %two : i32
    %n1 = arith.addi %n0, %one : i32
    %c0 = gpu.load %C[%r0, %n0] : f32
    %c1 = gpu.load %C[%r0, %n1] : f32
    %c2 = gpu.load %C[%r1, %n0] : f32
    %c3 = gpu.load %C[%r1, %n1] : f32
    %c = vector.from_elements %c0, %c1, %c2, %c3 : vector<2x2xf32>
    %d = cute_nvgpu.warp_mma_f16bf16 %a, %b, %c : !cute_nvgpu.mma_atom<16,8,16,${T}>
    %d0 = vector.extract %d[0, 0] : f32 from vector<2x2xf32>
    %d1 = vector.extract %d[0, 1] : f32 from vector<2x2xf32>
    %d2 = vector.extract %d[1, 0] : f32 from vector<2x2xf32>
    %d3 = vector.extract %d[1, 1] : f32 from vector<2x2xf32>
    gpu.store %d0, %R[%r0, %n0]
    gpu.store %d1, %R[%r0, %n1]
    gpu.store %d2, %R[%r1, %n0]
    gpu.store %d3, %R[%r1, %n1]
    gpu.return
  }
}
