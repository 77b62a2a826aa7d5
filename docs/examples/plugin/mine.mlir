// RUN: cute-opt --load-plugin=%{plugin} %s --mine-lower | FileCheck %s
// RUN: not cute-opt --load-plugin=%{plugin} -D TYPE=f64 %s 2>&1 | FileCheck %s --check-prefix=WRONG
//!param TYPE = f32
func.func @f(%x: ${TYPE}) -> ${TYPE} {
  // CHECK: [[C:%.*]] = arith.constant 2.000000e+00 : f32
  // CHECK-NEXT: arith.mulf %{{.*}}, [[C]] : f32
  // WRONG: mine.mlir:{{[0-9]+}}:8: error: 'mine.scale' op expects f32, got another type
  %y = mine.scale %x {factor = 2.0 : f32} : (${TYPE}) -> ${TYPE}
  return %y : ${TYPE}
}
