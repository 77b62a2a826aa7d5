// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=3,consumers=1},cute-tile-layouts{arch=sm_90a},cute-async-pipeline,cute-async-products)' | FileCheck %s
// RUN: cute-opt %s -remarks=cute-async-products --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=3,consumers=1},cute-tile-layouts{arch=sm_90a},cute-async-pipeline,cute-async-products)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// A product waits for that of the iteration before, whose stage is released then; behind the loop the last one is waited for.
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
gpu.module @m {
  // CHECK-LABEL: gpu.func @product
  // CHECK:         %[[S:.*]]:4 = scf.for %[[K:.*]] = %[[LOW:.*]] to %[[HIGH:.*]] step {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[I:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[BEFORE:.*]] = %{{.*}}) ->
  // CHECK:           cute.tile.gemm<{pending = 1 : i32, wgmma}>
  // CHECK:           %[[LATER:.*]] = arith.cmpi ne, %[[K]], %[[LOW]]
  // CHECK:           cute.tile.release(%[[PIPE:.*]], %[[BEFORE]], %[[LATER]])
  // CHECK:           scf.yield {{.*}}, %[[I]] :
  // CHECK:         cute.tile.settle (%[[S]]#0)
  // CHECK:         %[[ANY:.*]] = arith.cmpi slt, %[[LOW]], %[[HIGH]]
  // CHECK:         cute.tile.release(%[[PIPE]], %[[S]]#3, %[[ANY]])
  gpu.func @product(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[128, 64]> %c
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : tensor<128x64xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }

  // All but the last product of an iteration wait for none.
  // CHECK-LABEL: gpu.func @two
  // CHECK:           cute.tile.gemm<{pending = 7 : i32, wgmma}>
  // CHECK:           cute.tile.gemm<{pending = 2 : i32, wgmma}>
  // CHECK:         cute.tile.settle
  gpu.func @two(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[128, 64]> %c
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      %e = cute.tile.gemm %x, %y, %d
      scf.yield %e : tensor<128x64xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }

  // CHECK-LABEL: gpu.func @computed
  // CHECK:         cute.tile.gemm<{wgmma}>
  // CHECK:         cute.tile.release(%{{.*}}, %{{[^,]*}}) :
  // CHECK-NOT:     cute.tile.settle
  gpu.func @computed(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[128, 64]> %c
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    // REMARK: :[[@LINE+1]]:{{[0-9]+}}: remark: products of this loop wait for one another: an accumulator is not carried by the loop
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %m = cute.tile.mul %acc, -1.0
      %d = cute.tile.gemm %x, %y, %m
      scf.yield %d : tensor<128x64xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }

  // Products that wait release the stage of the iteration before once they are issued.
  // CHECK-LABEL: gpu.func @used
  // CHECK-NOT:     cute.tile.settle
  // CHECK:         %[[NEXT:.*]] = arith.cmpi ne
  // CHECK-NEXT:    cute.tile.gemm<{wgmma}>
  // CHECK-NEXT:    cute.tile.release(%{{.*}}, %{{.*}}, %[[NEXT]])
  // CHECK:         scf.yield
  // CHECK:         %[[ANY:.*]] = arith.cmpi slt
  // CHECK:         cute.tile.release(%{{.*}}, %{{.*}}, %[[ANY]])
  gpu.func @used(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[128, 64]> %c
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    // REMARK: :[[@LINE+1]]:{{[0-9]+}}: remark: products of this loop wait for one another: a sum is used in the loop
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      %m = cute.tile.relu %d
      scf.yield %m : tensor<128x64xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }
}
