// RUN: cute-opt %s -cute-swizzle-optimization -remarks=cute-swizzle-optimization -split-input-file -verify-diagnostics | FileCheck %s
// RUN: cute-opt %s -cute-smem-swizzling=all=true -split-input-file | FileCheck %s --check-prefix=SMEM

// A tile that is written by rows and read by columns, with a swizzle that leaves 16 of the 32 ways: a better one.
// CHECK-LABEL: gpu.func @weak
// CHECK:         %[[B:.*]] = cute_nvgpu.arch.get_dyn_smem
// CHECK:         %[[P:.*]] = cute.recast_iter(%[[B]]) {{.*}} -> !cute.ptr<f32, smem, align<1024>, S<1,2,5>>
// CHECK-NEXT:    %[[Q:.*]] = cute.recast_iter(%[[P]]) {{.*}} -> !cute.ptr<f32, smem, align<1024>, S<5,2,5>>
// CHECK:         cute.make_view(%[[Q]], %{{[^)]*}}) : {{.*}} -> !cute.memref<f32, smem, align<1024>, S<5,2,5>, "(32,32):(32,1)">
// CHECK:         cute.make_view(%[[Q]], %{{.*}} -> !cute.memref<f32, smem, align<1024>, S<5,2,5>, "(32,32):(1,32)">
// SMEM-LABEL:  gpu.func @weak
// SMEM-NOT:      S<5,2,5>
// SMEM:          gpu.return
!simt = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32>, layout_copy_tv = <"((32,4),1):((4,1),0)">, tiler_mn = <"[4:1;32:1]">>
gpu.module @kernels {
  gpu.func @weak(%g: !cute.ptr<f32, gmem, align<16>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %b = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    // expected-remark@+1 {{S<5,2,5> on its addresses instead of its own: 272 wavefronts of the first warps become 32; the 16-way conflict at line 35 becomes none}}
    %p = cute.recast_iter(%b) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f32, smem, align<1024>, S<1,2,5>>
    %rows = cute.static : !cute.layout<"(32,32):(32,1)">
    %columns = cute.static : !cute.layout<"(32,32):(1,32)">
    %s = cute.make_view(%p, %rows)
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

// One that is as good as can be stays, one that makes conflicts goes; without one a tensor gets it unasked.
// CHECK-LABEL: gpu.func @others
// CHECK:         %[[K:.*]] = cute.recast_iter(%{{.*}}) {{.*}} -> !cute.ptr<f32, smem, align<4096>, S<5,2,5>>
// CHECK:         cute.make_view(%[[K]], %{{.*}}
!column = !cute.memref<f32, smem, align<4096>, S<5,2,5>, "(32,32):(32,1)">
gpu.module @kernels {
  gpu.func @others(%n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %x = arith.constant 1.0 : f32
    %l = cute.static : !cute.layout<"(32,32):(32,1)">
    %first = cute.make_coord(%tid) : (i32) -> !cute.coord<"(?,0)">
    %b = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<4096>>
    // expected-remark@+1 {{needs no other swizzle: the 1 requests of the first warps with known addresses have no bank conflicts}}
    %p = cute.recast_iter(%b) : (!cute.ptr<i8, smem, align<4096>>) -> !cute.ptr<f32, smem, align<4096>, S<5,2,5>>
    %good = cute.make_view(%p, %l)
    cute.memref.store(%good, %first, %x)
    gpu.return
  }
}

// -----

// Each thread has a bank of its own without a swizzle; with this one two share it.
// CHECK-LABEL: gpu.func @harmful
// CHECK:         cute.recast_iter(%{{.*}}) : (!cute.ptr<f32, smem, align<4096>, S<1,6,1>>) -> !cute.ptr<f32, smem, align<4096>>
// CHECK:         -> !cute.memref<f32, smem, align<4096>, "(16,2):(1,48)">
gpu.module @kernels {
  gpu.func @harmful(%n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %x = arith.constant 1.0 : f32
    %l = cute.static : !cute.layout<"(16,2):(1,48)">
    %first = cute.make_coord(%tid) : (i32) -> !cute.coord<"?">
    %b = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<4096>>
    // expected-remark@+1 {{no swizzle on its addresses instead of its own: 2 wavefronts of the first warps become 1; the 2-way conflict at line 17 becomes none}}
    %p = cute.recast_iter(%b) : (!cute.ptr<i8, smem, align<4096>>) -> !cute.ptr<f32, smem, align<4096>, S<1,6,1>>
    %s = cute.make_view(%p, %l)
    cute.memref.store(%s, %first, %x)
    gpu.return
  }
}
