// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s -cute-tile-expand | FileCheck %s --check-prefix=EXPAND

// Loads and gathers convert to the type that they state, stores and atomic updates to the tensor's floats, and integers become floats
// among tiles of floats.
!H = !cute.memref<f16, gmem, "(?,?):(?{i64},1)">
!F = !cute.memref<f32, gmem, "?:1">
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @mean
  // EXPAND-LABEL: gpu.func @mean
  gpu.func @mean(%x: !H, %y: !H, %s: !F) kernel {
    %r, %c = cute.tile.program<[4, 64]> %x
    // CHECK: cute.tile.load<{extents = array<i32: 4, 64>, to = f32}>{{.*}} -> tensor<4x64xf32>
    // EXPAND: cute.tile.load<[4, 64]>{{.*}} -> tensor<4x64xf16>
    // EXPAND: arith.extf {{.*}} : tensor<4x64xf16> to tensor<4x64xf32>
    %a = cute.tile.load<[4, 64], f32> %x[%r, 0]
    // CHECK: cute.tile.load<{extents = array<i32: 4, 64>, fill = "neg_inf", to = f32}>{{.*}} -> tensor<4x64xf32>
    %b = cute.tile.load<[4, 64], neg_inf, f32> %x[%r, 0]
    %n = cute.tile.count<1, 1> %x
    // CHECK: cute.tile.reduce<mean, 1>{{.*}} : (tensor<4x64xf32>, i32) -> tensor<4x1xf32>
    // EXPAND: %[[SUM:.*]] = cute.tile.reduce<add, 1>
    // EXPAND: arith.sitofp {{.*}} : i32 to f32
    // EXPAND: arith.divf %[[SUM]]
    %m = cute.tile.reduce<mean, 1> %a, %n
    // CHECK: cute.tile.map<{{.*}}fma{{.*}}-> tensor<4x64xf32>
    %z = cute.tile.fma %a, %n, 1.0
    // CHECK: -> tensor<4x64xi1>
    %i = cute.tile.lt %b, %n
    %w = cute.tile.where %i, %z, %m
    // CHECK: cute.tile.store{{.*}} : (tensor<4x64xf32>, !cute.memref<f16
    // EXPAND: arith.truncf {{.*}} : tensor<4x64xf32> to tensor<4x64xf16>
    cute.tile.store %w, %y[%r, 0]
    %j = cute.tile.iota<[4, 64], 1>
    // CHECK: cute.tile.gather<{to = f32}>{{.*}} -> tensor<4x64xf32>
    // EXPAND: arith.extf
    %g = cute.tile.gather<f32> %x, %r, %j
    // EXPAND: cute.tile.reduce<add, 0>
    %t = cute.tile.reduce<add, 0> %g
    %u = cute.tile.cast<f16> %t
    %k = cute.tile.iota<[1, 64], 1>
    // CHECK: cute.tile.atomic{{.*}} : (tensor<1x64xf16>, !cute.memref<f32
    // EXPAND: arith.extf {{.*}} : tensor<1x64xf16> to tensor<1x64xf32>
    cute.tile.atomic<add> %u, %s, %k
    // CHECK: cute.tile.store<add>{{.*}} : (tensor<64xf16>, !cute.memref<f32
    // EXPAND: arith.extf {{.*}} : tensor<64xf16> to tensor<64xf32>
    // EXPAND: cute.tile.store<add>{{.*}} : (tensor<64xf32>, !cute.memref<f32
    %row = cute.tile.reshape<[64]> %u
    cute.tile.store<add> %row, %s[0]
    gpu.return
  }

  // A count that is a tensor is its extent. A variance leaves out elements from the count on; it shares its mean with the program.
  // CHECK-LABEL: gpu.func @variance
  // EXPAND-LABEL: gpu.func @variance
  gpu.func @variance(%x: !H, %y: !F) kernel {
    %r, %c = cute.tile.program<[4, 64]> %x
    %a = cute.tile.load<[4, 64], f32> %x[%r, 0]
    // CHECK: cute.tile.reduce<mean, 1>{{.*}} : (tensor<4x64xf32>, !cute.memref<f16
    // EXPAND: %[[N:.*]] = cute.tile.count<1, 1>
    // EXPAND: %[[SUM:.*]] = cute.tile.reduce<add, 1>
    // EXPAND: %[[MEAN:.*]] = arith.divf %[[SUM]]
    %m = cute.tile.reduce<mean, 1> %a, %x
    // CHECK: cute.tile.reduce<variance, 1>{{.*}} : (tensor<4x64xf32>, !cute.memref<f16{{.*}} -> tensor<4x1xf32>
    // EXPAND-NOT: cute.tile.reduce
    // EXPAND: %[[APART:.*]] = arith.subf
    // EXPAND: cute.tile.iota<[1, 64], 1>
    // EXPAND: %[[IN:.*]] = arith.cmpi slt
    // EXPAND: arith.select
    // EXPAND: %[[SQUARES:.*]] = arith.mulf
    // EXPAND: cute.tile.reduce<add, 1> (%[[SQUARES]])
    %v = cute.tile.reduce<variance, 1> %a, %x
    // EXPAND: arith.subf
    %d = cute.tile.sub %v, %m
    %s = cute.tile.mul %a, %d
    // Without coordinates the block combines rows, and columns are the tensor's elements.
    // CHECK: cute.tile.atomic{{.*}} : (tensor<4x64xf32>, !cute.memref<f32, gmem, "?:1">) -> ()
    // EXPAND: %[[ROW:.*]] = cute.tile.reduce<add, 0>{{.*}} -> tensor<1x64xf32>
    // EXPAND: cute.tile.atomic{{.*}}%[[ROW]]{{.*}} : (tensor<1x64xf32>, !cute.memref<f32, gmem, "?:1">, tensor<1x64xi32>) -> ()
    cute.tile.atomic<add> %s, %y
    gpu.return
  }
}

// In a loop, the index is computed in front of it.
// EXPAND-LABEL: func.func @loop
func.func @loop(%x: tensor<4x64xf32>, %n: i64, %i: index) -> tensor<4x1xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x1xf32>
  // EXPAND: cute.tile.iota<[1, 64], 1>
  // EXPAND: scf.for
  // EXPAND: arith.cmpi slt, {{.*}} : tensor<1x64xi64>
  %s = scf.for %k = %i to %i step %i iter_args(%a = %zero) -> (tensor<4x1xf32>) {
    %v = cute.tile.reduce<variance, 1> %x, %n
    %b = cute.tile.add %a, %v
    scf.yield %b : tensor<4x1xf32>
  }
  return %s : tensor<4x1xf32>
}
