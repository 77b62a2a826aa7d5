// RUN: cute-opt %s -canonicalize | FileCheck %s

// What the types tell whole becomes a constant; what is not used goes.
// CHECK-LABEL: func.func @folds
// CHECK-NEXT:  %[[R:.*]] = cute.static : !cute.int_tuple<"32">
// CHECK-NEXT:  return %[[R]]
func.func @folds(%l: !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"32"> {
  %unused = cute.get_stride(%l) : !cute.layout<"(4,8):(8,1)"> -> !cute.stride<"(8,1)">
  %r = cute.size(%l) : (!cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"32">
  return %r : !cute.int_tuple<"32">
}
// CHECK-LABEL: func.func @stays
// CHECK: cute.size
func.func @stays(%l: !cute.layout<"(?,8):(8,1)">) -> !cute.int_tuple<"?"> {
  %r = cute.size(%l) : (!cute.layout<"(?,8):(8,1)">) -> !cute.int_tuple<"?">
  return %r : !cute.int_tuple<"?">
}
