// Operations of cute_nvgpu: atoms with run-time state, descriptors, and the instructions that copies and MMAs become.
#ifndef CUTE_IR_NVGPU_OPS_TD
#define CUTE_IR_NVGPU_OPS_TD

include "lib/ir/dialects/cute_ops.td"
include "lib/ir/dialects/cute_nvgpu_types.td"

class CuteNvgpu_Op<string m, list<Trait> t = []> : Op<CuteNvgpu_Dialect, m, !listconcat([CuteHooks], t)>;
defvar touches = MemoryEffects<[MemRead, MemWrite]>;

// ---- shared memory, warps ----
def CuteNvgpu_GetDynSmemOp : CuteNvgpu_Op<"arch.get_dyn_smem", [Pure]> {
  let summary = "Where the launch's dynamic shared memory begins";
  let description = [{
    ```mlir
    %p = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    ```
  }];
  let results = (outs Cute_PtrType:$ptr);
}
def CuteNvgpu_GetDynSmemSizeOp : CuteNvgpu_Op<"arch.get_dyn_smem_size", [Pure]> {
  let summary = "How many bytes of dynamic shared memory the launch has";
  let description = [{
    ```mlir
    %n = cute_nvgpu.arch.get_dyn_smem_size() : () -> i32
    ```
  }];
  let results = (outs I32:$bytes);
}
def CuteNvgpu_SmCountOp : CuteNvgpu_Op<"host.sm_count", [Pure]> {
  let summary = "How many multiprocessors the device has, for a host function";
  let description = [{
    The grid of a persistent kernel follows from it. It has a place in functions of the host alone, where a launch plan asks the
    device (`["sms", 32]` in its values); a kernel reads `nvvm.read.ptx.sreg.nsmid`, or gets the number as an argument.

    Refused: in a kernel.

    ```mlir
    %n = cute_nvgpu.host.sm_count() : () -> i32
    ```
  }];
  let results = (outs I32:$count);
}
def CuteNvgpu_MakeWarpUniformOp : CuteNvgpu_Op<"arch.make_warp_uniform", [NoMemoryEffect, SameOperandsAndResultType]> {
  let summary = "The value of lane 0, for all lanes";
  let description = [{
    For values that all lanes have anyway: the compiler then knows it.

    ```mlir
    %w = cute_nvgpu.arch.make_warp_uniform(%i) : (i32) -> i32
    ```
  }];
  let arguments = (ins I32:$value);
  let results = (outs I32:$result);
}

// ---- instructions that copies and MMAs become ----
def CuteNvgpu_CpAsyncOp : CuteNvgpu_Op<"arch.copy.SM80.cp_async"> {
  let summary = "`cp.async`: from global to shared memory, from sm_80 on";
  let description = [{
    As many bytes as the pointers' element: 4, 8 or 16. Without a true predicate it writes zeros. `cache_mode` is `global` (`.cg`, 16
    bytes) or `always` (`.ca`). `l2_eviction` is the policy of the `.L2::cache_hint`; with `l2_prefetch` the L2 fetches that many
    bytes around the source, 64, 128 or 256.

    Refused: other spaces, elements of other widths, less alignment than an element.

    ```mlir
    cute_nvgpu.arch.copy.SM80.cp_async<{cache_mode = #cute_nvgpu.load_cache_mode<global>}> (%dst, %src, %p) : (!cute.ptr<i128, smem>, !cute.ptr<i128, gmem>, i1) -> ()
    ```
  }];
  let arguments = (ins Arg<Cute_PtrType, "", [MemWrite]>:$dst, Arg<Cute_PtrType, "", [MemRead]>:$src, Optional<I1>:$pred, CuteNvgpu_LoadCacheMode:$cache_mode,
      OptionalAttr<CuteNvgpu_L2Eviction>:$l2_eviction, OptionalAttr<I32Attr>:$l2_prefetch);
}
def CuteNvgpu_LdsmOp : CuteNvgpu_Op<"arch.copy.ldsm"> {
  let summary = "`ldmatrix`: 8x8 matrices of shared memory, from sm_75 on";
  let description = [{
    Each lane of the warp names a row of 16 bytes; the result has a register of each matrix.

    Refused: a pointer that is not to shared memory or not aligned to 16 bytes, another number of results than matrices.

    ```mlir
    %v = cute_nvgpu.arch.copy.ldsm<{matrix_shape = #cute.shape<"(8,8)">, num_matrices = 4 : i32, sz_pattern = #cute_nvgpu.ldsm_sz_pattern<u16>}> (%p) : (!cute.ptr<f16, smem, align<16>>) -> vector<4xi32>
    ```
  }];
  let arguments = (ins Arg<Cute_PtrType, "", [MemRead]>:$ptr, Cute_ShapeAttr:$matrix_shape, I32Attr:$num_matrices,
                   CuteNvgpu_LdsmSzPattern:$sz_pattern, UnitAttr:$transpose);
  let results = (outs VectorOfRankAndType<[1], [I32]>:$registers);
}
def CuteNvgpu_StsmOp : CuteNvgpu_Op<"arch.copy.stsm"> {
  let summary = "`stmatrix`: 8x8 matrices into shared memory, from sm_90 on";
  let description = [{
    The reverse of `cute_nvgpu.arch.copy.ldsm`.

    ```mlir
    cute_nvgpu.arch.copy.stsm<{matrix_shape = #cute.shape<"(8,8)">, num_matrices = 4 : i32}> (%p, %v) : (!cute.ptr<f16, smem, align<16>>, vector<4xi32>) -> ()
    ```
  }];
  let arguments = (ins Arg<Cute_PtrType, "", [MemWrite]>:$ptr, VectorOfRankAndType<[1], [I32]>:$registers, Cute_ShapeAttr:$matrix_shape,
                   I32Attr:$num_matrices, UnitAttr:$transpose);
}
class CuteNvgpu_WarpMmaOp<string arch> : CuteNvgpu_Op<"arch.mma." # arch, [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins Variadic<AnyType>:$a, Variadic<AnyType>:$b, Variadic<AnyType>:$c, TypeAttr:$a_type, TypeAttr:$b_type, Cute_ShapeAttr:$shape_MNK);
  let results = (outs Variadic<AnyType>:$d);
}
def CuteNvgpu_MmaSm80Op : CuteNvgpu_WarpMmaOp<"SM80"> {
  let summary = "`mma.sync` of a warp, from sm_80 on";
  let description = [{
    A lane's registers of A, of B and of C, and those of D: 32 bits each (a vector of elements or an `i32`), or a float.

    Refused: a shape or types that no instruction has, another number of registers.

    ```mlir
    %d0, %d1, %d2, %d3 = cute_nvgpu.arch.mma.SM80<{a_type = f16, b_type = f16, operandSegmentSizes = array<i32: 4, 2, 4>, shape_MNK = #cute.shape<"(16,8,16)">}>
        (%a0, %a1, %a2, %a3, %b0, %b1, %c0, %c1, %c2, %c3) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    ```
  }];
}
def CuteNvgpu_MmaSm89Op : CuteNvgpu_WarpMmaOp<"SM89"> {
  let summary = "`mma.sync` of 8-bit floats, from sm_89 on";
  let description = [{
    ```mlir
    %d0, %d1, %d2, %d3 = cute_nvgpu.arch.mma.SM89<{a_type = f8E4M3FN, b_type = f8E4M3FN, operandSegmentSizes = array<i32: 4, 2, 4>, shape_MNK = #cute.shape<"(16,8,32)">}>
        (%a0, %a1, %a2, %a3, %b0, %b1, %c0, %c1, %c2, %c3) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    ```
  }];
}

// ---- atoms with run-time state ----
def CuteNvgpu_Field : AnyAttrOf<[CuteNvgpu_TmaLoadField, CuteNvgpu_TmaStoreField, CuteNvgpu_Sm90MmaField, CuteNvgpu_Sm100MmaField],
                                "the name of a field of an atom">;
def CuteNvgpu_SetValueOp : CuteNvgpu_Op<"atom.set_value", [Pure]> {
  let summary = "The atom with another value of a field";
  let description = [{
    `accum_c` of an MMA is an `i1`: whether it adds to what the accumulator holds; `neg_a` and `neg_b` of one of floats are constants:
    whether A and B count negative. `tma_bar`, `mcast_mask`, `tma_descriptor_ptr` and
    `cache_policy` of a TMA copy are a pointer to the barrier, a mask of blocks (`i16`), a pointer to the descriptor and a policy of the L2 (`i64`).
    As an attribute the name of a field may stand alone: `{field = tma_bar}`.

    Refused: signs of a `wgmma` of integers, and signs that are only known when the kernel runs: they stand in the instruction.

    ```mlir
    %a = cute_nvgpu.atom.set_value<{field = #cute_nvgpu.atom_mma_field_sm90<accum_c>}> (%m, %t)
        : (!cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, i1)
        -> !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Cute_CopyAtom, Cute_MmaAtom]>:$atom, AnyType:$value, CuteNvgpu_Field:$field);
  let results = (outs AnyTypeOf<[Cute_CopyAtom, Cute_MmaAtom]>:$result);
}
def CuteNvgpu_GetValueOp : CuteNvgpu_Op<"atom.get_value", [Pure]> {
  let summary = "The value of an atom's field";
  let description = [{
    ```mlir
    %t = cute_nvgpu.atom.get_value<{field = #cute_nvgpu.atom_mma_field_sm90<accum_c>}> (%m)
        : (!cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>) -> i1
    ```
  }];
  let arguments = (ins AnyTypeOf<[Cute_CopyAtom, Cute_MmaAtom]>:$atom, CuteNvgpu_Field:$field);
  let results = (outs AnyType:$value);
}

// ---- the tensor memory accelerator, from sm_90 on ----
def CuteNvgpu_Count : AnyAttrOf<[I32Attr, I64Attr], "a number">;
def CuteNvgpu_MakeTmaLoadOp : CuteNvgpu_Op<"atom.make_non_exec_tiled_tma_load", [Pure]> {
  let summary = "A TMA load of tiles of a tensor";
  let description = [{
    Of a tensor in global memory, the layout of a tile in shared memory, and the map from the tile's elements to the tensor's
    coordinates, which may be left out where the tile's modes are the tensor's. Gives the atom (with its descriptor) and the tensor of
    coordinates to partition. A swizzle of the tile is one of addresses in bytes: `S<1,4,3>`, `S<2,4,3>` or `S<3,4,3>`.

    One instruction copies a box: what lies side by side in the tile and in the tensor, at most 256 elements a dimension and no more bytes
    in the fastest one than the swizzle spans. A tile of several boxes is copied by several instructions. With `num_multicast` that many blocks
    of the cluster share an instruction's box: each brings a part of it to all. Elements outside of the tensor are zeros.

    In a kernel the tensor has to be one that the host can compute of the kernel's arguments: cute-nvgpu-tma-materialize
    has it make the tensor map.

    Of the tensor map may be chosen, as strings: `l2_promotion`, what is fetched into the L2 at least ("none", "64B", "128B", which is the
    default, "256B"); `fill`, what is read outside of a tensor of floats ("zero" or "nan"); `interleave`, whether channels lie in slices
    of "16B" or "32B" ("none"): then the tensor's first mode counts the channels of all slices, the second has the stride of a slice,
    and the tile has slices behind each other.

    A tensor may have more than 5 modes if those that the tile has not have known strides: the slowest are counted by one dimension.

    Refused: a tensor of more than 5 modes otherwise, a mode of strides that are no multiple of 16 bytes, a tile whose fastest elements are not those
    of stride 1, a box of other than multiples of 16 bytes, elements of less than 8 bits.

    ```mlir
    %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load<{kind = #cute_nvgpu.tiled_tma_load<sm_90>, num_multicast = 1 : i32}> (%t, %s, %m)
        : (!cute.memref<f16, gmem, align<16>, "(?,?,?):(?{i64},1,?{i64})">, !cute.composed_layout<"S<3,4,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))">, !cute.layout<"(128,64):(1@0,1@1)">)
        -> (!cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0,0)", "(?,?,?):(1@1,1@0,1@2)">)
    ```
  }];
  let arguments = (ins Cute_MemRefType:$tensor, Cute_AnyLayout:$tile, Optional<Cute_LayoutType>:$map,
                   OptionalAttr<CuteNvgpu_TiledTmaLoad>:$kind, OptionalAttr<CuteNvgpu_Count>:$num_multicast,
                   OptionalAttr<CuteNvgpu_TmaDataFormat>:$tma_format,
                   OptionalAttr<StrAttr>:$interleave, OptionalAttr<StrAttr>:$l2_promotion, OptionalAttr<StrAttr>:$fill);
  let results = (outs CuteNvgpu_NonExecTmaLoadType:$atom, Cute_CoordTensorType:$coords);
}
def CuteNvgpu_MakeTmaStoreOp : CuteNvgpu_Op<"atom.make_non_exec_tiled_tma_store", [Pure]> {
  let summary = "A TMA store of tiles of a tensor";
  let description = [{
    ```mlir
    %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_store(%t, %s, %m)
        : (!cute.memref<f16, gmem, align<16>, "(?,?,?):(?{i64},1,?{i64})">, !cute.composed_layout<"S<2,4,3> o 0 o ((8,8),(32,1)):((32,256),(1,0))">, !cute.layout<"(64,32):(1@0,1@1)">)
        -> (!cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 32768, tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,0,0)", "(?,?,?):(1@1,1@0,1@2)">)
    ```
  }];
  let arguments = (ins Cute_MemRefType:$tensor, Cute_AnyLayout:$tile, Optional<Cute_LayoutType>:$map, OptionalAttr<CuteNvgpu_TmaDataFormat>:$tma_format,
                   OptionalAttr<StrAttr>:$interleave, OptionalAttr<StrAttr>:$l2_promotion, OptionalAttr<StrAttr>:$fill);
  let results = (outs CuteNvgpu_NonExecTmaStoreType:$atom, Cute_CoordTensorType:$coords);
}
def CuteNvgpu_MakeTmaReduceOp : CuteNvgpu_Op<"atom.make_non_exec_tiled_tma_reduce", [Pure]> {
  let summary = "A TMA store of tiles of a tensor that reduces";
  let description = [{
    ```mlir
    %a, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_reduce<{kind = #cute_nvgpu.tma_reduce_kind<ADD>}> (%t, %s, %m)
        : (!cute.memref<f32, gmem, "(?,?,?):(?,1,?)">, !cute.composed_layout<"S<3,4,3> o 0 o ((8,16),(32,1)):((32,256),(1,0))">, !cute.layout<"(128,32):(1@0,1@1)">)
        -> (!cute_nvgpu.atom.non_exec_tiled_tma_reduce<ADD, f32, copy_bits = 131072, tma_gbasis = <"(32,128,1):(1@1,1@0,1@2)">, tma_format = F32_RN>, !cute.coord_tensor<"(0,0,0)", "(?,?,?):(1@1,1@0,1@2)">)
    ```
  }];
  let arguments = (ins Cute_MemRefType:$tensor, Cute_AnyLayout:$tile, Optional<Cute_LayoutType>:$map, OptionalAttr<CuteNvgpu_TmaReduceKind>:$kind,
                   OptionalAttr<CuteNvgpu_TmaDataFormat>:$tma_format,
                   OptionalAttr<StrAttr>:$interleave, OptionalAttr<StrAttr>:$l2_promotion, OptionalAttr<StrAttr>:$fill);
  let results = (outs CuteNvgpu_NonExecTmaReduceType:$atom, Cute_CoordTensorType:$coords);
}
class CuteNvgpu_MakeIm2colOp<string which, Type type, dag more> : CuteNvgpu_Op<"atom.make_non_exec_im2col_tma_" # which, [Pure]> {
  let arguments = !con((ins Cute_MemRefType:$tensor, Cute_AnyLayout:$tile, DenseI64ArrayAttr:$lower, DenseI64ArrayAttr:$upper,
                            OptionalAttr<DenseI64ArrayAttr>:$stride), more,
                       (ins OptionalAttr<CuteNvgpu_TmaDataFormat>:$tma_format, OptionalAttr<StrAttr>:$l2_promotion));
  let results = (outs type:$atom, Cute_CoordTensorType:$coords);
}
def CuteNvgpu_MakeIm2colLoadOp : CuteNvgpu_MakeIm2colOp<"load", CuteNvgpu_NonExecIm2colLoadType,
    (ins OptionalAttr<DenseI64ArrayAttr>:$filter, OptionalAttr<DenseI64ArrayAttr>:$dilation,
         OptionalAttr<CuteNvgpu_TiledTmaLoad>:$kind, OptionalAttr<CuteNvgpu_Count>:$num_multicast, OptionalAttr<StrAttr>:$fill)> {
  let summary = "A TMA load of the rows that a convolution multiplies (im2col)";
  let description = [{
    Of a tensor in global memory with the modes (channels, width, batch), (channels, width, height, batch) or (channels, width, height,
    depth, batch), and the layout of a tile of (pixels, channels) in shared memory, in which the channels of a pixel lie side by side.
    One instruction brings some channels of as many pixels as the tile has: it walks a box of pixels, width first, then height, depth
    and batch. What lies outside of the tensor is zeros (`fill = "nan"`: NaN).

    `lower` and `upper` are the corners of that box, for width, height and depth: offsets from the first pixel and from the last one. For a
    filter of `S` positions with a dilation of `D`, and `P` and `Q` pixels of padding in front and behind, `lower` is `-P` and `upper` is
    `Q - (S - 1) D`. `stride` (1 to 8; default 1) leads from a pixel of the box to the next one. `filter` (default 1) is how many positions
    the filter has, `dilation` (default 1) how far two of them are apart.

    Gives the atom and coordinates of `((width, height, depth, batch), (channels, filter's width, height, depth))`: mode 0 counts the pixels
    of the box, mode 1 the row of each. A copy begins at a pixel and a position of the filter, so both are taken out by a slice
    before what is left, the channels, is tiled:

    ```mlir
    %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load<{filter = array<i64: 3, 3>, lower = array<i64: -1, -1>, upper = array<i64: -1, -1>}> (%t, %s)
        : (!cute.memref<f16, gmem, align<16>, "(?,?,?,?):(1,?{i64},?{i64},?{i64})">, !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">)
        -> (!cute_nvgpu.atom.non_exec_im2col_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1,1):(1@0,1@1,1@2,1@3)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,-1,-1,0,0,0)", "((?,?,?),(?,3,3)):((1@1,1@2,1@3),(1@0,1@4,1@5))">)
    ```

    With `num_multicast` that many blocks bring a part of the pixels each to all of them: the coordinates of a block begin at its part's
    first pixel.

    Refused: other modes of the tensor, a tile that one column of pixels can't fill, more than 256 channels or 1024 pixels in a tile, corners
    and filters that the instruction has no bits for (16 bits for one mode of pixels, 8 for two, 5 for three).
  }];
}
def CuteNvgpu_MakeIm2colStoreOp : CuteNvgpu_MakeIm2colOp<"store", CuteNvgpu_NonExecIm2colStoreType, (ins)> {
  let summary = "A TMA store of pixels (im2col)";
  let description = [{
    As the load, but a store has no filter: the coordinates are `((width, height, depth, batch), channels)`.

    ```mlir
    %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_store<{lower = array<i64: 0>, upper = array<i64: 0>}> (%t, %s)
        : (!cute.memref<f32, gmem, align<16>, "(?,?,?):(1,?{i64},?{i64})">, !cute.layout<"(64,32):(32,1)">)
        -> (!cute_nvgpu.atom.non_exec_im2col_tma_store<f32, copy_bits = 65536, tma_gbasis = <"(32,64,1):(1@0,1@1,1@2)">, tma_format = F32_RN>, !cute.coord_tensor<"(0,0,0)", "((?,?),?):((1@1,1@2),1@0)">)
    ```
  }];
}
def CuteNvgpu_MakeIm2colReduceOp : CuteNvgpu_MakeIm2colOp<"reduce", CuteNvgpu_NonExecIm2colReduceType, (ins OptionalAttr<CuteNvgpu_TmaReduceKind>:$kind)> {
  let summary = "A TMA store of pixels that reduces (im2col)";
  let description = [{
    ```mlir
    %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_reduce<{kind = #cute_nvgpu.tma_reduce_kind<ADD>, lower = array<i64: 0>, upper = array<i64: 0>}> (%t, %s)
        : (!cute.memref<f32, gmem, align<16>, "(?,?,?):(1,?{i64},?{i64})">, !cute.layout<"(64,32):(32,1)">)
        -> (!cute_nvgpu.atom.non_exec_im2col_tma_reduce<ADD, f32, copy_bits = 65536, tma_gbasis = <"(32,64,1):(1@0,1@1,1@2)">, tma_format = F32_RN>, !cute.coord_tensor<"(0,0,0)", "((?,?),?):((1@1,1@2),1@0)">)
    ```
  }];
}
def CuteNvgpu_HostTensorMapOp : CuteNvgpu_Op<"host.tensor_map", [Pure]> {
  let summary = "The tensor map of a launch, made on the host";
  let description = [{
    What `cute-nvgpu-tma-materialize` makes of an atom: a pointer to the 128 bytes that a kernel gets. The operands are the
    tensor's address, the extents of its dimensions from the fastest to the slowest, and the strides of all but the fastest in bytes;
    `box` are the extents of what an instruction copies, `modes` the modes of the tensor that the dimensions are, `format` the
    element type, `swizzle` 0 to 3 for none, 32, 64 and 128 bytes, `tensor` what messages call it; `interleave`, `l2_promotion` and `fill` are
    as those of the atom. With `lower` and `upper` it is one of the im2col mode: `box` is channels of a pixel and pixels of a
    column, `stride` the steps of width, height and depth. cute-launch-plan takes it over; it stays on the host.

    ```mlir
    %m = cute_nvgpu.host.tensor_map<{box = array<i64: 64, 128>, format = "F16_RN", modes = array<i64: 1, 0>, swizzle = 3 : i32, tensor = "A"}> (%p, %d0, %d1, %s1) : (!llvm.ptr<1>, i64, i64, i64) -> !llvm.ptr
    ```
  }];
  let arguments = (ins AnyType:$address, Variadic<I64>:$sizes, DenseI64ArrayAttr:$box, DenseI64ArrayAttr:$modes, StrAttr:$format, I32Attr:$swizzle, StrAttr:$tensor,
                  OptionalAttr<StrAttr>:$interleave, OptionalAttr<StrAttr>:$l2_promotion, OptionalAttr<StrAttr>:$fill,
                   OptionalAttr<DenseI64ArrayAttr>:$lower, OptionalAttr<DenseI64ArrayAttr>:$upper, OptionalAttr<DenseI64ArrayAttr>:$stride);
  let results = (outs AnyType:$map);
}
def CuteNvgpu_MakeExecTmaOp : CuteNvgpu_Op<"atom.make_exec_tma", [Pure]> {
  let summary = "A TMA atom that can run";
  let description = [{
    Refused: an element type, a number of bits or a basis that is not the other atom's.

    ```mlir
    %e = cute_nvgpu.atom.make_exec_tma(%a) : (!cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 32768, tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">, tma_format = F16_RN>)
        -> !cute_nvgpu.atom.tma_store<f16, copy_bits = 32768, mode = tiled, g_stride = <"()"> tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">>
    ```
  }];
  let arguments = (ins CuteNvgpu_NonExecTma:$atom);
  let results = (outs CuteNvgpu_ExecTma:$result);
}
def CuteNvgpu_TmaPartitionOp : CuteNvgpu_Op<"atom.tma_partition", [Pure]> {
  let summary = "Shared memory and coordinates in the modes of a TMA copy";
  let description = [{
    The operands are the atom, the block's coordinate among those that share the copy, their layout, the tensor in shared
    memory and that of coordinates, whose mode 0 is the tile. Mode 0 of the results is `(what one copy moves, copies)`.

    ```mlir
    %s, %c = cute_nvgpu.atom.tma_partition(%a, %i, %l, %x, %y)
        : (!cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>, !cute.coord<"0">, !cute.layout<"(1):(0)">,
           !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(((8,16),(64,1)),(1,7)):(((64,512),(1,0)),(0,8192))">, !cute.coord_tensor<"(0,?{div=128},?)", "((128,64),?):((1@1,1@0),64@0)">)
        -> (!cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8192,1),(1,7)):((1,0),(0,8192))">, !cute.coord_tensor<"(0,?{div=128},?)", "(((64,128),1),?):(((1@0,1@1),0),64@0)">)
    ```
  }];
  let arguments = (ins CuteNvgpu_Tma:$atom, AnyTypeOf<[Cute_CoordType, I32, I64]>:$block, Cute_LayoutType:$blocks, Cute_MemRefType:$smem, Cute_Tensor:$gmem);
  let results = (outs Cute_MemRefType:$smem_part, Cute_Tensor:$gmem_part);
}
def CuteNvgpu_PrefetchTmaDescOp : CuteNvgpu_Op<"prefetch_tma_desc", [touches]> {
  let summary = "Brings the descriptor of a TMA atom into the cache";
  let description = [{
    ```mlir
    cute_nvgpu.prefetch_tma_desc(%a) : (!cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>) -> ()
    ```
  }];
  let arguments = (ins CuteNvgpu_Tma:$atom);
}
def CuteNvgpu_CopyTmaDescOp : CuteNvgpu_Op<"copy_tma_desc", [touches]> {
  let summary = "Copies the descriptor of a TMA atom into shared memory";
  let description = [{
    One thread does it. Refused: a pointer that is not in smem, or one that is not aligned to 128 bytes.

    ```mlir
    cute_nvgpu.copy_tma_desc(%a, %p) : (!cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>, !cute.ptr<i64, smem, align<1024>>) -> ()
    ```
  }];
  let arguments = (ins CuteNvgpu_Tma:$atom, Cute_PtrType:$ptr);
}
def CuteNvgpu_UpdateTmaDescOp : CuteNvgpu_Op<"update_tma_desc", [touches]> {
  let summary = "Sets address, extents and strides of a descriptor in shared memory to those of a tensor";
  let description = [{
    `tensormap.replace` for the modes of the tensor that are dimensions of the map; box, swizzle and the like stay. The whole warp comes,
    and one of its lanes does it. The tensor has the modes that the atom's had; the elements that lay side by side still do.

    `arch.cp_fence_tma_desc_release` then copies the descriptor to global memory, and who uses it there acquires it by
    `arch.fence_proxy_tensormap` and gives its atom the address: `set_value {field = tma_descriptor_ptr}`.

    Refused: an atom of the im2col mode, or one of whose dimensions counts several modes, a tensor of other modes, known strides that are
    no multiples of 16 bytes.

    ```mlir
    cute_nvgpu.update_tma_desc(%a, %t, %p) : (!cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>,
        !cute.memref<f16, gmem, align<16>, "(?,?,?):(?,?,?)">, !cute.ptr<i64, smem, align<1024>>) -> ()
    ```
  }];
  let arguments = (ins CuteNvgpu_Tma:$atom, Cute_MemRefType:$tensor, Cute_PtrType:$ptr);
}

// ---- tensor memory, sm_100 ----
def CuteNvgpu_MakeTmemCopyOp : CuteNvgpu_Op<"atom.make_tmem_copy", [Pure]> {
  let summary = "A tiled copy between tensor memory and registers";
  let description = [{
    Laid over the lanes and columns of a tensor in tensor memory.

    ```mlir
    %t = cute_nvgpu.atom.make_tmem_copy(%a, %x) : (!cute_nvgpu.atom.tmem_load<f32, 32 DP, 32 bit, x128>, !cute.memref<f32, tmem, align<16>, "(128,128):(65536,1)">)
        -> !cute.tiled_copy<!cute_nvgpu.atom.tmem_load<f32, 32 DP, 32 bit, x128>, layout_copy_tv = <"((32,4),(128,32)):((0,1),(128,4))">, tiler_mn = <"[(4,32):(32,1);128:1]">>
    ```
  }];
  let arguments = (ins AnyTypeOf<[CuteNvgpu_TmemLoadType, CuteNvgpu_TmemStoreType]>:$atom, Cute_MemRefType:$tensor);
  let results = (outs Cute_TiledCopyType:$tiled);
}
def CuteNvgpu_AllocTmemOp : CuteNvgpu_Op<"arch.sm100.alloc_tmem", [touches]> {
  let summary = "Allocates columns of tensor memory";
  let description = [{
    The address is written to shared memory. `[cta_2]` allocates for a pair of blocks.

    ```mlir
    cute_nvgpu.arch.sm100.alloc_tmem(%n, %p) [cta_1] : (i32, !cute.ptr<i32, smem, align<8>>) -> ()
    ```
  }];
  let arguments = (ins I32:$columns, Cute_PtrType:$ptr, UnitAttr:$is_two_cta);
}
def CuteNvgpu_DeallocTmemOp : CuteNvgpu_Op<"arch.sm100.dealloc_tmem", [touches]> {
  let summary = "Frees columns of tensor memory";
  let description = [{
    ```mlir
    cute_nvgpu.arch.sm100.dealloc_tmem(%p, %n) [cta_1] : (!cute.ptr<f32, tmem, align<16>>, i32) -> ()
    ```
  }];
  let arguments = (ins Cute_PtrType:$ptr, I32:$columns, UnitAttr:$is_two_cta);
}
def CuteNvgpu_RelinquishTmemOp : CuteNvgpu_Op<"arch.sm100.relinquish_tmem_alloc_permit", [touches]> {
  let summary = "The block allocates no more tensor memory";
  let description = [{
    ```mlir
    cute_nvgpu.arch.sm100.relinquish_tmem_alloc_permit() [cta_1] : () -> ()
    ```
  }];
  let arguments = (ins UnitAttr:$is_two_cta);
}
def CuteNvgpu_RetrieveTmemPtrOp : CuteNvgpu_Op<"arch.sm100.retrieve_tmem_ptr", [MemoryEffects<[MemRead]>]> {
  let summary = "The address of allocated tensor memory";
  let description = [{
    ```mlir
    %t = cute_nvgpu.arch.sm100.retrieve_tmem_ptr(%p) : (!cute.ptr<i32, smem, align<8>>) -> !cute.ptr<f32, tmem, align<16>>
    ```
  }];
  let arguments = (ins Cute_PtrType:$ptr);
  let results = (outs Cute_PtrType:$result);
}

#endif
