// B = A for tensors of 7 modes, of which a tensor map counts the slowest by one dimension: their strides are known, and theirs
// are no multiples of each other. A block copies a tile of the first two modes for all coordinates of the others.
!A = !cute.memref<f16, gmem, align<16>, "(?,64,2,3,?,4,2):(64,1,65536,131072,?{i64},16384,400000)">
gpu.module @kernels {
  gpu.func @copy(%A: !A, %B: !A) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %b = nvvm.read.ptx.sreg.ctaid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bytes = arith.constant 8192 : i32
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
    %bars = cute.memref.alloca : !cute.memref<i64, smem, align<8>, "1:1">
    %bar = cute.get_iter %bars
    %first = arith.cmpi eq, %t, %c0 : i32
    scf.if %first {
      cute_nvgpu.arch.mbarrier_init %bar, %c1
      cute_nvgpu.arch.mbarrier_init_fence
    }
    cute_nvgpu.arch.warp_sync
    %load, %cA = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%A, "S<3,4,3> o 0 o (64,64):(64,1)") {l2_promotion = "256B"}
    %store, %cB = cute_nvgpu.atom.make_non_exec_tiled_tma_store(%B, "S<3,4,3> o 0 o (64,64):(64,1)") {l2_promotion = "none"}
    %gA = cute.local_tile(%cA, (64, 64, 1, 1, 1, 1, 1), (%b, 0, _, _, _, _, _))
    %gB = cute.local_tile(%cB, (64, 64, 1, 1, 1, 1, 1), (%b, 0, _, _, _, _, _))
    %gA1 = cute.group_modes<0,7> %gA
    %gB1 = cute.group_modes<0,7> %gB
    %s = cute.make_view %smem, "((64,64)):((64,1))"
    %to, %from = cute_nvgpu.atom.tma_partition(%load, 0, "1:0", %s, %gA1)
    %out, %into = cute_nvgpu.atom.tma_partition(%store, 0, "1:0", %s, %gB1)
    %loads = cute_nvgpu.atom.make_exec_tma %load
    %stores = cute_nvgpu.atom.make_exec_tma %store
    %layout = cute.get_layout %gA1
    %all = cute.size<[3]> %layout
    %middle = cute.get_scalars %all
    %c48 = arith.constant 48 : i32
    %steps = arith.muli %middle, %c48 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %phase = scf.for %i = %c0 to %steps step %c1 iter_args(%p = %c0) -> i32 : i32 {
      %i0 = arith.remui %i, %c2 : i32
      %r0 = arith.divui %i, %c2 : i32
      %i1 = arith.remui %r0, %c3 : i32
      %r1 = arith.divui %r0, %c3 : i32
      %i3 = arith.remui %r1, %c4 : i32
      %r3 = arith.divui %r1, %c4 : i32
      %i4 = arith.remui %r3, %c2 : i32
      %i2 = arith.divui %r3, %c2 : i32
      scf.if %first {
        cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %bar, %bytes
      }
      cute_nvgpu.arch.warp_sync
      %atom = cute_nvgpu.atom.set_value(%loads, %bar) {field = tma_bar}
      cute.copy %atom, %from[_, %i0, %i1, %i2, %i3, %i4], %to
      cute_nvgpu.arch.mbarrier_wait %bar, %p
      cute.copy %stores, %out, %into[_, %i0, %i1, %i2, %i3, %i4]
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
      %next = arith.subi %c1, %p : i32
      scf.yield %next : i32
    }
    gpu.return
  }
}
func.func @main(%A: !A {cute.name = "A"}, %B: !A {cute.name = "B"}) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %smem = arith.constant 8192 : i32
  gpu.launch_func @kernels::@copy blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1) dynamic_shared_memory_size %smem args(%A : !A, %B : !A)
  return
}
