/* Lowering of atomic updates of tensors: a table for cute-nvgpu-copy-lowering. */
#ifndef CUTE_LIB_PASSES_TENSORS_ATOMIC_LOWERING_H
#define CUTE_LIB_PASSES_TENSORS_ATOMIC_LOWERING_H

#include "lib/passes/tensors/lower_each.h"

extern const cute_lower_table cute_atomic_table;

#endif
