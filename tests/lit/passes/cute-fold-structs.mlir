// RUN: cute-opt %s -cute-fold-structs -canonicalize | FileCheck %s

!pair = !llvm.struct<(i32, i32)>
!layout = !llvm.struct<(struct<(i32, i32)>, struct<(i32, i32)>)>

// What [0] put in has the field [0, 1].
// CHECK-LABEL: func.func @inside(
// CHECK-SAME:  %[[S:.*]]: !llvm.struct<(i32, i32)>, %{{.*}}: !llvm.struct<(i32, i32)>)
// CHECK-NEXT:  %[[R:.*]] = llvm.extractvalue %[[S]][1]
// CHECK-NEXT:  return %[[R]]
func.func @inside(%s: !pair, %d: !pair) -> i32 {
  %0 = ub.poison : !layout
  %1 = llvm.insertvalue %s, %0[0] : !layout
  %2 = llvm.insertvalue %d, %1[1] : !layout
  %3 = llvm.extractvalue %2[0, 1] : !layout
  return %3 : i32
}

// CHECK-LABEL: func.func @whole(
// CHECK-SAME:  %[[S:.*]]: !llvm.struct<(i32, i32)>)
// CHECK-NEXT:  return %[[S]]
func.func @whole(%s: !pair) -> !pair {
  %0 = ub.poison : !layout
  %1 = llvm.insertvalue %s, %0[1] : !layout
  %2 = llvm.extractvalue %1[1] : !layout
  return %2 : !pair
}

// [1, 0] changes a part of what [1] reads: it cannot be taken from before.
// CHECK-LABEL: func.func @part(
// CHECK:       %[[I:.*]] = llvm.insertvalue %{{.*}}, %{{.*}}[1, 0]
// CHECK-NEXT:  %[[R:.*]] = llvm.extractvalue %[[I]][1]
// CHECK-NEXT:  return %[[R]]
func.func @part(%l: !layout, %x: i32) -> !pair {
  %0 = llvm.insertvalue %x, %l[1, 0] : !layout
  %1 = llvm.extractvalue %0[1] : !layout
  return %1 : !pair
}

// The last value that was put in counts; what was put in beside it does not matter.
// CHECK-LABEL: func.func @last(
// CHECK-SAME:  %[[L:.*]]: !llvm.struct<(struct<(i32, i32)>, struct<(i32, i32)>)>, %[[X:.*]]: i32, %[[Y:.*]]: i32)
// CHECK-NEXT:  %[[R:.*]] = llvm.extractvalue %[[L]][0, 0]
// CHECK-NEXT:  return %[[Y]], %[[R]]
func.func @last(%l: !layout, %x: i32, %y: i32) -> (i32, i32) {
  %0 = llvm.insertvalue %x, %l[1, 0] : !layout
  %1 = llvm.insertvalue %y, %0[1, 0] : !layout
  %2 = llvm.insertvalue %x, %1[1, 1] : !layout
  %3 = llvm.extractvalue %2[1, 0] : !layout
  %4 = llvm.extractvalue %2[0, 0] : !layout
  return %3, %4 : i32, i32
}
