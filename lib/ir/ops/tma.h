/* TMA operations: interface for passes. */
#ifndef CUTE_LIB_IR_OPS_TMA_H
#define CUTE_LIB_IR_OPS_TMA_H

#include "lib/atoms/tma.h"
#include "lib/ir/ops/ops.h"

/* Fields of the lowered struct of an executable TMA atom (cute_lower_tma); the last two exist for loads
 * only. */
enum { CUTE_TMA_DESCRIPTOR, CUTE_TMA_POLICY, CUTE_TMA_BARRIER, CUTE_TMA_MASK };

/* The tensor map of an operation cute_nvgpu.atom.make_non_exec_tiled_tma_load, store or reduce. */
cute_status cute_tma_plan_of(cute_arena *arena, MlirOperation op, cute_tma_map *out, cute_diag *diag);

#endif
