// RUN: cute-opt %s -cute-kernel-registers -remarks=cute-kernel-registers 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAID < %t

gpu.module @m {
  // CHECK: llvm.func @plain() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 384, 1, 1>}
  llvm.func @plain() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 384, 1, 1>} {
    llvm.return
  }
  // CHECK: llvm.func @increases() attributes {nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>}
  llvm.func @increases() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 384, 1, 1>} {
    // SAID: cute-kernel-registers.mlir:[[@LINE+1]]:5: remark: the kernel gets nvvm.minctasm = 1, so that ptxas does not ignore setmaxnreg
    nvvm.setmaxregister increase 240
    llvm.return
  }
  // CHECK: llvm.func @bounded() attributes {nvvm.kernel, nvvm.maxntid = array<i32: 384, 1, 1>, nvvm.minctasm = 1 : i32}
  llvm.func @bounded() attributes {nvvm.kernel, nvvm.maxntid = array<i32: 384, 1, 1>} {
    llvm.inline_asm has_side_effects "setmaxnreg.dec.sync.aligned.u32 40;", "" : () -> ()
    llvm.return
  }
  // CHECK: llvm.func @states() attributes {nvvm.kernel, nvvm.minctasm = 2 : i32, nvvm.reqntid = array<i32: 256, 1, 1>}
  llvm.func @states() attributes {nvvm.kernel, nvvm.minctasm = 2 : i32, nvvm.reqntid = array<i32: 256, 1, 1>} {
    nvvm.setmaxregister increase 128
    llvm.return
  }
  // CHECK: llvm.func @limits() attributes {nvvm.kernel, nvvm.maxnreg = 128 : i32, nvvm.reqntid = array<i32: 256, 1, 1>}
  llvm.func @limits() attributes {nvvm.kernel, nvvm.maxnreg = 128 : i32, nvvm.reqntid = array<i32: 256, 1, 1>} {
    nvvm.setmaxregister increase 160
    llvm.return
  }
  // CHECK: llvm.func @unknown() attributes {nvvm.kernel} {
  llvm.func @unknown() attributes {nvvm.kernel} {
    // SAID: [[@LINE+1]]:5: warning: setmaxnreg is ignored by ptxas because the block size of the kernel is unknown; expected nvvm.reqntid
    nvvm.setmaxregister increase 240
    llvm.return
  }
  // CHECK: llvm.func @calls() attributes {nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>}
  llvm.func @calls() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 384, 1, 1>} {
    llvm.call @recursive() : () -> ()
    llvm.return
  }
  // CHECK: llvm.func @recursive() {
  llvm.func @recursive() {
    llvm.call @recursive() : () -> ()
    llvm.call @helper() : () -> ()
    llvm.return
  }
  llvm.func @helper() {
    nvvm.setmaxregister decrease 40
    llvm.return
  }
}
