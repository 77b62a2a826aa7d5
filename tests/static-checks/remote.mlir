// Blocks of a pair hand numbers to each other: by st.async, by a bulk copy; a bulk copy brings what they hand over.
!T = !cute.memref<f32, gmem, align<16>, "(256,?):(1,256)">
!Y = !cute.memref<f32, gmem, align<16>, "(32,?):(1,32)">
!R = !cute.memref<f32, smem, align<128>, "256:1">
gpu.module @kernels {
  gpu.func @remote(%A: !T, %B: !T, %Y: !Y) kernel
      attributes {nvvm.reqntid = array<i32: 32, 1, 1>, nvvm.cluster_dim = array<i32: 2, 1, 1>} { // @cluster
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %b = nvvm.read.ptx.sreg.ctaid.x : i32
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bytes = arith.constant 1024 : i32 // @bytes
    %few = arith.constant 128 : i32 // @few
    %other = arith.subi %c1, %rank : i32 // @other
    %own = cute.memref.alloca : !R
    %got = cute.memref.alloca : !R
    %box = cute.memref.alloca : !cute.memref<f32, smem, align<128>, "32:1">
    %bars = cute.memref.alloca : !cute.memref<i64, smem, align<8>, "3:1">
    %in = cute.get_iter %bars
    %handed = cute.add_offset %in, 1
    %letters = cute.add_offset %in, 2
    %first = arith.cmpi eq, %t, %c0 : i32
    scf.if %first {
      cute_nvgpu.arch.mbarrier_init %in, %c1
      cute_nvgpu.arch.mbarrier_init %handed, %c1
      cute_nvgpu.arch.mbarrier_init %letters, %c1 // @init-letters
      cute_nvgpu.arch.mbarrier_init_fence
      cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %in, %bytes // @expect-in
      cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %handed, %bytes // @expect-handed
      cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %letters, %few // @expect-letters
    }
    cute_nvgpu.arch.barrier_cluster // @meet
    %load = cute.make_atom : !cute_nvgpu.atom.bulk_copy<f32, g2s>
    %give = cute.make_atom : !cute_nvgpu.atom.bulk_copy<f32, s2d>
    %store = cute.make_atom : !cute_nvgpu.atom.bulk_copy<f32, s2g>
    %loads = cute_nvgpu.atom.set_value(%load, %in) {field = tma_bar}
    cute.copy %loads, %A[_, %b], %own // @load
    %place = cute.get_iter %box
    %mine = cute.add_offset %place, %t
    %x = arith.sitofp %t : i32 to f32
    cute_nvgpu.arch.st_async %x, %mine, %letters, %other // @letter
    cute_nvgpu.arch.mbarrier_wait %in, %c0 // @wait-in
    %there = cute.get_iter %got
    %p = cute_nvgpu.arch.map_dsmem_ptr(%there, %other)
    %layout = cute.static : !cute.layout<"256:1">
    %remote = cute.make_view %p, %layout
    %bar = cute_nvgpu.arch.map_dsmem_ptr(%handed, %other) // @handed-there
    %gives = cute_nvgpu.atom.set_value(%give, %bar) {field = tma_bar}
    cute.copy %gives, %own, %remote // @give
    cute_nvgpu.arch.mbarrier_wait<cluster> %letters, %c0 // @wait-letters
    %y = cute.memref.load %box[%t] // @read-letter
    cute.memref.store %Y[%t, %b], %y // @keep-letter
    cute_nvgpu.arch.mbarrier_wait<cluster> %handed, %c0 // @wait-handed
    cute.copy %store, %got, %B[_, %b] // @store
    nvvm.cp.async.bulk.commit.group // @commit
    nvvm.cp.async.bulk.wait_group 0 // @wait-store
    cute_nvgpu.arch.barrier_cluster // @last-meet
    gpu.return
  }
}
