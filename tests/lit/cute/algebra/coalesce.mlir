// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// The same function in fewer modes.

// 7 belongs to an extent of 1; then 2:1, 6:2 are 12:1.
// CHECK-LABEL: func.func @neighbours(
// CHECK: cute.coalesce(%{{.*}}) : (!cute.layout<"(2,(1,6)):(1,(7,2))">) -> !cute.layout<"12:1">
func.func @neighbours(%l: !cute.layout<"(2,(1,6)):(1,(7,2))">) {
  %r = cute.coalesce(%l) : (!cute.layout<"(2,(1,6)):(1,(7,2))">) -> !cute.layout<"12:1">
  return
}

// 8 steps of 16 do not continue 4 steps of 1.
// CHECK-LABEL: func.func @apart(
// CHECK: cute.coalesce(%{{.*}}) : (!cute.layout<"(4,8):(1,16)">) -> !cute.layout<"(4,8):(1,16)">
func.func @apart(%l: !cute.layout<"(4,8):(1,16)">) {
  %r = cute.coalesce(%l) : (!cute.layout<"(4,8):(1,16)">) -> !cute.layout<"(4,8):(1,16)">
  return
}

// CHECK-LABEL: func.func @extents_of_one(
// CHECK: cute.coalesce(%{{.*}}) : (!cute.layout<"(4,1,8):(1,99,4)">) -> !cute.layout<"32:1">
func.func @extents_of_one(%l: !cute.layout<"(4,1,8):(1,99,4)">) {
  %r = cute.coalesce(%l) : (!cute.layout<"(4,1,8):(1,99,4)">) -> !cute.layout<"32:1">
  return
}

// CHECK-LABEL: func.func @broadcast(
// CHECK: cute.coalesce(%{{.*}}) : (!cute.layout<"(2,3):(0,0)">) -> !cute.layout<"6:0">
func.func @broadcast(%l: !cute.layout<"(2,3):(0,0)">) {
  %r = cute.coalesce(%l) : (!cute.layout<"(2,3):(0,0)">) -> !cute.layout<"6:0">
  return
}

// -1, then 4 * -1.
// CHECK-LABEL: func.func @negative(
// CHECK: cute.coalesce(%{{.*}}) : (!cute.layout<"(4,2):(-1,-4)">) -> !cute.layout<"8:-1">
func.func @negative(%l: !cute.layout<"(4,2):(-1,-4)">) {
  %r = cute.coalesce(%l) : (!cute.layout<"(4,2):(-1,-4)">) -> !cute.layout<"8:-1">
  return
}

// What is not known is not merged.
// CHECK-LABEL: func.func @unknown(
// CHECK: cute.coalesce(%{{.*}}) : (!cute.layout<"(?,4):(1,?)">) -> !cute.layout<"(?,4):(1,?)">
func.func @unknown(%l: !cute.layout<"(?,4):(1,?)">) {
  %r = cute.coalesce(%l) : (!cute.layout<"(?,4):(1,?)">) -> !cute.layout<"(?,4):(1,?)">
  return
}

// CHECK-LABEL: func.func @partly_unknown(
// CHECK: cute.coalesce(%{{.*}}) : (!cute.layout<"(2,3,?):(1,2,?)">) -> !cute.layout<"(6,?):(1,?)">
func.func @partly_unknown(%l: !cute.layout<"(2,3,?):(1,2,?)">) {
  %r = cute.coalesce(%l) : (!cute.layout<"(2,3,?):(1,2,?)">) -> !cute.layout<"(6,?):(1,?)">
  return
}

// CHECK-LABEL: func.func @basis(
// CHECK: cute.coalesce(%{{.*}}) : (!cute.layout<"(4,8,2):(1@0,4@0,1@1)">) -> !cute.layout<"(32,2):(1@0,1@1)">
func.func @basis(%l: !cute.layout<"(4,8,2):(1@0,4@0,1@1)">) {
  %r = cute.coalesce(%l) : (!cute.layout<"(4,8,2):(1@0,4@0,1@1)">) -> !cute.layout<"(32,2):(1@0,1@1)">
  return
}

// CHECK-LABEL: func.func @composed(
// CHECK: cute.coalesce(%{{.*}}) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(1,8)">) -> !cute.composed_layout<"S<3,4,3> o 0 o 512:1">
func.func @composed(%l: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(1,8)">) {
  %r = cute.coalesce(%l) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(1,8)">) -> !cute.composed_layout<"S<3,4,3> o 0 o 512:1">
  return
}

// Within each mode: 2*3 and 4*5; between them nothing merges.
// CHECK-LABEL: func.func @by_mode(
// CHECK: cute.coalesce(%{{.*}}, %{{.*}}) : (!cute.layout<"((2,3),(4,5)):((1,2),(6,24))">, !cute.coord<"(1,1)">) -> !cute.layout<"(6,20):(1,6)">
func.func @by_mode(%l: !cute.layout<"((2,3),(4,5)):((1,2),(6,24))">, %p: !cute.coord<"(1,1)">) {
  %r = cute.coalesce(%l, %p) : (!cute.layout<"((2,3),(4,5)):((1,2),(6,24))">, !cute.coord<"(1,1)">) -> !cute.layout<"(6,20):(1,6)">
  return
}

// Modes without a profile stay.
// CHECK-LABEL: func.func @by_first_mode(
// CHECK: cute.coalesce(%{{.*}}, %{{.*}}) : (!cute.layout<"((2,3),(4,5)):((1,2),(6,24))">, !cute.coord<"(1)">) -> !cute.layout<"(6,(4,5)):(1,(6,24))">
func.func @by_first_mode(%l: !cute.layout<"((2,3),(4,5)):((1,2),(6,24))">, %p: !cute.coord<"(1)">) {
  %r = cute.coalesce(%l, %p) : (!cute.layout<"((2,3),(4,5)):((1,2),(6,24))">, !cute.coord<"(1)">) -> !cute.layout<"(6,(4,5)):(1,(6,24))">
  return
}

// CHECK-LABEL: func.func @whole(
// CHECK: cute.coalesce(%{{.*}}, %{{.*}}) : (!cute.layout<"((2,3),(4,5)):((1,2),(6,24))">, !cute.coord<"1">) -> !cute.layout<"120:1">
func.func @whole(%l: !cute.layout<"((2,3),(4,5)):((1,2),(6,24))">, %p: !cute.coord<"1">) {
  %r = cute.coalesce(%l, %p) : (!cute.layout<"((2,3),(4,5)):((1,2),(6,24))">, !cute.coord<"1">) -> !cute.layout<"120:1">
  return
}
