// RUN: cute-opt %s -cute-nvgpu-tma-materialize | FileCheck %s

// A kernel that makes an atom of its argument gets the tensor map as a further parameter, and the host makes it.
!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
module attributes {gpu.container_module} {
  gpu.module @m {
    // CHECK: gpu.func @k(%{{.*}}: !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">, %[[MAP:.*]]: !llvm.ptr {cute.name = "{{.*}}_map", cute.tensor_map = {box = [64, 64]
    // CHECK-SAME: format = "F16_RN"
    // CHECK-SAME: modes = [0, 1]
    // CHECK-SAME: swizzle = "128B", tensor = 0
    // CHECK: %[[ATOM:.*]] = builtin.unrealized_conversion_cast %[[MAP]] : !llvm.ptr to !cute_nvgpu.atom.non_exec_tiled_tma_load
    // CHECK-NOT: make_non_exec
    // CHECK: cute_nvgpu.prefetch_tma_desc(%[[ATOM]])
    gpu.func @k(%a: !A) kernel {
      %t, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%a, "S<3,4,3> o 0 o (64,64):(64,1)")
      cute_nvgpu.prefetch_tma_desc %t
      gpu.return
    }
    // What never runs gets none.
    // CHECK: gpu.func @off(%{{[^:]*}}: !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">) kernel
    // CHECK-NOT: cute_nvgpu
    // CHECK: gpu.return
    gpu.func @off(%a: !A) kernel {
      %off = arith.constant 0 : i1
      %t, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%a, "S<3,4,3> o 0 o (64,64):(64,1)")
      scf.if %off {
        cute_nvgpu.prefetch_tma_desc %t
      }
      gpu.return
    }
  }
  // CHECK: func.func @main(%[[A:.*]]: !cute.memref
  // CHECK: %[[HOST:.*]] = cute_nvgpu.host.tensor_map<{box = array<i64: 64, 64>, format = "F16_RN", modes = array<i64: 1, 0>, swizzle = 3 : i32
  // CHECK: gpu.launch_func @m::@k {{.*}} args(%[[A]] : {{.*}}, %[[HOST]] : !llvm.ptr)
  func.func @main(%a: !A) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : !A)
    return
  }
}
