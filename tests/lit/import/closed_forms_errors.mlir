// RUN: cute-opt %s -split-input-file -verify-diagnostics

// expected-note@+1 {{%t is a '!cute.memref<f32, rmem, "(?,2):(1,4)">'}}
func.func @unknown(%t: !cute.memref<f32, rmem, "(?,2):(1,4)">) {
  // expected-error@+1 {{'cute.memref.load_vec' op expected a tensor with static extents}}
  %v = cute.memref.load_vec %t
  return
}

// -----

func.func @other_vector(%t: !cute.memref<f32, rmem, "(4,2):(1,4)">) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'cute.memref.load_vec' op inferred type(s) 'vector<8xf32>' are incompatible with return type(s) of operation 'vector<4xf32>'}}
  %v = cute.memref.load_vec(%t) : (!cute.memref<f32, rmem, "(4,2):(1,4)">) -> vector<4xf32>
  return
}

// -----

func.func @other_element(%t: !cute.memref<f32, rmem, "(4,2):(1,4)">, %c: !cute.coord<"(0,0)">) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'cute.memref.load' op inferred type(s) 'f32' are incompatible with return type(s) of operation 'f16'}}
  %v = cute.memref.load(%t, %c) : (!cute.memref<f32, rmem, "(4,2):(1,4)">, !cute.coord<"(0,0)">) -> f16
  return
}

// -----

// expected-note@+2 {{%t is a '!cute.memref<f8E3M4, rmem, "4:1">'}}
// expected-note@+1 {{%c is a '!cute.coord<"0">'}}
func.func @no_such_element(%t: !cute.memref<f8E3M4, rmem, "4:1">, %c: !cute.coord<"0">) {
  // expected-error@+1 {{'cute.memref.load' op expected an element type with an MLIR equivalent, got f8E3M4}}
  %v = cute.memref.load(%t, %c)
  return
}
