// Operations on numbers: sizes, coordinates and indices, arithmetic leaf by leaf, comparisons.
#ifndef CUTE_IR_INDEX_OPS_TD
#define CUTE_IR_INDEX_OPS_TD

include "lib/ir/dialects/cute_ops.td"

// ---- sizes and indices ----
class Cute_SizeLikeOp<string m, Type input> : Cute_InferOp<m> {
  let arguments = (ins input:$input, OptionalAttr<DenseI32ArrayAttr>:$mode);
  let results = (outs Cute_IntTupleType:$result);
}

def Cute_SizeOp : Cute_SizeLikeOp<"size", Cute_Sized> {
  let summary = "The number of coordinates: the product of the extents";
  let description = [{
    `size(s) = s`, `size((s, S, ...)) = size(s) * size(S) * ...`. `<[i, j]>` takes that of mode j of mode i.
    Of a layout: of its shape; of a composed layout: of B's. The result is as wide as the widest leaf.

    Refused: a path that leads nowhere, and a product beyond 64 bits.

    ```mlir
    %n = cute.size<[0]>(%l) : (!cute.layout<"(?,4):(4,1)">) -> !cute.int_tuple<"?">
    ```
  }];
}

def Cute_CosizeOp : Cute_SizeLikeOp<"cosize", Cute_LaidOut> {
  let summary = "One more than the largest index";
  let description = [{
    `1 + sum_i (s_i - 1) * |d_i|`: how many elements lie below the largest index. With basis strides the
    product over the modes of the codomain. Of a swizzled layout: of B, as a swizzle permutes what lies below
    it.

    Refused: a composed layout whose A is a layout, which may map anywhere. See CuTe's 01_layout.md.

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
  let summary = "The product of all leaves";
  let description = [{
    `product((t, T, ...)) = product(t) * product(T) * ...`, of the type of the operand.

    Refused: a product beyond 64 bits.

    ```mlir
    %n = cute.tuple_product(%s) : (!cute.shape<"(2,(3,4))">) -> !cute.shape<"24">
    ```
  }];
}

def Cute_TupleProductEachOp : Cute_ProductOp<"tuple_product_each"> {
  let summary = "The product of each mode's leaves";
  let description = [{
    `(product(t), product(T), ...)`: one number for each mode at top level.

    Refused: a product beyond 64 bits.

    ```mlir
    %n = cute.tuple_product_each(%s) : (!cute.shape<"(2,(3,4))">) -> !cute.shape<"(2,12)">
    ```
  }];
}

def Cute_LayoutEvalOp : Cute_DividingFunctionOp<"layout_eval", (ins Cute_CoordType:$coord, Cute_AnyLayout:$layout),
                                                (outs Cute_IntTupleType:$result)> {
  let summary = "A layout applied to a coordinate";
  let description = [{
    `L(c) = sum_i c_i * d_i`; with basis strides the sum is a tuple; of a composed layout `A(offset + B(c))`.
    The coordinate may be a number, of the layout's rank, or congruent to its shape: where it has a number for
    a mode of several leaves, that is `c % s_0`, `c / s_0 % s_1` and so on, the last leaf taking what is left.
    `_` counts as 0.

    Refused: a coordinate of another rank or deeper than the shape; an index beyond 64 bits. See CuTe's
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
  let summary = "The index of a coordinate in a compact column-major shape";
  let description = [{
    `crd2idx((c, C), (s, S)) = c + s * crd2idx(C, S)`: the first mode is the fastest. A number stands for any
    mode. With a layout it is `cute.layout_eval`.

    Refused: a coordinate that is not weakly congruent to the shape. See CuTe's 01_layout.md.

    ```mlir
    %i = cute.crd2idx(%c, %s) : (!cute.coord<"(1,2)">, !cute.shape<"(4,8)">) -> !cute.int_tuple<"9">
    ```
  }];
}

def Cute_Idx2CrdOp : Cute_DividingFunctionOp<"idx2crd", (ins Cute_IntTupleType:$index, Cute_ShapeType:$shape),
                                             (outs Cute_CoordType:$result)> {
  let summary = "The coordinate of an index in a compact column-major shape";
  let description = [{
    `idx2crd(i, (s, S)) = (i % s, idx2crd(i / s, S))`; a tuple of indices goes mode by mode. The last mode is
    not reduced: an index past the size gives a coordinate past the last extent, so that it is out of bounds
    for `cute.elem_less`.

    Refused: an index tuple of another rank; division by a known extent of 0. See CuTe's 01_layout.md.

    ```mlir
    %c = cute.idx2crd(%i, %s) : (!cute.int_tuple<"?">, !cute.shape<"(4,8)">) -> !cute.coord<"(?,?)">
    ```
  }];
}

def Cute_IncrementCoordOp : Cute_FunctionOp<"increment_coord", (ins Cute_CoordType:$coord, Cute_ShapeType:$shape),
                                             (outs Cute_CoordType:$result)> {
  let summary = "The next coordinate in colexicographic order";
  let description = [{
    The first leaf counts up; at its extent it returns to 0 and the next one counts. The last leaf is not
    reduced: `(0, ..., s_n)` is the end.

    Refused: a coordinate that is not congruent to the shape, or has a `_`. See `increment` of CuTe's
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
  let summary = "Modes behind the last, up to a rank";
  let description = [{
    `(t_0, ..., t_k, e, e, ...)`: the element is repeated behind the last mode until the rank is reached. A
    value of that rank or more stays as it is. Of a composed layout modes are added to B, and the element is a
    layout.

    Refused: a rank below 1, and an element of another type.

    ```mlir
    %r = cute.append_to_rank<3>(%s, %one) : !cute.shape<"(4,?)">, !cute.shape<"1">
    ```
  }];
}

def Cute_PrependToRankOp : Cute_RankOp<"prepend_to_rank"> {
  let summary = "Modes before the first, up to a rank";
  let description = [{
    `(e, e, ..., t_0, ..., t_k)`: the element is repeated before the first mode until the rank is reached. A
    value of that rank or more stays as it is. Of a composed layout modes are added to B, and the element is a
    layout.

    Refused: a rank below 1, and an element of another type.

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
    `(a + b, A + B, ...)`. What only one operand has, because it is of higher rank, stays as it is; the number
    0 may stand for a tuple of zeros on either side.

    Refused: another number with a tuple, a number and a tuple at one place, a sum beyond 64 bits.

    ```mlir
    %r = cute.tuple_add(%a, %b) : (!cute.int_tuple<"(1,?)">, !cute.int_tuple<"(2,3)">) -> !cute.int_tuple<"(3,?)">
    ```
  }];
}

def Cute_TupleSubOp : Cute_FunctionOp<"tuple_sub", (ins Cute_Number:$lhs, Cute_Number:$rhs),
                                      (outs Cute_Number:$result)> {
  let summary = "Difference, leaf by leaf";
  let description = [{
    `(a - b, A - B, ...)`. What only one operand has, because it is of higher rank, stays as it is, also when
    it is the second; the number 0 may be subtracted from a tuple.

    Refused: another number with a tuple, a number and a tuple at one place, a difference beyond 64 bits.

    ```mlir
    %r = cute.tuple_sub(%a, %b) : (!cute.int_tuple<"(3,?)">, !cute.int_tuple<"(2,3)">) -> !cute.int_tuple<"(1,?)">
    ```
  }];
}

def Cute_ShapeDivOp : Cute_DivideOp<"shape_div"> {
  let summary = "A shape divided, mode after mode";
  let description = [{
    `s / t`, at least 1 in magnitude, where one divides the other. Mode by mode for a tuple; a number is used
    up from the left: `(s, S) / t = (s / t, S / (t / s))`. Of unknown leaves the division is not checked when
    the program runs.

    Refused: known numbers of which neither divides the other, a divisor of 0, tuples of different rank. See
    `shape_div` of CuTe's int_tuple.hpp.

    ```mlir
    %r = cute.shape_div(%a, %b) : (!cute.shape<"(8,10)">, !cute.shape<"(2,5)">) -> !cute.shape<"(4,2)">
    ```
  }];
  let arguments = (ins Cute_ShapeType:$a, Cute_ShapeType:$b);
  let results = (outs Cute_ShapeType:$result);
}

def Cute_CeilDivOp : Cute_DivideOp<"ceil_div"> {
  let summary = "How many tiles cover a shape";
  let description = [{
    `(s + t - 1) / t`. Mode by mode for a tuple, modes without a tiler stay; a number is used up from the
    left: `(s, S) / t = (ceil(s / t), ceil(S / ceil(t / s)))`. A tile divides by the sizes of its layouts.

    Refused: a tiler of 0, of higher rank than the shape, or with a `_`.

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
  let summary = "Each leaf less than the other's";
  let description = [{
    `a_0 < b_0 && a_1 < b_1 && ...`: the test of a coordinate against its bounds. Each operand may be an
    int_tuple, a shape or a coord. Known pairs are folded: one that fails makes the result false.

    Refused: operands that are not congruent, and `_`. See CuTe's 0y_predication.md.

    ```mlir
    %in = cute.elem_less(%c, %s) : (!cute.coord<"(?,?)">, !cute.shape<"(?,64)">) -> i1
    ```
  }];
}

def Cute_EqualOp : Cute_CompareOp<"equal", Cute_Equatable> {
  let summary = "Each leaf equal to the other's";
  let description = [{
    Both operands are of one type. Values of different structure are not equal, whatever their leaves are;
    basis vectors are equal when scale and modes are.

    Refused: operands of different types, tiles, swizzles and composed layouts.

    ```mlir
    %same = cute.equal(%a, %b) : (!cute.shape<"(?,4)">, !cute.shape<"(8,4)">) -> i1
    ```
  }];
}

#endif
