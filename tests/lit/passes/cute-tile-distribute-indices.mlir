// A thread compares many indices of a row with one limit: constants with the limit's distance from the first index. Few indices are compared themselves.
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-layouts{arch=sm_90a threads=32},cute-tile-distribute{arch=sm_90a})' | FileCheck %s
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=naive},cute-tile-layouts{arch=sm_90a threads=32},cute-tile-distribute{arch=sm_90a})' | FileCheck %s --check-prefix=NAIVE
!x = !cute.memref<i32, gmem, "(?,?):(?{i64},1)">
gpu.module @m {
  // CHECK-LABEL: gpu.func @less
  // CHECK:         %[[MOST:.*]] = arith.maxsi %[[Y:.*]], %[[FIRST:.*]] : vector<1xi32>
  // CHECK:         %[[FAR:.*]] = arith.subi %[[MOST]], %[[FIRST]] : vector<1xi32>
  // CHECK:         %[[D:.*]] = arith.minui %[[FAR]], %{{.*}} : vector<1xi32>
  // CHECK:         %[[ALL:.*]] = vector.shuffle %[[D]], %[[D]]
  // CHECK:         arith.cmpi slt, %{{.*}}, %[[ALL]] : vector<16xi32>
  // NAIVE-LABEL: gpu.func @less
  // NAIVE-NOT:     arith.maxsi
  // NAIVE:         gpu.return
  gpu.func @less(%x: !x, %y: !x, %n: i32) kernel {
    %i, %j = cute.tile.program<[16, 32]> %y
    %r = cute.tile.iota<[16, 1], 0> %n
    %l = cute.tile.load<[1, 32]> %x[%i, %j]
    %is = cute.tile.lt %r, %l
    %one = arith.constant dense<1> : tensor<16x32xi32>
    %none = arith.constant dense<0> : tensor<16x32xi32>
    %o = cute.tile.where %is, %one, %none
    cute.tile.store %o, %y[%i, %j]
    gpu.return
  }

  // The limit is on the left, and an index may be equal to it: none is less where the limit is before the first one.
  // CHECK-LABEL: gpu.func @at_most
  // CHECK:         %[[BEFORE:.*]] = arith.cmpi slt, %{{.*}} : vector<1xi32>
  // CHECK:         %[[D:.*]] = arith.select %[[BEFORE]], %{{.*}} : vector<1xi1>, vector<1xi32>
  // CHECK:         %[[ALL:.*]] = vector.shuffle %[[D]], %[[D]]
  // CHECK:         arith.cmpi slt, %{{.*}}, %[[ALL]] : vector<16xi32>
  gpu.func @at_most(%x: !x, %y: !x, %n: i32) kernel {
    %i, %j = cute.tile.program<[16, 32]> %y
    %r = cute.tile.iota<[16, 1], 0> %n
    %l = cute.tile.load<[1, 32]> %x[%i, %j]
    %is = cute.tile.ge %l, %r
    %one = arith.constant dense<1> : tensor<16x32xi32>
    %none = arith.constant dense<0> : tensor<16x32xi32>
    %o = cute.tile.where %is, %one, %none
    cute.tile.store %o, %y[%i, %j]
    gpu.return
  }

  // CHECK-LABEL: gpu.func @few
  // CHECK-NOT:     arith.maxsi
  // CHECK:         gpu.return
  gpu.func @few(%x: !x, %y: !x, %n: i32) kernel {
    %i, %j = cute.tile.program<[2, 32]> %y
    %r = cute.tile.iota<[2, 1], 0> %n
    %l = cute.tile.load<[1, 32]> %x[%i, %j]
    %is = cute.tile.lt %r, %l
    %one = arith.constant dense<1> : tensor<2x32xi32>
    %none = arith.constant dense<0> : tensor<2x32xi32>
    %o = cute.tile.where %is, %one, %none
    cute.tile.store %o, %y[%i, %j]
    gpu.return
  }
}
