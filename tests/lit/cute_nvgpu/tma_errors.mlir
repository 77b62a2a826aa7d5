// RUN: cute-opt %s -split-input-file -verify-diagnostics

// What the tensor memory accelerator can't do, and what its operations refuse, without types.

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">

// expected-note@+1 {{%t is a}}
func.func @stride(%t: !cute.memref<f16, gmem, align<16>, "(64,100):(100,1)">) {
  // expected-error@+1 {{expects a stride that is a multiple of 16 bytes in mode 0 of the tensor, but got 100 elements of 16 bits: "(64,100):(100,1)"}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "S<3,4,3> o 0 o (64,64):(64,1)")
  return
}

// -----

// expected-note@+1 {{%t is a}}
func.func @not_contiguous(%t: !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},2)">) {
  // expected-error@+1 {{expects stride 1 in the mode of the tensor whose elements lie side by side in shared memory, mode 1 of "(?,?):(?{i64},2)"}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)")
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
// expected-note@+1 {{%t is a}}
func.func @other_mode(%t: !A) {
  // expected-error@+1 {{expects stride 1 in the mode of the tensor whose elements lie side by side in shared memory, mode 0}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(1,64)")
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
// expected-note@+1 {{%t is a}}
func.func @too_few_bytes(%t: !A) {
  // expected-error@+1 {{expects a multiple of 16 bytes side by side in the tile, but got 4 elements of 16 bits}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,4):(4,1)")
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
// expected-note@+1 {{%t is a}}
func.func @swizzle_in_elements(%t: !A) {
  // expected-error@+1 {{expects the swizzle S<1,4,3>, S<2,4,3> or S<3,4,3> of the tile's addresses in bytes (32, 64 or 128 bytes), but got S<3,3,3>}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "S<3,3,3> o 0 o (64,64):(64,1)")
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
// expected-note@+1 {{%t is a}}
func.func @swizzle_with_offset(%t: !A) {
  // expected-error@+1 {{expects an offset of 0 in the tile's layout}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "S<3,4,3> o 64 o (64,64):(64,1)")
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
// expected-note@+1 {{%t is a}}
func.func @layout_as_swizzle(%t: !A) {
  // expected-error@+1 {{expects a layout, or one with a swizzle, as the tile}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1) o 0 o (64,64):(64,1)")
  return
}

// -----

// expected-note@+1 {{%t is a}}
func.func @nibbles(%t: !cute.memref<i4, gmem, align<16>, "(?,?):(?{i64},1)">) {
  // expected-error@+1 {{expects elements of at least 8 bits, but got i4: view the tensor as i8 (cute.recast_iter), the accelerator unpacks none before sm_100}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)")
  return
}

// -----

// expected-note@+1 {{%t is a}}
func.func @no_format(%t: !cute.memref<i128, gmem, align<16>, "(?,?):(?{i64},1)">) {
  // expected-error@+1 {{expects elements that a tensor map has, but got i128}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)")
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
// expected-note@+1 {{%t is a}}
func.func @other_format(%t: !A) {
  // expected-error@+1 {{expects a format of 16 bits for f16, but got TF32_RN}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)") {tma_format = TF32_RN}
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
// expected-note@+2 {{%t is a}}
// expected-note@+1 {{%l is a}}
func.func @unknown_tile(%t: !A, %l: !cute.layout<"(64,?):(64,1)">) {
  // expected-error@+1 {{expects a tile whose layout is known, but got "(64,?):(64,1)"}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, %l)
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
// expected-note@+1 {{%t is a}}
func.func @too_many_modes(%t: !A) {
  // expected-error@+1 {{expects a tile of at most the tensor's 2 modes, but got 3: "(8,8,8)"}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(8,8,8):(64,8,1)")
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
// expected-note@+1 {{%t is a}}
func.func @other_map(%t: !A) {
  // expected-error@+1 {{expects a map with the tile's modes, "(64,64)", but got "(64,32):(1@0,1@1)"}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)", "(64,32):(1@0,1@1)")
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
// expected-note@+1 {{%t is a}}
func.func @no_neighbours(%t: !A) {
  // expected-error@+1 {{expects elements that lie side by side in the tile to do so in a mode of the tensor, but the tile's order is}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)", "(64,64):(1@0,2@1)")
  return
}

// -----

// expected-note@+1 {{%t is a}}
func.func @six_modes(%t: !cute.memref<f16, gmem, align<16>, "(?,?,?,?,?,?):(?{i64},1,?{i64},?{i64},?{i64},?{i64})">) {
  // expected-error@+1 {{expects a tensor of at most 5 modes that are no constant 1, but got}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)")
  return
}

// -----

// expected-note@+1 {{%t is a}}
func.func @composed(%t: !cute.memref<f16, gmem, align<16>, "S<2,3,3> o 0 o (64,64):(64,1)">) {
  // expected-error@+1 {{expects a tensor whose layout has strides: a tensor map has no composed layouts}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)")
  return
}

// -----

// expected-note@+1 {{%t is a}}
func.func @shared(%t: !cute.memref<f16, smem, align<16>, "(64,64):(64,1)">) {
  // expected-error@+1 {{expects a tensor in gmem, but got a tensor in smem}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)")
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
// expected-note@+1 {{%t is a}}
func.func @blocks(%t: !A) {
  // expected-error@+1 {{expects 1 to 16 blocks as num_multicast, but got 17}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)") {num_multicast = 17}
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
// expected-note@+1 {{%t is a}}
func.func @blocks_that_do_not_divide(%t: !A) {
  // expected-error@+1 {{expects a box that 3 blocks can share, but it has 4096 elements}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)") {num_multicast = 3}
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
// expected-note@+1 {{%t is a}}
func.func @too_small_a_part(%t: !A) {
  // expected-error@+1 {{expects a box of which each of 4 blocks gets a multiple of 16 bytes}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(1,16):(16,1)") {num_multicast = 4}
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
// expected-note@+1 {{%t is a}}
func.func @operands(%t: !A) {
  // expected-error@+1 {{expects a tensor, the layout of a tile in shared memory and, where it is not mode by mode, the map to the tensor's modes, but got 4 operands}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, %t, %t, %t)
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
// expected-note@+1 {{%t is a}}
func.func @no_tile(%t: !A) {
  // expected-error@+1 {{expects the layout of a tile as operand #1}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, %t)
  return
}

// -----

// expected-note@+1 {{%t is a}}
func.func @exec_of_a_tensor(%t: !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">) {
  // expected-error@+1 {{expects an atom that make_non_exec_tiled_tma_load, store or reduce makes}}
  %a = cute_nvgpu.atom.make_exec_tma %t
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
!S = !cute.memref<f16, smem, align<1024>, "((64,64)):((64,1))">
// expected-note@+1 {{%s is a}}
func.func @partition_operands(%t: !A, %s: !S) {
// expected-note@+2 {{%a is a}}
// expected-note@+1 {{%c is a}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)")
  // expected-error@+1 {{expects an atom, the block's coordinate, the layout of blocks, a tensor in shared memory and one of coordinates, but got 3 operands}}
  %x, %y = cute_nvgpu.atom.tma_partition(%a, %s, %c)
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
!S = !cute.memref<f16, smem, align<1024>, "((64,64)):((64,1))">
// expected-note@+3 {{%s is a}}
// expected-note@+2 {{%z is a}}
// expected-note@+1 {{%l is a}}
func.func @partition_atom(%t: !A, %s: !S, %z: !cute.coord<"0">, %l: !cute.layout<"1:0">) {
// expected-note@+1 {{%c is a}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)")
  // expected-error@+1 {{expects an atom of TMA as operand #0}}
  %x, %y = cute_nvgpu.atom.tma_partition(%s, %z, %l, %s, %c)
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
!S = !cute.memref<f16, smem, align<1024>, "((64,64)):((64,1))">
// expected-note@+3 {{%z is a}}
// expected-note@+2 {{%l is a}}
// expected-note@+1 {{%t is a}}
func.func @partition_spaces(%t: !A, %s: !S, %z: !cute.coord<"0">, %l: !cute.layout<"1:0">) {
// expected-note@+2 {{%a is a}}
// expected-note@+1 {{%c is a}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)")
  // expected-error@+1 {{expects a tensor in smem as operand #3}}
  %x, %y = cute_nvgpu.atom.tma_partition(%a, %z, %l, %t, %c)
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
!S = !cute.memref<f16, smem, align<1024>, "((64,64)):((64,1))">
// expected-note@+3 {{%z is a}}
// expected-note@+2 {{%l is a}}
// expected-note@+1 {{%s is a}}
func.func @partition_coordinates(%t: !A, %s: !S, %z: !cute.coord<"0">, %l: !cute.layout<"1:0">) {
// expected-note@+1 {{%a is a}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)")
  // expected-error@+1 {{expects a tensor of coordinates as operand #4}}
  %x, %y = cute_nvgpu.atom.tma_partition(%a, %z, %l, %s, %l)
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
!S = !cute.memref<f16, smem, align<1024>, "((64,64)):((64,1))">
// expected-note@+2 {{%z is a}}
// expected-note@+1 {{%s is a}}
func.func @partition_blocks(%t: !A, %s: !S, %z: !cute.coord<"0">) {
// expected-note@+2 {{%a is a}}
// expected-note@+1 {{%c is a}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)")
  // expected-error@+1 {{expects the layout of blocks as operand #2}}
  %x, %y = cute_nvgpu.atom.tma_partition(%a, %z, %z, %s, %c)
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
!S = !cute.memref<f16, smem, align<1024>, "((64,64)):((64,1))">
// expected-note@+3 {{%f is a}}
// expected-note@+2 {{%l is a}}
// expected-note@+1 {{%s is a}}
func.func @partition_values(%t: !A, %s: !S, %f: f32, %l: !cute.layout<"1:0">) {
// expected-note@+2 {{%a is a}}
// expected-note@+1 {{%c is a}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)")
  // expected-error@+1 {{expects a value of cute as operand #1}}
  %x, %y = cute_nvgpu.atom.tma_partition(%a, %f, %l, %s, %c)
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
!S = !cute.memref<f16, smem, align<1024>, "((64,32)):((32,1))">
// expected-note@+3 {{%z is a}}
// expected-note@+2 {{%l is a}}
// expected-note@+1 {{%s is a}}
func.func @partition_tile(%t: !A, %s: !S, %z: !cute.coord<"0">, %l: !cute.layout<"1:0">) {
// expected-note@+1 {{%a is a}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)")
  %g = cute.local_tile(%c, (64, 64), (0, 0))
// expected-note@+1 {{%g1 is a}}
  %g1 = cute.group_modes<0,2> %g
  // expected-error@+1 {{expects mode 0 of both tensors to be the tile, of as many elements, but got 2048 in shared memory and 4096 of the tensor}}
  %x, %y = cute_nvgpu.atom.tma_partition(%a, %z, %l, %s, %g1)
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
func.func @get_field(%t: !A) {
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)")
// expected-note@+1 {{%e is a}}
  %e = cute_nvgpu.atom.make_exec_tma %a
  // expected-error@+1 {{expects the name of a field as 'field'}}
  %f = cute_nvgpu.atom.get_value %e
  return
}

// -----

func.func @basis_text() {
  // expected-error@+1 {{expected copy_bits = 65536, the bits of the box in tma_gbasis, got 1024}}
  %a = cute.make_atom : !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 1024, tma_gbasis = <"(64,64):(1@1,1@0)">, tma_format = F16_RN>
  return
}

// -----

func.func @host_map(%p: !llvm.ptr<1>, %n: i64) {
  // expected-error@+1 {{expects 4 operands, an address, 2 extents and 1 strides, but got 3}}
  %m = cute_nvgpu.host.tensor_map<{box = array<i64: 64, 64>, modes = array<i64: 1, 0>, format = "F16_RN", swizzle = 3 : i32, tensor = "A"}>(%p, %n, %n) : (!llvm.ptr<1>, i64, i64) -> !llvm.ptr
  return
}

// -----

// expected-note@+1 {{%t is a}}
func.func @narrow_rows(%t: !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">) {
  // expected-error@+1 {{expects rows of the 128 bytes that the tile's swizzle spans, but got 32 elements of 16 bits side by side: S<2,4,3> would do}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "S<3,4,3> o 0 o (8,32):(32,1)")
  return
}
