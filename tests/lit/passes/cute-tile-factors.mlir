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

  // The values are the first columns of the keys: these come in parts, in the order in which the consumers read them.
  // CHECK-LABEL: gpu.func @shared
  // CHECK:         %[[K:[0-9]+]] = cute.tile.ring() : () -> !cute.memref<bf16, smem, align<1024>, S<3,4,3>, "(64,(64,8),2):(64,(1,4096),32768)">
  // CHECK:         %[[REST:[0-9]+]] = cute.tile.pipe<8192, 2>
  // CHECK:         %[[K0:[0-9]+]] = cute.tile.part<4, 0> (%[[K]]) {{.*}} -> !cute.memref<bf16, smem, align<1024>, S<3,4,3>, "(64,(64,2),2):(64,(1,4096),32768)">
  // CHECK-NEXT:    %[[Q0:[0-9]+]] = cute.tile.part<4, 0> (%{{[0-9]+}})
  // CHECK-NEXT:    %[[P0:[0-9]+]] = cute.tile.pipe<16384, 2>
  // CHECK-NEXT:    %[[K1:[0-9]+]] = cute.tile.part<4, 1> (%[[K]])
  // CHECK-NEXT:    %{{.*}} = cute.tile.part<
  // CHECK-NEXT:    %[[P1:[0-9]+]] = cute.tile.pipe<16384, 2>
  // CHECK-NEXT:    %[[K2:[0-9]+]] = cute.tile.part<4, 2> (%[[K]])
  // CHECK-NEXT:    %{{.*}} = cute.tile.part<
  // CHECK-NEXT:    %[[P2:[0-9]+]] = cute.tile.pipe<16384, 2>
  // CHECK:         cute.tile.role "producer"
  // CHECK:           scf.for
  // CHECK:             cute.tile.acquire(%[[REST]], %[[AT:[a-z0-9]+]],
  // CHECK:             cute.tile.fetch {{.*}}, %[[AT]], %[[REST]])
  // CHECK:             cute.tile.acquire(%[[P0]], %[[AT]],
  // CHECK-NEXT:        %[[C0:.*]] = cute.make_coord(%{{.*}}) : (i32) -> !cute.coord<"(?,0)">
  // CHECK-NEXT:        cute.tile.fetch (%{{.*}}, %[[C0]], %[[K0]], %[[AT]], %[[P0]])
  // CHECK-NEXT:        cute.tile.acquire(%[[P2]], %[[AT]],
  // CHECK-NEXT:        %[[C2:.*]] = cute.make_coord(%{{.*}}) : (i32) -> !cute.coord<"(?,2)">
  // CHECK-NEXT:        cute.tile.fetch (%{{.*}}, %[[C2]], %[[K2]], %[[AT]], %[[P2]])
  // CHECK-NEXT:        cute.tile.acquire(%[[P1]], %[[AT]],
  // CHECK:         cute.tile.role "factor"
  // CHECK:           scf.for
  // CHECK:             cute.tile.await(%[[REST]],
  // CHECK:             %[[S:.*]] = cute.tile.gemm<{pending = 7 : i32, wgmma}>
  // CHECK:             cute.tile.await(%[[P0]], %[[AT:[a-z0-9]+]],
  // CHECK-NEXT:        %[[B0:.*]] = cute.tile.take(%[[K0]], %[[AT]]) {{.*}} -> tensor<64x128xbf16
  // CHECK-NEXT:        %[[A0:.*]] = cute.tile.take(%[[Q0]], %{{.*}}) {{.*}} -> tensor<64x128xbf16
  // CHECK-NEXT:        %[[S0:.*]] = cute.tile.gemm<{pending = 7 : i32, wgmma}> (%[[A0]], %[[B0]], %[[S]])
  // CHECK-NEXT:        cute.tile.await(%[[P2]], %[[AT]],
  // CHECK:             cute.tile.gemm<{pending = 7 : i32, wgmma}> (%{{.*}}, %{{.*}}, %[[S0]])
  // CHECK-COUNT-2:     cute.tile.gemm<{pending = 7 : i32, wgmma}>
  // CHECK-NEXT:        cute.tile.settle
  // CHECK-COUNT-5:     cute.tile.release
  // CHECK:             cute.tile.put
  // CHECK:         cute.tile.role "consumers"
  // CHECK:           %[[GROUP:.*]] = cute.tile.turn
  // CHECK:           %[[FIRST:.*]] = arith.cmpi eq, %[[GROUP]], %c0
  // CHECK:           %[[NOT_FIRST:.*]] = arith.cmpi ne, %[[GROUP]], %c0
  // CHECK:           scf.for
  // CHECK-NOT:         cute.tile.await(%[[REST]]
  // CHECK:             cute.tile.await(%[[P0]], %[[AT:[a-z0-9]+]],
  // CHECK-NEXT:        cute.tile.release(%[[P0]], %[[AT]], %[[NOT_FIRST]])
  // CHECK:             %[[O0:.*]] = cute.tile.gemm<{band = array<i32: 0, 2>, wgmma}> (%{{.*}}, %[[V:.*]], %{{.*}})
  // CHECK-NEXT:        cute.tile.release(%[[P0]], %[[AT]], %[[FIRST]])
  // CHECK-NEXT:        cute.tile.release(%[[P2]], %[[AT]],
  // CHECK-NEXT:        cute.tile.gemm<{band = array<i32: 1, 2>, wgmma}> (%{{.*}}, %[[V]], %[[O0]])
  // CHECK:             cute.tile.release(%[[P1]], %[[AT]], %[[FIRST]])

  // A part's columns are complete before its stage is given back.
  // PTX-LABEL: .entry shared(
  // PTX:         setmaxnreg.inc.sync.aligned.u32 168;
  // PTX:         wgmma.mma_async.sync.aligned.m64n128k16
  // PTX:         wgmma.wait_group.sync.aligned 0;
  // PTX:         mbarrier.arrive
  // PTX:         wgmma.mma_async.sync.aligned.m64n128k16
  // PTX:         wgmma.wait_group.sync.aligned 0;
  // PTX:         mbarrier.arrive
  // Lanes exchange elements, so that each stores 16 bytes.
  // PTX:         shfl.sync.bfly
  // PTX:         st.global.v4.u32
  // PTX-NOT:     st.global.u32
  gpu.func @shared(%q: !X, %k: !X, %d: !X, %rows: !R) kernel {
    %i = cute.tile.program<[64]> %rows
    %a = cute.tile.load<[64, 512]> %q[%i, 0]
    %ar = cute.tile.load<[64, 64]> %q[%i, 8]
    %n = cute.tile.count<0, 64> %k
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %o0 = arith.constant dense<0.0> : tensor<64x512xf32>
    %o = scf.for %t = %c0 to %n step %c1 iter_args(%oi = %o0) -> (tensor<64x512xf32>) : i32 {
      %b = cute.tile.load<[64, 512]> %k[%t, 0]
      %br = cute.tile.load<[64, 64]> %k[%t, 8]
      %zero = arith.constant dense<0.0> : tensor<64x64xf32>
      %sr = cute.tile.gemm %ar, %br, %zero
      %s = cute.tile.gemm %a, %b, %sr
      %p = cute.tile.exp2 %s
      %h = cute.tile.cast<bf16> %p
      %bt = cute.tile.permute<[1, 0]> %b
      %o2 = cute.tile.gemm %h, %bt, %oi
      scf.yield %o2 : tensor<64x512xf32>
    }
    cute.tile.store %o, %d[%i, 0]
    gpu.return
  }
}
