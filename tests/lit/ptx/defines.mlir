// RUN: cute-ptx %s -D N=6 -D T=f16 | FileCheck %s
// RUN: cute-opt %s -D N=6 -D T=f16 | FileCheck %s --check-prefix=OPT
// RUN: not cute-ptx %s -D N=6 2>&1 | FileCheck %s --check-prefix=UNDEFINED
// RUN: not cute-opt %s -D N=0 -D T=f16 2>&1 | FileCheck %s --check-prefix=ZERO

// CHECK: "defines": {"N": "6", "T": "f16"}
// OPT: memref<36xf16>
// OPT: arith.constant 9 : index
// OPT: "mov.b32 $0, ${1:c};"
// UNDEFINED: defines.mlir:[[# @LINE + 5]]:{{[0-9]+}}: error: unknown name 'T'
// UNDEFINED: note: define it on the command line: -D T=VALUE
// ZERO: defines.mlir:[[# @LINE + 4]]:{{[0-9]+}}: error:
// ZERO-SAME: {{zero|0}}
gpu.module @m {
  gpu.func @k(%x: memref<${N * N}x${T}>, %i: i32) kernel {
    %c = arith.constant ${(N + N * 2) / (12 / N)} : index
    %a = llvm.inline_asm "mov.b32 $0, ${1:c};", "=r,r" %i : (i32) -> i32
    %v = memref.load %x[%c] : memref<${N * N}x${T}>
    memref.store %v, %x[%c] : memref<${N * N}x${T}>
    gpu.return
  }
}
