// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @space(%p: !cute.ptr<i8, smem, align<16>>) {
  // expected-error@+1 {{'cute.recast_iter' op expects result to be in memory space 'smem', but got 'gmem'}}
  %q = cute.recast_iter(%p) : (!cute.ptr<i8, smem, align<16>>) -> !cute.ptr<f16, gmem, align<16>>
  return
}

// -----

func.func @align(%p: !cute.ptr<i8, smem, align<16>>) {
  // expected-error@+1 {{expects result to have at most the alignment of its operand, 16 bytes, but got 32}}
  %q = cute.recast_iter(%p) : (!cute.ptr<i8, smem, align<16>>) -> !cute.ptr<f16, smem, align<32>>
  return
}

// -----

func.func @multiple(%i: !cute.i64<divby 16>) {
  // expected-error@+1 {{expects result to have at most the alignment of its operand, 16 bytes}}
  %q = cute.inttoptr(%i) : (!cute.i64<divby 16>) -> !cute.ptr<f16, gmem, align<32>>
  return
}

// -----

func.func @narrow(%i: i32) {
  // expected-error@+1 {{expects a 64-bit address for memory space 'gmem', but got 32 bits}}
  %q = cute.inttoptr(%i) : (i32) -> !cute.ptr<f16, gmem>
  return
}

// -----

func.func @narrow(%p: !cute.ptr<f16, gmem>) {
  // expected-error@+1 {{expects an i64 address for memory space 'gmem', but got i32}}
  %q = cute.ptrtoint(%p) : (!cute.ptr<f16, gmem>) -> i32
  return
}

// -----

func.func @swizzle(%p: !cute.ptr<f16, smem, align<16>, S<3,4,3>>) {
  // expected-error@+1 {{expects a result without a swizzle, or with the operand's}}
  %q = cute.apply_swizzle(%p) : (!cute.ptr<f16, smem, align<16>, S<3,4,3>>) -> !cute.ptr<f16, smem, align<16>, S<2,4,3>>
  return
}

// -----

// Multiples of 1024 bytes are what they were, multiples of 256 become some of 32.
func.func @swizzled_alignment(%p: !cute.ptr<f16, smem, align<1024>, S<3,4,3>>, %q: !cute.ptr<f16, smem, align<256>, S<3,4,3>>) {
  %x = cute.apply_swizzle(%p) : (!cute.ptr<f16, smem, align<1024>, S<3,4,3>>) -> !cute.ptr<f16, smem, align<1024>>
  %y = cute.apply_swizzle(%q) : (!cute.ptr<f16, smem, align<256>, S<3,4,3>>) -> !cute.ptr<f16, smem, align<32>>
  // expected-error@+1 {{expects result to have at most the alignment of its operand, 32 bytes, but got 256}}
  %z = cute.apply_swizzle(%q) : (!cute.ptr<f16, smem, align<256>, S<3,4,3>>) -> !cute.ptr<f16, smem, align<256>>
  return
}

// -----

func.func @element(%p: !cute.ptr<f16, smem, align<16>, S<3,4,3>>) {
  // expected-error@+1 {{expects result to have elements of type 'f16', but got 'bf16'}}
  %q = cute.apply_swizzle(%p) : (!cute.ptr<f16, smem, align<16>, S<3,4,3>>) -> !cute.ptr<bf16, smem, align<16>>
  return
}

// -----

func.func @assume(%i: i32) {
  // expected-error@+1 {{expects a result as wide as its operand, 32 bits, but got 64}}
  %q = cute.assume(%i) : (i32) -> !cute.i64<divby 8>
  return
}

// -----

func.func @divisor(%i: i64) {
  // expected-error@+1 {{expects a divisor as wide as its operand, 64 bits, but got 32}}
  %q = cute.fast_divmod.create_divisor(%i) : (i64) -> !cute.fast_divmod_divisor<32>
  return
}

// -----

func.func @divmod(%i: i32, %d: !cute.fast_divmod_divisor<32>) {
  // expected-error@+1 {{expects a remainder as wide as the divisor, 32 bits, but got 64}}
  %q, %r = cute.fast_divmod.compute(%i, %d) : (i32, !cute.fast_divmod_divisor<32>) -> (i32, i64)
  return
}

// -----

func.func @view(%d: !cute_nvgpu.smem_desc, %l: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">) {
  // expected-error@+2 {{expects a plain layout with a descriptor}}
  // expected-error@+1 {{failed to infer returned types}}
  %v = cute.make_view(%d, %l) : (!cute_nvgpu.smem_desc, !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">) -> !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(8,64):(64,1)">
  return
}

// -----

// The algebra refuses what does not follow: space, element, leaf.
func.func @iter(%t: !cute.memref<f16, gmem, "(?,8):(8,1)">) {
  // expected-error@+2 {{inferred type(s) '!cute.ptr<f16, gmem>' are incompatible with return type(s) of operation '!cute.ptr<f16, smem>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %p = cute.get_iter(%t) : (!cute.memref<f16, gmem, "(?,8):(8,1)">) -> !cute.ptr<f16, smem>
  return
}

// -----

// The last tile may reach out of the tensor, but it begins inside. Coordinates of predicates may be anywhere.
// expected-note @+1 {{%t is a '!cute.memref<f32, gmem, }}
func.func @tile_outside(%t: !cute.memref<f32, gmem, align<16>, "(96,72):(72,1)">, %i: !cute.coord_tensor<"(0,0)", "(96,72):(1@0,1@1)">) {
  %a = cute.local_tile %t, (96, 50), (0, 1)
  %b = cute.local_tile %i, (96, 36), (0, 7)
  // expected-error @+1 {{expects the coordinate of one of the tiles of (1,2), but got (0,7)}}
  %c = cute.local_tile %t, (96, 36), (0, 7)
  return
}

// -----

// expected-note @+1 {{%t is a '!cute.memref<f32, gmem, }}
func.func @residue_outside(%t: !cute.memref<f32, gmem, align<16>, "(96,72):(72,1)">) {
  // expected-error @+1 {{expects the coordinate of one of the tiles of (1,1), but got (0,7)}}
  %c = cute.local_tile %t, (96, 80), (0, 7)
  return
}

// -----

// expected-note @+1 {{%t is a '!cute.memref<f32, gmem, }}
func.func @tile_before(%t: !cute.memref<f32, gmem, align<16>, "(96,72):(72,1)">, %i: i32) {
  // expected-error @+1 {{expects the coordinate of one of the tiles of (2,2), but got (?,-1)}}
  %c = cute.local_tile %t, (48, 36), (%i, -1)
  return
}

// -----

// expected-note @+1 {{%t is a '!cute.memref<f32, gmem, }}
func.func @thread_outside(%t: !cute.memref<f32, gmem, align<16>, "(96,72):(72,1)">) {
  %a = cute.local_partition %t, "(8,4):(4,1)", 31
  // expected-error @+1 {{expects the coordinate of one of the threads of (8,4), but got 32}}
  %b = cute.local_partition %t, "(8,4):(4,1)", 32
  return
}

// -----

// expected-note @+1 {{%t is a '!cute.memref<f32, gmem, }}
func.func @projection(%t: !cute.memref<f32, gmem, align<16>, "(96,72):(72,1)">, %i: i32) {
  // expected-note @+1 {{%tile is a '!cute.tile<"[32:1;16:1;36:1]">'}}
  %tile = cute.make_tile 32, 16, 36
  // expected-note @+1 {{%c is a '!cute.coord<"(?,?,?)">'}}
  %c = cute.make_coord(%i, %i, %i)
  %a = cute.local_tile(%t, %tile, %c, "(1,_,1)")
  // expected-error @+1 {{expects a projection with 1 for modes to keep and _ for modes to drop, but got (3,_,1)}}
  %b = cute.local_tile(%t, %tile, %c, "(3,_,1)")
  return
}
