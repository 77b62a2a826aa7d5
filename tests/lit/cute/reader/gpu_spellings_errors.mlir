// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @no_place(%t: !cute.memref<f32, gmem, "8:1">) {
  // expected-error @+1 {{'gpu.load' op expects an element of a tensor or memref: gpu.load %t[%i] : f32}}
  %x = gpu.load %t : f32
  return
}

// -----

func.func @no_tensor(%t: !llvm.ptr, %i: i32) {
  // expected-error @+1 {{'gpu.load' op expects an element of a tensor or memref: gpu.load %t[%i] : f32}}
  %x = gpu.load %t[%i] : f32
  return
}

// -----

func.func @too_few_indices(%t: memref<4x4xf32>, %i: i32) {
  // expected-error @+1 {{'gpu.load' op expects 2 indices of its memref, but got 1}}
  %x = gpu.load %t[%i] : f32
  return
}

// -----

func.func @no_index(%t: memref<4xf32>, %i: f32) {
  // expected-error @+1 {{expects an integer as index of a memref}}
  %x = gpu.load %t[%i] : f32
  return
}

// -----

func.func @another_element(%t: memref<4xf32>, %i: i32) {
  // expected-error @+1 {{'gpu.load' op expects the element type of its memref after the colon}}
  %x = gpu.load %t[%i] : f16
  return
}

// -----

func.func @another_element_of_a_tensor(%t: !cute.memref<f32, gmem, "8:1">, %i: i32) {
  // expected-error @+1 {{'cute.memref.load' op}}
  %x = gpu.load %t[%i] : f16
  return
}

// -----

func.func @another_value(%t: memref<4xf32>, %x: f16, %i: i32) {
  // expected-error @+1 {{'gpu.store' op expects a value of its memref's type}}
  gpu.store %x, %t[%i]
  return
}

// -----

func.func @no_value(%t: memref<4xf32>, %i: i32) {
  // expected-error @+1 {{'gpu.store' op expects a value and an element of a tensor or memref: gpu.store %x, %t[%i] : f32}}
  gpu.store %t[%i]
  return
}

// -----

func.func @no_atom(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>) {
  // expected-error @+1 {{'cute_nvgpu.warp_mma_f16bf16' op expects an f16 or bf16 MMA atom type after the operands: `: !cute_nvgpu.mma_atom<16,8,16,f16>`}}
  %d = cute_nvgpu.warp_mma_f16bf16 %a, %b, %c
  return
}

// -----

func.func @atom_of_bytes(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xi32>) {
  // expected-error @+1 {{'cute_nvgpu.warp_mma_f16bf16' op expects an f16 or bf16 MMA atom type}}
  %d = cute_nvgpu.warp_mma_f16bf16 %a, %b, %c : !cute_nvgpu.mma_atom<16,8,32,i8>
  return
}

// -----

func.func @two_operands(%a: vector<4xi32>, %b: vector<2xi32>) {
  // expected-error @+1 {{'cute_nvgpu.warp_mma_f16bf16' op expects A, B and C, but got 2 operands}}
  %d = cute_nvgpu.warp_mma_f16bf16 %a, %b : !cute_nvgpu.mma_atom<16,8,16,f16>
  return
}

// -----

func.func @too_few_elements(%a: vector<2xf16>, %b: vector<2xi32>, %c: vector<4xf32>) {
  // expected-error @+1 {{'cute_nvgpu.warp_mma_f16bf16' op expects a vector of 8 f16 or of 4 i32 as A, but got 'vector<2xf16>'}}
  %d = cute_nvgpu.warp_mma_f16bf16 %a, %b, %c : !cute_nvgpu.mma_atom<16,8,16,f16>
  return
}

// -----

func.func @other_elements(%a: vector<4xi32>, %b: vector<4xbf16>, %c: vector<4xf32>) {
  // expected-error @+1 {{expects a vector of 4 f16 or of 2 i32 as B, but got 'vector<4xbf16>'}}
  %d = cute_nvgpu.warp_mma_f16bf16 %a, %b, %c : !cute_nvgpu.mma_atom<16,8,16,f16>
  return
}

// -----

func.func @bf16_sums_in_f32(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xbf16>) {
  // expected-error @+1 {{expects a vector of 4 f32 as C, but got 'vector<4xbf16>'}}
  %d = cute_nvgpu.warp_mma_f16bf16 %a, %b, %c : !cute_nvgpu.mma_atom<16,8,16,bf16>
  return
}

// -----

func.func @fragments(%a: !cute.memref<f16, rmem, "8:1">, %b: vector<2xi32>, %c: vector<4xf32>) {
  // expected-error @+1 {{expects a vector of 8 f16 or of 4 i32 as A, but got '!cute.memref<f16, rmem, "8:1">': cute.gemm multiplies fragments}}
  %d = cute_nvgpu.warp_mma_f16bf16 %a, %b, %c : !cute_nvgpu.mma_atom<16,8,16,f16>
  return
}

// -----

func.func @no_such_shape(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>) {
  // expected-error @+1 {{unknown instruction '!cute_nvgpu.sm80.mma<17x9x15, elem_type = (f16, f16, f32) >'}}
  %d = cute_nvgpu.warp_mma_f16bf16 %a, %b, %c : !cute_nvgpu.mma_atom<17,9,15,f16>
  return
}

// -----

func.func @three_matrices(%p: !cute.ptr<f16, smem, align<16>>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' op expects x1, x2 or x4, and trans, but got 'x3'}}
  %a = cute_nvgpu.ldmatrix<x3> %p
  return
}

// -----

func.func @three_registers(%p: !cute.ptr<f16, smem, align<16>>) {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' op expects 1, 2 or 4 matrices, but got 3}}
  %a = cute_nvgpu.ldmatrix %p : vector<3xi32>
  return
}

// -----

func.func @unaligned_row(%t: !cute.memref<f16, smem, align<128>, "(16,64):(64,1)">, %i: i32) {
  // expected-error @+1 {{'cute_nvgpu.arch.copy.ldsm' op expects a pointer aligned to 16 bytes, the size of a matrix row, but got 2}}
  %a = cute_nvgpu.ldmatrix %t[0, %i]
  return
}

// -----

func.func @global_memory(%p: !cute.ptr<f16, gmem, align<16>>) {
  // expected-error @+1 {{'cute_nvgpu.arch.copy.ldsm' op expects operand #0 to be in memory space 'smem', but got 'gmem'}}
  %a = cute_nvgpu.ldmatrix %p
  return
}

// -----

func.func @nothing() {
  // expected-error @+1 {{'cute_nvgpu.ldmatrix' op expects a pointer to shared memory, or a tensor element: cute_nvgpu.ldmatrix %t[%i, %j]}}
  %a = cute_nvgpu.ldmatrix
  return
}

// -----

func.func @size_at_run_time(%n: i32) {
  // expected-error @+1 {{'gpu.alloc_shared_memory' op expects a static size: for a size set at launch, use cute_nvgpu.arch.get_dyn_smem}}
  %s = gpu.alloc_shared_memory(%n, f16)
  return
}

// -----

func.func @no_element() {
  // expected-error @+1 {{'gpu.alloc_shared_memory' op expects a number of elements, a shape or a layout, and an element type: gpu.alloc_shared_memory(1024, f16)}}
  %s = gpu.alloc_shared_memory(1024)
  return
}

// -----

func.func @no_shape() {
  // expected-error @+1 {{'gpu.alloc_shared_memory' op expects a shape or a layout}}
  %s = gpu.alloc_shared_memory("S<3,4,3>", f16)
  return
}

// -----

func.func @no_elements() {
  // expected-error @+1 {{'gpu.alloc_shared_memory' op expects a shape}}
  %s = gpu.alloc_shared_memory(0, f16)
  return
}
