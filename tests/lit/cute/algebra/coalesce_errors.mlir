// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @profile_rank(%l: !cute.layout<"(2,3):(1,2)">, %p: !cute.coord<"(1,1,1)">) {
  // expected-error @+2 {{expects target_profile rank (3) to not exceed the layout rank (2)}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.coalesce(%l, %p) : (!cute.layout<"(2,3):(1,2)">, !cute.coord<"(1,1,1)">) -> !cute.layout<"6:1">
  return
}

// -----

func.func @profile_rank_inside(%l: !cute.layout<"(2,(3,4)):(1,(2,6))">, %p: !cute.coord<"(1,(1,(1,1)))">) {
  // expected-error @+2 {{expects target_profile rank (2) to not exceed the layout rank (1) at mode path [1, 1]}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.coalesce(%l, %p) : (!cute.layout<"(2,(3,4)):(1,(2,6))">, !cute.coord<"(1,(1,(1,1)))">) -> !cute.layout<"6:1">
  return
}
