// out = sum of x, n elements aligned to 16 bytes: each block adds up tiles of SIZE elements, every blocks-th, and a second kernel
// the sums of the blocks and the elements behind the last 16 bytes, so the result is deterministic.
// -D T: f32, f16 or bf16; V: elements in 16 bytes; BLOCKS: the maximum grid size.
//!param SIZE = 4096 in 1024, 2048, 4096, 8192
!X = !cute.memref<${T}, gmem, align<16>, "?:1">
!whole = !cute.memref<${T}, gmem, align<16>, "?{div=${V}}:1">
!partial = !cute.memref<f32, gmem, align<256>, "?:1">
!out = !cute.memref<f32, gmem, "1:1">

gpu.module @kernels {
  gpu.func @partial(%x: !whole, %partial: !partial) kernel {
    %block = cute.tile.program<[1]> %partial
    %blocks = cute.tile.count<0, 1> %partial
    %tiles = cute.tile.count<0, ${SIZE}> %x
    %zero = arith.constant dense<0.0> : tensor<${SIZE}xf32>
    %sum = scf.for %i = %block to %tiles step %blocks iter_args(%so_far = %zero) -> (tensor<${SIZE}xf32>) : i32 {
      %h = cute.tile.load<[${SIZE}]> %x[%i]
      %a = cute.tile.cast<f32> %h
      %more = cute.tile.add %so_far, %a
      scf.yield %more : tensor<${SIZE}xf32>
    }
    %all = cute.tile.reduce<add, 0> %sum
    cute.tile.store %all, %partial[%block]
    gpu.return
  }

  gpu.func @total(%partial: !partial, %rest: !X, %out: !out) kernel {
    %block = cute.tile.program<[1]> %out
    %p = cute.tile.load<[${BLOCKS}]> %partial[0]
    %h = cute.tile.load<[${V}]> %rest[0]
    %a = cute.tile.cast<f32> %h
    %sums = cute.tile.reduce<add, 0> %p
    %few = cute.tile.reduce<add, 0> %a
    %all = cute.tile.add %sums, %few
    cute.tile.store %all, %out[%block]
    gpu.return
  }
}

func.func private @partial(!whole, !partial)
func.func private @total(!partial, !X, !out)
func.func @sum(%x: !X, %out: !out) {
  %size = cute.size %x
  %n = cute.get_scalars %size
  %v = arith.constant ${V} : i32
  %few = arith.remui %n, %v : i32
  %most = arith.subi %n, %few : i32
  %whole = cute.assume %most : i32 -> !cute.i32<divby ${V}>
  %from = cute.get_iter %x
  %whole_layout = cute.make_layout(%whole)
  %w = cute.make_view %from, %whole_layout
  %behind = cute.add_offset %from, %whole
  %few_layout = cute.make_layout(%few)
  %rest = cute.make_view %behind, %few_layout
  %tiles = cute.ceil_div %size, ${SIZE}
  %count = cute.get_scalars %tiles
  %limit = arith.constant ${BLOCKS} : i32
  %blocks = arith.minui %count, %limit : i32
  %partial_layout = cute.make_layout(%blocks)
  %partial = cute.temporary %partial_layout : !partial
  func.call @partial(%w, %partial) : (!whole, !partial) -> ()
  func.call @total(%partial, %rest, %out) : (!partial, !X, !out) -> ()
  return
}
// In an editor: -D T=f32 -D V=4 -D BLOCKS=1056
