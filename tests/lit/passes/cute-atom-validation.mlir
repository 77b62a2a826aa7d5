// RUN: cute-opt %s -cute-atom-validation | FileCheck %s
// RUN: cute-opt %s -cute-atom-validation -remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// What fits stays as it is.

// REMARK: remark: {{.*}}6 tilings cover their tiles

!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!ldsm = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!mma = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
!tiled = !cute.tiled_mma<!mma, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
!of_a = !cute.tiled_copy<!ldsm, layout_copy_tv = <"((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(0,0)))">, tiler_mn = <"[32:1;16:1]">>

// Elements of A are read by the warps of each column: no memory is written.
// CHECK-LABEL: func.func @fits(
// CHECK: cute.make_tiled_copy(
// CHECK: cute.copy(
// CHECK: cute.gemm(
func.func @fits(%a: !copy, %l: !ldsm, %m: !mma,
                %g: !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">,
                %s: !cute.memref<f16, smem, align<16>, "((8,1),4):((1,0),64)">,
                %r: !cute.memref<f16, rmem, align<16>, "((8,1),4):((1,0),8)">,
                %d: !cute.memref<f32, rmem, align<16>, "((2,2),4,4):((1,2),4,16)">,
                %b: !cute.memref<f16, rmem, align<8>, "((2,2),4):((1,2),4)">,
                %i: !cute.coord<"?">, %x: !cute.memref<f16, smem, align<16>, "(32,16):(16,1)">,
                %f: !cute.memref<f16, rmem, align<16>, "((2,2,2),4):((1,2,4),8)">) {
  %t = cute.make_tiled_copy(%a) : (!copy) -> !cute.tiled_copy<!copy, layout_copy_tv = <"((4,32),8):((256,1),32)">, tiler_mn = <"[32:1;32:1]">>
  %u = cute.make_tiled_copy(%l) : (!ldsm) -> !of_a
  %v = cute.make_tiled_mma(%m) : (!mma) -> !tiled
  %k = cute.make_tiled_mma(%m) : (!mma) -> !cute.tiled_mma<!mma, atom_layout_MNK = <"(2,1,2):(1,0,2)">>
  %w = cute.make_tiled_mma(%m) : (!mma) -> !cute.tiled_mma<!mma, atom_layout_MNK = <"(1,2,1):(0,1,0)">, permutation_MNK = <"[_;(8,2):(1,8);_]">>
  %p = cute.tiled.copy.partition_S(%u, %x, %i)
  cute.copy(%a, %g, %s) : (!copy, !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, !cute.memref<f16, smem, align<16>, "((8,1),4):((1,0),64)">) -> ()
  cute.copy(%l, %s, %r) : (!ldsm, !cute.memref<f16, smem, align<16>, "((8,1),4):((1,0),64)">, !cute.memref<f16, rmem, align<16>, "((8,1),4):((1,0),8)">) -> ()
  cute.gemm(%m, %d, %f, %b, %d) : (!mma, !cute.memref<f32, rmem, align<16>, "((2,2),4,4):((1,2),4,16)">, !cute.memref<f16, rmem, align<16>, "((2,2,2),4):((1,2,4),8)">, !cute.memref<f16, rmem, align<8>, "((2,2),4):((1,2),4)">, !cute.memref<f32, rmem, align<16>, "((2,2),4,4):((1,2),4,16)">) -> ()
  return
}

// stmatrix of one matrix takes the addresses of eight lanes; the others' are not written.
// CHECK-LABEL: func.func @lanes(
// CHECK: cute.tiled.copy.partition_D(
func.func @lanes(%a: !cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 1, n>,
                 %x: !cute.memref<f16, smem, align<16>, "(8,8):(8,1)">, %i: !cute.coord<"?">) {
  %tv = cute.static : !cute.layout<"((4,8),2):((16,1),8)">
  %t = cute.make_tiled_copy(%a, %tv, (8, 8))
  %d = cute.tiled.copy.partition_D(%t, %x, %i)
  return
}
