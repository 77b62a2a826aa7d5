// RUN: cute-ptx -arch sm_80 %s | FileCheck %s
// RUN: cute-ptx -arch sm_75 %s | FileCheck %s --check-prefix=TURING
// RUN: cute-ptx -arch sm_80 --schedule=naive %s | FileCheck %s --check-prefix=NAIVE

// The instruction of a product follows from its types; {tf32} allows tensor cores to ignore low bits of f32.
gpu.module @kernels {
  // CHECK-LABEL: .entry single(
  // CHECK:     mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
  // TURING:    mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
  // NAIVE-NOT: mma.sync
  gpu.func @single(%a: !cute.memref<f16, gmem, "(64,32):(32,1)">, %b: !cute.memref<f16, gmem, "(64,32):(32,1)">,
                   %c: !cute.memref<f32, gmem, "(64,64):(64,1)">) kernel {
    %i, %j = cute.tile.program<[64, 64]> %c
    %x = cute.tile.load<[64, 32]> %a[%i, 0]
    %y = cute.tile.load<[64, 32]> %b[%j, 0]
    %z = arith.constant dense<0.0> : tensor<64x64xf32>
    %d = cute.tile.gemm %x, %y, %z
    cute.tile.store %d, %c[%i, %j]
    gpu.return
  }

  // CHECK-LABEL: .entry exact(
  // CHECK-NOT: mma.sync
  // CHECK:     fma.rn.f32
  gpu.func @exact(%a: !cute.memref<f32, gmem, "(32,16):(16,1)">, %c: !cute.memref<f32, gmem, "(32,32):(32,1)">) kernel {
    %i, %j = cute.tile.program<[32, 32]> %c
    %x = cute.tile.load<[32, 16]> %a[%i, 0]
    %z = arith.constant dense<0.0> : tensor<32x32xf32>
    %d = cute.tile.gemm %x, %x, %z
    cute.tile.store %d, %c[%i, %j]
    gpu.return
  }

  // CHECK-LABEL: .entry low_bits(
  // CHECK-NOT: and.b32 {{.*}}, -8192
  // CHECK:     mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
  gpu.func @low_bits(%a: !cute.memref<f32, gmem, "(32,16):(16,1)">, %c: !cute.memref<f32, gmem, "(32,32):(32,1)">) kernel {
    %i, %j = cute.tile.program<[32, 32]> %c
    %x = cute.tile.load<[32, 16]> %a[%i, 0]
    %z = arith.constant dense<0.0> : tensor<32x32xf32>
    %d = cute.tile.gemm %x, %x, %z {tf32}
    cute.tile.store %d, %c[%i, %j]
    gpu.return
  }
}
