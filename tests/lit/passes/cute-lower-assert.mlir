// RUN: cute-opt %s -cute-lower-assert=enable=true | FileCheck %s --check-prefix=ON
// RUN: cute-opt %s -cute-lower-assert | FileCheck %s --check-prefix=OFF

// ON: llvm.mlir.global internal constant @__assert_text_{{.*}}("in bounds\00")
// ON: llvm.func @__assertfail(!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i64)
// ON: %[[BAD:.*]] = arith.xori
// ON: scf.if %[[BAD]]
// ON: llvm.call @__assertfail
// OFF-NOT: assert
gpu.module @m {
  gpu.func @k(%ok: i1) kernel {
    cf.assert %ok, "in bounds"
    gpu.return
  }
}
