// Blocks of a cluster divide the k of a tile whose elements of a column are adjacent: a part is columns, of which each warp has 16 rows, a sector.
// The block's own part goes from lane to lane by shuffles, and only the others' through shared memory: threads meet no other warp in between.
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=persistent=0,cluster=1x1,consumers=1,stages=2,split=2},cute-tile-cluster,cute-tile-layouts{arch=sm_90a})' | FileCheck %s
// RUN: cute-ptx %s -arch sm_90a --schedule="persistent=0 cluster=1x1 consumers=1 stages=2 split=2" | FileCheck %s --check-prefix=PTX

!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!D = !cute.memref<f16, gmem, align<16>, "(?{div=8},?):(1,?{i64 div=8})">
!F = !cute.memref<f32, gmem, align<16>, "(?{div=4},?):(1,?{i64 div=4})">
!t = tensor<64x64xf32>
gpu.module @m {
  // Of 16 bits: rows 8 further, which are other registers, are those of the other lane of a pair (8@0), and two adjacent rows are a thread's, whose other
  // lanes have the column beside (1@1).
  // CHECK-LABEL: gpu.func @halves
  // CHECK:         cute.tile.reduce_scatter<1> ({{.*}}((4,8,4),(2,2,8)):((2@1,1@0,16@0),(1@1,8@0,8@1))">>, i32) -> tensor<64x32xf32, #cute.layout<"((2,2,2,4,4),(2,2,4)):((8@0,4@1,1@1,2@0,16@0),(1@0,2@1,8@1))">>
  // CHECK-NOT:     cute.tile.convert
  // CHECK:         cute.tile.store
  // PTX-LABEL: .entry halves
  // PTX:         wgmma.wait_group
  // PTX-COUNT-16: st.async
  // PTX-NOT:     bar.sync
  // PTX-COUNT-8: shfl.sync.bfly.b32 {{.*}}, 1, 31, -1;
  // PTX-COUNT-8: shfl.sync.bfly.b32 {{.*}}, 4, 31, -1;
  // PTX-NOT:     bar.sync
  // PTX:         mbarrier.try_wait
  // PTX-NOT:     bar.sync
  // PTX-COUNT-8: st.global.u32
  gpu.func @halves(%a: !A, %b: !A, %c: !D) kernel {
    %i, %j = cute.tile.program<[64, 64]> %c
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %n = cute.tile.count<1, 64> %a
    %zero = arith.constant dense<0.0> : !t
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!t) : i32 {
      %x = cute.tile.load<[64, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : !t
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }

  // Of 32 bits a sector is 8 rows, as lanes have them in the sums.
  // CHECK-LABEL: gpu.func @words
  // CHECK:         cute.tile.reduce_scatter<1> ({{.*}} -> tensor<64x32xf32, #cute.layout<"((4,8,4),({{.*}})):((2@1,1@0,16@0),({{.*}}))">>
  // PTX-LABEL: .entry words
  // PTX-NOT:     shfl.sync.bfly
  // PTX:         ret;
  gpu.func @words(%a: !A, %b: !A, %c: !F) kernel {
    %i, %j = cute.tile.program<[64, 64]> %c
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %n = cute.tile.count<1, 64> %a
    %zero = arith.constant dense<0.0> : !t
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!t) : i32 {
      %x = cute.tile.load<[64, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : !t
    }
    cute.tile.store %s, %c[%i, %j]
    gpu.return
  }
}
