// What threads say to one another: reductions, shuffles, votes, barriers, fences, mbarriers and the stages of pipelines, groups of
// asynchronous operations, clusters and their shared memory.
#ifndef CUTE_IR_NVGPU_ARCH_OPS_TD
#define CUTE_IR_NVGPU_ARCH_OPS_TD

include "lib/ir/dialects/cute_nvgpu_ops.td"

// Nothing is known of their effects: they are neither moved nor merged.
def CuteNvgpu_Exchanged : AnyTypeOf<[I32, F32], "i32 or f32">;

def CuteNvgpu_Lanes
    : ConfinedAttr<I32Attr, [AttrConstraint<CPred<"::llvm::is_contained({2, 4, 8, 16, 32}, ::llvm::cast<::mlir::IntegerAttr>($_self).getInt())">, "whose value is 2, 4, 8, 16 or 32">]>;

// ---- warps ----
def CuteNvgpu_WarpAllReduceOp : CuteNvgpu_Op<"arch.warp_all_reduce", [SameOperandsAndResultType]> {
  let summary = "A reduction over all lanes of a warp, which all get";
  let description = [{
    `kind` is `add`, `mul`, `min` or `max` (signed), `and`, `or`, `xor`; of floats the first four. Floats are combined in the order of a butterfly
    (lane distance 16, 8, 4, 2, 1), the same in all lanes. With `lanes`, 2 to 16, each group of that many neighbours has a
    reduction of its own. All 32 lanes take part.

    Refused: another number of lanes than a power of two up to 32; `and`, `or` and `xor` of floats when it is lowered.

    ```mlir
    %s = cute_nvgpu.arch.warp_all_reduce<{kind = "add"}> (%x) : (f32) -> f32
    %q = cute_nvgpu.arch.warp_all_reduce<{kind = "max", lanes = 4 : i32}> (%x) : (f32) -> f32
    ```
  }];
  let arguments = (ins CuteNvgpu_Exchanged:$value, Cute_Choice<"add mul min max and or xor">:$kind, OptionalAttr<CuteNvgpu_Lanes>:$lanes);
  let results = (outs CuteNvgpu_Exchanged:$result);
}
def CuteNvgpu_WarpBroadcastOp : CuteNvgpu_Op<"arch.warp_broadcast", [AllTypesMatch<["value", "result"]>]> {
  let summary = "The value of one lane, for all lanes";
  let description = [{
    Of lane 0 without a second operand. All 32 lanes take part.

    ```mlir
    %b = cute_nvgpu.arch.warp_broadcast(%x, %lane) : (f32, i32) -> f32
    ```
  }];
  let arguments = (ins CuteNvgpu_Exchanged:$value, Optional<I32>:$lane);
  let results = (outs CuteNvgpu_Exchanged:$result);
}
def CuteNvgpu_ShuffleOp : CuteNvgpu_Op<"arch.shuffle", [AllTypesMatch<["value", "result"]>]> {
  let summary = "The value of another lane";
  let description = [{
    `mode` says which: the lane itself (`idx`), that many below (`up`) or above (`down`), or the lane's number xor it (`bfly`). A lane
    that there is not gives the own value. All 32 lanes take part.

    ```mlir
    %y = cute_nvgpu.arch.shuffle<{mode = "bfly"}> (%x, %mask) : (f32, i32) -> f32
    ```
  }];
  let arguments = (ins CuteNvgpu_Exchanged:$value, I32:$lane, Cute_Choice<"idx up down bfly">:$mode);
  let results = (outs CuteNvgpu_Exchanged:$result);
}
def CuteNvgpu_VoteOp : CuteNvgpu_Op<"arch.vote"> {
  let summary = "What the lanes of a warp say to a predicate";
  let description = [{
    `all`, `any` and `uni` (all the same) give an `i1`, `ballot` an `i32` with a bit for each lane. All 32 lanes take part.

    ```mlir
    %y = cute_nvgpu.arch.vote<{kind = "ballot"}> (%p) : (i1) -> i32
    ```
  }];
  let arguments = (ins I1:$pred, Cute_Choice<"all any uni ballot">:$kind);
  let results = (outs AnyTypeOf<[I1, I32]>:$result);
}
def CuteNvgpu_WarpSyncOp : CuteNvgpu_Op<"arch.warp_sync"> {
  let summary = "Waits for the lanes of a warp";
  let description = [{
    Those of the mask; of all without one. What they wrote before is seen by the others behind it.

    ```mlir
    cute_nvgpu.arch.warp_sync() : () -> ()
    ```
  }];
  let arguments = (ins Optional<I32>:$mask);
}

// ---- blocks and clusters ----
def CuteNvgpu_BlockSyncOp : CuteNvgpu_Op<"arch.block_sync"> {
  let summary = "Waits for all threads of a block";
  let description = [{
    What they wrote before is seen by the others behind it.

    ```mlir
    cute_nvgpu.arch.block_sync() : () -> ()
    ```
  }];
}
def CuteNvgpu_NamedBarrierSyncOp : CuteNvgpu_Op<"arch.named_barrier_sync"> {
  let summary = "Waits at barrier 0 to 15 for that many threads";
  let description = [{
    The number of threads is a multiple of 32.

    ```mlir
    cute_nvgpu.arch.named_barrier_sync(%id, %threads) : (i32, i32) -> ()
    ```
  }];
  let arguments = (ins I32:$barrier, I32:$threads);
}
def CuteNvgpu_NamedBarrierArriveOp : CuteNvgpu_Op<"arch.named_barrier_arrive"> {
  let summary = "Is counted at barrier 0 to 15, and does not wait";
  let description = [{
    ```mlir
    cute_nvgpu.arch.named_barrier_arrive(%id, %threads) : (i32, i32) -> ()
    ```
  }];
  let arguments = (ins I32:$barrier, I32:$threads);
}
def CuteNvgpu_ClusterArriveOp : CuteNvgpu_Op<"arch.cluster_arrive"> {
  let summary = "Is counted at the barrier of the cluster, from sm_90 on";
  let description = [{
    `relaxed` orders no memory.

    ```mlir
    cute_nvgpu.arch.cluster_arrive() : () -> ()
    ```
  }];
  let arguments = (ins UnitAttr:$relaxed);
}
def CuteNvgpu_ClusterWaitOp : CuteNvgpu_Op<"arch.cluster_wait"> {
  let summary = "Waits for all threads of the cluster, from sm_90 on";
  let description = [{
    ```mlir
    cute_nvgpu.arch.cluster_wait() : () -> ()
    ```
  }];
}
def CuteNvgpu_FenceOp : CuteNvgpu_Op<"arch.fence"> {
  let summary = "Orders the thread's reads and writes for the threads of a scope";
  let description = [{
    `fence.acq_rel`, or with `order = "sc"` `fence.sc`. The scope is the block (`cta`), the cluster (from sm_90 on), the device (`gpu`) or all (`sys`).

    ```mlir
    cute_nvgpu.arch.fence<{order = "acq_rel", scope = "cta"}> () : () -> ()
    ```
  }];
  let arguments = (ins Cute_Choice<"acq_rel sc">:$order, Cute_Choice<"cta cluster gpu sys">:$scope);
}

// ---- asynchronous copies ----
def CuteNvgpu_CpAsyncCommitOp : CuteNvgpu_Op<"arch.cp_async_commit_group"> {
  let summary = "The thread's `cp.async` since the last such operation become a group";
  let description = [{
    ```mlir
    cute_nvgpu.arch.cp_async_commit_group() : () -> ()
    ```
  }];
}
def CuteNvgpu_CpAsyncWaitOp : CuteNvgpu_Op<"arch.cp_async_wait_group"> {
  let summary = "Waits until at most that many groups of the thread are under way";
  let description = [{
    Other threads see what arrived behind a barrier.

    ```mlir
    cute_nvgpu.arch.cp_async_wait_group<1> () : () -> ()
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$groups);
}

// ---- mbarriers ----
// They are `!cute.ptr<i64, smem>`. `rank` is a block of the cluster whose mbarrier at the same place is meant.
def CuteNvgpu_Blocks : Cute_Choice<"cta cluster">;
class CuteNvgpu_MbarrierOp<string m> : CuteNvgpu_Op<"arch." # m>;

def CuteNvgpu_MbarrierInitOp : CuteNvgpu_MbarrierOp<"mbarrier_init"> {
  let summary = "An mbarrier whose phases each wait for `count` arrivals";
  let description = [{
    One thread makes it; `mbarrier_init_fence` and a barrier of the block or cluster have to follow before others use it. It begins in
    phase 0. From sm_80 on.

    Refused: a pointer that is not to 64 bits of shared memory, or not aligned to 8 bytes; so of all operations on mbarriers.

    ```mlir
    cute_nvgpu.arch.mbarrier_init(%bar, %count) : (!cute.ptr<i64, smem>, i32) -> ()
    ```
  }];
  let arguments = (ins Cute_PtrType:$barrier, I32:$count);
}
def CuteNvgpu_MbarrierInvalOp : CuteNvgpu_MbarrierOp<"mbarrier_inval"> {
  let summary = "The mbarrier's memory may be used for other things";
  let description = [{
    From sm_80 on.

    ```mlir
    cute_nvgpu.arch.mbarrier_inval(%bar) : (!cute.ptr<i64, smem>) -> ()
    ```
  }];
  let arguments = (ins Cute_PtrType:$barrier);
}
def CuteNvgpu_MbarrierInitFenceOp : CuteNvgpu_Op<"arch.mbarrier_init_fence"> {
  let summary = "The thread's new mbarriers are seen by the cluster and by asynchronous copies";
  let description = [{
    `fence.mbarrier_init`, from sm_90 on. A barrier has to follow. `arch.fence_mbarrier_init` is read as the same.

    ```mlir
    cute_nvgpu.arch.mbarrier_init_fence() : () -> ()
    ```
  }];
}
def CuteNvgpu_MbarrierArriveOp : CuteNvgpu_MbarrierOp<"mbarrier_arrive"> {
  let summary = "Arrives at an mbarrier";
  let description = [{
    Once, or `count` times. What the thread wrote before is seen by who waits for the phase. From sm_80 on; a count and the
    mbarrier of another block from sm_90 on. A thread that only read, as one that hands a buffer back, says `reads_only`:
    what it wrote need not be seen by the other block, which costs a fence of the whole cluster.

    Refused: a count below 1 or above 1048575.

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
  let summary = "The phase waits for that many more bytes";
  let description = [{
    Of asynchronous copies that name the mbarrier. From sm_90 on.

    ```mlir
    cute_nvgpu.arch.mbarrier_expect_tx(%bar, %bytes) : (!cute.ptr<i64, smem>, i32) -> ()
    ```
  }];
}
def CuteNvgpu_MbarrierArriveAndExpectTxOp : CuteNvgpu_MbarrierBytesOp<"mbarrier_arrive_and_expect_tx"> {
  let summary = "Arrives at an mbarrier whose phase waits for that many more bytes";
  let description = [{
    From sm_90 on.

    ```mlir
    cute_nvgpu.arch.mbarrier_arrive_and_expect_tx(%bar, %bytes) : (!cute.ptr<i64, smem>, i32) -> ()
    ```
  }];
}
def CuteNvgpu_MbarrierCompleteTxOp : CuteNvgpu_MbarrierBytesOp<"mbarrier_complete_tx"> {
  let summary = "That many bytes have come, without a copy";
  let description = [{
    From sm_90 on.

    ```mlir
    cute_nvgpu.arch.mbarrier_complete_tx(%bar, %bytes) : (!cute.ptr<i64, smem>, i32) -> ()
    ```
  }];
}
def CuteNvgpu_MbarrierWaitOp : CuteNvgpu_MbarrierOp<"mbarrier_wait"> {
  let summary = "Waits until the phase of that parity is complete";
  let description = [{
    `phase` is 0 for the first phase, 1 for the second, 0 for the third...; of a new mbarrier phase 1 counts as complete. The thread
    tries again until it is. `scope`: whose writes are seen behind it, those of the block (`cta`, the default) or of the `cluster`.
    From sm_90 on.

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
  let summary = "Waits for a while; whether the phase of that parity is complete";
  let description = [{
    From sm_90 on.

    ```mlir
    %done = cute_nvgpu.arch.mbarrier_try_wait(%bar, %phase) : (!cute.ptr<i64, smem>, i32) -> i1
    ```
  }];
}
def CuteNvgpu_MbarrierTestWaitOp : CuteNvgpu_MbarrierAskOp<"mbarrier_test_wait"> {
  let summary = "Whether the phase of that parity is complete";
  let description = [{
    From sm_80 on; with a scope from sm_90 on.

    ```mlir
    %done = cute_nvgpu.arch.mbarrier_test_wait(%bar, %phase) : (!cute.ptr<i64, smem>, i32) -> i1
    ```
  }];
}
def CuteNvgpu_MbarrierConditionalTryWaitOp : CuteNvgpu_MbarrierOp<"mbarrier_conditional_try_wait"> {
  let summary = "As mbarrier_try_wait where the condition is true; else true";
  let description = [{
    From sm_90 on.

    ```mlir
    %done = cute_nvgpu.arch.mbarrier_conditional_try_wait(%cond, %bar, %phase) : (i1, !cute.ptr<i64, smem>, i32) -> i1
    ```
  }];
  let arguments = (ins I1:$cond, Cute_PtrType:$barrier, I32:$phase, OptionalAttr<CuteNvgpu_Blocks>:$scope);
  let results = (outs I1:$complete);
}
def CuteNvgpu_CpAsyncMbarrierArriveOp : CuteNvgpu_MbarrierOp<"cp_async_mbarrier_arrive"> {
  let summary = "Arrives at an mbarrier when the thread's `cp.async` so far are done";
  let description = [{
    The phase waits for one arrival more, so that this one need not be among its count. From sm_80 on.

    ```mlir
    cute_nvgpu.arch.cp_async_mbarrier_arrive(%bar) : (!cute.ptr<i64, smem>) -> ()
    ```
  }];
  let arguments = (ins Cute_PtrType:$barrier);
}
def CuteNvgpu_CpAsyncMbarrierArriveNoincOp : CuteNvgpu_MbarrierOp<"cp_async_mbarrier_arrive_noinc"> {
  let summary = "Arrives at an mbarrier when the thread's `cp.async` so far are done, among its count";
  let description = [{
    From sm_80 on.

    ```mlir
    cute_nvgpu.arch.cp_async_mbarrier_arrive_noinc(%bar) : (!cute.ptr<i64, smem>) -> ()
    ```
  }];
  let arguments = (ins Cute_PtrType:$barrier);
}

// ---- stages of pipelines ----
// A state is the index of a stage and the parity of its phase, two i32.
class CuteNvgpu_PipelineOp<string m> : CuteNvgpu_Op<"arch." # m, [Pure]> {
  let results = (outs I32:$index, I32:$phase);
}
def CuteNvgpu_PipelineStartOp : CuteNvgpu_PipelineOp<"pipeline_start"> {
  let summary = "The state that a producer or a consumer begins with";
  let description = [{
    Stage 0; the phase that a producer waits for is 1, so that it finds new buffers empty, and 0 a consumer's.

    ```mlir
    %i, %p = cute_nvgpu.arch.pipeline_start<{whose = "producer"}> () : () -> (i32, i32)
    ```
  }];
  let arguments = (ins Cute_Choice<"producer consumer">:$whose);
}
def CuteNvgpu_PipelineAdvanceOp : CuteNvgpu_PipelineOp<"pipeline_advance"> {
  let summary = "The state of the next stage, or of that many stages on";
  let description = [{
    Behind the last of `stages` comes stage 0 in the other phase. `count` is not negative.

    Refused: fewer than 1 stage.

    ```mlir
    %j, %q = cute_nvgpu.arch.pipeline_advance<{stages = 4 : i32}> (%i, %p) : (i32, i32) -> (i32, i32)
    ```
  }];
  let arguments = (ins I32:$from_index, I32:$from_phase, Optional<I32>:$count, ConfinedAttr<I32Attr, [IntPositive]>:$stages);
}
def CuteNvgpu_PipelineIndexOfOp : CuteNvgpu_PipelineOp<"pipeline_index_of"> {
  let summary = "The state behind that many stages";
  let description = [{
    As pipeline_advance by `count`, which is not negative, from where a consumer begins, or with `whose` a producer.

    ```mlir
    %i, %p = cute_nvgpu.arch.pipeline_index_of<{stages = 4 : i32, whose = "producer"}> (%count) : (i32) -> (i32, i32)
    ```
  }];
  let arguments = (ins I32:$count, ConfinedAttr<I32Attr, [IntPositive]>:$stages, OptionalAttr<Cute_Choice<"producer consumer">>:$whose);
}

// ---- groups of bulk copies and of wgmma ----
def CuteNvgpu_CpAsyncBulkCommitOp : CuteNvgpu_Op<"arch.cp_async_bulk_commit_group"> {
  let summary = "The thread's bulk copies out of shared memory since the last such operation become a group";
  let description = [{
    From sm_90 on.

    ```mlir
    cute_nvgpu.arch.cp_async_bulk_commit_group() : () -> ()
    ```
  }];
}
def CuteNvgpu_CpAsyncBulkWaitOp : CuteNvgpu_Op<"arch.cp_async_bulk_wait_group"> {
  let summary = "Waits until at most that many groups of the thread's bulk copies are under way";
  let description = [{
    With `read` until they have read shared memory, which then may be written again. From sm_90 on.

    ```mlir
    cute_nvgpu.arch.cp_async_bulk_wait_group<{groups = 1 : i32, read}> () : () -> ()
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$groups, UnitAttr:$read);
}
def CuteNvgpu_WgmmaFenceOp : CuteNvgpu_Op<"arch.wgmma_fence"> {
  let summary = "Orders the warp's accesses to registers before the wgmma behind it";
  let description = [{
    Before the first wgmma, and where registers of an accumulator or of A were changed. sm_90a.

    ```mlir
    cute_nvgpu.arch.wgmma_fence() : () -> ()
    ```
  }];
}
def CuteNvgpu_WgmmaCommitOp : CuteNvgpu_Op<"arch.wgmma_commit_group"> {
  let summary = "The wgmma since the last such operation become a group";
  let description = [{
    sm_90a.

    ```mlir
    cute_nvgpu.arch.wgmma_commit_group() : () -> ()
    ```
  }];
}
def CuteNvgpu_WgmmaWaitOp : CuteNvgpu_Op<"arch.wgmma_wait_group"> {
  let summary = "Waits until at most that many groups of wgmma are under way";
  let description = [{
    sm_90a.

    ```mlir
    cute_nvgpu.arch.wgmma_wait_group<{groups = 0 : i32}> () : () -> ()
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<7>]>:$groups);
}

def CuteNvgpu_WarpgroupMmaOp : CuteNvgpu_Op<"arch.warpgroup_mma"> {
  let summary = "A product by wgmma that is done behind it: `D = A * B + C`";
  let description = [{
    The operands are a tiled MMA, A, B, C and an mbarrier or none; D is C, the same tensor in registers. It stands for `wgmma_fence`,
    `cute.gemm`, `wgmma_commit_group`, `wgmma_wait_group` of 0, and `mbarrier_arrive` of each thread: shared memory of A and B may be
    written again. All threads of its warpgroups take part. sm_90a.

    Refused: another atom than one of `wgmma`; what `cute.gemm` refuses.

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
  let summary = "Orders accesses of this thread by different ways to memory";
  let description = [{
    `kind` `async`: ordinary accesses and those of asynchronous copies and wgmma, to all memory or with `async.global`,
    `async.shared::cta`, `async.shared::cluster` to that memory; `alias`: to the same memory under several addresses. From sm_90 on.

    ```mlir
    cute_nvgpu.arch.fence_proxy<{kind = "async.shared::cta"}> () : () -> ()
    ```
  }];
  let arguments = (ins Cute_Choice<"alias async async.global async.shared::cta async.shared::cluster">:$kind);
}
def CuteNvgpu_FenceViewAsyncSharedOp : CuteNvgpu_Op<"arch.fence_view_async_shared"> {
  let summary = "What the thread wrote to shared memory is seen by TMA stores and wgmma behind it";
  let description = [{
    `fence.proxy.async` of the block's shared memory, from sm_90 on.

    ```mlir
    cute_nvgpu.arch.fence_view_async_shared() : () -> ()
    ```
  }];
}
def CuteNvgpu_FenceProxyTensormapOp : CuteNvgpu_Op<"arch.fence_proxy_tensormap"> {
  let summary = "Orders writes to a tensor map before its use by TMA";
  let description = [{
    Who wrote it releases, who uses it acquires, with its address; `scope` is that of the other's thread. From sm_90 on.

    Refused: an acquire without the address, a release with one.

    ```mlir
    cute_nvgpu.arch.fence_proxy_tensormap<{order = "acquire", scope = "gpu"}> (%map) : (!cute.ptr<i64, gmem, align<128>>) -> ()
    ```
  }];
  let arguments = (ins Optional<Cute_PtrType>:$map, Cute_Choice<"acquire release">:$order, Cute_Choice<"cta cluster gpu sys">:$scope);
}

def CuteNvgpu_CpFenceTmaDescReleaseOp : CuteNvgpu_Op<"arch.cp_fence_tma_desc_release"> {
  let summary = "Copies a tensor map from shared to global memory, and releases it";
  let description = [{
    `tensormap.cp_fenceproxy`, from sm_90 on: the whole warp comes, after a barrier behind what wrote the map. Who uses it in global
    memory acquires it by `fence_proxy_tensormap`; `scope` is that of the other's thread.

    ```mlir
    cute_nvgpu.arch.cp_fence_tma_desc_release<{scope = "gpu"}> (%map, %changed) : (!cute.ptr<i64, gmem, align<128>>, !cute.ptr<i64, smem, align<128>>) -> ()
    ```
  }];
  let arguments = (ins Cute_PtrType:$map, Cute_PtrType:$from, Cute_Choice<"cta cluster gpu sys">:$scope);
}

// ---- clusters and their shared memory, dependent launches ----
def CuteNvgpu_BarrierClusterOp : CuteNvgpu_Op<"arch.barrier_cluster"> {
  let summary = "Waits for all threads of the cluster, which all arrive";
  let description = [{
    `cluster_arrive` and `cluster_wait`: what they wrote before is seen by the others behind it. From sm_90 on.

    ```mlir
    cute_nvgpu.arch.barrier_cluster() : () -> ()
    ```
  }];
}
class CuteNvgpu_ReadOp<string m, string what> : CuteNvgpu_Op<"arch." # m, [NoMemoryEffect]> {
  let summary = what;
}
class CuteNvgpu_Read3Op<string m, string what> : CuteNvgpu_ReadOp<m, what> {
  let description = "From sm_90 on.\n\n```mlir\n%x, %y, %z = cute_nvgpu.arch." # m # "() : () -> (i32, i32, i32)\n```";
  let results = (outs I32:$x, I32:$y, I32:$z);
}
class CuteNvgpu_Read1Op<string m, string type, Type result, string what, string more> : CuteNvgpu_ReadOp<m, what> {
  let description = more # "\n\n```mlir\n%x = cute_nvgpu.arch." # m # "() : () -> " # type # "\n```";
  let results = (outs result:$x);
}
def CuteNvgpu_BlockInClusterIdxOp : CuteNvgpu_Read3Op<"block_in_cluster_idx", "The block's place in its cluster">;
def CuteNvgpu_BlockInClusterDimOp : CuteNvgpu_Read3Op<"block_in_cluster_dim", "The blocks of a cluster in each direction">;
def CuteNvgpu_ClusterIdxOp : CuteNvgpu_Read3Op<"cluster_idx", "The cluster's place in the grid">;
def CuteNvgpu_ClusterDimOp : CuteNvgpu_Read3Op<"cluster_dim", "The clusters of the grid in each direction">;
def CuteNvgpu_BlockRankOp : CuteNvgpu_Read1Op<"block_idx_in_cluster", "i32", I32, "The block's rank in its cluster", "Of x fastest. From sm_90 on.">;
def CuteNvgpu_ClusterSizeOp : CuteNvgpu_Read1Op<"cluster_size", "i32", I32, "The blocks of a cluster", "From sm_90 on.">;
def CuteNvgpu_SmIdOp : CuteNvgpu_Read1Op<"sm_id", "i32", I32, "The multiprocessor that the thread runs on", "It may change.">;
def CuteNvgpu_ClockOp : CuteNvgpu_Op<"arch.clock"> {
  let summary = "The multiprocessor's cycles";
  let description = [{
    ```mlir
    %x = cute_nvgpu.arch.clock() : () -> i64
    ```
  }];
  let results = (outs I64:$x);
}
def CuteNvgpu_GlobalTimerOp : CuteNvgpu_Op<"arch.globaltimer"> {
  let summary = "The device's time in nanoseconds";
  let description = [{
    ```mlir
    %x = cute_nvgpu.arch.globaltimer() : () -> i64
    ```
  }];
  let results = (outs I64:$x);
}
def CuteNvgpu_MapDsmemPtrOp : CuteNvgpu_Op<"arch.map_dsmem_ptr", [Pure]> {
  let summary = "The same place in the shared memory of another block of the cluster";
  let description = [{
    Its space is `dsmem`; loads, stores and copies take it as any other. The block must have begun, and may not have ended: a barrier of the
    cluster stands before and behind the accesses. From sm_90 on.

    Refused: a pointer that is not to shared memory, or has a swizzle.

    ```mlir
    %there = cute_nvgpu.arch.map_dsmem_ptr(%p, %rank) : (!cute.ptr<f32, smem, align<16>>, i32) -> !cute.ptr<f32, dsmem, align<16>>
    ```
  }];
  let arguments = (ins Cute_PtrType:$ptr, I32:$rank);
  let results = (outs Cute_PtrType:$there);
}
def CuteNvgpu_StAsyncOp : CuteNvgpu_Op<"arch.st_async"> {
  let summary = "Stores into the shared memory of another block of the cluster, which an mbarrier there counts";
  let description = [{
    Both pointers are to shared memory of this block, and the places of block `rank` are meant; who waits for the mbarrier has to
    expect the bytes. The value has 32 or 64 bits, or is a vector of one, two or four of 32 bits or of one or two of 64. From sm_90 on.

    Refused: another value, elements that are not its elements, less alignment than its bytes.

    ```mlir
    cute_nvgpu.arch.st_async(%v, %p, %bar, %rank) : (f32, !cute.ptr<f32, smem>, !cute.ptr<i64, smem>, i32) -> ()
    ```
  }];
  let arguments = (ins AnyTypeOf<[I32, I64, F32, F64, VectorOfLengthAndType<[1, 2, 4], [I32, F32]>, VectorOfLengthAndType<[1, 2], [I64, F64]>],
                                 "32 or 64 bits, or a vector of up to 128">:$value,
                   Cute_PtrType:$ptr, Cute_PtrType:$barrier, I32:$rank);
}
def CuteNvgpu_GriddepcontrolWaitOp : CuteNvgpu_Op<"arch.griddepcontrol_wait"> {
  let summary = "Waits until the grids before this one have ended";
  let description = [{
    What they wrote is seen behind it. Of launches that may begin before the ones in front have ended. From sm_90 on.

    ```mlir
    cute_nvgpu.arch.griddepcontrol_wait() : () -> ()
    ```
  }];
}
def CuteNvgpu_GriddepcontrolLaunchOp : CuteNvgpu_Op<"arch.griddepcontrol_launch_dependents"> {
  let summary = "The grid behind this one may begin";
  let description = [{
    When all blocks have said so, or have ended. From sm_90 on.

    ```mlir
    cute_nvgpu.arch.griddepcontrol_launch_dependents() : () -> ()
    ```
  }];
}

// ---- one thread of a warp, registers of a warpgroup ----
def CuteNvgpu_ElectOneOp : CuteNvgpu_Op<"arch.elect_one"> {
  let summary = "Whether the lane is the one of its warp that is chosen";
  let description = [{
    True in one lane, the same each time. All 32 lanes take part. From sm_90 on. `arch.elect` is read as the same.

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
  let summary = "The threads of the warpgroup get that many registers";
  let description = [{
    Which others have given up; waits until there are so many. All warps of the warpgroup execute it. sm_90a and later
    architecture-specific ones.

    Refused: a number that is no multiple of 8 from 24 to 256.

    ```mlir
    cute_nvgpu.arch.setmaxregister_increase<{registers = 232 : i32}> () : () -> ()
    ```
  }];
}
def CuteNvgpu_SetMaxRegisterDecreaseOp : CuteNvgpu_SetMaxRegisterOp<"decrease"> {
  let summary = "The threads of the warpgroup keep that many registers";
  let description = [{
    As setmaxregister_increase, which gets what these give up.

    ```mlir
    cute_nvgpu.arch.setmaxregister_decrease<{registers = 40 : i32}> () : () -> ()
    ```
  }];
}

#endif
