// What lies farther away than a space of memory has bytes is refused: addresses of 32 bits would wrap.
// RUN: cute-opt %s -split-input-file -verify-diagnostics

// expected-note@+1 {{%p is a}}
func.func @shared(%p: !cute.ptr<f16, smem>) {
  %last = cute.add_offset %p, 8388607
  // expected-error@+1 {{expects an offset of less than 8388608 elements of f16, which are 16777216 bytes of smem, but got 8388608}}
  %x = cute.add_offset %p, 8388608
  return
}

// -----

// expected-note@+1 {{%p is a}}
func.func @back(%p: !cute.ptr<i8, dsmem>) {
  // expected-error@+1 {{expects an offset of less than 16777216 elements of i8, which are 16777216 bytes of dsmem, but got -4294967296}}
  %x = cute.add_offset %p, -4294967296
  return
}

// -----

// expected-note@+1 {{%p is a}}
func.func @registers(%p: !cute.ptr<f32, rmem>) {
  // expected-error@+1 {{expects an offset of less than 131072 elements of f32, which are 524288 bytes of rmem, but got 131072}}
  %x = cute.add_offset %p, 131072
  return
}

// -----

// expected-note@+1 {{%p is a}}
func.func @tensor_memory(%p: !cute.ptr<f32, tmem>) {
  // expected-error@+1 {{expects an offset of less than 4294967296 elements of f32, which are 17179869184 bytes of tmem, but got 4294967296}}
  %x = cute.add_offset %p, 4294967296
  return
}

// -----

// expected-note@+1 {{%p is a}}
func.func @bytes_of_64_bits(%p: !cute.ptr<f64, generic>, %q: !cute.ptr<f64, gmem>) {
  %far = cute.add_offset %q, 1152921504606846975
  // expected-error@+1 {{expects an offset of less than 1152921504606846976 elements of f64, which are 9223372036854775808 bytes of generic, but got 1152921504606846976}}
  %x = cute.add_offset %p, 1152921504606846976
  return
}

// -----

// expected-note@+1 {{%p is a}}
func.func @view(%p: !cute.ptr<i8, smem>) {
  // expected-error@+1 {{expects at most 16777216 elements of i8, which are 16777216 bytes of smem, but got "(4,8):(1073741824,1)", which reaches 3221225479}}
  %x = cute.make_view %p, "(4,8):(1073741824,1)"
  return
}
