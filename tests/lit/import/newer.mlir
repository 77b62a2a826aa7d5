// Operations of nvvm and nvgpu that LLVM 19 does not have: written, printed, printed in generic form and read again.
// RUN: cute-opt %s -source-map=off | FileCheck %s
// RUN: cute-opt %s -source-map=off > %t.1
// RUN: cute-opt %s -source-map=off --mlir-print-op-generic | cute-opt -source-map=off | diff %t.1 -
// RUN: cute-opt %s -emit-bytecode | cute-opt -source-map=off | FileCheck %s

// CHECK-LABEL: func.func @newer
// CHECK-NEXT: nvvm.mbarrier.txn %{{.*}}, %{{.*}} {kind = #cuda.mbar_txn_kind<arrive_expect_tx>} : !llvm.ptr<3>, i32
// CHECK-NEXT: nvvm.mbarrier.txn %{{.*}}, %{{.*}} {kind = #cuda.mbar_txn_kind<arrive>, space = #cuda.mbar_space<cluster>} : !llvm.ptr<3>, i32
// CHECK-NEXT: %{{.*}} = nvvm.mbarrier.wait.parity %{{.*}}, %{{.*}} {kind = #cuda.mbar_wait<try>} : !llvm.ptr<3>, i32 -> i1
// CHECK-NEXT: %{{.*}} = nvvm.fmax %{{.*}}, %{{.*}}
// CHECK-NEXT: %{{.*}} = nvvm.fmin %{{.*}}, %{{.*}}
// CHECK-NEXT: %{{.*}} = nvvm.add.packed.f32x2 %{{.*}}, %{{.*}} {rnd = #cuda.rnd<rn>} : vector<2xf32>, vector<2xf32> -> vector<2xf32>
// CHECK-NEXT: %{{.*}} = nvvm.mul.packed.f32x2 %{{.*}}, %{{.*}} : vector<2xf32>, vector<2xf32> -> vector<2xf32>
// CHECK-NEXT: %{{.*}} = nvvm.fma.packed.f32x2 %{{.*}}, %{{.*}}, %{{.*}} {ftz = true, rnd = #cuda.rnd<rz>} : vector<2xf32>, vector<2xf32>, vector<2xf32> -> vector<2xf32>
// CHECK-NEXT: %{{.*}} = nvvm.mapa.shared.cluster %{{.*}}, %{{.*}} : !llvm.ptr<3>, i32 -> <3>
// CHECK-NEXT: nvvm.tcgen05.wait <load>
// CHECK-NEXT: nvvm.tcgen05.commit.arrive %{{.*}}, multicast_mask = %{{.*}} {group = #cuda.tcgen05_group<cta_2>} : !llvm.ptr<3>, i16
// CHECK-NEXT: nvvm.tcgen05.commit.arrive %{{.*}} : !llvm.ptr<3>
// CHECK-NEXT: %{{.*}} = nvgpu.cvt_fptrunc %{{.*}} : vector<4xf32> to vector<4xf8E4M3FN>
// CHECK-NEXT: %{{.*}} = nvgpu.cvt_fpext %{{.*}} : vector<4xf8E4M3FN> to vector<4xf32>
// CHECK-NEXT: nvvm.clusterlaunchcontrol.try_cancel.multicast %{{.*}}, %{{.*}}
// CHECK-NEXT: %{{.*}} = nvvm.clusterlaunchcontrol.query_cancel.is_canceled %{{.*}} : i1
// CHECK-NEXT: %{{.*}} = nvvm.clusterlaunchcontrol.query_cancel.get_first_ctaid.x %{{.*}} : i32
// CHECK-NEXT: %{{.*}} = nvvm.clusterlaunchcontrol.query_cancel.get_first_ctaid.y %{{.*}} : i32
// CHECK-NEXT: %{{.*}} = nvvm.clusterlaunchcontrol.query_cancel.get_first_ctaid.z %{{.*}} : i32
// CHECK-NEXT: nvvm.griddepcontrol.wait
// CHECK-NEXT: nvvm.griddepcontrol.launch.dependents
// CHECK-NEXT: nvvm.cp.async.bulk.shared.cluster.global %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} multicast_mask = %{{.*}} : !llvm.ptr<3>, !llvm.ptr<1>
// CHECK-NEXT: nvvm.cp.async.bulk.global.shared.cta %{{.*}}, %{{.*}}, %{{.*}} : !llvm.ptr<1>, !llvm.ptr<3>
// CHECK-NEXT: nvvm.cp.async.bulk.shared.cluster.shared.cta %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !llvm.ptr<3>, !llvm.ptr<3>
func.func @newer(%bar: !llvm.ptr<3>, %g: !llvm.ptr<1>, %n: i32, %a: f32, %p: vector<2xf32>, %m: i16, %x: vector<4xf32>, %ans: i128) {
  nvvm.mbarrier.txn %bar, %n {kind = #cuda.mbar_txn_kind<arrive_expect_tx>} : !llvm.ptr<3>, i32
  nvvm.mbarrier.txn %bar, %n {kind = #cuda.mbar_txn_kind<arrive>, space = #cuda.mbar_space<cluster>} : !llvm.ptr<3>, i32
  %0 = nvvm.mbarrier.wait.parity %bar, %n {kind = #cuda.mbar_wait<try>} : !llvm.ptr<3>, i32 -> i1
  %1 = nvvm.fmax %a, %a
  %2 = nvvm.fmin %a, %a
  %3 = nvvm.add.packed.f32x2 %p, %p {rnd = #cuda.rnd<rn>} : vector<2xf32>, vector<2xf32> -> vector<2xf32>
  %4 = nvvm.mul.packed.f32x2 %p, %p : vector<2xf32>, vector<2xf32> -> vector<2xf32>
  %5 = nvvm.fma.packed.f32x2 %p, %p, %p {ftz = true, rnd = #cuda.rnd<rz>} : vector<2xf32>, vector<2xf32>, vector<2xf32> -> vector<2xf32>
  %6 = nvvm.mapa.shared.cluster %bar, %n : !llvm.ptr<3>, i32 -> <3>
  nvvm.tcgen05.wait <load>
  nvvm.tcgen05.commit.arrive %bar, multicast_mask = %m {group = #cuda.tcgen05_group<cta_2>} : !llvm.ptr<3>, i16
  nvvm.tcgen05.commit.arrive %bar : !llvm.ptr<3>
  %7 = nvgpu.cvt_fptrunc %x : vector<4xf32> to vector<4xf8E4M3FN>
  %8 = nvgpu.cvt_fpext %7 : vector<4xf8E4M3FN> to vector<4xf32>
  nvvm.clusterlaunchcontrol.try_cancel.multicast %bar, %bar
  %9 = nvvm.clusterlaunchcontrol.query_cancel.is_canceled %ans : i1
  %10 = nvvm.clusterlaunchcontrol.query_cancel.get_first_ctaid.x %ans : i32
  %11 = nvvm.clusterlaunchcontrol.query_cancel.get_first_ctaid.y %ans : i32
  %12 = nvvm.clusterlaunchcontrol.query_cancel.get_first_ctaid.z %ans : i32
  nvvm.griddepcontrol.wait
  nvvm.griddepcontrol.launch.dependents
  nvvm.cp.async.bulk.shared.cluster.global %bar, %g, %bar, %n multicast_mask = %m : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.bulk.global.shared.cta %g, %bar, %n : !llvm.ptr<1>, !llvm.ptr<3>
  nvvm.cp.async.bulk.shared.cluster.shared.cta %bar, %bar, %bar, %n : !llvm.ptr<3>, !llvm.ptr<3>
  return
}
