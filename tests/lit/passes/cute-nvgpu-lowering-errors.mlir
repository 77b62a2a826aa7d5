// RUN: cute-opt %s -cute-expand-ops -cute-nvgpu-copy-lowering -cute-nvgpu-mma-lowering -cute-nvgpu-to-nvgpu -split-input-file -verify-diagnostics

func.func @shape(%t: !cute.memref<f32, gmem, "(?):(1)">, %x: f32) {
  // expected-error@+1 {{'cute.fill' op expects a tensor of known shape, got "(?):(1)"}}
  cute.fill(%t, %x)
  return
}

// -----

func.func @nibbles(%a: !cute.memref<i4, gmem, align<4>, "(8):(2)">) {
  // expected-error@+1 {{'cute.memref.load_vec' op expects elements of 4 bits to fill bytes, but those of "(8):(2)" are not contiguous}}
  %v = cute.memref.load_vec(%a) : (!cute.memref<i4, gmem, align<4>, "(8):(2)">) -> vector<8xi4>
  return
}

// -----

func.func @shared_nibble(%a: !cute.memref<i4, smem, align<4>, "(8):(1)">, %x: i4) {
  %c = cute.static : !cute.coord<"3">
  // expected-error@+1 {{'cute.memref.store' op cannot store an element of 4 bits to memory shared by threads: expects rmem, or a copy of whole bytes}}
  cute.memref.store(%a, %c, %x)
  return
}

// -----

func.func @values(%d: !cute.memref<f32, rmem, "((2,1),1,1):((1,0),0,0)">, %a: !cute.memref<f16, rmem, "((2,2,2),1,1):((1,2,4),0,0)">, %b: !cute.memref<f16, rmem, "((2,2),1,1):((1,2),0,0)">) {
  %mma = cute.make_atom() : () -> !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
  // expected-error@+1 {{values}}
  cute.gemm(%mma, %d, %a, %b, %d)
  return
}

// -----

func.func @elements(%d: !cute.memref<i32, rmem, "(1,1,1):(0,0,0)">, %a: !cute.memref<f32, rmem, "(1,1,1):(0,0,0)">) {
  %mma = cute.make_atom() : () -> !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> i32 >
  // expected-error@+1 {{'cute.gemm' op expects factors that D's type can represent, got f32 and f32 in i32}}
  cute.gemm(%mma, %d, %a, %a, %d)
  return
}

// -----

func.func @outside() {
  // expected-error@+1 {{'cute_nvgpu.arch.get_dyn_smem' op expects to be in a gpu.module: only kernels have shared memory}}
  %s = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
  return
}

// -----

func.func @logic(%x: f32) -> f32 {
  // expected-error@+1 {{'cute_nvgpu.arch.warp_all_reduce' op}}
  %r = cute_nvgpu.arch.warp_all_reduce<{kind = "xor"}> (%x) : (f32) -> f32
  return %r : f32
}

// -----

// Half a byte has no address.
func.func @half_bytes(%a: !cute.memref<i4, gmem, "(4,2):(2,1)">) {
  %r = cute.make_fragment_like %a
  %one = cute.make_atom : !cute_nvgpu.atom.universal_copy<i4>
  // expected-error @+1 {{expects elements of 4 bits to fill bytes, but those of "(4,2):(2,1)" are not contiguous}}
  cute.copy %one, %a, %r
  return
}

// -----

func.func @odd_place(%a: !cute.memref<i4, gmem, "(2,2):(1,3)">) {
  %r = cute.make_fragment_like %a
  %two = cute.make_atom : !cute_nvgpu.atom.universal_copy<i4, 8 b>
  // expected-error @+1 {{expects elements of 4 bits to begin at byte boundaries, but element 2 of "(2,2):(1,3)" is not known to}}
  cute.copy %two, %a, %r
  return
}
