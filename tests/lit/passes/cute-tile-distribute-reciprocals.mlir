// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a},cute-tile-layouts{arch=sm_90a},cute-tile-distribute{arch=sm_90a})' | FileCheck %s

// Of the divisions of a fast activation every other pair takes one reciprocal; other divisions do not.
!A = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
gpu.module @m {
  // CHECK-LABEL: gpu.func @silu
  // CHECK:         %[[D:.*]] = arith.addf {{.*}} : vector<16xf32>
  // CHECK:         arith.maximumf
  // CHECK:         %[[A:.*]] = arith.minnumf {{.*}} : vector<4xf32>
  // CHECK:         %[[B:.*]] = arith.minnumf {{.*}} : vector<4xf32>
  // CHECK:         arith.mulf %[[A]], %[[B]]
  // CHECK-COUNT-4: nvvm.rcp.approx.ftz.f
  // CHECK:         %[[R:.*]] = vector.shuffle %[[D]], %[[D]] [8, 9, 10, 11, 12, 13, 14, 15]
  // CHECK:         arith.divf %{{.*}}, %[[R]] fastmath<arcp,afn> : vector<8xf32>
  // CHECK-NOT:     cute.shares
  gpu.func @silu(%a: !A, %d: !A) kernel {
    %i, %j = cute.tile.program<[4, 128]> %d
    %x = cute.tile.load<[4, 128]> %a[%i, %j]
    %y = cute.tile.silu %x {fast}
    cute.tile.store %y, %d[%i, %j]
    gpu.return
  }

  // CHECK-LABEL: gpu.func @quotient
  // CHECK:         arith.divf
  // CHECK-NOT:     nvvm.rcp
  gpu.func @quotient(%a: !A, %d: !A) kernel {
    %i, %j = cute.tile.program<[4, 128]> %d
    %x = cute.tile.load<[4, 128]> %a[%i, %j]
    %y = cute.tile.div 1.0, %x {fast}
    cute.tile.store %y, %d[%i, %j]
    gpu.return
  }
}
