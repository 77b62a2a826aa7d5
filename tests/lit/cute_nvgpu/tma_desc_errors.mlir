// RUN: cute-opt %s -split-input-file -verify-diagnostics -cute-nvgpu-copy-lowering

// What can't be changed of a tensor map, and where descriptors have to lie.
!atom = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>
func.func @alignment(%a: !atom, %s: !cute.ptr<i64, smem, align<64>>) {
  // expected-error@+1 {{expects the descriptor to be aligned to 128 bytes, but got 64}}
  "cute_nvgpu.copy_tma_desc"(%a, %s) : (!atom, !cute.ptr<i64, smem, align<64>>) -> ()
  return
}

// -----

!atom = !cute_nvgpu.atom.non_exec_im2col_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@0,1@1,1@2)">, tma_format = F16_RN>
!T = !cute.memref<f16, gmem, align<16>, "(?,?,?):(1,?{i64},?{i64})">
!S = !cute.ptr<i64, smem, align<128>>
func.func @im2col(%a: !atom, %t: !T, %s: !S) {
  // expected-error@+1 {{expects a tiled atom: an im2col tensor map cannot be updated}}
  "cute_nvgpu.update_tma_desc"(%a, %t, %s) : (!atom, !T, !S) -> ()
  return
}

// -----

!atom = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>
!T = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
!S = !cute.ptr<i64, smem, align<128>>
func.func @modes(%a: !atom, %t: !T, %s: !S) {
  // expected-error@+1 {{expects a tensor with the modes of the atom, "(64,128,1):(1@1,1@0,1@2)", got "(?,?):(?{i64},1)"}}
  "cute_nvgpu.update_tma_desc"(%a, %t, %s) : (!atom, !T, !S) -> ()
  return
}

// -----

!atom = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>
!T = !cute.memref<f16, gmem, align<16>, "(?,?,?):(?{i64},2,?{i64})">
!S = !cute.ptr<i64, smem, align<128>>
func.func @first_stride(%a: !atom, %t: !T, %s: !S) {
  // expected-error@+1 {{expects stride 1 in the mode whose elements are contiguous in shared memory, got "(?,?,?):(?{i64},2,?{i64})"}}
  "cute_nvgpu.update_tma_desc"(%a, %t, %s) : (!atom, !T, !S) -> ()
  return
}

// -----

!atom = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>
!T = !cute.memref<f16, gmem, align<16>, "(?,?,?):(100,1,?{i64})">
!S = !cute.ptr<i64, smem, align<128>>
func.func @stride(%a: !atom, %t: !T, %s: !S) {
  // expected-error@+1 {{expects strides that are multiples of 16 bytes, got "(?,?,?):(100,1,?{i64})" of elements of 16 bits}}
  "cute_nvgpu.update_tma_desc"(%a, %t, %s) : (!atom, !T, !S) -> ()
  return
}

// -----

!atom = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 65536, tma_gbasis = <"(64,64,1,1,(1,1)):(1@1,1@0,1@2,1@3,(1@4,1@5))">, tma_format = F16_RN>
!T = !cute.memref<f16, gmem, align<16>, "(?,?,?,?,2,3):(?{i64},1,?{i64},?{i64},8192,16384)">
!S = !cute.ptr<i64, smem, align<128>>
func.func @group(%a: !atom, %t: !T, %s: !S) {
  // expected-error@+1 {{expects an atom with one mode per dimension, got "(64,64,1,1,(1,1)):(1@1,1@0,1@2,1@3,(1@4,1@5))"}}
  "cute_nvgpu.update_tma_desc"(%a, %t, %s) : (!atom, !T, !S) -> ()
  return
}

// -----

!atom = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, tma_format = F16_RN>
!T = !cute.memref<f16, gmem, align<16>, "S<2,3,3> o 0 o (64,64):(64,1)">
!S = !cute.ptr<i64, smem, align<128>>
func.func @composed(%a: !atom, %t: !T, %s: !S) {
  // expected-error@+1 {{expects a tensor whose layout has strides: tensor maps cannot have composed layouts}}
  "cute_nvgpu.update_tma_desc"(%a, %t, %s) : (!atom, !T, !S) -> ()
  return
}

// -----

!S = !cute.ptr<i64, smem, align<128>>
func.func @from_global(%g: !cute.ptr<i64, gmem, align<64>>, %s: !S) {
  // expected-error@+1 {{expects operand #0 to be aligned to 128 bytes, but got 64}}
  "cute_nvgpu.arch.cp_fence_tma_desc_release"(%g, %s) {scope = "gpu"} : (!cute.ptr<i64, gmem, align<64>>, !S) -> ()
  return
}
