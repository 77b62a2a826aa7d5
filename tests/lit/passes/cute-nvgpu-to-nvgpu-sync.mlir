// RUN: cute-opt %s -cute-nvgpu-to-nvgpu | FileCheck %s
// RUN: cute-opt %s | cute-opt -cute-nvgpu-to-nvgpu | FileCheck %s

gpu.module @m {
  // CHECK-LABEL: gpu.func @mbarriers
  gpu.func @mbarriers(%bar: !cute.ptr<i64, smem>, %n: i32, %rank: i32, %phase: i32) kernel {
    // CHECK: llvm.inline_asm has_side_effects "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}"
    cute_nvgpu.arch.mbarrier_init %bar, %n
    // CHECK: "fence.mbarrier_init.release.cluster;"
    cute_nvgpu.arch.mbarrier_init_fence
    // CHECK: "fence.mbarrier_init.release.cluster;"
    cute_nvgpu.arch.fence_mbarrier_init
    // CHECK: "mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}"
    cute_nvgpu.arch.mbarrier_arrive %bar
    // CHECK: "mbarrier.arrive.release.cta.shared::cta.b64 _, [$0], 2;"
    cute_nvgpu.arch.mbarrier_arrive<2> %bar
    // CHECK: "{ .reg .b32 a; mapa.shared::cluster.u32 a, $0, $1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a]; }", "r,r,~{memory}"
    cute_nvgpu.arch.mbarrier_arrive %bar, %rank
    // CHECK: mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a], 3; }"
    cute_nvgpu.arch.mbarrier_arrive<{count = 3 : i32}> (%bar, %rank) : (!cute.ptr<i64, smem>, i32) -> ()
    // CHECK: "{ .reg .b32 a; mapa.shared::cluster.u32 a, $0, $1; mbarrier.arrive.release.cta.shared::cluster.b64 _, [a]; }"
    cute_nvgpu.arch.mbarrier_arrive %bar, %rank {reads_only}
    // CHECK: "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;"
    cute_nvgpu.arch.mbarrier_expect_tx %bar, %n
    // CHECK: "{ .reg .b32 a; mapa.shared::cluster.u32 a, $0, $2; mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [a], $1; }", "r,r,r,~{memory}"
    cute_nvgpu.arch.mbarrier_expect_tx %bar, %n, %rank
    // CHECK: "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [$0], $1;"
    cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %bar, %n
    // CHECK: mapa.shared::cluster.u32 a, $0, $2; mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [a], $1; }"
    cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %bar, %n, %rank
    // CHECK: "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [$0], $1;"
    cute_nvgpu.arch.mbarrier_complete_tx %bar, %n
    // CHECK: mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [a], $1; }"
    cute_nvgpu.arch.mbarrier_complete_tx %bar, %n, %rank
    // CHECK: "{ .reg .pred p; again: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [$0], $1; @!p bra again; }"
    cute_nvgpu.arch.mbarrier_wait %bar, %phase
    // CHECK: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p
    cute_nvgpu.arch.mbarrier_wait<cluster> %bar, %phase
    // CHECK: %[[DONE:.*]] = llvm.inline_asm has_side_effects "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 $0, [$1], $2;", "=b,r,r,~{memory}"
    %done = cute_nvgpu.arch.mbarrier_try_wait %bar, %phase
    // CHECK: "mbarrier.test_wait.parity.shared::cta.b64 $0, [$1], $2;"
    %test = cute_nvgpu.arch.mbarrier_test_wait %bar, %phase
    // CHECK: "mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 $0, [$1], $2;"
    %wide = cute_nvgpu.arch.mbarrier_test_wait<cluster> %bar, %phase
    // CHECK: "{ .reg .pred p; setp.ne.u32 p, 1, 0; @$1 mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [$2], $3; mov.pred $0, p; }", "=b,b,r,r,~{memory}" %[[DONE]]
    %maybe = cute_nvgpu.arch.mbarrier_conditional_try_wait %done, %bar, %phase
    // CHECK: "cp.async.mbarrier.arrive.shared::cta.b64 [$0];"
    cute_nvgpu.arch.cp_async_mbarrier_arrive %bar
    // CHECK: "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];"
    cute_nvgpu.arch.cp_async_mbarrier_arrive_noinc %bar
    // CHECK: "mbarrier.inval.shared::cta.b64 [$0];"
    cute_nvgpu.arch.mbarrier_inval %bar
    gpu.return
  }
  // CHECK-LABEL: gpu.func @stages
  // CHECK-SAME: %[[N:.*]]: i32
  gpu.func @stages(%n: i32, %out: memref<8xi32>) kernel {
    %c0 = arith.constant 0 : index
    // A producer waits for phase 1 first, a consumer for 0.
    // CHECK: %[[PHASE:.*]] = arith.constant 1 : i32
    %i, %p = cute_nvgpu.arch.pipeline_start<producer>
    // CHECK: %[[NEXT:.*]] = arith.addi
    // CHECK: %[[WRAPS:.*]] = arith.cmpi eq, %[[NEXT]], %
    // CHECK: %[[OTHER:.*]] = arith.xori %[[PHASE]], %
    // CHECK: arith.select %[[WRAPS]], %{{.*}}, %[[NEXT]] : i32
    // CHECK: arith.select %[[WRAPS]], %[[OTHER]], %[[PHASE]] : i32
    %i1, %p1 = cute_nvgpu.arch.pipeline_advance<4> %i, %p
    // CHECK: %[[SUM:.*]] = arith.addi %{{.*}}, %[[N]]
    // CHECK: arith.remui %[[SUM]], %
    // CHECK: arith.divui %[[SUM]], %
    %i2, %p2 = cute_nvgpu.arch.pipeline_advance<{stages = 4 : i32}> (%i1, %p1, %n) : (i32, i32, i32) -> (i32, i32)
    // CHECK: arith.divui %[[N]], %
    %i3, %p3 = cute_nvgpu.arch.pipeline_index_of<3> %n
    memref.store %i2, %out[%c0] : memref<8xi32>
    memref.store %p2, %out[%c0] : memref<8xi32>
    memref.store %i3, %out[%c0] : memref<8xi32>
    memref.store %p3, %out[%c0] : memref<8xi32>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @groups
  gpu.func @groups(%map: !cute.ptr<i64, gmem, align<128>>) kernel {
    // CHECK: nvvm.cp.async.bulk.commit.group
    cute_nvgpu.arch.cp_async_bulk_commit_group
    // CHECK: nvvm.cp.async.bulk.wait_group 2{{$}}
    cute_nvgpu.arch.cp_async_bulk_wait_group<2>
    // CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
    cute_nvgpu.arch.cp_async_bulk_wait_group<{groups = 1 : i32, read}>
    // CHECK: nvvm.wgmma.fence.aligned
    cute_nvgpu.arch.wgmma_fence
    // CHECK: nvvm.wgmma.commit.group.sync.aligned
    cute_nvgpu.arch.wgmma_commit_group
    // CHECK: nvvm.wgmma.wait.group.sync.aligned 1
    cute_nvgpu.arch.wgmma_wait_group<1>
    // CHECK: "fence.proxy.async.shared::cta;", "~{memory}"
    cute_nvgpu.arch.fence_proxy<{kind = "async.shared::cta"}>
    // CHECK: "fence.proxy.async;"
    cute_nvgpu.arch.fence_proxy<async>
    // CHECK: "fence.proxy.alias;"
    cute_nvgpu.arch.fence_proxy<alias>
    // CHECK: "fence.proxy.async.shared::cta;"
    cute_nvgpu.arch.fence_view_async_shared
    // CHECK: "fence.proxy.tensormap::generic.acquire.gpu [$0], 128;", "l,~{memory}"
    cute_nvgpu.arch.fence_proxy_tensormap<acquire, gpu> %map
    // CHECK: "fence.proxy.tensormap::generic.release.cta;"
    cute_nvgpu.arch.fence_proxy_tensormap<release, cta>
    // CHECK: "griddepcontrol.wait;", "~{memory}"
    cute_nvgpu.arch.griddepcontrol_wait
    // CHECK: "griddepcontrol.launch_dependents;"
    cute_nvgpu.arch.griddepcontrol_launch_dependents
    // CHECK: nvvm.setmaxregister{{ *}}increase 232
    cute_nvgpu.arch.setmaxregister_increase<232>
    // CHECK: nvvm.setmaxregister{{ *}}decrease 40
    cute_nvgpu.arch.setmaxregister_decrease<40>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @clusters
  gpu.func @clusters(%s: !cute.ptr<f32, smem, align<16>>, %bar: !cute.ptr<i64, smem>, %v: f32, %out: memref<16xi32>, %times: memref<2xi64>) kernel {
    %c0 = arith.constant 0 : index
    // CHECK: nvvm.cluster.arrive {aligned}
    // CHECK: nvvm.cluster.wait {aligned}
    cute_nvgpu.arch.barrier_cluster
    // CHECK: nvvm.read.ptx.sreg.cluster.ctaid.x
    // CHECK: nvvm.read.ptx.sreg.cluster.ctaid.y
    // CHECK: nvvm.read.ptx.sreg.cluster.ctaid.z
    %x0, %y0, %z0 = cute_nvgpu.arch.block_in_cluster_idx
    // CHECK: nvvm.read.ptx.sreg.cluster.nctaid.x
    %x1, %y1, %z1 = cute_nvgpu.arch.block_in_cluster_dim
    // CHECK: nvvm.read.ptx.sreg.clusterid.x
    %x2, %y2, %z2 = cute_nvgpu.arch.cluster_idx
    // CHECK: nvvm.read.ptx.sreg.nclusterid.x
    %x3, %y3, %z3 = cute_nvgpu.arch.cluster_dim
    // CHECK: %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
    %rank = cute_nvgpu.arch.block_idx_in_cluster
    // CHECK: nvvm.read.ptx.sreg.cluster.nctarank
    %size = cute_nvgpu.arch.cluster_size
    // CHECK: "mov.u32 $0, %smid;", "=r
    %sm = cute_nvgpu.arch.sm_id
    // CHECK: "mov.u64 $0, %clock64;", "=l
    %clock = cute_nvgpu.arch.clock
    // CHECK: "mov.u64 $0, %globaltimer;"
    %time = cute_nvgpu.arch.globaltimer
    // CHECK: %[[HERE:.*]] = llvm.addrspacecast %{{.*}} : !llvm.ptr<3> to !llvm.ptr
    // CHECK: llvm.inline_asm "mapa.u64 $0, $1, $2;", "=l,l,r" %[[HERE]], %[[RANK]] : (!llvm.ptr, i32) -> !llvm.ptr
    %there = cute_nvgpu.arch.map_dsmem_ptr %s, %rank
    %t = cute.make_view %there, "(4):(1)"
    cute.memref.store %t, 2, %v
    // CHECK: st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [a], $0, [b]; }", "f,r,r,r,~{memory}"
    cute_nvgpu.arch.st_async %v, %s, %bar, %rank
    %four = vector.splat %v : vector<4xf32>
    // CHECK: mapa.shared::cluster.u32 a, $4, $6; mapa.shared::cluster.u32 b, $5, $6; st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [a], {$0, $1, $2, $3}, [b]; }", "f,f,f,f,r,r,r,~{memory}"
    cute_nvgpu.arch.st_async %four, %s, %bar, %rank
    // CHECK: mapa.shared::cluster.u32 a, $1, $3; mapa.shared::cluster.u32 b, $2, $3; st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [a], $0, [b]; }", "f,r,r,r,~{memory}"
    %single = vector.splat %v : vector<1xf32>
    cute_nvgpu.arch.st_async %single, %s, %bar, %rank
    // CHECK: "{ .reg .b32 r; elect.sync r|$0, 0xffffffff; }", "=b,~{memory}"
    %one = cute_nvgpu.arch.elect
    memref.store %sm, %out[%c0] : memref<16xi32>
    memref.store %clock, %times[%c0] : memref<2xi64>
    scf.if %one {
      memref.store %time, %times[%c0] : memref<2xi64>
    }
    gpu.return
  }
}
