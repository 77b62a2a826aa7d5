// RUN: cute-ptx %s | FileCheck %s
// RUN: cute-ptx -arch sm_100a %s | FileCheck %s
// RUN: cute-ptx %s | cute-link -o %t.cubin

// Fences: the order by the kind of fence, the scope by LLVM's names; one thread needs no instruction.
gpu.module @m {
// CHECK-LABEL: .entry fences(
llvm.func @fences() attributes {gpu.kernel, nvvm.kernel} {
  // CHECK: {{^[[:space:]]*}}fence.acq_rel.sys;
  llvm.fence acquire
  // CHECK: {{^[[:space:]]*}}fence.acq_rel.sys;
  llvm.fence release
  // CHECK: {{^[[:space:]]*}}fence.acq_rel.sys;
  llvm.fence acq_rel
  // CHECK: {{^[[:space:]]*}}fence.sc.sys;
  llvm.fence seq_cst
  // CHECK: {{^[[:space:]]*}}fence.acq_rel.cta;
  llvm.fence syncscope("block") acquire
  // CHECK: {{^[[:space:]]*}}fence.acq_rel.cta;
  llvm.fence syncscope("block") release
  // CHECK: {{^[[:space:]]*}}fence.acq_rel.cta;
  llvm.fence syncscope("block") acq_rel
  // CHECK: {{^[[:space:]]*}}fence.sc.cta;
  llvm.fence syncscope("block") seq_cst
  // CHECK: {{^[[:space:]]*}}fence.acq_rel.cluster;
  llvm.fence syncscope("cluster") acquire
  // CHECK: {{^[[:space:]]*}}fence.acq_rel.cluster;
  llvm.fence syncscope("cluster") release
  // CHECK: {{^[[:space:]]*}}fence.acq_rel.cluster;
  llvm.fence syncscope("cluster") acq_rel
  // CHECK: {{^[[:space:]]*}}fence.sc.cluster;
  llvm.fence syncscope("cluster") seq_cst
  // CHECK: {{^[[:space:]]*}}fence.acq_rel.gpu;
  llvm.fence syncscope("device") acquire
  // CHECK: {{^[[:space:]]*}}fence.acq_rel.gpu;
  llvm.fence syncscope("device") release
  // CHECK: {{^[[:space:]]*}}fence.acq_rel.gpu;
  llvm.fence syncscope("device") acq_rel
  // CHECK: {{^[[:space:]]*}}fence.sc.gpu;
  llvm.fence syncscope("device") seq_cst
  llvm.fence syncscope("singlethread") acquire
  llvm.fence syncscope("singlethread") release
  llvm.fence syncscope("singlethread") acq_rel
  llvm.fence syncscope("singlethread") seq_cst
  // CHECK-NOT: fence
  llvm.return
}

// Loads and stores of every width, in global, shared and generic memory.
// CHECK-LABEL: .entry accesses(
llvm.func @accesses(%g: !llvm.ptr<1>, %s: !llvm.ptr<3>, %p: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
  // CHECK: ld.relaxed.sys.global.b8
  %v0 = llvm.load %g atomic monotonic {alignment = 1 : i64} : !llvm.ptr<1> -> i8
  // CHECK: st.relaxed.sys.global.b8
  llvm.store %v0, %g atomic monotonic {alignment = 1 : i64} : i8, !llvm.ptr<1>
  // CHECK: ld.acquire.cta.shared.b16
  %v1 = llvm.load %s atomic syncscope("block") acquire {alignment = 2 : i64} : !llvm.ptr<3> -> i16
  // CHECK: st.release.cta.shared.b16
  llvm.store %v1, %s atomic syncscope("block") release {alignment = 2 : i64} : i16, !llvm.ptr<3>
  // CHECK: fence.sc.cluster;
  // CHECK: ld.acquire.cluster.b32
  %v2 = llvm.load %p atomic syncscope("cluster") seq_cst {alignment = 4 : i64} : !llvm.ptr -> i32
  // CHECK: fence.sc.cluster;
  // CHECK: st.relaxed.cluster.b32
  llvm.store %v2, %p atomic syncscope("cluster") seq_cst {alignment = 4 : i64} : i32, !llvm.ptr
  // CHECK: ld.acquire.gpu.global.b64
  %v3 = llvm.load %g atomic syncscope("device") acquire {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  // CHECK: st.release.gpu.global.b64
  llvm.store %v3, %g atomic syncscope("device") release {alignment = 8 : i64} : i64, !llvm.ptr<1>
  // CHECK: fence.sc.sys;
  // CHECK: ld.acquire.sys.shared.b16
  %v4 = llvm.load %s atomic seq_cst {alignment = 2 : i64} : !llvm.ptr<3> -> f16
  // CHECK: fence.sc.sys;
  // CHECK: st.relaxed.sys.shared.b16
  llvm.store %v4, %s atomic seq_cst {alignment = 2 : i64} : f16, !llvm.ptr<3>
  // CHECK: ld.relaxed.cta.b16
  %v5 = llvm.load %p atomic syncscope("block") monotonic {alignment = 2 : i64} : !llvm.ptr -> bf16
  // CHECK: st.relaxed.cta.b16
  llvm.store %v5, %p atomic syncscope("block") monotonic {alignment = 2 : i64} : bf16, !llvm.ptr
  // CHECK: fence.sc.cluster;
  // CHECK: ld.acquire.cluster.global.b32
  %v6 = llvm.load %g atomic syncscope("cluster") seq_cst {alignment = 4 : i64} : !llvm.ptr<1> -> f32
  // CHECK: fence.sc.cluster;
  // CHECK: st.relaxed.cluster.global.b32
  llvm.store %v6, %g atomic syncscope("cluster") seq_cst {alignment = 4 : i64} : f32, !llvm.ptr<1>
  // CHECK: ld.relaxed.gpu.shared.b64
  %v7 = llvm.load %s atomic syncscope("device") monotonic {alignment = 8 : i64} : !llvm.ptr<3> -> f64
  // CHECK: st.relaxed.gpu.shared.b64
  llvm.store %v7, %s atomic syncscope("device") monotonic {alignment = 8 : i64} : f64, !llvm.ptr<3>
  // CHECK: ld.acquire.sys.b64
  %v8 = llvm.load %p atomic acquire {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
  // CHECK: st.release.sys.b64
  llvm.store %v8, %p atomic release {alignment = 8 : i64} : !llvm.ptr, !llvm.ptr
  llvm.return
}

// Updates: one instruction where PTX has it, LLVM's own when relaxed at gpu scope, otherwise a loop.
// CHECK-LABEL: .entry updates(
llvm.func @updates(%g: !llvm.ptr<1>, %i: i32, %l: i64, %f: f32, %d: f64, %h: f16) attributes {gpu.kernel, nvvm.kernel} {
  // CHECK: atom.acq_rel.gpu.global.add.u32
  %u0 = llvm.atomicrmw add %g, %i syncscope("device") acq_rel : !llvm.ptr<1>, i32
  // CHECK: atom.acquire.sys.global.add.u64
  %u1 = llvm.atomicrmw add %g, %l acquire : !llvm.ptr<1>, i64
  // CHECK: atom.release.cta.global.add.u32
  %u2 = llvm.atomicrmw sub %g, %i syncscope("block") release : !llvm.ptr<1>, i32
  // CHECK: atom.relaxed.cluster.global.and.b32
  %u3 = llvm.atomicrmw _and %g, %i syncscope("cluster") monotonic : !llvm.ptr<1>, i32
  // CHECK: fence.sc.gpu;
  // CHECK: atom.acquire.gpu.global.or.b64
  %u4 = llvm.atomicrmw _or %g, %l syncscope("device") seq_cst : !llvm.ptr<1>, i64
  // CHECK: atom.global.xor.b32
  %u5 = llvm.atomicrmw _xor %g, %i syncscope("device") monotonic : !llvm.ptr<1>, i32
  // CHECK: atom.acq_rel.gpu.global.max.s32
  %u6 = llvm.atomicrmw max %g, %i syncscope("device") acq_rel : !llvm.ptr<1>, i32
  // CHECK: atom.acq_rel.gpu.global.min.s64
  %u7 = llvm.atomicrmw min %g, %l syncscope("device") acq_rel : !llvm.ptr<1>, i64
  // CHECK: atom.acq_rel.gpu.global.max.u32
  %u8 = llvm.atomicrmw umax %g, %i syncscope("device") acq_rel : !llvm.ptr<1>, i32
  // CHECK: atom.acq_rel.gpu.global.min.u64
  %u9 = llvm.atomicrmw umin %g, %l syncscope("device") acq_rel : !llvm.ptr<1>, i64
  // CHECK: atom.acq_rel.gpu.global.exch.b32
  %u10 = llvm.atomicrmw xchg %g, %i syncscope("device") acq_rel : !llvm.ptr<1>, i32
  // CHECK: atom.acq_rel.gpu.global.add.f32
  %u11 = llvm.atomicrmw fadd %g, %f syncscope("device") acq_rel : !llvm.ptr<1>, f32
  // CHECK: atom.release.sys.global.add.f64
  %u12 = llvm.atomicrmw fadd %g, %d release : !llvm.ptr<1>, f64
  // CHECK: atom.release.gpu.global.add.noftz.f16
  %u13 = llvm.atomicrmw fadd %g, %h syncscope("device") release : !llvm.ptr<1>, f16
  // CHECK: atom.acq_rel.gpu.global.inc.u32
  %u14 = llvm.atomicrmw uinc_wrap %g, %i syncscope("device") acq_rel : !llvm.ptr<1>, i32
  // CHECK: atom.acq_rel.gpu.global.dec.u32
  %u15 = llvm.atomicrmw udec_wrap %g, %i syncscope("device") acq_rel : !llvm.ptr<1>, i32
  // CHECK: ld.relaxed.gpu.global.b32
  // CHECK: atom.acq_rel.gpu.global.cas.b32
  %u16 = llvm.atomicrmw nand %g, %i syncscope("device") acq_rel : !llvm.ptr<1>, i32
  // CHECK: ld.relaxed.gpu.global.b32
  // CHECK: atom.release.gpu.global.cas.b32
  %u17 = llvm.atomicrmw fmax %g, %f syncscope("device") release : !llvm.ptr<1>, f32
  // CHECK: ld.relaxed.gpu.global.b16
  // CHECK: atom.relaxed.gpu.global.cas.b16
  %u18 = llvm.atomicrmw fsub %g, %h syncscope("device") monotonic : !llvm.ptr<1>, f16
  llvm.return
}

// Compare and swap: the stronger of the two orders.
// CHECK-LABEL: .entry swaps(
llvm.func @swaps(%g: !llvm.ptr<1>, %i: i32, %l: i64, %s: i16, %p: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
  // CHECK: atom.relaxed.gpu.global.cas.b32
  %c0 = llvm.cmpxchg %g, %i, %i syncscope("device") monotonic monotonic : !llvm.ptr<1>, i32
  // CHECK: atom.acq_rel.sys.global.cas.b64
  %c1 = llvm.cmpxchg %g, %l, %l release acquire : !llvm.ptr<1>, i64
  // CHECK: atom.acquire.cta.global.cas.b16
  %c2 = llvm.cmpxchg %g, %s, %s syncscope("block") acquire acquire : !llvm.ptr<1>, i16
  // CHECK: fence.sc.gpu;
  // CHECK: atom.acquire.gpu.global.cas.b64
  %c3 = llvm.cmpxchg %g, %p, %p syncscope("device") seq_cst seq_cst : !llvm.ptr<1>, !llvm.ptr
  llvm.return
}
}
