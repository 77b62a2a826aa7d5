// Types of tensors, of where they are, and of atoms laid over threads: rows of types.def.
#ifndef CUTE_IR_TENSOR_TYPES_TD
#define CUTE_IR_TENSOR_TYPES_TD

include "lib/ir/dialects/cute_types.td"

class Cute_Row<string cls, string mnem, string sum, string text> : Cute_RowType<Cute_Dialect, cls, mnem, sum, text>;

def Cute_PtrType : Cute_Row<"Ptr", "ptr", "Address of elements in a memory", [{
    Element type, space (`gmem`, `smem`, `dsmem`: of another block of the cluster, `rmem`, `tmem`, `generic`), the alignment in bytes where it is more than an
    element's, and the swizzle of addresses in bytes, if any. It leaves elements whole: its base is at least log2 of their bytes.

    ```mlir
    !cute.ptr<f16, gmem>
    !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
    ```
  }]>;
def Cute_MemRefType : Cute_Row<"MemRef", "memref", "Tensor in memory: a pointer and a layout", [{
    The pointer's parameters, then the layout: the element at coordinate `c` lies `L(c)` elements behind the pointer.

    ```mlir
    !cute.memref<f16, gmem, align<16>, "(?,8):(8,1)">
    !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(8,64):(64,1)">
    ```
  }]>;
def Cute_CoordTensorType : Cute_Row<"CoordTensor", "coord_tensor", "Tensor of coordinates: where it begins, and a layout of basis strides", [{
    Its elements are computed: the coordinate `c` holds the start plus `L(c)`. Partitioned as the tensor whose
    coordinates it has, it says where each element of a part was, for predicates.

    ```mlir
    !cute.coord_tensor<"(0,0)", "(8,8):(1@0,1@1)">
    ```
  }]>;
def Cute_ArithTupleIterType : Cute_Row<"ArithTupleIter", "arith_tuple_iter", "Where a tensor of coordinates begins", [{
    ```mlir
    !cute.arith_tuple_iter<"(0,?)">
    ```
  }]>;
class Cute_MultipleType<string width> : Cute_Row<"I" # width, "i" # width, "Integer of " # width # " bits that is known to be a multiple", [{
    What `cute.assume` makes of an integer: the promise goes into the leaves that are made of it, as `?{div=N}`.

    ```mlir
    !cute.i}] # width # [{<divby 16>
    ```
  }]>;
def Cute_I8Type : Cute_MultipleType<"8">;
def Cute_I16Type : Cute_MultipleType<"16">;
def Cute_I32Type : Cute_MultipleType<"32">;
def Cute_I64Type : Cute_MultipleType<"64">;
def Cute_FastDivmodDivisorType : Cute_Row<"FastDivmodDivisor", "fast_divmod_divisor", "A divisor, prepared so that dividing by it takes a multiplication", [{
    Of integers of that many bits.

    ```mlir
    !cute.fast_divmod_divisor<32>
    ```
  }]>;
def Cute_TiledCopyType : Cute_Row<"TiledCopy", "tiled_copy", "A copy atom laid over threads and values", [{
    `layout_copy_tv` maps (thread, value) to an index in the tile, `tiler_mn` is the tile.

    ```mlir
    !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;128:1]">>
    ```
  }]>;
def Cute_TiledMmaType : Cute_Row<"TiledMma", "tiled_mma", "An MMA atom laid over warps and repeated", [{
    `atom_layout_MNK` says how atoms stand side by side, `permutation_MNK` the tile that they cover (with modes
    reordered where a slot is a layout).

    ```mlir
    !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
    ```
  }]>;

#endif
