// Atoms, tiled copies and MMAs, and how they partition tensors.
#ifndef CUTE_IR_ATOM_OPS_TD
#define CUTE_IR_ATOM_OPS_TD

include "lib/ir/dialects/cute_ops.td"
include "lib/ir/dialects/cute_tensor_types.td"

// A, B or C
def Cute_MmaOperand : ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<2>]>;

def Cute_MakeAtomOp : Cute_Op<"make_atom", [Pure]> {
  let summary = "An atom: one instruction";
  let description = [{
    The type says all of it, but of `wgmma` whether it adds to its accumulator: an `i1`, true where it is left out.

    Refused: other operands.

    ```mlir
    %a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16, 128 b>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$fields);
  let results = (outs Cute_Atom:$atom);
}
// Of one operand the result type says how the atom is laid over threads and values; of more it follows.
class Cute_TilingOp<string m, dag ins, Type result> : Cute_TypedOp<m, [Pure]> {
  let arguments = ins;
  let results = (outs result:$tiled);
}
def Cute_TilingPart : AnyTypeOf<[Cute_LayoutType, Cute_TileType, Cute_ShapeType], "!cute.layout, !cute.tile, or !cute.shape">;

def Cute_MakeTiledCopyOp : Cute_TilingOp<"make_tiled_copy", (ins Cute_Atom:$atom, Variadic<Cute_TilingPart>:$parts), Cute_TiledCopyType> {
  let summary = "A copy atom laid over threads and values";
  let description = [{
    `(atom, threads and values, tiler)`: the layout takes a thread and a value to the index of an element in the tile.
    `(atom, threads, values)`: two layouts take a coordinate of the tile to the thread and to the value; the tile is as large as
    their product. `(atom)`: the result type says how.

    Refused: layouts that are not static; an atom that is not the one of the result type; a layout of threads and values that
    has no whole number of the atom's.

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
  let summary = "An MMA atom laid over warps";
  let description = [{
    `(atom, layout of atoms over M, N and K, permutation)`: modes of the layout that are left out have one atom; the permutation,
    a tile of M, N and K, may be left out. `(atom)`: the result type says how; where it is not written, one atom.

    Refused: a layout that is not static or has more than three modes; an atom that is not the one of the result type.

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
  let summary = "A copy of what each thread of a tiled MMA has of " # operand;
  let description = [{
    The thread-value layout is the MMA's, the tiler its tile.

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
  let summary = "A copy of what each thread of another one " # what;
  let description = [{
    The threads and values of the other copy's }] # what # [{ side.

    ```mlir
    %t = cute.make_tiled_copy_}] # side # [{(%a, %c) : (!cute_nvgpu.atom.universal_copy<f16>,
        !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;128:1]">>)
        -> !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16>, layout_copy_tv = <"((16,8),(8,1)):((64,1),(8,0))">, tiler_mn = <"[8:1;128:1]">>
    ```
  }];
}
def Cute_MakeTiledCopySOp : Cute_TiledCopyOfCopyOp<"S", "reads">;
def Cute_MakeTiledCopyDOp : Cute_TiledCopyOfCopyOp<"D", "writes">;

class Cute_CopyPartitionOp<string side, string what> : Cute_DivideOp<"tiled.copy.partition_" # side> {
  let summary = "What a thread of a tiled copy " # what # " of a tensor";
  let description = [{
    `((values of the atom, atoms), rest...)` of the tensor's tiles, for the thread of that index.

    The last tile of a tensor that it does not divide reaches out of it: such a part is copied by a predicate.

    Refused: a tiled copy whose instruction has no layouts.

    ```mlir
    %p = cute.tiled.copy.partition_}] # side # [{(%t, %x, %i) : (!cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;128:1]">>,
        !cute.memref<f16, gmem, align<16>, "(32,128):(128,1)">, !cute.coord<"?">) -> !cute.memref<f16, gmem, align<16>, "((8,1),4,1):((1,0),1024,0)">
    ```
  }];
  let arguments = (ins Cute_TiledCopyType:$tiled_copy, Cute_LaidOut:$tensor, Cute_CoordType:$thread);
  let results = (outs Cute_LaidOut:$result);
}
def Cute_CopyPartitionSOp : Cute_CopyPartitionOp<"S", "reads">;
def Cute_CopyPartitionDOp : Cute_CopyPartitionOp<"D", "writes">;
def Cute_CopyRetileOp : Cute_DivideOp<"tiled.copy.retile"> {
  let summary = "A thread's fragment in the modes of a tiled copy";
  let description = [{
    The fragment of an MMA, `(values, ...)`, as `((values of the copy's atom, atoms), rest...)`: the same registers.

    ```mlir
    %r = cute.tiled.copy.retile(%t, %x) : (!cute.tiled_copy<!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, layout_copy_tv = <"((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(0,0)))">, tiler_mn = <"[32:1;16:1]">>,
        !cute.memref<f16, rmem, align<32>, "((2,2,2),4,2):((1,2,4),8,32)">) -> !cute.memref<f16, rmem, align<32>, "((8,1),4,2):((1,0),8,32)">
    ```
  }];
  let arguments = (ins Cute_TiledCopyType:$tiled_copy, Cute_LaidOut:$fragment);
  let results = (outs Cute_LaidOut:$result);
}

def Cute_MmaPartitionOp : Cute_DivideOp<"tiled.mma.partition"> {
  let summary = "What a thread of a tiled MMA has of A, B or C";
  let description = [{
    `(values of the atom, rest of M or N, rest of N or K, ...)` for the thread of that index.

    ```mlir
    %p = cute.tiled.mma.partition A (%m, %x, %i) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>,
        !cute.memref<f16, smem, align<16>, "(128,32):(32,1)">, !cute.coord<"?">) -> !cute.memref<f16, smem, align<4>, "((2,2,2),4,2):((1,256,8),1024,16)">
    ```
  }];
  let arguments = (ins Cute_TiledMmaType:$tiled_mma, Cute_LaidOut:$tensor, Cute_CoordType:$thread, Cute_MmaOperand:$operand_id);
  let results = (outs Cute_LaidOut:$result);
}
def Cute_MmaPartitionShapeOp : Cute_DivideOp<"tiled.mma.partition_shape"> {
  let summary = "The shape of what a thread has of A, B or C";
  let description = [{
    Of a tensor of that shape: `cute.tiled.mma.partition` without the tensor.

    ```mlir
    %p = cute.tiled.mma.partition_shape C (%m, %s) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>,
        !cute.shape<"(128,128)">) -> !cute.shape<"((2,2),4,8)">
    ```
  }];
  let arguments = (ins Cute_TiledMmaType:$tiled_mma, Cute_ShapeType:$shape, Cute_MmaOperand:$operand_id);
  let results = (outs Cute_ShapeType:$result);
}
def Cute_MmaMakeFragmentOp : Cute_TypedOp<"mma.make_fragment", []> {
  let summary = "Registers for a thread's part of A, B or C";
  let description = [{
    Of C from a shape or a partition: a new tensor, uninitialised. Of A and B from a partition: a new tensor in registers; of
    an instruction that reads shared memory (`wgmma`, `tcgen05.mma`), a view of its descriptors.

    Refused: of `wgmma` a partition in shared memory that no matrix descriptor expresses; the message says which layouts would do.

    ```mlir
    %f = cute.mma.make_fragment C (%m, %s) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>,
        !cute.shape<"((2,2),4,8)">) -> !cute.memref<f32, rmem, align<16>, "((2,2),4,8):((1,2),4,16)">
    ```
  }];
  let arguments = (ins Cute_TiledMmaType:$tiled_mma, AnyTypeOf<[Cute_ShapeType, Cute_MemRefType], "!cute.shape or !cute.memref">:$input, Cute_MmaOperand:$operand_id);
  let results = (outs Res<Cute_Fragment, "", [MemAlloc]>:$result);
}

#endif
