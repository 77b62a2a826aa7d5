// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @unknown_order(%a: !cute.layout<"(2,2):(1,2)">, %s: !cute.shape<"(4,6)">, %o: !cute.int_tuple<"(?,?)">) {
  // expected-error @+2 {{expects static order, but got (?,?)}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.tile_to_shape(%a, %s, %o) : (!cute.layout<"(2,2):(1,2)">, !cute.shape<"(4,6)">, !cute.int_tuple<"(?,?)">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @order_rank(%a: !cute.layout<"(2,2):(1,2)">, %s: !cute.shape<"(4,6)">, %o: !cute.int_tuple<"(0,1,2)">) {
  // expected-error @+2 {{expects order rank (3) to equal target-shape rank (2)}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.tile_to_shape(%a, %s, %o) : (!cute.layout<"(2,2):(1,2)">, !cute.shape<"(4,6)">, !cute.int_tuple<"(0,1,2)">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @order_range(%a: !cute.layout<"(2,2):(1,2)">, %s: !cute.shape<"(4,6)">, %o: !cute.int_tuple<"(0,2)">) {
  // expected-error @+2 {{expects $order to be a permutation of [0, 2), but got out-of-range index 2 at mode 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.tile_to_shape(%a, %s, %o) : (!cute.layout<"(2,2):(1,2)">, !cute.shape<"(4,6)">, !cute.int_tuple<"(0,2)">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @order_twice(%a: !cute.layout<"(2,2):(1,2)">, %s: !cute.shape<"(4,6)">, %o: !cute.int_tuple<"(1,1)">) {
  // expected-error @+2 {{expects $order to be a permutation of [0, 2), but index 1 appears more than once}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.tile_to_shape(%a, %s, %o) : (!cute.layout<"(2,2):(1,2)">, !cute.shape<"(4,6)">, !cute.int_tuple<"(1,1)">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @order_nested(%a: !cute.layout<"(2,2):(1,2)">, %s: !cute.shape<"(4,6)">, %o: !cute.int_tuple<"((0),1)">) {
  // expected-error @+2 {{expects $order to be a permutation of [0, 2), but mode 0 is not a static integer}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.tile_to_shape(%a, %s, %o) : (!cute.layout<"(2,2):(1,2)">, !cute.shape<"(4,6)">, !cute.int_tuple<"((0),1)">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @block_rank(%a: !cute.layout<"(2,2):(1,2)">, %s: !cute.shape<"8">) {
  // expected-error @+2 {{expects block layout rank <= target shape rank, but got rank 2 block and rank 1 target shape}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.tile_to_shape(%a, %s) : (!cute.layout<"(2,2):(1,2)">, !cute.shape<"8">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @unknown_block(%a: !cute.layout<"(?,?):(?,?)">, %s: !cute.shape<"(6,8)">) {
  // expected-error @+2 {{expects valid operands, but cannot compute tile_to_shape for '!cute.layout<"(?,?):(?,?)">' and '!cute.shape<"(6,8)">': expects known strides, or one mode with an unknown one, to complement, but got (?,?):(?,?)}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.tile_to_shape(%a, %s) : (!cute.layout<"(?,?):(?,?)">, !cute.shape<"(6,8)">) -> !cute.layout<"1:0">
  return
}
