// Operations of nvvm and nvgpu that LLVM 19 lacks. They are added to these dialects on loading (newer.cpp) and lowered by
// lower_newer.c.
#ifndef CUTE_NEWER_TD
#define CUTE_NEWER_TD

include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "lib/ir/dialects/cuda.td"

// Names only: LLVM defines the dialects.
def Newer_NVVM : Dialect {
  let name = "nvvm";
  let cppNamespace = "::mlir::NVVM";
}
def Newer_NVGPU : Dialect {
  let name = "nvgpu";
  let cppNamespace = "::mlir::nvgpu";
}

class Newer_Op<Dialect dialect, string m, list<Trait> t = []> : Op<dialect, m, t> {
  let cppNamespace = "::cute::newer";
}
class Newer_NvvmOp<string m, list<Trait> t = []> : Newer_Op<Newer_NVVM, m, t>;

def Newer_Shared : LLVM_PointerInAddressSpace<3>;
def Newer_Global : LLVM_PointerInAddressSpace<1>;
def Newer_Pair : Type<And<[VectorOfLengthAndType<[2], [F32]>.predicate]>, "vector<2xf32>", "::mlir::VectorType">;

// ---- mbarriers ----

def Newer_MbarrierTxn : Newer_NvvmOp<"mbarrier.txn"> {
  let summary = "Arrives at an mbarrier or increases its expected bytes";
  let description = [{
    `mbarrier.arrive`, `mbarrier.arrive.expect_tx` or `mbarrier.expect_tx` without a result. `count` is the number of arrivals
    or of bytes. With `space` cluster, the mbarrier may be in another block of the cluster.
    ```mlir
    nvvm.mbarrier.txn %bar, %bytes {kind = #cuda.mbar_txn_kind<arrive_expect_tx>} : !llvm.ptr<3>, i32
    ```
  }];
  let arguments = (ins Newer_Shared:$addr, I32:$count, CUDA_TxnKindAttr:$kind,
                       DefaultValuedAttr<CUDA_MbarScopeAttr, "::cute::cuda::MbarScope::Cta">:$scope,
                       DefaultValuedAttr<CUDA_MbarSpaceAttr, "::cute::cuda::MbarSpace::Cta">:$space);
  let assemblyFormat = "$addr `,` $count attr-dict `:` qualified(type($addr)) `,` type($count)";
}
def Newer_MbarrierWaitParity : Newer_NvvmOp<"mbarrier.wait.parity"> {
  let summary = "Tests whether the phase of an mbarrier with a parity is complete";
  let description = [{
    `try` can suspend the thread for a limited time, `test` does not.
    ```mlir
    %done = nvvm.mbarrier.wait.parity %bar, %parity {kind = #cuda.mbar_wait<try>} : !llvm.ptr<3>, i32 -> i1
    ```
  }];
  let arguments = (ins Newer_Shared:$addr, I32:$parity, CUDA_MbarWaitAttr:$kind,
                       DefaultValuedAttr<CUDA_MbarScopeAttr, "::cute::cuda::MbarScope::Cta">:$scope);
  let results = (outs I1:$done);
  let assemblyFormat = "$addr `,` $parity attr-dict `:` qualified(type($addr)) `,` type($parity) `->` type($done)";
}

// ---- clusters and dependent launches ----

class Newer_MapaOp<string m, Type pointer, string type> : Newer_NvvmOp<m, [Pure]> {
  let summary = "Maps a shared-memory address to another block of the cluster";
  let description = "The address that corresponds to `addr` in block `rank` of the cluster.\n```mlir\n%there = nvvm." # m
                    # " %addr, %rank : " # type # ", i32 -> " # type # "\n```";
  let arguments = (ins pointer:$addr, I32:$rank);
  let results = (outs pointer:$there);
  let assemblyFormat = "$addr `,` $rank attr-dict `:` qualified(type($addr)) `,` type($rank) `->` type($there)";
}
def Newer_Mapa : Newer_MapaOp<"mapa", LLVM_PointerInAddressSpace<0>, "!llvm.ptr">;
def Newer_MapaShared : Newer_MapaOp<"mapa.shared.cluster", Newer_Shared, "!llvm.ptr<3>">;

def Newer_GridWait : Newer_NvvmOp<"griddepcontrol.wait"> {
  let summary = "Waits for the completion of the prerequisite grids";
  let description = "Their writes are visible after it.\n```mlir\nnvvm.griddepcontrol.wait\n```";
  let assemblyFormat = "attr-dict";
}
def Newer_GridLaunch : Newer_NvvmOp<"griddepcontrol.launch.dependents"> {
  let summary = "Allows dependent grids to launch";
  let description = "They launch when all blocks have executed it or exited.\n```mlir\nnvvm.griddepcontrol.launch.dependents\n```";
  let assemblyFormat = "attr-dict";
}

def Newer_TryCancel : Newer_NvvmOp<"clusterlaunchcontrol.try_cancel.multicast"> {
  let summary = "Requests cancellation of a cluster that has not launched";
  let description = [{
    The 16-byte response is written asynchronously to all blocks of the cluster; `mbar` counts its bytes. Requires sm_100 or
    later.
    ```mlir
    nvvm.clusterlaunchcontrol.try_cancel.multicast %response, %bar
    ```
  }];
  let arguments = (ins Newer_Shared:$response, Newer_Shared:$mbar);
  let assemblyFormat = "$response `,` $mbar attr-dict";
}
def Newer_IsCanceled : Newer_NvvmOp<"clusterlaunchcontrol.query_cancel.is_canceled", [Pure]> {
  let summary = "Whether the cancellation succeeded";
  let description = "```mlir\n%taken = nvvm.clusterlaunchcontrol.query_cancel.is_canceled %answer : i1\n```";
  let arguments = (ins I128:$answer);
  let results = (outs I1:$taken);
  let assemblyFormat = "$answer attr-dict `:` type($taken)";
}
class Newer_FirstCtaOp<string axis> : Newer_NvvmOp<"clusterlaunchcontrol.query_cancel.get_first_ctaid." # axis, [Pure]> {
  let summary = "Index of the first block of the canceled cluster";
  let description = "```mlir\n%id = nvvm.clusterlaunchcontrol.query_cancel.get_first_ctaid." # axis # " %answer : i32\n```";
  let arguments = (ins I128:$answer);
  let results = (outs I32:$id);
  let assemblyFormat = "$answer attr-dict `:` type($id)";
}
def Newer_FirstCtaX : Newer_FirstCtaOp<"x">;
def Newer_FirstCtaY : Newer_FirstCtaOp<"y">;
def Newer_FirstCtaZ : Newer_FirstCtaOp<"z">;

// ---- bulk copies ----

def Newer_BulkLoad : Newer_NvvmOp<"cp.async.bulk.shared.cluster.global", [AttrSizedOperandSegments]> {
  let summary = "Asynchronous bulk copy from global to shared memory";
  let description = [{
    `size` is a multiple of 16; `mbar` counts the bytes. `multicast_mask` selects the destination blocks of the cluster.
    ```mlir
    nvvm.cp.async.bulk.shared.cluster.global %to, %from, %bar, %size : !llvm.ptr<3>, !llvm.ptr<1>
    ```
  }];
  let arguments = (ins Newer_Shared:$dstMem, Newer_Global:$srcMem, Newer_Shared:$mbar, I32:$size,
                       Optional<I16>:$multicastMask, Optional<I64>:$l2CacheHint);
  let assemblyFormat = [{
    $dstMem `,` $srcMem `,` $mbar `,` $size (`multicast_mask` `=` $multicastMask^)? (`l2_cache_hint` `=` $l2CacheHint^)?
    attr-dict `:` qualified(type($dstMem)) `,` qualified(type($srcMem))
  }];
}
def Newer_BulkStore : Newer_NvvmOp<"cp.async.bulk.global.shared.cta"> {
  let summary = "Asynchronous bulk copy from shared to global memory";
  let description = [{
    `size` is a multiple of 16. The copy belongs to the next committed bulk group.
    ```mlir
    nvvm.cp.async.bulk.global.shared.cta %to, %from, %size : !llvm.ptr<1>, !llvm.ptr<3>
    ```
  }];
  let arguments = (ins Newer_Global:$dstMem, Newer_Shared:$srcMem, I32:$size, Optional<I64>:$l2CacheHint);
  let assemblyFormat = [{
    $dstMem `,` $srcMem `,` $size (`l2_cache_hint` `=` $l2CacheHint^)? attr-dict
    `:` qualified(type($dstMem)) `,` qualified(type($srcMem))
  }];
}
def Newer_BulkShare : Newer_NvvmOp<"cp.async.bulk.shared.cluster.shared.cta"> {
  let summary = "Asynchronous bulk copy to the shared memory of another block";
  let description = [{
    `size` is a multiple of 16; `mbar` in the destination block counts the bytes.
    ```mlir
    nvvm.cp.async.bulk.shared.cluster.shared.cta %to, %from, %bar, %size : !llvm.ptr<3>, !llvm.ptr<3>
    ```
  }];
  let arguments = (ins Newer_Shared:$dstMem, Newer_Shared:$srcMem, Newer_Shared:$mbar, I32:$size);
  let assemblyFormat = [{
    $dstMem `,` $srcMem `,` $mbar `,` $size attr-dict `:` qualified(type($dstMem)) `,` qualified(type($srcMem))
  }];
}

// ---- numbers ----

class Newer_FloatOp<string m, string what> : Newer_NvvmOp<m, [Pure, Commutative]> {
  let summary = "The " # what # " of two floats";
  let description = "If one operand is NaN, the result is the other, as for `arith." # !if(!eq(m, "fmax"), "max", "min") # "numf`.\n```mlir\n%r = nvvm."
                    # m # " %a, %b\n```";
  let arguments = (ins F32:$a, F32:$b);
  let results = (outs F32:$result);
  let assemblyFormat = "$a `,` $b attr-dict";
}
def Newer_Fmax : Newer_FloatOp<"fmax", "larger">;
def Newer_Fmin : Newer_FloatOp<"fmin", "smaller">;

class Newer_PackedOp<string m, dag values, string operands, string types, string example> : Newer_NvvmOp<m, [Pure]> {
  let summary = "Packed operation on two floats";
  let description = "Elementwise; `rnd` none is rn.\n```mlir\n" # example # "\n```";
  let arguments = !con(values, (ins DefaultValuedAttr<CUDA_RndAttr, "::cute::cuda::Rnd::None">:$rnd,
                                 DefaultValuedAttr<BoolAttr, "false">:$ftz));
  let results = (outs Newer_Pair:$result);
  let assemblyFormat = operands # " attr-dict `:` " # types # " `->` type($result)";
}
class Newer_PackedBinary<string m> : Newer_PackedOp<m # ".packed.f32x2", (ins Newer_Pair:$a, Newer_Pair:$b), "$a `,` $b",
    "type($a) `,` type($b)",
    "%r = nvvm." # m # ".packed.f32x2 %a, %b {rnd = #cuda.rnd<rn>} : vector<2xf32>, vector<2xf32> -> vector<2xf32>">;
def Newer_PackedAdd : Newer_PackedBinary<"add">;
def Newer_PackedMul : Newer_PackedBinary<"mul">;
def Newer_PackedFma : Newer_PackedOp<"fma.packed.f32x2", (ins Newer_Pair:$a, Newer_Pair:$b, Newer_Pair:$c),
    "$a `,` $b `,` $c", "type($a) `,` type($b) `,` type($c)",
    "%r = nvvm.fma.packed.f32x2 %a, %b, %c {rnd = #cuda.rnd<rn>} : vector<2xf32>, vector<2xf32>, vector<2xf32> -> vector<2xf32>">;

class Newer_CvtOp<string m, string sum, string example> : Newer_Op<Newer_NVGPU, m, [Pure]> {
  let summary = sum;
  let description = "Operand and result have the same length.\n```mlir\n" # example # "\n```";
  let arguments = (ins VectorOfAnyRankOf<[AnyFloat, AnyInteger]>:$in,
                       DefaultValuedAttr<CUDA_RndAttr, "::cute::cuda::Rnd::Rn">:$rnd,
                       DefaultValuedAttr<CUDA_PackedAttr, "::cute::cuda::Packed::Compact">:$packed_kind);
  let results = (outs VectorOfAnyRankOf<[AnyFloat, AnyInteger]>:$out);
  let assemblyFormat = "$in attr-dict `:` type($in) `to` type($out)";
  let hasVerifier = 1;
}
def Newer_CvtTrunc : Newer_CvtOp<"cvt_fptrunc", "Converts floats to a narrower type",
    "%r = nvgpu.cvt_fptrunc %x : vector<4xf32> to vector<4xf8E4M3FN>">;
def Newer_CvtExt : Newer_CvtOp<"cvt_fpext", "Converts floats to a wider type",
    "%r = nvgpu.cvt_fpext %x : vector<4xf8E4M3FN> to vector<4xf32>">;

// ---- the fifth generation of tensor cores ----

def Newer_Tcgen05Commit : Newer_NvvmOp<"tcgen05.commit.arrive"> {
  let summary = "Makes an mbarrier track the completion of preceding MMAs";
  let description = [{
    Requires sm_100a or later.
    ```mlir
    nvvm.tcgen05.commit.arrive %bar, multicast_mask = %mask {group = #cuda.tcgen05_group<cta_2>} : !llvm.ptr<3>, i16
    ```
  }];
  let arguments = (ins Newer_Shared:$addr, Optional<I16>:$multicastMask,
                       DefaultValuedAttr<CUDA_Tcgen05GroupAttr, "::cute::cuda::Tcgen05Group::Cta1">:$group);
  let assemblyFormat = [{
    $addr (`,` `multicast_mask` `=` $multicastMask^)? attr-dict `:` qualified(type($addr)) (`,` type($multicastMask)^)?
  }];
}
def Newer_Tcgen05Wait : Newer_NvvmOp<"tcgen05.wait"> {
  let summary = "Waits for loads from or stores to tensor memory";
  let description = "Requires sm_100a or later.\n```mlir\nnvvm.tcgen05.wait <load>\n```";
  let arguments = (ins CUDA_Tcgen05WaitAttr:$kind);
  let assemblyFormat = "$kind attr-dict";
}

#endif
