/* Makes a plan: resolves kernels, and checks grid, block, cluster and shared memory. bind.c binds the
 * arguments. */
#include "lib/launch/plan/plan.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/devices/arch.h"
#include "lib/base/devices/multiprocessor.h"
#include "lib/base/numbers/checked.h"
#include "lib/cubin/module.h"

plan_limits cute_plan_limits(const char *arch, const cute_device_info *device)
{
    plan_limits limits = {"any device", 1024, {1024, 1024, 64}, {INT32_MAX, 65535, 65535}, 227 * 1024, 16};
    const cute_arch *known = cute_arch_find(device ? device->arch : arch);
    const cute_multiprocessor *has = known ? cute_multiprocessor_of(known->number) : NULL;
    if (has) {
        limits.name = known->name;
        limits.shared_optin = has->block_shared;
        limits.cluster = has->cluster;
    }
    if (!device) return limits;
    limits.name = device->name;
    if (device->threads_block > 0) limits.threads_block = device->threads_block;
    if (device->shared_optin > 0) limits.shared_optin = device->shared_optin;
    for (int i = 0; i < 3; i++) {
        if (device->block_limit[i] > 0) limits.block[i] = device->block_limit[i];
        if (device->grid_limit[i] > 0) limits.grid[i] = device->grid_limit[i];
    }
    if (!device->clusters) limits.cluster = 1;
    return limits;
}

static void format_extents3(const int64_t *v, char *out, size_t size)
{
    snprintf(out, size, "[%lld, %lld, %lld]", (long long)v[0], (long long)v[1], (long long)v[2]);
}

static bool is_given(const int64_t *v)
{
    return v[0] > 0;
}
static bool extents3_equal(const int64_t *a, const int64_t *b)
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static const cute_path *key_path(const cute_config *config, const config_launch *launch, const char *key)
{
    if (json_object_get(launch->json, key)) return config_member(config, launch->path, key);
    return json_object_get(launch->json, "kernel") ? config_member(config, launch->path, "kernel")
                                                   : launch->path;
}

static int64_t volume(const int64_t *v)
{
    int64_t p;
    return cute_mul64(v[0], v[1], &p) && cute_mul64(p, v[2], &p) ? p : INT64_MAX;
}

static cute_status plan_block(const cute_config *config, const config_launch *launch,
                              const cute_kernel *kernel, const plan_limits *limits, int64_t *block,
                              cute_diag *diag)
{
    const cute_path *path = key_path(config, launch, "block");
    const cute_document *document = &config->document;
    char given[80], wanted[80];
    if (!is_given(block))
        memcpy(block, is_given(kernel->reqntid) ? kernel->reqntid : kernel->block, 3 * sizeof *block);
    if (!is_given(block))
        return cute_document_fail(document, path, false, diag,
                                  "expected 'block': kernel '%s' does not specify a block size",
                                  kernel->name);
    format_extents3(block, given, sizeof given);
    if (is_given(kernel->reqntid) && !extents3_equal(block, kernel->reqntid)) {
        format_extents3(kernel->reqntid, wanted, sizeof wanted);
        return cute_document_fail(document, path, false, diag, "kernel '%s' requires a block of %s, got %s",
                                  kernel->name, wanted, given);
    }
    for (int i = 0; i < 3; i++)
        if (block[i] > limits->block[i])
            return cute_document_fail(document, path, false, diag,
                                      "the block's %c is %lld; %s allows at most %lld", "xyz"[i],
                                      (long long)block[i], limits -> name, (long long)limits -> block[i]);
    if (volume(block) > limits->threads_block)
        return cute_document_fail(document, path, false, diag,
                                  "a block of %s has %lld threads; %s allows at most %lld", given,
                                  (long long)volume(block), limits->name, (long long)limits->threads_block);
    if (is_given(kernel->maxntid) && volume(block) > volume(kernel->maxntid))
        return cute_document_fail(
            document, path, false, diag,
            "a block of %s has %lld threads; kernel '%s' was compiled for at most %lld (maxntid)", given,
            (long long)volume(block), kernel->name, (long long)volume(kernel->maxntid));
    return CUTE_OK;
}

static cute_status plan_grid(const cute_config *config, const config_launch *launch,
                             const cute_kernel *kernel, const plan_limits *limits, int64_t *grid,
                             cute_diag *diag)
{
    const cute_path *path = key_path(config, launch, "grid");
    if (!is_given(grid)) memcpy(grid, kernel->grid, 3 * sizeof *grid);
    if (!is_given(grid))
        return cute_document_fail(&config->document, path, false, diag,
                                  "expected 'grid': kernel '%s' does not specify a grid size", kernel->name);
    for (int i = 0; i < 3; i++)
        if (grid[i] > limits->grid[i])
            return cute_document_fail(&config->document, path, false, diag,
                                      "the grid's %c is %lld; %s allows at most %lld", "xyz"[i],
                                      (long long)grid[i], limits -> name, (long long)limits -> grid[i]);
    return CUTE_OK;
}

static cute_status plan_cluster(const cute_config *config, const config_launch *launch,
                                const cute_kernel *kernel, const plan_limits *limits,
                                cute_device_launch *shape, cute_diag *diag)
{
    const cute_path *path = key_path(config, launch, "cluster");
    const cute_document *document = &config->document;
    char given[80], wanted[80];
    if (!is_given(shape->cluster)) memcpy(shape->cluster, kernel->cluster, sizeof shape->cluster);
    if (!is_given(shape->cluster)) return CUTE_OK;
    format_extents3(shape->cluster, given, sizeof given);
    if (is_given(kernel->cluster) && !extents3_equal(shape->cluster, kernel->cluster)) {
        format_extents3(kernel->cluster, wanted, sizeof wanted);
        return cute_document_fail(document, path, false, diag, "kernel '%s' requires a cluster of %s, got %s",
                                  kernel->name, wanted, given);
    }
    if (volume(shape->cluster) > limits->cluster) {
        if (limits->cluster == 1)
            return cute_document_fail(document, path, false, diag,
                                      "clusters are unsupported on %s: they require sm_90", limits->name);
        return cute_document_fail(
            document, path, false, diag, "a cluster of %s has %lld blocks; %s allows at most %lld", given,
            (long long)volume(shape->cluster), limits->name, (long long)limits->cluster);
    }
    for (int i = 0; i < 3; i++)
        if (shape->grid[i] % shape->cluster[i] != 0)
            return cute_document_fail(document, path, false, diag,
                                      "the grid's %c, %lld, is not a multiple of the cluster's, %lld",
                                      "xyz"[i], (long long)shape -> grid[i], (long long)shape -> cluster[i]);
    return CUTE_OK;
}

static cute_status plan_memory(const cute_config *config, const config_launch *launch,
                               const cute_kernel *kernel, const plan_limits *limits,
                               cute_device_launch *shape, cute_diag *diag)
{
    const cute_path *path = key_path(config, launch, "dynamic_smem");
    int64_t fixed = kernel->static_smem > 0 ? kernel->static_smem : 0;
    shape->dynamic_smem = launch->dynamic_smem >= 0  ? launch->dynamic_smem
                          : kernel->dynamic_smem > 0 ? kernel->dynamic_smem
                                                     : 0;
    if (shape->dynamic_smem > limits->shared_optin - fixed) {
        if (fixed)
            return cute_document_fail(&config->document, path, false, diag,
                                      "%lld bytes of dynamic and %lld of static shared memory exceed "
                                      "the limit of %lld for a block on %s",
                                      (long long)shape->dynamic_smem, (long long)fixed,
                                      (long long)limits->shared_optin, limits->name);
        return cute_document_fail(
            &config->document, path, false, diag,
            "%lld bytes of dynamic shared memory exceed the limit of %lld for a block on %s",
            (long long)shape->dynamic_smem, (long long)limits->shared_optin, limits->name);
    }
    if (kernel->dynamic_smem > 0 && shape->dynamic_smem < kernel->dynamic_smem)
        return cute_document_fail(&config->document, path, false, diag,
                                  "kernel '%s' requires %lld bytes of dynamic shared memory, got %lld",
                                  kernel->name, (long long)kernel->dynamic_smem,
                                  (long long)shape->dynamic_smem);
    if (kernel->uses_dynamic_smem && shape->dynamic_smem == 0)
        cute_document_report(&config->document, path, false, CUTE_WARNING, diag,
                             "kernel '%s' uses dynamic shared memory, but 'dynamic_smem' is 0", kernel->name);
    return CUTE_OK;
}

cute_status cute_plan_shape(const cute_config *config, const config_launch *launch, const cute_kernel *kernel,
                            const plan_limits *limits, cute_device_launch *out, cute_diag *diag)
{
    *out = (cute_device_launch){.size = sizeof *out};
    memcpy(out->grid, launch->grid, sizeof out->grid);
    memcpy(out->block, launch->block, sizeof out->block);
    memcpy(out->cluster, launch->cluster, sizeof out->cluster);
    out->cooperative = launch->cooperative;
    out->programmatic = launch->programmatic;
    CUTE_TRY(plan_grid(config, launch, kernel, limits, out->grid, diag));
    CUTE_TRY(plan_block(config, launch, kernel, limits, out->block, diag));
    CUTE_TRY(plan_cluster(config, launch, kernel, limits, out, diag));
    return plan_memory(config, launch, kernel, limits, out, diag);
}

static cute_status plan_kernel(const cute_plan *plan, const config_launch *launch, const char *kernel,
                               const cute_kernel **out, cute_diag *diag)
{
    const cute_config *config = plan->config;
    const char *name = kernel ? kernel : launch->kernel;
    if (cute_module_find_kernel(plan->module, name, out, NULL) == CUTE_OK) return CUTE_OK;
    /* Repeat the lookup for its messages, and report them at the place in launch.json. */
    const cute_path *path = key_path(config, launch, "kernel");
    cute_diag *found = cute_diag_create();
    cute_module_find_kernel(plan->module, name, out, found);
    for (size_t i = 0; i < cute_diag_count(found); i++) {
        const cute_message *message = cute_diag_get(found, i);
        if (message->severity == CUTE_NOTE || kernel)
            cute_report(diag, message->severity, NULL, "%s", message->text);
        else
            cute_document_report(&config->document, path, false, message->severity, diag, "%s",
                                 message->text);
    }
    cute_diag_destroy(found);
    return CUTE_INVALID;
}

/* The launch of a step: its kernel, shape and arguments. */
static cute_status make_launch(cute_plan *plan, const config_launch *config, const char *kernel,
                               const plan_limits *limits, bool fills, plan_launch *out, cute_diag *diag)
{
    out->config = config;
    CUTE_TRY(plan_kernel(plan, config, kernel, &out->kernel, diag));
    CUTE_TRY(cute_plan_shape(plan->config, config, out->kernel, limits, &out->shape, diag));
    /* The fill of a temporary, unlike a launch, waits for the previous launch to end. */
    if (fills) out->shape.programmatic = false;
    return cute_plan_bind(plan, out, diag);
}

static bool has_fills(const cute_plan *plan, const plan_step *step)
{
    for (size_t i = 0; i < step->fill_count; i++)
        if (plan->temporaries[step->first_fill + i].memory.init >= 0) return true;
    return false;
}

static cute_status plan_sequence_make(cute_plan *plan, const config_launch *launches, size_t count,
                                      const config_steps *steps, const char *kernel,
                                      const plan_limits *limits, plan_sequence *out, cute_diag *diag)
{
    out->launches = cute_arena_array(plan->config->arena, count + 1, sizeof *out->launches);
    out->steps = cute_arena_array(plan->config->arena, steps->count + 1, sizeof *out->steps);
    out->streams = steps->streams ? steps->streams : 1;
    out->events = steps->events;
    if (!out->launches || !out->steps) return cute_fail_memory(diag);
    const config_plan *last = NULL;
    for (size_t i = 0; i < steps->count; i++) {
        plan_step *step = &out->steps[out->step_count++];
        const config_plan *source = steps->items[i].plan;
        step->config = &steps->items[i];
        step->step = &step->config->step;
        if (source && source != last) CUTE_TRY(cute_plan_begin_run(plan, source, step, diag));
        last = source;
        CUTE_TRY(cute_plan_bind_step(plan, step, diag));
        if (step->step->kind != HOST_LAUNCH) continue;
        CUTE_TRY(make_launch(plan, &launches[step->step->launch], count == 1 ? kernel : NULL, limits,
                             has_fills(plan, step), &out->launches[out->count++], diag));
    }
    cute_plan_check_streams(plan, out, diag);
    return CUTE_OK;
}

static void warn_unused(const cute_plan *plan, cute_diag *diag)
{
    const cute_config *config = plan->config;
    for (size_t i = 0; i < config->buffer_count; i++) {
        const config_buffer *buffer = &config->buffers[i];
        bool read = false; /* input of a check */
        for (size_t c = 0; c < config->check_count; c++)
            read = read || (buffer->init && &config->checks[c].buffer->tensor != &buffer->tensor);
        if (!plan->used[i] && !read && config->launch_count)
            cute_document_report(&config->document, buffer->path, true, CUTE_WARNING, diag,
                                 "buffer '%s' is not an argument of any kernel", buffer->tensor.name);
    }
}

static cute_status find_global(const cute_config *config, const config_buffer *global,
                               const cute_module *module, const char **symbol, cute_diag *diag)
{
    cute_status status = cute_module_find_variable(config->arena, module, global->tensor.name, symbol, diag);
    if (status == CUTE_INVALID) {
        cute_place place = cute_document_place(&config->document, global->path, true);
        cute_note(diag, place.file ? &place : NULL, "named here in launch.json");
    }
    return status;
}

cute_status cute_plan_make(cute_config *config, const cute_module *module, const char *kernel,
                           const plan_limits *limits, cute_plan *out, cute_diag *diag)
{
    memset(out, 0, sizeof *out);
    out->config = config;
    out->module = module;
    out->used = cute_arena_array(config->arena, config->buffer_count + 1, 1);
    out->writes = cute_arena_array(config->arena, config->buffer_count + 1, 1);
    out->baselines =
        cute_arena_array(config->arena, config->bench.baseline_count + 1, sizeof *out->baselines);
    out->symbols = cute_arena_array(config->arena, config->buffer_count + 1, sizeof *out->symbols);
    if (!out->used || !out->writes || !out->baselines || !out->symbols) return cute_fail_memory(diag);
    for (size_t i = 0; i < config->buffer_count; i++) {
        if (!config->buffers[i].global) continue;
        out->used[i] = 1;
        CUTE_TRY(find_global(config, &config->buffers[i], module, &out->symbols[i], diag));
    }
    CUTE_TRY(cute_plan_add_named(out, diag));
    CUTE_TRY(plan_sequence_make(out, config->launches, config->launch_count, &config->steps, kernel, limits,
                                &out->main, diag));
    for (size_t i = 0; i < config->bench.baseline_count; i++) {
        const config_baseline *baseline = &config->bench.baselines[i];
        CUTE_TRY(plan_sequence_make(out, baseline->launches, baseline->launch_count, &baseline->steps, NULL,
                                    limits, &out->baselines[i], diag));
    }
    warn_unused(out, diag);
    return CUTE_OK;
}
