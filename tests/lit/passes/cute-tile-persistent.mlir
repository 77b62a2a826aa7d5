// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=persistent=1,cluster=2x1,order=4,consumers=1,stages=2},cute-tile-layouts{arch=sm_90a},cute-tile-persistent)' | FileCheck %s
// RUN: cute-opt %s -remarks=cute-tile-persistent --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=persistent=1,cluster=2x1,consumers=1},cute-tile-layouts{arch=sm_90a},cute-tile-persistent)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=persistent=1,order=4,consumers=1,stages=2},cute-tile-layouts{arch=sm_90a},cute-tile-persistent)' | FileCheck %s --check-prefix=SIZES

// The operations behind cute.tile.program are in a loop over the tiles of a resident cluster.
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
gpu.module @m {
  // CHECK-LABEL: gpu.func @resident
  // CHECK-SAME:    nvvm.cluster_dim = array<i32: 2, 1, 1>
  // CHECK-NOT:     cute.tile.program
  // CHECK:         %[[FIRST:.*]], %[[COUNT:.*]], %[[STEP:.*]] = cute.tile.workers<[2, 1], [128, 64]>
  // CHECK:         scf.for %[[TILE:.*]] = %[[FIRST]] to %[[COUNT]] step %[[STEP]]
  // CHECK:           %[[AT:.*]]:2 = cute.tile.place<[2, 1], [128, 64], 4> (%[[TILE]],
  // CHECK:           scf.for
  // CHECK:             cute.make_coord(%[[AT]]#0
  // CHECK:           cute.tile.store
  // CHECK:         gpu.return
  gpu.func @resident(%a: !A, %b: !A, %c: !A) kernel {
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

  // A grid of stated sizes: its tiles may be no tensor's, so that a cluster has none beyond them.
  // SIZES-LABEL: gpu.func @sizes
  // SIZES-NOT:     cute.tile.program
  // SIZES:         %[[FIRST:.*]], %[[COUNT:.*]], %[[STEP:.*]] = cute.tile.workers<[1, 1]> (%[[M:.*]], %[[W:.*]]) : (i32, i32)
  // SIZES:         scf.for %[[TILE:.*]] = %[[FIRST]] to %[[COUNT]] step %[[STEP]]
  // SIZES:           cute.tile.place<{cluster = array<i32: 1, 1>, order = 4 : i32}> (%[[TILE]], %[[M]], %[[W]])
  // REMARK: :[[@LINE+4]]:{{[0-9]+}}: remark: blocks are not resident: expected cluster=1x1, or cute.tile.program<EXTENTS> of a tensor
  gpu.func @sizes(%a: !A, %b: !A, %c: !A) kernel {
    %m = cute.tile.count<0, 128> %c
    %w = cute.tile.count<1, 64> %c
    %i, %j = cute.tile.program %m, %w
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

  // Loops over fewer keys for some tiles than for others: every second round, if it is full, goes backwards.
  // SIZES-LABEL: gpu.func @uneven
  // SIZES:         %[[FIRST:.*]], %[[COUNT:.*]], %[[STEP:.*]] = cute.tile.workers
  // SIZES:         scf.for %[[TILE:.*]] = %[[FIRST]] to %[[COUNT]] step %[[STEP]]
  // SIZES:           %[[BEGIN:.*]] = arith.subi %[[TILE]], %[[FIRST]]
  // SIZES:           %[[END:.*]] = arith.addi %[[BEGIN]], %[[STEP]]
  // SIZES:           arith.divui %[[BEGIN]], %[[STEP]]
  // SIZES:           %[[ODD:.*]] = arith.cmpi eq
  // SIZES:           %[[FULL:.*]] = arith.cmpi ule, %[[END]], %[[COUNT]]
  // SIZES:           %[[TURNED:.*]] = arith.andi %[[ODD]], %[[FULL]]
  // SIZES:           %[[OWN:.*]] = arith.select %[[TURNED]], %{{.*}}, %[[TILE]]
  // SIZES:           cute.tile.place<{{.*}}> (%[[OWN]],
  gpu.func @uneven(%a: !A, %b: !A, %c: !A) kernel {
    %m = cute.tile.count<0, 128> %c
    %i = cute.tile.program %m
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %s = scf.for %k = %c0 to %i step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[0, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : tensor<128x64xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %c[%i, 0]
    gpu.return
  }
}
