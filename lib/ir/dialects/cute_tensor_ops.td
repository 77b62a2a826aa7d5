// Operations on tensors, iterators and pointers as values: nothing here touches memory.
#ifndef CUTE_IR_TENSOR_OPS_TD
#define CUTE_IR_TENSOR_OPS_TD

include "lib/ir/dialects/cute_ops.td"
include "lib/ir/dialects/cute_tensor_types.td"

// ---- a tensor and its parts ----
def Cute_GetIterOp : Cute_InferOp<"get_iter"> {
  let summary = "Where a tensor begins";
  let description = [{
    The pointer of a tensor in memory, the iterator of a tensor of coordinates. With `cute.get_layout` the reverse of
    `cute.make_view`.

    ```mlir
    %p = cute.get_iter(%t) : (!cute.memref<f16, gmem, align<16>, "(8,4):(4,1)">) -> !cute.ptr<f16, gmem, align<16>>
    %i = cute.get_iter(%c) : (!cute.coord_tensor<"(0,?)", "(8,8):(1@0,1@1)">) -> !cute.arith_tuple_iter<"(0,?)">
    ```
  }];
  let arguments = (ins Cute_AnyTensor:$tensor);
  let results = (outs Cute_Iterator:$iter);
}

def Cute_GetLayoutOp : Cute_InferOp<"get_layout"> {
  let summary = "The layout of a tensor";
  let description = [{
    A composed layout where the tensor has one.

    ```mlir
    %l = cute.get_layout(%t) : (!cute.memref<f16, gmem, "(?,8):(8,1)">) -> !cute.layout<"(?,8):(8,1)">
    ```
  }];
  let arguments = (ins Cute_AnyTensor:$tensor);
  let results = (outs Cute_AnyLayout:$layout);
}

def Cute_MakeViewOp : Cute_InferOp<"make_view"> {
  let summary = "A tensor: an iterator and a layout";
  let description = [{
    A pointer gives a tensor in memory: coordinate `c` is the element `L(c)` elements behind it. A coordinate iterator
    and a layout of basis strides give a tensor of coordinates.

    Refused: a pointer with basis strides; a coordinate iterator that a stride of the layout cannot be added to.

    ```mlir
    %t = cute.make_view(%p, %l) : (!cute.ptr<f16, gmem, align<16>>, !cute.layout<"(?,8):(8,1)">)
        -> !cute.memref<f16, gmem, align<16>, "(?,8):(8,1)">
    ```
  }];
  let arguments = (ins Cute_Iterator:$iter, Cute_AnyLayout:$layout);
  let results = (outs Cute_AnyTensor:$tensor);
}

def Cute_MakeIdentityTensorOp : Cute_InferOp<"make_identity_tensor"> {
  let summary = "The tensor whose elements are their coordinates";
  let description = [{
    It begins at the coordinate of zeros, its layout is `cute.make_identity_layout` of the shape. Partitioned as another
    tensor of that shape, it says where elements of a part came from: what predicates compare with the bounds.

    ```mlir
    %c = cute.make_identity_tensor(%s) : (!cute.shape<"(8,?)">) -> !cute.coord_tensor<"(0,0)", "(8,?):(1@0,1@1)">
    ```
  }];
  let arguments = (ins Cute_ShapeType:$shape);
  let results = (outs Cute_CoordTensorType:$tensor);
}

// ---- iterators ----
def Cute_AddOffsetOp : Cute_InferOp<"add_offset"> {
  let summary = "An iterator further on";
  let description = [{
    A pointer moves by that many elements; its alignment becomes what the offset leaves of it. A coordinate iterator
    moves by that coordinate.

    ```mlir
    %q = cute.add_offset(%p, %n) : (!cute.ptr<f16, gmem, align<16>>, !cute.int_tuple<"?{div=8}">) -> !cute.ptr<f16, gmem, align<16>>
    ```
  }];
  let arguments = (ins Cute_Iterator:$iter, Cute_IntTupleType:$offset);
  let results = (outs Cute_Iterator:$result);
}

def Cute_RecastIterOp : Cute_Op<"recast_iter", [Pure]> {
  let summary = "The same address as a pointer of another type";
  let description = [{
    The result type says which elements, and may name a swizzle.

    Refused: another space; an alignment that the pointer does not have (that of one element is taken on trust).

    ```mlir
    %q = cute.recast_iter(%p) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
    ```
  }];
  let arguments = (ins Cute_PtrType:$iter);
  let results = (outs Cute_PtrType:$result);
}

def Cute_IntToPtrOp : Cute_Op<"inttoptr", [Pure]> {
  let summary = "A pointer from its address";
  let description = [{
    An address of 32 bits is one of shared or tensor memory.

    Refused: an alignment that the divisor of the address does not give (that of one element is taken on trust).

    ```mlir
    %p = cute.inttoptr(%i) : (!cute.i64<divby 16>) -> !cute.ptr<f16, gmem, align<16>>
    ```
  }];
  let arguments = (ins Cute_Address:$address);
  let results = (outs Cute_PtrType:$result);
}

def Cute_PtrToIntOp : Cute_Op<"ptrtoint", [Pure]> {
  let summary = "The address of a pointer";
  let description = [{
    Of shared and tensor memory in 32 bits, else in 64.

    ```mlir
    %i = cute.ptrtoint(%p) : (!cute.ptr<i8, smem, align<4>>) -> i32
    ```
  }];
  let arguments = (ins Cute_PtrType:$ptr);
  let results = (outs AnyTypeOf<[I32, I64]>:$result);
}

def Cute_ApplySwizzleOp : Cute_Op<"apply_swizzle", [Pure]> {
  let summary = "The address that a swizzled pointer stands for";
  let description = [{
    The swizzle of the pointer's type xors bits of the address in bytes; the result points at the element itself.
    A pointer without a swizzle is that already.

    ```mlir
    %q = cute.apply_swizzle(%p) : (!cute.ptr<f16, smem, align<16>, S<3,4,3>>) -> !cute.ptr<f16, smem, align<16>>
    ```
  }];
  let arguments = (ins Cute_PtrType:$ptr);
  let results = (outs Cute_PtrType:$result);
}

def Cute_MakeArithTupleIterOp : Cute_InferOp<"make_arith_tuple_iter"> {
  let summary = "A coordinate as an iterator";
  let description = [{
    ```mlir
    %i = cute.make_arith_tuple_iter(%t) : (!cute.int_tuple<"(0,?)">) -> !cute.arith_tuple_iter<"(0,?)">
    ```
  }];
  let arguments = (ins Cute_IntTupleType:$tuple);
  let results = (outs Cute_ArithTupleIterType:$iter);
}

def Cute_DerefArithTupleIterOp : Cute_InferOp<"deref_arith_tuple_iter"> {
  let summary = "The coordinate at which an iterator stands";
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
  let summary = "The tile of a tensor at a coordinate";
  let description = [{
    The tensor divided by the tiler (`cute.zipped_divide`), and of the tiles those at the coordinate: `(tile, rest...)`, where
    the rest are the modes at which the coordinate has a `_`. A projection `"(1,_,1)"` takes the modes of tiler and
    coordinate that are not `_` there: one tiler and one coordinate for A, B and C of a product.

    Refused: what `cute.zipped_divide` or `cute.slice` refuses.

    ```mlir
    %r = cute.local_tile(%t, %tiler, %c, "(1,_,1)") : (!cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">,
        !cute.tile<"[128:1;128:1;32:1]">, !cute.coord<"(?,?,_)">) -> !cute.memref<f16, gmem, align<16>, "(128,32,?):(?{div=8},1,32)">
    ```
  }];
  let arguments = (ins Cute_LaidOut:$input, Optional<Cute_Tiler>:$tiler, Optional<Cute_CoordType>:$coord, OptionalAttr<Cute_CoordAttr>:$proj);
  let results = (outs Cute_LaidOut:$result);
}

def Cute_LocalPartitionOp : Cute_TypedOp<"local_partition", [CuteDivides, NoMemoryEffect, ConditionallySpeculatable, AttrSizedOperandSegments]> {
  let summary = "What a thread has of each tile";
  let description = [{
    The tensor divided by a layout of threads, and at the thread's place in it: its elements of all the tiles. The index
    is a number or a coordinate of the layout of threads.

    ```mlir
    %r = cute.local_partition(%t, %threads, %i) : (!cute.memref<f32, gmem, "(64,32):(32,1)">, !cute.layout<"(8,4):(4,1)">, !cute.coord<"?">)
        -> !cute.memref<f32, gmem, "(8,8):(256,4)">
    ```
  }];
  let arguments = (ins Cute_LaidOut:$input, Optional<Cute_Tiler>:$threads, Optional<AnyTypeOf<[Cute_CoordType, Cute_IntTupleType]>>:$index,
                   OptionalAttr<Cute_CoordAttr>:$proj);
  let results = (outs Cute_LaidOut:$result);
}

// ---- coordinates and numbers ----
def Cute_GetHierCoordOp : Cute_TypedOp<"get_hier_coord", [CuteDivides, NoMemoryEffect, ConditionallySpeculatable]> {
  let summary = "The coordinate of an index of a layout";
  let description = [{
    Leaf by leaf `(i / d) % s`: the coordinate `c` with `L(c) = i` of a compact layout.

    ```mlir
    %c = cute.get_hier_coord(%i, %l) : (i32, !cute.layout<"(32,(4,2)):(1,(32,128))">) -> !cute.coord<"(?,(?,?))">
    ```
  }];
  let arguments = (ins Cute_IndexLike:$index, Cute_LayoutType:$layout);
  let results = (outs Cute_CoordType:$coord);
}
def Cute_GetFlatCoordOp : Cute_TypedOp<"get_flat_coord", [CuteDivides, NoMemoryEffect, ConditionallySpeculatable]> {
  let summary = "The coordinate of an index of a layout, a number a mode";
  let description = [{
    As `cute.get_hier_coord`, with one number for each mode.

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
  let summary = "Products, leaf by leaf";
  let description = [{
    A scalar goes with each leaf of the other.

    ```mlir
    %r = cute.tuple_mul(%a, %b) : (!cute.int_tuple<"(?,4)">, !cute.int_tuple<"(2,3)">) -> !cute.int_tuple<"(?{div=2},12)">
    ```
  }];
}
def Cute_TupleDivOp : Cute_TupleArithmeticOp<"tuple_div"> {
  let summary = "Quotients, leaf by leaf";
  let description = [{
    Truncating; a scalar goes with each leaf of the other.

    Refused: a divisor that is known to be 0.

    ```mlir
    %r = cute.tuple_div(%a, %b) : (!cute.int_tuple<"(?,8)">, !cute.int_tuple<"(2,4)">) -> !cute.int_tuple<"(?,2)">
    ```
  }];
}
def Cute_TupleModOp : Cute_TupleArithmeticOp<"tuple_mod"> {
  let summary = "Remainders, leaf by leaf";
  let description = [{
    As `cute.tuple_div`.

    ```mlir
    %r = cute.tuple_mod(%a, %b) : (!cute.int_tuple<"(?,8)">, !cute.int_tuple<"(2,3)">) -> !cute.int_tuple<"(?,2)">
    ```
  }];
}

def Cute_AssumeOp : Cute_Op<"assume", [Pure]> {
  let summary = "The same integer, with the promise that it is a multiple";
  let description = [{
    A promise only: it is not checked when the program runs.

    Refused: a result of another width.

    ```mlir
    %n = cute.assume(%i) : (i32) -> !cute.i32<divby 8>
    ```
  }];
  let arguments = (ins Cute_Integer:$value);
  let results = (outs Cute_Multiple:$result);
}

// ---- division by a number that stays ----
def Cute_FastDivmodCreateDivisorOp : Cute_Op<"fast_divmod.create_divisor", [CuteDivides, NoMemoryEffect, ConditionallySpeculatable]> {
  let summary = "A divisor, prepared for many divisions";
  let description = [{
    The multiplier and the shifts of Granlund and Montgomery, "Division by invariant integers using multiplication". The
    divisor is unsigned, and not 0. It is stored as `!llvm.struct<(i32, i32, i8, i8)>`: the divisor, the multiplier and two
    shifts; with 64 bits the first two are `i64`. A host function makes it once, and kernels take it as an argument.

    ```mlir
    %d = cute.fast_divmod.create_divisor(%n) : (i32) -> !cute.fast_divmod_divisor<32>
    ```
  }];
  let arguments = (ins Cute_Integer:$divisor);
  let results = (outs Cute_FastDivmodDivisorType:$result);
}
def Cute_FastDivmodComputeOp : Cute_Op<"fast_divmod.compute", [Pure]> {
  let summary = "Quotient and remainder by a prepared divisor";
  let description = [{
    Exact for all dividends, which are unsigned: the upper half of a product, two additions and two shifts.

    ```mlir
    %q, %r = cute.fast_divmod.compute(%x, %d) : (i32, !cute.fast_divmod_divisor<32>) -> (i32, i32)
    ```
  }];
  let arguments = (ins Cute_Integer:$dividend, Cute_FastDivmodDivisorType:$divisor);
  let results = (outs AnyTypeOf<[I32, I64]>:$quotient, AnyTypeOf<[I32, I64]>:$remainder);
}

#endif
