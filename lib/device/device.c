/* The public interface: forwards to the device's table. Owns nothing. */
#include "lib/device/device.h"

cute_status cute_device_count(int *out, cute_diag *diag)
{
    return cute_cuda_count(out, diag);
}

cute_status cute_device_query(int index, cute_device_info *out, cute_diag *diag)
{
    return cute_cuda_query(index, out, diag);
}

cute_status cute_device_open(int index, cute_device **out, cute_diag *diag)
{
    return cute_cuda_open(index, out, diag);
}

void cute_device_close(cute_device *device)
{
    if (device) device->ops->close(device);
}

const cute_device_info *cute_device_get_info(const cute_device *device)
{
    return &device->info;
}

cute_status cute_device_alloc(cute_device *device, size_t size, cute_address *out, cute_diag *diag)
{
    return device->ops->alloc(device, size, out, diag);
}

cute_status cute_device_free(cute_device *device, cute_address address, cute_diag *diag)
{
    return address ? device->ops->free(device, address, diag) : CUTE_OK;
}

cute_status cute_device_upload(cute_device *device, cute_address to, const void *from, size_t size,
                               cute_diag *diag)
{
    return size ? device->ops->upload(device, to, from, size, diag) : CUTE_OK;
}

cute_status cute_device_download(cute_device *device, void *to, cute_address from, size_t size,
                                 cute_diag *diag)
{
    return size ? device->ops->download(device, to, from, size, diag) : CUTE_OK;
}

cute_status cute_device_copy(cute_device *device, cute_address to, cute_address from, size_t size,
                             cute_diag *diag)
{
    return size ? device->ops->copy(device, to, from, size, diag) : CUTE_OK;
}

cute_status cute_device_fill(cute_device *device, cute_address to, uint8_t byte, size_t size, cute_diag *diag)
{
    return size ? device->ops->fill(device, to, byte, size, diag) : CUTE_OK;
}

cute_status cute_device_load(cute_device *device, const void *image, cute_device_module **out,
                             cute_diag *diag)
{
    return device->ops->load(device, image, out, diag);
}

cute_status cute_device_get_function(cute_device *device, cute_device_module *module, const char *name,
                                     cute_device_function **out, cute_diag *diag)
{
    return device->ops->get_function(device, module, name, out, diag);
}

cute_status cute_device_function_info(cute_device *device, cute_device_function *function,
                                      cute_function_info *out, cute_diag *diag)
{
    return device->ops->function_info(device, function, out, diag);
}

bool cute_device_param_size(cute_device *device, cute_device_function *function, size_t index, size_t *size)
{
    return device->ops->param_size(device, function, index, size);
}

cute_status cute_device_prepare(cute_device *device, cute_device_function *function,
                                const cute_device_launch *launch, cute_diag *diag)
{
    return device->ops->prepare(device, function, launch, diag);
}

cute_status cute_device_start(cute_device *device, cute_device_function *function,
                              const cute_device_launch *launch, void *const *params, cute_diag *diag)
{
    return device->ops->start(device, function, launch, params, diag);
}

cute_status cute_device_encode_map(cute_device *device, const cute_tensor_map *map,
                                   uint8_t out[CUTE_MAP_BYTES], cute_diag *diag)
{
    return device->ops->encode_map(device, map, out, diag);
}

cute_status cute_device_sync(cute_device *device, cute_diag *diag)
{
    return device->ops->sync(device, diag);
}

cute_status cute_device_event_create(cute_device *device, cute_device_event **out, cute_diag *diag)
{
    return device->ops->event_create(device, out, diag);
}

cute_status cute_device_event_record(cute_device *device, cute_device_event *event, cute_diag *diag)
{
    return device->ops->event_record(device, event, diag);
}

cute_status cute_device_elapsed(cute_device *device, cute_device_event *from, cute_device_event *to,
                                double *seconds, cute_diag *diag)
{
    return device->ops->elapsed(device, from, to, seconds, diag);
}

cute_status cute_device_graph_begin(cute_device *device, cute_diag *diag)
{
    return device->ops->graph_begin(device, diag);
}

cute_status cute_device_graph_end(cute_device *device, cute_device_graph **out, cute_diag *diag)
{
    return device->ops->graph_end(device, out, diag);
}

cute_status cute_device_graph_start(cute_device *device, cute_device_graph *graph, cute_diag *diag)
{
    return device->ops->graph_start(device, graph, diag);
}
