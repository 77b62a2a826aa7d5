// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @unknown(%n: i32) {
  // expected-error @+1 {{'cute.alloc_smem' op expects a static size: for a size set at launch, use cute_nvgpu.arch.get_dyn_smem}}
  %a = cute.alloc_smem f32, %n
  return
}

// -----

func.func @nothing() {
  // expected-error @+1 {{'cute.alloc_smem' op expects an element type and a shape or layout: cute.alloc_smem f16, "(64,32):(32,1)"}}
  %a = cute.alloc_smem 64
  return
}

// -----

func.func @swizzle() {
  // expected-error @+1 {{'cute.alloc_smem' op expects a layout without a swizzle, and the pointer's as swizzle = "S<3,4,3>"}}
  %a = cute.alloc_smem f16, "(64,64):(64,1)" {swizzle = "128B"}
  return
}

// -----

func.func @align() {
  // expected-error @+1 {{'cute.alloc_smem' op expects a power of two in bytes as align}}
  %a = cute.alloc_smem f16, "(64,64):(64,1)" {align = 48}
  return
}
