// Operations on tensors, iterators and pointers as values; none of them accesses memory.
#ifndef CUTE_IR_TENSOR_OPS_TD
#define CUTE_IR_TENSOR_OPS_TD

include "lib/ir/dialects/cute_ops.td"
include "lib/ir/dialects/cute_tensor_types.td"

// ---- a tensor and its parts ----
def Cute_GetIterOp : Cute_InferOp<"get_iter"> {
  let summary = "Returns the iterator of a tensor";
  let description = [{
    The pointer of a tensor in memory, or the coordinate iterator of a tensor of coordinates. Together with
    `cute.get_layout` the inverse of `cute.make_view`.

    ```mlir
    %p = cute.get_iter(%t) : (!cute.memref<f16, gmem, align<16>, "(8,4):(4,1)">) -> !cute.ptr<f16, gmem, align<16>>
    %i = cute.get_iter(%c) : (!cute.coord_tensor<"(0,?)", "(8,8):(1@0,1@1)">) -> !cute.arith_tuple_iter<"(0,?)">
    ```
  }];
  let arguments = (ins Cute_AnyTensor:$tensor);
  let results = (outs Cute_Iterator:$iter);
}

def Cute_GetLayoutOp : Cute_InferOp<"get_layout"> {
  let summary = "Returns the layout of a tensor";
  let description = [{
    The result is a composed layout if the tensor has one.

    ```mlir
    %l = cute.get_layout(%t) : (!cute.memref<f16, gmem, "(?,8):(8,1)">) -> !cute.layout<"(?,8):(8,1)">
    ```
  }];
  let arguments = (ins Cute_AnyTensor:$tensor);
  let results = (outs Cute_AnyLayout:$layout);
}

def Cute_MakeViewOp : Cute_InferOp<"make_view"> {
  let summary = "Makes a tensor from an iterator and a layout";
  let description = [{
    A pointer and a layout make a tensor in memory: coordinate `c` is at `L(c)` elements from the pointer. A
    coordinate iterator and a layout with basis strides make a tensor of coordinates.

    Errors: a pointer with basis strides; a coordinate iterator to which a stride of the layout cannot be
    added.

    ```mlir
    %t = cute.make_view(%p, %l) : (!cute.ptr<f16, gmem, align<16>>, !cute.layout<"(?,8):(8,1)">)
        -> !cute.memref<f16, gmem, align<16>, "(?,8):(8,1)">
    ```
  }];
  let arguments = (ins Cute_Iterator:$iter, Cute_AnyLayout:$layout);
  let results = (outs Cute_AnyTensor:$tensor);
}

def Cute_MakeIdentityTensorOp : Cute_InferOp<"make_identity_tensor"> {
  let summary = "Makes the tensor whose elements are their own coordinates";
  let description = [{
    The tensor starts at the zero coordinate and has the layout `cute.make_identity_layout` of the shape.
    Partitioned like another tensor of that shape, it gives the original coordinate of each element, which
    predicates compare with the bounds.

    ```mlir
    %c = cute.make_identity_tensor(%s) : (!cute.shape<"(8,?)">) -> !cute.coord_tensor<"(0,0)", "(8,?):(1@0,1@1)">
    ```
  }];
  let arguments = (ins Cute_ShapeType:$shape);
  let results = (outs Cute_CoordTensorType:$tensor);
}

// ---- iterators ----
def Cute_AddOffsetOp : Cute_InferOp<"add_offset"> {
  let summary = "Advances an iterator";
  let description = [{
    Advances a pointer by a number of elements, keeping as much alignment as the offset preserves. Advances a
    coordinate iterator by a coordinate.

    ```mlir
    %q = cute.add_offset(%p, %n) : (!cute.ptr<f16, gmem, align<16>>, !cute.int_tuple<"?{div=8}">) -> !cute.ptr<f16, gmem, align<16>>
    ```
  }];
  let arguments = (ins Cute_Iterator:$iter, Cute_IntTupleType:$offset);
  let results = (outs Cute_Iterator:$result);
}

def Cute_RecastIterOp : Cute_Op<"recast_iter", [Pure]> {
  let summary = "Converts a pointer to another element type";
  let description = [{
    The address is unchanged. The result type gives the elements and optionally a swizzle.

    Errors: a different memory space; an alignment greater than the pointer's (the alignment of a single
    element is assumed).

    ```mlir
    %q = cute.recast_iter(%p) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
    ```
  }];
  let arguments = (ins Cute_PtrType:$iter);
  let results = (outs Cute_PtrType:$result);
}

def Cute_IntToPtrOp : Cute_Op<"inttoptr", [Pure]> {
  let summary = "Converts an address to a pointer";
  let description = [{
    A 32-bit address refers to shared or tensor memory.

    Errors: an alignment that the divisor of the address does not imply (the alignment of a single element is
    assumed).

    ```mlir
    %p = cute.inttoptr(%i) : (!cute.i64<divby 16>) -> !cute.ptr<f16, gmem, align<16>>
    ```
  }];
  let arguments = (ins Cute_Address:$address);
  let results = (outs Cute_PtrType:$result);
}

def Cute_PtrToIntOp : Cute_Op<"ptrtoint", [Pure]> {
  let summary = "Converts a pointer to an address";
  let description = [{
    32 bits for shared and tensor memory, otherwise 64.

    ```mlir
    %i = cute.ptrtoint(%p) : (!cute.ptr<i8, smem, align<4>>) -> i32
    ```
  }];
  let arguments = (ins Cute_PtrType:$ptr);
  let results = (outs AnyTypeOf<[I32, I64]>:$result);
}

def Cute_ApplySwizzleOp : Cute_Op<"apply_swizzle", [Pure]> {
  let summary = "Applies the swizzle of a pointer to its address";
  let description = [{
    The swizzle in the pointer's type XORs bits of the byte address; the result points directly at the
    element. A pointer without a swizzle is returned unchanged.

    ```mlir
    %q = cute.apply_swizzle(%p) : (!cute.ptr<f16, smem, align<16>, S<3,4,3>>) -> !cute.ptr<f16, smem, align<16>>
    ```
  }];
  let arguments = (ins Cute_PtrType:$ptr);
  let results = (outs Cute_PtrType:$result);
}

def Cute_MakeArithTupleIterOp : Cute_InferOp<"make_arith_tuple_iter"> {
  let summary = "Makes a coordinate iterator from a coordinate";
  let description = [{
    ```mlir
    %i = cute.make_arith_tuple_iter(%t) : (!cute.int_tuple<"(0,?)">) -> !cute.arith_tuple_iter<"(0,?)">
    ```
  }];
  let arguments = (ins Cute_IntTupleType:$tuple);
  let results = (outs Cute_ArithTupleIterType:$iter);
}

def Cute_DerefArithTupleIterOp : Cute_InferOp<"deref_arith_tuple_iter"> {
  let summary = "Returns the coordinate of a coordinate iterator";
  let description = [{
    ```mlir
    %t = cute.deref_arith_tuple_iter(%i) : (!cute.arith_tuple_iter<"(0,?)">) -> !cute.int_tuple<"(0,?)">
    ```
  }];
  let arguments = (ins Cute_ArithTupleIterType:$iter);
  let results = (outs Cute_IntTupleType:$tuple);
}

// ---- parts of tensors ----
def Cute_LocalTileOp : Cute_TypedOp<"local_tile", [CuteDivides, NoMemoryEffect, ConditionallySpeculatable, AttrSizedOperandSegments]> {
  let summary = "Returns the tile of a tensor at a coordinate";
  let description = [{
    Divides the tensor by the tiler (`cute.zipped_divide`) and slices the tiles at the coordinate: `(tile,
    rest...)`, where the rest consists of the modes at which the coordinate is `_`. A projection such as
    `"(1,_,1)"` drops the modes of tiler and coordinate at which it is `_`, so that A, B and C of a GEMM can
    share one tiler and one coordinate.

    Errors: those of `cute.zipped_divide` and `cute.slice`.

    ```mlir
    %r = cute.local_tile(%t, %tiler, %c, "(1,_,1)") : (!cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">,
        !cute.tile<"[128:1;128:1;32:1]">, !cute.coord<"(?,?,_)">) -> !cute.memref<f16, gmem, align<16>, "(128,32,?):(?{div=8},1,32)">
    ```
  }];
  let arguments = (ins Cute_LaidOut:$input, Optional<Cute_Tiler>:$tiler, Optional<Cute_CoordType>:$coord, OptionalAttr<Cute_CoordAttr>:$proj);
  let results = (outs Cute_LaidOut:$result);
}

def Cute_LocalPartitionOp : Cute_TypedOp<"local_partition", [CuteDivides, NoMemoryEffect, ConditionallySpeculatable, AttrSizedOperandSegments]> {
  let summary = "Returns the elements of each tile that belong to a thread";
  let description = [{
    Divides the tensor by a layout of threads and selects the position of the thread in every tile. The index
    is an integer or a coordinate in the layout of threads.

    ```mlir
    %r = cute.local_partition(%t, %threads, %i) : (!cute.memref<f32, gmem, "(64,32):(32,1)">, !cute.layout<"(8,4):(4,1)">, !cute.coord<"?">)
        -> !cute.memref<f32, gmem, "(8,8):(256,4)">
    ```
  }];
  let arguments = (ins Cute_LaidOut:$input, Optional<Cute_Tiler>:$threads, Optional<AnyTypeOf<[Cute_CoordType, Cute_IntTupleType]>>:$index,
                   OptionalAttr<Cute_CoordAttr>:$proj);
  let results = (outs Cute_LaidOut:$result);
}

// ---- coordinates and integers ----
def Cute_GetHierCoordOp : Cute_TypedOp<"get_hier_coord", [CuteDivides, NoMemoryEffect, ConditionallySpeculatable]> {
  let summary = "Converts an index to a hierarchical coordinate of a layout";
  let description = [{
    Each leaf is `(i / d) % s`: the coordinate `c` with `L(c) = i` of a compact layout.

    ```mlir
    %c = cute.get_hier_coord(%i, %l) : (i32, !cute.layout<"(32,(4,2)):(1,(32,128))">) -> !cute.coord<"(?,(?,?))">
    ```
  }];
  let arguments = (ins Cute_IndexLike:$index, Cute_LayoutType:$layout);
  let results = (outs Cute_CoordType:$coord);
}
def Cute_GetFlatCoordOp : Cute_TypedOp<"get_flat_coord", [CuteDivides, NoMemoryEffect, ConditionallySpeculatable]> {
  let summary = "Converts an index to a flat coordinate of a layout";
  let description = [{
    The same as `cute.get_hier_coord`, with one integer per mode.

    ```mlir
    %c = cute.get_flat_coord(%i, %l) : (i32, !cute.layout<"(32,(4,2)):(1,(32,128))">) -> !cute.coord<"(?,?)">
    ```
  }];
  let arguments = (ins Cute_IndexLike:$index, Cute_LayoutType:$layout);
  let results = (outs Cute_CoordType:$coord);
}

class Cute_TupleArithmeticOp<string m> : Cute_DivideOp<m> {
  let arguments = (ins Cute_Numbers:$lhs, Cute_Numbers:$rhs);
  let results = (outs Cute_Numbers:$result);
}
def Cute_TupleMulOp : Cute_TupleArithmeticOp<"tuple_mul"> {
  let summary = "Elementwise product of tuples";
  let description = [{
    A scalar is broadcast to each leaf of the other operand.

    ```mlir
    %r = cute.tuple_mul(%a, %b) : (!cute.int_tuple<"(?,4)">, !cute.int_tuple<"(2,3)">) -> !cute.int_tuple<"(?{div=2},12)">
    ```
  }];
}
def Cute_TupleDivOp : Cute_TupleArithmeticOp<"tuple_div"> {
  let summary = "Elementwise quotient of tuples";
  let description = [{
    Truncating division; a scalar is broadcast to each leaf of the other operand.

    Errors: a divisor that is known to be 0.

    ```mlir
    %r = cute.tuple_div(%a, %b) : (!cute.int_tuple<"(?,8)">, !cute.int_tuple<"(2,4)">) -> !cute.int_tuple<"(?,2)">
    ```
  }];
}
def Cute_TupleModOp : Cute_TupleArithmeticOp<"tuple_mod"> {
  let summary = "Elementwise remainder of tuples";
  let description = [{
    Follows the rules of `cute.tuple_div`.

    ```mlir
    %r = cute.tuple_mod(%a, %b) : (!cute.int_tuple<"(?,8)">, !cute.int_tuple<"(2,3)">) -> !cute.int_tuple<"(?,2)">
    ```
  }];
}

def Cute_AssumeOp : Cute_Op<"assume", [Pure]> {
  let summary = "Assumes that an integer is a multiple of a constant";
  let description = [{
    The assumption is not checked at run time.

    Errors: a result of a different width.

    ```mlir
    %n = cute.assume(%i) : (i32) -> !cute.i32<divby 8>
    ```
  }];
  let arguments = (ins Cute_Integer:$value);
  let results = (outs Cute_Multiple:$result);
}

// ---- division by an invariant divisor ----
def Cute_FastDivmodCreateDivisorOp : Cute_Op<"fast_divmod.create_divisor", [CuteDivides, NoMemoryEffect, ConditionallySpeculatable]> {
  let summary = "Precomputes a divisor for repeated division";
  let description = [{
    Computes the multiplier and shifts of Granlund and Montgomery, "Division by invariant integers using
    multiplication". The divisor is unsigned and nonzero. It is stored as `!llvm.struct<(i32, i32, i8, i8)>`:
    the divisor, the multiplier and two shifts; for 64 bits the first two are `i64`. Typically a host function
    creates it once and passes it to kernels as an argument.

    ```mlir
    %d = cute.fast_divmod.create_divisor(%n) : (i32) -> !cute.fast_divmod_divisor<32>
    ```
  }];
  let arguments = (ins Cute_Integer:$divisor);
  let results = (outs Cute_FastDivmodDivisorType:$result);
}
def Cute_FastDivmodComputeOp : Cute_Op<"fast_divmod.compute", [Pure]> {
  let summary = "Quotient and remainder by a precomputed divisor";
  let description = [{
    Exact for all dividends, which are unsigned. Takes the upper half of a product, two additions and two
    shifts.

    ```mlir
    %q, %r = cute.fast_divmod.compute(%x, %d) : (i32, !cute.fast_divmod_divisor<32>) -> (i32, i32)
    ```
  }];
  let arguments = (ins Cute_Integer:$dividend, Cute_FastDivmodDivisorType:$divisor);
  let results = (outs AnyTypeOf<[I32, I64]>:$quotient, AnyTypeOf<[I32, I64]>:$remainder);
}

#endif
