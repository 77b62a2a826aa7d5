// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @rank(%c: !cute.coord<"(1,2,3)">, %l: !cute.layout<"(4,8):(1,4)">) {
  // expected-error @+2 {{expects coordinate rank 2 (to match layout shape rank) or be a leaf, but got 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"(1,2,3)">, !cute.layout<"(4,8):(1,4)">) -> !cute.int_tuple<"9">
  return
}

// -----

func.func @deeper_than_a_leaf(%c: !cute.coord<"(1,(2,3))">, %l: !cute.layout<"(4,8):(1,4)">) {
  // expected-error @+2 {{unable to compute layout_eval for coordinate '!cute.coord<"(1,(2,3))">' and layout '!cute.layout<"(4,8):(1,4)">': expects a scalar coordinate for mode 8:4, but got (2,3)}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"(1,(2,3))">, !cute.layout<"(4,8):(1,4)">) -> !cute.int_tuple<"9">
  return
}

// -----

func.func @rank_inside(%c: !cute.coord<"((1,2,3),0)">, %l: !cute.layout<"((2,2),4):((1,2),4)">) {
  // expected-error @+2 {{expects a coordinate of rank 2 for shape (2,2), but got (1,2,3)}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"((1,2,3),0)">, !cute.layout<"((2,2),4):((1,2),4)">) -> !cute.int_tuple<"9">
  return
}

// -----

// B gives 1, and there is no (1,2) + 1.
func.func @offset_of_other_structure(%c: !cute.coord<"(1,0)">, %l: !cute.composed_layout<"(4,5):(1,4) o (1,2) o (2,3):(1,2)">) {
  // expected-error @+2 {{unable to compute layout_eval for coordinate '!cute.coord<"(1,0)">' and layout '!cute.composed_layout<"(4,5):(1,4) o (1,2) o (2,3):(1,2)">': expects two scalars or two tuples to add, but got (1,2) and 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"(1,0)">, !cute.composed_layout<"(4,5):(1,4) o (1,2) o (2,3):(1,2)">) -> !cute.int_tuple<"9">
  return
}

// -----

// 2^62 * 2
func.func @too_large(%c: !cute.coord<"(4611686018427387904,0)">, %l: !cute.layout<"(4,8):(2,1)">) {
  // expected-error @+2 {{4611686018427387904 * 2 does not fit in 64 bits}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"(4611686018427387904,0)">, !cute.layout<"(4,8):(2,1)">) -> !cute.int_tuple<"9">
  return
}

// -----

func.func @other_result(%c: !cute.coord<"(1,2)">, %l: !cute.layout<"(4,8):(8,1)">) {
  // expected-error @+2 {{inferred type(s) '!cute.int_tuple<"10">' are incompatible with return type(s) of operation '!cute.int_tuple<"9">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.layout_eval(%c, %l) : (!cute.coord<"(1,2)">, !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"9">
  return
}
