// RUN: cute-opt %s -cute-to-base -split-input-file -verify-diagnostics

// Pointers whose place is no address.

func.func @half_a_byte(%p: !cute.ptr<i4, gmem>, %n: i32) -> !cute.ptr<i4, gmem> {
  // expected-error@+1 {{expects an offset in whole bytes, but its elements have 4 bits and its divisor is 1}}
  %q = cute.add_offset %p, %n
  return %q : !cute.ptr<i4, gmem>
}
