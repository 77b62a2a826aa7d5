/* What a pass knows of the architecture that code is made for. */
#ifndef CUTE_LIB_PASSES_TARGET_H
#define CUTE_LIB_PASSES_TARGET_H

#include "lib/base/arch.h"
#include "lib/ir/shim.h"

/* The option of passes that depend on it. */
#define CUTE_ARCH_OPTION                                                                                     \
    {"arch", CUTE_PASS_TEXT, "Architecture, for example sm_90a; empty: what every one has", 0, NULL}
/* The architecture that option `i` names; *out is NULL where it is empty. False after an error at `root`. */
bool cute_pass_arch(cute_pass_run *run, int i, MlirOperation root, const cute_arch **out);

#endif
