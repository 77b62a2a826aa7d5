// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @no_layout(%a: !cute.tile<"[_;_]">) -> !cute.layout<"2:1"> {
  // expected-error @+1 {{expects $tile to contain at least one layout slot, but got '!cute.tile<"[_;_]">'}}
  %r = cute.get_layouts_from_tile(%a) : !cute.tile<"[_;_]">
  return %r : !cute.layout<"2:1">
}

// -----

func.func @layout(%a: !cute.layout<"(4,8):(1,4)">) -> (!cute.shape<"4">, !cute.shape<"8">, !cute.stride<"1">, !cute.stride<"4">) {
  // expected-error @+1 {{expects $input to be !cute.shape, !cute.stride, !cute.coord, !cute.int_tuple, or !cute.tile, but got '!cute.layout<"(4,8):(1,4)">'}}
  %r:4 = cute.get_leaves(%a) : !cute.layout<"(4,8):(1,4)">
  return %r#0, %r#1, %r#2, %r#3 : !cute.shape<"4">, !cute.shape<"8">, !cute.stride<"1">, !cute.stride<"4">
}
