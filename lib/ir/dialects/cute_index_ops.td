// Integer operations: sizes, coordinates and indices, elementwise arithmetic, comparisons.
#ifndef CUTE_IR_INDEX_OPS_TD
#define CUTE_IR_INDEX_OPS_TD

include "lib/ir/dialects/cute_ops.td"

// ---- sizes and indices ----
class Cute_SizeLikeOp<string m, Type input> : Cute_InferOp<m> {
  let arguments = (ins input:$input, OptionalAttr<DenseI32ArrayAttr>:$mode);
  let results = (outs Cute_IntTupleType:$result);
}

def Cute_SizeOp : Cute_SizeLikeOp<"size", Cute_Sized> {
  let summary = "Number of coordinates: the product of the extents";
  let description = [{
    `size(s) = s`, `size((s, S, ...)) = size(s) * size(S) * ...`. `<[i, j]>` is the size of mode j of mode i.
    The size of a layout is that of its shape; of a composed layout, that of B. The result is as wide as the
    widest leaf.

    Errors: a path that does not exist, a product beyond 64 bits.

    ```mlir
    %n = cute.size<[0]>(%l) : (!cute.layout<"(?,4):(4,1)">) -> !cute.int_tuple<"?">
    ```
  }];
}

def Cute_CosizeOp : Cute_SizeLikeOp<"cosize", Cute_LaidOut> {
  let summary = "One more than the largest index";
  let description = [{
    `1 + sum_i (s_i - 1) * |d_i|`. With basis strides, the product over the modes of the codomain. For a
    swizzled layout, the cosize of B, because a swizzle permutes the indices below it.

    Errors: a composed layout whose A is a layout, which may map anywhere. See CuTe's 01_layout.md.

    ```mlir
    %n = cute.cosize(%l) : (!cute.layout<"(4,8):(1,16)">) -> !cute.int_tuple<"116">
    ```
  }];
}

class Cute_ProductOp<string m> : Cute_InferOp<m> {
  let arguments = (ins Cute_Product:$input);
  let results = (outs Cute_Product:$result);
}

def Cute_TupleProductOp : Cute_ProductOp<"tuple_product"> {
  let summary = "Product of all leaves";
  let description = [{
    `product((t, T, ...)) = product(t) * product(T) * ...`, of the type of the operand.

    Errors: a product beyond 64 bits.

    ```mlir
    %n = cute.tuple_product(%s) : (!cute.shape<"(2,(3,4))">) -> !cute.shape<"24">
    ```
  }];
}

def Cute_TupleProductEachOp : Cute_ProductOp<"tuple_product_each"> {
  let summary = "Product of the leaves of each mode";
  let description = [{
    `(product(t), product(T), ...)`: one integer per top-level mode.

    Errors: a product beyond 64 bits.

    ```mlir
    %n = cute.tuple_product_each(%s) : (!cute.shape<"(2,(3,4))">) -> !cute.shape<"(2,12)">
    ```
  }];
}

def Cute_LayoutEvalOp : Cute_DividingFunctionOp<"layout_eval", (ins Cute_CoordType:$coord, Cute_AnyLayout:$layout),
                                                (outs Cute_IntTupleType:$result)> {
  let summary = "Applies a layout to a coordinate";
  let description = [{
    `L(c) = sum_i c_i * d_i`; with basis strides the sum is a tuple; for a composed layout `A(offset + B(c))`.
    The coordinate is an integer, a tuple of the layout's rank, or congruent to its shape. An integer for a
    mode of several leaves is split into `c % s_0`, `c / s_0 % s_1` and so on; the last leaf takes the
    remaining quotient. `_` counts as 0.

    Errors: a coordinate of a different rank or deeper than the shape; an index beyond 64 bits. See CuTe's
    01_layout.md.

    ```mlir
    %i = cute.layout_eval(%c, %l) : (!cute.coord<"(?,?)">, !cute.layout<"(4,8):(8,1)">) -> !cute.int_tuple<"?">
    ```
  }];
}

def Cute_Crd2IdxOp : Cute_DividingFunctionOp<"crd2idx", (ins Cute_CoordType:$coord,
                                              AnyTypeOf<[Cute_ShapeType, Cute_LayoutType, Cute_ComposedLayoutType],
                                                        "Scalar integer or recursive tuple of shape extents, or a layout">:$shape),
                                             (outs Cute_IntTupleType:$result)> {
  let summary = "Converts a coordinate to an index in a compact column-major shape";
  let description = [{
    `crd2idx((c, C), (s, S)) = c + s * crd2idx(C, S)`: the first mode is the fastest. An integer can replace
    the coordinate of any mode. With a layout the operation is `cute.layout_eval`.

    Errors: a coordinate that is not weakly congruent to the shape. See CuTe's 01_layout.md.

    ```mlir
    %i = cute.crd2idx(%c, %s) : (!cute.coord<"(1,2)">, !cute.shape<"(4,8)">) -> !cute.int_tuple<"9">
    ```
  }];
}

def Cute_Idx2CrdOp : Cute_DividingFunctionOp<"idx2crd", (ins Cute_IntTupleType:$index, Cute_ShapeType:$shape),
                                             (outs Cute_CoordType:$result)> {
  let summary = "Converts an index to a coordinate in a compact column-major shape";
  let description = [{
    `idx2crd(i, (s, S)) = (i % s, idx2crd(i / s, S))`; a tuple of indices is converted mode by mode. The last
    mode is not reduced: an index past the size gives a coordinate past the last extent, which
    `cute.elem_less` recognizes as out of bounds.

    Errors: an index tuple of a different rank; division by a static extent of 0. See CuTe's 01_layout.md.

    ```mlir
    %c = cute.idx2crd(%i, %s) : (!cute.int_tuple<"?">, !cute.shape<"(4,8)">) -> !cute.coord<"(?,?)">
    ```
  }];
}

def Cute_IncrementCoordOp : Cute_FunctionOp<"increment_coord", (ins Cute_CoordType:$coord, Cute_ShapeType:$shape),
                                             (outs Cute_CoordType:$result)> {
  let summary = "Next coordinate in colexicographic order";
  let description = [{
    Increments the first leaf; a leaf that reaches its extent is reset to 0 and carries into the next one. The
    last leaf is not reduced: `(0, ..., s_n)` is the end.

    Errors: a coordinate that is not congruent to the shape, or contains `_`. See `increment` of CuTe's
    int_tuple.hpp.

    ```mlir
    %n = cute.increment_coord(%c, %s) : (!cute.coord<"(3,1)">, !cute.shape<"(4,8)">) -> !cute.coord<"(0,2)">
    ```
  }];
}

class Cute_RankOp<string m> : Cute_InferOp<m> {
  let arguments = (ins Cute_Rank:$rank, Cute_Sliceable:$input, Cute_Sliceable:$element);
  let results = (outs Cute_Sliceable:$result);
}

def Cute_AppendToRankOp : Cute_RankOp<"append_to_rank"> {
  let summary = "Appends modes up to a rank";
  let description = [{
    `(t_0, ..., t_k, e, e, ...)`: appends the element until the rank is reached. A value that already has the
    rank is returned unchanged. For a composed layout, modes are added to B, and the element is a layout.

    Errors: a rank below 1, an element of a different kind.

    ```mlir
    %r = cute.append_to_rank<3>(%s, %one) : !cute.shape<"(4,?)">, !cute.shape<"1">
    ```
  }];
}

def Cute_PrependToRankOp : Cute_RankOp<"prepend_to_rank"> {
  let summary = "Prepends modes up to a rank";
  let description = [{
    `(e, e, ..., t_0, ..., t_k)`: prepends the element until the rank is reached. A value that already has the
    rank is returned unchanged. For a composed layout, modes are added to B, and the element is a layout.

    Errors: a rank below 1, an element of a different kind.

    ```mlir
    %r = cute.prepend_to_rank<3>(%s, %one) : !cute.shape<"(4,?)">, !cute.shape<"1">
    ```
  }];
}
// ---- elementwise arithmetic ----
def Cute_TupleAddOp : Cute_FunctionOp<"tuple_add", (ins Cute_Number:$lhs, Cute_Number:$rhs),
                                      (outs Cute_Number:$result)> {
  let summary = "Elementwise sum of tuples";
  let description = [{
    `(a + b, A + B, ...)`. Modes that only the operand of higher rank has are kept. The integer 0 can replace
    either operand.

    Errors: another integer with a tuple, an integer and a tuple in corresponding modes, a sum beyond 64 bits.

    ```mlir
    %r = cute.tuple_add(%a, %b) : (!cute.int_tuple<"(1,?)">, !cute.int_tuple<"(2,3)">) -> !cute.int_tuple<"(3,?)">
    ```
  }];
}

def Cute_TupleSubOp : Cute_FunctionOp<"tuple_sub", (ins Cute_Number:$lhs, Cute_Number:$rhs),
                                      (outs Cute_Number:$result)> {
  let summary = "Elementwise difference of tuples";
  let description = [{
    `(a - b, A - B, ...)`. Modes that only the operand of higher rank has are kept, even those of the second
    operand. The integer 0 can be subtracted from a tuple.

    Errors: another integer with a tuple, an integer and a tuple in corresponding modes, a difference beyond
    64 bits.

    ```mlir
    %r = cute.tuple_sub(%a, %b) : (!cute.int_tuple<"(3,?)">, !cute.int_tuple<"(2,3)">) -> !cute.int_tuple<"(1,?)">
    ```
  }];
}

def Cute_ShapeDivOp : Cute_DivideOp<"shape_div"> {
  let summary = "Divides a shape mode by mode";
  let description = [{
    `s / t`, at least 1 in magnitude, where one divides the other. Tuples are divided mode by mode; an integer
    is consumed from the left: `(s, S) / t = (s / t, S / (t / s))`. Divisibility of dynamic leaves is not
    checked at run time.

    Errors: static integers neither of which divides the other, a divisor of 0, tuples of different ranks. See
    `shape_div` of CuTe's int_tuple.hpp.

    ```mlir
    %r = cute.shape_div(%a, %b) : (!cute.shape<"(8,10)">, !cute.shape<"(2,5)">) -> !cute.shape<"(4,2)">
    ```
  }];
  let arguments = (ins Cute_ShapeType:$a, Cute_ShapeType:$b);
  let results = (outs Cute_ShapeType:$result);
}

def Cute_CeilDivOp : Cute_DivideOp<"ceil_div"> {
  let summary = "Number of tiles that cover a shape";
  let description = [{
    `(s + t - 1) / t`. Tuples are divided mode by mode, and modes without a tiler are kept; an integer is
    consumed from the left: `(s, S) / t = (ceil(s / t), ceil(S / ceil(t / s)))`. A tile divides by the sizes
    of its layouts.

    Errors: a tiler of 0, of higher rank than the shape, or with a `_`.

    ```mlir
    %r = cute.ceil_div(%a, %b) : (!cute.shape<"(?,10)">, !cute.shape<"(128,4)">) -> !cute.shape<"(?,3)">
    ```
  }];
  let arguments = (ins Cute_Number:$input,
                   AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_TileType],
                             "!cute.int_tuple, !cute.shape, or !cute.tile">:$tiler);
  let results = (outs Cute_Number:$result);
}

class Cute_CompareOp<string m, Type operand> : Cute_Op<m, [Pure]> {
  let arguments = (ins operand:$lhs, operand:$rhs);
  let results = (outs I1:$result);
}

def Cute_ElemLessOp : Cute_CompareOp<"elem_less", Cute_Comparable> {
  let summary = "Elementwise less-than of all leaves";
  let description = [{
    `a_0 < b_0 && a_1 < b_1 && ...`: tests a coordinate against its bounds. Each operand is an int_tuple, a
    shape or a coord. Static pairs are folded: one that fails makes the result false.

    Errors: operands that are not congruent, and `_`. See CuTe's 0y_predication.md.

    ```mlir
    %in = cute.elem_less(%c, %s) : (!cute.coord<"(?,?)">, !cute.shape<"(?,64)">) -> i1
    ```
  }];
}

def Cute_EqualOp : Cute_CompareOp<"equal", Cute_Equatable> {
  let summary = "Equality of all leaves";
  let description = [{
    Both operands have the same kind of type. Values of different structure are not equal, whatever their
    leaves; basis vectors are equal if their scales and modes are.

    Errors: operands of different kinds, tiles, swizzles and composed layouts.

    ```mlir
    %same = cute.equal(%a, %b) : (!cute.shape<"(?,4)">, !cute.shape<"(8,4)">) -> i1
    ```
  }];
}

#endif
