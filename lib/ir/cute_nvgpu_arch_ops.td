// What threads say to one another: reductions, shuffles, votes, barriers, fences, groups of asynchronous copies.
#ifndef CUTE_IR_NVGPU_ARCH_OPS_TD
#define CUTE_IR_NVGPU_ARCH_OPS_TD

include "lib/ir/cute_nvgpu_ops.td"

// Nothing is known of their effects: they are neither moved nor merged.
def CuteNvgpu_Exchanged : AnyTypeOf<[I32, F32], "i32 or f32">;
class CuteNvgpu_Choice<string values>
    : StringBasedAttr<CPred<"::cute_nvgpu::isOneOf($_self, \"" # values # "\")">, "one of " # values>;

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
  let arguments = (ins CuteNvgpu_Exchanged:$value, CuteNvgpu_Choice<"add mul min max and or xor">:$kind, OptionalAttr<CuteNvgpu_Lanes>:$lanes);
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
  let arguments = (ins CuteNvgpu_Exchanged:$value, I32:$lane, CuteNvgpu_Choice<"idx up down bfly">:$mode);
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
  let arguments = (ins I1:$pred, CuteNvgpu_Choice<"all any uni ballot">:$kind);
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
  let arguments = (ins CuteNvgpu_Choice<"acq_rel sc">:$order, CuteNvgpu_Choice<"cta cluster gpu sys">:$scope);
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

#endif
