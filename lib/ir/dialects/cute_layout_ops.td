// Layout algebra: composition, complement, products, divides; printing.
#ifndef CUTE_IR_LAYOUT_OPS_TD
#define CUTE_IR_LAYOUT_OPS_TD

include "lib/ir/dialects/cute_ops.td"

// ---- the algebra of layouts ----
def Cute_CompositionOp : Cute_DivideOp<"composition"> {
  let summary = "Composes layouts: `R(c) = A(B(c))`";
  let description = [{
    The result has the profile of B, refined where a mode of B crosses modes of A; the last mode of A counts
    as unbounded. A shape or tile composes mode by mode, and `_` keeps a whole mode of A. Basis strides of B
    select modes of A. A composed A is composed through its B.

    Errors: the composition is not a layout, as determined by the divisibility of extents and strides and, for
    small layouts, by exhaustive evaluation; the message names the mode, the stride and the divisor. Dynamic
    leaves are checked as far as they are known. See CuTe's 02_layout_algebra.md, Composition, and Cecka.

    ```mlir
    %r = cute.composition(%a, %b) : (!cute.layout<"(4,8):(8,1)">, !cute.layout<"8:2">) -> !cute.layout<"(2,4):(16,1)">
    ```
  }];
  let arguments = (ins Cute_LaidOut:$lhs, Cute_Tiler:$rhs);
  let results = (outs Cute_LaidOut:$result);
}

def Cute_CoalesceOp : Cute_InferOp<"coalesce"> {
  let summary = "Simplifies a layout to fewer modes";
  let description = [{
    Merges adjacent modes with `d_{i+1} = s_i * d_i` and drops modes of extent 1, so that `R(i) = L(i)` for
    each index i. Modes that are not known to merge remain separate. With a profile, each of its leaves is
    coalesced separately (`(1, 1)`: by mode), and modes beyond the profile are kept. For a composed layout, B
    is coalesced.

    Errors: a profile of higher rank than the layout. See CuTe's 02_layout_algebra.md, Coalesce.

    ```mlir
    %r = cute.coalesce(%l) : (!cute.layout<"(2,(1,6)):(1,(7,2))">) -> !cute.layout<"12:1">
    ```
  }];
  let arguments = (ins Cute_LaidOut:$input, Optional<Cute_CoordType>:$target_profile);
  let results = (outs Cute_LaidOut:$result);
}

def Cute_FilterOp : Cute_InferOp<"filter"> {
  let summary = "Removes broadcast modes from a layout";
  let description = [{
    Drops modes of stride 0 and of extent 1 and coalesces the rest; the size of the result is the number of
    distinct indices. With a profile, each of its leaves is filtered separately. See `filter` of CuTe's
    layout.hpp.

    ```mlir
    %r = cute.filter(%l) : (!cute.layout<"(2,(4,8)):(0,(1,4))">) -> !cute.layout<"32:1">
    ```
  }];
  let arguments = (ins Cute_LaidOut:$input, Optional<Cute_CoordType>:$target_profile);
  let results = (outs Cute_LaidOut:$result);
}

def Cute_FlattenOp : Cute_FunctionOp<"flatten", (ins Cute_Indexable:$input), (outs Cute_Indexable:$result)> {
  let summary = "Flattens the hierarchy to one level";
  let description = [{
    The leaves as one tuple, depth first; a scalar remains a scalar. The function of linear indices is
    unchanged. The layouts of a tile remain whole; for a composed layout, B is flattened.

    ```mlir
    %r = cute.flatten(%l) : (!cute.layout<"(2,(3,4)):(1,(2,6))">) -> !cute.layout<"(2,3,4):(1,2,6)">
    ```
  }];
}

def Cute_ComplementOp : Cute_DivideOp<"complement"> {
  let summary = "Returns the complement of a layout";
  let description = [{
    The layout L* whose indices, added to those of L, reach each index below the size of the cotarget exactly
    once: `(L, L*)` is injective, and L* is ascending. With the modes of L sorted by stride, a mode `s:d`
    leaves `d / covered` copies below d, after which `s * d` is covered. The size is rounded up to whole
    blocks. Without a cotarget the last mode of the result has extent 1.

    Errors: overlapping modes (the message names the one within the covered range), basis strides with a
    cotarget, more than one mode with dynamic strides. See CuTe's 02_layout_algebra.md, Complement.

    ```mlir
    %r = cute.complement(%l, %s) : (!cute.layout<"4:1">, !cute.shape<"24">) -> !cute.layout<"6:4">
    ```
  }];
  let arguments = (ins Cute_LayoutType:$input,
                   Optional<AnyTypeOf<[Cute_LayoutType, Cute_ShapeType], "!cute.layout or !cute.shape">>:$cotarget);
  let results = (outs Cute_LayoutType:$result);
}

def Cute_GroupModesOp : Cute_InferOp<"group_modes"> {
  let summary = "Groups modes `[begin, end)` into one";
  let description = [{
    `(x_0, ..., (x_begin, ..., x_{end-1}), ..., x_n)`. The function of linear indices is unchanged. For a
    composed layout, modes of B.

    Errors: unless `0 <= begin < end <= rank`.

    ```mlir
    %r = cute.group_modes<1, 3>(%l) : (!cute.layout<"(2,3,4):(1,2,6)">) -> !cute.layout<"(2,(3,4)):(1,(2,6))">
    ```
  }];
  let arguments = (ins Cute_LaidOut:$input, I32Attr:$begin, I32Attr:$end);
  let results = (outs Cute_LaidOut:$result);
}

def Cute_RecastLayoutOp : Cute_InferOp<"recast_layout"> {
  let summary = "Converts a layout to elements of another width";
  let description = [{
    `<new_bits, old_bits>`: the same bits addressed in other units. Let n be the ratio of the widths. A wider
    element covers n old ones along the mode of stride 1, whose extent is divided by n, as are all other
    strides. For a narrower element, the extent of the mode of stride 1 and all other strides are multiplied
    by n. Each part of a composed layout is scaled; a swizzle by shifting its base.

    Errors: strides not divisible by n, modes that overlap or have negative strides within a new element, an
    offset without a known divisor of n, a swizzle of smaller units, basis strides. See `recast_layout` of
    CuTe's layout.hpp.

    ```mlir
    %r = cute.recast_layout<16, 8>(%l) : !cute.layout<"(8,4):(1,8)"> -> !cute.layout<"(4,4):(1,4)">
    ```
  }];
  let arguments = (ins I32Attr:$new_type_bits, I32Attr:$old_type_bits, Cute_LaidOut:$src);
  let results = (outs Cute_LaidOut:$dst);
}

def Cute_SliceOp : Cute_InferOp<"slice"> {
  let summary = "Keeps the modes that a coordinate leaves free (`_`)";
  let description = [{
    The coordinate is weakly congruent to the shape. Modes with an integer coordinate are dropped (their
    offset is `cute.layout_eval` of the coordinate). `_` alone returns the whole value; results of nested
    coordinates are concatenated. For `A o offset o B`, fixed modes are folded into the offset; a swizzled
    layout becomes a plain layout if the swizzle acts on the remaining modes like strides.

    Errors: a coordinate that is not weakly congruent; a swizzled layout with dynamic leaves in B, without a
    `_`, or with modes that share bits with fixed ones, so that the slice is not a layout. See CuTe's
    03_tensor.md, Slicing.

    ```mlir
    %r = cute.slice(%l, %c) : !cute.layout<"(4,8):(8,1)">, !cute.coord<"(_,?)">
    ```
  }];
  let arguments = (ins Cute_Sliceable:$input, Cute_CoordType:$coord);
  let results = (outs Cute_Sliceable:$result);
}

def Cute_DiceOp : Cute_InferOp<"dice"> {
  let summary = "Keeps the modes that a coordinate fixes (no `_`)";
  let description = [{
    The opposite of `cute.slice`: the modes along which a slice moves. For a composed layout, those of B.

    Errors: a coordinate that is not weakly congruent, or has dynamic leaves.

    ```mlir
    %r = cute.dice(%l, %c) : !cute.layout<"(4,8):(8,1)">, !cute.coord<"(_,0)">
    ```
  }];
  let arguments = (ins Cute_Sliceable:$input, Optional<Cute_CoordType>:$profile, OptionalAttr<Cute_CoordAttr>:$coord);
  let results = (outs Cute_Sliceable:$result);
}

def Cute_RightInverseOp : Cute_FunctionOp<"right_inverse", (ins Cute_LayoutType:$input), (outs Cute_LayoutType:$result)> {
  let summary = "Returns R with `L(R(i)) = i`";
  let description = [{
    `L(R(i)) = i` for each i below the size of R, which is the extent of the contiguous range of L from 0. A
    mode of dynamic stride ends that range. Basis strides have one inverse per mode of the codomain.

    Errors: dynamic extents. See `right_inverse` of CuTe's layout.hpp.

    ```mlir
    %r = cute.right_inverse(%l) : (!cute.layout<"(4,8):(8,1)">) -> !cute.layout<"(8,4):(4,1)">
    ```
  }];
}

def Cute_LeftInverseOp : Cute_FunctionOp<"left_inverse", (ins Cute_LayoutType:$input), (outs Cute_LayoutType:$result)> {
  let summary = "Returns R with `R(L(i)) = i` for an injective L";
  let description = [{
    `R(L(c)) = c` as an index; the value at indices outside the image of L is unspecified. If L is not
    injective, the result is a layout without this property.

    Errors: dynamic extents or strides, strides that do not divide one another. See `left_inverse` of CuTe's
    layout.hpp.

    ```mlir
    %r = cute.left_inverse(%l) : (!cute.layout<"(4,8):(8,1)">) -> !cute.layout<"(8,4):(4,1)">
    ```
  }];
}
// ---- products and divides ----
def Cute_LogicalProductOp : Cute_DividingFunctionOp<"logical_product", (ins Cute_AnyLayout:$lhs, Cute_LayoutType:$rhs),
    (outs Cute_AnyLayout:$result)> {
  let summary = "Repeats layout A in the arrangement of B";
  let description = [{
    `(A, A* o B)` where `A*` is the complement of A: mode 0 is the block, mode 1 iterates over its copies in
    the order of B. A composed A is multiplied through its B.

    Errors: an A with dynamic leaves or without a complement, a B with basis strides, basis strides in A with
    a dynamic B. See CuTe's 02_layout_algebra.md, Product.

    ```mlir
    %r = cute.logical_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">)
        -> !cute.layout<"((3,4),(2,5)):((4,1),(12,24))">
    ```
  }];
}

def Cute_ZippedProductOp : Cute_DividingFunctionOp<"zipped_product", (ins Cute_AnyLayout:$lhs, Cute_LayoutType:$rhs),
    (outs Cute_AnyLayout:$result)> {
  let summary = "Logical product as (block, copies)";
  let description = [{
    `((A_0, A_1, ...), (B_0, B_1, ...))`; for a layout B the same as `cute.logical_product`.

    Errors: an A with dynamic leaves or without a complement, a B with basis strides, basis strides in A with
    a dynamic B. See CuTe's 02_layout_algebra.md, Product.

    ```mlir
    %r = cute.zipped_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">)
        -> !cute.layout<"((3,4),(2,5)):((4,1),(12,24))">
    ```
  }];
}

def Cute_TiledProductOp : Cute_DividingFunctionOp<"tiled_product", (ins Cute_AnyLayout:$lhs, Cute_LayoutType:$rhs),
    (outs Cute_AnyLayout:$result)> {
  let summary = "Logical product with the modes of the copies at the top level";
  let description = [{
    `((A_0, A_1, ...), B_0, B_1, ...)`.

    Errors: an A with dynamic leaves or without a complement, a B with basis strides, basis strides in A with
    a dynamic B. See CuTe's 02_layout_algebra.md, Product.

    ```mlir
    %r = cute.tiled_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">)
        -> !cute.layout<"((3,4),2,5):((4,1),12,24)">
    ```
  }];
}

def Cute_FlatProductOp : Cute_DividingFunctionOp<"flat_product", (ins Cute_AnyLayout:$lhs, Cute_LayoutType:$rhs),
    (outs Cute_AnyLayout:$result)> {
  let summary = "Logical product with all modes at the top level";
  let description = [{
    `(A_0, A_1, ..., B_0, B_1, ...)`.

    Errors: an A with dynamic leaves or without a complement, a B with basis strides, basis strides in A with
    a dynamic B. See CuTe's 02_layout_algebra.md, Product.

    ```mlir
    %r = cute.flat_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">)
        -> !cute.layout<"(3,4,2,5):(4,1,12,24)">
    ```
  }];
}

def Cute_RakedProductOp : Cute_DividingFunctionOp<"raked_product", (ins Cute_AnyLayout:$lhs, Cute_LayoutType:$rhs),
    (outs Cute_AnyLayout:$result)> {
  let summary = "Logical product with interleaved (cyclic) copies";
  let description = [{
    `((B_0, A_0), (B_1, A_1), ...)`: copies alternate in each mode. The operand of lower rank is padded with
    modes of extent 1.

    Errors: an A with dynamic leaves or without a complement, a B with basis strides, basis strides in A with
    a dynamic B. See CuTe's 02_layout_algebra.md, Product.

    ```mlir
    %r = cute.raked_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">)
        -> !cute.layout<"((2,3),(5,4)):((12,4),(24,1))">
    ```
  }];
}

def Cute_BlockedProductOp : Cute_DividingFunctionOp<"blocked_product", (ins Cute_AnyLayout:$lhs, Cute_LayoutType:$rhs),
    (outs Cute_AnyLayout:$result)> {
  let summary = "Logical product with contiguous (blocked) copies";
  let description = [{
    `((A_0, B_0), (A_1, B_1), ...)`: copies follow one another in each mode. The operand of lower rank is
    padded with modes of extent 1.

    Errors: an A with dynamic leaves or without a complement, a B with basis strides, basis strides in A with
    a dynamic B. See CuTe's 02_layout_algebra.md, Product.

    ```mlir
    %r = cute.blocked_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">)
        -> !cute.layout<"((3,2),(4,5)):((4,12),(1,24))">
    ```
  }];
}

def Cute_LogicalDivideOp : Cute_DividingFunctionOp<"logical_divide", (ins Cute_LaidOut:$input, Cute_Tiler:$tiler),
    (outs Cute_LaidOut:$result)> {
  let summary = "Divides a layout into tiles and a rest";
  let description = [{
    `A o (B, B*)` where `B*` is the complement of B in A: mode 0 is the tile selected by B, mode 1 iterates
    over the tiles. A shape or tile divides mode by mode, `((tile_0, rest_0), (tile_1, rest_1), ...)`; `_`
    keeps a mode whole, as do modes without a tiler. The rest is rounded up: the last tile may extend past the
    end. A composed A is divided through its B.

    Errors: a tiler of higher rank than A; a tiler of several modes with dynamic strides, or without a
    complement; a composition that is not a layout. See CuTe's 02_layout_algebra.md, Division.

    ```mlir
    %r = cute.logical_divide(%l, %t) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3,4)">)
        -> !cute.layout<"((3,2),(4,2)):((8,24),(1,4))">
    ```
  }];
}

def Cute_ZippedDivideOp : Cute_DividingFunctionOp<"zipped_divide", (ins Cute_LaidOut:$input, Cute_Tiler:$tiler),
    (outs Cute_LaidOut:$result)> {
  let summary = "Logical divide as (tile, rest)";
  let description = [{
    `((tile_0, tile_1, ...), (rest_0, rest_1, ...))`: mode 0 is one tile, mode 1 iterates over the tiles.

    Errors: a tiler of higher rank than A; a tiler of several modes with dynamic strides, or without a
    complement; a composition that is not a layout. See CuTe's 02_layout_algebra.md, Division.

    ```mlir
    %r = cute.zipped_divide(%l, %t) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3,4)">)
        -> !cute.layout<"((3,4),(2,2)):((8,1),(24,4))">
    ```
  }];
}

def Cute_TiledDivideOp : Cute_DividingFunctionOp<"tiled_divide", (ins Cute_LaidOut:$input, Cute_Tiler:$tiler),
    (outs Cute_LaidOut:$result)> {
  let summary = "Logical divide with the modes of the rest at the top level";
  let description = [{
    `((tile_0, tile_1, ...), rest_0, rest_1, ...)`.

    Errors: a tiler of higher rank than A; a tiler of several modes with dynamic strides, or without a
    complement; a composition that is not a layout. See CuTe's 02_layout_algebra.md, Division.

    ```mlir
    %r = cute.tiled_divide(%l, %t) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3,4)">)
        -> !cute.layout<"((3,4),2,2):((8,1),24,4)">
    ```
  }];
}

def Cute_FlatDivideOp : Cute_DividingFunctionOp<"flat_divide", (ins Cute_LaidOut:$input, Cute_Tiler:$tiler),
    (outs Cute_LaidOut:$result)> {
  let summary = "Logical divide with all modes at the top level";
  let description = [{
    `(tile_0, tile_1, ..., rest_0, rest_1, ...)`.

    Errors: a tiler of higher rank than A; a tiler of several modes with dynamic strides, or without a
    complement; a composition that is not a layout. See CuTe's 02_layout_algebra.md, Division.

    ```mlir
    %r = cute.flat_divide(%l, %t) : (!cute.layout<"(6,8):(8,1)">, !cute.shape<"(3,4)">)
        -> !cute.layout<"(3,4,2,2):(8,1,24,4)">
    ```
  }];
}

def Cute_TileToShapeOp : Cute_InferOp<"tile_to_shape"> {
  let summary = "Repeats a block to fill a shape";
  let description = [{
    `blocked_product(block, copies)` with `ceil(shape / block)` copies per mode, so that the last copy may
    extend past the shape. `order` is a permutation of the modes: the copies are ordered by it, by default
    mode 0 first. A block of lower rank is padded with modes of extent 1.

    Errors: a block of higher rank or without a complement, an order that is not a permutation of the modes.

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
  let summary = "Prints values at run time";
  let description = [{
    Writes to the standard output in the notation of types, with the values of dynamic leaves: with
    `gpu.printf` in a gpu.module or gpu.launch, with `printf` on the host. The format has one `{}` per value;
    without a format, each value is printed on its own line.

    Errors: a number of values that differs from the number of `{}`.

    ```mlir
    cute.print(%l) : !cute.layout<"(?,3):(1,?)">
    ```
  }];
  let arguments = (ins Variadic<Cute_Printable>:$values, OptionalAttr<StrAttr>:$fmt);
}

def Cute_PrintViewOp : Cute_Op<"print_view", [MemoryEffects<[MemWrite]>]> {
  let summary = "Prints the address and layout of a tensor";
  let description = [{
    The same as `cute.print` of the tensor; `verbose` and `is_signed` are accepted and have no effect.

    ```mlir
    cute.print_view(%t) : !cute.memref<f32, gmem, "(4,2):(2,1)">
    ```
  }];
  let arguments = (ins Cute_Tensor:$tensor, OptionalAttr<BoolAttr>:$verbose, OptionalAttr<BoolAttr>:$is_signed);
}

#endif
