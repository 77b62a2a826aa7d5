// Fragments like other tensors, and predicates of copies.
// RUN: cute-opt %s --split-input-file --cute-expand-ops | FileCheck %s

// CHECK-LABEL: func.func @fragment
func.func @fragment(%t: !cute.memref<f16, gmem, align<16>, "((8,1),2):((1,0),?{i64})">) {
  // CHECK: cute.memref.alloca({{.*}}) : (!cute.layout<"((8,1),2):((1,0),8)">) -> !cute.memref<f32, rmem, align<32>, "((8,1),2):((1,0),8)">
  %r = cute.make_fragment_like(%t) {element = f32}
  // CHECK: cute.memref.alloca({{.*}}) : (!cute.layout<"((8,1),2):((1,0),8)">) -> !cute.memref<f16, rmem, align<32>, "((8,1),2):((1,0),8)">
  %q = cute.make_fragment_like(%t)
  return
}

// -----

// The coordinates of copy i are 16 * i further in mode 1.
// CHECK-LABEL: func.func @predicate
func.func @predicate(%c: !cute.coord_tensor<"(?{div=8},?)", "((8,1),2):((1@0,0),16@1)">, %s: !cute.shape<"(?,?)">) -> i8 {
  // CHECK: %[[C:.*]]:2 = cute.get_scalars<{only_dynamic}> (%{{.*}}) : !cute.int_tuple<"(?{div=8},?)">
  // CHECK: %[[S:.*]]:2 = cute.get_scalars<{only_dynamic}> (%{{.*}}) : !cute.shape<"(?,?)">
  // CHECK: cute.memref.alloca({{.*}}) : (!cute.layout<"(1,2):(0,1)">)
  // CHECK: arith.cmpi slt, %[[C]]#0, %[[S]]#0
  // CHECK: arith.cmpi slt, %[[C]]#1, %[[S]]#1
  // CHECK: cute.memref.store({{.*}}) : (!cute.memref<i8, rmem, "(1,2):(0,1)">, !cute.coord<"(0,0)">, i8)
  // CHECK: %[[N:.*]] = arith.addi %[[C]]#1, %c16{{.*}}
  // CHECK: arith.cmpi slt, %[[N]], %[[S]]#1
  // CHECK: cute.memref.store({{.*}}) : (!cute.memref<i8, rmem, "(1,2):(0,1)">, !cute.coord<"(0,1)">, i8)
  %p = cute.predicate(%c, %s)
  %at = cute.make_coord(0, 1)
  %x = cute.memref.load(%p, %at) : (!cute.memref<i8, rmem, "(1,2):(0,1)">, !cute.coord<"(0,1)">) -> i8
  return %x : i8
}


// -----

// A mode 0 that is a number, as of cute.local_partition, has no values of one copy: each element has a predicate.
// CHECK-LABEL: func.func @predicate_of_elements
func.func @predicate_of_elements(%c: !cute.coord_tensor<"(?)", "(2):(64@0)">, %s: !cute.shape<"(?)">) -> i8 {
  // CHECK: cute.memref.alloca({{.*}}) : (!cute.layout<"(2):(1)">)
  // CHECK: arith.cmpi slt
  // CHECK: %[[N:.*]] = arith.addi %{{.*}}, %c64{{.*}}
  // CHECK: arith.cmpi slt, %[[N]]
  %p = cute.predicate(%c, %s)
  %x = cute.memref.load %p[1]
  return %x : i8
}
