// Kernels and launches: written, printed, printed in generic form and read again.
// RUN: cute-opt %s -source-map=off | FileCheck %s
// RUN: cute-opt %s -source-map=off > %t.1
// RUN: cute-opt %s -source-map=off --mlir-print-op-generic | cute-opt -source-map=off | diff %t.1 -

// CHECK-LABEL: gpu.module @kernels
// CHECK: cuda.kernel @scale(%{{.*}}: !llvm.ptr<1>, %{{.*}}: f32) attributes {cu_attrs = {max_dynamic_shared_size_bytes = #cuda.dev_max_shared_memory_optin}, nvvm.reqntid = array<i32: 128, 1, 1>} {
// CHECK: return
module attributes {gpu.container_module} {
  gpu.module @kernels {
    cuda.kernel @scale(%x: !llvm.ptr<1>, %factor: f32) attributes {cu_attrs = {max_dynamic_shared_size_bytes = #cuda.dev_max_shared_memory_optin}, nvvm.reqntid = array<i32: 128, 1, 1>} {
      cuda.return
    }
    cuda.kernel @empty() {
      return
    }
  }
  // CHECK-LABEL: func.func @host
  func.func @host(%x: !llvm.ptr<1>, %factor: f32, %stream: !cuda.stream) -> i32 {
    %0 = arith.constant 0 : i32
    %1 = arith.constant 1 : i32
    %128 = arith.constant 128 : i32
    %bytes = arith.constant 0 : i64
    // CHECK: %[[CFG:.*]] = cuda.launch_cfg.create<max_attrs = 3 : i32> (blockDim = (%c128_i32, %c1_i32, %c1_i32), dynamicSmemBytes = %{{.*}}, gridDim = (%c1_i32, %c1_i32, %c1_i32), stream = %{{.*}}) : i32, i32, i32, i64, i32, i32, i32, !cuda.stream -> !cuda.launch_cfg<max_attrs = 3>
    %cfg = cuda.launch_cfg.create<max_attrs = 3 : i32> (blockDim = (%128, %1, %1), dynamicSmemBytes = %bytes,
      gridDim = (%1, %1, %1), stream = %stream) : i32, i32, i32, i64, i32, i32, i32, !cuda.stream
      -> !cuda.launch_cfg<max_attrs = 3>
    // CHECK: cuda.launch_cfg.cluster_dim[%[[CFG]]] (%c1_i32, %c1_i32, %c1_i32) : !cuda.launch_cfg<max_attrs = 3>, i32, i32, i32
    cuda.launch_cfg.cluster_dim[%cfg] (%1, %1, %1) : !cuda.launch_cfg<max_attrs = 3>, i32, i32, i32
    // CHECK: cuda.launch_cfg.programmatic_stream_serialization_allowed[%[[CFG]]] %c0_i32 : !cuda.launch_cfg<max_attrs = 3>, i32
    cuda.launch_cfg.programmatic_stream_serialization_allowed[%cfg] %0 : !cuda.launch_cfg<max_attrs = 3>, i32
    // CHECK: cuda.launch_cfg.cooperative[%[[CFG]]] %c0_i32 : !cuda.launch_cfg<max_attrs = 3>, i32
    cuda.launch_cfg.cooperative[%cfg] %0 : !cuda.launch_cfg<max_attrs = 3>, i32
    // CHECK: %[[R:.*]] = cuda.launch_ex @kernels::@scale<%[[CFG]]> (%{{.*}}, %{{.*}}) {assume_kernel_attr = #cuda.assume_kernel_attr<true>} : !cuda.launch_cfg<max_attrs = 3>, (!llvm.ptr<1>, f32) -> !cuda.result
    %r = cuda.launch_ex @kernels::@scale<%cfg> (%x, %factor) {assume_kernel_attr = #cuda.assume_kernel_attr<true>}
      : !cuda.launch_cfg<max_attrs = 3>, (!llvm.ptr<1>, f32) -> !cuda.result
    // CHECK: %[[CODE:.*]] = cuda.cast %[[R]] : !cuda.result -> i32
    %code = cuda.cast %r : !cuda.result -> i32
    // CHECK: cuda.return_if_error %[[CODE]] : i32
    cuda.return_if_error %code : i32
    // CHECK: cuda.launch_ex @kernels::@empty<%[[CFG]]> () : !cuda.launch_cfg<max_attrs = 3>, () -> !cuda.result
    %e = cuda.launch_ex @kernels::@empty<%cfg> () : !cuda.launch_cfg<max_attrs = 3>, () -> !cuda.result
    // CHECK: cuda.cast %{{.*}} : i64 -> !cuda.stream
    %s = cuda.cast %bytes : i64 -> !cuda.stream
    return %0 : i32
  }
}
