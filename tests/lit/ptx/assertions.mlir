// RUN: cute-ptx %s | FileCheck %s --check-prefix=OFF
// RUN: cute-ptx %s --enable-assertions | FileCheck %s
// RUN: cute-ptx %s --enable-assertions | cute-link -o %t.cubin

// OFF-NOT: __assertfail
// CHECK: .extern .func __assertfail
// CHECK: call.uni
// CHECK-NEXT: __assertfail
gpu.module @m {
  gpu.func @k(%x: memref<8xf32>) kernel {
    %i = gpu.thread_id x
    %c8 = arith.constant 8 : index
    %ok = arith.cmpi ult, %i, %c8 : index
    cf.assert %ok, "thread out of bounds"
    %v = memref.load %x[%i] : memref<8xf32>
    memref.store %v, %x[%i] : memref<8xf32>
    gpu.return
  }
}
