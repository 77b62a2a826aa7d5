// Operations of Hopper under names that pages on CuTe have.
// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-ptx -arch sm_90a --static-checks=off %s | FileCheck %s --check-prefix=PTX

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

// A product of tiles in shared memory, done behind it.
// CHECK-LABEL: gpu.func @products
// PTX-LABEL: .entry products
gpu.module @p {
  gpu.func @products(%C: !cute.memref<f32, gmem, align<16>, "(128,64):(64,1)">) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %p = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
    %words = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i64, smem, align<1024>>
    %bar = cute.add_offset %words, 3072
    %q = cute.add_offset %p, 8192
    %sA = cute.make_view %p, "(128,64):(64,1)"
    %sB = cute.make_view %q, "(64,64):(64,1)"
    %atom = cute.make_atom : !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
    %mma = cute.make_tiled_mma %atom, "(1,1,1):(0,0,0)"
    %gC = cute.tiled.mma.partition C (%mma, %C, %t)
    %acc = cute.mma.make_fragment C (%mma, %gC)
    %zero = arith.constant 0.0 : f32
    cute.fill %acc, %zero
    // CHECK: %[[A:.*]] = cute.mma.make_fragment A
    // CHECK: %[[B:.*]] = cute.mma.make_fragment B
    // CHECK: %[[D:.*]] = cute_nvgpu.arch.warpgroup_mma(%{{.*}}, %[[A]], %[[B]], %[[C:.*]], %[[BAR:.*]]) : (!cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
    // 2 of M times 4 of K.
    // PTX: wgmma.fence
    // PTX-COUNT-8: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
    // PTX: wgmma.commit_group
    // PTX: wgmma.wait_group.sync.aligned 0
    // PTX: mbarrier.arrive.shared::cta.b64
    %d = cute_nvgpu.warpgroup_mma %sA, %sB, %acc, %bar : !cute_nvgpu.tiled_mma<128,64,64>
    // CHECK: %[[E:.*]] = cute_nvgpu.arch.warpgroup_mma(%{{.*}}, %{{.*}}, %{{.*}}, %[[D]]) :
    %e = nvgpu.warpgroup_mma %sA, %sB, %d {m = 128, n = 64, k = 64}
    // CHECK: cute_nvgpu.arch.mbarrier_arrive (%[[BAR]])
    nvgpu.mbarrier.arrive %bar
    // Fragments, and M contiguous; no type, no mbarrier.
    %rA = cute.tiled.mma.partition_fragment A (%mma, %sA, 0)
    %rB = cute.tiled.mma.partition_fragment B (%mma, %sB, 0)
    // CHECK: %[[F:.*]] = cute_nvgpu.arch.warpgroup_mma(%{{.*}}, %{{.*}}, %{{.*}}, %[[E]]) :
    %f = cute_nvgpu.warpgroup_mma %rA, %rB, %e : !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
    %sAm = cute.make_view %p, "((64,2),64):((1,4096),64)"
    // CHECK: sm90.mma<64x64x16, ab_major = (mn, k)
    // CHECK: cute_nvgpu.arch.warpgroup_mma
    %g = cute_nvgpu.warpgroup_mma %sAm, %sB, %f
    // CHECK: cute_nvgpu.arch.copy.ldsm<{matrix_shape = #cute.shape<"(8,8)">, num_matrices = 4
    %x = nvgpu.ldmatrix %words : !nvgpu.matrix<16x16xf16>
    cute.copy %g, %gC
    gpu.return
  }
  // A box at a place, and at the beginning.
  // CHECK-LABEL: gpu.func @boxes_of_atoms
  // PTX-LABEL: .entry boxes_of_atoms
  gpu.func @boxes_of_atoms(%X: !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">, %i: i32) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %p = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<f16, smem, align<1024>>
    %words = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i64, smem, align<1024>>
    %bar = cute.add_offset %words, 1024
    %tile = cute.make_view %p, "(64,64):(64,1)"
    %layout = cute.static : !cute.layout<"(64,64):(64,1)">
    %tma, %all = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%X, %layout)
    cute_nvgpu.mbarrier_init %bar, 1
    cute_nvgpu.mbarrier_init_fence
    cute_nvgpu.mbarrier_arrive_and_expect_tx %bar, 16384
    // The mode of rows is the second coordinate.
    // CHECK-DAG: cute.make_int_tuple(%arg1) : (i32) -> !cute.int_tuple<"(64,?)">
    // CHECK-DAG: cute.static : !cute.int_tuple<"(0,0)">
    // PTX: cp.async.bulk.tensor.2d.shared::cluster.global
    cute_nvgpu.tma_load_execute %tma, %tile, %bar
    // PTX: cp.async.bulk.tensor.2d.shared::cluster.global
    cute_nvgpu.tma_load_execute %tma[%i, 64], %tile, %bar
    cute_nvgpu.mbarrier_wait %bar
    gpu.return
  }
}

// CHECK-LABEL: func.func @descriptors
func.func @descriptors(%a: !nvgpu.warpgroup.descriptor<tensor = memref<128x64xf16, 3>>, %b: !nvgpu.warpgroup.descriptor<tensor = memref<64x128xf16, 3>>, %barrier: !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>) {
  // CHECK-DAG: %[[C:.*]] = nvgpu.warpgroup.mma.init.accumulator
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
  %c = nvgpu.warpgroup.mma.init.accumulator -> !nvgpu.warpgroup.accumulator<fragmented = vector<128x128xf32>>
  // CHECK: %[[D:.*]] = nvgpu.warpgroup.mma %arg0, %arg1, %[[C]] {waitGroup = 0 : i32}
  %d = nvgpu.warpgroup_mma %a, %b, %c {m = 128, n = 128, k = 64}
  // CHECK: nvgpu.warpgroup.mma %arg0, %arg1, %[[D]]
  %e = cute_nvgpu.warpgroup_mma %a, %b, %d
  // CHECK: nvgpu.mbarrier.arrive %arg2[%[[ZERO]]]
  nvgpu.mbarrier.arrive %barrier
  return
}
