/* The compiler: MLIR, with or without the cute dialect, to PTX. Its functions are in libcute-compiler
 * (pkg-config: cute-compiler), which contains LLVM and MLIR: programs that link it need neither. PTX is the
 * input of cute/link.h and of the emulator.
 *
 * For users of a CuteCompiler class: compile_to_ptx(mlir, arch, opt_level) is cute_compiler_set of "arch" and
 * "opt-level" with cute_compiler_run; compile_to_cubin(ptx, arch) is cute_linker_link (cute/link.h); its list
 * of passes is the option "pipeline" (unset: the default lowering). */
#ifndef CUTE_COMPILE_H
#define CUTE_COMPILE_H

#include "cute/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Options. Several threads may use it while none sets an option: each run has its own MLIR and LLVM
 * contexts. */
typedef struct cute_compiler cute_compiler;
/* The result of one run; independent of its compiler. */
typedef struct cute_compiled cute_compiled;

CUTE_API cute_status cute_compiler_create(cute_compiler **out, cute_diag *diag);
/* NULL is allowed. */
CUTE_API void cute_compiler_destroy(cute_compiler *compiler);

/* Sets an option of cute-ptx(1) by its long name; `value` is copied. A flag is "1" or "0" (NULL: 1); options
 * marked "several" accumulate.
 *
 *     arch          sm_75 ... sm_121f, or native: that of the GPU; default: $ARCH, else sm_90a
 *     backend       auto (default: LLVM's up to sm_90a, libNVVM above), llvm or libnvvm
 *     opt-level     0 to 3; default 3
 *     define        NAME=VALUE: replaces ${NAME} in the text; several
 *     include       a search folder for lines `//!include "FILE"`; several
 *     lineinfo      flag: .loc directives
 *     source-map    auto (default): if `source` is output of cute-opt, messages and lines name the file that
 *                   cute-opt read; off
 *     enable-assertions  flag: cf.assert and checks of coordinates and thread indices stop
 *                   the kernel
 *     relocatable-device-code  flag
 *     tensor-map    param (by value, default) or memory (by pointer)
 *     static-checks checks of mbarriers, tensor copies and wgmma (docs/static-checks.md): on (default), warn
 *                   (errors become warnings), strict (warnings become errors) or off
 *     schedule      of tile programs that do not state one (docs/tile-programs.md): naive
 *     link-libraries a file with LLVM bitcode; several
 *     cuda-path     the folder of the toolkit, for libdevice and libNVVM
 *     pipeline      passes to run before the default lowering, as mlir-opt takes them: "canonicalize,cse"
 *     remarks       names of passes, separated by commas (NULL or "": all) that add remarks to `diag` where they
 *                   were applied or missed
 *     emit          ptx (default), llvm (text of LLVM IR), mlir (text after `pipeline`; the run ends there)
 *     save-temps, dump-passes     a folder for the intermediate files, for the IR after each pass
 *     dump-each     the passes to dump after: all (default), changed (those that changed the IR) or none (only the
 *                   IR before and after the pipeline)
 *
 * CUTE_USAGE: unknown option or invalid value; some values are only checked by the run. */
CUTE_API cute_status cute_compiler_set(cute_compiler *compiler, const char *option, const char *value,
                                       cute_diag *diag);

/* Compiles every gpu.module of `source`: `length` bytes of MLIR text (need not be NUL-terminated) or
 * bytecode; `label` names it in messages. CUTE_INVALID: the source is wrong, with file, line and column;
 * CUTE_USAGE: an option is wrong; CUTE_SYSTEM: part of the toolkit is missing, or memory ran out. *out is
 * then NULL.
 *
 * Nothing is printed and the process never exits: if LLVM itself gives up (report_fatal_error), the call
 * returns CUTE_INVALID with LLVM's reason and leaks the memory in use, some megabytes. A crash of LLVM is a
 * crash of the process. The thread needs a few megabytes of stack, as is the default. */
CUTE_API cute_status cute_compiler_run(const cute_compiler *compiler, const char *label, const void *source,
                                       size_t length, cute_compiled **out, cute_diag *diag);

/* The result of a run, as a hook sees it; valid until the hook returns. */
typedef struct cute_compilation {
    const char *label;             /* of the source, as passed to cute_compiler_run */
    const char *arch;              /* "sm_90a" */
    const cute_compiled *compiled; /* the texts: cute_compiled_text */
    /* the module after all passes, NUL-terminated: nvvm and llvm, or after "pipeline" if "emit" is "mlir" */
    const char *mlir;
    size_t mlir_length;
} cute_compilation;
/* CUTE_OK: the run continues. Any other status ends the run with that status and the hook's messages in
 * `diag`. */
typedef cute_status (*cute_compile_hook)(const cute_compilation *compilation, void *context, cute_diag *diag);
/* Calls `hook` at the end of each successful run, in the thread of that run (concurrent runs call it
 * concurrently). There is one hook at a time; NULL: none. `context` is kept. */
CUTE_API void cute_compiler_set_hook(cute_compiler *compiler, cute_compile_hook hook, void *context);

/* One text per gpu.module ("mlir": one in total). */
CUTE_API size_t cute_compiled_count(const cute_compiled *compiled);
/* Text `index`, NUL-terminated, valid as long as `compiled`; *length receives its length if not NULL. NULL
 * past the last. */
CUTE_API const char *cute_compiled_text(const cute_compiled *compiled, size_t index, size_t *length);
/* The name of the gpu.module of text `index`. */
CUTE_API const char *cute_compiled_module(const cute_compiled *compiled, size_t index);
/* NULL is allowed. */
CUTE_API void cute_compiled_destroy(cute_compiled *compiled);

/* The version of the LLVM inside: "19.1.7". */
CUTE_API const char *cute_compiler_llvm_version(void);

#ifdef __cplusplus
}
#endif
#endif
