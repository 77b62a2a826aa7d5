// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s -cute-tile-expand -cute-tile-layouts=arch=sm_80 | FileCheck %s --check-prefix=LAYOUT
// RUN: cute-opt %s -cute-tile-expand -cute-tile-layouts=arch=sm_80 -cute-tile-distribute=arch=sm_80 -cute-tile-launch | FileCheck %s --check-prefix=LAUNCH

!X = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
gpu.module @kernels {
  gpu.func @softmax(%x: !X, %y: !X) kernel {
    // CHECK: cute.tile.program{{.*}} -> (i32, i32)
    // LAUNCH: nvvm.read.ptx.sreg.ctaid.x
    %r, %c = cute.tile.program<[1, 1024]> %x
    // CHECK: cute.tile.load{{.*}} -> tensor<1x1024xf32>
    // LAYOUT: cute.tile.load{{.*}} -> tensor<1x1024xf32, #cute.layout<"((64),(4,4)):((4@1),(1@1,256@1))">>
    %a = cute.tile.load<[1, 1024], neg_inf> %x[%r, 0]
    // CHECK: cute.tile.reduce{{.*}} -> tensor<1x1xf32>
    // LAYOUT: cute.tile.reduce{{.*}} -> tensor<1x1xf32, #cute.layout<"((64),(1)):((0),(0))">>
    %m = cute.tile.reduce<max, 1> %a
    // CHECK: cute.tile.map{{.*}} -> tensor<1x1024xf32>
    // LAYOUT: arith.subf
    // LAUNCH: arith.subf {{.*}} : vector<16xf32>
    %d = cute.tile.sub %a, %m
    %e = cute.tile.exp %d
    %s = cute.tile.reduce<add, 1> %e
    %p = cute.tile.div %e, %s
    // LAUNCH-NOT: cute.tile.{{load|store|reduce|map}}
    cute.tile.store %p, %y[%r, 0]
    gpu.return
  }
}
// LAUNCH: func.func @softmax
// LAUNCH: gpu.launch_func  @kernels::@softmax
