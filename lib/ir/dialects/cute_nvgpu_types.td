// The dialect cute_nvgpu, its types and attributes. Types are rows of types.def, attributes of words.def; they stand here
// for their documentation and as constraints of operands.
#ifndef CUTE_IR_NVGPU_TYPES_TD
#define CUTE_IR_NVGPU_TYPES_TD

include "lib/ir/dialects/cute_types.td"

def CuteNvgpu_Dialect : Dialect {
  let name = "cute_nvgpu";
  let cppNamespace = "::cute_nvgpu";
  let summary = "Instructions of NVIDIA's GPUs as CuTe sees them";
  let description = [{
    An atom is one instruction that copies or multiplies: its type says which, and with it which thread holds which
    value. `cute.make_atom` makes one, `cute.make_tiled_copy` and `cute.make_tiled_mma` lay it over more threads and
    values, `cute.copy` and `cute.gemm` run it. What threads say to one another (barriers, shuffles, votes,
    reductions, fences, groups of asynchronous copies) are operations `cute_nvgpu.arch.*`.

    Types and operations of sm_100 are read, checked for their operands and printed; they are not lowered.
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
def CuteNvgpu_UniversalCopyType : CuteNvgpu_Type<"UniversalCopy", "atom.universal_copy", "Copy of `N b` between any two spaces", [{
    A load and a store of N bits by one thread: `ld` and `st` of the spaces of its tensors, as wide as N (`b` is bits).
    Without N an element. `l1_cache_eviction_priority` and the like say how caches treat it.

    ```mlir
    !cute_nvgpu.atom.universal_copy<f16, 128 b>
    !cute_nvgpu.atom.universal_copy<f32>
    ```
  }]>;
def CuteNvgpu_SimtAsyncCopyType : CuteNvgpu_Type<"SimtAsyncCopy", "atom.simt_async_copy", "`cp.async`: from global to shared memory, from sm_80 on", [{
    32, 64 or 128 bits that arrive later (`nvvm.cp.async.commit.group`, `nvvm.cp.async.wait.group`). `cache = global`
    is `.cg` (128 bits only), `cache = always` is `.ca`. `l2_eviction` is the policy of its `.L2::cache_hint` (`evict_first`,
    `evict_last`, `evict_normal`, `evict_unchanged`); with `l2_prefetch` the L2 fetches 64, 128 or 256 bytes around the source.

    ```mlir
    !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
    !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b, l2_eviction = evict_first, l2_prefetch = 128>
    ```
  }]>;
def CuteNvgpu_LdsmType : CuteNvgpu_Type<"Ldsm", "atom.ldsm", "`ldmatrix`: 8x8 matrices of shared memory into registers, from sm_75 on", [{
    1, 2 or 4 matrices of 8 rows of 16 bytes; `n` as they lie, `t` transposed.

    ```mlir
    !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
    ```
  }]>;
def CuteNvgpu_StsmType : CuteNvgpu_Type<"Stsm", "atom.stsm", "`stmatrix`: registers into 8x8 matrices of shared memory, from sm_90 on", [{
    ```mlir
    !cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 4, n>
    ```
  }]>;
// ---- multiply-accumulate ----
def CuteNvgpu_UniversalFmaType : CuteNvgpu_Type<"UniversalFma", "atom.universal_fma", "`d = a * b + c` of one thread", [{
    ```mlir
    !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32>
    ```
  }]>;
def CuteNvgpu_Sm75MmaType : CuteNvgpu_Type<"Sm75Mma", "sm75.mma", "`mma.sync` of a warp, from sm_75 on", [{
    ```mlir
    !cute_nvgpu.sm75.mma<16x8x8, elem_type = (f16, f16, f32)>
    ```
  }]>;
def CuteNvgpu_Sm80MmaType : CuteNvgpu_Type<"Sm80Mma", "sm80.mma", "`mma.sync` of a warp, from sm_80 on", [{
    `MxNxK` and the element types of A, B and the accumulator.

    ```mlir
    !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
    ```
  }]>;
def CuteNvgpu_Sm89MmaType : CuteNvgpu_Type<"Sm89Mma", "sm89.mma", "`mma.sync` of 8-bit floats, from sm_89 on", [{
    ```mlir
    !cute_nvgpu.sm89.mma<16x8x32, elem_type = (f8E4M3FN, f8E4M3FN, f32)>
    ```
  }]>;
def CuteNvgpu_Sm90MmaType : CuteNvgpu_Type<"Sm90Mma", "sm90.mma", "`wgmma` of a warpgroup, sm_90a", [{
    M is 64, N 8 to 256 in steps of 8 (of integers above 32 in steps of 16), K 32 bytes. Elements of A, B and the accumulator:
    (f16, f16, f32 or f16), (bf16, bf16, f32), (tf32, tf32, f32), 8-bit floats in pairs with f32 or f16, `i8` and `ui8` in pairs
    with `i32` and `satfinite`, (i1, i1, i32). `ab_major` is the mode of A and of B that is contiguous in shared memory, `k` (which may
    be left out) or, of 16 bits, `mn`; `frag_kind` where A is (`ss` shared memory, `rs` registers). A value of the type also says
    whether the product is added to the accumulator: that of `cute.make_atom` without operand is.

    ```mlir
    !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
    ```
  }]>;
def CuteNvgpu_Sm100MmaType : CuteNvgpu_Type<"Sm100Mma", "sm100.mma", "`tcgen05.mma`, sm_100", [{
    As `sm90.mma`; `num_cta` blocks work together, `ts` has A in tensor memory.

    ```mlir
    !cute_nvgpu.sm100.mma<128x128x16, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss, c_scale_exp = 0>
    ```
  }]>;
// ---- the tensor memory accelerator ----
def CuteNvgpu_BulkCopyType : CuteNvgpu_Type<"BulkCopy", "atom.bulk_copy", "`cp.async.bulk`: contiguous bytes without a tensor map, from sm_90 on", [{
    `g2s` from global to shared memory, `s2g` back, `s2d` to another block's shared memory (`dsmem`). `g2s` and `s2d` have an
    mbarrier (field `tma_bar`), `g2s` a mask of blocks too (`mcast_mask`), `g2s` and `s2g` a policy of the L2 (`cache_policy`). With `kind` a
    copy `s2g` reduces: `ADD`, `MIN`, `MAX`, `INC`, `DEC`, `AND`, `OR`, `XOR`, as `cp.reduce.async.bulk` has them for the element.

    ```mlir
    !cute_nvgpu.atom.bulk_copy<f16, g2s>
    !cute_nvgpu.atom.bulk_copy<f32, s2g, kind = ADD>
    ```
  }]>;
def CuteNvgpu_NonExecTmaLoadType : CuteNvgpu_Type<"NonExecTmaLoad", "atom.non_exec_tiled_tma_load", "A tiled TMA load before it has a barrier, from sm_90 on", [{
    `copy_bits` of a tile, `tma_gbasis` from the tile's elements to the tensor's coordinates, `tma_format` as the
    descriptor says.

    ```mlir
    !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>
    ```
  }]>;
def CuteNvgpu_NonExecTmaStoreType : CuteNvgpu_Type<"NonExecTmaStore", "atom.non_exec_tiled_tma_store", "A tiled TMA store, from sm_90 on", [{
    ```mlir
    !cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 32768, tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">, tma_format = F16_RN>
    ```
  }]>;
def CuteNvgpu_NonExecTmaReduceType : CuteNvgpu_Type<"NonExecTmaReduce", "atom.non_exec_tiled_tma_reduce", "A tiled TMA store that reduces, from sm_90 on", [{
    ```mlir
    !cute_nvgpu.atom.non_exec_tiled_tma_reduce<ADD, f32, copy_bits = 131072, tma_gbasis = <"(32,128,1):(1@1,1@0,1@2)">, tma_format = F32_RN>
    ```
  }]>;
def CuteNvgpu_NonExecIm2colLoadType : CuteNvgpu_Type<"NonExecIm2colLoad", "atom.non_exec_im2col_tma_load", "A TMA load of pixels (im2col) before it has a barrier, from sm_90 on", [{
    `tma_gbasis` has the channels of a pixel, the pixels of a column, and a 1 for each further dimension.

    ```mlir
    !cute_nvgpu.atom.non_exec_im2col_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1,1):(1@0,1@1,1@2,1@3)">, tma_format = F16_RN>
    ```
  }]>;
def CuteNvgpu_NonExecIm2colStoreType : CuteNvgpu_Type<"NonExecIm2colStore", "atom.non_exec_im2col_tma_store", "A TMA store of pixels (im2col), from sm_90 on", [{
    ```mlir
    !cute_nvgpu.atom.non_exec_im2col_tma_store<f32, copy_bits = 65536, tma_gbasis = <"(32,64,1):(1@0,1@1,1@2)">, tma_format = F32_RN>
    ```
  }]>;
def CuteNvgpu_NonExecIm2colReduceType : CuteNvgpu_Type<"NonExecIm2colReduce", "atom.non_exec_im2col_tma_reduce", "A TMA store of pixels (im2col) that reduces, from sm_90 on", [{
    ```mlir
    !cute_nvgpu.atom.non_exec_im2col_tma_reduce<ADD, f32, copy_bits = 65536, tma_gbasis = <"(32,64,1):(1@0,1@1,1@2)">, tma_format = F32_RN>
    ```
  }]>;
def CuteNvgpu_TmaLoadType : CuteNvgpu_Type<"TmaLoad", "atom.tma_load", "A TMA load that can run: with descriptor and barrier", [{
    What `cute_nvgpu.atom.make_exec_tma` makes of a `non_exec_tiled_tma_load`, or (`mode = im2col`) of a `non_exec_im2col_tma_load`.

    ```mlir
    !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, mode = tiled, num_cta = 1, g_stride = <"()"> tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">>
    ```
  }]>;
def CuteNvgpu_TmaStoreType : CuteNvgpu_Type<"TmaStore", "atom.tma_store", "A TMA store that can run", [{
    ```mlir
    !cute_nvgpu.atom.tma_store<f16, copy_bits = 32768, mode = tiled, g_stride = <"()"> tma_gbasis = <"(64,32,1):(1@0,1@1,1@2)">>
    ```
  }]>;
def CuteNvgpu_TmaReduceType : CuteNvgpu_Type<"TmaReduce", "atom.tma_reduce", "A reducing TMA store that can run", [{
    ```mlir
    !cute_nvgpu.atom.tma_reduce<f32, copy_bits = 131072, mode = tiled, kind = ADD, g_stride = <"()"> tma_gbasis = <"(32,128,1):(1@1,1@0,1@2)">>
    ```
  }]>;
def CuteNvgpu_TmemLoadType : CuteNvgpu_Type<"TmemLoad", "atom.tmem_load", "`tcgen05.ld`: tensor memory into registers, sm_100", [{
    Data paths, bits and repetitions of the instruction.

    ```mlir
    !cute_nvgpu.atom.tmem_load<f32, 32 DP, 32 bit, x128>
    ```
  }]>;
def CuteNvgpu_TmemStoreType : CuteNvgpu_Type<"TmemStore", "atom.tmem_store", "`tcgen05.st`: registers into tensor memory, sm_100", [{
    ```mlir
    !cute_nvgpu.atom.tmem_store<f32, 32 DP, 32 bit, x2>
    ```
  }]>;
// ---- descriptors ----
def CuteNvgpu_SmemDescType : CuteNvgpu_Type<"SmemDesc", "smem_desc", "A 64-bit descriptor of a matrix in shared memory, for `wgmma` and `tcgen05.mma`", [{
    Its address, the offsets of its core matrices and the swizzle (PTX ISA, Matrix-descriptor format). Offsets that are added to it
    count units of 16 bytes.

    ```mlir
    !cute_nvgpu.smem_desc
    ```
  }]>;
def CuteNvgpu_SmemDescViewType : CuteNvgpu_Type<"SmemDescView", "smem_desc_view", "A tensor of such descriptors", [{
    Mode 0 is one matrix; the other modes of the layout step in units of the descriptor's address, 16 bytes. Operations on the
    layouts of tensors take it: slices, `cute.get_iter`, `cute.get_layout`, `cute.make_view`, `cute.group_modes`.

    ```mlir
    !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2,4):(0,512,2)">
    ```
  }]>;
def CuteNvgpu_TmaDescriptorTiledType : CuteNvgpu_Type<"TmaDescriptorTiled", "tma_descriptor_tiled", "The 128 bytes of a tensor map", [{
    ```mlir
    !cute_nvgpu.tma_descriptor_tiled
    ```
  }]>;

// ---- attributes: one word each ----
class CuteNvgpu_Attr<string cls, string mnem, string sum, string text>
    : AttrDef<CuteNvgpu_Dialect, cls> {
  let mnemonic = mnem;
  let summary = sum;
  let description = text;
  let predicate = CPred<"::cute_nvgpu::isWord($_self, CUTE_WORD_INDEX_" # cls # ")">;
}
def CuteNvgpu_TmaLoadField : CuteNvgpu_Attr<"TmaLoadField", "atom_copy_field_tmaload", "What a TMA load has beside its type", [{
    ```mlir
    #cute_nvgpu.atom_copy_field_tmaload<tma_bar>
    ```
  }]>;
def CuteNvgpu_TmaStoreField : CuteNvgpu_Attr<"TmaStoreField", "atom_copy_field_tmastore", "What a TMA store has beside its type", [{
    ```mlir
    #cute_nvgpu.atom_copy_field_tmastore<tma_descriptor_ptr>
    ```
  }]>;
def CuteNvgpu_Sm90MmaField : CuteNvgpu_Attr<"Sm90MmaField", "atom_mma_field_sm90", "What a `wgmma` has beside its type", [{
    `accum_c`: whether it adds to its accumulator. `neg_a`, `neg_b`: whether A, B count negative; of floats, constants.

    ```mlir
    #cute_nvgpu.atom_mma_field_sm90<accum_c>
    ```
  }]>;
def CuteNvgpu_Sm100MmaField : CuteNvgpu_Attr<"Sm100MmaField", "atom_mma_field_sm100", "What a `tcgen05.mma` has beside its type", [{
    ```mlir
    #cute_nvgpu.atom_mma_field_sm100<accum_c>
    ```
  }]>;
def CuteNvgpu_TiledTmaLoad : CuteNvgpu_Attr<"TiledTmaLoad", "tiled_tma_load", "For which architecture and how many blocks a TMA load is", [{
    ```mlir
    #cute_nvgpu.tiled_tma_load<sm_90>
    ```
  }]>;
def CuteNvgpu_TmaDataFormat : CuteNvgpu_Attr<"TmaDataFormat", "tma_data_format", "The element type of a tensor map", [{
    ```mlir
    #cute_nvgpu.tma_data_format<TF32_RN>
    ```
  }]>;
def CuteNvgpu_TmaReduceKind : CuteNvgpu_Attr<"TmaReduceKind", "tma_reduce_kind", "How a TMA store reduces", [{
    ```mlir
    #cute_nvgpu.tma_reduce_kind<ADD>
    ```
  }]>;

def CuteNvgpu_LdsmSzPattern : CuteNvgpu_Attr<"LdsmSzPattern", "ldsm_sz_pattern", "The unit in which `ldmatrix` unpacks", [{
    ```mlir
    #cute_nvgpu.ldsm_sz_pattern<u16>
    ```
  }]>;
def CuteNvgpu_LoadCacheMode : CuteNvgpu_Attr<"LoadCacheMode", "load_cache_mode", "The caches that a `cp.async` goes through", [{
    `always` is `.ca` (L1 and L2), `global` is `.cg` (L2).

    ```mlir
    #cute_nvgpu.load_cache_mode<global>
    ```
  }]>;
def CuteNvgpu_L2Eviction : CuteNvgpu_Attr<"L2Eviction", "l2_eviction", "When the L2 gives up what a `cp.async` brought", [{
    `createpolicy.fractional` of `evict_first`, `evict_last`, `evict_normal` or `evict_unchanged`.

    ```mlir
    #cute_nvgpu.l2_eviction<evict_first>
    ```
  }]>;

#endif
