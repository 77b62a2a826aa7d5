// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -o %t && cute-opt %t | FileCheck %s
// RUN: cute-opt %s -cute-fold-static -cute-expand-ops -cute-nvgpu-copy-lowering | FileCheck %s --check-prefix=LOW

// Without types, at coordinates and indices; numbers are of the tensor's elements.
// CHECK-LABEL: gpu.func @short(
// CHECK-SAME: %[[T:.*]]: !cute.memref<i64, gmem, "((2,3),4):((1,2),?)">, %[[X:.*]]: i64, %[[I:.*]]: i32
// LOW-LABEL: gpu.func @short(
gpu.module @m {
  gpu.func @short(%t: !cute.memref<i64, gmem, "((2,3),4):((1,2),?)">, %x: i64, %i: i32) kernel {
    // CHECK: %[[ONE:.*]] = arith.constant 1 : i64
    // CHECK: %[[C:.*]] = cute.make_coord(%[[I]]) : (i32) -> !cute.coord<"((1,?),2)">
    // CHECK: %[[OLD:.*]] = cute.atomic_add (%[[X]], %[[T]], %[[C]]) : (i64, !cute.memref<i64, gmem, "((2,3),4):((1,2),?)">, !cute.coord<"((1,?),2)">) -> i64
    // LOW: llvm.atomicrmw add %{{.*}}, %{{.*}} syncscope("device") monotonic : !llvm.ptr<1>, i64
    %old = cute.atomic_add %x, %t[(1, %i), 2]
    // CHECK: cute.atomic_umax<acq_rel, cta> (%[[ONE]], %[[T]], %{{.*}}) : (i64, !cute.memref<{{.*}}>, !cute.coord<"?">) -> i64
    // LOW: llvm.atomicrmw umax %{{.*}}, %{{.*}} syncscope("block") acq_rel : !llvm.ptr<1>, i64
    cute.atomic_umax<acq_rel, cta> 1, %t[%i]
    // CHECK: cute.atomic_cas<{scope = "sys"}> (%[[OLD]], %[[X]], %[[T]], %{{.*}}) : (i64, i64, !cute.memref<{{.*}}>, !cute.coord<"?">) -> i64
    // LOW: llvm.cmpxchg %{{.*}} syncscope("system") monotonic monotonic : !llvm.ptr<1>, i64
    %seen = cute.atomic_cas<{scope = "sys"}> %old, %x, %t[%i]
    gpu.return
  }
}

// Floats have operations of their own; a comparison is of their bits.
// LOW-LABEL: gpu.func @floats(
gpu.module @n {
  // CHECK: arith.constant 3.000000e+00 : f32
  gpu.func @floats(%t: !cute.memref<f32, smem, "S<2,0,3> o 0 o (8,8):(8,1)">, %x: f32, %i: i32) kernel {
    // LOW: llvm.atomicrmw fmin %{{.*}} syncscope("device") seq_cst : !llvm.ptr<3>, f32
    cute.atomic_min<sc> %x, %t[%i, 3]
    // LOW: llvm.cmpxchg {{.*}} syncscope("device") acquire acquire : !llvm.ptr<3>, i32
    cute.atomic_cas<acquire> 3, %x, %t[%i]
    gpu.return
  }
}

// A vector needs its alignment, by what divides the strides and the coordinate.
// LOW-LABEL: gpu.func @vectors(
gpu.module @v {
  gpu.func @vectors(%t: !cute.memref<f32, gmem, align<16>, "(?,8):(?{div=4},1)">, %h: !cute.memref<bf16, smem, align<4>, "(64):(1)">, %x: vector<4xf32>, %y: vector<2xbf16>, %i: i32, %j: !cute.i32<divby 4>) kernel {
    // LOW: "atom.relaxed.gpu.global.add.v4.f32 {$0,$1,$2,$3}, [$4], {$5,$6,$7,$8};"
    cute.atomic_add %x, %t[%i, %j]
    // LOW: "atom.release.cta.shared.add.noftz.bf16x2 $0, [$1], $2;"
    cute.atomic_add<release, cta> %y, %h[%j]
    gpu.return
  }
}
