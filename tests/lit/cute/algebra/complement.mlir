// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// What a layout leaves out, up to a size.

// 4 of 24: 6 blocks.
// CHECK-LABEL: func.func @tail(
// CHECK: cute.complement(%{{.*}}, %{{.*}}) : (!cute.layout<"4:1">, !cute.shape<"24">) -> !cute.layout<"6:4">
func.func @tail(%a: !cute.layout<"4:1">, %b: !cute.shape<"24">) {
  %r = cute.complement(%a, %b) : (!cute.layout<"4:1">, !cute.shape<"24">) -> !cute.layout<"6:4">
  return
}

// Below 6 only 2 are covered: 3 fit. Then 24 / (2*6) = 2.
// CHECK-LABEL: func.func @gap(
// CHECK: cute.complement(%{{.*}}, %{{.*}}) : (!cute.layout<"(2,2):(1,6)">, !cute.shape<"24">) -> !cute.layout<"(3,2):(2,12)">
func.func @gap(%a: !cute.layout<"(2,2):(1,6)">, %b: !cute.shape<"24">) {
  %r = cute.complement(%a, %b) : (!cute.layout<"(2,2):(1,6)">, !cute.shape<"24">) -> !cute.layout<"(3,2):(2,12)">
  return
}

// Of the CuTe documentation: 4:2 in 24 leaves 0, 1 and 8, 16.
// CHECK-LABEL: func.func @strided(
// CHECK: cute.complement(%{{.*}}, %{{.*}}) : (!cute.layout<"4:2">, !cute.shape<"24">) -> !cute.layout<"(2,3):(1,8)">
func.func @strided(%a: !cute.layout<"4:2">, %b: !cute.shape<"24">) {
  %r = cute.complement(%a, %b) : (!cute.layout<"4:2">, !cute.shape<"24">) -> !cute.layout<"(2,3):(1,8)">
  return
}

// 25 / 4: the last block is not whole.
// CHECK-LABEL: func.func @rounded_up(
// CHECK: cute.complement(%{{.*}}, %{{.*}}) : (!cute.layout<"4:1">, !cute.shape<"25">) -> !cute.layout<"7:4">
func.func @rounded_up(%a: !cute.layout<"4:1">, %b: !cute.shape<"25">) {
  %r = cute.complement(%a, %b) : (!cute.layout<"4:1">, !cute.shape<"25">) -> !cute.layout<"7:4">
  return
}

// CHECK-LABEL: func.func @all(
// CHECK: cute.complement(%{{.*}}, %{{.*}}) : (!cute.layout<"24:1">, !cute.shape<"24">) -> !cute.layout<"1:24">
func.func @all(%a: !cute.layout<"24:1">, %b: !cute.shape<"24">) {
  %r = cute.complement(%a, %b) : (!cute.layout<"24:1">, !cute.shape<"24">) -> !cute.layout<"1:24">
  return
}

// A single element: all of 24.
// CHECK-LABEL: func.func @nothing(
// CHECK: cute.complement(%{{.*}}, %{{.*}}) : (!cute.layout<"1:0">, !cute.shape<"24">) -> !cute.layout<"24:1">
func.func @nothing(%a: !cute.layout<"1:0">, %b: !cute.shape<"24">) {
  %r = cute.complement(%a, %b) : (!cute.layout<"1:0">, !cute.shape<"24">) -> !cute.layout<"24:1">
  return
}

// Strides count, not the order of modes.
// CHECK-LABEL: func.func @any_order(
// CHECK: cute.complement(%{{.*}}, %{{.*}}) : (!cute.layout<"(2,2):(6,1)">, !cute.shape<"24">) -> !cute.layout<"(3,2):(2,12)">
func.func @any_order(%a: !cute.layout<"(2,2):(6,1)">, %b: !cute.shape<"24">) {
  %r = cute.complement(%a, %b) : (!cute.layout<"(2,2):(6,1)">, !cute.shape<"24">) -> !cute.layout<"(3,2):(2,12)">
  return
}

// Its shape says how far.
// CHECK-LABEL: func.func @cotarget_layout(
// CHECK: cute.complement(%{{.*}}, %{{.*}}) : (!cute.layout<"4:1">, !cute.layout<"(4,6):(6,1)">) -> !cute.layout<"6:4">
func.func @cotarget_layout(%a: !cute.layout<"4:1">, %b: !cute.layout<"(4,6):(6,1)">) {
  %r = cute.complement(%a, %b) : (!cute.layout<"4:1">, !cute.layout<"(4,6):(6,1)">) -> !cute.layout<"6:4">
  return
}

// CHECK-LABEL: func.func @unknown_size(
// CHECK: cute.complement(%{{.*}}, %{{.*}}) : (!cute.layout<"4:1">, !cute.shape<"?">) -> !cute.layout<"?:4">
func.func @unknown_size(%a: !cute.layout<"4:1">, %b: !cute.shape<"?">) {
  %r = cute.complement(%a, %b) : (!cute.layout<"4:1">, !cute.shape<"?">) -> !cute.layout<"?:4">
  return
}

// CHECK-LABEL: func.func @unknown_extent(
// CHECK: cute.complement(%{{.*}}, %{{.*}}) : (!cute.layout<"?:1">, !cute.shape<"24">) -> !cute.layout<"?:?">
func.func @unknown_extent(%a: !cute.layout<"?:1">, %b: !cute.shape<"24">) {
  %r = cute.complement(%a, %b) : (!cute.layout<"?:1">, !cute.shape<"24">) -> !cute.layout<"?:?">
  return
}

// Below 2; then from 8 on without end, as a mode of one.
// CHECK-LABEL: func.func @without_size(
// CHECK: cute.complement(%{{.*}}) : (!cute.layout<"4:2">) -> !cute.layout<"(2,1):(1,8)">
func.func @without_size(%a: !cute.layout<"4:2">) {
  %r = cute.complement(%a) : (!cute.layout<"4:2">) -> !cute.layout<"(2,1):(1,8)">
  return
}
