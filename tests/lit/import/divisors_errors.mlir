// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @size(%t: !cute.int_tuple<"((8,?),?)">) {
  // expected-error@+2 {{'cute.size' op inferred type(s) '!cute.int_tuple<"?">' are incompatible with return type(s) of operation '!cute.int_tuple<"?{div=16}">'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = cute.size(%t) : (!cute.int_tuple<"((8,?),?)">) -> !cute.int_tuple<"?{div=16}">
  return
}

// -----

// expected-error@+1 {{use `!cute.layout` for trivial wraps, but got "S<0,4,3> o 0 o 64:1"}}
func.func private @spelled(!cute.composed_layout<"S<0,4,3> o 0 o 64:1">)
