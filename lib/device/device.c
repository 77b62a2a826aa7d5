/* The public interface: opens devices by name, reads callers' structs, checks images, and calls the device's
 * functions. */
#include "lib/device/device.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/abi.h"
#include "lib/base/system/library.h"
#include "lib/numeric/texture.h"

enum { MAX_DEVICE_INDEX = 1023 };

/* ---- opening ---- */

cute_status cute_device_parse_name(const char *name, cute_device_kind *kind, int *index, cute_diag *diag)
{
    *index = 0;
    *kind = CUTE_DEVICE_ANY;
    if (!name || !*name || strcmp(name, "any") == 0) return CUTE_OK;
    *kind = CUTE_DEVICE_EMULATOR;
    if (strcmp(name, "emulator") == 0) return CUTE_OK;
    *kind = CUTE_DEVICE_CUDA;
    if (strcmp(name, "cuda") == 0) return CUTE_OK;
    const char *digits = strncmp(name, "cuda:", 5) == 0 ? name + 5 : name;
    char *end;
    long number = strtol(digits, &end, 10);
    if (end == digits || *end)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "expected a device's number, 'cuda:N' or 'emulator', got '%s'", name);
    if (number < 0 || number > MAX_DEVICE_INDEX)
        return cute_fail(diag, CUTE_USAGE, NULL, "no device %ld", number);
    *index = (int)number;
    return CUTE_OK;
}

/* CUTE_LIBCUDA is an explicit request for the driver. */
static bool have_gpu(void)
{
    int count;
    return cute_driver_is_named() || (cute_cuda_count(&count, NULL) == CUTE_OK && count > 0);
}

static cute_status find_kind(const char *name, cute_device_kind *kind, int *index, cute_diag *diag)
{
    CUTE_TRY(cute_device_parse_name(name, kind, index, diag));
    if (*kind == CUTE_DEVICE_ANY) *kind = have_gpu() ? CUTE_DEVICE_CUDA : CUTE_DEVICE_EMULATOR;
    return CUTE_OK;
}

cute_status cute_device_open_with(const char *name, const cute_emulator_options *options, cute_device **out,
                                  cute_diag *diag)
{
    cute_device_kind kind;
    int index;
    *out = NULL;
    CUTE_TRY(find_kind(name, &kind, &index, diag));
    return kind == CUTE_DEVICE_EMULATOR ? cute_emulator_open(options, out, diag)
                                        : cute_cuda_open(index, out, diag);
}

cute_status cute_device_find(const char *name, const cute_emulator_options *options, cute_device_info *out,
                             cute_diag *diag)
{
    cute_device_kind kind;
    cute_device *emulator;
    int index;
    CUTE_TRY(find_kind(name, &kind, &index, diag));
    if (kind == CUTE_DEVICE_CUDA) return cute_cuda_query(index, out, diag);
    CUTE_TRY(cute_emulator_open(options, &emulator, diag));
    *out = emulator->info;
    cute_device_close(emulator);
    return CUTE_OK;
}

cute_status cute_device_open(const char *name, cute_device **out, cute_diag *diag)
{
    return cute_device_open_with(name, NULL, out, diag);
}

cute_status cute_device_count(int *out, cute_diag *diag)
{
    return cute_cuda_count(out, diag);
}

cute_status cute_device_query(int index, cute_device_info *out, cute_diag *diag)
{
    cute_device_info info;
    CUTE_TRY(cute_cuda_query(index, &info, diag));
    return cute_struct_write(out, &info, sizeof info, "cute_device_info", diag);
}

/* Makes the device current for the calling thread. */
static cute_status enter_device(cute_device *device, cute_diag *diag)
{
    return device->ops->enter ? device->ops->enter(device, diag) : CUTE_OK;
}

void cute_device_close(cute_device *device)
{
    if (!device) return;
    enter_device(device, NULL);
    device->ops->close(device);
}

const cute_device_info *cute_device_get_info(const cute_device *device)
{
    return &device->info;
}

/* ---- memory ---- */

cute_status cute_device_alloc(cute_device *device, size_t size, cute_address *out, cute_diag *diag)
{
    CUTE_TRY(enter_device(device, diag));
    return device->ops->alloc(device, size, out, diag);
}

cute_status cute_device_free(cute_device *device, cute_address address, cute_diag *diag)
{
    CUTE_TRY(enter_device(device, diag));
    return address ? device->ops->free(device, address, diag) : CUTE_OK;
}

cute_status cute_device_upload(cute_device *device, cute_address to, const void *from, size_t size,
                               cute_diag *diag)
{
    if (!size) return CUTE_OK;
    CUTE_TRY(enter_device(device, diag));
    CUTE_TRY(device->ops->upload(device, NULL, to, from, size, diag));
    return device->ops->stream_sync(device, NULL, diag);
}

cute_status cute_device_download(cute_device *device, void *to, cute_address from, size_t size,
                                 cute_diag *diag)
{
    if (!size) return CUTE_OK;
    CUTE_TRY(enter_device(device, diag));
    CUTE_TRY(device->ops->download(device, NULL, to, from, size, diag));
    return device->ops->stream_sync(device, NULL, diag);
}

cute_status cute_device_copy(cute_device *device, cute_address to, cute_address from, size_t size,
                             cute_diag *diag)
{
    CUTE_TRY(enter_device(device, diag));
    return size ? device->ops->copy(device, NULL, to, from, size, diag) : CUTE_OK;
}

cute_status cute_device_fill(cute_device *device, cute_address to, uint8_t byte, size_t size, cute_diag *diag)
{
    CUTE_TRY(enter_device(device, diag));
    return size ? device->ops->fill(device, NULL, to, byte, 1, size, diag) : CUTE_OK;
}

/* ---- code ---- */

typedef struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size;
} fatbin_header;

enum { FATBIN_MAGIC = (int)0xba55ed50 };

/* Drivers take a pointer without a length, so the size stated in the image must be checked. */
static bool is_whole_image(const void *image, size_t length)
{
    Elf64_Ehdr elf;
    fatbin_header fatbin;
    if (length >= SELFMAG && memcmp(image, ELFMAG, SELFMAG) == 0) {
        if (length < sizeof elf) return false;
        memcpy(&elf, image, sizeof elf);
        uint64_t sections = (uint64_t)elf.e_shnum * elf.e_shentsize,
                 heads = (uint64_t)elf.e_phnum * elf.e_phentsize;
        return elf.e_shoff <= length && sections <= length - elf.e_shoff && elf.e_phoff <= length &&
               heads <= length - elf.e_phoff;
    }
    memset(&fatbin, 0, sizeof fatbin);
    memcpy(&fatbin, image, length < sizeof fatbin ? length : sizeof fatbin);
    if (fatbin.magic != (uint32_t)FATBIN_MAGIC) return true;
    return length >= sizeof fatbin && fatbin.header_size <= length &&
           fatbin.size <= length - fatbin.header_size;
}

cute_status cute_device_load(cute_device *device, const char *label, const void *image, size_t length,
                             cute_device_module **out, cute_diag *diag)
{
    const char *bytes = image;
    const char *name = label ? label : "<image>";
    *out = NULL;
    if (!length) return cute_fail(diag, CUTE_INVALID, &(cute_place){.file = name}, "the module is empty");
    if (!is_whole_image(image, length))
        return cute_fail(diag, CUTE_INVALID, &(cute_place){.file = name}, "the module is truncated");
    CUTE_TRY(enter_device(device, diag));
    if (!bytes[length - 1]) return device->ops->load(device, name, image, length, out, diag);
    char *copy = malloc(length + 1);
    if (!copy) return cute_fail_memory(diag);
    memcpy(copy, image, length);
    copy[length] = '\0';
    cute_status status = device->ops->load(device, name, copy, length, out, diag);
    free(copy);
    return status;
}

cute_status cute_device_unload(cute_device *device, cute_device_module *module, cute_diag *diag)
{
    CUTE_TRY(enter_device(device, diag));
    return device->ops->unload(device, module, diag);
}

cute_status cute_device_get_function(cute_device *device, cute_device_module *module, const char *name,
                                     cute_device_function **out, cute_diag *diag)
{
    CUTE_TRY(enter_device(device, diag));
    return device->ops->get_function(device, module, name, out, diag);
}

cute_status cute_device_get_global(cute_device *device, cute_device_module *module, const char *name,
                                   cute_address *out, size_t *size, cute_diag *diag)
{
    CUTE_TRY(enter_device(device, diag));
    return device->ops->get_global(device, module, name, out, size, diag);
}

cute_status cute_device_function_info(cute_device *device, cute_device_function *function,
                                      cute_function_info *out, cute_diag *diag)
{
    cute_function_info info = {0};
    CUTE_TRY(enter_device(device, diag));
    CUTE_TRY(device->ops->function_info(device, function, &info, diag));
    return cute_struct_write(out, &info, sizeof info, "cute_function_info", diag);
}

bool cute_device_param_size(cute_device *device, cute_device_function *function, size_t index, size_t *size)
{
    return enter_device(device, NULL) == CUTE_OK && device->ops->param_size(device, function, index, size);
}

/* Rejects launches that are invalid on any device, before numbers are narrowed. */
static cute_status check_launch(const cute_device *device, const cute_device_launch *l, cute_diag *diag)
{
    const cute_device_info *info = &device->info;
    int64_t threads = 1;
    for (int d = 0; d < 3; d++) {
        int64_t grid = info->grid_limit[d] > 0 ? info->grid_limit[d] : INT32_MAX;
        int64_t block = info->block_limit[d] > 0 ? info->block_limit[d] : INT16_MAX;
        if (l->grid[d] < 1 || l->grid[d] > grid)
            return cute_fail(diag, CUTE_INVALID, NULL, "expected 1 to %lld for the grid's %c, got %lld",
                             (long long)grid, "xyz"[d], (long long)l -> grid[d]);
        if (l->block[d] < 1 || l->block[d] > block)
            return cute_fail(diag, CUTE_INVALID, NULL, "expected 1 to %lld for the block's %c, got %lld",
                             (long long)block, "xyz"[d], (long long)l -> block[d]);
        if (l->cluster[0] && (l->cluster[d] < 1 || l->grid[d] % l->cluster[d] != 0))
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "expected the grid's %c to be a multiple of the cluster's, %lld, got %lld",
                             "xyz"[d], (long long)l -> cluster[d], (long long)l -> grid[d]);
        threads *= l->block[d];
    }
    if (info->threads_block > 0 && threads > info->threads_block)
        return cute_fail(diag, CUTE_INVALID, NULL, "expected at most %lld threads in a block, got %lld",
                         (long long)info->threads_block, (long long)threads);
    if (l->dynamic_smem < 0 || l->dynamic_smem > INT32_MAX)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expected 0 to 2147483647 bytes of dynamic shared memory, got %lld",
                         (long long)l->dynamic_smem);
    return CUTE_OK;
}

cute_status cute_device_prepare(cute_device *device, cute_device_function *function,
                                const cute_device_launch *launch, cute_diag *diag)
{
    cute_device_launch ours;
    CUTE_TRY(cute_struct_read(&ours, sizeof ours, launch, "cute_device_launch", diag));
    CUTE_TRY(check_launch(device, &ours, diag));
    CUTE_TRY(enter_device(device, diag));
    return device->ops->prepare(device, function, &ours, diag);
}

cute_status cute_device_occupancy(cute_device *device, cute_device_function *function,
                                  const cute_device_launch *launch, int64_t *blocks, int64_t *clusters,
                                  cute_diag *diag)
{
    cute_device_launch ours;
    CUTE_TRY(cute_struct_read(&ours, sizeof ours, launch, "cute_device_launch", diag));
    CUTE_TRY(check_launch(device, &ours, diag));
    CUTE_TRY(enter_device(device, diag));
    return device->ops->occupancy(device, function, &ours, blocks, clusters, diag);
}

cute_status cute_device_start(cute_device *device, cute_device_function *function,
                              const cute_device_launch *launch, void *const *params, cute_diag *diag)
{
    cute_device_launch ours;
    CUTE_TRY(cute_struct_read(&ours, sizeof ours, launch, "cute_device_launch", diag));
    CUTE_TRY(check_launch(device, &ours, diag));
    CUTE_TRY(enter_device(device, diag));
    return device->ops->start(device, function, &ours, params, diag);
}

cute_status cute_device_encode_map(cute_device *device, const cute_tensor_map *map,
                                   uint8_t out[CUTE_MAP_BYTES], cute_diag *diag)
{
    cute_tensor_map ours;
    CUTE_TRY(cute_struct_read(&ours, sizeof ours, map, "cute_tensor_map", diag));
    CUTE_TRY(enter_device(device, diag));
    return device->ops->encode_map(device, &ours, out, diag);
}

cute_status cute_device_texture_create(cute_device *device, const cute_texture *texture,
                                       cute_device_texture **out, uint64_t *handle, cute_diag *diag)
{
    cute_texture ours;
    *out = NULL;
    CUTE_TRY(cute_struct_read(&ours, sizeof ours, texture, "cute_texture", diag));
    CUTE_TRY(num_texture_check(&ours, diag));
    CUTE_TRY(enter_device(device, diag));
    return device->ops->texture_create(device, &ours, out, handle, diag);
}

cute_status cute_device_texture_destroy(cute_device *device, cute_device_texture *texture, cute_diag *diag)
{
    CUTE_TRY(enter_device(device, diag));
    return device->ops->texture_destroy(device, texture, diag);
}

cute_status cute_device_texture_load(cute_device *device, cute_stream *stream, cute_device_texture *texture,
                                     cute_diag *diag)
{
    CUTE_TRY(enter_device(device, diag));
    return device->ops->texture_move(device, stream, texture, false, diag);
}

cute_status cute_device_texture_store(cute_device *device, cute_stream *stream, cute_device_texture *texture,
                                      cute_diag *diag)
{
    CUTE_TRY(enter_device(device, diag));
    return device->ops->texture_move(device, stream, texture, true, diag);
}

cute_status cute_device_sync(cute_device *device, cute_diag *diag)
{
    CUTE_TRY(enter_device(device, diag));
    return device->ops->sync(device, diag);
}

/* ---- streams ---- */

cute_status cute_stream_create(cute_device *device, cute_stream **out, cute_diag *diag)
{
    *out = NULL;
    CUTE_TRY(enter_device(device, diag));
    return device->ops->stream_create(device, out, diag);
}

void cute_stream_destroy(cute_stream *stream)
{
    if (stream && enter_device(stream->device, NULL) == CUTE_OK) stream->device->ops->stream_destroy(stream);
}

cute_status cute_stream_upload(cute_stream *stream, cute_address to, const void *from, size_t size,
                               cute_diag *diag)
{
    cute_device *device = stream->device;
    CUTE_TRY(enter_device(device, diag));
    return size ? device->ops->upload(device, stream, to, from, size, diag) : CUTE_OK;
}

cute_status cute_stream_download(cute_stream *stream, void *to, cute_address from, size_t size,
                                 cute_diag *diag)
{
    cute_device *device = stream->device;
    CUTE_TRY(enter_device(device, diag));
    return size ? device->ops->download(device, stream, to, from, size, diag) : CUTE_OK;
}

cute_status cute_stream_copy(cute_stream *stream, cute_address to, cute_address from, size_t size,
                             cute_diag *diag)
{
    cute_device *device = stream->device;
    CUTE_TRY(enter_device(device, diag));
    return size ? device->ops->copy(device, stream, to, from, size, diag) : CUTE_OK;
}

cute_status cute_stream_fill(cute_stream *stream, cute_address to, uint8_t byte, size_t size, cute_diag *diag)
{
    cute_device *device = stream->device;
    CUTE_TRY(enter_device(device, diag));
    return size ? device->ops->fill(device, stream, to, byte, 1, size, diag) : CUTE_OK;
}

cute_status cute_stream_record(cute_stream *stream, cute_device_event *event, cute_diag *diag)
{
    CUTE_TRY(enter_device(stream->device, diag));
    return stream->device->ops->event_record(stream->device, stream, event, diag);
}

cute_status cute_stream_wait(cute_stream *stream, cute_device_event *event, cute_diag *diag)
{
    CUTE_TRY(enter_device(stream->device, diag));
    return stream->device->ops->stream_wait(stream->device, stream, event, diag);
}

cute_status cute_stream_sync(cute_stream *stream, cute_diag *diag)
{
    CUTE_TRY(enter_device(stream->device, diag));
    return stream->device->ops->stream_sync(stream->device, stream, diag);
}

/* ---- time ---- */

cute_status cute_device_event_create(cute_device *device, cute_device_event **out, cute_diag *diag)
{
    CUTE_TRY(enter_device(device, diag));
    return device->ops->event_create(device, out, diag);
}

cute_status cute_device_event_record(cute_device *device, cute_device_event *event, cute_diag *diag)
{
    CUTE_TRY(enter_device(device, diag));
    return device->ops->event_record(device, NULL, event, diag);
}

cute_status cute_device_elapsed(cute_device *device, cute_device_event *from, cute_device_event *to,
                                double *seconds, cute_diag *diag)
{
    CUTE_TRY(enter_device(device, diag));
    return device->ops->elapsed(device, from, to, seconds, diag);
}

cute_status cute_device_graph_begin(cute_device *device, cute_diag *diag)
{
    CUTE_TRY(enter_device(device, diag));
    return device->ops->graph_begin(device, diag);
}

cute_status cute_device_graph_end(cute_device *device, cute_device_graph **out, cute_diag *diag)
{
    CUTE_TRY(enter_device(device, diag));
    return device->ops->graph_end(device, out, diag);
}

cute_status cute_device_graph_start(cute_device *device, cute_device_graph *graph, cute_diag *diag)
{
    CUTE_TRY(enter_device(device, diag));
    return device->ops->graph_start(device, graph, diag);
}

/* ---- emulator only ---- */

static cute_status need_emulator(const cute_device *device, cute_diag *diag)
{
    if (device->ops->emulator) return CUTE_OK;
    return cute_fail(diag, CUTE_USAGE, NULL, "expected an emulator, got device %d (%s)", device->info.index,
                     device->info.name);
}

cute_status cute_emulator_reset(cute_device *device, cute_diag *diag)
{
    CUTE_TRY(need_emulator(device, diag));
    return device->ops->emulator->reset(device, diag);
}

cute_status cute_emulator_register(cute_device *device, void *memory, size_t size, cute_diag *diag)
{
    CUTE_TRY(need_emulator(device, diag));
    return device->ops->emulator->add_host(device, memory, size, diag);
}

cute_status cute_emulator_unregister(cute_device *device, void *memory, cute_diag *diag)
{
    CUTE_TRY(need_emulator(device, diag));
    return device->ops->emulator->remove_host(device, memory, diag);
}

cute_status cute_emulator_describe_buffer(cute_device *device, cute_address address, const char *name,
                                          size_t size, bool written, cute_diag *diag)
{
    CUTE_TRY(need_emulator(device, diag));
    return device->ops->emulator->describe_buffer(device, address, name, size, written, diag);
}

cute_status cute_emulator_select(cute_device *device, int64_t rank, cute_diag *diag)
{
    CUTE_TRY(need_emulator(device, diag));
    return device->ops->emulator->select(device, rank, diag);
}

cute_status cute_emulator_start_all(cute_device *device, cute_device_function *function,
                                    const cute_device_launch *launch, void *const *const *params,
                                    cute_diag *diag)
{
    cute_device_launch ours;
    CUTE_TRY(need_emulator(device, diag));
    CUTE_TRY(cute_struct_read(&ours, sizeof ours, launch, "cute_device_launch", diag));
    CUTE_TRY(check_launch(device, &ours, diag));
    return device->ops->emulator->start_on(device, UINT32_MAX, function, &ours, params, diag);
}

const cute_emulator_counts *cute_emulator_get_counts(const cute_device *device)
{
    return device->ops->emulator ? device->ops->emulator->counts(device) : NULL;
}

size_t cute_emulator_finding_count(const cute_device *device)
{
    size_t count = 0;
    if (device->ops->emulator) device->ops->emulator->findings(device, &count);
    return count;
}

const cute_finding *cute_emulator_finding(const cute_device *device, size_t index)
{
    size_t count = 0;
    const cute_finding *list = device->ops->emulator ? device->ops->emulator->findings(device, &count) : NULL;
    return index < count ? &list[index] : NULL;
}

char *cute_emulator_counters_json(const cute_device *device)
{
    return device->ops->emulator ? device->ops->emulator->counters_json(device) : NULL;
}

char *cute_emulator_checks_json(const cute_device *device)
{
    return device->ops->emulator ? device->ops->emulator->checks_json(device) : NULL;
}

char *cute_emulator_timeline_json(const cute_device *device)
{
    return device->ops->emulator ? device->ops->emulator->timeline_json(device) : NULL;
}
