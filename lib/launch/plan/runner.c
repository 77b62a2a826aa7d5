/* cute/plan.h: the launches of a launch.json with the caller's device, memory and stream. Each start fills in the addresses. */
#include "cute/plan.h"

#include <stdlib.h>

#include "lib/base/abi.h"
#include "lib/base/diagnostics/diag.h"
#include "lib/launch/plan/plan.h"

struct cute_plan_runner {
    cute_arena *arena;
    cute_device *device;
    cute_device_module *loaded;
    cute_config config;
    cute_plan plan;
    int64_t workspace_bytes, *offsets; /* offsets: by temporary */
    bool has_workspace;
    cute_device_function **functions; /* by launch */
    void ***params;                   /* by launch: the bytes of each parameter */
    cute_address *memory;             /* by buffer of the config, then by temporary; 0: not set */
    uint8_t (*maps)[CUTE_MAP_BYTES];
    plan_texture_object *textures;
    plan_run run;
};

/* ---- opening ---- */

static cute_status make_plan(cute_plan_runner *r, const cute_module *module, const char *text, size_t length,
                             const cute_plan_options *o, cute_diag *diag)
{
    const cute_device_info *info = r->device ? cute_device_get_info(r->device) : NULL;
    config_device device = {.multiprocessors = o->multiprocessors ? o->multiprocessors
                                               : info             ? info->multiprocessors
                                                                  : 0,
                            .in_process = true};
    config_source source = {.label = o->label ? o->label : "<plan>",
                            .text = text,
                            .length = length,
                            .module = module,
                            .defines = o->defines,
                            .define_count = o->define_count,
                            .device = &device};
    plan_limits limits = cute_plan_limits(cute_module_arch(module), info);
    cute_status status = cute_config_read(r->arena, &source, &r->config, diag);
    r->config.device = NULL;
    CUTE_TRY(status);
    CUTE_TRY(cute_plan_make(&r->config, module, NULL, &limits, &r->plan, diag));
    r->offsets = cute_arena_array(r->arena, r->plan.temporary_count + 1, sizeof *r->offsets);
    if (!r->offsets) return cute_fail_memory(diag);
    if (cute_plan_place_temporaries(&r->plan, r->offsets, &r->workspace_bytes)) return CUTE_OK;
    return cute_fail(diag, CUTE_INVALID, NULL, "the size of the workspace exceeds 64 bits");
}

static cute_status find_globals(cute_plan_runner *r, cute_diag *diag)
{
    for (size_t i = 0; i < r->config.buffer_count; i++) {
        size_t size;
        if (!r->config.buffers[i].global) continue;
        CUTE_TRY(
            cute_device_get_global(r->device, r->loaded, r->plan.symbols[i], &r->memory[i], &size, diag));
    }
    return CUTE_OK;
}

static cute_status load_plan(cute_plan_runner *r, const cute_module *module, const char *label,
                             cute_diag *diag)
{
    const plan_sequence *s = &r->plan.main;
    r->functions = cute_arena_array(r->arena, s->count + 1, sizeof *r->functions);
    r->params = cute_arena_array(r->arena, s->count + 1, sizeof *r->params);
    r->memory =
        cute_arena_array(r->arena, r->config.buffer_count + r->plan.temporary_count + 1, sizeof *r->memory);
    r->maps = cute_arena_array(r->arena, r->plan.map_count + 1, CUTE_MAP_BYTES);
    r->textures = cute_arena_array(r->arena, r->plan.texture_count + 1, sizeof *r->textures);
    if (!r->functions || !r->params || !r->memory || !r->maps || !r->textures) return cute_fail_memory(diag);
    CUTE_TRY(cute_launch_load(r->device, module, label, &r->loaded, diag));
    for (size_t i = 0; i < s->count; i++) {
        CUTE_TRY(cute_device_get_function(r->device, r->loaded, s->launches[i].kernel->name, &r->functions[i],
                                          diag));
        CUTE_TRY(cute_device_prepare(r->device, r->functions[i], &s->launches[i].shape, diag));
        CUTE_TRY(cute_plan_copy_params(r->arena, &s->launches[i], &r->params[i], diag));
    }
    r->run = (plan_run){.plan = &r->plan,
                        .sequence = s,
                        .device = r->device,
                        .memory = r->memory,
                        .functions = r->functions,
                        .params = r->params,
                        .textures = r->textures};
    CUTE_TRY(cute_plan_open_streams(&r->run, r->arena, diag));
    return find_globals(r, diag);
}

cute_status cute_plan_open(cute_device *device, const cute_module *module, const char *text, size_t length,
                           const cute_plan_options *options, cute_plan_runner **out, cute_diag *diag)
{
    cute_plan_options o = {.size = sizeof o};
    *out = NULL;
    if (options) CUTE_TRY(cute_struct_read(&o, sizeof o, options, "cute_plan_options", diag));
    if (o.multiprocessors < 0 || o.multiprocessors > INT32_MAX)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected 1 or more multiprocessors, got %lld",
                         (long long)o.multiprocessors);
    cute_plan_runner *r = calloc(1, sizeof *r);
    if (!r || !(r->arena = cute_arena_create())) {
        free(r);
        return cute_fail_memory(diag);
    }
    r->device = device;
    cute_status status = make_plan(r, module, text, length, &o, diag);
    if (status == CUTE_OK && device) status = load_plan(r, module, o.module_label, diag);
    if (status == CUTE_OK)
        *out = r;
    else
        cute_plan_close(r);
    return status;
}

void cute_plan_close(cute_plan_runner *r)
{
    if (!r) return;
    for (size_t i = 0; r->textures && i < r->plan.texture_count; i++)
        if (r->textures[i].object) cute_device_texture_destroy(r->device, r->textures[i].object, NULL);
    for (int i = 1; r->run.streams && i < r->plan.main.streams; i++) cute_stream_destroy(r->run.streams[i]);
    if (r->loaded) cute_device_unload(r->device, r->loaded, NULL);
    cute_config_release(&r->config);
    cute_arena_destroy(r->arena);
    free(r);
}

/* ---- memory ---- */

size_t cute_plan_workspace(const cute_plan_runner *r)
{
    return (size_t)r->workspace_bytes;
}

cute_status cute_plan_temporary(const cute_plan_runner *r, size_t index, size_t *offset, size_t *bytes,
                                cute_diag *diag)
{
    if (index >= r->plan.temporary_count)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected a temporary below %zu, got %zu",
                         r->plan.temporary_count, index);
    *offset = (size_t)r->offsets[index];
    *bytes = (size_t)r->plan.temporaries[index].memory.bytes;
    return CUTE_OK;
}

static cute_status check_device(const cute_plan_runner *r, cute_diag *diag)
{
    if (r->device) return CUTE_OK;
    return cute_fail(diag, CUTE_USAGE, NULL, "the plan was opened without a device and cannot run");
}

cute_status cute_plan_set_buffer(cute_plan_runner *r, const char *name, cute_address address, cute_diag *diag)
{
    config_buffer *buffer;
    CUTE_TRY(check_device(r, diag));
    if (config_find_buffer(&r->config, name, NULL, &buffer, NULL) != CUTE_OK)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected a buffer of the plan, got '%s'", name);
    int64_t align = cute_dtype_get(buffer->tensor.dtype)->bytes;
    if (address % (uint64_t)align != 0)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "buffer '%s' is misaligned: expected a multiple of %lld, got 0x%llx", name,
                         (long long)align, (unsigned long long)address);
    r->memory[buffer - r->config.buffers] = address;
    return CUTE_OK;
}

cute_status cute_plan_set_workspace(cute_plan_runner *r, cute_address address, cute_diag *diag)
{
    CUTE_TRY(check_device(r, diag));
    if (address % HOST_TEMPORARY_ALIGN)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "the workspace is misaligned: expected a multiple of %d, got 0x%llx",
                         HOST_TEMPORARY_ALIGN, (unsigned long long)address);
    for (size_t i = 0; i < r->plan.temporary_count; i++)
        r->memory[r->config.buffer_count + i] = address + (cute_address)r->offsets[i];
    r->has_workspace = address != 0;
    return CUTE_OK;
}

/* ---- running ---- */

static cute_status check_memory(const cute_plan_runner *r, cute_diag *diag)
{
    CUTE_TRY(check_device(r, diag));
    for (size_t i = 0; i < r->config.buffer_count; i++)
        if (r->plan.used[i] && !r->memory[i] && r->config.buffers[i].tensor.bytes)
            return cute_fail(diag, CUTE_USAGE, NULL, "expected an address of buffer '%s', got none",
                             r->config.buffers[i].tensor.name);
    if (r->has_workspace || !r->workspace_bytes) return CUTE_OK;
    return cute_fail(diag, CUTE_USAGE, NULL, "expected a workspace of %lld bytes, got none",
                     (long long)r->workspace_bytes);
}

static cute_status apply_fixups(const cute_plan_runner *r, const plan_launch *launch, void **params,
                                cute_diag *diag)
{
    for (size_t i = 0; i < launch->fixup_count; i++)
        if (launch->fixups[i].kind == FIXUP_MAP_ADDRESS)
            return cute_fail(
                diag, CUTE_USAGE, NULL,
                "tensor maps in device memory are unsupported in plans: expected a map passed by value");
    cute_plan_apply_fixups(launch, params, r->memory, r->maps, NULL, r->textures);
    return CUTE_OK;
}

/* Textures are made for the buffers' addresses, and again when one changes. Their arrays are loaded before each launch. */
static cute_status open_textures(cute_plan_runner *r, cute_diag *diag)
{
    for (size_t i = 0; i < r->plan.texture_count; i++) {
        const plan_texture *t = &r->plan.textures[i];
        plan_texture_object *object = &r->textures[i];
        r->plan.writes[t->buffer] = 1;
        if (object->object && object->address == r->memory[t->buffer] + (cute_address)t->bytes) continue;
        if (object->object) {
            CUTE_TRY(cute_device_sync(r->device, diag));
            CUTE_TRY(cute_device_texture_destroy(r->device, object->object, diag));
            *object = (plan_texture_object){0};
        }
        CUTE_TRY(cute_plan_open_texture(t, r->memory, r->device, object, diag));
    }
    return CUTE_OK;
}

cute_status cute_plan_start(cute_plan_runner *r, cute_stream *stream, cute_diag *diag)
{
    const plan_sequence *s = &r->plan.main;
    CUTE_TRY(check_memory(r, diag));
    for (size_t i = 0; i < r->plan.map_count; i++)
        CUTE_TRY(cute_plan_encode_map(&r->plan.maps[i], r->memory, r->device, r->maps[i], diag));
    CUTE_TRY(open_textures(r, diag));
    for (size_t i = 0; i < s->count; i++) CUTE_TRY(apply_fixups(r, &s->launches[i], r->params[i], diag));
    r->run.streams[0] = stream;
    return cute_plan_start_steps(&r->run, diag);
}
