// RUN: cute-opt %s -cute-expand-ops -cute-nvgpu-copy-lowering -cute-nvgpu-mma-lowering -canonicalize | FileCheck %s
// RUN: cute-ptx -arch sm_90a %s | FileCheck %s --check-prefix=PTX

// A product has its accumulators in its place, four halves of a descriptor and whether it adds; the fence, the commit and the
// wait next to it are part of its statement, if they are for it alone. Else the fence and the wait have the accumulators as
// operands, and of the fence the registers of A.
!ss = !cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, mn), elem_type = (f16, f16, f32), frag_kind = ss>
!rs = !cute_nvgpu.sm90.mma<64x8x32, elem_type = (i8, ui8, i32), frag_kind = rs, satfinite>
gpu.module @m {
  // CHECK-LABEL: gpu.func @shared(
  // CHECK-DAG: %[[HIGH:.*]] = arith.constant 1073741888 : i32
  // CHECK-DAG: %[[LBO:.*]] = arith.constant 65536 : i32
  // CHECK: arith.ori %{{.*}}, %[[LBO]] : i32
  // Two steps of K on one accumulator are one statement; the second adds to the first in any case.
  // CHECK: arith.addi %{{.*}}, %{{.*}} : i32
  // CHECK: llvm.inline_asm has_side_effects "{ .reg .b64 a, b; wgmma.fence.sync.aligned; mov.b64 a, {$8,$9}; mov.b64 b, {$10,$11}; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0,$1,$2,$3}, a, b, $12, 1, 1, 0, 1; mov.b64 a, {$13,$9}; mov.b64 b, {$14,$11}; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0,$1,$2,$3}, a, b, $15, 1, 1, 0, 1; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; }", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,b,r,r,b,~{memory}"
  // CHECK-NOT: nvvm.wgmma
  // PTX-LABEL: .entry shared(
  // PTX: wgmma.fence.sync.aligned;
  // PTX-NOT: mov.f32
  // PTX: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {[[ACC:%f[0-9]+,%f[0-9]+,%f[0-9]+,%f[0-9]+]]}, a, b, %p{{[0-9]+}}, 1, 1, 0, 1;
  // PTX-NOT: mov.f32
  // PTX: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {[[ACC]]}, a, b,
  // PTX-NOT: mov.f32
  // PTX: wgmma.wait_group.sync.aligned 0;
  gpu.func @shared(%c: !cute.memref<f32, gmem, align<16>, "(64,8):(8,1)">) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %zero = arith.constant 0.0 : f32
    %atom = cute.make_atom : !ss
    %mma = cute.make_tiled_mma %atom
    %bytes = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %a = cute.recast_iter(%bytes) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
    %b = cute.recast_iter(%bytes) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f16, smem, align<1024>>
    %sA = cute.make_view %a, "(64,32):(64,1)"
    %sB = cute.make_view %b, "(8,(8,4)):(1,(8,64))"
    %tA = cute.tiled.mma.partition A (%mma, %sA, %t)
    %tB = cute.tiled.mma.partition B (%mma, %sB, %t)
    %tC = cute.tiled.mma.partition C (%mma, %c, %t)
    %fA = cute.mma.make_fragment A (%mma, %tA)
    %fB = cute.mma.make_fragment B (%mma, %tB)
    %fC = cute.mma.make_fragment C (%mma, %tC)
    cute.fill %fC, %zero
    nvvm.wgmma.fence.aligned
    cute.gemm %mma, %fC, %fA, %fB, %fC
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    %copy = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32>
    cute.copy %copy, %fC, %tC
    gpu.return
  }
  // CHECK-LABEL: gpu.func @registers(
  // CHECK: llvm.inline_asm has_side_effects "{ .reg .b64 a, b; wgmma.fence.sync.aligned; mov.b64 b, {$8,$9}; wgmma.mma_async.sync.aligned.m64n8k32.satfinite.s32.s8.u8 {$0,$1,$2,$3}, {$10,$11,$12,$13}, b, $14; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; }", "=r,=r,=r,=r,0,1,2,3,r,r,r,r,r,r,b,~{memory}"
  // PTX-LABEL: .entry registers(
  // PTX: wgmma.mma_async.sync.aligned.m64n8k32.satfinite.s32.s8.u8
  gpu.func @registers(%a: !cute.memref<i8, gmem, align<16>, "(64,32):(32,1)">, %c: !cute.memref<i32, gmem, align<16>, "(64,8):(8,1)">, %on: i1)
      kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %atom = cute.make_atom(%on) : (i1) -> !rs
    %mma = cute.make_tiled_mma %atom
    %bytes = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %b = cute.recast_iter(%bytes) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<ui8, smem, align<1024>, S<1,4,3>>
    %sB = cute.make_view %b, "(8,32):(32,1)"
    %tA = cute.tiled.mma.partition A (%mma, %a, %t)
    %tB = cute.tiled.mma.partition B (%mma, %sB, %t)
    %tC = cute.tiled.mma.partition C (%mma, %c, %t)
    %fA = cute.mma.make_fragment A (%mma, %tA)
    %fB = cute.mma.make_fragment B (%mma, %tB)
    %fC = cute.mma.make_fragment C (%mma, %tC)
    %word = cute.make_atom : !cute_nvgpu.atom.universal_copy<i8, 32 b>
    cute.copy %word, %tA, %fA
    nvvm.wgmma.fence.aligned
    cute.gemm %mma, %fC, %fA, %fB, %fC
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    %copy = cute.make_atom : !cute_nvgpu.atom.universal_copy<i32>
    cute.copy %copy, %fC, %tC
    gpu.return
  }
  // Two products between one fence and one wait, and a barrier: the statements are apart. A wait that leaves a group and the
  // product of another accumulator, too.
  // CHECK-LABEL: gpu.func @apart(
  // CHECK: llvm.inline_asm has_side_effects "wgmma.fence.sync.aligned;", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,~{memory}"
  // CHECK: llvm.inline_asm has_side_effects "{ .reg .b64 a, b; mov.b64 a,
  // CHECK-SAME: 0, 1; }", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,b,r,r,b"
  // CHECK: gpu.barrier
  // CHECK: llvm.inline_asm has_side_effects "{ .reg .b64 a, b; mov.b64 a,
  // CHECK-SAME: 0, 1; }", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,b,r,r,b"
  // CHECK: nvvm.wgmma.commit.group.sync.aligned
  // CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,~{memory}"
  // The fence is of the first one alone, the wait is not.
  // CHECK: llvm.inline_asm has_side_effects "{ .reg .b64 a, b; wgmma.fence.sync.aligned; mov.b64 a,
  // CHECK-SAME: 0, 1; }", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,b,r,r,b,~{memory}"
  // CHECK: nvvm.wgmma.commit.group.sync.aligned
  // CHECK: llvm.inline_asm has_side_effects "{ .reg .b64 a, b; wgmma.fence.sync.aligned; mov.b64 a,
  // CHECK: nvvm.wgmma.commit.group.sync.aligned
  // CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 1;", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,~{memory}"
  // CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;"
  gpu.func @apart(%c: !cute.memref<f32, gmem, align<16>, "(64,8):(8,1)">) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %zero = arith.constant 0.0 : f32
    %atom = cute.make_atom : !ss
    %mma = cute.make_tiled_mma %atom
    %bytes = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %a = cute.recast_iter(%bytes) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
    %b = cute.recast_iter(%bytes) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f16, smem, align<1024>>
    %sA = cute.make_view %a, "(64,32):(64,1)"
    %sB = cute.make_view %b, "(8,(8,4)):(1,(8,64))"
    %tA = cute.tiled.mma.partition A (%mma, %sA, %t)
    %tB = cute.tiled.mma.partition B (%mma, %sB, %t)
    %tC = cute.tiled.mma.partition C (%mma, %c, %t)
    %fA = cute.mma.make_fragment A (%mma, %tA)
    %fB = cute.mma.make_fragment B (%mma, %tB)
    %fC = cute.mma.make_fragment C (%mma, %tC)
    %fD = cute.mma.make_fragment C (%mma, %tC)
    cute.fill %fC, %zero
    cute.fill %fD, %zero
    nvvm.wgmma.fence.aligned
    cute.gemm %mma, %fC, %fA, %fB, %fC
    gpu.barrier
    cute.gemm %mma, %fD, %fA, %fB, %fD
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    nvvm.wgmma.fence.aligned
    cute.gemm %mma, %fC, %fA, %fB, %fC
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.fence.aligned
    cute.gemm %mma, %fD, %fA, %fB, %fD
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 1
    nvvm.wgmma.wait.group.sync.aligned 0
    %copy = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32>
    cute.copy %copy, %fC, %tC
    cute.copy %copy, %fD, %tC
    gpu.return
  }
}
