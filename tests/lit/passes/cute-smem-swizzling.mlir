// RUN: cute-opt %s -cute-smem-swizzling -remarks=cute-smem-swizzling -split-input-file -verify-diagnostics | FileCheck %s
// Nobody is asked where nothing asks.
// RUN: cute-opt %s -cute-smem-swizzling=all=true -split-input-file | FileCheck %s --check-prefix=ALL

// A tile that is written by rows and read by columns.
// CHECK-LABEL: gpu.func @transpose
// CHECK:         %[[B:.*]] = cute_nvgpu.arch.get_dyn_smem
// CHECK:         %[[P:.*]] = cute.recast_iter(%[[B]])
// CHECK-NEXT:    %[[Q:.*]] = cute.recast_iter(%[[P]]) {{.*}} -> !cute.ptr<f32, smem, align<1024>, S<5,2,5>>
// CHECK:         cute.make_view(%[[Q]], %{{[^)]*}}) : {{.*}} -> !cute.memref<f32, smem, align<1024>, S<5,2,5>, "(32,32):(32,1)">
// CHECK:         cute.tiled.copy.partition_D{{.*}} -> !cute.memref<f32, smem, S<5,2,5>, "((1,1),8,1):((0,0),128,0)">
// CHECK:         cute.make_view(%[[Q]], %{{.*}} -> !cute.memref<f32, smem, align<1024>, S<5,2,5>, "(32,32):(1,32)">
// CHECK-NOT:     cute.swizzle
!simt = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32>, layout_copy_tv = <"((32,4),1):((4,1),0)">, tiler_mn = <"[4:1;32:1]">>
gpu.module @kernels {
  gpu.func @transpose(%g: !cute.ptr<f32, gmem, align<16>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %b = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %p = cute.recast_iter(%b) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f32, smem, align<1024>>
    %rows = cute.static : !cute.layout<"(32,32):(32,1)">
    %columns = cute.static : !cute.layout<"(32,32):(1,32)">
    // expected-remark@+1 {{S<5,2,5> on its addresses: 528 wavefronts of the first warps become 32; the 32-way conflict at line 35 becomes none}}
    %s = cute.make_view(%p, %rows) {cute.swizzle}
    %t = cute.make_view(%g, %rows)
    %a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
    %copy = cute.make_tiled_copy(%a) : (!cute_nvgpu.atom.universal_copy<f32>) -> !simt
    %c = cute.make_coord(%tid) : (i32) -> !cute.coord<"?">
    %from = cute.tiled.copy.partition_S(%copy, %t, %c)
    %to = cute.tiled.copy.partition_D(%copy, %s, %c)
    cute.copy(%copy, %from, %to)
    nvvm.barrier0
    %other = cute.make_view(%p, %columns)
    %back = cute.tiled.copy.partition_S(%copy, %other, %c)
    %out = cute.tiled.copy.partition_D(%copy, %t, %c)
    cute.copy(%copy, %back, %out)
    gpu.return
  }
}

// -----

// Rows of 128 bytes whose first 16 bytes ldmatrix reads: no vector may be torn.
// CHECK-LABEL: gpu.func @ldmatrix
// CHECK:         -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
// ALL-LABEL:   gpu.func @ldmatrix
// ALL:           -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
!ldsm = !cute.tiled_copy<!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, layout_copy_tv = <"((4,8),(2,2,2)):((32,1),(16,8,128))">, tiler_mn = <"[16:1;16:1]">>
gpu.module @kernels {
  gpu.func @ldmatrix() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %b = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %p = cute.recast_iter(%b) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f16, smem, align<1024>>
    %l = cute.static : !cute.layout<"(16,64):(64,1)">
    // expected-remark@+1 {{S<3,4,3> on its addresses: 128 wavefronts of the first warps become 16; the 8-way conflict at line 23 becomes none}}
    %s = cute.make_view(%p, %l) {cute.swizzle}
    %a = cute.make_atom() : () -> !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
    %copy = cute.make_tiled_copy(%a) : (!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>) -> !ldsm
    %c = cute.make_coord(%tid) : (i32) -> !cute.coord<"?">
    %from = cute.tiled.copy.partition_S(%copy, %s, %c)
    %f = cute.static : !cute.layout<"((8,1),1,4):((1,0),0,8)">
    %r = cute.memref.alloca(%f) : (!cute.layout<"((8,1),1,4):((1,0),0,8)">) -> !cute.memref<f16, rmem, align<32>, "((8,1),1,4):((1,0),0,8)">
    cute.copy(%copy, %from, %r)
    gpu.return
  }
}

// -----

// What has no conflicts, and why others get none.
// CHECK-LABEL: gpu.func @left
// CHECK-NOT:     align<1024>, S<
// ALL-LABEL:   gpu.func @left
// ALL-NOT:       align<1024>, S<
gpu.module @kernels {
  gpu.func @left(%argument: !cute.ptr<f32, smem, align<1024>>, %g: !cute.ptr<f32, gmem>, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %c = cute.make_coord(%tid) : (i32) -> !cute.coord<"?">
    %x = arith.constant 1.0 : f32
    %b = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %row = cute.static : !cute.layout<"32:1">
    %column = cute.static : !cute.layout<"32:33">
    %steep = cute.static : !cute.layout<"32:32">
    %own = cute.static : !cute.composed_layout<"S<3,2,3> o 0 o (32,8):(8,1)">
    %next = cute.static : !cute.int_tuple<"8192">
    %p0 = cute.recast_iter(%b) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f32, smem, align<1024>>
    // expected-remark@+1 {{needs no swizzle: the 1 requests of the first warps with known addresses have no bank conflicts}}
    %s0 = cute.make_view(%p0, %column) {cute.swizzle}
    cute.memref.store(%s0, %c, %x)
    %b1 = cute.add_offset(%b, %next)
    %p1 = cute.recast_iter(%b1) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f32, smem, align<1024>>
    // expected-remark@+1 {{has no swizzle: no swizzle within blocks of 4 bytes helps; the 32-way conflict at line 27}}
    %s1 = cute.make_view(%p1, %steep) {cute.swizzle}
    cute.memref.store(%s1, %c, %x)
    // expected-remark@+1 {{has no swizzle: its memory is an argument}}
    %s2 = cute.make_view(%argument, %row) {cute.swizzle}
    // expected-remark@+1 {{has no swizzle: expected a tensor in shared memory}}
    %s3 = cute.make_view(%g, %row) {cute.swizzle}
    %b4 = cute.add_offset(%b1, %next)
    %p4 = cute.recast_iter(%b4) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f32, smem, align<1024>>
    // expected-remark@+1 {{has no swizzle: its layout is unknown, or composed}}
    %s4 = cute.make_view(%p4, %own) {cute.swizzle}
    gpu.return
  }
}

// -----

// Memory that another pointer, without the swizzle, may lead to.
// CHECK-LABEL: gpu.func @shared
// ALL-LABEL:   gpu.func @shared
// CHECK-NOT:     align<1024>, S<
gpu.module @kernels {
  gpu.func @shared(%n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %b = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %other = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %l = cute.static : !cute.layout<"(32,32):(32,1)">
    %half = cute.static : !cute.int_tuple<"2048">
    %p = cute.recast_iter(%b) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f32, smem, align<1024>>
    // expected-remark@+1 {{has no swizzle: 'cute.make_view' at line 18 may use the same memory}}
    %s = cute.make_view(%p, %l) {cute.swizzle}
    %middle = cute.add_offset(%other, %half)
    %q = cute.recast_iter(%middle) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f32, smem, align<1024>>
    %t = cute.make_view(%q, %l)
    gpu.return
  }
  gpu.func @moved(%n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %b = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %l = cute.static : !cute.layout<"(32,32):(32,1)">
    %o = cute.make_int_tuple(%n) : (i32) -> !cute.int_tuple<"?">
    %p = cute.recast_iter(%b) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f32, smem, align<1024>>
    // expected-remark@+1 {{has no swizzle: 'cute.add_offset' at line 28 may use the same memory}}
    %s = cute.make_view(%p, %l) {cute.swizzle}
    %q = cute.add_offset(%p, %o)
    gpu.return
  }
}

// -----

// Two tensors side by side: each has its own, and what is behind both none.
// CHECK-LABEL: gpu.func @two
// CHECK:         cute.make_view({{.*}} -> !cute.memref<f32, smem, align<1024>, S<5,2,5>, "(32,32):(32,1)">
// CHECK:         cute.make_view({{.*}} -> !cute.memref<f32, smem, align<1024>, S<5,2,5>, "(32,32):(32,1)">
// CHECK:         cute.make_view({{.*}} -> !cute.memref<f32, smem, align<1024>, "32:1">
gpu.module @kernels {
  gpu.func @two() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %c = cute.make_coord(%tid) : (i32) -> !cute.coord<"(?,0)">
    %x = arith.constant 1.0 : f32
    %b = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %l = cute.static : !cute.layout<"(32,32):(32,1)">
    %row = cute.static : !cute.layout<"32:1">
    %tile = cute.static : !cute.int_tuple<"1024">
    %p = cute.recast_iter(%b) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f32, smem, align<1024>>
    %q = cute.add_offset(%p, %tile)
    %end = cute.add_offset(%q, %tile)
    // expected-remark@+1 {{S<5,2,5> on its addresses: 32 wavefronts of the first warps become 1; the 32-way conflict at line 25 becomes none}}
    %s = cute.make_view(%p, %l) {cute.swizzle}
    // expected-remark@+1 {{S<5,2,5> on its addresses: 32 wavefronts of the first warps become 1; the 32-way conflict at line 26 becomes none}}
    %t = cute.make_view(%q, %l) {cute.swizzle}
    %e = cute.make_view(%end, %row)
    cute.memref.store(%s, %c, %x)
    cute.memref.store(%t, %c, %x)
    gpu.return
  }
}

// -----

// A tensor that goes around a loop keeps its type.
// CHECK-LABEL: gpu.func @loop
// CHECK-NOT:     align<1024>, S<
gpu.module @kernels {
  gpu.func @loop() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %c = cute.make_coord(%tid) : (i32) -> !cute.coord<"(?,0)">
    %x = arith.constant 1.0 : f32
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %b = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %p = cute.recast_iter(%b) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f32, smem, align<1024>>
    %l = cute.static : !cute.layout<"(32,32):(32,1)">
    // expected-remark@+1 {{has no swizzle: 'scf.for' at line 19 is incompatible with it}}
    %s = cute.make_view(%p, %l) {cute.swizzle}
    cute.memref.store(%s, %c, %x)
    %last = scf.for %i = %zero to %one step %one iter_args(%t = %s) -> !cute.memref<f32, smem, align<1024>, "(32,32):(32,1)"> {
      cute.memref.store(%t, %c, %x)
      scf.yield %t : !cute.memref<f32, smem, align<1024>, "(32,32):(32,1)">
    }
    gpu.return
  }
}

// -----

// A tensor that the kernel declares has memory of its own.
// CHECK-LABEL: gpu.func @declared
// CHECK:         %[[S:.*]] = cute.memref.alloca({{.*}} -> !cute.memref<f32, smem, align<1024>, "(32,32):(32,1)">
// CHECK-NEXT:    %[[P:.*]] = cute.get_iter(%[[S]])
// CHECK-NEXT:    %[[Q:.*]] = cute.recast_iter(%[[P]]) {{.*}} -> !cute.ptr<f32, smem, align<1024>, S<5,2,5>>
// CHECK-NEXT:    cute.make_view(%[[Q]]
// CHECK-NOT:     cute.swizzle
// ALL-LABEL:   gpu.func @declared
// ALL:           S<5,2,5>
gpu.module @kernels {
  gpu.func @declared(%x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %row = cute.make_coord(%tid) : (i32) -> !cute.coord<"(?,0)">
    %l = cute.static : !cute.layout<"(32,32):(32,1)">
    // expected-remark@+1 {{S<5,2,5> on its addresses: 32 wavefronts of the first warps become 1; the 32-way conflict at line 22 becomes none}}
    %s = cute.memref.alloca(%l) {cute.swizzle} : (!cute.layout<"(32,32):(32,1)">) -> !cute.memref<f32, smem, align<1024>, "(32,32):(32,1)">
    // expected-remark@+1 {{has no swizzle: expected a tensor in shared memory}}
    %r = cute.memref.alloca(%l) {cute.swizzle} : (!cute.layout<"(32,32):(32,1)">) -> !cute.memref<f32, rmem, align<32>, "(32,32):(32,1)">
    cute.fill(%r, %x) : (!cute.memref<f32, rmem, align<32>, "(32,32):(32,1)">, f32) -> ()
    cute.memref.store(%s, %row, %x)
    gpu.return
  }
}

// -----

// A declared tensor whose layout is not an operand.
// CHECK-LABEL: gpu.func @declared_static
// ALL-LABEL:   gpu.func @declared_static
// ALL:           cute.memref.alloca() {{.*}} -> !cute.memref<f32, smem, align<1024>, "(32,32):(32,1)">
// ALL:           S<5,2,5>
gpu.module @kernels {
  gpu.func @declared_static(%x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %row = cute.make_coord(%tid) : (i32) -> !cute.coord<"(?,0)">
    %s = cute.memref.alloca() : () -> !cute.memref<f32, smem, align<1024>, "(32,32):(32,1)">
    cute.memref.store(%s, %row, %x)
    gpu.return
  }
}

// -----

// The body of a loop has the values that its condition passes on, in the condition's order: rows by thread.
// ALL-LABEL:   gpu.func @passed_on
// ALL:           S<5,2,5>
gpu.module @kernels {
  gpu.func @passed_on(%x: f32, %go: i1) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %c0 = arith.constant 0 : i32
    %s = cute.memref.alloca() : () -> !cute.memref<f32, smem, align<1024>, "(32,32):(32,1)">
    %r:2 = scf.while (%zero = %c0, %thread = %tid) : (i32, i32) -> (i32, i32) {
      scf.condition(%go) %thread, %zero : i32, i32
    } do {
    ^bb0(%row_index: i32, %other: i32):
      %row = cute.make_coord(%row_index) : (i32) -> !cute.coord<"(?,0)">
      cute.memref.store(%s, %row, %x)
      scf.yield %other, %row_index : i32, i32
    }
    gpu.return
  }
}
