/* What a pass knows of the architecture that code is made for. */
#ifndef CUTE_LIB_PASSES_DEVICES_TARGET_H
#define CUTE_LIB_PASSES_DEVICES_TARGET_H

#include "lib/base/devices/arch.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"

/* The option of passes that depend on it. */
#define CUTE_ARCH_OPTION                                                                                     \
    {"arch", CUTE_PASS_TEXT, "Architecture, for example sm_90a; empty: what every one has", 0, NULL}
/* The architecture that option `i` names; *out is NULL where it is empty. False after an error at `root`. */
bool cute_pass_arch(cute_pass_run *run, int i, MlirOperation root, const cute_arch **out);
/* A pass that lowers operations inside of gpu.modules for the architecture of its option 0. */
typedef struct cute_device_work {
    const cute_arch *arch;
    cute_pass_run *pass;
    bool changed; /* set by what is called */
} cute_device_work;
/* Calls `visit` with a cute_device_work for each operation inside of a gpu.module whose name begins with `prefix`, and says
 * so where the pass changed nothing. */
void cute_lower_each(MlirOperation root, cute_pass_run *pass, const char *prefix, cute_walk_order order,
                     void (*visit)(MlirOperation op, void *work));
/* Whether `arch` (NULL: unknown, then all) has what `op` needs, by target.def; otherwise an error on `op`. */
bool cute_target_has(MlirOperation op, const cute_arch *arch);
/* The same for all operations inside `module`. */
bool cute_target_has_all(MlirOperation module, const cute_arch *arch);
/* The PTX ISA, times ten, that code with this inline assembly is written in; CUTE_PTX_ISA at least. */
enum { CUTE_PTX_ISA = 83 };
int cute_ptx_isa_of(const char *assembly);
/* Calls `visit` for the chip of each target that a gpu.module names, until it gives false. `arch` is NULL for a chip
 * that is not known. */
void cute_targets_each(MlirOperation module,
                       bool (*visit)(const char *chip, const cute_arch *arch, void *context), void *context);

#endif
