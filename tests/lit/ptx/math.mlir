// Operations of math on narrow floats, on vectors of any rank, and those that upstream has no function for.
// RUN: cute-ptx %s | cute-link -o %t.cubin
// RUN: cute-opt -cute-legalize-math %s | FileCheck %s

gpu.module @m {
  // CHECK-DAG: llvm.func @__nv_asinhf(f32) -> f32
  // CHECK-DAG: llvm.func @__nv_powi(f64, i32) -> f64

  // CHECK-LABEL: gpu.func @narrow
  // CHECK: %[[W:.*]] = arith.extf {{.*}} : bf16 to f32
  // CHECK: %[[E:.*]] = math.exp %[[W]] fastmath<fast> : f32
  // CHECK: arith.truncf %[[E]] : f32 to bf16
  gpu.func @narrow(%x: memref<?xbf16>) kernel {
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<?xbf16>
    %r = math.exp %v fastmath<fast> : bf16
    memref.store %r, %x[%t] : memref<?xbf16>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @rank_2
  // CHECK: vector.shape_cast {{.*}} : vector<2x3xf32> to vector<6xf32>
  // CHECK: math.sin {{.*}} : vector<6xf32>
  // CHECK: vector.shape_cast {{.*}} : vector<6xf32> to vector<2x3xf32>
  gpu.func @rank_2(%x: memref<?xvector<2x3xf32>>) kernel {
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<?xvector<2x3xf32>>
    %r = math.sin %v : vector<2x3xf32>
    memref.store %r, %x[%t] : memref<?xvector<2x3xf32>>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @own
  // CHECK-COUNT-2: llvm.call @__nv_asinhf
  // CHECK: arith.extsi {{.*}} : i8 to i32
  // CHECK: llvm.call @__nv_powi
  // CHECK: scf.while
  gpu.func @own(%x: memref<?xvector<2xf16>>, %y: memref<?xf64>, %z: memref<?xi32>, %e: i8) kernel {
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<?xvector<2xf16>>
    %r = math.asinh %v : vector<2xf16>
    memref.store %r, %x[%t] : memref<?xvector<2xf16>>
    %w = memref.load %y[%t] : memref<?xf64>
    %s = math.fpowi %w, %e : f64, i8
    memref.store %s, %y[%t] : memref<?xf64>
    %i = memref.load %z[%t] : memref<?xi32>
    %j = math.ipowi %i, %i : i32
    memref.store %j, %z[%t] : memref<?xi32>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @approximate
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"{{.*}} : (f32) -> f32
  // CHECK: math.exp2 {{.*}} fastmath<contract> : f32
  // CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"
  // CHECK: math.exp2 {{.*}} fastmath<fast> : f64
  gpu.func @approximate(%x: memref<?xf32>, %y: memref<?xf64>, %z: memref<?xvector<1x2xbf16>>) kernel {
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<?xf32>
    %r = math.exp2 %v fastmath<nnan,afn> : f32
    %s = math.exp2 %r fastmath<contract> : f32
    memref.store %s, %x[%t] : memref<?xf32>
    %p = memref.load %z[%t] : memref<?xvector<1x2xbf16>>
    %q = math.exp2 %p fastmath<fast> : vector<1x2xbf16>
    memref.store %q, %z[%t] : memref<?xvector<1x2xbf16>>
    %d = memref.load %y[%t] : memref<?xf64>
    %e = math.exp2 %d fastmath<fast> : f64
    memref.store %e, %y[%t] : memref<?xf64>
    gpu.return
  }
}
