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
    gpu.return
  }
}
