// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// The first mode counts; at its extent it returns to 0 and the next one counts.

// CHECK-LABEL: func.func @step(
// CHECK: cute.increment_coord(%{{.*}}, %{{.*}}) : (!cute.coord<"(2,1)">, !cute.shape<"(4,8)">) -> !cute.coord<"(3,1)">
func.func @step(%c: !cute.coord<"(2,1)">, %s: !cute.shape<"(4,8)">) {
  %r = cute.increment_coord(%c, %s) : (!cute.coord<"(2,1)">, !cute.shape<"(4,8)">) -> !cute.coord<"(3,1)">
  return
}

// CHECK-LABEL: func.func @carry(
// CHECK: cute.increment_coord(%{{.*}}, %{{.*}}) : (!cute.coord<"(3,1)">, !cute.shape<"(4,8)">) -> !cute.coord<"(0,2)">
func.func @carry(%c: !cute.coord<"(3,1)">, %s: !cute.shape<"(4,8)">) {
  %r = cute.increment_coord(%c, %s) : (!cute.coord<"(3,1)">, !cute.shape<"(4,8)">) -> !cute.coord<"(0,2)">
  return
}

// The last mode is not reduced: (0,8) is the end.
// CHECK-LABEL: func.func @last(
// CHECK: cute.increment_coord(%{{.*}}, %{{.*}}) : (!cute.coord<"(3,7)">, !cute.shape<"(4,8)">) -> !cute.coord<"(0,8)">
func.func @last(%c: !cute.coord<"(3,7)">, %s: !cute.shape<"(4,8)">) {
  %r = cute.increment_coord(%c, %s) : (!cute.coord<"(3,7)">, !cute.shape<"(4,8)">) -> !cute.coord<"(0,8)">
  return
}

// CHECK-LABEL: func.func @nested(
// CHECK: cute.increment_coord(%{{.*}}, %{{.*}}) : (!cute.coord<"((1,2),0)">, !cute.shape<"((2,3),4)">) -> !cute.coord<"((0,0),1)">
func.func @nested(%c: !cute.coord<"((1,2),0)">, %s: !cute.shape<"((2,3),4)">) {
  %r = cute.increment_coord(%c, %s) : (!cute.coord<"((1,2),0)">, !cute.shape<"((2,3),4)">) -> !cute.coord<"((0,0),1)">
  return
}

// CHECK-LABEL: func.func @scalar(
// CHECK: cute.increment_coord(%{{.*}}, %{{.*}}) : (!cute.coord<"7">, !cute.shape<"8">) -> !cute.coord<"8">
func.func @scalar(%c: !cute.coord<"7">, %s: !cute.shape<"8">) {
  %r = cute.increment_coord(%c, %s) : (!cute.coord<"7">, !cute.shape<"8">) -> !cute.coord<"8">
  return
}

// CHECK-LABEL: func.func @extent_of_one(
// CHECK: cute.increment_coord(%{{.*}}, %{{.*}}) : (!cute.coord<"(0,3)">, !cute.shape<"(1,8)">) -> !cute.coord<"(0,4)">
func.func @extent_of_one(%c: !cute.coord<"(0,3)">, %s: !cute.shape<"(1,8)">) {
  %r = cute.increment_coord(%c, %s) : (!cute.coord<"(0,3)">, !cute.shape<"(1,8)">) -> !cute.coord<"(0,4)">
  return
}

// CHECK-LABEL: func.func @unknown(
// CHECK: cute.increment_coord(%{{.*}}, %{{.*}}) : (!cute.coord<"(?,1)">, !cute.shape<"(4,8)">) -> !cute.coord<"(?,?)">
func.func @unknown(%c: !cute.coord<"(?,1)">, %s: !cute.shape<"(4,8)">) {
  %r = cute.increment_coord(%c, %s) : (!cute.coord<"(?,1)">, !cute.shape<"(4,8)">) -> !cute.coord<"(?,?)">
  return
}
