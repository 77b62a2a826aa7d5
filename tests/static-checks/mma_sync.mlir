// The tiles of C = A B^T by mma.sync: a warp copies them by TMA, four others take them with ldmatrix, and keep the last in C.
!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
!C = !cute.memref<f16, gmem, align<16>, "(64,128,2):(1,64,8192)">
!stages = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,3):(64,1,4096)">
!ldsm = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!mma = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
gpu.module @kernels {
  gpu.func @gemm(%A: !A, %B: !A, %C: !C) kernel attributes {nvvm.reqntid = array<i32: 160, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %c32 = arith.constant 32 : i32
    %bytes = arith.constant 16384 : i32 // @bytes
    %consumers = arith.constant 128 : i32 // @consumers
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %full = cute.recast_iter(%smem) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<i64, smem, align<1024>>
    %empty = cute.add_offset %full, 3
    %pa = cute.add_offset %smem, 1024 // @place-a
    %pb = cute.add_offset %smem, 25600
    %sa = cute.recast_iter(%pa) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>> // @swizzle-a
    %sb = cute.recast_iter(%pb) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
    %sA = cute.make_view %sa, "(64,64,3):(64,1,4096)"
    %sB = cute.make_view %sb, "(64,64,3):(64,1,4096)"
    %gsA = cute.group_modes<0, 2> %sA
    %gsB = cute.group_modes<0, 2> %sB
    %w = arith.divsi %t, %c32 : i32
    %warp = cute_nvgpu.arch.make_warp_uniform(%w) : (i32) -> i32
    // A thread makes each pair.
    %few = arith.cmpi slt, %t, %c3 : i32
    scf.if %few {
      %f = cute.add_offset %full, %t
      %e = cute.add_offset %empty, %t
      cute_nvgpu.arch.mbarrier_init %f, %c1 // @init-full
      cute_nvgpu.arch.mbarrier_init %e, %consumers // @init-empty
      cute_nvgpu.arch.mbarrier_init_fence
    }
    gpu.barrier // @barrier
    %ta, %ca = cute_nvgpu.atom.make_non_exec_tiled_tma_load %A, "S<3,4,3> o 0 o (64,64):(64,1)" // @make-a
    %tb, %cb = cute_nvgpu.atom.make_non_exec_tiled_tma_load %B, "S<3,4,3> o 0 o (64,64):(64,1)"
    %gA = cute.local_tile %ca, "[64:1;64:1]", "(0,_)"
    %gB = cute.local_tile %cb, "[64:1;64:1]", "(0,_)"
    %ggA = cute.group_modes<0, 2> %gA
    %ggB = cute.group_modes<0, 2> %gB
    %zero = cute.make_coord() : () -> !cute.coord<"0">
    %tAsA, %tAgA = cute_nvgpu.atom.tma_partition %ta, %zero, "(1):(0)", %gsA, %ggA
    %tBsB, %tBgB = cute_nvgpu.atom.tma_partition %tb, %zero, "(1):(0)", %gsB, %ggB
    %n = cute.size<[1]> %ggA
    %tiles = cute.get_scalars %n
    %producer = arith.cmpi eq, %warp, %c4 : i32
    scf.if %producer {
      // The phase by hand: it changes when the stage comes round.
      %s, %p = scf.for %kt = %c0 to %tiles step %c1 iter_args(%si = %c0, %ph = %c1) -> (i32, i32) : i32 { // @producer-loop
        %f = cute.add_offset %full, %si
        %e = cute.add_offset %empty, %si
        cute_nvgpu.arch.mbarrier_wait %e, %ph // @producer-wait
        %one = cute_nvgpu.arch.elect_one
        scf.if %one {
          cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %f, %bytes // @expect
        }
        %xa = cute_nvgpu.atom.make_exec_tma %ta
        %ea = cute_nvgpu.atom.set_value %xa, %f {field = tma_bar}
        %xb = cute_nvgpu.atom.make_exec_tma %tb
        %eb = cute_nvgpu.atom.set_value %xb, %f {field = tma_bar}
        cute.copy %ea, %tAgA[_, %kt], %tAsA[_, %si] // @copy-a
        cute.copy %eb, %tBgB[_, %kt], %tBsB[_, %si] // @copy-b
        %s1 = arith.addi %si, %c1 : i32
        %wrap = arith.cmpi eq, %s1, %c3 : i32 // @producer-wrap
        %s2 = arith.select %wrap, %c0, %s1 : i32
        %flip = arith.xori %ph, %c1 : i32
        %p2 = arith.select %wrap, %flip, %ph : i32 // @producer-flip
        scf.yield %s2, %p2 : i32, i32
      }
    } else {
      %atom = cute.make_atom : !mma
      %mma = cute.make_tiled_mma %atom, "(2,2,1):(1,2,0)", (32, 32, 16)
      %ldsm = cute.make_atom : !ldsm
      %s2rA = cute.make_tiled_copy_A %ldsm, %mma
      %s2rB = cute.make_tiled_copy_B %ldsm, %mma
      %tXsA = cute.tiled.copy.partition_S %s2rA, %sA, %t
      %tXsB = cute.tiled.copy.partition_S %s2rB, %sB, %t
      %rA = cute.tiled.mma.partition_fragment A (%mma, %sA[_, _, 0], %t)
      %rB = cute.tiled.mma.partition_fragment B (%mma, %sB[_, _, 0], %t)
      %cA = cute.slice %C, (_, %t, 0)
      %cB = cute.slice %C, (_, %t, 1)
      %tXrA = cute.tiled.copy.retile %s2rA, %rA
      %tXrB = cute.tiled.copy.retile %s2rB, %rB
      scf.for %kt = %c0 to %tiles step %c1 : i32 {
        %si = arith.remsi %kt, %c3 : i32 // @consumer-stage
        %turn = arith.divsi %kt, %c3 : i32
        %ph = arith.andi %turn, %c1 : i32 // @consumer-phase
        %f = cute.add_offset %full, %si
        %e = cute.add_offset %empty, %si
        cute_nvgpu.arch.mbarrier_wait %f, %ph // @consumer-wait
        cute.copy %s2rA, %tXsA[_, _, _, %si], %tXrA // @load-a
        cute.copy %s2rB, %tXsB[_, _, _, %si], %tXrB // @load-b
        cute_nvgpu.arch.mbarrier_arrive %e // @release
        %a = cute.memref.load_vec %rA
        %b = cute.memref.load_vec %rB
        cute.memref.store_vec %a, %cA
        cute.memref.store_vec %b, %cB
      }
    }
    gpu.return
  }
}
