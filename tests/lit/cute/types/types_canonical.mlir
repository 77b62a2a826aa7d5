// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s

// Spaces and a last comma go; numbers have one spelling.
// CHECK-LABEL: func.func private @spaces(
// CHECK-SAME: !cute.shape<"(2,(?{i64},4))">, !cute.int_tuple<"(0,7)">
func.func private @spaces(!cute.shape<" ( 2 , ( ?{ i64 } ,4 , ) ) ">, !cute.int_tuple<"(-0,007)">)

// The width comes before the divisor; i32 and a divisor of 1 say nothing.
// CHECK-LABEL: func.func private @unknown(
// CHECK-SAME: !cute.shape<"?{i64 div=8}">, !cute.shape<"?{div=16}">, !cute.shape<"?">, !cute.shape<"?">, !cute.int_tuple<"(?{i1},?{i8},?{i16})">
func.func private @unknown(!cute.shape<"?{div=8 i64}">, !cute.shape<"?{div=16}">, !cute.shape<"?{div=1}">, !cute.shape<"?{i32}">,
                           !cute.int_tuple<"(?{i1},?{i8},?{i16})">)

// A tuple of one is no scalar, and a tuple may be empty.
// CHECK-LABEL: func.func private @tuples(
// CHECK-SAME: !cute.int_tuple<"(2)">, !cute.int_tuple<"2">, !cute.int_tuple<"()">
func.func private @tuples(!cute.int_tuple<"(2)">, !cute.int_tuple<"2">, !cute.int_tuple<"()">)

// A shape alone has compact strides: (2,(3,4)) steps by 1, 2, 2*3. Behind an unknown extent they are unknown, and as wide.
// A mode of one element has stride 0.
// CHECK-LABEL: func.func private @compact(
// CHECK-SAME: !cute.layout<"(2,(3,4)):(1,(2,6))">, !cute.layout<"(?,3,?):(1,?,?)">, !cute.layout<"(2,?{i64},3):(1,2,?{i64})">, !cute.layout<"(1,4):(0,1)">
func.func private @compact(!cute.layout<"(2,(3,4))">, !cute.layout<"(?,3,?)">, !cute.layout<"(2,?{i64},3)">, !cute.layout<"(1,4)">)
// CHECK-LABEL: func.func private @compact_parts(
// CHECK-SAME: !cute.composed_layout<"S<3,4,3> o 0 o 8:1">, !cute.tile<"[4:1;_]">, !cute.tile<"_">
func.func private @compact_parts(!cute.composed_layout<"S<3,4,3> o 0 o 8">, !cute.tile<"[4;_]">, !cute.tile<"_">)

// Basis vectors: the innermost mode first; a scale of 0 keeps its mode.
// CHECK-LABEL: func.func private @basis(
// CHECK-SAME: !cute.stride<"(1@0,(2@0@1,?{i64}@1@1))">, !cute.stride<"(0@1,0,-1@0)">
func.func private @basis(!cute.stride<"(1@0,(2@0@1,?{i64}@1@1))">, !cute.stride<"(0@1,0,-1@0)">)

// Each type is an attribute too.
// CHECK-LABEL: func.func private @attributes(
// CHECK-SAME: attributes {a = #cute.int_tuple<"(2,?)">, b = #cute.shape<"(?,?)">, c = #cute.stride<"(1,?{i64})">, d = #cute.coord<"(_,1)">, e = #cute.layout<"(4,8):(1,4)">, f = #cute.tile<"[128:1;64:1]">, g = #cute.swizzle<"S<3,4,3>">, h = #cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">}
func.func private @attributes() attributes {
  a = #cute.int_tuple<"(2,?)">, b = #cute.shape<2>, c = #cute.stride<"(1,?{i64})">, d = #cute.coord<"(_,1)">,
  e = #cute.layout<"(4,8)">, f = #cute.tile<128, 64>, g = #cute.swizzle<"S<3,4,3>">,
  h = #cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">}
