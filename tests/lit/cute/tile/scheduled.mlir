// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s

// Operations of schedules are printed as they are read.
!a = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!r = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,2):(64,1,4096)">
!p = !cute.ptr<i64, smem, align<8>>
// CHECK-LABEL: func.func @f
func.func @f(%a: !a, %c: !cute.coord<"(?,0)">, %stage: i32, %phase: i32, %on: i1, %sum: tensor<64x64xf32>) {
  // CHECK: %[[R:.*]] = cute.tile.ring() : () -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,2):(64,1,4096)">
  %r = cute.tile.ring() : () -> !r
  // CHECK: %[[P:.*]] = cute.tile.pipe<8192, 2> () : () -> !cute.ptr<i64, smem>
  %p = cute.tile.pipe() {bytes = 8192 : i32, stages = 2 : i32} : () -> !p
  // CHECK: cute.tile.acquire(%[[P]], %{{.*}}, %{{.*}})
  cute.tile.acquire(%p, %stage, %phase) : (!p, i32, i32) -> ()
  // CHECK: cute.tile.fetch<[0]> (%{{.*}}, %{{.*}}, %[[R]], %{{.*}}, %[[P]])
  cute.tile.fetch(%a, %c, %r, %stage, %p) {multicast = array<i32: 0>} : (!a, !cute.coord<"(?,0)">, !r, i32, !p) -> ()
  // CHECK: cute.tile.await(%[[P]], %{{.*}}, %{{.*}})
  cute.tile.await(%p, %stage, %phase) : (!p, i32, i32) -> ()
  // CHECK: cute.tile.take(%[[R]], %{{.*}})
  %t = cute.tile.take(%r, %stage) : (!r, i32) -> tensor<64x64xf16>
  // CHECK: cute.tile.put(%{{.*}}, %[[R]], %{{.*}})
  cute.tile.put(%t, %r, %stage) : (tensor<64x64xf16>, !r, i32) -> ()
  // With a pipe whose stages threads fill.
  // CHECK: %[[FILLED:.*]] = cute.tile.pipe<0, 2>
  %filled = cute.tile.pipe() {bytes = 0 : i32, stages = 2 : i32} : () -> !cute.ptr<i64, smem, align<8>>
  // CHECK: cute.tile.put(%{{.*}}, %[[R]], %{{.*}}, %[[FILLED]])
  cute.tile.put(%t, %r, %stage, %filled) : (tensor<64x64xf16>, !r, i32, !cute.ptr<i64, smem, align<8>>) -> ()
  // CHECK: cute.tile.gemm<{pending = 1 : i32, wgmma}>
  %d = cute.tile.gemm(%t, %t, %sum) {pending = 1 : i32, wgmma} : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
  // CHECK: cute.tile.settle
  %s = cute.tile.settle(%d) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  // CHECK: cute.tile.drain(%[[P]], %{{.*}}, %{{.*}})
  cute.tile.drain(%p, %stage, %phase) : (!p, i32, i32) -> ()
  // CHECK: cute.tile.release(%[[P]], %{{.*}}) :
  cute.tile.release(%p, %stage) : (!p, i32) -> ()
  // CHECK: cute.tile.release(%[[P]], %{{.*}}, %{{.*}}) :
  cute.tile.release(%p, %stage, %on) : (!p, i32, i1) -> ()
  // CHECK: cute.tile.workers<[2, 1], [64, 64]>
  %first, %count, %step = cute.tile.workers(%a) {cluster = array<i32: 2, 1>, extents = array<i32: 64, 64>} : (!a) -> (i32, i32, i32)
  // CHECK: cute.tile.place<[2, 1], [64, 64], 4>
  %m, %n = cute.tile.place(%first, %a) {cluster = array<i32: 2, 1>, extents = array<i32: 64, 64>, order = 4 : i32} : (i32, !a) -> (i32, i32)
  // CHECK: cute.tile.role "consumers" attributes {registers = 240 : i32, warps = 8 : i32} {
  cute.tile.role "consumers" attributes {registers = 240 : i32, warps = 8 : i32} {
    gpu.barrier
  }
  // CHECK: cute.tile.role "consumers" attributes {registers = 240 : i32, turns = 2 : i32, warps = 4 : i32} {
  cute.tile.role "consumers" attributes {registers = 240 : i32, turns = 2 : i32, warps = 4 : i32} {
    // CHECK: cute.tile.turn() : () -> i32
    %turn = cute.tile.turn() : () -> i32
    // CHECK: cute.tile.begin_turn() : () -> ()
    cute.tile.begin_turn() : () -> ()
    // CHECK: cute.tile.end_turn(%{{.*}}) : (i1) -> ()
    cute.tile.end_turn(%on) : (i1) -> ()
  }
  return
}
