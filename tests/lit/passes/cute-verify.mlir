// RUN: not cute-opt %s --verify-each=false -convert-scf-to-cf -cute-verify 2>&1 | FileCheck %s
// RUN: cute-opt %s -cute-verify | FileCheck %s --check-prefix=VALID
// RUN: cute-opt --print-pipeline=cute-full-lowering | FileCheck %s --check-prefix=STEPS

// What passes without verification left invalid is an error at its line: here blocks in a loop that has one.
// VALID-LABEL: func.func @loops(
func.func @loops(%n: index, %m: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: cute-verify.mlir:[[@LINE+2]]:3: error: 'affine.for' op
  // VALID: affine.for
  affine.for %i = 0 to 4 {
    scf.for %j = %c0 to %n step %c1 {
      memref.store %j, %m[%i] : memref<?xindex>
    }
  }
  return
}

// cute-ptx verifies where the algebra is gone, where cute is gone, and where nothing but conversions of upstream is to come.
// STEPS:      cute-expand-ops,
// STEPS-NEXT: cute-verify,
// STEPS:      cute-to-base,
// STEPS-NEXT: cute-verify,
// STEPS:      cute-kernel-arguments{{.*}},
// STEPS-NEXT: cute-verify,
