// A text that is wrong in a region whose values operations before it already take: the error of the text, and nothing else.
// MLIR 19 writes to memory that is freed here, which shows with SANITIZE=address, or as a broken heap when the context goes.
// RUN: not cute-opt -split-input-file %s 2>&1 | FileCheck %s
// RUN: not cute-ptx -arch sm_90a %s -o %t.ptx 2>&1 | FileCheck %s --check-prefix=FIRST

// FIRST: dropped_region_errors.mlir:[[@LINE+6]]:25: error: use of value '%c' expects different type than prior uses: 'i32' vs 'i1'
// CHECK: error: use of value '%c' expects different type than prior uses: 'i32' vs 'i1'
func.func @block(%c: i1) {
  %a = arith.addi %x, %x : i32
  scf.if %c {
    %x = arith.constant 1 : i32
    %y = arith.addi %x, %c : i32
  }
  return
}

// -----

// CHECK: error: use of value '%c' expects different type than prior uses: 'i64' vs 'i1'
func.func @blocks(%c: i1) {
  %a = arith.addi %x, %v : i32
  scf.execute_region {
    %x = arith.constant 1 : i32
    cf.br ^next(%x : i32)
  ^next(%v: i32):
    %y = arith.addi %c, %c : i64
    scf.yield
  }
  return
}
