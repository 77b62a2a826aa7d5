// Operations that read and write memory: tensors as a whole, and single accesses through pointers.
#ifndef CUTE_IR_MEMORY_OPS_TD
#define CUTE_IR_MEMORY_OPS_TD

include "lib/ir/dialects/cute_ops.td"
include "lib/ir/dialects/cute_tensor_types.td"

// ---- tensors ----
def Cute_MemRefAllocaOp : Cute_Op<"memref.alloca"> {
  let summary = "A tensor in a thread's registers, or in its block's shared memory";
  let description = [{
    As many elements as the layout reaches, uninitialised; without an operand the layout of the result. A result in `rmem` is in registers once all its accesses are
    known, in local memory else. One in `smem` is the block's: all its threads have the same, and each operation has memory
    of its own, of up to 48 KiB in a kernel. More is `cute_nvgpu.arch.get_dyn_smem`.

    Refused: a layout with unknown leaves, a result whose layout is another one, or that is in other memory.

    ```mlir
    %r = cute.memref.alloca(%l) : (!cute.layout<"(4,2):(1,4)">) -> !cute.memref<f32, rmem, align<32>, "(4,2):(1,4)">
    %s = cute.memref.alloca(%l) : (!cute.layout<"(4,2):(1,4)">) -> !cute.memref<f32, smem, align<16>, "(4,2):(1,4)">
    ```
  }];
  let arguments = (ins Optional<Cute_AnyLayout>:$layout);
  let results = (outs Res<Cute_MemRefType, "", [MemAlloc]>:$result);
}

def Cute_MemRefLoadOp : Cute_TypedOp<"memref.load", []> {
  let summary = "An element of a tensor";
  let description = [{
    The coordinate is one of the tensor's shape, or an index.

    Refused: a coordinate that is none of the shape's or is known to lie outside of it, a result that is not the element type.

    ```mlir
    %x = cute.memref.load(%t, %c) : (!cute.memref<f32, rmem, "(4,2):(1,4)">, !cute.coord<"(?,1)">) -> f32
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemRead]>:$tensor, Cute_CoordType:$coord);
  let results = (outs AnyType:$value);
}
def Cute_MemRefStoreOp : Cute_Op<"memref.store"> {
  let summary = "Sets an element of a tensor";
  let description = [{
    Refused: a coordinate that is none of the shape's, a value that is not of the element type.

    ```mlir
    cute.memref.store(%t, %c, %x) : (!cute.memref<f32, rmem, "(4,2):(1,4)">, !cute.coord<"(?,1)">, f32) -> ()
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemWrite]>:$tensor, Cute_CoordType:$coord, AnyType:$value);
}
def Cute_MemRefLoadVecOp : Cute_TypedOp<"memref.load_vec", []> {
  let summary = "All elements of a tensor as a vector";
  let description = [{
    In colexicographic order of coordinates: element i is the one of index i.

    Refused: a shape with unknown extents, a vector of another length or element type.

    ```mlir
    %v = cute.memref.load_vec(%t) : (!cute.memref<f32, rmem, "(4,2):(1,4)">) -> vector<8xf32>
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemRead]>:$tensor);
  let results = (outs AnyVectorOfAnyRank:$value);
}
def Cute_MemRefStoreVecOp : Cute_Op<"memref.store_vec"> {
  let summary = "Sets all elements of a tensor";
  let description = [{
    The reverse of `cute.memref.load_vec`.

    Refused: as of `cute.memref.load_vec`.

    ```mlir
    cute.memref.store_vec(%v, %t) : (vector<8xf32>, !cute.memref<f32, rmem, "(4,2):(1,4)">) -> ()
    ```
  }];
  let arguments = (ins AnyVectorOfAnyRank:$value, Arg<Cute_MemRefType, "", [MemWrite]>:$tensor);
}
def Cute_MakeFragmentLikeOp : Cute_TypedOp<"make_fragment_like", []> {
  let summary = "Registers for the elements of a tensor";
  let description = [{
    A tensor in registers of the same shape, uninitialised, with compact strides in the order of the tensor's. Its elements
    are the tensor's, or of the type `element`.

    Refused: unknown extents.

    ```mlir
    %r = cute.make_fragment_like(%t) {element = f32} : (!cute.memref<f16, gmem, align<16>, "((8,1),2):((1,0),?{i64})">)
        -> !cute.memref<f32, rmem, align<32>, "((8,1),2):((1,0),8)">
    ```
  }];
  let arguments = (ins Cute_MemRefType:$tensor, OptionalAttr<TypeAttr>:$element);
  let results = (outs Res<Cute_MemRefType, "", [MemAlloc]>:$result);
}
def Cute_PredicateOp : Cute_TypedOp<"predicate", []> {
  let summary = "Which elements of a tensor of coordinates lie within bounds";
  let description = [{
    Of a tensor of coordinates that was partitioned as the source of a copy, the predicates of that copy: 1 where each
    number of the coordinate is less than that of the bounds, else 0. Mode 0 is `(values, copies...)`; the first value of a
    copy stands for all of them: cute-atom-validation refuses copies of fewer values, unless the bounds are multiples. A mode 0
    that is a number, as of `cute.local_partition`, has a predicate for each element. The result is in registers, with the
    copies as mode 0 and the other modes behind it.

    Refused: unknown extents, bounds that are not congruent to the coordinates.

    ```mlir
    %p = cute.predicate(%c, %s) : (!cute.coord_tensor<"(?{div=8},?)", "((8,1),4):((1@0,0),16@1)">, !cute.shape<"(?,?)">)
        -> !cute.memref<i8, rmem, "(1,4):(0,1)">
    ```
  }];
  let arguments = (ins Cute_CoordTensorType:$coords, Cute_Comparable:$bounds);
  let results = (outs Res<Cute_MemRefType, "", [MemAlloc]>:$result);
}
def Cute_FillOp : Cute_Op<"fill"> {
  let summary = "Sets all elements of a tensor to one value";
  let description = [{
    Refused: a value that is not of the element type.

    ```mlir
    cute.fill(%t, %x) : (!cute.memref<f32, rmem, "(4,2):(1,4)">, f32) -> ()
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemWrite]>:$tensor, AnyType:$value);
}

// ---- by an atom ----
def Cute_CopyOp : Cute_Op<"copy"> {
  let summary = "Copies a tensor by an atom";
  let description = [{
    Source and destination have the atom's values as mode 0 and as many others; the atom runs once for each coordinate of
    the others. A predicate, a tensor of `i8` in registers, has an element for each of these: where it is 0, nothing is copied,
    or zeros with `zero_fill`, as `cp.async` always does. In mode 0 it may have more: one for each run of the atom, or for each
    element, of which a run needs all.

    A tensor without the mode of values is copied element by element, in steps of the atom.

    Refused: tensors of different extents, element types that the atom does not move, spaces between which it does not
    copy, less alignment than an access of the atom needs.

    ```mlir
    cute.copy(%atom, %src, %dst) : (!cute_nvgpu.atom.universal_copy<f32, 128 b>,
        !cute.memref<f32, gmem, align<16>, "((4,1),2):((1,0),64)">, !cute.memref<f32, rmem, align<16>, "((4,1),2):((1,0),4)">) -> ()
    ```
  }];
  let arguments = (ins Cute_CopyAtom:$atom, Arg<Cute_Tensor, "", [MemRead]>:$src, Arg<Cute_Tensor, "", [MemWrite]>:$dst,
                   Arg<Optional<Cute_MemRefType>, "", [MemRead]>:$pred, UnitAttr:$zero_fill);
}
def Cute_CopyAtomCallOp : Cute_Op<"copy_atom_call"> {
  let summary = "One copy by an atom";
  let description = [{
    What `cute.copy` does for one coordinate of its other modes: source and destination have the mode of values alone.

    ```mlir
    cute.copy_atom_call(%atom, %src, %dst) : (!cute_nvgpu.atom.universal_copy<f32, 128 b>,
        !cute.memref<f32, gmem, align<16>, "((4,1)):((1,0))">, !cute.memref<f32, rmem, align<16>, "((4,1)):((1,0))">) -> ()
    ```
  }];
  let arguments = (ins Cute_CopyAtom:$atom, Arg<Cute_Tensor, "", [MemRead]>:$src, Arg<Cute_Tensor, "", [MemWrite]>:$dst,
                   Arg<Optional<Cute_MemRefType>, "", [MemRead]>:$pred);
}
def Cute_PrefetchOp : Cute_Op<"prefetch", [MemoryEffects<[MemWrite]>]> {
  let summary = "Brings what a copy would read into the cache";
  let description = [{
    `prefetch.global.L2` at the address of each run of the atom: nothing is read, and nothing waits.

    ```mlir
    cute.prefetch(%atom, %src) : (!cute_nvgpu.atom.universal_copy<f32, 128 b>, !cute.memref<f32, gmem, align<16>, "((4,1),2):((1,0),64)">) -> ()
    ```
  }];
  let arguments = (ins Cute_CopyAtom:$atom, Cute_Tensor:$src);
}
def Cute_GemmOp : Cute_Op<"gemm"> {
  let summary = "Multiplies tensors by an MMA atom: `D = A * B + C`";
  let description = [{
    The operands are D, A, B and C. Mode 0 of each are the atom's values; A has a mode of M, B one of N, D and C both; a
    mode of K behind them is summed. The atom runs once for each coordinate of (M, N, K). Of `wgmma`, B and with `frag_kind = ss` A
    are views of descriptors, and C is D; it is asynchronous, between `wgmma_fence` and `wgmma_commit_group`.

    Refused: modes of different extent, element types that are not the atom's, descriptors where it has registers and the other way
    round.

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
  let summary = "One run of an MMA atom";
  let description = [{
    What `cute.gemm` does for one coordinate of (M, N, K): each operand has the mode of values alone.

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
  let summary = "What a pointer points at";
  let description = [{
    An element, or a vector of as many elements as the result type says. The pointer is no swizzled one.

    Refused: a result of other elements; a vector of more bytes than the pointer's alignment and 16.

    ```mlir
    %v = cute.ptr.load(%p) : (!cute.ptr<f16, gmem, align<16>>) -> vector<8xf16>
    ```
  }];
  let arguments = (ins Arg<Cute_PtrType, "", [MemRead]>:$ptr);
  let results = (outs AnyType:$value);
}
def Cute_PtrStoreOp : Cute_Op<"ptr.store"> {
  let summary = "Writes where a pointer points";
  let description = [{
    The reverse of `cute.ptr.load`.

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
  let summary = "Adds to an element of a tensor in one step, and gives what it was before";
  let description = [{
    The short form is `%old = cute.atomic_add %x, %t[%i]`, or `cute.atomic_add 1, %t[%i]` where nothing needs the old value. The
    tensor is in global or shared memory; the coordinate is as of `cute.memref.load`, a coordinate of the shape or an index, and
    layouts may be composed. So of all atomic updates.

    `order` is `relaxed` (unless it is said), `acquire`, `release`, `acq_rel` or `sc`; `scope` is the block (`cta`), the cluster
    (from sm_90 on), the device (`gpu`, unless it is said) or all (`sys`): `cute.atomic_add<acq_rel, cta> %x, %t[%i]`.

    Elements are `i32`, `i64`, `f16`, `bf16`, `f32` or `f64`; `bf16` is a loop of compare and swap before sm_90. A vector is added to
    as many elements from the coordinate on, which lie side by side and are aligned to the vector's bytes, as far as alignment and
    `divby` say: each element by itself is one step. There are 2 of `f16`, and from sm_90 on 2 of `bf16`; in global memory from sm_90 on also 4 and 8
    of `f16` and `bf16`, 2 and 4 of `f32`.

    Refused: registers and tensor memory; other types; a coordinate that is none of the shape's or is known to lie outside of it; an instruction
    that the architecture lacks.

    ```mlir
    %old = cute.atomic_add(%x, %t, %c) : (i32, !cute.memref<i32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> i32
    ```
  }];
}
def Cute_AtomicMinOp : Cute_AtomicOp<"atomic_min"> {
  let summary = "The less of an element of a tensor and a value, signed";
  let description = [{
    Elements are as of `cute.atomic_add`. Of floats it is a loop of compare and swap; of a NaN and a number it is the number.

    Refused: as of `cute.atomic_add`, and other types.

    ```mlir
    %old = cute.atomic_min(%x, %t, %c) : (f32, !cute.memref<f32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> f32
    ```
  }];
}
def Cute_AtomicMaxOp : Cute_AtomicOp<"atomic_max"> {
  let summary = "The greater of an element of a tensor and a value, signed";
  let description = [{
    Elements are as of `cute.atomic_min`.

    Refused: as of `cute.atomic_add`, and other types.

    ```mlir
    %old = cute.atomic_max(%x, %t, %c) : (i32, !cute.memref<i32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> i32
    ```
  }];
}
def Cute_AtomicUminOp : Cute_AtomicOp<"atomic_umin"> {
  let summary = "The less of an element of a tensor and a value, unsigned";
  let description = [{
    Elements are `i32` or `i64`.

    Refused: as of `cute.atomic_add`, and other types.

    ```mlir
    %old = cute.atomic_umin(%x, %t, %c) : (i64, !cute.memref<i64, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> i64
    ```
  }];
}
def Cute_AtomicUmaxOp : Cute_AtomicOp<"atomic_umax"> {
  let summary = "The greater of an element of a tensor and a value, unsigned";
  let description = [{
    Elements are `i32` or `i64`.

    Refused: as of `cute.atomic_add`, and other types.

    ```mlir
    %old = cute.atomic_umax(%x, %t, %c) : (i32, !cute.memref<i32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> i32
    ```
  }];
}
def Cute_AtomicAndOp : Cute_AtomicOp<"atomic_and"> {
  let summary = "The bits that an element of a tensor and a value have both";
  let description = [{
    Elements are `i32` or `i64`.

    Refused: as of `cute.atomic_add`, and other types.

    ```mlir
    %old = cute.atomic_and(%x, %t, %c) : (i32, !cute.memref<i32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> i32
    ```
  }];
}
def Cute_AtomicOrOp : Cute_AtomicOp<"atomic_or"> {
  let summary = "The bits that an element of a tensor or a value has";
  let description = [{
    Elements are `i32` or `i64`.

    Refused: as of `cute.atomic_add`, and other types.

    ```mlir
    %old = cute.atomic_or(%x, %t, %c) : (i32, !cute.memref<i32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> i32
    ```
  }];
}
def Cute_AtomicXorOp : Cute_AtomicOp<"atomic_xor"> {
  let summary = "The bits that an element of a tensor or a value has, but not both";
  let description = [{
    Elements are `i32` or `i64`.

    Refused: as of `cute.atomic_add`, and other types.

    ```mlir
    %old = cute.atomic_xor(%x, %t, %c) : (i32, !cute.memref<i32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> i32
    ```
  }];
}
def Cute_AtomicIncOp : Cute_AtomicOp<"atomic_inc"> {
  let summary = "Adds 1 to an element of a tensor, up to a limit and then from 0";
  let description = [{
    `old >= limit ? 0 : old + 1`, unsigned. Elements are `i32`.

    Refused: as of `cute.atomic_add`, and other types.

    ```mlir
    %old = cute.atomic_inc(%limit, %t, %c) : (i32, !cute.memref<i32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> i32
    ```
  }];
}
def Cute_AtomicDecOp : Cute_AtomicOp<"atomic_dec"> {
  let summary = "Subtracts 1 from an element of a tensor, down to 0 and then from a limit";
  let description = [{
    `old == 0 || old > limit ? limit : old - 1`, unsigned. Elements are `i32`.

    Refused: as of `cute.atomic_add`, and other types.

    ```mlir
    %old = cute.atomic_dec(%limit, %t, %c) : (i32, !cute.memref<i32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> i32
    ```
  }];
}
def Cute_AtomicExchOp : Cute_AtomicOp<"atomic_exch"> {
  let summary = "Sets an element of a tensor, and gives what it was before";
  let description = [{
    Elements are integers of 16, 32 or 64 bits, or floats as of `cute.atomic_add`; those of 16 bits are set by a loop of compare and swap.

    Refused: as of `cute.atomic_add`, and other types.

    ```mlir
    %old = cute.atomic_exch(%x, %t, %c) : (f32, !cute.memref<f32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> f32
    ```
  }];
}
def Cute_AtomicCasOp : Cute_TypedOp<"atomic_cas", []> {
  let summary = "Sets an element of a tensor where it is what is expected";
  let description = [{
    `%old = cute.atomic_cas %expected, %desired, %t[%i]`: the element becomes `desired` if its bits are those of `expected`. Elements are
    as of `cute.atomic_exch`.

    Refused: as of `cute.atomic_add`, and other types.

    ```mlir
    %old = cute.atomic_cas(%expected, %desired, %t, %c) : (i32, i32, !cute.memref<i32, gmem, "(64,8):(8,1)">, !cute.coord<"(?,3)">) -> i32
    ```
  }];
  let arguments = (ins AnyType:$expected, AnyType:$desired, Arg<Cute_MemRefType, "", [MemRead, MemWrite]>:$tensor,
                   Cute_CoordType:$coord, OptionalAttr<Cute_MemoryOrder>:$order, OptionalAttr<Cute_MemoryScope>:$scope);
  let results = (outs AnyType:$old);
}

#endif
