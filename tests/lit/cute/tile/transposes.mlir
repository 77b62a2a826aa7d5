// RUN: cute-ptx -arch sm_80 %s | FileCheck %s
// RUN: cute-opt %s -cute-tile-expand -cute-tile-layouts=arch=sm_80 | FileCheck %s --check-prefix=LAYOUT

// A thread of a transpose holds blocks of rows and columns, so that each access has 16 bytes, in global and in shared memory.
!H = !cute.memref<bf16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!D = !cute.memref<f64, gmem, align<16>, "(?,?{div=2}):(?{i64 div=2},1)">
gpu.module @kernels {
  // LAYOUT: cute.tile.load{{.*}}tensor<128x128xbf16, #cute.layout<"((16,16),(8,8)):((8@1,8@0),(1@1,1@0))">>
  // CHECK-LABEL: .entry sixteen(
  // CHECK-COUNT-8: ld.global.v4
  // CHECK-COUNT-8: st.shared.v4
  // CHECK-NOT: ld.shared.{{[bu]}}
  // CHECK: ld.shared.v4
  // CHECK-NEXT: st.global.v4
  gpu.func @sixteen(%x: !H, %y: !H) kernel {
    %i, %j = cute.tile.program<[128, 128]> %x
    %a = cute.tile.load<[128, 128]> %x[%i, %j]
    %t = cute.tile.permute<[1, 0]> %a
    cute.tile.store %t, %y[%j, %i]
    gpu.return
  }

  // CHECK-LABEL: .entry sixty_four(
  // CHECK-NOT: ld.global.f64
  // CHECK-COUNT-8: ld.global.v2.f64
  // CHECK-NOT: {{ld.global.f64|st.shared.f64}}
  // CHECK: st.shared.v2.f64
  gpu.func @sixty_four(%x: !D, %y: !D) kernel {
    %i, %j = cute.tile.program<[64, 64]> %x
    %a = cute.tile.load<[64, 64]> %x[%i, %j]
    %t = cute.tile.permute<[1, 0]> %a
    cute.tile.store %t, %y[%j, %i]
    gpu.return
  }
}
