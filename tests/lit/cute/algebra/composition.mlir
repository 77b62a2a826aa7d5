// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// R(i) = A(B(i)) on B's domain, with B's profile.

// 0, 2, 4, ... of A are (0,0), (2,0), (0,1), ...: 0, 16, 1, 17, ...
// CHECK-LABEL: func.func @every_second(
// CHECK: cute.composition(%{{.*}}, %{{.*}}) : (!cute.layout<"(4,8):(8,1)">, !cute.layout<"8:2">) -> !cute.layout<"(2,4):(16,1)">
func.func @every_second(%a: !cute.layout<"(4,8):(8,1)">, %b: !cute.layout<"8:2">) {
  %r = cute.composition(%a, %b) : (!cute.layout<"(4,8):(8,1)">, !cute.layout<"8:2">) -> !cute.layout<"(2,4):(16,1)">
  return
}

// Of the CuTe documentation.
// CHECK-LABEL: func.func @nested(
// CHECK: cute.composition(%{{.*}}, %{{.*}}) : (!cute.layout<"(6,2):(8,2)">, !cute.layout<"(4,3):(3,1)">) -> !cute.layout<"((2,2),3):((24,2),8)">
func.func @nested(%a: !cute.layout<"(6,2):(8,2)">, %b: !cute.layout<"(4,3):(3,1)">) {
  %r = cute.composition(%a, %b) : (!cute.layout<"(6,2):(8,2)">, !cute.layout<"(4,3):(3,1)">) -> !cute.layout<"((2,2),3):((24,2),8)">
  return
}

// Of the CuTe documentation.
// CHECK-LABEL: func.func @reshaped(
// CHECK: cute.composition(%{{.*}}, %{{.*}}) : (!cute.layout<"20:2">, !cute.layout<"(5,4):(4,1)">) -> !cute.layout<"(5,4):(8,2)">
func.func @reshaped(%a: !cute.layout<"20:2">, %b: !cute.layout<"(5,4):(4,1)">) {
  %r = cute.composition(%a, %b) : (!cute.layout<"20:2">, !cute.layout<"(5,4):(4,1)">) -> !cute.layout<"(5,4):(8,2)">
  return
}

// Of the CuTe documentation.
// CHECK-LABEL: func.func @split(
// CHECK: cute.composition(%{{.*}}, %{{.*}}) : (!cute.layout<"(10,2):(16,4)">, !cute.layout<"(5,4):(1,5)">) -> !cute.layout<"(5,(2,2)):(16,(80,4))">
func.func @split(%a: !cute.layout<"(10,2):(16,4)">, %b: !cute.layout<"(5,4):(1,5)">) {
  %r = cute.composition(%a, %b) : (!cute.layout<"(10,2):(16,4)">, !cute.layout<"(5,4):(1,5)">) -> !cute.layout<"(5,(2,2)):(16,(80,4))">
  return
}

// Mode by mode, of the CuTe documentation: every 4th of 59s; of (4,8):(13,1) every 2nd.
// CHECK-LABEL: func.func @tile(
// CHECK: cute.composition(%{{.*}}, %{{.*}}) : (!cute.layout<"(12,(4,8)):(59,(13,1))">, !cute.tile<"[3:4;8:2]">) -> !cute.layout<"(3,(2,4)):(236,(26,1))">
func.func @tile(%a: !cute.layout<"(12,(4,8)):(59,(13,1))">, %b: !cute.tile<"[3:4;8:2]">) {
  %r = cute.composition(%a, %b) : (!cute.layout<"(12,(4,8)):(59,(13,1))">, !cute.tile<"[3:4;8:2]">) -> !cute.layout<"(3,(2,4)):(236,(26,1))">
  return
}

// The first 4 and 8 of the modes.
// CHECK-LABEL: func.func @shape(
// CHECK: cute.composition(%{{.*}}, %{{.*}}) : (!cute.layout<"(12,32):(1,128)">, !cute.shape<"(4,8)">) -> !cute.layout<"(4,8):(1,128)">
func.func @shape(%a: !cute.layout<"(12,32):(1,128)">, %b: !cute.shape<"(4,8)">) {
  %r = cute.composition(%a, %b) : (!cute.layout<"(12,32):(1,128)">, !cute.shape<"(4,8)">) -> !cute.layout<"(4,8):(1,128)">
  return
}

// `_` takes mode 1 whole.
// CHECK-LABEL: func.func @open_tile(
// CHECK: cute.composition(%{{.*}}, %{{.*}}) : (!cute.layout<"(12,32):(1,128)">, !cute.tile<"[4:3;_]">) -> !cute.layout<"(4,32):(3,128)">
func.func @open_tile(%a: !cute.layout<"(12,32):(1,128)">, %b: !cute.tile<"[4:3;_]">) {
  %r = cute.composition(%a, %b) : (!cute.layout<"(12,32):(1,128)">, !cute.tile<"[4:3;_]">) -> !cute.layout<"(4,32):(3,128)">
  return
}

// The last mode of A goes on.
// CHECK-LABEL: func.func @unbounded(
// CHECK: cute.composition(%{{.*}}, %{{.*}}) : (!cute.layout<"1:12">, !cute.layout<"16:1">) -> !cute.layout<"16:12">
func.func @unbounded(%a: !cute.layout<"1:12">, %b: !cute.layout<"16:1">) {
  %r = cute.composition(%a, %b) : (!cute.layout<"1:12">, !cute.layout<"16:1">) -> !cute.layout<"16:12">
  return
}

// CHECK-LABEL: func.func @broadcast(
// CHECK: cute.composition(%{{.*}}, %{{.*}}) : (!cute.layout<"(4,8):(8,1)">, !cute.layout<"3:0">) -> !cute.layout<"3:0">
func.func @broadcast(%a: !cute.layout<"(4,8):(8,1)">, %b: !cute.layout<"3:0">) {
  %r = cute.composition(%a, %b) : (!cute.layout<"(4,8):(8,1)">, !cute.layout<"3:0">) -> !cute.layout<"3:0">
  return
}

// Basis strides pick modes: mode 0 of the result is mode 1 of A.
// CHECK-LABEL: func.func @transposed(
// CHECK: cute.composition(%{{.*}}, %{{.*}}) : (!cute.layout<"(4,8):(8,1)">, !cute.layout<"(8,4):(1@1,1@0)">) -> !cute.layout<"(8,4):(1,8)">
func.func @transposed(%a: !cute.layout<"(4,8):(8,1)">, %b: !cute.layout<"(8,4):(1@1,1@0)">) {
  %r = cute.composition(%a, %b) : (!cute.layout<"(4,8):(8,1)">, !cute.layout<"(8,4):(1@1,1@0)">) -> !cute.layout<"(8,4):(1,8)">
  return
}

// A may give coordinates: 0, 2 of mode 0, then mode 1.
// CHECK-LABEL: func.func @basis_values(
// CHECK: cute.composition(%{{.*}}, %{{.*}}) : (!cute.layout<"(4,8):(1@0,1@1)">, !cute.layout<"8:2">) -> !cute.layout<"(2,4):(2@0,1@1)">
func.func @basis_values(%a: !cute.layout<"(4,8):(1@0,1@1)">, %b: !cute.layout<"8:2">) {
  %r = cute.composition(%a, %b) : (!cute.layout<"(4,8):(1@0,1@1)">, !cute.layout<"8:2">) -> !cute.layout<"(2,4):(2@0,1@1)">
  return
}

// CHECK-LABEL: func.func @unknown_stride(
// CHECK: cute.composition(%{{.*}}, %{{.*}}) : (!cute.layout<"(?,?):(?,1)">, !cute.tile<"[4:1;8:2]">) -> !cute.layout<"(4,8):(?,2)">
func.func @unknown_stride(%a: !cute.layout<"(?,?):(?,1)">, %b: !cute.tile<"[4:1;8:2]">) {
  %r = cute.composition(%a, %b) : (!cute.layout<"(?,?):(?,1)">, !cute.tile<"[4:1;8:2]">) -> !cute.layout<"(4,8):(?,2)">
  return
}

// CHECK-LABEL: func.func @wide(
// CHECK: cute.composition(%{{.*}}, %{{.*}}) : (!cute.layout<"?:?{i64}">, !cute.layout<"4:2">) -> !cute.layout<"4:?{i64}">
func.func @wide(%a: !cute.layout<"?:?{i64}">, %b: !cute.layout<"4:2">) {
  %r = cute.composition(%a, %b) : (!cute.layout<"?:?{i64}">, !cute.layout<"4:2">) -> !cute.layout<"4:?{i64}">
  return
}

// 4 times a multiple of 8.
// CHECK-LABEL: func.func @divisible(
// CHECK: cute.composition(%{{.*}}, %{{.*}}) : (!cute.layout<"?:?{div=8}">, !cute.layout<"2:4">) -> !cute.layout<"2:?{div=32}">
func.func @divisible(%a: !cute.layout<"?:?{div=8}">, %b: !cute.layout<"2:4">) {
  %r = cute.composition(%a, %b) : (!cute.layout<"?:?{div=8}">, !cute.layout<"2:4">) -> !cute.layout<"2:?{div=32}">
  return
}

// A o offset o B stays; the layout composes with B.
// CHECK-LABEL: func.func @composed(
// CHECK: cute.composition(%{{.*}}, %{{.*}}) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.shape<"(8,16)">) -> !cute.composed_layout<"S<3,4,3> o 0 o (8,16):(64,1)">
func.func @composed(%a: !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, %b: !cute.shape<"(8,16)">) {
  %r = cute.composition(%a, %b) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">, !cute.shape<"(8,16)">) -> !cute.composed_layout<"S<3,4,3> o 0 o (8,16):(64,1)">
  return
}

// 6 steps by more than 4, but 0, 6, 12, 18 are (0,0), (2,1), (0,3), (2,4): 0, 12, 30, 42.
// CHECK-LABEL: func.func @split_unevenly(
// CHECK: cute.composition(%{{.*}}, %{{.*}}) : (!cute.layout<"(4,6):(1,10)">, !cute.layout<"4:6">) -> !cute.layout<"(2,2):(12,30)">
func.func @split_unevenly(%a: !cute.layout<"(4,6):(1,10)">, %b: !cute.layout<"4:6">) {
  %r = cute.composition(%a, %b) : (!cute.layout<"(4,6):(1,10)">, !cute.layout<"4:6">) -> !cute.layout<"(2,2):(12,30)">
  return
}
