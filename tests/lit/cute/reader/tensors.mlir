// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -o %t && cute-opt %t | FileCheck %s

// Tensors and instructions without types, attributes as words, elements instead of types.

// CHECK-LABEL: func.func @tensors(
// CHECK-SAME: %[[A0:[^:]*]]:{{[^%]*}}%[[A1:[^:]*]]:{{[^%]*}}%[[A2:[^:]*]]:{{[^%]*}}%[[A3:[^:]*]]:{{[^%]*}}%[[A4:[^:]*]]:{{[^%]*}}
func.func @tensors(%x: f32, %m: i32, %p: i1, %t: !cute.memref<f32, gmem, align<16>, "(4,8):(1,4)">, %q: !cute.ptr<f16, smem, align<16>>) {
  %s = cute_nvgpu.arch.warp_all_reduce<add>(%x)
  %s2 = cute_nvgpu.arch.warp_all_reduce<{kind = "max"}>(%x) : (f32) -> f32
  %y = cute_nvgpu.arch.shuffle<{mode = "bfly"}> (%x, %m) : (f32, i32) -> f32
  %y1 = cute_nvgpu.arch.vote<ballot> (%p) : (i1) -> i32
  cute_nvgpu.arch.fence<acq_rel, cta>
  cute_nvgpu.arch.cp_async_wait_group<0>
  cute_nvgpu.arch.cp_async_commit_group
  %i = cute.get_iter %t
  %l = cute.get_layout %t
  %v = cute.make_view %i, %l
  %tt = cute.tile %t, 2, 2
  %d0, %d1, %d2, %d3 = cute_nvgpu.arch.mma.SM80<{a_type = f16, b_type = f16, operandSegmentSizes = array<i32: 4, 2, 4>, shape_MNK = #cute.shape<"(16,8,16)">}>
        (%m, %m, %m, %m, %m, %m, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  %r = cute.recast_iter(%q) : f32
  %al = cute.static "(4,8):(1,4)"
  %a = cute.memref.alloca(%al) : f32
  cute.copy %t, %a
  %lt = cute.local_tile(%t, (2, 4), (%m, _), "(1,1)")
  // CHECK-NEXT: %[[V0:.*]] = cute.static : !cute.tile<"[2:1;4:1]">
  // CHECK-NEXT: %[[V1:.*]] = cute.make_coord(%[[A1]]) : (i32) -> !cute.coord<"(?,_)">
  // CHECK-NEXT: %[[V2:.*]] = cute.static : !cute.tile<"[2:1;2:1]">
  // CHECK-NEXT: %[[V3:.*]] = cute_nvgpu.arch.warp_all_reduce<add> (%[[A0]]) : (f32) -> f32
  // CHECK-NEXT: %[[V4:.*]] = cute_nvgpu.arch.warp_all_reduce<max> (%[[A0]]) : (f32) -> f32
  // CHECK-NEXT: %[[V5:.*]] = cute_nvgpu.arch.shuffle<bfly> (%[[A0]], %[[A1]]) : (f32, i32) -> f32
  // CHECK-NEXT: %[[V6:.*]] = cute_nvgpu.arch.vote<ballot> (%[[A2]]) : (i1) -> i32
  // CHECK-NEXT: cute_nvgpu.arch.fence<acq_rel, cta> () : () -> ()
  // CHECK-NEXT: cute_nvgpu.arch.cp_async_wait_group<0> () : () -> ()
  // CHECK-NEXT: cute_nvgpu.arch.cp_async_commit_group() : () -> ()
  // CHECK-NEXT: %[[V7:.*]] = cute.get_iter(%[[A3]]) : (!cute.memref<f32, gmem, align<16>, "(4,8):(1,4)">) -> !cute.ptr<f32, gmem, align<16>>
  // CHECK-NEXT: %[[V8:.*]] = cute.get_layout(%[[A3]]) : (!cute.memref<f32, gmem, align<16>, "(4,8):(1,4)">) -> !cute.layout<"(4,8):(1,4)">
  // CHECK-NEXT: %[[V9:.*]] = cute.make_view(%[[V7]], %[[V8]]) : (!cute.ptr<f32, gmem, align<16>>, !cute.layout<"(4,8):(1,4)">) -> !cute.memref<f32, gmem, align<16>, "(4,8):(1,4)">
  // CHECK-NEXT: %[[V10:.*]] = cute.zipped_divide(%[[A3]], %[[V2]]) : (!cute.memref<f32, gmem, align<16>, "(4,8):(1,4)">, !cute.tile<"[2:1;2:1]">) -> !cute.memref<f32, gmem, align<16>, "((2,2),(2,4)):((1,4),(2,8))">
  // CHECK-NEXT: %[[V11:.*]]:4 = cute_nvgpu.arch.mma.SM80<{operandSegmentSizes = array<i32: 4, 2, 4>, a_type = f16, b_type = f16, shape_MNK = #cute.shape<"(16,8,16)">}> (%[[A1]], %[[A1]], %[[A1]], %[[A1]], %[[A1]], %[[A1]], %[[A0]], %[[A0]], %[[A0]], %[[A0]]) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  // CHECK-NEXT: %[[V12:.*]] = cute.recast_iter(%[[A4]]) : (!cute.ptr<f16, smem, align<16>>) -> !cute.ptr<f32, smem, align<16>>
  // CHECK-NEXT: %[[V13:.*]] = cute.static : !cute.layout<"(4,8):(1,4)">
  // CHECK-NEXT: %[[V14:.*]] = cute.memref.alloca(%[[V13]]) : (!cute.layout<"(4,8):(1,4)">) -> !cute.memref<f32, rmem, align<32>, "(4,8):(1,4)">
  // CHECK-NEXT: %[[V15:.*]] = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32, 32 b>
  // CHECK-NEXT: cute.copy(%[[V15]], %[[A3]], %[[V14]]) : (!cute_nvgpu.atom.universal_copy<f32, 32 b>, !cute.memref<f32, gmem, align<16>, "(4,8):(1,4)">, !cute.memref<f32, rmem, align<32>, "(4,8):(1,4)">) -> ()
  // CHECK-NEXT: %[[V16:.*]] = cute.local_tile(%[[A3]], %[[V0]], %[[V1]], "(1,1)") : (!cute.memref<f32, gmem, align<16>, "(4,8):(1,4)">, !cute.tile<"[2:1;4:1]">, !cute.coord<"(?,_)">) -> !cute.memref<f32, gmem, align<8>, "(2,4,2):(1,4,16)">
  return
}

// A value that other lanes have is of the same type.
// CHECK-LABEL: func.func @lanes(
// CHECK-SAME: %[[X:[^:]*]]: f32, %[[I:[^:]*]]: i32)
func.func @lanes(%x: f32, %i: i32) -> f32 {
  %y = cute_nvgpu.arch.shuffle<bfly> %x, %i
  %z = cute_nvgpu.arch.warp_broadcast %y, %i
  %w = cute_nvgpu.arch.warp_broadcast(%z)
  %q = cute_nvgpu.arch.warp_all_reduce<max, 4> %w
  // CHECK-NEXT: %[[Y:.*]] = cute_nvgpu.arch.shuffle<bfly> (%[[X]], %[[I]]) : (f32, i32) -> f32
  // CHECK-NEXT: %[[Z:.*]] = cute_nvgpu.arch.warp_broadcast(%[[Y]], %[[I]]) : (f32, i32) -> f32
  // CHECK-NEXT: %[[W:.*]] = cute_nvgpu.arch.warp_broadcast(%[[Z]]) : (f32) -> f32
  // CHECK-NEXT: %{{.*}} = cute_nvgpu.arch.warp_all_reduce<max, 4> (%[[W]]) : (f32) -> f32
  return %w : f32
}
