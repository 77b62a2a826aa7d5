// Warpgroups that divide the columns of sums combine parts of rows: in shared memory of their own, each warp with the corresponding one of the other
// warpgroup. They vote on a branch by their parts of the sums, which they take together; it may have such reductions.
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=2},cute-tile-layouts{arch=sm_90a},cute-tile-lane-sums,cute-tile-rare)' | FileCheck %s
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=2},cute-tile-layouts{arch=sm_90a},cute-tile-lane-sums,cute-tile-rare,cute-async-pipeline{arch=sm_90a},cute-tile-exchange,cute-async-products,cute-warp-specialization,cute-tile-overlap,cute-tile-skew,cute-tile-distribute{arch=sm_90a})' | FileCheck %s --check-prefix=LOWER
// RUN: cute-ptx -arch sm_90a --schedule="stages=2 consumers=2" %s | cute-link -o %t.cubin
!Q = !cute.memref<bf16, gmem, align<16>, "(?,512):(512,1)">
!O = !cute.memref<f32, gmem, align<16>, "(?,512):(512,1)">
!s = tensor<64x64xf32>
!o = tensor<64x512xf32>
!r = tensor<64x1xf32>
gpu.module @m {
  // CHECK-LABEL: gpu.func @parts
  // CHECK:         scf.for
  // CHECK:           %[[PARTS:.*]] = cute.tile.reshape<[64, 8]>
  // CHECK:           %[[LARGE:.*]] = arith.cmpf ogt, %[[PARTS]]
  // CHECK-NOT:       cute.tile.reduce
  // CHECK:           %[[ANY:.*]] = cute.tile.any<2> (%[[LARGE]])
  // CHECK:           scf.if %[[ANY]]
  // CHECK:             %[[SUM:.*]] = cute.tile.reduce<add, 1> (%[[PARTS]])
  // CHECK:             arith.cmpf ogt, %[[SUM]]
  // CHECK:             cute.tile.reduce<max, 1>
  // CHECK:           } else {
  // CHECK:         cute.tile.reduce<add, 1> ({{.*}}tensor<64x8xf32

  // In the loop all warps vote and then write the factor, in front of one more barrier; two barriers for each reduction of the branch.
  // LOWER-LABEL: gpu.func @parts
  // LOWER:         scf.for
  // LOWER:           cute.copy
  // LOWER:         scf.if
  // LOWER:           cute_nvgpu.arch.named_barrier_vote<or>
  // LOWER:         scf.for
  // LOWER:           cute_nvgpu.arch.wgmma_wait_group
  // LOWER-NOT:       cute_nvgpu.arch.shuffle
  // LOWER:           %[[ALL:.*]] = arith.constant 256 : i32
  // LOWER:           cute_nvgpu.arch.named_barrier_vote<or> (%{{.*}}, %[[ALL]], %{{.*}})
  // LOWER:           scf.if
  // LOWER-COUNT-4:     cute_nvgpu.arch.named_barrier_sync
  // LOWER:           } else {
  // LOWER:           cute.memref.store_vec
  // LOWER:           cute_nvgpu.arch.named_barrier_sync
  // LOWER-NOT:       cute_nvgpu.arch.named_barrier_sync
  // LOWER:           scf.yield
  gpu.func @parts(%Q: !Q, %K: !Q, %O: !O) kernel {
    %i, %j = cute.tile.program<[64, 512]> %O
    %n = cute.tile.count<0, 64> %K
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %o0 = arith.constant dense<0.0> : !o
    %s0 = arith.constant dense<0.0> : !s
    %l0 = arith.constant dense<0.0> : !r
    %t0 = arith.constant dense<0.0> : !r
    %q = cute.tile.load<[64, 512]> %Q[%i, 0]
    %o, %l, %t = scf.for %k = %c0 to %n step %c1 iter_args(%oi = %o0, %li = %l0, %ti = %t0) -> (!o, !r, !r) : i32 {
      %x = cute.tile.load<[64, 512]> %K[%k, 0]
      %s = cute.tile.gemm %q, %x, %s0
      %e0 = cute.tile.sub %s, %ti
      %p0 = cute.tile.exp2 %e0 {fast}
      %sum0 = cute.tile.reduce<add, 1> %p0
      %far = cute.tile.gt %sum0, 16384.0
      %h0 = cute.tile.cast<bf16> %p0
      %top = cute.tile.reduce<max, 1> %s
      %new = cute.tile.max %top, %ti
      %t1 = cute.tile.where %far, %new, %ti {rare}
      %less = cute.tile.sub %ti, %t1
      %f = cute.tile.exp2 %less {fast}
      %of = cute.tile.mul %oi, %f
      %o1 = cute.tile.where %far, %of, %oi {rare}
      %lf = cute.tile.mul %li, %f
      %l1 = cute.tile.where %far, %lf, %li {rare}
      %e1 = cute.tile.sub %s, %t1
      %p1 = cute.tile.exp2 %e1 {fast}
      %sum1 = cute.tile.reduce<add, 1> %p1
      %h1 = cute.tile.cast<bf16> %p1
      %sum = cute.tile.where %far, %sum1, %sum0 {rare}
      %h = cute.tile.where %far, %h1, %h0 {rare}
      %l2 = cute.tile.add %l1, %sum
      %v = cute.tile.permute<[1, 0]> %x
      %o2 = cute.tile.gemm %h, %v, %o1
      scf.yield %o2, %l2, %t1 : !o, !r, !r
    }
    %mean = cute.tile.div %o, %l {fast}
    cute.tile.store %mean, %O[%i, 0]
    gpu.return
  }
}
