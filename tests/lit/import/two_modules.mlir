// A file that holds two modules, whose aliases and symbols have the same names, is one module of two gpu.modules.
// RUN: cute-opt %s -source-map=off -mlir-print-debuginfo | FileCheck %s
// RUN: cute-opt %s -source-map=off > %t.1
// RUN: cute-opt %t.1 -source-map=off | diff %t.1 -
// RUN: cute-opt %s -source-map=off --mlir-print-op-generic | cute-opt -source-map=off | diff %t.1 -

!value = i32
#range = array<i32: 32, 1, 1>
#loc1 = loc("first.py":10:0)
#loc7 = loc("one"(#loc1))
// CHECK: module attributes {gpu.container_module} {
// CHECK-NEXT: gpu.module @kernels {
// CHECK-NEXT: cuda.kernel @k(%{{.*}}: i32 loc({{.*}})) attributes {nvvm.reqntid = array<i32: 32, 1, 1>}
module attributes {gpu.container_module} {
  gpu.module @kernels {
    cuda.kernel @k(%x: !value loc("x"(#loc7))) attributes {nvvm.reqntid = #range} {
      return loc(#loc)
    } loc(#loc2)
  } loc(#loc)
  func.func private @helper()
  // CHECK: func.func @host(
  func.func @host(%cfg: !cuda.launch_cfg<max_attrs = 3>, %x: !value) {
    // CHECK: cuda.launch_ex @kernels::@k<
    %r = cuda.launch_ex @kernels::@k<%cfg> (%x) : !cuda.launch_cfg<max_attrs = 3>, (!value) -> !cuda.result loc(#loc3)
    call @helper() : () -> ()
    return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc("first.py":20:0)
#loc3 = loc("launch"(#loc2))

!value = f32
#range = array<i32: 64, 1, 1>
#loc1 = loc("second.py":10:0)
#loc7 = loc("two"(#loc1))
// CHECK: gpu.module @kernels_2 {
// CHECK-NEXT: cuda.kernel @k_2(%{{.*}}: f32 loc({{.*}})) attributes {nvvm.reqntid = array<i32: 64, 1, 1>}
module attributes {gpu.container_module} {
  gpu.module @kernels {
    cuda.kernel @k(%x: !value loc("x"(#loc7))) attributes {nvvm.reqntid = #range} {
      return loc(#loc)
    } loc(#loc2)
  } loc(#loc)
  // CHECK: func.func private @helper_2
  func.func private @helper()
  // CHECK: func.func @host_2(
  func.func @host(%cfg: !cuda.launch_cfg<max_attrs = 3>, %x: !value) {
    // CHECK: cuda.launch_ex @kernels_2::@k_2<
    %r = cuda.launch_ex @kernels::@k<%cfg> (%x) : !cuda.launch_cfg<max_attrs = 3>, (!value) -> !cuda.result loc(#loc3)
    // CHECK: call @helper_2()
    call @helper() : () -> ()
    return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc("second.py":20:0)
#loc3 = loc("launch"(#loc2))
// CHECK-DAG: loc("first.py":20:0)
// CHECK-DAG: loc("second.py":20:0)
