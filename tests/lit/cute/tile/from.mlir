// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand)' | FileCheck %s --check-prefix=EXPAND
// RUN: cute-opt %s | cute-ptx -arch sm_90a | FileCheck %s --check-prefix=PTX

// A tensor from an index on has an extent that is not known, and the alignment that the mode's stride keeps.
!A = !cute.memref<f16, gmem, align<16>, "(16,64):(?{i64 div=8},1)">
!B = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
// CHECK-LABEL: func.func @types
func.func @types(%a: !A, %b: !B, %i: i32) {
  // CHECK: cute.tile.from<0> ({{.*}}) : ({{.*}}) -> !cute.memref<f16, gmem, align<16>, "(?,64):(?{i64 div=8},1)">
  %x = cute.tile.from<0> %a, %i
  // CHECK: cute.tile.from<1> ({{.*}}) : ({{.*}}) -> !cute.memref<f16, gmem, "(16,?):(?{i64 div=8},1)">
  %y = cute.tile.from<1> %a, %i
  // CHECK: cute.tile.from<0> ({{.*}}) : ({{.*}}) -> !cute.memref<f16, gmem, "(?,?):(?{i64},1)">
  %z = cute.tile.from<0> %b, %i
  return
}

gpu.module @m {
  // From the first element on it is the tensor; a store whose mask a parameter decides has none, or is not executed.
  // EXPAND-LABEL: gpu.func @folded
  // EXPAND-NOT:     cute.tile.from
  // EXPAND:         cute.tile.store (%{{.*}}, %[[Y:.*]], %{{.*}}) : (tensor<8x8xf32>, {{.*}}) -> ()
  // EXPAND-NOT:     cute.tile.store
  // EXPAND:         gpu.return
  // PTX-LABEL: .entry folded(
  gpu.func @folded(%x: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">, %y: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">) kernel {
    %i, %j = cute.tile.program<[8, 8]> %y
    %c0 = arith.constant 0 : i32
    %t = cute.tile.from<0> %x, %c0
    %a = cute.tile.load<[8, 8]> %t[%i, %j]
    %n = cute.tile.count<1, 1> %x
    %k = cute.tile.iota<[1, 8], 1>
    %in = cute.tile.lt %k, %n
    %all = cute.tile.where 0, %in, 1
    %none = cute.tile.where 0, %in, 0
    cute.tile.store %a, %y[%i, %j], %all
    cute.tile.store %a, %y[%i, %j], %none
    gpu.return
  }
}
