// RUN: not cute-opt %s -o /dev/null 2>&1 | FileCheck %s
// RUN: sed 's/element = f4E2M1FN/element = f32/' %s | not cute-opt - -o /dev/null 2>&1 | FileCheck %s --check-prefix=TYPE

gpu.module @m {
  gpu.func @k(%x: !cute.memref<f4E2M1FN, gmem, "8:1">) kernel {
    // CHECK: newer_elements_errors.mlir:[[#@LINE+1]]:48: error: type 'f4E2M1FN' is unknown to LLVM 19 and allowed only as an element of vectors and tensors: expected vector<8xf4E2M1FN>, !cute.memref<f4E2M1FN, ...>, !cute.ptr<f4E2M1FN, ...> or i4, which has the same width
    %r = cute.make_fragment_like %x {element = f4E2M1FN}
    %p = cute.get_iter %x
    // TYPE: :[[#@LINE+1]]:32: error: type 'f6E3M2FN' is unknown to LLVM 19
    %q = cute.recast_iter %p : f6E3M2FN
    gpu.return
  }
}
