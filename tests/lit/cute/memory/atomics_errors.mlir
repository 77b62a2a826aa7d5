// RUN: cute-opt %s -cute-fold-static -cute-expand-ops -cute-nvgpu-copy-lowering -split-input-file -verify-diagnostics

func.func @registers(%t: !cute.memref<i32, rmem, "4:1">, %x: i32) {
  // expected-error @+1 {{'cute.atomic_add' op expects a tensor in gmem or smem, but got 'rmem'}}
  cute.atomic_add %x, %t[1]
  return
}

// -----

func.func @outside(%t: !cute.memref<i32, gmem, "4:1">, %x: i32) {
  // expected-error @+1 {{'cute.atomic_add' op expects a coordinate of the shape 4, but got (1,2)}}
  cute.atomic_add %x, %t[1, 2]
  return
}

// -----

func.func @type(%t: !cute.memref<i8, gmem, "4:1">, %x: i8) {
  // expected-error @+1 {{'cute.atomic_add' op expects i32, i64, f16, bf16, f32 or f64, but got 'i8'}}
  cute.atomic_add %x, %t[1]
  return
}

// -----

func.func @floats(%t: !cute.memref<f32, gmem, "4:1">, %x: f32) {
  // expected-error @+1 {{'cute.atomic_xor' op expects i32 or i64, but got 'f32'}}
  cute.atomic_xor %x, %t[1]
  return
}

// -----

func.func @wrap(%t: !cute.memref<i64, gmem, "4:1">, %x: i64) {
  // expected-error @+1 {{'cute.atomic_inc' op expects i32, but got 'i64'}}
  cute.atomic_inc %x, %t[1]
  return
}

// -----

func.func @value(%t: !cute.memref<i32, gmem, "4:1">, %x: f32) {
  // expected-error @+1 {{'cute.atomic_exch' op expects a value of the tensor's element type 'i32', but got 'f32'}}
  cute.atomic_exch %x, %t[1]
  return
}

// -----

func.func @vector(%t: !cute.memref<f32, smem, align<16>, "4:1">, %x: vector<4xf32>) {
  // expected-error @+1 {{'cute.atomic_add' op expects 2 elements of f16 or bf16, or, in gmem, 4 or 8 of f16 or bf16 or 2 or 4 of f32, but got 'vector<4xf32>' in smem}}
  cute.atomic_add %x, %t[0]
  return
}

// -----

func.func @aligned(%t: !cute.memref<f16, gmem, align<4>, "(64):(1)">, %x: vector<2xf16>, %i: i32) {
  // expected-error @+1 {{'cute.atomic_add' op expects 2 contiguous elements at a coordinate that is aligned to 4 bytes, got 2 known ones of "(64):(1)"; !cute.i32<divby 2> declares an index to be a multiple}}
  cute.atomic_add %x, %t[%i]
  return
}

// -----

func.func @number(%t: !cute.memref<i32, gmem, "4:1">) {
  // expected-error @+1 {{custom op 'cute.atomic_add' expects a number that fits in 'i32'}}
  cute.atomic_add 5000000000, %t[1]
  return
}

// -----

func.func @order(%t: !cute.memref<i32, gmem, "4:1">, %x: i32) {
  // expected-error @+1 {{'cute.atomic_add' op attribute 'order' failed to satisfy constraint: one of relaxed acquire release acq_rel sc}}
  cute.atomic_add<weak> %x, %t[1]
  return
}

// -----

// A number is of integers and floats alone.
func.func @pointers(%t: !cute.memref<!llvm.ptr<1>, gmem, "4:1">) {
  // expected-error @+1 {{custom op 'cute.atomic_exch' expects an SSA value as operand #0}}
  cute.atomic_exch 1, %t[1]
  return
}
