// With factors=1 a warpgroup of its own computes the factor of a product whose sums two others divide by columns.
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=2,factors=1},cute-tile-layouts{arch=sm_90a},cute-tile-rare)' | FileCheck %s --check-prefix=RARE
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=2,factors=1},cute-tile-layouts{arch=sm_90a},cute-tile-rare,cute-async-pipeline{arch=sm_90a},cute-tile-exchange)' | FileCheck %s --check-prefix=EXCHANGE
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=2,factors=1},cute-tile-layouts{arch=sm_90a},cute-tile-rare,cute-async-pipeline{arch=sm_90a},cute-tile-exchange,cute-async-products,cute-warp-specialization)' | FileCheck %s
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=2,persistent=0},cute-tile-layouts{arch=sm_90a})' | FileCheck %s --check-prefix=CHOSEN
// RUN: cute-opt %s -remarks=cute-tile-schedule --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=stages=2,consumers=2,factors=1,persistent=1})' 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: cute-ptx -arch sm_90a --schedule="stages=2 consumers=2 factors=1" %s | FileCheck %s --check-prefix=PTX
!X = !cute.memref<bf16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!D = !cute.memref<f32, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!R = !cute.memref<f32, gmem, "?:1">
gpu.module @m {
  // The sums are scaled where the scale is not 1: this one tile passes, not the condition.
  // RARE-LABEL: gpu.func @chain
  // RARE:         scf.for
  // RARE:           %[[S:.*]] = cute.tile.gemm<{wgmma}>{{.*}} -> tensor<64x64xf32, #cute.layout<"((4,8,4),(2,2,8)):((2@1,1@0,16@0),(1@1,8@0,8@1))">>
  // RARE:           %[[BY:.*]] = scf.if %{{.*}} -> (tensor<64x1xf32, #cute.layout<"((4,8,4),(2)):((0,1@0,16@0),(8@0))">>)
  // RARE:           %[[OWN:.*]] = cute.tile.convert(%[[BY]]) {{.*}} -> tensor<64x1xf32, #cute.layout<"((4,8,4,2),(2)):((0,1@0,16@0,0),(8@0))">>
  // RARE:           %[[WIDE:.*]] = cute.tile.broadcast<[64, 512]> (%[[OWN]])
  // RARE:           %[[CHANGED:.*]] = arith.cmpf une, %[[WIDE]]
  // RARE:           %[[ANY:.*]] = cute.tile.any (%[[CHANGED]])
  // RARE:           scf.if %[[ANY]]
  // RARE:             arith.mulf
  // RARE:           cute.tile.gemm<{wgmma}> {{.*}} -> tensor<64x512xf32, #cute.layout<"((4,8,4,2),(2,2,32)):((2@1,1@0,16@0,256@1),(1@1,8@0,8@1))">>

  // Both tiles of an iteration have one pipe; what follows from the sums passes back, once.
  // EXCHANGE-LABEL: gpu.func @chain
  // EXCHANGE:         scf.for {{.*}} iter_args({{.*}}, %[[PHASE:[a-z0-9]+]] = %{{[a-z0-9_]+}})
  // EXCHANGE:           %[[OTHER:.*]] = arith.xori %[[PHASE]], %
  // EXCHANGE:           cute.tile.acquire(%[[PIPE:[0-9]+]], %[[STAGE:[a-z0-9_]+]], %[[OTHER]])
  // EXCHANGE-NEXT:      cute.tile.put(%{{.*}}, %[[SCALES:[0-9]+]], %[[STAGE]], %[[PIPE]]) : (tensor<64x1xf32
  // EXCHANGE-NEXT:      cute.tile.put(%{{.*}}, %[[FACTORS:[0-9]+]], %[[STAGE]], %[[PIPE]]) : (tensor<64x64xbf16
  // EXCHANGE-NEXT:      cute.tile.await(%[[PIPE]], %[[STAGE]], %[[PHASE]])
  // EXCHANGE-NEXT:      cute.tile.take(%[[SCALES]], %[[STAGE]])
  // EXCHANGE-NEXT:      %[[P:.*]] = cute.tile.take(%[[FACTORS]], %[[STAGE]])
  // EXCHANGE:           cute.tile.gemm<{wgmma}> (%[[P]],
  // EXCHANGE:           cute.tile.release(%[[PIPE]], %[[STAGE]])
  // EXCHANGE:         %[[NORM:.*]] = cute.tile.reduce<add, 1>
  // EXCHANGE:         cute.tile.put(%[[NORM]], %[[BACK:.*]], %[[ZERO:.*]], %[[ONCE:.*]]) :
  // EXCHANGE-NEXT:    cute.tile.await(%[[ONCE]], %[[ZERO]], %[[ZERO]])
  // EXCHANGE-NEXT:    cute.tile.take(%[[BACK]], %[[ZERO]])

  // CHECK-LABEL: gpu.func @chain
  // CHECK-SAME:    nvvm.reqntid = array<i32: 512, 1, 1>
  // CHECK:         cute.tile.role "producer" attributes {registers = 32 : i32, warps = 1 : i32} {
  // CHECK:           cute.tile.acquire
  // CHECK:           cute.tile.fetch
  // CHECK-NOT:       cute.tile.put
  // CHECK:         cute.tile.role "factor" attributes {registers = 144 : i32, warps = 4 : i32} {
  // CHECK:           scf.for
  // CHECK:             cute.tile.await(%[[KEYS:[0-9]+]],
  // CHECK-NOT:         cute.tile.await
  // CHECK:             cute.tile.gemm
  // CHECK:             cute.tile.release(%[[KEYS]],
  // CHECK:             cute.tile.acquire(%[[PIPE:[0-9]+]],
  // CHECK:             cute.tile.put
  // CHECK:             cute.tile.put
  // CHECK-NOT:         cute.tile.await
  // CHECK:             scf.yield
  // CHECK:           cute.tile.await
  // CHECK:           cute.tile.store {{.*}}(tensor<64xf32
  // CHECK:         cute.tile.role "consumers" attributes {registers = 168 : i32, warps = 8 : i32} {
  // CHECK:           scf.for
  // CHECK:             cute.tile.await(%[[VALUES:[0-9]+]],
  // CHECK:             cute.tile.await(%[[PIPE]],
  // CHECK-NOT:         math
  // CHECK:             cute.tile.gemm
  // CHECK-NEXT:        cute.tile.release
  // CHECK-NEXT:        cute.tile.release
  // CHECK:           cute.tile.store {{.*}}(tensor<64x512xf32

  // CHOSEN-LABEL: gpu.func @chain
  // CHOSEN-SAME:    factors=1"
  // REFUSED: remark: consumers compute factors themselves: blocks are resident: expected persistent=0

  // A warp of the factor's has written its part: the products' proxy sees it.
  // PTX-LABEL: .entry chain(
  // PTX:         setmaxnreg.dec.sync.aligned.u32 32;
  // PTX:         setmaxnreg.inc.sync.aligned.u32 144;
  // PTX:         wgmma.mma_async.sync.aligned.m64n64k16
  // PTX:         stmatrix
  // PTX:         fence.proxy.async.shared::cta;
  // PTX:         mbarrier.arrive
  // PTX:         setmaxnreg.inc.sync.aligned.u32 168;
  // PTX:         wgmma.mma_async.sync.aligned.m64n128k16
  gpu.func @chain(%q: !X, %k: !X, %v: !X, %d: !D, %r: !R) kernel {
    %i = cute.tile.program<[64]> %r
    %a = cute.tile.load<[64, 128]> %q[%i, 0]
    %n = cute.tile.count<0, 64> %k
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %o0 = arith.constant dense<0.0> : tensor<64x512xf32>
    %o = scf.for %t = %c0 to %n step %c1 iter_args(%oi = %o0) -> (tensor<64x512xf32>) : i32 {
      %b = cute.tile.load<[64, 128]> %k[%t, 0]
      %w = cute.tile.load<[64, 512]> %v[%t, 0]
      %zero = arith.constant dense<0.0> : tensor<64x64xf32>
      %s = cute.tile.gemm %a, %b, %zero
      %p = cute.tile.exp2 %s
      %top = cute.tile.reduce<max, 1> %p
      %far = cute.tile.gt %top, 4.0
      %f = cute.tile.div 1.0, %top
      %less = cute.tile.mul %oi, %f
      %o1 = cute.tile.where %far, %less, %oi {rare}
      %h = cute.tile.cast<bf16> %p
      %wt = cute.tile.permute<[1, 0]> %w
      %o2 = cute.tile.gemm %h, %wt, %o1
      scf.yield %o2 : tensor<64x512xf32>
    }
    %sq = cute.tile.mul %o, %o
    %norm = cute.tile.reduce<add, 1> %sq
    %by = cute.tile.rsqrt %norm
    cute.tile.store %o, %d[%i, 0]
    %row = cute.tile.reshape<[64]> %by
    cute.tile.store %row, %r[%i]
    gpu.return
  }
}
