// gpu.launch is outlined, index computations sink into the kernel, the tensor map comes by value.
// RUN: cute-ptx %s | FileCheck %s
// RUN: cute-ptx %s --tensor-map=memory | FileCheck %s --check-prefix=MEMORY

// CHECK: "box": [64, 64]
// CHECK-SAME: "dynamic_smem": 1024
// CHECK: .param .align 64 .b8 main_kernel_param_0[128]
// MEMORY: "space": "memory"
// MEMORY: .param .u64 main_kernel_param_0
!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
func.func @main(%a: memref<*xf16>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %bytes = arith.constant 1024 : i32
  %m = nvgpu.tma.create.descriptor %a box[%c64, %c64] : memref<*xf16> -> !map
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) dynamic_shared_memory_size %bytes {
    nvgpu.tma.prefetch.descriptor %m : !map
    gpu.terminator
  }
  return
}
