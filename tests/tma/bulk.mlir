// Rows of A, 1024 bytes each, go from block to block: each block of a pair brings two rows in by bulk copies, hands them to the
// other one's shared memory, and what it was handed goes to B; the sum of both to S.
!T = !cute.memref<f32, gmem, align<16>, "(256,2,?):(1,256,512)">
!R = !cute.memref<f32, smem, align<128>, "(256,2):(1,256)">
!D = !cute.memref<f32, dsmem, align<128>, "(256,2):(1,256)">
gpu.module @kernels {
  gpu.func @bulk(%A: !T, %B: !T, %S: !T) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %b = nvvm.read.ptx.sreg.ctaid.x : i32
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bytes = arith.constant 2048 : i32
    %other = arith.subi %c1, %rank : i32
    %own = cute.memref.alloca : !R
    %got = cute.memref.alloca : !R
    %bars = cute.memref.alloca : !cute.memref<i64, smem, align<8>, "2:1">
    %in = cute.get_iter %bars
    %handed = cute.add_offset %in, 1
    %first = arith.cmpi eq, %t, %c0 : i32
    scf.if %first {
      cute_nvgpu.arch.mbarrier_init %in, %c1
      cute_nvgpu.arch.mbarrier_init %handed, %c1
      cute_nvgpu.arch.mbarrier_init_fence
      cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %in, %bytes
      cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %handed, %bytes
    }
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
    %load = cute.make_atom : !cute_nvgpu.atom.bulk_copy<f32, g2s>
    %give = cute.make_atom : !cute_nvgpu.atom.bulk_copy<f32, s2d>
    %store = cute.make_atom : !cute_nvgpu.atom.bulk_copy<f32, s2g>
    %add = cute.make_atom : !cute_nvgpu.atom.bulk_copy<f32, s2g, kind = ADD>
    %loads = cute_nvgpu.atom.set_value(%load, %in) {field = tma_bar}
    cute.copy %loads, %A[_, _, %b], %own
    cute_nvgpu.arch.mbarrier_wait %in, %c0
    %there = cute.get_iter %got
    %p = cute_nvgpu.arch.map_dsmem_ptr(%there, %other)
    %layout = cute.static : !cute.layout<"(256,2):(1,256)">
    %remote = cute.make_view %p, %layout
    %bar = cute_nvgpu.arch.map_dsmem_ptr(%handed, %other)
    %gives = cute_nvgpu.atom.set_value(%give, %bar) {field = tma_bar}
    cute.copy %gives, %own, %remote
    cute_nvgpu.arch.mbarrier_wait %handed, %c0
    cute.copy %store, %got, %B[_, _, %b]
    cute.copy %add, %got, %S[_, _, 0]
    nvvm.cp.async.bulk.commit.group
    nvvm.cp.async.bulk.wait_group 0
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
    gpu.return
  }
}
