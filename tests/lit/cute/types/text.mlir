// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s

// Types whose text does not stand in quotes: aliases are known inside, spaces are those of the canonical form.
!copy = !cute_nvgpu.atom.universal_copy< f16 ,128 b >
!element = f16

// CHECK: @pointers(!cute.ptr<f16, gmem, align<16>>, !cute.memref<f16, smem, align<1024>, "(8,64):(64,1)">)
func.func private @pointers(!cute.ptr<!element, gmem,align<16>>, !cute.memref< !element , smem,
  align<1024>, "(8,64):(64,1)">)
// CHECK: @tiled(!cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;128:1]">>)
func.func private @tiled(!cute.tiled_copy<!copy, layout_copy_tv=<"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;128:1]">>)
// CHECK: @multiple(!cute.i32<divby 8>, !cute.fast_divmod_divisor<32>)
func.func private @multiple(!cute.i32<divby  8>, !cute.fast_divmod_divisor<32>)
// CHECK: @coordinates(!cute.coord_tensor<"(0,0)", "(8,8):(1@0,1@1)">, !cute.arith_tuple_iter<"(0,?)">)
func.func private @coordinates(!cute.coord_tensor<"(0,0)", "(8,8):(1@0,1@1)">, !cute.arith_tuple_iter<"(0,?)">)
// CHECK: @no_parameters(!cute_nvgpu.smem_desc)
func.func private @no_parameters(!cute_nvgpu.smem_desc)
// CHECK: attributes {x = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>}
func.func private @word() attributes {x = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>}
