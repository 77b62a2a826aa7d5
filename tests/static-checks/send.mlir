// Two blocks send each other four numbers a thread by st.async, and add what comes. The barrier of the cluster orders the mbarrier's
// initialisation for them: st.async accesses it through the generic proxy.
!t = !cute.memref<f32, gmem, align<16>, "(4,64,2):(1,4,256)">
gpu.module @kernels {
  gpu.func @swap(%X: !t, %Y: !t) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %rank = cute_nvgpu.arch.block_idx_in_cluster
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32 // @two
    %bytes = arith.constant 1024 : i32 // @bytes
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<f32, smem, align<1024>>
    %inbox = cute.make_view %smem, "(4,64):(1,4)"
    %behind = cute.add_offset %smem, 256 // @barrier-place
    %all = cute.recast_iter %behind : i64
    %is_first = arith.cmpi eq, %t, %c0 : i32
    scf.if %is_first {
      cute_nvgpu.arch.mbarrier_init %all, %c1 // @init
      cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %all, %bytes // @expect
    }
    cute_nvgpu.arch.barrier_cluster // @cluster-sync
    %other = arith.subi %c1, %rank : i32 // @other
    %own = cute.slice %X, (_, %t, %rank)
    %four = cute.memref.load_vec %own
    %mine = cute.slice %inbox, (_, %t)
    %place = cute.get_iter %mine
    cute_nvgpu.arch.st_async %four, %place, %all, %other // @send
    cute_nvgpu.arch.mbarrier_wait<cluster> %all, %c0 // @wait
    %came = cute.memref.load_vec %inbox[_, 0] // @read
    %sum = arith.addf %four, %came : vector<4xf32>
    %result = cute.slice %Y, (_, %t, %rank)
    cute.memref.store_vec %sum, %result
    gpu.return
  }
}
