// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// All integers of a value, or with only_dynamic those that its type leaves open.

// Numbers are i32.
// CHECK-LABEL: func.func @shape(
// CHECK: %{{.*}}:3 = cute.get_scalars (%{{.*}}) : !cute.shape<"(4,(?,?{i64}))">
func.func @shape(%a: !cute.shape<"(4,(?,?{i64}))">) -> (i32, i32, i64) {
  %r:3 = cute.get_scalars(%a) : !cute.shape<"(4,(?,?{i64}))">
  return %r#0, %r#1, %r#2 : i32, i32, i64
}

// CHECK-LABEL: func.func @shape_unknown(
// CHECK: %{{.*}}:2 = cute.get_scalars<{only_dynamic}> (%{{.*}}) : !cute.shape<"(4,(?,?{i64}))">
func.func @shape_unknown(%a: !cute.shape<"(4,(?,?{i64}))">) -> (i32, i64) {
  %r:2 = cute.get_scalars<{only_dynamic}>(%a) : !cute.shape<"(4,(?,?{i64}))">
  return %r#0, %r#1 : i32, i64
}

// 2^40 does not fit in 32 bits.
// CHECK-LABEL: func.func @large(
// CHECK: %{{.*}}:2 = cute.get_scalars (%{{.*}}) : !cute.int_tuple<"(1099511627776,7)">
func.func @large(%a: !cute.int_tuple<"(1099511627776,7)">) -> (i64, i32) {
  %r:2 = cute.get_scalars(%a) : !cute.int_tuple<"(1099511627776,7)">
  return %r#0, %r#1 : i64, i32
}

// Shape first, then stride.
// CHECK-LABEL: func.func @layout(
// CHECK: %{{.*}}:4 = cute.get_scalars (%{{.*}}) : !cute.layout<"(4,?):(?{i64},1)">
func.func @layout(%a: !cute.layout<"(4,?):(?{i64},1)">) -> (i32, i32, i64, i32) {
  %r:4 = cute.get_scalars(%a) : !cute.layout<"(4,?):(?{i64},1)">
  return %r#0, %r#1, %r#2, %r#3 : i32, i32, i64, i32
}

// CHECK-LABEL: func.func @layout_unknown(
// CHECK: %{{.*}}:2 = cute.get_scalars<{only_dynamic}> (%{{.*}}) : !cute.layout<"(4,?):(?{i64},1)">
func.func @layout_unknown(%a: !cute.layout<"(4,?):(?{i64},1)">) -> (i32, i64) {
  %r:2 = cute.get_scalars<{only_dynamic}>(%a) : !cute.layout<"(4,?):(?{i64},1)">
  return %r#0, %r#1 : i32, i64
}

// The scale, then the modes that the vector names.
// CHECK-LABEL: func.func @basis(
// CHECK: %{{.*}}:5 = cute.get_scalars (%{{.*}}) : !cute.stride<"(2@0,?@0@1)">
func.func @basis(%a: !cute.stride<"(2@0,?@0@1)">) -> (i32, i32, i32, i32, i32) {
  %r:5 = cute.get_scalars(%a) : !cute.stride<"(2@0,?@0@1)">
  return %r#0, %r#1, %r#2, %r#3, %r#4 : i32, i32, i32, i32, i32
}

// CHECK-LABEL: func.func @basis_unknown(
// CHECK: cute.get_scalars<{only_dynamic}> (%{{.*}}) : !cute.stride<"(2@0,?@0@1)">
func.func @basis_unknown(%a: !cute.stride<"(2@0,?@0@1)">) -> i32 {
  %r = cute.get_scalars<{only_dynamic}>(%a) : !cute.stride<"(2@0,?@0@1)">
  return %r : i32
}

// `_` has no value.
// CHECK-LABEL: func.func @coord(
// CHECK: %{{.*}}:2 = cute.get_scalars (%{{.*}}) : !cute.coord<"(_,(3,?))">
func.func @coord(%a: !cute.coord<"(_,(3,?))">) -> (i32, i32) {
  %r:2 = cute.get_scalars(%a) : !cute.coord<"(_,(3,?))">
  return %r#0, %r#1 : i32, i32
}

// Bits, base, shift.
// CHECK-LABEL: func.func @swizzle(
// CHECK: %{{.*}}:3 = cute.get_scalars (%{{.*}}) : !cute.swizzle<"S<3,4,3>">
func.func @swizzle(%a: !cute.swizzle<"S<3,4,3>">) -> (i32, i32, i32) {
  %r:3 = cute.get_scalars(%a) : !cute.swizzle<"S<3,4,3>">
  return %r#0, %r#1, %r#2 : i32, i32, i32
}

// 4:1 and ?:2, shape and stride of each.
// CHECK-LABEL: func.func @tile(
// CHECK: %{{.*}}:4 = cute.get_scalars (%{{.*}}) : !cute.tile<"[4:1;_;?:2]">
func.func @tile(%a: !cute.tile<"[4:1;_;?:2]">) -> (i32, i32, i32, i32) {
  %r:4 = cute.get_scalars(%a) : !cute.tile<"[4:1;_;?:2]">
  return %r#0, %r#1, %r#2, %r#3 : i32, i32, i32, i32
}

// A, offset, B: 3 of the swizzle, 1, and 2 of 8:?.
// CHECK-LABEL: func.func @composed(
// CHECK: %{{.*}}:6 = cute.get_scalars (%{{.*}}) : !cute.composed_layout<"S<3,4,3> o ?{i64} o 8:?">
func.func @composed(%a: !cute.composed_layout<"S<3,4,3> o ?{i64} o 8:?">) -> (i32, i32, i32, i64, i32, i32) {
  %r:6 = cute.get_scalars(%a) : !cute.composed_layout<"S<3,4,3> o ?{i64} o 8:?">
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5 : i32, i32, i32, i64, i32, i32
}

// CHECK-LABEL: func.func @composed_unknown(
// CHECK: %{{.*}}:3 = cute.get_scalars<{only_dynamic}> (%{{.*}}) : !cute.composed_layout<"?:1 o ?{i64} o 8:?">
func.func @composed_unknown(%a: !cute.composed_layout<"?:1 o ?{i64} o 8:?">) -> (i32, i64, i32) {
  %r:3 = cute.get_scalars<{only_dynamic}>(%a) : !cute.composed_layout<"?:1 o ?{i64} o 8:?">
  return %r#0, %r#1, %r#2 : i32, i64, i32
}
