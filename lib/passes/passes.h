/* The passes of libcute and the pipelines built from them. */
#ifndef CUTE_LIB_PASSES_PASSES_H
#define CUTE_LIB_PASSES_PASSES_H

#include "lib/base/buffer.h"
#include "lib/base/devices/arch.h"
#include "lib/ir/mlir/shim.h"

/* Registers the passes of passes.def and the pipelines in MLIR's global registry. Call once per process. */
void cute_passes_register(void);

/* Whether a pipeline of pipeline.def runs the pass; `pass` NULL: whether there is the pipeline. */
bool cute_pipeline_runs(const char *pipeline, const char *pass);

/* Options of the default lowering: cute-full-lowering of pipeline.def, as a textual pipeline for
 * builtin.module. */
typedef struct cute_lowering {
    bool assertions;           /* lower cf.assert to a call of __assertfail; otherwise remove it */
    bool tensor_maps_memory;   /* pass tensor maps as pointers to device memory, not as grid constants */
    bool relocatable;          /* keep non-kernel functions visible for a later link */
    bool lineinfo;             /* emit source lines as LLVM debug information */
    const char *static_checks; /* checks of asynchronous kernels: "on", "warn", "strict" or "off" */
    const char *schedule;  /* of tile programs that state none (docs/tile-programs.md); NULL: the default */
    const cute_arch *arch; /* architecture whose instructions may be used */
    int opt_level;         /* 0 to 3, for the NVVM target that the pipeline attaches */
} cute_lowering;
void cute_lowering_pipeline(const cute_lowering *options, cute_buffer *out);

/* The steps from cute-tile-schedule to cute-tile-distribute. */
void cute_tile_pipeline(const cute_arch *arch, MlirStringRef schedule, cute_buffer *out);

/* The end of the default lowering, for kernels that other passes have lowered to llvm and nvvm. */
void cute_lowering_end(const cute_lowering *options, cute_buffer *out);

/* Attribute of an llvm.alloca that holds a tensor in registers: its element type and layout. */
#define CUTE_REGISTERS "cute.registers"

/* Call before and after converting scf, to keep loop annotations (lower_loops.c). False: no annotations. */
bool cute_loops_mark(MlirOperation root);
void cute_loops_annotate(MlirOperation root);

#define CUTE_PASS(id) extern const cute_pass cute_pass_##id;
#include "lib/passes/passes.def"
#undef CUTE_PASS

#endif
