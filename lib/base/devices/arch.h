/* The GPU architectures that are known, one row each (arch.def), and how people spell them. */
#ifndef CUTE_LIB_BASE_DEVICES_ARCH_H
#define CUTE_LIB_BASE_DEVICES_ARCH_H

#include "cute/base.h"

/* Which backend makes PTX for an architecture. */
enum { CUTE_BACKEND_NVPTX = 1, CUTE_BACKEND_LIBNVVM = 2 };

typedef struct cute_arch {
    const char *name;   /* "sm_90a": what ptxas, gpu.object and the driver call it */
    int number;         /* 90 */
    char variant;       /* 0, 'a' (this chip only) or 'f' (its family) */
    unsigned backends;  /* CUTE_BACKEND_*: who can make PTX for it */
    const char *target; /* what the backend compiles for: "sm_90a" for NVPTX, "compute_100a" for libNVVM.
                           sm_88 goes through "sm_87", which LLVM 19 knows */
    int ptx;            /* the first PTX ISA that has it: 80 is 8.0 */
    const char *chips;  /* "H100, H200" */
} cute_arch;

typedef enum cute_feature {
#define FEATURE(id, ...) CUTE_FEATURE_##id,
#include "lib/base/devices/features.def"
    CUTE_FEATURES
} cute_feature;
/* Whether architectures of that number have it: see features.def. */
bool cute_arch_has(int number, cute_feature feature);
/* The number of the first one. */
int cute_feature_first(cute_feature feature);

/* By any spelling: sm_90a, compute_90a, sm90a, 90a, and sm_101 for sm_110 (its name before PTX 9.0). NULL:
 * unknown. */
const cute_arch *cute_arch_find(const char *text);
/* The same with a message: "unknown architecture 'sm_91'; did you mean 'sm_90'?" and a note with those known.
 * CUTE_USAGE (the command line's fault) where `place` is NULL, else CUTE_INVALID at the place. */
cute_status cute_arch_parse(const char *text, const cute_place *place, const cute_arch **out,
                            cute_diag *diag);
/* Which one makes PTX for `arch`: the one that is asked for (0: the one that knows it). LLVM's makes PTX of sm_90a's
 * instructions for architectures behind it. CUTE_USAGE where libNVVM cannot. */
cute_status cute_arch_choose_backend(const cute_arch *arch, unsigned asked, unsigned *out, cute_diag *diag);
/* Whether code made for `made` (cubin: `binary`; otherwise PTX) may run on, or be compiled for, `device`. */
bool cute_arch_compatible(const cute_arch *made, bool binary, const cute_arch *device);
/* The default: `option` when not NULL, else the environment variable ARCH (CUTLASS_ARCH, CUTE_DSL_ARCH), else sm_90a. */
cute_status cute_arch_choose(const char *option, const cute_arch **out, cute_diag *diag);

#endif
