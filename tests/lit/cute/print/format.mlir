// RUN: cute-opt %s -cute-expand-ops -cute-to-base | FileCheck %s

// A format has a place for each value; tensors say where they are.
// CHECK: llvm.mlir.global internal constant @printfFormat_0("100%% {\22x\22}: %d %f (%d,4):(4,1)\0A\00")
// CHECK: llvm.mlir.global internal constant @printfFormat_1("gmem_ptr[16b](%p) o (%d,8):(8,1)\00")
// CHECK-LABEL: @values
func.func @values(%i: i8, %f: f32, %l: !cute.layout<"(?,4):(4,1)">, %t: !cute.memref<f16, gmem, "(?,8):(8,1)">) {
  // CHECK: arith.extsi %{{.*}} : i8 to i32
  // CHECK: arith.extf %{{.*}} : f32 to f64
  cute.print("100% {\"x\"}: {} {} {}\n", %i, %f, %l) : i8, f32, !cute.layout<"(?,4):(4,1)">
  cute.print("{}", %t) : !cute.memref<f16, gmem, "(?,8):(8,1)">
  return
}
