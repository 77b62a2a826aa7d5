// b = a for row-major matrices with rows of whole 16 bytes: TMA stores such units, also beyond the end of a row. A block copies one tile of (TM,TN) to shared
// memory and back by TMA, with one warp and no elements in registers. Many small blocks per multiprocessor hide each
// other's latency, and their launch order streams through a and b: persistent blocks that loop over
// tiles reached 98 % of this performance. -D T BITS: the type and its bits.
!A = !cute.memref<${T}, gmem, align<16>, "(?,?):(?{i64},1)">

gpu.module @kernels {
  gpu.func @copy(%a: !A, %b: !A) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bytes = arith.constant ${TM*TN*BITS/8} : i32
    %is_first = arith.cmpi eq, %t, %c0 : i32

    // The tiles of both, and the TMA copies of them.
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<${T}, smem, align<1024>>
    %s = cute.make_view %smem, "((${TM},${TN})):((${TN},1))"
    %load, %ca = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%a, "(${TM},${TN}):(${TN},1)")
    %store, %cb = cute_nvgpu.atom.make_non_exec_tiled_tma_store(%b, "(${TM},${TN}):(${TN},1)")
    %ga = cute.local_tile %ca, (${TM}, ${TN}), (_, _)
    %gb = cute.local_tile %cb, (${TM}, ${TN}), (_, _)
    %tiles_a = cute.group_modes<0,2> %ga
    %tiles_b = cute.group_modes<0,2> %gb
    %to, %from = cute_nvgpu.atom.tma_partition(%load, 0, "1:0", %s, %tiles_a)
    %out, %into = cute_nvgpu.atom.tma_partition(%store, 0, "1:0", %s, %tiles_b)
    %columns_mode = cute.size<[2]> %tiles_a
    %columns = cute.get_scalars %columns_mode
    %m = arith.divui %block, %columns : i32
    %n = arith.remui %block, %columns : i32

    %barrier = cute.memref.alloca : !cute.memref<i64, smem, align<8>, "1:1">
    %full = cute.get_iter %barrier
    scf.if %is_first {
      cute_nvgpu.arch.mbarrier_init %full, %c1
      cute_nvgpu.arch.mbarrier_init_fence
      cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %full, %bytes
    }
    cute_nvgpu.arch.warp_sync
    %loads = cute_nvgpu.atom.make_exec_tma %load
    %atom = cute_nvgpu.atom.set_value(%loads, %full) {field = tma_bar}
    cute.copy %atom, %from[_, %m, %n], %to
    cute_nvgpu.arch.mbarrier_wait %full, %c0
    %stores = cute_nvgpu.atom.make_exec_tma %store
    cute.copy %stores, %out, %into[_, %m, %n]
    nvvm.cp.async.bulk.commit.group
    nvvm.cp.async.bulk.wait_group 0 {read}
    gpu.return
  }
}

func.func @copy(%a: !A {cute.name = "a"}, %b: !A {cute.name = "b"}) {
  %shape = cute.shape %a
  %grid = cute.ceil_div %shape, (${TM}, ${TN})
  %m, %n = cute.get_scalars %grid
  %tiles = arith.muli %m, %n : i32
  %gx = arith.index_cast %tiles : i32 to index
  %c1 = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %bytes = arith.constant ${TM*TN*BITS/8} : i32
  gpu.launch_func @kernels::@copy blocks in (%gx, %c1, %c1) threads in (%threads, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%a : !A, %b : !A)
  return
}
// In an editor: -D T=f32 -D BITS=32 -D TM=4 -D TN=256
