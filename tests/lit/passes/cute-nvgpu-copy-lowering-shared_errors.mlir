// RUN: cute-opt %s -cute-fold-static -cute-expand-ops -cute-nvgpu-copy-lowering -cute-to-base -split-input-file -verify-diagnostics

// The sum counts, with what alignment leaves free.
gpu.module @m {
  gpu.func @fits(%x: f32) kernel {
    %at = cute.static : !cute.coord<"3">
    %l = cute.static : !cute.layout<"12288:1">
    %a = cute.memref.alloca(%l) : (!cute.layout<"12288:1">) -> !cute.memref<f32, smem, align<16>, "12288:1">
    cute.memref.store(%a, %at, %x)
    gpu.return
  }
  gpu.func @over(%x: f32) kernel {
    %at = cute.static : !cute.coord<"3">
    %l = cute.static : !cute.layout<"8192:1">
    %h = cute.static : !cute.layout<"4:1">
    %a = cute.memref.alloca(%l) : (!cute.layout<"8192:1">) -> !cute.memref<f32, smem, align<16>, "8192:1">
    %b = cute.memref.alloca(%h) : (!cute.layout<"4:1">) -> !cute.memref<f32, smem, align<16>, "4:1">
    // expected-error@+1 {{'cute.memref.alloca' op uses 32768 bytes of shared memory in addition to 32784: a kernel declares at most 49152; cute_nvgpu.arch.get_dyn_smem is sized at launch}}
    %c = cute.memref.alloca(%l) : (!cute.layout<"8192:1">) -> !cute.memref<f32, smem, align<16>, "8192:1">
    cute.memref.store(%a, %at, %x)
    cute.memref.store(%b, %at, %x)
    cute.memref.store(%c, %at, %x)
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @huge(%x: f32) kernel {
    %at = cute.static : !cute.coord<"0">
    %l = cute.static : !cute.layout<"4:1500000000000000000">
    // expected-error@+1 {{expects at most 4194304 elements of f32, which are 16777216 bytes of smem, but got "4:1500000000000000000"}}
    %a = cute.memref.alloca(%l) : (!cute.layout<"4:1500000000000000000">) -> !cute.memref<f32, smem, align<16>, "4:1500000000000000000">
    cute.memref.store(%a, %at, %x)
    gpu.return
  }
}

// -----

func.func @host(%x: f32) {
  %at = cute.static : !cute.coord<"3">
  %l = cute.static : !cute.layout<"4:1">
  // expected-error@+1 {{expects to be in a gpu.module: only kernels have shared memory}}
  %a = cute.memref.alloca(%l) : (!cute.layout<"4:1">) -> !cute.memref<f32, smem, align<16>, "4:1">
  cute.memref.store(%a, %at, %x)
  return
}
