// RUN: cute-opt %s -split-input-file -verify-diagnostics

// Tensors, atoms and values that do not fit one another.

func.func @alloca_space(%l: !cute.layout<"(4,2):(1,4)">) {
  // expected-error@+1 {{'cute.memref.alloca' op expects a result in memory 'rmem' or 'smem', but got 'gmem'}}
  %r = cute.memref.alloca(%l) : (!cute.layout<"(4,2):(1,4)">) -> !cute.memref<f32, gmem, "(4,2):(1,4)">
  return
}

// -----

func.func @alloca_unknown(%l: !cute.layout<"(?,2):(1,4)">) {
  // expected-error@+1 {{expects a layout without unknown leaves: registers are counted before the program runs}}
  %r = cute.memref.alloca(%l) : (!cute.layout<"(?,2):(1,4)">) -> !cute.memref<f32, rmem, "(?,2):(1,4)">
  return
}

// -----

func.func @alloca_unknown_shared(%l: !cute.layout<"(?,2):(1,4)">) {
  // expected-error@+1 {{expects a layout without unknown leaves: cute_nvgpu.arch.get_dyn_smem has as much memory as the launch gives}}
  %r = cute.memref.alloca(%l) : (!cute.layout<"(?,2):(1,4)">) -> !cute.memref<f32, smem, "(?,2):(1,4)">
  return
}

// -----

func.func @alloca_layout(%l: !cute.layout<"(4,2):(1,4)">) {
  // expected-error@+1 {{expects a result with the layout of its operand}}
  %r = cute.memref.alloca(%l) : (!cute.layout<"(4,2):(1,4)">) -> !cute.memref<f32, rmem, "(4,2):(2,1)">
  return
}

// -----

func.func @load_coord(%t: !cute.memref<f32, rmem, "(4,2):(1,4)">, %c: !cute.coord<"(?,1,0)">) {
  // expected-error@+1 {{'cute.memref.load' op expects a coordinate of the shape (4,2), but got (?,1,0)}}
  %x = cute.memref.load(%t, %c) : (!cute.memref<f32, rmem, "(4,2):(1,4)">, !cute.coord<"(?,1,0)">) -> f32
  return
}

// -----

func.func @load_open(%t: !cute.memref<f32, rmem, "(4,2):(1,4)">, %c: !cute.coord<"(_,1)">) {
  // expected-error@+1 {{expects the coordinate of one element, but got (_,1) with a '_'}}
  %x = cute.memref.load(%t, %c) : (!cute.memref<f32, rmem, "(4,2):(1,4)">, !cute.coord<"(_,1)">) -> f32
  return
}

// -----

func.func @load_type(%t: !cute.memref<f32, rmem, "(4,2):(1,4)">, %c: !cute.coord<"(?,1)">) {
  // expected-error@+2 {{inferred type(s) 'f32' are incompatible}}
  // expected-error@+1 {{failed to infer returned types}}
  %x = cute.memref.load(%t, %c) : (!cute.memref<f32, rmem, "(4,2):(1,4)">, !cute.coord<"(?,1)">) -> f16
  return
}

// -----

func.func @store_type(%t: !cute.memref<f32, rmem, "(4,2):(1,4)">, %c: !cute.coord<"(?,1)">, %x: f16) {
  // expected-error@+1 {{expects a value of type 'f32', which the tensor's elements have, but got 'f16'}}
  cute.memref.store(%t, %c, %x) : (!cute.memref<f32, rmem, "(4,2):(1,4)">, !cute.coord<"(?,1)">, f16) -> ()
  return
}

// -----

func.func @vector_length(%t: !cute.memref<f32, rmem, "(4,2):(1,4)">, %v: vector<4xf32>) {
  // expected-error@+1 {{expects a vector of 8 elements, which the tensor has, but got 4}}
  cute.memref.store_vec(%v, %t) : (vector<4xf32>, !cute.memref<f32, rmem, "(4,2):(1,4)">) -> ()
  return
}

// -----

func.func @vector_type(%t: !cute.memref<f32, rmem, "(4,2):(1,4)">, %v: vector<8xf16>) {
  // expected-error@+1 {{expects a vector of type 'f32', which the tensor's elements have, but got 'f16'}}
  cute.memref.store_vec(%v, %t) : (vector<8xf16>, !cute.memref<f32, rmem, "(4,2):(1,4)">) -> ()
  return
}

// -----

func.func @vector_unknown(%t: !cute.memref<f32, gmem, "(?,2):(1,4)">, %v: vector<8xf32>) {
  // expected-error@+1 {{expects a tensor whose extents are known: they are the vector's length}}
  cute.memref.store_vec(%v, %t) : (vector<8xf32>, !cute.memref<f32, gmem, "(?,2):(1,4)">) -> ()
  return
}

// -----

func.func @fill(%t: !cute.memref<f32, rmem, "(4,2):(1,4)">, %x: i32) {
  // expected-error@+1 {{expects a value of type 'f32', which the tensor's elements have, but got 'i32'}}
  cute.fill(%t, %x) : (!cute.memref<f32, rmem, "(4,2):(1,4)">, i32) -> ()
  return
}

// -----

func.func @copy_atom(%a: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, %s: !cute.memref<f32, gmem, align<16>, "((4,1),2):((1,0),64)">, %d: !cute.memref<f32, rmem, align<16>, "((4,1),2):((1,0),4)">) {
  // expected-error@+1 {{expects an atom that copies, but got 'sm80.mma'}}
  cute.copy(%a, %s, %d) : (!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, !cute.memref<f32, gmem, align<16>, "((4,1),2):((1,0),64)">, !cute.memref<f32, rmem, align<16>, "((4,1),2):((1,0),4)">) -> ()
  return
}

// -----

func.func @prefetch(%a: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, %s: !cute.memref<f32, gmem, align<16>, "((4,1),2):((1,0),64)">) {
  // expected-error@+1 {{'cute.prefetch' op expects an atom that copies, but got 'sm80.mma'}}
  cute.prefetch(%a, %s) : (!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, !cute.memref<f32, gmem, align<16>, "((4,1),2):((1,0),64)">) -> ()
  return
}

// -----

func.func @gemm_atom(%m: !cute_nvgpu.atom.universal_copy<f32, 128 b>, %d: !cute.memref<f32, rmem, "((2,2),2,4):((1,2),4,8)">, %a: !cute.memref<f16, rmem, "((2,2,2),2):((1,2,4),8)">, %b: !cute.memref<f16, rmem, "((2,2),4):((1,2),4)">, %c: !cute.memref<f32, rmem, "((2,2),2,4):((1,2),4,8)">) {
  // expected-error@+1 {{expects an atom that multiplies, but got 'atom.universal_copy'}}
  cute.gemm(%m, %d, %a, %b, %c) : (!cute_nvgpu.atom.universal_copy<f32, 128 b>, !cute.memref<f32, rmem, "((2,2),2,4):((1,2),4,8)">, !cute.memref<f16, rmem, "((2,2,2),2):((1,2,4),8)">, !cute.memref<f16, rmem, "((2,2),4):((1,2),4)">, !cute.memref<f32, rmem, "((2,2),2,4):((1,2),4,8)">) -> ()
  return
}

// -----

func.func @gemm_descriptor(%m: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, %d: !cute.memref<f32, rmem, "((2,2),2,4):((1,2),4,8)">, %a: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,512)">, %b: !cute.memref<f16, rmem, "((2,2),4):((1,2),4)">, %c: !cute.memref<f32, rmem, "((2,2),2,4):((1,2),4,8)">) {
  // expected-error@+1 {{expected a tensor in rmem as A of '!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >', got descriptors of smem}}
  cute.gemm(%m, %d, %a, %b, %c) : (!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, !cute.memref<f32, rmem, "((2,2),2,4):((1,2),4,8)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,512)">, !cute.memref<f16, rmem, "((2,2),4):((1,2),4)">, !cute.memref<f32, rmem, "((2,2),2,4):((1,2),4,8)">) -> ()
  return
}

// -----

func.func @ptr_swizzle(%p: !cute.ptr<f16, smem, align<16>, S<3,4,3>>) {
  // expected-error@+1 {{expects a pointer without a swizzle: cute.apply_swizzle gives the address}}
  %v = cute.ptr.load(%p) : (!cute.ptr<f16, smem, align<16>, S<3,4,3>>) -> f16
  return
}

// -----

func.func @ptr_align(%p: !cute.ptr<f16, gmem, align<8>>) {
  // expected-error@+1 {{expects a pointer aligned to 16 bytes, which are accessed at once, but got 8}}
  %v = cute.ptr.load(%p) : (!cute.ptr<f16, gmem, align<8>>) -> vector<8xf16>
  return
}

// -----

func.func @ptr_type(%p: !cute.ptr<f16, gmem, align<16>>, %v: vector<4xf32>) {
  // expected-error@+1 {{expects a vector of type 'f16', which the tensor's elements have, but got 'f32'}}
  cute.ptr.store(%p, %v) : (!cute.ptr<f16, gmem, align<16>>, vector<4xf32>) -> ()
  return
}

// -----

!c = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
func.func @copies_0(%c: !c, %g: !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, %s: !cute.memref<f16, smem, align<16>, "((8,1),4):((1,0),64)">) {
  // expected-error @+1 {{'cute.copy' op expected the source of '!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>' in gmem, got smem}}
  cute.copy(%c, %s, %g) : (!c, !cute.memref<f16, smem, align<16>, "((8,1),4):((1,0),64)">, !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">) -> ()
  return
}

// -----

!c = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
func.func @copies_1(%c: !c, %g: !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, %u: !cute.memref<f16, smem, "((8,1),4):((1,0),64)">) {
  // expected-error @+1 {{needs an alignment of 16 bytes, the destination states 2}}
  cute.copy(%c, %g, %u) : (!c, !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, !cute.memref<f16, smem, "((8,1),4):((1,0),64)">) -> ()
  return
}

// -----

!c = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
func.func @copies_2(%c: !c, %g: !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, %b: !cute.memref<bf16, smem, align<16>, "((8,1),4):((1,0),64)">) {
  // expected-error @+1 {{expected elements of f16 in the destination of '!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>', got bf16}}
  cute.copy(%c, %g, %b) : (!c, !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, !cute.memref<bf16, smem, align<16>, "((8,1),4):((1,0),64)">) -> ()
  return
}

// -----

!c = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
func.func @copies_3(%c: !c, %g: !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, %e: !cute.memref<f16, smem, align<16>, "((8,1),5):((1,0),64)">) {
  // expected-error @+1 {{mode 1 of the source has 4, of the destination 5}}
  cute.copy(%c, %g, %e) : (!c, !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, !cute.memref<f16, smem, align<16>, "((8,1),5):((1,0),64)">) -> ()
  return
}

// -----

!c = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
func.func @copies_4(%c: !c, %g: !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, %w: !cute.memref<f16, smem, align<16>, "((8,1),4):((2,0),64)">) {
  // expected-error @+1 {{needs 8 consecutive elements, the destination has 1}}
  cute.copy(%c, %g, %w) : (!c, !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, !cute.memref<f16, smem, align<16>, "((8,1),4):((2,0),64)">) -> ()
  return
}

// -----

!c = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
func.func @copies_5(%c: !c, %g: !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, %v: !cute.memref<f16, smem, align<16>, "((4,1),4):((1,0),64)">) {
  // expected-error @+1 {{takes 8 values a time, mode 0 of the destination has 4, no multiple of it}}
  cute.copy(%c, %g, %v) : (!c, !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, !cute.memref<f16, smem, align<16>, "((4,1),4):((1,0),64)">) -> ()
  return
}

// -----

!c = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
func.func @copies_6(%c: !c, %g: !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, %r: !cute.memref<f16, smem, align<16>, "((8,1),2,2):((1,0),64,8)">) {
  // expected-error @+1 {{the source has 2 modes, the destination 3}}
  cute.copy(%c, %g, %r) : (!c, !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, !cute.memref<f16, smem, align<16>, "((8,1),2,2):((1,0),64,8)">) -> ()
  return
}

// -----

!c = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
func.func @copies_7(%c: !c, %g: !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, %s: !cute.memref<f16, smem, align<16>, "((8,1),4):((1,0),64)">, %p: !cute.memref<i8, rmem, "(1,5):(0,1)">) {
  // expected-error @+1 {{mode 1 of the source has 4, of the predicate 5}}
  cute.copy(%c, %g, %s, %p) : (!c, !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, !cute.memref<f16, smem, align<16>, "((8,1),4):((1,0),64)">, !cute.memref<i8, rmem, "(1,5):(0,1)">) -> ()
  return
}

// -----

!c = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
func.func @copies_8(%c: !c, %g: !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, %s: !cute.memref<f16, smem, align<16>, "((8,1),4):((1,0),64)">, %q: !cute.memref<i8, rmem, "4:1">) {
  // expected-error @+1 {{the source has 2 modes, the predicate 1}}
  cute.copy(%c, %g, %s, %q) : (!c, !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, !cute.memref<f16, smem, align<16>, "((8,1),4):((1,0),64)">, !cute.memref<i8, rmem, "4:1">) -> ()
  return
}

// -----

!c = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
func.func @zeros_where(%c: !c, %g: !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, %s: !cute.memref<f16, smem, align<16>, "((8,1),4):((1,0),64)">) {
  // expected-error @+1 {{expects a predicate beside 'zero_fill': it says where zeros are written}}
  cute.copy(%c, %g, %s) {zero_fill} : (!c, !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, !cute.memref<f16, smem, align<16>, "((8,1),4):((1,0),64)">) -> ()
  return
}

// -----

!c = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
func.func @copies_9(%c: !c, %g: !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, %s: !cute.memref<f16, smem, align<16>, "((8,1),4):((1,0),64)">, %f: !cute.memref<f32, rmem, "(1,4):(0,1)">) {
  // expected-error @+1 {{expected a predicate of i8 or i1 in rmem, got f32 in rmem}}
  cute.copy(%c, %g, %s, %f) : (!c, !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, !cute.memref<f16, smem, align<16>, "((8,1),4):((1,0),64)">, !cute.memref<f32, rmem, "(1,4):(0,1)">) -> ()
  return
}

// -----

!m = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
!d = !cute.memref<f32, rmem, align<16>, "((2,2),2,4):((1,2),4,8)">
!y = !cute.memref<f16, rmem, align<8>, "((2,2),4,3):((1,2),4,16)">
func.func @products_0(%m: !m, %d: !d, %y: !y, %b: !cute.memref<bf16, rmem, "((2,2,2),2,3):((1,2,4),8,16)">) {
  // expected-error @+1 {{'cute.gemm' op expected elements of f16 in the A of '!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >', got bf16}}
  cute.gemm(%m, %d, %b, %y, %d) : (!m, !d, !cute.memref<bf16, rmem, "((2,2,2),2,3):((1,2,4),8,16)">, !y, !d) -> ()
  return
}

// -----

!m = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
!d = !cute.memref<f32, rmem, align<16>, "((2,2),2,4):((1,2),4,8)">
!y = !cute.memref<f16, rmem, align<8>, "((2,2),4,3):((1,2),4,16)">
func.func @products_1(%m: !m, %d: !d, %y: !y, %s: !cute.memref<f16, smem, "((2,2,2),2,3):((1,2,4),8,16)">) {
  // expected-error @+1 {{expected the A of '!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >' in rmem, got smem}}
  cute.gemm(%m, %d, %s, %y, %d) : (!m, !d, !cute.memref<f16, smem, "((2,2,2),2,3):((1,2,4),8,16)">, !y, !d) -> ()
  return
}

// -----

!m = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
!d = !cute.memref<f32, rmem, align<16>, "((2,2),2,4):((1,2),4,8)">
!y = !cute.memref<f16, rmem, align<8>, "((2,2),4,3):((1,2),4,16)">
func.func @products_2(%m: !m, %d: !d, %y: !y, %v: !cute.memref<f16, rmem, "((2,2),2,3):((1,2),8,16)">) {
  // expected-error @+1 {{expected 8 values of '!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >' in mode 0 of A, got 4}}
  cute.gemm(%m, %d, %v, %y, %d) : (!m, !d, !cute.memref<f16, rmem, "((2,2),2,3):((1,2),8,16)">, !y, !d) -> ()
  return
}

// -----

!m = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
!d = !cute.memref<f32, rmem, align<16>, "((2,2),2,4):((1,2),4,8)">
!y = !cute.memref<f16, rmem, align<8>, "((2,2),4,3):((1,2),4,16)">
func.func @products_3(%m: !m, %d: !d, %y: !y, %rows: !cute.memref<f16, rmem, "((2,2,2),3,3):((1,2,4),8,24)">) {
  // expected-error @+1 {{A has 3 along M, D 2}}
  cute.gemm(%m, %d, %rows, %y, %d) : (!m, !d, !cute.memref<f16, rmem, "((2,2,2),3,3):((1,2,4),8,24)">, !y, !d) -> ()
  return
}

// -----

!m = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
!d = !cute.memref<f32, rmem, align<16>, "((2,2),2,4):((1,2),4,8)">
!x = !cute.memref<f16, rmem, align<16>, "((2,2,2),2,3):((1,2,4),8,16)">
func.func @products_4(%m: !m, %d: !d, %x: !x, %k: !cute.memref<f16, rmem, "((2,2),4,2):((1,2),4,16)">) {
  // expected-error @+1 {{A has 3 along K, B 2}}
  cute.gemm(%m, %d, %x, %k, %d) : (!m, !d, !x, !cute.memref<f16, rmem, "((2,2),4,2):((1,2),4,16)">, !d) -> ()
  return
}

// -----

func.func @predicate_in_memory(%g: !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, %q: !cute.memref<i8, gmem, "(1,4):(0,1)">) {
  %c = cute.make_atom : !cute_nvgpu.atom.universal_copy<f16, 128 b>
  %r = cute.make_fragment_like %g
  // expected-error @+1 {{expected a predicate of i8 or i1 in rmem, got i8 in gmem}}
  cute.copy %c, %g, %r, %q
  return
}

// -----

func.func @fourth_operand_of_a_product(%m: !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(0,0,0)">>, %s: !cute.shape<"(16,16)">) {
  // expected-error @+1 {{attribute 'operand_id' failed to satisfy constraint: 32-bit signless integer attribute whose minimum value is 0 whose maximum value is 2}}
  %p = "cute.tiled.mma.partition_shape"(%m, %s) <{operand_id = 3 : i32}> : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(0,0,0)">>, !cute.shape<"(16,16)">) -> !cute.shape<"((2,2,2),1,1)">
  return
}

// -----

func.func @load_outside(%t: !cute.memref<f32, rmem, "(4,2):(1,4)">, %c: !cute.coord<"(?,2)">) {
  // expected-error@+1 {{'cute.memref.load' op expects a coordinate inside of the shape (4,2), but got (?,2)}}
  %x = cute.memref.load(%t, %c) : (!cute.memref<f32, rmem, "(4,2):(1,4)">, !cute.coord<"(?,2)">) -> f32
  return
}

// -----

func.func @load_index_outside(%t: !cute.memref<f32, rmem, "(4,2):(1,4)">, %c: !cute.coord<"8">) {
  // expected-error@+1 {{expects a coordinate inside of the shape (4,2), but got 8}}
  %x = cute.memref.load(%t, %c) : (!cute.memref<f32, rmem, "(4,2):(1,4)">, !cute.coord<"8">) -> f32
  return
}

// -----

func.func @store_before(%t: !cute.memref<f32, gmem, "(?,2):(1,4)">, %c: !cute.coord<"(-1,0)">, %x: f32) {
  // expected-error@+1 {{'cute.memref.store' op expects a coordinate inside of the shape (?,2), but got (-1,0)}}
  cute.memref.store(%t, %c, %x) : (!cute.memref<f32, gmem, "(?,2):(1,4)">, !cute.coord<"(-1,0)">, f32) -> ()
  return
}

// -----

func.func @store_vector_overflow(%t: !cute.memref<f32, rmem, "(4,2):(1,4)">, %v: vector<4294967296x4294967296x4294967296xf32>) {
  // expected-error@+1 {{expects a vector of 8 elements, which the tensor has, but got more than fit 64 bits}}
  cute.memref.store_vec(%v, %t) : (vector<4294967296x4294967296x4294967296xf32>, !cute.memref<f32, rmem, "(4,2):(1,4)">) -> ()
  return
}

// -----

func.func @access_overflow(%p: !cute.ptr<f32, gmem, align<16>>, %v: vector<4294967296x4294967296xf32>) {
  // expected-error@+1 {{expects a vector whose bits fit a number of 64 bits}}
  cute.ptr.store(%p, %v) : (!cute.ptr<f32, gmem, align<16>>, vector<4294967296x4294967296xf32>) -> ()
  return
}

// -----

func.func @prefetch_shared(%a: !cute_nvgpu.atom.universal_copy<f32>, %s: !cute.memref<f32, smem, align<16>, "(4,2):(1,4)">) {
  // expected-error@+1 {{'cute.prefetch' op expects operand #1 to be in memory 'gmem', but got 'smem'}}
  cute.prefetch(%a, %s) : (!cute_nvgpu.atom.universal_copy<f32>, !cute.memref<f32, smem, align<16>, "(4,2):(1,4)">) -> ()
  return
}

// -----

// Where accesses begin follows from all of a layout: its offset, the strides between accesses, and a swizzle.
!c = !cute_nvgpu.atom.universal_copy<f32, 64 b>
!g = !cute.memref<f32, gmem, align<16>, "((2,1),4):((1,0),16)">
func.func @aligned(%c: !c, %g: !g, %w: !cute.memref<f32, smem, align<16>, "((2,1),4):((1,0),?{div=2})">,
                   %s: !cute.memref<f32, smem, align<16>, "S<3,2,5> o ?{div=2} o ((2,1),4):((1,0),18)">,
                   %l: !cute.memref<f32, smem, align<16>, "(4,4):(1,6) o 2 o ((2,1),4):((1,0),2)">,
                   %p: !cute.memref<f32, smem, align<16>, S<2,3,4>, "((2,1),4):((1,0),16)">) {
  cute.copy %c, %g, %w
  cute.copy %c, %g, %s
  cute.copy %c, %g, %l
  cute.copy %c, %g, %p
  return
}

// -----

!c = !cute_nvgpu.atom.universal_copy<f32, 64 b>
!g = !cute.memref<f32, gmem, align<16>, "((2,1),4):((1,0),16)">
func.func @odd_stride(%c: !c, %g: !g, %s: !cute.memref<f32, smem, align<16>, "((2,1),4):((1,0),19)">) {
  // expected-error @+1 {{needs an alignment of 8 bytes, the destination states 4}}
  cute.copy %c, %g, %s
  return
}

// -----

!c = !cute_nvgpu.atom.universal_copy<f32, 64 b>
!g = !cute.memref<f32, gmem, align<16>, "((2,1),4):((1,0),16)">
func.func @windows_overlap(%c: !c, %g: !g, %s: !cute.memref<f32, gmem, align<16>, "((2,1),4):((1,0),1)">) {
  // expected-error @+1 {{needs an alignment of 8 bytes, the source states 4}}
  cute.copy %c, %s, %g
  return
}

// -----

!c = !cute_nvgpu.atom.universal_copy<f32, 64 b>
!g = !cute.memref<f32, gmem, align<16>, "((2,1),4):((1,0),16)">
func.func @unknown_stride(%c: !c, %g: !g, %s: !cute.memref<f32, gmem, align<16>, "((2,1),4):((1,0),?)">) {
  // expected-error @+1 {{needs an alignment of 8 bytes, the source states 4}}
  cute.copy %c, %s, %g
  return
}

// -----

!c = !cute_nvgpu.atom.universal_copy<f32, 64 b>
!g = !cute.memref<f32, gmem, align<16>, "((2,1),4):((1,0),16)">
func.func @swizzled_stride(%c: !c, %g: !g, %s: !cute.memref<f32, smem, align<1024>, "S<3,2,5> o 0 o ((2,1),4):((1,0),19)">) {
  // expected-error @+1 {{needs an alignment of 8 bytes, the destination states 4}}
  cute.copy %c, %g, %s
  return
}

// -----

!c = !cute_nvgpu.atom.universal_copy<f32, 64 b>
!g = !cute.memref<f32, gmem, align<16>, "((2,1),4):((1,0),16)">
func.func @swizzled_offset(%c: !c, %g: !g, %s: !cute.memref<f32, smem, align<1024>, "S<3,2,5> o 1 o ((2,1),4):((1,0),16)">) {
  // expected-error @+1 {{needs an alignment of 8 bytes, the destination states 4}}
  cute.copy %c, %g, %s
  return
}

// -----

!c = !cute_nvgpu.atom.universal_copy<f32, 64 b>
!g = !cute.memref<f32, gmem, align<16>, "((2,1),4):((1,0),16)">
func.func @unknown_offset(%c: !c, %g: !g, %s: !cute.memref<f32, smem, align<1024>, "S<3,2,5> o ? o ((2,1),4):((1,0),16)">) {
  // expected-error @+1 {{needs an alignment of 8 bytes, the destination states 4}}
  cute.copy %c, %g, %s
  return
}

// -----

!c = !cute_nvgpu.atom.universal_copy<f32, 64 b>
!g = !cute.memref<f32, gmem, align<16>, "((2,1),4):((1,0),16)">
func.func @layout_of_layout(%c: !c, %g: !g, %s: !cute.memref<f32, smem, align<1024>, "(4,4):(1,5) o 0 o ((2,1),4):((1,0),2)">) {
  // expected-error @+1 {{needs an alignment of 8 bytes, the destination states 4}}
  cute.copy %c, %g, %s
  return
}

// -----

!c = !cute_nvgpu.atom.universal_copy<f32, 64 b>
!g = !cute.memref<f32, gmem, align<16>, "((2,1),4):((1,0),16)">
func.func @layout_apart(%c: !c, %g: !g, %s: !cute.memref<f32, smem, align<1024>, "(4,4):(2,8) o 0 o ((2,1),4):((1,0),2)">) {
  // expected-error @+1 {{needs 2 consecutive elements, the destination has 1}}
  cute.copy %c, %g, %s
  return
}

// -----

// Mode 0 goes on elsewhere after three elements: the second access of two would be in two places.
!c = !cute_nvgpu.atom.universal_copy<f32, 64 b>
!g = !cute.memref<f32, gmem, align<16>, "((2,3),4):((1,2),16)">
func.func @broken_run(%c: !c, %g: !g, %s: !cute.memref<f32, smem, align<1024>, "((3,2),4):((1,4),8)">) {
  // expected-error @+1 {{needs 2 consecutive elements, the destination has 1}}
  cute.copy %c, %g, %s
  return
}

// -----

// The swizzle of a pointer keeps 8 bytes together, 128 bits are more.
!c = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!g = !cute.memref<f32, gmem, align<16>, "((4,1),4):((1,0),16)">
func.func @swizzled_pointer(%c: !c, %g: !g, %s: !cute.memref<f32, smem, align<1024>, S<3,3,3>, "((4,1),4):((1,0),16)">) {
  // expected-error @+1 {{needs 4 consecutive elements, the destination has 2}}
  cute.copy %c, %g, %s
  return
}

// -----

!ldsm = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
func.func @rows_of_matrices(%c: !ldsm, %s: !cute.memref<f16, smem, align<1024>, "S<2,3,3> o ?{div=4} o ((8,1),1):((1,0),0)">,
                            %r: !cute.memref<f16, rmem, align<16>, "((8,1),1):((1,0),0)">) {
  // expected-error @+1 {{needs an alignment of 16 bytes, the source states 8}}
  cute.copy %c, %s, %r
  return
}

// -----

!async = !cute_nvgpu.atom.simt_async_copy<f32, cache = global, 128 b>
func.func @asynchronous(%c: !async, %g: !cute.memref<f32, gmem, align<16>, "((4,1),2):((1,0),16)">,
                        %s: !cute.memref<f32, smem, align<1024>, "S<2,2,3> o 0 o ((4,1),2):((1,0),10)">) {
  // expected-error @+1 {{needs an alignment of 16 bytes, the destination states 8}}
  cute.copy %c, %g, %s
  return
}
