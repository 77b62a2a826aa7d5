// B = A for groups of matrices, each with its own address, extents and distance of rows: a block has one group, and gives its tensor maps
// the group's before it copies tiles of (64,64). `sizes` has rows and columns of each group and where its rows begin in A and B,
// in elements; `maps` is memory for two tensor maps a block.
!A = !cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64},1)">
!S = !cute.memref<i32, gmem, "(4,?):(1,4)">
!M = !cute.memref<i64, gmem, align<128>, "(16,2,?):(1,16,32)">
gpu.module @kernels {
  gpu.func @groups(%A: !A, %B: !A, %sizes: !S, %maps: !M) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %b = nvvm.read.ptx.sreg.ctaid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bytes = arith.constant 8192 : i32
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<bf16, smem, align<1024>, S<3,4,3>>
    %s = cute.make_view %smem, "((64,64)):((64,1))"
    %changed = cute.memref.alloca : !cute.memref<i64, smem, align<128>, "(16,2):(1,16)">
    %in = cute.get_iter %changed
    %out = cute.add_offset %in, 16
    %bars = cute.memref.alloca : !cute.memref<i64, smem, align<8>, "1:1">
    %bar = cute.get_iter %bars
    %is_first = arith.cmpi eq, %t, %c0 : i32
    %load, %cA = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%A, "S<3,4,3> o 0 o (64,64):(64,1)")
    %store, %cB = cute_nvgpu.atom.make_non_exec_tiled_tma_store(%B, "S<3,4,3> o 0 o (64,64):(64,1)")
    scf.if %is_first {
      cute_nvgpu.arch.mbarrier_init %bar, %c1
      cute_nvgpu.arch.mbarrier_init_fence
      cute_nvgpu.copy_tma_desc %load, %in
      cute_nvgpu.copy_tma_desc %store, %out
    }
    cute_nvgpu.arch.warp_sync

    // The group's tensors.
    %rows = cute.load %sizes[0, %b]
    %columns = cute.load %sizes[1, %b]
    %from = cute.load %sizes[2, %b]
    %into = cute.load %sizes[3, %b]
    %c8 = arith.constant 8 : i32
    %up = arith.ceildivsi %columns, %c8 : i32
    %pitch32 = arith.muli %up, %c8 : i32
    %pitch = arith.extsi %pitch32 : i32 to i64
    %shape = cute.make_shape(%rows, %columns)
    %stride = cute.make_stride(%pitch, 1)
    %layout = cute.make_layout(%shape, %stride)
    %pA = cute.get_iter %A
    %pB = cute.get_iter %B
    %begin_a = cute.add_offset %pA, %from
    %begin_b = cute.add_offset %pB, %into
    %gA = cute.make_view(%begin_a, %layout)
    %gB = cute.make_view(%begin_b, %layout)
    cute_nvgpu.update_tma_desc %load, %gA, %in
    cute_nvgpu.update_tma_desc %store, %gB, %out
    cute_nvgpu.arch.warp_sync
    %map_a = cute.slice %maps, (_, 0, %b)
    %map_b = cute.slice %maps, (_, 1, %b)
    %to_a = cute.get_iter %map_a
    %to_b = cute.get_iter %map_b
    cute_nvgpu.arch.cp_fence_tma_desc_release<{scope = "gpu"}> %to_a, %in
    cute_nvgpu.arch.cp_fence_tma_desc_release<{scope = "gpu"}> %to_b, %out
    cute_nvgpu.arch.fence_proxy_tensormap<{order = "acquire", scope = "gpu"}> %to_a
    cute_nvgpu.arch.fence_proxy_tensormap<{order = "acquire", scope = "gpu"}> %to_b
    %desc_a = cute.recast_iter %to_a : !cute_nvgpu.tma_descriptor_tiled
    %desc_b = cute.recast_iter %to_b : !cute_nvgpu.tma_descriptor_tiled
    %load0 = cute_nvgpu.atom.make_exec_tma %load
    %load1 = cute_nvgpu.atom.set_value(%load0, %desc_a) {field = tma_descriptor_ptr}
    %loads = cute_nvgpu.atom.set_value(%load1, %bar) {field = tma_bar}
    %store0 = cute_nvgpu.atom.make_exec_tma %store
    %stores = cute_nvgpu.atom.set_value(%store0, %desc_b) {field = tma_descriptor_ptr}

    // Coordinates know nothing of extents: tiles beyond A's would be all right.
    %tA = cute.local_tile %cA, (64, 64), (_, _)
    %tB = cute.local_tile %cB, (64, 64), (_, _)
    %tiles_a = cute.group_modes<0,2> %tA
    %tiles_b = cute.group_modes<0,2> %tB
    %to, %tAg = cute_nvgpu.atom.tma_partition(%load, 0, "1:0", %s, %tiles_a)
    %back, %tBg = cute_nvgpu.atom.tma_partition(%store, 0, "1:0", %s, %tiles_b)
    %c64 = arith.constant 64 : i32
    %m = arith.ceildivsi %rows, %c64 : i32
    %n = arith.ceildivsi %columns, %c64 : i32
    %tiles = arith.muli %m, %n : i32
    %phase = scf.for %i = %c0 to %tiles step %c1 iter_args(%p = %c0) -> i32 : i32 {
      %im = arith.divui %i, %n : i32
      %in_n = arith.remui %i, %n : i32
      scf.if %is_first {
        cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %bar, %bytes
      }
      cute_nvgpu.arch.warp_sync
      cute.copy %loads, %tAg[_, %im, %in_n], %to
      cute_nvgpu.arch.mbarrier_wait %bar, %p
      cute.copy %stores, %back, %tBg[_, %im, %in_n]
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0 {read}
      %next = arith.subi %c1, %p : i32
      scf.yield %next : i32
    }
    nvvm.cp.async.bulk.wait_group 0
    gpu.return
  }
}
func.func @main(%A: !A {cute.name = "A"}, %B: !A {cute.name = "B"}, %sizes: !S {cute.name = "sizes"}, %maps: !M {cute.name = "maps"}) {
  %layout = cute.get_layout %sizes
  %count = cute.size<[1]> %layout
  %n = cute.get_scalars %count
  %gx = arith.index_cast %n : i32 to index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %smem = arith.constant 8192 : i32
  gpu.launch_func @kernels::@groups blocks in (%gx, %c1, %c1) threads in (%c32, %c1, %c1) dynamic_shared_memory_size %smem
    args(%A : !A, %B : !A, %sizes : !S, %maps : !M)
  return
}
