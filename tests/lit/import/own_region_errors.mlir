// An operation whose own region defines what it takes: an error at the operand, in each program, and no crash. Names that
// blocks define in another order than they run in are none.
// RUN: not cute-opt %s 2>&1 | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: not cute-ptx %s 2>&1 | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: not cute-opt %s --verify-diagnostics 2>&1 | FileCheck %s --check-prefix=TEST

// CHECK: [[#@LINE+4]]:10: error: 'scf.if' op operand #0 is defined in a region of the operation itself; expected a value that is defined before the operation
// CHECK-NEXT: scf.if %p {
// TEST: [[#@LINE+2]]:3: error: {{.*}}operand is unlinked
func.func @condition(%a: i32) {
  scf.if %p {
    %p = arith.cmpi eq, %a, %a : i32
  }
  return
}

// CHECK: [[#@LINE+2]]:15: error: 'scf.if' op operand #0 is defined
func.func @inferred(%i: i32) -> i32 {
  %r = scf.if %p -> i32 {
    %p = arith.constant true
    scf.yield %i : i32
  } else {
    scf.yield %i : i32
  }
  return %r : i32
}

// CHECK: [[#@LINE+2]]:22: error: 'scf.for' op operand #1 is defined
func.func @bound(%c: i32) {
  scf.for %i = %c to %n step %c : i32 {
    %n = arith.addi %c, %c : i32
  }
  return
}

// CHECK: [[#@LINE+2]]:55: error: 'scf.for' op operand #3 is defined
func.func @carried(%c: index) -> f32 {
  %r = scf.for %i = %c to %c step %c iter_args(%acc = %x) -> f32 {
    %x = arith.constant 1.0 : f32
    scf.yield %x : f32
  }
  return %r : f32
}

// CHECK: [[#@LINE+2]]:24: error: 'scf.while' op operand #0 is defined
func.func @block_argument(%c: i1) {
  %r = scf.while (%a = %b) : (i32) -> i32 {
    scf.condition(%c) %a : i32
  } do {
  ^bb0(%b: i32):
    scf.yield %b : i32
  }
  return
}

// CHECK: [[#@LINE+3]]:12: error: 'scf.if' op operand #0 is defined
func.func @deeper(%c: i1) {
  scf.if %c {
    scf.if %p {
      scf.if %c {
        %p = arith.constant true
      }
    }
  }
  return
}

// CHECK: [[#@LINE+2]]:{{[0-9]+}}: error: 'memref.generic_atomic_rmw' op operand #1 is defined
func.func @other_dialects(%m: memref<8xf32>) {
  %r = memref.generic_atomic_rmw %m[%i] : memref<8xf32> {
  ^bb0(%v: f32):
    %i = arith.constant 0 : index
    memref.atomic_yield %v : f32
  }
  return
}

// ALL-NOT: error:
func.func @blocks_in_another_order(%n: index, %c: i1) {
  cf.br ^bb2
^bb1:
  scf.if %p {
    %z = arith.addi %n, %q : index
  }
  return
^bb2:
  %p = arith.constant true
  %q = arith.constant 1 : index
  cf.br ^bb1
}
