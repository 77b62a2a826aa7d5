// RUN: cute-opt %s -cute-import-kernels -source-map=off | FileCheck %s
// RUN: cute-opt %s -cute-import-kernels -cute-import-kernels -source-map=off | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // A known layout that nothing uses goes; one that is used stays, and so does what has a value at run time.
    // CHECK: gpu.func @k(%{{.*}}: !llvm.ptr<1> {llvm.noalias}, %{{.*}}: !cute.layout<"4:1">, %{{.*}}: !cute.layout<"?:1">) kernel attributes {nvvm.reqntid = array<i32: 128, 2, 1>} {
    cuda.kernel @k(%x: !llvm.ptr<1> {llvm.noalias}, %a: !cute.layout<"8:1"> {llvm.nofree}, %b: !cute.layout<"4:1">, %c: !cute.layout<"?:1">, %d: !cute.tile<"[8:1;4:1]">) attributes {cu_attrs = {max_dynamic_shared_size_bytes = #cuda.dev_max_shared_memory_optin}, cute.kernel, gpu.kernel} {
      // CHECK-NEXT: cute.size
      %s = cute.size(%b) : (!cute.layout<"4:1">) -> !cute.int_tuple<"4">
      // CHECK-NEXT: gpu.return
      cuda.return
    }
    // CHECK: gpu.func @several_sizes() kernel {
    cuda.kernel @several_sizes() {
      // CHECK: cf.br
      cf.br ^end
    ^end:
      cuda.return
    }
    // What it says itself stays.
    // CHECK: gpu.func @stated() kernel attributes {nvvm.maxnreg = 64 : i32, nvvm.reqntid = array<i32: 64, 1, 1>} {
    cuda.kernel @stated() attributes {nvvm.maxnreg = 64 : i32, nvvm.reqntid = array<i32: 64, 1, 1>} {
      cuda.return
    }
    // CHECK: gpu.func @not_launched() kernel {
    cuda.kernel @not_launched() {
      cuda.return
    }
    // CHECK: gpu.func @unknown_size() kernel {
    cuda.kernel @unknown_size() {
      cuda.return
    }
  }
  // CHECK-LABEL: func.func @host
  func.func @host(%x: !llvm.ptr<1>, %a: !cute.layout<"8:1">, %b: !cute.layout<"4:1">, %c: !cute.layout<"?:1">, %d: !cute.tile<"[8:1;4:1]">, %n: i32, %bytes: i64, %s: !cuda.stream) -> i32 {
    %1 = arith.constant 1 : i32
    %2 = arith.constant 2 : i32
    %128 = arith.constant 128 : i32
    %known = cuda.launch_cfg.create<max_attrs = 3 : i32> (blockDim = (%128, %2, %1), dynamicSmemBytes = %bytes, gridDim = (%n, %1, %1), stream = %s) : i32, i32, i32, i64, i32, i32, i32, !cuda.stream -> !cuda.launch_cfg<max_attrs = 3>
    %other = cuda.launch_cfg.create<max_attrs = 3 : i32> (blockDim = (%128, %1, %1), dynamicSmemBytes = %bytes, gridDim = (%n, %1, %1), stream = %s) : i32, i32, i32, i64, i32, i32, i32, !cuda.stream -> !cuda.launch_cfg<max_attrs = 3>
    %unknown = cuda.launch_cfg.create<max_attrs = 3 : i32> (blockDim = (%n, %1, %1), dynamicSmemBytes = %bytes, gridDim = (%n, %1, %1), stream = %s) : i32, i32, i32, i64, i32, i32, i32, !cuda.stream -> !cuda.launch_cfg<max_attrs = 3>
    // CHECK: cuda.launch_ex @kernels::@k<%{{.*}}> (%{{.*}}, %{{.*}}, %{{.*}}) : !cuda.launch_cfg<max_attrs = 3>, (!llvm.ptr<1>, !cute.layout<"4:1">, !cute.layout<"?:1">) -> !cuda.result
    %r0 = cuda.launch_ex @kernels::@k<%known> (%x, %a, %b, %c, %d) : !cuda.launch_cfg<max_attrs = 3>, (!llvm.ptr<1>, !cute.layout<"8:1">, !cute.layout<"4:1">, !cute.layout<"?:1">, !cute.tile<"[8:1;4:1]">) -> !cuda.result
    %r1 = cuda.launch_ex @kernels::@several_sizes<%known> () : !cuda.launch_cfg<max_attrs = 3>, () -> !cuda.result
    %r2 = cuda.launch_ex @kernels::@several_sizes<%other> () : !cuda.launch_cfg<max_attrs = 3>, () -> !cuda.result
    %r3 = cuda.launch_ex @kernels::@unknown_size<%unknown> () : !cuda.launch_cfg<max_attrs = 3>, () -> !cuda.result
    %r4 = cuda.launch_ex @kernels::@stated<%known> () : !cuda.launch_cfg<max_attrs = 3>, () -> !cuda.result
    return %1 : i32
  }
}

// A tensor in registers that control flow can give one of only is that one; of two it is not.
// CHECK-LABEL: func.func @carried
// CHECK: %[[C:.*]] = cute.memref.alloca
// CHECK: %[[D:.*]] = cute.memref.alloca
!t = !cute.memref<f32, rmem, align<32>, "4:1">
func.func @carried(%l: !cute.layout<"4:1">, %n: index, %which: i1, %z: f32) {
  %c = cute.memref.alloca(%l) : (!cute.layout<"4:1">) -> !t
  %d = cute.memref.alloca(%l) : (!cute.layout<"4:1">) -> !t
  // CHECK: scf.for
  // CHECK: cute.fill(%[[C]],
  // CHECK: cute.fill(%[[C]],
  %x, %y = scf.for %i = %n to %n step %n iter_args(%e = %c, %f = %c) -> (!t, !t) {
    cute.fill %e, %z
    cute.fill %f, %z
    scf.yield %f, %e : !t, !t
  }
  // CHECK: scf.if
  // CHECK: cute.fill(%[[C]],
  %r = scf.if %which -> !t {
    scf.yield %y : !t
  } else {
    scf.yield %x : !t
  }
  cute.fill %r, %z
  // CHECK: scf.while
  // CHECK: cute.fill(%[[C]],
  // CHECK: do
  // CHECK: cute.fill(%[[C]],
  // CHECK: cute.fill(%[[C]],
  %w = scf.while (%e = %r) : (!t) -> !t {
    cute.fill %e, %z
    scf.condition(%which) %e : !t
  } do {
  ^bb0(%e: !t):
    cute.fill %e, %z
    scf.yield %e : !t
  }
  cute.fill %w, %z
  // CHECK: %[[TWO:.*]] = scf.if
  // CHECK: cute.fill(%[[TWO]],
  %two = scf.if %which -> !t {
    scf.yield %c : !t
  } else {
    scf.yield %d : !t
  }
  cute.fill %two, %z
  // CHECK: %[[TURNS:.*]]:2 = scf.for {{.*}} iter_args(%[[E:.*]] = %[[C]], %{{.*}} = %[[D]])
  // CHECK: cute.fill(%[[E]],
  // CHECK: cute.fill(%[[TURNS]]#0,
  %u, %v = scf.for %i = %n to %n step %n iter_args(%e = %c, %f = %d) -> (!t, !t) {
    cute.fill %e, %z
    scf.yield %f, %e : !t, !t
  }
  cute.fill %u, %z
  return
}
