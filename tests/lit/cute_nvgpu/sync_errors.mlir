// RUN: cute-opt %s -split-input-file -verify-diagnostics

// mbarriers, clusters, fences whose operands do not fit.

func.func @space(%b: !cute.ptr<i64, gmem>, %n: i32) {
  // expected-error@+1 {{'cute_nvgpu.arch.mbarrier_init' op expects operand #0 to be in memory space 'smem', but got 'gmem'}}
  cute_nvgpu.arch.mbarrier_init %b, %n
  return
}

// -----

func.func @element(%b: !cute.ptr<i32, smem, align<8>>) {
  // expected-error@+1 {{expects operand #0 to be an mbarrier, a pointer to i64, but got a pointer to 'i32'}}
  cute_nvgpu.arch.mbarrier_arrive %b
  return
}

// -----

func.func @align(%b: !cute.ptr<i64, smem, align<4>>, %p: i32) {
  // expected-error@+1 {{expects operand #0 to be aligned to 8 bytes, but got 4}}
  cute_nvgpu.arch.mbarrier_wait %b, %p
  return
}

// -----

func.func @swizzle(%b: !cute.ptr<i64, smem, align<1024>, S<3,4,3>>, %p: i32) {
  // expected-error@+1 {{expects operand #0 to be a pointer without a swizzle}}
  %d = cute_nvgpu.arch.mbarrier_try_wait %b, %p
  return
}

// -----

func.func @second(%c: i1, %b: !cute.ptr<i64, gmem>, %p: i32) {
  // expected-error@+1 {{expects operand #1 to be in memory space 'smem', but got 'gmem'}}
  %d = cute_nvgpu.arch.mbarrier_conditional_try_wait %c, %b, %p
  return
}

// -----

func.func @count(%b: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects a count from 1 to 1048575, but got 0}}
  cute_nvgpu.arch.mbarrier_arrive<0> %b
  return
}

// -----

func.func @operands(%b: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{'cute_nvgpu.arch.mbarrier_wait' op expected 2 operands, but found 1}}
  cute_nvgpu.arch.mbarrier_wait %b
  return
}

// -----

func.func @scope(%b: !cute.ptr<i64, smem>, %p: i32) {
  // expected-error@+1 {{attribute 'scope' failed to satisfy constraint: one of cta cluster}}
  cute_nvgpu.arch.mbarrier_wait<gpu> %b, %p
  return
}

// -----

func.func @stages(%i: i32) {
  // expected-error@+1 {{attribute 'stages' failed to satisfy constraint}}
  %j, %q = cute_nvgpu.arch.pipeline_advance<0> %i, %i
  return
}

// -----

func.func @whose() {
  // expected-error@+1 {{attribute 'whose' failed to satisfy constraint: one of producer consumer}}
  %j, %q = cute_nvgpu.arch.pipeline_start<owner>
  return
}

// -----

func.func @groups() {
  // expected-error@+1 {{attribute 'groups' failed to satisfy constraint}}
  cute_nvgpu.arch.wgmma_wait_group<8>
  return
}

// -----

func.func @proxy() {
  // expected-error@+1 {{attribute 'kind' failed to satisfy constraint: one of alias async async.global async.shared::cta async.shared::cluster}}
  cute_nvgpu.arch.fence_proxy<generic>
  return
}

// -----

func.func @acquire() {
  // expected-error@+1 {{expects the address of the tensor map to acquire}}
  cute_nvgpu.arch.fence_proxy_tensormap<acquire, gpu>
  return
}

// -----

func.func @release(%p: !cute.ptr<i64, gmem>) {
  // expected-error@+1 {{expects no address with order 'release'}}
  cute_nvgpu.arch.fence_proxy_tensormap<release, gpu> %p
  return
}

// -----

func.func @registers() {
  // expected-error@+1 {{expects a multiple of 8 from 24 to 256 registers, but got 100}}
  cute_nvgpu.arch.setmaxregister_increase<100>
  return
}

// -----

func.func @map_global(%p: !cute.ptr<f32, gmem>, %r: i32) {
  // expected-error@+1 {{expects operand #0 to be in memory space 'smem', but got 'gmem'}}
  %t = cute_nvgpu.arch.map_dsmem_ptr(%p, %r) : (!cute.ptr<f32, gmem>, i32) -> !cute.ptr<f32, dsmem>
  return
}

// -----

func.func @map_swizzle(%p: !cute.ptr<f32, smem, align<1024>, S<3,4,3>>, %r: i32) {
  // expected-error@+1 {{expects a pointer without a swizzle}}
  %t = cute_nvgpu.arch.map_dsmem_ptr(%p, %r) : (!cute.ptr<f32, smem, align<1024>, S<3,4,3>>, i32) -> !cute.ptr<f32, dsmem, align<1024>>
  return
}

// -----

// expected-note@+2 {{%p is a '!cute.ptr<f32, gmem>'}}
// expected-note@+1 {{%r is a 'i32'}}
func.func @map_follows(%p: !cute.ptr<f32, gmem>, %r: i32) {
  // expected-error@+1 {{expects operand #0 to be in memory space 'smem', but got 'gmem'}}
  %t = cute_nvgpu.arch.map_dsmem_ptr %p, %r
  return
}

// -----

func.func @map_result(%p: !cute.ptr<f32, smem>, %r: i32) {
  // expected-error@+1 {{expects result to be in memory space 'dsmem', but got 'smem'}}
  %t = cute_nvgpu.arch.map_dsmem_ptr(%p, %r) : (!cute.ptr<f32, smem>, i32) -> !cute.ptr<f32, smem>
  return
}

// -----

func.func @map_align(%p: !cute.ptr<f32, smem>, %r: i32) {
  // expected-error@+1 {{expects result to have at most the alignment of its operand, 4 bytes, but got 16}}
  %t = cute_nvgpu.arch.map_dsmem_ptr(%p, %r) : (!cute.ptr<f32, smem>, i32) -> !cute.ptr<f32, dsmem, align<16>>
  return
}

// -----

func.func @store_element(%v: f32, %p: !cute.ptr<f64, smem>, %b: !cute.ptr<i64, smem>, %r: i32) {
  // expected-error@+1 {{expects operand #0 of the tensor's element type 'f64', but got 'f32'}}
  cute_nvgpu.arch.st_async %v, %p, %b, %r
  return
}

// -----

func.func @store_align(%v: vector<4xf32>, %p: !cute.ptr<f32, smem>, %b: !cute.ptr<i64, smem>, %r: i32) {
  // expected-error@+1 {{expects operand #1 to be aligned to 16 bytes, but got 4}}
  cute_nvgpu.arch.st_async %v, %p, %b, %r
  return
}

// -----

func.func @store_three(%v: vector<3xf32>, %p: !cute.ptr<f32, smem, align<16>>, %b: !cute.ptr<i64, smem>, %r: i32) {
  // expected-error@+1 {{operand #0 must be 32 or 64 bits, or a vector of up to 128, but got 'vector<3xf32>'}}
  cute_nvgpu.arch.st_async %v, %p, %b, %r
  return
}

// -----

func.func @store_width(%v: i16, %p: !cute.ptr<i16, smem>, %b: !cute.ptr<i64, smem>, %r: i32) {
  // expected-error@+1 {{operand #0 must be 32 or 64 bits, or a vector of up to 128, but got 'i16'}}
  cute_nvgpu.arch.st_async %v, %p, %b, %r
  return
}

// -----

func.func @wide(%b: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects a number that fits in 'i32'}}
  cute_nvgpu.arch.mbarrier_init %b, 4294967296
  return
}

// -----

func.func @tuple(%b: !cute.ptr<i64, smem>) {
  // expected-error@+1 {{expects a number that fits in 'i32'}}
  cute_nvgpu.arch.mbarrier_init %b, (1, 2)
  return
}
