/* The target architecture of a pass. */
#ifndef CUTE_LIB_PASSES_DEVICES_TARGET_H
#define CUTE_LIB_PASSES_DEVICES_TARGET_H

#include "lib/base/devices/arch.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"

/* The option of passes that depend on the architecture. */
#define CUTE_ARCH_OPTION                                                                                     \
    {"arch", CUTE_PASS_TEXT,                                                                                 \
     "Architecture such as sm_90a; empty: only instructions that all architectures have", 0, NULL}
/* The architecture of option `i`; *out is NULL if it is empty. False after an error at `root`. */
bool cute_pass_arch(cute_pass_run *run, int i, MlirOperation root, const cute_arch **out);
/* State of a pass that lowers operations inside of gpu.modules for the architecture in its option 0. */
typedef struct cute_device_work {
    const cute_arch *arch;
    cute_pass_run *pass;
    bool changed; /* set by the callback */
} cute_device_work;
/* Calls `visit` with a cute_device_work for each operation inside of a gpu.module whose name begins with
 * `prefix`, and marks the pass if it changed nothing. */
void cute_lower_each(MlirOperation root, cute_pass_run *pass, const char *prefix, cute_walk_order order,
                     void (*visit)(MlirOperation op, void *work));
/* Whether `arch` (NULL: unknown, accepts all) meets the requirements of `op` in target.def; otherwise
 * reports an error on `op`. */
bool cute_target_has(MlirOperation op, const cute_arch *arch);
/* Whether a floating-point operation may be approximated: fastmath<fast> or <..., afn, ...>. */
bool cute_may_approximate(MlirOperation op);
/* Checks all operations inside `module`. */
bool cute_target_has_all(MlirOperation module, const cute_arch *arch);
/* The PTX ISA, times ten, required by inline assembly in the module; at least CUTE_PTX_ISA. */
enum { CUTE_PTX_ISA = 83 };
int cute_ptx_isa_of(const char *assembly);
/* Calls `visit` for the chip of each target of a gpu.module, until it returns false. `arch` is NULL for an
 * unknown chip. */
void cute_targets_each(MlirOperation module,
                       bool (*visit)(const char *chip, const cute_arch *arch, void *context), void *context);

#endif
