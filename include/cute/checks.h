/* What is checked while kernels run on the emulator (docs/emulator-checks.md). */
#ifndef CUTE_CHECKS_H
#define CUTE_CHECKS_H

typedef enum cute_checks {
    CUTE_CHECK_MEMORY = 1,  /* bounds of buffers, alignment, constants: always on; buffers need their names */
    CUTE_CHECK_UNINIT = 2,  /* reads of what was never written */
    CUTE_CHECK_RACE = 4,    /* accesses that nothing orders */
    CUTE_CHECK_BARRIER = 8, /* divergent barriers, phases that cannot complete */
    CUTE_CHECK_BANK = 16,   /* bank conflicts of shared memory, by line */
    CUTE_CHECK_COALESCING = 32, /* sectors of global memory, by line */
    CUTE_CHECK_SWIZZLE = 64,    /* matrices taken otherwise than a tensor copy has swizzled them */
    CUTE_CHECK_ALL = 127
} cute_checks;

#endif
