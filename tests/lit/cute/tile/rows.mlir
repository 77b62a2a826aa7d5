// cute.tile.rows: the result is a tensor with an unknown number of rows, whose alignment is that which any number of rows keeps.
// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s
!whole = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!odd = !cute.memref<f16, gmem, align<16>, "(64,4,?{div=8}):(12,?,1)">
!vector = !cute.memref<i32, gmem, align<16>, "?:1">
// CHECK-LABEL: func.func @rows
// CHECK: cute.tile.rows(%arg0, %arg3, %arg4) : (!cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">, i32, i32) -> !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
// CHECK: cute.tile.rows(%arg1, {{.*}}) -> !cute.memref<f16, gmem, align<8>, "(?,4,?{div=8}):(12,?,1)">
// CHECK: cute.tile.rows(%arg2, {{.*}}) -> !cute.memref<i32, gmem, "?:1">
func.func @rows(%a: !whole, %b: !odd, %v: !vector, %first: i32, %count: i32) {
  %x = cute.tile.rows %a, %first, %count
  %y = cute.tile.rows %b, %first, %count
  %z = cute.tile.rows %v, %first, %count
  return
}
