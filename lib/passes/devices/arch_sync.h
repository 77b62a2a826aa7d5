/* Lowering of mbarriers, pipelines, asynchronous groups and clusters for cute-nvgpu-to-nvgpu. */
#ifndef CUTE_LIB_PASSES_DEVICES_ARCH_SYNC_H
#define CUTE_LIB_PASSES_DEVICES_ARCH_SYNC_H

#include "lib/passes/tensors/lower_each.h"

cute_lower_table cute_sync_rows(void);

#endif
