// Each block of a cluster brings half of a tile for both, whether its part still comes from tma_partition or is an address already:
// the barrier behind the tile is not written.
// RUN: cute-opt %s --cute-atom-validation="arch=sm_90a static-checks=strict" -o /dev/null
// RUN: cute-opt %s --cute-expand-ops -o %t.mlir
// RUN: cute-opt %t.mlir --cute-atom-validation="arch=sm_90a static-checks=strict" -o /dev/null

!A = !cute.memref<f32, gmem, align<16>, "(?,?):(?{i64 div=4},1)">
!O = !cute.memref<f32, gmem, align<16>, "(?,?,2):(?{i64 div=4},1,?{i64 div=4})">
gpu.module @m {
  gpu.func @mc(%A: !A, %O: !O) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %bx = nvvm.read.ptx.sreg.ctaid.x : i32
    %by = nvvm.read.ptx.sreg.ctaid.y : i32
    %rank = cute_nvgpu.arch.block_idx_in_cluster
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c32 = arith.constant 32 : i32
    %tm = arith.divui %bx, %c2 : i32
    %bytes = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %p = cute.recast_iter %bytes : f32
    %bytesM = cute.add_offset %bytes, ${64*32*4}
    %bar = cute.recast_iter %bytesM : i64
    %sA = cute.make_view %p, "(64,32):(32,1)"
    %tl = cute.static "(64,32):(32,1)"
    %la, %ca = cute_nvgpu.atom.make_non_exec_tiled_tma_load<{kind = #cute_nvgpu.tiled_tma_load<sm_90>, num_multicast = 2 : i32}> (%A, %tl)
    %gA = cute.local_tile %ca, (64, 32), (%tm, %by)
    %is0 = arith.cmpi eq, %tid, %c0 : i32
    scf.if %is0 {
      cute_nvgpu.arch.mbarrier_init %bar, 1
      cute_nvgpu.arch.mbarrier_init_fence
      cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %bar, ${64*32*4}
    }
    cute_nvgpu.arch.cluster_arrive
    cute_nvgpu.arch.cluster_wait
    %w0 = arith.cmpi ult, %tid, %c32 : i32
    scf.if %w0 {
      %gAg = cute.group_modes<0, 2>(%gA)
      %sAg = cute.group_modes<0, 2>(%sA)
      %ts, %tg = cute_nvgpu.atom.tma_partition %la, %rank, "2:1", %sAg, %gAg
      %xa = cute_nvgpu.atom.make_exec_tma(%la)
      %x2 = cute_nvgpu.atom.set_value(%xa, %bar) {field = tma_bar}
      %mask = arith.constant 3 : i16
      %x3 = cute_nvgpu.atom.set_value(%x2, %mask) {field = mcast_mask}
      cute.copy %x3, %tg, %ts
    }
    cute_nvgpu.arch.mbarrier_wait %bar, 0
    %Or = cute.slice %O, (_, _, %rank)
    %gO = cute.local_tile %Or, (64, 32), (%tm, %by)
    %iO = cute.make_identity_tensor %Or
    %cO = cute.local_tile %iO, (64, 32), (%tm, %by)
    %a = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32, 128 b>
    %cp = cute.make_tiled_copy %a, "(16,8):(8,1)", "(1,4):(0,1)"
    %s = cute.tiled.copy.partition_S %cp, %sA, %tid
    %d = cute.tiled.copy.partition_D %cp, %gO, %tid
    %dc = cute.tiled.copy.partition_D %cp, %cO, %tid
    %r = cute.make_fragment_like %s
    cute.copy %cp, %s, %r
    %v = cute.memref.load_vec %r
    %rf = arith.sitofp %rank : i32 to f32
    %rv = vector.broadcast %rf : f32 to vector<16xf32>
    %v2 = arith.addf %v, %rv : vector<16xf32>
    cute.memref.store_vec %v2, %r
    %pr = cute.predicate %dc, %Or
    cute.copy %cp, %r, %d, %pr
    cute_nvgpu.arch.cluster_arrive
    cute_nvgpu.arch.cluster_wait
    gpu.return
  }
}
