// RUN: cute-opt %s -cute-tile-expand -cute-tile-schedule="arch=sm_90a schedule=stages=3,cluster=1x1" -cute-tile-layouts=arch=sm_90a -cute-tile-persistent -cute-async-pipeline -cute-async-products -cute-warp-specialization -cute-tile-multicast -cute-tile-distribute=arch=sm_90a | FileCheck %s --check-prefix=ATTRIBUTE
// RUN: cute-opt %s -cute-tile-expand -cute-tile-schedule="arch=sm_90a schedule=stages=3,cluster=1x1" -cute-tile-layouts=arch=sm_90a -cute-tile-persistent -cute-async-pipeline -cute-async-products -cute-warp-specialization -cute-tile-multicast -cute-tile-distribute=arch=sm_90a -cute-tile-launch -cute-nvgpu-tma-materialize -cute-kernel-metadata | FileCheck %s --check-prefix=METADATA
// RUN: cute-opt %s -cute-tile-expand -cute-tile-schedule="arch=sm_80 schedule=consumers=2" -cute-tile-layouts=arch=sm_80 -cute-async-pipeline -cute-tile-distribute=arch=sm_80 | FileCheck %s --check-prefix=REFUSED

// cute-tile-distribute describes roles, buffers and waits; cute-kernel-metadata moves the description to the kernel's metadata.
// ATTRIBUTE: gpu.func @gemm({{.*}} attributes {
// ATTRIBUTE-SAME: cute.scheduled = {
// ATTRIBUTE-SAME: grid = {order = 8 : i64, resident = true, tile = [128, 256]}
// ATTRIBUTE-SAME: pipes = [{arrivals = 2 : i64, bytes = 48 : i64, consumer = 1 : i64, expected = 49152 : i64, offset = 147456 : i64, producer = 0 : i64, reader = "warpgroup", readers = 2 : i64, stages = 3 : i64}]
// ATTRIBUTE-SAME: products = [{atom = [64, 256, 16]{{.*}}instruction = "wgmma"{{.*}}pending = 1 : i64, role = 1 : i64, tile = [128, 256, 64]}]
// ATTRIBUTE-SAME: rings = [{bytes = 49152 : i64, copy = "tma", dtype = "f16"{{.*}}tensor = 0 : i64, tile = [128, 64]}, {{.*}}offset = 49152 : i64, pipe = 0 : i64{{.*}}tensor = 1 : i64, tile = [256, 64]}]
// ATTRIBUTE-SAME: roles = [{barrier = 1 : i64, first_warp = 0 : i64, name = "producer", registers = 24 : i64, warps = 1 : i64}, {barrier = 2 : i64, first_warp = 4 : i64, name = "consumers", registers = 240 : i64, warps = 8 : i64}]
// ATTRIBUTE-SAME: text = "stages=3 consumers=2

// METADATA: cute.kernel = {
// METADATA-SAME: schedule = {
// METADATA-NOT: cute.scheduled

// Remarks of the passes are kept as refusals.
// REFUSED: cute.scheduled = {
// REFUSED-SAME: refused = [{{.*}}text = "no warpgroups as consumers: they need TMA and wgmma, of sm_90a"}]
// REFUSED-NOT: cute.refused
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
gpu.module @kernels { gpu.func @gemm(%a: !A, %b: !A, %c: !A) kernel {
  %i, %j = cute.tile.program<[128, 256]> %c
  %n = cute.tile.count<1, 64> %a
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %x = cute.tile.load<[128, 64]> %a[%i, %k]
    %y = cute.tile.load<[256, 64]> %b[%j, %k]
    %d = cute.tile.gemm %x, %y, %acc
    scf.yield %d : tensor<128x256xf32>
  }
  %h = cute.tile.cast<f16> %sum
  cute.tile.store %h, %c[%i, %j]
  gpu.return
} }
