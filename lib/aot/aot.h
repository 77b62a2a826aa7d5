/* Sources of a library with compiled kernels: C, its header and a PyTorch operator (docs/ahead-of-time.md). Each launch plan, and
 * each kernel that no plan launches, becomes a function. */
#ifndef CUTE_LIB_AOT_AOT_H
#define CUTE_LIB_AOT_AOT_H

#include "cute/cubin.h"
#include "lib/base/buffer.h"
#include "lib/base/devices/arch.h"

/* Inputs with the same plans and kernels, linked for one or more architectures. */
typedef struct cute_aot_group {
    const char *label;         /* for messages */
    const cute_module *module; /* its metadata */
} cute_aot_group;

typedef struct cute_aot_image {
    const cute_arch *arch;
    bool binary; /* a cubin; false: PTX, with its terminator */
    size_t group;
    const void *bytes;
    size_t length;
} cute_aot_image;

typedef struct cute_aot_input {
    const char *name; /* the prefix of the functions: an identifier of C */
    const cute_aot_group *groups;
    size_t group_count;
    const cute_aot_image *images;
    size_t image_count;
} cute_aot_input;

/* Released by the caller, also after a failure. */
typedef struct cute_aot_output {
    cute_buffer header, source, torch;
} cute_aot_output;

/* An identifier of C made of `text`; never empty, never a keyword. NULL: out of memory. */
const char *cute_aot_identifier(cute_arena *arena, const char *text);
/* CUTE_INVALID: the groups have different functions, or a plan has operations that need cute-run. */
cute_status cute_aot_write(cute_arena *arena, const cute_aot_input *input, cute_aot_output *out,
                           cute_diag *diag);
void cute_aot_release(cute_aot_output *out);

#endif
