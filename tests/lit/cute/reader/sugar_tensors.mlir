// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -o %t && cute-opt %t | FileCheck %s

// A module whose functions launch kernels need not say that it is a container of them.
// CHECK: module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @k(%x: i32) kernel {
    gpu.return
  }
}
func.func @host(%x: i32) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : i32)
  return
}

// A tensor in place of the shape that it has.
// CHECK-LABEL: func.func @bounds(
// CHECK-SAME: %[[T:.*]]: !cute.memref
func.func @bounds(%t: !cute.memref<f16, gmem, align<16>, "(?,8):(8,1)">, %i: i32) {
  // CHECK: %[[L:.*]] = cute.get_layout(%[[T]])
  // CHECK-NEXT: %[[S:.*]] = cute.get_shape(%[[L]]) : !cute.layout<"(?,8):(8,1)"> -> !cute.shape<"(?,8)">
  // CHECK-NEXT: %[[C:.*]] = cute.make_identity_tensor(%[[S]])
  %c = cute.make_identity_tensor %t
  %tile = cute.local_tile %c, (4, 8), (%i, 0)
  %from = cute.local_tile %t, (4, 8), (%i, 0)
  %atom = cute.make_atom : !cute_nvgpu.atom.universal_copy<f16, 128 b>
  %copy = cute.make_tiled_copy %atom, "(4,1):(1,0)", "(1,8):(0,1)"
  %part = cute.tiled.copy.partition_S %copy, %tile, %i
  %part_of = cute.tiled.copy.partition_S %copy, %from, %i
  // CHECK: %[[B:.*]] = cute.get_shape
  // CHECK: cute.predicate(%{{.*}}, %[[B]]) : {{.*}}, !cute.shape<"(?,8)">)
  %p = cute.predicate %part, %t
  %r = cute.make_fragment_like %part_of {element = f16}
  // CHECK: cute.copy({{.*}}) {zero_fill} : (
  cute.copy %copy, %part_of, %r, %p {zero_fill}
  return
}

// make_fragment of the partition.
// CHECK-LABEL: func.func @fragments(
func.func @fragments(%a: !cute.memref<f16, smem, align<16>, "(32,16,3):(16,1,512)">, %c: !cute.memref<f32, gmem, align<16>, "(32,16):(16,1)">, %i: i32) {
  %atom = cute.make_atom : !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
  %mma = cute.make_tiled_mma %atom, "(2,2,1):(1,2,0)", (32, 16, 16)
  // CHECK-DAG: %[[SLICE:.*]] = cute.slice
  // CHECK-DAG: %[[A:.*]] = cute.tiled.mma.partition A (%{{.*}}, %[[SLICE]], %{{.*}})
  // CHECK-DAG: %[[C:.*]] = cute.tiled.mma.partition C
  // CHECK-DAG: cute.mma.make_fragment A (%{{.*}}, %[[A]])
  // CHECK-DAG: cute.mma.make_fragment C (%{{.*}}, %[[C]]) {{.*}} -> !cute.memref<f32, rmem
  %rA = cute.tiled.mma.partition_fragment A (%mma, %a[_, _, 0], %i)
  %acc = cute.tiled.mma.partition_fragment C (%mma, %c, %i)
  return
}
