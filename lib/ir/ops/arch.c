/* What threads say to one another. */
#include "lib/ir/ops/algebra.h"

static const cute_op_row rows[] = {
    {.name = "cute_nvgpu.arch.warp_all_reduce"},
    {.name = "cute_nvgpu.arch.warp_broadcast"},
    {.name = "cute_nvgpu.arch.shuffle"},
    {.name = "cute_nvgpu.arch.vote"},
    {.name = "cute_nvgpu.arch.warp_sync"},
    {.name = "cute_nvgpu.arch.block_sync"},
    {.name = "cute_nvgpu.arch.named_barrier_sync"},
    {.name = "cute_nvgpu.arch.named_barrier_arrive"},
    {.name = "cute_nvgpu.arch.cluster_arrive"},
    {.name = "cute_nvgpu.arch.cluster_wait"},
    {.name = "cute_nvgpu.arch.fence"},
    {.name = "cute_nvgpu.arch.cp_async_commit_group"},
    {.name = "cute_nvgpu.arch.cp_async_wait_group"},
};
const cute_op_family cute_family_arch = {rows, sizeof rows / sizeof *rows};
