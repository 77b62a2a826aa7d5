// RUN: cute-opt %s -cute-expand-ops -split-input-file -verify-diagnostics

gpu.module @kernels {
  gpu.func @k(%n: i32) kernel {
    %l = cute.make_layout(%n)
    // expected-error @+1 {{'cute.temporary' op expects to be in a host function: in a kernel, use cute.memref.alloca, or pass the temporary as an argument}}
    %t = cute.temporary %l : f32
    gpu.return
  }
}

// -----

%l = cute.static "4:1"
// expected-error @+1 {{'cute.temporary' op expects to be in a host function, a func.func}}
%t = cute.temporary %l : f32

// -----

func.func @loop(%n: i32, %i: index) {
  %l = cute.make_layout(%n)
  scf.for %k = %i to %i step %i {
    // expected-error @+1 {{'cute.temporary' op expects to be outside of loops: memory is provided once for each run of the host function}}
    %t = cute.temporary %l : f32
  }
  return
}

// -----

func.func @space(%n: i32) {
  %l = cute.make_layout(%n)
  // expected-error @+1 {{'cute.temporary' op expects result to be in memory space 'gmem', but got 'smem'}}
  %t = cute.temporary %l : !cute.memref<f32, smem, "?:1">
  return
}

// -----

func.func @layout(%n: i32) {
  %l = cute.make_layout(%n)
  // expected-error @+1 {{'cute.temporary' op expects a result with the layout of its operand}}
  %t = cute.temporary %l : !cute.memref<f32, gmem, "?:2">
  return
}

// -----

func.func @element(%n: i32) {
  %l = cute.make_layout(%n)
  // expected-error @+1 {{'cute.temporary' op expects elements of whole bytes, but got 'i4'}}
  %t = cute.temporary %l : !cute.memref<i4, gmem, "?:1">
  return
}

// -----

func.func @align(%n: i32) {
  %l = cute.make_layout(%n)
  // expected-error @+1 {{'cute.temporary' op expects an alignment of at most 256 bytes, but got 512}}
  %t = cute.temporary %l : !cute.memref<f32, gmem, align<512>, "?:1">
  return
}

// -----

func.func @swizzle(%n: i32) {
  %l = cute.make_layout(%n)
  // expected-error @+1 {{'cute.temporary' op expects a pointer without a swizzle}}
  %t = cute.temporary %l : !cute.memref<f32, gmem, align<128>, S<3,4,3>, "?:1">
  return
}

// -----

func.func @strides() {
  %l = cute.static "(4,8):(1,-4)"
  // expected-error @+1 {{'cute.temporary' op expects strides of at least 0, but got -4}}
  %t = cute.temporary %l : f32
  return
}

// -----

func.func @leaves(%n: i32) {
  %l = cute.static "(2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2):(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"
  // expected-error @+1 {{'cute.temporary' op expects at most 64 extents and strides}}
  %t = cute.temporary %l : f32
  return
}

// -----

func.func @fill(%n: i32) {
  %l = cute.make_layout(%n)
  // expected-error @+1 {{attribute 'init' failed to satisfy constraint: one of zero ones}}
  %t = cute.temporary(%l) {init = "two"} : (!cute.layout<"?:1">) -> !cute.memref<f32, gmem, "?:1">
  return
}

// -----

func.func @composed(%n: i32) {
  %l = cute.static "S<2,0,2> o 0 o (4,4):(4,1)"
  // expected-error @+1 {{operand #0 must be}}
  %t = "cute.temporary"(%l) : (!cute.composed_layout<"S<2,0,2> o 0 o (4,4):(4,1)">) -> !cute.memref<f32, gmem, "(4,4):(4,1)">
  return
}
