// RUN: cute-opt %s -cute-nvgpu-copy-lowering | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s --check-prefix=SAME

// A tensor map is copied into shared memory by one thread, and changed there by an elected lane: address, extents, and strides in
// bytes of the dimensions, of which the first one's is 1.
!S = !cute.ptr<i64, smem, align<128>>
!G = !cute.ptr<i64, gmem, align<128>>
!atom = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>

// CHECK-LABEL: func.func @copy
func.func @copy(%a: !atom, %s: !S) {
  // CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
  // CHECK-NOT: copy_tma_desc
  cute_nvgpu.copy_tma_desc %a, %s
  return
}

// CHECK-LABEL: func.func @update
// SAME-LABEL: func.func @update
func.func @update(%a: !atom, %s: !S, %t: !cute.memref<f16, gmem, align<16>, "(?,64,?):(?{i64},1,4096)">) {
  // CHECK-DAG: %[[N:.*]] = arith.constant 64 : i32
  // CHECK-DAG: %[[L:.*]] = arith.constant 8192 : i64
  // CHECK: llvm.inline_asm has_side_effects "{\0A.reg .pred elected;\0Aelect.sync _|elected, 0xffffffff;\0A@elected tensormap.replace.tile.global_address.shared::cta.b1024.b64 [$0], $1;\0A
  // CHECK-SAME: @elected tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [$0], 0, $2;\0A
  // CHECK-SAME: @elected tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [$0], 1, $3;\0A
  // CHECK-SAME: @elected tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [$0], 0, $4;\0A
  // CHECK-SAME: @elected tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [$0], 2, $5;\0A
  // CHECK-SAME: @elected tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [$0], 1, $6;\0A}", "r,l,r,r,l,r,l,~{memory}"
  // SAME: cute_nvgpu.update_tma_desc
  cute_nvgpu.update_tma_desc %a, %t, %s
  return
}

// SAME-LABEL: func.func @release
func.func @release(%g: !G, %s: !S) {
  // SAME: cute_nvgpu.arch.cp_fence_tma_desc_release<gpu> (%{{.*}}, %{{.*}}) : (!cute.ptr<i64, gmem, align<128>>, !cute.ptr<i64, smem, align<128>>) -> ()
  cute_nvgpu.arch.cp_fence_tma_desc_release<{scope = "gpu"}> %g, %s
  // SAME: cute.recast_iter({{.*}}) : (!cute.ptr<i64, gmem, align<128>>) -> !cute.ptr<!cute_nvgpu.tma_descriptor_tiled, gmem, align<128>>
  %d = cute.recast_iter %g : !cute_nvgpu.tma_descriptor_tiled
  return
}
