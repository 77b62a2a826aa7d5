// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=2,persistent=1},cute-tile-layouts{arch=sm_90a})' | FileCheck %s
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=2,persistent=1},cute-tile-layouts{arch=sm_90a},cute-tile-persistent,cute-async-pipeline{arch=sm_90a})' | FileCheck %s --check-prefix=COPIES
// RUN: cute-ptx %s -arch sm_90a --schedule="stages=2 consumers=2 persistent=1" --remarks=cute-async-pipeline -o %t.ptx 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx

// A tile that only a store by TMA uses is loaded with it, band by band, and takes no registers for the whole. TMA copies its bands to the store's
// buffers: the first two in the first iteration of the loop, each later one, from L2, once the store has read its buffer.
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
gpu.module @m {
  // CHECK-LABEL: gpu.func @added
  // CHECK:         cute.tile.load{{.*}}{cute.late}
  // CHECK-NOT:     cute.tile.convert
  // CHECK:         gpu.return
  // COPIES-LABEL: gpu.func @added
  // COPIES:         cute.tile.load{{.*}}{cute.late = "tma"}
  // COPIES:         cute.tile.store<{tma, width = 64 : i32}>{{.*}}{cute.buffers = 2 : i32}
  // PTX-LABEL:   .entry added(
  // PTX:         wgmma.commit_group
  // PTX:         cp.async.bulk.wait_group.read
  // PTX:         mbarrier.arrive.expect_tx
  // PTX:         cp.async.bulk.tensor.2d.shared
  // PTX:         mbarrier.arrive.expect_tx
  // PTX:         cp.async.bulk.tensor.2d.shared
  // PTX-COUNT-2: cp.async.bulk.prefetch.tensor
  // PTX:         wgmma.wait_group.sync.aligned 1
  // PTX:         wgmma.wait_group.sync.aligned 0
  // PTX-NOT:     ld.global
  // PTX:         mbarrier.try_wait
  // PTX:         ldmatrix
  // PTX:         stmatrix
  // PTX:         cp.async.bulk.tensor.2d.global.shared
  // PTX:         cp.async.bulk.wait_group.read
  // PTX:         mbarrier.arrive.expect_tx
  // PTX:         cp.async.bulk.tensor.2d.shared
  // PTX:         mbarrier.try_wait
  // PTX:         ldmatrix
  gpu.func @added(%a: !A, %b: !A, %c: !A, %d: !A) kernel {
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
    %o = cute.tile.add %s, %e
    cute.tile.store %o, %d[%i, %j]
    gpu.return
  }

  // One that something else uses, too, which the stored tile needs, is not.
  // CHECK-LABEL: gpu.func @twice
  // CHECK-NOT:     cute.late
  // CHECK:         gpu.return
  gpu.func @twice(%a: !A, %b: !A, %c: !A, %d: !A, %r: !cute.memref<f32, gmem, "(?,?):(?,?)">) kernel {
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
    %sum = cute.tile.reduce<add, 1> %e
    cute.tile.store %sum, %r[%i, %j]
    %f = cute.tile.mul %e, %sum
    %o = cute.tile.add %s, %f
    cute.tile.store %o, %d[%i, %j]
    gpu.return
  }

  // A row that all rows of the tile add is loaded in front of the last wait, two elements by a thread, and read in shared memory.
  // CHECK-LABEL: gpu.func @row
  // CHECK:         cute.tile.load{{.*}}{cute.late = "row"}
  // PTX-LABEL:   .entry row(
  // PTX:         wgmma.wait_group.sync.aligned 1
  // PTX-COUNT-2: ld.global.b16
  // PTX:         wgmma.wait_group.sync.aligned 0
  // PTX-NOT:     ld.global
  // PTX-COUNT-2: st.shared.f32
  // PTX:         bar{{.*}}sync
  // PTX:         ld.shared.v2.f32
  // PTX:         stmatrix
  gpu.func @row(%a: !A, %b: !A, %r: !cute.memref<f16, gmem, "?:1">, %d: !A) kernel {
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
    %e = cute.tile.load<[256], f32> %r[%j]
    %o = cute.tile.add %s, %e
    cute.tile.store %o, %d[%i, %j]
    gpu.return
  }

  // In place, from the same tile: as of another tensor.
  // COPIES-LABEL: gpu.func @in_place
  // COPIES:         cute.tile.load{{.*}}{cute.late = "tma"}
  gpu.func @in_place(%a: !A, %b: !A, %d: !A) kernel {
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
    %e = cute.tile.load<[128, 256], f32> %d[%i, %j]
    %o = cute.tile.add %s, %e
    cute.tile.store %o, %d[%i, %j]
    gpu.return
  }

  // What the block stored before, or with another fill, threads load; the former once the store is complete.
  // COPIES-LABEL: gpu.func @stored_before
  // COPIES:         cute.tile.load{{.*}}{cute.late}
  // COPIES:         cute.tile.load{{.*}}{cute.late}
  // REMARK: threads load this tile with its store: its fill is not zero
  // REMARK: threads load this tile with its store: the kernel also writes the tensor
  // PTX-LABEL:   .entry stored_before(
  // PTX:         cp.async.bulk.tensor.2d.global.shared
  // PTX:         cp.async.bulk.wait_group 0;
  // PTX:         ld.global
  gpu.func @stored_before(%a: !A, %b: !A, %c: !A, %d: !A, %f: !A) kernel {
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
    cute.tile.store %s, %c[%i, %j]
    %m = cute.tile.load<[128, 256], neg_inf, f32> %f[%i, %j]
    %e = cute.tile.load<[128, 256], f32> %c[%i, %j]
    %o = cute.tile.add %s, %e
    %q = cute.tile.max %o, %m
    cute.tile.store %q, %d[%i, %j]
    gpu.return
  }

  // Of elements of another size than the result's: in buffers of their own, and narrower bands where these do not fit beside the stages.
  // COPIES-LABEL: gpu.func @mixed
  // COPIES:         cute.tile.load{{.*}}{cute.late = "tma"}
  // COPIES:         cute.tile.store<{tma, width = {{32|16}} : i32}>{{.*}}{cute.buffers = {{[2-8]}} : i32}
  gpu.func @mixed(%a: !A, %b: !A, %c: !A, %d: !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">) kernel {
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
    %o = cute.tile.add %s, %e
    cute.tile.store %o, %d[%i, %j]
    gpu.return
  }

  // A column that all columns of the tile multiply is loaded in front of the last wait, too.
  // PTX-LABEL:   .entry column(
  // PTX:         wgmma.wait_group.sync.aligned 1
  // PTX:         ld.global.f32
  // PTX:         wgmma.wait_group.sync.aligned 0
  // PTX-NOT:     ld.global
  // PTX:         stmatrix
  gpu.func @column(%a: !A, %b: !A, %c: !cute.memref<f32, gmem, "?:1">, %d: !A) kernel {
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
    %e = cute.tile.load<[128]> %c[%i]
    %f = cute.tile.reshape<[128, 1]> %e
    %o = cute.tile.mul %s, %f
    cute.tile.store %o, %d[%i, %j]
    gpu.return
  }

  // Stores of different types have their warpgroups' buffers at different places: each waits until all warpgroups are past the one before.
  // PTX-LABEL:   .entry stored_twice(
  // PTX:         cp.async.bulk.tensor.2d.global.shared
  // PTX:         cp.async.bulk.wait_group.read 0
  // PTX:         bar{{.*}}sync
  // PTX:         cp.async.bulk.tensor.2d.global.shared
  gpu.func @stored_twice(%a: !A, %b: !A, %c: !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">, %d: !A) kernel {
    %i, %j = cute.tile.program<[128, 64]> %d
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %p = cute.tile.gemm %x, %y, %acc
      scf.yield %p : tensor<128x64xf32>
    }
    cute.tile.store %s, %c[%i, %j]
    cute.tile.store %s, %d[%i, %j]
    gpu.return
  }
}
