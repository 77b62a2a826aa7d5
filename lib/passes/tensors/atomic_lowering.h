/* Lowering atomic updates of tensors, a table of cute-nvgpu-copy-lowering. */
#ifndef CUTE_LIB_PASSES_TENSORS_ATOMIC_LOWERING_H
#define CUTE_LIB_PASSES_TENSORS_ATOMIC_LOWERING_H

#include "lib/passes/tensors/lower_each.h"

extern const cute_lower_table cute_atomic_table;

#endif
