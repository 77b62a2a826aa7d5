// RUN: cute-opt %s | FileCheck %s

// Shared memory in one line.
// CHECK-LABEL: func.func @alloc(
func.func @alloc() {
  // CHECK: cute.memref.alloca() : () -> !cute.memref<f32, smem, align<16>, "(128,32):(32,1)">
  %a = cute.alloc_smem f32, "(128,32):(32,1)"
  // CHECK: cute.memref.alloca() : () -> !cute.memref<i64, smem, "4:1">
  %b = cute.alloc_smem i64, 4 {align = 8}
  // CHECK: cute.memref.alloca() : () -> !cute.memref<f16, smem, align<16>, "(64,32):(1,64)">
  %c = cute.alloc_smem f16, (64, 32)
  // CHECK: cute.memref.alloca() : () -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
  %d = cute.alloc_smem f16, "(64,64):(64,1)" {swizzle = "S<3,4,3>"}
  // CHECK: cute.memref.alloca() : () -> !cute.memref<f16, smem, align<128>, "S<3,3,3> o 0 o (64,64):(64,1)">
  %e = cute.alloc_smem(f16, "S<3,3,3> o 0 o (64,64):(64,1)") {align = 128}
  return
}

// The address of a pointer has as many bits as its memory's have.
// CHECK-LABEL: func.func @address(
func.func @address(%g: !cute.ptr<f32, gmem>, %s: !cute.ptr<f32, smem>) -> (i64, i32, i64) {
  // CHECK: cute.ptrtoint(%{{.*}}) : (!cute.ptr<f32, gmem>) -> i64
  %a = cute.ptrtoint %g
  // CHECK: cute.ptrtoint(%{{.*}}) : (!cute.ptr<f32, smem>) -> i32
  %b = cute.ptrtoint %s
  // CHECK: cute.ptrtoint(%{{.*}}) : (!cute.ptr<f32, smem>) -> i64
  %c = cute.ptrtoint %s : i64
  return %a, %b, %c : i64, i32, i64
}
