#ifndef CUTE_IR_OPS_TD
#define CUTE_IR_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "lib/ir/cute_types.td"

// Verification, inference and folding go to the row of this operation's name in ops.c.
def CuteHooks : NativeOpTrait<"CuteHooks"> { let cppNamespace = "::cute"; }
// May not run earlier than its place where an unknown divisor could be 0.
def CuteDivides : NativeOpTrait<"CuteDivides"> { let cppNamespace = "::cute"; }

class Cute_Op<string m, list<Trait> t = []> : Op<Cute_Dialect, m, !listconcat([CuteHooks], t)>;
// The result types follow from the operands; a stated one is checked against them.
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
class Cute_DivideOp<string m> : Cute_TypedOp<m, [CuteDivides, NoMemoryEffect, ConditionallySpeculatable]>;

// ---- what operands may be ----

def Cute_AnyLayout : AnyTypeOf<[Cute_LayoutType, Cute_ComposedLayoutType], "!cute.layout or !cute.composed_layout">;
def Cute_Any : AnyTypeOf<[Cute_IntTupleType, Cute_CoordType, Cute_ShapeType, Cute_StrideType, Cute_LayoutType,
                          Cute_TileType, Cute_ComposedLayoutType, Cute_SwizzleType], "any CuTe type">;
def Cute_AnyTuple : AnyTypeOf<[Cute_ShapeType, Cute_StrideType, Cute_CoordType, Cute_IntTupleType, Cute_TileType],
                              "!cute.shape, !cute.stride, !cute.coord, !cute.int_tuple, or !cute.tile">;
def Cute_Indexable : AnyTypeOf<[Cute_ShapeType, Cute_IntTupleType, Cute_CoordType, Cute_StrideType, Cute_TileType,
                                Cute_LayoutType, Cute_ComposedLayoutType],
                               "!cute.shape, !cute.int_tuple, !cute.coord, !cute.stride, !cute.tile, !cute.layout, "
                               "or !cute.composed_layout">;
def Cute_Sliceable : AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_StrideType, Cute_CoordType, Cute_LayoutType,
                                Cute_ComposedLayoutType],
                               "!cute.int_tuple, !cute.shape, !cute.stride, !cute.coord, !cute.layout, or "
                               "!cute.composed_layout">;
def Cute_Number : AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType], "!cute.int_tuple or !cute.shape">;
def Cute_Numbers : AnyTypeOf<[Cute_ShapeType, Cute_StrideType, Cute_CoordType, Cute_IntTupleType]>;
def Cute_Sized : AnyTypeOf<[Cute_ShapeType, Cute_IntTupleType, Cute_LayoutType, Cute_ComposedLayoutType]>;
def Cute_Tiler : AnyTypeOf<[Cute_LayoutType, Cute_TileType, Cute_ShapeType],
                           "!cute.layout, !cute.tile, or !cute.shape">;
def Cute_Product : AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType]>;
def Cute_Comparable : AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_CoordType],
                                "!cute.int_tuple, !cute.shape, or !cute.coord">;
def Cute_Equatable : AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_CoordType, Cute_StrideType, Cute_LayoutType],
                               "!cute.int_tuple, !cute.shape, !cute.coord, !cute.stride, or !cute.layout">;
def Cute_Scalar : Type<CPred<"::cute::isScalar($_self)">, "depth-0 !cute.int_tuple">;
def Cute_Leaf : AnyTypeOf<[I32, I64, Cute_Scalar], "i32, i64, or depth-0 !cute.int_tuple">;

// ---- the forms in which operations are written ----

defvar functional = "`(` operands `)` attr-dict `:` functional-type(operands, results)";

// One operand, one result: `cute.name(%x) : X -> Y`.
class Cute_OneOp<string m, Type input, Type result> : Cute_InferOp<m> {
  let arguments = (ins input:$input);
  let results = (outs result:$result);
  let assemblyFormat = "`(` $input `)` attr-dict `:` type($input) `->` qualified(type($result))";
}

class Cute_CastOp<string m, Type input, Type result> : Cute_InferOp<m> {
  let arguments = (ins input:$src);
  let results = (outs result:$result);
  let assemblyFormat = "`(` $src `)` attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
}
// `cute.name(%x, %y) : (X, Y) -> Z`.
class Cute_FunctionOp<string m, dag ins, dag outs> : Cute_InferOp<m> {
  let arguments = ins;
  let results = outs;
  let assemblyFormat = functional;
}

// ---- constants and constructors: an operand for each unknown leaf of the result, depth first ----
def Cute_StaticOp : Cute_Op<"static", [Pure, ConstantLike]> {
  let summary = "A value that its type gives whole";
  let description = [{
    The result type has no unknown leaf.
    ```mlir
    %0 = cute.static : !cute.layout<"(2,3):(1,2)">
    ```
  }];
  let results = (outs Cute_Any:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

class Cute_MakeTupleOp<string what, TypeDef type, string example> : Cute_Op<"make_" # what, [Pure]> {
  let summary = "A " # what # " from the values of its unknown leaves";
  let description = [{
    One operand for each `?` of the result type, in depth-first order, as wide as the leaf.
    ```mlir
    }] # example # [{
    ```
  }];
  let arguments = (ins Variadic<Cute_Leaf>:$leaves);
  let results = (outs type:$result);
  let assemblyFormat = "`(` $leaves `)` attr-dict `:` functional-type($leaves, $result)";
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
  let summary = "A layout from its shape and stride";
  let description = [{
    Shape and stride are congruent: of one profile.
    ```mlir
    %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,2)">, !cute.stride<"(?,4)">) -> !cute.layout<"(?,2):(?,4)">
    ```
  }];
  let arguments = (ins Cute_ShapeType:$shape, Cute_StrideType:$stride);
  let results = (outs Cute_LayoutType:$layout);
  let assemblyFormat = "`(` $shape `,` $stride `)` attr-dict `:` functional-type(operands, $layout)";
}

def Cute_MakeComposedLayoutOp : Cute_InferOp<"make_composed_layout"> {
  let summary = "`A o offset o B` from its three parts";
  let description = [{
    The coordinate `c` maps to `A(offset + B(c))`. A swizzle takes a scalar; a layout A takes a scalar or a tuple of
    its profile, which a B with basis strides gives.
    ```mlir
    %r = cute.make_composed_layout(%a, %o, %b) : (!cute.swizzle<"S<3,4,3>">, !cute.int_tuple<"0">,
        !cute.layout<"(8,64):(64,1)">) -> !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
    ```
  }];
  let arguments = (ins AnyTypeOf<[Cute_LayoutType, Cute_SwizzleType], "!cute.layout or !cute.swizzle">:$inner,
                   Cute_IntTupleType:$offset, Cute_LayoutType:$outer);
  let results = (outs Cute_ComposedLayoutType:$result);
  let assemblyFormat = "`(` $inner `,` $offset `,` $outer `)` attr-dict `:` `(` type($inner) `,` type($offset) `,` type($outer) `)` `->` type($result)";
}

def Cute_MakeIdentityLayoutOp : Cute_CastOp<"make_identity_layout", Cute_ShapeType, Cute_LayoutType> {
  let summary = "The layout that maps a coordinate to itself";
  let description = [{
    Strides are basis vectors: `L(c) = c`.
    ```mlir
    %l = cute.make_identity_layout(%s) : !cute.shape<"(4,?)"> -> !cute.layout<"(4,?):(1@0,1@1)">
    ```
  }];
}

def Cute_MakeLayoutLikeOp : Cute_InferOp<"make_layout_like"> {
  let summary = "A compact layout that keeps the order of strides";
  let description = [{
    The same shape; the mode of the smallest stride becomes the fastest, and so on. Modes of stride 0 stay 0.
    ```mlir
    %r = cute.make_layout_like(%l) : !cute.layout<"(4,8):(16,1)"> -> !cute.layout<"(4,8):(8,1)">
    ```
  }];
  let arguments = (ins Cute_AnyLayout:$src);
  let results = (outs Cute_LayoutType:$result);
  let assemblyFormat = "`(` $src `)` attr-dict `:` type($src) `->` qualified(type($result))";
}

def Cute_MakeOrderedLayoutOp : Cute_InferOp<"make_ordered_layout"> {
  let summary = "A compact layout whose modes are ordered";
  let description = [{
    `order` is congruent to `shape`, or has an integer for a whole mode; the mode of the smallest number is the fastest.
    ```mlir
    %r = cute.make_ordered_layout(%s, %o) : (!cute.shape<"(4,8)">, !cute.int_tuple<"(1,0)">)
        -> !cute.layout<"(4,8):(8,1)">
    ```
  }];
  let arguments = (ins Cute_ShapeType:$shape, Cute_IntTupleType:$order);
  let results = (outs Cute_LayoutType:$layout);
  let assemblyFormat = "`(` $shape `,` $order `)` attr-dict `:` functional-type(operands, $layout)";
}
// ---- accessors ----
def Cute_Shaped : AnyTypeOf<[Cute_LayoutType, Cute_ComposedLayoutType, Cute_TileType]>;
def Cute_GetShapeOp : Cute_OneOp<"get_shape", Cute_Shaped, Cute_ShapeType> {
  let summary = "The shape of a layout";
  let description = [{
    Of a composed layout: the shape of B. Of a tile: the shapes of its layouts.
    ```mlir
    %s = cute.get_shape(%l) : !cute.layout<"(?,2):(1,?)"> -> !cute.shape<"(?,2)">
    ```
  }];
}

def Cute_GetStrideOp : Cute_OneOp<"get_stride", Cute_LayoutType, Cute_StrideType> {
  let summary = "The stride of a layout";
  let description = [{
    ```mlir
    %d = cute.get_stride(%l) : <"(?,2):(1,?)"> -> !cute.stride<"(1,?)">
    ```
  }];
}

def Cute_ComposedGetInnerOp : Cute_InferOp<"composed_get_inner"> {
  let summary = "A of `A o offset o B`";
  let description = [{
    ```mlir
    %a = cute.composed_get_inner(%c) : <"S<3,4,3> o 0 o (8,8):(8,1)"> -> !cute.swizzle<"S<3,4,3>">
    ```
  }];
  let arguments = (ins Cute_ComposedLayoutType:$input);
  let results = (outs AnyTypeOf<[Cute_LayoutType, Cute_SwizzleType]>:$result);
  let assemblyFormat = "`(` $input `)` attr-dict `:` type($input) `->` type($result)";
}

def Cute_ComposedGetOffsetOp : Cute_OneOp<"composed_get_offset", Cute_ComposedLayoutType, Cute_IntTupleType> {
  let summary = "The offset of `A o offset o B`";
  let description = [{
    ```mlir
    %o = cute.composed_get_offset(%c) : <"S<3,4,3> o ? o (8,8):(8,1)"> -> !cute.int_tuple<"?">
    ```
  }];
}

def Cute_ComposedGetOuterOp : Cute_InferOp<"composed_get_outer"> {
  let summary = "B of `A o offset o B`";
  let description = [{
    ```mlir
    %b = cute.composed_get_outer(%c) : <"S<3,4,3> o 0 o (8,8):(8,1)"> -> <"(8,8):(8,1)">
    ```
  }];
  let arguments = (ins Cute_ComposedLayoutType:$input);
  let results = (outs Cute_LayoutType:$result);
  let assemblyFormat = "`(` $input `)` attr-dict `:` type($input) `->` type($result)";
}

def Cute_GetLeavesOp : Cute_InferOp<"get_leaves"> {
  let summary = "The leaves of a tuple, each a value";
  let description = [{
    Depth first, each of the same type as the tuple; the leaves of a tile are layouts, and tiles for its `_`.
    ```mlir
    %0, %1, %2 = cute.get_leaves(%s) : !cute.shape<"(4,(2,?))">
    ```
  }];
  let arguments = (ins Cute_AnyTuple:$input);
  let results = (outs Variadic<AnyTypeOf<[Cute_ShapeType, Cute_StrideType, Cute_CoordType, Cute_IntTupleType,
                                          Cute_LayoutType, Cute_TileType]>>:$results);
  let assemblyFormat = "`(` $input `)` attr-dict `:` type($input)";
}

def Cute_GetLayoutsFromTileOp : Cute_InferOp<"get_layouts_from_tile"> {
  let summary = "The layouts of a tile";
  let description = [{
    Depth first, without its `_`.
    ```mlir
    %0, %1 = cute.get_layouts_from_tile(%t) : <"[(4,8):(1,4);_;2:1]">
    ```
  }];
  let arguments = (ins Cute_TileType:$tile);
  let results = (outs Variadic<Cute_LayoutType>:$layouts);
  let assemblyFormat = "`(` $tile `)` attr-dict `:` type($tile)";
}

def Cute_GetScalarsOp : Cute_InferOp<"get_scalars"> {
  let summary = "The integers of a value, depth first";
  let description = [{
    With `only_dynamic` those of the unknown leaves alone; else static leaves too, as `i32`, a basis leaf as scale and
    indices, a swizzle as its three parameters. Of a layout: shape, then stride.
    ```mlir
    %n = cute.get_scalars<{only_dynamic}> (%l) : !cute.layout<"(4,?):(1,4)">
    ```
  }];
  let arguments = (ins Cute_Any:$value, UnitAttr:$only_dynamic);
  let results = (outs Variadic<AnyTypeOf<[I32, I64]>>:$scalars);
  let assemblyFormat = "(`<` `{` `only_dynamic` `}` `>` $only_dynamic^)? `(` $value `)` attr-dict `:` qualified(type($value))";
}

def Cute_GetOp : Cute_InferOp<"get"> {
  let summary = "The mode at a path";
  let description = [{
    `<[i, j]>` is mode j of mode i; no path gives the value itself.
    ```mlir
    %m = cute.get<[1, 0]>(%l) : !cute.layout<"(4,(2,?)):(1,(4,8))"> -> !cute.layout<"2:4">
    ```
  }];
  let arguments = (ins Cute_Indexable:$input, OptionalAttr<DenseI32ArrayAttr>:$mode);
  let results = (outs Cute_Indexable:$result);
  let assemblyFormat = "(`<` $mode^ `>`)? `(` $input `)` attr-dict `:` type($input) `->` type($result)";
}

def Cute_SelectOp : Cute_InferOp<"select"> {
  let summary = "Some modes, in the order given";
  let description = [{
    ```mlir
    %r = cute.select<[2, 0]>(%l) : !cute.layout<"(2,3,4):(1,2,6)"> -> !cute.layout<"(4,2):(6,1)">
    ```
  }];
  let arguments = (ins Cute_Indexable:$input, DenseI32ArrayAttr:$mode);
  let results = (outs Cute_Indexable:$result);
  let assemblyFormat = "`<` $mode `>` `(` $input `)` attr-dict `:` type($input) `->` type($result)";
}

def Cute_ToIntTupleOp : Cute_CastOp<"to_int_tuple", Cute_Numbers, Cute_IntTupleType> {
  let summary = "The same numbers as an int_tuple";
  let description = [{
    Leaves that a number cannot be, `_` and basis vectors, are refused.
    ```mlir
    %t = cute.to_int_tuple(%s) : !cute.shape<"(?,4)"> -> !cute.int_tuple<"(?,4)">
    ```
  }];
}

def Cute_ToShapeOp : Cute_CastOp<"to_shape", Cute_IntTupleType, Cute_ShapeType> {
  let summary = "The same numbers as a shape";
  let description = [{
    Extents of 0 or less are refused.
    ```mlir
    %s = cute.to_shape(%t) : !cute.int_tuple<"(?,4)"> -> !cute.shape<"(?,4)">
    ```
  }];
}

def Cute_ToStrideOp : Cute_CastOp<"to_stride", Cute_IntTupleType, Cute_StrideType> {
  let summary = "The same numbers as a stride";
  let description = [{
    ```mlir
    %d = cute.to_stride(%t) : !cute.int_tuple<"(1,?)"> -> !cute.stride<"(1,?)">
    ```
  }];
}

def Cute_ToCoordOp : Cute_CastOp<"to_coord", Cute_IntTupleType, Cute_CoordType> {
  let summary = "The same numbers as a coord";
  let description = [{
    ```mlir
    %c = cute.to_coord(%t) : !cute.int_tuple<"(?,3)"> -> !cute.coord<"(?,3)">
    ```
  }];
}
// ---- sizes and indices ----
class Cute_SizeLikeOp<string m, Type input> : Cute_InferOp<m> {
  let arguments = (ins input:$input, OptionalAttr<DenseI32ArrayAttr>:$mode);
  let results = (outs Cute_IntTupleType:$result);
  let assemblyFormat = "(`<` $mode^ `>`)? `(` $input `)` attr-dict `:` functional-type($input, $result)";
}

def Cute_SizeOp : Cute_SizeLikeOp<"size", Cute_Sized> {
  let summary = "The number of coordinates: the product of the extents";
  let description = [{
    `<[i, j]>` takes that of mode j of mode i.
    ```mlir
    %n = cute.size<[0]>(%l) : (!cute.layout<"(?,4):(4,1)">) -> !cute.int_tuple<"?">
    ```
  }];
}

def Cute_CosizeOp : Cute_SizeLikeOp<"cosize", Cute_AnyLayout> {
  let summary = "One more than the largest index";
  let description = [{
    `1 + sum_i (s_i - 1) * |d_i|`, as in CuTe's `cosize`. Of a composed layout: of its parts.
    ```mlir
    %n = cute.cosize(%l) : (!cute.layout<"(4,8):(1,16)">) -> !cute.int_tuple<"116">
    ```
  }];
}

class Cute_ProductOp<string m> : Cute_InferOp<m> {
  let arguments = (ins Cute_Product:$input);
  let results = (outs Cute_Product:$result);
  let assemblyFormat = "`(` $input `)` attr-dict `:` functional-type($input, $result)";
}

def Cute_TupleProductOp : Cute_ProductOp<"tuple_product"> {
  let summary = "The product of all leaves";
  let description = [{
    ```mlir
    %n = cute.tuple_product(%s) : (!cute.shape<"(2,(3,4))">) -> !cute.shape<"24">
    ```
  }];
}

def Cute_TupleProductEachOp : Cute_ProductOp<"tuple_product_each"> {
  let summary = "The product of each mode's leaves";
  let description = [{
    ```mlir
    %n = cute.tuple_product_each(%s) : (!cute.shape<"(2,(3,4))">) -> !cute.shape<"(2,12)">
    ```
  }];
}

def Cute_LayoutEvalOp : Cute_FunctionOp<"layout_eval", (ins Cute_CoordType:$coord, Cute_AnyLayout:$layout),
                                        (outs Cute_IntTupleType:$result)> {
  let summary = "A layout applied to a coordinate";
  let description = [{
    `sum_i c_i * d_i`; with basis strides a tuple. The coordinate may be linear, of the layout's rank, or
    congruent to its shape.
    ```mlir
    %i = cute.layout_eval(%c, %l) : (!cute.coord<"(?,?)">, !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"?">
    ```
  }];
}

def Cute_Crd2IdxOp : Cute_FunctionOp<"crd2idx", (ins Cute_CoordType:$coord, Cute_ShapeType:$shape),
                                     (outs Cute_IntTupleType:$result)> {
  let summary = "The index of a coordinate in a compact column-major shape";
  let description = [{
    `c_0 + s_0 * (c_1 + s_1 * (c_2 + ...))`.
    ```mlir
    %i = cute.crd2idx(%c, %s) : (!cute.coord<"(1,2)">, !cute.shape<"(4,8)">) -> !cute.int_tuple<"9">
    ```
  }];
}

def Cute_Idx2CrdOp : Cute_FunctionOp<"idx2crd", (ins Cute_IntTupleType:$index, Cute_ShapeType:$shape),
                                     (outs Cute_CoordType:$result)> {
  let summary = "The coordinate of an index in a compact column-major shape";
  let description = [{
    The last mode is not reduced: an index past the size gives a coordinate past the last extent.
    ```mlir
    %c = cute.idx2crd(%i, %s) : (!cute.int_tuple<"?">, !cute.shape<"(4,8)">) -> !cute.coord<"(?,?)">
    ```
  }];
}

def Cute_IncrementCoordOp : Cute_FunctionOp<"increment_coord", (ins Cute_CoordType:$coord, Cute_ShapeType:$shape),
                                             (outs Cute_CoordType:$result)> {
  let summary = "The next coordinate in colexicographic order";
  let description = [{
    The first mode counts up; at its extent it returns to 0 and the next one counts. The last mode is not reduced.
    ```mlir
    %n = cute.increment_coord(%c, %s) : (!cute.coord<"(3,1)">, !cute.shape<"(4,8)">) -> !cute.coord<"(0,2)">
    ```
  }];
}

class Cute_RankOp<string m> : Cute_InferOp<m> {
  let arguments = (ins I32Attr:$rank, Cute_Sliceable:$input, Cute_Sliceable:$element);
  let results = (outs Cute_Sliceable:$result);
  let assemblyFormat = "`<` $rank `>` `(` $input `,` $element `)` attr-dict `:` qualified(type($input)) `,` qualified(type($element))";
}

def Cute_AppendToRankOp : Cute_RankOp<"append_to_rank"> {
  let summary = "Modes behind the last, up to a rank";
  let description = [{
    The element is repeated until the rank is reached; a value of higher rank is refused.
    ```mlir
    %r = cute.append_to_rank<3>(%s, %one) : !cute.shape<"(4,?)">, !cute.shape<"1">
    ```
  }];
}

def Cute_PrependToRankOp : Cute_RankOp<"prepend_to_rank"> {
  let summary = "Modes before the first, up to a rank";
  let description = [{
    The element is repeated until the rank is reached; a value of higher rank is refused.
    ```mlir
    %r = cute.prepend_to_rank<3>(%s, %one) : !cute.shape<"(4,?)">, !cute.shape<"1">
    ```
  }];
}
// ---- arithmetic, leaf by leaf ----
def Cute_TupleAddOp : Cute_FunctionOp<"tuple_add", (ins Cute_Number:$lhs, Cute_Number:$rhs),
                                      (outs Cute_Number:$result)> {
  let summary = "Sum, leaf by leaf";
  let description = [{
    What only one operand has stays as it is.
    ```mlir
    %r = cute.tuple_add(%a, %b) : (!cute.int_tuple<"(1,?)">, !cute.int_tuple<"(2,3)">) -> !cute.int_tuple<"(3,?)">
    ```
  }];
}

def Cute_TupleSubOp : Cute_FunctionOp<"tuple_sub", (ins Cute_Number:$lhs, Cute_Number:$rhs),
                                      (outs Cute_Number:$result)> {
  let summary = "Difference, leaf by leaf";
  let description = [{
    What only the first has stays, what only the second has is negated.
    ```mlir
    %r = cute.tuple_sub(%a, %b) : (!cute.int_tuple<"(3,?)">, !cute.int_tuple<"(2,3)">) -> !cute.int_tuple<"(1,?)">
    ```
  }];
}

def Cute_ShapeDivOp : Cute_DivideOp<"shape_div"> {
  let summary = "A shape divided, mode after mode";
  let description = [{
    `s / t`, at least 1, where one divides the other; for a tuple by an integer the modes use it up from the left:
    `(s0, s1) / t = (s0 / t, s1 / (t / s0))`.
    ```mlir
    %r = cute.shape_div(%a, %b) : (!cute.shape<"(8,10)">, !cute.shape<"(2,5)">) -> !cute.shape<"(4,2)">
    ```
  }];
  let arguments = (ins Cute_ShapeType:$a, Cute_ShapeType:$b);
  let results = (outs Cute_ShapeType:$result);
  let assemblyFormat = functional;
}

def Cute_CeilDivOp : Cute_DivideOp<"ceil_div"> {
  let summary = "How many tiles cover a shape";
  let description = [{
    `(s + t - 1) / t`, leaf by leaf; modes without a tiler stay.
    ```mlir
    %r = cute.ceil_div(%a, %b) : (!cute.shape<"(?,10)">, !cute.shape<"(128,4)">) -> !cute.shape<"(?,3)">
    ```
  }];
  let arguments = (ins Cute_Number:$input,
                   AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_TileType],
                             "!cute.int_tuple, !cute.shape, or !cute.tile">:$tiler);
  let results = (outs Cute_Number:$result);
  let assemblyFormat = functional;
}

class Cute_CompareOp<string m, Type operand> : Cute_Op<m, [Pure]> {
  let arguments = (ins operand:$lhs, operand:$rhs);
  let results = (outs I1:$result);
  let assemblyFormat = functional;
}

def Cute_ElemLessOp : Cute_CompareOp<"elem_less", Cute_Comparable> {
  let summary = "Each leaf less than the other's";
  let description = [{
    The test of a coordinate against its bounds.
    ```mlir
    %in = cute.elem_less(%c, %s) : (!cute.coord<"(?,?)">, !cute.shape<"(?,64)">) -> i1
    ```
  }];
}

def Cute_EqualOp : Cute_CompareOp<"equal", Cute_Equatable> {
  let summary = "Each leaf equal to the other's";
  let description = [{
    Both operands are of one type; values of different structure are not equal.
    ```mlir
    %same = cute.equal(%a, %b) : (!cute.shape<"(?,4)">, !cute.shape<"(8,4)">) -> i1
    ```
  }];
}
// ---- the algebra of layouts ----
def Cute_CompositionOp : Cute_InferOp<"composition"> {
  let summary = "`R(i) = A(B(i))` on the domain of B";
  let description = [{
    A shape or tile composes mode by mode. R has the profile of B, refined where A breaks a mode. Refused where no layout
    is that function; the last mode of A counts as unbounded.
    ```mlir
    %r = cute.composition(%a, %b) : (!cute.layout<"(4,8):(8,1)">, !cute.layout<"8:2">) -> !cute.layout<"(2,4):(16,1)">
    ```
  }];
  let arguments = (ins Cute_AnyLayout:$lhs, Cute_Tiler:$rhs);
  let results = (outs Cute_AnyLayout:$result);
  let assemblyFormat = "`(` $lhs `,` $rhs `)` attr-dict `:` functional-type(operands, $result)";
}

def Cute_CoalesceOp : Cute_InferOp<"coalesce"> {
  let summary = "The same function in fewer modes";
  let description = [{
    Neighbours with `d_{i+1} = s_i * d_i` become one mode, modes of extent 1 go. With a profile this happens within
    each of its leaves.
    ```mlir
    %r = cute.coalesce(%l) : (!cute.layout<"(2,(1,6)):(1,(7,2))">) -> !cute.layout<"12:1">
    ```
  }];
  let arguments = (ins Cute_AnyLayout:$input, Optional<Cute_CoordType>:$target_profile);
  let results = (outs Cute_AnyLayout:$result);
  let assemblyFormat = "`(` $input (`,` $target_profile^)? `)` attr-dict `:` functional-type(operands, results)";
}

def Cute_FlattenOp : Cute_FunctionOp<"flatten", (ins Cute_Indexable:$input), (outs Cute_Indexable:$result)> {
  let summary = "All leaves at the top level";
  let description = [{
    ```mlir
    %r = cute.flatten(%l) : (!cute.layout<"(2,(3,4)):(1,(2,6))">) -> !cute.layout<"(2,3,4):(1,2,6)">
    ```
  }];
}

def Cute_ComplementOp : Cute_InferOp<"complement"> {
  let summary = "What a layout leaves out";
  let description = [{
    The result's indices are those that, added to the layout's, reach each index up to the cotarget's size once:
    `(A, complement(A))` is injective, and the complement ascends.
    ```mlir
    %r = cute.complement(%l, %s) : (!cute.layout<"4:1">, !cute.shape<"24">) -> !cute.layout<"6:4">
    ```
  }];
  let arguments = (ins Cute_LayoutType:$input,
                   Optional<AnyTypeOf<[Cute_LayoutType, Cute_ShapeType], "!cute.layout or !cute.shape">>:$cotarget);
  let results = (outs Cute_LayoutType:$result);
  let assemblyFormat = "`(` $input (`,` $cotarget^)? `)` attr-dict `:` functional-type(operands, results)";
}

def Cute_GroupModesOp : Cute_InferOp<"group_modes"> {
  let summary = "Modes `[begin, end)` as one";
  let description = [{
    ```mlir
    %r = cute.group_modes<1, 3>(%l) : (!cute.layout<"(2,3,4):(1,2,6)">) -> !cute.layout<"(2,(3,4)):(1,(2,6))">
    ```
  }];
  let arguments = (ins Cute_AnyLayout:$input, I32Attr:$begin, I32Attr:$end);
  let results = (outs Cute_AnyLayout:$result);
  let assemblyFormat = "`<` $begin `,` $end `>` `(` $input `)` attr-dict `:` functional-type($input, $result)";
}

def Cute_RecastLayoutOp : Cute_InferOp<"recast_layout"> {
  let summary = "A layout in elements of another width";
  let description = [{
    `<new_bits, old_bits>`: a wider element covers several along the mode of stride 1, a narrower one splits each.
    ```mlir
    %r = cute.recast_layout<16, 8>(%l) : !cute.layout<"(8,4):(1,8)"> -> !cute.layout<"(4,4):(1,4)">
    ```
  }];
  let arguments = (ins I32Attr:$new_type_bits, I32Attr:$old_type_bits, Cute_AnyLayout:$src);
  let results = (outs Cute_AnyLayout:$dst);
  let assemblyFormat = "`<` $new_type_bits `,` $old_type_bits `>` `(` $src `)` attr-dict `:` qualified(type($src)) `->` qualified(type($dst))";
}

def Cute_SliceOp : Cute_InferOp<"slice"> {
  let summary = "The modes that a coordinate leaves open (`_`)";
  let description = [{
    ```mlir
    %r = cute.slice(%l, %c) : !cute.layout<"(4,8):(8,1)">, !cute.coord<"(_,?)">
    ```
  }];
  let arguments = (ins Cute_Sliceable:$input, Cute_CoordType:$coord);
  let results = (outs Cute_Sliceable:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` type(operands)";
}

def Cute_DiceOp : Cute_InferOp<"dice"> {
  let summary = "The modes that a coordinate fixes (no `_`)";
  let description = [{
    ```mlir
    %r = cute.dice(%l, %c) : !cute.layout<"(4,8):(8,1)">, !cute.coord<"(_,0)">
    ```
  }];
  let arguments = (ins Cute_Sliceable:$input, Cute_CoordType:$coord);
  let results = (outs Cute_Sliceable:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` type(operands)";
}

def Cute_RightInverseOp : Cute_FunctionOp<"right_inverse", (ins Cute_LayoutType:$input), (outs Cute_LayoutType:$result)> {
  let summary = "R with `L(R(i)) = i`";
  let description = [{
    Of the contiguous part of L: where it starts at 0 without a gap.
    ```mlir
    %r = cute.right_inverse(%l) : (!cute.layout<"(4,8):(8,1)">) -> !cute.layout<"(8,4):(4,1)">
    ```
  }];
}

def Cute_LeftInverseOp : Cute_FunctionOp<"left_inverse", (ins Cute_LayoutType:$input), (outs Cute_LayoutType:$result)> {
  let summary = "R with `R(L(i)) = i`, of an injective L";
  let description = [{
    ```mlir
    %r = cute.left_inverse(%l) : (!cute.layout<"(4,8):(8,1)">) -> !cute.layout<"(8,4):(4,1)">
    ```
  }];
}
// ---- products and divides ----
def Cute_LogicalProductOp : Cute_FunctionOp<"logical_product", (ins Cute_AnyLayout:$lhs, Cute_LayoutType:$rhs),
    (outs Cute_AnyLayout:$result)> {
  let summary = "Layout A repeated in the pattern of B";
  let description = [{
    `(A, A* o B)` where `A*` is the complement of A: B lays out copies of A.
    ```mlir
    %r = cute.logical_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">)
        -> !cute.layout<"((3,4),(2,5)):((4,1),(12,24))">
    ```
  }];
}

def Cute_ZippedProductOp : Cute_FunctionOp<"zipped_product", (ins Cute_AnyLayout:$lhs, Cute_LayoutType:$rhs),
    (outs Cute_AnyLayout:$result)> {
  let summary = "The product as (block, copies)";
  let description = [{
    `((A0,A1), (B0,B1))`: for a layout B the same as logical_product.
    ```mlir
    %r = cute.zipped_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">)
        -> !cute.layout<"((3,4),(2,5)):((4,1),(12,24))">
    ```
  }];
}

def Cute_TiledProductOp : Cute_FunctionOp<"tiled_product", (ins Cute_AnyLayout:$lhs, Cute_LayoutType:$rhs),
    (outs Cute_AnyLayout:$result)> {
  let summary = "The product with the copies flat";
  let description = [{
    `((A0,A1), B0, B1)`.
    ```mlir
    %r = cute.tiled_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">)
        -> !cute.layout<"((3,4),2,5):((4,1),12,24)">
    ```
  }];
}

def Cute_FlatProductOp : Cute_FunctionOp<"flat_product", (ins Cute_AnyLayout:$lhs, Cute_LayoutType:$rhs),
    (outs Cute_AnyLayout:$result)> {
  let summary = "The product with all modes flat";
  let description = [{
    `(A0, A1, B0, B1)`.
    ```mlir
    %r = cute.flat_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">)
        -> !cute.layout<"(3,4,2,5):(4,1,12,24)">
    ```
  }];
}

def Cute_RakedProductOp : Cute_FunctionOp<"raked_product", (ins Cute_AnyLayout:$lhs, Cute_LayoutType:$rhs),
    (outs Cute_AnyLayout:$result)> {
  let summary = "The product interleaved";
  let description = [{
    `((B0,A0), (B1,A1))`: copies alternate, cyclically. Both operands are of one rank.
    ```mlir
    %r = cute.raked_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">)
        -> !cute.layout<"((2,3),(5,4)):((12,4),(24,1))">
    ```
  }];
}

def Cute_BlockedProductOp : Cute_FunctionOp<"blocked_product", (ins Cute_AnyLayout:$lhs, Cute_LayoutType:$rhs),
    (outs Cute_AnyLayout:$result)> {
  let summary = "The product in blocks";
  let description = [{
    `((A0,B0), (A1,B1))`: copies lie side by side. Both operands are of one rank.
    ```mlir
    %r = cute.blocked_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">)
        -> !cute.layout<"((3,2),(4,5)):((4,12),(1,24))">
    ```
  }];
}

def Cute_LogicalDivideOp : Cute_FunctionOp<"logical_divide", (ins Cute_AnyLayout:$input, Cute_Tiler:$tiler),
    (outs Cute_AnyLayout:$result)> {
  let summary = "A layout as tiles and the rest";
  let description = [{
    `A o (B, B*)` where `B*` is the complement of B in A; a shape or tile divides mode by mode:
    `((tile0,rest0), (tile1,rest1), ...)`.
    ```mlir
    %r = cute.logical_divide(%l, %t) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3,4)">)
        -> !cute.layout<"((3,2),(4,2)):((8,24),(1,4))">
    ```
  }];
}

def Cute_ZippedDivideOp : Cute_FunctionOp<"zipped_divide", (ins Cute_AnyLayout:$input, Cute_Tiler:$tiler),
    (outs Cute_AnyLayout:$result)> {
  let summary = "The divide as (tile, rest)";
  let description = [{
    `((tile0,tile1), (rest0,rest1,...))`: mode 0 is one tile, mode 1 runs over the tiles.
    ```mlir
    %r = cute.zipped_divide(%l, %t) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3,4)">)
        -> !cute.layout<"((3,4),(2,2)):((8,1),(24,4))">
    ```
  }];
}

def Cute_TiledDivideOp : Cute_FunctionOp<"tiled_divide", (ins Cute_AnyLayout:$input, Cute_Tiler:$tiler),
    (outs Cute_AnyLayout:$result)> {
  let summary = "The divide with the rest flat";
  let description = [{
    `((tile0,tile1), rest0, rest1, ...)`.
    ```mlir
    %r = cute.tiled_divide(%l, %t) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3,4)">)
        -> !cute.layout<"((3,4),2,2):((8,1),24,4)">
    ```
  }];
}

def Cute_FlatDivideOp : Cute_FunctionOp<"flat_divide", (ins Cute_AnyLayout:$input, Cute_Tiler:$tiler),
    (outs Cute_AnyLayout:$result)> {
  let summary = "The divide with all modes flat";
  let description = [{
    `(tile0, tile1, rest0, rest1, ...)`.
    ```mlir
    %r = cute.flat_divide(%l, %t) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3,4)">)
        -> !cute.layout<"(3,4,2,2):(8,1,24,4)">
    ```
  }];
}

def Cute_TileToShapeOp : Cute_InferOp<"tile_to_shape"> {
  let summary = "A block repeated until it fills a shape";
  let description = [{
    The order says which mode of copies comes first; without one, the first.
    ```mlir
    %r = cute.tile_to_shape(%l, %s) : (!cute.layout<"(2,2):(1,2)">, !cute.shape<"(4,6)">)
        -> !cute.layout<"((2,2),(2,3)):((1,4),(2,8))">
    ```
  }];
  let arguments = (ins Cute_AnyLayout:$input, Cute_ShapeType:$shape, Optional<Cute_IntTupleType>:$order);
  let results = (outs Cute_AnyLayout:$result);
  let assemblyFormat = "`(` $input `,` $shape (`,` $order^)? `)` attr-dict `:` functional-type(operands, results)";
}
// ---- debugging ----
def Cute_PrintOp : Cute_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "Prints a value where the program runs";
  let description = [{
    In CuTe's notation, unknown leaves with their values; by gpu.printf in kernels, by printf on the host.
    ```mlir
    cute.print(%l) : !cute.layout<"(?,3):(1,?)">
    ```
  }];
  let arguments = (ins Cute_Any:$value);
  let assemblyFormat = "`(` $value `)` `:` type($value) attr-dict";
}

#endif
