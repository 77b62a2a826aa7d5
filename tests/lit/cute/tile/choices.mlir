// RUN: cute-opt %s | FileCheck %s --check-prefix=READ
// RUN: cute-opt %s -cute-tile-expand | FileCheck %s

!X = !cute.memref<f32, gmem, "(?,?,?):(?{i64},?{i64},1)">
gpu.module @kernels {
  // A constant condition decides: the load of the other value is gone.
  // CHECK-LABEL: gpu.func @never_loaded
  // CHECK-NOT: arith.select
  // CHECK-COUNT-1: cute.tile.load
  // CHECK-NOT: cute.tile.load
  // CHECK: cute.tile.store
  gpu.func @never_loaded(%x: !X, %c: !X, %y: !X) kernel {
    %b, %i, %j = cute.tile.program<[1, 16, 32]> %y
    %a = cute.tile.load<[16, 32]> %x[%b, %i, %j]
    %d = cute.tile.load<[16, 32]> %c[%b, %i, %j]
    %s = cute.tile.add %a, %d
    // READ: arith.constant false
    %z = cute.tile.where 0, %s, %a
    cute.tile.store %z, %y[%b, %i, %j]
    gpu.return
  }

  // A condition that is not constant selects.
  // CHECK-LABEL: gpu.func @selected
  // CHECK: cute.tile.broadcast{{.*}} (i1) -> tensor<16x32xi1>
  // CHECK: arith.select
  gpu.func @selected(%x: !X, %p: i1, %y: !X) kernel {
    %b, %i, %j = cute.tile.program<[1, 16, 32]> %y
    %a = cute.tile.load<[16, 32]> %x[%b, %i, %j]
    %z = cute.tile.where %p, %a, 0.0
    cute.tile.store %z, %y[%b, %i, %j]
    gpu.return
  }

  // Extents are of the last modes.
  // CHECK-LABEL: gpu.func @last_modes
  // CHECK: cute.tile.load<[1, 1, 32]>{{.*}} -> tensor<1x1x32xf32>
  // CHECK-NEXT: cute.tile.reshape<[32]>
  // CHECK: cute.tile.reshape<[1, 1, 32]>
  // CHECK-NEXT: cute.tile.store
  gpu.func @last_modes(%x: !X, %y: !X) kernel {
    %b, %i, %j = cute.tile.program<[1, 1, 32]> %y
    %a = cute.tile.load<[32]> %x[%b, %i, %j]
    cute.tile.store %a, %y[%b, %i, %j]
    gpu.return
  }
}

// READ-LABEL: func.func @exactness
func.func @exactness(%x: tensor<64x32xf32>, %s: tensor<64x64xf32>) {
  // READ: cute.tile.gemm{{.*}}tf32
  %a = cute.tile.gemm %x, %x, %s {tf32 = 1}
  // READ-NOT: tf32
  %b = cute.tile.gemm %x, %x, %a {tf32 = 0}
  %c = cute.tile.gemm %x, %x, %b {tf32 = false}
  return
}
