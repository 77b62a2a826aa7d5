// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-tile-expand,cute-tile-schedule{arch=sm_90a schedule=persistent=1,cluster=1x1,consumers=1,stages=2,tail=split},cute-tile-layouts{arch=sm_90a},cute-tile-persistent,cute-tile-split)' -remarks=cute-tile-split -o - 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.err
// RUN: cute-ptx %s -arch sm_90a --schedule="persistent=1 cluster=2x1 consumers=1 stages=2 tail=stream" -o - | FileCheck %s --check-prefix=PTX

!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!t = tensor<64x64xf32>
gpu.module @m {
  // Clusters take pieces of tiles; the one with a tile's last iteration adds the sums of the others, and has the rest.
  // CHECK-LABEL: gpu.func @split
  // CHECK-SAME:    %[[SLOTS:[a-z0-9]+]]: !cute.memref<f32, gmem, align<256>, "(4096,?):(1,4096)">, %[[FLAGS:[a-z0-9]+]]: !cute.memref<i32, gmem, align<256>, "(4,?):(1,4)">)
  // CHECK-SAME:    cute.temporaries = 2
  // CHECK:         %[[FIRST:.*]], %[[COUNT:.*]], %[[STEP:.*]] = cute.tile.workers
  // CHECK:         %[[START:.*]], %[[STOP:.*]] = cute.tile.pieces<split> (%[[FIRST]], %[[COUNT]], %[[STEP]], %[[STEPS:.*]]) :
  // CHECK:         scf.for %[[I:.*]] = %[[START]] to %[[STOP]] step %[[STEP]]
  // CHECK:           %[[TILE:.*]], %[[FROM:.*]], %[[TO:.*]], %[[OTHERS:.*]], %[[DISTANCE:.*]] = cute.tile.piece<split> (%[[I]],
  // CHECK:           cute.tile.place{{.*}}(%[[TILE]],
  // CHECK:           %[[PART:.*]] = scf.for %{{.*}} = %[[FROM]] to %[[TO]]
  // CHECK:           %[[ENDS:.*]] = arith.cmpi eq, %[[TO]], %[[STEPS]]
  // CHECK:           scf.if %[[ENDS]]
  // CHECK:             scf.for %{{.*}} to %[[OTHERS]] {{.*}} iter_args(%{{.*}} = %[[PART]])
  // CHECK:               cute.tile.collect
  // CHECK:             cute.tile.store
  // CHECK:           } else {
  // CHECK-NEXT:        cute.tile.give(%[[PART]], %[[SLOTS]], %[[FLAGS]], %[[FIRST]])
  // The launch plan has slots and flags, which begin as 0.
  // PTX: "plan":"split"{{.*}}"temporaries":[{{.*}}"init":0}]
  // PTX: st.release.gpu
  gpu.func @split(%a: !A, %b: !A, %c: !A) kernel {
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

  // REMARK: :[[@LINE+1]]:{{[0-9]+}}: remark: clusters compute whole tiles: its loop does more than add to a tile
  gpu.func @signs(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[64, 64]> %c
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %n = cute.tile.count<1, 64> %a
    %zero = arith.constant dense<0.0> : !t
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!t) : i32 {
      %x = cute.tile.load<[64, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %z = cute.tile.mul %acc, -1.0
      %d = cute.tile.gemm %x, %y, %z
      scf.yield %d : !t
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }

  // Nor is one that is added to itself.
  // REMARK: :[[@LINE+1]]:{{[0-9]+}}: remark: clusters compute whole tiles: its loop does more than add to a tile
  gpu.func @doubled(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[64, 64]> %c
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %n = cute.tile.count<1, 64> %a
    %zero = arith.constant dense<0.0> : !t
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!t) : i32 {
      %x = cute.tile.load<[64, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %p = cute.tile.gemm %x, %y, %acc
      %d = cute.tile.add %p, %p
      scf.yield %d : !t
    }
    %o = cute.tile.cast<f16> %s
    cute.tile.store %o, %c[%i, %j]
    gpu.return
  }

  // REMARK: :[[@LINE+1]]:{{[0-9]+}}: remark: clusters compute whole tiles: the number of iterations depends on the tile
  gpu.func @triangle(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[64, 64]> %c
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %n = arith.addi %i, %c1 : i32
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

  // REMARK: :[[@LINE+1]]:{{[0-9]+}}: remark: clusters compute whole tiles: its sum does not begin with 0
  gpu.func @ones(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[64, 64]> %c
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %n = cute.tile.count<1, 64> %a
    %zero = arith.constant dense<1.0> : !t
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
}
