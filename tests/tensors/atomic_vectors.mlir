// Atomic additions of vectors, which each element takes by itself: pairs in both memories, longer ones in global memory.
// arch: sm_90
// run: -p k --tensor F=f32:4x4:ones --tensor G=f32:16:ones --tensor H=f16:2x8:ones --tensor Q=bf16:8:ones --tensor B=bf16:4:ones --tensor O=f32:4x4:zeros --expect 'F=1+16*j' --expect 'G=17' --expect 'H=j<4?33:1' --expect 'Q=33' --expect 'B=i<2?33:1' --expect 'O=120*j+16'
!f = !cute.memref<f32, gmem, align<16>, "(4,4):(4,1)">
!g = !cute.memref<f32, gmem, align<8>, "(2,8):(1,2)">
!h = !cute.memref<f16, gmem, align<16>, "(2,8):(8,1)">
!q = !cute.memref<bf16, gmem, align<16>, "8:1">
!b = !cute.memref<bf16, gmem, align<4>, "4:1">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @k(%F: !f, %G: !g, %H: !h, %Q: !q, %B: !b, %O: !f) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c2 = arith.constant 2 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %row = arith.remui %t, %c4 : i32
    %v4 = arith.constant dense<[0.0, 1.0, 2.0, 3.0]> : vector<4xf32>
    // The old value of column 0 stays 1, of column j it is 1, 1 + j, ...: 16 of them.
    %old = cute.atomic_add %v4, %F[%row, 0]
    cute.atomic_add %old, %O[%row, 0]
    %v2 = arith.constant dense<2.0> : vector<2xf32>
    %pair = arith.remui %t, %c8 : i32
    cute.atomic_add %v2, %G[0, %pair]
    %two = arith.remui %t, %c2 : i32
    %h4 = arith.constant dense<1.0> : vector<4xf16>
    cute.atomic_add %h4, %H[%two, 0]
    %h8 = arith.constant dense<0.5> : vector<8xbf16>
    cute.atomic_add %h8, %Q[0]
    // Pairs in shared memory.
    %s = cute.alloc_smem bf16, (4, 1) {align = 8}
    %zero = arith.constant 0.0 : bf16
    %low = arith.cmpi ult, %t, %c4 : i32
    scf.if %low {
      cute.store %zero, %s[%t]
    }
    gpu.barrier
    %h2 = arith.constant dense<0.5> : vector<2xbf16>
    cute.atomic_add<relaxed, cta> %h2, %s[0]
    gpu.barrier
    scf.if %low {
      %x = cute.load %s[%t]
      cute.atomic_add %x, %B[%t]
    }
    gpu.return
  }
}
func.func @k(%F: !f, %G: !g, %H: !h, %Q: !q, %B: !b, %O: !f) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%F : !f, %G : !g, %H : !h, %Q : !q, %B : !b, %O : !f)
  return
}
}
