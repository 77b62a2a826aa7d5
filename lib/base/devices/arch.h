/* The known GPU architectures (arch.def), and the parsing of their names. */
#ifndef CUTE_LIB_BASE_DEVICES_ARCH_H
#define CUTE_LIB_BASE_DEVICES_ARCH_H

#include "cute/base.h"

/* The backends that generate PTX. */
enum { CUTE_BACKEND_NVPTX = 1, CUTE_BACKEND_LIBNVVM = 2 };

typedef struct cute_arch {
    const char *name;  /* "sm_90a": as in ptxas, gpu.object and the driver */
    int number;        /* 90 */
    char variant;      /* 0, 'a' (this chip only) or 'f' (its family) */
    unsigned backends; /* CUTE_BACKEND_* that support it */
    /* The backend's target: "sm_90a" for NVPTX, "compute_100a" for libNVVM; "sm_87" for sm_88, which LLVM 19
     * does not support. */
    const char *target;
    int ptx;           /* the first PTX ISA that supports it: 80 is 8.0 */
    const char *chips; /* "H100, H200" */
} cute_arch;

typedef enum cute_feature {
#define FEATURE(id, ...) CUTE_FEATURE_##id,
#include "lib/base/devices/features.def"
    CUTE_FEATURES
} cute_feature;
/* Whether architecture `number` has the feature: see features.def. */
bool cute_arch_has(int number, cute_feature feature);
/* The first architecture with the feature. */
int cute_feature_first(cute_feature feature);

/* Accepts sm_90a, compute_90a, sm90a, 90a, and sm_101 for sm_110 (its name before PTX 9.0). NULL: unknown. */
const cute_arch *cute_arch_find(const char *text);
/* As cute_arch_find, with an error: "unknown architecture 'sm_91'; did you mean 'sm_90'?" and a note that
 * lists the known ones. CUTE_USAGE (a command-line error) if `place` is NULL, else CUTE_INVALID at the
 * place. */
cute_status cute_arch_parse(const char *text, const cute_place *place, const cute_arch **out,
                            cute_diag *diag);
/* The backend for `arch`: `asked`, or the default for 0. NVPTX also compiles for newer architectures than it knows, and libNVVM for
 * older ones, with the instructions of the nearest that it knows. */
unsigned cute_arch_choose_backend(const cute_arch *arch, unsigned asked);
/* Whether code for `made` (cubin: `binary`; otherwise PTX) can run on, or be compiled for, `device`. */
bool cute_arch_compatible(const cute_arch *made, bool binary, const cute_arch *device);
/* `option` unless NULL, else the environment variable ARCH (CUTLASS_ARCH, CUTE_DSL_ARCH), else sm_90a. */
cute_status cute_arch_choose(const char *option, const cute_arch **out, cute_diag *diag);

#endif
