// Sides of a branch that have their own numbers of registers (setmaxnreg) compute what both need of parameters themselves.
// RUN: cute-ptx -arch sm_90a -D SET=1 %s | FileCheck %s --check-prefix=SIDES
// RUN: cute-ptx -arch sm_90a -D SET=0 %s | FileCheck %s --check-prefix=ONCE
// RUN: cute-ptx -arch sm_90a -D SET=1 -O0 %s | FileCheck %s --check-prefix=ONCE

// SIDES: .entry k
// SIDES-NOT: {{(mul|mad).lo}}
// SIDES: bra
// SIDES-DAG: mul.lo
// SIDES-DAG: setmaxnreg.inc
// SIDES: bra
// SIDES-DAG: setmaxnreg.dec
// SIDES-DAG: mad.lo

// ONCE: .entry k
// ONCE: mul.lo
// ONCE-NOT: {{(mul|mad).lo}}
// ONCE: ret;
gpu.module @m {
  gpu.func @k(%p: memref<?xi32>, %a: i32, %b: i32) kernel attributes {nvvm.maxntid = array<i32: 256, 1, 1>, nvvm.minctasm = 1 : i32} {
    %c128 = arith.constant 128 : index
    %c0 = arith.constant 0 : index
    %set = arith.constant ${SET} : i1
    %t = gpu.thread_id x
    %ab = arith.muli %a, %b : i32
    %first = arith.cmpi ult, %t, %c128 : index
    scf.if %first {
      scf.if %set {
        nvvm.setmaxregister increase 168
      }
      memref.store %ab, %p[%t] : memref<?xi32>
    } else {
      scf.if %set {
        nvvm.setmaxregister decrease 40
      }
      %old = memref.load %p[%t] : memref<?xi32>
      %sum = arith.addi %old, %ab : i32
      memref.store %sum, %p[%c0] : memref<?xi32>
    }
    gpu.return
  }
}
