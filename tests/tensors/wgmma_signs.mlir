// Products of wgmma whose factors count negative, A, B, or both; a sign that a loop carries, and one that a tiled MMA is asked for.
// arch: sm_90a
// run: -p k --tensor A=f16:64x64:normal --tensor B=f16:64x64:normal --tensor C=f32:64x64 --tensor D=f32:64x64 --tensor E=f32:64x64 --expect 'C=-sum(q,A[i,q]*B[j,q])' --expect 'D=-2*sum(q,A[i,q]*B[j,q])' --expect 'E=sum(q,A[i,q]*B[j,q])'
!h = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!s = !cute.memref<f32, gmem, align<16>, "(64,64):(64,1)">
!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @k(%A: !h, %B: !h, %C: !s, %D: !s, %E: !s) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %p = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
    %q = cute.add_offset %p, 4096
    %sA = cute.make_view %p, "(64,64):(64,1)"
    %sB = cute.make_view %q, "(64,64):(64,1)"
    %element = cute.make_atom : !cute_nvgpu.atom.universal_copy<f16, 128 b>
    %copy = cute.make_tiled_copy %element, "(16,8):(8,1)", "(1,8):(8,1)"
    %fromA = cute.tiled.copy.partition_S %copy, %A, %t
    %toA = cute.tiled.copy.partition_D %copy, %sA, %t
    %fromB = cute.tiled.copy.partition_S %copy, %B, %t
    %toB = cute.tiled.copy.partition_D %copy, %sB, %t
    cute.copy %copy, %fromA, %toA
    cute.copy %copy, %fromB, %toB
    cute_nvgpu.arch.fence_view_async_shared
    cute_nvgpu.arch.block_sync
    %atom = cute.make_atom : !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
    %mma = cute.make_tiled_mma %atom, "(1,1,1):(0,0,0)"
    %rA = cute.tiled.mma.partition_fragment A (%mma, %sA, 0)
    %rB = cute.tiled.mma.partition_fragment B (%mma, %sB, 0)
    %zero = arith.constant 0.0 : f32
    %true = arith.constant true
    %false = arith.constant false
    %c2 = arith.constant 2 : i32
    %mA = cute_nvgpu.atom.set_value(%mma, %true) {field = neg_a}
    %mB = cute_nvgpu.atom.set_value(%mma, %true) {field = neg_b}
    %mAB = cute_nvgpu.atom.set_value(%mA, %true) {field = neg_b}
    %back = cute_nvgpu.atom.set_value(%mAB, %false) {field = neg_a}
    %isB = cute_nvgpu.atom.get_value(%back) {field = neg_b}
    %isA = cute_nvgpu.atom.get_value(%back) {field = neg_a}
    %only = arith.cmpi ugt, %isB, %isA : i1
    %gC = cute.tiled.mma.partition C (%mma, %C, %t)
    %gD = cute.tiled.mma.partition C (%mma, %D, %t)
    %gE = cute.tiled.mma.partition C (%mma, %E, %t)
    %fC = cute.mma.make_fragment C (%mma, %gC)
    %fD = cute.mma.make_fragment C (%mma, %gD)
    %fE = cute.mma.make_fragment C (%mma, %gE)
    cute.fill %fC, %zero
    cute.fill %fD, %zero
    cute.fill %fE, %zero
    cute_nvgpu.arch.wgmma_fence
    cute.gemm %mA, %fC, %rA, %rB, %fC
    // The atom adds from the second iteration on; its sign is the same.
    %off = cute_nvgpu.atom.set_value(%mB, %false) {field = accum_c}
    %last = scf.for %i = %c0 to %c2 step %c1 iter_args(%now = %off) -> !mma : i32 {
      cute.gemm %now, %fD, %rA, %rB, %fD
      %next = cute_nvgpu.atom.set_value(%now, %only) {field = accum_c}
      scf.yield %next : !mma
    }
    cute.gemm %mAB, %fE, %rA, %rB, %fE
    cute_nvgpu.arch.wgmma_commit_group
    cute_nvgpu.arch.wgmma_wait_group {groups = 0 : i32}
    cute.copy %fC, %gC
    cute.copy %fD, %gD
    cute.copy %fE, %gE
    gpu.return
  }
}
func.func @k(%A: !h, %B: !h, %C: !s, %D: !s, %E: !s) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %bytes = arith.constant 16384 : i32
  gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%A : !h, %B : !h, %C : !s, %D : !s, %E : !s)
  return
}
}
