// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=3,consumers=2,persistent=1,cluster=1x1,turns=1},cute-tile-layouts{arch=sm_90a},cute-tile-persistent,cute-async-pipeline,cute-async-products,cute-warp-specialization,cute-tile-turns)' | FileCheck %s
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=3,consumers=2,persistent=1,cluster=1x1,turns=1},cute-tile-layouts{arch=sm_90a},cute-tile-persistent,cute-async-pipeline,cute-async-products,cute-warp-specialization)' | FileCheck %s --check-prefix=BEFORE
// RUN: cute-opt %s -remarks=cute-tile-schedule --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=3,consumers=2,persistent=1,cluster=1x1,turns=1})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: cute-opt %s -remarks=cute-tile-schedule --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=3,consumers=2,persistent=0,turns=1})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=GRID
// RUN: cute-opt %s -remarks=cute-tile-schedule --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=3,consumers=1,persistent=1,turns=1})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ONE

// Each of two warpgroups computes whole tiles, alternately, and skips the stages of the other one.
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
gpu.module @m {
  // CHECK-LABEL: gpu.func @product
  // CHECK-SAME:    turns=1
  // CHECK-SAME:    nvvm.reqntid = array<i32: 384, 1, 1>
  // CHECK:         %[[FIRST:.*]], %[[COUNT:.*]], %[[STEP:.*]] = cute.tile.workers
  // CHECK:         cute.tile.role "producer" attributes {registers = 24 : i32, warps = 1 : i32} {
  // CHECK:           scf.for {{.*}} = %[[FIRST]] to %[[COUNT]] step %[[STEP]]
  // CHECK-NOT:       cute.tile.begin_turn
  // CHECK:         cute.tile.role "consumers" attributes {registers = 240 : i32, turns = 2 : i32, warps = 4 : i32} {
  // CHECK:           %[[STAGES:.*]] = arith.ceildivui
  // CHECK:           %[[TURN:.*]] = cute.tile.turn
  // CHECK:           %[[BEHIND:.*]] = arith.muli %[[TURN]], %[[STEP]] : i32
  // CHECK:           %[[START:.*]] = arith.addi %[[FIRST]], %[[BEHIND]] : i32
  // CHECK:           %[[STRIDE:.*]] = arith.muli %[[STEP]], %c2_i32 : i32
  // CHECK:           %[[OTHERS:.*]] = arith.muli %[[TURN]], %[[STAGES]] : i32
  // CHECK:           %[[I:.*]], %[[P:.*]] = cute_nvgpu.arch.pipeline_index_of<3> (%[[OTHERS]])
  // CHECK:           %[[LAST:.*]] = arith.cmpi eq, %[[TURN]], %c1
  // CHECK:           %[[ANY:.*]] = arith.cmpi slt, %[[FIRST]], %[[COUNT]] : i32
  // CHECK:           %[[BEGINS:.*]] = arith.andi %[[LAST]], %[[ANY]] : i1
  // CHECK:           cute.tile.end_turn
  // CHECK-SAME:        %[[BEGINS]]
  // CHECK:           scf.for %[[TILE:.*]] = %[[START]] to %[[COUNT]] step %[[STRIDE]] iter_args({{.*}} = %[[I]], {{.*}} = %[[P]])
  // CHECK:             cute.tile.begin_turn
  // CHECK:             %[[R:.*]]:4 = scf.for
  // CHECK:               cute.tile.gemm<{pending = 1 : i32, wgmma}>
  // CHECK:             %[[NEXT:.*]] = arith.addi %[[TILE]], %[[STEP]] : i32
  // CHECK:             %[[MORE:.*]] = arith.cmpi slt, %[[NEXT]], %[[COUNT]] : i32
  // CHECK:             cute.tile.end_turn
  // CHECK-SAME:          %[[MORE]]
  // CHECK:             cute.tile.settle
  // CHECK:             cute.tile.store
  // CHECK:             cute_nvgpu.arch.pipeline_advance<3> (%[[R]]#1, %[[R]]#2, %[[STAGES]])
  // BEFORE-LABEL: gpu.func @product
  // BEFORE-SAME:    nvvm.reqntid = array<i32: 256, 1, 1>
  // BEFORE:         cute.tile.role "consumers" attributes {registers = 0 : i32, warps = 4 : i32} {
  // BEFORE-NOT:     cute.tile.turn
  // GRID: :[[@LINE+2]]:3: remark: warpgroups share each tile, without turns: expected resident blocks, persistent=1
  // ONE: :[[@LINE+1]]:3: remark: warpgroups share each tile, without turns: expected two warpgroups, consumers=2
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

  // The sums of a tile are one warpgroup's.
  // CHECK-LABEL: gpu.func @large
  // CHECK:         cute.tile.role "consumers" attributes {registers = 240 : i32, warps = 8 : i32} {
  // CHECK-NOT:     cute.tile.turn
  // REFUSED: :[[@LINE+1]]:3: remark: warpgroups share each tile, without turns: it needs 256 registers of a thread for sums, more than the limit of 224
  gpu.func @large(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[128, 256]> %c
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x256xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[256, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : tensor<128x256xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }

  // CHECK-LABEL: gpu.func @triangle
  // CHECK-NOT:     cute.tile.turn
  gpu.func @triangle(%a: !A, %b: !A, %c: !A) kernel {
    // REFUSED: remark: warpgroups share each tile, without turns: the number of iterations depends on the tile
    %i, %j = cute.tile.program<[128, 64]> %c
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %s = scf.for %k = %c0 to %i step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : tensor<128x64xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }

  // CHECK-LABEL: gpu.func @twice
  // CHECK-NOT:     cute.tile.turn
  gpu.func @twice(%a: !A, %b: !A, %c: !A) kernel {
    // REFUSED: remark: warpgroups share each tile, without turns: the kernel has several loops of products
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
    %t = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %s) -> (tensor<128x64xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %b[%i, %k]
      %y = cute.tile.load<[64, 64]> %a[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : tensor<128x64xf32>
    }
    %o = cute.tile.cast<f16> %t
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }
}
