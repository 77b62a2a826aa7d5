// Communication and synchronization of threads: reductions, shuffles, votes, barriers, fences, mbarriers, pipeline states,
// groups of asynchronous operations, clusters and distributed shared memory.
#ifndef CUTE_IR_NVGPU_ARCH_OPS_TD
#define CUTE_IR_NVGPU_ARCH_OPS_TD

include "lib/ir/dialects/cute_nvgpu_ops.td"

// No traits describe the effects of these operations, so that they are neither moved nor merged.
def CuteNvgpu_Exchanged : AnyTypeOf<[I32, F32], "i32 or f32">;

def CuteNvgpu_Lanes
    : ConfinedAttr<I32Attr, [AttrConstraint<CPred<"::llvm::is_contained({2, 4, 8, 16, 32}, ::llvm::cast<::mlir::IntegerAttr>($_self).getInt())">, "whose value is 2, 4, 8, 16 or 32">]>;

// ---- warps ----
def CuteNvgpu_WarpAllReduceOp : CuteNvgpu_Op<"arch.warp_all_reduce", [SameOperandsAndResultType]> {
  let summary = "Reduces a value over the lanes of a warp; all lanes get the result";
  let description = [{
    `kind` is `add`, `mul`, `min` or `max` (signed), `and`, `or` or `xor`; the first four also of floats.
    Floats are combined in the order of a butterfly (lane distance 16, 8, 4, 2, 1), which is the same in all
    lanes. With `lanes`, 2 to 16, each group of that many adjacent lanes is reduced separately. All 32 lanes
    must participate.

    Errors: `lanes` that is not a power of two up to 32; `and`, `or` and `xor` of floats (on lowering).

    ```mlir
    %s = cute_nvgpu.arch.warp_all_reduce<{kind = "add"}> (%x) : (f32) -> f32
    %q = cute_nvgpu.arch.warp_all_reduce<{kind = "max", lanes = 4 : i32}> (%x) : (f32) -> f32
    ```
  }];
  let arguments = (ins CuteNvgpu_Exchanged:$value, Cute_Choice<"add mul min max and or xor">:$kind, OptionalAttr<CuteNvgpu_Lanes>:$lanes);
  let results = (outs CuteNvgpu_Exchanged:$result);
}
def CuteNvgpu_WarpBroadcastOp : CuteNvgpu_Op<"arch.warp_broadcast", [AllTypesMatch<["value", "result"]>]> {
  let summary = "Broadcasts the value of one lane to the warp";
  let description = [{
    The default is lane 0. All 32 lanes must participate.

    ```mlir
    %b = cute_nvgpu.arch.warp_broadcast(%x, %lane) : (f32, i32) -> f32
    ```
  }];
  let arguments = (ins CuteNvgpu_Exchanged:$value, Optional<I32>:$lane);
  let results = (outs CuteNvgpu_Exchanged:$result);
}
def CuteNvgpu_ShuffleOp : CuteNvgpu_Op<"arch.shuffle", [AllTypesMatch<["value", "result"]>]> {
  let summary = "Returns the value of another lane";
  let description = [{
    The source lane is the operand (`idx`), that many lanes below (`up`) or above (`down`), or the XOR of the
    lane number and the operand (`bfly`). If the source lane does not exist, the result is the lane's own
    value. All 32 lanes must participate.

    ```mlir
    %y = cute_nvgpu.arch.shuffle<{mode = "bfly"}> (%x, %mask) : (f32, i32) -> f32
    ```
  }];
  let arguments = (ins CuteNvgpu_Exchanged:$value, I32:$lane, Cute_Choice<"idx up down bfly">:$mode);
  let results = (outs CuteNvgpu_Exchanged:$result);
}
def CuteNvgpu_VoteOp : CuteNvgpu_Op<"arch.vote"> {
  let summary = "Votes on a predicate across the warp";
  let description = [{
    `all`, `any` and `uni` (all equal) return an `i1`, `ballot` an `i32` with one bit per lane. All 32 lanes
    must participate.

    ```mlir
    %y = cute_nvgpu.arch.vote<{kind = "ballot"}> (%p) : (i1) -> i32
    ```
  }];
  let arguments = (ins I1:$pred, Cute_Choice<"all any uni ballot">:$kind);
  let results = (outs AnyTypeOf<[I1, I32]>:$result);
}
def CuteNvgpu_WarpSyncOp : CuteNvgpu_Op<"arch.warp_sync"> {
  let summary = "Synchronizes the lanes of a warp";
  let description = [{
    Waits for the lanes of the mask, by default all. Memory accesses before it are visible to those lanes
    after it.

    ```mlir
    cute_nvgpu.arch.warp_sync() : () -> ()
    ```
  }];
  let arguments = (ins Optional<I32>:$mask);
}

// ---- blocks and clusters ----
def CuteNvgpu_BlockSyncOp : CuteNvgpu_Op<"arch.block_sync"> {
  let summary = "Synchronizes the threads of a block";
  let description = [{
    Memory accesses before it are visible to all threads of the block after it.

    ```mlir
    cute_nvgpu.arch.block_sync() : () -> ()
    ```
  }];
}
def CuteNvgpu_NamedBarrierSyncOp : CuteNvgpu_Op<"arch.named_barrier_sync"> {
  let summary = "Synchronizes a number of threads at barrier 0 to 15";
  let description = [{
    The number of threads is a multiple of 32.

    ```mlir
    cute_nvgpu.arch.named_barrier_sync(%id, %threads) : (i32, i32) -> ()
    ```
  }];
  let arguments = (ins I32:$barrier, I32:$threads);
}
def CuteNvgpu_NamedBarrierVoteOp : CuteNvgpu_Op<"arch.named_barrier_vote"> {
  let summary = "Synchronizes a number of threads at barrier 0 to 15, and votes on a predicate across them";
  let description = [{
    `or`: whether it is true of any of the threads, `and`: of all of them. The number of threads is a multiple of 32. PTX ISA, "barrier{.cta}.red".

    ```mlir
    %some = cute_nvgpu.arch.named_barrier_vote<or> (%id, %threads, %p) : (i32, i32, i1) -> i1
    ```
  }];
  let arguments = (ins I32:$barrier, I32:$threads, I1:$pred, Cute_Choice<"or and">:$kind);
  let results = (outs I1:$result);
}
def CuteNvgpu_NamedBarrierArriveOp : CuteNvgpu_Op<"arch.named_barrier_arrive"> {
  let summary = "Arrives at barrier 0 to 15 without waiting";
  let description = [{
    ```mlir
    cute_nvgpu.arch.named_barrier_arrive(%id, %threads) : (i32, i32) -> ()
    ```
  }];
  let arguments = (ins I32:$barrier, I32:$threads);
}
def CuteNvgpu_ClusterArriveOp : CuteNvgpu_Op<"arch.cluster_arrive"> {
  let summary = "Arrives at the cluster barrier (sm_90 or later)";
  let description = [{
    With `relaxed`, the arrival does not order memory accesses.

    ```mlir
    cute_nvgpu.arch.cluster_arrive() : () -> ()
    ```
  }];
  let arguments = (ins UnitAttr:$relaxed);
}
def CuteNvgpu_ClusterWaitOp : CuteNvgpu_Op<"arch.cluster_wait"> {
  let summary = "Waits for all threads of the cluster to arrive (sm_90 or later)";
  let description = [{
    ```mlir
    cute_nvgpu.arch.cluster_wait() : () -> ()
    ```
  }];
}
def CuteNvgpu_FenceOp : CuteNvgpu_Op<"arch.fence"> {
  let summary = "Memory fence at a scope";
  let description = [{
    `fence.acq_rel`, or `fence.sc` with `order = "sc"`. The scope is the block (`cta`), the cluster
    (`cluster`, sm_90 or later), the device (`gpu`) or the system (`sys`).

    ```mlir
    cute_nvgpu.arch.fence<{order = "acq_rel", scope = "cta"}> () : () -> ()
    ```
  }];
  let arguments = (ins Cute_Choice<"acq_rel sc">:$order, Cute_Choice<"cta cluster gpu sys">:$scope);
}

// ---- asynchronous copies ----
def CuteNvgpu_CpAsyncCommitOp : CuteNvgpu_Op<"arch.cp_async_commit_group"> {
  let summary = "Commits the preceding `cp.async` operations of the thread to a group";
  let description = [{
    ```mlir
    cute_nvgpu.arch.cp_async_commit_group() : () -> ()
    ```
  }];
}
def CuteNvgpu_CpAsyncWaitOp : CuteNvgpu_Op<"arch.cp_async_wait_group"> {
  let summary = "Waits until at most N `cp.async` groups of the thread are pending";
  let description = [{
    Other threads see the copied data after a barrier.

    ```mlir
    cute_nvgpu.arch.cp_async_wait_group<1> () : () -> ()
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$groups);
}

// ---- mbarriers ----
// An mbarrier is a `!cute.ptr<i64, smem>`. `rank` selects the mbarrier at the same offset in that block of the cluster.
def CuteNvgpu_Blocks : Cute_Choice<"cta cluster">;
class CuteNvgpu_MbarrierOp<string m> : CuteNvgpu_Op<"arch." # m>;

def CuteNvgpu_MbarrierInitOp : CuteNvgpu_MbarrierOp<"mbarrier_init"> {
  let summary = "Initializes an mbarrier with the arrival count of its phases";
  let description = [{
    Executed by one thread; `mbarrier_init_fence` and a barrier of the block or cluster must follow before
    other threads use it. The first phase is phase 0. Requires sm_80 or later.

    Errors, as for all mbarrier operations: a pointer that is not to 64 bits of shared memory, or not aligned
    to 8 bytes.

    ```mlir
    cute_nvgpu.arch.mbarrier_init(%bar, %count) : (!cute.ptr<i64, smem>, i32) -> ()
    ```
  }];
  let arguments = (ins Cute_PtrType:$barrier, I32:$count);
}
def CuteNvgpu_MbarrierInvalOp : CuteNvgpu_MbarrierOp<"mbarrier_inval"> {
  let summary = "Invalidates an mbarrier, so that its memory can be reused";
  let description = [{
    Requires sm_80 or later.

    ```mlir
    cute_nvgpu.arch.mbarrier_inval(%bar) : (!cute.ptr<i64, smem>) -> ()
    ```
  }];
  let arguments = (ins Cute_PtrType:$barrier);
}
def CuteNvgpu_MbarrierInitFenceOp : CuteNvgpu_Op<"arch.mbarrier_init_fence"> {
  let summary = "Makes initialized mbarriers visible to the cluster and to asynchronous copies";
  let description = [{
    `fence.mbarrier_init`; a barrier must follow. Requires sm_90 or later. `arch.fence_mbarrier_init` is
    accepted as an alias.

    ```mlir
    cute_nvgpu.arch.mbarrier_init_fence() : () -> ()
    ```
  }];
}
def CuteNvgpu_MbarrierArriveOp : CuteNvgpu_MbarrierOp<"mbarrier_arrive"> {
  let summary = "Arrives at an mbarrier";
  let description = [{
    Arrives once, or `count` times. Writes of the thread before it are visible to threads that wait for the
    phase. Requires sm_80 or later; a count, or the mbarrier of another block, requires sm_90 or later. A
    thread that only read, for example one that releases a buffer, can set `reads_only`: its writes need not
    be visible to the other block, which saves a fence at cluster scope.

    Errors: a count below 1 or above 1048575.

    ```mlir
    cute_nvgpu.arch.mbarrier_arrive(%bar, %rank) : (!cute.ptr<i64, smem>, i32) -> ()
    cute_nvgpu.arch.mbarrier_arrive<{count = 4 : i32}> (%bar) : (!cute.ptr<i64, smem>) -> ()
    ```
  }];
  let arguments = (ins Cute_PtrType:$barrier, Optional<I32>:$rank, OptionalAttr<I32Attr>:$count, UnitAttr:$reads_only);
}
class CuteNvgpu_MbarrierBytesOp<string m> : CuteNvgpu_MbarrierOp<m> {
  let arguments = (ins Cute_PtrType:$barrier, I32:$bytes, Optional<I32>:$rank);
}
def CuteNvgpu_MbarrierExpectTxOp : CuteNvgpu_MbarrierBytesOp<"mbarrier_expect_tx"> {
  let summary = "Increases the expected bytes of the current phase";
  let description = [{
    Counts the bytes of asynchronous copies that signal the mbarrier. Requires sm_90 or later.

    ```mlir
    cute_nvgpu.arch.mbarrier_expect_tx(%bar, %bytes) : (!cute.ptr<i64, smem>, i32) -> ()
    ```
  }];
}
def CuteNvgpu_MbarrierArriveAndExpectTxOp : CuteNvgpu_MbarrierBytesOp<"mbarrier_arrive_and_expect_tx"> {
  let summary = "Increases the expected bytes of the current phase and arrives";
  let description = [{
    Requires sm_90 or later.

    ```mlir
    cute_nvgpu.arch.mbarrier_arrive_and_expect_tx(%bar, %bytes) : (!cute.ptr<i64, smem>, i32) -> ()
    ```
  }];
}
def CuteNvgpu_MbarrierCompleteTxOp : CuteNvgpu_MbarrierBytesOp<"mbarrier_complete_tx"> {
  let summary = "Completes a number of expected bytes without a copy";
  let description = [{
    Requires sm_90 or later.

    ```mlir
    cute_nvgpu.arch.mbarrier_complete_tx(%bar, %bytes) : (!cute.ptr<i64, smem>, i32) -> ()
    ```
  }];
}
def CuteNvgpu_MbarrierWaitOp : CuteNvgpu_MbarrierOp<"mbarrier_wait"> {
  let summary = "Waits until the phase with a parity is complete";
  let description = [{
    `phase` is the parity: 0 for the first phase, 1 for the second, and so on; on a new mbarrier, parity 1
    counts as complete. The thread retries until the phase is complete. `scope` is the scope of writes that
    are visible afterwards: the block (`cta`, default) or the `cluster`. Requires sm_90 or later.

    ```mlir
    cute_nvgpu.arch.mbarrier_wait(%bar, %phase) : (!cute.ptr<i64, smem>, i32) -> ()
    ```
  }];
  let arguments = (ins Cute_PtrType:$barrier, I32:$phase, OptionalAttr<CuteNvgpu_Blocks>:$scope);
}
class CuteNvgpu_MbarrierAskOp<string m> : CuteNvgpu_MbarrierOp<m> {
  let arguments = (ins Cute_PtrType:$barrier, I32:$phase, OptionalAttr<CuteNvgpu_Blocks>:$scope);
  let results = (outs I1:$complete);
}
def CuteNvgpu_MbarrierTryWaitOp : CuteNvgpu_MbarrierAskOp<"mbarrier_try_wait"> {
  let summary = "Waits for a limited time; returns whether the phase with a parity is complete";
  let description = [{
    Requires sm_90 or later.

    ```mlir
    %done = cute_nvgpu.arch.mbarrier_try_wait(%bar, %phase) : (!cute.ptr<i64, smem>, i32) -> i1
    ```
  }];
}
def CuteNvgpu_MbarrierTestWaitOp : CuteNvgpu_MbarrierAskOp<"mbarrier_test_wait"> {
  let summary = "Tests whether the phase with a parity is complete";
  let description = [{
    Requires sm_80 or later; with a scope, sm_90 or later.

    ```mlir
    %done = cute_nvgpu.arch.mbarrier_test_wait(%bar, %phase) : (!cute.ptr<i64, smem>, i32) -> i1
    ```
  }];
}
def CuteNvgpu_MbarrierConditionalTryWaitOp : CuteNvgpu_MbarrierOp<"mbarrier_conditional_try_wait"> {
  let summary = "If the condition is true, mbarrier_try_wait; otherwise returns true";
  let description = [{
    Requires sm_90 or later.

    ```mlir
    %done = cute_nvgpu.arch.mbarrier_conditional_try_wait(%cond, %bar, %phase) : (i1, !cute.ptr<i64, smem>, i32) -> i1
    ```
  }];
  let arguments = (ins I1:$cond, Cute_PtrType:$barrier, I32:$phase, OptionalAttr<CuteNvgpu_Blocks>:$scope);
  let results = (outs I1:$complete);
}
def CuteNvgpu_CpAsyncMbarrierArriveOp : CuteNvgpu_MbarrierOp<"cp_async_mbarrier_arrive"> {
  let summary = "Arrives at an mbarrier when the preceding `cp.async` of the thread complete";
  let description = [{
    Also increments the pending count of the phase, so that this arrival need not be included in its count.
    Requires sm_80 or later.

    ```mlir
    cute_nvgpu.arch.cp_async_mbarrier_arrive(%bar) : (!cute.ptr<i64, smem>) -> ()
    ```
  }];
  let arguments = (ins Cute_PtrType:$barrier);
}
def CuteNvgpu_CpAsyncMbarrierArriveNoincOp : CuteNvgpu_MbarrierOp<"cp_async_mbarrier_arrive_noinc"> {
  let summary = "The same as cp_async_mbarrier_arrive, for an arrival included in the count";
  let description = [{
    Requires sm_80 or later.

    ```mlir
    cute_nvgpu.arch.cp_async_mbarrier_arrive_noinc(%bar) : (!cute.ptr<i64, smem>) -> ()
    ```
  }];
  let arguments = (ins Cute_PtrType:$barrier);
}

// ---- pipeline states ----
// A state is the index of a stage and the parity of its phase, two i32.
class CuteNvgpu_PipelineOp<string m> : CuteNvgpu_Op<"arch." # m, [Pure]> {
  let results = (outs I32:$index, I32:$phase);
}
def CuteNvgpu_PipelineStartOp : CuteNvgpu_PipelineOp<"pipeline_start"> {
  let summary = "Initial pipeline state of a producer or consumer";
  let description = [{
    Stage 0. The phase of a producer is 1, so that it finds new buffers empty; that of a consumer is 0.

    ```mlir
    %i, %p = cute_nvgpu.arch.pipeline_start<{whose = "producer"}> () : () -> (i32, i32)
    ```
  }];
  let arguments = (ins Cute_Choice<"producer consumer">:$whose);
}
def CuteNvgpu_PipelineAdvanceOp : CuteNvgpu_PipelineOp<"pipeline_advance"> {
  let summary = "Advances a pipeline state by one or `count` stages";
  let description = [{
    After the last of `stages`, the state continues at stage 0 with the opposite phase. `count` is not
    negative.

    Errors: fewer than 1 stage.

    ```mlir
    %j, %q = cute_nvgpu.arch.pipeline_advance<{stages = 4 : i32}> (%i, %p) : (i32, i32) -> (i32, i32)
    ```
  }];
  let arguments = (ins I32:$from_index, I32:$from_phase, Optional<I32>:$count, ConfinedAttr<I32Attr, [IntPositive]>:$stages);
}
def CuteNvgpu_PipelineIndexOfOp : CuteNvgpu_PipelineOp<"pipeline_index_of"> {
  let summary = "Pipeline state after `count` stages";
  let description = [{
    pipeline_advance by `count`, which is not negative, from the initial state of a consumer, or of a producer
    if `whose` is "producer".

    ```mlir
    %i, %p = cute_nvgpu.arch.pipeline_index_of<{stages = 4 : i32, whose = "producer"}> (%count) : (i32) -> (i32, i32)
    ```
  }];
  let arguments = (ins I32:$count, ConfinedAttr<I32Attr, [IntPositive]>:$stages, OptionalAttr<Cute_Choice<"producer consumer">>:$whose);
}

// ---- groups of bulk copies and of wgmma ----
def CuteNvgpu_CpAsyncBulkCommitOp : CuteNvgpu_Op<"arch.cp_async_bulk_commit_group"> {
  let summary = "Commits the preceding bulk copies of the thread out of shared memory to a group";
  let description = [{
    Requires sm_90 or later.

    ```mlir
    cute_nvgpu.arch.cp_async_bulk_commit_group() : () -> ()
    ```
  }];
}
def CuteNvgpu_CpAsyncBulkWaitOp : CuteNvgpu_Op<"arch.cp_async_bulk_wait_group"> {
  let summary = "Waits until at most N bulk groups of the thread are pending";
  let description = [{
    With `read`, waits only until their source in shared memory has been read and can be overwritten. Requires
    sm_90 or later.

    ```mlir
    cute_nvgpu.arch.cp_async_bulk_wait_group<{groups = 1 : i32, read}> () : () -> ()
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$groups, UnitAttr:$read);
}
def CuteNvgpu_WgmmaFenceOp : CuteNvgpu_Op<"arch.wgmma_fence"> {
  let summary = "Orders register accesses of the warp before subsequent wgmma";
  let description = [{
    Required before the first wgmma and after registers of an accumulator or of A are modified. Requires
    sm_90a.

    ```mlir
    cute_nvgpu.arch.wgmma_fence() : () -> ()
    ```
  }];
}
def CuteNvgpu_WgmmaCommitOp : CuteNvgpu_Op<"arch.wgmma_commit_group"> {
  let summary = "Commits the preceding wgmma to a group";
  let description = [{
    Requires sm_90a.

    ```mlir
    cute_nvgpu.arch.wgmma_commit_group() : () -> ()
    ```
  }];
}
def CuteNvgpu_WgmmaWaitOp : CuteNvgpu_Op<"arch.wgmma_wait_group"> {
  let summary = "Waits until at most N wgmma groups are pending";
  let description = [{
    Requires sm_90a.

    ```mlir
    cute_nvgpu.arch.wgmma_wait_group<{groups = 0 : i32}> () : () -> ()
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<7>]>:$groups);
}

def CuteNvgpu_WarpgroupMmaOp : CuteNvgpu_Op<"arch.warpgroup_mma"> {
  let summary = "Synchronous wgmma of tiles: `D = A * B + C`";
  let description = [{
    The operands are a tiled MMA, A, B, C and an optional mbarrier; D is C, the same register tensor. It
    expands to `wgmma_fence`, `cute.gemm`, `wgmma_commit_group`, `wgmma_wait_group` of 0, and
    `mbarrier_arrive` of each thread, which releases the shared memory of A and B. All threads of the
    warpgroups must participate. Requires sm_90a.

    Errors: an atom other than `wgmma`; those of `cute.gemm`.

    ```mlir
    %d = cute_nvgpu.arch.warpgroup_mma(%mma, %a, %b, %c, %bar) : (!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>,
        !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,4):(0,0,2)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,4):(0,0,2)">,
        !cute.memref<f32, rmem, align<32>, "((2,2,8),1,1):((1,2,4),0,0)">, !cute.ptr<i64, smem>) -> !cute.memref<f32, rmem, align<32>, "((2,2,8),1,1):((1,2,4),0,0)">
    ```
  }];
  let arguments = (ins Cute_MmaAtom:$mma, Cute_Fragment:$a, Cute_Fragment:$b, Cute_Fragment:$c, Optional<Cute_PtrType>:$barrier);
  let results = (outs Cute_Fragment:$d);
}

// ---- fences between proxies ----
def CuteNvgpu_FenceProxyOp : CuteNvgpu_Op<"arch.fence_proxy"> {
  let summary = "Fence between the generic and another proxy";
  let description = [{
    With `kind` `async`, orders generic accesses and those of asynchronous copies and wgmma, to all memory or,
    with `async.global`, `async.shared::cta` and `async.shared::cluster`, to that memory. With `alias`, orders
    accesses to the same memory through different addresses. Requires sm_90 or later.

    ```mlir
    cute_nvgpu.arch.fence_proxy<{kind = "async.shared::cta"}> () : () -> ()
    ```
  }];
  let arguments = (ins Cute_Choice<"alias async async.global async.shared::cta async.shared::cluster">:$kind);
}
def CuteNvgpu_FenceViewAsyncSharedOp : CuteNvgpu_Op<"arch.fence_view_async_shared"> {
  let summary = "Makes writes to shared memory visible to subsequent TMA stores and wgmma";
  let description = [{
    `fence.proxy.async` for the shared memory of the block. Requires sm_90 or later.

    ```mlir
    cute_nvgpu.arch.fence_view_async_shared() : () -> ()
    ```
  }];
}
def CuteNvgpu_FenceProxyTensormapOp : CuteNvgpu_Op<"arch.fence_proxy_tensormap"> {
  let summary = "Orders writes to a tensor map before its use by TMA";
  let description = [{
    The writer releases; the user acquires and passes the address of the map. `scope` is the scope that
    includes the other thread. Requires sm_90 or later.

    Errors: an acquire without the address, a release with one.

    ```mlir
    cute_nvgpu.arch.fence_proxy_tensormap<{order = "acquire", scope = "gpu"}> (%map) : (!cute.ptr<i64, gmem, align<128>>) -> ()
    ```
  }];
  let arguments = (ins Optional<Cute_PtrType>:$map, Cute_Choice<"acquire release">:$order, Cute_Choice<"cta cluster gpu sys">:$scope);
}

def CuteNvgpu_CpFenceTmaDescReleaseOp : CuteNvgpu_Op<"arch.cp_fence_tma_desc_release"> {
  let summary = "Copies a tensor map from shared to global memory and releases it";
  let description = [{
    `tensormap.cp_fenceproxy`. The whole warp must execute it, after a barrier that follows the writes to the
    map. Users of the map in global memory acquire it with `fence_proxy_tensormap`; `scope` is the scope that
    includes them. Requires sm_90 or later.

    ```mlir
    cute_nvgpu.arch.cp_fence_tma_desc_release<{scope = "gpu"}> (%map, %changed) : (!cute.ptr<i64, gmem, align<128>>, !cute.ptr<i64, smem, align<128>>) -> ()
    ```
  }];
  let arguments = (ins Cute_PtrType:$map, Cute_PtrType:$from, Cute_Choice<"cta cluster gpu sys">:$scope);
}

// ---- clusters and their shared memory, dependent launches ----
def CuteNvgpu_BarrierClusterOp : CuteNvgpu_Op<"arch.barrier_cluster"> {
  let summary = "Synchronizes the threads of a cluster";
  let description = [{
    `cluster_arrive` followed by `cluster_wait`: memory accesses before it are visible to all threads of the
    cluster after it. Requires sm_90 or later.

    ```mlir
    cute_nvgpu.arch.barrier_cluster() : () -> ()
    ```
  }];
}
class CuteNvgpu_ReadOp<string m, string what> : CuteNvgpu_Op<"arch." # m, [NoMemoryEffect]> {
  let summary = what;
}
class CuteNvgpu_Read3Op<string m, string what> : CuteNvgpu_ReadOp<m, what> {
  let description = "Requires sm_90 or later.\n\n```mlir\n%x, %y, %z = cute_nvgpu.arch." # m # "() : () -> (i32, i32, i32)\n```";
  let results = (outs I32:$x, I32:$y, I32:$z);
}
class CuteNvgpu_Read1Op<string m, string type, Type result, string what, string more> : CuteNvgpu_ReadOp<m, what> {
  let description = more # "\n\n```mlir\n%x = cute_nvgpu.arch." # m # "() : () -> " # type # "\n```";
  let results = (outs result:$x);
}
def CuteNvgpu_BlockInClusterIdxOp : CuteNvgpu_Read3Op<"block_in_cluster_idx", "Index of the block in its cluster">;
def CuteNvgpu_BlockInClusterDimOp : CuteNvgpu_Read3Op<"block_in_cluster_dim", "Dimensions of the cluster in blocks">;
def CuteNvgpu_ClusterIdxOp : CuteNvgpu_Read3Op<"cluster_idx", "Index of the cluster in the grid">;
def CuteNvgpu_ClusterDimOp : CuteNvgpu_Read3Op<"cluster_dim", "Dimensions of the grid in clusters">;
def CuteNvgpu_BlockRankOp : CuteNvgpu_Read1Op<"block_idx_in_cluster", "i32", I32, "Rank of the block in its cluster", "x is the fastest dimension. Requires sm_90 or later.">;
def CuteNvgpu_ClusterSizeOp : CuteNvgpu_Read1Op<"cluster_size", "i32", I32, "Number of blocks in the cluster", "Requires sm_90 or later.">;
def CuteNvgpu_SmIdOp : CuteNvgpu_Read1Op<"sm_id", "i32", I32, "Multiprocessor that executes the thread", "The value can change during execution.">;
def CuteNvgpu_ClockOp : CuteNvgpu_Op<"arch.clock"> {
  let summary = "Cycle counter of the multiprocessor";
  let description = [{
    ```mlir
    %x = cute_nvgpu.arch.clock() : () -> i64
    ```
  }];
  let results = (outs I64:$x);
}
def CuteNvgpu_GlobalTimerOp : CuteNvgpu_Op<"arch.globaltimer"> {
  let summary = "Global timer in nanoseconds";
  let description = [{
    ```mlir
    %x = cute_nvgpu.arch.globaltimer() : () -> i64
    ```
  }];
  let results = (outs I64:$x);
}
def CuteNvgpu_MapDsmemPtrOp : CuteNvgpu_Op<"arch.map_dsmem_ptr", [Pure]> {
  let summary = "Maps a shared-memory address to another block of the cluster";
  let description = [{
    The result has the space `dsmem`, which loads, stores and copies support. The other block must have
    started and must not have exited: synchronize the cluster before and after the accesses. Requires sm_90 or
    later.

    Errors: a pointer that is not to shared memory, or has a swizzle.

    ```mlir
    %there = cute_nvgpu.arch.map_dsmem_ptr(%p, %rank) : (!cute.ptr<f32, smem, align<16>>, i32) -> !cute.ptr<f32, dsmem, align<16>>
    ```
  }];
  let arguments = (ins Cute_PtrType:$ptr, I32:$rank);
  let results = (outs Cute_PtrType:$there);
}
def CuteNvgpu_StAsyncOp : CuteNvgpu_Op<"arch.st_async"> {
  let summary = "Asynchronously stores to the shared memory of another block and signals its mbarrier";
  let description = [{
    Both pointers are to shared memory of this block; the operation uses the same offsets in block `rank`. The
    thread that waits for the mbarrier must expect the bytes. The value has 32 or 64 bits, or is a vector of
    one, two or four 32-bit or one or two 64-bit elements. Requires sm_90 or later.

    Errors: an unsupported value, a pointer to other elements, less alignment than the size of the value.

    ```mlir
    cute_nvgpu.arch.st_async(%v, %p, %bar, %rank) : (f32, !cute.ptr<f32, smem>, !cute.ptr<i64, smem>, i32) -> ()
    ```
  }];
  let arguments = (ins AnyTypeOf<[I32, I64, F32, F64, VectorOfLengthAndType<[1, 2, 4], [I32, F32]>, VectorOfLengthAndType<[1, 2], [I64, F64]>],
                                 "32 or 64 bits, or a vector of up to 128">:$value,
                   Cute_PtrType:$ptr, Cute_PtrType:$barrier, I32:$rank);
}
def CuteNvgpu_GriddepcontrolWaitOp : CuteNvgpu_Op<"arch.griddepcontrol_wait"> {
  let summary = "Waits for the completion of the prerequisite grids";
  let description = [{
    Their writes are visible after it. Used with launches that may start before their predecessor completes.
    Requires sm_90 or later.

    ```mlir
    cute_nvgpu.arch.griddepcontrol_wait() : () -> ()
    ```
  }];
}
def CuteNvgpu_GriddepcontrolLaunchOp : CuteNvgpu_Op<"arch.griddepcontrol_launch_dependents"> {
  let summary = "Allows dependent grids to launch";
  let description = [{
    They launch when all blocks have executed it or exited. Requires sm_90 or later.

    ```mlir
    cute_nvgpu.arch.griddepcontrol_launch_dependents() : () -> ()
    ```
  }];
}

// ---- leader election, register reallocation ----
def CuteNvgpu_ElectOneOp : CuteNvgpu_Op<"arch.elect_one"> {
  let summary = "Elects one lane of the warp";
  let description = [{
    True in exactly one lane, the same each time. All 32 lanes must participate. Requires sm_90 or later.
    `arch.elect` is accepted as an alias.

    ```mlir
    %one = cute_nvgpu.arch.elect_one() : () -> i1
    ```
  }];
  let results = (outs I1:$elected);
}
class CuteNvgpu_SetMaxRegisterOp<string which> : CuteNvgpu_Op<"arch.setmaxregister_" # which> {
  let arguments = (ins I32Attr:$registers);
}
def CuteNvgpu_SetMaxRegisterIncreaseOp : CuteNvgpu_SetMaxRegisterOp<"increase"> {
  let summary = "Raises the register limit of the threads of a warpgroup";
  let description = [{
    Waits until enough registers have been released by other warpgroups. All warps of the warpgroup must
    execute it. Requires an architecture-specific target, sm_90a or later.

    Errors: a number that is not a multiple of 8 from 24 to 256.

    ```mlir
    cute_nvgpu.arch.setmaxregister_increase<{registers = 232 : i32}> () : () -> ()
    ```
  }];
}
def CuteNvgpu_SetMaxRegisterDecreaseOp : CuteNvgpu_SetMaxRegisterOp<"decrease"> {
  let summary = "Lowers the register limit of the threads of a warpgroup";
  let description = [{
    Releases registers that setmaxregister_increase can acquire; it has the same requirements.

    ```mlir
    cute_nvgpu.arch.setmaxregister_decrease<{registers = 40 : i32}> () : () -> ()
    ```
  }];
}

#endif
