// RUN: not cute-ptx -arch sm_80 %s 2>&1 | FileCheck %s
// RUN: cute-ptx -arch sm_90 %s | FileCheck %s --check-prefix=PTX

gpu.module @m {
  gpu.func @k(%t: !cute.memref<i32, gmem, "4:1">, %b: !cute.memref<bf16, gmem, align<4>, "4:1">, %x: i32, %y: bf16) kernel {
    // CHECK: :[[#@LINE+2]]:5: error: 'cute.atomic_add' op needs sm_90 for the scope 'cluster', got sm_80
    // PTX: atom.relaxed.cluster.global.add.u32
    cute.atomic_add<relaxed, cluster> %x, %t[1]
    %v = vector.splat %y : vector<2xbf16>
    // CHECK: :[[#@LINE+2]]:5: error: 'cute.atomic_add' op needs sm_90 for a vector other than 2 elements of f16, got sm_80
    // PTX: atom.relaxed.gpu.global.add.noftz.bf16x2
    cute.atomic_add %v, %b[2]
    gpu.return
  }
}
