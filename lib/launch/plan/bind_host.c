/* Binds the arguments of a host function's launch: converts numbers and addresses to parameter bytes. */
#include <string.h>

#include "lib/launch/plan/offsets.h"
#include "lib/launch/plan/plan.h"

typedef struct host_binder {
    cute_plan *plan;
    plan_launch *launch;
    const cute_config *config;
    const cute_kernel *kernel;
    const host_launch *host;
    const config_plan *source;
    cute_diag *diag;
} host_binder;

static cute_status fail_host_arg(const host_binder *b, size_t index, const char *unit, long long expected,
                                 long long got)
{
    const cute_arg *arg = &b->kernel->args[index];
    return cute_document_fail(
        &b->config->document, b->launch->config->path, false, b->diag,
        "host function '%s' launches '%s': expected %lld %s for argument %zu (%s), got %lld",
        b->source->host.name, b->kernel->name, expected, unit, index, arg->name, got);
}

size_t cute_plan_locate(const cute_plan *plan, const config_plan *source, const host_number *address,
                        int64_t *begin)
{
    const cute_config *config = plan->config;
    *begin = 0;
    if (address->base >= HOST_NAMED) return config->buffer_count + (size_t)(address->base - HOST_NAMED);
    if (address->base >= HOST_TEMPORARY)
        return config->buffer_count + plan->first_temporary + (size_t)(address->base - HOST_TEMPORARY);
    const config_buffer *buffer = source ? source->buffers[address->base] : &config->buffers[address->base];
    size_t index = (size_t)(buffer - config->buffers);
    *begin = buffer->tensor.offset * cute_dtype_get(buffer->tensor.dtype)->bytes;
    plan->used[index] = 1;
    return index;
}

/* Stores a number at byte `at` of parameter `param`. */
static cute_status put_number(const host_binder *b, const host_number *number, size_t param, int64_t at,
                              int64_t size)
{
    uint8_t *bytes = b->launch->params[param];
    if (number->base >= 0) {
        int64_t begin;
        size_t index = cute_plan_locate(b->plan, b->source, number, &begin);
        plan_fixup fixup = {FIXUP_BUFFER, param, at, index, begin + number->value};
        return cute_plan_fixup(b->config, b->launch, fixup, b->diag);
    }
    memcpy(bytes + at, &number->value, (size_t)size);
    return CUTE_OK;
}

/* Locates leaf `k` of an argument: a field of a struct, or a parameter. */
static void locate_leaf(const cute_kernel *kernel, const cute_arg *arg, size_t k, size_t *param, int64_t *at,
                        int64_t *size)
{
    bool field = arg->count == 1 && arg->field_count > 0;
    *param = arg->first + (field ? 0 : k);
    *at = field ? arg->fields[k].offset : 0;
    *size = field ? arg->fields[k].size : kernel->params[*param].size;
}

static size_t leaf_count_of(const cute_arg *arg)
{
    return arg->count == 1 && arg->field_count > 0 ? arg->field_count : arg->count;
}

/* Binds a tensor map by a fixup. */
static cute_status put_map(const host_binder *b, const cute_arg *arg, const host_map *map)
{
    tma_numbers n = {.tensor = map->tensor, .map = map->map};
    int64_t begin;
    size_t index = cute_plan_locate(b->plan, b->source, &map->address, &begin), made;
    for (int i = 0; i < n.map.rank; i++) {
        n.dims[i] = map->dims[i].value;
        n.strides[i] = map->strides[i].value;
        n.modes[i] = map->modes[i];
    }
    CUTE_TRY(cute_plan_tma_map(b->plan, b->launch->config->path, &n, index, begin + map->address.value,
                               arg->in_memory, &made, b->diag));
    plan_fixup fixup = {arg->in_memory ? FIXUP_MAP_ADDRESS : FIXUP_MAP, arg->first, 0, made, 0};
    return cute_plan_fixup(b->config, b->launch, fixup, b->diag);
}

static cute_status bind_argument(const host_binder *b, size_t index)
{
    const cute_arg *arg = &b->kernel->args[index];
    const host_arg *given = &b->host->args[index];
    const host_map *map = given->count == 1 ? given->leaves[0].map : NULL;
    bool room =
        arg->count == 1 && b->launch->param_sizes[arg->first] == (arg->in_memory ? 8 : CUTE_MAP_BYTES);
    if (map && arg->kind == CUTE_ARG_TENSOR_MAP && room) return put_map(b, arg, map);
    if (map || arg->kind == CUTE_ARG_TENSOR_MAP)
        return fail_host_arg(b, index, "tensor maps", arg->kind == CUTE_ARG_TENSOR_MAP, map != NULL);
    if (given->count != leaf_count_of(arg))
        return fail_host_arg(b, index, given->count == 1 ? "value" : "values", (long long)leaf_count_of(arg),
                             (long long)given->count);
    for (size_t k = 0; k < given->count; k++) {
        size_t param;
        int64_t at, size;
        const host_number *number = &given->leaves[k];
        locate_leaf(b->kernel, arg, k, &param, &at, &size);
        if (param >= b->launch->param_count || at < 0 || size < 1 ||
            at + size > b->launch->param_sizes[param])
            return fail_host_arg(b, index, "bytes", 0, (long long)size);
        int64_t wanted = number->base >= 0 ? 8 : (number->width + 7) / 8;
        if (size > 8 || wanted > size)
            return fail_host_arg(b, index, "bytes", (long long)size, (long long)wanted);
        CUTE_TRY(put_number(b, number, param, at, size));
    }
    uint64_t farthest;
    if (cute_offsets_fit(arg, b->launch->params[arg->first], &farthest)) return CUTE_OK;
    cute_document_fail(
        &b->config->document, b->launch->config->path, false, b->diag,
        "host function '%s' launches '%s': expected the last element of argument %zu (%s) less than %lld "
        "elements from the first, got %llu",
        b->source->host.name, b->kernel->name, index, arg->name, (long long)arg->offsets_below,
        (unsigned long long)farthest);
    cute_note(b->diag, NULL, CUTE_OFFSETS_FIX);
    return CUTE_INVALID;
}

/* ---- for the report: "a: !cute.memref<...> = (x, 4096)" ---- */

static void put_value_text(const host_binder *b, const host_number *number, const char *dtype,
                           cute_buffer *out)
{
    cute_dtype type;
    double value;
    if (number->map) {
        cute_buffer_printf(out, "the tensor map of %s", number->map->tensor);
    } else if (number->base >= 0) {
        if (number->base >= HOST_NAMED)
            cute_buffer_puts(out, b->config->temporaries[number->base - HOST_NAMED].name);
        else if (number->base >= HOST_TEMPORARY)
            cute_buffer_printf(out, "temporary %d", number->base - HOST_TEMPORARY);
        else
            cute_buffer_puts(out, b->source->buffers[number->base]->tensor.name);
        if (number->value) cute_buffer_printf(out, "%+lld bytes", (long long)number->value);
    } else if (dtype && cute_dtype_find(dtype, &type) && cute_dtype_get(type)->class == CUTE_CLASS_FLOAT) {
        cute_dtype_load(type, &number->value, 1, 1, &value);
        cute_buffer_printf(out, "%.9g", value);
    } else {
        cute_buffer_printf(out, "%lld", (long long)number->value);
    }
}

static cute_status add_arg_text(const host_binder *b, size_t index)
{
    cute_buffer text = {0};
    const cute_arg *arg = &b->kernel->args[index];
    const host_arg *given = &b->host->args[index];
    bool field = arg->count == 1 && arg->field_count > 0;
    cute_buffer_printf(&text, "%s%s%s = ", arg->name, arg->type ? ": " : "", arg->type ? arg->type : "");
    if (given->count != 1) cute_buffer_putc(&text, '(');
    for (size_t k = 0; k < given->count; k++) {
        if (k) cute_buffer_puts(&text, ", ");
        put_value_text(b, &given->leaves[k],
                       field                          ? arg->fields[k].dtype
                       : arg->kind == CUTE_ARG_SCALAR ? arg->dtype
                                                      : NULL,
                       &text);
    }
    if (given->count != 1) cute_buffer_putc(&text, ')');
    const char *copy = cute_arena_copy(b->config->arena, cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
    b->launch->arg_texts[index] = copy;
    return copy ? CUTE_OK : cute_fail_memory(b->diag);
}

cute_status cute_plan_bind_host(cute_plan *plan, plan_launch *launch, cute_diag *diag)
{
    const cute_kernel *kernel = launch->kernel;
    const config_launch *config = launch->config;
    host_binder b = {plan, launch, plan->config, kernel, config->host, config->plan, diag};
    cute_arena *arena = plan->config->arena;
    if (kernel->arg_count != config->host->arg_count)
        return cute_document_fail(
            &plan->config->document, config->path, false, diag,
            "host function '%s' launches '%s' with %zu argument%s, but the kernel takes %zu",
            config->plan->host.name, kernel->name, config->host->arg_count,
            config->host->arg_count == 1 ? "" : "s", kernel->arg_count);
    launch->arg_count = kernel->arg_count;
    launch->param_count = kernel->param_count;
    launch->params = cute_arena_array(arena, kernel->param_count + 1, sizeof *launch->params);
    launch->param_sizes = cute_arena_array(arena, kernel->param_count + 1, sizeof *launch->param_sizes);
    launch->arg_texts = cute_arena_array(arena, launch->arg_count + 1, sizeof *launch->arg_texts);
    if (!launch->params || !launch->param_sizes || !launch->arg_texts) return cute_fail_memory(diag);
    for (size_t i = 0; i < kernel->param_count; i++) {
        launch->param_sizes[i] = kernel->params[i].size;
        launch->params[i] =
            kernel->params[i].size > 0 ? cute_arena_alloc(arena, (size_t)kernel->params[i].size) : NULL;
        if (!launch->params[i]) return cute_fail_memory(diag);
    }
    for (size_t i = 0; i < kernel->arg_count; i++) {
        CUTE_TRY(bind_argument(&b, i));
        CUTE_TRY(add_arg_text(&b, i));
    }
    return CUTE_OK;
}
