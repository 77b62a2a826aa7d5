// Operations of Hopper under names that pages on CuTe have.
// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-ptx -arch sm_90a %s | FileCheck %s --check-prefix=PTX

// A box of 64x64 of f16, with a swizzle.
// CHECK-LABEL: gpu.func @boxes
// CHECK-SAME: !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
// PTX-LABEL: .entry boxes
gpu.module @m {
  memref.global "private" @tile : memref<64x64xf16, 3>
  gpu.func @boxes(%map: !cute_nvgpu.tma_load<64x64xf16, 128B>, %x: i32) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    // CHECK: %[[AT:.*]] = arith.index_cast %{{.*}} : i32 to index
    %smem = memref.get_global @tile : memref<64x64xf16, 3>
    %barrier = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
    // CHECK: nvgpu.tma.async.load %{{.*}}[%[[ZERO:.*]], %[[ZERO2:.*]]], %{{.*}}[%{{.*}}] to %
    // PTX: cp.async.bulk.tensor.2d.shared::cluster.global
    cute_nvgpu.tma_load_execute %map, %smem, %barrier
    // CHECK: nvgpu.tma.async.load %{{.*}}[%{{.*}}, %[[AT]]], %
    // PTX: cp.async.bulk.tensor.2d.shared::cluster.global
    cute_nvgpu.tma_load_execute %map[64, %x], %smem, %barrier
    gpu.return
  }
  // CHECK-LABEL: gpu.func @names
  // PTX-LABEL: .entry names
  gpu.func @names(%bar: !cute.ptr<i64, smem>, %phase: i32) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    // CHECK: %[[PHASE:.*]] = arith.constant 0 : i32
    // CHECK: cute_nvgpu.arch.mbarrier_init(
    cute_nvgpu.mbarrier_init %bar, 1
    // CHECK: cute_nvgpu.arch.mbarrier_init_fence
    cute_nvgpu.mbarrier_init_fence
    // CHECK: cute_nvgpu.arch.mbarrier_arrive_and_expect_tx(
    cute_nvgpu.mbarrier_arrive_and_expect_tx %bar, 4096
    // Of the first phase, and of another one.
    // CHECK: cute_nvgpu.arch.mbarrier_wait (%{{.*}}, %[[PHASE]])
    cute_nvgpu.mbarrier_wait %bar
    // CHECK: cute_nvgpu.arch.mbarrier_wait (%{{.*}}, %arg1)
    cute_nvgpu.mbarrier_wait %bar, %phase
    // CHECK: cute_nvgpu.arch.barrier_cluster
    // PTX: barrier.cluster.arrive.aligned
    // PTX: barrier.cluster.wait.aligned
    cute_nvgpu.barrier_cluster
    // CHECK: cute_nvgpu.arch.barrier_cluster
    cute_nvgpu.barrier_cluster()
    // CHECK: nvvm.cluster.arrive
    nvvm.barrier_cluster_arrive
    // CHECK: nvvm.cluster.wait
    nvvm.barrier_cluster_wait
    // CHECK: cute_nvgpu.arch.cluster_arrive{{.*}}relaxed
    cute_nvgpu.arch.cluster_arrive_relaxed
    // CHECK: cute_nvgpu.arch.cluster_wait
    cute_nvgpu.arch.cluster_wait
    // CHECK: cute_nvgpu.arch.fence<acq_rel, cta>
    // PTX: fence.acq_rel.cta
    nvvm.fence.acq_rel.cta
    // CHECK: cute_nvgpu.arch.fence<acq_rel, cluster>
    // PTX: fence.acq_rel.cluster
    nvvm.fence.acq_rel.cluster
    // CHECK: cute_nvgpu.arch.fence<acq_rel, gpu>
    cute_nvgpu.arch.fence_acq_rel_gpu
    // CHECK: cute_nvgpu.arch.fence<acq_rel, sys>
    cute_nvgpu.arch.fence_acq_rel_sys()
    // CHECK: cute_nvgpu.arch.setmaxregister_increase<232>
    cute_nvgpu.arch.warpgroup_reg_alloc<232>
    // CHECK: cute_nvgpu.arch.setmaxregister_decrease<40>
    cute_nvgpu.arch.warpgroup_reg_dealloc<40>
    gpu.return
  }
}
