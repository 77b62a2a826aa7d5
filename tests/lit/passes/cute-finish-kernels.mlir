// RUN: cute-opt %s -cute-finish-kernels | FileCheck %s
// RUN: cute-opt %s -cute-finish-kernels=relocatable=true | FileCheck %s --check-prefix=RDC

gpu.module @m {
  // A shared array of no elements is dynamic shared memory.
  // CHECK: llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x f16>
  llvm.mlir.global private @smem() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x f16>
  // CHECK: llvm.mlir.global internal @buffer() {addr_space = 3 : i32} : !llvm.array<8 x f16>
  llvm.mlir.global internal @buffer() {addr_space = 3 : i32} : !llvm.array<8 x f16>
  // CHECK: llvm.func internal @helper
  // RDC: llvm.func @helper
  llvm.func @helper() { llvm.return }
  // CHECK-NOT: _mlir_ciface_helper
  llvm.func @_mlir_ciface_helper() { llvm.return }
  // A declaration keeps its name, for a library to have it.
  // CHECK: llvm.func @ext(i32) -> i32
  // CHECK-NOT: _mlir_ciface_ext
  llvm.func @ext(%x: i32) -> i32 attributes {sym_visibility = "private"} {
    %0 = llvm.call @_mlir_ciface_ext(%x) : (i32) -> i32
    llvm.return %0 : i32
  }
  llvm.func @_mlir_ciface_ext(i32) -> i32 attributes {llvm.emit_c_interface, sym_visibility = "private"}
  // CHECK: llvm.func @k(%{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
  // CHECK-SAME: nvvm.reqntid
  // CHECK-NOT: nvvm.maxntid
  llvm.func @k(%m: !llvm.ptr {cute.name = "m"}) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>,
      nvvm.maxntid = array<i32: 64, 1, 1>, cute.kernel = {args = [], kept = {p0 = {llvm.align = 64 : i64,
      llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}}}} { llvm.return }
}
