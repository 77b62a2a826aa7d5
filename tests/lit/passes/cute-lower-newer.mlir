// RUN: cute-opt %s -cute-lower-newer -source-map=off | FileCheck %s
// RUN: cute-ptx %s -arch sm_90a -o - | FileCheck %s --check-prefix=PTX
// RUN: not cute-ptx %s -arch sm_80 -o - 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: error: 'nvvm.mbarrier.txn' op needs sm_90, got sm_80

gpu.module @m {
  // CHECK-LABEL: gpu.func @barriers
  gpu.func @barriers(%bar: !llvm.ptr<3>, %n: i32, %out: !llvm.ptr<1>) kernel {
    // CHECK-NEXT: llvm.inline_asm has_side_effects "mbarrier.arrive.release.cta.shared::cta.b64 _, [$0], $1;", "l,r,~{memory}" %{{.*}}, %{{.*}} : (!llvm.ptr<3>, i32) -> ()
    // PTX: mbarrier.arrive.release.cta.shared::cta.b64 _, [%rd{{.*}}], %r{{.*}};
    nvvm.mbarrier.txn %bar, %n {kind = #cuda.mbar_txn_kind<arrive>} : !llvm.ptr<3>, i32
    // CHECK-NEXT: "mbarrier.arrive.release.cta.shared::cluster.b64 _, [$0], $1;"
    nvvm.mbarrier.txn %bar, %n {kind = #cuda.mbar_txn_kind<arrive>, space = #cuda.mbar_space<cluster>} : !llvm.ptr<3>, i32
    // CHECK-NEXT: "mbarrier.arrive.expect_tx.release.cluster.shared::cta.b64 _, [$0], $1;"
    nvvm.mbarrier.txn %bar, %n {kind = #cuda.mbar_txn_kind<arrive_expect_tx>, scope = #cuda.mbar_scope<cluster>} : !llvm.ptr<3>, i32
    // CHECK-NEXT: "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;"
    nvvm.mbarrier.txn %bar, %n {kind = #cuda.mbar_txn_kind<expect_tx>} : !llvm.ptr<3>, i32
    // CHECK-NEXT: %[[FLAG:.*]] = llvm.inline_asm has_side_effects "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [$1], $2; selp.b32 $0, 1, 0, p; }", "=r,l,r,~{memory}"
    // CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : i32
    // CHECK-NEXT: %[[DONE:.*]] = arith.cmpi ne, %[[FLAG]], %[[ZERO]] : i32
    // PTX: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%rd{{.*}}], %r{{.*}};
    %done = nvvm.mbarrier.wait.parity %bar, %n {kind = #cuda.mbar_wait<try>} : !llvm.ptr<3>, i32 -> i1
    // CHECK-NEXT: mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 p
    %test = nvvm.mbarrier.wait.parity %bar, %n {kind = #cuda.mbar_wait<test>, scope = #cuda.mbar_scope<cluster>} : !llvm.ptr<3>, i32 -> i1
    // CHECK: llvm.store volatile %[[DONE]]
    llvm.store volatile %done, %out : i1, !llvm.ptr<1>
    llvm.store volatile %test, %out : i1, !llvm.ptr<1>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @clusters
  gpu.func @clusters(%a: !llvm.ptr, %s: !llvm.ptr<3>, %rank: i32, %out: !llvm.ptr<1>) kernel {
    // CHECK: llvm.inline_asm "mapa.u64 $0, $1, $2;", "=l,l,r"
    // PTX: mapa.u64
    %0 = nvvm.mapa %a, %rank : !llvm.ptr, i32 -> !llvm.ptr
    // CHECK: llvm.inline_asm "mapa.shared::cluster.u64 $0, $1, $2;", "=l,l,r"
    // PTX: mapa.shared::cluster.u64
    %1 = nvvm.mapa.shared.cluster %s, %rank : !llvm.ptr<3>, i32 -> <3>
    llvm.store volatile %0, %out : !llvm.ptr, !llvm.ptr<1>
    llvm.store volatile %1, %out : !llvm.ptr<3>, !llvm.ptr<1>
    // CHECK: "griddepcontrol.wait;"
    nvvm.griddepcontrol.wait
    // CHECK: "griddepcontrol.launch_dependents;"
    nvvm.griddepcontrol.launch.dependents
    gpu.return
  }
  // CHECK-LABEL: gpu.func @copies
  gpu.func @copies(%s: !llvm.ptr<3>, %g: !llvm.ptr<1>, %bar: !llvm.ptr<3>, %n: i32, %mask: i16, %hint: i64) kernel {
    // CHECK: "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $3, [$2];", "l,l,l,r,~{memory}"
    // PTX: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%rd{{.*}}], [%rd{{.*}}], %r{{.*}}, [%rd{{.*}}];
    nvvm.cp.async.bulk.shared.cluster.global %s, %g, %bar, %n : !llvm.ptr<3>, !llvm.ptr<1>
    // CHECK: "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [$0], [$1], $3, [$2], $4, $5;", "l,l,l,r,h,l,~{memory}"
    nvvm.cp.async.bulk.shared.cluster.global %s, %g, %bar, %n multicast_mask = %mask l2_cache_hint = %hint : !llvm.ptr<3>, !llvm.ptr<1>
    // CHECK: "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [$0], [$1], $3, [$2], $4;", "l,l,l,r,l,~{memory}"
    nvvm.cp.async.bulk.shared.cluster.global %s, %g, %bar, %n l2_cache_hint = %hint : !llvm.ptr<3>, !llvm.ptr<1>
    // CHECK: "cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2;"
    nvvm.cp.async.bulk.global.shared.cta %g, %s, %n : !llvm.ptr<1>, !llvm.ptr<3>
    // CHECK: "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [$0], [$1], $2, $3;"
    nvvm.cp.async.bulk.global.shared.cta %g, %s, %n l2_cache_hint = %hint : !llvm.ptr<1>, !llvm.ptr<3>
    // CHECK: "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [$0], [$1], $3, [$2];"
    nvvm.cp.async.bulk.shared.cluster.shared.cta %s, %s, %bar, %n : !llvm.ptr<3>, !llvm.ptr<3>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @numbers
  gpu.func @numbers(%a: f32, %c: f32, %d: f32, %p: vector<2xf32>, %x: vector<4xf32>, %out: !llvm.ptr<1>) kernel {
    // CHECK: llvm.intr.maxnum
    // PTX: max.f32
    %0 = nvvm.fmax %a, %c
    // CHECK: llvm.intr.minnum
    %1 = nvvm.fmin %0, %d
    // CHECK: arith.addf %{{.*}}, %{{.*}} : vector<2xf32>
    // PTX: add.{{(rn.)?}}f32
    %2 = nvvm.add.packed.f32x2 %p, %p {rnd = #cuda.rnd<rn>} : vector<2xf32>, vector<2xf32> -> vector<2xf32>
    // CHECK: arith.mulf %{{.*}}, %{{.*}} : vector<2xf32>
    %3 = nvvm.mul.packed.f32x2 %2, %p : vector<2xf32>, vector<2xf32> -> vector<2xf32>
    // CHECK: math.fma %{{.*}}, %{{.*}}, %{{.*}} : vector<2xf32>
    %4 = nvvm.fma.packed.f32x2 %3, %p, %p : vector<2xf32>, vector<2xf32>, vector<2xf32> -> vector<2xf32>
    // CHECK-COUNT-2: llvm.inline_asm "fma.rz.ftz.f32 $0, $1, $2, $3;", "=f,f,f,f"
    // PTX-COUNT-2: fma.rz.ftz.f32
    %5 = nvvm.fma.packed.f32x2 %4, %p, %p {ftz = true, rnd = #cuda.rnd<rz>} : vector<2xf32>, vector<2xf32>, vector<2xf32> -> vector<2xf32>
    // CHECK-COUNT-2: llvm.inline_asm "mul.rn.ftz.f32 $0, $1, $2;", "=f,f,f"
    %6 = nvvm.mul.packed.f32x2 %5, %p {ftz = true} : vector<2xf32>, vector<2xf32> -> vector<2xf32>
    // CHECK: arith.truncf %{{.*}} : vector<4xf32> to vector<4xf8E4M3FN>
    // PTX: cvt.rn.satfinite.e4m3x2.f32
    %7 = nvgpu.cvt_fptrunc %x : vector<4xf32> to vector<4xf8E4M3FN>
    // CHECK: arith.extf %{{.*}} : vector<4xf8E4M3FN> to vector<4xf32>
    %8 = nvgpu.cvt_fpext %7 : vector<4xf8E4M3FN> to vector<4xf32>
    llvm.store volatile %1, %out : f32, !llvm.ptr<1>
    llvm.store volatile %6, %out : vector<2xf32>, !llvm.ptr<1>
    llvm.store volatile %8, %out : vector<4xf32>, !llvm.ptr<1>
    gpu.return
  }
}
