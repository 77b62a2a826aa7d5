// Stores by TMA of a loop, of f32, and those behind it, of bf16, use the same memory: they are ordered around the loop, not in each iteration, which
// waits for the last store only where it writes the next one.
// RUN: cute-ptx -arch sm_90a %S/../../../kernels/attention/backward.mlir -D T=bf16 -D D=128 -D CAUSAL=0 -D WINDOW=0 -D PACKED=0 -D DETERMINISTIC=0 \
// RUN:   | FileCheck %s

// CHECK: .entry keys
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: cp.async.bulk.wait_group.read 0;
// CHECK: cp.reduce.async.bulk.tensor
// CHECK: cp.async.bulk.commit_group;
// CHECK-NOT: cp.async.bulk.wait_group.read 0;
// CHECK: bra
// CHECK: cp.async.bulk.wait_group.read 0;
// CHECK: cp.async.bulk.tensor.4d.global
