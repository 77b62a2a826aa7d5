// Base classes and operand constraints of operations; constants, constructors and accessors.
#ifndef CUTE_IR_OPS_TD
#define CUTE_IR_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "lib/ir/dialects/cute_types.td"
include "lib/ir/dialects/cute_tensor_types.td"
include "lib/ir/dialects/cute_nvgpu_types.td"

// Verification, type inference and folding are those of the operation's row in ops/.
def CuteHooks : NativeOpTrait<"CuteHooks"> { let cppNamespace = "::cute"; }
// Not speculatable if a dynamic divisor could be 0.
def CuteDivides : NativeOpTrait<"CuteDivides"> { let cppNamespace = "::cute"; }

class Cute_Op<string m, list<Trait> t = []> : Op<Cute_Dialect, m, !listconcat([CuteHooks], t)>;
// Result types are inferred from the operands; explicit ones are checked.
class Cute_TypedOp<string m, list<Trait> t> : Cute_Op<m, !listconcat(t, [InferTypeOpInterface])> {
  let extraClassDeclaration = [{
    static ::llvm::LogicalResult refineReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location, ::mlir::ValueRange operands,
        ::mlir::DictionaryAttr attributes, ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return refineTypes(context, location, operands, attributes, properties, regions, types);
    }
  }];
}
class Cute_InferOp<string m> : Cute_TypedOp<m, [Pure]>;
// May divide by dynamic leaves of operands.
class Cute_DivideOp<string m> : Cute_TypedOp<m, [CuteDivides, NoMemoryEffect, ConditionallySpeculatable]>;

// ---- operand constraints ----

def Cute_AnyLayout : AnyTypeOf<[Cute_LayoutType, Cute_ComposedLayoutType], "!cute.layout or !cute.composed_layout">;
def Cute_Tensor : AnyTypeOf<[Cute_MemRefType, Cute_CoordTensorType], "!cute.memref or !cute.coord_tensor">;
// Types with a layout. Layout operations transform the layout of a tensor and keep its iterator.
def Cute_AnyTensor : AnyTypeOf<[Cute_MemRefType, Cute_CoordTensorType, CuteNvgpu_SmemDescViewType],
                               "!cute.memref, !cute.coord_tensor, or !cute_nvgpu.smem_desc_view">;
def Cute_LaidOut : AnyTypeOf<[Cute_LayoutType, Cute_ComposedLayoutType, Cute_MemRefType, Cute_CoordTensorType,
                              CuteNvgpu_SmemDescViewType], "!cute.layout, !cute.composed_layout, or a tensor">;
def Cute_Iterator : AnyTypeOf<[Cute_PtrType, Cute_ArithTupleIterType, CuteNvgpu_SmemDescType],
                              "!cute.ptr, !cute.arith_tuple_iter, or !cute_nvgpu.smem_desc">;
def Cute_Atom : Type<CPred<"::cute::isKind($_self, CUTE_ATOM)">, "an atom, !cute_nvgpu.atom.* or !cute_nvgpu.sm*.mma">;
def Cute_CopyAtom : AnyTypeOf<[Cute_Atom, Cute_TiledCopyType], "an atom or !cute.tiled_copy">;
def Cute_MmaAtom : AnyTypeOf<[Cute_Atom, Cute_TiledMmaType], "an atom or !cute.tiled_mma">;
// Operands of an MMA: registers, tensor memory, shared-memory descriptors.
def Cute_Fragment : AnyTypeOf<[Cute_MemRefType, CuteNvgpu_SmemDescViewType], "!cute.memref or !cute_nvgpu.smem_desc_view">;
def CuteNvgpu_NonExecTma : AnyTypeOf<[CuteNvgpu_NonExecTmaLoadType, CuteNvgpu_NonExecTmaStoreType, CuteNvgpu_NonExecTmaReduceType,
                                      CuteNvgpu_NonExecIm2colLoadType, CuteNvgpu_NonExecIm2colStoreType, CuteNvgpu_NonExecIm2colReduceType],
                                     "!cute_nvgpu.atom.non_exec_tiled_tma_* or non_exec_im2col_tma_*">;
def CuteNvgpu_ExecTma : AnyTypeOf<[CuteNvgpu_TmaLoadType, CuteNvgpu_TmaStoreType, CuteNvgpu_TmaReduceType], "!cute_nvgpu.atom.tma_*">;
def CuteNvgpu_Tma : AnyTypeOf<[CuteNvgpu_NonExecTma, CuteNvgpu_ExecTma], "a TMA atom">;
def Cute_Multiple : AnyTypeOf<[Cute_I8Type, Cute_I16Type, Cute_I32Type, Cute_I64Type], "!cute.i8, !cute.i16, !cute.i32, or !cute.i64">;
def Cute_Integer : AnyTypeOf<[I8, I16, I32, I64, Cute_Multiple], "an integer of 8 to 64 bits">;
def Cute_Address : AnyTypeOf<[I32, I64, Cute_I32Type, Cute_I64Type], "an integer of 32 or 64 bits">;
def Cute_Any : AnyTypeOf<[Cute_IntTupleType, Cute_CoordType, Cute_ShapeType, Cute_StrideType, Cute_LayoutType,
                          Cute_TileType, Cute_ComposedLayoutType, Cute_SwizzleType, Cute_Tensor, Cute_Iterator, Cute_CopyAtom,
                          Cute_TiledMmaType], "any CuTe type">;
def Cute_AnyTuple : AnyTypeOf<[Cute_ShapeType, Cute_StrideType, Cute_CoordType, Cute_IntTupleType, Cute_TileType],
                              "!cute.shape, !cute.stride, !cute.coord, !cute.int_tuple, or !cute.tile">;
def Cute_Indexable : AnyTypeOf<[Cute_ShapeType, Cute_IntTupleType, Cute_CoordType, Cute_StrideType, Cute_TileType,
                                Cute_LayoutType, Cute_ComposedLayoutType, Cute_AnyTensor],
                               "!cute.shape, !cute.int_tuple, !cute.coord, !cute.stride, !cute.tile, !cute.layout, "
                               "or !cute.composed_layout">; // and tensors
def Cute_Sliceable : AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_StrideType, Cute_CoordType, Cute_LayoutType,
                                Cute_ComposedLayoutType, Cute_AnyTensor],
                               "!cute.int_tuple, !cute.shape, !cute.stride, !cute.coord, !cute.layout, "
                               "!cute.composed_layout, or a tensor">;
def Cute_Number : AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType], "!cute.int_tuple or !cute.shape">;
def Cute_Numbers : AnyTypeOf<[Cute_ShapeType, Cute_StrideType, Cute_CoordType, Cute_IntTupleType]>;
def Cute_Sized : AnyTypeOf<[Cute_ShapeType, Cute_IntTupleType, Cute_LayoutType, Cute_ComposedLayoutType, Cute_AnyTensor],
                           "!cute.shape, !cute.int_tuple, !cute.layout, !cute.composed_layout, or a tensor">;
def Cute_Tiler : AnyTypeOf<[Cute_LayoutType, Cute_TileType, Cute_ShapeType],
                           "!cute.layout, !cute.tile, or !cute.shape">;
def Cute_Product : AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType]>;
def Cute_Comparable : AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_CoordType],
                                "!cute.int_tuple, !cute.shape, or !cute.coord">;
def Cute_Equatable : AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_CoordType, Cute_StrideType, Cute_LayoutType],
                               "!cute.int_tuple, !cute.shape, !cute.coord, !cute.stride, or !cute.layout">;
def Cute_Scalar : Type<CPred<"::cute::isScalar($_self)">, "depth-0 !cute.int_tuple">;
def Cute_Leaf : AnyTypeOf<[I32, I64, Cute_Scalar, Cute_I32Type, Cute_I64Type], "i32, i64, or depth-0 !cute.int_tuple">;
def Cute_IndexLike : AnyTypeOf<[I32, I64, Cute_IntTupleType, Cute_CoordType, Cute_I32Type, Cute_I64Type],
                               "i32, i64, !cute.int_tuple, or !cute.coord">;
// A string attribute restricted to a list of words.
class Cute_Choice<string values>
    : StringBasedAttr<CPred<"::cute_nvgpu::isOneOf($_self, \"" # values # "\")">, "one of " # values>;
def Cute_Rank : AnyAttrOf<[I32Attr, SI32Attr], "32-bit integer attribute">;

def Cute_Printable : AnyTypeOf<[Cute_Any, Cute_Multiple, Cute_FastDivmodDivisorType, AnySignlessInteger, Index, AnyFloat], "any CuTe type">;

// ---- base classes ----

// One operand, one result: `cute.name(%x) : X -> Y`.
class Cute_OneOp<string m, Type input, Type result> : Cute_InferOp<m> {
  let arguments = (ins input:$input);
  let results = (outs result:$result);
}

class Cute_CastOp<string m, Type input, Type result> : Cute_InferOp<m> {
  let arguments = (ins input:$src);
  let results = (outs result:$result);
}
// `cute.name(%x, %y) : (X, Y) -> Z`.
class Cute_FunctionOp<string m, dag ins, dag outs> : Cute_InferOp<m> {
  let arguments = ins;
  let results = outs;
}
class Cute_DividingFunctionOp<string m, dag ins, dag outs> : Cute_DivideOp<m> {
  let arguments = ins;
  let results = outs;
}

// ---- constants and constructors: one operand per dynamic leaf of the result, depth first ----
def Cute_StaticOp : Cute_Op<"static", [Pure, ConstantLike]> {
  let summary = "Constant whose value is its type";
  let description = [{
    Operations whose result type has no dynamic leaf fold to this constant (`-canonicalize`,
    `-cute-fold-static`), whatever their operands.

    Errors: a result type with a `?`.

    ```mlir
    %0 = cute.static : !cute.layout<"(2,3):(1,2)">
    ```
  }];
  let results = (outs Cute_Any:$result);
}

def Cute_ConstantOp : Cute_Op<"constant", [Pure]> {
  let summary = "Integer constant of a dynamic type";
  let description = [{
    The type has exactly one leaf, `?`, and type inference does not see the value. Use it where the type is
    fixed, as for a function result, or for a type with a divisor. Otherwise prefer `cute.static` or a
    literal, which keep the value in the type.

    Errors: a type with a static leaf or several leaves, a value that does not fit or is not a multiple of the
    divisor in the type.

    ```mlir
    %n = cute.constant<16384> : !cute.int_tuple<"?">
    ```
  }];
  let arguments = (ins AnyAttrOf<[I8Attr, I16Attr, I32Attr, I64Attr], "an integer of 8 to 64 bits">:$number);
  let results = (outs AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_StrideType, Cute_CoordType, Cute_Multiple],
                                "one number: !cute.int_tuple, !cute.shape, !cute.stride, !cute.coord, or !cute.i8 to !cute.i64">:$result);
}

class Cute_MakeTupleOp<string what, TypeDef type, string example> : Cute_Op<"make_" # what, [Pure]> {
  let summary = "Makes a " # what # " from its dynamic leaves";
  let description = [{
    One operand for each `?` of the result type, in depth-first order: an integer as wide as the leaf, or an int_tuple of
    depth 0, which may be static.

    If a leaf has a divisor, an integer operand is assumed to be a multiple, as with `cute.assume`; an operand that is static
    or has a divisor of its own must be one.

    Errors: operands that do not match the `?` in number or width, an operand that is not a multiple of the leaf's divisor.

    ```mlir
    }] # example # [{
    ```
  }];
  let arguments = (ins Variadic<Cute_Leaf>:$leaves);
  let results = (outs type:$result);
}

def Cute_MakeIntTupleOp : Cute_MakeTupleOp<"int_tuple", Cute_IntTupleType,
  [{%t = cute.make_int_tuple(%n) : (i32) -> !cute.int_tuple<"(?,32)">}]>;
def Cute_MakeShapeOp : Cute_MakeTupleOp<"shape", Cute_ShapeType,
  [{%s = cute.make_shape(%m, %n) : (i32, i32) -> !cute.shape<"(?,?)">}]>;
def Cute_MakeStrideOp : Cute_MakeTupleOp<"stride", Cute_StrideType,
  [{%d = cute.make_stride(%ld) : (i64) -> !cute.stride<"(1,?{i64})">}]>;
def Cute_MakeCoordOp : Cute_MakeTupleOp<"coord", Cute_CoordType,
  [{%c = cute.make_coord(%i) : (i32) -> !cute.coord<"(?,_)">}]>;
def Cute_MakeTileOp : Cute_MakeTupleOp<"tile", Cute_TileType,
  [{%t = cute.make_tile(%m) : (i32) -> !cute.tile<"[?:1;_]">}]>;

def Cute_MakeLayoutOp : Cute_InferOp<"make_layout"> {
  let summary = "Makes a layout from a shape and a stride";
  let description = [{
    `shape:stride`, the function `L(c) = sum_i c_i * d_i` on the coordinates within the shape. Without a
    stride the layout is compact and column-major: mode 0 is contiguous. A stride of 0 broadcasts; a negative
    stride reverses.

    Errors: shape and stride of different profiles (the message names the mode); static extents that are not
    positive. See CuTe's 01_layout.md.

    ```mlir
    %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,2)">, !cute.stride<"(?,4)">) -> !cute.layout<"(?,2):(?,4)">
    ```
  }];
  let arguments = (ins Cute_ShapeType:$shape, Optional<Cute_StrideType>:$stride,
                       // of older IR in generic form; removed by the parser, an error if it does not match the operands
                       OptionalAttr<DenseI32ArrayAttr>:$operandSegmentSizes);
  let results = (outs Cute_LayoutType:$layout);
}

def Cute_MakeComposedLayoutOp : Cute_InferOp<"make_composed_layout"> {
  let summary = "Makes `A o offset o B` from its three parts";
  let description = [{
    Coordinate `c` maps to `A(offset + B(c))`. The operands are A (`inner`), the offset and B (`outer`), in
    this order. A is a swizzle or a layout. A swizzle takes an integer; a layout takes an integer or a tuple
    of its profile, as produced by a B with basis strides.

    Errors: an offset that cannot be added to the result of B; a sum that is not in the domain of A; `S<0,M,S>
    o 0 o B`, which is B.

    ```mlir
    %r = cute.make_composed_layout(%a, %o, %b) : (!cute.swizzle<"S<3,4,3>">, !cute.int_tuple<"0">,
        !cute.layout<"(8,64):(64,1)">) -> !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
    ```
  }];
  let arguments = (ins AnyTypeOf<[Cute_LayoutType, Cute_SwizzleType], "!cute.layout or !cute.swizzle">:$inner,
                   Cute_IntTupleType:$offset, Cute_LayoutType:$outer);
  let results = (outs Cute_ComposedLayoutType:$result);
}

def Cute_MakeIdentityLayoutOp : Cute_CastOp<"make_identity_layout", Cute_ShapeType, Cute_LayoutType> {
  let summary = "Makes the layout that maps each coordinate to itself";
  let description = [{
    `L(c) = c`: the stride of each leaf is the basis vector of its position, so that composing, dividing and
    slicing L computes coordinates instead of indices. A shape of a single mode has stride 1. See CuTe's
    0z_tma_tensors.md.

    Errors: static extents that are not positive.

    ```mlir
    %l = cute.make_identity_layout(%s) : !cute.shape<"(4,?)"> -> !cute.layout<"(4,?):(1@0,1@1)">
    ```
  }];
}

def Cute_MakeLayoutLikeOp : Cute_InferOp<"make_layout_like"> {
  let summary = "Makes a compact layout with the stride order of another layout";
  let description = [{
    Keeps the shape and orders the modes by the magnitude of their strides: the smallest becomes the fastest,
    without gaps. Modes of stride 0 keep stride 0. Of a composed layout, B is used. Typical use: a register
    copy of a view.

    Errors: basis strides; a composed layout whose A is a layout.

    ```mlir
    %r = cute.make_layout_like(%l) : !cute.layout<"(4,8):(16,1)"> -> !cute.layout<"(4,8):(8,1)">
    ```
  }];
  let arguments = (ins Cute_AnyLayout:$src);
  let results = (outs Cute_LayoutType:$result);
}

def Cute_MakeOrderedLayoutOp : Cute_InferOp<"make_ordered_layout"> {
  let summary = "Makes a compact layout with a given order of modes";
  let description = [{
    The mode with the smallest number in `order` is the fastest; ties are ordered from left to right. `order`
    is congruent to `shape`, or has a single number for a whole mode.

    Errors: an order with dynamic leaves, or not congruent to the shape.

    ```mlir
    %r = cute.make_ordered_layout(%s, %o) : (!cute.shape<"(4,8)">, !cute.int_tuple<"(1,0)">)
        -> !cute.layout<"(4,8):(8,1)">
    ```
  }];
  let arguments = (ins Cute_ShapeType:$shape, Cute_IntTupleType:$order);
  let results = (outs Cute_LayoutType:$layout);
}
// ---- accessors ----
def Cute_Shaped : AnyTypeOf<[Cute_LayoutType, Cute_ComposedLayoutType, Cute_TileType]>;
def Cute_GetShapeOp : Cute_OneOp<"get_shape", Cute_Shaped, Cute_ShapeType> {
  let summary = "Returns the shape of a layout";
  let description = [{
    For a composed layout, the shape of B, which is the domain of the composition; for a tile, the shapes of
    its layouts.

    Errors: a tile with a `_`, which has no extent.

    ```mlir
    %s = cute.get_shape(%l) : !cute.layout<"(?,2):(1,?)"> -> !cute.shape<"(?,2)">
    ```
  }];
}

def Cute_GetStrideOp : Cute_OneOp<"get_stride", Cute_LayoutType, Cute_StrideType> {
  let summary = "Returns the stride of a layout";
  let description = [{
    A composed layout has no stride as a whole; use the stride of `cute.composed_get_outer`.

    ```mlir
    %d = cute.get_stride(%l) : <"(?,2):(1,?)"> -> !cute.stride<"(1,?)">
    ```
  }];
}

def Cute_ComposedGetInnerOp : Cute_InferOp<"composed_get_inner"> {
  let summary = "Returns A of `A o offset o B`";
  let description = [{
    The swizzle or layout that is applied last. Together with `cute.composed_get_offset` and
    `cute.composed_get_outer` the inverse of `cute.make_composed_layout`.

    ```mlir
    %a = cute.composed_get_inner(%c) : <"S<3,4,3> o 0 o (8,8):(8,1)"> -> !cute.swizzle<"S<3,4,3>">
    ```
  }];
  let arguments = (ins Cute_ComposedLayoutType:$input);
  let results = (outs AnyTypeOf<[Cute_LayoutType, Cute_SwizzleType]>:$result);
}

def Cute_ComposedGetOffsetOp : Cute_OneOp<"composed_get_offset", Cute_ComposedLayoutType, Cute_IntTupleType> {
  let summary = "Returns the offset of `A o offset o B`";
  let description = [{
    The value that is added to the result of B before A is applied.

    ```mlir
    %o = cute.composed_get_offset(%c) : <"S<3,4,3> o ? o (8,8):(8,1)"> -> !cute.int_tuple<"?">
    ```
  }];
}

def Cute_ComposedGetOuterOp : Cute_InferOp<"composed_get_outer"> {
  let summary = "Returns B of `A o offset o B`";
  let description = [{
    The layout that is applied first, to the coordinate.

    ```mlir
    %b = cute.composed_get_outer(%c) : <"S<3,4,3> o 0 o (8,8):(8,1)"> -> <"(8,8):(8,1)">
    ```
  }];
  let arguments = (ins Cute_ComposedLayoutType:$input);
  let results = (outs Cute_LayoutType:$result);
}

def Cute_GetLeavesOp : Cute_InferOp<"get_leaves"> {
  let summary = "Returns the leaves of a tuple as separate values";
  let description = [{
    Depth first. Each leaf has the kind of the tuple and keeps its width and divisor; the leaves of a tile are
    layouts, and tiles for `_`.

    Errors: layouts and composed layouts (use their shape or stride).

    ```mlir
    %0, %1, %2 = cute.get_leaves(%s) : !cute.shape<"(4,(2,?))">
    ```
  }];
  let arguments = (ins Cute_AnyTuple:$input);
  let results = (outs Variadic<AnyTypeOf<[Cute_ShapeType, Cute_StrideType, Cute_CoordType, Cute_IntTupleType,
                                          Cute_LayoutType, Cute_TileType]>>:$results);
}

def Cute_GetLayoutsFromTileOp : Cute_InferOp<"get_layouts_from_tile"> {
  let summary = "Returns the layouts of a tile";
  let description = [{
    Depth first, without `_`.

    Errors: a tile that consists of `_` only.

    ```mlir
    %0, %1 = cute.get_layouts_from_tile(%t) : <"[(4,8):(1,4);_;2:1]">
    ```
  }];
  let arguments = (ins Cute_TileType:$tile);
  let results = (outs Variadic<Cute_LayoutType>:$layouts);
}

def Cute_GetScalarsOp : Cute_InferOp<"get_scalars"> {
  let summary = "Returns the integers of a value, depth first";
  let description = [{
    With `only_dynamic`, one integer for each dynamic leaf, as wide as the leaf. Otherwise static leaves too,
    as `i32` (or `i64` if they need it), a basis leaf as its scale followed by its modes, innermost first, a
    swizzle as bits, base and shift. The parts of a layout are shape, then stride; of a composed layout A,
    offset, B; `_` contributes nothing.

    ```mlir
    %n = cute.get_scalars<{only_dynamic}> (%l) : !cute.layout<"(4,?):(1,4)">
    ```
  }];
  let arguments = (ins Cute_Any:$value, UnitAttr:$only_dynamic);
  let results = (outs Variadic<AnyTypeOf<[I32, I64]>>:$scalars);
}

def Cute_GetOp : Cute_InferOp<"get"> {
  let summary = "Returns the mode at a path";
  let description = [{
    `<[i, j]>` is mode j of mode i; the empty path is the value itself. For a composed layout the result is
    the mode of B with the same A and offset. Mode 0 of a scalar is the scalar.

    Errors: an index beyond the rank, or below a leaf; the message gives the depth.

    ```mlir
    %m = cute.get<[1, 0]>(%l) : !cute.layout<"(4,(2,?)):(1,(4,8))"> -> !cute.layout<"2:4">
    ```
  }];
  let arguments = (ins Cute_Indexable:$input, OptionalAttr<DenseI32ArrayAttr>:$mode);
  let results = (outs Cute_Indexable:$result);
}

def Cute_SelectOp : Cute_InferOp<"select"> {
  let summary = "Selects modes in the given order";
  let description = [{
    `(x_i, x_j, ...)`, always a tuple; modes may repeat. For a composed layout, modes of B.

    Errors: an index beyond the rank.

    ```mlir
    %r = cute.select<[2, 0]>(%l) : !cute.layout<"(2,3,4):(1,2,6)"> -> !cute.layout<"(4,2):(6,1)">
    ```
  }];
  let arguments = (ins Cute_Indexable:$input, DenseI32ArrayAttr:$mode);
  let results = (outs Cute_Indexable:$result);
}

def Cute_ToIntTupleOp : Cute_CastOp<"to_int_tuple", Cute_Numbers, Cute_IntTupleType> {
  let summary = "Converts a value to an int_tuple";
  let description = [{
    Keeps the values; no code is emitted.

    Errors: `_` and basis vectors, which are not integers.

    ```mlir
    %t = cute.to_int_tuple(%s) : !cute.shape<"(?,4)"> -> !cute.int_tuple<"(?,4)">
    ```
  }];
}

def Cute_ToShapeOp : Cute_CastOp<"to_shape", Cute_IntTupleType, Cute_ShapeType> {
  let summary = "Converts an int_tuple to a shape";
  let description = [{
    Keeps the values. Extents are checked when a layout is made from the shape.

    ```mlir
    %s = cute.to_shape(%t) : !cute.int_tuple<"(?,4)"> -> !cute.shape<"(?,4)">
    ```
  }];
}

def Cute_ToStrideOp : Cute_CastOp<"to_stride", Cute_IntTupleType, Cute_StrideType> {
  let summary = "Converts an int_tuple to a stride";
  let description = [{
    Keeps the values.

    ```mlir
    %d = cute.to_stride(%t) : !cute.int_tuple<"(1,?)"> -> !cute.stride<"(1,?)">
    ```
  }];
}

def Cute_ToCoordOp : Cute_CastOp<"to_coord", Cute_IntTupleType, Cute_CoordType> {
  let summary = "Converts an int_tuple to a coordinate";
  let description = [{
    Keeps the values.

    ```mlir
    %c = cute.to_coord(%t) : !cute.int_tuple<"(?,3)"> -> !cute.coord<"(?,3)">
    ```
  }];
}

#endif
