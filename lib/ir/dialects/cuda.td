// The dialect `cuda`: kernels as CuTe DSL prints them, and the launch operations of its host functions.
#ifndef CUTE_CUDA_TD
#define CUTE_CUDA_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def CUDA_Dialect : Dialect {
  let name = "cuda";
  let cppNamespace = "::cute::cuda";
  let summary = "CUDA kernels and launches as printed by CuTe DSL";
  let description = [{
    Kernels are defined in a `gpu.module`; a host function creates a launch configuration and launches them. Operations
    are named after the CUDA driver API: `cuda.launch_ex` is `cuLaunchKernelEx`, `cuda.launch_cfg.cooperative` sets
    `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`.

    ```mlir
    module attributes {gpu.container_module} {
      gpu.module @kernels {
        cuda.kernel @scale(%x: !llvm.ptr<1>, %factor: f32) attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
          cuda.return
        }
      }
      func.func @host(%x: !llvm.ptr<1>, %factor: f32, %stream: !cuda.stream) -> i32 {
        %0 = arith.constant 0 : i32
        %1 = arith.constant 1 : i32
        %128 = arith.constant 128 : i32
        %bytes = arith.constant 0 : i64
        %cfg = cuda.launch_cfg.create<max_attrs = 3 : i32> (blockDim = (%128, %1, %1), dynamicSmemBytes = %bytes,
          gridDim = (%1, %1, %1), stream = %stream) : i32, i32, i32, i64, i32, i32, i32, !cuda.stream
          -> !cuda.launch_cfg<max_attrs = 3>
        %r = cuda.launch_ex @kernels::@scale<%cfg> (%x, %factor) {assume_kernel_attr = #cuda.assume_kernel_attr<true>}
          : !cuda.launch_cfg<max_attrs = 3>, (!llvm.ptr<1>, f32) -> !cuda.result
        %code = cuda.cast %r : !cuda.result -> i32
        cuda.return_if_error %code : i32
        return %0 : i32
      }
    }
    ```

    The dialect also defines the attributes of newer `nvvm` and `nvgpu` operations that LLVM 19 lacks; they are
    accepted as `#nvvm.NAME` and `#nvgpu.NAME` too.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

// ---- types ----

class CUDA_Type<string cls, string mnem, string sum, string text> : TypeDef<CUDA_Dialect, cls> {
  let mnemonic = mnem;
  let summary = sum;
  let description = text;
}
def CUDA_StreamType : CUDA_Type<"Stream", "stream", "CUDA stream handle", [{
  `CUstream`. `cuda.cast` converts an address to a stream; 0 is the default stream.
  ```mlir
  !cuda.stream
  ```
}]>;
def CUDA_ResultType : CUDA_Type<"Result", "result", "Result code of a driver call", [{
  `CUresult`; 0 is success.
  ```mlir
  !cuda.result
  ```
}]>;
def CUDA_LaunchCfgType : CUDA_Type<"LaunchCfg", "launch_cfg", "Launch configuration", [{
  `CUlaunchConfig` with a capacity of `max_attrs` launch attributes.
  ```mlir
  !cuda.launch_cfg<max_attrs = 3>
  ```
}]> {
  let parameters = (ins "int64_t":$max_attrs);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

// ---- attributes ----

def CUDA_AssumeKernelAttr : AttrDef<CUDA_Dialect, "AssumeKernel"> {
  let mnemonic = "assume_kernel_attr";
  let summary = "Whether a launch assumes that the function attributes are already set";
  let description = [{
    `true`: the launch does not set the attributes of the function again.
    ```mlir
    #cuda.assume_kernel_attr<true>
    ```
  }];
  let parameters = (ins "bool":$value);
  let assemblyFormat = "`<` $value `>`";
}
def CUDA_DevMaxSharedMemoryOptinAttr : AttrDef<CUDA_Dialect, "DevMaxSharedMemoryOptin"> {
  let mnemonic = "dev_max_shared_memory_optin";
  let summary = "Maximum dynamic shared memory per block that a kernel can opt in to";
  let description = [{
    `CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN` of the current device.
    ```mlir
    #cuda.dev_max_shared_memory_optin
    ```
  }];
}

// An enumerator, `#cuda.name<word>`.
class CUDA_Words<string cls, string sum, list<I32EnumAttrCase> cases> : I32EnumAttr<cls, sum, cases> {
  let cppNamespace = "::cute::cuda";
  let genSpecializedAttr = 0;
}
class CUDA_WordAttr<EnumAttrInfo words, string mnem, string sum, string example>
    : EnumAttr<CUDA_Dialect, words, mnem> {
  let assemblyFormat = "`<` $value `>`";
  let summary = sum;
  let description = "```mlir\n#cuda." # mnem # "<" # example # ">\n```";
}

def CUDA_TxnKind : CUDA_Words<"TxnKind", "mbarrier operation", [
  I32EnumAttrCase<"Arrive", 0, "arrive">, I32EnumAttrCase<"ArriveExpectTx", 1, "arrive_expect_tx">,
  I32EnumAttrCase<"ExpectTx", 2, "expect_tx">]>;
def CUDA_TxnKindAttr : CUDA_WordAttr<CUDA_TxnKind, "mbar_txn_kind", "Operation performed on an mbarrier", "arrive">;
def CUDA_MbarWait : CUDA_Words<"MbarWait", "kind of mbarrier wait", [
  I32EnumAttrCase<"Try", 0, "try">, I32EnumAttrCase<"Test", 1, "test">]>;
def CUDA_MbarWaitAttr : CUDA_WordAttr<CUDA_MbarWait, "mbar_wait", "Kind of mbarrier wait", "try">;
def CUDA_MbarScope : CUDA_Words<"MbarScope", "scope of an mbarrier operation", [
  I32EnumAttrCase<"Cta", 0, "cta">, I32EnumAttrCase<"Cluster", 1, "cluster">]>;
def CUDA_MbarScopeAttr : CUDA_WordAttr<CUDA_MbarScope, "mbar_scope", "Scope of an mbarrier operation", "cta">;
def CUDA_MbarSpace : CUDA_Words<"MbarSpace", "shared-memory window of an mbarrier", [
  I32EnumAttrCase<"Cta", 0, "cta">, I32EnumAttrCase<"Cluster", 1, "cluster">]>;
def CUDA_MbarSpaceAttr : CUDA_WordAttr<CUDA_MbarSpace, "mbar_space", "Shared-memory window of an mbarrier: of the CTA or of the cluster", "cta">;
def CUDA_Rnd : CUDA_Words<"Rnd", "rounding mode", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Rn", 1, "rn">, I32EnumAttrCase<"Rm", 2, "rm">,
  I32EnumAttrCase<"Rp", 3, "rp">, I32EnumAttrCase<"Rz", 4, "rz">, I32EnumAttrCase<"Rna", 5, "rna">,
  I32EnumAttrCase<"Rs", 6, "rs">]>;
def CUDA_RndAttr : CUDA_WordAttr<CUDA_Rnd, "rnd", "Rounding mode with its PTX name", "rn">;
def CUDA_Packed : CUDA_Words<"Packed", "packing of sub-byte elements", [
  I32EnumAttrCase<"Compact", 0, "compact">, I32EnumAttrCase<"Padded", 1, "padded">]>;
def CUDA_PackedAttr : CUDA_WordAttr<CUDA_Packed, "subbytes_packedkind", "Packing of sub-byte elements", "compact">;
def CUDA_Tcgen05Group : CUDA_Words<"Tcgen05Group", "CTA group of tcgen05 operations", [
  I32EnumAttrCase<"Cta1", 0, "cta_1">, I32EnumAttrCase<"Cta2", 1, "cta_2">]>;
def CUDA_Tcgen05GroupAttr : CUDA_WordAttr<CUDA_Tcgen05Group, "tcgen05_group", "CTA group of tcgen05 operations", "cta_1">;
def CUDA_Tcgen05Wait : CUDA_Words<"Tcgen05Wait", "kind of tcgen05.wait", [
  I32EnumAttrCase<"Load", 0, "load">, I32EnumAttrCase<"Store", 1, "store">]>;
def CUDA_Tcgen05WaitAttr : CUDA_WordAttr<CUDA_Tcgen05Wait, "tcgen05_wait", "Kind of `tcgen05.wait`", "load">;

// ---- kernels ----

class CUDA_Op<string m, list<Trait> t = []> : Op<CUDA_Dialect, m, t>;

def CUDA_KernelOp : CUDA_Op<"kernel", [
    HasParent<"::mlir::gpu::GPUModuleOp">, AutomaticAllocationScope, FunctionOpInterface, IsolatedFromAbove,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getDefaultDialect"]>]> {
  let summary = "Kernel function";
  let description = [{
    Defines a kernel in a `gpu.module`. Control flow ends with `cuda.return`; `nvvm.reqntid` is the number of
    threads per block. The pass cute-import-kernels converts it to a `gpu.func`.

    ```mlir
    cuda.kernel @copy(%from: !llvm.ptr<1>, %to: !llvm.ptr<1>) attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
      cuda.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region MinSizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    // FunctionOpInterface
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
  let extraClassDefinition = "::llvm::StringRef $cppClass::getDefaultDialect() { return \"cuda\"; }";
}

def CUDA_ReturnOp : CUDA_Op<"return", [HasParent<"KernelOp">, Pure, ReturnLike, Terminator]> {
  let summary = "Returns from a kernel";
  let description = [{
    ```mlir
    cuda.return
    ```
  }];
  let assemblyFormat = "attr-dict";
}

// ---- launches ----

// An i32 attribute that is printed with its type: `3 : i32`.
def CUDA_TypedI32Attr : Attr<I32Attr.predicate, "32-bit signless integer attribute"> {
  let storageType = "::mlir::IntegerAttr";
  let returnType = "uint32_t";
  let convertFromStorage = "(uint32_t)$_self.getValue().getZExtValue()";
}

def CUDA_LaunchCfgCreateOp : CUDA_Op<"launch_cfg.create"> {
  let summary = "Creates a launch configuration";
  let description = [{
    Sets the threads per block, the bytes of dynamic shared memory, the blocks of the grid and the stream.
    Subsequent `cuda.launch_cfg` operations set launch attributes, at most `max_attrs`.

    ```mlir
    %cfg = cuda.launch_cfg.create<max_attrs = 3 : i32> (blockDim = (%bx, %by, %bz), dynamicSmemBytes = %bytes,
      gridDim = (%gx, %gy, %gz), stream = %s) : i32, i32, i32, i64, i32, i32, i32, !cuda.stream
      -> !cuda.launch_cfg<max_attrs = 3>
    ```
  }];
  let arguments = (ins I32:$blockDimX, I32:$blockDimY, I32:$blockDimZ, I64:$dynamicSmemBytes,
                       I32:$gridDimX, I32:$gridDimY, I32:$gridDimZ, CUDA_StreamType:$stream,
                       CUDA_TypedI32Attr:$maxNumAttrs);
  let results = (outs CUDA_LaunchCfgType:$cfg);
  let hasVerifier = 1;
  let assemblyFormat = [{
    `` `<` `max_attrs` `=` $maxNumAttrs `>` ` ` `(` `blockDim` `=` `(` $blockDimX `,` $blockDimY `,` $blockDimZ `)` `,`
    `dynamicSmemBytes` `=` $dynamicSmemBytes `,` `gridDim` `=` `(` $gridDimX `,` $gridDimY `,` $gridDimZ `)` `,`
    `stream` `=` $stream `)` attr-dict `:` type($blockDimX) `,` type($blockDimY) `,` type($blockDimZ) `,`
    type($dynamicSmemBytes) `,` type($gridDimX) `,` type($gridDimY) `,` type($gridDimZ) `,`
    qualified(type($stream)) `->` qualified(type($cfg))
  }];
}

class CUDA_FlagOp<string m, string sum, string text> : CUDA_Op<"launch_cfg." # m> {
  let summary = sum;
  let description = text;
  let arguments = (ins CUDA_LaunchCfgType:$cfg, I32:$value);
  let assemblyFormat = "`` `[` $cfg `]` $value attr-dict `:` qualified(type($cfg)) `,` type($value)";
}
def CUDA_LaunchCfgCooperativeOp : CUDA_FlagOp<"cooperative", "Makes a launch cooperative", [{
  `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`: if nonzero, all blocks are co-resident and can synchronize with each other.
  ```mlir
  cuda.launch_cfg.cooperative[%cfg] %flag : !cuda.launch_cfg<max_attrs = 3>, i32
  ```
}]>;
def CUDA_LaunchCfgProgrammaticOp : CUDA_FlagOp<"programmatic_stream_serialization_allowed",
    "Allows a launch to start before its predecessor in the stream completes", [{
  `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`: if nonzero, the kernel itself waits for its predecessor
  (`griddepcontrol.wait`).
  ```mlir
  cuda.launch_cfg.programmatic_stream_serialization_allowed[%cfg] %flag : !cuda.launch_cfg<max_attrs = 3>, i32
  ```
}]>;
def CUDA_LaunchCfgClusterDimOp : CUDA_Op<"launch_cfg.cluster_dim"> {
  let summary = "Sets the cluster dimensions in blocks";
  let description = [{
    `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`.
    ```mlir
    cuda.launch_cfg.cluster_dim[%cfg] (%x, %y, %z) : !cuda.launch_cfg<max_attrs = 3>, i32, i32, i32
    ```
  }];
  let arguments = (ins CUDA_LaunchCfgType:$cfg, I32:$clusterDimX, I32:$clusterDimY, I32:$clusterDimZ);
  let assemblyFormat = [{
    `` `[` $cfg `]` ` ` `(` $clusterDimX `,` $clusterDimY `,` $clusterDimZ `)` attr-dict `:` qualified(type($cfg)) `,`
    type($clusterDimX) `,` type($clusterDimY) `,` type($clusterDimZ)
  }];
}

def CUDA_LaunchExOp : CUDA_Op<"launch_ex", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Launches a kernel";
  let description = [{
    `cuLaunchKernelEx`. The callee is a `cuda.kernel`, or the `gpu.func` it was converted to; the operands are its
    arguments.

    ```mlir
    %r = cuda.launch_ex @kernels::@scale<%cfg> (%x, %factor) {assume_kernel_attr = #cuda.assume_kernel_attr<true>}
      : !cuda.launch_cfg<max_attrs = 3>, (!llvm.ptr<1>, f32) -> !cuda.result
    ```
  }];
  let arguments = (ins CUDA_LaunchCfgType:$cfg, Variadic<AnyType>:$args, SymbolRefAttr:$callee,
                       OptionalAttr<CUDA_AssumeKernelAttr>:$assume_kernel_attr);
  let results = (outs CUDA_ResultType:$result);
  let assemblyFormat = [{
    $callee `` `<` $cfg `>` ` ` `(` $args `)` attr-dict `:` qualified(type($cfg)) `,`
    functional-type($args, $result)
  }];
}

def CUDA_CastOp : CUDA_Op<"cast", [Pure]> {
  let summary = "Converts between handles and integers";
  let description = [{
    Converts between `i64` and `!cuda.stream`, or between `i32` and `!cuda.result`.
    ```mlir
    %s = cuda.cast %address : i64 -> !cuda.stream
    ```
  }];
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
  let hasVerifier = 1;
  let assemblyFormat = "$input attr-dict `:` qualified(type($input)) `->` qualified(type($output))";
}

def CUDA_ReturnIfErrorOp : CUDA_Op<"return_if_error"> {
  let summary = "Returns from a host function on error";
  let description = [{
    If `code` is nonzero, the enclosing function returns it. That function must have a single i32 result.
    ```mlir
    cuda.return_if_error %code : i32
    ```
  }];
  let arguments = (ins I32:$code);
  let hasVerifier = 1;
  let assemblyFormat = "$code attr-dict `:` type($code)";
}

#endif
