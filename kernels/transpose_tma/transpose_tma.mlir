// b(j,i) = a(i,j): a is (M,N), b is (N,M), both row-major, with rows aligned to 16 bytes, those of b of whole 16 bytes. A block takes
// one tile, GM by GN square boxes of 128 bytes. TMA loads it to shared memory, swizzled; a thread reads V rows of V elements,
// 16 bytes each, and writes them as columns to another buffer, which TMA stores: 64 GM GN threads.
// Eight adjacent threads read and write pieces of a diagonal, which the swizzle maps to different banks on both sides. Blocks
// traverse a by columns, so that writes are contiguous; with that and two boxes on both sides they read and write whole pages
// of memory. -D T BITS V: the type, its bits, and 128 / BITS.
!A = !cute.memref<${T}, gmem, align<16>, "(?,?):(?{i64},1)">

gpu.module @kernels {
  gpu.func @transpose(%a: !A, %b: !A) kernel attributes {nvvm.reqntid = array<i32: ${64*GM*GN}, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
    %c32 = arith.constant 32 : i32
    %boxes = arith.constant ${GM} : i32
    %bytes = arith.constant ${64*V*V*GM*GN*BITS/8} : i32
    %is_first = arith.cmpi eq, %t, %c0 : i32
    %in_first_warp = arith.cmpi ult, %t, %c32 : i32

    // Tiles of a, ${8*V*GM} by ${8*V*GN}, and of b, ${8*V*GN} by ${8*V*GM}.
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<${T}, smem, align<1024>, S<3,4,3>>
    %s = cute.make_view %smem, "((${8*V*GM},(${8*V},${GN}))):((${8*V},(1,${64*V*V*GM})))"
    %behind = cute.add_offset %smem, ${64*V*V*GM*GN}
    %o = cute.make_view %behind, "((${8*V*GN},(${8*V},${GM}))):((${8*V},(1,${64*V*V*GN})))"
    // The same as pieces: ((V, of 16 bytes), (V, of V rows)) of a tile.
    %sp = cute.make_view %smem, "((${V},(8,${GN})),(${V},(8,${GM}))):((1,(${V},${64*V*V*GM})),(${8*V},(${8*V*V},${64*V*V})))"
    %op = cute.make_view %behind, "((${V},(8,${GM})),(${V},(8,${GN}))):((1,(${V},${64*V*V*GN})),(${8*V},(${8*V*V},${64*V*V})))"

    %load, %ca = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%a, "S<3,4,3> o 0 o (${8*V*GM},(${8*V},${GN})):(${8*V},(1,${64*V*V*GM}))")
    %store, %cb = cute_nvgpu.atom.make_non_exec_tiled_tma_store(%b, "S<3,4,3> o 0 o (${8*V*GN},(${8*V},${GM})):(${8*V},(1,${64*V*V*GN}))")
    %ga = cute.local_tile %ca, (${8*V*GM}, ${8*V*GN}), (_, _)
    %gb = cute.local_tile %cb, (${8*V*GN}, ${8*V*GM}), (_, _)
    %tiles_a = cute.group_modes<0,2> %ga
    %tiles_b = cute.group_modes<0,2> %gb
    %to, %from = cute_nvgpu.atom.tma_partition(%load, 0, "1:0", %s, %tiles_a)
    %out, %into = cute_nvgpu.atom.tma_partition(%store, 0, "1:0", %o, %tiles_b)
    %rows_mode = cute.size<[1]> %tiles_a
    %rows = cute.get_scalars %rows_mode
    %m = arith.remui %block, %rows : i32
    %n = arith.divui %block, %rows : i32

    %barrier = cute.memref.alloca : !cute.memref<i64, smem, align<8>, "1:1">
    %full = cute.get_iter %barrier
    scf.if %in_first_warp {
      scf.if %is_first {
        cute_nvgpu.arch.mbarrier_init %full, %c1
        cute_nvgpu.arch.mbarrier_init_fence
        cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %full, %bytes
      }
      cute_nvgpu.arch.warp_sync
      %loads = cute_nvgpu.atom.make_exec_tma %load
      %atom = cute_nvgpu.atom.set_value(%loads, %full) {field = tma_bar}
      cute.copy %atom, %from[_, %m, %n], %to
    }

    // The thread's piece: columns of 16 bytes t % 8, rows of V on the diagonal, of box (bm, bn).
    %pc = arith.remui %t, %c8 : i32
    %u = arith.divui %t, %c8 : i32
    %d = arith.addi %pc, %u : i32
    %pr = arith.remui %d, %c8 : i32
    %box = arith.divui %u, %c8 : i32
    %bm = arith.remui %box, %boxes : i32
    %bn = arith.divui %box, %boxes : i32
    %wide = cute.make_atom : !cute_nvgpu.atom.universal_copy<${T}, 128 b>
    %one = cute.make_atom : !cute_nvgpu.atom.universal_copy<${T}>
    %r = cute.memref.alloca : !cute.memref<${T}, rmem, align<16>, "(${V},${V}):(1,${V})">
    %w = cute.memref.alloca : !cute.memref<${T}, rmem, align<16>, "(${V},${V}):(1,${V})">
    %rp = cute.get_iter %r
    %turned = cute.make_view %rp, "(${V},${V}):(${V},1)"
    gpu.barrier
    cute_nvgpu.arch.mbarrier_wait %full, %c0
    %read = cute.slice %sp, ((_, (%pc, %bn)), (_, (%pr, %bm)))
    cute.copy %wide, %read, %r
    cute.copy %one, %turned, %w
    %write = cute.slice %op, ((_, (%pr, %bm)), (_, (%pc, %bn)))
    cute.copy %wide, %w, %write
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    scf.if %in_first_warp {
      %stores = cute_nvgpu.atom.make_exec_tma %store
      cute.copy %stores, %out, %into[_, %n, %m]
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0 {read}
    }
    gpu.return
  }
}

func.func @transpose(%a: !A {cute.name = "a"}, %b: !A {cute.name = "b"}) {
  %shape = cute.shape %a
  %grid = cute.ceil_div %shape, (${8*V*GM}, ${8*V*GN})
  %m, %n = cute.get_scalars %grid
  %tiles = arith.muli %m, %n : i32
  %gx = arith.index_cast %tiles : i32 to index
  %c1 = arith.constant 1 : index
  %threads = arith.constant ${64*GM*GN} : index
  %bytes = arith.constant ${128*V*V*GM*GN*BITS/8} : i32
  gpu.launch_func @kernels::@transpose blocks in (%gx, %c1, %c1) threads in (%threads, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%a : !A, %b : !A)
  return
}
// In an editor: -D T=f32 -D BITS=32 -D V=4 -D GM=2 -D GN=2
