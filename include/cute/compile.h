/* The compiler: MLIR with the dialect cute in it, or without, to PTX. Its functions are in libcute-compiler (pkg-config:
 * cute-compiler), which has LLVM and MLIR inside: a program that links it needs neither. PTX goes on to cute/link.h, or
 * to the emulator as it is.
 *
 * What the calls of a class CuteCompiler are called here: compile_to_ptx(mlir, arch, opt_level): cute_compiler_set
 * "arch" and "opt-level", cute_compiler_run; compile_to_cubin(ptx, arch): cute_linker_link of cute/link.h; its list of
 * passes: option "pipeline", or none, for the default lowering. */
#ifndef CUTE_COMPILE_H
#define CUTE_COMPILE_H

#include "cute/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Options. Used by several threads at once while nobody sets any: each run has an MLIR and an LLVM context of its own. */
typedef struct cute_compiler cute_compiler;
/* What one run made; independent of its compiler. */
typedef struct cute_compiled cute_compiled;

CUTE_API cute_status cute_compiler_create(cute_compiler **out, cute_diag *diag);
/* NULL is taken. */
CUTE_API void cute_compiler_destroy(cute_compiler *compiler);

/* Sets an option of cute-ptx(1) by its long name; `value` is copied. A flag is "1" or "0" (NULL: 1); what may be given
 * several times adds to what is there.
 *
 *     arch          sm_75 ... sm_121f, or native: the GPU's; default: the environment's ARCH, else sm_90a
 *     backend       auto (default: LLVM's up to sm_90a, libNVVM above), llvm or libnvvm
 *     opt-level     0 to 3; default 3
 *     define        NAME=VALUE: replaces ${NAME} in the text; several
 *     include       a folder in which files of lines `//!include "FILE"` are looked for; several
 *     lineinfo      flag: .loc directives
 *     source-map    auto (default): messages and lines name the file that cute-opt read, where `source` is its output;
 *                   off
 *     enable-assertions  flag: cf.assert, and checks of coordinates and thread indices, stop the kernel
 *     relocatable-device-code  flag
 *     tensor-map    param (by value, default) or memory (by pointer)
 *     static-checks on (default), warn (what would be errors are warnings), strict (warnings are errors) or off: what is
 *                   wrong with mbarriers, tensor copies and wgmma (docs/static-checks.md)
 *     link-libraries a file with LLVM bitcode; several
 *     cuda-path     the folder of the toolkit, for libdevice and libNVVM
 *     pipeline      passes to run before the default lowering, as mlir-opt takes them: "canonicalize,cse"
 *     remarks       names of passes, separated by commas; NULL or "": all: what they did at which line, and could not
 *                   do, becomes remarks in `diag`
 *     emit          ptx (default), llvm (text of LLVM IR), mlir (text after `pipeline`; nothing else is run)
 *     save-temps, dump-passes     a folder for what stands between the stages, the IR after each pass
 *     dump-each     after which passes: all (default), changed (those that changed it) or none (before and after only)
 *
 * CUTE_USAGE: no such option, or a value that is none; some values are looked at by the run only. */
CUTE_API cute_status cute_compiler_set(cute_compiler *compiler, const char *option, const char *value,
                                       cute_diag *diag);

/* Compiles every gpu.module of `source`, `length` bytes of MLIR text (not terminated) or bytecode; `label` names it in
 * messages. CUTE_INVALID: the source is wrong, told with file, line and column; CUTE_USAGE: an option is;
 * CUTE_SYSTEM: a part of the toolkit is missing, or memory. *out is NULL then.
 *
 * Nothing is printed and the process is not ended: where LLVM itself gives up (report_fatal_error), the call returns
 * CUTE_INVALID with its reason, and the memory that it was working on, some megabytes, is lost. A crash of LLVM is a
 * crash. A few megabytes of stack are needed, as threads have by default. */
CUTE_API cute_status cute_compiler_run(const cute_compiler *compiler, const char *label, const void *source,
                                       size_t length, cute_compiled **out, cute_diag *diag);

/* What a run made, as a hook sees it; lives until the hook returns. */
typedef struct cute_compilation {
    const char *label;             /* of the source, as cute_compiler_run has it */
    const char *arch;              /* "sm_90a" */
    const cute_compiled *compiled; /* the texts: cute_compiled_text */
    const char *mlir; /* the module after all passes, terminated: nvvm and llvm, unless "emit" is "mlir" */
    size_t mlir_length;
} cute_compilation;
/* CUTE_OK: the run goes on to its end. Else it ends with this status, with what the hook says in `diag`. */
typedef cute_status (*cute_compile_hook)(const cute_compilation *compilation, void *context, cute_diag *diag);
/* From now on `hook` is called at the end of each run that succeeds, before it returns and in its thread (runs in several
 * threads at once call it at once). One at a time; NULL: none, which costs nothing. `context` is kept. */
CUTE_API void cute_compiler_set_hook(cute_compiler *compiler, cute_compile_hook hook, void *context);

/* One text for each gpu.module (of "mlir": one in all). */
CUTE_API size_t cute_compiled_count(const cute_compiled *compiled);
/* Text `index`, terminated; its length goes to *length where that is not NULL. It lives as long as `compiled`. NULL
 * behind the last. */
CUTE_API const char *cute_compiled_text(const cute_compiled *compiled, size_t index, size_t *length);
/* The name of its gpu.module. */
CUTE_API const char *cute_compiled_module(const cute_compiled *compiled, size_t index);
/* NULL is taken. */
CUTE_API void cute_compiled_destroy(cute_compiled *compiled);

/* Of the LLVM inside: "19.1.7". */
CUTE_API const char *cute_compiler_llvm_version(void);

#ifdef __cplusplus
}
#endif
#endif
