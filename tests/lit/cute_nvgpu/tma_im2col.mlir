// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s -cute-nvgpu-tma-materialize | FileCheck %s --check-prefix=HOST

// Atoms of the im2col mode and their coordinates follow from a tensor, a tile and a box of pixels.
!X = !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(1,?{i64},?{i64},?{i64})">

// CHECK-LABEL: func.func @image
// HOST-LABEL: func.func @image
func.func @image(%x: !X) {
  // CHECK: -> (!cute_nvgpu.atom.non_exec_im2col_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1,1):(1@0,1@1,1@2,1@3)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,-1,-1,0,0,0)", "((?,?,?),(?,3,3)):((1@1,1@2,1@3),(1@0,1@4,1@5))">)
  // HOST: cute_nvgpu.host.tensor_map<{box = array<i64: 64, 128>, format = "F16_RN", lower = array<i64: -1, -1>, modes = array<i64: 0, 1, 2, 3>, stride = array<i64: 1, 1>, swizzle = 3 : i32, tensor = "x", upper = array<i64: -1, -1>}>
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "S<3,4,3> o 0 o (128,64):(64,1)") {lower = [-1, -1], upper = [-1, -1], filter = [3, 3]}
  // CHECK: cute_nvgpu.atom.make_exec_tma{{.*}} -> !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, mode = im2col, num_cta = 1
  %e = cute_nvgpu.atom.make_exec_tma %a
  return
}

// Strides count positions of the box, dilations those of the filter; of known extents so are positions.
// CHECK-LABEL: func.func @known
func.func @known(%x: !cute.memref<f32, gmem, align<16>, "(32,20,11,4):(1,32,640,7040)">) {
  // CHECK: non_exec_im2col_tma_load<sm_90_multicast, f32, copy_bits = 65536, tma_gbasis = <"(32,64,1,1):(1@0,1@1,1@2,1@3)">
  // CHECK-SAME: !cute.coord_tensor<"(0,-2,0,0,0,0)", "((10,3,4),(32,5,2)):((2@1,3@2,1@3),(1@0,1@4,2@5))">
  // HOST: box = array<i64: 32, 32>{{.*}}l2_promotion = "256B"{{.*}}stride = array<i64: 2, 3>
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "S<3,4,3> o 0 o (64,32):(32,1)")
    {lower = [-2, 0], upper = [-2, -2], stride = [2, 3], filter = [5, 2], dilation = [1, 2], num_multicast = 2, l2_promotion = "256B"}
  return
}

// CHECK-LABEL: func.func @line_and_volume
func.func @line_and_volume(%x: !cute.memref<i8, gmem, align<16>, "(?,?,?):(1,?{i64},?{i64})">, %y: !cute.memref<bf16, gmem, align<16>, "(64,9,8,7,?):(1,64,576,4608,32256)">) {
  // CHECK: non_exec_im2col_tma_load<sm_90, i8, {{.*}}"(128,32,1):(1@0,1@1,1@2)">{{.*}}!cute.coord_tensor<"(0,0,0,0)", "((?,?),(?,7)):((1@1,1@2),(1@0,1@3))">
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "S<3,4,3> o 0 o (32,128):(128,1)") {lower = [0], upper = [-6], filter = [7]}
  // CHECK: non_exec_im2col_tma_load<sm_90, bf16, {{.*}}"(64,32,1,1,(1)):(1@0,1@1,1@2,1@3,(1@4))">{{.*}}!cute.coord_tensor<"(0,-1,-1,-1,0,0,0,0)", "((9,8,7,?),(64,3,3,3)):((1@1,1@2,1@3,1@4),(1@0,1@5,1@6,1@7))">
  // HOST: fill = "nan"
  %d, %e = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%y, "S<3,4,3> o 0 o (32,64):(64,1)") {lower = [-1, -1, -1], upper = [-1, -1, -1], filter = [3, 3, 3], fill = nan}
  return
}

// Stores have no filter.
// CHECK-LABEL: func.func @stores
func.func @stores(%x: !X) {
  // CHECK: non_exec_im2col_tma_store<f16, copy_bits = 32768, tma_gbasis = <"(64,32,1,1):(1@0,1@1,1@2,1@3)">{{.*}}!cute.coord_tensor<"(0,0,1,0)", "((?,?,?),?):((1@1,1@2,1@3),1@0)">
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_store(%x, "(32,64):(64,1)") {lower = [0, 1], upper = [0, 0]}
  // CHECK: non_exec_im2col_tma_reduce<MAX, f16
  %d, %e = cute_nvgpu.atom.make_non_exec_im2col_tma_reduce(%x, "(32,64):(64,1)") {lower = [0, 1], upper = [0, 0], kind = MAX}
  // CHECK: cute_nvgpu.atom.make_exec_tma{{.*}} -> !cute_nvgpu.atom.tma_reduce<f16, copy_bits = 32768, mode = im2col, kind = MAX
  %f = cute_nvgpu.atom.make_exec_tma %d
  return
}
