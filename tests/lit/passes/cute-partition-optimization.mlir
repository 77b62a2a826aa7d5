// RUN: cute-opt %s -cute-partition-optimization -remarks=cute-partition-optimization -split-input-file -verify-diagnostics | FileCheck %s
// The same accesses come out: the operations of memory that cute-to-standard makes of both.
// RUN: cute-opt %s -cute-partition-optimization -cute-to-standard -split-input-file | FileCheck %s --check-prefix=LOWERED
// LOWERED-NOT: {{^ *(%[0-9:]+ = )?cute\.}}

// Of a tile that changes with the loop, all tiles are partitioned before it.
!T = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
// CHECK-LABEL: gpu.func @slices
// CHECK-SAME:    (%[[X:[^:]*]]: !cute.memref<{{.*}}, %[[I:[^:]*]]: i32, %[[N:[^:]*]]: i32, %[[T:[^:]*]]: i32)
// CHECK-DAG:     %[[C:.*]] = cute.make_coord(%[[I]]) : (i32) -> !cute.coord<"(?,_)">
// CHECK-DAG:     %[[G:.*]] = cute.local_tile(%[[X]], %{{.*}}, %[[C]]) : {{.*}} -> !cute.memref<f16, gmem, align<16>, "(64,32,?):(?{i64 div=8},1,32)">
// CHECK-DAG:     %[[S:.*]] = cute.tiled.copy.partition_S(%{{.*}}, %[[G]], %{{.*}}) : {{.*}} -> !cute.memref<f16, gmem, align<16>, "((8,1),2,1,?):((1,0),?{i64 div=256},0,32)">
// CHECK-DAG:     %[[Q:.*]] = cute.local_partition(%[[G]],
// CHECK-DAG:     %[[D:.*]] = cute.make_coord(%[[N]]) : (i32) -> !cute.coord<"(_,?,_)">
// CHECK-DAG:     cute.local_tile(%[[X]], %{{.*}}, %{{.*}}, "(1,_,1)") {{.*}} -> !cute.memref<f16, gmem, align<16>, "(64,32,?,?):(?{i64 div=8},1,?{i64 div=512},32)">
// CHECK:         scf.for %[[J:[^ ]*]] =
// CHECK-NOT:       local_tile
// CHECK-NOT:       partition
// CHECK:           %[[K:.*]] = cute.make_coord(%[[J]]) : (i32) -> !cute.coord<"(_,_,_,?)">
// CHECK:           cute.slice(%[[S]], %[[K]])
// CHECK:           cute.slice(%[[Q]], %{{.*}}) : {{.*}} !cute.coord<"(_,_,?)">
// CHECK:           cute.make_coord(%[[J]], %[[J]]) : (i32, i32) -> !cute.coord<"(_,_,_,?,?)">
// CHECK-NOT:       local_tile
// CHECK-NOT:       partition
gpu.module @kernels {
  gpu.func @slices(%x: !T, %i: i32, %n: i32, %t: i32) kernel {
    %atom = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16, 128 b>
    %threads = cute.static "(32,4):(4,1)"
    %values = cute.static "(1,8):(0,1)"
    %copy = cute.make_tiled_copy(%atom, %threads, %values)
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant 0.0 : f16
    scf.for %j = %c0 to %n step %c1 : i32 {
      %g = cute.local_tile(%x, (64, 32), (%i, %j))
      // expected-remark@+1 {{'cute.tiled.copy.partition_S' is computed before the loop at line 34 for all tiles, and the loop takes a slice}}
      %s = cute.tiled.copy.partition_S(%copy, %g, %t)
      %r = cute.make_fragment_like(%s)
      cute.copy(%copy, %s, %r)
      // expected-remark@+1 {{'cute.local_partition' is computed before the loop at line 34 for all tiles}}
      %q = cute.local_partition(%g, %threads, %t)
      cute.fill(%q, %z)
      // Where the projection drops a mode, what stands there does not matter.
      %h = cute.local_tile(%x, (64, 128, 32), (%j, %n, %j), "(1,_,1)")
      // expected-remark@+1 {{'cute.tiled.copy.partition_S' is computed before the loop}}
      %u = cute.tiled.copy.partition_S(%copy, %h, %t)
      cute.fill(%u, %z)
    }
    gpu.return
  }
}

// -----

// What does not change with a loop goes before it, and before those around it.
// CHECK-LABEL: gpu.func @invariant
// CHECK:         cute.local_tile
// CHECK:         cute.tiled.copy.partition_D
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK-NOT:         partition
gpu.module @kernels {
  gpu.func @invariant(%x: !cute.memref<f32, gmem, "(64,64):(64,1)">, %i: i32, %n: i32, %t: i32) kernel {
    %atom = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
    %threads = cute.static "(8,4):(4,1)"
    %values = cute.static "(1,1):(0,0)"
    %copy = cute.make_tiled_copy(%atom, %threads, %values)
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant 0.0 : f32
    scf.for %j = %c0 to %n step %c1 : i32 {
      scf.for %k = %c0 to %j step %c1 : i32 {
        // expected-remark@+2 {{'cute.local_tile' is computed before the loop at line 20}}
        // expected-remark@+1 {{'cute.local_tile' is computed before the loop at line 19}}
        %g = cute.local_tile(%x, (32, 32), (%i, 0))
        // expected-remark@+2 {{'cute.tiled.copy.partition_D' is computed before the loop at line 20}}
        // expected-remark@+1 {{'cute.tiled.copy.partition_D' is computed before the loop at line 19}}
        %s = cute.tiled.copy.partition_D(%copy, %g, %t)
        cute.fill(%s, %z)
      }
    }
    gpu.return
  }
}

// -----

// A thread that changes with the loop, and a tensor that does: all stays where it is.
// CHECK-LABEL: gpu.func @changing
// CHECK:         scf.for
// CHECK:           cute.local_tile
// CHECK:           cute.tiled.copy.partition_S
gpu.module @kernels {
  gpu.func @changing(%p: !cute.ptr<f32, gmem>, %i: i32, %n: i32) kernel {
    %atom = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
    %threads = cute.static "(8,4):(4,1)"
    %values = cute.static "(1,1):(0,0)"
    %copy = cute.make_tiled_copy(%atom, %threads, %values)
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant 0.0 : f32
    %l = cute.static "(64,64):(64,1)"
    scf.for %j = %c0 to %n step %c1 : i32 {
      %o = cute.make_int_tuple(%j) : (i32) -> !cute.int_tuple<"?">
      %q = cute.add_offset(%p, %o)
      %x = cute.make_view(%q, %l)
      %g = cute.local_tile(%x, (32, 32), (%i, %j))
      %s = cute.tiled.copy.partition_S(%copy, %g, %j)
      cute.fill(%s, %z)
    }
    gpu.return
  }
}
