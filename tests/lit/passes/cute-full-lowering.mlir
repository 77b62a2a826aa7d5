// The lowering in one run equals the lowering by cute-opt followed by cute-ptx's own.
// RUN: cute-ptx %s -o %t.one
// RUN: cute-opt %s -cute-full-lowering | cute-ptx -o %t.two
// RUN: grep -v '^//!cute' %t.one > %t.one.code
// RUN: grep -v '^//!cute' %t.two > %t.two.code
// RUN: diff %t.one.code %t.two.code
// RUN: cute-opt %s -cute-full-lowering | FileCheck %s

// CHECK: gpu.module @kernels
// CHECK: llvm.func @k
// CHECK-NOT: cute.make
gpu.module @kernels {
  gpu.func @k(%p: !llvm.ptr<1> {cute.name = "p"}, %n: i32) kernel {
    %s = cute.make_shape(%n) : (i32) -> !cute.shape<"(?,4)">
    %z = cute.size(%s) : (!cute.shape<"(?,4)">) -> !cute.int_tuple<"?">
    %v = cute.get_scalars (%z) : !cute.int_tuple<"?">
    llvm.store %v, %p : i32, !llvm.ptr<1>
    gpu.return
  }
}
