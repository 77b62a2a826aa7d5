// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s

// The canonical text of each type survives parsing, printing and bytecode.
// CHECK-LABEL: func.func @tuples(
// CHECK-SAME: !cute.int_tuple<"3">, %{{.*}}: !cute.int_tuple<"(2,(?,4))">, %{{.*}}: !cute.int_tuple<"?{i64}">
func.func @tuples(%a: !cute.int_tuple<"3">, %b: !cute.int_tuple<"(2,(?,4))">, %c: !cute.int_tuple<"?{i64}">) { return }
// CHECK-LABEL: func.func @shapes(
// CHECK-SAME: !cute.shape<"(128,(?,64))">
func.func @shapes(%a: !cute.shape<"(128,(?,64))">) { return }
// CHECK-LABEL: func.func @strides(
// CHECK-SAME: !cute.stride<"(1@0,?@1)">, %{{.*}}: !cute.stride<"(1,?{i64})">
func.func @strides(%a: !cute.stride<"(1@0,?@1)">, %b: !cute.stride<"(1,?{i64})">) { return }
// CHECK-LABEL: func.func @coords(
// CHECK-SAME: !cute.coord<"(?,_)">
func.func @coords(%a: !cute.coord<"(?,_)">) { return }
// A shape alone is a compact layout, column-major: strides 1 and 4.
// CHECK-LABEL: func.func @layouts(
// CHECK-SAME: !cute.layout<"(4,8):(1,4)">, %{{.*}}: !cute.layout<"(?,64):(1,?)">
func.func @layouts(%a: !cute.layout<"(4,8)">, %b: !cute.layout<"(?,64):(1,?)">) { return }
// CHECK-LABEL: func.func @others(
// CHECK-SAME: !cute.tile<"[(4,2):(1,4);_]">, %{{.*}}: !cute.swizzle<"S<3,4,3>">, %{{.*}}: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
func.func @others(%a: !cute.tile<"[(4,2):(1,4);_]">, %b: !cute.swizzle<"S<3,4,3>">,
                  %c: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">) { return }
