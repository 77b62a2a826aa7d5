// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -o %t && cute-opt %t | FileCheck %s

// The custom form that CuTe DSL prints: attributes behind the operands, results or operands alone behind the colon.

// CHECK-LABEL: func.func @forms(
func.func @forms(%t: !cute.memref<f16, gmem, align<16>, "(8,?):(1,8)">, %s: !cute.shape<"(4,?)">, %l: !cute.layout<"(4,8):(1,4)">,
                 %i: i32, %d: !cute.fast_divmod_divisor<32>, %z: !cute.layout<"(1,1):(0,0)">, %tile: !cute.tile<"[2:1]">,
                 %m: !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(0,0,0)">>,
                 %v: vector<8xf16>, %r: !cute.memref<f16, rmem, align<32>, "8:1">) {
  // CHECK-NEXT: cute.get_iter(%{{.*}}) : (!cute.memref<f16, gmem, align<16>, "(8,?):(1,8)">) -> !cute.ptr<f16, gmem, align<16>>
  %iter = cute.get_iter(%t) : !cute.memref<f16, gmem, align<16>, "(8,?):(1,8)">
  // CHECK-NEXT: cute.get_leaves(%{{.*}}) : !cute.shape<"(4,?)">
  %e0, %e1 = cute.get_leaves(%s) : !cute.shape<"(4,?)">
  // CHECK-NEXT: cute.size<[1]> (%{{.*}}) : (!cute.memref<f16, gmem, align<16>, "(8,?):(1,8)">) -> !cute.int_tuple<"?">
  %sz = cute.size(%t) <{mode = [1]}> : (!cute.memref<f16, gmem, align<16>, "(8,?):(1,8)">) -> !cute.int_tuple<"?">
  // CHECK-NEXT: cute.group_modes<0, 2> (%{{.*}}) : (!cute.layout<"(4,8):(1,4)">) -> !cute.layout<"((4,8)):((1,4))">
  %g = cute.group_modes(%l) <0, 2> : (!cute.layout<"(4,8):(1,4)">) -> !cute.layout<"((4,8)):((1,4))">
  // CHECK-NEXT: cute.make_identity_layout(%{{.*}}) : !cute.shape<"(4,?)"> -> !cute.layout<"(4,?):(1@0,1@1)">
  %id = cute.make_identity_layout(%s) : !cute.layout<"(4,?):(1@0,1@1)">
  // CHECK-NEXT: cute.make_view(%{{.*}}, %{{.*}}) : (!cute.ptr<f16, gmem, align<16>>, !cute.layout<"(4,8):(1,4)">) -> !cute.memref<f16, gmem, align<16>, "(4,8):(1,4)">
  %view = cute.make_view(%iter, %l) : !cute.memref<f16, gmem, align<16>, "(4,8):(1,4)">
  // CHECK-NEXT: cute.make_layout_like(%{{.*}}) : !cute.layout<"(4,8):(1,4)"> -> !cute.layout<"(4,8):(1,4)">
  %like = cute.make_layout_like(%l) : !cute.layout<"(4,8):(1,4)"> to !cute.layout<"(4,8):(1,4)">
  // CHECK-NEXT: cute.tiled_divide({{.*}}) -> !cute.layout<"((2),1,1):((0),0,0)">
  %div = cute.tiled_divide(%z, %tile) : !cute.layout<"(1,1):(0,0)">, !cute.tile<"[2:1]">
  // CHECK-NEXT: cute.fast_divmod.compute({{.*}}) : (i32, !cute.fast_divmod_divisor<32>) -> (i32, i32)
  %q, %rem = cute.fast_divmod.compute(%i, %d) : i32, !cute.fast_divmod_divisor<32> -> i32
  // CHECK-NEXT: cute.static
  // CHECK-NEXT: cute.tiled.mma.partition_shape C (%{{.*}}, %{{.*}}) : ({{.*}}, !cute.shape<"(16,8)">) -> !cute.shape<"((2,2),1,1)">
  %sh = cute.static : !cute.shape<"(16,8)">
  %p = cute.tiled.mma.partition_shape C (%m, %sh) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(0,0,0)">>, !cute.shape<"(16,8)">) -> !cute.shape<"((2,2),1,1)">
  // CHECK: cute.memref.store_vec(%{{.*}}, %{{.*}}) : (vector<8xf16>, !cute.memref<f16, rmem, align<32>, "8:1">) -> ()
  cute.memref.store_vec %v, %r : !cute.memref<f16, rmem, align<32>, "8:1">
  // CHECK-NEXT: cute.static
  // CHECK-NEXT: cute.tuple_product(%{{.*}}) : (!cute.int_tuple<"(2,3)">) -> !cute.int_tuple<"6">
  %six = cute.make_int_tuple(2, 3)
  %pr = cute.tuple.product(%six) : (!cute.int_tuple<"(2,3)">) -> !cute.int_tuple<"6">
  // CHECK-NEXT: cute.print_view<{is_signed = true, verbose = false}> (%{{.*}}) : !cute.memref<f16, gmem, align<16>, "(8,?):(1,8)">
  cute.print_view(%t) {is_signed = true, verbose = false} : !cute.memref<f16, gmem, align<16>, "(8,?):(1,8)">
  // CHECK-NEXT: cute_nvgpu.arch.make_warp_uniform
  %u = cute_nvgpu.arch.make_warp_uniform(%i) : i32
  // CHECK-NEXT: cute_nvgpu.arch.sm100.relinquish_tmem_alloc_permit() [cta_2]
  cute_nvgpu.arch.sm100.relinquish_tmem_alloc_permit [cta_2]
  return
}
