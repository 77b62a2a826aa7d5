// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @unknown(%n: i32) {
  // expected-error @+1 {{'cute.alloc_smem' op expects a known size: cute_nvgpu.arch.get_dyn_smem has as much memory as the launch gives}}
  %a = cute.alloc_smem f32, %n
  return
}

// -----

func.func @nothing() {
  // expected-error @+1 {{'cute.alloc_smem' op expects the type of an element, and a shape or a layout: cute.alloc_smem f16, "(64,32):(32,1)"}}
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
  // expected-error @+1 {{'cute.alloc_smem' op expects a power of two of bytes as align}}
  %a = cute.alloc_smem f16, "(64,64):(64,1)" {align = 48}
  return
}
