// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s

!ss = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, mn), elem_type = (f16, f16, f32), frag_kind = ss>
!rs = !cute_nvgpu.sm90.mma<64x24x32, elem_type = (f8E4M3FN, f8E5M2, f16), frag_kind = rs>
!bits = !cute_nvgpu.sm90.mma<64x8x256, elem_type = (i1, i1, i32), frag_kind = ss>

// What the text leaves out is printed.
// CHECK-LABEL: func.func @types(
// CHECK-SAME: !cute_nvgpu.sm90.mma<64x24x32, ab_major = (k, k), elem_type = (f8E4M3FN, f8E5M2, f16), frag_kind = rs>
// CHECK-SAME: !cute_nvgpu.sm90.mma<64x8x256, ab_major = (k, k), elem_type = (i1, i1, i32), op = and, frag_kind = ss>
func.func @types(%a: !rs, %b: !bits) { return }

// A with S<3,4,3>, two warpgroups; B by N, four stages.
// CHECK-LABEL: func.func @shared(
func.func @shared(%a: !cute.ptr<f16, smem, align<1024>, S<3,4,3>>, %c: !cute.memref<f32, gmem, align<16>, "(128,128):(128,1)">,
                  %t: i32, %k: i32, %on: i1) {
  %atom = cute.make_atom : !ss
  %mma = cute.make_tiled_mma %atom, "(2,1,1):(1,0,0)"
  %sA = cute.make_view %a, "((8,16),(64,1),4):((64,512),(1,0),8192)"
  %sB = cute.make_view %a, "((64,2),(8,8),4):((1,4096),(64,512),8192)"
  %tA = cute.tiled.mma.partition A (%mma, %sA, %t)
  %tB = cute.tiled.mma.partition B (%mma, %sB, %t)
  // CHECK: cute.mma.make_fragment A {{.*}} -> !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,4,4):(0,0,2,1024)">
  %fA = cute.mma.make_fragment A (%mma, %tA)
  // CHECK: cute.mma.make_fragment B {{.*}} -> !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,4,4):(0,0,128,1024)">
  %fB = cute.mma.make_fragment B (%mma, %tB)
  // CHECK: cute.mma.make_fragment C {{.*}} -> !cute.memref<f32, rmem, align<256>, "((2,2,16),1,1):((1,2,4),0,0)">
  %fC = cute.tiled.mma.partition_fragment C (%mma, %c, %t)
  // CHECK: cute.get_iter(%{{.*}}) : {{.*}} -> !cute_nvgpu.smem_desc{{$}}
  %i = cute.get_iter(%fA) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,4,4):(0,0,2,1024)"> to !cute_nvgpu.smem_desc
  // CHECK: cute.get_layout{{.*}} !cute.layout<"(1,1,4,4):(0,0,2,1024)">
  %l = cute.get_layout %fA
  // CHECK: cute.add_offset(%{{.*}}) : (!cute_nvgpu.smem_desc, !cute.int_tuple<"2">) -> !cute_nvgpu.smem_desc
  %j = cute.add_offset %i, 2
  // CHECK: cute.make_view(%{{.*}}) : (!cute_nvgpu.smem_desc, !cute.layout<"(1,1,4,4):(0,0,2,1024)">) -> !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,4,4):(0,0,2,1024)">
  %v = cute.make_view %j, %l
  // CHECK: cute.group_modes{{.*}} "(1,1,(4,4)):(0,0,(2,1024))">
  %g = cute.group_modes<2, 4> %v
  // CHECK: cute_nvgpu.atom.set_value{{.*}}#cute_nvgpu.atom_mma_field_sm90<accum_c>
  %set = cute_nvgpu.atom.set_value(%mma, %on) {field = accum_c}
  cute.gemm %set, %fC, %fA[_, _, _, %k], %fB[_, _, _, %k], %fC
  return
}

// CHECK-LABEL: func.func @registers(
func.func @registers(%a: !cute.memref<f8E4M3FN, gmem, align<16>, "(64,64):(64,1)">, %t: i32) {
  %atom = cute.make_atom : !rs
  %mma = cute.make_tiled_mma %atom
  // CHECK: cute.mma.make_fragment A {{.*}} -> !cute.memref<f8E4M3FN, rmem, align<16>, "((4,2,2),1,2):((1,4,8),0,16)">
  %f = cute.tiled.mma.partition_fragment A (%mma, %a, %t)
  %stsm = cute.make_atom : !cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 2, n>
  // CHECK: cute.make_tiled_copy_C{{.*}} layout_copy_tv = <"((4,8,4),((2,2,3),(1,1))):((128,1,16),((64,8,512),(0,0)))">, tiler_mn = <"[64:1;24:1]">
  %copy = cute.make_tiled_copy_C %stsm, %mma
  return
}
