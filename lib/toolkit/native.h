/* -arch=native: the architecture of the installed GPU. */
#ifndef CUTE_LIB_TOOLKIT_NATIVE_H
#define CUTE_LIB_TOOLKIT_NATIVE_H

#include "lib/base/devices/arch.h"

/* As cute_arch_parse without a place; "native" is the architecture of device 0, with the suffix for its
 * architecture-specific features (sm_90a for an H100). CUTE_SYSTEM: no driver or no GPU. */
cute_status cute_arch_parse_native(const char *text, const cute_arch **out, cute_diag *diag);
/* As cute_arch_choose; the option or the environment variable may be "native". */
cute_status cute_arch_choose_native(const char *option, const cute_arch **out, cute_diag *diag);

#endif
