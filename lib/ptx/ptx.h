/* MLIR to PTX: parse, the default lowering, LLVM IR, libdevice, a backend. */
#ifndef CUTE_LIB_PTX_PTX_H
#define CUTE_LIB_PTX_PTX_H

#include "lib/base/buffer.h"
#include "lib/base/devices/arch.h"
#include "lib/ir/text/defines.h"

/* MLIR: the module after options.pipeline, without the default lowering. */
typedef enum cute_ptx_emit { CUTE_EMIT_PTX, CUTE_EMIT_LLVM, CUTE_EMIT_MLIR } cute_ptx_emit;

/* The passes after which the IR is written: all, those that changed it, or none; failed passes always. */
typedef enum cute_dump_each { CUTE_DUMP_ALL, CUTE_DUMP_CHANGED, CUTE_DUMP_NONE } cute_dump_each;

typedef struct cute_ptx_options {
    const cute_arch *arch;
    unsigned backend;          /* CUTE_BACKEND_*; 0: the default of the architecture */
    int opt_level;             /* 0 to 3 */
    bool lineinfo;             /* .loc directives */
    bool assertions;           /* keep device assertions */
    bool tensor_maps_memory;   /* pass tensor maps by pointer instead of by value */
    bool relocatable;          /* keep device functions visible, for cute-link */
    const char *static_checks; /* of asynchronous kernels: "on", "warn", "strict" or "off" */
    const char *schedule;      /* of tile programs that state none; NULL: the default */
    cute_ptx_emit emit;
    /* Passes to run before the default lowering, or instead of it if they lower the kernels; or NULL */
    const char *pipeline;
    const char *remarks;          /* see cute_pass_manager_remarks */
    const char *const *libraries; /* bitcode files that may define missing functions */
    size_t library_count;
    const char *cuda_path;   /* folder of the CUDA toolkit, or NULL */
    const char *save_temps;  /* a directory for intermediate files, or NULL */
    const char *dump_passes; /* a directory for the IR after each pass, or NULL */
    cute_dump_each dump_each;
    bool print_ir;              /* print the IR after each pass that changed it on standard error */
    cute_buffer *lowered;       /* receives the text of the lowered module, or NULL */
    const cute_define *defines; /* recorded in the metadata */
    size_t define_count;
    const char *const *folders; /* of included files (-I) */
    size_t folder_count;
    bool no_source_map; /* treat a source map in the input as ordinary comments */
} cute_ptx_options;

/* The timed stages, in order. */
#define CUTE_PTX_STAGES(X) X(parse) X(lower) X(translate) X(link) X(optimize) X(codegen)
typedef enum cute_ptx_stage {
#define X(name) CUTE_STAGE_##name,
    CUTE_PTX_STAGES(X)
#undef X
        CUTE_STAGE_COUNT
} cute_ptx_stage;

typedef struct cute_ptx_result {
    const char *module; /* the gpu.module's name */
    cute_buffer text;   /* PTX with metadata, or LLVM IR */
} cute_ptx_result;

typedef struct cute_ptx_output {
    cute_ptx_result *modules;
    size_t count;
    double seconds[CUTE_STAGE_COUNT];
} cute_ptx_output;

/* Registers MLIR's passes and ours, once: for plugins, which add to them before the first compilation. */
void cute_ptx_register(void);
/* Compiles every gpu.module of `text` (MLIR text or bytecode, named `label` in messages). Release *out with
 * cute_ptx_output_release, even after a failure. Reentrant and thread-safe. If LLVM gives up (recover.h),
 * CUTE_INVALID with LLVM's reason; LLVM's memory leaks then. */
cute_status cute_ptx_compile(const char *label, const char *text, size_t length,
                             const cute_ptx_options *options, cute_ptx_output *out, cute_diag *diag);
void cute_ptx_output_release(cute_ptx_output *output);
/* The version of the linked LLVM: "19.1.7". */
const char *cute_llvm_version(void);

#endif
