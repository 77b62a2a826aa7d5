/* Textures and surfaces are objects, passed as arguments (launch.json(5)); other ways to refer to them are rejected at compile time. */
#ifndef CUTE_LIB_PASSES_DEVICES_TEXTURES_H
#define CUTE_LIB_PASSES_DEVICES_TEXTURES_H

#include "lib/ir/mlir/util.h"

/* Whether `op`, of the dialect llvm, refers to a texture, surface or sampler by name, as an intrinsic or inline PTX; if so, reports an
 * error. */
bool cute_texture_refuse(MlirOperation op);

#endif
