// RUN: cute-ptx %s -arch sm_90a --schedule="persistent=1 cluster=1x1 consumers=1 stages=2" -o - | FileCheck %s
// RUN: cute-ptx %s -arch sm_80 -o - | FileCheck %s --check-prefix=WARPS

!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!t = tensor<64x64xf32>
gpu.module @m {
  // Counters and tensors in the memory of another device.
  // CHECK-LABEL: .entry peers
  // CHECK:       bar{{.*}}.sync
  // CHECK:       atom{{.*}}release.sys{{.*}}add{{.*}}
  // WARPS-LABEL: .entry peers
  // WARPS:       st.global
  // WARPS:       bar.sync
  // WARPS:       atom{{.*}}release.sys{{.*}}add{{.*}}
  gpu.func @peers(%a: !A, %c: !A, %counters: !cute.memref<i32, gmem, "?:1">) kernel {
    %i, %j = cute.tile.program<[64, 64]> %c
    %x = cute.tile.load<[64, 64]> %a[%i, %j]
    cute.tile.store %x, %c[%i, %j]
    cute.tile.signal(%counters, %i) {scope = "sys"} : (!cute.memref<i32, gmem, "?:1">, i32) -> ()
    gpu.return
  }

  // Behind the copies of a tile by TMA all of them have been written, the warpgroup meets, and one thread counts.
  // CHECK-LABEL: .entry product
  // CHECK:       cp.async.bulk.tensor{{.*}}global.shared
  // CHECK:       cp.async.bulk.wait_group 0;
  // CHECK:       bar{{.*}}.sync
  // CHECK:       atom{{.*}}release.gpu{{.*}}add{{.*}}
  // Without TMA, behind a barrier of the block.
  // WARPS-LABEL: .entry product
  // WARPS:       st.global
  // WARPS:       bar.sync
  // WARPS:       atom{{.*}}release.gpu{{.*}}add{{.*}}
  gpu.func @product(%a: !A, %b: !A, %c: !A, %counters: !cute.memref<i32, gmem, "?:1">, %group: i32) kernel {
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
    %r = cute.tile.cast<f16> %s
    cute.tile.store %r, %c[%i, %j]
    %which = arith.divui %i, %group : i32
    cute.tile.signal(%counters, %which) : (!cute.memref<i32, gmem, "?:1">, i32) -> ()
    gpu.return
  }
}
