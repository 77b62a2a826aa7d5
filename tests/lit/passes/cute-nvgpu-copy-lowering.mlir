// RUN: cute-opt %s -cute-expand-ops -cute-nvgpu-copy-lowering | FileCheck %s
// RUN: cute-opt %s -cute-nvgpu-copy-lowering -remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// The atom says how wide: one access each, words of registers one by one.
// CHECK-LABEL: func.func @universal
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-COUNT-4: llvm.store %{{.*}} : f32, !llvm.ptr
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-COUNT-4: llvm.store %{{.*}} : f32, !llvm.ptr
// CHECK-NOT: cute.copy
// REMARK: remark: 2 runs of UniversalCopy, 128 bits each
func.func @universal(%a: !cute.memref<f32, gmem, align<16>, "((4,1),2):((1,0),64)">, %r: !cute.memref<f32, rmem, align<16>, "((4,1),2):((1,0),4)">) {
  %atom = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32, 128 b>
  cute.copy(%atom, %a, %r)
  return
}

// Two elements of 16 bits are a word.
// CHECK-LABEL: func.func @words
// CHECK: llvm.load %{{.*}} -> vector<4xi32>
// CHECK-COUNT-4: llvm.store %{{.*}} : i32, !llvm.ptr
func.func @words(%a: !cute.memref<f16, smem, align<16>, "((8,1)):((1,0))">, %r: !cute.memref<f16, rmem, align<16>, "((8,1)):((1,0))">) {
  %atom = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16, 128 b>
  cute.copy(%atom, %a, %r)
  return
}

// A predicate guards each run; cp.async ignores its source instead and writes zeros.
// CHECK-LABEL: func.func @predicates
// CHECK: %[[P:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i8
// CHECK: %[[C:.*]] = arith.cmpi ne, %[[P]]
// CHECK: scf.if %[[C]] {
// CHECK: llvm.store
// CHECK: }
// CHECK: %[[IGNORE:.*]] = arith.xori %{{.*}}, %true
// CHECK: llvm.inline_asm has_side_effects "cp.async.cg.shared.global [$0], [$1], 16, $2;", "r,l,b" %{{.*}}, %{{.*}}, %[[IGNORE]]
func.func @predicates(%a: !cute.memref<f16, gmem, align<16>, "((8,1)):((1,0))">, %s: !cute.memref<f16, smem, align<16>, "((8,1)):((1,0))">, %p: !cute.memref<i8, rmem, "(1):(0)">) {
  %atom = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16, 128 b>
  cute.copy(%atom, %a, %s, %p)
  %async = cute.make_atom() : () -> !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
  cute.copy(%async, %a, %s, %p)
  return
}

// With zero_fill what is not copied is zero: the loads alone are guarded.
// CHECK-LABEL: func.func @zero_fill
// CHECK: %[[C:.*]] = arith.cmpi ne
// CHECK: %[[X:.*]]:4 = scf.if %[[C]] -> (i32, i32, i32, i32) {
// CHECK: llvm.load %{{.*}} -> vector<4xi32>
// CHECK: } else {
// CHECK: %[[Z:.*]] = llvm.mlir.zero : i32
// CHECK: scf.yield %{{.*}} : i32, i32, i32, i32
// CHECK: }
// CHECK-NOT: scf.if
// CHECK: %[[V:.*]] = vector.insert %[[X]]#3, %{{.*}} [3]
// CHECK-NEXT: llvm.store %[[V]], {{.*}} : vector<4xi32>, !llvm.ptr<3>
func.func @zero_fill(%a: !cute.memref<f16, gmem, align<16>, "((8,1)):((1,0))">, %s: !cute.memref<f16, smem, align<16>, "((8,1)):((1,0))">, %p: !cute.memref<i8, rmem, "(1):(0)">) {
  %atom = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16, 128 b>
  cute.copy(%atom, %a, %s, %p) {zero_fill}
  return
}

// The address of a swizzled pointer is xor-ed: bits 7 to 9 onto 4 to 6.
// CHECK-LABEL: func.func @swizzle
// CHECK: %[[N:.*]] = llvm.ptrtoint %{{.*}} : !llvm.ptr<3> to i32
// CHECK: %[[PART:.*]] = arith.andi %[[N]], %c896_i32
// CHECK: %[[SHIFTED:.*]] = arith.shrui %[[PART]], %c3_i32
// CHECK: arith.xori %[[N]], %[[SHIFTED]]
// CHECK: llvm.inttoptr
// CHECK: nvvm.ldmatrix %{{.*}} {layout = #nvvm.mma_layout<col>, num = 4 : i32}
func.func @swizzle(%a: !cute.memref<f16, smem, align<16>, S<3,4,3>, "((8,1)):((1,0))">, %r: !cute.memref<f16, rmem, align<16>, "((8,1)):((1,0))">) {
  %atom = cute.make_atom() : () -> !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, t>
  cute.copy(%atom, %a, %r)
  return
}

// Vectors are in the order of indices; one value stored to all is one word.
// CHECK-LABEL: func.func @vectors
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
// CHECK: vector.from_elements
// CHECK: %[[V:.*]] = llvm.bitcast %{{.*}} : vector<2xf16> to i32
// CHECK: llvm.store %[[V]], %{{.*}} : i32, !llvm.ptr
// CHECK: llvm.store %[[V]], %{{.*}} : i32, !llvm.ptr
func.func @vectors(%a: !cute.memref<f32, gmem, align<8>, "(2,2):(1,8)">, %x: f16) -> vector<4xf32> {
  %v = cute.memref.load_vec(%a) : (!cute.memref<f32, gmem, align<8>, "(2,2):(1,8)">) -> vector<4xf32>
  %l = cute.static : !cute.layout<"(4):(1)">
  %r = cute.memref.alloca(%l) : (!cute.layout<"(4):(1)">) -> !cute.memref<f16, rmem, align<8>, "(4):(1)">
  cute.fill(%r, %x)
  return %v : vector<4xf32>
}

// Elements that have predicates of their own move at once where all of them do.
// CHECK-LABEL: func.func @predicates_of_elements
func.func @predicates_of_elements(%a: !cute.memref<f32, gmem, align<8>, "(4):(1)">, %r: !cute.memref<f32, rmem, align<16>, "(4):(1)">, %p: !cute.memref<i8, rmem, "(4):(1)">) {
  %copy = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32, 64 b>
  // CHECK: %[[P0:.*]] = arith.cmpi ne
  // CHECK: %[[P1:.*]] = arith.cmpi ne
  // CHECK: %[[P:.*]] = arith.andi %[[P0]], %[[P1]]
  // CHECK: scf.if %[[P]]
  // CHECK: scf.if
  // CHECK-NOT: scf.if
  cute.copy %copy, %a, %r, %p
  return
}
