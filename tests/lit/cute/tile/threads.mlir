// RUN: cute-opt %s -cute-tile-expand -cute-tile-layouts=arch=sm_80 | FileCheck %s

// What a thread loads takes at most 96 registers, as far as a block has threads.
!X = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
gpu.module @kernels {
  // CHECK: @two{{.*}}nvvm.reqntid = array<i32: 256, 1, 1>
  gpu.func @two(%x: !X, %y: !X) kernel {
    %r, %c = cute.tile.program<[1, 8192]> %x
    %a = cute.tile.load<[1, 8192]> %x[%r, 0]
    %b = cute.tile.load<[1, 8192]> %y[%r, 0]
    %z = cute.tile.add %a, %b
    cute.tile.store %z, %y[%r, 0]
    gpu.return
  }

  // CHECK: @three{{.*}}nvvm.reqntid = array<i32: 256, 1, 1>
  gpu.func @three(%x: !X, %y: !X, %w: !X) kernel {
    %r, %c = cute.tile.program<[1, 8192]> %x
    %a = cute.tile.load<[1, 8192]> %x[%r, 0]
    %b = cute.tile.load<[1, 8192]> %y[%r, 0]
    %d = cute.tile.load<[1, 8192]> %w[%r, 0]
    %z = cute.tile.fma %a, %b, %d
    cute.tile.store %z, %y[%r, 0]
    gpu.return
  }

  // CHECK: @four{{.*}}nvvm.reqntid = array<i32: 512, 1, 1>
  gpu.func @four(%x: !X, %y: !X, %w: !X, %v: !X) kernel {
    %r, %c = cute.tile.program<[1, 8192]> %x
    %a = cute.tile.load<[1, 8192]> %x[%r, 0]
    %b = cute.tile.load<[1, 8192]> %y[%r, 0]
    %d = cute.tile.load<[1, 8192]> %w[%r, 0]
    %e = cute.tile.load<[1, 8192]> %v[%r, 0]
    %z = cute.tile.fma %a, %b, %d
    %s = cute.tile.add %z, %e
    cute.tile.store %s, %y[%r, 0]
    gpu.return
  }
}
