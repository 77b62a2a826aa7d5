/* The object compiler of emit-gpu-binary: produces the same output as cute-ptx and cute-link. */
#ifndef CUTE_TOOLS_CUTE_OPT_OBJECTS_H
#define CUTE_TOOLS_CUTE_OPT_OBJECTS_H

#include "lib/passes/host/binary.h"

cute_status cute_opt_object(const cute_object_request *request, cute_buffer *out, cute_diag *diag);

#endif
