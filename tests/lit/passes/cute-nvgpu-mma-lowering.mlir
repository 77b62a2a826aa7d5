// RUN: cute-opt %s -cute-expand-ops -cute-nvgpu-mma-lowering | FileCheck %s

// Fragments are loaded once for each k; of the second row the columns come backwards.
// CHECK-LABEL: func.func @gemm
// CHECK-COUNT-8: llvm.load %{{.*}} : !llvm.ptr -> i32
// CHECK-COUNT-4: llvm.load %{{.*}} : !llvm.ptr -> i32
// CHECK-COUNT-4: llvm.inline_asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$10,$11,$12,$13};", "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f"
// CHECK-NOT: mma.sync
// CHECK-NOT: cute.gemm
// CHECK: return
func.func @gemm(%d: !cute.memref<f32, rmem, align<16>, "((2,2),2,2):((1,2),4,8)">, %a: !cute.memref<f16, rmem, align<16>, "((2,2,2),2,1):((1,2,4),8,0)">, %b: !cute.memref<f16, rmem, align<16>, "((2,2),2,1):((1,2),4,0)">) {
  %mma = cute.make_atom() : () -> !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
  cute.gemm(%mma, %d, %a, %b, %d)
  return
}

// CHECK-LABEL: func.func @fma
// CHECK: math.fma %{{.*}}, %{{.*}}, %{{.*}} : f32
func.func @fma(%d: !cute.memref<f32, rmem, "(1,1,1):(0,0,0)">, %a: !cute.memref<f32, rmem, "(1,1,1):(0,0,0)">) {
  %mma = cute.make_atom() : () -> !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >
  cute.gemm(%mma, %d, %a, %a, %d)
  return
}
