// RUN: cute-opt -split-input-file -verify-diagnostics %s

func.func @f() {
  // expected-error @below {{expects a tensor in shared memory with known extents and strides: modes of a tile, then stages}}
  %r = cute.tile.ring() : () -> !cute.memref<f16, smem, align<1024>, "(?,64,2):(64,1,4096)">
  return
}

// -----

func.func @f(%r: !cute.memref<f16, smem, align<1024>, "(64,64,2):(64,1,4096)">, %i: i32, %x: tensor<64x32xf16>) {
  // expected-error @below {{expects a tile of the shape of the ring's tiles}}
  cute.tile.put(%x, %r, %i) : (tensor<64x32xf16>, !cute.memref<f16, smem, align<1024>, "(64,64,2):(64,1,4096)">, i32) -> ()
  return
}

// -----

func.func @f(%r: !cute.memref<f16, smem, align<1024>, "(64,64,2):(64,1,4096)">, %i: i32) {
  // expected-error @below {{expects a result of the shape of the ring's tiles}}
  %t = cute.tile.take(%r, %i) : (!cute.memref<f16, smem, align<1024>, "(64,64,2):(64,1,4096)">, i32) -> tensor<64x32xf16>
  return
}

// -----

func.func @f(%x: tensor<64x64xf32>) {
  // expected-error @below {{expects a result of the accumulator's type}}
  %y = cute.tile.settle(%x) : (tensor<64x64xf32>) -> tensor<64x32xf32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{expects 1 to 32 warps, but got 33}}
  cute.tile.role "all" attributes {registers = 0 : i32, warps = 33 : i32} {
  }
  return
}

// -----

func.func @f() {
  // expected-error @below {{expects registers of 24 to 240, a multiple of 8, or 0, but got 30}}
  cute.tile.role "few" attributes {registers = 30 : i32, warps = 1 : i32} {
  }
  return
}

// -----

func.func @f() {
  // expected-error @below {{expects 2 to 4 turns of 4 warps, but got 2 of 8}}
  cute.tile.role "both" attributes {registers = 240 : i32, turns = 2 : i32, warps = 8 : i32} {
  }
  return
}

// -----

func.func @f(%a: tensor<8x1xi32>) {
  // expected-error @below {{expects a tile of i1}}
  %t = cute.tile.any(%a) : (tensor<8x1xi32>) -> i1
  return
}

// -----

func.func @f(%a: tensor<64x64xf32>, %i: i32) {
  // expected-error @below {{expects the index of the block among those that divide the tile: the last result of cute.tile.program with 'in_cluster'}}
  %t = cute.tile.reduce_scatter(%a, %i) {mode = 0 : i32} : (tensor<64x64xf32>, i32) -> tensor<32x64xf32>
  return
}

// -----

!C = !cute.memref<f32, gmem, "(?,?):(?{i64},1)">
func.func @f(%a: tensor<64x64xf32>, %c: !C) {
  %i, %j, %share = cute.tile.program(%c) {extents = array<i32: 64, 64>, in_cluster = array<i32: 1, 1, 4>} : (!C) -> (i32, i32, i32)
  // expected-error @below {{expects a result that is one of 4 parts of the tile along 'mode', of the same elements}}
  %t = cute.tile.reduce_scatter(%a, %share) {mode = 0 : i32} : (tensor<64x64xf32>, i32) -> tensor<32x64xf32>
  return
}

// -----

!C = !cute.memref<f32, gmem, "(?,?):(?{i64},1)">
func.func @f(%c: !C) {
  // expected-error @below {{expects blocks of a cluster for each of the grid's 2 dimensions, and of a tile, but got 1}}
  %i, %j = cute.tile.program(%c) {extents = array<i32: 64, 64>, in_cluster = array<i32: 2>} : (!C) -> (i32, i32)
  return
}

// -----

!C = !cute.memref<f32, gmem, "(?,?):(?{i64},1)">
func.func @f(%c: !C) {
  // expected-error @below {{expects 'in_cluster' with 'single'}}
  %i, %j = cute.tile.program(%c) {extents = array<i32: 64, 64>, single} : (!C) -> (i32, i32)
  return
}

// -----

!C = !cute.memref<f32, gmem, "(?,?):(?{i64},1)">
func.func @f(%a: tensor<64x1xf32>, %c: !C) {
  %i, %j = cute.tile.program(%c) {extents = array<i32: 64, 64>} : (!C) -> (i32, i32)
  // expected-error @below {{expects an index of a grid in clusters: a result of cute.tile.program with 'in_cluster'}}
  %t = cute.tile.cluster_reduce(%a, %j) {kind = "add"} : (tensor<64x1xf32>, i32) -> tensor<64x1xf32>
  return
}

// -----

!C = !cute.memref<f32, gmem, "(?,?):(?{i64},1)">
func.func @f(%a: tensor<64x1xf16>, %c: !C) {
  %i, %j = cute.tile.program<[64, 64], [1, 4]> %c
  // expected-error @below {{expects a tile of f32 or i32}}
  %t = cute.tile.cluster_reduce<max> %a, %j
  return
}

// -----

!C = !cute.memref<f32, gmem, "(?,?):(?{i64},1)">
func.func @f(%a: tensor<64x1xf32>, %c: !C) {
  %i, %j = cute.tile.program<[64, 64], [1, 4]> %c
  // expected-error @below {{expects a tile of i32}}
  %t = cute.tile.cluster_reduce<xor> %a, %j
  return
}

// -----

!C = !cute.memref<f32, gmem, "(?,?):(?{i64},1)">
func.func @f(%a: tensor<64x1xf32>, %c: !C) {
  %i, %j = cute.tile.program<[64, 64], [1, 4]> %c
  // expected-error @below {{expects a result of the tile's type}}
  %t = cute.tile.cluster_reduce(%a, %j) {kind = "add"} : (tensor<64x1xf32>, i32) -> tensor<1x64xf32>
  return
}

// -----

!r = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,(64,4),2):(64,(1,4096),16384)">
!p = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,(64,1),2):(64,(1,4096),16384)">
func.func @f(%r: !r) {
  // expected-error @below {{expects rings with rows in spans, of the result 2 times fewer of them, and 'index' below that}}
  %p = cute.tile.part(%r) {count = 2 : i32, index = 0 : i32} : (!r) -> !p
  return
}

// -----

!r = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,2):(64,1,4096)">
!p = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,32,2):(64,1,4096)">
func.func @f(%r: !r) {
  // expected-error @below {{expects rings with rows in spans}}
  %p = cute.tile.part(%r) {count = 2 : i32, index = 0 : i32} : (!r) -> !p
  return
}

// -----

!r = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,(64,4),2):(64,(1,4096),16384)">
!p = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,(64,2),2):(64,(1,4096),16384)">
func.func @f(%r: !r) {
  // expected-error @below {{expects rings with rows in spans, of the result 2 times fewer of them, and 'index' below that}}
  %p = cute.tile.part(%r) {count = 2 : i32, index = 2 : i32} : (!r) -> !p
  return
}

// -----

func.func @f(%a: tensor<64x32xf16>, %b: tensor<512x32xf16>, %c: tensor<64x512xf32>) {
  // expected-error @below {{expects 'band', of a product of warpgroups, to be two numbers, an index and a larger count}}
  %d = cute.tile.gemm(%a, %b, %c) {band = array<i32: 2, 2>, wgmma} : (tensor<64x32xf16>, tensor<512x32xf16>, tensor<64x512xf32>) -> tensor<64x512xf32>
  return
}
