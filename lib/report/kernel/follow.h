/* Follows the values of a warp's lanes through a kernel in PTX, to the addresses of its accesses: a fixed point over its
 * blocks, in which loops lose what their rounds change (lanes.h). */
#ifndef CUTE_LIB_REPORT_KERNEL_FOLLOW_H
#define CUTE_LIB_REPORT_KERNEL_FOLLOW_H

#include "lib/emulator/program.h"
#include "lib/report/kernel/access.h"
#include "lib/report/kernel/lanes.h"

typedef struct follow follow;

/* An access that the warp may make. */
typedef struct follow_access {
    uint32_t inst; /* of the program */
    int side;      /* of cp.async: 0 the load, 1 the store */
    cute_access_space space;
    uint32_t bytes;
    const lane_values *address;
    const lane_values *other; /* of cp.async the address on the other side; NULL: of others */
    uint32_t mask;            /* lanes that may */
    uint32_t idle;            /* of cp.async: of these, lanes that read nothing */
    bool lanes_assumed, in_loop;
    const char *unknown; /* the address has no space, or the form is not followed */
} follow_access;
typedef void follow_sink(void *context, const follow_access *access);

/* Of one kernel. `block`: 0: not known, then there is one warp, which stands for all. */
cute_status follow_create(cute_arena *arena, const em_program *program, const em_function *kernel,
                          const uint32_t block[3], const cute_access_options *options, follow **out,
                          cute_diag *diag);
/* Warp `index` of the block. CUTE_SYSTEM: memory is exhausted. */
cute_status follow_warp(follow *f, uint32_t index, follow_sink *sink, void *context, cute_diag *diag);
/* How many instructions are followed in each warp. */
uint32_t follow_work(const follow *f);
/* The parameter at an offset, for messages; NULL: there is none. */
const char *follow_parameter(const follow *f, uint32_t offset);

#endif
