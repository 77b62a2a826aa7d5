/* cute-link --emit-c: C sources and an object with the linked kernels. */
#ifndef CUTE_TOOLS_LINK_EMIT_H
#define CUTE_TOOLS_LINK_EMIT_H

#include "lib/cubin/link.h"

/* Links `inputs` for each architecture of the options, or each input for its own, and writes PATH.h, PATH.c, PATH_torch.cpp, and PATH.o
 * if there is a C compiler. */
cute_status emit_sources(const char *path, const cute_link_options *options, const cute_link_input *inputs,
                         size_t count, cute_arena *arena, cute_diag *diag);

#endif
