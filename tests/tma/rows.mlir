// One tile of A is read: what a launch says where A's rows have a stride that no tensor map takes.
!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
gpu.module @kernels {
  gpu.func @rows(%A: !A) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
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
      cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %bar, %bytes
    }
    cute_nvgpu.arch.warp_sync
    %load, %cA = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%A, "S<3,4,3> o 0 o (64,64):(64,1)")
    %gA = cute.local_tile(%cA, (64, 64), (0, 0))
    %gA1 = cute.group_modes<0,2> %gA
    %sA = cute.make_view %smem, "((64,64)):((64,1))"
    %zero = cute.make_coord(0)
    %one = cute.static : !cute.layout<"1:0">
    %tAsA, %tAgA = cute_nvgpu.atom.tma_partition(%load, %zero, %one, %sA, %gA1)
    %exec = cute_nvgpu.atom.make_exec_tma %load
    %atom = cute_nvgpu.atom.set_value(%exec, %bar) {field = tma_bar}
    cute.copy %atom, %tAgA, %tAsA
    cute_nvgpu.arch.mbarrier_wait %bar, %c0
    gpu.return
  }
}
