// Blocks of a cluster that divide the k of a tile become slices of one block: as many warps more, each slice with stages and a barrier of its own.
// RUN: cute-ptx %s -arch sm_90a --schedule="stages=3 consumers=0 persistent=0 split=2 slices=2" -o - | FileCheck %s --check-prefix=BOTH
// RUN: cute-ptx %s -arch sm_90a --schedule="stages=3 consumers=0 persistent=0 slices=4" -o - | FileCheck %s --check-prefix=ALONE
// RUN: cute-ptx %s -arch sm_90a --schedule="stages=3 consumers=0 persistent=0 split=2 slices=2" -o - | cute-dump schedule - | FileCheck %s --check-prefix=DUMP
// RUN: cute-ptx %s -arch sm_90a --schedule="stages=3 consumers=0 persistent=0 split=2 slices=2" -o - | cute-dump schedule --json - | FileCheck %s --check-prefix=JSON
// RUN: cute-ptx %s -arch sm_90a --schedule="stages=3 consumers=0 persistent=0 slices=3" --remarks=cute-tile-cluster -o /dev/null 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: cute-ptx %s -arch sm_90a --schedule="stages=3 consumers=1 persistent=0 slices=2" --remarks=cute-tile-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROLES
// RUN: cute-ptx %s -arch sm_90a --schedule="stages=3 consumers=0 persistent=1 slices=2" --remarks=cute-tile-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=RESIDENT
// RUN: cute-ptx %s -arch sm_80 --schedule="stages=3 slices=2" --remarks=cute-tile-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: cute-ptx %s -arch sm_90a --schedule="stages=2 consumers=0 persistent=0 threads=256 slices=8" --remarks=cute-tile-fit -o /dev/null 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: cute-ptx %s -arch sm_90a --schedule="stages=8 consumers=0 persistent=0 slices=4" --remarks=cute-async-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not cute-ptx %s -arch sm_90a --schedule="slices=9" -o /dev/null 2>&1 | FileCheck %s --check-prefix=RANGE

// Two blocks of a cluster with two slices each: slice y of block b has iterations b * 2 + y, b * 2 + y + 4, ...
// BOTH: "block": [128, 2, 1], "cluster": [2, 1, 1], "dynamic_smem": [[BYTES:[0-9]+]]
// BOTH-SAME: "slices": 2
// BOTH: .reqntid 128, 2, 1
// BOTH: mov.u32 %[[Y:r[0-9]+]], %tid.y
// BOTH: shfl.sync.idx.b32 %{{r[0-9]+}}, %[[Y]], 0
// BOTH: barrier.cluster.arrive.relaxed
// BOTH: bar.sync %r{{[0-9]+}}, %r{{[0-9]+}};
// BOTH-NOT: bar.sync 0
// BOTH: barrier.cluster.wait
// BOTH: mapa.shared::cluster
// BOTH: st.async
// BOTH: mbarrier.try_wait.parity.acquire.cluster
// Four slices of a block: its threads meet once, where they first send.
// ALONE: "block": [128, 4, 1], "cluster": [1, 1, 1]
// ALONE: .reqntid 128, 4, 1
// ALONE-NOT: barrier.cluster
// ALONE: bar.sync %r{{[0-9]+}}, %r{{[0-9]+}};
// ALONE: bar.sync 0;
// ALONE-NOT: bar.sync 0;
// ALONE: st.async
// DUMP: grid: a block for each tile of 64x64, clusters of 1x1x2 blocks; 2 slices of a block, each with the warps and stages below, divide its k
// DUMP: of 232448
// JSON: "slices": 2
// THREE: remark: blocks of a cluster do not divide the k of a tile: neither dimension of its tile is a multiple of the blocks
// ROLES: remark: warps of a block do not divide the k of a tile: warps have roles: expected consumers=0
// RESIDENT: remark: warps of a block do not divide the k of a tile: blocks are resident: expected persistent=0
// OLD: remark: warps of a block do not divide the k of a tile: clusters need sm_90
// MANY: remark: the schedule '{{.*}}slices=8' does not fit, 8 slices of 256 threads are more than the 1024 of a block: instead '{{.*}}slices=4'
// MEMORY: remark: 8 stages do not fit in shared memory beside {{[0-9]+}} bytes for other operations: 2
// RANGE: error: expected a schedule {{.*}} got 'slices=9'; it has {{.*}}slices=1 to 8

!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
gpu.module @m {
  gpu.func @k(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[64, 64]> %c
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %n = cute.tile.count<1, 64> %a
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
      %x = cute.tile.load<[64, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : tensor<64x64xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }
}
