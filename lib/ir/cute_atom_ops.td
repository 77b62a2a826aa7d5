// Atoms, tiled copies and MMAs, and how they partition tensors.
#ifndef CUTE_IR_ATOM_OPS_TD
#define CUTE_IR_ATOM_OPS_TD

include "lib/ir/cute_ops.td"
include "lib/ir/cute_tensor_types.td"

def Cute_MakeAtomOp : Cute_Op<"make_atom", [Pure]> {
  let summary = "An atom: one instruction";
  let description = [{
    The type says all of it.

    ```mlir
    %a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16, 128 b>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$fields);
  let results = (outs Cute_Atom:$atom);
}
def Cute_MakeTiledCopyOp : Cute_Op<"make_tiled_copy", [Pure]> {
  let summary = "A copy atom laid over threads and values";
  let description = [{
    The result type says how.

    Refused: an atom that is not the one of the result type, a layout of threads and values that does not suit it.

    ```mlir
    %t = cute.make_tiled_copy(%a) : (!cute_nvgpu.atom.universal_copy<f16, 128 b>)
        -> !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;128:1]">>
    ```
  }];
  let arguments = (ins Cute_Atom:$atom);
  let results = (outs Cute_TiledCopyType:$tiled);
}
def Cute_MakeTiledMmaOp : Cute_Op<"make_tiled_mma", [Pure]> {
  let summary = "An MMA atom laid over warps";
  let description = [{
    The result type says how.

    Refused: an atom that is not the one of the result type.

    ```mlir
    %m = cute.make_tiled_mma(%a) : (!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >)
        -> !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
    ```
  }];
  let arguments = (ins Cute_Atom:$atom);
  let results = (outs Cute_TiledMmaType:$tiled);
}

class Cute_CopyPartitionOp<string side, string what> : Cute_DivideOp<"tiled.copy.partition_" # side> {
  let summary = "What a thread of a tiled copy " # what # " of a tensor";
  let description = [{
    `((values of the atom, atoms), rest...)` of the tensor's tiles, for the thread of that index.

    Refused: a tensor that the tile does not divide; a tiled copy whose instruction has no layouts.

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
  let arguments = (ins Cute_TiledMmaType:$tiled_mma, Cute_LaidOut:$tensor, Cute_CoordType:$thread, I32Attr:$operand_id);
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
  let arguments = (ins Cute_TiledMmaType:$tiled_mma, Cute_ShapeType:$shape, I32Attr:$operand_id);
  let results = (outs Cute_ShapeType:$result);
}
def Cute_MmaMakeFragmentOp : Cute_Op<"mma.make_fragment"> {
  let summary = "Registers for a thread's part of A, B or C";
  let description = [{
    Of C from a shape or a partition: a new tensor, uninitialised. Of A and B from a partition: a new tensor in registers; of
    an instruction that reads shared memory (`wgmma`, `tcgen05.mma`), a view of its descriptors.

    ```mlir
    %f = cute.mma.make_fragment C (%m, %s) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>,
        !cute.shape<"((2,2),4,8)">) -> !cute.memref<f32, rmem, align<32>, "((2,2),4,8):((1,2),4,16)">
    ```
  }];
  let arguments = (ins Cute_TiledMmaType:$tiled_mma, AnyTypeOf<[Cute_ShapeType, Cute_MemRefType], "!cute.shape or !cute.memref">:$input, I32Attr:$operand_id);
  let results = (outs Res<Cute_Fragment, "", [MemAlloc]>:$result);
}

#endif
