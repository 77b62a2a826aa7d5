/* What a module's kernels want, a launch.json to start from, and what the devices are. */
#include <stdlib.h>
#include <string.h>

#include "cute/launch.h"
#include "lib/base/json.h"

static char *finish(json_t *value, bool json, cute_buffer *out)
{
    if (json) {
        cute_json_dump(value, true, out);
        cute_buffer_putc(out, '\n');
    }
    json_decref(value);
    if (cute_buffer_ok(out) && out->data) return out->data;
    cute_buffer_release(out);
    return NULL;
}

static bool is_given(const int64_t *v)
{
    return v[0] > 0;
}

static json_t *extents(const int64_t *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, values[i] == CUTE_DYNAMIC ? json_null() : json_integer(values[i]));
    return list;
}

/* ---- kernels ---- */

static json_t *arg_json(const cute_arg *arg)
{
    json_t *value = json_object();
    json_object_set_new(value, "name", json_string(arg->name));
    json_object_set_new(value, "kind", json_string(cute_arg_kind_name(arg->kind)));
    if (arg->type) json_object_set_new(value, "type", json_string(arg->type));
    if (arg->dtype) json_object_set_new(value, "dtype", json_string(arg->dtype));
    json_object_set_new(value, "size", json_integer(arg->size));
    json_object_set_new(value, "params", json_integer((json_int_t)arg->count));
    if (arg->reads || arg->writes)
        json_object_set_new(value, "access",
                            json_string(arg->reads && arg->writes ? "readwrite"
                                        : arg->writes             ? "write"
                                                                  : "read"));
    if (arg->shape) json_object_set_new(value, "shape", extents(arg->shape, arg->rank));
    if (arg->box) json_object_set_new(value, "box", extents(arg->box, arg->box_rank));
    return value;
}

static json_t *kernel_json(const cute_kernel *k)
{
    json_t *value = json_object(), *args = json_array();
    json_object_set_new(value, "name", json_string(k->name));
    for (size_t i = 0; i < k->arg_count; i++) json_array_append_new(args, arg_json(&k->args[i]));
    json_object_set_new(value, "args", args);
    const struct {
        const char *key;
        const int64_t *extents;
    } shapes[] = {{"reqntid", k->reqntid},
                  {"maxntid", k->maxntid},
                  {"cluster", k->cluster},
                  {"grid", k->grid},
                  {"block", k->block}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (is_given(shapes[i].extents))
            json_object_set_new(value, shapes[i].key, extents(shapes[i].extents, 3));
    if (k->static_smem >= 0) json_object_set_new(value, "static_smem", json_integer(k->static_smem));
    if (k->dynamic_smem >= 0) json_object_set_new(value, "dynamic_smem", json_integer(k->dynamic_smem));
    if (k->resources.registers >= 0)
        json_object_set_new(value, "registers", json_integer(k->resources.registers));
    return value;
}

static void text_shape(const char *label, const int64_t *v, cute_buffer *out)
{
    if (is_given(v))
        cute_buffer_printf(out, "  %s %lldx%lldx%lld\n", label, (long long)v[0], (long long)v[1],
                           (long long)v[2]);
}

static void text_kernel(const cute_kernel *k, cute_buffer *out)
{
    cute_buffer_printf(out, "%s(", k->name);
    for (size_t i = 0; i < k->arg_count; i++) {
        const cute_arg *arg = &k->args[i];
        cute_buffer_printf(out, "%s%s", i ? ", " : "", arg->name);
        if (arg->type)
            cute_buffer_printf(out, ": %s", arg->type);
        else if (arg->size > 0)
            cute_buffer_printf(out, ": %lld bytes", (long long)arg->size);
    }
    cute_buffer_puts(out, ")\n");
    text_shape("block (required)", k->reqntid, out);
    text_shape("block (at most)", k->maxntid, out);
    text_shape("cluster", k->cluster, out);
    text_shape("grid", k->grid, out);
    if (!is_given(k->reqntid)) text_shape("block", k->block, out);
    if (k->static_smem > 0)
        cute_buffer_printf(out, "  static shared memory %lld bytes\n", (long long)k->static_smem);
    if (k->dynamic_smem > 0)
        cute_buffer_printf(out, "  dynamic shared memory %lld bytes\n", (long long)k->dynamic_smem);
    else if (k->uses_dynamic_smem)
        cute_buffer_puts(out, "  dynamic shared memory, its size chosen at the launch\n");
    if (k->resources.registers > 0)
        cute_buffer_printf(out, "  %lld registers\n", (long long)k->resources.registers);
}

char *cute_module_describe(const cute_module *module, bool json)
{
    cute_buffer out = {0};
    json_t *value = json_object(), *kernels = json_array();
    size_t count = cute_module_kernel_count(module);
    json_object_set_new(value, "arch", json_string(cute_module_arch(module)));
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(kernels, kernel_json(cute_module_kernel(module, i)));
        if (!json) text_kernel(cute_module_kernel(module, i), &out);
    }
    if (!json && count == 0) cute_buffer_puts(&out, "no kernels\n");
    json_object_set_new(value, "kernels", kernels);
    return finish(value, json, &out);
}

/* ---- a template ---- */

static json_t *template_shape(const cute_arg *arg)
{
    json_t *shape = json_array();
    for (size_t i = 0; i < arg->rank; i++)
        json_array_append_new(shape, arg->shape && arg->shape[i] != CUTE_DYNAMIC ? json_integer(arg->shape[i])
                                                                                 : json_string("n"));
    if (arg->rank == 0) json_array_append_new(shape, json_string("n"));
    return shape;
}

static void template_arg(const cute_arg *arg, json_t *args, json_t *buffers, json_t *outputs)
{
    const char *dtype = arg->dtype ? arg->dtype : "f32";
    bool is_float = dtype[0] != 'i' && dtype[0] != 'u';
    if (arg->kind == CUTE_ARG_SCALAR) {
        json_t *scalar = json_object();
        json_object_set_new(scalar, "type", json_string(dtype));
        json_object_set_new(scalar, "value", is_float ? json_real(1.0) : json_string("n"));
        json_array_append_new(args, scalar);
        return;
    }
    if (arg->kind == CUTE_ARG_STRUCT) {
        json_t *value = json_object(), *fields = json_object();
        for (size_t i = 0; i < arg->field_count; i++)
            json_object_set_new(fields, arg->fields[i].name ? arg->fields[i].name : "?", json_integer(0));
        json_object_set_new(value, "struct", fields);
        json_array_append_new(args, value);
        return;
    }
    if (arg->kind == CUTE_ARG_UNKNOWN && arg->size > 0 && arg->size != 8) {
        json_t *scalar = json_object();
        json_object_set_new(scalar, "type",
                            json_string(arg->size == 1   ? "i8"
                                        : arg->size == 2 ? "i16"
                                                         : "i32"));
        json_object_set_new(scalar, "value", json_string("n"));
        json_array_append_new(args, scalar);
        return;
    }
    json_t *buffer = json_object();
    json_object_set_new(buffer, "dtype", json_string(dtype));
    json_object_set_new(buffer, "shape", template_shape(arg));
    if (arg->writes && !arg->reads)
        json_object_set_new(outputs, arg->name, json_string("stats"));
    else
        json_object_set_new(buffer, "init", json_string(is_float ? "normal" : "iota"));
    json_object_set_new(buffers, arg->name, buffer);
    json_array_append_new(args, json_string(arg->name));
}

char *cute_launch_template(const cute_kernel *kernel)
{
    cute_buffer out = {0};
    json_t *value = json_object(), *params = json_object(), *args = json_array(), *buffers = json_object(),
           *outputs = json_object();
    const int64_t *block = is_given(kernel->reqntid) ? kernel->reqntid
                           : is_given(kernel->block) ? kernel->block
                                                     : NULL;
    for (size_t i = 0; i < kernel->arg_count; i++) template_arg(&kernel->args[i], args, buffers, outputs);
    json_object_set_new(params, "n", json_integer(1024));
    json_object_set_new(value, "kernel", json_string(kernel->name));
    json_object_set_new(value, "params", params);
    json_t *grid = json_array();
    json_array_append_new(grid, json_string("ceil_div(n, 256)"));
    json_object_set_new(value, "grid", is_given(kernel->grid) ? extents(kernel->grid, 3) : json_incref(grid));
    json_decref(grid);
    json_object_set_new(value, "block", block ? extents(block, 3) : json_integer(256));
    if (kernel->uses_dynamic_smem || kernel->dynamic_smem > 0)
        json_object_set_new(value, "dynamic_smem",
                            json_integer(kernel->dynamic_smem > 0 ? kernel->dynamic_smem : 0));
    json_object_set_new(value, "buffers", buffers);
    json_object_set_new(value, "args", args);
    json_object_set_new(value, "outputs", outputs);
    return finish(value, true, &out);
}

/* ---- devices ---- */

static json_t *device_json(const cute_device_info *d)
{
    const struct {
        const char *key;
        int64_t value;
    } numbers[] = {
        {"multiprocessors", d->multiprocessors},
        {"memory_bytes", d->memory},
        {"l2_bytes", d->l2},
        {"shared_memory_per_block", d->shared_block},
        {"shared_memory_per_block_optin", d->shared_optin},
        {"shared_memory_per_multiprocessor", d->shared_multiprocessor},
        {"registers_per_block", d->registers_block},
        {"registers_per_multiprocessor", d->registers_multiprocessor},
        {"threads_per_block", d->threads_block},
        {"threads_per_multiprocessor", d->threads_multiprocessor},
        {"blocks_per_multiprocessor", d->blocks_multiprocessor},
        {"warp_size", d->warp_size},
        {"clock_khz", d->clock},
        {"memory_clock_khz", d->memory_clock},
        {"memory_bus_bits", d->bus_width},
        {"driver_version", d->driver_version},
    };
    json_t *value = json_object();
    json_object_set_new(value, "index", json_integer(d->index));
    json_object_set_new(value, "kind", json_string(d->kind));
    json_object_set_new(value, "name", json_string(d->name));
    json_object_set_new(value, "arch", json_string(d->arch));
    json_object_set_new(value, "compute_capability", json_sprintf("%d.%d", d->major, d->minor));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        json_object_set_new(value, numbers[i].key, json_integer(numbers[i].value));
    json_object_set_new(value, "grid_limit", extents(d->grid_limit, 3));
    json_object_set_new(value, "block_limit", extents(d->block_limit, 3));
    json_object_set_new(value, "cooperative_launch", json_boolean(d->cooperative));
    json_object_set_new(value, "clusters", json_boolean(d->clusters));
    json_object_set_new(value, "tensor_maps", json_boolean(d->tensor_maps));
    json_object_set_new(value, "ecc", json_boolean(d->ecc));
    json_object_set_new(value, "pci",
                        json_sprintf("%04x:%02x:%02x.0", d->pci_domain, d->pci_bus, d->pci_device));
    return value;
}

static void text_device(const cute_device_info *d, cute_buffer *out)
{
    cute_buffer_printf(out, "device %d: %s, compute capability %d.%d (%s), driver for CUDA %d.%d\n", d->index,
                       d->name, d->major, d->minor, d->arch, d->driver_version / 1000,
                       d->driver_version % 1000 / 10);
    cute_buffer_printf(out, "  %lld multiprocessors at %lld MHz, %lld threads and %lld registers each\n",
                       (long long)d->multiprocessors, (long long)d->clock / 1000,
                       (long long)d->threads_multiprocessor, (long long)d->registers_multiprocessor);
    cute_buffer_printf(out, "  %.1f GiB of memory, %lld bits at %lld MHz: %.0f GB/s at best; L2 %.0f MiB%s\n",
                       (double)d->memory / (1 << 30), (long long)d->bus_width,
                       (long long)d->memory_clock / 1000,
                       2e3 * (double)d->memory_clock * (double)d->bus_width / 8 * 1e-9,
                       (double)d->l2 / (1 << 20), d->ecc ? ", ECC" : "");
    cute_buffer_printf(out, "  shared memory: %lld bytes a block, %lld on request, %lld a multiprocessor\n",
                       (long long)d->shared_block, (long long)d->shared_optin,
                       (long long)d->shared_multiprocessor);
    cute_buffer_printf(out, "  %s clusters, %s tensor maps, %s cooperative launches\n",
                       d->clusters ? "has" : "no", d->tensor_maps ? "has" : "no",
                       d->cooperative ? "has" : "no");
}

char *cute_device_describe(const cute_device_info *devices, size_t count, bool json)
{
    cute_buffer out = {0};
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, device_json(&devices[i]));
        if (!json) text_device(&devices[i], &out);
    }
    if (!json && count == 0) cute_buffer_puts(&out, "no devices\n");
    return finish(list, json, &out);
}
