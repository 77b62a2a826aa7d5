// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s -cute-tile-expand -cute-tile-layouts=arch=sm_80 | FileCheck %s --check-prefix=LAYOUT
// RUN: cute-opt %s -cute-tile-expand -cute-tile-layouts=arch=sm_80 -cute-tile-distribute=arch=sm_80 -cute-tile-launch | FileCheck %s --check-prefix=THREAD

!X = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
!W = !cute.memref<i4, gmem, align<16>, "(?,?{div=32}):(?{i64 div=32},1)">
gpu.module @kernels {
  // Pairs that a thread holds are taken apart and put together in its registers.
  // CHECK-LABEL: @rotate
  // THREAD-LABEL: @rotate
  gpu.func @rotate(%x: !X, %y: !X) kernel {
    %r, %c = cute.tile.program<[16, 64]> %x
    %a = cute.tile.load<[16, 64]> %x[%r, 0]
    %pairs = cute.tile.reshape<[16, 32, 2]> %a
    // CHECK: cute.tile.pick{{.*}} -> tensor<16x32xf32>
    // LAYOUT-NOT: cute.tile.convert
    // THREAD-NOT: smem
    // THREAD: vector.shuffle
    %even = cute.tile.pick<0, 2> %pairs
    %odd = cute.tile.pick<1, 2> %pairs
    %minus = cute.tile.neg %odd
    // CHECK: cute.tile.stack{{.*}} -> tensor<16x32x2xf32>
    %both = cute.tile.stack %minus, %even
    %b = cute.tile.reshape<[16, 64]> %both
    cute.tile.store %b, %y[%r, 0]
    gpu.return
  }

  // Elements of four bits are loaded as bytes.
  // CHECK-LABEL: @widen
  // LAYOUT-LABEL: @widen
  gpu.func @widen(%w: !W, %y: !cute.memref<i8, gmem, align<16>, "(?,?{div=16}):(?{i64 div=16},1)">) kernel {
    %r, %c = cute.tile.program<[16, 64]> %y
    // CHECK: cute.tile.load{{.*}}memref<i4{{.*}} -> tensor<16x64xi8>
    // LAYOUT: cute.tile.load<[16, 32]>{{.*}}memref<i8{{.*}} -> tensor<16x32xi8, {{.*}}>
    // LAYOUT: arith.shli
    // LAYOUT: arith.shrsi
    // LAYOUT: cute.tile.stack
    %q = cute.tile.load<[16, 64]> %w[%r, %c]
    cute.tile.store %q, %y[%r, %c]
    gpu.return
  }
}
