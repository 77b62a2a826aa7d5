// RUN: cute-opt %s -split-input-file -verify-diagnostics -cute-lower-newer=arch=sm_90a
// RUN: not cute-ptx %S/Inputs/tcgen05.mlir -arch sm_90a 2>&1 | FileCheck %s
// CHECK: 'nvvm.tcgen05.wait' op needs sm_100a or a later architecture-specific one, got sm_90a

gpu.module @m {
  gpu.func @k(%p: vector<2xf32>) kernel {
    // expected-error@+1 {{'nvvm.add.packed.f32x2' op expected rounding rn, rz, rm or rp}}
    %0 = nvvm.add.packed.f32x2 %p, %p {rnd = #cuda.rnd<rs>} : vector<2xf32>, vector<2xf32> -> vector<2xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%x: vector<8xf32>) kernel {
    // expected-error@+1 {{'nvgpu.cvt_fptrunc' op expected floats of at least 8 bits}}
    %0 = nvgpu.cvt_fptrunc %x : vector<8xf32> to vector<8xf4E2M1FN>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%x: vector<8xf32>) kernel {
    // expected-error@+1 {{'nvgpu.cvt_fptrunc' op expected rounding rn}}
    %0 = nvgpu.cvt_fptrunc %x {rnd = #cuda.rnd<rz>} : vector<8xf32> to vector<8xf16>
    gpu.return
  }
}
