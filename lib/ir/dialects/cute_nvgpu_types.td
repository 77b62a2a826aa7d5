// The dialect cute_nvgpu, its types and attributes. Types are rows of types.def, attributes rows of words.def; the
// definitions here document them and constrain operands.
#ifndef CUTE_IR_NVGPU_TYPES_TD
#define CUTE_IR_NVGPU_TYPES_TD

include "lib/ir/dialects/cute_types.td"

def CuteNvgpu_Dialect : Dialect {
  let name = "cute_nvgpu";
  let cppNamespace = "::cute_nvgpu";
  let summary = "CuTe atoms and instructions of NVIDIA GPUs";
  let description = [{
    An atom is one copy or MMA instruction; its type determines the instruction and the distribution of values over
    threads. `cute.make_atom` makes an atom, `cute.make_tiled_copy` and `cute.make_tiled_mma` tile it over more threads
    and values, `cute.copy` and `cute.gemm` execute it. Synchronization and communication between threads (barriers,
    shuffles, votes, reductions, fences, groups of asynchronous copies) are the operations `cute_nvgpu.arch.*`.

    Types and operations of sm_100 are parsed, verified and printed; they are not lowered.
  }];
  let useDefaultTypePrinterParser = 0;
  let useDefaultAttributePrinterParser = 0;
  let extraClassDeclaration = Cute_reader # [{
    ::cute::OpRows rows;
    static constexpr ::llvm::StringLiteral textTypeName = "cute_nvgpu.text";
    ::mlir::Type parseType(::mlir::DialectAsmParser &parser) const override;
    void printType(::mlir::Type type, ::mlir::DialectAsmPrinter &printer) const override;
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute, ::mlir::DialectAsmPrinter &printer) const override;
  }];
  let dependentDialects = ["::cute::CuteDialect"];
}

class CuteNvgpu_Type<string cls, string mnem, string sum, string text>
    : Cute_RowType<CuteNvgpu_Dialect, cls, mnem, sum, text>;

// ---- copies ----
def CuteNvgpu_UniversalCopyType : CuteNvgpu_Type<"UniversalCopy", "atom.universal_copy", "Copy of `N b` between any two memory spaces", [{
    A load and a store of N bits by one thread (`b` means bits), by default one element: `ld` and `st` of the
    memory spaces of the tensors. Cache hints such as `l1_cache_eviction_priority` are optional.

    ```mlir
    !cute_nvgpu.atom.universal_copy<f16, 128 b>
    !cute_nvgpu.atom.universal_copy<f32>
    ```
  }]>;
def CuteNvgpu_SimtAsyncCopyType : CuteNvgpu_Type<"SimtAsyncCopy", "atom.simt_async_copy", "`cp.async`: global to shared memory (sm_80 or later)", [{
    An asynchronous copy of 32, 64 or 128 bits, completed by `nvvm.cp.async.commit.group` and
    `nvvm.cp.async.wait.group`. `cache = global` is `.cg` (128 bits only), `cache = always` is `.ca`.
    `l2_eviction` is the policy of `.L2::cache_hint` (`evict_first`, `evict_last`, `evict_normal`,
    `evict_unchanged`); `l2_prefetch` is the L2 prefetch size, 64, 128 or 256 bytes.

    ```mlir
    !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
    !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b, l2_eviction = evict_first, l2_prefetch = 128>
    ```
  }]>;
def CuteNvgpu_LdsmType : CuteNvgpu_Type<"Ldsm", "atom.ldsm", "`ldmatrix`: 8x8 matrices from shared memory to registers (sm_75 or later)", [{
    1, 2 or 4 matrices of 8 rows of 16 bytes; `n` is not transposed, `t` is transposed.

    ```mlir
    !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
    ```
  }]>;
def CuteNvgpu_StsmType : CuteNvgpu_Type<"Stsm", "atom.stsm", "`stmatrix`: 8x8 matrices from registers to shared memory (sm_90 or later)", [{
    ```mlir
    !cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 4, n>
    ```
  }]>;
// ---- multiply-accumulate ----
def CuteNvgpu_UniversalFmaType : CuteNvgpu_Type<"UniversalFma", "atom.universal_fma", "`d = a * b + c` in one thread", [{
    ```mlir
    !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32>
    ```
  }]>;
def CuteNvgpu_Sm75MmaType : CuteNvgpu_Type<"Sm75Mma", "sm75.mma", "`mma.sync` of a warp (sm_75 or later)", [{
    ```mlir
    !cute_nvgpu.sm75.mma<16x8x8, elem_type = (f16, f16, f32)>
    ```
  }]>;
def CuteNvgpu_Sm80MmaType : CuteNvgpu_Type<"Sm80Mma", "sm80.mma", "`mma.sync` of a warp (sm_80 or later)", [{
    `MxNxK` and the element types of A, B and the accumulator.

    ```mlir
    !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
    ```
  }]>;
def CuteNvgpu_Sm89MmaType : CuteNvgpu_Type<"Sm89Mma", "sm89.mma", "`mma.sync` of 8-bit floats (sm_89 or later)", [{
    ```mlir
    !cute_nvgpu.sm89.mma<16x8x32, elem_type = (f8E4M3FN, f8E4M3FN, f32)>
    ```
  }]>;
def CuteNvgpu_Sm90MmaType : CuteNvgpu_Type<"Sm90Mma", "sm90.mma", "`wgmma` of a warpgroup (sm_90a)", [{
    M is 64; N is 8 to 256 in steps of 8 (for integers above 32 in steps of 16); K is 32 bytes. Element types
    of A, B and the accumulator: (f16, f16, f32 or f16), (bf16, bf16, f32), (tf32, tf32, f32), pairs of 8-bit
    floats with f32 or f16, pairs of `i8` and `ui8` with `i32` and `satfinite`, (i1, i1, i32). `ab_major` is
    the contiguous mode of A and of B in shared memory: `k` (default) or, for 16-bit elements, `mn`.
    `frag_kind` is the location of A: `ss` shared memory, `rs` registers. A value of the type also holds
    whether the product is added to the accumulator, which is the default of `cute.make_atom`.

    ```mlir
    !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
    ```
  }]>;
def CuteNvgpu_Sm100MmaType : CuteNvgpu_Type<"Sm100Mma", "sm100.mma", "`tcgen05.mma` (sm_100)", [{
    Parameters are those of `sm90.mma`; `num_cta` is the number of cooperating blocks; `frag_kind = ts` has A
    in tensor memory.

    ```mlir
    !cute_nvgpu.sm100.mma<128x128x16, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss, c_scale_exp = 0>
    ```
  }]>;
// ---- the tensor memory accelerator ----
def CuteNvgpu_BulkCopyType : CuteNvgpu_Type<"BulkCopy", "atom.bulk_copy", "`cp.async.bulk`: contiguous bytes, without a tensor map (sm_90 or later)", [{
    `g2s` is global to shared memory, `s2g` shared to global, `s2d` shared memory to that of another block
    (`dsmem`). `g2s` and `s2d` have an mbarrier (field `tma_bar`), `g2s` also a multicast mask (`mcast_mask`),
    `g2s` and `s2g` an L2 policy (`cache_policy`). With `kind`, an `s2g` copy reduces: `ADD`, `MIN`, `MAX`,
    `INC`, `DEC`, `AND`, `OR` or `XOR`, if `cp.reduce.async.bulk` supports it for the element type.

    ```mlir
    !cute_nvgpu.atom.bulk_copy<f16, g2s>
    !cute_nvgpu.atom.bulk_copy<f32, s2g, kind = ADD>
    ```
  }]>;
def CuteNvgpu_NonExecTmaLoadType : CuteNvgpu_Type<"NonExecTmaLoad", "atom.non_exec_tiled_tma_load", "Tiled TMA load without a barrier (sm_90 or later)", [{
    `copy_bits` is the size of a tile, `tma_gbasis` maps elements of the tile to coordinates of the tensor,
    `tma_format` is the data type of the tensor map.

    ```mlir
    !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>
    ```
  }]>;
def CuteNvgpu_NonExecTmaStoreType : CuteNvgpu_Type<"NonExecTmaStore", "atom.non_exec_tiled_tma_store", "Tiled TMA store (sm_90 or later)", [{
    ```mlir
    !cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 32768, tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">, tma_format = F16_RN>
    ```
  }]>;
def CuteNvgpu_NonExecTmaReduceType : CuteNvgpu_Type<"NonExecTmaReduce", "atom.non_exec_tiled_tma_reduce", "Tiled TMA reduction (sm_90 or later)", [{
    ```mlir
    !cute_nvgpu.atom.non_exec_tiled_tma_reduce<ADD, f32, copy_bits = 131072, tma_gbasis = <"(32,128,1):(1@1,1@0,1@2)">, tma_format = F32_RN>
    ```
  }]>;
def CuteNvgpu_NonExecIm2colLoadType : CuteNvgpu_Type<"NonExecIm2colLoad", "atom.non_exec_im2col_tma_load", "Im2col TMA load without a barrier (sm_90 or later)", [{
    `tma_gbasis` holds the channels of a pixel, the pixels of a column, and a 1 for each further dimension.

    ```mlir
    !cute_nvgpu.atom.non_exec_im2col_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1,1):(1@0,1@1,1@2,1@3)">, tma_format = F16_RN>
    ```
  }]>;
def CuteNvgpu_NonExecIm2colStoreType : CuteNvgpu_Type<"NonExecIm2colStore", "atom.non_exec_im2col_tma_store", "Im2col TMA store (sm_90 or later)", [{
    ```mlir
    !cute_nvgpu.atom.non_exec_im2col_tma_store<f32, copy_bits = 65536, tma_gbasis = <"(32,64,1):(1@0,1@1,1@2)">, tma_format = F32_RN>
    ```
  }]>;
def CuteNvgpu_NonExecIm2colReduceType : CuteNvgpu_Type<"NonExecIm2colReduce", "atom.non_exec_im2col_tma_reduce", "Im2col TMA reduction (sm_90 or later)", [{
    ```mlir
    !cute_nvgpu.atom.non_exec_im2col_tma_reduce<ADD, f32, copy_bits = 65536, tma_gbasis = <"(32,64,1):(1@0,1@1,1@2)">, tma_format = F32_RN>
    ```
  }]>;
def CuteNvgpu_TmaLoadType : CuteNvgpu_Type<"TmaLoad", "atom.tma_load", "Executable TMA load, with tensor map and barrier", [{
    The result of `cute_nvgpu.atom.make_exec_tma` for a `non_exec_tiled_tma_load`, or (`mode = im2col`) a
    `non_exec_im2col_tma_load`.

    ```mlir
    !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, mode = tiled, num_cta = 1, g_stride = <"()"> tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">>
    ```
  }]>;
def CuteNvgpu_TmaStoreType : CuteNvgpu_Type<"TmaStore", "atom.tma_store", "Executable TMA store", [{
    ```mlir
    !cute_nvgpu.atom.tma_store<f16, copy_bits = 32768, mode = tiled, g_stride = <"()"> tma_gbasis = <"(64,32,1):(1@0,1@1,1@2)">>
    ```
  }]>;
def CuteNvgpu_TmaReduceType : CuteNvgpu_Type<"TmaReduce", "atom.tma_reduce", "Executable TMA reduction", [{
    ```mlir
    !cute_nvgpu.atom.tma_reduce<f32, copy_bits = 131072, mode = tiled, kind = ADD, g_stride = <"()"> tma_gbasis = <"(32,128,1):(1@1,1@0,1@2)">>
    ```
  }]>;
def CuteNvgpu_TmemLoadType : CuteNvgpu_Type<"TmemLoad", "atom.tmem_load", "`tcgen05.ld`: tensor memory to registers (sm_100)", [{
    The parameters are the data paths, bits and repetitions of the instruction.

    ```mlir
    !cute_nvgpu.atom.tmem_load<f32, 32 DP, 32 bit, x128>
    ```
  }]>;
def CuteNvgpu_TmemStoreType : CuteNvgpu_Type<"TmemStore", "atom.tmem_store", "`tcgen05.st`: registers to tensor memory (sm_100)", [{
    ```mlir
    !cute_nvgpu.atom.tmem_store<f32, 32 DP, 32 bit, x2>
    ```
  }]>;
// ---- descriptors ----
def CuteNvgpu_SmemDescType : CuteNvgpu_Type<"SmemDesc", "smem_desc", "64-bit matrix descriptor of shared memory, for `wgmma` and `tcgen05.mma`", [{
    The address, the offsets of the core matrices and the swizzle (PTX ISA, Matrix-descriptor format). Offsets
    added to a descriptor are in units of 16 bytes.

    ```mlir
    !cute_nvgpu.smem_desc
    ```
  }]>;
def CuteNvgpu_SmemDescViewType : CuteNvgpu_Type<"SmemDescView", "smem_desc_view", "Tensor of matrix descriptors", [{
    Mode 0 is one matrix; the strides of the other modes are in units of the descriptor's address, 16 bytes.
    Supported by operations on the layouts of tensors: slices, `cute.get_iter`, `cute.get_layout`,
    `cute.make_view`, `cute.group_modes`.

    ```mlir
    !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2,4):(0,512,2)">
    ```
  }]>;
def CuteNvgpu_TmaDescriptorTiledType : CuteNvgpu_Type<"TmaDescriptorTiled", "tma_descriptor_tiled", "Tensor map (128 bytes)", [{
    ```mlir
    !cute_nvgpu.tma_descriptor_tiled
    ```
  }]>;

// ---- attributes: one enumerator each ----
class CuteNvgpu_Attr<string cls, string mnem, string sum, string text>
    : AttrDef<CuteNvgpu_Dialect, cls> {
  let mnemonic = mnem;
  let summary = sum;
  let description = text;
  let predicate = CPred<"::cute_nvgpu::isWord($_self, CUTE_WORD_INDEX_" # cls # ")">;
}
def CuteNvgpu_TmaLoadField : CuteNvgpu_Attr<"TmaLoadField", "atom_copy_field_tmaload", "Run-time field of a TMA load", [{
    ```mlir
    #cute_nvgpu.atom_copy_field_tmaload<tma_bar>
    ```
  }]>;
def CuteNvgpu_TmaStoreField : CuteNvgpu_Attr<"TmaStoreField", "atom_copy_field_tmastore", "Run-time field of a TMA store", [{
    ```mlir
    #cute_nvgpu.atom_copy_field_tmastore<tma_descriptor_ptr>
    ```
  }]>;
def CuteNvgpu_Sm90MmaField : CuteNvgpu_Attr<"Sm90MmaField", "atom_mma_field_sm90", "Run-time field of a `wgmma`", [{
    `accum_c`: whether it adds to its accumulator. `neg_a`, `neg_b`: whether A, B are negated (floats only,
    constants).

    ```mlir
    #cute_nvgpu.atom_mma_field_sm90<accum_c>
    ```
  }]>;
def CuteNvgpu_Sm100MmaField : CuteNvgpu_Attr<"Sm100MmaField", "atom_mma_field_sm100", "Run-time field of a `tcgen05.mma`", [{
    ```mlir
    #cute_nvgpu.atom_mma_field_sm100<accum_c>
    ```
  }]>;
def CuteNvgpu_TiledTmaLoad : CuteNvgpu_Attr<"TiledTmaLoad", "tiled_tma_load", "Architecture and number of blocks of a TMA load", [{
    ```mlir
    #cute_nvgpu.tiled_tma_load<sm_90>
    ```
  }]>;
def CuteNvgpu_TmaDataFormat : CuteNvgpu_Attr<"TmaDataFormat", "tma_data_format", "Data type of a tensor map", [{
    ```mlir
    #cute_nvgpu.tma_data_format<TF32_RN>
    ```
  }]>;
def CuteNvgpu_TmaReduceKind : CuteNvgpu_Attr<"TmaReduceKind", "tma_reduce_kind", "Reduction of a TMA store", [{
    ```mlir
    #cute_nvgpu.tma_reduce_kind<ADD>
    ```
  }]>;

def CuteNvgpu_LdsmSzPattern : CuteNvgpu_Attr<"LdsmSzPattern", "ldsm_sz_pattern", "Element unit that `ldmatrix` unpacks", [{
    ```mlir
    #cute_nvgpu.ldsm_sz_pattern<u16>
    ```
  }]>;
def CuteNvgpu_LoadCacheMode : CuteNvgpu_Attr<"LoadCacheMode", "load_cache_mode", "Cache operator of a `cp.async`", [{
    `always` is `.ca` (L1 and L2), `global` is `.cg` (L2).

    ```mlir
    #cute_nvgpu.load_cache_mode<global>
    ```
  }]>;
def CuteNvgpu_L2Eviction : CuteNvgpu_Attr<"L2Eviction", "l2_eviction", "L2 eviction policy of a `cp.async`", [{
    The policy of `createpolicy.fractional`: `evict_first`, `evict_last`, `evict_normal` or `evict_unchanged`.

    ```mlir
    #cute_nvgpu.l2_eviction<evict_first>
    ```
  }]>;

#endif
