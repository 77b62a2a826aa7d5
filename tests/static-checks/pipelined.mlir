// C = A B^T by one warpgroup: its first warp copies tiles three steps ahead of the products.
!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
!C = !cute.memref<f32, gmem, align<16>, "(?,?):(?{i64},1)">
!stages = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,4):(64,1,4096)">
!grouped = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,64),4):((64,1),4096)">
!mma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!tiled = !cute.tiled_mma<!mma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!sub = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4,4):((64,1),0,16,4096)">
!frag = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,4,4):(0,0,2,512)">
!acc = !cute.memref<f32, rmem, align<32>, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels {
  gpu.func @gemm(%A: !A, %B: !A, %C: !C) kernel
      attributes {nvvm.reqntid = array<i32: 128, 1, 1>} { // @reqntid
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %c32 = arith.constant 32 : i32
    %bytes = arith.constant 16384 : i32 // @bytes
    %c3 = arith.constant 3 : i32 // @three
    %true = arith.constant true
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %full = cute.recast_iter(%smem) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<i64, smem, align<1024>>
    %pa = cute.add_offset %smem, 1024
    %pb = cute.add_offset %smem, 33792
    %sa = cute.recast_iter(%pa) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
    %sb = cute.recast_iter(%pb) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
    %sA = cute.make_view %sa, "(64,64,4):(64,1,4096)"
    %sB = cute.make_view %sb, "(64,64,4):(64,1,4096)"
    %gsA = cute.group_modes<0, 2> (%sA) : (!stages) -> !grouped
    %gsB = cute.group_modes<0, 2> (%sB) : (!stages) -> !grouped
    %w = arith.divsi %t, %c32 : i32
    %warp = cute_nvgpu.arch.make_warp_uniform(%w) : (i32) -> i32
    // One thread makes the mbarriers.
    %first = arith.cmpi eq, %t, %c0 : i32
    scf.if %first {
      scf.for %s = %c0 to %c4 step %c1 : i32 {
        %f = cute.add_offset %full, %s
        cute_nvgpu.arch.mbarrier_init %f, %c1 // @init-full
      }
      cute_nvgpu.arch.mbarrier_init_fence // @init-fence
    }
    cute_nvgpu.arch.block_sync // @block-sync
    %ta, %ca = cute_nvgpu.atom.make_non_exec_tiled_tma_load %A, "S<3,4,3> o 0 o (64,64):(64,1)" // @make-a
    %tb, %cb = cute_nvgpu.atom.make_non_exec_tiled_tma_load %B, "S<3,4,3> o 0 o (64,64):(64,1)" // @make-b
    %gA = cute.local_tile %ca, "[64:1;64:1]", "(0,_)"
    %gB = cute.local_tile %cb, "[64:1;64:1]", "(0,_)"
    %ggA = cute.group_modes<0, 2> %gA
    %ggB = cute.group_modes<0, 2> %gB
    %zero = cute.make_coord() : () -> !cute.coord<"0">
    %tAsA, %tAgA = cute_nvgpu.atom.tma_partition %ta, %zero, "(1):(0)", %gsA, %ggA
    %tBsB, %tBgB = cute_nvgpu.atom.tma_partition %tb, %zero, "(1):(0)", %gsB, %ggB
    %n = cute.size<[1]> %ggA
    %tiles = cute.get_scalars %n
    %mma = cute.make_atom : !mma
    %tm = cute.make_tiled_mma(%mma) : (!mma) -> !tiled
    %crd = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
    %tCsA = cute.tiled.mma.partition(%tm, %sA, %crd) <{operand_id = 0 : i32}> : (!tiled, !stages, !cute.coord<"?">) -> !sub
    %tCsB = cute.tiled.mma.partition(%tm, %sB, %crd) <{operand_id = 1 : i32}> : (!tiled, !stages, !cute.coord<"?">) -> !sub
    %rA = cute.mma.make_fragment(%tm, %tCsA) <{operand_id = 0 : i32}> : (!tiled, !sub) -> !frag
    %rB = cute.mma.make_fragment(%tm, %tCsB) <{operand_id = 1 : i32}> : (!tiled, !sub) -> !frag
    %lay = cute.static : !cute.layout<"((2,2,8),1,1):((1,2,4),0,0)">
    %acc = cute.memref.alloca(%lay) : (!cute.layout<"((2,2,8),1,1):((1,2,4),0,0)">) -> !acc
    %zeros = arith.constant dense<0.0> : vector<32xf32>
    cute.memref.store_vec(%zeros, %acc) : (vector<32xf32>, !acc) -> ()
    %on = cute_nvgpu.atom.set_value(%tm, %true) <{field = #cute_nvgpu.atom_mma_field_sm90<accum_c>}> : (!tiled, i1) -> !tiled
    %leader = arith.cmpi eq, %warp, %c0 : i32
    // The first stages.
    scf.if %leader {
      scf.for %kt = %c0 to %c3 step %c1 : i32 { // @prologue
        %f = cute.add_offset %full, %kt
        scf.if %first {
          cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %f, %bytes // @first-expect
        }
        %xa = cute_nvgpu.atom.make_exec_tma %ta
        %ea = cute_nvgpu.atom.set_value %xa, %f {field = tma_bar}
        %xb = cute_nvgpu.atom.make_exec_tma %tb
        %eb = cute_nvgpu.atom.set_value %xb, %f {field = tma_bar}
        cute.copy %ea, %tAgA[_, %kt], %tAsA[_, %kt]
        cute.copy %eb, %tBgB[_, %kt], %tBsB[_, %kt]
      }
    }
    %i0, %p0 = cute_nvgpu.arch.pipeline_start<"consumer"> // @start
    %i, %p = scf.for %kt = %c0 to %tiles step %c1 iter_args(%si = %i0, %ph = %p0) -> (i32, i32) : i32 {
      %f = cute.add_offset %full, %si
      cute_nvgpu.arch.mbarrier_wait %f, %ph // @wait
      cute_nvgpu.arch.wgmma_fence // @wgmma-fence
      scf.for %kb = %c0 to %c4 step %c1 : i32 {
        cute.gemm %on, %acc, %rA[_, _, %kb, %si], %rB[_, _, %kb, %si], %acc // @gemm
      }
      cute_nvgpu.arch.wgmma_commit_group // @commit
      cute_nvgpu.arch.wgmma_wait_group<0> // @wait-group
      // All have multiplied: the stage of the step before is free.
      cute_nvgpu.arch.block_sync // @sync
      %next = arith.addi %kt, %c3 : i32 // @ahead
      %more = arith.cmpi slt, %next, %tiles : i32
      %fill = arith.andi %more, %leader : i1
      scf.if %fill {
        %sn = arith.remsi %next, %c4 : i32 // @next-stage
        %fn = cute.add_offset %full, %sn
        scf.if %first {
          cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %fn, %bytes // @expect
        }
        %xa = cute_nvgpu.atom.make_exec_tma %ta
        %ea = cute_nvgpu.atom.set_value %xa, %fn {field = tma_bar}
        %xb = cute_nvgpu.atom.make_exec_tma %tb
        %eb = cute_nvgpu.atom.set_value %xb, %fn {field = tma_bar}
        cute.copy %ea, %tAgA[_, %next], %tAsA[_, %sn] // @copy-a
        cute.copy %eb, %tBgB[_, %next], %tBsB[_, %sn] // @copy-b
      }
      %ni, %np = cute_nvgpu.arch.pipeline_advance<4> %si, %ph // @advance
      scf.yield %ni, %np : i32, i32
    }
    %v = cute.memref.load_vec(%acc) : (!acc) -> vector<32xf32> // @read
    gpu.return
  }
}
