// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// CHECK-LABEL: func.func @shape(
// CHECK: cute.get_shape(%{{.*}}) : !cute.layout<"(?,(2,4)):(1,(?,8))"> -> !cute.shape<"(?,(2,4))">
func.func @shape(%a: !cute.layout<"(?,(2,4)):(1,(?,8))">) {
  %r = cute.get_shape(%a) : !cute.layout<"(?,(2,4)):(1,(?,8))"> -> !cute.shape<"(?,(2,4))">
  return
}

// The shape of B: the coordinates that the whole takes.
// CHECK-LABEL: func.func @shape_of_composed(
// CHECK: cute.get_shape(%{{.*}}) : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)"> -> !cute.shape<"(8,64)">
func.func @shape_of_composed(%a: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">) {
  %r = cute.get_shape(%a) : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)"> -> !cute.shape<"(8,64)">
  return
}

// CHECK-LABEL: func.func @shape_of_tile(
// CHECK: cute.get_shape(%{{.*}}) : !cute.tile<"[(4,2):(1,4);[8:1;?:1]]"> -> !cute.shape<"((4,2),(8,?))">
func.func @shape_of_tile(%a: !cute.tile<"[(4,2):(1,4);[8:1;?:1]]">) {
  %r = cute.get_shape(%a) : !cute.tile<"[(4,2):(1,4);[8:1;?:1]]"> -> !cute.shape<"((4,2),(8,?))">
  return
}

// CHECK-LABEL: func.func @stride(
// CHECK: cute.get_stride(%{{.*}}) : <"(?,(2,4)):(1,(?{i64},8))"> -> !cute.stride<"(1,(?{i64},8))">
func.func @stride(%a: !cute.layout<"(?,(2,4)):(1,(?{i64},8))">) {
  %r = cute.get_stride(%a) : !cute.layout<"(?,(2,4)):(1,(?{i64},8))"> -> !cute.stride<"(1,(?{i64},8))">
  return
}

// CHECK-LABEL: func.func @basis(
// CHECK: cute.get_stride(%{{.*}}) : <"(4,8):(1@0,2@1)"> -> !cute.stride<"(1@0,2@1)">
func.func @basis(%a: !cute.layout<"(4,8):(1@0,2@1)">) {
  %r = cute.get_stride(%a) : !cute.layout<"(4,8):(1@0,2@1)"> -> !cute.stride<"(1@0,2@1)">
  return
}
