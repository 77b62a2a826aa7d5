// What a kernel accesses of tensors, and which thread it says it is, is asserted: once at each access, in the coordinates of the
// whole tensor.
// RUN: cute-opt %s --cute-assert-bounds | FileCheck %s
// Lowered, and only with the option.
// RUN: cute-ptx %s --enable-assertions | FileCheck %s --check-prefix=PTX
// RUN: cute-ptx %s | FileCheck %s --check-prefix=NONE
// RUN: cute-opt %s --cute-full-lowering | FileCheck %s --check-prefix=NONE
// PTX-DAG: vprintf
// PTX-DAG: __assertfail
// NONE-NOT: vprintf
// NONE-NOT: __assertfail
!T = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
gpu.module @m {
  // CHECK-LABEL: gpu.func @memref
  // CHECK: %[[DIM:.*]] = memref.dim
  // CHECK-NEXT: %[[N:.*]] = arith.index_cast %[[DIM]] : index to i64
  // CHECK: %[[I:.*]] = arith.index_cast %arg1 : index to i64
  // CHECK: %[[BAD:.*]] = arith.cmpi uge, %[[I]], %[[N]] : i64
  // CHECK-NEXT: scf.if %[[BAD]] {
  // CHECK: gpu.printf "{{.*}}cute-assert-bounds.mlir:[[@LINE+6]]:10: coordinate (%lld,3) is outside the shape (%lld,8): block (%d,%d,%d), thread (%d,%d,%d)\0A", %[[I]], %[[N]], %{{.*}} : i64, i64, i32
  // CHECK-NEXT: %[[FALSE:.*]] = arith.constant false
  // CHECK-NEXT: cf.assert %[[FALSE]], "a coordinate outside the memref's shape"
  // CHECK: memref.load
  gpu.func @memref(%p: memref<?x8xf32>, %i: index) kernel {
    %c3 = arith.constant 3 : index
    %x = memref.load %p[%i, %c3] : memref<?x8xf32>
    // What is known to be inside is not checked.
    // CHECK-NOT: scf.if
    // CHECK: gpu.return
    %s = memref.alloca() : memref<8xf32, #gpu.address_space<private>>
    memref.store %x, %s[%c3] : memref<8xf32, #gpu.address_space<private>>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @vectors
  // CHECK: arith.cmpi uge, %[[J:.*]], %{{.*}} : i64
  // CHECK: %[[LAST:.*]] = arith.addi %[[J]], %c3_i64
  // CHECK: arith.cmpi uge, %[[LAST]]
  // CHECK: coordinate %lld and the 3 elements after it are outside the shape 64
  // CHECK: vector.load
  gpu.func @vectors(%p: memref<64xf32>, %j: index) kernel {
    %x = vector.load %p[%j] : memref<64xf32>, vector<4xf32>
    vector.store %x, %p[%j] : memref<64xf32>, vector<4xf32>
    %x0 = vector.extract %x[0] : f32 from vector<4xf32>
    memref.atomic_rmw addf %x0, %p[%j] : (f32, memref<64xf32>) -> f32
    gpu.return
  }
  // CHECK-LABEL: gpu.func @element
  // CHECK: %[[LAYOUT:.*]] = cute.get_layout(%arg0)
  // CHECK: %[[SHAPE:.*]] = cute.get_shape(%[[LAYOUT]])
  // CHECK: %[[WHOLE:.*]] = cute.make_identity_tensor(%[[SHAPE]])
  // CHECK: cute.local_tile(%arg0
  // CHECK-NEXT: cute.local_tile(%[[WHOLE]]
  // CHECK: coordinate (%lld,%lld) is outside the shape (4,8): block
  // CHECK: coordinate (%lld,%lld) is outside the whole tensor's shape (%lld,%lld): block
  // CHECK: cf.assert %{{.*}}, "a coordinate outside the tensor's shape"
  // CHECK: cute.memref.load
  gpu.func @element(%A: !T, %n: i32) kernel {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c0 = arith.constant 0 : i32
    %tile = cute.make_tile 4, 8
    %block = cute.make_coord(%n, %c0)
    %g = cute.local_tile(%A, %tile, %block)
    %i = cute.make_coord(%n, %t)
    %x = cute.memref.load %g, %i
    // Registers at known places are not checked.
    // CHECK-NOT: scf.if
    // CHECK: gpu.return
    %r = cute.memref.alloca() : () -> !cute.memref<f32, rmem, "4:1">
    cute.memref.store %r, 2, %x
    gpu.return
  }
  // A predicate is that of the elements that it lets be copied; the shared memory's tensor is as large as the tile.
  // CHECK-LABEL: gpu.func @copy
  // CHECK: thread index %lld is not below the 32 threads of the tiled copy: block
  // CHECK: cf.assert %{{.*}}, "a thread index that the tiling does not have"
  // CHECK: %[[PRED:.*]] = cute.predicate
  // CHECK: %[[USED:.*]] = cute.memref.load(%[[PRED]]
  // CHECK: arith.cmpi ne, %[[USED]]
  // CHECK: coordinates (%lld,%lld) to (%lld,%lld) are not all within the shape (%lld,%lld): block
  // CHECK: coordinates (%lld,%lld) to (%lld,%lld) are not all within the shape (8,16): block
  // CHECK: cute.copy
  gpu.func @copy(%A: !T, %b: i32) kernel {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %tile = cute.make_tile 8, 16
    %block = cute.make_coord(%b, %b)
    %gA = cute.local_tile(%A, %tile, %block)
    %iA = cute.make_identity_tensor %A
    %cA = cute.local_tile(%iA, %tile, %block)
    %sA = cute.memref.alloca() : () -> !cute.memref<f32, smem, align<16>, "(8,16):(16,1)">
    %atom = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32, 128 b>
    %copy = cute.make_tiled_copy %atom, "(8,4):(4,1)", "(1,4):(0,1)"
    %tA = cute.tiled.copy.partition_S %copy, %gA, %t
    %tS = cute.tiled.copy.partition_D %copy, %sA, %t
    %tC = cute.tiled.copy.partition_S %copy, %cA, %t
    %pred = cute.predicate %tC, %A
    cute.copy %copy, %tA, %tS, %pred
    gpu.return
  }
  // CHECK-LABEL: gpu.func @threads
  // CHECK: thread index %lld is not below the 64 threads of the tiled MMA: block
  // CHECK: nvvm.read.ptx.sreg.ntid.x
  // CHECK: thread index %lld is not below the %lld threads of a block: block
  // CHECK: cf.assert %{{.*}}, "a thread index that the launch does not have"
  // CHECK: thread index %lld is not below the 8 threads of the layout of threads: block
  gpu.func @threads(%A: !cute.memref<f16, gmem, align<16>, "(32,16):(16,1)">, %i: i32) kernel {
    %atom = cute.make_atom : !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
    %mma = cute.make_tiled_mma %atom, "(2,1,1):(1,0,0)"
    %tA = cute.tiled.mma.partition A (%mma, %A, %i)
    %x = cute.memref.load %tA, 0
    %threads = cute.static : !cute.layout<"(4,2):(1,4)">
    %p = cute.local_partition %A, %threads, %i
    cute.memref.store %p, 0, %x
    gpu.return
  }
}
