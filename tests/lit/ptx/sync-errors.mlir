// Operations on mbarriers and clusters that an architecture lacks.
// RUN: not cute-ptx -arch sm_80 %s 2>&1 | FileCheck %s
// RUN: not cute-ptx -arch sm_75 %s 2>&1 | FileCheck %s --check-prefix=TURING
// RUN: not cute-ptx -arch sm_90 %s 2>&1 | FileCheck %s --check-prefix=PLAIN

// PLAIN-NOT: mbarrier
// PLAIN: error: 'cute_nvgpu.arch.wgmma_fence' op needs sm_90a, got sm_90
// PLAIN: error: 'cute_nvgpu.arch.setmaxregister_increase' op needs sm_90a or a later architecture-specific one, got sm_90
gpu.module @m {
  gpu.func @k(%bar: !cute.ptr<i64, smem>, %s: !cute.ptr<f32, smem>, %n: i32, %x: f32) kernel {
    // TURING: error: 'cute_nvgpu.arch.mbarrier_init' op needs sm_80, got sm_75
    cute_nvgpu.arch.mbarrier_init %bar, %n
    // CHECK-NOT: error
    // CHECK: sync-errors.mlir:[[@LINE+1]]:5: error: 'cute_nvgpu.arch.mbarrier_init_fence' op needs sm_90, got sm_80
    cute_nvgpu.arch.mbarrier_init_fence
    cute_nvgpu.arch.mbarrier_arrive %bar
    // CHECK: error: 'cute_nvgpu.arch.mbarrier_arrive' op needs sm_90 for a count or another block's mbarrier, got sm_80
    cute_nvgpu.arch.mbarrier_arrive<2> %bar
    // CHECK: error: 'cute_nvgpu.arch.mbarrier_arrive_and_expect_tx' op needs sm_90, got sm_80
    cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %bar, %n
    // CHECK: error: 'cute_nvgpu.arch.mbarrier_wait' op needs sm_90, got sm_80
    cute_nvgpu.arch.mbarrier_wait %bar, %n
    %t = cute_nvgpu.arch.mbarrier_test_wait %bar, %n
    // CHECK-NOT: mbarrier_test_wait' op needs sm_90, got
    // CHECK: error: 'cute_nvgpu.arch.mbarrier_test_wait' op needs sm_90 for a scope, got sm_80
    %u = cute_nvgpu.arch.mbarrier_test_wait<cluster> %bar, %n
    cute_nvgpu.arch.cp_async_mbarrier_arrive %bar
    // CHECK-NOT: mbarrier_arrive'
    // CHECK: error: 'cute_nvgpu.arch.cp_async_bulk_commit_group' op needs sm_90, got sm_80
    cute_nvgpu.arch.cp_async_bulk_commit_group
    // CHECK: error: 'cute_nvgpu.arch.wgmma_fence' op needs sm_90a, got sm_80
    cute_nvgpu.arch.wgmma_fence
    // CHECK: error: 'cute_nvgpu.arch.setmaxregister_increase' op needs sm_90a or a later architecture-specific one, got sm_80
    cute_nvgpu.arch.setmaxregister_increase<240>
    // CHECK: error: 'cute_nvgpu.arch.fence_proxy' op needs sm_90, got sm_80
    cute_nvgpu.arch.fence_proxy<async>
    // CHECK: error: 'cute_nvgpu.arch.fence' op needs sm_90 for the scope 'cluster', got sm_80
    cute_nvgpu.arch.fence<acq_rel, cluster>
    // CHECK: error: 'cute_nvgpu.arch.barrier_cluster' op needs sm_90, got sm_80
    cute_nvgpu.arch.barrier_cluster
    // CHECK: error: 'cute_nvgpu.arch.map_dsmem_ptr' op needs sm_90, got sm_80
    %p = cute_nvgpu.arch.map_dsmem_ptr %s, %n
    // CHECK: error: 'cute_nvgpu.arch.st_async' op needs sm_90, got sm_80
    cute_nvgpu.arch.st_async %x, %s, %bar, %n
    // CHECK: error: 'cute_nvgpu.arch.griddepcontrol_wait' op needs sm_90, got sm_80
    cute_nvgpu.arch.griddepcontrol_wait
    // CHECK: error: 'cute_nvgpu.arch.elect_one' op needs sm_90, got sm_80
    %e = cute_nvgpu.arch.elect_one
    gpu.return
  }
}
