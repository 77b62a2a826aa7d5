// Warpgroups that share 64 rows divide the columns of sums that one of them cannot hold, and those of the sums that become the factor A of such a
// product, of each product that adds to these: the factor goes through shared memory. The wide product of an iteration is issued with the others of
// the next; its stage is free before all of these are issued. Rows of a factor may be several dimensions of its load. A tile of 512 contiguous elements is copied by TMA.
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=2},cute-tile-layouts{arch=sm_90a},cute-async-pipeline{arch=sm_90a},cute-tile-exchange)' | FileCheck %s
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=2},cute-tile-layouts{arch=sm_90a},cute-async-pipeline{arch=sm_90a},cute-tile-exchange,cute-async-products,cute-warp-specialization,cute-tile-overlap,cute-tile-skew)' | FileCheck %s --check-prefix=SKEW
// RUN: cute-ptx -arch sm_90a --schedule="stages=2 consumers=2" %s | FileCheck %s --check-prefix=PTX
!Q = !cute.memref<bf16, gmem, align<16>, "(?,16,576):(?{i64 div=8},576,1)">
!K = !cute.memref<bf16, gmem, align<16>, "(?,576):(576,1)">
!O = !cute.memref<f32, gmem, align<16>, "(?,512):(512,1)">
!s = tensor<64x64xf32>
!o = tensor<64x512xf32>
gpu.module @m {
  // CHECK-LABEL: gpu.func @latent
  // CHECK-DAG:     cute.tile.ring() : () -> !cute.memref<bf16, smem, align<1024>, S<3,4,3>, "(4,16,(64,8),1):(1024,64,(1,4096),32768)">
  // CHECK-DAG:     cute.tile.ring() : () -> !cute.memref<bf16, smem, align<1024>, S<3,4,3>, "(64,(64,8),2):(64,(1,4096),32768)">
  // CHECK-DAG:     %[[RING:.*]] = cute.tile.ring() : () -> !cute.memref<bf16, smem, align<1024>, S<3,4,3>, "(64,64,1):(64,1,4096)">
  // CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK:         scf.for
  // CHECK:           cute.tile.gemm<{wgmma}> {{.*}} -> tensor<64x64xf32, #cute.layout<"((4,8,4,2),(2,2,4)):((2@1,1@0,16@0,32@1),(1@1,8@0,8@1))">>
  // CHECK:           cute.tile.gemm<{wgmma}> {{.*}} -> tensor<64x64xf32, #cute.layout<"((4,8,4,2),(2,2,4)):((2@1,1@0,16@0,32@1),(1@1,8@0,8@1))">>
  // CHECK-NOT:       cute.tile.convert
  // CHECK:           cute.tile.put(%[[P:.*]], %[[RING]], %{{.*}})
  // CHECK:           %[[T:.*]] = cute.tile.take(%[[RING]], %{{.*}})
  // CHECK:           cute.tile.gemm<{wgmma}> (%[[T]], {{.*}} -> tensor<64x512xf32, #cute.layout<"((4,8,4,2),(2,2,32)):((2@1,1@0,16@0,256@1),(1@1,8@0,8@1))">>

  // The first iteration up to its factor, the loop, and the last wide product.
  // SKEW-LABEL:  gpu.func @latent
  // SKEW:        cute.tile.role
  // SKEW:          cute.tile.acquire
  // SKEW:        cute.tile.role
  // SKEW:          scf.if
  // SKEW:            cute.tile.await
  // SKEW-COUNT-2:    cute.tile.gemm<{wgmma}>
  // SKEW:            cute.tile.put
  // SKEW:          scf.for {{.*}} iter_args(%[[ACC:[a-z0-9]*]] = {{.*}}, %[[BEFORE:[a-z0-9]*]] = %{{[0-9#]*}}) ->
  // SKEW:            cute.tile.take(%{{.*}}, %[[BEFORE]])
  // SKEW:            %[[O:.*]] = cute.tile.gemm<{pending = 7 : i32, wgmma}> ({{.*}}, %[[ACC]])
  // SKEW:            cute.tile.await
  // SKEW:            cute.tile.gemm<{pending = 7 : i32, wgmma}>
  // SKEW:            cute.tile.settle<1> (%[[O]])
  // SKEW:            cute.tile.release(%{{.*}}, %[[BEFORE]])
  // SKEW:            %[[S:.*]] = cute.tile.gemm<{pending = 7 : i32, wgmma}>
  // SKEW:            cute.tile.settle (%[[S]])
  // SKEW:            cute.tile.settle (%[[O]])
  // SKEW:            cute.tile.put
  // SKEW:            scf.yield
  // SKEW:          scf.if
  // SKEW:            cute.tile.gemm<{wgmma}>
  // SKEW:            cute.tile.release

  // PTX-LABEL:   .entry latent
  // PTX:         wgmma.mma_async.sync.aligned.m64n32k16
  // PTX:         wgmma.mma_async.sync.aligned.m64n256k16
  // PTX:         wgmma.mma_async.sync.aligned.m64n32k16
  // PTX:         wgmma.wait_group.sync.aligned 1;
  gpu.func @latent(%Q: !Q, %K: !K, %O: !O) kernel {
    %i, %j = cute.tile.program<[64, 512]> %O
    %n = cute.tile.count<0, 64> %K
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %o0 = arith.constant dense<0.0> : !o
    %s0 = arith.constant dense<0.0> : !s
    %qa = cute.tile.load<[4, 16, 512]> %Q[%i, 0, 0]
    %qb = cute.tile.load<[4, 16, 64]> %Q[%i, 0, 8]
    %a = cute.tile.reshape<[64, 512]> %qa
    %b = cute.tile.reshape<[64, 64]> %qb
    %o = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %o0) -> (!o) : i32 {
      %x = cute.tile.load<[64, 512]> %K[%k, 0]
      %y = cute.tile.load<[64, 64]> %K[%k, 8]
      %s1 = cute.tile.gemm %b, %y, %s0
      %s2 = cute.tile.gemm %a, %x, %s1
      %e = cute.tile.exp2 %s2
      %p = cute.tile.cast<bf16> %e
      %v = cute.tile.permute<[1, 0]> %x
      %z = cute.tile.gemm %p, %v, %acc
      scf.yield %z : !o
    }
    cute.tile.store %o, %O[%i, 0]
    gpu.return
  }
}
