// RUN: cute-opt %s -cute-expand-ops -cute-to-base | FileCheck %s

// cute values cross into device code: parameters of gpu.func, operands of gpu.launch_func, what gpu.launch captures.
// CHECK-NOT: !cute
// CHECK-NOT: unrealized_conversion_cast
module attributes {gpu.container_module} {
  gpu.module @device {
    // CHECK-LABEL: gpu.func @kernel(
    // CHECK-SAME:  %[[C:.*]]: !llvm.struct<(i32, i32)>, %[[L:.*]]: !llvm.struct<(i32, i64)>, %{{.*}}: !llvm.struct<()>, %[[OUT:.*]]: !llvm.ptr) kernel
    // CHECK-DAG:   llvm.extractvalue %[[C]][0]
    // CHECK-DAG:   llvm.extractvalue %[[C]][1]
    // CHECK-DAG:   llvm.extractvalue %[[L]][1] : !llvm.struct<(i32, i64)>
    // CHECK:       llvm.store %{{.*}}, %[[OUT]] : i64
    gpu.func @kernel(%c: !cute.coord<"(?,?)">, %l: !cute.layout<"(?,8):(1,?{i64})">, %t: !cute.tile<"[_]">, %out: !llvm.ptr) kernel {
      %i = cute.layout_eval(%c, %l) : (!cute.coord<"(?,?)">, !cute.layout<"(?,8):(1,?{i64})">) -> !cute.int_tuple<"?{i64}">
      %v = cute.get_scalars (%i) : !cute.int_tuple<"?{i64}">
      llvm.store %v, %out : i64, !llvm.ptr
      gpu.return
    }
    // CHECK-LABEL: gpu.func @helper(
    // CHECK-SAME:  i32) -> i32
    gpu.func @helper(%n: !cute.shape<"?">) -> !cute.shape<"?"> {
      gpu.return %n : !cute.shape<"?">
    }
  }
  // CHECK-LABEL: func.func @host(
  // CHECK:       gpu.launch_func  @device::@kernel
  // CHECK-SAME:  args(%{{.*}} : !llvm.struct<(i32, i32)>, %{{.*}} : !llvm.struct<(i32, i64)>, %{{.*}} : !llvm.struct<()>, %{{.*}} : !llvm.ptr)
  func.func @host(%c: !cute.coord<"(?,?)">, %l: !cute.layout<"(?,8):(1,?{i64})">, %out: !llvm.ptr, %n: index) {
    %t = cute.static : !cute.tile<"[_]">
    gpu.launch_func @device::@kernel blocks in (%n, %n, %n) threads in (%n, %n, %n)
      args(%c : !cute.coord<"(?,?)">, %l : !cute.layout<"(?,8):(1,?{i64})">, %t : !cute.tile<"[_]">, %out : !llvm.ptr)
    // CHECK: gpu.launch
    // CHECK: arith.muli {{.*}} overflow<nsw> : i64
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
      %i = cute.layout_eval(%c, %l) : (!cute.coord<"(?,?)">, !cute.layout<"(?,8):(1,?{i64})">) -> !cute.int_tuple<"?{i64}">
      %v = cute.get_scalars (%i) : !cute.int_tuple<"?{i64}">
      llvm.store %v, %out : i64, !llvm.ptr
      gpu.terminator
    }
    return
  }
}
