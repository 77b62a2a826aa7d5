// RUN: cute-opt %s -base-prepare | FileCheck %s

// On the host and in kernels: operations once, invariant ones before the loop, no struct that is only put together to be
// taken apart.
// CHECK-LABEL: func.func @host(
// CHECK-SAME:  %[[A:.*]]: i32, %[[B:.*]]: i32) -> (i32, i32)
// CHECK-NEXT:  %[[P:.*]] = arith.muli %[[A]], %[[B]]
// CHECK-NEXT:  return %[[P]], %[[P]]
func.func @host(%a: i32, %b: i32) -> (i32, i32) {
  %one = arith.constant 1 : i32
  %0 = arith.muli %a, %b : i32
  %1 = arith.muli %a, %b : i32
  %2 = arith.muli %1, %one : i32
  return %0, %2 : i32, i32
}

// CHECK-LABEL: func.func @structs(
// CHECK-SAME:  %[[A:.*]]: i32, %[[B:.*]]: i32) -> i32
// CHECK-NEXT:  return %[[B]]
func.func @structs(%a: i32, %b: i32) -> i32 {
  %0 = ub.poison : !llvm.struct<(i32, i32)>
  %1 = llvm.insertvalue %a, %0[0] : !llvm.struct<(i32, i32)>
  %2 = llvm.insertvalue %b, %1[1] : !llvm.struct<(i32, i32)>
  %3 = ub.poison : !llvm.struct<(struct<(i32, i32)>, struct<()>)>
  %4 = llvm.insertvalue %2, %3[0] : !llvm.struct<(struct<(i32, i32)>, struct<()>)>
  %5 = llvm.extractvalue %4[0, 1] : !llvm.struct<(struct<(i32, i32)>, struct<()>)>
  return %5 : i32
}

// CHECK-LABEL: gpu.func @kernel(
// CHECK-SAME:  %[[N:.*]]: index, %[[A:.*]]: i32, %[[OUT:.*]]: !llvm.ptr)
// CHECK:       %[[SQUARE:.*]] = arith.muli %[[A]], %[[A]]
// CHECK-NEXT:  scf.for
// CHECK-NEXT:    llvm.store %[[SQUARE]], %[[OUT]]
gpu.module @device {
  gpu.func @kernel(%n: index, %a: i32, %out: !llvm.ptr) kernel {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %i = %zero to %n step %one {
      %square = arith.muli %a, %a : i32
      llvm.store %square, %out : i32, !llvm.ptr
    }
    gpu.return
  }
}
