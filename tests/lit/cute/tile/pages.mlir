// cute.tile.pages: the result is a tensor with an unknown number of pages.
// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s
!K = !cute.memref<f16, gmem, align<16>, "(40,16,64):(1024,64,1)">
!T = !cute.memref<i32, gmem, "(?,?):(?{i64},1)">
// CHECK-LABEL: func.func @pages
// CHECK: cute.tile.pages(%arg0, %arg1, %arg2, %arg3) : (!cute.memref<f16, gmem, align<16>, "(40,16,64):(1024,64,1)">, !cute.memref<i32, gmem, "(?,?):(?{i64},1)">, i32, i32) -> !cute.memref<f16, gmem, align<16>, "(?,16,64):(1024,64,1)">
func.func @pages(%k: !K, %table: !T, %row: i32, %count: i32) {
  %p = cute.tile.pages %k, %table, %row, %count
  return
}
