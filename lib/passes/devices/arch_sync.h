/* What cute-nvgpu-to-nvgpu makes of mbarriers, pipelines, groups of asynchronous operations, clusters. */
#ifndef CUTE_LIB_PASSES_DEVICES_ARCH_SYNC_H
#define CUTE_LIB_PASSES_DEVICES_ARCH_SYNC_H

#include "lib/passes/tensors/lower_each.h"

cute_lower_table cute_sync_rows(void);

#endif
