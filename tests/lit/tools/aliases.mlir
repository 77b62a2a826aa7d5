// Long structures, of the registers of a product, have a name; short ones stand as they are.
// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s

// CHECK-DAG: !registers = !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32)>
// CHECK-DAG: !registers1 = !llvm.struct<(i32, i32, i32, i32, i32, i32, i32, i32, i32)>
// CHECK-NOT: !registers2

// CHECK-LABEL: llvm.func @f
// CHECK-SAME: !registers, %{{.*}}: !registers1, %{{.*}}: !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
llvm.func @f(%a: !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32)>,
             %b: !llvm.struct<(i32, i32, i32, i32, i32, i32, i32, i32, i32)>,
             %c: !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>) -> f32 {
  nvvm.barrier0
  // CHECK: llvm.extractvalue %{{.*}}[8] : !registers
  %v = llvm.extractvalue %a[8] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32)>
  llvm.return %v : f32
}
