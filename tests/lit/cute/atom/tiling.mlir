// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -cute-expand-ops | FileCheck %s --check-prefix=EXPANDED

// Atoms laid over threads and values: the result types follow from the operands.

!copy = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!ldsm = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!mma = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >

// CHECK-LABEL: func.func @of_threads_and_values(
// CHECK: cute.make_tiled_copy(%{{.*}}, %{{.*}}, %{{.*}}) : (!cute_nvgpu.atom.universal_copy<f16, 128 b>, !cute.layout<"(16,8):(8,1)">, !cute.layout<"(1,8):(0,1)">) -> !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((8,16),8):((128,1),16)">, tiler_mn = <"[16:1;64:1]">>
func.func @of_threads_and_values() {
  %a = cute.make_atom() : () -> !copy
  %threads = cute.make_layout((16, 8), (8, 1))
  %values = cute.make_layout((1, 8))
  %t = cute.make_tiled_copy(%a, %threads, %values)
  return
}

// The same by its thread-value layout and tiler.
// CHECK-LABEL: func.func @of_a_layout(
// CHECK: -> !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((8,16),8):((128,1),16)">, tiler_mn = <"[16:1;64:1]">>
func.func @of_a_layout() {
  %a = cute.make_atom() : () -> !copy
  %tv = cute.make_layout(((8, 16), 8), ((128, 1), 16))
  %t = cute.make_tiled_copy(%a, %tv, (16, 64))
  return
}

// What ldmatrix reads: lanes 0 to 15 rows 0 to 15 of the 16 x 16 elements at k = 0, lanes 16 to 31 the same at k = 8.
// CHECK-LABEL: func.func @of_mmas(
// CHECK: cute.make_tiled_mma({{.*}}) -> !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
// CHECK: cute.make_tiled_copy_A({{.*}}layout_copy_tv = <"((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(0,0)))">, tiler_mn = <"[32:1;16:1]">>
// CHECK: cute.make_tiled_copy_B({{.*}}layout_copy_tv = <"((4,8,2,2),((2,2),(2,1))):((64,1,0,8),((32,256),(16,0)))">, tiler_mn = <"[32:1;16:1]">>
// CHECK: cute.make_tiled_copy_C({{.*}}tiler_mn = <"[32:1;32:1]">>
// CHECK: cute.make_tiled_copy_S({{.*}}-> !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((16,2,2,2),(8,1)):((1,256,16,0),(32,0))">, tiler_mn = <"[32:1;16:1]">>
func.func @of_mmas() {
  %m = cute.make_atom() : () -> !mma
  %l = cute.make_atom() : () -> !ldsm
  %a = cute.make_atom() : () -> !copy
  %atoms = cute.make_layout((2, 2))
  %mma = cute.make_tiled_mma(%m, %atoms, (32, 32, 16))
  %ca = cute.make_tiled_copy_A(%l, %mma)
  %cb = cute.make_tiled_copy_B(%l, %mma)
  %cc = cute.make_tiled_copy_C(%a, %mma)
  %cs = cute.make_tiled_copy_S(%a, %ca)
  return
}

// Of an MMA alone, one atom.
// CHECK-LABEL: func.func @one_atom(
// CHECK: cute.make_tiled_mma({{.*}}) -> !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
func.func @one_atom(%m: !mma) {
  %mma = cute.make_tiled_mma %m
  return
}

// CHECK-LABEL: func.func @partitions(
// CHECK: cute.tiled.copy.partition_S({{.*}}) -> !cute.memref<f16, gmem, align<16>, "((8,1),4,1):((1,0),1024,0)">
// CHECK: cute.tiled.mma.partition A ({{.*}}) -> !cute.memref<f16, smem, align<4>, "((2,2,2),4,2):((1,256,?{div=8}),1024,?{div=16})">
// CHECK: cute.mma.make_fragment A ({{.*}}) -> !cute.memref<f16, rmem, align<16>, "((2,2,2),4,2):((1,2,4),8,32)">
// CHECK: cute.tiled.copy.retile({{.*}}) -> !cute.memref<f16, rmem, align<16>, "((8,1),4,2):((1,0),8,32)">
// CHECK: cute.tiled.mma.partition_shape C ({{.*}}) -> !cute.shape<"((2,2),4,8)">
// CHECK: cute.mma.make_fragment C ({{.*}}) -> !cute.memref<f32, rmem, align<16>, "((2,2),4,8):((1,2),4,16)">
func.func @partitions(%x: !cute.memref<f16, gmem, align<16>, "(32,128):(128,1)">, %i: !cute.coord<"?">,
                      %s: !cute.memref<f16, smem, align<1024>, "S<2,3,3> o 0 o ((8,16),(32,1)):((32,256),(1,0))">) {
  %a = cute.make_atom() : () -> !copy
  %l = cute.make_atom() : () -> !ldsm
  %m = cute.make_atom() : () -> !mma
  %threads = cute.make_layout((8, 16), (16, 1))
  %values = cute.make_layout((1, 8))
  %t = cute.make_tiled_copy(%a, %threads, %values)
  %p = cute.tiled.copy.partition_S(%t, %x, %i)
  %atoms = cute.make_layout((2, 2))
  %mma = cute.make_tiled_mma(%m, %atoms, (32, 32, 16))
  %pa = cute.tiled.mma.partition A (%mma, %s, %i)
  %fa = cute.mma.make_fragment A (%mma, %pa)
  %ca = cute.make_tiled_copy_A(%l, %mma)
  %ra = cute.tiled.copy.retile(%ca, %fa)
  %shape = cute.tiled.mma.partition_shape C (%mma, (128, 128))
  %fc = cute.mma.make_fragment C (%mma, %shape)
  return
}

// The index of the thread is the program's: what is emitted is the address of its first element.
// EXPANDED-LABEL: func.func @expanded(
// EXPANDED: %[[I:.*]] = cute.get_scalars<{only_dynamic}> (%{{.*}}) : !cute.coord<"?">
// EXPANDED: %[[ROW:.*]] = arith.divsi %[[I]],
// EXPANDED: %[[COLUMN:.*]] = arith.remsi %[[I]],
// EXPANDED: arith.muli %[[COLUMN]],
// EXPANDED: cute.add_offset(%{{.*}}, %{{.*}}) : (!cute.ptr<f16, gmem, align<16>>, !cute.int_tuple<"?{div=8}">) -> !cute.ptr<f16, gmem, align<16>>
// EXPANDED: cute.make_view(%{{.*}}) : (!cute.ptr<f16, gmem, align<16>>, !cute.layout<"((8,1),4,1):((1,0),1024,0)">)
// EXPANDED-NOT: partition
func.func @expanded(%x: !cute.memref<f16, gmem, align<16>, "(32,128):(128,1)">, %i: !cute.coord<"?">) -> !cute.memref<f16, gmem, align<16>, "((8,1),4,1):((1,0),1024,0)"> {
  %t = cute.static : !cute.tiled_copy<!copy, layout_copy_tv = <"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;128:1]">>
  %p = cute.tiled.copy.partition_D(%t, %x, %i)
  return %p : !cute.memref<f16, gmem, align<16>, "((8,1),4,1):((1,0),1024,0)">
}
