// RUN: cute-opt -cute-tile-expand -cute-tile-schedule='arch=sm_80 schedule=stages=3,threads=128' -cute-tile-layouts=arch=sm_80 -cute-async-pipeline=arch=sm_80 %s | FileCheck %s
// RUN: cute-ptx -arch sm_80 --schedule=stages=3,threads=128 %s | FileCheck %s --check-prefix=PTX
// One product by tensor cores is the only reader of its stages: the wait for the next iteration's is behind it, and copies have no branch:
// the last iterations, which have none, are another loop. The first fragments of the next stage are loaded in front of the last step of K.

!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!sum = tensor<64x64xf32>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @alone(
  // CHECK:       cute_nvgpu.arch.cp_async_wait_group
  // CHECK-NEXT:  gpu.barrier
  // CHECK:       scf.for
  // CHECK-NOT:   scf.if
  // CHECK:       cute.tile.fetch
  // CHECK-NOT:   cp_async_wait_group
  // CHECK:       cute.tile.gemm
  // CHECK-NEXT:  cute_nvgpu.arch.cp_async_wait_group
  // CHECK-NEXT:  gpu.barrier
  // CHECK:       scf.yield
  // CHECK:       scf.for
  // CHECK-NOT:   cute.tile.fetch
  // CHECK:       cute.tile.gemm
  // CHECK-NOT:   cute.tile.fetch
  // CHECK:       cute_nvgpu.arch.cp_async_wait_group
  // CHECK-NEXT:  gpu.barrier
  // CHECK-NEXT:  scf.yield
  // CHECK:       loop_annotation
  //
  // PTX-LABEL:   .entry alone(
  // PTX:         cp.async.cg.shared.global
  // PTX:         cp.async.wait_group
  // PTX:         bar.sync
  // PTX:         ldmatrix
  // PTX:         mma.sync
  // PTX:         cp.async.wait_group
  // PTX:         bar.sync
  // PTX:         ldmatrix
  // PTX:         mma.sync
  // PTX:         bra
  gpu.func @alone(%a: !A, %b: !A, %c: !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">) kernel {
    %i, %j = cute.tile.program<[64, 64]> %c
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sum
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!sum) : i32 {
      %x = cute.tile.load<[64, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : !sum
    }
    cute.tile.store %sum, %c[%i, %j]
    gpu.return
  }

  // A second reader: the tiles are waited for in front of it.
  // CHECK-LABEL: gpu.func @shared(
  // CHECK:       scf.for
  // CHECK:       cute_nvgpu.arch.cp_async_wait_group
  // CHECK-NEXT:  gpu.barrier
  // CHECK:       cute.tile.gemm
  // CHECK-NOT:   cp_async_wait_group
  // CHECK:       scf.yield
  gpu.func @shared(%a: !A, %b: !A, %c: !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">) kernel {
    %i, %j = cute.tile.program<[64, 64]> %c
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sum
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!sum) : i32 {
      %x = cute.tile.load<[64, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      %f = cute.tile.cast<f32> %x
      %e = cute.tile.add %d, %f
      scf.yield %e : !sum
    }
    cute.tile.store %sum, %c[%i, %j]
    gpu.return
  }
}
