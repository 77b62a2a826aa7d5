// RUN: cute-opt %s -cute-expand-ops -cute-to-base -split-input-file | FileCheck %s
// RUN: cute-opt %s -cute-expand-ops -split-input-file | cute-opt -cute-to-base -split-input-file | FileCheck %s

// A pair for a layout: nothing for known parts, an integer for one leaf, a struct for more.
// CHECK-LABEL: func.func @types(
// CHECK-SAME: !llvm.struct<(i32, struct<()>)>, %{{.*}}: !llvm.struct<(struct<(i32, i32)>, i64)>, %{{.*}}: i32, %{{.*}}: !llvm.struct<()>, %{{.*}}: !llvm.struct<(i32, i64)>)
func.func @types(%a: !cute.layout<"(?,4):(4,1)">, %b: !cute.layout<"(?,?):(?{i64},1)">, %c: !cute.shape<"(?,2)">,
                 %d: !cute.coord<"(_,1)">, %e: !cute.stride<"(?,?{i64})">) { return }

// -----

// CHECK-LABEL: func.func @through_loop(
// CHECK-SAME:  %[[L:.*]]: !llvm.struct<(i32, struct<()>)>
// CHECK:       scf.for {{.*}} iter_args(%{{.*}} = %[[L]]) -> (!llvm.struct<(i32, struct<()>)>)
// CHECK-NOT:   unrealized_conversion_cast
// CHECK-NOT:   !cute
func.func @through_loop(%l: !cute.layout<"(?,4):(4,1)">, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %l) -> (!cute.layout<"(?,4):(4,1)">) {
    scf.yield %x : !cute.layout<"(?,4):(4,1)">
  }
  %s = cute.size<[0]> (%r) : (!cute.layout<"(?,4):(4,1)">) -> !cute.int_tuple<"?">
  %v = cute.get_scalars (%s) : !cute.int_tuple<"?">
  return %v : i32
}

// -----

// CHECK-LABEL: func.func @through_call
// CHECK: call @callee(%{{.*}}) : (i32) -> i32
func.func private @callee(!cute.shape<"(?,4)">) -> !cute.int_tuple<"?">
func.func @through_call(%s: !cute.shape<"(?,4)">) -> !cute.int_tuple<"?"> {
  %r = func.call @callee(%s) : (!cute.shape<"(?,4)">) -> !cute.int_tuple<"?">
  return %r : !cute.int_tuple<"?">
}
