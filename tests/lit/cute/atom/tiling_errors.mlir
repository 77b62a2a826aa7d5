// RUN: not cute-opt %s -split-input-file 2>&1 | FileCheck %s

!copy = !cute_nvgpu.atom.universal_copy<f16, 128 b>

func.func @other_atom(%a: !copy) {
  // CHECK: error: {{.*}}'cute.make_tiled_copy' op expects a result with the atom '!cute_nvgpu.atom.universal_copy<f16, 128 b>', but got '!cute_nvgpu.atom.universal_copy<f16>'
  %t = cute.make_tiled_copy(%a) : (!copy) -> !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16>, layout_copy_tv = <"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;128:1]">>
  return
}

// -----

!copy = !cute_nvgpu.atom.universal_copy<f16, 128 b>

func.func @too_few_values(%a: !copy) {
  // CHECK: error: {{.*}}'cute.make_tiled_copy' op the atom takes 8 values, but the thread-value layout has 4, which is not a multiple
  %t = cute.make_tiled_copy(%a) : (!copy) -> !cute.tiled_copy<!copy, layout_copy_tv = <"((16,8),4):((32,1),8)">, tiler_mn = <"[8:1;64:1]">>
  return
}

// -----

!copy = !cute_nvgpu.atom.universal_copy<f16, 128 b>

func.func @too_few_values_inferred(%a: !copy, %threads: !cute.layout<"(8,16):(16,1)">, %values: !cute.layout<"(1,4):(0,1)">) {
  // CHECK: error: {{.*}}the atom takes 8 values, but the thread-value layout has 4, which is not a multiple
  %t = cute.make_tiled_copy(%a, %threads, %values)
  return
}

// -----

!ldsm = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>

func.func @too_few_threads(%a: !ldsm) {
  // CHECK: error: {{.*}}'cute.make_tiled_copy' op the atom takes 32 threads, but the thread-value layout has 16, which is not a multiple
  %t = cute.make_tiled_copy(%a) : (!ldsm) -> !cute.tiled_copy<!ldsm, layout_copy_tv = <"(16,8):(8,1)">, tiler_mn = <"[16:1;8:1]">>
  return
}

// -----

func.func @no_copy(%a: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, %threads: !cute.layout<"(8,16):(16,1)">, %values: !cute.layout<"(1,4):(0,1)">) {
  // CHECK: error: {{.*}}expects a copy atom, but got '!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >'
  %t = cute.make_tiled_copy(%a, %threads, %values)
  return
}

// -----

func.func @unknown_threads(%a: !cute_nvgpu.atom.universal_copy<f16>, %threads: !cute.layout<"(8,?):(16,1)">, %tiler: !cute.tile<"[8:1;16:1]">) {
  // CHECK: error: {{.*}}expected a static layout, got (8,?):(16,1)
  %t = cute.make_tiled_copy(%a, %threads, %tiler)
  return
}

// -----

func.func @permutation(%a: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, %atoms: !cute.layout<"(2,2):(1,2)">) {
  // CHECK: error: {{.*}}the permutation has 48 along M, which is not a multiple of 2 atoms of 16
  %t = cute.make_tiled_mma(%a, %atoms, (48, 32, 16))
  return
}

// -----

func.func @of_an_atom_alone(%a: !cute_nvgpu.atom.universal_copy<f16, 128 b>) {
  // CHECK: :8: error: make_tiled_copy expects 3 operands, but got 1
  %t = cute.make_tiled_copy %a
  return
}

// -----

func.func @four_modes(%a: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, %atoms: !cute.layout<"(2,2,1,1):(1,2,0,0)">) {
  // CHECK: error: {{.*}}expected atom_layout_MNK of rank 3, got rank 4
  %t = cute.make_tiled_mma(%a, %atoms)
  return
}

// -----

!tiled = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;128:1]">>

func.func @other_partition(%t: !tiled, %x: !cute.memref<f16, gmem, align<16>, "(32,128):(128,1)">, %i: !cute.coord<"?">) {
  // CHECK: error: {{.*}}inferred type(s) '!cute.memref<f16, gmem, align<16>, "((8,1),4,1):((1,0),1024,0)">' are incompatible
  %p = cute.tiled.copy.partition_S(%t, %x, %i) : (!tiled, !cute.memref<f16, gmem, align<16>, "(32,128):(128,1)">, !cute.coord<"?">) -> !cute.memref<f16, gmem, align<16>, "((8,1),4,1):((1,0),512,0)">
  return
}

// -----

!tiled = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;128:1]">>

func.func @rank(%t: !tiled, %x: !cute.memref<f16, gmem, align<16>, "128:1">, %i: !cute.coord<"?">) {
  // CHECK: error: {{.*}}expects a tensor of rank 2 or more, but got 128:1
  %p = cute.tiled.copy.partition_S(%t, %x, %i)
  return
}

// -----

!tiled = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">>

func.func @thread(%t: !tiled, %x: !cute.memref<f16, gmem, align<16>, "(32,128):(128,1)">, %i: !cute.coord<"(?,?)">) {
  // CHECK: error: {{.*}}expects the index of a thread, one number, but got '!cute.coord<"(?,?)">'
  %p = cute.tiled.mma.partition A (%t, %x, %i)
  return
}

// -----

!tiled = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">>

func.func @fragment(%t: !tiled, %x: !cute.memref<f16, gmem, align<16>, "((2,2,2),?):((1,2,4),8)">) {
  // CHECK: error: {{.*}}registers need a static shape
  %p = cute.mma.make_fragment A (%t, %x)
  return
}
