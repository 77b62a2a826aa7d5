// RUN: cute-opt %s -split-input-file -verify-diagnostics

// What the im2col mode can't do, and other choices of tensor maps, without types.

// expected-note@+1 {{%x is a}}
func.func @two_modes(%x: !cute.memref<f16, gmem, align<16>, "(?,?):(1,?{i64})">) {
  // expected-error@+1 {{expects a tensor of 3 to 5 modes: channels, width, optional height and depth, and batch, but got 2}}
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "(128,64):(64,1)") {lower = [0], upper = [0]}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @no_numbers(%x: !cute.memref<f16, gmem, align<16>, "(?,?,?):(1,?{i64},?{i64})">) {
  // expected-error@+1 {{expects lower of 1 numbers, [...], for a tensor of 3 modes, but got none}}
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "(128,64):(64,1)") {upper = [0]}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @a_number_short(%x: !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(1,?{i64},?{i64},?{i64})">) {
  // expected-error@+1 {{expects lower of 2 numbers, [...], for a tensor of 4 modes, but got 1}}
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "(128,64):(64,1)") {lower = [0], upper = [0, 0]}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @a_mode_of_modes(%x: !cute.memref<f16, gmem, align<16>, "(?,(?,4),?):(1,(?{i64},?{i64}),?{i64})">) {
  // expected-error@+1 {{expects a tensor of the modes (channels, width, batch), (channels, width, height, batch) or (channels, width, height, depth, batch), but got}}
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "(128,64):(64,1)") {lower = [0], upper = [0]}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @channels_last(%x: !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(?{i64},?{i64},?{i64},1)">) {
  // expected-error@+1 {{expects stride 1 in the mode of the tensor that is contiguous in shared memory}}
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "(128,64):(64,1)") {lower = [0, 0], upper = [0, 0]}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @pixels_first(%x: !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(1,?{i64},?{i64},?{i64})">) {
  // expected-error@+1 {{expects a tile of (pixels, channels) with at most 256 contiguous channels of a pixel, followed by those of the next pixel, for example "(128,64):(64,1)", but got "(128,64):(1,128)"}}
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "(128,64):(1,128)") {lower = [0, 0], upper = [0, 0]}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @wide_rows(%x: !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(1,?{i64},?{i64},?{i64})">) {
  // expected-error@+1 {{expects a tile of (pixels, channels) with at most 64 contiguous channels of a pixel}}
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "S<3,4,3> o 0 o (128,128):(128,1)") {lower = [0, 0], upper = [0, 0]}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @narrow_rows(%x: !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(1,?{i64},?{i64},?{i64})">) {
  // expected-error@+1 {{expects 128 bytes of a pixel, the span of the swizzle, but got 32 elements of 16 bits}}
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "S<3,4,3> o 0 o (128,32):(32,1)") {lower = [0, 0], upper = [0, 0]}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @many_pixels(%x: !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(1,?{i64},?{i64},?{i64})">) {
  // expected-error@+1 {{expects at most 1024 pixels in a tile, but got 2048}}
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "(2048,8):(8,1)") {lower = [0, 0], upper = [0, 0]}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @three_modes_of_a_tile(%x: !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(1,?{i64},?{i64},?{i64})">) {
  // expected-error@+1 {{expects a tile of (pixels, channels) whose layout is known, but got}}
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "(16,8,8):(64,8,1)") {lower = [0, 0], upper = [0, 0]}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @far_corner(%x: !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(1,?{i64},?{i64},?{i64})">) {
  // expected-error@+1 {{expects a lower corner from -128 to 127 along the height of a tensor of 4 modes, but got -129}}
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "(128,64):(64,1)") {lower = [0, -129], upper = [0, 0]}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @large_stride(%x: !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(1,?{i64},?{i64},?{i64})">) {
  // expected-error@+1 {{expects a stride from 1 to 8 along the width of a tensor of 4 modes, but got 9}}
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "(128,64):(64,1)") {lower = [0, 0], upper = [0, 0], stride = [9, 1]}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @far_filter(%x: !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(1,?{i64},?{i64},?{i64})">) {
  // expected-error@+1 {{expects offsets of the filter from 0 to 255 along the width of a tensor of 4 modes, but got 300}}
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "(128,64):(64,1)") {lower = [0, 0], upper = [0, 0], filter = [4, 1], dilation = [100, 1]}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @no_pixels(%x: !cute.memref<f16, gmem, align<16>, "(64,4,8,2):(1,64,256,2048)">) {
  // expected-error@+1 {{expects corners that leave some of the 4 pixels along mode 1, but got 2 and -3}}
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "(128,64):(64,1)") {lower = [2, 0], upper = [-3, 0]}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @odd_share(%x: !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(1,?{i64},?{i64},?{i64})">) {
  // expected-error@+1 {{expects pixels that 3 blocks can share, but the tile has 128}}
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "(128,64):(64,1)") {lower = [0, 0], upper = [0, 0], num_multicast = 3}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @a_map(%x: !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(1,?{i64},?{i64},?{i64})">) {
  // expected-error@+1 {{expects 2 operands, but got 3}}
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "(128,64):(64,1)", "(128,64):(1@0,1@1)") {lower = [0, 0], upper = [0, 0]}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @nan_of_integers(%x: !cute.memref<i32, gmem, align<16>, "(?,?,?):(1,?{i64},?{i64})">) {
  // expected-error@+1 {{expects floats of at least 16 bits to fill with NaN, but got i32}}
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "(128,32):(32,1)") {lower = [0], upper = [0], fill = nan}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @a_word(%x: !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(1,?{i64},?{i64},?{i64})">) {
  // expected-error@+1 {{expects one of "none", "64B", "128B", "256B" as l2_promotion, but got "512B"}}
  %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "(128,64):(64,1)") {lower = [0, 0], upper = [0, 0], l2_promotion = "512B"}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @interleaved_matrix(%x: !cute.memref<f16, gmem, align<16>, "(?,?):(1,?{i64})">) {
  // expected-error@+1 {{expects a tensor of at least 3 modes other than constant 1 for an interleave, but got}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%x, "(8,64):(1,8)") {interleave = "16B"}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @interleave_and_swizzle(%x: !cute.memref<f16, gmem, align<16>, "(?,?,?):(1,16,?{i64})">) {
  // expected-error@+1 {{expects a tile with the swizzle S<1,4,3> for an interleave of 32 bytes}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%x, "(16,8,4):(1,16,128)") {interleave = "32B"}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @wide_slice(%x: !cute.memref<f16, gmem, align<16>, "(?,?,?):(1,16,?{i64})">) {
  // expected-error@+1 {{expects a contiguous slice of 16 bytes in the tile, but got 16 elements of 16 bits}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%x, "(16,8,4):(1,16,128)") {interleave = "16B"}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @slice_stride(%x: !cute.memref<f16, gmem, align<16>, "(?,?,?):(1,8,?{i64})">) {
  // expected-error@+1 {{expects a stride that is a multiple of 32 bytes in mode 1 of the tensor, but got 8 elements of 16 bits}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%x, "S<1,4,3> o 0 o (16,8,4):(1,16,128)") {interleave = "32B"}
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @seven_modes(%x: !cute.memref<f16, gmem, align<16>, "(64,64,?,?,?,?,4):(64,1,?{i64},?{i64},?{i64},?{i64},4096)">) {
  // expected-error@+1 {{expects a tensor of at most 5 modes other than constant 1, but got}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%x, "(64,64):(64,1)")
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @a_group_of_odd_strides(%x: !cute.memref<f16, gmem, align<16>, "(64,64,2,3,4,5):(64,1,4096,8192,24604,98416)">) {
  // expected-error@+1 {{one dimension combines several modes only if the tile covers none of them and their strides are known multiples of 16 bytes}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%x, "(64,64):(64,1)")
  return
}

// -----

// expected-note@+1 {{%x is a}}
func.func @no_swizzle_word(%x: !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">) {
  // expected-error@+1 {{expects one of "zero", "nan" as fill, but got "one"}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%x, "(64,64):(64,1)") {fill = one}
  return
}
