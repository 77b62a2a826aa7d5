// RUN: cute-opt %s -cute-to-base -verify-diagnostics

func.func @f(%l: !cute.layout<"(?,4):(4,1)">) -> !cute.int_tuple<"?"> {
  // expected-error @+1 {{'cute.size' op is not lowered: run cute-expand-ops before cute-to-base}}
  %s = cute.size(%l) : (!cute.layout<"(?,4):(4,1)">) -> !cute.int_tuple<"?">
  return %s : !cute.int_tuple<"?">
}
