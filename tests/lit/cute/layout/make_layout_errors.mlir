// RUN: cute-opt %s -split-input-file -verify-diagnostics

// The message says which part differs.
func.func @not_congruent(%a: !cute.shape<"(2,3)">, %b: !cute.stride<"1">) {
  // expected-error @+2 {{shape and stride must be congruent, but shape (2,3) has 2 modes and stride 1 is a scalar}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.make_layout(%a, %b) : (!cute.shape<"(2,3)">, !cute.stride<"1">) -> !cute.layout<"6:1">
  return
}

// -----

func.func @not_congruent_inside(%a: !cute.shape<"(5,(2,(3,4)))">, %b: !cute.stride<"(1,(5,(10,30,90)))">) {
  // expected-error @+2 {{shape and stride must be congruent, but in mode [1,1] shape (3,4) has 2 modes and stride (10,30,90) has 3 modes}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.make_layout(%a, %b) : (!cute.shape<"(5,(2,(3,4)))">, !cute.stride<"(1,(5,(10,30,90)))">) -> !cute.layout<"6:1">
  return
}

// -----

func.func @empty_mode(%a: !cute.shape<"(2,(3,0))">, %b: !cute.stride<"(1,(2,6))">) {
  // expected-error @+2 {{expects positive shape mode, but got "(2,(3,0)):(1,(2,6))": mode [1,1] has extent 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.make_layout(%a, %b) : (!cute.shape<"(2,(3,0))">, !cute.stride<"(1,(2,6))">) -> !cute.layout<"6:1">
  return
}

// -----

func.func @negative_extent(%a: !cute.shape<"-4">, %b: !cute.stride<"1">) {
  // expected-error @+2 {{expects positive shape mode, but got "-4:1": the only mode has extent -4}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.make_layout(%a, %b) : (!cute.shape<"-4">, !cute.stride<"1">) -> !cute.layout<"4:1">
  return
}

// -----

func.func @other_result(%a: !cute.shape<"(4,8)">, %b: !cute.stride<"(8,1)">) {
  // expected-error @+2 {{'cute.make_layout' op inferred type(s) '!cute.layout<"(4,8):(8,1)">' are incompatible with return type(s) of operation '!cute.layout<"(4,8):(1,4)">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.make_layout(%a, %b) : (!cute.shape<"(4,8)">, !cute.stride<"(8,1)">) -> !cute.layout<"(4,8):(1,4)">
  return
}

// -----

// Of older IR in generic form: groups of operands that there are not.
func.func @segments(%s: !cute.shape<"4">) {
  %l = "cute.make_layout"(%s) <{operandSegmentSizes = array<i32: 1, 0>}> : (!cute.shape<"4">) -> !cute.layout<"4:1">
  // expected-error@+1 {{expects operandSegmentSizes of 1, 0 to match its operands}}
  %m = "cute.make_layout"(%s) <{operandSegmentSizes = array<i32: 1, 1>}> : (!cute.shape<"4">) -> !cute.layout<"4:1">
  return
}
