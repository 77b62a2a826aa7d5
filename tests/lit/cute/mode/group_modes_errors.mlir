// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @negative(%a: !cute.layout<"(2,3):(1,2)">) {
  // expected-error @+2 {{expects 0 <= begin, but got begin=-1}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.group_modes<-1, 2>(%a) : (!cute.layout<"(2,3):(1,2)">) -> !cute.layout<"6:1">
  return
}

// -----

func.func @backwards(%a: !cute.layout<"(2,3):(1,2)">) {
  // expected-error @+2 {{expects begin < end, but got begin=2, end=1}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.group_modes<2, 1>(%a) : (!cute.layout<"(2,3):(1,2)">) -> !cute.layout<"6:1">
  return
}

// -----

func.func @nothing(%a: !cute.layout<"(2,3):(1,2)">) {
  // expected-error @+2 {{expects begin < end, but got begin=1, end=1}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.group_modes<1, 1>(%a) : (!cute.layout<"(2,3):(1,2)">) -> !cute.layout<"6:1">
  return
}

// -----

func.func @past_the_rank(%a: !cute.layout<"(2,3):(1,2)">) {
  // expected-error @+2 {{expects end <= rank(input)=2, but got end=3}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.group_modes<1, 3>(%a) : (!cute.layout<"(2,3):(1,2)">) -> !cute.layout<"6:1">
  return
}
