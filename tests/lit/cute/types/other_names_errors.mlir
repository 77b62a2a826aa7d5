// RUN: cute-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{unknown instruction '!cute_nvgpu.sm80.mma<17x9x15, elem_type = (f16, f16, f32) >'}}
func.func private @no_such_shape(!cute_nvgpu.mma_atom<17,9,15,f16>)

// -----

// expected-error @+1 {{expects 128B, 64B or 32B, got 12B}}
func.func private @no_such_mode(!cute.swizzle<mode=12B>)

// -----

// expected-error @+1 {{128B has 3 bits, got 2}}
func.func private @other_bits(!cute.swizzle<mode=128B, bits=2>)

// -----

// expected-error @+1 {{expects 1 to 16 bytes, got 32}}
func.func private @too_wide(!cute_nvgpu.copy_atom<32>)

// -----

// expected-error @+1 {{expects a layout, got '!cute.shape<"4">'}}
func.func private @no_layout(!cute.tensor<f16, !cute.shape<"4">>)

// -----

// expected-error @+1 {{expects a multiple of 16 along K, got 8}}
func.func private @no_whole_product(!cute_nvgpu.tiled_mma<32,16,8>)

// -----

// expected-error @+1 {{unknown instruction '!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f32, f32, f32) >'}}
func.func private @no_such_elements(!cute_nvgpu.tiled_mma<32,16,16,f32>)
