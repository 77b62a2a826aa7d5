/* The list of passes from what users write to what LLVM takes. */
#include <stdio.h>

#include "lib/passes/passes.h"

void cute_passes_register(void)
{
#define CUTE_PASS(id) cute_pass_register(&cute_pass_##id);
#include "lib/passes/passes.def"
#undef CUTE_PASS
    char full[CUTE_PIPELINE_SIZE];
    cute_lowering_pipeline(&(cute_lowering){0}, full, sizeof full);
    cute_pipeline_register("cute-to-standard",
                           "Lowers the dialect cute to arith, math and scf; what crosses functions "
                           "becomes llvm structs",
                           "cute-canonicalize,cute-layout-canonicalize,cute-layout-fusion,cute-fold-static,"
                           "cute-expand-ops,cute-to-base,cute-fold-structs,canonicalize,cse");
    cute_pipeline_register("cute-full-lowering",
                           "Lowers kernels from cute, gpu, nvgpu and the dialects below to nvvm "
                           "and llvm",
                           full);
}

void cute_lowering_pipeline(const cute_lowering *options, char *out, size_t size)
{
    snprintf(out, size,
             "func.func(gpu-launch-sink-index-computations),gpu-kernel-outlining,"
             "cute-wrap-kernels,"
             "cute-kernel-metadata{tensor-map=%s},"
             "cute-launch-plan,"
             "cute-drop-host,"
             "cute-lower-gpu,"
             "cute-lower-assert{enable=%s},"
             "cute-memory-model{arch=%s},"
             "cute-lower-atomics{arch=%s},"
             "cute-canonicalize,"
             "cute-layout-canonicalize,"
             "cute-layout-fusion,"
             "cute-fold-static,"
             "cute-expand-ops,"
             "cute-to-base,"
             "cute-kernel-arguments{tensor-map=%s},"
             "gpu.module("
             /* 1. to loops and to the operations of one thread */
             "lower-affine,"
             "convert-vector-to-scf{full-unroll=true},"
             "convert-nvgpu-to-nvvm,"
             "convert-scf-to-cf,"
             "expand-strided-metadata,lower-affine,arith-expand,math-uplift-to-fma,"
             /* 2. to llvm and nvvm */
             "convert-index-to-llvm,convert-ub-to-llvm,"
             "convert-gpu-to-nvvm{has-redux=true},"
             "convert-vector-to-llvm,"
             "convert-math-to-llvm),"
             "finalize-memref-to-llvm,convert-cf-to-llvm,"
             "gpu.module(convert-arith-to-llvm,"
             "convert-nvvm-to-llvm,"
             "canonicalize,cse,"
             "reconcile-unrealized-casts),"
             "cute-finish-kernels{relocatable=%s}%s",
             options->tensor_maps_memory ? "memory" : "param", options->assertions ? "true" : "false",
             options->arch ? options->arch : "", options->arch ? options->arch : "",
             options->tensor_maps_memory ? "memory" : "param", options->relocatable ? "true" : "false",
             options->lineinfo ? ",cute-line-info,ensure-debug-info-scope-on-llvm-func" : "");
}
