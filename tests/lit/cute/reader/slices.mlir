// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -o %t && cute-opt %t | FileCheck %s

// A tensor or layout with `_` among the indices behind it is sliced: where it stands, and once for each operand.

// CHECK-LABEL: func.func @copies(
// CHECK-SAME: %[[A:[^:]*]]: !cute.memref<f32, gmem, {{.*}}, %[[B:[^:]*]]: !cute.memref<f32, gmem, {{.*}}, %[[I:[^:]*]]: i32
func.func @copies(%a: !cute.memref<f32, gmem, align<16>, "((4,1),2,8):((1,0),4,8)">,
                  %b: !cute.memref<f32, gmem, align<16>, "((4,1),2,8):((1,0),4,8)">, %i: i32) {
  %atom = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32, 128 b>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: scf.for %[[K:[^ ]*]] =
  scf.for %k = %c0 to %i step %c1 : i32 {
    // CHECK-NEXT: %[[C:.*]] = cute.make_coord(%[[I]]) : (i32) -> !cute.coord<"(_,_,?)">
    // CHECK-NEXT: %[[S:.*]] = cute.slice(%[[A]], %[[C]])
    // CHECK-NEXT: %[[D:.*]] = cute.make_coord(%[[K]]) : (i32) -> !cute.coord<"(_,_,?)">
    // CHECK-NEXT: %[[T:.*]] = cute.slice(%[[B]], %[[D]])
    // CHECK: cute.copy(%{{.*}}, %[[S]], %[[T]])
    cute.copy %atom, %a[_, _, %i], %b[_, _, %k]
  }
  return
}

// CHECK-LABEL: func.func @layout(
func.func @layout(%l: !cute.layout<"(4,(2,8)):(1,(4,8))">) {
  // CHECK: cute.slice(%{{.*}}, %{{.*}}) : !cute.layout<"(4,(2,8)):(1,(4,8))">, !cute.coord<"(1,(_,_))">
  // CHECK: cute.size
  %n = cute.size(%l[1, (_, _)])
  return
}

// Without an atom, the elements of slices move one by one.
// CHECK-LABEL: func.func @no_atom(
func.func @no_atom(%a: !cute.memref<f32, gmem, align<16>, "(4,2,8):(1,4,8)">, %b: !cute.memref<f32, gmem, align<16>, "(4,2):(1,4)">, %k: i32) {
  // CHECK-DAG: cute.slice(%{{.*}}) : !cute.memref<f32, gmem, align<16>, "(4,2,8):(1,4,8)">, !cute.coord<"(_,_,?)">
  // CHECK-COUNT-3: cute.copy(%{{.*}}, %{{.*}}, %{{.*}}) : (!cute_nvgpu.atom.universal_copy<f32, 32 b>, !cute.memref<f32, gmem, align<16>, "(4,2):(1,4)">, !cute.memref<f32, gmem, align<16>, "(4,2):(1,4)">)
  // CHECK: return
  cute.copy %a[_, _, %k], %a[_, _, 0]
  cute.copy %a[_, _, 1], %b
  cute.copy %b, %a[_, _, 1]
  return
}
