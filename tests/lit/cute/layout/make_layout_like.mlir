// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// The same shape; strides compact in the order of the old ones; stride 0 stays.

// 1 < 16: mode 1 is the fastest, mode 0 steps over its 8.
// CHECK-LABEL: func.func @row_major(
// CHECK: cute.make_layout_like(%{{.*}}) : !cute.layout<"(4,8):(16,1)"> -> !cute.layout<"(4,8):(8,1)">
func.func @row_major(%a: !cute.layout<"(4,8):(16,1)">) {
  %r = cute.make_layout_like(%a) : !cute.layout<"(4,8):(16,1)"> -> !cute.layout<"(4,8):(8,1)">
  return
}

// Order of strides 100, 1, 10: mode 1 gets 1, mode 2 gets 3, mode 0 gets 3 * 4.
// CHECK-LABEL: func.func @middle_first(
// CHECK: cute.make_layout_like(%{{.*}}) : !cute.layout<"(2,3,4):(100,1,10)"> -> !cute.layout<"(2,3,4):(12,1,3)">
func.func @middle_first(%a: !cute.layout<"(2,3,4):(100,1,10)">) {
  %r = cute.make_layout_like(%a) : !cute.layout<"(2,3,4):(100,1,10)"> -> !cute.layout<"(2,3,4):(12,1,3)">
  return
}

// A mode of stride 0 takes no room.
// CHECK-LABEL: func.func @broadcast(
// CHECK: cute.make_layout_like(%{{.*}}) : !cute.layout<"(4,8,2):(0,2,1)"> -> !cute.layout<"(4,8,2):(0,2,1)">
func.func @broadcast(%a: !cute.layout<"(4,8,2):(0,2,1)">) {
  %r = cute.make_layout_like(%a) : !cute.layout<"(4,8,2):(0,2,1)"> -> !cute.layout<"(4,8,2):(0,2,1)">
  return
}

// CHECK-LABEL: func.func @nested(
// CHECK: cute.make_layout_like(%{{.*}}) : !cute.layout<"((2,2),4):((8,1),100)"> -> !cute.layout<"((2,2),4):((2,1),4)">
func.func @nested(%a: !cute.layout<"((2,2),4):((8,1),100)">) {
  %r = cute.make_layout_like(%a) : !cute.layout<"((2,2),4):((8,1),100)"> -> !cute.layout<"((2,2),4):((2,1),4)">
  return
}

// The order is that of the magnitudes.
// CHECK-LABEL: func.func @negative(
// CHECK: cute.make_layout_like(%{{.*}}) : !cute.layout<"(4,8):(-1,16)"> -> !cute.layout<"(4,8):(1,4)">
func.func @negative(%a: !cute.layout<"(4,8):(-1,16)">) {
  %r = cute.make_layout_like(%a) : !cute.layout<"(4,8):(-1,16)"> -> !cute.layout<"(4,8):(1,4)">
  return
}

// 4 * ? is unknown.
// CHECK-LABEL: func.func @unknown_extent(
// CHECK: cute.make_layout_like(%{{.*}}) : !cute.layout<"(?,4):(8,1)"> -> !cute.layout<"(?,4):(4,1)">
func.func @unknown_extent(%a: !cute.layout<"(?,4):(8,1)">) {
  %r = cute.make_layout_like(%a) : !cute.layout<"(?,4):(8,1)"> -> !cute.layout<"(?,4):(4,1)">
  return
}

// CHECK-LABEL: func.func @unknown_inner(
// CHECK: cute.make_layout_like(%{{.*}}) : !cute.layout<"(4,?):(100,1)"> -> !cute.layout<"(4,?):(?,1)">
func.func @unknown_inner(%a: !cute.layout<"(4,?):(100,1)">) {
  %r = cute.make_layout_like(%a) : !cute.layout<"(4,?):(100,1)"> -> !cute.layout<"(4,?):(?,1)">
  return
}

// B is copied, the swizzle is not.
// CHECK-LABEL: func.func @composed(
// CHECK: cute.make_layout_like(%{{.*}}) : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(128,1)"> -> !cute.layout<"(8,64):(64,1)">
func.func @composed(%a: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(128,1)">) {
  %r = cute.make_layout_like(%a) : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(128,1)"> -> !cute.layout<"(8,64):(64,1)">
  return
}
