// An accumulator of wgmma that comes out of scf.if, scf.for, scf.while and arith.select: it stays in its registers, whichever way
// is taken. N says at run time how often A B^T is added.
// arch: sm_90a
// run: -p k --tensor N=i32:1:ones --tensor A=f16:64x64:normal --tensor B=f16:64x64:normal --tensor C=f32:64x64 --expect 'C=4*sum(q,A[i,q]*B[j,q])'
// run: -p k --tensor N=i32:1:zeros --tensor A=f16:64x64:normal --tensor B=f16:64x64:normal --tensor C=f32:64x64 --expect 'C=sum(q,A[i,q]*B[j,q])'
!h = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!acc = !cute.memref<f32, rmem, align<128>, "((2,2,8),1,1):((1,2,4),0,0)">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @k(%N: !cute.memref<i32, gmem, "(1):(1)">, %A: !h, %B: !h, %C: !cute.memref<f32, gmem, align<16>, "(64,64):(64,1)">)
      kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %n = cute.load %N[%c0]
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
    %gC = cute.tiled.mma.partition C (%mma, %C, %t)
    %acc = cute.mma.make_fragment C (%mma, %gC)
    %rA = cute.tiled.mma.partition_fragment A (%mma, %sA, 0)
    %rB = cute.tiled.mma.partition_fragment B (%mma, %sB, 0)
    %zero = arith.constant 0.0 : f32
    cute.fill %acc, %zero
    %some = arith.cmpi ne, %n, %c0 : i32
    // Two that begin with one accumulator change places.
    cute_nvgpu.arch.wgmma_fence
    %looped, %other = scf.for %i = %c0 to %n step %c1 iter_args(%a = %acc, %b = %acc) -> (!acc, !acc) : i32 {
      cute.gemm %mma, %a, %rA, %rB, %a
      scf.yield %b, %a : !acc, !acc
    }
    %chosen = scf.if %some -> !acc {
      cute.gemm %mma, %looped, %rA, %rB, %looped
      scf.yield %looped : !acc
    } else {
      scf.yield %other : !acc
    }
    %last, %count = scf.while (%a = %chosen, %i = %c0) : (!acc, i32) -> (!acc, i32) {
      %goes_on = arith.cmpi slt, %i, %n : i32
      scf.condition(%goes_on) %a, %i : !acc, i32
    } do {
    ^bb0(%a: !acc, %i: i32):
      %next = arith.addi %i, %c1 : i32
      cute.gemm %mma, %a, %rA, %rB, %a
      scf.yield %a, %next : !acc, i32
    }
    %any = arith.select %some, %last, %looped : !acc
    cute.gemm %mma, %any, %rA, %rB, %any
    cute_nvgpu.arch.wgmma_commit_group
    cute_nvgpu.arch.wgmma_wait_group {groups = 0 : i32}
    cute.copy %any, %gC
    gpu.return
  }
}
func.func @k(%N: !cute.memref<i32, gmem, "(1):(1)">, %A: !h, %B: !h, %C: !cute.memref<f32, gmem, align<16>, "(64,64):(64,1)">) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %bytes = arith.constant 16384 : i32
  gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%N : !cute.memref<i32, gmem, "(1):(1)">, %A : !h, %B : !h, %C : !cute.memref<f32, gmem, align<16>, "(64,64):(64,1)">)
  return
}
}
