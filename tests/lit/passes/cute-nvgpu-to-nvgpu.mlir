// RUN: cute-opt %s -cute-nvgpu-to-nvgpu -split-input-file | FileCheck %s

// CHECK: llvm.mlir.global external @__dynamic_shared_memory() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK-NOT: llvm.mlir.global
gpu.module @m {
  // CHECK-LABEL: gpu.func @memory
  gpu.func @memory(%g: !cute.ptr<i128, gmem>, %p: i1) kernel {
    // CHECK: llvm.mlir.addressof @__dynamic_shared_memory : !llvm.ptr<3>
    %s = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %again = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<16>>
    // CHECK: llvm.inline_asm "mov.u32 $0, %dynamic_smem_size;", "=r"
    %size = cute_nvgpu.arch.get_dyn_smem_size() : () -> i32
    %d = cute.recast_iter(%s) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<i128, smem>
    // CHECK: llvm.inline_asm has_side_effects "cp.async.cg.shared.global [$0], [$1], 16, $2;", "r,l,b"
    cute_nvgpu.arch.copy.SM80.cp_async<{cache_mode = #cute_nvgpu.load_cache_mode<global>}> (%d, %g, %p) : (!cute.ptr<i128, smem>, !cute.ptr<i128, gmem>, i1) -> ()
    %m = cute.recast_iter(%s) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f16, smem, align<16>>
    // CHECK: nvvm.ldmatrix %{{.*}} {layout = #nvvm.mma_layout<col>, num = 2 : i32}
    %v = cute_nvgpu.arch.copy.ldsm<{matrix_shape = #cute.shape<"(8,8)">, num_matrices = 2 : i32, sz_pattern = #cute_nvgpu.ldsm_sz_pattern<u16>, transpose}> (%m) : (!cute.ptr<f16, smem, align<16>>) -> vector<2xi32>
    // CHECK: nvvm.stmatrix
    cute_nvgpu.arch.copy.stsm<{matrix_shape = #cute.shape<"(8,8)">, num_matrices = 2 : i32}> (%m, %v) : (!cute.ptr<f16, smem, align<16>>, vector<2xi32>) -> ()
    // CHECK: nvvm.cp.async.commit.group
    cute_nvgpu.arch.cp_async_commit_group() : () -> ()
    // CHECK: nvvm.cp.async.wait.group 1
    cute_nvgpu.arch.cp_async_wait_group<{groups = 1 : i32}> () : () -> ()
    gpu.return
  }
  // CHECK-LABEL: gpu.func @threads
  gpu.func @threads(%x: f32, %i: i32, %p: i1) kernel {
    // CHECK-COUNT-5: nvvm.shfl.sync bfly
    %sum = cute_nvgpu.arch.warp_all_reduce<{kind = "add"}> (%x) : (f32) -> f32
    // CHECK: nvvm.redux.sync max
    %max = cute_nvgpu.arch.warp_all_reduce<{kind = "max"}> (%i) : (i32) -> i32
    // Of groups of 4 lanes: distances 2 and 1, of integers, too.
    // CHECK: %[[TWO:.*]] = arith.constant 2 : i32
    // CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %[[TWO]], %
    // CHECK: %[[ONE:.*]] = arith.constant 1 : i32
    // CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %[[ONE]], %
    // CHECK-NOT: nvvm.shfl.sync bfly
    // CHECK: nvvm.redux.sync
    // CHECK-COUNT-2: nvvm.shfl.sync bfly
    // CHECK-NOT: nvvm.shfl.sync bfly
    %quad = cute_nvgpu.arch.warp_all_reduce<{kind = "max", lanes = 4 : i32}> (%x) : (f32) -> f32
    %full = cute_nvgpu.arch.warp_all_reduce<{kind = "min", lanes = 32 : i32}> (%i) : (i32) -> i32
    %quads = cute_nvgpu.arch.warp_all_reduce<{kind = "add", lanes = 4 : i32}> (%i) : (i32) -> i32
    // CHECK: nvvm.shfl.sync idx
    %u = cute_nvgpu.arch.make_warp_uniform(%i) : (i32) -> i32
    // CHECK: nvvm.shfl.sync up
    %up = cute_nvgpu.arch.shuffle<{mode = "up"}> (%x, %i) : (f32, i32) -> f32
    // CHECK: llvm.call_intrinsic "llvm.nvvm.vote.any.sync"
    %any = cute_nvgpu.arch.vote<{kind = "any"}> (%p) : (i1) -> i1
    // CHECK: llvm.call_intrinsic "llvm.nvvm.vote.ballot.sync"
    %all = cute_nvgpu.arch.vote<{kind = "ballot"}> (%p) : (i1) -> i32
    // CHECK: nvvm.bar.warp.sync
    cute_nvgpu.arch.warp_sync() : () -> ()
    // CHECK: nvvm.barrier0
    cute_nvgpu.arch.block_sync() : () -> ()
    // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
    cute_nvgpu.arch.named_barrier_sync(%i, %i) : (i32, i32) -> ()
    // CHECK: llvm.inline_asm has_side_effects "bar.red.and.pred $0, $1, $2, $3;", "=b,r,r,b,~{memory}"
    %each = cute_nvgpu.arch.named_barrier_vote<and> (%i, %i, %p) : (i32, i32, i1) -> i1
    // CHECK: nvvm.barrier.arrive
    cute_nvgpu.arch.named_barrier_arrive(%i, %i) : (i32, i32) -> ()
    // CHECK: nvvm.cluster.arrive {aligned}
    cute_nvgpu.arch.cluster_arrive() : () -> ()
    // CHECK: nvvm.cluster.wait {aligned}
    cute_nvgpu.arch.cluster_wait() : () -> ()
    // CHECK: llvm.inline_asm has_side_effects "fence.acq_rel.gpu;", "~{memory}"
    cute_nvgpu.arch.fence<{order = "acq_rel", scope = "gpu"}> () : () -> ()
    gpu.return
  }
  // CHECK-LABEL: gpu.func @product
  gpu.func @product(%r: i32, %c: f32) kernel {
    // CHECK: llvm.inline_asm "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
    %d:4 = cute_nvgpu.arch.mma.SM80<{a_type = bf16, b_type = bf16, operandSegmentSizes = array<i32: 4, 2, 4>, shape_MNK = #cute.shape<"(16,8,16)">}>
        (%r, %r, %r, %r, %r, %r, %c, %c, %c, %c) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    gpu.return
  }
}

// A product that is done behind it is its fence, product, wait and arrival; the product is cute-nvgpu-mma-lowering's.
// CHECK-LABEL: func.func @product_of_a_warpgroup
// CHECK: wgmma.fence
// CHECK: cute.gemm(%arg0, %arg3, %arg1, %arg2, %arg3)
// CHECK: wgmma.commit
// CHECK: wgmma.wait
// CHECK: mbarrier.arrive
// CHECK: return %arg3
!p_mma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!p_view = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,4):(0,0,2)">
!p_sum = !cute.memref<f32, rmem, align<32>, "((2,2,8),1,1):((1,2,4),0,0)">
func.func @product_of_a_warpgroup(%mma: !p_mma, %a: !p_view, %b: !p_view, %c: !p_sum, %bar: !cute.ptr<i64, smem>) -> !p_sum {
  %d = cute_nvgpu.arch.warpgroup_mma(%mma, %a, %b, %c, %bar) : (!p_mma, !p_view, !p_view, !p_sum, !cute.ptr<i64, smem>) -> !p_sum
  return %d : !p_sum
}
