// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -cute-expand-ops -canonicalize | FileCheck %s --check-prefix=EXPAND

!P = !cute.memref<f32, gmem, align<16>, "(32,?):(1,32)">

// An element type gives the rest of the type.
// CHECK-LABEL: @forms
// CHECK: cute.temporary<zero> (%{{.*}}) : (!cute.layout<"?:1">) -> !cute.memref<f32, gmem, align<256>, "?:1">
// CHECK: cute.temporary<ones> (%{{.*}}) : (!cute.layout<"?:1">) -> !cute.memref<i8, gmem, align<256>, "?:1">
// CHECK: cute.temporary (%{{.*}}) : (!cute.layout<"(32,?):(1,32)">) -> !cute.memref<f32, gmem, align<16>, "(32,?):(1,32)">
// The extents, then the strides.
// EXPAND-LABEL: @forms
// EXPAND-DAG: %[[ONE:.*]] = arith.constant 1 : i64
// EXPAND: %[[N:.*]] = arith.extsi %arg0 : i32 to i64
// EXPAND: %[[A:.*]] = cute_nvgpu.host.temporary<256, 32, zero> (%[[N]], %[[ONE]]) : (i64, i64) -> i64
// EXPAND: %[[B:.*]] = cute.assume(%[[A]]) : (i64) -> !cute.i64<divby 256>
// EXPAND: %[[P:.*]] = cute.inttoptr(%[[B]]) : (!cute.i64<divby 256>) -> !cute.ptr<f32, gmem, align<256>>
// EXPAND: cute.make_view(%[[P]],
// EXPAND: cute_nvgpu.host.temporary<16, 32>
func.func @forms(%n: i32) -> (!P, !P) {
  %layout = cute.make_layout(%n)
  %zeros = cute.temporary<zero> %layout : f32
  %ones = cute.temporary<ones> %layout : i8
  %tiles = cute.make_layout((32, %n))
  %any = cute.temporary %tiles : !P
  cute.print %zeros
  %other = cute.temporary %tiles : !P
  return %any, %other : !P, !P
}

// CHECK-LABEL: @static
// CHECK: cute.temporary (%{{.*}}) : (!cute.layout<"(4,8):(8,1)">) -> !cute.memref<i64, gmem, align<256>, "(4,8):(8,1)">
// One that is not used is not made.
// EXPAND-LABEL: @static
// EXPAND-NEXT: return
func.func @static() {
  %l = cute.static "(4,8):(8,1)"
  %t = cute.temporary %l : i64
  return
}
