// Tile programs: a kernel of one block as a sequential program on tiles, values of builtin tensor types. Which thread holds
// which element, shared memory, barriers and instructions follow from passes (docs/tile-programs.md).
#ifndef CUTE_IR_TILE_OPS_TD
#define CUTE_IR_TILE_OPS_TD

include "mlir/IR/CommonAttrConstraints.td"
include "lib/ir/dialects/cute_ops.td"
include "lib/ir/dialects/cute_tensor_types.td"

def Cute_TileFill : Cute_Choice<"zero neg_inf inf">;
def Cute_TileReduction : Cute_Choice<"add mul min max and or xor">;
def Cute_TileReduceKind : Cute_Choice<"add mul min max and or xor mean variance">;

// Result types follow from the operands (ops/tile.c), up to the encoding.
class Cute_TileOp<string m> : Cute_Op<m, [Pure]>;
class Cute_TileMemoryOp<string m> : Cute_Op<m>;

def Cute_TileProgramOp : Cute_TileOp<"tile.program"> {
  let summary = "The logical grid, and this block's place in it";
  let description = [{
    The number of blocks in each dimension, at most three, and a result of type `i32` for each: the index of this block. Either
    extents as integers, or a tensor and the shape of a tile: a block for each tile of the tensor, modes in order. Kernels with this
    operation need no host function: the launch plan is derived. Extents are computed from the kernel's arguments alone.

    Blocks are independent: no block reads an element that another block writes, other than by `cute.tile.atomic`.

    `in_cluster`: blocks of a cluster in each dimension, which take adjacent tiles; a program that states them has such clusters in any
    schedule, and its blocks are not resident. One number more is that of the blocks that divide the work on a tile
    (`cute.tile.reduce_scatter`); the last result is this block's index among them. `single`: the grid has one cluster along the last
    dimension, which the host function asserts.

    ```mlir
    // short: %m, %n = cute.tile.program<[128, 64]> %c      // or: cute.tile.program %rows, %columns
    %m, %n = cute.tile.program(%c) {extents = array<i32: 128, 64>} : (!cute.memref<f32, gmem, "(?,?):(?{i64},1)">) -> (i32, i32)
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$sizes, OptionalAttr<DenseI32ArrayAttr>:$extents,
                   OptionalAttr<DenseI32ArrayAttr>:$in_cluster, UnitAttr:$single);
  let results = (outs Variadic<I32>:$indices);
}

def Cute_TileCountOp : Cute_TileOp<"tile.count"> {
  let summary = "The number of tiles along a mode of a tensor";
  let description = [{
    The extent of mode `mode` divided by `size`, rounded up, as an `i32`; with a size of 1, the extent.

    ```mlir
    // short: %steps = cute.tile.count<1, 64> %a
    %steps = cute.tile.count(%a) {mode = 1 : i32, size = 64 : i32} : (!cute.memref<f16, gmem, "(?,?):(?{i64},1)">) -> i32
    ```
  }];
  let arguments = (ins Cute_MemRefType:$tensor, I32Attr:$mode, I32Attr:$size);
  let results = (outs I32:$count);
}

def Cute_TileRowsOp : Cute_TileOp<"tile.rows"> {
  let summary = "Some rows of a tensor, as a tensor";
  let description = [{
    The elements whose coordinate along mode 0 is at least `first` and less than `first + count`, at coordinates from 0. Elements behind
    them are outside of the result: loads of its tiles give their fill, and stores leave them alone. `first` and `count` may come from
    memory; the rows are inside of the tensor, and `count` is not negative.

    TMA loads tiles of such a tensor (sm_90a) where the elements behind the rows only reach elements that a store leaves out.

    Refused: a tensor whose layout is composed, or whose mode 0 is a tuple.

    ```mlir
    // short: %g = cute.tile.rows %a, %first, %count
    %g = cute.tile.rows(%a, %first, %count) : (!cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">, i32, i32)
        -> !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
    ```
  }];
  let arguments = (ins Cute_MemRefType:$tensor, I32:$first, I32:$count);
  let results = (outs Cute_MemRefType:$result);
}

def Cute_TilePagesOp : Cute_TileOp<"tile.pages"> {
  let summary = "A tensor of pages that a table names, as a tensor";
  let description = [{
    Index `i` along mode 0 of the result is index `table(row, i)` of the tensor, for `i` less than `count`. Other indices are outside of the
    result, and their entries of the table are not read. Only loads take such a tensor. A tile of several pages of a loop with products is fetched
    page by page to one stage, by TMA or `cp.async`; other loads read elements one at a time.

    Refused: a tensor whose layout is composed, whose mode 0 is a tuple, or whose elements have less than 8 bits.

    ```mlir
    // short: %k = cute.tile.pages %a, %table, %row, %count
    %k = cute.tile.pages(%a, %table, %row, %count) : (!cute.memref<f16, gmem, align<16>, "(?,16,64):(1024,64,1)">, !cute.memref<i32, gmem, "(?,?):(?{i64},1)">, i32, i32)
        -> !cute.memref<f16, gmem, align<16>, "(?,16,64):(1024,64,1)">
    ```
  }];
  let arguments = (ins Cute_MemRefType:$tensor, Cute_MemRefType:$table, I32:$row, I32:$count);
  let results = (outs Cute_MemRefType:$result);
}

def Cute_TileFromOp : Cute_TileOp<"tile.from"> {
  let summary = "A tensor from an index of a mode on";
  let description = [{
    Element i along mode `mode` is element `first` + i of the tensor; other modes are the tensor's. Tiles of the result are counted from
    there, so that they begin anywhere: at a sequence of a batch whose sequences are concatenated. They end with the tensor.

    ```mlir
    // short: %k = cute.tile.from<1> %K, %begin
    %k = cute.tile.from(%K, %begin) {mode = 0 : i32} : (!cute.memref<f16, gmem, align<16>, "(?,64):(?{i64 div=8},1)">, i32) -> !cute.memref<f16, gmem, align<16>, "(?,64):(?{i64 div=8},1)">
    ```
  }];
  let arguments = (ins Cute_MemRefType:$tensor, I32:$first, I32Attr:$mode);
  let results = (outs Cute_MemRefType:$result);
}

def Cute_TileLoadOp : Cute_TileMemoryOp<"tile.load"> {
  let summary = "A tile of a tensor in global memory";
  let description = [{
    The tile at `coord` of the tensor divided into tiles of shape `extents`: its first element is at the product of both. Extents are of the
    tensor's last modes: a mode before them has one element, at its coordinate, and is not a dimension of the tile. Elements outside of
    the tensor have the value of `fill`: `zero` by default, `neg_inf` and `inf` are the least and greatest value of integers. Where the
    optional mask, a tile of `i1` which broadcasts to the shape, is false, nothing is read and the result is `fill`.

    `to` converts the elements to another type, as `cute.tile.cast` does; `fill` is of the tensor's elements.

    Elements of `i4` are loaded as `i8`, those of `f4E2M1FN` as `f16`, which have all their values. They are packed in bytes, the first in
    the low bits, along the last mode, whose extents are even.

    Schedules add `width`: so many columns at a time pass through shared memory to the threads that hold them; and `cute.late`: only a
    store by TMA uses the tile, and each band of its columns is loaded in front of the band that is stored, with `"tma"` by TMA to
    `cute.buffers` of the store; with `"row"` the tile is one row, which warpgroups share.

    Refused: a tile of more dimensions than the tensor has modes, a coordinate of another rank than the tensor's, a mask that does not broadcast.

    ```mlir
    // short: %x = cute.tile.load<[64, 32], neg_inf, f32> %a[%i, 0], %mask     // fill, element type and mask may be omitted
    // short: %x = cute.tile.load<[64, 32]> %a[%batch, %i, 0]
    %x = cute.tile.load(%a, %c) {extents = array<i32: 64, 32>} : (!cute.memref<f16, gmem, "(?,?):(?{i64},1)">, !cute.coord<"(?,0)">) -> tensor<64x32xf16>
    %y = cute.tile.load(%a, %c) {extents = array<i32: 64, 32>, to = f32} : (!cute.memref<f16, gmem, "(?,?):(?{i64},1)">, !cute.coord<"(?,0)">) -> tensor<64x32xf32>
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemRead]>:$tensor, Cute_CoordType:$coord,
                   Optional<AnyRankedTensor>:$mask, DenseI32ArrayAttr:$extents, OptionalAttr<Cute_TileFill>:$fill,
                   OptionalAttr<TypeAttr>:$to, OptionalAttr<I32Attr>:$width);
  let results = (outs AnyRankedTensor:$result);
}

def Cute_TileStoreOp : Cute_Op<"tile.store"> {
  let summary = "Writes a tile to a tensor in global memory";
  let description = [{
    The reverse of `cute.tile.load`: elements outside of the tensor, and those whose mask is false, are not written. Floats are converted to
    the tensor's floats, rounded to nearest even; other conversions take `cute.tile.cast`.

    With a kind, each element of the tensor is updated atomically, relaxed, at the scope of the device, as by `cute.tile.atomic`: blocks add to
    one tile. The kernel does not load the tensor.

    Schedules add: `width`, so many columns at a time go through shared memory to threads that store adjacent elements; `tma`, these are
    copied by TMA (sm_90a), the tile is the sum of a product with `wgmma`. With the kind `add` and f32, TMA adds them in L2.

    Refused: as of `cute.tile.load`; integers of another type than the tensor's, floats for integers and integers for floats; a kind that
    the element type does not have.

    ```mlir
    // short: cute.tile.store %x, %a[%i, 0], %mask      // or: cute.tile.store<add> %x, %sums[%i, 0]
    cute.tile.store(%x, %a, %c) : (tensor<64x32xf16>, !cute.memref<f16, gmem, "(?,?):(?{i64},1)">, !cute.coord<"(?,0)">) -> ()
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, Arg<Cute_MemRefType, "", [MemWrite]>:$tensor, Cute_CoordType:$coord,
                   Optional<AnyRankedTensor>:$mask, OptionalAttr<Cute_TileReduction>:$kind, OptionalAttr<I32Attr>:$width, UnitAttr:$tma);
}

def Cute_TileMapOp : Cute_TileOp<"tile.map"> {
  let summary = "An elementwise operation on tiles of shapes that broadcast";
  let description = [{
    Operands are tiles and scalars of one element type, whose shapes broadcast by NumPy's rules: trailing dimensions are aligned, and an
    extent of 1 is repeated. An integer scalar, such as the result of `cute.tile.count`, is converted for tiles of floats. The short form names the kind: `cute.tile.add %x, %y` for `cute.tile.map<add> (%x, %y)`. Kinds:

    - of two operands: `add`, `sub`, `mul`, `div`, `rem`, `min`, `max` (of floats: NaN if one is NaN), `pow`; of integers, signed,
      also `and`, `or`, `xor`, `shl`, `shr`, `umin`, `umax`, `udiv`, `urem`, `ushr`
    - comparisons, with a result of `i1`: `eq`, `ne`, `lt`, `le`, `gt`, `ge` (signed; ordered, `ne` unordered), `ult`, `ule`, `ugt`, `uge`
    - of one operand: `neg`, `abs`, and of floats `exp`, `exp2`, `log`, `log2`, `sqrt`, `rsqrt`, `sin`, `cos`, `tanh`, `erf`, `floor`, `ceil`,
      `round`, `sigmoid`, `silu`, `gelu` (by erf), `gelu_tanh` (its approximation by tanh), `relu`
    - of three: `fma`; `where`, a condition of `i1` and two values. With a constant condition the other value is not computed, and loads that
      it alone uses are not executed: `cute.tile.where ${RELU}, %r, %x`

    `{fast}` on floats allows approximations of the hardware: `div` by a reciprocal, `exp`, `log`, `sin` and others to a few units in
    the last place, without subnormal numbers (fastmath `afn` and `arcp`).

    `{rare}` on `where`: the condition is seldom true. Operations that only its first value needs may be executed where it is, in
    warps that hold such an element (cute-tile-rare).

    cute-tile-expand replaces it by operations of arith and math, which can be used directly on tiles as well.

    Refused: shapes that do not broadcast, different element types, a kind that the element type does not have, `fast` on integers.

    ```mlir
    // short: %z = cute.tile.add %x, 0.5
    // short: %e = cute.tile.exp %x {fast}
    // short: %m = cute.tile.div %sum, %count
    %z = cute.tile.map(%x, %y) {kind = "add"} : (tensor<64x32xf32>, tensor<64x1xf32>) -> tensor<64x32xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$operands, StrAttr:$kind, UnitAttr:$fast, UnitAttr:$rare);
  let results = (outs AnyType:$result);
}

def Cute_TileCastOp : Cute_TileOp<"tile.cast"> {
  let summary = "Elements converted to another type";
  let description = [{
    Floats to floats (rounded to nearest even), integers to integers (sign-extended or truncated; `zero_extend`: zero-extended), floats to
    integers (toward zero) and back. `i1` is unsigned. A type with the same name is the tile itself.

    ```mlir
    // short: %y = cute.tile.cast<f16> %x
    %y = cute.tile.cast(%x) {element = f16} : (tensor<64x32xf32>) -> tensor<64x32xf16>
    ```
  }];
  let arguments = (ins AnyType:$value, TypeAttr:$element, UnitAttr:$zero_extend);
  let results = (outs AnyType:$result);
}

def Cute_TileBroadcastOp : Cute_TileOp<"tile.broadcast"> {
  let summary = "A scalar or tile repeated to a shape";
  let description = [{
    By NumPy's rules, as of `cute.tile.map`. A scalar fills the tile.

    Refused: a shape to which the operand's does not broadcast.

    ```mlir
    // short: %y = cute.tile.broadcast<[64, 32]> %x
    %y = cute.tile.broadcast(%x) {extents = array<i32: 64, 32>} : (tensor<64x1xf32>) -> tensor<64x32xf32>
    ```
  }];
  let arguments = (ins AnyType:$value, DenseI32ArrayAttr:$extents);
  let results = (outs AnyRankedTensor:$result);
}

def Cute_TileIotaOp : Cute_TileOp<"tile.iota"> {
  let summary = "The index along a dimension";
  let description = [{
    An `i32` tile whose element is its index in dimension `mode`, plus the scalar operand if there is one. The sum is at most the
    largest `i32`.

    ```mlir
    // short: %j = cute.tile.iota<[1, 64], 1> %first
    %j = cute.tile.iota(%first) {extents = array<i32: 1, 64>, mode = 1 : i32} : (i32) -> tensor<1x64xi32>
    ```
  }];
  let arguments = (ins Optional<I32>:$start, DenseI32ArrayAttr:$extents, I32Attr:$mode);
  let results = (outs AnyRankedTensor:$result);
}

def Cute_TileReduceOp : Cute_TileOp<"tile.reduce"> {
  let summary = "A reduction along a dimension, which keeps extent 1";
  let description = [{
    `min` and `max` are signed, of floats NaN if an element is NaN; `and`, `or` and `xor` are of integers. The order in which elements are
    combined is not specified, but is the same in each run.

    `mean`, of floats, is the sum divided by the count, the second operand: an integer, a float of the element type, or a tensor,
    which counts the extent of its mode `mode`. The count is stated because elements of the tile that are outside of the tensor do
    not count: a load makes them 0. `variance` is the mean of the squares of differences from that mean; elements with
    coordinates from the count on are left out of it.

    Refused: an axis that the tile does not have, a kind that the element type does not have, a mean or variance without its count.

    ```mlir
    // short: %m = cute.tile.reduce<max, 1> %x
    // short: %m = cute.tile.reduce<mean, 1> %x, %count      // or: cute.tile.reduce<variance, 1> %x, %tensor
    %m = cute.tile.reduce(%x) {kind = "max", mode = 1 : i32} : (tensor<64x32xf32>) -> tensor<64x1xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, Optional<AnyType>:$count, Cute_TileReduceKind:$kind, I32Attr:$mode);
  let results = (outs AnyRankedTensor:$result);
}

def Cute_TileScanOp : Cute_TileOp<"tile.scan"> {
  let summary = "Inclusive prefix results along a dimension";
  let description = [{
    Element i combines elements 0 to i; with `reverse`, elements i to the last one. Kinds are those of `cute.tile.reduce`.

    ```mlir
    // short: %s = cute.tile.scan<add, 1> %x {reverse}
    %s = cute.tile.scan(%x) {kind = "add", mode = 1 : i32} : (tensor<4x64xi32>) -> tensor<4x64xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, Cute_TileReduction:$kind, I32Attr:$mode, UnitAttr:$reverse);
  let results = (outs AnyRankedTensor:$result);
}

def Cute_TilePermuteOp : Cute_TileOp<"tile.permute"> {
  let summary = "Dimensions in another order";
  let description = [{
    Dimension i of the result is dimension `order[i]` of the operand.

    ```mlir
    // short: %t = cute.tile.permute<[1, 0]> %x
    %t = cute.tile.permute(%x) {order = array<i32: 1, 0>} : (tensor<64x32xf32>) -> tensor<32x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, DenseI32ArrayAttr:$order);
  let results = (outs AnyRankedTensor:$result);
}

def Cute_TileReshapeOp : Cute_TileOp<"tile.reshape"> {
  let summary = "The same elements in another shape";
  let description = [{
    Elements are counted with the last dimension fastest, as NumPy's reshape does.

    Refused: a shape of another number of elements.

    ```mlir
    // short: %t = cute.tile.reshape<[8, 8, 32]> %x
    %t = cute.tile.reshape(%x) {extents = array<i32: 8, 8, 32>} : (tensor<64x32xf32>) -> tensor<8x8x32xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, DenseI32ArrayAttr:$extents);
  let results = (outs AnyRankedTensor:$result);
}

def Cute_TileStackOp : Cute_TileOp<"tile.stack"> {
  let summary = "Tiles of one shape side by side in a new last dimension";
  let description = [{
    Element (i..., k) of the result is element (i...) of operand k. With `cute.tile.reshape` and `cute.tile.permute` this interleaves or
    concatenates tiles.

    Refused: operands of different types.

    ```mlir
    // short: %z = cute.tile.stack %x, %y
    %z = cute.tile.stack(%x, %y) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32x2xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let results = (outs AnyRankedTensor:$result);
}

def Cute_TilePickOp : Cute_TileOp<"tile.pick"> {
  let summary = "The elements at one index of a dimension, which the result lacks";
  let description = [{
    The reverse of `cute.tile.stack` for any dimension. After `cute.tile.reshape` it takes every second element, or a half of a tile.

    Refused: a dimension that the tile does not have, an index outside of it.

    ```mlir
    // short: %y = cute.tile.pick<1, 2> %x
    %y = cute.tile.pick(%x) {index = 1 : i32, mode = 2 : i32} : (tensor<64x32x2xf32>) -> tensor<64x32xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, I32Attr:$index, I32Attr:$mode);
  let results = (outs AnyRankedTensor:$result);
}

def Cute_TileGemmOp : Cute_TileOp<"tile.gemm"> {
  let summary = "D = A B^T + C: a product of tiles that is added to an accumulator";
  let description = [{
    A is (M,K), B is (N,K), C and D are (M,N), as of `cute.gemm`. Elements of A and B are f16, bf16, f8E4M3FN, f8E5M2 or f32 with an
    accumulator of f32 (f16 with one of f16, too), f64 with f64, i8 with i32. f32 is multiplied exactly unless `tf32` is there (`tf32 = 1`; `tf32 = 0` is as
    without): then tensor cores take it as tf32 and ignore the low 13 bits; TMA rounds tiles that only products with `wgmma` read. Without tensor
    cores for the types, and on extents that are not multiples of an MMA's, threads multiply and add.

    Schedules add: `wgmma`, the product is of warpgroups (sm_90a), which read A and B in shared memory; `pending`, how many later products
    may be issued before this one is complete, 0 if missing. With `pending` the accumulator is used by products and `cute.tile.settle` alone.
    `band`, two numbers b and n: of the columns of D that a warpgroup has only the b-th of n parts is computed, the others are C's.

    Refused: extents that do not match, types other than those.

    ```mlir
    // short: %d = cute.tile.gemm %a, %b, %c {tf32}
    %d = cute.tile.gemm(%a, %b, %c) : (tensor<64x32xf16>, tensor<128x32xf16>, tensor<64x128xf32>) -> tensor<64x128xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$a, AnyRankedTensor:$b, AnyRankedTensor:$c, UnitAttr:$tf32, UnitAttr:$wgmma,
                   OptionalAttr<I32Attr>:$pending, OptionalAttr<DenseI32ArrayAttr>:$band);
  let results = (outs AnyRankedTensor:$d);
}

def Cute_TileGatherOp : Cute_TileMemoryOp<"tile.gather"> {
  let summary = "Elements of a tensor at coordinates that tiles hold";
  let description = [{
    Behind the tensor an operand of `i32` or `i64`, a tile or a scalar, for each of its modes: the element's coordinate. Their shapes
    broadcast, with that of an optional last operand of `i1`, the mask. Elements outside of the tensor or of the mask are `fill`, and
    `to` converts, as of `cute.tile.load`.

    Refused: another number of coordinates than the tensor has modes, shapes that do not broadcast, scalars alone.

    ```mlir
    // short: %x = cute.tile.gather<neg_inf, f32> %table, %rows, %columns, %mask     // fill, element type and mask may be omitted
    %x = cute.tile.gather(%table, %rows, %columns) : (!cute.memref<f16, gmem, "(?,?):(?{i64},1)">, tensor<8x1xi32>, tensor<1x64xi32>) -> tensor<8x64xf16>
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemRead]>:$tensor, Variadic<AnyType>:$coords,
                   OptionalAttr<Cute_TileFill>:$fill, OptionalAttr<TypeAttr>:$to);
  let results = (outs AnyRankedTensor:$result);
}

def Cute_TileScatterOp : Cute_Op<"tile.scatter"> {
  let summary = "Writes elements at coordinates that tiles hold";
  let description = [{
    Operands behind the value are those of `cute.tile.gather`; they broadcast to the value's shape. Elements outside of the tensor or of
    the mask are not written, and floats are converted as by `cute.tile.store`. Elements of one tile have different places: of several at one place, one is written.

    ```mlir
    // short: cute.tile.scatter %x, %out, %rows, %columns, %mask
    cute.tile.scatter(%x, %out, %rows, %columns) : (tensor<8x64xf16>, !cute.memref<f16, gmem, "(?,?):(?{i64},1)">, tensor<8x1xi32>, tensor<1x64xi32>) -> ()
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, Arg<Cute_MemRefType, "", [MemWrite]>:$tensor, Variadic<AnyType>:$coords);
}

def Cute_TileAtomicOp : Cute_Op<"tile.atomic"> {
  let summary = "Updates elements of a tensor atomically, at coordinates that tiles hold";
  let description = [{
    Operands as of `cute.tile.scatter`, where several elements may have one place. Relaxed, at the scope of the device. Kinds: `add`, `min`,
    `max`; of integers also `and`, `or` and `xor`. This is how blocks combine results.

    Without coordinates, the last dimensions of the tile are the tensor's modes, counted from 0, and the block combines the others
    first: a tile of 4x512 elements updates a vector once for each of 512 columns.

    ```mlir
    // short: cute.tile.atomic<add> %x, %counts, %bins, %mask      // or: cute.tile.atomic<add> %x, %sums
    cute.tile.atomic(%x, %counts, %bins) {kind = "add"} : (tensor<256xi32>, !cute.memref<i32, gmem, "?:1">, tensor<256xi32>) -> ()
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, Arg<Cute_MemRefType, "", [MemRead, MemWrite]>:$tensor, Variadic<AnyType>:$coords,
                   Cute_TileReduction:$kind);
}

def Cute_TileSignalOp : Cute_Op<"tile.signal"> {
  let summary = "Counts that the block has stored its tiles so far";
  let description = [{
    Adds 1 to element `%index` of a vector of counters when all stores of the block in front of it have been performed: a release at the scope of
    the device. Who sees the count, as `cuStreamWaitValue32` on another stream does, sees the stores: a product signals groups of tiles, and their
    rows are sent while it computes others. With `scope = "sys"` also other devices, which may have the counters in their memory as well as the
    tensors that were stored.

    Refused: counters that are not a vector of i32 in global memory.

    ```mlir
    cute.tile.signal(%counters, %index) : (!cute.memref<i32, gmem, "?:1">, i32) -> ()
    cute.tile.signal(%theirs, %index) {scope = "sys"} : (!cute.memref<i32, gmem, "?:1">, i32) -> ()
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemRead, MemWrite]>:$counters, I32:$index, OptionalAttr<Cute_Choice<"gpu sys">>:$scope);
}

def Cute_TileScalarOp : Cute_TileOp<"tile.scalar"> {
  let summary = "The element of a tile that has one";
  let description = [{
    ```mlir
    // short: %s = cute.tile.scalar %x
    %s = cute.tile.scalar(%x) : (tensor<1x1xf32>) -> f32
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value);
  let results = (outs AnyType:$result);
}

def Cute_TileConvertOp : Cute_Op<"tile.convert", [Pure]> {
  let summary = "The same tile, distributed over the threads in another way";
  let description = [{
    What cute-tile-layouts inserts where an operation needs its operand otherwise than it was made: the encodings of both types say
    which thread holds which element. Where each thread has its elements already, it becomes a choice of registers; otherwise elements go
    through shared memory.

    ```mlir
    %y = cute.tile.convert(%x) : (tensor<64x32xf32, #cute.layout<"((32,4),(32,2)):((1@1,1@0),(4@0,32@1))">>) -> tensor<64x32xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value);
  let results = (outs AnyRankedTensor:$result);
}

// ---- scheduled programs ----
//
// Stages, phases and roles of a tile program, not yet of threads: the passes on schedules write these operations, and a person may.
// cute-tile-distribute lowers them.

def Cute_TileRingOp : Cute_Op<"tile.ring"> {
  let summary = "Buffers in shared memory for the tiles of one load";
  let description = [{
    The result's last mode counts the stages, the others are the tile's. Its elements are uninitialised; cute-tile-distribute chooses the
    place in dynamic shared memory. The layout is static, of offsets from 0.

    Refused: a result that is not in `smem`, one with unknown leaves, of rank 1.

    ```mlir
    %r = cute.tile.ring() : () -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64,3):(64,1,8192)">
    ```
  }];
  let results = (outs Res<Cute_MemRefType, "", [MemAlloc]>:$ring);
}

def Cute_TilePartOp : Cute_Op<"tile.part", [Pure]> {
  let summary = "A part of the columns of a ring's tiles, as a ring";
  let description = [{
    Part `index` of `count` along the last dimension of a tile, which is divided between the spans of its rows. Its fetches and takes are to and from
    the ring's stages, with a pipe of its own.

    Refused: a result that is not the ring with so many times fewer columns.

    ```mlir
    %p = cute.tile.part(%r) {count = 2 : i32, index = 1 : i32} : (!cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,(64,4),2):(64,(1,4096),16384)">) -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,(64,2),2):(64,(1,4096),16384)">
    ```
  }];
  let arguments = (ins Cute_MemRefType:$ring, ConfinedAttr<I32Attr, [IntNonNegative]>:$index, ConfinedAttr<I32Attr, [IntPositive]>:$count);
  let results = (outs Cute_MemRefType:$part);
}

def Cute_TilePipeOp : Cute_Op<"tile.pipe"> {
  let summary = "The mbarriers of a ring's stages: full and empty";
  let description = [{
    A stage is full when the tiles of all its fetches have arrived, `bytes` together, or, with 0 bytes, when each `cute.tile.put` with this pipe has written
    its tile, and empty when all readers have released it. Stages are empty at first: the first round of `cute.tile.acquire` waits for phase 1, that of `cute.tile.await` for phase 0, and both change in each
    round (`cute_nvgpu.arch.pipeline_advance`). Requires sm_90.

    ```mlir
    %p = cute.tile.pipe() {bytes = 32768 : i32, stages = 3 : i32} : () -> !cute.ptr<i64, smem, align<8>>
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntPositive]>:$stages, ConfinedAttr<I32Attr, [IntNonNegative]>:$bytes);
  let results = (outs Res<Cute_PtrType, "", [MemAlloc]>:$pipe);
}

class Cute_TilePipeUseOp<string m> : Cute_Op<m> {
  let arguments = (ins Arg<Cute_PtrType, "", [MemRead, MemWrite]>:$pipe, I32:$stage, I32:$phase);
}

def Cute_TileAcquireOp : Cute_TilePipeUseOp<"tile.acquire"> {
  let summary = "Waits until a stage is empty, and announces its bytes";
  let description = [{
    ```mlir
    cute.tile.acquire(%p, %stage, %phase) : (!cute.ptr<i64, smem, align<8>>, i32, i32) -> ()
    ```
  }];
}

def Cute_TileAwaitOp : Cute_TilePipeUseOp<"tile.await"> {
  let summary = "Waits until a stage is full";
  let description = [{
    ```mlir
    cute.tile.await(%p, %stage, %phase) : (!cute.ptr<i64, smem, align<8>>, i32, i32) -> ()
    ```
  }];
}

def Cute_TileDrainOp : Cute_TilePipeUseOp<"tile.drain"> {
  let summary = "Waits until all stages are empty, at the end of the role that fills them";
  let description = [{
    `stage` and `phase`: those of the acquire that would come next. Where blocks of a cluster share fetches they release each other's stages: a block that
    waits for all of its own does not exit while such a release is on its way (undefined according to the CUDA guide, "Distributed Shared Memory"; an H100
    fails the launch).

    ```mlir
    cute.tile.drain(%p, %stage, %phase) : (!cute.ptr<i64, smem, align<8>>, i32, i32) -> ()
    ```
  }];
}

def Cute_TileReleaseOp : Cute_Op<"tile.release"> {
  let summary = "A stage has been read: it is empty for its writers";
  let description = [{
    With a condition: only where it is true.

    ```mlir
    cute.tile.release(%p, %stage) : (!cute.ptr<i64, smem, align<8>>, i32) -> ()
    ```
  }];
  let arguments = (ins Arg<Cute_PtrType, "", [MemRead, MemWrite]>:$pipe, I32:$stage, Optional<I1>:$condition);
}

def Cute_TileFetchOp : Cute_Op<"tile.fetch"> {
  let summary = "Starts to copy a tile of a tensor to a stage of a ring";
  let description = [{
    With a pipe by TMA, whose bytes arrive at the stage's mbarrier; without, by cp.async, in the group that the next
    `cute_nvgpu.arch.cp_async_commit_group` closes. Elements outside of the tensor are 0. Tile and coordinate as of `cute.tile.load`.

    `multicast`: dimensions of the cluster along which blocks fetch the same tile. Each block fetches a part of it for all of them.

    `streams`: the tensor is read once, so its lines in L2 are replaced first (evict_first); with a pipe.

    Refused: a tile that is not the ring's, another element type.

    ```mlir
    cute.tile.fetch(%a, %c, %r, %stage) : (!cute.memref<f16, gmem, "(?,?):(?{i64},1)">, !cute.coord<"(?,0)">, !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64,3):(64,1,8192)">, i32) -> ()
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemRead]>:$tensor, Cute_CoordType:$coord,
                   Arg<Cute_MemRefType, "", [MemWrite]>:$ring, I32:$stage, Optional<Cute_PtrType>:$pipe,
                   OptionalAttr<DenseI32ArrayAttr>:$multicast, UnitAttr:$streams);
}

def Cute_TileTakeOp : Cute_Op<"tile.take"> {
  let summary = "The tile in a stage of a ring";
  let description = [{
    A value: a product reads it in place where the instruction can.

    Refused: a result whose shape or element type is not the ring's.

    ```mlir
    %a = cute.tile.take(%r, %stage) : (!cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64,3):(64,1,8192)">, i32) -> tensor<128x64xf16>
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemRead]>:$ring, I32:$stage);
  let results = (outs AnyRankedTensor:$tile);
}

def Cute_TilePutOp : Cute_Op<"tile.put"> {
  let summary = "Writes a tile that threads hold to a stage of a ring";
  let description = [{
    Behind it all warps of the role, and their products, see the tile: it waits for them. Of a ring with one stage it also waits until
    they have completed what read the stage; of one with two the writes of an iteration are to the other stage than those of the one before.

    With a pipe it waits for no warp: another role, which waits for the pipe's stage (`cute.tile.await`), sees the tile.

    Refused: as of `cute.tile.take`.

    ```mlir
    cute.tile.put(%x, %r, %stage) : (tensor<128x64xf16>, !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64,2):(64,1,8192)">, i32) -> ()
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tile, Arg<Cute_MemRefType, "", [MemWrite]>:$ring, I32:$stage, Optional<Cute_PtrType>:$pipe);
}

def Cute_TileSettleOp : Cute_Op<"tile.settle"> {
  let summary = "An accumulator whose products are complete";
  let description = [{
    Products with `pending` may be under way until here. With `pending` here, so many products that were issued later may still be.

    ```mlir
    %y = cute.tile.settle(%x) : (tensor<128x256xf32>) -> tensor<128x256xf32>
    ```
  }];
  let arguments = (ins Arg<AnyRankedTensor, "", [MemRead, MemWrite]>:$accumulator, OptionalAttr<I32Attr>:$pending);
  let results = (outs AnyRankedTensor:$result);
}

def Cute_TileAnyOp : Cute_TileOp<"tile.any"> {
  let summary = "Whether a condition is true of an element that the warp holds";
  let description = [{
    The same in all lanes of a warp; warps may differ. Schedules add it in front of branches that operations on tiles take.
    `parts`: the same in the corresponding warps of so many warpgroups, which have parts of the same rows and meet here.

    ```mlir
    %some = cute.tile.any(%far) : (tensor<128x1xi1>) -> i1
    ```
  }];
  let arguments = (ins AnyRankedTensor:$condition, OptionalAttr<I32Attr>:$parts);
  let results = (outs I1:$result);
}

def Cute_TileRoleOp : Cute_Op<"tile.role", [NoTerminator, SingleBlock]> {
  let summary = "What some warps of a block do, beside those of its other roles";
  let description = [{
    Roles follow one another in a kernel and run at the same time: the first has the warps from 0 on, the next those behind, from a
    multiple of four. `registers`: of each thread (setmaxnreg), 0: as many as the kernel's. Tiles in the region are distributed over
    the role's threads.

    `turns`: the region is executed by so many groups of `warps` warps, each of which computes tiles of its own (`cute.tile.turn`);
    tiles are distributed over the threads of a group.

    Refused: several groups of other than 4 warps.

    ```mlir
    cute.tile.role "consumers" attributes {registers = 240 : i32, warps = 8 : i32} {
      gpu.barrier
    }
    ```
  }];
  let arguments = (ins StrAttr:$label, ConfinedAttr<I32Attr, [IntPositive]>:$warps, I32Attr:$registers,
                   OptionalAttr<ConfinedAttr<I32Attr, [IntPositive]>>:$turns);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$label attr-dict-with-keyword $body";
}

def Cute_TileTurnOp : Cute_Op<"tile.turn", [Pure]> {
  let summary = "The number of this group of a role that computes tiles in turns";
  let description = [{
    From 0 to the role's `turns` - 1.

    ```mlir
    %t = cute.tile.turn : () -> i32
    ```
  }];
  let results = (outs I32:$turn);
}

def Cute_TileBeginTurnOp : Cute_Op<"tile.begin_turn"> {
  let summary = "Waits until the group before has ended its turn";
  let description = [{
    One `cute.tile.end_turn` of the group before for each: also for the first turn of group 0, by the last group. In a role without
    `turns` the groups are its warpgroups, which compute a tile together.

    ```mlir
    cute.tile.begin_turn() : () -> ()
    ```
  }];
}

def Cute_TileEndTurnOp : Cute_Op<"tile.end_turn"> {
  let summary = "Lets the next group of a role begin its turn";
  let description = [{
    Where the condition is true, which is the same in all threads of the group.

    ```mlir
    cute.tile.end_turn(%another) : (i1) -> ()
    ```
  }];
  let arguments = (ins I1:$condition);
}

def Cute_TileWorkersOp : Cute_TileOp<"tile.workers"> {
  let summary = "A grid of resident blocks that take tiles in turn";
  let description = [{
    As `cute.tile.program` of the same tensor and extents, but with as many clusters of blocks as fit on the device at once, one block on
    a multiprocessor, at most one cluster for each cluster tile (`extents` times `cluster`). Results: this cluster's first tile, the
    number of tiles, and the distance to its next one.

    ```mlir
    %first, %count, %step = cute.tile.workers(%c) {cluster = array<i32: 2, 1>, extents = array<i32: 128, 256>} : (!cute.memref<f16, gmem, "(?,?):(?{i64},1)">) -> (i32, i32, i32)
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$sizes, OptionalAttr<DenseI32ArrayAttr>:$extents, DenseI32ArrayAttr:$cluster);
  let results = (outs I32:$first, I32:$count, I32:$step);
}

def Cute_TilePlaceOp : Cute_TileOp<"tile.place"> {
  let summary = "The indices of a tile of the grid, of this block of a cluster";
  let description = [{
    Results are those of `cute.tile.program` for the cluster tile of number `%tile`. Of the last two dimensions, `order` tiles along the first come
    before the next along the second, so that tiles which are computed at one time share operands in L2.

    ```mlir
    %m, %n = cute.tile.place(%tile, %c) {cluster = array<i32: 2, 1>, extents = array<i32: 128, 256>, order = 8 : i32} : (i32, !cute.memref<f16, gmem, "(?,?):(?{i64},1)">) -> (i32, i32)
    ```
  }];
  let arguments = (ins I32:$tile, Variadic<AnyType>:$sizes, OptionalAttr<DenseI32ArrayAttr>:$extents,
                   DenseI32ArrayAttr:$cluster, ConfinedAttr<I32Attr, [IntPositive]>:$order);
  let results = (outs Variadic<I32>:$indices);
}

def Cute_TileTail : Cute_Choice<"split stream">;

def Cute_TilePiecesOp : Cute_TileOp<"tile.pieces"> {
  let summary = "The pieces of a cluster, where clusters split the k of tiles";
  let description = [{
    Instead of whole tiles (`cute.tile.workers`: `%first`, `%count`, `%step`), each of `%steps` iterations, a cluster computes the
    pieces `%start`, `%start` + `%step`, ... below `%stop`. `tail` is `split`: each tile of a last wave that is not full is divided among as
    many clusters as there are for it, at most 6, by ranges of iterations. `stream`: the iterations of the last two waves are
    divided evenly among all clusters (stream-K: Osama et al., PPoPP 2023), if there are four for each. A piece that does not have the
    last iteration of its tile comes first, so nothing waits long for it.

    ```mlir
    %start, %stop = cute.tile.pieces(%first, %count, %step, %steps) {tail = "split"} : (i32, i32, i32, i32) -> (i32, i32)
    ```
  }];
  let arguments = (ins I32:$first, I32:$count, I32:$step, I32:$steps, Cute_TileTail:$tail);
  let results = (outs I32:$start, I32:$stop);
}

def Cute_TilePieceOp : Cute_TileOp<"tile.piece"> {
  let summary = "A piece of `cute.tile.pieces`: a tile and a range of its iterations";
  let description = [{
    The tile's iterations from `%from` to less than `%to`. The cluster whose piece has the last one completes the tile, by the partial sums of
    the `%others` clusters `%first` - `%distance`, `%first` - 2 `%distance`, ...; `%others` is 0 for other pieces and whole tiles.

    ```mlir
    %tile, %from, %to, %others, %distance = cute.tile.piece(%i, %first, %count, %step, %steps) {tail = "split"} : (i32, i32, i32, i32, i32) -> (i32, i32, i32, i32, i32)
    ```
  }];
  let arguments = (ins I32:$index, I32:$first, I32:$count, I32:$step, I32:$steps, Cute_TileTail:$tail);
  let results = (outs I32:$tile, I32:$from, I32:$to, I32:$others, I32:$distance);
}

def Cute_TileGiveOp : Cute_Op<"tile.give"> {
  let summary = "Partial sums for the cluster that completes the tile";
  let description = [{
    Writes the block's tile to its slot in global memory, in the order of threads, and raises a flag for each warp. `%cluster`: this block's; the
    slot is that of the block of the same place in it. Once in a launch; flags begin as 0.

    Refused: elements other than the tile's, flags that are not i32.

    ```mlir
    cute.tile.give(%sums, %slots, %flags, %cluster) : (tensor<128x256xf32>, !cute.memref<f32, gmem, align<256>, "(32768,?):(1,32768)">, !cute.memref<i32, gmem, align<256>, "(8,?):(1,8)">, i32) -> ()
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tile, Arg<Cute_MemRefType, "", [MemWrite]>:$slots,
                   Arg<Cute_MemRefType, "", [MemRead, MemWrite]>:$flags, I32:$cluster);
}

def Cute_TileCollectOp : Cute_Op<"tile.collect"> {
  let summary = "Adds the partial sums of another cluster";
  let description = [{
    Waits for the flags of the block at the same place in `%cluster`, and adds its slot. That block is resident or has ended, as all
    blocks of `cute.tile.workers` are.

    Refused: as of `cute.tile.give`.

    ```mlir
    %more = cute.tile.collect(%sums, %slots, %flags, %cluster) : (tensor<128x256xf32>, !cute.memref<f32, gmem, align<256>, "(32768,?):(1,32768)">, !cute.memref<i32, gmem, align<256>, "(8,?):(1,8)">, i32) -> tensor<128x256xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tile, Arg<Cute_MemRefType, "", [MemRead]>:$slots,
                   Arg<Cute_MemRefType, "", [MemRead, MemWrite]>:$flags, I32:$cluster);
  let results = (outs AnyRankedTensor:$result);
}

def Cute_TileReduceScatterOp : Cute_Op<"tile.reduce_scatter"> {
  let summary = "The sum of the tiles of several blocks of a cluster, of which each block gets a part";
  let description = [{
    The blocks are those that divide the work on a tile (`in_cluster` of `cute.tile.program`), all of which execute the operation once,
    outside of loops. Dimension `mode` is divided among them: the result is part `%share` of the sum, through distributed
    shared memory. The tiles are added in the order of the blocks, so the sum is the same in each run.

    Refused: a share that is not the last result of such a `cute.tile.program`, results other than one of so many parts.

    ```mlir
    %i, %j, %share = cute.tile.program(%c) {extents = array<i32: 64, 64>, in_cluster = array<i32: 1, 1, 4>} : (!cute.memref<f32, gmem, "(?,?):(?{i64},1)">) -> (i32, i32, i32)
    %own = cute.tile.reduce_scatter(%sums, %share) {mode = 1 : i32} : (tensor<64x64xf32>, i32) -> tensor<64x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tile, I32:$share, I32Attr:$mode);
  let results = (outs AnyRankedTensor:$result);
}

def Cute_TileClusterReduceOp : Cute_Op<"tile.cluster_reduce"> {
  let summary = "Combines the tiles of a cluster's blocks along a dimension of the grid";
  let description = [{
    `%index` is a result of `cute.tile.program` with `in_cluster`: the tiles of so many adjacent blocks are combined elementwise, and each block
    gets the result, through distributed shared memory. All blocks execute the operation once, at the top level. The tiles are combined
    in the order of the blocks, so the result is the same in all of them and in each run.

    Blocks whose tile is outside of the tensor take part, too: their elements are to be masked.

    Refused: elements other than f32 and i32, an index that is not of such a `cute.tile.program`, an operation in a loop or branch.

    ```mlir
    // short: %all = cute.tile.cluster_reduce<add> %own, %j
    %i, %j = cute.tile.program(%c) {extents = array<i32: 64, 64>, in_cluster = array<i32: 1, 4>} : (!cute.memref<f32, gmem, "(?,?):(?{i64},1)">) -> (i32, i32)
    %all = cute.tile.cluster_reduce(%own, %j) {kind = "add"} : (tensor<64x1xf32>, i32) -> tensor<64x1xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tile, I32:$index, Cute_TileReduction:$kind);
  let results = (outs AnyRankedTensor:$result);
}

#endif
