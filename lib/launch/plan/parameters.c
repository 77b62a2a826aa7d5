/* Parameters of launches as bytes for a device, with addresses and tensor maps filled in. */
#include <string.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/launch/plan/plan.h"

const cute_arg *cute_kernel_arg_of(const cute_kernel *kernel, size_t param)
{
    for (size_t i = 0; i < kernel->arg_count; i++)
        if (param >= kernel->args[i].first && param < kernel->args[i].first + kernel->args[i].count)
            return &kernel->args[i];
    return NULL;
}

uint8_t *cute_plan_param_room(cute_arena *arena, int64_t size)
{
    enum { ALIGN = 64 }; /* of a tensor map */
    uint8_t *bytes = cute_arena_alloc(arena, (size_t)size + ALIGN);
    return bytes ? bytes + (ALIGN - (uintptr_t)bytes % ALIGN) % ALIGN : NULL;
}

cute_status cute_plan_copy_params(cute_arena *arena, const plan_launch *launch, void ***out, cute_diag *diag)
{
    void **params = cute_arena_array(arena, launch->param_count + 1, sizeof *params);
    if (!params) return cute_fail_memory(diag);
    for (size_t i = 0; i < launch->param_count; i++) {
        params[i] = cute_plan_param_room(arena, launch->param_sizes[i]);
        if (!params[i]) return cute_fail_memory(diag);
        memcpy(params[i], launch->params[i], (size_t)launch->param_sizes[i]);
    }
    *out = params;
    return CUTE_OK;
}

/* A tensor without elements has no tensor map: extents of at least 1 are required. Encodes one of a single element in its
 * place, which is only read by kernels that read where the tensor has none. */
static void replace_empty(cute_tensor_map *map, cute_address memory)
{
    bool empty = false;
    for (int i = 0; i < map->rank; i++) empty |= map->dims[i] == 0;
    if (!empty) return;
    map->address = memory;
    for (int i = 0; i < map->rank; i++) {
        map->dims[i] = 1;
        if (i) map->strides[i - 1] = map->interleave == CUTE_MAP_INTERLEAVE_32B ? 32 : 16;
    }
    for (int i = 0; i < CUTE_MAP_SPATIAL; i++) map->lower[i] = map->upper[i] = 0;
}

cute_status cute_plan_encode_map(const plan_map *map, const cute_address *memory, cute_device *device,
                                 uint8_t *out, cute_diag *diag)
{
    cute_tensor_map own = map->map;
    own.address = memory[map->buffer] + (cute_address)map->bytes;
    replace_empty(&own, memory[map->buffer]);
    return cute_device_encode_map(device, &own, out, diag);
}

void cute_plan_apply_fixups(const plan_launch *launch, void **params, const cute_address *memory,
                            uint8_t (*maps)[CUTE_MAP_BYTES], const cute_address *map_addresses,
                            const plan_texture_object *textures)
{
    for (size_t i = 0; i < launch->fixup_count; i++) {
        const plan_fixup *f = &launch->fixups[i];
        uint8_t *at = (uint8_t *)params[f->param] + f->at;
        if (f->peer || f->kind == FIXUP_PEERS) continue;
        cute_address address = f->kind == FIXUP_BUFFER        ? memory[f->index] + (cute_address)f->bytes
                               : f->kind == FIXUP_MAP_ADDRESS ? map_addresses[f->index]
                               : f->kind == FIXUP_TEXTURE     ? textures[f->index].handle
                                                              : 0;
        if (f->kind == FIXUP_MAP)
            memcpy(at, maps[f->index], CUTE_MAP_BYTES);
        else
            memcpy(at, &address, sizeof address);
    }
}
