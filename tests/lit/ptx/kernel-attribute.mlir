// An llvm.func with gpu.kernel alone is an entry, in whatever state of lowering it is given.
// RUN: cute-ptx %s | FileCheck %s
// RUN: cute-opt --cute-full-lowering %s | cute-ptx | FileCheck %s
// RUN: cute-opt --cute-full-lowering=target-arch=sm_90a %s | FileCheck %s --check-prefix=LOWERED
// RUN: cute-opt --cute-wrap-kernels --attach-nvvm-target --emit-gpu-binary=compilation-target=isa %s | FileCheck %s --check-prefix=BINARY
// CHECK: //!cute {{.*}}"kernel": "k"
// CHECK: .visible .entry k(
// LOWERED: llvm.func @k({{.*}} attributes {{{.*}}nvvm.kernel
// BINARY: gpu.binary {{.*}}.visible .entry k(
llvm.func @k(%p: !llvm.ptr<1>) attributes {gpu.kernel} {
  %c = llvm.mlir.constant(1 : i32) : i32
  llvm.store %c, %p : i32, !llvm.ptr<1>
  llvm.return
}
