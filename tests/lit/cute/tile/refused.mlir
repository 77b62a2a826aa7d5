// RUN: cute-opt -split-input-file -verify-diagnostics -cute-tile-expand -cute-tile-schedule -cute-tile-layouts %s

// expected-error @+1 {{expected a block size of whole warps, a multiple of 32 up to 1024, got 100}}
gpu.module @kernels { gpu.func @k(%x: !cute.memref<f32, gmem, "?:1">) kernel attributes {nvvm.reqntid = array<i32: 100, 1, 1>} {
  %i = cute.tile.program<[64]> %x
  %a = cute.tile.load<[64]> %x[%i]
  cute.tile.store %a, %x[%i]
  gpu.return
} }

// -----

// expected-error @+1 {{expected a schedule (cute.schedule) such as "naive", "auto" or "stages=4 consumers=2", got 'fast'}}
gpu.module @kernels { gpu.func @k(%x: !cute.memref<f32, gmem, "?:1">) kernel attributes {cute.schedule = "fast"} {
  %i = cute.tile.program<[64]> %x
  %a = cute.tile.load<[64]> %x[%i]
  cute.tile.store %a, %x[%i]
  gpu.return
} }

// -----

// A dimension of the grid at which the store does not look.
gpu.module @kernels { gpu.func @k(%x: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">, %y: !cute.memref<f32, gmem, "?:1">) kernel {
  // expected-note @below {{the grid is stated here; cute.tile.store<add> and cute.tile.atomic combine what blocks compute}}
  %i, %j = cute.tile.program<[4, 64]> %x
  %a = cute.tile.load<[4, 64]> %x[%i, %j]
  %s = cute.tile.reduce<add, 1> %a
  %t = cute.tile.reshape<[4]> %s
  // expected-error @below {{expected a place that depends on dimension 1 of the grid: blocks that differ there write the same elements}}
  cute.tile.store %t, %y[%i]
  gpu.return
} }

// -----

// Under a condition on it, or with one tile there, it is right.
gpu.module @kernels { gpu.func @k(%x: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">, %y: !cute.memref<f32, gmem, "?:1">) kernel {
  %c0 = arith.constant 0 : i32
  %i, %j = cute.tile.program<[4, 64]> %x
  %a = cute.tile.load<[4, 64]> %x[%i, %j]
  %s = cute.tile.reduce<add, 1> %a
  %t = cute.tile.reshape<[4]> %s
  %first = arith.cmpi eq, %j, %c0 : i32
  scf.if %first {
    cute.tile.store %t, %y[%i]
  }
  gpu.return
} }
