// Sizes are those of cute.sizes, else of the pass, else the extents that types state, else 4096; clusters need a grid whose blocks share tiles.
// RUN: cute-opt %s -D K=8192 --remarks=cute-tile-schedule -pass-pipeline="builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a})" 2>&1 | FileCheck %s
// RUN: cute-opt %s -D K=8192 --remarks=cute-tile-schedule -pass-pipeline="builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a sizes=n=640})" 2>&1 | FileCheck %s --check-prefix=PASS
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!C = !cute.memref<f16, gmem, align<16>, "(512,1024):(1024,1)">
!D = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!S = !cute.memref<f16, gmem, align<16>, "(1024,2048):(2048,1)">
gpu.module @kernels {
  // CHECK: [[@LINE+2]]:3: remark: schedule: {{.*}} for m=512 n=1024 k=2048 on H100
  // PASS: [[@LINE+1]]:3: remark: schedule: {{.*}} for m=512 n=640 k=2048 on H100
  gpu.func @types(%a: !S, %b: !S, %c: !C) kernel {
    %i, %j = cute.tile.program<[128, 128]> %c
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[128, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : tensor<128x128xf32>
    }
    cute.tile.store %sum, %c[%i, %j]
    gpu.return
  }
  // CHECK: [[@LINE+2]]:3: remark: schedule: {{.*}} for m=512 n=96 k=8192 batch=7 on H100
  // PASS: [[@LINE+1]]:3: remark: schedule: {{.*}} for m=512 n=96 k=8192 batch=7 on H100
  gpu.func @attribute(%a: !A, %b: !A, %c: !C) kernel attributes {cute.sizes = "n=96 k=${K}, batch=7"} {
    %i, %j = cute.tile.program<[128, 128]> %c
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[128, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : tensor<128x128xf32>
    }
    cute.tile.store %sum, %c[%i, %j]
    gpu.return
  }
  // CHECK: [[@LINE+2]]:3: remark: schedule: stages=6 consumers=2 cluster=1x1 persistent=1 order=8; {{.*}} for m=4096 n=4096 k=4096 on H100
  // CHECK: [[@LINE+1]]:3: remark: no cluster: tiles of A or B depend on both indices of the grid
  gpu.func @both(%a: !A, %b: !A, %c: !D) kernel {
    %i, %j = cute.tile.program<[128, 128]> %c
    %ij = arith.addi %i, %j : i32
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[128, 64]> %b[%ij, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : tensor<128x128xf32>
    }
    cute.tile.store %sum, %c[%i, %j]
    gpu.return
  }
  // CHECK: [[@LINE+2]]:3: remark: schedule: stages={{[0-9]}} consumers=2 cluster=1x1 persistent=0 order=1;
  // CHECK: [[@LINE+1]]:3: remark: no cluster: the grid has one dimension
  gpu.func @counted(%a: !A, %b: !A, %c: !D, %many: i32) kernel {
    %i = cute.tile.program %many
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[128, 64]> %b[0, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : tensor<128x128xf32>
    }
    cute.tile.store %sum, %c[%i, 0]
    gpu.return
  }
}
