// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=3,consumers=2,persistent=1},cute-tile-layouts{arch=sm_90a})' | FileCheck %s
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=3,consumers=2,persistent=1},cute-tile-layouts{arch=sm_90a},cute-tile-persistent,cute-async-pipeline{arch=sm_90a})' | FileCheck %s --check-prefix=COPIES
// RUN: cute-ptx %s -arch sm_90a --schedule="stages=3 consumers=2 persistent=1" | FileCheck %s --check-prefix=PTX

// Stores by TMA and reductions that use a tile of sums are computed together: each band once, so that the tile is never in registers as a whole.
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!R = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
gpu.module @m {
  // The row of the sum is computed by lanes in each band; each warp writes its parts once, and each thread reads those of one column.
  // CHECK-LABEL: gpu.func @gradient
  // CHECK:         cute.tile.load<[128, 256]>{{.*}}{cute.late}
  // CHECK:         %[[G:.*]] = arith.mulf
  // CHECK:         cute.tile.store<{tma, width = 64 : i32}>{{.*}}{cute.joined = 0 : i32}
  // CHECK:         %[[S:.*]] = cute.tile.reduce<{{.*}}> (%[[G]]) {cute.joined = 0 : i32}
  // CHECK-NOT:     cute.tile.convert
  // CHECK:         cute.tile.store (%[[S]]
  // COPIES-LABEL: gpu.func @gradient
  // COPIES:         cute.tile.load<[128, 256]>{{.*}}{cute.late = "tma"}
  // PTX-LABEL:   .entry gradient(
  // PTX:         wgmma.wait_group.sync.aligned 0
  // PTX:         ldmatrix
  // PTX:         stmatrix
  // PTX-COUNT-3: shfl.sync.bfly
  // PTX:         stmatrix
  // PTX:         cp.async.bulk.tensor.2d.global.shared
  // PTX:         bar.sync
  // PTX-COUNT-8: st.shared
  // PTX:         bar.sync
  // PTX-COUNT-8: ld.shared
  // PTX:         st.global
  gpu.func @gradient(%a: !A, %b: !A, %c: !A, %d: !A, %r: !R) kernel {
    %i, %j = cute.tile.program<[128, 256]> %d
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x256xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[256, 64]> %b[%j, %k]
      %p = cute.tile.gemm %x, %y, %acc
      scf.yield %p : tensor<128x256xf32>
    }
    %e = cute.tile.load<[128, 256], f32> %c[%i, %j]
    %g = cute.tile.mul %s, %e
    %o = cute.tile.cast<f16> %g
    cute.tile.store %o, %d[%i, %j]
    %sum = cute.tile.reduce<add, 0> %g
    cute.tile.store %sum, %r[%i, %j]
    gpu.return
  }

  // Two stores have narrower bands, so that a buffer of each fits. What computes the second tile, and is behind the first store, moves in front of it.
  // CHECK-LABEL: gpu.func @two
  // CHECK:         cute.tile.load<[1, 256]>{{.*}}{cute.late = "row"}
  // CHECK:         cute.tile.store<{tma, width = 32 : i32}>{{.*}}{cute.joined = 0 : i32}
  // CHECK:         cute.tile.store<{tma, width = 32 : i32}>{{.*}}{cute.joined = 0 : i32}
  // PTX-LABEL:   .entry two(
  // PTX:         stmatrix
  // PTX:         st.shared.v2.f32
  // PTX:         cp.async.bulk.tensor.2d.global.shared
  // PTX:         cp.async.bulk.tensor.2d.global.shared
  // PTX:         cp.async.bulk.commit_group
  gpu.func @two(%a: !A, %b: !A, %c: !A, %d: !A, %z: !R) kernel {
    %i, %j = cute.tile.program<[128, 256]> %d
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x256xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[256, 64]> %b[%j, %k]
      %p = cute.tile.gemm %x, %y, %acc
      scf.yield %p : tensor<128x256xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %d[%i, %j]
    %e = cute.tile.load<[1, 256], f32> %c[0, %j]
    %g = cute.tile.mul %s, %e
    cute.tile.store %g, %z[%i, %j]
    gpu.return
  }

  // A reduction whose result the stored tile needs is computed before it. A tile that is loaded where another one was stored is loaded behind it.
  // CHECK-LABEL: gpu.func @dependent
  // CHECK-NOT:     cute.joined
  // CHECK-LABEL: gpu.func @stored
  // CHECK-NOT:     cute.joined
  // CHECK:         gpu.return
  gpu.func @dependent(%a: !A, %b: !A, %d: !A) kernel {
    %i, %j = cute.tile.program<[128, 256]> %d
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x256xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[256, 64]> %b[%j, %k]
      %p = cute.tile.gemm %x, %y, %acc
      scf.yield %p : tensor<128x256xf32>
    }
    %m = cute.tile.reduce<max, 1> %s
    %g = cute.tile.sub %s, %m
    cute.tile.store %g, %d[%i, %j]
    gpu.return
  }
  gpu.func @stored(%a: !A, %b: !A, %d: !A, %z: !A) kernel {
    %i, %j = cute.tile.program<[128, 256]> %d
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x256xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[256, 64]> %b[%j, %k]
      %p = cute.tile.gemm %x, %y, %acc
      scf.yield %p : tensor<128x256xf32>
    }
    cute.tile.store %s, %d[%i, %j]
    %e = cute.tile.load<[128, 256], f32> %d[%i, %j]
    %g = cute.tile.add %s, %e
    cute.tile.store %g, %z[%i, %j]
    gpu.return
  }

  // Of every second column of sums a thread has single columns of a band, which it writes one by one.
  // CHECK-LABEL: gpu.func @gated
  // CHECK:         cute.tile.store<{tma, width = 64 : i32}>{{.*}}tensor<128x128xf16, #cute.layout<"((4,8,8),
  // PTX-LABEL:   .entry gated(
  // PTX:         wgmma.wait_group.sync.aligned 0
  // PTX-NOT:     st.global
  // PTX:         st.shared.b16
  // PTX-NOT:     st.global
  // PTX:         cp.async.bulk.tensor.2d.global.shared
  // PTX-NOT:     st.global
  // PTX:         ret;
  gpu.func @gated(%a: !A, %b: !A, %d: !A) kernel {
    %i, %j = cute.tile.program<[128, 128]> %d
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x256xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[256, 64]> %b[%j, %k]
      %p = cute.tile.gemm %x, %y, %acc
      scf.yield %p : tensor<128x256xf32>
    }
    %pairs = cute.tile.reshape<[128, 128, 2]> %s
    %u = cute.tile.pick<0, 2> %pairs
    %v = cute.tile.pick<1, 2> %pairs
    %g = cute.tile.mul %u, %v
    %o = cute.tile.cast<f16> %g
    cute.tile.store %o, %d[%i, %j]
    gpu.return
  }

  // A mask of columns, whose number is counted between them, does not part a store and a reduction; its comparisons are those of a band.
  // CHECK-LABEL: gpu.func @masked
  // CHECK:         cute.tile.count<0, 1>
  // CHECK:         cute.tile.store<{tma, width = 64 : i32}>{{.*}}{cute.joined = 0 : i32}
  // CHECK:         cute.tile.reduce{{.*}}{cute.joined = 0 : i32}
  // PTX-LABEL:   .entry masked(
  // PTX:         wgmma.wait_group.sync.aligned 0
  // PTX:         stmatrix
  // PTX:         setp.lt
  // PTX:         cp.async.bulk.tensor.2d.global.shared
  // PTX:         setp.lt
  // PTX:         cp.async.bulk.tensor.2d.global.shared
  gpu.func @masked(%a: !A, %b: !A, %d: !A, %r: !R) kernel {
    %i, %j = cute.tile.program<[128, 256]> %d
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x256xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[256, 64]> %b[%j, %k]
      %p = cute.tile.gemm %x, %y, %acc
      scf.yield %p : tensor<128x256xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %d[%i, %j]
    %size = arith.constant 256 : i32
    %first = arith.muli %j, %size : i32
    %column = cute.tile.iota<[1, 256], 1> %first
    %columns = cute.tile.count<0, 1> %b
    %inside = cute.tile.lt %column, %columns
    %kept = cute.tile.where %inside, %s, 0.0
    %sum = cute.tile.reduce<add, 1> %kept
    cute.tile.store %sum, %r[%i, %j]
    gpu.return
  }

  // Two reductions share a count that is behind the store: it moves once, in front of both masks.
  // CHECK-LABEL: gpu.func @shared
  // CHECK:         %[[N:.*]] = cute.tile.count<0, 1>
  // CHECK-COUNT-2: cute.tile.broadcast{{.*}} (%[[N]])
  // CHECK:         cute.tile.store<{tma{{.*}}{cute.joined = 0 : i32}
  // CHECK:         cute.tile.reduce<{{.*}}{cute.joined = 0 : i32}
  // CHECK:         cute.tile.reduce<{{.*}}{cute.joined = 0 : i32}
  // PTX-LABEL:   .entry shared(
  gpu.func @shared(%a: !A, %b: !A, %d: !A, %r: !R, %q: !R) kernel {
    %i, %j = cute.tile.program<[128, 128]> %d
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[128, 64]> %b[%j, %k]
      %p = cute.tile.gemm %x, %y, %acc
      scf.yield %p : tensor<128x128xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %d[%i, %j]
    %rows = arith.constant 128 : i32
    %from = arith.muli %i, %rows : i32
    %at = cute.tile.iota<[128, 1], 0> %from
    %m = cute.tile.count<0, 1> %a
    %inside = cute.tile.lt %at, %m
    %kept = cute.tile.where %inside, %s, 0x7F800000
    %least = cute.tile.reduce<min, 0> %kept
    cute.tile.store %least, %r[%i, %j]
    %again = cute.tile.lt %at, %m
    %abs = cute.tile.abs %s
    %seen = cute.tile.where %again, %abs, 0xFF800000
    %most = cute.tile.reduce<max, 0> %seen
    cute.tile.store %most, %q[%i, %j]
    gpu.return
  }
}
