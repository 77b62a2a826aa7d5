// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @f(%m: i32) {
  // expected-error @+1 {{expects 2 dynamic operand(s) for result type '!cute.shape<"(?,?)">', but got 1}}
  %s = cute.make_shape(%m) : (i32) -> !cute.shape<"(?,?)">
  return
}

// -----

func.func @f(%m: i64) {
  // expected-error @+1 {{expects operand #0 to have (width=32), but got (width=64)}}
  %s = cute.make_shape(%m) : (i64) -> !cute.shape<"?">
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{expects result to be static, but got "?": each '?' needs a value, as make_* takes them}}
  %s = cute.static : !cute.shape<"?">
  return
}

// -----

func.func @f(%c: !cute.coord<"(1,2)">, %l: !cute.layout<"(4,8):(1,4)">) {
  // expected-error @+2 {{inferred type(s) '!cute.int_tuple<"9">' are incompatible with return type(s) of operation '!cute.int_tuple<"8">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"(1,2)">, !cute.layout<"(4,8):(1,4)">) -> !cute.int_tuple<"8">
  return
}

// -----

func.func @f(%c: !cute.coord<"(1,2,3)">, %l: !cute.layout<"(4,8):(1,4)">) {
  // expected-error @+2 {{expects coordinate rank 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"(1,2,3)">, !cute.layout<"(4,8):(1,4)">) -> !cute.int_tuple<"9">
  return
}

// -----

func.func @f(%s: !cute.shape<"(4,8)">, %d: !cute.stride<"(1,4,8)">) {
  // expected-error @+2 {{congruent}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.make_layout(%s, %d) : (!cute.shape<"(4,8)">, !cute.stride<"(1,4,8)">) -> !cute.layout<"(4,8):(1,4)">
  return
}

// -----

func.func @f(%a: i32) {
  // expected-error @+1 {{custom op 'cute.nothing' is unknown}}
  %0 = cute.nothing(%a) : i32
  return
}
