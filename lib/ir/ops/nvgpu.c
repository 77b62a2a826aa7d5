/* Instructions of copies and MMAs, descriptors, the tensor memory accelerator, tensor memory. */
#include "lib/ir/ops/algebra.h"

static const cute_op_row rows[] = {
    {.name = "cute_nvgpu.arch.get_dyn_smem"},
    {.name = "cute_nvgpu.arch.get_dyn_smem_size"},
    {.name = "cute_nvgpu.arch.make_warp_uniform"},
    {.name = "cute_nvgpu.arch.copy.SM80.cp_async"},
    {.name = "cute_nvgpu.arch.copy.ldsm"},
    {.name = "cute_nvgpu.arch.copy.stsm"},
    {.name = "cute_nvgpu.arch.mma.SM80"},
    {.name = "cute_nvgpu.arch.mma.SM89"},
    {.name = "cute_nvgpu.atom.set_value"},
    {.name = "cute_nvgpu.atom.get_value"},
    {.name = "cute_nvgpu.atom.make_non_exec_tiled_tma_load"},
    {.name = "cute_nvgpu.atom.make_non_exec_tiled_tma_store"},
    {.name = "cute_nvgpu.atom.make_non_exec_tiled_tma_reduce"},
    {.name = "cute_nvgpu.atom.make_exec_tma"},
    {.name = "cute_nvgpu.atom.tma_partition"},
    {.name = "cute_nvgpu.prefetch_tma_desc"},
    {.name = "cute_nvgpu.copy_tma_desc"},
    {.name = "cute_nvgpu.update_tma_desc"},
    {.name = "cute_nvgpu.atom.make_tmem_copy"},
    {.name = "cute_nvgpu.arch.sm100.alloc_tmem"},
    {.name = "cute_nvgpu.arch.sm100.dealloc_tmem"},
    {.name = "cute_nvgpu.arch.sm100.relinquish_tmem_alloc_permit"},
    {.name = "cute_nvgpu.arch.sm100.retrieve_tmem_ptr"},
};
const cute_op_family cute_family_nvgpu = {rows, sizeof rows / sizeof *rows};
