// Y[b] = X[b] + W for matrices of 64 by 64. The four blocks of a cluster need the same W: each loads 16 rows of it by TMA, and
// multicasts them to the shared memory of all four.
!X = !cute.memref<f32, gmem, align<16>, "(?,64,64):(4096,64,1)">
!W = !cute.memref<f32, gmem, align<16>, "(64,64):(64,1)">

gpu.module @kernels {
  gpu.func @add(%X: !X, %W: !W, %Y: !X) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>, nvvm.cluster_dim = array<i32: 4, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %b = nvvm.read.ptx.sreg.ctaid.x : i32
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %is_first = arith.cmpi eq, %t, %c0 : i32

    // W in shared memory, at the same offset in each block, and the mbarrier that counts its bytes.
    %p = cute.alloc_smem f32, "(64,64):(64,1)" {align = 1024}
    %s = cute.group_modes<0,2> %p
    %barrier = cute.alloc_smem i64, 1
    %full = cute.get_iter %barrier

    // A load of W that four blocks share, and this block's part: 16 rows of source and destination.
    %load, %cW = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%W, "(64,64):(64,1)") {kind = #cute_nvgpu.tiled_tma_load<sm_90>, num_multicast = 4 : i32}
    %gW = cute.group_modes<0,2> %cW
    %to, %from = cute_nvgpu.atom.tma_partition(%load, %rank, "4:1", %s, %gW)

    // Expect 16384 bytes from all four blocks.
    %bytes = arith.constant 16384 : i32
    scf.if %is_first {
      cute_nvgpu.arch.mbarrier_init %full, 1
      cute_nvgpu.arch.mbarrier_init_fence
      cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %full, %bytes
    }
    // No block may send before the others' mbarriers are initialized.
    cute_nvgpu.arch.cluster_arrive
    cute_nvgpu.arch.cluster_wait
    %warp = arith.constant 32 : i32
    %in_warp = arith.cmpi ult, %t, %warp : i32
    scf.if %in_warp {
      %all = arith.constant 15 : i16
      %exec = cute_nvgpu.atom.make_exec_tma %load
      %cast = cute_nvgpu.atom.set_value(%exec, %all) {field = mcast_mask}
      %atom = cute_nvgpu.atom.set_value(%cast, %full) {field = tma_bar}
      cute.copy %atom, %from, %to
    }
    cute_nvgpu.arch.mbarrier_wait %full, %c0

    // The block's matrix, four elements per thread at a time.
    %vector = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32, 128 b>
    %copy = cute.make_tiled_copy %vector, "(8,16):(16,1)", "(1,4):(4,1)"
    %x = cute.tiled.copy.partition_S %copy, %X[%b, _, _], %t
    %w = cute.tiled.copy.partition_S %copy, %p, %t
    %y = cute.tiled.copy.partition_D %copy, %Y[%b, _, _], %t
    %rx = cute.make_fragment_like %x
    %rw = cute.make_fragment_like %w
    cute.copy %copy, %x, %rx
    cute.copy %copy, %w, %rw
    %vx = cute.memref.load_vec %rx
    %vw = cute.memref.load_vec %rw
    %sum = arith.addf %vx, %vw : vector<32xf32>
    cute.memref.store_vec %sum, %rx
    cute.copy %copy, %rx, %y
    gpu.return
  }
}
