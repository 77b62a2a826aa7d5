// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s

// Types that follow from operands may be left out; they are printed.

// CHECK-LABEL: func.func @chain(
func.func @chain(%n: i32, %c: i1) -> i32 {
  // CHECK: %[[S:.*]] = cute.make_shape(%{{.*}}) : (i32) -> !cute.shape<"(4,?)">
  %s = cute.make_shape(%n) : !cute.shape<"(4,?)">
  %d = cute.static : !cute.stride<"(1,4)">
  // CHECK: %[[L:.*]] = cute.make_layout(%[[S]], %{{.*}}) : (!cute.shape<"(4,?)">, !cute.stride<"(1,4)">) -> !cute.layout<"(4,?):(1,4)">
  %l = cute.make_layout(%s, %d)
  %t = cute.static : !cute.tile<"[2:1;_]">
  // CHECK: cute.logical_divide(%[[L]], %{{.*}}) -> !cute.layout<"((2,2),?):((1,2),4)">
  %r = cute.logical_divide(%l, %t)
  // CHECK: cute.get<[0, 1]> (%{{.*}}) : !cute.layout<"((2,2),?):((1,2),4)"> -> !cute.layout<"2:2">
  %g = cute.get<[0, 1]>(%r)
  // CHECK: cute.group_modes<0, 2> (%{{.*}}) {note = (i32) -> i32} : {{.*}} -> !cute.layout<"(((2,2),?)):(((1,2),4))">
  %m = cute.group_modes<0, 2>(%r) {note = (i32) -> i32}
  // CHECK: cute.append_to_rank<3> (%{{.*}}, %{{.*}}) : !cute.shape<"(4,?)">, !cute.shape<"(4,?)">
  %a = cute.append_to_rank<3>( // three )
                              %s, %s)
  // CHECK: %[[P:.*]]:2 = cute.get_leaves(%[[S]]) : !cute.shape<"(4,?)">
  %p:2 = cute.get_leaves(%s)
  // CHECK: cute.tuple_product(%[[P]]#1) : (!cute.shape<"?">) -> !cute.shape<"?">
  %q = cute.tuple_product(%p#1)
  // CHECK: cute.elem_less({{.*}}) -> i1
  %e = cute.elem_less(%s, %s)
  // CHECK: cute.print(%{{.*}}) : !cute.shape<"?">
  cute.print(%q)
  // CHECK: scf.for {{.*}} -> (!cute.shape<"?">) : i32
  %f = scf.for %i = %n to %n step %n iter_args(%acc = %q) -> (!cute.shape<"?">) : i32 {
    %x = cute.tuple_add(%acc, %acc) loc("here")
    scf.yield %x : !cute.shape<"?">
  }
  // CHECK: %[[I:.*]] = cute.get_scalars<{only_dynamic}> (%{{.*}}) : !cute.layout<"(4,?):(1,4)">
  %i = cute.get_scalars<{only_dynamic}>(%l)
  // CHECK: return %[[I]] : i32
  return %i : i32
}

// CHECK-LABEL: func.func @warps
func.func @warps(%x: f32, %i: i32, %c: i1, %p: !cute.ptr<f16, smem, align<16>>) {
  // CHECK: cute_nvgpu.arch.warp_broadcast(%{{.*}}) : (f32) -> f32
  %a = cute_nvgpu.arch.warp_broadcast %x
  // CHECK: cute_nvgpu.arch.warp_broadcast(%{{.*}}, %{{.*}}) : (i32, i32) -> i32
  %b = cute_nvgpu.arch.warp_broadcast %i, %i
  // CHECK: cute_nvgpu.arch.shuffle<up> (%{{.*}}, %{{.*}}) : (f32, i32) -> f32
  %d = cute_nvgpu.arch.shuffle<up> %x, %i
  // CHECK: cute_nvgpu.arch.vote<any> (%{{.*}}) : (i1) -> i1
  %e = cute_nvgpu.arch.vote<any> %c
  // CHECK: cute_nvgpu.arch.vote<ballot> (%{{.*}}) : (i1) -> i32
  %f = cute_nvgpu.arch.vote<ballot> %c
  // CHECK: cute_nvgpu.arch.copy.ldsm<{{.*}}> (%{{.*}}) : {{.*}} -> vector<2xi32>
  %g = cute_nvgpu.arch.copy.ldsm<{matrix_shape = #cute.shape<"(8,8)">, num_matrices = 2 : i32, sz_pattern = #cute_nvgpu.ldsm_sz_pattern<u16>}> %p
  return
}

// A single type behind an operation whose result does not follow is the result's, also where it is the operand's.
// CHECK-LABEL: func.func @same_pointer
func.func @same_pointer(%p: !cute.ptr<i8, smem, align<16>>) -> !cute.ptr<i8, smem, align<16>> {
  // CHECK: cute.recast_iter(%{{.*}}) : (!cute.ptr<i8, smem, align<16>>) -> !cute.ptr<i8, smem, align<16>>
  %q = cute.recast_iter %p : !cute.ptr<i8, smem, align<16>>
  return %q : !cute.ptr<i8, smem, align<16>>
}
