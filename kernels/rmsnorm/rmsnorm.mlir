// out(i,j) = x(i,j) / sqrt(mean_j x(i,j)^2 + eps) * weight(j): a block a row, the row in registers, one pass over memory.
// -D T=f32|bf16|f16, V (16 bytes of T), COLS: columns at most, a multiple of 256 V; any number of rows and columns up to that
// whose rows are multiples of 16 bytes.
!X = !cute.memref<${T}, gmem, align<16>, "(?,?{div=${V}}):(?{i64 div=${V}},1)">
!W = !cute.memref<${T}, gmem, align<16>, "?{div=${V}}:1">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<${T}, 128 b>, layout_copy_tv = <"(256,${V}):(${V},1)">, tiler_mn = <"[1:0;${256*V}:1]">>

gpu.module @kernels {
  memref.global "private" @sums : memref<8xf32, 3>

  gpu.func @rmsnorm(%x: !X, %weight: !W, %out: !X, %eps: f32) kernel attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %row = nvvm.read.ptx.sreg.ctaid.x : i32
    %t = cute.make_coord(%tid)
    %copy = cute.static : !copy
    %tile = cute.make_tile(1, ${COLS})
    %block = cute.make_coord(%row, 0)
    %gX = cute.local_tile(%x, %tile, %block)
    %gO = cute.local_tile(%out, %tile, %block)
    %shape = cute.get_shape(%x)
    %ids = cute.make_identity_tensor(%shape)
    %gC = cute.local_tile(%ids, %tile, %block)
    %tX = cute.tiled.copy.partition_S(%copy, %gX, %t)
    %tO = cute.tiled.copy.partition_D(%copy, %gO, %t)
    %tC = cute.tiled.copy.partition_S(%copy, %gC, %t)
    %pred = cute.predicate(%tC, %shape)
    %r = cute.make_fragment_like(%tX)
    %zero = arith.constant 0.0 : ${T}
    cute.fill(%r, %zero)
    cute.copy(%copy, %tX, %r, %pred)
