#ifndef CUTE_IR_OPS_TD
#define CUTE_IR_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "lib/ir/cute_types.td"

// Verification, inference and folding go to the row of this operation's name in ops.c.
def CuteHooks : NativeOpTrait<"CuteHooks"> { let cppNamespace = "::cute"; }

class Cute_Op<string m, list<Trait> t = []> : Op<Cute_Dialect, m, !listconcat([CuteHooks], t)>;
// The result types follow from the operands; a stated one is checked against them.
class Cute_InferOp<string m> : Cute_Op<m, [Pure, InferTypeOpInterface]>;

def Cute_AnyLayout : AnyTypeOf<[Cute_LayoutType, Cute_ComposedLayoutType], "layout or composed layout">;
def Cute_Outer : AnyTypeOf<[Cute_LayoutType, Cute_SwizzleType], "layout or swizzle">;
def Cute_Any : AnyTypeOf<[Cute_IntTupleType, Cute_CoordType, Cute_ShapeType, Cute_StrideType, Cute_LayoutType,
                          Cute_TileType, Cute_ComposedLayoutType, Cute_SwizzleType], "any CuTe type">;
def Cute_Indexable : AnyTypeOf<[Cute_ShapeType, Cute_StrideType, Cute_CoordType, Cute_IntTupleType, Cute_LayoutType,
                                Cute_ComposedLayoutType], "shape, stride, coord, int_tuple or layout">;
def Cute_Sized : AnyTypeOf<[Cute_ShapeType, Cute_IntTupleType, Cute_LayoutType, Cute_ComposedLayoutType],
                           "shape, int_tuple or layout">;
def Cute_Leaf : AnyTypeOf<[I32, I64, Cute_IntTupleType, Cute_ShapeType, Cute_StrideType, Cute_CoordType],
                          "i32, i64 or a single leaf of a tuple">;

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

// ---- constructors: an operand for each unknown leaf of the result, depth first ----

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
    ```mlir
    %r = cute.make_composed_layout(%a, %o, %b) : (!cute.swizzle<"S<3,4,3>">, !cute.int_tuple<"0">,
        !cute.layout<"(8,64):(64,1)">) -> !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
    ```
  }];
  let arguments = (ins Cute_Outer:$inner, Cute_IntTupleType:$offset, Cute_LayoutType:$outer);
  let results = (outs Cute_ComposedLayoutType:$result);
  let assemblyFormat = "`(` $inner `,` $offset `,` $outer `)` attr-dict `:` functional-type(operands, $result)";
}

// ---- accessors ----

class Cute_OfLayoutOp<string m, dag ins, dag outs> : Cute_InferOp<m> {
  let arguments = ins;
  let results = outs;
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
}
def Cute_GetShapeOp : Cute_InferOp<"get_shape"> {
  let summary = "The shape of a layout";
  let description = [{
    Of a composed layout: the shape of B.
    ```mlir
    %s = cute.get_shape(%l) : (!cute.layout<"(?,2):(1,?)">) -> !cute.shape<"(?,2)">
    ```
  }];
  let arguments = (ins Cute_AnyLayout:$input);
  let results = (outs Cute_ShapeType:$result);
  let assemblyFormat = "`(` $input `)` attr-dict `:` functional-type($input, $result)";
}
def Cute_GetStrideOp : Cute_InferOp<"get_stride"> {
  let summary = "The stride of a layout";
  let arguments = (ins Cute_LayoutType:$input);
  let results = (outs Cute_StrideType:$result);
  let assemblyFormat = "`(` $input `)` attr-dict `:` functional-type($input, $result)";
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
    %n = cute.size<[0]> (%l) : (!cute.layout<"(?,4):(4,1)">) -> !cute.int_tuple<"?">
    ```
  }];
}
def Cute_CosizeOp : Cute_SizeLikeOp<"cosize", Cute_AnyLayout> {
  let summary = "One more than the largest index";
  let description = [{`1 + sum_i (s_i - 1) * |d_i|`, as in CuTe's `cosize`.}];
}
def Cute_Crd2IdxOp : Cute_OfLayoutOp<"crd2idx", (ins Cute_CoordType:$coord, Cute_ShapeType:$shape),
                                     (outs Cute_IntTupleType:$result)> {
  let summary = "The index of a coordinate in a compact column-major shape";
  let description = [{
    `c_0 + s_0 * (c_1 + s_1 * (c_2 + ...))`.
    ```mlir
    %i = cute.crd2idx(%c, %s) : (!cute.coord<"(1,2)">, !cute.shape<"(4,8)">) -> !cute.int_tuple<"9">
    ```
  }];
}
def Cute_Idx2CrdOp : Cute_OfLayoutOp<"idx2crd", (ins Cute_IntTupleType:$index, Cute_ShapeType:$shape),
                                     (outs Cute_CoordType:$result)> {
  let summary = "The coordinate of an index in a compact column-major shape";
  let description = [{
    The last mode is not reduced: an index past the size gives a coordinate past the last extent.
    ```mlir
    %c = cute.idx2crd(%i, %s) : (!cute.int_tuple<"?">, !cute.shape<"(4,8)">) -> !cute.coord<"(?,?)">
    ```
  }];
}
def Cute_LayoutEvalOp : Cute_OfLayoutOp<"layout_eval", (ins Cute_CoordType:$coord, Cute_AnyLayout:$layout),
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
def Cute_SliceOp : Cute_InferOp<"slice"> {
  let summary = "The modes that a coordinate leaves open (`_`)";
  let arguments = (ins Cute_Indexable:$input, Cute_CoordType:$coord);
  let results = (outs Cute_Indexable:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` type(operands)";
}

#endif
