// Where CuTe DSL knows more than types say: coordinates of a constant; and results whose types its printer leaves out.
// RUN: cute-opt %s -source-map=off | FileCheck %s
// RUN: cute-opt %s -source-map=off --mlir-print-op-generic | cute-opt -source-map=off | FileCheck %s
// RUN: cute-opt %s -source-map=off -cute-expand-ops | FileCheck %s --check-prefix=EXPANDED

// CHECK-LABEL: func.func @coordinate
func.func @coordinate(%l: !cute.layout<"(2,4):(4,1)">, %n: i32) {
  %6 = arith.constant 6 : i32
  // CHECK: cute.get_hier_coord(%{{.*}}, %{{.*}}) : (i32, !cute.layout<"(2,4):(4,1)">) -> !cute.coord<"(1,2)">
  // EXPANDED: cute.static : !cute.coord<"(1,2)">
  %0 = cute.get_hier_coord(%6, %l) : (i32, !cute.layout<"(2,4):(4,1)">) -> !cute.coord<"(1,2)">
  cute.print(%0) : !cute.coord<"(1,2)">
  // CHECK: -> !cute.coord<"(?,?)">
  %1 = cute.get_hier_coord(%6, %l)
  // CHECK: -> !cute.coord<"(?,?)">
  %2 = cute.get_hier_coord(%n, %l)
  return
}

// CHECK-LABEL: func.func @result_alone
func.func @result_alone(%s: !cute.shape<"(4,8)">, %a: !cute.layout<"((2),1):((1),0)">) {
  // CHECK: cute.make_identity_layout(%{{.*}}) : !cute.shape<"(4,8)"> -> !cute.layout<"(4,8):(1@0,1@1)">
  %0 = cute.make_identity_layout(%s) : !cute.layout<"(4,8):(1@0,1@1)">
  return
}
