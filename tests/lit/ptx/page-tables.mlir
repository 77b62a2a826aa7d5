// The warp that fetches reads 32 entries of the table of pages, a lane each, and fetches get theirs by a shuffle: K and V share the entries.
// RUN: cute-ptx -arch sm_90a -D T=bf16 -D D=128 -D SHARE=8 -D PAGE=64 -D WINDOW=0 -D LSE=0 -D LIMIT=16384.0 %S/../../../kernels/attention/decode.mlir | FileCheck %s
// Without a warp that only fetches, all threads read the entry of a fetch.
// RUN: cute-ptx -arch sm_80 -D T=bf16 -D D=128 -D SHARE=8 -D PAGE=64 -D WINDOW=0 -D LSE=0 -D LIMIT=16384.0 %S/../../../kernels/attention/decode.mlir | FileCheck %s --check-prefix=ALL

// CHECK: .entry part
// CHECK: mbarrier.arrive.expect_tx
// CHECK: shfl.sync.idx.b32 {{.*}}, %r[[ENTRY:[0-9]+]], {{.*}}, 31, -1;
// CHECK: cp.async.bulk.tensor
// CHECK: ld.global.u32 %r[[ENTRY]]
// CHECK: shfl.sync.idx.b32 {{.*}}, %r[[ENTRY]], {{.*}}, 31, -1;
// CHECK: cp.async.bulk.tensor

// ALL: .entry part
// ALL-NOT: shfl.sync.idx
// ALL: ld.global.u32
// ALL: cp.async.cg
