/* Textures and surfaces are unsupported: kernels that use them are rejected at compile time. */
#ifndef CUTE_LIB_PASSES_DEVICES_TEXTURES_H
#define CUTE_LIB_PASSES_DEVICES_TEXTURES_H

#include "lib/ir/mlir/util.h"

/* Whether `op`, of the dialect llvm, is such an instruction, as an intrinsic or inline PTX; if so, reports
 * an error. */
bool cute_texture_refuse(MlirOperation op);

#endif
