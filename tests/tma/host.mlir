// B = A from row 32 on: the kernel's tensor begins behind its argument's, so the host has to compute it for the map.
!A = !cute.memref<f32, gmem, align<16>, "(?,64):(64,1)">
gpu.module @kernels {
  gpu.func @copy(%A: !A, %B: !A) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %b = nvvm.read.ptx.sreg.ctaid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bytes = arith.constant 8192 : i32
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<f32, smem, align<1024>, S<3,4,3>>
    %bars = cute.memref.alloca : !cute.memref<i64, smem, align<8>, "1:1">
    %bar = cute.get_iter %bars
    %first = arith.cmpi eq, %t, %c0 : i32
    scf.if %first {
      cute_nvgpu.arch.mbarrier_init %bar, %c1
      cute_nvgpu.arch.mbarrier_init_fence
      cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %bar, %bytes
    }
    cute_nvgpu.arch.warp_sync
    %from = cute.get_iter %A
    %later = cute.add_offset %from, 2048
    %shape = cute.make_shape(64, 64)
    %stride = cute.make_stride(64, 1)
    %layout = cute.make_layout(%shape, %stride)
    %rows = cute.make_view(%later, %layout)
    %tile = cute.static : !cute.composed_layout<"S<3,4,3> o 0 o (32,(32,2)):(32,(1,1024))">
    %load, %cA = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%rows, %tile)
    %store, %cB = cute_nvgpu.atom.make_non_exec_tiled_tma_store(%B, %tile)
    %at = cute.make_coord(%b, 0)
    %gA = cute.local_tile(%cA, (32, 64), %at)
    %gB = cute.local_tile(%cB, (32, 64), %at)
    %gA1 = cute.group_modes<0,2> %gA
    %gB1 = cute.group_modes<0,2> %gB
    %sA = cute.make_view %smem, "((32,(32,2))):((32,(1,1024)))"
    %zero = cute.make_coord(0)
    %one = cute.static : !cute.layout<"1:0">
    %tAsA, %tAgA = cute_nvgpu.atom.tma_partition(%load, %zero, %one, %sA, %gA1)
    %tBsB, %tBgB = cute_nvgpu.atom.tma_partition(%store, %zero, %one, %sA, %gB1)
    %exec = cute_nvgpu.atom.make_exec_tma %load
    %atom = cute_nvgpu.atom.set_value(%exec, %bar) {field = tma_bar}
    cute.copy %atom, %tAgA, %tAsA
    cute_nvgpu.arch.mbarrier_wait %bar, %c0
    %out = cute_nvgpu.atom.make_exec_tma %store
    cute.copy %out, %tBsB, %tBgB
    cute_nvgpu.arch.cp_async_bulk_commit_group
    nvvm.cp.async.bulk.wait_group 0
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
