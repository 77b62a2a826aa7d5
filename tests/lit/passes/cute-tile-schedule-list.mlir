// With `list`: of a kernel without products the block sizes worth trying, with an estimate from its traffic, the likeliest first, or the one that is
// stated; of a kernel with a schedule of its own the likeliest that agrees, since there is no choice of others.
// RUN: cute-opt %s --remarks=cute-tile-schedule -pass-pipeline="builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a list=8})" 2>&1 | FileCheck %s
// RUN: cute-opt %s --remarks=cute-tile-schedule -pass-pipeline="builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=threads=64 list=8})" 2>&1 | FileCheck %s --check-prefix=STATED
// RUN: cute-opt %s --remarks=cute-tile-schedule -pass-pipeline="builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a list=8 sizes=m=2,n=512})" 2>&1 | FileCheck %s --check-prefix=FEW
!X = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
gpu.module @kernels {
  // CHECK: :[[@LINE+8]]:3: remark: likely: threads={{[0-9]+}}; [[#]].{{[0-9]+}} us, bound by device memory [cute-tile-schedule]
  // CHECK-COUNT-4: remark: likely: threads={{[0-9]+}}; {{[0-9.]+}} us, bound by device memory
  // CHECK: remark: likely: threads=512; {{[0-9.]+}} us, bound by load latency
  // STATED: :[[@LINE+5]]:3: remark: likely: threads=64; {{[0-9.]+}} us, bound by device memory
  // FEW: :[[@LINE+4]]:3: remark: likely: threads=256; {{[0-9.]+}} us, bound by launch
  // FEW-COUNT-4: remark: likely: threads={{[0-9]+}};
  // FEW: remark: likely: threads=32; {{[0-9.]+}} us, bound by launch

  gpu.func @twice(%x: !X, %y: !X) kernel {
    %i, %j = cute.tile.program<[1, 512]> %x
    %a = cute.tile.load<[1, 512]> %x[%i, %j]
    %b = cute.tile.add %a, %a
    cute.tile.store %b, %y[%i, %j]
    gpu.return
  }
  // CHECK: :[[@LINE+2]]:3: remark: likely: threads=128; {{[0-9.]+}} us, bound by device memory
  // STATED: :[[@LINE+1]]:3: remark: likely: threads=128;
  gpu.func @stated(%x: !X, %y: !X) kernel attributes {cute.schedule = "threads=128"} {
    %i, %j = cute.tile.program<[1, 512]> %x
    %a = cute.tile.load<[1, 512]> %x[%i, %j]
    cute.tile.store %a, %y[%i, %j]
    gpu.return
  }
  // CHECK: remark: likely: stages=3 consumers=2 cluster=1x1
  // CHECK-NOT: likely
  gpu.func @product(%a: !A, %b: !A, %c: !A) kernel attributes {cute.schedule = "stages=3 cluster=1x1"} {
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
    %h = cute.tile.cast<f16> %sum
    cute.tile.store %h, %c[%i, %j]
    gpu.return
  }
}
