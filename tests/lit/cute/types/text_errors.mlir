// RUN: cute-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{unknown  type `prt` in dialect `cute`: did you mean `ptr`?}}
func.func private @unknown(!cute.prt<f16>)

// -----

// expected-error@+1 {{unknown  type `wheel` in dialect `cute_nvgpu`}}
func.func private @unknown(!cute_nvgpu.wheel)

// -----

// expected-error@+1 {{expected no parameters: '!cute_nvgpu.smem_desc' has none}}
func.func private @parameters(!cute_nvgpu.smem_desc<3>)

// -----

// expected-error@+1 {{expected an element type such as f16}}
func.func private @no_parameters(!cute.ptr)

// -----

// expected-error@+1 {{expected '<!cute_nvgpu.smem_desc, "LAYOUT">' behind '!cute_nvgpu.smem_desc_view'}}
func.func private @no_parameters(!cute_nvgpu.smem_desc_view)

// -----

// expected-error@+1 {{failed to parse layout from "(1,2)(": }}
func.func private @view(!cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2)(">)

// -----

func.func private @place(!cute.ptr<f16,
  // expected-error@+1 {{expected a word, a number, a text in quotes or a type}}
  @x>)

// -----

// expected-error@+1 {{expected a text without '"' and '\'}}
func.func private @escape(!cute.ptr<"a\"b">)

// -----

// The error of a type inside is its own.
// expected-error@+1 {{failed to parse layout from "(4": expected ',' or ')'}}
func.func private @nested(!cute_nvgpu.atom.ldsm<bf16, !cute.layout<"(4">>)

// -----

// expected-error@+1 {{unknown attribute '#cute_nvgpu.color'}}
func.func private @word() attributes {x = #cute_nvgpu.color<red>}

// -----

// The swizzle of a pointer counts bytes, and elements stay whole: of 4 bits any, of 32 bits from 4 bytes on.
func.func private @whole(!cute.ptr<i4, smem, S<2,0,3>>, !cute.ptr<i8, smem, S<2,0,3>>, !cute.ptr<f32, smem, S<2,2,3>>)
// expected-error @+1 {{the swizzle of a pointer permutes bytes: S<5,0,5> splits elements of f32, expects a base of at least 2}}
func.func private @torn(!cute.ptr<f32, smem, S<5,0,5>>)

// -----

// expected-error @+1 {{S<3,3,3> splits elements of vector<4xf32>, expects a base of at least 4}}
func.func private @torn_vector(!cute.memref<vector<4xf32>, smem, align<16>, S<3,3,3>, "4:1">)
