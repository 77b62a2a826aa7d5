// RUN: cute-opt -split-input-file -verify-diagnostics -cute-tile-expand -cute-tile-layouts %s

// expected-error @+1 {{expected a block size of whole warps, a multiple of 32 up to 1024, got 100}}
gpu.module @kernels { gpu.func @k(%x: !cute.memref<f32, gmem, "?:1">) kernel attributes {nvvm.reqntid = array<i32: 100, 1, 1>} {
  %i = cute.tile.program<[64]> %x
  %a = cute.tile.load<[64]> %x[%i]
  cute.tile.store %a, %x[%i]
  gpu.return
} }

// -----

// expected-error @+1 {{expected a schedule (cute.schedule): "naive", or none}}
gpu.module @kernels { gpu.func @k(%x: !cute.memref<f32, gmem, "?:1">) kernel attributes {cute.schedule = "fast"} {
  %i = cute.tile.program<[64]> %x
  %a = cute.tile.load<[64]> %x[%i]
  cute.tile.store %a, %x[%i]
  gpu.return
} }
