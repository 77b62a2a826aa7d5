// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null
// RUN: cute-opt %s -cute-expand-ops | FileCheck %s --check-prefix=EXPAND
// RUN: cute-opt %s -cute-to-standard | FileCheck %s --check-prefix=LOWER

// Numbers of types that do not say them.

// CHECK-LABEL: func.func @of_tuples()
// EXPAND-LABEL: func.func @of_tuples()
// LOWER-LABEL: func.func @of_tuples()
func.func @of_tuples() -> (!cute.int, !cute.shape<"?{i64}">, !cute.stride<"?{div=4}">, !cute.coord<"?">) {
  // CHECK-NEXT: %[[A:.*]] = cute.constant<16384> : !cute.int_tuple<"?">
  // EXPAND-DAG: %[[N:.*]] = arith.constant 16384 : i32
  // EXPAND-DAG: cute.make_int_tuple(%[[N]]) : (i32) -> !cute.int_tuple<"?">
  %a = constant 16384 : !cute.int
  // CHECK-NEXT: %[[B:.*]] = cute.constant<{number = -5 : i64}> : !cute.shape<"?{i64}">
  // EXPAND-DAG: %[[M:.*]] = arith.constant -5 : i64
  // EXPAND-DAG: cute.make_shape(%[[M]]) : (i64) -> !cute.shape<"?{i64}">
  %b = arith.constant -5 : !cute.shape<"?{i64}">
  // CHECK-NEXT: %[[C:.*]] = cute.constant<12> : !cute.stride<"?{div=4}">
  // EXPAND-DAG: %[[L:.*]] = arith.constant 12 : i32
  // EXPAND-DAG: cute.make_stride(%[[L]]) : (i32) -> !cute.stride<"?{div=4}">
  %c = cute.constant 12 : !cute.stride<"?{div=4}">
  // CHECK-NEXT: %[[D:.*]] = cute.constant<0> : !cute.coord<"?">
  %d = cute.constant<0> : !cute.coord<"?">
  // LOWER: return %c16384_i32, %c-5_i64, %c12_i32, %c0_i32 : i32, i64, i32, i32
  // CHECK-NEXT: return %[[A]], %[[B]], %[[C]], %[[D]]
  return %a, %b, %c, %d : !cute.int, !cute.shape<"?{i64}">, !cute.stride<"?{div=4}">, !cute.coord<"?">
}

// CHECK-LABEL: func.func @multiples()
// EXPAND-LABEL: func.func @multiples()
func.func @multiples() -> (!cute.i8<divby 4>, !cute.i16<divby 2>, !cute.i32<divby 8>, !cute.i64<divby 16>) {
  // CHECK-NEXT: cute.constant<{number = -128 : i8}> : !cute.i8<divby 4>
  // EXPAND-DAG: %[[A:.*]] = arith.constant -128 : i8
  // EXPAND-DAG: cute.assume(%[[A]]) : (i8) -> !cute.i8<divby 4>
  %a = constant -128 : !cute.i8<divby 4>
  // CHECK-NEXT: cute.constant<{number = 32766 : i16}> : !cute.i16<divby 2>
  %b = constant 32766 : !cute.i16<divby 2>
  // CHECK-NEXT: cute.constant<64> : !cute.i32<divby 8>
  // EXPAND-DAG: %[[C:.*]] = arith.constant 64 : i32
  // EXPAND-DAG: cute.assume(%[[C]]) : (i32) -> !cute.i32<divby 8>
  %c = constant 64 : !cute.i32<divby 8>
  // CHECK-NEXT: cute.constant<{number = 1099511627776 : i64}> : !cute.i64<divby 16>
  %d = constant 1099511627776 : !cute.i64<divby 16>
  return %a, %b, %c, %d : !cute.i8<divby 4>, !cute.i16<divby 2>, !cute.i32<divby 8>, !cute.i64<divby 16>
}

// What divides a multiple divides what it is a part of.
// CHECK-LABEL: func.func @part_of_a_shape()
func.func @part_of_a_shape() {
  %n = constant 64 : !cute.i32<divby 8>
  // CHECK: cute.make_shape(%{{.*}}) : (!cute.i32<divby 8>) -> !cute.shape<"(4,?{div=8})">
  %s = cute.make_shape(4, %n)
  return
}

// A type that says the number: no other constant than there was.
// CHECK-LABEL: func.func @known()
func.func @known() {
  // CHECK-NEXT: cute.static : !cute.int_tuple<"4">
  %a = constant 4 : !cute.int_tuple<"4">
  // CHECK-NEXT: cute.static : !cute.shape<"7">
  %b = arith.constant 7 : !cute.shape<"7">
  return
}

// Constants of other dialects are theirs.
// CHECK-LABEL: func.func @others()
func.func @others() {
  // CHECK-NEXT: %{{.*}} = constant @others : () -> ()
  %f = constant @others : () -> ()
  // CHECK-NEXT: arith.constant 4 : i32
  %a = arith.constant 4 : i32
  return
}
