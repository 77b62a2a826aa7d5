// RUN: cute-opt -cute-legalize-arith %s | FileCheck %s
// RUN: cute-ptx %s | cute-link -o %t.cubin
// RUN: not cute-ptx -arch sm_80 %s 2>&1 | FileCheck %s --check-prefix=SM80

gpu.module @m {
  // One division towards zero.
  // CHECK-LABEL: gpu.func @ceildiv
  // CHECK: arith.divsi
  // CHECK-NOT: arith.ceildivsi
  gpu.func @ceildiv(%x: memref<?xvector<2xi32>>) kernel {
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<?xvector<2xi32>>
    %r = arith.ceildivsi %v, %v : vector<2xi32>
    memref.store %r, %x[%t] : memref<?xvector<2xi32>>
    gpu.return
  }
  // Elements go in pairs.
  // CHECK-LABEL: gpu.func @narrow
  // CHECK-COUNT-2: llvm.inline_asm "cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "=h,f,f"
  // CHECK: arith.bitcast {{.*}} : vector<3xi8> to vector<3xf8E4M3FN>
  gpu.func @narrow(%x: memref<?xvector<3xbf16>>, %y: memref<?xvector<3xf8E4M3FN>>) kernel {
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<?xvector<3xbf16>>
    // SM80: :[[#@LINE+1]]:10: error: 'arith.truncf' op of an 8-bit float needs sm_89, got sm_80
    %r = arith.truncf %v : vector<3xbf16> to vector<3xf8E4M3FN>
    memref.store %r, %y[%t] : memref<?xvector<3xf8E4M3FN>>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @widen
  // CHECK: llvm.inline_asm "cvt.rn.f16x2.e5m2x2 $0, $1;", "=r,h"
  // CHECK: arith.extf {{.*}} : f16 to f64
  gpu.func @widen(%x: memref<?xf8E5M2>, %y: memref<?xf64>) kernel {
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<?xf8E5M2>
    %r = arith.extf %v : f8E5M2 to f64
    memref.store %r, %y[%t] : memref<?xf64>
    gpu.return
  }
  // One instruction each; f16 has other ways.
  // CHECK-LABEL: gpu.func @extrema
  // CHECK: llvm.intr.maxnum(%{{.*}}, %{{.*}}) : (f32, f32) -> f32
  // CHECK: llvm.intr.minnum(%{{.*}}, %{{.*}}) : (vector<4xf64>, vector<4xf64>) -> vector<4xf64>
  // CHECK: arith.maxnumf %{{.*}}, %{{.*}} : f16
  gpu.func @extrema(%x: memref<?xf32>, %y: memref<?xvector<4xf64>>, %z: memref<?xf16>) kernel {
    %t = gpu.thread_id x
    %a = memref.load %x[%t] : memref<?xf32>
    %b = arith.maxnumf %a, %a : f32
    memref.store %b, %x[%t] : memref<?xf32>
    %c = memref.load %y[%t] : memref<?xvector<4xf64>>
    %d = arith.minnumf %c, %c : vector<4xf64>
    memref.store %d, %y[%t] : memref<?xvector<4xf64>>
    %e = memref.load %z[%t] : memref<?xf16>
    %f = arith.maxnumf %e, %e : f16
    memref.store %f, %z[%t] : memref<?xf16>
    gpu.return
  }
}
