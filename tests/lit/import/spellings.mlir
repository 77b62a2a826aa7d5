// Texts of newer MLIR: read at their own columns, printed as LLVM 19 has them, and read again.
// RUN: cute-opt %s -source-map=off | FileCheck %s
// RUN: cute-opt %s -source-map=off > %t.1
// RUN: cute-opt %s -source-map=off --mlir-print-op-generic > %t.2
// RUN: cute-opt %t.1 -source-map=off --mlir-print-op-generic | diff %t.2 -
// RUN: cute-opt %s -source-map=off --mlir-print-op-generic | cute-opt -source-map=off | diff %t.1 -

// CHECK-LABEL: gpu.module @m
// CHECK: text = "useIntrinsic = false"
"builtin.module"() ({
  "gpu.module"() <{sym_name = "m"}> ({
    "cuda.kernel"() <{arg_attrs = [{}, {}, {}, {}, {}], function_type = (!llvm.ptr<3>, i32, vector<2xf32>, vector<4xf32>, vector<8xf32>) -> (), sym_name = "k"}> ({
    ^bb0(%bar: !llvm.ptr<3>, %n: i32, %p: vector<2xf32>, %x: vector<4xf32>, %y: vector<8xf32>):
      // CHECK: nvvm.fence.mbarrier.init
      "nvvm.fence.mbarrier.init"() <{useIntrinsic = false}> : () -> ()
      // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      "nvvm.fence.proxy"() <{kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>, useIntrinsic = false}> : () -> ()
      // CHECK: nvvm.mbarrier.try_wait.parity.shared
      "nvvm.mbarrier.try_wait.parity.shared"(%bar, %n, %n) <{useIntrinsic = false}> : (!llvm.ptr<3>, i32, i32) -> ()
      // CHECK: nvvm.mbarrier.txn %{{.*}}, %{{.*}} {kind = #cuda.mbar_txn_kind<arrive_expect_tx>} : !llvm.ptr<3>, i32
      "nvvm.mbarrier.txn"(%bar, %n) <{kind = #nvvm.mbar_txn_kind<arrive_expect_tx>, scope = #nvvm.mbar_scope<cta>, space = #nvvm.mbar_space<cta>}> : (!llvm.ptr<3>, i32) -> ()
      // CHECK: nvvm.mbarrier.wait.parity %{{.*}}, %{{.*}} {kind = #cuda.mbar_wait<try>, scope = #cuda.mbar_scope<cluster>} : !llvm.ptr<3>, i32 -> i1
      %0 = "nvvm.mbarrier.wait.parity"(%bar, %n) <{kind = #nvvm.mbar_wait<try>, scope = #nvvm.mbar_scope<cluster>}> : (!llvm.ptr<3>, i32) -> i1
      // CHECK: nvvm.add.packed.f32x2 %{{.*}} {rnd = #cuda.rnd<rn>}
      %1 = "nvvm.add.packed.f32x2"(%p, %p) <{ftz = false, rnd = #nvvm.rnd<rn>}> : (vector<2xf32>, vector<2xf32>) -> vector<2xf32>
      // CHECK: nvgpu.cvt_fptrunc %{{.*}} : vector<4xf32> to vector<4xf8E4M3FN>
      %2 = "nvgpu.cvt_fptrunc"(%x) <{packed_kind = #nvgpu.subbytes_packedkind<compact>, rnd = #nvgpu.rnd<rn>}> : (vector<4xf32>) -> vector<4xf8E4M3FN>
      // CHECK: nvgpu.cvt_fptrunc %{{.*}} : vector<8xf32> to vector<8xsi4>
      %3 = "nvgpu.cvt_fptrunc"(%y) <{packed_kind = #nvgpu.subbytes_packedkind<compact>, rnd = #nvgpu.rnd<rn>}> : (vector<8xf32>) -> vector<8xf4E2M1FN>
      // CHECK: vector.bitcast %{{.*}} : vector<8xsi4> to vector<4xi8>
      %4 = "vector.bitcast"(%3) : (vector<8xf4E2M1FN>) -> vector<4xi8>
      // CHECK: nvvm.wgmma.wait.group.sync.aligned 1
      "nvvm.wgmma.wait.group.sync.aligned"() <{group = 1 : i64}> : () -> ()
      // CHECK: nvvm.tcgen05.commit.arrive %{{.*}} : !llvm.ptr<3>
      "nvvm.tcgen05.commit.arrive"(%bar) <{group = #nvvm.tcgen05_group<cta_1>}> : (!llvm.ptr<3>) -> ()
      // CHECK: nvvm.tcgen05.wait <store>
      "nvvm.tcgen05.wait"() <{kind = #nvvm.tcgen05_wait<store>}> : () -> ()
      // CHECK: cute.make_layout(%{{.*}})
      %s = "cute.static"() : () -> !cute.shape<"(4,8)">
      %l = "cute.make_layout"(%s) <{operandSegmentSizes = array<i32: 1, 0>}> : (!cute.shape<"(4,8)">) -> !cute.layout<"(4,8):(1,4)">
      // CHECK: nvvm.read.ptx.sreg.tid.x : i32
      %5 = "nvvm.read.ptx.sreg.tid.x"() <{range = #llvm.constant_range<i32, 0, 1024>}> : () -> i32
      "cuda.return"() : () -> ()
    // CHECK: return
    }) {cu_attrs = {max_dynamic_shared_size_bytes = #cuda.dev_max_shared_memory_optin, text = "useIntrinsic = false"}} : () -> ()
  }) : () -> ()
  // CHECK: gpu.module @empty
  "gpu.module"() <{sym_name = "empty"}> ({
  }) : () -> ()
  "gpu.module"() <{sym_name = "ended"}> ({
    "gpu.module_end"() : () -> ()
  }) : () -> ()
}) {gpu.container_module} : () -> ()

