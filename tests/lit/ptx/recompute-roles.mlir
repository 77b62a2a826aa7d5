// In loops of warpgroups with many sums the constants of descriptors are added where they are used, and the index of a warpgroup, which only the
// loop's epilogue uses, is computed again behind it.
// RUN: cute-ptx -arch sm_90a -D T=bf16 -D D=128 -D CAUSAL=1 -D WINDOW=1 -D PACKED=1 -D DETERMINISTIC=0 %S/../../../kernels/attention/backward.mlir | FileCheck %s

// CHECK: .entry keys
// CHECK: shfl.sync.idx
// CHECK: setmaxnreg.inc
// CHECK-NOT: , 65538;
// CHECK: $L__BB{{.*}}:
// CHECK: mbarrier.try_wait
// CHECK: or.b32 %r[[PART:[0-9]+]], %r{{[0-9]+}}, 65538;
// CHECK: wgmma.fence{{.*}}%r[[PART]]
// CHECK: shfl.sync.idx
// CHECK-NEXT: // begin inline asm
// CHECK-NEXT: wgmma.wait_group.sync.aligned 0;
