// RUN: cute-opt %s -cute-atom-validation -split-input-file -verify-diagnostics

!a = !cute_nvgpu.atom.universal_copy<f16>

func.func @never(%a: !a) {
  // expected-error @+1 {{'cute.make_tiled_copy' op reads wrong elements: element (0,128) of its tile of 8 x 256 belongs to no thread}}
  %t = cute.make_tiled_copy(%a) : (!a) -> !cute.tiled_copy<!a, layout_copy_tv = <"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;256:1]">>
  return
}

// -----

!a = !cute_nvgpu.atom.universal_copy<f16>

func.func @outside(%a: !a) {
  // expected-error @+1 {{'cute.make_tiled_copy' op reads wrong elements: value 0 of thread 8 is element 512, outside its tile of 8 x 64}}
  %t = cute.make_tiled_copy(%a) : (!a) -> !cute.tiled_copy<!a, layout_copy_tv = <"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;64:1]">>
  return
}

// -----

!a = !cute_nvgpu.atom.universal_copy<f16>

func.func @twice_in_a_thread(%a: !a) {
  // expected-error @+1 {{'cute.make_tiled_copy' op reads wrong elements: element (0,0) of its tile of 64 x 1 is value 0 and value 2 of thread 0}}
  %t = cute.make_tiled_copy(%a) : (!a) -> !cute.tiled_copy<!a, layout_copy_tv = <"(32,(2,2)):(2,(1,0))">, tiler_mn = <"[64:1;1:0]">>
  return
}

// -----

!a = !cute_nvgpu.atom.universal_copy<f16>
!t = !cute.tiled_copy<!a, layout_copy_tv = <"((4,8,2),4):((32,1,0),8)">, tiler_mn = <"[8:1;16:1]">>

// Reading elements twice is fine, writing them to memory is not; registers are each thread's own.
func.func @written_twice(%t: !t, %x: !cute.memref<f16, gmem, "(8,16):(16,1)">, %r: !cute.memref<f16, rmem, "(8,16):(16,1)">, %i: !cute.coord<"?">) {
  %s = cute.tiled.copy.partition_S(%t, %x, %i) : (!t, !cute.memref<f16, gmem, "(8,16):(16,1)">, !cute.coord<"?">) -> !cute.memref<f16, gmem, "((1,4),1,1):((0,1),0,0)">
  // expected-error @+1 {{'cute.tiled.copy.partition_D' op writes an element of memory twice: element (0,0) of its tile of 8 x 16 is value 0 of thread 0 and value 0 of thread 32}}
  %d = cute.tiled.copy.partition_D(%t, %x, %i) : (!t, !cute.memref<f16, gmem, "(8,16):(16,1)">, !cute.coord<"?">) -> !cute.memref<f16, gmem, "((1,4),1,1):((0,1),0,0)">
  %e = cute.tiled.copy.partition_D(%t, %r, %i) : (!t, !cute.memref<f16, rmem, "(8,16):(16,1)">, !cute.coord<"?">) -> !cute.memref<f16, rmem, "((1,4),1,1):((0,1),0,0)">
  return
}

// -----

!m = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >

func.func @same_threads(%m: !m) {
  // expected-error @+1 {{'cute.make_tiled_mma' op assigns two atoms of its layout the same threads: (1,0,0) and (0,1,0)}}
  %t = cute.make_tiled_mma(%m) : (!m) -> !cute.tiled_mma<!m, atom_layout_MNK = <"(2,2,1):(1,1,0)">>
  return
}

// -----

!m = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >

// A permutation that gives both warps the same rows.
func.func @permuted(%m: !m) {
  // expected-error @+1 {{'cute.make_tiled_mma' op has wrong elements of C: element (0,0) of its tile of 32 x 8 is value 0 of thread 0 and value 0 of thread 32}}
  %t = cute.make_tiled_mma(%m) : (!m) -> !cute.tiled_mma<!m, atom_layout_MNK = <"(2,1,1):(1,0,0)">, permutation_MNK = <"[(16,2):(1,0);8:1;16:1]">>
  return
}

// -----

// The lowest target of a gpu.module has to have the instruction.
gpu.module @sm_80 [#nvvm.target<chip = "sm_80">, #nvvm.target<chip = "sm_90a">] {
  func.func @fp8() {
    // expected-error @+1 {{'cute.make_atom' op '!cute_nvgpu.sm89.mma<16x8x32, elem_type = (f8E4M3FN, f8E4M3FN, f32) >' needs sm_89, the architecture is sm_80}}
    %a = cute.make_atom() : () -> !cute_nvgpu.sm89.mma<16x8x32, elem_type = (f8E4M3FN, f8E4M3FN, f32) >
    return
  }
}
gpu.module @sm_90 [#nvvm.target<chip = "sm_90a">] {
  func.func @fp8() {
    %a = cute.make_atom() : () -> !cute_nvgpu.sm89.mma<16x8x32, elem_type = (f8E4M3FN, f8E5M2, f32) >
    return
  }
}

// -----

// A predicate of two neighbours would guard two stores of one element each: the second may be out of bounds.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
func.func @one_predicate_for_two(%mma: !mma, %c: !cute.memref<f32, gmem, "(16,8):(?{i64},1)">, %n: i32, %t: i32) {
  %s = cute.make_shape(%n, %n)
  %id = cute.make_identity_tensor %s
  %i = cute.local_tile %id, (16, 8), (%n, %n)
  %pc = cute.tiled.mma.partition C (%mma, %c, %t)
  %pi = cute.tiled.mma.partition C (%mma, %i, %t)
  %r = cute.mma.make_fragment C (%mma, %pc)
  %p = cute.predicate %pi, %s
  %atom = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32>
  // expected-error @+1 {{the predicate covers 2 values, but '!cute_nvgpu.atom.universal_copy<f32>' moves 1: partition the coordinates by its tiled copy (for an MMA: cute.make_tiled_copy_C), or use bounds that are multiples of 2}}
  cute.copy %atom, %r, %pc, %p
  // Bounds that two divides end no pair in the middle.
  %even = cute.make_shape(%n, 6)
  %q = cute.predicate %pi, %even
  cute.copy %atom, %r, %pc, %q
  return
}

// -----

func.func @predicates_of_part_of_a_run(%a: !cute.memref<f16, gmem, align<16>, "((8,3),2):((1,8),24)">, %p: !cute.memref<i8, rmem, "(2,2):(1,2)">) {
  %r = cute.make_fragment_like %a
  %atom = cute.make_atom : !cute_nvgpu.atom.universal_copy<f16, 128 b>
  // expected-error @+1 {{mode 0 of the source has 3 times the atom's values, of the predicate 2}}
  cute.copy %atom, %a, %r, %p
  return
}

// -----

// Tiles of 8 by 56 in rows of 64: the second one's last columns are those of the next row.
func.func @no_whole_tiles(%a: !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">, %t: i32) {
  %atom = cute.make_atom : !cute_nvgpu.atom.universal_copy<f16, 128 b>
  %c = cute.make_tiled_copy %atom, "(8,7):(7,1)", "(1,8):(0,1)"
  %p = cute.tiled.copy.partition_S %c, %a, %t
  // The first tile is whole.
  %part = cute.slice %p, (_, _, 0)
  %q = cute.make_fragment_like %part
  cute.copy %c, %part, %q
  %r = cute.make_fragment_like %p
  // expected-error @+1 {{mode 1 of the source has extent 64, which is not a multiple of the tile's 56: the last tile is out of bounds; expected a predicate, or a tile that divides the extent}}
  cute.copy %c, %p, %r
  %l = cute.static "(1,8,2):(0,1,8)"
  %in = cute.memref.alloca %l : i8
  cute.copy %c, %p, %r, %in
  return
}

// -----

// wgmma is sm_90a's alone.
gpu.module @sm_90 [#nvvm.target<chip = "sm_90">] {
  func.func @wgmma() {
    // expected-error @+1 {{frag_kind = ss>' needs sm_90a, the architecture is sm_90}}
    %a = cute.make_atom : !cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
    return
  }
}

// -----

gpu.module @sm_100a [#nvvm.target<chip = "sm_100a">] {
  func.func @wgmma() {
    // expected-error @+1 {{frag_kind = ss>' needs sm_90a, the architecture is sm_100a}}
    %a = cute.make_atom : !cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
    return
  }
}

// -----

// One predicate decides about all values of a vector: where extents are no multiples of them, it takes along what is outside.
!T = !cute.memref<f32, gmem, align<16>, "(?,?):(?{i64 div=4},1)">
!E = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
func.func @vector_over_the_edge(%x: !T, %y: !E, %r: !cute.memref<f32, rmem, align<16>, "((4,1),1,1):((1,0),0,0)">, %t: i32) {
  %a = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32, 128 b>
  %c = cute.make_tiled_copy %a, "(16,8):(8,1)", "(1,4):(0,1)"
  %tx = cute.local_tile %x, (16, 32), (%t, %t)
  %ty = cute.local_tile %y, (16, 32), (%t, %t)
  %ix = cute.make_identity_tensor %x
  %iy = cute.make_identity_tensor %y
  %cx = cute.local_tile %ix, (16, 32), (%t, %t)
  %cy = cute.local_tile %iy, (16, 32), (%t, %t)
  %sx = cute.tiled.copy.partition_S %c, %tx, %t
  %sy = cute.tiled.copy.partition_S %c, %ty, %t
  %wx = cute.tiled.copy.partition_S %c, %cx, %t
  %wy = cute.tiled.copy.partition_S %c, %cy, %t
  %px = cute.predicate %wx, %x
  %py = cute.predicate %wy, %y
  // expected-warning @+1 {{'cute.copy' op mode 1 of the extents (?,?) is not known to be a multiple of 4, the values of '!cute_nvgpu.atom.universal_copy<f32, 128 b>' guarded by one predicate: expected ?{div=4} in the tensor's type, or an atom of one value}}
  cute.copy %c, %sx, %r, %px
  cute.copy %c, %sy, %r, %py
  return
}
