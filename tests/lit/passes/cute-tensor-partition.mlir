// Tiles and partitions are pointers that moved, with layouts: arithmetic is left of their coordinates alone.
// RUN: cute-opt %s -cute-tensor-partition -remarks=cute-tensor-partition -split-input-file -verify-diagnostics | FileCheck %s
// What is left is nothing to do for it, and what the rest of the lowering takes.
// RUN: cute-opt %s -cute-tensor-partition -cute-tensor-partition -split-input-file | FileCheck %s
// RUN: cute-opt %s -cute-tensor-partition -cute-to-standard -split-input-file | FileCheck %s --check-prefix=LOWERED
// LOWERED-NOT: {{^ *(%[0-9:]+ = )?cute\.}}

!T = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
// CHECK-LABEL: gpu.func @copies
// CHECK-SAME:    (%[[X:[^:]*]]: !cute.memref<{{.*}}, %[[I:[^:]*]]: i32, %[[J:[^:]*]]: i32, %[[T:[^:]*]]: i32)
// CHECK-NOT:     cute.local_tile
// CHECK-NOT:     ceildivsi
// CHECK:         %[[P:.*]] = cute.get_iter(%[[X]])
// CHECK:         %[[TILE:.*]] = cute.add_offset(%[[P]], %{{.*}}) : ({{.*}}, !cute.int_tuple<"?{i64 div=32}">)
// CHECK-NOT:     partition
// CHECK:         %[[AT:.*]] = cute.add_offset(%[[TILE]], %{{.*}}) : ({{.*}}, !cute.int_tuple<"?{i64 div=8}">)
// CHECK:         %[[L:.*]] = cute.make_layout(%{{.*}}) {{.*}} -> !cute.layout<"((8,1),2,1):((1,0),?{i64 div=256},0)">
// CHECK:         cute.make_view(%[[AT]], %[[L]])
// CHECK-NOT:     partition
// CHECK:         cute.add_offset(%[[TILE]], %{{.*}}
// CHECK:         cute.make_view({{.*}} -> !cute.memref<f16, gmem, "(2,8):(?{i64 div=256},4)">
gpu.module @kernels {
  gpu.func @copies(%x: !T, %i: i32, %j: i32, %t: i32) kernel {
    %atom = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16, 128 b>
    %threads = cute.static "(32,4):(4,1)"
    %values = cute.static "(1,8):(0,1)"
    %copy = cute.make_tiled_copy(%atom, %threads, %values)
    // expected-remark@+1 {{'cute.local_tile' has the layout "(64,32):(?{i64 div=8},1)" based on a pointer advanced by its coordinate}}
    %g = cute.local_tile(%x, (64, 32), (%i, %j))
    // expected-remark@+1 {{'cute.tiled.copy.partition_S' has the layout "((8,1),2,1):((1,0),?{i64 div=256},0)"}}
    %s = cute.tiled.copy.partition_S(%copy, %g, %t)
    %r = cute.make_fragment_like(%s)
    cute.copy(%copy, %s, %r)
    // expected-remark@+1 {{'cute.local_partition' has the layout "(2,8):(?{i64 div=256},4)"}}
    %q = cute.local_partition(%g, %threads, %t)
    %z = arith.constant 0.0 : f16
    cute.fill(%q, %z)
    gpu.return
  }
}

// -----

// A product's operands, and coordinates.
// CHECK-LABEL: gpu.func @products
// CHECK-NOT:     partition
// CHECK:         cute.make_view({{.*}} -> !cute.memref<f16, smem, align<4>, "((2,2,2),2,2):((1,256,8),512,16)">
// CHECK-NOT:     partition
// CHECK:         cute.make_view({{.*}} -> !cute.coord_tensor<"(?,?{div=2})", "((2,2),2,4):((1@1,8@0),16@0,8@1)">
gpu.module @kernels {
  gpu.func @products(%p: !cute.ptr<f16, smem, align<16>>, %t: i32) kernel {
    %atom = cute.make_atom() : () -> !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
    %mma = cute.make_tiled_mma %atom, "(1,1,1):(0,0,0)"
    %rows = cute.static "(32,32):(32,1)"
    %sA = cute.make_view(%p, %rows)
    // expected-remark@+1 {{'cute.tiled.mma.partition' has the layout "((2,2,2),2,2)}}
    %tA = cute.tiled.mma.partition A (%mma, %sA, %t)
    %rA = cute.make_fragment_like(%tA)
    %z = arith.constant 0.0 : f16
    cute.fill(%tA, %z)
    %c = cute.make_identity_tensor((32, 32))
    // expected-remark@+1 {{based on the coordinate of its first element}}
    %tC = cute.tiled.mma.partition C (%mma, %c, %t)
    %at = cute.get_iter(%tC)
    %crd = cute.deref_arith_tuple_iter(%at)
    %m:2 = cute.get_scalars(%crd)
    %sum = arith.addi %m#0, %m#1 : i32
    %half = arith.sitofp %sum : i32 to f16
    cute.fill(%tA, %half)
    gpu.return
  }
}
