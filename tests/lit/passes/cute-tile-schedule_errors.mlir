// RUN: cute-opt %s -split-input-file -verify-diagnostics -cute-tile-expand -cute-tile-schedule="arch=sm_90a"

!X = !cute.memref<f32, gmem, "?:1">
// expected-error @+1 {{expected sizes (cute.sizes) such as "m=4096 n=4096 k=4096 batch=1", of 1 to 2147483647, got 'rows=7'}}
gpu.module @m { gpu.func @k(%x: !X) kernel attributes {cute.sizes = "m=4 rows=7"} {
  %i = cute.tile.program<[32]> %x
  gpu.return
} }

// -----

!X = !cute.memref<f32, gmem, "?:1">
// expected-error @+1 {{got 'm=0'}}
gpu.module @m { gpu.func @k(%x: !X) kernel attributes {cute.sizes = "m=0"} {
  %i = cute.tile.program<[32]> %x
  %a = cute.tile.load<[32]> %x[%i]
  cute.tile.store %a, %x[%i]
  gpu.return
} }

// -----

!X = !cute.memref<f32, gmem, "?:1">
// expected-error @+1 {{got 'k=2147483648'}}
gpu.module @m { gpu.func @k(%x: !X) kernel attributes {cute.sizes = "k=2147483648"} {
  %i = cute.tile.program<[32]> %x
  %a = cute.tile.load<[32]> %x[%i]
  cute.tile.store %a, %x[%i]
  gpu.return
} }

// -----

!X = !cute.memref<f32, gmem, "(?,?):(?{i64},1)">
gpu.module @m { gpu.func @k(%x: !X) kernel {
  // expected-error @+1 {{expected clusters of at most 8 blocks, along the last two dimensions of the grid}}
  %i, %j = cute.tile.program<[32, 32], [4, 4]> %x
  %a = cute.tile.load<[32, 32]> %x[%i, %j]
  cute.tile.store %a, %x[%i, %j]
  gpu.return
} }

// -----

!X = !cute.memref<f32, gmem, "(?,?,?):(?{i64},?{i64},1)">
gpu.module @m { gpu.func @k(%x: !X) kernel {
  // expected-error @+1 {{expected clusters of at most 8 blocks, along the last two dimensions of the grid}}
  %b, %i, %j = cute.tile.program<[1, 32, 32], [2, 1, 1]> %x
  %a = cute.tile.load<[1, 32, 32]> %x[%b, %i, %j]
  cute.tile.store %a, %x[%b, %i, %j]
  gpu.return
} }
