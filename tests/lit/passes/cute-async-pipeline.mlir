// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=3,consumers=1},cute-tile-layouts{arch=sm_90a},cute-async-pipeline)' | FileCheck %s
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_80 schedule=stages=3},cute-tile-layouts{arch=sm_80},cute-async-pipeline)' | FileCheck %s --check-prefix=COPY
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_80 schedule=stages=1},cute-tile-layouts{arch=sm_80},cute-async-pipeline)' | FileCheck %s --check-prefix=ONE
// RUN: cute-opt %s -remarks=cute-async-pipeline --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=3,consumers=1},cute-tile-layouts{arch=sm_90a},cute-async-pipeline)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// The loads of a loop with products are fetched into stages: by TMA with mbarriers, or by cp.async two iterations ahead.
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!N = !cute.memref<f16, gmem, "(?,?):(?{i64},1)">
gpu.module @m {
  // CHECK-LABEL: gpu.func @product
  // CHECK-DAG:     %[[A:.*]] = cute.tile.ring() : () -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64,3):(64,1,8192)">
  // CHECK-DAG:     %[[B:.*]] = cute.tile.ring() : () -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,3):(64,1,4096)">
  // CHECK-DAG:     %[[PIPE:.*]] = cute.tile.pipe<24576, 3> ()
  // CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[I:.*]] = %{{.*}}, %[[PHASE:.*]] = %{{.*}}) ->
  // CHECK:           %[[OTHER:.*]] = arith.xori %[[PHASE]], %{{.*}}
  // CHECK:           cute.tile.acquire(%[[PIPE]], %[[I]], %[[OTHER]])
  // CHECK:           cute.tile.fetch (%{{.*}}, %{{.*}}, %[[A]], %[[I]], %[[PIPE]])
  // CHECK:           cute.tile.fetch (%{{.*}}, %{{.*}}, %[[B]], %[[I]], %[[PIPE]])
  // CHECK-NEXT:      cute.tile.await(%[[PIPE]], %[[I]], %[[PHASE]])
  // CHECK-NOT:       cute.tile.load
  // CHECK:           %[[X:.*]] = cute.tile.take(%[[A]], %[[I]])
  // CHECK:           %[[Y:.*]] = cute.tile.take(%[[B]], %[[I]])
  // CHECK:           %[[D:.*]] = cute.tile.gemm<{wgmma}> (%[[X]], %[[Y]],
  // CHECK-NEXT:      cute.tile.release(%[[PIPE]], %[[I]])
  // CHECK-NEXT:      %[[NEXT:.*]], %[[P:.*]] = cute_nvgpu.arch.pipeline_advance<3> (%[[I]], %[[PHASE]])
  // CHECK-NEXT:      scf.yield %[[D]], %[[NEXT]], %[[P]]

  // COPY-LABEL: gpu.func @product
  // COPY:         gpu.barrier
  // COPY:         scf.if
  // COPY-COUNT-2:   cute.tile.fetch
  // COPY:         cute_nvgpu.arch.cp_async_commit_group
  // COPY:         scf.if
  // COPY-COUNT-2:   cute.tile.fetch
  // COPY:         cute_nvgpu.arch.cp_async_commit_group
  // COPY:         scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[READ:.*]] = %{{.*}}, %[[WRITE:.*]] = %{{.*}}) ->
  // COPY-NEXT:      cute_nvgpu.arch.cp_async_wait_group<1>
  // COPY-NEXT:      gpu.barrier
  // COPY:           arith.cmpi sgt
  // COPY:           scf.if
  // COPY-COUNT-2:     cute.tile.fetch {{.*}}, %[[WRITE]])
  // COPY:           cute_nvgpu.arch.cp_async_commit_group
  // COPY-COUNT-2:   cute.tile.take(%{{.*}}, %[[READ]])
  // COPY:           cute.tile.gemm
  // COPY:           %[[UP:.*]] = arith.addi %[[READ]],
  // COPY:           %[[WRAPS:.*]] = arith.cmpi eq, %[[UP]],
  // COPY:           %[[AGAIN:.*]] = arith.select %[[WRAPS]], %{{.*}}, %[[UP]]
  // COPY:           scf.yield %{{.*}}, %[[AGAIN]], %[[READ]]

  // ONE-LABEL: gpu.func @product
  // ONE-NOT:     cute.tile.ring
  // ONE:         gpu.return
  gpu.func @product(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[128, 64]> %c
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : tensor<128x64xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }

  // Stage and phase go on from tile to tile: loops around carry them.
  // CHECK-LABEL: gpu.func @nested
  // CHECK:         %[[OUT:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[I:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}}) ->
  // CHECK:           %[[IN:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[I]], %{{.*}} = %[[P]]) ->
  // CHECK:           scf.yield %{{.*}}, %[[IN]]#1, %[[IN]]#2
  gpu.func @nested(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[128, 64]> %c
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %s = scf.for %r = %c0 to %n step %c1 iter_args(%all = %zero) -> (tensor<128x64xf32>) : i32 {
      %t = scf.for %k = %c0 to %r step %c1 iter_args(%acc = %all) -> (tensor<128x64xf32>) : i32 {
        %x = cute.tile.load<[128, 64]> %a[%i, %k]
        %y = cute.tile.load<[64, 64]> %b[%j, %k]
        %d = cute.tile.gemm %x, %y, %acc
        scf.yield %d : tensor<128x64xf32>
      }
      scf.yield %t : tensor<128x64xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }

  // Coordinates from earlier iterations, masks, fills, and tensors that the kernel writes: these loads stay.
  // CHECK-LABEL: gpu.func @stay
  // CHECK:         cute.tile.ring
  // CHECK-NOT:     cute.tile.ring
  // CHECK:         scf.for
  // CHECK-COUNT-4:   cute.tile.load
  gpu.func @stay(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[128, 64]> %c
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %rows = cute.tile.iota<[128, 1], 0>
    %mask = cute.tile.lt %rows, 100
    %s, %z = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %at = %c0) -> (tensor<128x64xf32>, i32) : i32 {
      // REMARK: :[[@LINE+1]]:{{[0-9]+}}: remark: this load does not run ahead: its coordinate depends on earlier iterations or on memory
      %x = cute.tile.load<[128, 64]> %a[%i, %at]
      // REMARK: :[[@LINE+1]]:{{[0-9]+}}: remark: this load does not run ahead: it has a mask
      %w = cute.tile.load<[128, 64]> %a[%i, %k], %mask
      // REMARK: :[[@LINE+1]]:{{[0-9]+}}: remark: this load does not run ahead: its fill is not zero
      %v = cute.tile.load<[128, 64], neg_inf> %a[%i, %k]
      // REMARK: :[[@LINE+1]]:{{[0-9]+}}: remark: this load does not run ahead: the kernel also writes the tensor
      %u = cute.tile.load<[128, 64]> %c[%i, %j]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      %e = cute.tile.gemm %w, %y, %d
      %f = cute.tile.gemm %v, %y, %e
      %g = cute.tile.gemm %u, %y, %f
      %more = arith.addi %at, %c1 : i32
      scf.yield %g, %more : tensor<128x64xf32>, i32
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }

  // TMA needs rows at multiples of 16 bytes: the other load has a pipe.
  // CHECK-LABEL: gpu.func @narrow
  // CHECK-COUNT-1: cute.tile.ring
  // CHECK-NOT:     cute.tile.ring
  // CHECK-COUNT-1: cute.tile.load
  gpu.func @narrow(%a: !N, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[128, 64]> %c
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
      // REMARK: :[[@LINE+1]]:{{[0-9]+}}: remark: this load does not run ahead: TMA copies tiles of arguments of the kernel whose rows begin at multiples of 16 bytes
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : tensor<128x64xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }

  // CHECK-LABEL: gpu.func @guarded
  // CHECK-NOT:     cute.tile.ring
  // CHECK:         scf.if
  // COPY-LABEL: gpu.func @guarded
  // COPY:         scf.if
  // COPY:           cute.tile.fetch
  gpu.func @guarded(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[128, 64]> %c
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %on = arith.cmpi eq, %i, %c0 : i32
    %s = scf.if %on -> (tensor<128x64xf32>) {
      // REMARK: :[[@LINE+1]]:{{[0-9]+}}: remark: loads of this loop do not run ahead: it is in an operation other than a loop
      %t = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
        %x = cute.tile.load<[128, 64]> %a[%i, %k]
        %y = cute.tile.load<[64, 64]> %b[%j, %k]
        %d = cute.tile.gemm %x, %y, %acc
        scf.yield %d : tensor<128x64xf32>
      }
      scf.yield %t : tensor<128x64xf32>
    } else {
      scf.yield %zero : tensor<128x64xf32>
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }
}
