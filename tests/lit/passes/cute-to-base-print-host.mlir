// RUN: cute-opt %s -cute-to-base -split-input-file | FileCheck %s

// On the host a print is a call of printf with a format of its own; printf is declared once.
// CHECK-COUNT-1: llvm.func @printf(!llvm.ptr, ...) -> i32
// CHECK-NOT:     llvm.func @printf
// CHECK:         llvm.mlir.global internal constant @printfFormat_0("(%d,4):(1,%lld)\0A\00") {addr_space = 0 : i32}
// CHECK:         llvm.mlir.global internal constant @printfFormat_1("[4:1;_]\0A\00") {addr_space = 0 : i32}
// CHECK-LABEL:   func.func @two(
// CHECK:         %[[A:.*]] = llvm.mlir.addressof @printfFormat_0 : !llvm.ptr
// CHECK:         %[[F:.*]] = llvm.getelementptr %[[A]][0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<17 x i8>
// CHECK:         llvm.call @printf(%[[F]], %{{.*}}, %{{.*}}) vararg(!llvm.func<i32 (ptr, ...)>) : (!llvm.ptr, i32, i64) -> i32
// CHECK:         llvm.mlir.addressof @printfFormat_1
// CHECK:         llvm.call @printf(%{{.*}}) vararg(!llvm.func<i32 (ptr, ...)>) : (!llvm.ptr) -> i32
func.func @two(%l: !cute.layout<"(?,4):(1,?{i64})">, %t: !cute.tile<"[4:1;_]">) {
  cute.print(%l) : !cute.layout<"(?,4):(1,?{i64})">
  cute.print(%t) : !cute.tile<"[4:1;_]">
  return
}

// -----

// Names that are taken stay: printf is used as it is, formats get other names.
// CHECK:     llvm.mlir.global internal constant @printfFormat_0("mine")
// CHECK-NOT: llvm.func @printf(!llvm.ptr, ...) -> i32
// CHECK:     llvm.func @printf(!llvm.ptr, ...) -> i32
// CHECK-NOT: llvm.func @printf
// CHECK:     llvm.mlir.global internal constant @printfFormat_1("%d\0A\00")
// CHECK:     llvm.mlir.addressof @printfFormat_1
llvm.mlir.global internal constant @printfFormat_0("mine")
llvm.func @printf(!llvm.ptr, ...) -> i32
func.func @taken(%i: !cute.int_tuple<"?">) {
  cute.print(%i) : !cute.int_tuple<"?">
  return
}

// -----

// A kernel and the host print side by side; modules do not share.
// CHECK-LABEL: gpu.module @device
// CHECK-NOT:   printfFormat
// CHECK:       gpu.printf "%d\0A"
// CHECK:       llvm.mlir.global internal constant @printfFormat_0("%d\0A\00")
// CHECK:       func.func @host
module {
  gpu.module @device {
    gpu.func @kernel(%i: !cute.int_tuple<"?">) kernel {
      cute.print(%i) : !cute.int_tuple<"?">
      gpu.return
    }
  }
  func.func @host(%i: !cute.int_tuple<"?">) {
    cute.print(%i) : !cute.int_tuple<"?">
    return
  }
}
