// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @wait() {
  // expected-error@+1 {{'cute_nvgpu.mbarrier_wait' op expects an mbarrier, and the phase where it is not 0}}
  cute_nvgpu.mbarrier_wait
  return
}

// -----

func.func @fence(%x: i32) {
  // expected-error@+1 {{'nvvm.fence.acq_rel.cta' op expects no operands}}
  nvvm.fence.acq_rel.cta %x
  return
}

// -----

// expected-error@+1 {{expects a box of 1 to 5 extents from 1 to 256, such as 128x64xf16}}
func.func @box(%m: !cute_nvgpu.tma_load<512x64xf16>) { return }

// -----

// expected-error@+1 {{expects 128B, 64B or 32B, got 16B}}
func.func @swizzle(%m: !cute_nvgpu.tma_load<64x64xf16, 16B>) { return }

// -----

func.func @operands(%m: !cute_nvgpu.tma_load<64x64xf16>, %s: memref<64x64xf16, 3>, %b: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects a memref in shared memory and a !nvgpu.mbarrier.group behind its tensor map}}
  cute_nvgpu.tma_load_execute %m, %s, %b
  return
}

// -----

func.func @coordinates(%m: !cute_nvgpu.tma_load<64x64xf16>, %s: memref<64x64xf16, 3>, %b: !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{expects 2 coordinates, but got 3}}
  cute_nvgpu.tma_load_execute %m[0, 1, 2], %s, %b
  return
}

// -----

func.func @atom(%b: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects a TMA load, coordinates, a tensor in shared memory and an mbarrier}}
  cute_nvgpu.tma_load_execute %b, %b, %b
  return
}
