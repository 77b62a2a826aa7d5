/* The CUDA device: opens the driver with dlopen, turns its errors into messages, and keeps a context and a
 * stream per device. Owns all handles until the device is closed. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/base/system/library.h"
#include "lib/device/cuda_texture.h"
#include "lib/device/device.h"
#include "lib/numeric/texture.h"

enum { JIT_LOG_BYTES = 16384, DEFAULT_DYNAMIC_SMEM = 48 * 1024, PORTABLE_CLUSTER = 8 };

typedef enum owned_kind {
    OWNED_MODULE,
    OWNED_EVENT,
    OWNED_GRAPH,
    OWNED_STREAM,
    OWNED_MEMORY,
    OWNED_TEXTURE
} owned_kind;

typedef struct owned {
    struct owned *next;
    owned_kind kind;
    uintptr_t handle; /* the driver's handle; a cuda_stream or cuda_texture; the address of memory */
} owned;

typedef struct cuda_stream {
    cute_stream base;
    cu_stream handle;
} cuda_stream;

typedef struct cuda_device {
    cute_device base;
    void *library;
    cuda_api api;
    cu_device device;
    cu_context context;
    cu_stream stream;
    owned *things;
} cuda_device;

static cuda_device *cuda(cute_device *device)
{
    return (cuda_device *)device;
}

static cu_stream handle_of(const cute_device *device, const cute_stream *stream)
{
    return stream ? ((const cuda_stream *)stream)->handle : ((const cuda_device *)device)->stream;
}

/* ---- errors ---- */

/* Results that mean that the machine lacks something: out of memory, not initialised, a stub, an old driver,
 * a device in use, no device, an invalid device, failing memory, no PTX compiler, no fabric manager,
 * mismatched libraries. The other results are errors of a launch. lib/base/diagnostics/causes.def has the
 * remedies. */
static const cu_result lacking[] = {2, 3, 34, 36, 46, 100, 101, 214, 221, 802, 803, 804};

static cute_status driver_error(const cuda_api *api, cu_result result, const char *doing, cute_diag *diag)
{
    const char *name = NULL, *text = NULL;
    if (api->error_name(result, &name) != 0 || !name) name = "an unknown error";
    if (api->error_string(result, &text) != 0 || !text) text = "no description";
    cute_status status = CUTE_INVALID;
    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++)
        if (lacking[i] == result) status = CUTE_SYSTEM;
    cute_fail(diag, status, NULL, "%s: %s (%d): %s", doing, name, result, text);
    int version = 0;
    if (api->driver_version(&version) == 0 && version > 0) {
        char cuda[32];
        snprintf(cuda, sizeof cuda, "CUDA %d.%d", version / 1000, version % 1000 / 10);
        cute_diag_know(diag, CUTE_FACT_TOOLKIT_VERSION, cuda);
    }
    return status;
}

/* Calls the driver; on failure returns an error with `doing` in its message. */
#define DRIVER(d, call, doing)                                                                               \
    do {                                                                                                     \
        cu_result result_ = (d)->api.call;                                                                   \
        if (result_ != 0) return driver_error(&(d)->api, result_, doing, diag);                              \
    } while (0)

static cute_status fail_unsupported(const char *what, cute_diag *diag)
{
    return cute_fail(diag, CUTE_SYSTEM, NULL, "this driver is too old for %s", what);
}

/* ---- opening ---- */

static cute_status open_library(void **library, cuda_api *api, cute_diag *diag)
{
    cute_buffer reasons = {0};
    const char *path;
    *library = cute_driver_open(&path, &reasons);
    if (!*library) {
        cute_fail(diag, CUTE_SYSTEM, NULL, "no CUDA driver: cannot open %s", path);
        cute_library_notes(&reasons, diag);
        cute_note(diag, NULL,
                  cute_driver_is_named()
                      ? "the path comes from CUTE_LIBCUDA"
                      : "install the NVIDIA driver, or set CUTE_LIBCUDA to its libcuda.so.1");
        return CUTE_SYSTEM;
    }
    cute_buffer_release(&reasons);
    cute_diag_know(diag, CUTE_FACT_TOOLKIT, path);
    void *symbol;
#define F(field, name, needed, args)                                                                         \
    symbol = dlsym(*library, name);                                                                          \
    memcpy(&api->field, &symbol, sizeof symbol);                                                             \
    if (needed && !symbol) {                                                                                 \
        dlclose(*library);                                                                                   \
        *library = NULL;                                                                                     \
        return cute_fail(diag, CUTE_SYSTEM, NULL,                                                            \
                         "%s lacks %s: the driver is too old (expected CUDA 12 or later)", path, name);      \
    }
#include "lib/device/cuda_api.def"
#undef F
    cu_result result = api->init(0);
    if (result == 0) return CUTE_OK;
    cute_status status = driver_error(api, result, "cuInit", diag);
    dlclose(*library);
    *library = NULL;
    return status == CUTE_INVALID ? CUTE_SYSTEM : status;
}

typedef struct attribute_field {
    int attribute;
    size_t offset;
} attribute_field;

#define FIELD(attribute, member) {attribute, offsetof(cute_device_info, member)}
static const attribute_field attribute_fields[] = {
    FIELD(CU_DEV_MULTIPROCESSORS, multiprocessors),
    FIELD(CU_DEV_SHARED_BLOCK, shared_block),
    FIELD(CU_DEV_SHARED_OPTIN, shared_optin),
    FIELD(CU_DEV_SHARED_RESERVED, shared_reserved),
    FIELD(CU_DEV_SHARED_MULTIPROCESSOR, shared_multiprocessor),
    FIELD(CU_DEV_REGISTERS_BLOCK, registers_block),
    FIELD(CU_DEV_REGISTERS_MULTIPROCESSOR, registers_multiprocessor),
    FIELD(CU_DEV_MAX_THREADS_PER_BLOCK, threads_block),
    FIELD(CU_DEV_THREADS_MULTIPROCESSOR, threads_multiprocessor),
    FIELD(CU_DEV_BLOCKS_MULTIPROCESSOR, blocks_multiprocessor),
    FIELD(CU_DEV_MAX_BLOCK_X, block_limit[0]),
    FIELD(CU_DEV_MAX_BLOCK_Y, block_limit[1]),
    FIELD(CU_DEV_MAX_BLOCK_Z, block_limit[2]),
    FIELD(CU_DEV_MAX_GRID_X, grid_limit[0]),
    FIELD(CU_DEV_MAX_GRID_Y, grid_limit[1]),
    FIELD(CU_DEV_MAX_GRID_Z, grid_limit[2]),
    FIELD(CU_DEV_WARP_SIZE, warp_size),
    FIELD(CU_DEV_L2, l2),
    FIELD(CU_DEV_CLOCK, clock),
    FIELD(CU_DEV_MEMORY_CLOCK, memory_clock),
    FIELD(CU_DEV_BUS_WIDTH, bus_width),
};
#undef FIELD

static int read_attribute(const cuda_api *api, cu_device device, int which)
{
    int value = 0;
    return api->device_attribute(&value, which, device) == 0 ? value : 0;
}

static cute_status read_info(const cuda_api *api, int index, cu_device *device, cute_device_info *info,
                             cute_diag *diag)
{
    int count = 0;
    cu_result result = api->device_count(&count);
    if (result != 0) return driver_error(api, result, "counting the devices", diag);
    if (index < 0 || index >= count)
        return cute_fail(diag, CUTE_SYSTEM, NULL, "no device %d: the driver reports %d device%s", index,
                         count, count == 1 ? "" : "s");
    result = api->device_get(device, index);
    if (result != 0) return driver_error(api, result, "opening the device", diag);
    memset(info, 0, sizeof *info);
    info->size = sizeof *info;
    info->kind = "cuda";
    info->index = index;
    size_t memory = 0;
    if (api->device_name(info->name, (int)sizeof info->name, *device) != 0) info->name[0] = '\0';
    if (api->device_memory(&memory, *device) == 0) info->memory = (int64_t)memory;
    if (api->driver_version(&info->driver_version) != 0) info->driver_version = 0;
    for (size_t i = 0; i < sizeof attribute_fields / sizeof *attribute_fields; i++) {
        int64_t value = read_attribute(api, *device, attribute_fields[i].attribute);
        memcpy((char *)info + attribute_fields[i].offset, &value, sizeof value);
    }
    info->major = read_attribute(api, *device, CU_DEV_MAJOR);
    info->minor = read_attribute(api, *device, CU_DEV_MINOR);
    snprintf(info->arch, sizeof info->arch, "sm_%d%d", info->major, info->minor);
    cute_diag_know(diag, CUTE_FACT_ARCHITECTURE, info->arch);
    info->cooperative = read_attribute(api, *device, CU_DEV_COOPERATIVE) != 0;
    info->clusters = read_attribute(api, *device, CU_DEV_CLUSTERS) != 0;
    info->tensor_maps = read_attribute(api, *device, CU_DEV_TENSOR_MAPS) != 0;
    info->ecc = read_attribute(api, *device, CU_DEV_ECC) != 0;
    info->pci_domain = read_attribute(api, *device, CU_DEV_PCI_DOMAIN);
    info->pci_bus = read_attribute(api, *device, CU_DEV_PCI_BUS);
    info->pci_device = read_attribute(api, *device, CU_DEV_PCI_DEVICE);
    return CUTE_OK;
}

cute_status cute_cuda_count(int *out, cute_diag *diag)
{
    void *library;
    cuda_api api;
    *out = 0;
    CUTE_TRY(open_library(&library, &api, diag));
    cu_result result = api.device_count(out);
    cute_status status = result == 0 ? CUTE_OK : driver_error(&api, result, "counting the devices", diag);
    dlclose(library);
    return status;
}

cute_status cute_cuda_query(int index, cute_device_info *out, cute_diag *diag)
{
    void *library;
    cuda_api api;
    cu_device device;
    CUTE_TRY(open_library(&library, &api, diag));
    cute_status status = read_info(&api, index, &device, out, diag);
    dlclose(library);
    return status;
}

static const cute_device_ops cuda_ops;

static cute_status open_context(cuda_device *d, cute_diag *diag)
{
    DRIVER(d, context_retain(&d->context, d->device), "creating a context");
    DRIVER(d, context_set(d->context), "creating a context");
    DRIVER(d, stream_create(&d->stream, CU_STREAM_NON_BLOCKING), "creating a stream");
    return CUTE_OK;
}

static cute_status cuda_enter(cute_device *device, cute_diag *diag)
{
    DRIVER(cuda(device), context_set(cuda(device)->context), "using the device");
    return CUTE_OK;
}

/* ---- ownership of handles ---- */

static cute_status own_handle(cuda_device *d, owned_kind kind, uintptr_t handle, cute_diag *diag)
{
    owned *thing = malloc(sizeof *thing);
    if (!thing) return cute_fail_memory(diag);
    *thing = (owned){d->things, kind, handle};
    d->things = thing;
    return CUTE_OK;
}

static cu_result release_handle(cuda_device *d, owned_kind kind, uintptr_t handle)
{
    cuda_stream *stream = (cuda_stream *)handle;
    cu_result result = 0;
    switch (kind) {
    case OWNED_MODULE: return d->api.module_unload((cu_module)handle);
    case OWNED_EVENT: return d->api.event_destroy((cu_event)handle);
    case OWNED_GRAPH: return d->api.graph_exec_destroy((cu_graph_exec)handle);
    case OWNED_MEMORY: return d->api.free(handle);
    case OWNED_TEXTURE:
        result = cute_cuda_texture_release(&d->api, (cuda_texture *)handle);
        free((void *)handle);
        return result;
    case OWNED_STREAM:
        result = d->api.stream_sync(stream->handle);
        d->api.stream_destroy(stream->handle);
        free(stream);
    }
    return result;
}

/* False: not a handle of this device. */
static bool disown_handle(cuda_device *d, owned_kind kind, uintptr_t handle)
{
    for (owned **at = &d->things; *at; at = &(*at)->next) {
        owned *thing = *at;
        if (thing->kind != kind || thing->handle != handle) continue;
        *at = thing->next;
        free(thing);
        return true;
    }
    return false;
}

static void cuda_close(cute_device *device)
{
    cuda_device *d = cuda(device);
    for (owned *thing = d->things, *next; thing; thing = next) {
        next = thing->next;
        release_handle(d, thing->kind, thing->handle);
        free(thing);
    }
    if (d->stream) d->api.stream_destroy(d->stream);
    if (d->context) d->api.context_release(d->device);
    if (d->library) dlclose(d->library);
    free(d);
}

cute_status cute_cuda_open(int index, cute_device **out, cute_diag *diag)
{
    *out = NULL;
    cuda_device *d = calloc(1, sizeof *d);
    if (!d) return cute_fail_memory(diag);
    d->base.ops = &cuda_ops;
    cute_status status = open_library(&d->library, &d->api, diag);
    if (status == CUTE_OK) status = read_info(&d->api, index, &d->device, &d->base.info, diag);
    if (status == CUTE_OK) status = open_context(d, diag);
    if (status != CUTE_OK) {
        cuda_close(&d->base);
        return status;
    }
    *out = &d->base;
    return CUTE_OK;
}

/* ---- memory ---- */

static cute_status cuda_alloc(cute_device *device, size_t size, cute_address *out, cute_diag *diag)
{
    cu_address address = 0;
    cu_result result = cuda(device)->api.alloc(&address, size ? size : 1);
    if (result != 0) {
        char doing[64];
        snprintf(doing, sizeof doing, "allocating %zu bytes on the device", size);
        return driver_error(&cuda(device)->api, result, doing, diag);
    }
    cute_status status = own_handle(cuda(device), OWNED_MEMORY, address, diag);
    if (status != CUTE_OK) cuda(device)->api.free(address);
    *out = address;
    return status;
}

static cute_status cuda_free(cute_device *device, cute_address address, cute_diag *diag)
{
    if (!disown_handle(cuda(device), OWNED_MEMORY, address))
        return cute_fail(diag, CUTE_INVALID, NULL, "freeing memory: 0x%llx was not allocated",
                         (unsigned long long)address);
    DRIVER(cuda(device), free(address), "freeing memory");
    return CUTE_OK;
}

static cute_status cuda_upload(cute_device *device, cute_stream *stream, cute_address to, const void *from,
                               size_t size, cute_diag *diag)
{
    DRIVER(cuda(device), upload(to, from, size, handle_of(device, stream)), "copying to the device");
    return CUTE_OK;
}

static cute_status cuda_download(cute_device *device, cute_stream *stream, void *to, cute_address from,
                                 size_t size, cute_diag *diag)
{
    DRIVER(cuda(device), download(to, from, size, handle_of(device, stream)), "copying from the device");
    return CUTE_OK;
}

static cute_status cuda_copy(cute_device *device, cute_stream *stream, cute_address to, cute_address from,
                             size_t size, cute_diag *diag)
{
    DRIVER(cuda(device), copy(to, from, size, handle_of(device, stream)), "copying on the device");
    return CUTE_OK;
}

static cute_status cuda_copy_rows(cute_device *device, cute_stream *stream, const cute_copy_rows *c,
                                  cute_diag *diag)
{
    const cuda_device *d = cuda(device);
    if (c->count == 1) return cuda_copy(device, stream, c->to, c->from, c->row, diag);
    if (!d->api.copy_3d) return fail_unsupported("copies at strides", diag);
    cu_copy_3d copy = {
        .from = {.memory = CU_MEMORY_DEVICE, .address = c->from, .pitch = c->from_pitch, .rows = c->count},
        .to = {.memory = CU_MEMORY_DEVICE, .address = c->to, .pitch = c->to_pitch, .rows = c->count},
        .row = c->row,
        .rows = c->count,
        .slices = 1};
    DRIVER(d, copy_3d(&copy, handle_of(device, stream)), "copying rows on the device");
    return CUTE_OK;
}

/* 8 bytes are two columns of 4 bytes each. */
static cute_status cuda_fill(cute_device *device, cute_stream *stream, cute_address to, uint64_t value,
                             int width, size_t size, cute_diag *diag)
{
    const cuda_api *api = &cuda(device)->api;
    cu_stream handle = handle_of(device, stream);
    static const char doing[] = "filling memory";
    if ((width == 2 && !api->fill_16) || (width == 4 && !api->fill_32) || (width == 8 && !api->fill_columns))
        return fail_unsupported(doing, diag);
    switch (width) {
    case 1: DRIVER(cuda(device), fill(to, (unsigned char)value, size, handle), doing); break;
    case 2: DRIVER(cuda(device), fill_16(to, (unsigned short)value, size / 2, handle), doing); break;
    case 4: DRIVER(cuda(device), fill_32(to, (unsigned)value, size / 4, handle), doing); break;
    default:
        DRIVER(cuda(device), fill_columns(to, 8, (unsigned)value, 1, size / 8, handle), doing);
        DRIVER(cuda(device), fill_columns(to + 4, 8, (unsigned)(value >> 32), 1, size / 8, handle), doing);
    }
    return CUTE_OK;
}

/* ---- code ---- */

static void log_lines(char *log, bool failed, cute_diag *diag)
{
    for (char *line = log; line && *line;) {
        char *end = strchr(line, '\n');
        if (end) *end = '\0';
        if (*line && failed)
            cute_note(diag, NULL, "%s", line);
        else if (*line)
            cute_report(diag, CUTE_REMARK, NULL, "%s", line);
        line = end ? end + 1 : NULL;
    }
}

static cute_status cuda_load(cute_device *device, const char *label, const void *image, size_t length,
                             cute_device_module **out, cute_diag *diag)
{
    (void)label, (void)length;
    cuda_device *d = cuda(device);
    char *logs = calloc(2, JIT_LOG_BYTES);
    if (!logs) return cute_fail_memory(diag);
    int options[] = {CU_JIT_INFO_LOG, CU_JIT_INFO_LOG_SIZE, CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_SIZE};
    void *size = (void *)(uintptr_t)(JIT_LOG_BYTES - 1);
    void *values[] = {logs, size, logs + JIT_LOG_BYTES, size};
    cu_module module = NULL;
    cu_result result = d->api.module_load(&module, image, 4, options, values);
    cute_status status = CUTE_OK;
    if (result != 0) status = driver_error(&d->api, result, "loading the module", diag);
    log_lines(logs + JIT_LOG_BYTES, result != 0, diag);
    log_lines(logs, result != 0, diag);
    free(logs);
    if (status == CUTE_OK) {
        status = own_handle(d, OWNED_MODULE, (uintptr_t)module, diag);
        if (status != CUTE_OK) d->api.module_unload(module);
    }
    *out = (cute_device_module *)module;
    return status;
}

static cute_status cuda_unload(cute_device *device, cute_device_module *module, cute_diag *diag)
{
    disown_handle(cuda(device), OWNED_MODULE, (uintptr_t)module);
    DRIVER(cuda(device), module_unload((cu_module)module), "unloading the module");
    return CUTE_OK;
}

static cute_status cuda_get_function(cute_device *device, cute_device_module *module, const char *name,
                                     cute_device_function **out, cute_diag *diag)
{
    cu_function function = NULL;
    cu_result result = cuda(device)->api.module_function(&function, (cu_module)module, name);
    if (result == CU_NOT_FOUND)
        return cute_fail(diag, CUTE_INVALID, NULL, "the driver finds no kernel '%s' in the module", name);
    if (result != 0) return driver_error(&cuda(device)->api, result, "looking up the kernel", diag);
    *out = (cute_device_function *)function;
    return CUTE_OK;
}

static cute_status cuda_get_global(cute_device *device, cute_device_module *module, const char *name,
                                   cute_address *out, size_t *size, cute_diag *diag)
{
    cu_address address = 0;
    cu_result result = cuda(device)->api.module_global(&address, size, (cu_module)module, name);
    if (result == CU_NOT_FOUND)
        return cute_fail(diag, CUTE_INVALID, NULL, "the driver finds no variable '%s' in the module", name);
    if (result != 0) return driver_error(&cuda(device)->api, result, "looking up the variable", diag);
    *out = address;
    return CUTE_OK;
}

static cute_status cuda_function_info(cute_device *device, cute_device_function *function,
                                      cute_function_info *out, cute_diag *diag)
{
    out->size = sizeof *out;
    static const int which[] = {CU_FUNC_REGISTERS,     CU_FUNC_SHARED,      CU_FUNC_LOCAL,
                                CU_FUNC_CONST,         CU_FUNC_MAX_THREADS, CU_FUNC_PTX_VERSION,
                                CU_FUNC_BINARY_VERSION};
    int64_t *const fields[] = {&out->registers,      &out->static_smem,   &out->local_bytes,
                               &out->constant_bytes, &out->threads_limit, &out->ptx_version,
                               &out->binary_version};
    for (size_t i = 0; i < sizeof which / sizeof *which; i++) {
        int value = 0;
        DRIVER(cuda(device), function_attribute(&value, which[i], (cu_function)function),
               "querying the kernel");
        *fields[i] = value;
    }
    return CUTE_OK;
}

static bool cuda_param_size(cute_device *device, cute_device_function *function, size_t index, size_t *size)
{
    size_t offset;
    const cuda_api *api = &cuda(device)->api;
    return api->function_param && api->function_param((cu_function)function, index, &offset, size) == 0;
}

static void fill_launch_config(const cuda_device *d, const cute_device_launch *launch,
                               cu_launch_attribute *attributes, cu_launch_config *config)
{
    unsigned count = 0;
    memset(attributes, 0, 3 * sizeof *attributes);
    if (launch->cluster[0] > 0) {
        attributes[count].id = CU_LAUNCH_CLUSTER;
        attributes[count].value.cluster.x = (unsigned)launch->cluster[0];
        attributes[count].value.cluster.y = (unsigned)launch->cluster[1];
        attributes[count++].value.cluster.z = (unsigned)launch->cluster[2];
    }
    if (launch->cooperative) {
        attributes[count].id = CU_LAUNCH_COOPERATIVE;
        attributes[count++].value.flag = 1;
    }
    if (launch->programmatic) {
        attributes[count].id = CU_LAUNCH_PROGRAMMATIC;
        attributes[count++].value.flag = 1;
    }
    *config = (cu_launch_config){
        .grid_x = (unsigned)launch->grid[0],
        .grid_y = (unsigned)launch->grid[1],
        .grid_z = (unsigned)launch->grid[2],
        .block_x = (unsigned)launch->block[0],
        .block_y = (unsigned)launch->block[1],
        .block_z = (unsigned)launch->block[2],
        .shared_bytes = (unsigned)launch->dynamic_smem,
        .stream = handle_of(&d->base, launch->stream),
        .attributes = count ? attributes : NULL,
        .attribute_count = count,
    };
}

static cute_status check_residency(cuda_device *d, cu_function f, const cute_device_launch *launch,
                                   cute_diag *diag)
{
    cu_launch_attribute attributes[3];
    cu_launch_config config;
    int64_t cluster = launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
    int fitting = 0;
    if (cluster > 1 && d->api.active_clusters) {
        fill_launch_config(d, launch, attributes, &config);
        DRIVER(d, active_clusters(&fitting, f, &config), "querying cluster occupancy of the launch");
        if (fitting == 0)
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "no cluster of %lldx%lldx%lld blocks with %lld bytes of dynamic shared memory "
                             "fits on the device",
                             (long long)launch->cluster[0], (long long)launch->cluster[1],
                             (long long)launch->cluster[2], (long long)launch->dynamic_smem);
    }
    if (launch->cooperative && d->api.active_blocks) {
        int threads = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
        int64_t blocks = launch->grid[0] * launch->grid[1] * launch->grid[2];
        DRIVER(d, active_blocks(&fitting, f, threads, (size_t)launch->dynamic_smem), "querying occupancy");
        if (blocks > fitting * d->base.info.multiprocessors)
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "a cooperative launch of %lld blocks does not fit: the device holds %lld at "
                             "once (%d on each of %lld multiprocessors)",
                             (long long)blocks, (long long)(fitting * d->base.info.multiprocessors), fitting,
                             (long long)d->base.info.multiprocessors);
    }
    return CUTE_OK;
}

/* Requests the shared memory and clusters of the launch; *fits: whether the shared memory is within the limit
 * per block. */
static cute_status request_attributes(cuda_device *d, cu_function f, const cute_device_launch *launch,
                                      int *fixed, bool *fits, cute_diag *diag)
{
    DRIVER(d, function_attribute(fixed, CU_FUNC_SHARED, f), "querying the kernel");
    int64_t limit = d->base.info.shared_optin;
    *fits = limit <= 0 || *fixed + launch->dynamic_smem <= limit;
    if (!*fits) return CUTE_OK;
    if (*fixed + launch->dynamic_smem > DEFAULT_DYNAMIC_SMEM)
        DRIVER(d, function_set(f, CU_FUNC_MAX_DYNAMIC_SHARED, (int)launch->dynamic_smem),
               "requesting shared memory");
    if (launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > PORTABLE_CLUSTER)
        DRIVER(d, function_set(f, CU_FUNC_NON_PORTABLE_CLUSTER, 1), "requesting a non-portable cluster size");
    return CUTE_OK;
}

static cute_status cuda_occupancy(cute_device *device, cute_device_function *function,
                                  const cute_device_launch *launch, int64_t *blocks, int64_t *clusters,
                                  cute_diag *diag)
{
    cuda_device *d = cuda(device);
    cu_function f = (cu_function)function;
    cu_launch_attribute attributes[3];
    cu_launch_config config;
    int fixed = 0, count = 0;
    bool fits;
    if (!d->api.active_blocks)
        return cute_fail(diag, CUTE_SYSTEM, NULL, "the driver is too old to report occupancy");
    *blocks = 0;
    *clusters = -1;
    CUTE_TRY(request_attributes(d, f, launch, &fixed, &fits, diag));
    if (!fits) return CUTE_OK;
    int threads = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
    DRIVER(d, active_blocks(&count, f, threads, (size_t)launch->dynamic_smem), "querying occupancy");
    *blocks = count;
    if (launch->cluster[0] < 1 || !d->api.active_clusters) return CUTE_OK;
    fill_launch_config(d, launch, attributes, &config);
    DRIVER(d, active_clusters(&count, f, &config), "querying cluster occupancy");
    *clusters = count;
    return CUTE_OK;
}

static cute_status cuda_prepare(cute_device *device, cute_device_function *function,
                                const cute_device_launch *launch, cute_diag *diag)
{
    cuda_device *d = cuda(device);
    cu_function f = (cu_function)function;
    int fixed = 0;
    bool fits;
    CUTE_TRY(request_attributes(d, f, launch, &fixed, &fits, diag));
    if (!fits)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "%d bytes of static and %lld bytes of dynamic shared memory exceed the limit of "
                         "%lld bytes per block of %s",
                         fixed, (long long)launch->dynamic_smem, (long long)d->base.info.shared_optin,
                         d->base.info.name);
    return check_residency(d, f, launch, diag);
}

static cute_status cuda_start(cute_device *device, cute_device_function *function,
                              const cute_device_launch *launch, void *const *params, cute_diag *diag)
{
    cu_launch_attribute attributes[3];
    cu_launch_config config;
    fill_launch_config(cuda(device), launch, attributes, &config);
    DRIVER(cuda(device), launch(&config, (cu_function)function, (void **)params, NULL),
           "launching the kernel");
    return CUTE_OK;
}

static cute_status cuda_encode_map(cute_device *device, const cute_tensor_map *map, uint8_t *out,
                                   cute_diag *diag)
{
    cuda_device *d = cuda(device);
    _Alignas(64) uint8_t bytes[CUTE_MAP_BYTES];
    if (map->im2col ? !d->api.encode_im2col : !d->api.encode_tiled)
        return fail_unsupported("tensor maps", diag);
    if (map->im2col) {
        DRIVER(d,
               encode_im2col(bytes, (int)map->type, (uint32_t)map->rank, (void *)(uintptr_t)map->address,
                             map->dims, map->strides, map->lower, map->upper, map->box[0], map->box[1],
                             map->element_strides, map->interleave, map->swizzle, map->l2_promotion,
                             map->fill),
               "encoding the tensor map");
        memcpy(out, bytes, sizeof bytes);
        return CUTE_OK;
    }
    DRIVER(d,
           encode_tiled(bytes, (int)map->type, (uint32_t)map->rank, (void *)(uintptr_t)map->address,
                        map->dims, map->strides, map->box, map->element_strides, map->interleave,
                        map->swizzle, map->l2_promotion, map->fill),
           "encoding the tensor map");
    memcpy(out, bytes, sizeof bytes);
    return CUTE_OK;
}

/* ---- textures ---- */

static cute_status cuda_texture_create(cute_device *device, const cute_texture *texture,
                                       cute_device_texture **out, uint64_t *handle, cute_diag *diag)
{
    cuda_device *d = cuda(device);
    const char *doing;
    if (!cute_cuda_has_textures(&d->api)) return fail_unsupported("textures and surfaces", diag);
    cuda_texture *t = calloc(1, sizeof *t);
    if (!t) return cute_fail_memory(diag);
    t->texture = *texture;
    cu_result result = cute_cuda_texture_make(&d->api, t, &doing);
    cute_status status = result == 0 ? own_handle(d, OWNED_TEXTURE, (uintptr_t)t, diag)
                                     : driver_error(&d->api, result, doing, diag);
    if (status != CUTE_OK) {
        release_handle(d, OWNED_TEXTURE, (uintptr_t)t);
        return status;
    }
    *out = (cute_device_texture *)t;
    *handle = t->object;
    return CUTE_OK;
}

static cute_status cuda_texture_destroy(cute_device *device, cute_device_texture *texture, cute_diag *diag)
{
    cuda_device *d = cuda(device);
    disown_handle(d, OWNED_TEXTURE, (uintptr_t)texture);
    cu_result result = release_handle(d, OWNED_TEXTURE, (uintptr_t)texture);
    return result == 0 ? CUTE_OK : driver_error(&d->api, result, "destroying a texture", diag);
}

static cute_status cuda_texture_move(cute_device *device, cute_stream *stream, cute_device_texture *texture,
                                     bool to_memory, cute_diag *diag)
{
    const cuda_device *d = cuda(device);
    cu_result result =
        cute_cuda_texture_move(&d->api, (const cuda_texture *)texture, to_memory, handle_of(device, stream));
    return result == 0 ? CUTE_OK : driver_error(&d->api, result, "copying between memory and an array", diag);
}

static cute_status cuda_sync(cute_device *device, cute_diag *diag)
{
    /* The context instead of the stream, to flush the kernels' printf buffer. */
    DRIVER(cuda(device), context_sync(), "running the kernel");
    return CUTE_OK;
}

/* ---- streams ---- */

static void *cuda_native_stream(cute_device *device, cute_stream *stream)
{
    return (void *)handle_of(device, stream);
}

static cute_status cuda_idle(cute_device *device, cute_stream *stream, bool *idle, cute_diag *diag)
{
    const cuda_device *d = cuda(device);
    cu_result result = d->api.stream_query ? d->api.stream_query(handle_of(device, stream)) : 0;
    *idle = result == 0;
    if (result == 0 || result == CU_NOT_READY) return CUTE_OK;
    return driver_error(&d->api, result, "running the kernel", diag);
}

/* The lowest number is the highest priority; a driver without priorities has plain streams. */
static cu_result create_stream(const cuda_api *api, bool urgent, cu_stream *out)
{
    int least = 0, greatest = 0;
    if (!urgent || !api->stream_urgent || !api->stream_priorities ||
        api->stream_priorities(&least, &greatest) != 0)
        return api->stream_create(out, CU_STREAM_NON_BLOCKING);
    return api->stream_urgent(out, CU_STREAM_NON_BLOCKING, greatest);
}

static cute_status make_stream(cute_device *device, bool urgent, cute_stream **out, cute_diag *diag)
{
    cuda_device *d = cuda(device);
    cuda_stream *stream = calloc(1, sizeof *stream);
    if (!stream) return cute_fail_memory(diag);
    stream->base.device = device;
    cu_result result = create_stream(&d->api, urgent, &stream->handle);
    cute_status status = result == 0 ? own_handle(d, OWNED_STREAM, (uintptr_t)stream, diag)
                                     : driver_error(&d->api, result, "creating a stream", diag);
    if (status == CUTE_OK) {
        *out = &stream->base;
        return CUTE_OK;
    }
    if (result == 0) d->api.stream_destroy(stream->handle);
    free(stream);
    return status;
}

static cute_status cuda_stream_create(cute_device *device, cute_stream **out, cute_diag *diag)
{
    return make_stream(device, false, out, diag);
}

static cute_status cuda_stream_create_urgent(cute_device *device, cute_stream **out, cute_diag *diag)
{
    return make_stream(device, true, out, diag);
}

static void cuda_stream_destroy(cute_stream *stream)
{
    cuda_device *d = cuda(stream->device);
    disown_handle(d, OWNED_STREAM, (uintptr_t)stream);
    release_handle(d, OWNED_STREAM, (uintptr_t)stream);
}

static cute_status cuda_stream_wait(cute_device *device, cute_stream *stream, cute_device_event *event,
                                    cute_diag *diag)
{
    if (!cuda(device)->api.stream_wait) return fail_unsupported("waiting for events", diag);
    DRIVER(cuda(device), stream_wait(handle_of(device, stream), (cu_event)event, 0), "waiting for an event");
    return CUTE_OK;
}

static cute_status cuda_stream_wait_count(cute_device *device, cute_stream *stream, cute_address counter,
                                          uint32_t count, cute_diag *diag)
{
    enum { AT_LEAST = 0 }; /* CU_STREAM_WAIT_VALUE_GEQ */
    if (!cuda(device)->api.stream_wait_count) return fail_unsupported("waiting for counters", diag);
    DRIVER(cuda(device), stream_wait_count(handle_of(device, stream), counter, count, AT_LEAST),
           "waiting for a counter");
    return CUTE_OK;
}

static cute_status cuda_stream_write_count(cute_device *device, cute_stream *stream, cute_address at,
                                           uint32_t value, cute_diag *diag)
{
    if (!cuda(device)->api.stream_write_count) return fail_unsupported("writing counters", diag);
    DRIVER(cuda(device), stream_write_count(handle_of(device, stream), at, value, 0), "writing a counter");
    return CUTE_OK;
}

/* ---- memory of several processes ---- */

static void cuda_share_free(cute_device *device, cute_address address, size_t size,
                            const cute_shared_name *name)
{
    (void)size, (void)name;
    cuda(device)->api.free(address);
}

/* A name is that of a whole piece of memory of the driver, which are of 2 MiB. */
static cute_status cuda_share_alloc(cute_device *device, size_t size, cute_address *address,
                                    cute_shared_name *name, cute_diag *diag)
{
    enum { PIECE = 2 << 20 };
    const cuda_api *api = &cuda(device)->api;
    cu_shared handle;
    cu_address memory = 0;
    if (!api->share_get || !api->share_open || !api->share_close)
        return fail_unsupported("memory of several processes", diag);
    size = (size + PIECE - 1) / PIECE * PIECE;
    DRIVER(cuda(device), alloc(&memory, size), "allocating memory of several processes");
    cu_result result = api->fill(memory, 0, size, cuda(device)->stream);
    if (result == 0) result = api->stream_sync(cuda(device)->stream);
    if (result == 0) result = api->share_get(&handle, memory);
    if (result != 0) {
        api->free(memory);
        return driver_error(api, result, "sharing memory", diag);
    }
    memcpy(name->bytes, handle.bytes, sizeof handle.bytes);
    *address = memory;
    return CUTE_OK;
}

static cute_status cuda_share_reach(cute_device *device, const cute_shared_name *name, size_t size,
                                    cute_address *address, cute_diag *diag)
{
    enum { PEER_ACCESS = 1 }; /* CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS */
    cu_shared handle;
    cu_address memory = 0;
    (void)size;
    memcpy(handle.bytes, name->bytes, sizeof handle.bytes);
    DRIVER(cuda(device), share_open(&memory, handle, PEER_ACCESS), "opening the memory of another process");
    *address = memory;
    return CUTE_OK;
}

static void cuda_share_leave(cute_device *device, cute_address address, size_t size)
{
    (void)size;
    cuda(device)->api.share_close(address);
}

static cute_status cuda_stream_sync(cute_device *device, cute_stream *stream, cute_diag *diag)
{
    DRIVER(cuda(device), stream_sync(handle_of(device, stream)), "synchronizing with a stream");
    return CUTE_OK;
}

/* ---- time ---- */

static cute_status cuda_event_create(cute_device *device, cute_device_event **out, cute_diag *diag)
{
    cuda_device *d = cuda(device);
    cu_event event = NULL;
    DRIVER(d, event_create(&event, 0), "creating an event");
    cute_status status = own_handle(d, OWNED_EVENT, (uintptr_t)event, diag);
    if (status != CUTE_OK) d->api.event_destroy(event);
    *out = (cute_device_event *)event;
    return status;
}

static cute_status cuda_event_record(cute_device *device, cute_stream *stream, cute_device_event *event,
                                     cute_diag *diag)
{
    DRIVER(cuda(device), event_record((cu_event)event, handle_of(device, stream)), "recording an event");
    return CUTE_OK;
}

static cute_status cuda_elapsed(cute_device *device, cute_device_event *from, cute_device_event *to,
                                double *seconds, cute_diag *diag)
{
    float milliseconds = 0;
    DRIVER(cuda(device), event_elapsed(&milliseconds, (cu_event)from, (cu_event)to),
           "reading the elapsed time");
    *seconds = milliseconds * 1e-3;
    return CUTE_OK;
}

static cute_status cuda_graph_begin(cute_device *device, cute_diag *diag)
{
    const cuda_api *api = &cuda(device)->api;
    if (!api->capture_begin || !api->capture_end || !api->graph_instantiate || !api->graph_launch ||
        !api->graph_destroy || !api->graph_exec_destroy)
        return fail_unsupported("graphs", diag);
    DRIVER(cuda(device), capture_begin(cuda(device)->stream, CU_CAPTURE_RELAXED), "capturing a graph");
    return CUTE_OK;
}

static cute_status cuda_graph_end(cute_device *device, cute_device_graph **out, cute_diag *diag)
{
    cuda_device *d = cuda(device);
    cu_graph graph = NULL;
    cu_graph_exec exec = NULL;
    DRIVER(d, capture_end(d->stream, &graph), "capturing a graph");
    cu_result result = d->api.graph_instantiate(&exec, graph, 0);
    d->api.graph_destroy(graph);
    if (result != 0) return driver_error(&d->api, result, "instantiating a graph", diag);
    cute_status status = own_handle(d, OWNED_GRAPH, (uintptr_t)exec, diag);
    if (status != CUTE_OK) d->api.graph_exec_destroy(exec);
    *out = (cute_device_graph *)exec;
    return status;
}

static cute_status cuda_graph_start(cute_device *device, cute_device_graph *graph, cute_diag *diag)
{
    DRIVER(cuda(device), graph_launch((cu_graph_exec)graph, cuda(device)->stream), "launching a graph");
    return CUTE_OK;
}

static const cute_device_ops cuda_ops = {
    .kind = "cuda",
    .enter = cuda_enter,
    .close = cuda_close,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .upload = cuda_upload,
    .download = cuda_download,
    .copy = cuda_copy,
    .copy_rows = cuda_copy_rows,
    .fill = cuda_fill,
    .load = cuda_load,
    .unload = cuda_unload,
    .get_function = cuda_get_function,
    .get_global = cuda_get_global,
    .function_info = cuda_function_info,
    .param_size = cuda_param_size,
    .prepare = cuda_prepare,
    .occupancy = cuda_occupancy,
    .start = cuda_start,
    .encode_map = cuda_encode_map,
    .texture_create = cuda_texture_create,
    .texture_destroy = cuda_texture_destroy,
    .texture_move = cuda_texture_move,
    .sync = cuda_sync,
    .stream_create = cuda_stream_create,
    .stream_create_urgent = cuda_stream_create_urgent,
    .stream_destroy = cuda_stream_destroy,
    .stream_wait = cuda_stream_wait,
    .stream_wait_count = cuda_stream_wait_count,
    .stream_write_count = cuda_stream_write_count,
    .share_alloc = cuda_share_alloc,
    .share_reach = cuda_share_reach,
    .share_leave = cuda_share_leave,
    .share_free = cuda_share_free,
    .stream_sync = cuda_stream_sync,
    .event_create = cuda_event_create,
    .event_record = cuda_event_record,
    .elapsed = cuda_elapsed,
    .graph_begin = cuda_graph_begin,
    .graph_end = cuda_graph_end,
    .graph_start = cuda_graph_start,
    .native_stream = cuda_native_stream,
    .idle = cuda_idle,
};
