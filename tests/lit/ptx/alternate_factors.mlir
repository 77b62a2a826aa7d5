// The loop of attention has two iterations, whose factors P are in registers of their own, so that the next P is complete in front of the wait for
// the product that reads the last one. The wait is behind the branch that is seldom taken, which ptxas does not move instructions across.
// RUN: cute-ptx -arch sm_90a %S/../../../kernels/attention/attention.mlir --schedule="stages=2 consumers=2" -D T=bf16 -D TO=bf16 -D V=8 \
// RUN:   -D VT=0 -D LIMIT=16384.0 -D D=128 -D CAUSAL=0 -D WINDOW=0 -D PACKED=0 -D LSE=0 -D BM=128 -D BN=128 | FileCheck %s

// CHECK: .entry attention
// Without the first iteration, whose product is in front of the loop:
// CHECK: vote.sync.any.pred
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: cvt.rn.bf16.f32
// CHECK: vote.sync.any.pred [[FAR:%p[0-9]+]]
// CHECK-NOT: cvt.rn.bf16.f32
// CHECK-NOT: wait_group
// CHECK: @{{!?}}[[FAR]] bra
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: vote.sync.any.pred [[FAR2:%p[0-9]+]]
// CHECK-NOT: wait_group
// CHECK: @{{!?}}[[FAR2]] bra

// RUN: cute-ptx -arch sm_90a %S/../../../kernels/attention/attention.mlir --schedule="stages=2 consumers=2" -D T=bf16 -D TO=bf16 -D V=8 \
// RUN:   -D VT=0 -D LIMIT=16384.0 -D D=128 -D CAUSAL=0 -D WINDOW=0 -D PACKED=0 -D LSE=0 -D BM=128 -D BN=128 -o %t.ptx
// RUN: cute-link %t.ptx -o %t.cubin

// The first words of both factors:
// RUN: grep -o 'bf16 {[^}]*}, {%r[0-9]*' %t.ptx | grep -o '{%r[0-9]*$' | sed -n '1p;9p' | sort -u | wc -l | FileCheck --check-prefix=WORDS %s
// WORDS: {{^ *}}2{{$}}
