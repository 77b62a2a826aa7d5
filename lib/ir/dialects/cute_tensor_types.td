// Types of tensors, iterators, tiled copies and tiled MMAs: rows of types.def.
#ifndef CUTE_IR_TENSOR_TYPES_TD
#define CUTE_IR_TENSOR_TYPES_TD

include "lib/ir/dialects/cute_types.td"

class Cute_Row<string cls, string mnem, string sum, string text> : Cute_RowType<Cute_Dialect, cls, mnem, sum, text>;

def Cute_PtrType : Cute_Row<"Ptr", "ptr", "Typed pointer with a memory space", [{
    Element type, memory space (`gmem`, `smem`, `dsmem` (shared memory of another block of the cluster),
    `rmem`, `tmem` or `generic`), the alignment in bytes if it exceeds the element's, and an optional swizzle
    of byte addresses. The swizzle keeps elements intact: its base is at least log2 of the element size in
    bytes.

    ```mlir
    !cute.ptr<f16, gmem>
    !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
    ```
  }]>;
def Cute_MemRefType : Cute_Row<"MemRef", "memref", "Tensor in memory: a pointer and a layout", [{
    The parameters of the pointer, then the layout: coordinate `c` addresses the element at offset `L(c)` from
    the pointer, in elements.

    ```mlir
    !cute.memref<f16, gmem, align<16>, "(?,8):(8,1)">
    !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(8,64):(64,1)">
    ```
  }]>;
def Cute_CoordTensorType : Cute_Row<"CoordTensor", "coord_tensor", "Tensor of coordinates: a start coordinate and a layout with basis strides", [{
    Elements are computed, not stored: the element at `c` is the start plus `L(c)`. When partitioned like the
    tensor whose coordinates it holds, it gives the original coordinate of each element, for predicates.

    ```mlir
    !cute.coord_tensor<"(0,0)", "(8,8):(1@0,1@1)">
    ```
  }]>;
def Cute_ArithTupleIterType : Cute_Row<"ArithTupleIter", "arith_tuple_iter", "Iterator of a tensor of coordinates", [{
    ```mlir
    !cute.arith_tuple_iter<"(0,?)">
    ```
  }]>;
class Cute_MultipleType<string width> : Cute_Row<"I" # width, "i" # width, "" # width # "-bit integer with a known divisor", [{
    The result of `cute.assume`. Leaves made from it carry the divisor, as `?{div=N}`.

    ```mlir
    !cute.i}] # width # [{<divby 16>
    ```
  }]>;
def Cute_I8Type : Cute_MultipleType<"8">;
def Cute_I16Type : Cute_MultipleType<"16">;
def Cute_I32Type : Cute_MultipleType<"32">;
def Cute_I64Type : Cute_MultipleType<"64">;
def Cute_FastDivmodDivisorType : Cute_Row<"FastDivmodDivisor", "fast_divmod_divisor", "Precomputed divisor: division by it takes a multiplication and shifts", [{
    The parameter is the width of the integers in bits.

    ```mlir
    !cute.fast_divmod_divisor<32>
    ```
  }]>;
def Cute_TiledCopyType : Cute_Row<"TiledCopy", "tiled_copy", "Copy atom tiled over threads and values", [{
    `layout_copy_tv` maps (thread, value) to an index in the tile; `tiler_mn` is the tile.

    ```mlir
    !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;128:1]">>
    ```
  }]>;
def Cute_TiledMmaType : Cute_Row<"TiledMma", "tiled_mma", "MMA atom tiled over warps and repeated", [{
    `atom_layout_MNK` arranges the atoms over M, N and K; `permutation_MNK` is the tile that they cover (its
    modes are permuted if a slot is a layout).

    ```mlir
    !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
    ```
  }]>;

#endif
