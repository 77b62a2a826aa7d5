/* Textures and surfaces: nothing here binds them, so a kernel that uses one is refused while it is compiled. */
#ifndef CUTE_LIB_PASSES_DEVICES_TEXTURES_H
#define CUTE_LIB_PASSES_DEVICES_TEXTURES_H

#include "lib/ir/mlir/util.h"

/* Whether `op`, one of llvm's, is such an instruction, an intrinsic or inline PTX; it is refused then. */
bool cute_texture_refuse(MlirOperation op);

#endif
