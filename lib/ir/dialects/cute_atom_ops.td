// Atoms, tiled copies and tiled MMAs, and their partitions of tensors.
#ifndef CUTE_IR_ATOM_OPS_TD
#define CUTE_IR_ATOM_OPS_TD

include "lib/ir/dialects/cute_ops.td"
include "lib/ir/dialects/cute_tensor_types.td"

// A, B or C
def Cute_MmaOperand : ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<2>]>;

def Cute_MakeAtomOp : Cute_Op<"make_atom", [Pure]> {
  let summary = "Makes an atom";
  let description = [{
    The type determines the atom. Only a `wgmma` atom has an operand: an `i1`, whether it adds to its
    accumulator (default true).

    Errors: any other operand.

    ```mlir
    %a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16, 128 b>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$fields);
  let results = (outs Cute_Atom:$atom);
}
// With the atom alone, the result type gives the tiling; with more operands it is inferred.
class Cute_TilingOp<string m, dag ins, Type result> : Cute_TypedOp<m, [Pure]> {
  let arguments = ins;
  let results = (outs result:$tiled);
}
def Cute_TilingPart : AnyTypeOf<[Cute_LayoutType, Cute_TileType, Cute_ShapeType], "!cute.layout, !cute.tile, or !cute.shape">;

def Cute_MakeTiledCopyOp : Cute_TilingOp<"make_tiled_copy", (ins Cute_Atom:$atom, Variadic<Cute_TilingPart>:$parts), Cute_TiledCopyType> {
  let summary = "Tiles a copy atom over threads and values";
  let description = [{
    `(atom, thread-value layout, tiler)`: the layout maps (thread, value) to the index of an element in the
    tile. `(atom, threads, values)`: two layouts map a coordinate of the tile to the thread and to the value;
    the tile has the size of their product. `(atom)`: the result type gives the tiling.

    Errors: layouts that are not static; an atom that differs from the result type's; a thread-value layout
    that is not a whole number of atoms.

    ```mlir
    %t = cute.make_tiled_copy(%a) : (!cute_nvgpu.atom.universal_copy<f16, 128 b>)
        -> !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;128:1]">>
    %threads = cute.static : !cute.layout<"(8,16):(16,1)">
    %values = cute.static : !cute.layout<"(1,8):(8,1)">
    %u = cute.make_tiled_copy(%a, %threads, %values) : (!cute_nvgpu.atom.universal_copy<f16, 128 b>, !cute.layout<"(8,16):(16,1)">, !cute.layout<"(1,8):(8,1)">)
        -> !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;128:1]">>
    ```
  }];
}
def Cute_MakeTiledMmaOp : Cute_TilingOp<"make_tiled_mma", (ins Cute_Atom:$atom, Variadic<Cute_TilingPart>:$parts), Cute_TiledMmaType> {
  let summary = "Tiles an MMA atom over warps";
  let description = [{
    `(atom, layout of atoms over M, N and K, permutation)`: missing modes of the layout have one atom; the
    permutation, a tile of M, N and K, is optional. `(atom)`: the result type gives the tiling, by default one
    atom.

    Errors: a layout that is not static or has more than three modes; an atom that differs from the result
    type's.

    ```mlir
    %m = cute.make_tiled_mma(%a) : (!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >)
        -> !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
    %atoms = cute.static : !cute.layout<"(2,2):(1,2)">
    %n = cute.make_tiled_mma(%a, %atoms) : (!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, !cute.layout<"(2,2):(1,2)">)
        -> !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">>
    ```
  }];
}

class Cute_TiledCopyOfMmaOp<string operand, string tv, string tiler>
    : Cute_TilingOp<"make_tiled_copy_" # operand, (ins Cute_Atom:$atom, Cute_TiledMmaType:$mma), Cute_TiledCopyType> {
  let summary = "Makes a tiled copy that matches operand " # operand # " of a tiled MMA";
  let description = [{
    The thread-value layout is that of the MMA, the tiler its tile.

    ```mlir
    %t = cute.make_tiled_copy_}] # operand # [{(%a, %m) : (!cute_nvgpu.atom.universal_copy<f16>,
        !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(0,0,0)">>)
        -> !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16>, layout_copy_tv = <"}] # tv # [{">, tiler_mn = <"}] # tiler # [{">>
    ```
  }];
}
def Cute_MakeTiledCopyAOp : Cute_TiledCopyOfMmaOp<"A", "((4,8),((2,2,2),(1,1))):((32,1),((16,8,128),(0,0)))", "[16:1;16:1]">;
def Cute_MakeTiledCopyBOp : Cute_TiledCopyOfMmaOp<"B", "((4,8),((2,2),(1,1))):((16,1),((8,64),(0,0)))", "[8:1;16:1]">;
def Cute_MakeTiledCopyCOp : Cute_TiledCopyOfMmaOp<"C", "((4,8),((2,2),(1,1))):((32,1),((16,8),(0,0)))", "[16:1;8:1]">;

class Cute_TiledCopyOfCopyOp<string side, string what>
    : Cute_TilingOp<"make_tiled_copy_" # side, (ins Cute_Atom:$atom, Cute_TiledCopyType:$copy), Cute_TiledCopyType> {
  let summary = "Makes a tiled copy that matches the " # what # " of another";
  let description = [{
    The thread-value layout is that of the other copy's }] # what # [{.

    ```mlir
    %t = cute.make_tiled_copy_}] # side # [{(%a, %c) : (!cute_nvgpu.atom.universal_copy<f16>,
        !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;128:1]">>)
        -> !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16>, layout_copy_tv = <"((16,8),(8,1)):((64,1),(8,0))">, tiler_mn = <"[8:1;128:1]">>
    ```
  }];
}
def Cute_MakeTiledCopySOp : Cute_TiledCopyOfCopyOp<"S", "source">;
def Cute_MakeTiledCopyDOp : Cute_TiledCopyOfCopyOp<"D", "destination">;

class Cute_CopyPartitionOp<string side, string what> : Cute_DivideOp<"tiled.copy.partition_" # side> {
  let summary = "Partitions the " # what # " of a tiled copy by thread";
  let description = [{
    The elements of the thread with the given index: `((values of the atom, atoms), rest...)`.

    If the tile does not divide the tensor, the last tile extends past its end, and the copy needs a predicate.

    Errors: a tiled copy whose instruction has no thread-value layout.

    ```mlir
    %p = cute.tiled.copy.partition_}] # side # [{(%t, %x, %i) : (!cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;128:1]">>,
        !cute.memref<f16, gmem, align<16>, "(32,128):(128,1)">, !cute.coord<"?">) -> !cute.memref<f16, gmem, align<16>, "((8,1),4,1):((1,0),1024,0)">
    ```
  }];
  let arguments = (ins Cute_TiledCopyType:$tiled_copy, Cute_LaidOut:$tensor, Cute_CoordType:$thread);
  let results = (outs Cute_LaidOut:$result);
}
def Cute_CopyPartitionSOp : Cute_CopyPartitionOp<"S", "source">;
def Cute_CopyPartitionDOp : Cute_CopyPartitionOp<"D", "destination">;
def Cute_CopyRetileOp : Cute_DivideOp<"tiled.copy.retile"> {
  let summary = "Rearranges a fragment in the modes of a tiled copy";
  let description = [{
    The fragment of an MMA, `(values, ...)`, as `((values of the copy's atom, atoms), rest...)`; the registers
    are the same.

    ```mlir
    %r = cute.tiled.copy.retile(%t, %x) : (!cute.tiled_copy<!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, layout_copy_tv = <"((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(0,0)))">, tiler_mn = <"[32:1;16:1]">>,
        !cute.memref<f16, rmem, align<32>, "((2,2,2),4,2):((1,2,4),8,32)">) -> !cute.memref<f16, rmem, align<32>, "((8,1),4,2):((1,0),8,32)">
    ```
  }];
  let arguments = (ins Cute_TiledCopyType:$tiled_copy, Cute_LaidOut:$fragment);
  let results = (outs Cute_LaidOut:$result);
}

def Cute_MmaPartitionOp : Cute_DivideOp<"tiled.mma.partition"> {
  let summary = "Partitions A, B or C of a tiled MMA by thread";
  let description = [{
    The elements of the thread with the given index: `(values of the atom, rest of M or N, rest of N or K,
    ...)`.

    ```mlir
    %p = cute.tiled.mma.partition A (%m, %x, %i) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>,
        !cute.memref<f16, smem, align<16>, "(128,32):(32,1)">, !cute.coord<"?">) -> !cute.memref<f16, smem, align<4>, "((2,2,2),4,2):((1,256,8),1024,16)">
    ```
  }];
  let arguments = (ins Cute_TiledMmaType:$tiled_mma, Cute_LaidOut:$tensor, Cute_CoordType:$thread, Cute_MmaOperand:$operand_id);
  let results = (outs Cute_LaidOut:$result);
}
def Cute_MmaPartitionShapeOp : Cute_DivideOp<"tiled.mma.partition_shape"> {
  let summary = "Shape of a thread's partition of A, B or C";
  let description = [{
    The shape that `cute.tiled.mma.partition` yields for a tensor of the given shape.

    ```mlir
    %p = cute.tiled.mma.partition_shape C (%m, %s) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>,
        !cute.shape<"(128,128)">) -> !cute.shape<"((2,2),4,8)">
    ```
  }];
  let arguments = (ins Cute_TiledMmaType:$tiled_mma, Cute_ShapeType:$shape, Cute_MmaOperand:$operand_id);
  let results = (outs Cute_ShapeType:$result);
}
def Cute_MmaMakeFragmentOp : Cute_TypedOp<"mma.make_fragment", []> {
  let summary = "Allocates the fragment of a thread's partition of A, B or C";
  let description = [{
    For C, from a shape or a partition: a new, uninitialized register tensor. For A and B, from a partition: a
    new register tensor, or, if the instruction reads shared memory (`wgmma`, `tcgen05.mma`), a view of its
    descriptors.

    Errors: for `wgmma`, a partition in shared memory that a matrix descriptor cannot express; the message
    lists the supported layouts.

    ```mlir
    %f = cute.mma.make_fragment C (%m, %s) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>,
        !cute.shape<"((2,2),4,8)">) -> !cute.memref<f32, rmem, align<16>, "((2,2),4,8):((1,2),4,16)">
    ```
  }];
  let arguments = (ins Cute_TiledMmaType:$tiled_mma, AnyTypeOf<[Cute_ShapeType, Cute_MemRefType], "!cute.shape or !cute.memref">:$input, Cute_MmaOperand:$operand_id);
  let results = (outs Res<Cute_Fragment, "", [MemAlloc]>:$result);
}

#endif
