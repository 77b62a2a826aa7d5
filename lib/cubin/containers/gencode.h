/* Translates nvcc's -gencode to -arch. */
#ifndef CUTE_LIB_CUBIN_CONTAINERS_GENCODE_H
#define CUTE_LIB_CUBIN_CONTAINERS_GENCODE_H

#include "lib/base/options/options.h"

/* Appends to `archs` the targets of "arch=compute_90,code=[sm_90,compute_90]"; without "code", the PTX of
 * "arch". CUTE_USAGE: a syntax error, or code for an architecture older than "arch". */
cute_status cute_gencode_add(cute_arena *arena, const char *text, cute_option_list *archs, cute_diag *diag);

#endif
