// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @rank(%a: !cute.layout<"24:1">, %b: !cute.shape<"(4,6)">) {
  // expected-error @+2 {{expects rank(tiler) <= rank(input), but got rank 2 tiler and rank 1 input}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.logical_divide(%a, %b) : (!cute.layout<"24:1">, !cute.shape<"(4,6)">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @rank_inside(%a: !cute.layout<"(24,2):(1,24)">, %b: !cute.tile<"[[2:1;2:1];2:1]">) {
  // expected-error @+2 {{expects rank(tiler) <= rank(input), but got rank 2 tiler and rank 1 input}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.logical_divide(%a, %b) : (!cute.layout<"(24,2):(1,24)">, !cute.tile<"[[2:1;2:1];2:1]">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @unknown_stride(%a: !cute.layout<"(6,8):(8,1)">, %b: !cute.layout<"(?,?):(?,?)">) {
  // expected-error @+2 {{expects tiler to have a static stride or to be rank-1, but got tiler (?,?):(?,?)}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.zipped_divide(%a, %b) : (!cute.layout<"(6,8):(8,1)">, !cute.layout<"(?,?):(?,?)">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @unknown_stride_inside(%a: !cute.layout<"(6,8):(8,1)">, %b: !cute.tile<"[[3:1;(?,?):(?,?)];4:1]">) {
  // expected-error @+2 {{expects tiler to have a static stride or to be rank-1, but got tiler (?,?):(?,?) at mode path [0, 1]}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.tiled_divide(%a, %b) : (!cute.layout<"(6,8):(8,1)">, !cute.tile<"[[3:1;(?,?):(?,?)];4:1]">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @basis_inside(%a: !cute.layout<"(6,8):(8,1)">, %b: !cute.tile<"[2:1@0;4:1]">) {
  // expected-error @+2 {{expects layout components of a tile tiler to have integer-only strides (scaled-basis strides like `N@M` are not supported), but got tiler 2:1@0 at mode path [0]}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.flat_divide(%a, %b) : (!cute.layout<"(6,8):(8,1)">, !cute.tile<"[2:1@0;4:1]">) -> !cute.layout<"1:0">
  return
}

// -----

// The tiler's complement: 8 steps of 2 lie inside 4 steps of 1.
func.func @overlap(%a: !cute.layout<"32:1">, %b: !cute.layout<"(4,8):(1,2)">) {
  // expected-error @+2 {{expects valid operands, but cannot compute divide for '!cute.layout<"32:1">' and '!cute.layout<"(4,8):(1,2)">': (4,8):(1,2) has no complement: mode 1, of extent and stride 8:2, overlaps the modes of smaller stride, which cover 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.logical_divide(%a, %b) : (!cute.layout<"32:1">, !cute.layout<"(4,8):(1,2)">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @no_layout(%a: !cute.layout<"(4,6):(1,10)">, %b: !cute.layout<"5:3">) {
  // expected-error @+2 {{cannot compose (4,6):(1,10) with}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.logical_divide(%a, %b) : (!cute.layout<"(4,6):(1,10)">, !cute.layout<"5:3">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @basis_outside(%a: !cute.layout<"(6,8):(8,1)">, %b: !cute.layout<"2:1@2">) {
  // expected-error @+2 {{the basis strides name 3 modes of (6,8):(8,1), which has 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.logical_divide(%a, %b) : (!cute.layout<"(6,8):(8,1)">, !cute.layout<"2:1@2">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @basis_deeper(%a: !cute.layout<"(6,8):(8,1)">, %b: !cute.layout<"(2,2):(1@0@0,1@1@0)">) {
  // expected-error @+2 {{the basis strides name 2 modes of 6:8, which has 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.logical_divide(%a, %b) : (!cute.layout<"(6,8):(8,1)">, !cute.layout<"(2,2):(1@0@0,1@1@0)">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @nothing_to_zip(%a: !cute.layout<"(6,8):(8,1)">, %b: !cute.tile<"[3:1;_]">) {
  // expected-error @+2 {{mode 1 of the tiler does not divide 8:1: there is no tile and rest to zip}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.zipped_divide(%a, %b) : (!cute.layout<"(6,8):(8,1)">, !cute.tile<"[3:1;_]">) -> !cute.layout<"1:0">
  return
}

// -----

func.func @nothing_to_unzip(%a: !cute.layout<"(6,8,2):(8,1,48)">, %b: !cute.tile<"_">) {
  // expected-error @+2 {{expects a tile and a rest, but got (6,8,2):(8,1,48)}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.flat_divide(%a, %b) : (!cute.layout<"(6,8,2):(8,1,48)">, !cute.tile<"_">) -> !cute.layout<"1:0">
  return
}
