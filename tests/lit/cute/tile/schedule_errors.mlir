// RUN: not cute-ptx -arch sm_90a --schedule=fast %s 2>&1 | FileCheck %s -DGOT=fast
// RUN: not cute-ptx -arch sm_90a --schedule=stages=0 %s 2>&1 | FileCheck %s -DGOT=stages=0
// RUN: not cute-ptx -arch sm_90a --schedule=stages=17 %s 2>&1 | FileCheck %s -DGOT=stages=17
// RUN: not cute-ptx -arch sm_90a --schedule=stages %s 2>&1 | FileCheck %s -DGOT=stages
// RUN: not cute-ptx -arch sm_90a --schedule=cluster=2 %s 2>&1 | FileCheck %s -DGOT=cluster=2
// RUN: not cute-ptx -arch sm_90a --schedule=cluster=9x1 %s 2>&1 | FileCheck %s -DGOT=cluster=9x1
// RUN: not cute-ptx -arch sm_90a --schedule=persistent=2 %s 2>&1 | FileCheck %s -DGOT=persistent=2
// RUN: not cute-ptx -arch sm_90a --schedule=stages=2x %s 2>&1 | FileCheck %s -DGOT=stages=2x
// RUN: cute-ptx -arch sm_90a --schedule='stages=2, consumers=0' %s -o /dev/null

// CHECK: schedule_errors.mlir:[[@LINE+4]]:{{[0-9]+}}: error: expected a schedule (cute.schedule) such as "naive", "auto" or "stages=4 consumers=2", got '[[GOT]]'; it has stages=1 to 16, consumers=0 to 4, cluster=1x1 to 8x8, persistent=0 to 1, order=1 to 1024, threads=0 to 1024
!X = !cute.memref<f32, gmem, "?:1">
gpu.module @m {
  // The kernel is named.
  gpu.func @k(%x: !X) kernel {
    %i = cute.tile.program<[32]> %x
    %a = cute.tile.load<[32]> %x[%i]
    cute.tile.store %a, %x[%i]
    gpu.return
  }
}
