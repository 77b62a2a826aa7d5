// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand)' | FileCheck %s
// RUN: cute-ptx %s -arch sm_90a -o - | FileCheck %s --check-prefix=PTX

// Fast activations are a power of 2 and an approximate division, exact ones are exp and a division.
!x = !cute.memref<f32, gmem, align<16>, "?{div=4}:1">
gpu.module @m {
  // CHECK-LABEL: gpu.func @fast
  // CHECK-NOT:     math.exp %
  // CHECK:         math.exp2 %{{.*}} fastmath<arcp,afn>
  // CHECK:         arith.divf %{{.*}} fastmath<arcp,afn>
  // CHECK:         gpu.return
  // PTX-LABEL:   .entry fast(
  // PTX-NOT:     div.rn
  // PTX-NOT:     cvt.sat
  // PTX:         ex2.approx.ftz.f32
  // PTX:         div.approx.ftz.f32
  // PTX:         ret;
  gpu.func @fast(%x: !x) kernel {
    %i = cute.tile.program<[128]> %x
    %a = cute.tile.load<[128]> %x[%i]
    %g = cute.tile.gelu_tanh %a {fast}
    %s = cute.tile.silu %g {fast}
    %r = cute.tile.sigmoid %s {fast}
    cute.tile.store %r, %x[%i]
    gpu.return
  }

  // The error function is a polynomial, a reciprocal and a power of 2; a hyperbolic tangent a reciprocal and a power of 2.
  // CHECK-LABEL: gpu.func @errors
  // CHECK-NOT:     math.erf
  // CHECK-NOT:     math.tanh
  // CHECK:         math.copysign
  // CHECK:         gpu.return
  // PTX-LABEL:   .entry errors(
  // PTX-NOT:     {{div\.|rcp\.rn}}
  // PTX:         rcp.approx.ftz.f32
  // PTX-NOT:     div.
  // PTX:         ret;
  gpu.func @errors(%x: !x) kernel {
    %i = cute.tile.program<[128]> %x
    %a = cute.tile.load<[128]> %x[%i]
    %g = cute.tile.gelu %a {fast}
    %e = cute.tile.erf %g {fast}
    %t = cute.tile.tanh %e {fast}
    cute.tile.store %t, %x[%i]
    gpu.return
  }

  // CHECK-LABEL: gpu.func @exact
  // CHECK:         math.exp %
  // CHECK-NOT:     fastmath
  // CHECK:         gpu.return
  // PTX-LABEL:   .entry exact(
  // PTX:         rcp.rn.f32
  gpu.func @exact(%x: !x) kernel {
    %i = cute.tile.program<[128]> %x
    %a = cute.tile.load<[128]> %x[%i]
    %g = cute.tile.gelu_tanh %a
    cute.tile.store %g, %x[%i]
    gpu.return
  }
}
