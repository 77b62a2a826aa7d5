// Operations from layouts to layouts: the algebra, products and divides; printing.
#ifndef CUTE_IR_LAYOUT_OPS_TD
#define CUTE_IR_LAYOUT_OPS_TD

include "lib/ir/dialects/cute_ops.td"

// ---- the algebra of layouts ----
def Cute_CompositionOp : Cute_DivideOp<"composition"> {
  let summary = "`R(i) = A(B(i))` on the domain of B";
  let description = [{
    The layout with `R(c) = A(B(c))` for each coordinate of B, of B's profile, refined where a mode of B
    crosses modes of A; the last mode of A counts as unbounded. A shape or tile composes mode by mode, and `_`
    takes a mode of A whole. Basis strides of B pick modes of A. Of a composed A the composition is with its
    B.

    Refused: where no layout is that function, decided by the divisibility of extents and strides and for
    small layouts by trial; the message names the mode, the stride and the divisor. With unknown leaves what
    can be known is checked. See CuTe's 02_layout_algebra.md, Composition, and Cecka.

    ```mlir
    %r = cute.composition(%a, %b) : (!cute.layout<"(4,8):(8,1)">, !cute.layout<"8:2">) -> !cute.layout<"(2,4):(16,1)">
    ```
  }];
  let arguments = (ins Cute_LaidOut:$lhs, Cute_Tiler:$rhs);
  let results = (outs Cute_LaidOut:$result);
}

def Cute_CoalesceOp : Cute_InferOp<"coalesce"> {
  let summary = "The same function in fewer modes";
  let description = [{
    Neighbours with `d_{i+1} = s_i * d_i` become one mode and modes of extent 1 go, so that `R(i) = L(i)` for
    each index i. Unknown neighbours stay apart. With a profile this happens within each of its leaves (`(1,
    1)`: by mode), and modes that it does not have stay. Of a composed layout: of B.

    Refused: a profile of higher rank than the layout. See CuTe's 02_layout_algebra.md, Coalesce.

    ```mlir
    %r = cute.coalesce(%l) : (!cute.layout<"(2,(1,6)):(1,(7,2))">) -> !cute.layout<"12:1">
    ```
  }];
  let arguments = (ins Cute_LaidOut:$input, Optional<Cute_CoordType>:$target_profile);
  let results = (outs Cute_LaidOut:$result);
}

def Cute_FilterOp : Cute_InferOp<"filter"> {
  let summary = "A layout without what repeats";
  let description = [{
    Modes of stride 0 and extent 1 go, the rest is coalesced: a layout of as many elements as there are different
    indices. With a profile this happens within each of its leaves. See `filter` of CuTe's layout.hpp.

    ```mlir
    %r = cute.filter(%l) : (!cute.layout<"(2,(4,8)):(0,(1,4))">) -> !cute.layout<"32:1">
    ```
  }];
  let arguments = (ins Cute_LaidOut:$input, Optional<Cute_CoordType>:$target_profile);
  let results = (outs Cute_LaidOut:$result);
}

def Cute_FlattenOp : Cute_FunctionOp<"flatten", (ins Cute_Indexable:$input), (outs Cute_Indexable:$result)> {
  let summary = "All leaves at the top level";
  let description = [{
    The leaves depth first as one tuple; a scalar stays a scalar. The function of linear indices is the same.
    Of a tile its layouts stay whole; of a composed layout B is flattened.

    ```mlir
    %r = cute.flatten(%l) : (!cute.layout<"(2,(3,4)):(1,(2,6))">) -> !cute.layout<"(2,3,4):(1,2,6)">
    ```
  }];
}

def Cute_ComplementOp : Cute_DivideOp<"complement"> {
  let summary = "What a layout leaves out";
  let description = [{
    The layout whose indices, added to those of L, reach each index below the cotarget's size once: `(L, L*)`
    is injective, and L* ascends. Sorted by stride, a mode `s:d` of L leaves `d / covered` copies below d, and
    `s * d` is covered then. The size is rounded up to whole blocks. Without a cotarget the result is open:
    its last mode has extent 1.

    Refused: overlapping modes (the message names the one that lies inside what is covered), basis strides
    with a cotarget, more than one mode with unknown strides. See CuTe's 02_layout_algebra.md, Complement.

    ```mlir
    %r = cute.complement(%l, %s) : (!cute.layout<"4:1">, !cute.shape<"24">) -> !cute.layout<"6:4">
    ```
  }];
  let arguments = (ins Cute_LayoutType:$input,
                   Optional<AnyTypeOf<[Cute_LayoutType, Cute_ShapeType], "!cute.layout or !cute.shape">>:$cotarget);
  let results = (outs Cute_LayoutType:$result);
}

def Cute_GroupModesOp : Cute_InferOp<"group_modes"> {
  let summary = "Modes `[begin, end)` as one";
  let description = [{
    `(x_0, ..., (x_begin, ..., x_{end-1}), ..., x_n)`. The function of linear indices is the same. Of a
    composed layout: of B.

    Refused: unless `0 <= begin < end <= rank`.

    ```mlir
    %r = cute.group_modes<1, 3>(%l) : (!cute.layout<"(2,3,4):(1,2,6)">) -> !cute.layout<"(2,(3,4)):(1,(2,6))">
    ```
  }];
  let arguments = (ins Cute_LaidOut:$input, I32Attr:$begin, I32Attr:$end);
  let results = (outs Cute_LaidOut:$result);
}

def Cute_RecastLayoutOp : Cute_InferOp<"recast_layout"> {
  let summary = "A layout in elements of another width";
  let description = [{
    `<new_bits, old_bits>`: the same bits addressed in other units. By the quotient n of the two: a wider
    element takes n old ones along the mode of stride 1, which is 1/n as long, other strides are 1/n as large;
    a narrower one splits each, the mode of stride 1 is n times as long, other strides n times as large. Of a
    composed layout each part is scaled, a swizzle by moving its base.

    Refused: strides that n does not divide, modes that overlap or count down inside a new element, an offset
    that is not a known multiple, a swizzle of smaller parts, basis strides. See `recast_layout` of CuTe's
    layout.hpp.

    ```mlir
    %r = cute.recast_layout<16, 8>(%l) : !cute.layout<"(8,4):(1,8)"> -> !cute.layout<"(4,4):(1,4)">
    ```
  }];
  let arguments = (ins I32Attr:$new_type_bits, I32Attr:$old_type_bits, Cute_LaidOut:$src);
  let results = (outs Cute_LaidOut:$dst);
}

def Cute_SliceOp : Cute_InferOp<"slice"> {
  let summary = "The modes that a coordinate leaves open (`_`)";
  let description = [{
    The coordinate is weakly congruent to the shape; where it has numbers, nothing stays of the mode (of a
    layout: its stride is left for an offset to be taken by `cute.layout_eval`). `_` alone gives the whole
    value; results of nested coordinates follow one another. Of `A o offset o B` the fixed modes move into the
    offset; a swizzled layout becomes a plain one where the swizzle acts on what stays like strides.

    Refused: a coordinate of another structure; a swizzled layout with unknown leaves in B, without a `_`, or
    with modes that share bits with what is fixed, where the slice is no layout. See CuTe's 03_tensor.md,
    Slicing.

    ```mlir
    %r = cute.slice(%l, %c) : !cute.layout<"(4,8):(8,1)">, !cute.coord<"(_,?)">
    ```
  }];
  let arguments = (ins Cute_Sliceable:$input, Cute_CoordType:$coord);
  let results = (outs Cute_Sliceable:$result);
}

def Cute_DiceOp : Cute_InferOp<"dice"> {
  let summary = "The modes that a coordinate fixes (no `_`)";
  let description = [{
    The reverse of `cute.slice`: of a layout, the modes along which a slice moves. Of a composed layout: those
    of B.

    Refused: a coordinate of another structure, or with unknown leaves.

    ```mlir
    %r = cute.dice(%l, %c) : !cute.layout<"(4,8):(8,1)">, !cute.coord<"(_,0)">
    ```
  }];
  let arguments = (ins Cute_Sliceable:$input, Optional<Cute_CoordType>:$profile, OptionalAttr<Cute_CoordAttr>:$coord);
  let results = (outs Cute_Sliceable:$result);
}

def Cute_RightInverseOp : Cute_FunctionOp<"right_inverse", (ins Cute_LayoutType:$input), (outs Cute_LayoutType:$result)> {
  let summary = "R with `L(R(i)) = i`";
  let description = [{
    `L(R(i)) = i` for each i below R's size, as large as L is contiguous: from 0 without a gap. Modes of
    unknown stride end it. With basis strides one inverse for each mode of the codomain.

    Refused: unknown extents. See `right_inverse` of CuTe's layout.hpp.

    ```mlir
    %r = cute.right_inverse(%l) : (!cute.layout<"(4,8):(8,1)">) -> !cute.layout<"(8,4):(4,1)">
    ```
  }];
}

def Cute_LeftInverseOp : Cute_FunctionOp<"left_inverse", (ins Cute_LayoutType:$input), (outs Cute_LayoutType:$result)> {
  let summary = "R with `R(L(i)) = i`, of an injective L";
  let description = [{
    `R(L(c)) = c` as an index, of an injective L; indices that L leaves out get some value. Of a layout that
    is not injective the result is a layout for which this cannot hold.

    Refused: unknown extents and strides, strides that do not divide one another. See `left_inverse` of CuTe's
    layout.hpp.

    ```mlir
    %r = cute.left_inverse(%l) : (!cute.layout<"(4,8):(8,1)">) -> !cute.layout<"(8,4):(4,1)">
    ```
  }];
}
// ---- products and divides ----
def Cute_LogicalProductOp : Cute_DividingFunctionOp<"logical_product", (ins Cute_AnyLayout:$lhs, Cute_LayoutType:$rhs),
    (outs Cute_AnyLayout:$result)> {
  let summary = "Layout A repeated in the pattern of B";
  let description = [{
    `(A, A* o B)` where `A*` is the complement of A: mode 0 is the block, mode 1 runs over its copies in the
    order of B. Of a composed A the product is with its B.

    Refused: an A with unknown leaves or without a complement, a B with basis strides, basis strides in A with
    an unknown B. See CuTe's 02_layout_algebra.md, Product.

    ```mlir
    %r = cute.logical_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">)
        -> !cute.layout<"((3,4),(2,5)):((4,1),(12,24))">
    ```
  }];
}

def Cute_ZippedProductOp : Cute_DividingFunctionOp<"zipped_product", (ins Cute_AnyLayout:$lhs, Cute_LayoutType:$rhs),
    (outs Cute_AnyLayout:$result)> {
  let summary = "The product as (block, copies)";
  let description = [{
    `((A_0, A_1, ...), (B_0, B_1, ...))`: for a layout B the same as `cute.logical_product`.

    Refused: an A with unknown leaves or without a complement, a B with basis strides, basis strides in A with
    an unknown B. See CuTe's 02_layout_algebra.md, Product.

    ```mlir
    %r = cute.zipped_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">)
        -> !cute.layout<"((3,4),(2,5)):((4,1),(12,24))">
    ```
  }];
}

def Cute_TiledProductOp : Cute_DividingFunctionOp<"tiled_product", (ins Cute_AnyLayout:$lhs, Cute_LayoutType:$rhs),
    (outs Cute_AnyLayout:$result)> {
  let summary = "The product with the copies flat";
  let description = [{
    `((A_0, A_1, ...), B_0, B_1, ...)`: `cute.logical_product` with the modes of the copies at top level.

    Refused: an A with unknown leaves or without a complement, a B with basis strides, basis strides in A with
    an unknown B. See CuTe's 02_layout_algebra.md, Product.

    ```mlir
    %r = cute.tiled_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">)
        -> !cute.layout<"((3,4),2,5):((4,1),12,24)">
    ```
  }];
}

def Cute_FlatProductOp : Cute_DividingFunctionOp<"flat_product", (ins Cute_AnyLayout:$lhs, Cute_LayoutType:$rhs),
    (outs Cute_AnyLayout:$result)> {
  let summary = "The product with all modes flat";
  let description = [{
    `(A_0, A_1, ..., B_0, B_1, ...)`: `cute.logical_product` with all modes at top level.

    Refused: an A with unknown leaves or without a complement, a B with basis strides, basis strides in A with
    an unknown B. See CuTe's 02_layout_algebra.md, Product.

    ```mlir
    %r = cute.flat_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">)
        -> !cute.layout<"(3,4,2,5):(4,1,12,24)">
    ```
  }];
}

def Cute_RakedProductOp : Cute_DividingFunctionOp<"raked_product", (ins Cute_AnyLayout:$lhs, Cute_LayoutType:$rhs),
    (outs Cute_AnyLayout:$result)> {
  let summary = "The product interleaved";
  let description = [{
    `((B_0, A_0), (B_1, A_1), ...)`: in each mode copies alternate (cyclic distribution). The operand of lower
    rank gets modes of extent 1.

    Refused: an A with unknown leaves or without a complement, a B with basis strides, basis strides in A with
    an unknown B. See CuTe's 02_layout_algebra.md, Product.

    ```mlir
    %r = cute.raked_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">)
        -> !cute.layout<"((2,3),(5,4)):((12,4),(24,1))">
    ```
  }];
}

def Cute_BlockedProductOp : Cute_DividingFunctionOp<"blocked_product", (ins Cute_AnyLayout:$lhs, Cute_LayoutType:$rhs),
    (outs Cute_AnyLayout:$result)> {
  let summary = "The product in blocks";
  let description = [{
    `((A_0, B_0), (A_1, B_1), ...)`: in each mode copies lie side by side (block distribution). The operand of
    lower rank gets modes of extent 1.

    Refused: an A with unknown leaves or without a complement, a B with basis strides, basis strides in A with
    an unknown B. See CuTe's 02_layout_algebra.md, Product.

    ```mlir
    %r = cute.blocked_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">)
        -> !cute.layout<"((3,2),(4,5)):((4,12),(1,24))">
    ```
  }];
}

def Cute_LogicalDivideOp : Cute_DividingFunctionOp<"logical_divide", (ins Cute_LaidOut:$input, Cute_Tiler:$tiler),
    (outs Cute_LaidOut:$result)> {
  let summary = "A layout as tiles and the rest";
  let description = [{
    `A o (B, B*)` where `B*` is the complement of B in A: mode 0 is what B picks, mode 1 runs over what is
    left. A shape or tile divides mode by mode, `((tile_0, rest_0), (tile_1, rest_1), ...)`, `_` leaves a mode
    whole, and so do modes without a tiler. The rest is rounded up: its last tile may reach past the end. Of a
    composed A its B is divided.

    Refused: a tiler of higher rank than A; a tiler of several modes with unknown strides, or without a
    complement; where the composition is no layout. See CuTe's 02_layout_algebra.md, Division.

    ```mlir
    %r = cute.logical_divide(%l, %t) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3,4)">)
        -> !cute.layout<"((3,2),(4,2)):((8,24),(1,4))">
    ```
  }];
}

def Cute_ZippedDivideOp : Cute_DividingFunctionOp<"zipped_divide", (ins Cute_LaidOut:$input, Cute_Tiler:$tiler),
    (outs Cute_LaidOut:$result)> {
  let summary = "The divide as (tile, rest)";
  let description = [{
    `((tile_0, tile_1, ...), (rest_0, rest_1, ...))`: mode 0 is one tile, mode 1 runs over the tiles.

    Refused: a tiler of higher rank than A; a tiler of several modes with unknown strides, or without a
    complement; where the composition is no layout. See CuTe's 02_layout_algebra.md, Division.

    ```mlir
    %r = cute.zipped_divide(%l, %t) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3,4)">)
        -> !cute.layout<"((3,4),(2,2)):((8,1),(24,4))">
    ```
  }];
}

def Cute_TiledDivideOp : Cute_DividingFunctionOp<"tiled_divide", (ins Cute_LaidOut:$input, Cute_Tiler:$tiler),
    (outs Cute_LaidOut:$result)> {
  let summary = "The divide with the rest flat";
  let description = [{
    `((tile_0, tile_1, ...), rest_0, rest_1, ...)`.

    Refused: a tiler of higher rank than A; a tiler of several modes with unknown strides, or without a
    complement; where the composition is no layout. See CuTe's 02_layout_algebra.md, Division.

    ```mlir
    %r = cute.tiled_divide(%l, %t) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3,4)">)
        -> !cute.layout<"((3,4),2,2):((8,1),24,4)">
    ```
  }];
}

def Cute_FlatDivideOp : Cute_DividingFunctionOp<"flat_divide", (ins Cute_LaidOut:$input, Cute_Tiler:$tiler),
    (outs Cute_LaidOut:$result)> {
  let summary = "The divide with all modes flat";
  let description = [{
    `(tile_0, tile_1, ..., rest_0, rest_1, ...)`.

    Refused: a tiler of higher rank than A; a tiler of several modes with unknown strides, or without a
    complement; where the composition is no layout. See CuTe's 02_layout_algebra.md, Division.

    ```mlir
    %r = cute.flat_divide(%l, %t) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3,4)">)
        -> !cute.layout<"(3,4,2,2):(8,1,24,4)">
    ```
  }];
}

def Cute_TileToShapeOp : Cute_InferOp<"tile_to_shape"> {
  let summary = "A block repeated until it fills a shape";
  let description = [{
    `blocked_product(block, copies)` with `ceil(shape / block)` copies in each mode, so that the last may
    reach past the shape. The order is a permutation: in which mode copies come first; without one, the first.
    A block of lower rank gets modes of extent 1.

    Refused: a block of higher rank or without a complement, an order that is no permutation of the modes.

    ```mlir
    %r = cute.tile_to_shape(%l, %s) : (!cute.layout<"(2,2):(1,2)">, !cute.shape<"(4,6)">)
        -> !cute.layout<"((2,2),(2,3)):((1,4),(2,8))">
    ```
  }];
  let arguments = (ins Cute_LaidOut:$input, Cute_ShapeType:$shape, Optional<Cute_IntTupleType>:$order);
  let results = (outs Cute_LaidOut:$result);
}
// ---- debugging ----
def Cute_PrintOp : Cute_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "Prints values where the program runs";
  let description = [{
    To the standard output, in the notation of types, unknown leaves with their values: by
    `gpu.printf` in a gpu.module or gpu.launch, by a call of `printf` on the host. A format has a `{}` for each value; without
    one each value has a line.

    Refused: more or fewer values than `{}`.

    ```mlir
    cute.print(%l) : !cute.layout<"(?,3):(1,?)">
    ```
  }];
  let arguments = (ins Variadic<Cute_Printable>:$values, OptionalAttr<StrAttr>:$fmt);
}

def Cute_PrintViewOp : Cute_Op<"print_view", [MemoryEffects<[MemWrite]>]> {
  let summary = "Prints where a tensor is, and its layout";
  let description = [{
    As `cute.print` of the tensor; `verbose` and `is_signed` are kept and say nothing more.

    ```mlir
    cute.print_view(%t) : !cute.memref<f32, gmem, "(4,2):(2,1)">
    ```
  }];
  let arguments = (ins Cute_Tensor:$tensor, OptionalAttr<BoolAttr>:$verbose, OptionalAttr<BoolAttr>:$is_signed);
}

#endif
