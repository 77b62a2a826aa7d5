// RUN: cute-opt %s -split-input-file -verify-diagnostics

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
func.func @element(%m: !mma, %s: !cute.memref<bf16, smem, "((2,2,2),4,2):((1,256,8),1024,16)">) {
  // expected-error@+1 {{expects operand #1 to have elements of type 'f16', but got 'bf16'}}
  %f = cute.mma.make_fragment A (%m, %s)
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
func.func @space(%m: !mma, %s: !cute.shape<"((2,2),4,8)">) {
  // expected-error@+2 {{are incompatible with return type(s) of operation}}
  // expected-error@+1 {{failed to infer returned types}}
  %f = cute.mma.make_fragment C (%m, %s) : (!mma, !cute.shape<"((2,2),4,8)">) -> !cute.memref<f32, smem, align<16>, "((2,2),4,8):((1,2),4,16)">
  return
}
