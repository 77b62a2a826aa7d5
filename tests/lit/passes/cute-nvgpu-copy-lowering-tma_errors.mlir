// RUN: cute-opt %s -split-input-file -verify-diagnostics -cute-nvgpu-copy-lowering

!G = !cute.memref<f32, gmem, align<16>, "(64):(1)">
!S = !cute.memref<f32, smem, align<16>, "(64):(1)">
func.func @no_barrier(%g: !G, %s: !S) {
  %a = cute.make_atom : !cute_nvgpu.atom.bulk_copy<f32, g2s>
  // expected-error@+1 {{expects a bulk copy to shared memory with a barrier: cute_nvgpu.atom.set_value {field = tma_bar}}}
  cute.copy %a, %g, %s
  return
}

// -----

!G = !cute.memref<f32, gmem, align<16>, "(64):(2)">
!S = !cute.memref<f32, smem, align<16>, "(64):(1)">
func.func @not_side_by_side(%g: !G, %s: !S) {
  %a = cute.make_atom : !cute_nvgpu.atom.bulk_copy<f32, s2g>
  // expected-error@+1 {{expects a multiple of 16 bytes that are contiguous in both tensors, got 1 elements of 32 bits}}
  cute.copy %a, %s, %g
  return
}

// -----

!G = !cute.memref<f32, gmem, align<4>, "(64):(1)">
!S = !cute.memref<f32, smem, align<16>, "(64):(1)">
func.func @alignment(%g: !G, %s: !S) {
  %a = cute.make_atom : !cute_nvgpu.atom.bulk_copy<f32, s2g>
  // expected-error@+1 {{expects addresses aligned to 16 bytes in a bulk copy, but those of operand #2 are aligned to 4}}
  cute.copy %a, %s, %g
  return
}

// -----

!G = !cute.memref<f32, gmem, align<16>, "(64):(1)">
!S = !cute.memref<f32, smem, align<16>, "(64):(1)">
func.func @spaces(%g: !G, %s: !S) {
  %a = cute.make_atom : !cute_nvgpu.atom.bulk_copy<f32, s2g>
  // expected-error@+1 {{expects a source in smem for a bulk copy, got gmem}}
  cute.copy %a, %g, %s
  return
}

// -----

func.func @no_reduction() {
  // expected-error@+1 {{unsupported bulk reduction MIN of elements of type f32}}
  %a = cute.make_atom : !cute_nvgpu.atom.bulk_copy<f32, s2g, kind = MIN>
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
!S = !cute.memref<f16, smem, align<1024>, "((64,64)):((64,1))">
func.func @load_without_barrier(%t: !A, %s: !S, %g: !cute.coord_tensor<"(0,0)", "(((64,64),1)):(((1@0,1@1),0))">) {
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)")
  %e = cute_nvgpu.atom.make_exec_tma %a
  // expected-error@+1 {{expects a load with a barrier: cute_nvgpu.atom.set_value {field = tma_bar}}}
  cute.copy %e, %g, %s
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
!S = !cute.memref<f16, smem, align<64>, "((64,64)):((64,1))">
func.func @tile_between_rows(%t: !A, %s: !S, %b: !cute.ptr<i64, smem>, %g: !cute.coord_tensor<"(0,0)", "(((64,64),1)):(((1@0,1@1),0))">) {
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)")
  %e = cute_nvgpu.atom.make_exec_tma %a
  %x = cute_nvgpu.atom.set_value(%e, %b) {field = tma_bar}
  // expected-error@+1 {{expects addresses aligned to 128 bytes in a copy by TMA, but those of operand #2 are aligned to 64}}
  cute.copy %x, %g, %s
  return
}

// -----

!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
!S = !cute.memref<f16, smem, align<1024>, "((64,64)):((64,1))">
func.func @not_executable(%t: !A, %s: !S, %g: !cute.coord_tensor<"(0,0)", "(((64,64),1)):(((1@0,1@1),0))">) {
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%t, "(64,64):(64,1)")
  // expected-error@+1 {{expects an executable atom, got 'atom.non_exec_tiled_tma_load': cute_nvgpu.atom.make_exec_tma creates one}}
  cute.copy %a, %g, %s
  return
}
