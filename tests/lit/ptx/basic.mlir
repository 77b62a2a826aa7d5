// RUN: cute-ptx %s | FileCheck %s
// RUN: cute-opt %s | cute-ptx -arch sm_80 | FileCheck %s --check-prefix=AMPERE
// RUN: cute-ptx %s -emit=llvm | FileCheck %s --check-prefix=LLVM
// RUN: cute-ptx %s -O0 | FileCheck %s --check-prefix=O0
// RUN: cute-ptx %s | cute-link -o %t.cubin

// CHECK: //!cute {"format": 1, "kernel": "k", "module": "m", "arch": "sm_90a"
// CHECK-SAME: "dtype": "f32"{{.*}}"name": "x"
// CHECK-SAME: "params": [{"size": 8, "align": 8}, {"size": 4, "align": 4}]
// CHECK-SAME: "reqntid": [64, 1, 1]
// CHECK: .target sm_90a
// CHECK: .visible .entry k(
// CHECK: .reqntid 64, 1, 1
// CHECK: ld.global.f32
// AMPERE: "arch": "sm_80"
// AMPERE: .target sm_80
// LLVM: define {{.*}}void @k(ptr addrspace(1)
// O0: .visible .entry k(
gpu.module @m {
  gpu.func @k(%x: !llvm.ptr<1> {cute.name = "x", cute.dtype = f32}, %n: i32 {cute.name = "n"})
      kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
    %v = llvm.load %x : !llvm.ptr<1> -> f32
    %p = llvm.getelementptr %x[%n] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %v, %p : f32, !llvm.ptr<1>
    gpu.return
  }
}
