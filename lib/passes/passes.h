/* The passes of libcute and the pipelines made of them. */
#ifndef CUTE_LIB_PASSES_PASSES_H
#define CUTE_LIB_PASSES_PASSES_H

#include "lib/base/buffer.h"
#include "lib/base/devices/arch.h"
#include "lib/ir/mlir/shim.h"

/* Registers every row of passes.def and the pipelines, with MLIR's global registry. Once a process. */
void cute_passes_register(void);

/* The default lowering, from cute, gpu, nvgpu, scf, vector, memref, arith and math to nvvm and llvm inside
 * gpu.modules: cute-full-lowering of pipeline.def, as pipeline text for builtin.module. */
typedef struct cute_lowering {
    bool assertions;           /* cf.assert becomes a call of __assertfail; otherwise it goes */
    bool tensor_maps_memory;   /* tensor maps are pointers to device memory, not grid constants */
    bool relocatable;          /* functions that are no kernels stay visible, for a later link */
    bool lineinfo;             /* source lines go to LLVM's debug information */
    const char *static_checks; /* of asynchronous kernels: "on", "warn", "strict" or "off" */
    const cute_arch *arch;     /* whose instructions it may use */
    int opt_level;             /* 0 to 3, for the target that it attaches */
} cute_lowering;
void cute_lowering_pipeline(const cute_lowering *options, cute_buffer *out);

/* The attribute of the llvm.alloca that a tensor in registers became: its element type and layout. */
#define CUTE_REGISTERS "cute.registers"

/* Before and after a conversion of scf, for the annotations of loops (lower_loops.c). False: there are none. */
bool cute_loops_mark(MlirOperation root);
void cute_loops_annotate(MlirOperation root);

#define CUTE_PASS(id) extern const cute_pass cute_pass_##id;
#include "lib/passes/passes.def"
#undef CUTE_PASS

#endif
