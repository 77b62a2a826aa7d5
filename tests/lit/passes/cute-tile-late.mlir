// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=1,persistent=1},cute-tile-layouts{arch=sm_90a})' | FileCheck %s
// RUN: cute-ptx %s -arch sm_90a --schedule="stages=2 consumers=1 persistent=1" -o - | FileCheck %s --check-prefix=PTX

// A tile that only a store by TMA uses is loaded with it, band by band: each band is loaded in front of the stores of the one before, and the
// tile takes no shared memory and no registers for the whole.
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
gpu.module @m {
  // CHECK-LABEL: gpu.func @added
  // CHECK:         cute.tile.load{{.*}}cute.late
  // CHECK-NOT:     cute.tile.convert
  // CHECK:         gpu.return
  // PTX-LABEL:   .entry added(
  // PTX:         wgmma.mma_async
  // PTX:         ld.global.b32
  // PTX:         stmatrix
  // PTX:         ld.global.b32
  // PTX:         stmatrix
  // PTX:         cp.async.bulk.tensor.2d.global.shared
  gpu.func @added(%a: !A, %b: !A, %c: !A, %d: !A) kernel {
    %i, %j = cute.tile.program<[64, 256]> %d
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x256xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x256xf32>) : i32 {
      %x = cute.tile.load<[64, 64]> %a[%i, %k]
      %y = cute.tile.load<[256, 64]> %b[%j, %k]
      %p = cute.tile.gemm %x, %y, %acc
      scf.yield %p : tensor<64x256xf32>
    }
    %e = cute.tile.load<[64, 256], f32> %c[%i, %j]
    %o = cute.tile.add %s, %e
    cute.tile.store %o, %d[%i, %j]
    gpu.return
  }

  // One that something else uses, too, is not.
  // CHECK-LABEL: gpu.func @twice
  // CHECK-NOT:     cute.late
  // CHECK:         gpu.return
  gpu.func @twice(%a: !A, %b: !A, %c: !A, %d: !A, %r: !cute.memref<f32, gmem, "(?,?):(?,?)">) kernel {
    %i, %j = cute.tile.program<[64, 256]> %d
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x256xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x256xf32>) : i32 {
      %x = cute.tile.load<[64, 64]> %a[%i, %k]
      %y = cute.tile.load<[256, 64]> %b[%j, %k]
      %p = cute.tile.gemm %x, %y, %acc
      scf.yield %p : tensor<64x256xf32>
    }
    %e = cute.tile.load<[64, 256], f32> %c[%i, %j]
    %o = cute.tile.add %s, %e
    cute.tile.store %o, %d[%i, %j]
    %sum = cute.tile.reduce<add, 1> %e
    cute.tile.store %sum, %r[%i, %j]
    gpu.return
  }
}
