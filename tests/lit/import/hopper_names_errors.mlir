// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @wait() {
  // expected-error@+1 {{'cute_nvgpu.mbarrier_wait' op expects an mbarrier, and the phase if it is not 0}}
  cute_nvgpu.mbarrier_wait
  return
}

// -----

func.func @fence(%x: i32) {
  // expected-error@+1 {{'nvvm.fence.acq_rel.cta' op expects no operands}}
  nvvm.fence.acq_rel.cta %x
  return
}

// -----

// expected-error@+1 {{expects a box of 1 to 5 extents from 1 to 256, such as 128x64xf16}}
func.func @box(%m: !cute_nvgpu.tma_load<512x64xf16>) { return }

// -----

// expected-error@+1 {{expects 128B, 64B or 32B, got 16B}}
func.func @swizzle(%m: !cute_nvgpu.tma_load<64x64xf16, 16B>) { return }

// -----

func.func @operands(%m: !cute_nvgpu.tma_load<64x64xf16>, %s: memref<64x64xf16, 3>, %b: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects a memref in shared memory and a !nvgpu.mbarrier.group after its tensor map}}
  cute_nvgpu.tma_load_execute %m, %s, %b
  return
}

// -----

func.func @coordinates(%m: !cute_nvgpu.tma_load<64x64xf16>, %s: memref<64x64xf16, 3>, %b: !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{expects 2 coordinates, but got 3}}
  cute_nvgpu.tma_load_execute %m[0, 1, 2], %s, %b
  return
}

// -----

func.func @atom(%b: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects a TMA load, coordinates, a tensor in shared memory and an mbarrier}}
  cute_nvgpu.tma_load_execute %b, %b, %b
  return
}

// -----

func.func @two(%a: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">, %b: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">, %c: !cute.memref<f32, rmem, align<32>, "((2,2,8),2,1):((1,2,4),32,0)">, %bar: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects A, B, C and an optional mbarrier, but got 2 operands}}
  cute_nvgpu.warpgroup_mma %a, %b
  return
}

// -----

func.func @no_tensor(%a: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">, %b: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">, %c: !cute.memref<f32, rmem, align<32>, "((2,2,8),2,1):((1,2,4),32,0)">, %bar: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects a tensor as B}}
  cute_nvgpu.warpgroup_mma %a, %bar, %c
  return
}

// -----

func.func @no_accumulator(%a: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">, %b: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">, %c: !cute.memref<f32, rmem, align<32>, "((2,2,8),2,1):((1,2,4),32,0)">, %bar: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects an accumulator, a tensor in registers, as C}}
  cute_nvgpu.warpgroup_mma %a, %b, %a
  return
}

// -----

func.func @no_barrier(%a: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">, %b: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">, %c: !cute.memref<f32, rmem, align<32>, "((2,2,8),2,1):((1,2,4),32,0)">, %bar: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects a pointer to an mbarrier after C}}
  cute_nvgpu.warpgroup_mma %a, %b, %c, %c
  return
}

// -----

func.func @other_tile(%a: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">, %b: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">, %c: !cute.memref<f32, rmem, align<32>, "((2,2,8),2,1):((1,2,4),32,0)">, %bar: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects the tile of its operands, 128x64x64, but got 128x128x64}}
  cute_nvgpu.warpgroup_mma %a, %b, %c : !cute_nvgpu.tiled_mma<128,128,64>
  return
}

// -----

func.func @other_sizes(%a: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">, %b: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">, %c: !cute.memref<f32, rmem, align<32>, "((2,2,8),2,1):((1,2,4),32,0)">, %bar: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects the tile of its operands, 128x64x64, but got 64x64x64}}
  nvgpu.warpgroup_mma %a, %b, %c {m = 64, n = 64, k = 64}
  return
}

// -----

func.func @other_element(%a: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">, %b: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">, %c: !cute.memref<f32, rmem, align<32>, "((2,2,8),2,1):((1,2,4),32,0)">, %bar: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects elements of A like its type, bf16, but got f16; it follows the tile: tiled_mma<128,128,64,f16>}}
  cute_nvgpu.warpgroup_mma %a, %b, %c : !cute_nvgpu.tiled_mma<128,64,64,bf16>
  return
}

// -----

func.func @no_mma(%a: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">, %b: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">, %c: !cute.memref<f32, rmem, align<32>, "((2,2,8),2,1):((1,2,4),32,0)">, %bar: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects a tiled MMA type after its operands}}
  cute_nvgpu.warpgroup_mma %a, %b, %c : i32
  return
}

// -----

func.func @accumulator_in_a(%a: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">, %b: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">, %c: !cute.memref<f32, rmem, align<32>, "((2,2,8),2,1):((1,2,4),32,0)">, %bar: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects tiles of A, (M,K), and B, (N,K), in shared memory; for other operands, write the !cute.tiled_mma of a wgmma}}
  cute_nvgpu.warpgroup_mma %c, %b, %c
  return
}

// -----

func.func @two_warpgroups(%a: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">, %b: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">, %c: !cute.memref<f32, rmem, align<32>, "((2,2,8),2,1):((1,2,4),32,0)">, %bar: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects fragments of A and B, cute.mma.make_fragment, if its type has more than one warpgroup}}
  cute_nvgpu.warpgroup_mma %a, %b, %c : !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(2,1,1):(1,0,0)">>
  return
}

// -----

func.func @no_group(%a: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">, %b: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">, %c: !cute.memref<f32, rmem, align<32>, "((2,2,8),2,1):((1,2,4),32,0)">, %bar: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects an mbarrier}}
  nvgpu.mbarrier.arrive %a, %b
  return
}

// -----

func.func @element(%a: !cute.memref<f64, smem, align<1024>, "(64,8):(8,1)">, %b: !cute.memref<f64, smem, align<1024>, "(64,8):(8,1)">, %c: !cute.memref<f32, rmem, align<32>, "((2,2,8),1,1):((1,2,4),0,0)">) {
  // expected-error@+1 {{expects operands that a wgmma supports, but there is no !cute_nvgpu.sm90.mma<64x64x4, ab_major = (k, k), elem_type = (f64, f64, f32), frag_kind = ss>}}
  cute_nvgpu.warpgroup_mma %a, %b, %c
  return
}

// -----

func.func @descriptors(%a: !nvgpu.warpgroup.descriptor<tensor = memref<128x64xf16, 3>>, %b: !nvgpu.warpgroup.descriptor<tensor = memref<64x128xf16, 3>>, %c: !nvgpu.warpgroup.accumulator<fragmented = vector<128x128xf32>>) {
  // expected-error@+1 {{expects m, n and k of its operands, 128x128x64}}
  %d = nvgpu.warpgroup_mma %a, %b, %c {m = 128, n = 64, k = 64}
  return
}

// -----

func.func @descriptors_and_barrier(%a: !nvgpu.warpgroup.descriptor<tensor = memref<128x64xf16, 3>>, %b: !nvgpu.warpgroup.descriptor<tensor = memref<64x128xf16, 3>>, %c: !nvgpu.warpgroup.accumulator<fragmented = vector<128x128xf32>>, %bar: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects descriptors of A and B and a !nvgpu.warpgroup.accumulator, and no mbarrier}}
  %d = cute_nvgpu.warpgroup_mma %a, %b, %c, %bar
  return
}

// -----

// expected-error@+1 {{expects 8x8, 16x8, 8x16 or 16x16 elements of 16 bits}}
func.func private @matrix(!nvgpu.matrix<16x32xf16>)

// -----

!load = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, tma_format = F16_RN>
func.func @place(%tma: !load, %s: !cute.memref<f16, smem, align<1024>, "(64,64):(64,1)">, %b: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects 2 coordinates, but got 3}}
  cute_nvgpu.tma_load_execute %tma[0, 1, 2], %s, %b
  return
}

// -----

!load = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, tma_format = F16_RN>
func.func @smaller(%tma: !load, %s: !cute.memref<f16, smem, align<1024>, "(64,32):(32,1)">, %b: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{'cute_nvgpu.tma_load_execute' op 'cute_nvgpu.atom.tma_partition' op expects mode 0 of both tensors to be a tile of equal size, but got 2048 in shared memory and 4096 of the tensor}}
  cute_nvgpu.tma_load_execute %tma, %s, %b
  return
}

// -----

!load = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90_multicast, f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, tma_format = F16_RN>
func.func @shared(%tma: !load, %s: !cute.memref<f16, smem, align<1024>, "(64,64):(64,1)">, %b: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects a tensor of coordinates from cute_nvgpu.atom.tma_partition after an atom with multicast}}
  cute_nvgpu.tma_load_execute %tma, %s, %b
  return
}

// -----

!load = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, tma_format = F16_RN>
func.func @in_memory(%tma: !load, %s: !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">, %b: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects a tensor in shared memory after the atom}}
  cute_nvgpu.tma_load_execute %tma, %s, %b
  return
}
