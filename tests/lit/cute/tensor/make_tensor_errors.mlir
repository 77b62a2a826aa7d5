// RUN: not cute-opt %s -split-input-file -source-map=off 2>&1 | FileCheck %s

func.func @one(%p: !cute.ptr<f32, gmem>) {
  // CHECK: error: {{.*}}'cute.make_tensor' op expects a pointer and a layout, or a pointer, a shape and a stride
  %t = cute.make_tensor %p
  return
}

// -----

func.func @two_pointers(%p: !cute.ptr<f32, gmem>) {
  // CHECK: error: {{.*}}expects a layout or composed layout, but got '!cute.ptr<f32, gmem>'
  %t = cute.make_tensor %p, %p
  return
}

// -----

func.func @two_layouts(%l: !cute.layout<"4:1">) {
  // CHECK: error: {{.*}}expects iterator to be !cute.ptr or !cute.arith_tuple_iter, but got '!cute.layout<"4:1">'
  %t = cute.make_tensor %l, %l
  return
}

// -----

func.func @no_pointer(%x: f32, %l: !cute.layout<"4:1">) {
  // CHECK: error: {{.*}}'cute.make_tensor' op expects a pointer and a layout, or a pointer, a shape and a stride
  %t = cute.make_tensor %x, %l
  return
}

// -----

func.func @stride_of_other_rank(%p: !cute.ptr<f32, gmem>) {
  // CHECK: error: {{.*}}shape and stride must be congruent, but shape (4,8) has 2 modes and stride (1,2,3) has 3 modes
  %t = cute.make_tensor %p, (4, 8), (1, 2, 3)
  return
}

// -----

func.func @basis_strides(%p: !cute.ptr<f32, gmem>) {
  // CHECK: error: {{.*}}expects integer strides in memory, but got (4,8):(1@0,1@1)
  %t = cute.make_tensor %p, "(4,8):(1@0,1@1)"
  return
}

// -----

func.func @no_element(%p: !cute.ptr<f32, gmem>, %x: f32) {
  // CHECK: error: {{.*}}expects an integer of 32 or 64 bits
  %t = cute.make_tensor %p, (4, %x)
  return
}

// -----

func.func @another_type(%p: !cute.ptr<f32, gmem>, %l: !cute.layout<"4:1">) {
  // CHECK: error: {{.*}}are incompatible with return type(s) of operation
  %t = cute.make_tensor(%p, %l) : (!cute.ptr<f32, gmem>, !cute.layout<"4:1">) -> !cute.memref<f16, gmem, "4:1">
  return
}
