// The L2's part in cp.async: a policy, which is made once, and how many bytes it fetches; prefetch.global.L2.
// RUN: cute-ptx %s -arch sm_80 -D EVICTION=evict_first -D BYTES=128 | FileCheck %s -D#BYTES=128 -DEVICTION=evict_first
// RUN: cute-ptx %s -arch sm_90a -D EVICTION=evict_last -D BYTES=256 | FileCheck %s -D#BYTES=256 -DEVICTION=evict_last
// RUN: not cute-ptx %s -arch sm_75 -D EVICTION=evict_last -D BYTES=256 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: error: {{.*}}sm_80

// CHECK-LABEL: .entry copy(
// CHECK:         prefetch.global.L2 [%rd{{[0-9]+}}];
// CHECK:         prefetch.global.L2 [%rd{{[0-9]+}}];
// CHECK:         createpolicy.fractional.L2::[[EVICTION]].b64 [[P:%rd[0-9]+]], 1.0;
// CHECK-NOT:     createpolicy
// CHECK:         cp.async.cg.shared.global.L2::cache_hint.L2::[[#BYTES]]B [%{{r[d]?[0-9]+}}], [%rd{{[0-9]+}}], 16, [[P]];
// CHECK:         cp.async.cg.shared.global.L2::cache_hint.L2::[[#BYTES]]B [%{{r[d]?[0-9]+}}], [%rd{{[0-9]+}}], 16, [[P]];
!cp = !cute_nvgpu.atom.simt_async_copy<f32, cache = global, 128 b, l2_eviction = ${EVICTION}, l2_prefetch = ${BYTES}>
gpu.module @kernels {
  gpu.func @copy(%x: !cute.ptr<f32, gmem, align<16>>, %y: !cute.ptr<f32, gmem, align<16>>) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %b = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %p = cute.recast_iter(%b) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f32, smem, align<1024>>
    %l = cute.static "(8,32):(32,1)"
    %gX = cute.make_view(%x, %l)
    %gY = cute.make_view(%y, %l)
    %sX = cute.make_view(%p, %l)
    %atom = cute.make_atom : !cp
    %copy = cute.make_tiled_copy(%atom, "(4,8):(8,1)", "(1,4):(0,1)")
    %from = cute.tiled.copy.partition_S(%copy, %gX, %tid)
    %to = cute.tiled.copy.partition_D(%copy, %sX, %tid)
    %universal = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32, 128 b>
    cute.prefetch(%universal, %from)
    cute.copy(%copy, %from, %to)
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    nvvm.barrier0
    %out = cute.tiled.copy.partition_D(%copy, %gY, %tid)
    cute.copy(%universal, %to, %out)
    gpu.return
  }

  // CHECK-LABEL: .entry single(
  // CHECK:         createpolicy.fractional.L2::evict_unchanged.b64 [[Q:%rd[0-9]+]], 1.0;
  // CHECK:         cp.async.ca.shared.global.L2::cache_hint.L2::64B [%{{r[d]?[0-9]+}}], [%rd{{[0-9]+}}], 8, %p{{[0-9]+}}, [[Q]];
  // CHECK:         cp.async.ca.shared.global.L2::256B [%{{r[d]?[0-9]+}}], [%rd{{[0-9]+}}], 8;
  gpu.func @single(%to: !cute.ptr<i64, smem>, %from: !cute.ptr<i64, gmem>, %n: i32) kernel {
    %zero = arith.constant 0 : i32
    %p = arith.cmpi ne, %n, %zero : i32
    cute_nvgpu.arch.copy.SM80.cp_async<{cache_mode = #cute_nvgpu.load_cache_mode<always>, l2_eviction = #cute_nvgpu.l2_eviction<evict_unchanged>, l2_prefetch = 64 : i32}> (%to, %from, %p) : (!cute.ptr<i64, smem>, !cute.ptr<i64, gmem>, i1) -> ()
    cute_nvgpu.arch.copy.SM80.cp_async<{cache_mode = #cute_nvgpu.load_cache_mode<always>, l2_prefetch = 256 : i32}> (%to, %from) : (!cute.ptr<i64, smem>, !cute.ptr<i64, gmem>) -> ()
    gpu.return
  }
}
