// Products of a loop whose factors are computed from the sums of others: those that other warpgroups need go through stages, and each product is under
// way until its sums are used. The second product does not wait for the first one, nor the last one for the store.
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=2},cute-tile-layouts{arch=sm_90a},cute-async-pipeline{arch=sm_90a},cute-tile-exchange)' | FileCheck %s --check-prefix=EXCHANGE
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=2},cute-tile-layouts{arch=sm_90a},cute-async-pipeline{arch=sm_90a},cute-tile-exchange,cute-async-products,cute-warp-specialization,cute-tile-overlap)' | FileCheck %s
// RUN: cute-opt %s -remarks=cute-tile-overlap --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=2},cute-tile-layouts{arch=sm_90a},cute-async-pipeline{arch=sm_90a},cute-tile-exchange,cute-async-products,cute-warp-specialization,cute-tile-overlap)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: cute-ptx -arch sm_90a --schedule="stages=2 consumers=2" %s | FileCheck %s --check-prefix=PTX
!X = !cute.memref<f16, gmem, align<16>, "(?,64):(64,1)">
!A = !cute.memref<f32, gmem, align<16>, "(?,64):(64,1)">
gpu.module @m {
  // The stages of a factor are used in turn. The columns of the product that reads it are divided.
  // EXCHANGE-LABEL: gpu.func @overlaps
  // EXCHANGE:         %[[RING:.*]] = cute.tile.ring() : () -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64,2):(64,1,8192)">
  // EXCHANGE:         scf.for {{.*}} iter_args({{.*}}, %[[AT:[a-z0-9]+]] = %{{[a-z0-9_]+}})
  // EXCHANGE:           %[[H:.*]] = arith.truncf
  // EXCHANGE-NEXT:      cute.tile.put(%[[H]], %[[RING]], %[[AT]])
  // EXCHANGE-NEXT:      %[[TAKEN:.*]] = cute.tile.take(%[[RING]], %[[AT]])
  // EXCHANGE:           %[[T:.*]] = cute.tile.permute<[1, 0]> (%[[TAKEN]])
  // EXCHANGE:           cute.tile.gemm<{wgmma}> (%[[T]], {{.*}} -> tensor<64x64xf32, #cute.layout<"((4,8,4,2),(2,2,4)):((2@1,1@0,16@0,32@1),(1@1,8@0,8@1))">>
  // CHECK-LABEL: gpu.func @overlaps
  // CHECK:         cute.tile.role "consumers"
  // CHECK:           %[[OUT:.*]]:{{.*}} = scf.for %[[I:.*]] = %[[LOW:[a-z0-9_]+]] to
  // CHECK:             cute.tile.await
  // CHECK:             %[[S:.*]] = cute.tile.gemm<{pending = 7 : i32, wgmma}>
  // CHECK:             %[[D:.*]] = cute.tile.gemm<{pending = 7 : i32, wgmma}>
  // CHECK:             %[[MORE:.*]] = arith.cmpi ne, %[[I]], %[[LOW]]
  // CHECK:             %[[SUM:.*]] = cute.tile.settle<1> (%[[S]])
  // CHECK-NEXT:        cute.tile.release(%{{.*}}, %{{.*}}, %[[MORE]])
  // CHECK:             math.exp2 %[[SUM]]
  // CHECK:             cute.tile.settle (%[[D]])
  // CHECK:             cute.tile.put
  // CHECK:             %[[Q:.*]] = cute.tile.gemm<{pending = 7 : i32, wgmma}>
  // CHECK:             %[[K:.*]] = cute.tile.gemm<{pending = 7 : i32, wgmma}>
  // CHECK:             %[[ADDED:.*]] = cute.tile.settle<1> (%[[Q]])
  // CHECK:             cute.tile.store{{.*}} (%[[ADDED]],
  // CHECK:             scf.yield %[[K]]
  // CHECK:           %[[SETTLED:.*]] = cute.tile.settle (%[[OUT]]#0)
  // CHECK:           cute.tile.release
  // CHECK:           cute.tile.store{{.*}} (%[[SETTLED]],
  // REMARK-DAG:      remark: products of an iteration are under way while their factors are computed [cute-tile-overlap]
  // PTX-LABEL:   .entry overlaps
  // PTX:           stmatrix.sync.aligned.x4.m8n8.shared.b16
  // PTX:           cp.reduce.async.bulk.tensor.2d.global.shared::cta.add
  gpu.func @overlaps(%k: !X, %v: !X, %q: !X, %o: !X, %dq: !A, %dk: !A) kernel {
    %j, %column = cute.tile.program<[128, 64]> %dk
    %n = cute.tile.count<0, 64> %q
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %a = cute.tile.load<[128, 64]> %k[%j, 0]
    %b = cute.tile.load<[128, 64]> %v[%j, 0]
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
      %x = cute.tile.load<[64, 64]> %q[%i, 0]
      %y = cute.tile.load<[64, 64]> %o[%i, 0]
      %s = cute.tile.gemm %a, %x, %zero
      %p = cute.tile.exp2 %s
      %d = cute.tile.gemm %b, %y, %zero
      %ds = cute.tile.mul %p, %d
      %h = cute.tile.cast<f16> %ds
      %t = cute.tile.permute<[1, 0]> %h
      %at = cute.tile.permute<[1, 0]> %a
      %part = cute.tile.gemm %t, %at, %none
      cute.tile.store<add> %part, %dq[%i, 0]
      %xt = cute.tile.permute<[1, 0]> %x
      %next = cute.tile.gemm %h, %xt, %acc
      scf.yield %next : tensor<128x64xf32>
    }
    cute.tile.store %sum, %dk[%j, 0]
    gpu.return
  }

  // REMARK-DAG: remark: products of this loop wait for one another: a sum that the loop carries is used in it [cute-tile-overlap]
  // REMARK-DAG: remark: products of this loop wait for one another: a product adds to other sums [cute-tile-overlap]
  gpu.func @uses(%k: !X, %v: !X, %q: !X, %o: !X, %dk: !A) kernel {
    %j, %column = cute.tile.program<[128, 64]> %dk
    %n = cute.tile.count<0, 64> %q
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %a = cute.tile.load<[128, 64]> %k[%j, 0]
    %b = cute.tile.load<[128, 64]> %v[%j, 0]
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
      %x = cute.tile.load<[64, 64]> %q[%i, 0]
      %y = cute.tile.load<[64, 64]> %o[%i, 0]
      %s = cute.tile.gemm %a, %x, %zero
      %d = cute.tile.gemm %b, %y, %zero
      %ds = cute.tile.mul %s, %d
      %h = cute.tile.cast<f16> %ds
      %xt = cute.tile.permute<[1, 0]> %x
      %next = cute.tile.gemm %h, %xt, %acc
      %half = cute.tile.mul %next, 0.5
      scf.yield %half : tensor<128x64xf32>
    }
    cute.tile.store %sum, %dk[%j, 0]
    gpu.return
  }
  gpu.func @adds(%k: !X, %v: !X, %q: !X, %o: !X, %dk: !A) kernel {
    %j, %column = cute.tile.program<[128, 64]> %dk
    %n = cute.tile.count<0, 64> %q
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %a = cute.tile.load<[128, 64]> %k[%j, 0]
    %b = cute.tile.load<[128, 64]> %v[%j, 0]
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
      %x = cute.tile.load<[64, 64]> %q[%i, 0]
      %y = cute.tile.load<[64, 64]> %o[%i, 0]
      %s = cute.tile.gemm %a, %x, %zero
      %d = cute.tile.gemm %b, %y, %s
      %h = cute.tile.cast<f16> %d
      %xt = cute.tile.permute<[1, 0]> %x
      %next = cute.tile.gemm %h, %xt, %acc
      scf.yield %next : tensor<128x64xf32>
    }
    cute.tile.store %sum, %dk[%j, 0]
    gpu.return
  }
}
