// RUN: cute-opt %s -cute-memory-coalescing -remarks=cute-memory-coalescing -split-input-file -verify-diagnostics | FileCheck %s

// Lanes along a column of a tensor that has its rows together: other threads copy the elements.
// CHECK-LABEL: gpu.func @transposed
// CHECK:         cute.make_tiled_copy{{.*}}layout_copy_tv = <"((16,8),4):((32,1),8)">, tiler_mn = <"[32:1;16:1]">
// CHECK-NOT:     "((32,4),4):((1,32),128)"
!tiled = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32>, layout_copy_tv = <"((32,4),4):((1,32),128)">, tiler_mn = <"[32:1;16:1]">>
gpu.module @kernels {
  gpu.func @transposed(%x: !cute.memref<f32, gmem, align<16>, "(32,?):(?{div=32},1)">) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %b = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %p = cute.recast_iter(%b) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f32, smem, align<1024>>
    %l = cute.static : !cute.layout<"(32,16):(17,1)">
    %s = cute.make_view(%p, %l)
    %tile = cute.static : !cute.tile<"[32:1;16:1]">
    %zero = cute.static : !cute.coord<"(0,0)">
    %from = cute.local_tile(%x, %tile, %zero)
    %a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
    // expected-remark@+1 {{has its threads in the order ((16,8),4):((32,1),8): 256 sectors become 32, 8 wavefronts become 16}}
    %copy = cute.make_tiled_copy(%a) {cute.coalesce} : (!cute_nvgpu.atom.universal_copy<f32>) -> !tiled
    %c = cute.make_coord(%tid) : (i32) -> !cute.coord<"?">
    %0 = cute.tiled.copy.partition_S(%copy, %from, %c)
    %1 = cute.tiled.copy.partition_D(%copy, %s, %c)
    cute.copy(%copy, %0, %1)
    gpu.return
  }
}

// -----

// Registers belong to a thread.
// CHECK-LABEL: gpu.func @registers
// CHECK:         cute.make_tiled_copy{{.*}}"((32,4),4):((1,32),128)"
!tiled = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32>, layout_copy_tv = <"((32,4),4):((1,32),128)">, tiler_mn = <"[32:1;16:1]">>
gpu.module @kernels {
  gpu.func @registers(%x: !cute.memref<f32, gmem, align<16>, "(32,16):(16,1)">) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
    // expected-remark@+1 {{touches 256 sectors instead of 32, but keeps its threads: a thread keeps the copied elements in registers (line 17)}}
    %copy = cute.make_tiled_copy(%a) {cute.coalesce} : (!cute_nvgpu.atom.universal_copy<f32>) -> !tiled
    %c = cute.make_coord(%tid) : (i32) -> !cute.coord<"?">
    %0 = cute.tiled.copy.partition_S(%copy, %x, %c)
    %l = cute.static : !cute.layout<"((1,4),1,1):((0,1),0,0)">
    %r = cute.memref.alloca(%l) : (!cute.layout<"((1,4),1,1):((0,1),0,0)">) -> !cute.memref<f32, rmem, align<16>, "((1,4),1,1):((0,1),0,0)">
    cute.copy(%copy, %0, %r)
    gpu.return
  }
}

// -----

// Half of the threads copy: which half may not change.
// CHECK-LABEL: gpu.func @some
// CHECK:         cute.make_tiled_copy{{.*}}"((32,4),4):((1,32),128)"
!tiled = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32>, layout_copy_tv = <"((32,4),4):((1,32),128)">, tiler_mn = <"[32:1;16:1]">>
gpu.module @kernels {
  gpu.func @some(%x: !cute.memref<f32, gmem, align<16>, "(32,16):(16,1)">, %y: !cute.memref<f32, gmem, align<16>, "(32,16):(16,1)">) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %half = arith.constant 64 : i32
    %first = arith.cmpi slt, %tid, %half : i32
    %a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
    // expected-remark@+1 {{touches 512 sectors instead of 64, but keeps its threads: not all threads reach it (line 19)}}
    %copy = cute.make_tiled_copy(%a) {cute.coalesce} : (!cute_nvgpu.atom.universal_copy<f32>) -> !tiled
    %c = cute.make_coord(%tid) : (i32) -> !cute.coord<"?">
    %0 = cute.tiled.copy.partition_S(%copy, %x, %c)
    %1 = cute.tiled.copy.partition_D(%copy, %y, %c)
    scf.if %first {
      cute.copy(%copy, %0, %1)
    }
    gpu.return
  }
}

// -----

// What needs no other order, and what has the best one already.
// CHECK-LABEL: gpu.func @left
!rows = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32>, layout_copy_tv = <"((16,8),4):((32,1),8)">, tiler_mn = <"[32:1;16:1]">>
!wide = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32>, layout_copy_tv = <"(32,1):(1,0)">, tiler_mn = <"[32:1;1:1]">>
gpu.module @kernels {
  gpu.func @left(%x: !cute.memref<f32, gmem, align<16>, "(32,16):(16,1)">, %y: !cute.memref<f32, gmem, align<16>, "(32,16):(16,1)">) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
    // expected-remark@+1 {{is coalesced: 64 sectors in 16 requests}}
    %0 = cute.make_tiled_copy(%a) {cute.coalesce} : (!cute_nvgpu.atom.universal_copy<f32>) -> !rows
    // expected-remark@+1 {{but keeps its threads: they follow the order of the tensor's elements already}}
    %1 = cute.make_tiled_copy(%a) {cute.coalesce} : (!cute_nvgpu.atom.universal_copy<f32>) -> !wide
    %c = cute.make_coord(%tid) : (i32) -> !cute.coord<"?">
    %2 = cute.tiled.copy.partition_S(%0, %x, %c)
    %3 = cute.tiled.copy.partition_D(%0, %y, %c)
    cute.copy(%0, %2, %3)
    %4 = cute.tiled.copy.partition_S(%1, %x, %c)
    %5 = cute.tiled.copy.partition_D(%1, %y, %c)
    cute.copy(%1, %4, %5)
    gpu.return
  }
}
