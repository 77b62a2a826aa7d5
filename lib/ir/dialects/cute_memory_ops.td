// Operations that access memory: tensors, copies, MMAs, single accesses through pointers, atomics.
#ifndef CUTE_IR_MEMORY_OPS_TD
#define CUTE_IR_MEMORY_OPS_TD

include "lib/ir/dialects/cute_ops.td"
include "lib/ir/dialects/cute_tensor_types.td"

// ---- tensors ----
def Cute_MemRefAllocaOp : Cute_Op<"memref.alloca"> {
  let summary = "Allocates a tensor in registers or shared memory";
  let description = [{
    Allocates `cute.cosize` of the layout elements, uninitialized. Without an operand the layout is that of
    the result. A result in `rmem` is kept in registers if all its accesses are static, otherwise in local
    memory. A result in `smem` is shared by the threads of the block; each such operation has its own static
    allocation, at most 48 KiB per kernel. For more, use `cute_nvgpu.arch.get_dyn_smem`.

    Errors: a layout with dynamic leaves, a result with a different layout or in another memory space.

    ```mlir
    %r = cute.memref.alloca(%l) : (!cute.layout<"(4,2):(1,4)">) -> !cute.memref<f32, rmem, align<32>, "(4,2):(1,4)">
    %s = cute.memref.alloca(%l) : (!cute.layout<"(4,2):(1,4)">) -> !cute.memref<f32, smem, align<16>, "(4,2):(1,4)">
    ```
  }];
  let arguments = (ins Optional<Cute_AnyLayout>:$layout);
  let results = (outs Res<Cute_MemRefType, "", [MemAlloc]>:$result);
}

def Cute_TemporaryFill : Cute_Choice<"zero ones">;
def Cute_TemporaryOp : Cute_Op<"temporary"> {
  let summary = "Memory on the device that a launch plan needs beside its arguments (host only)";
  let description = [{
    A tensor in global memory of `cute.cosize` of the layout elements. A host function passes it to the kernels that it launches: partial
    sums, flags. The launch plan has its size as a formula of the function's arguments; cute-run, or the program that runs the plan,
    provides the memory.

    At the start of each run of the host function every byte of it is 0 (`zero`) or 255 (`ones`); without either, its contents are
    undefined. Nothing is kept from one run to the next.

    The result has the operand's layout, with strides of at least 0, elements of whole bytes, and an alignment of at most 256. Extents
    are at least 1; a run with others, or with a size beyond 64 bits, is refused.

    Errors: use in a kernel, outside of a func.func or in a loop.

    ```mlir
    // short: %t = cute.temporary<zero> %l : f32
    %t = cute.temporary(%l) {init = "zero"} : (!cute.layout<"?:1">) -> !cute.memref<f32, gmem, align<256>, "?:1">
    ```
  }];
  let arguments = (ins Cute_LayoutType:$layout, OptionalAttr<Cute_TemporaryFill>:$init);
  let results = (outs Res<Cute_MemRefType, "", [MemAlloc]>:$result);
}

def Cute_MemRefLoadOp : Cute_TypedOp<"memref.load", []> {
  let summary = "Loads an element of a tensor";
  let description = [{
    The coordinate matches the shape of the tensor, or is an index.

    Errors: a coordinate that does not match the shape or is known to be out of bounds, a result that is not
    the element type.

    ```mlir
    %x = cute.memref.load(%t, %c) : (!cute.memref<f32, rmem, "(4,2):(1,4)">, !cute.coord<"(?,1)">) -> f32
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemRead]>:$tensor, Cute_CoordType:$coord);
  let results = (outs AnyType:$value);
}
def Cute_MemRefStoreOp : Cute_Op<"memref.store"> {
  let summary = "Stores an element of a tensor";
  let description = [{
    Errors: a coordinate that does not match the shape, a value that is not of the element type.

    ```mlir
    cute.memref.store(%t, %c, %x) : (!cute.memref<f32, rmem, "(4,2):(1,4)">, !cute.coord<"(?,1)">, f32) -> ()
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemWrite]>:$tensor, Cute_CoordType:$coord, AnyType:$value);
}
def Cute_MemRefLoadVecOp : Cute_TypedOp<"memref.load_vec", []> {
  let summary = "Loads all elements of a tensor as a vector";
  let description = [{
    Elements are in colexicographic order of coordinates: element i is the one of index i.

    Errors: a shape with dynamic extents, a vector of a different length or element type.

    ```mlir
    %v = cute.memref.load_vec(%t) : (!cute.memref<f32, rmem, "(4,2):(1,4)">) -> vector<8xf32>
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemRead]>:$tensor);
  let results = (outs AnyVectorOfAnyRank:$value);
}
def Cute_MemRefStoreVecOp : Cute_Op<"memref.store_vec"> {
  let summary = "Stores a vector to all elements of a tensor";
  let description = [{
    The inverse of `cute.memref.load_vec`, with the same errors.

    ```mlir
    cute.memref.store_vec(%v, %t) : (vector<8xf32>, !cute.memref<f32, rmem, "(4,2):(1,4)">) -> ()
    ```
  }];
  let arguments = (ins AnyVectorOfAnyRank:$value, Arg<Cute_MemRefType, "", [MemWrite]>:$tensor);
}
def Cute_MakeFragmentLikeOp : Cute_TypedOp<"make_fragment_like", []> {
  let summary = "Allocates registers for the elements of a tensor";
  let description = [{
    An uninitialized register tensor of the same shape, with compact strides in the stride order of the
    tensor. The element type is that of the tensor unless `element` overrides it.

    Errors: dynamic extents.

    ```mlir
    %r = cute.make_fragment_like(%t) {element = f32} : (!cute.memref<f16, gmem, align<16>, "((8,1),2):((1,0),?{i64})">)
        -> !cute.memref<f32, rmem, align<32>, "((8,1),2):((1,0),8)">
    ```
  }];
  let arguments = (ins Cute_MemRefType:$tensor, OptionalAttr<TypeAttr>:$element);
  let results = (outs Res<Cute_MemRefType, "", [MemAlloc]>:$result);
}
def Cute_PredicateOp : Cute_TypedOp<"predicate", []> {
  let summary = "Computes the bounds predicates of a tensor of coordinates";
  let description = [{
    The operand is a tensor of coordinates that was partitioned as the source of a copy. The result is the
    predicate operand of that copy: 1 where each component of the coordinate is less than the bound, else 0.
    Mode 0 is `(values, copies...)`; the predicate of a copy is that of its first value, and
    cute-atom-validation rejects atoms that move fewer values unless the bounds are multiples. If mode 0 is an
    integer, as after `cute.local_partition`, each element has its own predicate. The result is in registers,
    with the copies as mode 0, followed by the other modes.

    Errors: dynamic extents, bounds that are not congruent to the coordinates.

    ```mlir
    %p = cute.predicate(%c, %s) : (!cute.coord_tensor<"(?{div=8},?)", "((8,1),4):((1@0,0),16@1)">, !cute.shape<"(?,?)">)
        -> !cute.memref<i8, rmem, "(1,4):(0,1)">
    ```
  }];
  let arguments = (ins Cute_CoordTensorType:$coords, Cute_Comparable:$bounds);
  let results = (outs Res<Cute_MemRefType, "", [MemAlloc]>:$result);
}
def Cute_FillOp : Cute_Op<"fill"> {
  let summary = "Sets all elements of a tensor to a value";
  let description = [{
    Errors: a value that is not of the element type.

    ```mlir
    cute.fill(%t, %x) : (!cute.memref<f32, rmem, "(4,2):(1,4)">, f32) -> ()
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemWrite]>:$tensor, AnyType:$value);
}

// ---- copies and MMAs ----
def Cute_CopyOp : Cute_Op<"copy"> {
  let summary = "Copies a tensor with a copy atom";
  let description = [{
    Mode 0 of source and destination holds the values of one atom; the atom executes once per coordinate of
    the other modes, which have equal extents. The optional predicate is a register tensor of `i8` with one
    element per execution: where it is 0, the copy is skipped, or writes zeros with `zero_fill`, as `cp.async`
    always does. Mode 0 of the predicate can have one element for each execution of the atom or for each
    element; an execution needs all of its elements.

    A tensor without the mode of values is copied element by element, in steps of the atom.

    Errors: tensors of different extents, an element type or memory space that the atom does not support, less
    alignment than an access of the atom requires.

    ```mlir
    cute.copy(%atom, %src, %dst) : (!cute_nvgpu.atom.universal_copy<f32, 128 b>,
        !cute.memref<f32, gmem, align<16>, "((4,1),2):((1,0),64)">, !cute.memref<f32, rmem, align<16>, "((4,1),2):((1,0),4)">) -> ()
    ```
  }];
  let arguments = (ins Cute_CopyAtom:$atom, Arg<Cute_Tensor, "", [MemRead]>:$src, Arg<Cute_Tensor, "", [MemWrite]>:$dst,
                   Arg<Optional<Cute_MemRefType>, "", [MemRead]>:$pred, UnitAttr:$zero_fill);
}
def Cute_CopyAtomCallOp : Cute_Op<"copy_atom_call"> {
  let summary = "Executes a copy atom once";
  let description = [{
    The step that `cute.copy` executes for one coordinate of the other modes: source and destination have the
    mode of values only.

    ```mlir
    cute.copy_atom_call(%atom, %src, %dst) : (!cute_nvgpu.atom.universal_copy<f32, 128 b>,
        !cute.memref<f32, gmem, align<16>, "((4,1)):((1,0))">, !cute.memref<f32, rmem, align<16>, "((4,1)):((1,0))">) -> ()
    ```
  }];
  let arguments = (ins Cute_CopyAtom:$atom, Arg<Cute_Tensor, "", [MemRead]>:$src, Arg<Cute_Tensor, "", [MemWrite]>:$dst,
                   Arg<Optional<Cute_MemRefType>, "", [MemRead]>:$pred);
}
def Cute_PrefetchOp : Cute_Op<"prefetch", [MemoryEffects<[MemWrite]>]> {
  let summary = "Prefetches the source of a copy into the L2 cache";
  let description = [{
    `prefetch.global.L2` at the address of each execution of the atom; it does not wait.

    ```mlir
    cute.prefetch(%atom, %src) : (!cute_nvgpu.atom.universal_copy<f32, 128 b>, !cute.memref<f32, gmem, align<16>, "((4,1),2):((1,0),64)">) -> ()
    ```
  }];
  let arguments = (ins Cute_CopyAtom:$atom, Cute_Tensor:$src);
}
def Cute_GemmOp : Cute_Op<"gemm"> {
  let summary = "Multiplies tensors with an MMA atom: `D = A * B + C`";
  let description = [{
    The operands are D, A, B and C. Mode 0 of each holds the values of one atom; A has a mode M, B a mode N, C
    and D have both; a trailing mode K is summed. The atom executes once per coordinate of (M, N, K). For
    `wgmma`, B (and A if `frag_kind = ss`) are descriptor views and C is D; the operation is asynchronous and
    belongs between `wgmma_fence` and `wgmma_commit_group`.

    Errors: modes of different extents, element types that differ from the atom's, a descriptor where the atom
    takes registers or the reverse.

    ```mlir
    cute.gemm(%mma, %d, %a, %b, %c) : (!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >,
        !cute.memref<f32, rmem, "((2,2),2,4):((1,2),4,8)">, !cute.memref<f16, rmem, "((2,2,2),2):((1,2,4),8)">,
        !cute.memref<f16, rmem, "((2,2),4):((1,2),4)">, !cute.memref<f32, rmem, "((2,2),2,4):((1,2),4,8)">) -> ()
    ```
  }];
  let arguments = (ins Cute_MmaAtom:$mma, Arg<Cute_Fragment, "", [MemWrite]>:$d, Arg<Cute_Fragment, "", [MemRead]>:$a,
                   Arg<Cute_Fragment, "", [MemRead]>:$b, Arg<Cute_Fragment, "", [MemRead]>:$c);
}
def Cute_MmaAtomCallOp : Cute_Op<"mma_atom_call"> {
  let summary = "Executes an MMA atom once";
  let description = [{
    The step that `cute.gemm` executes for one coordinate of (M, N, K): each operand has the mode of values
    only.

    ```mlir
    cute.mma_atom_call(%mma, %d, %a, %b, %c) : (!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >,
        !cute.memref<f32, rmem, "((2,2)):((1,2))">, !cute.memref<f16, rmem, "((2,2,2)):((1,2,4))">,
        !cute.memref<f16, rmem, "((2,2)):((1,2))">, !cute.memref<f32, rmem, "((2,2)):((1,2))">) -> ()
    ```
  }];
  let arguments = (ins Cute_MmaAtom:$mma, Arg<Cute_Fragment, "", [MemWrite]>:$d, Arg<Cute_Fragment, "", [MemRead]>:$a,
                   Arg<Cute_Fragment, "", [MemRead]>:$b, Arg<Cute_Fragment, "", [MemRead]>:$c);
}

// ---- single accesses ----
def Cute_PtrLoadOp : Cute_Op<"ptr.load"> {
  let summary = "Loads through a pointer";
  let description = [{
    Loads an element, or a vector whose length is that of the result type. The pointer has no swizzle.

    Errors: a result with a different element type; a vector larger than the pointer's alignment or 16 bytes.

    ```mlir
    %v = cute.ptr.load(%p) : (!cute.ptr<f16, gmem, align<16>>) -> vector<8xf16>
    ```
  }];
  let arguments = (ins Arg<Cute_PtrType, "", [MemRead]>:$ptr);
  let results = (outs AnyType:$value);
}
def Cute_PtrStoreOp : Cute_Op<"ptr.store"> {
  let summary = "Stores through a pointer";
  let description = [{
    The inverse of `cute.ptr.load`.

    ```mlir
    cute.ptr.store(%p, %v) : (!cute.ptr<f16, smem, align<16>>, vector<8xf16>) -> ()
    ```
  }];
  let arguments = (ins Arg<Cute_PtrType, "", [MemWrite]>:$ptr, AnyType:$value);
}

// ---- atomic updates ----
def Cute_MemoryOrder : Cute_Choice<"relaxed acquire release acq_rel sc">;
def Cute_MemoryScope : Cute_Choice<"cta cluster gpu sys">;
class Cute_AtomicOp<string m> : Cute_TypedOp<m, []> {
  let arguments = (ins AnyType:$value, Arg<Cute_MemRefType, "", [MemRead, MemWrite]>:$tensor, Cute_CoordType:$coord,
                   OptionalAttr<Cute_MemoryOrder>:$order, OptionalAttr<Cute_MemoryScope>:$scope);
  let results = (outs AnyType:$old);
}
def Cute_AtomicAddOp : Cute_AtomicOp<"atomic_add"> {
  let summary = "Atomically adds to an element of a tensor; returns the old value";
  let description = [{
    The short form is `%old = cute.atomic_add %x, %t[%i]`, or `cute.atomic_add 1, %t[%i]` if the old value is
    unused. The following holds for all atomic operations. The tensor is in global or shared memory and may
    have a composed layout; the coordinate is that of `cute.memref.load`.

    `order` is `relaxed` (default), `acquire`, `release`, `acq_rel` or `sc`; `scope` is the block (`cta`), the
    cluster (`cluster`, sm_90 or later), the device (`gpu`, default) or the system (`sys`):
    `cute.atomic_add<acq_rel, cta> %x, %t[%i]`.

    Elements are `i32`, `i64`, `f16`, `bf16`, `f32` or `f64`; before sm_90 `bf16` is a compare-and-swap loop.
    A vector operand is added to consecutive elements starting at the coordinate; each element is updated
    atomically by itself. The elements must be contiguous and aligned to the size of the vector, as implied by
    alignment and `divby`. Vectors have 2 elements of `f16` or (sm_90 or later) `bf16`; in global memory
    (sm_90 or later) also 4 or 8 elements of `f16` or `bf16`, and 2 or 4 of `f32`.

    Errors: a tensor in registers or tensor memory; an unsupported type; a coordinate that does not match the
    shape or is known to be out of bounds; an instruction that the architecture lacks.

    ```mlir
    %old = cute.atomic_add(%x, %t, %c) : (i32, !cute.memref<i32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> i32
    ```
  }];
}
def Cute_AtomicMinOp : Cute_AtomicOp<"atomic_min"> {
  let summary = "Atomic minimum (signed) of an element of a tensor and a value; returns the old value";
  let description = [{
    Element types are those of `cute.atomic_add`. For floats it is a compare-and-swap loop; if one operand is
    NaN, the result is the other.

    Errors: those of `cute.atomic_add`, unsupported types.

    ```mlir
    %old = cute.atomic_min(%x, %t, %c) : (f32, !cute.memref<f32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> f32
    ```
  }];
}
def Cute_AtomicMaxOp : Cute_AtomicOp<"atomic_max"> {
  let summary = "Atomic maximum (signed) of an element of a tensor and a value; returns the old value";
  let description = [{
    Element types are those of `cute.atomic_min`.

    Errors: those of `cute.atomic_add`, unsupported types.

    ```mlir
    %old = cute.atomic_max(%x, %t, %c) : (i32, !cute.memref<i32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> i32
    ```
  }];
}
def Cute_AtomicUminOp : Cute_AtomicOp<"atomic_umin"> {
  let summary = "Atomic unsigned minimum of an element of a tensor and a value; returns the old value";
  let description = [{
    Elements are `i32` or `i64`.

    Errors: those of `cute.atomic_add`, unsupported types.

    ```mlir
    %old = cute.atomic_umin(%x, %t, %c) : (i64, !cute.memref<i64, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> i64
    ```
  }];
}
def Cute_AtomicUmaxOp : Cute_AtomicOp<"atomic_umax"> {
  let summary = "Atomic unsigned maximum of an element of a tensor and a value; returns the old value";
  let description = [{
    Elements are `i32` or `i64`.

    Errors: those of `cute.atomic_add`, unsupported types.

    ```mlir
    %old = cute.atomic_umax(%x, %t, %c) : (i32, !cute.memref<i32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> i32
    ```
  }];
}
def Cute_AtomicAndOp : Cute_AtomicOp<"atomic_and"> {
  let summary = "Atomic bitwise AND of an element of a tensor and a value; returns the old value";
  let description = [{
    Elements are `i32` or `i64`.

    Errors: those of `cute.atomic_add`, unsupported types.

    ```mlir
    %old = cute.atomic_and(%x, %t, %c) : (i32, !cute.memref<i32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> i32
    ```
  }];
}
def Cute_AtomicOrOp : Cute_AtomicOp<"atomic_or"> {
  let summary = "Atomic bitwise OR of an element of a tensor and a value; returns the old value";
  let description = [{
    Elements are `i32` or `i64`.

    Errors: those of `cute.atomic_add`, unsupported types.

    ```mlir
    %old = cute.atomic_or(%x, %t, %c) : (i32, !cute.memref<i32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> i32
    ```
  }];
}
def Cute_AtomicXorOp : Cute_AtomicOp<"atomic_xor"> {
  let summary = "Atomic bitwise XOR of an element of a tensor and a value; returns the old value";
  let description = [{
    Elements are `i32` or `i64`.

    Errors: those of `cute.atomic_add`, unsupported types.

    ```mlir
    %old = cute.atomic_xor(%x, %t, %c) : (i32, !cute.memref<i32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> i32
    ```
  }];
}
def Cute_AtomicIncOp : Cute_AtomicOp<"atomic_inc"> {
  let summary = "Atomically increments an element of a tensor, wrapping to 0 at a limit; returns the old value";
  let description = [{
    `old >= limit ? 0 : old + 1`, unsigned. Elements are `i32`.

    Errors: those of `cute.atomic_add`, unsupported types.

    ```mlir
    %old = cute.atomic_inc(%limit, %t, %c) : (i32, !cute.memref<i32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> i32
    ```
  }];
}
def Cute_AtomicDecOp : Cute_AtomicOp<"atomic_dec"> {
  let summary = "Atomically decrements an element of a tensor, wrapping to a limit at 0; returns the old value";
  let description = [{
    `old == 0 || old > limit ? limit : old - 1`, unsigned. Elements are `i32`.

    Errors: those of `cute.atomic_add`, unsupported types.

    ```mlir
    %old = cute.atomic_dec(%limit, %t, %c) : (i32, !cute.memref<i32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> i32
    ```
  }];
}
def Cute_AtomicExchOp : Cute_AtomicOp<"atomic_exch"> {
  let summary = "Atomically replaces an element of a tensor; returns the old value";
  let description = [{
    Elements are 16, 32 or 64-bit integers, or the floats of `cute.atomic_add`; 16-bit elements use a
    compare-and-swap loop.

    Errors: those of `cute.atomic_add`, unsupported types.

    ```mlir
    %old = cute.atomic_exch(%x, %t, %c) : (f32, !cute.memref<f32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> f32
    ```
  }];
}
def Cute_AtomicCasOp : Cute_TypedOp<"atomic_cas", []> {
  let summary = "Atomic compare-and-swap of an element of a tensor; returns the old value";
  let description = [{
    `%old = cute.atomic_cas %expected, %desired, %t[%i]`: stores `desired` if the element has the bits of
    `expected`. Element types are those of `cute.atomic_exch`.

    Errors: those of `cute.atomic_add`, unsupported types.

    ```mlir
    %old = cute.atomic_cas(%expected, %desired, %t, %c) : (i32, i32, !cute.memref<i32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> i32
    ```
  }];
  let arguments = (ins AnyType:$expected, AnyType:$desired, Arg<Cute_MemRefType, "", [MemRead, MemWrite]>:$tensor,
                   Cute_CoordType:$coord, OptionalAttr<Cute_MemoryOrder>:$order, OptionalAttr<Cute_MemoryScope>:$scope);
  let results = (outs AnyType:$old);
}

#endif
