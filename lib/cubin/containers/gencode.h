/* nvcc's -gencode in terms of -arch. */
#ifndef CUTE_LIB_CUBIN_CONTAINERS_GENCODE_H
#define CUTE_LIB_CUBIN_CONTAINERS_GENCODE_H

#include "lib/base/options/options.h"

/* Appends to `archs` the code that "arch=compute_90,code=[sm_90,compute_90]" asks for; without "code" that is the
 * PTX of "arch". CUTE_USAGE: it is no such text, or code is wanted that is older than its arch. */
cute_status cute_gencode_add(cute_arena *arena, const char *text, cute_option_list *archs, cute_diag *diag);

#endif
