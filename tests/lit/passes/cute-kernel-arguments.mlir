// RUN: cute-opt %s -cute-kernel-metadata -cute-kernel-arguments | FileCheck %s
// RUN: not cute-opt %s -cute-kernel-arguments=tensor-map=nowhere 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: cute-kernel-arguments expects tensor-map 'param' or 'memory', got '
!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
gpu.module @m {
  // CHECK: gpu.func @k(%[[P:.*]]: !llvm.ptr, %{{.*}}: i32) kernel
  // CHECK-SAME: box = [64, 64], {{.*}}dtype = "f16", fill = "zero"{{.*}}l2promo = "128B"{{.*}}swizzle = "128B"
  // CHECK-SAME: kept = {p0 = {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}}
  // CHECK: builtin.unrealized_conversion_cast %[[P]] : !llvm.ptr to !nvgpu.tensormap.descriptor
  gpu.func @k(%m: !map, %none: !llvm.struct<()>, %n: i32) kernel {
    nvgpu.tma.prefetch.descriptor %m : !map
    gpu.return
  }
}
