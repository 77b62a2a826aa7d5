// RUN: cute-ptx -arch sm_80 %s | FileCheck %s

// A mask that repeats along the contiguous dimension leaves accesses wide; any other has one element each.
!X = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
gpu.module @kernels {
  // CHECK-LABEL: .entry rows(
  // CHECK: ld.global.v4
  // CHECK: st.global.v4
  gpu.func @rows(%x: !X, %y: !X, %n: i32) kernel {
    %i, %j = cute.tile.program<[16, 64]> %x
    %r = cute.tile.iota<[16, 1], 0>
    %m = cute.tile.lt %r, %n
    %a = cute.tile.load<[16, 64]> %x[%i, %j], %m
    cute.tile.store %a, %y[%i, %j], %m
    gpu.return
  }

  // CHECK-LABEL: .entry columns(
  // CHECK-NOT: .v4
  gpu.func @columns(%x: !X, %y: !X, %n: i32) kernel {
    %i, %j = cute.tile.program<[16, 64]> %x
    %r = cute.tile.iota<[1, 64], 1>
    %m = cute.tile.lt %r, %n
    %a = cute.tile.load<[16, 64]> %x[%i, %j], %m
    cute.tile.store %a, %y[%i, %j], %m
    gpu.return
  }
}
