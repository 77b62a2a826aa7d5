// RUN: cute-opt %s -cute-vectorization -remarks=cute-vectorization -split-input-file -verify-diagnostics | FileCheck %s
// What it made is valid input, and nothing is left to do.
// RUN: cute-opt %s -cute-vectorization -split-input-file > %t.once
// RUN: cute-opt %t.once -cute-vectorization -split-input-file > %t.twice
// RUN: diff %t.once %t.twice

// CHECK-LABEL: func.func @scalars
// CHECK:         %[[A:.*]] = cute.make_atom{{.*}} !cute_nvgpu.atom.universal_copy<f32, 128 b>
// CHECK:         %[[G:.*]] = cute.composition(%arg0,
// CHECK:         %[[R:.*]] = cute.composition(%arg1,
// CHECK:         cute.copy(%[[A]], %[[G]], %[[R]]) {{.*}}gmem, align<16>, "((4,1),2):((1,0),4)"{{.*}}rmem, "((4,1),2):((1,0),4)"
// CHECK-NOT:     cute.copy
func.func @scalars(%g: !cute.memref<f32, gmem, align<16>, "(1,8):(0,1)">, %r: !cute.memref<f32, rmem, "(1,8):(0,1)">) {
  %a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
  // expected-remark@+1 {{copies 128 bits at once instead of 32}}
  cute.copy(%a, %g, %r) : (!cute_nvgpu.atom.universal_copy<f32>, !cute.memref<f32, gmem, align<16>, "(1,8):(0,1)">, !cute.memref<f32, rmem, "(1,8):(0,1)">) -> ()
  return
}

// -----

// The stride of the other modes is not known, but a multiple of four elements.
// CHECK-LABEL: func.func @strides
// CHECK:         cute.copy({{.*}}universal_copy<f16, 64 b>{{.*}}"((4,1),(2,8)):((1,0),(4,?{div=4}))"
func.func @strides(%g: !cute.memref<f16, gmem, align<16>, "((1,8),8):((0,1),?{div=4})">, %r: !cute.memref<f16, rmem, "((1,8),8):((0,1),8)">) {
  %a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16>
  // expected-remark@+1 {{copies 64 bits at once instead of 16; limited because the stride ?{div=4} of the source is not known to be a multiple of 8}}
  cute.copy(%a, %g, %r) : (!cute_nvgpu.atom.universal_copy<f16>, !cute.memref<f16, gmem, align<16>, "((1,8),8):((0,1),?{div=4})">, !cute.memref<f16, rmem, "((1,8),8):((0,1),8)">) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @async
// CHECK:         cute.copy({{.*}}simt_async_copy<f32, cache = always, 128 b>{{.*}}gmem, align<16>, "((4,1),2):((1,0),64)"{{.*}}smem, align<16>, "((4,1),2):((1,0),32)"
func.func @async(%g: !cute.memref<f32, gmem, align<16>, "((1,1),(4,2)):((0,0),(1,64))">, %s: !cute.memref<f32, smem, align<16>, "((1,1),(4,2)):((0,0),(1,32))">) {
  %a = cute.make_atom() : () -> !cute_nvgpu.atom.simt_async_copy<f32, cache = always, 32 b>
  // expected-remark@+1 {{copies 128 bits at once instead of 32}}
  cute.copy(%a, %g, %s) : (!cute_nvgpu.atom.simt_async_copy<f32, cache = always, 32 b>, !cute.memref<f32, gmem, align<16>, "((1,1),(4,2)):((0,0),(1,64))">, !cute.memref<f32, smem, align<16>, "((1,1),(4,2)):((0,0),(1,32))">) -> ()
  return
}

// -----

// One predicate for four elements moves with them.
// CHECK-LABEL: func.func @predicate
// CHECK:         %[[P:.*]] = cute.composition(%arg2, {{.*}} -> !cute.memref<i8, rmem, "(1,8):(0,1)">
// CHECK:         cute.copy(%{{.*}}, %{{.*}}, %{{.*}}, %[[P]]) {{.*}}universal_copy<f32, 128 b>
func.func @predicate(%g: !cute.memref<f32, gmem, align<16>, "((1,4),8):((0,1),4)">, %r: !cute.memref<f32, rmem, "((1,4),8):((0,1),4)">, %p: !cute.memref<i8, rmem, "(4,8):(0,1)">) {
  %a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
  // expected-remark@+1 {{copies 128 bits at once instead of 32}}
  cute.copy(%a, %g, %r, %p) : (!cute_nvgpu.atom.universal_copy<f32>, !cute.memref<f32, gmem, align<16>, "((1,4),8):((0,1),4)">, !cute.memref<f32, rmem, "((1,4),8):((0,1),4)">, !cute.memref<i8, rmem, "(4,8):(0,1)">) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @predicates
// CHECK-NEXT:    cute.make_atom
// CHECK-NEXT:    cute.copy({{.*}}universal_copy<f32>
func.func @predicates(%g: !cute.memref<f32, gmem, align<16>, "((1,4),8):((0,1),4)">, %r: !cute.memref<f32, rmem, "((1,4),8):((0,1),4)">, %p: !cute.memref<i8, rmem, "(4,8):(1,4)">) {
  %a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
  // expected-remark@+1 {{copies 32 bits at once: 2 elements have different predicates}}
  cute.copy(%a, %g, %r, %p) : (!cute_nvgpu.atom.universal_copy<f32>, !cute.memref<f32, gmem, align<16>, "((1,4),8):((0,1),4)">, !cute.memref<f32, rmem, "((1,4),8):((0,1),4)">, !cute.memref<i8, rmem, "(4,8):(1,4)">) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @alignment
// CHECK-NEXT:    cute.make_atom
// CHECK-NEXT:    cute.copy({{.*}}universal_copy<f32>
func.func @alignment(%g: !cute.memref<f32, gmem, "(1,8):(0,1)">, %r: !cute.memref<f32, rmem, "(1,8):(0,1)">) {
  %a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
  // expected-remark@+1 {{copies 32 bits at once: the source is aligned to 4 bytes, not to 8}}
  cute.copy(%a, %g, %r) : (!cute_nvgpu.atom.universal_copy<f32>, !cute.memref<f32, gmem, "(1,8):(0,1)">, !cute.memref<f32, rmem, "(1,8):(0,1)">) -> ()
  return
}

// -----

// Contiguous in one of them only.
// CHECK-LABEL: func.func @transposed
// CHECK:         cute.copy({{.*}}universal_copy<f32>
func.func @transposed(%g: !cute.memref<f32, gmem, align<16>, "(1,(4,4)):(0,(1,4))">, %s: !cute.memref<f32, smem, align<16>, "(1,(4,4)):(0,(4,1))">) {
  %a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
  // expected-remark@+1 {{copies 32 bits at once: no two elements are contiguous in both tensors}}
  cute.copy(%a, %g, %s) : (!cute_nvgpu.atom.universal_copy<f32>, !cute.memref<f32, gmem, align<16>, "(1,(4,4)):(0,(1,4))">, !cute.memref<f32, smem, align<16>, "(1,(4,4)):(0,(4,1))">) -> ()
  return
}

// -----

// An extent that is not known, and an atom that has no other width.
// CHECK-LABEL: func.func @left
// CHECK:         cute.copy({{.*}}universal_copy<f32>
// CHECK:         cute.copy({{.*}}atom.ldsm
func.func @left(%g: !cute.memref<f32, gmem, align<16>, "(1,?):(0,1)">, %r: !cute.memref<f32, rmem, "(1,?):(0,1)">,
                %s: !cute.memref<f16, smem, align<16>, "((8,1),2):((1,0),64)">, %f: !cute.memref<f16, rmem, "((8,1),2):((1,0),8)">) {
  %a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
  %b = cute.make_atom() : () -> !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
  // expected-remark@+1 {{is not considered: an extent is only known at run time}}
  cute.copy(%a, %g, %r) : (!cute_nvgpu.atom.universal_copy<f32>, !cute.memref<f32, gmem, align<16>, "(1,?):(0,1)">, !cute.memref<f32, rmem, "(1,?):(0,1)">) -> ()
  cute.copy(%b, %s, %f) : (!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, !cute.memref<f16, smem, align<16>, "((8,1),2):((1,0),64)">, !cute.memref<f16, rmem, "((8,1),2):((1,0),8)">) -> ()
  return
}
