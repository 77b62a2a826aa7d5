// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s

// Tensors and their parts; types that follow need not be written.
// CHECK-LABEL: @parts
func.func @parts(%t: !cute.memref<f16, gmem, align<16>, "(?,8):(8,1)">, %c: !cute.coord_tensor<"(0,?)", "(8,8):(1@0,1@1)">) {
  // CHECK: cute.get_iter(%{{.*}}) : (!cute.memref<f16, gmem, align<16>, "(?,8):(8,1)">) -> !cute.ptr<f16, gmem, align<16>>
  %p = cute.get_iter(%t)
  // CHECK: -> !cute.layout<"(?,8):(8,1)">
  %l = cute.get_layout(%t)
  // CHECK: cute.make_view({{.*}} -> !cute.memref<f16, gmem, align<16>, "(?,8):(8,1)">
  %v = cute.make_view(%p, %l)
  // CHECK: cute.get_iter({{.*}} -> !cute.arith_tuple_iter<"(0,?)">
  %i = cute.get_iter(%c)
  // CHECK: cute.deref_arith_tuple_iter({{.*}} -> !cute.int_tuple<"(0,?)">
  %n = cute.deref_arith_tuple_iter(%i)
  // CHECK: cute.slice
  %s = cute.slice(%v, (_, 3)) : (!cute.memref<f16, gmem, align<16>, "(?,8):(8,1)">, !cute.coord<"(_,3)">) -> !cute.memref<f16, gmem, "(?):(8)">
  return
}

// Views of descriptors are sliced as their layouts.
// CHECK-LABEL: @descriptors
func.func @descriptors(%v: !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2,4):(0,512,2)">, %c: !cute.coord<"(_,_,1)">) {
  // CHECK: cute.get_iter({{.*}} -> !cute_nvgpu.smem_desc
  %i = cute.get_iter(%v)
  // CHECK: cute.get_layout({{.*}} -> !cute.layout<"(1,2,4):(0,512,2)">
  %l = cute.get_layout(%v)
  // CHECK: cute.make_view({{.*}} -> !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2,4):(0,512,2)">
  %w = cute.make_view(%i, %l)
  // CHECK: cute.size<[1]> ({{.*}} -> !cute.int_tuple<"2">
  %n = cute.size<[1]>(%v)
  return
}

// CHECK-LABEL: @integers
func.func @integers(%i: i32, %p: !cute.ptr<i8, smem, align<1024>>) {
  // CHECK: cute.assume(%{{.*}}) : (i32) -> !cute.i32<divby 8>
  %n = cute.assume(%i) : (i32) -> !cute.i32<divby 8>
  %t = cute.make_int_tuple(%n) : (!cute.i32<divby 8>) -> !cute.int_tuple<"?{div=8}">
  %q = cute.recast_iter(%p) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
  %d = cute.fast_divmod.create_divisor(%i) : (i32) -> !cute.fast_divmod_divisor<32>
  // CHECK: cute.fast_divmod.compute(%{{.*}}, %{{.*}}) : (i32, !cute.fast_divmod_divisor<32>) -> (i32, i32)
  %a, %b = cute.fast_divmod.compute(%i, %d) : (i32, !cute.fast_divmod_divisor<32>) -> (i32, i32)
  // CHECK: cute.get_hier_coord({{.*}} -> !cute.coord<"(?,(?,?))">
  %l = cute.static : !cute.layout<"(32,(4,2)):(1,(32,128))">
  %c = cute.get_hier_coord(%i, %l)
  return
}

// The spelling of CuTe DSL.
// CHECK-LABEL: @product
func.func @product(%t: !cute.int_tuple<"(2,(3,?))">) {
  // CHECK: cute.tuple_product(
  %a = "cute.tuple.product"(%t) : (!cute.int_tuple<"(2,(3,?))">) -> !cute.int_tuple<"?">
  // CHECK: cute.tuple_product_each(
  %b = cute.tuple.product_each(%t) : (!cute.int_tuple<"(2,(3,?))">) -> !cute.int_tuple<"(2,?)">
  return
}
