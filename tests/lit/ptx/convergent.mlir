// RUN: cute-ptx %s | FileCheck %s
// RUN: cute-ptx %s -O2 | FileCheck %s

// A barrier stands where it stood: it gets no copy on the sides of a branch before it, though a call behind it, or the
// call that holds it, could have one. Lanes of a warp that come to two barriers would be counted twice.
gpu.module @m {
  func.func private @use(%p: !llvm.ptr<1>, %i: i32, %x: f32) {
    %q = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %x, %q : f32, !llvm.ptr<1>
    return
  }
  // CHECK-LABEL: .entry behind(
  // CHECK: ld.acquire.gpu
  // CHECK: bar.sync
  // CHECK-NOT: bar.sync
  gpu.func @behind(%p: !llvm.ptr<1>, %flag: !llvm.ptr<1>, %x: f32) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c128 = arith.constant 128 : i32
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %first = arith.cmpi eq, %t, %c0 : i32
    scf.if %first {
      scf.while : () -> () {
        %there = llvm.load %flag atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
        %waits = arith.cmpi eq, %there, %c0 : i32
        scf.condition(%waits)
      } do {
        scf.yield
      }
    }
    nvvm.barrier id = %c1 number_of_threads = %c128
    func.call @use(%p, %t, %x) : (!llvm.ptr<1>, i32, f32) -> ()
    gpu.return
  }
  func.func private @meet(%p: !llvm.ptr<1>, %i: i32, %x: i32) {
    gpu.barrier
    %q = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %x, %q : i32, !llvm.ptr<1>
    return
  }
  // CHECK-LABEL: .entry within(
  // CHECK: bar.sync
  // CHECK-NOT: bar.sync
  gpu.func @within(%p: !llvm.ptr<1>, %flag: !llvm.ptr<1>) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c7 = arith.constant 7 : i32
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %first = arith.cmpi eq, %t, %c0 : i32
    %v = scf.if %first -> (i32) {
      %there = llvm.load volatile %flag : !llvm.ptr<1> -> i32
      scf.yield %there : i32
    } else {
      scf.yield %c7 : i32
    }
    func.call @meet(%p, %t, %v) : (!llvm.ptr<1>, i32, i32) -> ()
    gpu.return
  }
  // A statement of PTX that has effects.
  // CHECK-LABEL: .entry statement(
  // CHECK: barrier.sync 2
  // CHECK-NOT: barrier.sync
  gpu.func @statement(%p: !llvm.ptr<1>, %flag: !llvm.ptr<1>, %x: f32) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %first = arith.cmpi eq, %t, %c0 : i32
    %i = scf.if %first -> (i32) {
      %there = llvm.load volatile %flag : !llvm.ptr<1> -> i32
      scf.yield %there : i32
    } else {
      scf.yield %t : i32
    }
    llvm.inline_asm has_side_effects "barrier.sync 2;", "" : () -> ()
    func.call @use(%p, %i, %x) : (!llvm.ptr<1>, i32, f32) -> ()
    gpu.return
  }
}
