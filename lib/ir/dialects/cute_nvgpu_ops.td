// Operations of cute_nvgpu: copy and MMA instructions, atoms with run-time state, tensor maps, tensor memory.
#ifndef CUTE_IR_NVGPU_OPS_TD
#define CUTE_IR_NVGPU_OPS_TD

include "lib/ir/dialects/cute_ops.td"
include "lib/ir/dialects/cute_nvgpu_types.td"

class CuteNvgpu_Op<string m, list<Trait> t = []> : Op<CuteNvgpu_Dialect, m, !listconcat([CuteHooks], t)>;
defvar touches = MemoryEffects<[MemRead, MemWrite]>;

// ---- shared memory, warps ----
def CuteNvgpu_GetDynSmemOp : CuteNvgpu_Op<"arch.get_dyn_smem", [Pure]> {
  let summary = "Returns the start of the dynamic shared memory";
  let description = [{
    ```mlir
    %p = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    ```
  }];
  let results = (outs Cute_PtrType:$ptr);
}
def CuteNvgpu_GetDynSmemSizeOp : CuteNvgpu_Op<"arch.get_dyn_smem_size", [Pure]> {
  let summary = "Returns the size of the dynamic shared memory in bytes";
  let description = [{
    ```mlir
    %n = cute_nvgpu.arch.get_dyn_smem_size() : () -> i32
    ```
  }];
  let results = (outs I32:$bytes);
}
def CuteNvgpu_SmCountOp : CuteNvgpu_Op<"host.sm_count", [Pure]> {
  let summary = "Returns the number of multiprocessors of the device (host only)";
  let description = [{
    Used to compute the grid of a persistent kernel. It is allowed in host functions only; in a launch plan it
    becomes a query of the device (`["sms", 32]` among its values). A kernel reads `nvvm.read.ptx.sreg.nsmid`
    or takes the number as an argument.

    Errors: use in a kernel.

    ```mlir
    %n = cute_nvgpu.host.sm_count() : () -> i32
    ```
  }];
  let results = (outs I32:$count);
}
def CuteNvgpu_MakeWarpUniformOp : CuteNvgpu_Op<"arch.make_warp_uniform", [NoMemoryEffect, SameOperandsAndResultType]> {
  let summary = "Broadcasts the value of lane 0 to the warp";
  let description = [{
    For values that are already warp-uniform: it tells the compiler so.

    ```mlir
    %w = cute_nvgpu.arch.make_warp_uniform(%i) : (i32) -> i32
    ```
  }];
  let arguments = (ins I32:$value);
  let results = (outs I32:$result);
}

// ---- copy and MMA instructions ----
def CuteNvgpu_CpAsyncOp : CuteNvgpu_Op<"arch.copy.SM80.cp_async"> {
  let summary = "`cp.async`: global to shared memory (sm_80 or later)";
  let description = [{
    Copies as many bytes as the pointers' element has: 4, 8 or 16. If the predicate is false it writes zeros.
    `cache_mode` is `global` (`.cg`, 16 bytes) or `always` (`.ca`). `l2_eviction` is the policy of the
    `.L2::cache_hint`; `l2_prefetch` is the L2 prefetch size, 64, 128 or 256 bytes.

    Errors: other memory spaces, elements of other widths, less alignment than an element.

    ```mlir
    cute_nvgpu.arch.copy.SM80.cp_async<{cache_mode = #cute_nvgpu.load_cache_mode<global>}> (%dst, %src, %p) : (!cute.ptr<i128, smem>, !cute.ptr<i128, gmem>, i1) -> ()
    ```
  }];
  let arguments = (ins Arg<Cute_PtrType, "", [MemWrite]>:$dst, Arg<Cute_PtrType, "", [MemRead]>:$src, Optional<I1>:$pred, CuteNvgpu_LoadCacheMode:$cache_mode,
      OptionalAttr<CuteNvgpu_L2Eviction>:$l2_eviction, OptionalAttr<I32Attr>:$l2_prefetch);
}
def CuteNvgpu_LdsmOp : CuteNvgpu_Op<"arch.copy.ldsm"> {
  let summary = "`ldmatrix`: loads 8x8 matrices from shared memory (sm_75 or later)";
  let description = [{
    Each lane of the warp addresses a row of 16 bytes; the result has one register per matrix.

    Errors: a pointer that is not to shared memory or not aligned to 16 bytes, a number of registers that
    differs from that of matrices.

    ```mlir
    %v = cute_nvgpu.arch.copy.ldsm<{matrix_shape = #cute.shape<"(8,8)">, num_matrices = 4 : i32, sz_pattern = #cute_nvgpu.ldsm_sz_pattern<u16>}> (%p) : (!cute.ptr<f16, smem, align<16>>) -> vector<4xi32>
    ```
  }];
  let arguments = (ins Arg<Cute_PtrType, "", [MemRead]>:$ptr, Cute_ShapeAttr:$matrix_shape, I32Attr:$num_matrices,
                   CuteNvgpu_LdsmSzPattern:$sz_pattern, UnitAttr:$transpose);
  let results = (outs VectorOfRankAndType<[1], [I32]>:$registers);
}
def CuteNvgpu_StsmOp : CuteNvgpu_Op<"arch.copy.stsm"> {
  let summary = "`stmatrix`: stores 8x8 matrices to shared memory (sm_90 or later)";
  let description = [{
    The inverse of `cute_nvgpu.arch.copy.ldsm`.

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
  let summary = "`mma.sync` of a warp (sm_80 or later)";
  let description = [{
    Operands and results are the registers of a lane for A, B, C and D: 32 bits each (a vector of elements or
    an `i32`), or a float.

    Errors: a shape or types that no instruction supports, a wrong number of registers.

    ```mlir
    %d0, %d1, %d2, %d3 = cute_nvgpu.arch.mma.SM80<{a_type = f16, b_type = f16, operandSegmentSizes = array<i32: 4, 2, 4>, shape_MNK = #cute.shape<"(16,8,16)">}>
        (%a0, %a1, %a2, %a3, %b0, %b1, %c0, %c1, %c2, %c3) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
    ```
  }];
}
def CuteNvgpu_MmaSm89Op : CuteNvgpu_WarpMmaOp<"SM89"> {
  let summary = "`mma.sync` of 8-bit floats (sm_89 or later)";
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
  let summary = "Sets a run-time field of an atom";
  let description = [{
    Returns the atom with the new value. Fields of an MMA: `accum_c` (`i1`), whether it adds to the
    accumulator; `neg_a` and `neg_b` (constants, floats only), whether A and B are negated. Fields of a TMA
    copy: `tma_bar`, a pointer to the barrier; `mcast_mask`, a mask of blocks (`i16`); `tma_descriptor_ptr`, a
    pointer to the tensor map; `cache_policy`, an L2 policy (`i64`). The attribute can be abbreviated to the
    name of the field: `{field = tma_bar}`.

    Errors: `neg_a` or `neg_b` of an integer `wgmma`, or not constant: they are part of the instruction.

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
  let summary = "Returns a run-time field of an atom";
  let description = [{
    ```mlir
    %t = cute_nvgpu.atom.get_value<{field = #cute_nvgpu.atom_mma_field_sm90<accum_c>}> (%m)
        : (!cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>) -> i1
    ```
  }];
  let arguments = (ins AnyTypeOf<[Cute_CopyAtom, Cute_MmaAtom]>:$atom, CuteNvgpu_Field:$field);
  let results = (outs AnyType:$value);
}

// ---- the tensor memory accelerator (sm_90 or later) ----
def CuteNvgpu_Count : AnyAttrOf<[I32Attr, I64Attr], "an integer">;
def CuteNvgpu_MakeTmaLoadOp : CuteNvgpu_Op<"atom.make_non_exec_tiled_tma_load", [Pure]> {
  let summary = "Makes a TMA load of tiles of a tensor";
  let description = [{
    The operands are a tensor in global memory, the layout of a tile in shared memory, and the map from
    elements of the tile to coordinates of the tensor, which can be omitted if tile and tensor have the same
    modes. The results are the atom (with its tensor map) and the tensor of coordinates to partition. The
    swizzle of the tile is a swizzle of byte addresses: `S<1,4,3>`, `S<2,4,3>` or `S<3,4,3>`.

    One instruction copies a box: the elements that are contiguous both in the tile and in the tensor, at most
    256 elements per dimension, and in the fastest dimension at most the span of the swizzle. A tile of
    several boxes is copied by several instructions. With `num_multicast`, that many blocks of the cluster
    share the box of an instruction: each loads a part of it and multicasts it to all. Elements outside the
    tensor are zero.

    In a kernel, the tensor must be computable by the host from the kernel's arguments:
    cute-nvgpu-tma-materialize creates the tensor map on the host.

    String attributes configure the tensor map. `l2_promotion`, the minimum L2 fetch: "none", "64B", "128B"
    (default) or "256B". `fill`, the value outside a tensor of floats: "zero" (default) or "nan".
    `interleave`, the slices of channels: "none" (default), "16B" or "32B"; with slices, the first mode of the
    tensor counts the channels of all slices, the second has the stride of a slice, and the slices follow one
    another in the tile.

    A tensor may have more than 5 modes if those that are not in the tile have static strides: one dimension
    counts the slowest modes.

    Errors: any other tensor of more than 5 modes, strides that are not multiples of 16 bytes, a tile whose
    fastest elements are not those of stride 1, a box that is not a multiple of 16 bytes, elements of less
    than 8 bits.

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
  let summary = "Makes a TMA store of tiles of a tensor";
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
  let summary = "Makes a TMA reduction of tiles of a tensor";
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
  let summary = "Makes an im2col TMA load";
  let description = [{
    Loads the rows that a convolution multiplies. The operands are a tensor in global memory with the modes
    (channels, width, batch), (channels, width, height, batch) or (channels, width, height, depth, batch), and
    the layout of a tile of (pixels, channels) in shared memory, in which the channels of a pixel are
    contiguous. One instruction loads some channels of the pixels of the tile: it traverses a box of pixels,
    width first, then height, depth and batch. Elements outside the tensor are zero (`fill = "nan"`: NaN).

    `lower` and `upper` are the corners of that box, for width, height and depth: offsets from the first and
    from the last pixel. For a filter of `S` positions with dilation `D` and padding of `P` pixels before and
    `Q` after, `lower` is `-P` and `upper` is `Q - (S - 1) D`. `stride` (1 to 8; default 1) is the distance
    between consecutive pixels of the box. `filter` (default 1) is the number of positions of the filter,
    `dilation` (default 1) their distance.

    The results are the atom and the coordinates `((width, height, depth, batch), (channels, filter's width,
    height, depth))`: mode 0 iterates over the pixels of the box, mode 1 over the row of each. A copy starts
    at a pixel and a position of the filter, so slice both before tiling the remaining mode, the channels:

    ```mlir
    %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_load<{filter = array<i64: 3, 3>, lower = array<i64: -1, -1>, upper = array<i64: -1, -1>}> (%t, %s)
        : (!cute.memref<f16, gmem, align<16>, "(?,?,?,?):(1,?{i64},?{i64},?{i64})">, !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">)
        -> (!cute_nvgpu.atom.non_exec_im2col_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1,1):(1@0,1@1,1@2,1@3)">, tma_format = F16_RN>, !cute.coord_tensor<"(0,-1,-1,0,0,0)", "((?,?,?),(?,3,3)):((1@1,1@2,1@3),(1@0,1@4,1@5))">)
    ```

    With `num_multicast`, each of that many blocks multicasts a part of the pixels to all of them: the coordinates of a block
    start at the first pixel of its part.

    Errors: other modes of the tensor, a tile that one column of pixels cannot fill, more than 256 channels or 1024 pixels in
    a tile, corners and filters that do not fit the instruction (16 bits for one mode of pixels, 8 for two, 5 for three).
  }];
}
def CuteNvgpu_MakeIm2colStoreOp : CuteNvgpu_MakeIm2colOp<"store", CuteNvgpu_NonExecIm2colStoreType, (ins)> {
  let summary = "Makes an im2col TMA store";
  let description = [{
    The same as the load without a filter: the coordinates are `((width, height, depth, batch), channels)`.

    ```mlir
    %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_store<{lower = array<i64: 0>, upper = array<i64: 0>}> (%t, %s)
        : (!cute.memref<f32, gmem, align<16>, "(?,?,?):(1,?{i64},?{i64})">, !cute.layout<"(64,32):(32,1)">)
        -> (!cute_nvgpu.atom.non_exec_im2col_tma_store<f32, copy_bits = 65536, tma_gbasis = <"(32,64,1):(1@0,1@1,1@2)">, tma_format = F32_RN>, !cute.coord_tensor<"(0,0,0)", "((?,?),?):((1@1,1@2),1@0)">)
    ```
  }];
}
def CuteNvgpu_MakeIm2colReduceOp : CuteNvgpu_MakeIm2colOp<"reduce", CuteNvgpu_NonExecIm2colReduceType, (ins OptionalAttr<CuteNvgpu_TmaReduceKind>:$kind)> {
  let summary = "Makes an im2col TMA reduction";
  let description = [{
    ```mlir
    %a, %c = cute_nvgpu.atom.make_non_exec_im2col_tma_reduce<{kind = #cute_nvgpu.tma_reduce_kind<ADD>, lower = array<i64: 0>, upper = array<i64: 0>}> (%t, %s)
        : (!cute.memref<f32, gmem, align<16>, "(?,?,?):(1,?{i64},?{i64})">, !cute.layout<"(64,32):(32,1)">)
        -> (!cute_nvgpu.atom.non_exec_im2col_tma_reduce<ADD, f32, copy_bits = 65536, tma_gbasis = <"(32,64,1):(1@0,1@1,1@2)">, tma_format = F32_RN>, !cute.coord_tensor<"(0,0,0)", "((?,?),?):((1@1,1@2),1@0)">)
    ```
  }];
}
def CuteNvgpu_HostTensorMapOp : CuteNvgpu_Op<"host.tensor_map", [Pure]> {
  let summary = "Creates the tensor map of a launch on the host";
  let description = [{
    Created by `cute-nvgpu-tma-materialize` from an atom; the result is a pointer to the 128 bytes that the
    kernel receives. The operands are the address of the tensor, the extents of its dimensions from fastest to
    slowest, and the strides in bytes of all but the fastest. `box` holds the extents of the box of one
    instruction, `modes` the mode of the tensor for each dimension, `format` the data type, `swizzle` 0 to 3
    for none, 32, 64 and 128 bytes, `tensor` the name of the tensor in messages; `interleave`, `l2_promotion`
    and `fill` are those of the atom. With `lower` and `upper` the map has im2col mode: `box` is channels per
    pixel and pixels per column, `stride` the steps of width, height and depth. cute-launch-plan converts the
    operation; it remains on the host.

    ```mlir
    %m = cute_nvgpu.host.tensor_map<{box = array<i64: 64, 128>, format = "F16_RN", modes = array<i64: 1, 0>, swizzle = 3 : i32, tensor = "A"}> (%p, %d0, %d1, %s1) : (!llvm.ptr<1>, i64, i64, i64) -> !llvm.ptr
    ```
  }];
  let arguments = (ins AnyType:$address, Variadic<I64>:$sizes, DenseI64ArrayAttr:$box, DenseI64ArrayAttr:$modes, StrAttr:$format, I32Attr:$swizzle, StrAttr:$tensor,
                  OptionalAttr<StrAttr>:$interleave, OptionalAttr<StrAttr>:$l2_promotion, OptionalAttr<StrAttr>:$fill,
                   OptionalAttr<DenseI64ArrayAttr>:$lower, OptionalAttr<DenseI64ArrayAttr>:$upper, OptionalAttr<DenseI64ArrayAttr>:$stride);
  let results = (outs AnyType:$map);
}
def CuteNvgpu_HostTemporaryOp : CuteNvgpu_Op<"host.temporary"> {
  let summary = "The address of a temporary of the launch plan (host only)";
  let description = [{
    Created by `cute-expand-ops` from `cute.temporary`. The operands are the extents and the strides of its layout, in elements of
    `element` bits. cute-launch-plan converts the operation; it remains on the host.

    ```mlir
    %a = cute_nvgpu.host.temporary<{align = 256 : i32, element = 32 : i32, init = "zero"}> (%n, %one) : (i64, i64) -> i64
    ```
  }];
  let arguments = (ins Variadic<I64>:$sizes, I32Attr:$element, I32Attr:$align, OptionalAttr<StrAttr>:$init);
  let results = (outs I64:$address);
}
def CuteNvgpu_MakeExecTmaOp : CuteNvgpu_Op<"atom.make_exec_tma", [Pure]> {
  let summary = "Makes an executable TMA atom";
  let description = [{
    Errors: an element type, a number of bits or a basis that differs from the operand's.

    ```mlir
    %e = cute_nvgpu.atom.make_exec_tma(%a) : (!cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 32768, tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">, tma_format = F16_RN>)
        -> !cute_nvgpu.atom.tma_store<f16, copy_bits = 32768, mode = tiled, g_stride = <"()"> tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">>
    ```
  }];
  let arguments = (ins CuteNvgpu_NonExecTma:$atom);
  let results = (outs CuteNvgpu_ExecTma:$result);
}
def CuteNvgpu_TmaPartitionOp : CuteNvgpu_Op<"atom.tma_partition", [Pure]> {
  let summary = "Partitions shared memory and coordinates for a TMA copy";
  let description = [{
    The operands are the atom, the coordinate of the block among those that share the copy, the layout of
    those blocks, the tensor in shared memory and the tensor of coordinates, whose mode 0 is the tile. Mode 0
    of the results is `(elements of one copy, copies)`.

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
  let summary = "Prefetches the tensor map of a TMA atom";
  let description = [{
    ```mlir
    cute_nvgpu.prefetch_tma_desc(%a) : (!cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>) -> ()
    ```
  }];
  let arguments = (ins CuteNvgpu_Tma:$atom);
}
def CuteNvgpu_CopyTmaDescOp : CuteNvgpu_Op<"copy_tma_desc", [touches]> {
  let summary = "Copies the tensor map of a TMA atom to shared memory";
  let description = [{
    One thread executes the copy.

    Errors: a pointer that is not to shared memory or not aligned to 128 bytes.

    ```mlir
    cute_nvgpu.copy_tma_desc(%a, %p) : (!cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>, !cute.ptr<i64, smem, align<1024>>) -> ()
    ```
  }];
  let arguments = (ins CuteNvgpu_Tma:$atom, Cute_PtrType:$ptr);
}
def CuteNvgpu_UpdateTmaDescOp : CuteNvgpu_Op<"update_tma_desc", [touches]> {
  let summary = "Replaces address, extents and strides of a tensor map in shared memory";
  let description = [{
    `tensormap.replace` for the modes of the tensor that are dimensions of the map; box, swizzle and other
    fields are unchanged. The whole warp must execute the operation, and one lane performs it. The tensor has
    the modes of the atom's tensor, with the same contiguous mode.

    `arch.cp_fence_tma_desc_release` then copies the map to global memory. Its users acquire it there with
    `arch.fence_proxy_tensormap` and set the address in their atom: `set_value {field = tma_descriptor_ptr}`.

    Errors: an im2col atom, an atom with a dimension that counts several modes, a tensor of other modes,
    static strides that are not multiples of 16 bytes.

    ```mlir
    cute_nvgpu.update_tma_desc(%a, %t, %p) : (!cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>,
        !cute.memref<f16, gmem, align<16>, "(?,?,?):(?,?,?)">, !cute.ptr<i64, smem, align<1024>>) -> ()
    ```
  }];
  let arguments = (ins CuteNvgpu_Tma:$atom, Cute_MemRefType:$tensor, Cute_PtrType:$ptr);
}

// ---- tensor memory, sm_100 ----
def CuteNvgpu_MakeTmemCopyOp : CuteNvgpu_Op<"atom.make_tmem_copy", [Pure]> {
  let summary = "Makes a tiled copy between tensor memory and registers";
  let description = [{
    The copy is tiled over the lanes and columns of a tensor in tensor memory.

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
    Writes the address to shared memory. `[cta_2]` allocates for a pair of blocks.

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
  let summary = "Relinquishes the right to allocate tensor memory";
  let description = [{
    ```mlir
    cute_nvgpu.arch.sm100.relinquish_tmem_alloc_permit() [cta_1] : () -> ()
    ```
  }];
  let arguments = (ins UnitAttr:$is_two_cta);
}
def CuteNvgpu_RetrieveTmemPtrOp : CuteNvgpu_Op<"arch.sm100.retrieve_tmem_ptr", [MemoryEffects<[MemRead]>]> {
  let summary = "Loads the address of allocated tensor memory";
  let description = [{
    ```mlir
    %t = cute_nvgpu.arch.sm100.retrieve_tmem_ptr(%p) : (!cute.ptr<i32, smem, align<8>>) -> !cute.ptr<f32, tmem, align<16>>
    ```
  }];
  let arguments = (ins Cute_PtrType:$ptr);
  let results = (outs Cute_PtrType:$result);
}

#endif
