// Tiles of C through two buffers in shared memory to global memory: threads write one while the store of the other reads.
!C = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
!stages = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,2):(64,1,4096)">
!copy = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!frag = !cute.memref<f16, rmem, align<16>, "((8,1),4,1):((1,0),8,0)">
gpu.module @kernels {
  gpu.func @store(%C: !C, %n: i32) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c32 = arith.constant 32 : i32
    %c8 = arith.constant 8 : i32
    %id = arith.constant 1 : i32 // @id
    %all = arith.constant 128 : i32 // @all
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %sc = cute.recast_iter(%smem) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>> // @buffer
    %sC = cute.make_view %sc, "(64,64,2):(64,1,4096)"
    %w = arith.divsi %t, %c32 : i32
    %warp = cute_nvgpu.arch.make_warp_uniform(%w) : (i32) -> i32
    %leader = arith.cmpi eq, %warp, %c0 : i32
    %tc, %cc = cute_nvgpu.atom.make_non_exec_tiled_tma_store %C, "S<3,4,3> o 0 o (64,64):(64,1)" // @make
    %gC = cute.local_tile %cc, "[64:1;64:1]", "(0,_)"
    %ggC = cute.group_modes<0, 2> %gC
    %gsC = cute.group_modes<0, 2> %sC
    %zero = cute.make_coord() : () -> !cute.coord<"0">
    %tCsC, %tCgC = cute_nvgpu.atom.tma_partition %tc, %zero, "(1):(0)", %gsC, %ggC
    %atom = cute.make_atom : !copy
    %r2s = cute.make_tiled_copy %atom, "(16,8):(8,1)", "(1,8):(0,1)"
    %tDsC = cute.tiled.copy.partition_D %r2s, %sC, %t
    %lay = cute.static : !cute.layout<"((8,1),4,1):((1,0),8,0)">
    %frag = cute.memref.alloca(%lay) : (!cute.layout<"((8,1),4,1):((1,0),8,0)">) -> !frag
    %ones = arith.constant dense<1.0> : vector<32xf16>
    cute.memref.store_vec(%ones, %frag) : (vector<32xf16>, !frag) -> ()
    scf.for %i = %c0 to %c8 step %c1 : i32 {
      %s = arith.remsi %i, %c2 : i32 // @stage
      // The store two steps ago has read this buffer.
      scf.if %leader {
        cute_nvgpu.arch.cp_async_bulk_wait_group<{groups = 1 : i32, read}> ()  : () -> () // @wait-read
      }
      cute_nvgpu.arch.named_barrier_sync %id, %all // @sync-free
      cute.copy %r2s, %frag, %tDsC[_, _, _, %s] // @write
      cute_nvgpu.arch.fence_proxy<"async.shared::cta"> // @fence
      cute_nvgpu.arch.named_barrier_sync %id, %all // @sync-full
      scf.if %leader { // @store-if
        %e = cute_nvgpu.atom.make_exec_tma %tc
        cute.copy %e, %tCsC[_, %s], %tCgC[_, %i] // @store
        cute_nvgpu.arch.cp_async_bulk_commit_group // @commit
      }
    }
    scf.if %leader {
      cute_nvgpu.arch.cp_async_bulk_wait_group<{groups = 0 : i32, read}> () : () -> () // @last-wait
    }
    gpu.return
  }
}
