// RUN: cute-opt %s -split-input-file -verify-diagnostics

!ss = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!t = !cute.tiled_mma<!ss, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
// expected-note@+2 {{%m is a}}
// expected-note@+1 {{%a is a}}
func.func @not_canonical(%m: !t, %a: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,2):((32,1),0,16)">) {
  // expected-error@+1 {{no matrix descriptor expresses "(64,16):(32,1)" in mode 0: K-major with S<3,4,3> requires "((8,m),(64,k)):((64,_),(1,_))"; it is K-major with S<2,4,3>}}
  %f = cute.mma.make_fragment A (%m, %a)
  return
}

// -----

!ss = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!t = !cute.tiled_mma<!ss, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
// expected-note@+2 {{%m is a}}
// expected-note@+1 {{%a is a}}
func.func @other_major(%m: !t, %a: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,(8,2)),1,2):((1,(64,512)),0,1024)">) {
  // expected-error@+1 {{requires "((8,m),(64,k)):((64,_),(1,_))"; it is MN-major with S<3,4,3>}}
  %f = cute.mma.make_fragment A (%m, %a)
  return
}

// -----

!mn = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (mn, k), elem_type = (f16, f16, f32), frag_kind = ss>
!t = !cute.tiled_mma<!mn, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
// expected-note@+2 {{%m is a}}
// expected-note@+1 {{%a is a}}
func.func @no_major(%m: !t, %a: !cute.memref<f16, smem, align<1024>, "((64,16),1,2):((17,1),0,16)">) {
  // expected-error@+1 {{no matrix descriptor expresses "(64,16):(17,1)" in mode 0: MN-major with no swizzle requires "((8,m),(8,k)):((1,_),(8,_))"}}
  %f = cute.mma.make_fragment A (%m, %a)
  return
}

// -----

!ss = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!t = !cute.tiled_mma<!ss, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
// expected-note@+2 {{%m is a}}
// expected-note@+1 {{%a is a}}
func.func @swizzle(%m: !t, %a: !cute.memref<f16, smem, align<1024>, S<3,3,3>, "((64,16),1,2):((64,1),0,16)">) {
  // expected-error@+1 {{a matrix descriptor has swizzles S<1,4,3>, S<2,4,3> and S<3,4,3> of bytes (of elements of 16 bits: S<1,3,3>, S<2,3,3>, S<3,3,3>), but the tensor has S<3,3,3> of bytes}}
  %f = cute.mma.make_fragment A (%m, %a)
  return
}

// -----

!ss = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!t = !cute.tiled_mma<!ss, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
// expected-note@+2 {{%m is a}}
// expected-note@+1 {{%a is a}}
func.func @swizzle_of_elements(%m: !t, %a: !cute.memref<f16, smem, align<512>, "S<3,3,3> o 0 o ((64,16),1,2):((64,1),0,16)">) {
  // expected-error@+1 {{a matrix descriptor with S<3,4,3> needs a pointer aligned to 1024 bytes, but it states 512}}
  %f = cute.mma.make_fragment A (%m, %a)
  return
}

// -----

!ss = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!t = !cute.tiled_mma<!ss, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
// expected-note@+2 {{%m is a}}
// expected-note@+1 {{%a is a}}
func.func @offset(%m: !t, %a: !cute.memref<f16, smem, align<1024>, "S<3,3,3> o ?{div=4} o ((64,16),1,2):((64,1),0,16)">) {
  // expected-error@+1 {{a matrix descriptor requires a multiple of 16 bytes, but the offset ?{div=4} is not known to be one}}
  %f = cute.mma.make_fragment A (%m, %a)
  return
}

// -----

!ss = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!t = !cute.tiled_mma<!ss, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
// expected-note@+2 {{%m is a}}
// expected-note@+1 {{%a is a}}
func.func @two_swizzles(%m: !t, %a: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "S<3,3,3> o 0 o ((64,16),1,2):((64,1),0,16)">) {
  // expected-error@+1 {{a matrix descriptor describes a plain layout with one swizzle, not a composition}}
  %f = cute.mma.make_fragment A (%m, %a)
  return
}

// -----

!ss = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!t = !cute.tiled_mma<!ss, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
// expected-note@+2 {{%m is a}}
// expected-note@+1 {{%a is a}}
func.func @unknown(%m: !t, %a: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,2):((?,1),0,16)">) {
  // expected-error@+1 {{a matrix descriptor needs 64 x 16 elements with known strides in mode 0, but got "((64,16),1,2):((?,1),0,16)"}}
  %f = cute.mma.make_fragment A (%m, %a)
  return
}

// -----

!ss = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!t = !cute.tiled_mma<!ss, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
// expected-note@+2 {{%m is a}}
// expected-note@+1 {{%a is a}}
func.func @space(%m: !t, %a: !cute.memref<f16, gmem, align<1024>, "((64,16),1,2):((64,1),0,16)">) {
  // expected-error@+1 {{a matrix descriptor describes a tensor in smem, not in gmem}}
  %f = cute.mma.make_fragment A (%m, %a)
  return
}

// -----

!ss = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!t = !cute.tiled_mma<!ss, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
// expected-note@+2 {{%m is a}}
// expected-note@+1 {{%a is a}}
func.func @bits(%m: !t, %a: !cute.memref<f32, smem, align<1024>, S<3,4,3>, "((64,16),1,2):((32,1),0,16)">) {
  // expected-error@+1 {{expects elements of f16, of 16 bits, but got f32}}
  %f = cute.mma.make_fragment A (%m, %a)
  return
}

// -----

!ss = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!t = !cute.tiled_mma<!ss, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
// expected-note@+2 {{%m is a}}
// expected-note@+1 {{%a is a}}
func.func @shape(%m: !t, %a: !cute.shape<"((64,16),1,2)">) {
  // expected-error@+1 {{expects a partition in smem as A, which wgmma reads there}}
  %f = cute.mma.make_fragment A (%m, %a)
  return
}

// -----

!ss = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!t = !cute.tiled_mma<!ss, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
// expected-note@+2 {{%m is a}}
// expected-note@+1 {{%a is a}}
func.func @step(%m: !t, %a: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,2):((64,1),0,4)">) {
  // expected-error@+1 {{descriptors step by 16 bytes, 8 elements, but mode 2 of ((64,16),1,2):((64,1),0,4) does not}}
  %f = cute.mma.make_fragment A (%m, %a)
  return
}

// -----

!ss = !cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!d = !cute.memref<f32, rmem, "((2,2,1),1,1):((1,2,4),0,0)">
func.func @no_descriptors(%m: !ss, %d: !d, %a: !cute.memref<f16, rmem, "((2,2,2),1,1):((1,2,4),0,0)">, %b: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,1):(0,0,0)">) {
  // expected-error@+1 {{expected descriptors of smem as A of '!cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>', as cute.mma.make_fragment makes them, got rmem}}
  cute.gemm %m, %d, %a, %b, %d
  return
}

// -----

!rs = !cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = rs>
!d = !cute.memref<f32, rmem, "((2,2,1),1,1):((1,2,4),0,0)">
func.func @two_descriptors(%m: !rs, %d: !d, %a: !cute.memref<f16, rmem, "((2,2,2),1,1):((1,2,4),0,0)">, %b: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(2,1,1):(2,0,0)">) {
  // expected-error@+1 {{expected 1 descriptor of '!cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = rs>' in mode 0 of B, got 2}}
  cute.gemm %m, %d, %a, %b, %d
  return
}

// -----

func.func @make_atom(%t: i32) {
  // expected-error@+1 {{expects at most an i1, whether 'sm90.mma' adds to its accumulator}}
  %a = cute.make_atom(%t) : (i32) -> !cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = rs>
  return
}

// -----

func.func @make_other_atom(%t: i1) {
  // expected-error@+1 {{expects no operand: the type fully determines 'atom.universal_copy'}}
  %a = cute.make_atom(%t) : (i1) -> !cute_nvgpu.atom.universal_copy<f16>
  return
}

// -----

// expected-error@+1 {{wgmma of f16 has K = 16, 32 bytes, not 8}}
func.func @atom(%m: !cute_nvgpu.sm90.mma<64x8x8, elem_type = (f16, f16, f32), frag_kind = ss>) { return }

// -----

// expected-error@+1 {{expects integer strides in memory, but got (1,2):(1@0,1@1)}}
func.func @strides(%v: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(1@0,1@1)">) { return }

// -----

// expected-note@+1 {{%v is a}}
func.func @recast(%v: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,2)">) {
  // expected-error@+1 {{but got '!cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,2)">'}}
  %l = cute.recast_layout<16, 8> %v
  return
}
