// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// CHECK-LABEL: func.func @middle(
// CHECK: cute.group_modes<1, 3> (%{{.*}}) : (!cute.layout<"(2,3,4,?):(1,2,6,24)">) -> !cute.layout<"(2,(3,4),?):(1,(2,6),24)">
func.func @middle(%a: !cute.layout<"(2,3,4,?):(1,2,6,24)">) {
  %r = cute.group_modes<1, 3>(%a) : (!cute.layout<"(2,3,4,?):(1,2,6,24)">) -> !cute.layout<"(2,(3,4),?):(1,(2,6),24)">
  return
}

// CHECK-LABEL: func.func @all(
// CHECK: cute.group_modes<0, 2> (%{{.*}}) : (!cute.layout<"(2,3):(1,2)">) -> !cute.layout<"((2,3)):((1,2))">
func.func @all(%a: !cute.layout<"(2,3):(1,2)">) {
  %r = cute.group_modes<0, 2>(%a) : (!cute.layout<"(2,3):(1,2)">) -> !cute.layout<"((2,3)):((1,2))">
  return
}

// A group of one mode is a tuple of it.
// CHECK-LABEL: func.func @one(
// CHECK: cute.group_modes<0, 1> (%{{.*}}) : (!cute.layout<"(2,3):(1,2)">) -> !cute.layout<"((2),3):((1),2)">
func.func @one(%a: !cute.layout<"(2,3):(1,2)">) {
  %r = cute.group_modes<0, 1>(%a) : (!cute.layout<"(2,3):(1,2)">) -> !cute.layout<"((2),3):((1),2)">
  return
}

// CHECK-LABEL: func.func @composed(
// CHECK: cute.group_modes<0, 2> (%{{.*}}) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,2,32):(64,1,2)">) -> !cute.composed_layout<"S<3,4,3> o 0 o ((8,2),32):((64,1),2)">
func.func @composed(%a: !cute.composed_layout<"S<3,4,3> o 0 o (8,2,32):(64,1,2)">) {
  %r = cute.group_modes<0, 2>(%a) : (!cute.composed_layout<"S<3,4,3> o 0 o (8,2,32):(64,1,2)">) -> !cute.composed_layout<"S<3,4,3> o 0 o ((8,2),32):((64,1),2)">
  return
}
