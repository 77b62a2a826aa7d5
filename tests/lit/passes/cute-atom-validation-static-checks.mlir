// RUN: cute-opt %s --cute-atom-validation="arch=sm_90a" --remarks=cute-atom-validation -o /dev/null 2>&1 | FileCheck %s
// RUN: not cute-opt %s --cute-atom-validation="arch=sm_90a static-checks=strict" -o /dev/null 2>&1 | FileCheck %s --check-prefix=STRICT
// RUN: cute-opt %s --cute-atom-validation="arch=sm_90a static-checks=off" --remarks=cute-atom-validation -o /dev/null 2>&1 | FileCheck %s --check-prefix=OFF --allow-empty
// RUN: not cute-opt %s --cute-atom-validation="static-checks=some" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SOME

// What is not followed is told as a remark; what is a warning is an error with strict.

// SOME: error: expected static-checks on, warn, strict or off, got 'some'
// OFF-NOT: checked
// OFF-NOT: warning

gpu.module @m {
  // CHECK: [[@LINE+1]]:3: remark: is not checked: unknown block size; nvvm.reqntid sets it
  gpu.func @no_size(%n: i32) kernel {
    %p = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i64, smem, align<1024>>
    cute_nvgpu.arch.mbarrier_init %p, %n
    gpu.return
  }
  // CHECK: [[@LINE+6]]:5: remark: the kernel is not checked: unsupported operation
  gpu.func @unknown(%n: i32) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %p = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i64, smem, align<1024>>
    %c1 = arith.constant 1 : i32
    cute_nvgpu.arch.mbarrier_init %p, %c1
    // A cp.async that arrives.
    cute_nvgpu.arch.cp_async_mbarrier_arrive %p
    gpu.return
  }
  // CHECK: [[@LINE+7]]:5: warning: 'cute_nvgpu.arch.mbarrier_arrive' op arrives at an mbarrier that no thread waits for [unused-arrival]
  // CHECK: [[@LINE+5]]:5: note: it is initialised here
  // STRICT: [[@LINE+5]]:5: error: 'cute_nvgpu.arch.mbarrier_arrive' op arrives at an mbarrier that no thread waits for [unused-arrival]
  gpu.func @unused() kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %p = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i64, smem, align<1024>>
    %c32 = arith.constant 32 : i32
    cute_nvgpu.arch.mbarrier_init %p, %c32
    cute_nvgpu.arch.mbarrier_arrive %p
    gpu.return
  }
  // CHECK: [[@LINE+6]]:5: warning: 'cute_nvgpu.arch.mbarrier_init' op initialises an mbarrier at byte 0 that is already initialised: expected mbarrier_inval first [init-twice]
  // CHECK: [[@LINE+4]]:5: note: first initialised here
  gpu.func @twice() kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %p = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i64, smem, align<1024>>
    %c32 = arith.constant 32 : i32
    cute_nvgpu.arch.mbarrier_init %p, %c32
    cute_nvgpu.arch.mbarrier_init %p, %c32
    gpu.return
  }
  // CHECK-NOT: init-twice
  gpu.func @anew() kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %p = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i64, smem, align<1024>>
    %c32 = arith.constant 32 : i32
    cute_nvgpu.arch.mbarrier_init %p, %c32
    cute_nvgpu.arch.mbarrier_inval %p
    cute_nvgpu.arch.mbarrier_init %p, %c32
    gpu.return
  }
}

gpu.module @calls {
  func.func private @bring(%p: !cute.ptr<i64, smem, align<1024>>, %n: i32) -> i32 {
    // CHECK: [[@LINE+1]]:5: warning: 'cute_nvgpu.arch.mbarrier_arrive' op arrives at an mbarrier that no thread waits for [unused-arrival]
    cute_nvgpu.arch.mbarrier_arrive %p
    return %n : i32
  }
  func.func private @again(%p: !cute.ptr<i64, smem, align<1024>>) {
    cute_nvgpu.arch.mbarrier_arrive %p
    func.call @again(%p) : (!cute.ptr<i64, smem, align<1024>>) -> ()
    return
  }
  gpu.func @called() kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %p = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i64, smem, align<1024>>
    %c32 = arith.constant 32 : i32
    cute_nvgpu.arch.mbarrier_init %p, %c32
    %n = func.call @bring(%p, %c32) : (!cute.ptr<i64, smem, align<1024>>, i32) -> i32
    gpu.return
  }
  // CHECK: [[@LINE+5]]:5: remark: the kernel is not checked
  gpu.func @recursive() kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %p = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i64, smem, align<1024>>
    %c32 = arith.constant 32 : i32
    cute_nvgpu.arch.mbarrier_init %p, %c32
    func.call @again(%p) : (!cute.ptr<i64, smem, align<1024>>) -> ()
    gpu.return
  }
}
