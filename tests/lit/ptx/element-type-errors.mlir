// Elements of a type that LLVM IR lacks are refused where they stand.
// RUN: not cute-ptx %s 2>&1 | FileCheck %s

gpu.module @m {
  gpu.func @k(%p: !llvm.ptr<1>, %i: i32) kernel {
    // CHECK: :[[#@LINE+1]]:11: error: 'llvm.getelementptr' op expected elements of a type that LLVM has, such as i8, got 'f8E4M3FN'
    %p0 = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f8E4M3FN
    // CHECK: :[[#@LINE+1]]:11: error: 'llvm.getelementptr' op expected elements of a type that LLVM has, such as i8, got '!llvm.struct<(i32, index)>'
    %p1 = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.struct<(i32, index)>
    // CHECK: :[[#@LINE+1]]:11: error: 'llvm.alloca' op expected elements of a type that LLVM has, such as i8, got 'memref<4xf32>'
    %p2 = llvm.alloca %i x memref<4xf32> : (i32) -> !llvm.ptr
    // CHECK-NOT: error
    %p3 = llvm.alloca %i x i4 : (i32) -> !llvm.ptr
    llvm.store volatile %i, %p0 : i32, !llvm.ptr<1>
    llvm.store volatile %i, %p1 : i32, !llvm.ptr<1>
    llvm.store volatile %i, %p2 : i32, !llvm.ptr
    llvm.store volatile %i, %p3 : i32, !llvm.ptr
    gpu.return
  }
}
