// RUN: cute-opt %s -split-input-file -verify-diagnostics

// Instructions whose types do not fit.

func.func @dyn_smem() {
  // expected-error@+1 {{expects result to be in memory 'smem', but got 'gmem'}}
  %p = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, gmem>
  return
}

// -----

func.func @cp_async_dst(%v0: !cute.ptr<i128, gmem>, %v1: !cute.ptr<i128, gmem>) {
  // expected-error@+1 {{expects operand #0 to be in memory 'smem', but got 'gmem'}}
  cute_nvgpu.arch.copy.SM80.cp_async<{cache_mode = #cute_nvgpu.load_cache_mode<global>}>(%v0, %v1) : (!cute.ptr<i128, gmem>, !cute.ptr<i128, gmem>) -> ()
  return
}

// -----

func.func @cp_async_src(%v0: !cute.ptr<i128, smem>, %v1: !cute.ptr<i128, smem>) {
  // expected-error@+1 {{expects operand #1 to be in memory 'gmem', but got 'smem'}}
  cute_nvgpu.arch.copy.SM80.cp_async<{cache_mode = #cute_nvgpu.load_cache_mode<global>}>(%v0, %v1) : (!cute.ptr<i128, smem>, !cute.ptr<i128, smem>) -> ()
  return
}

// -----

func.func @cp_async_element(%v0: !cute.ptr<i128, smem>, %v1: !cute.ptr<i64, gmem>) {
  // expected-error@+1 {{expects operand #1 to have elements of type 'i128', but got 'i64'}}
  cute_nvgpu.arch.copy.SM80.cp_async<{cache_mode = #cute_nvgpu.load_cache_mode<global>}>(%v0, %v1) : (!cute.ptr<i128, smem>, !cute.ptr<i64, gmem>) -> ()
  return
}

// -----

func.func @cp_async_width(%v0: !cute.ptr<i16, smem>, %v1: !cute.ptr<i16, gmem>) {
  // expected-error@+1 {{expects elements of 4, 8 or 16 bytes, but got 'i16'}}
  cute_nvgpu.arch.copy.SM80.cp_async<{cache_mode = #cute_nvgpu.load_cache_mode<always>}>(%v0, %v1) : (!cute.ptr<i16, smem>, !cute.ptr<i16, gmem>) -> ()
  return
}

// -----

func.func @cp_async_align(%v0: !cute.ptr<i128, smem>, %v1: !cute.ptr<i128, gmem, align<8>>) {
  // expected-error@+1 {{expects operand #1 to be aligned to 16 bytes, but got 8}}
  cute_nvgpu.arch.copy.SM80.cp_async<{cache_mode = #cute_nvgpu.load_cache_mode<always>}>(%v0, %v1) : (!cute.ptr<i128, smem>, !cute.ptr<i128, gmem, align<8>>) -> ()
  return
}

// -----

func.func @cp_async_global(%v0: !cute.ptr<i64, smem>, %v1: !cute.ptr<i64, gmem>) {
  // expected-error@+1 {{expects 16 bytes with cache mode 'global', but got 8}}
  cute_nvgpu.arch.copy.SM80.cp_async<{cache_mode = #cute_nvgpu.load_cache_mode<global>}>(%v0, %v1) : (!cute.ptr<i64, smem>, !cute.ptr<i64, gmem>) -> ()
  return
}

// -----

func.func @cp_async_mode(%v0: !cute.ptr<i64, smem>, %v1: !cute.ptr<i64, gmem>) {
  // expected-error@+1 {{expected one of always, global in '#cute_nvgpu.load_cache_mode', got 'never'}}
  cute_nvgpu.arch.copy.SM80.cp_async<{cache_mode = #cute_nvgpu.load_cache_mode<never>}>(%v0, %v1) : (!cute.ptr<i64, smem>, !cute.ptr<i64, gmem>) -> ()
  return
}

// -----

func.func @ldsm_space(%v0: !cute.ptr<f16, gmem, align<16>>) {
  // expected-error@+1 {{expects operand #0 to be in memory 'smem', but got 'gmem'}}
  %r = cute_nvgpu.arch.copy.ldsm<{matrix_shape = #cute.shape<"(8,8)">, num_matrices = 4 : i32, sz_pattern = #cute_nvgpu.ldsm_sz_pattern<u16>}>(%v0) : (!cute.ptr<f16, gmem, align<16>>) -> vector<4xi32>
  return
}

// -----

func.func @ldsm_align(%v0: !cute.ptr<f16, smem, align<8>>) {
  // expected-error@+1 {{expects a pointer aligned to 16 bytes, a row of a matrix, but got 8}}
  %r = cute_nvgpu.arch.copy.ldsm<{matrix_shape = #cute.shape<"(8,8)">, num_matrices = 4 : i32, sz_pattern = #cute_nvgpu.ldsm_sz_pattern<u16>}>(%v0) : (!cute.ptr<f16, smem, align<8>>) -> vector<4xi32>
  return
}

// -----

func.func @ldsm_matrices(%v0: !cute.ptr<f16, smem, align<16>>) {
  // expected-error@+1 {{expects 1, 2 or 4 matrices, but got 3}}
  %r = cute_nvgpu.arch.copy.ldsm<{matrix_shape = #cute.shape<"(8,8)">, num_matrices = 3 : i32, sz_pattern = #cute_nvgpu.ldsm_sz_pattern<u16>}>(%v0) : (!cute.ptr<f16, smem, align<16>>) -> vector<3xi32>
  return
}

// -----

func.func @ldsm_registers(%v0: !cute.ptr<f16, smem, align<16>>) {
  // expected-error@+1 {{expects a vector of 4 registers, one of each matrix, but got 2}}
  %r = cute_nvgpu.arch.copy.ldsm<{matrix_shape = #cute.shape<"(8,8)">, num_matrices = 4 : i32, sz_pattern = #cute_nvgpu.ldsm_sz_pattern<u16>}>(%v0) : (!cute.ptr<f16, smem, align<16>>) -> vector<2xi32>
  return
}

// -----

func.func @mma_shape(%v0: i32, %v1: i32, %v2: i32, %v3: i32, %v4: i32, %v5: i32, %v6: f32, %v7: f32, %v8: f32, %v9: f32) {
  // expected-error@+1 {{17x8x16}}
  %r0, %r1, %r2, %r3 = cute_nvgpu.arch.mma.SM80<{a_type = f16, b_type = f16, operandSegmentSizes = array<i32: 4, 2, 4>, shape_MNK = #cute.shape<"(17,8,16)">}>(%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7, %v8, %v9) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return
}

// -----

func.func @mma_rank(%v0: i32, %v1: i32, %v2: i32, %v3: i32, %v4: i32, %v5: i32, %v6: f32, %v7: f32, %v8: f32, %v9: f32) {
  // expected-error@+1 {{expects shape_MNK of three numbers and registers of D}}
  %r0, %r1, %r2, %r3 = cute_nvgpu.arch.mma.SM80<{a_type = f16, b_type = f16, operandSegmentSizes = array<i32: 4, 2, 4>, shape_MNK = #cute.shape<"(16,8)">}>(%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7, %v8, %v9) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return
}

// -----

func.func @mma_count(%v0: i32, %v1: i32, %v2: i32, %v3: i32, %v4: i32, %v5: f32, %v6: f32, %v7: f32, %v8: f32) {
  // expected-error@+1 {{expects 4 registers of A, but got 3}}
  %r0, %r1, %r2, %r3 = cute_nvgpu.arch.mma.SM80<{a_type = f16, b_type = f16, operandSegmentSizes = array<i32: 3, 2, 4>, shape_MNK = #cute.shape<"(16,8,16)">}>(%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7, %v8) : (i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return
}

// -----

func.func @mma_width(%v0: i64, %v1: i64, %v2: i64, %v3: i64, %v4: i64, %v5: i64, %v6: f32, %v7: f32, %v8: f32, %v9: f32) {
  // expected-error@+1 {{expects registers of A of 32 bits, but got 64}}
  %r0, %r1, %r2, %r3 = cute_nvgpu.arch.mma.SM80<{a_type = f16, b_type = f16, operandSegmentSizes = array<i32: 4, 2, 4>, shape_MNK = #cute.shape<"(16,8,16)">}>(%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7, %v8, %v9) : (i64, i64, i64, i64, i64, i64, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return
}

// -----

func.func @mma_result(%v0: i32, %v1: i32, %v2: i32, %v3: i32, %v4: i32, %v5: i32, %v6: f32, %v7: f32, %v8: f32, %v9: f32) {
  // expected-error@+1 {{expects 4 registers of D, but got 2}}
  %r0, %r1 = cute_nvgpu.arch.mma.SM80<{a_type = f16, b_type = f16, operandSegmentSizes = array<i32: 4, 2, 4>, shape_MNK = #cute.shape<"(16,8,16)">}>(%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7, %v8, %v9) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32)
  return
}

// -----

func.func @field_value(%v0: !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, %v1: i32) {
  // expected-error@+1 {{expects an i1 as the field 'accum_c'}}
  %r = cute_nvgpu.atom.set_value<{field = #cute_nvgpu.atom_mma_field_sm90<accum_c>}>(%v0, %v1) : (!cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, i32) -> !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
  return
}

// -----

func.func @field_atom(%v0: !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, %v1: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects an atom with the field 'tma_bar', but got 'sm90.mma'}}
  %r = cute_nvgpu.atom.set_value<{field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>}>(%v0, %v1) : (!cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, !cute.ptr<i64, smem>) -> !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
  return
}

// -----

func.func @field_result(%v0: !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, %v1: i1) {
  // expected-error@+1 {{expects a result of its atom's type}}
  %r = cute_nvgpu.atom.set_value<{field = #cute_nvgpu.atom_mma_field_sm90<accum_c>}>(%v0, %v1) : (!cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, i1) -> !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
  return
}

// -----

func.func @exec_kind(%v0: !cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 32768, tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">, tma_format = F16_RN>) {
  // expected-error@+1 {{expects a result of '!cute_nvgpu.atom.tma_store<f16, copy_bits = 32768}}
  %r = cute_nvgpu.atom.make_exec_tma(%v0) : (!cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 32768, tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">, tma_format = F16_RN>) -> !cute_nvgpu.atom.tma_load<f16, copy_bits = 32768, mode = tiled, num_cta = 1, g_stride = <"()"> tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">>
  return
}

// -----

func.func @exec_element(%v0: !cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 32768, tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">, tma_format = F16_RN>) {
  // expected-error@+1 {{but got '!cute_nvgpu.atom.tma_store<bf16, copy_bits = 32768}}
  %r = cute_nvgpu.atom.make_exec_tma(%v0) : (!cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 32768, tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">, tma_format = F16_RN>) -> !cute_nvgpu.atom.tma_store<bf16, copy_bits = 32768, mode = tiled, g_stride = <"()"> tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">>
  return
}

// -----

func.func @exec_bits(%v0: !cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 32768, tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">, tma_format = F16_RN>) {
  // expected-error@+1 {{expected copy_bits = 32768, the bits of the box in tma_gbasis, got 16384}}
  %r = cute_nvgpu.atom.make_exec_tma(%v0) : (!cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 32768, tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">, tma_format = F16_RN>) -> !cute_nvgpu.atom.tma_store<f16, copy_bits = 16384, mode = tiled, g_stride = <"()"> tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">>
  return
}

// -----

func.func @exec_basis(%v0: !cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 32768, tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">, tma_format = F16_RN>) {
  // expected-error@+1 {{expected copy_bits = 16384, the bits of the box in tma_gbasis, got 32768}}
  %r = cute_nvgpu.atom.make_exec_tma(%v0) : (!cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 32768, tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">, tma_format = F16_RN>) -> !cute_nvgpu.atom.tma_store<f16, copy_bits = 32768, mode = tiled, g_stride = <"()"> tma_gbasis = <"(32,32,1):(1@1,1@0,1@2)">>
  return
}

// -----

func.func @tma_space(%v0: !cute.memref<f16, smem, align<16>, "(?,?,?):(?{i64},1,?{i64})">, %v1: !cute.composed_layout<"S<2,4,3> o 0 o ((8,8),(32,1)):((32,256),(1,0))">, %v2: !cute.layout<"(64,32):(1@0,1@1)">) {
  // expected-error@+1 {{expects a tensor in gmem, but got a tensor in smem}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_store(%v0, %v1, %v2) : (!cute.memref<f16, smem, align<16>, "(?,?,?):(?{i64},1,?{i64})">, !cute.composed_layout<"S<2,4,3> o 0 o ((8,8),(32,1)):((32,256),(1,0))">, !cute.layout<"(64,32):(1@0,1@1)">) -> (!cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 32768, tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0,0)", "(?,?,?):(1@1,1@0,1@2)">)
  return
}

// -----

func.func @tma_element(%v0: !cute.memref<bf16, gmem, align<16>, "(?,?,?):(?{i64},1,?{i64})">, %v1: !cute.composed_layout<"S<2,4,3> o 0 o ((8,8),(32,1)):((32,256),(1,0))">, %v2: !cute.layout<"(64,32):(1@0,1@1)">) {
  // expected-error@+1 {{but got '!cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 32768}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_store(%v0, %v1, %v2) : (!cute.memref<bf16, gmem, align<16>, "(?,?,?):(?{i64},1,?{i64})">, !cute.composed_layout<"S<2,4,3> o 0 o ((8,8),(32,1)):((32,256),(1,0))">, !cute.layout<"(64,32):(1@0,1@1)">) -> (!cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 32768, tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0,0)", "(?,?,?):(1@1,1@0,1@2)">)
  return
}

// -----

func.func @tma_coords(%v0: !cute.memref<f16, gmem, align<16>, "(?,?,?):(?{i64},1,?{i64})">, %v1: !cute.composed_layout<"S<2,4,3> o 0 o ((8,8),(32,1)):((32,256),(1,0))">, %v2: !cute.layout<"(64,32):(1@0,1@1)">) {
  // expected-error@+1 {{expects result #1 to be the coordinates "(?,?,?):(1@1,1@0,1@2)", but got}}
  %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_store(%v0, %v1, %v2) : (!cute.memref<f16, gmem, align<16>, "(?,?,?):(?{i64},1,?{i64})">, !cute.composed_layout<"S<2,4,3> o 0 o ((8,8),(32,1)):((32,256),(1,0))">, !cute.layout<"(64,32):(1@0,1@1)">) -> (!cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 32768, tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">)
  return
}

// -----

func.func @partition_size(%v0: !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>, %v1: !cute.coord<"0">, %v2: !cute.layout<"(1):(0)">, %v3: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(((8,16),(64,1)),(1,7)):(((64,512),(1,0)),(0,8192))">, %v4: !cute.coord_tensor<"(0,?{div=128},?)", "((128,64),?):((1@1,1@0),64@0)">) {
  // expected-error@+1 {{expects result #0 with the layout}}
  %s, %c = cute_nvgpu.atom.tma_partition(%v0, %v1, %v2, %v3, %v4) : (!cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>, !cute.coord<"0">, !cute.layout<"(1):(0)">, !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(((8,16),(64,1)),(1,7)):(((64,512),(1,0)),(0,8192))">, !cute.coord_tensor<"(0,?{div=128},?)", "((128,64),?):((1@1,1@0),64@0)">) -> (!cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8192,1),(1,1)):((1,0),(0,8192))">, !cute.coord_tensor<"(0,?{div=128},?)", "(((64,128),1),?):(((1@0,1@1),0),64@0)">)
  return
}

// -----

func.func @desc_space(%v0: !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>, %v1: !cute.ptr<i64, gmem>) {
  // expected-error@+1 {{expects the descriptor to be in memory 'smem', but got 'gmem'}}
  cute_nvgpu.copy_tma_desc(%v0, %v1) : (!cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>, !cute.ptr<i64, gmem>) -> ()
  return
}

// -----

func.func @tmem_copy(%v0: !cute_nvgpu.atom.tmem_load<f32, 32 DP, 32 bit, x128>, %v1: !cute.memref<f32, tmem, align<16>, "(128,128):(65536,1)">) {
  // expected-error@+1 {{expects a result of its operand's atom}}
  %r = cute_nvgpu.atom.make_tmem_copy(%v0, %v1) : (!cute_nvgpu.atom.tmem_load<f32, 32 DP, 32 bit, x128>, !cute.memref<f32, tmem, align<16>, "(128,128):(65536,1)">) -> !cute.tiled_copy<!cute_nvgpu.atom.tmem_load<f32, 32 DP, 32 bit, x64>, layout_copy_tv = <"((32,4),(128,32)):((0,1),(128,4))">, tiler_mn = <"[(4,32):(32,1);128:1]">>
  return
}

// -----

func.func @tmem_space(%v0: !cute_nvgpu.atom.tmem_load<f32, 32 DP, 32 bit, x128>, %v1: !cute.memref<f32, smem, align<16>, "(128,128):(128,1)">) {
  // expected-error@+1 {{expects operand #1 to be in memory 'tmem', but got 'smem'}}
  %r = cute_nvgpu.atom.make_tmem_copy(%v0, %v1) : (!cute_nvgpu.atom.tmem_load<f32, 32 DP, 32 bit, x128>, !cute.memref<f32, smem, align<16>, "(128,128):(128,1)">) -> !cute.tiled_copy<!cute_nvgpu.atom.tmem_load<f32, 32 DP, 32 bit, x128>, layout_copy_tv = <"((32,4),(128,32)):((0,1),(128,4))">, tiler_mn = <"[(4,32):(32,1);128:1]">>
  return
}

// -----

func.func @alloc_tmem(%v0: i32, %v1: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects operand #1 to have elements of type 'i32', but got 'i64'}}
  cute_nvgpu.arch.sm100.alloc_tmem(%v0, %v1) [cta_1] : (i32, !cute.ptr<i64, smem>) -> ()
  return
}

// -----

func.func @vote_of_all(%p: i1) {
  // expected-error@+1 {{expects the result of 'all' to be an i1, but got an i32}}
  %r = cute_nvgpu.arch.vote<{kind = "all"}> (%p) : (i1) -> i32
  return
}

// -----

// expected-note@+1 {{%p is a 'i1'}}
func.func @vote_without_kind(%p: i1) {
  // expected-error@+1 {{expects its kind: all, any, uni or ballot}}
  %r = cute_nvgpu.arch.vote(%p)
  return
}

// -----

func.func @broadcast(%x: f32, %lane: i32) {
  // expected-error@+1 {{failed to verify that all of {value, result} have same type}}
  %r = cute_nvgpu.arch.warp_broadcast(%x, %lane) : (f32, i32) -> i32
  return
}

// -----

// expected-note@+1 {{%p is a}}
func.func @three_matrices(%p: !cute.ptr<f16, smem, align<16>>) {
  // expected-error@+1 {{expects 1, 2 or 4 as num_matrices}}
  %r = cute_nvgpu.arch.copy.ldsm<{matrix_shape = #cute.shape<"(8,8)">, num_matrices = 3 : i32, sz_pattern = #cute_nvgpu.ldsm_sz_pattern<u16>}>(%p)
  return
}

// -----

func.func @f(%v0: !cute.ptr<i64, smem>, %v1: !cute.ptr<i64, gmem>) {
  // expected-error@+1 {{expects to fetch 64, 128 or 256 bytes into the L2, but got 32}}
  cute_nvgpu.arch.copy.SM80.cp_async<{cache_mode = #cute_nvgpu.load_cache_mode<always>, l2_prefetch = 32 : i32}>(%v0, %v1) : (!cute.ptr<i64, smem>, !cute.ptr<i64, gmem>) -> ()
  return
}

// -----

func.func @f(%v0: !cute.ptr<i64, smem>, %v1: !cute.ptr<i64, gmem>) {
  // expected-error@+1 {{expected one of evict_first, evict_last, evict_normal, evict_unchanged in '#cute_nvgpu.l2_eviction', got 'no_allocate'}}
  cute_nvgpu.arch.copy.SM80.cp_async<{cache_mode = #cute_nvgpu.load_cache_mode<always>, l2_eviction = #cute_nvgpu.l2_eviction<no_allocate>}>(%v0, %v1) : (!cute.ptr<i64, smem>, !cute.ptr<i64, gmem>) -> ()
  return
}

// -----

// expected-error@+1 {{cp.async.cg.shared.global fetches 64, 128 or 256 bytes into the L2, not 100}}
func.func private @g(!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b, l2_prefetch = 100>)

// -----

// expected-error@+1 {{expected one of evict_first evict_last evict_normal evict_unchanged, got "no_allocate"}}
func.func private @g(!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b, l2_eviction = no_allocate>)

// -----

// expected-error@+1 {{expected one of tma_descriptor_ptr, tma_bar, mcast_mask, cache_policy in '#cute_nvgpu.atom_copy_field_tmaload', got 'accum_c'}}
func.func private @g() attributes {a = #cute_nvgpu.atom_copy_field_tmaload<accum_c>}

// -----

// expected-error@+1 {{in '#cute_nvgpu.tma_data_format', got 'F17_RN'}}
func.func private @g() attributes {a = #cute_nvgpu.tma_data_format<F17_RN>}

// -----

// expected-error@+1 {{expected one of u16, }}
func.func private @g() attributes {a = #cute_nvgpu.ldsm_sz_pattern<u17>}

// -----

func.func @three_lanes(%x: f32) {
  // expected-error@+1 {{attribute 'lanes' failed to satisfy constraint: 32-bit signless integer attribute whose value is 2, 4, 8, 16 or 32}}
  %r = cute_nvgpu.arch.warp_all_reduce<{kind = "max", lanes = 3 : i32}> (%x) : (f32) -> f32
  return
}

// -----

gpu.module @sm_count {
  gpu.func @k() kernel {
    // expected-error@+1 {{expects to be in a function of the host, not in a kernel}}
    %n = cute_nvgpu.host.sm_count() : () -> i32
    gpu.return
  }
}
