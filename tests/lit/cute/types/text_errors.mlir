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
