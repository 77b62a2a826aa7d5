// Operations on mbarriers and pipelines without types, and with numbers as operands.
// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s

// CHECK-LABEL: func.func @numbers
// CHECK-SAME: %[[B:.*]]: !cute.ptr<i64, smem>, %[[S:.*]]: !cute.ptr<f32, smem>, %[[V:.*]]: f32
func.func @numbers(%b: !cute.ptr<i64, smem>, %s: !cute.ptr<f32, smem>, %v: f32) {
  // Numbers stand behind what the operation uses.
  // CHECK-DAG: %[[N:.*]] = arith.constant 128 : i32
  // CHECK-DAG: %[[BYTES:.*]] = arith.constant -1 : i32
  // CHECK-DAG: %[[RANK:.*]] = arith.constant 2 : i32
  // CHECK: cute_nvgpu.arch.mbarrier_init(%[[B]], %[[N]]) : (!cute.ptr<i64, smem>, i32) -> ()
  cute_nvgpu.arch.mbarrier_init %b, 128
  // CHECK: cute_nvgpu.arch.mbarrier_arrive_and_expect_tx(%[[B]], %[[BYTES]], %[[RANK]]) : (!cute.ptr<i64, smem>, i32, i32) -> ()
  cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %b, 4294967295, 2
  // CHECK: cute_nvgpu.arch.mbarrier_arrive<3> (%[[B]]) : (!cute.ptr<i64, smem>) -> ()
  cute_nvgpu.arch.mbarrier_arrive<3> %b
  // CHECK: %[[DONE:.*]] = cute_nvgpu.arch.mbarrier_try_wait (%[[B]], %{{.*}}) : (!cute.ptr<i64, smem>, i32) -> i1
  %done = cute_nvgpu.arch.mbarrier_try_wait %b, 1
  // CHECK: cute_nvgpu.arch.mbarrier_conditional_try_wait (%[[DONE]], %[[B]], %{{.*}}) : (i1, !cute.ptr<i64, smem>, i32) -> i1
  %more = cute_nvgpu.arch.mbarrier_conditional_try_wait %done, %b, 0
  // CHECK: cute_nvgpu.arch.pipeline_start<producer> () : () -> (i32, i32)
  %i, %p = cute_nvgpu.arch.pipeline_start<producer>
  // CHECK: cute_nvgpu.arch.pipeline_advance<4> (%{{.*}}, %{{.*}}, %{{.*}}) : (i32, i32, i32) -> (i32, i32)
  %j, %q = cute_nvgpu.arch.pipeline_advance<4> %i, %p, 2
  // CHECK: cute_nvgpu.arch.pipeline_index_of<3, consumer> (%{{.*}}) : (i32) -> (i32, i32)
  %k, %r = cute_nvgpu.arch.pipeline_index_of<3, consumer> %j
  // CHECK: cute_nvgpu.arch.map_dsmem_ptr(%[[S]], %{{.*}}) : (!cute.ptr<f32, smem>, i32) -> !cute.ptr<f32, dsmem>
  %t = cute_nvgpu.arch.map_dsmem_ptr %s, 1
  // CHECK: cute_nvgpu.arch.st_async(%[[V]], %[[S]], %[[B]], %{{.*}}) : (f32, !cute.ptr<f32, smem>, !cute.ptr<i64, smem>, i32) -> ()
  cute_nvgpu.arch.st_async %v, %s, %b, 3
  // CHECK: cute_nvgpu.arch.named_barrier_sync(%{{.*}}, %{{.*}}) : (i32, i32) -> ()
  cute_nvgpu.arch.named_barrier_sync %i, 128
  // CHECK: cute_nvgpu.arch.named_barrier_vote<or> (%{{.*}}, %{{.*}}, %[[DONE]]) : (i32, i32, i1) -> i1
  %some = cute_nvgpu.arch.named_barrier_vote<or> %i, 128, %done
  // CHECK: cute_nvgpu.arch.setmaxregister_increase<232> () : () -> ()
  cute_nvgpu.arch.setmaxregister_increase<232>
  // CHECK: cute_nvgpu.arch.elect_one() : () -> i1
  %one = cute_nvgpu.arch.elect
  return
}
