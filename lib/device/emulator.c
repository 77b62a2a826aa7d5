/* The emulated device: runs PTX with lib/emulator in host memory. Launches are synchronous, and faults are
 * reported immediately. Owns modules, memory and events. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cute/occupancy.h"
#include "lib/base/abi.h"
#include "lib/base/devices/arch.h"
#include "lib/base/devices/devices.h"
#include "lib/base/devices/multiprocessor.h"
#include "lib/checks/checks.h"
#include "lib/cubin/module.h"
#include "lib/device/device.h"
#include "lib/device/shared_memory.h"
#include "lib/emulator/machine/counters.h"
#include "lib/emulator/machine/machine.h"
#include "lib/emulator/machine/timeline.h"
#include "lib/numeric/tensormap.h"
#include "lib/plugin/plugins.h"

enum {
    THREADS_DEFAULT = 16,
    THREADS_MOST = 1024,
    MULTIPROCESSORS_MOST = 4096
}; /* the first: the default limit */
/* The address range of modules' variables, used neither by em_memory_alloc nor by the host's allocator. */
#define FIRST_MODULE UINT64_C(0x0000680000000000)
#define MODULE_GAP   UINT64_C(0x100000)
enum { SHARED_BLOCK = 48 * 1024 };

struct cute_device_module {
    cute_device_module *next;
    cute_arena *arena;
    em_program *program;
    em_program *copies[EM_DEVICES]; /* of each device: its variables; [0] is `program` */
    cute_module *compiled;          /* the cubin or fatbin that contained the PTX; NULL: plain PTX */
};

struct cute_device_function {
    cute_device_function *next;
    const cute_device_module *module;
    const em_function *function;
};

struct cute_device_event {
    cute_device_event *next;
    double time;
};

struct cute_device_texture {
    cute_device_texture *next;
    uint64_t handle;
};

typedef struct emulator_stream {
    cute_stream base;
    struct emulator_stream *next;
} emulator_stream;

typedef struct emulator {
    cute_device base;
    em_memory memory;
    cute_device_module *modules;
    cute_device_function *functions;
    cute_device_event *events;
    emulator_stream *streams;
    cute_device_texture *texture_handles;
    em_textures textures;
    uint64_t module_base; /* of the next module */
    cute_emulator_counts counts;
    em_checks *checks;     /* NULL: off */
    em_counters *counters; /* NULL: off */
    em_timeline *timeline; /* NULL: off */
    cute_emulator_options options;
    bool failed;
} emulator;

static emulator *as_emulator(cute_device *device)
{
    return (emulator *)device;
}

static uint32_t devices_of(const emulator *e)
{
    return e->options.devices ? (uint32_t)e->options.devices : 1;
}

static void free_functions(emulator *e, const cute_device_module *module)
{
    for (cute_device_function **at = &e->functions; *at;) {
        cute_device_function *f = *at;
        if (module && f->module != module) {
            at = &f->next;
            continue;
        }
        *at = f->next;
        free(f);
    }
}

static void free_module(cute_device_module *module)
{
    cute_module_close(module->compiled);
    cute_arena_destroy(module->arena);
    free(module);
}

/* Resets everything except the options. */
static void clear_device(emulator *e)
{
    free_functions(e, NULL);
    for (cute_device_module *m = e->modules, *next; m; m = next) {
        next = m->next;
        free_module(m);
    }
    for (cute_device_event *v = e->events, *next; v; v = next) {
        next = v->next;
        free(v);
    }
    for (emulator_stream *s = e->streams, *next; s; s = next) {
        next = s->next;
        free(s);
    }
    for (cute_device_texture *t = e->texture_handles, *next; t; t = next) {
        next = t->next;
        free(t);
    }
    free(e->textures.list);
    em_memory_release(&e->memory);
    em_checks_destroy(e->checks);
    em_counters_destroy(e->counters);
    em_timeline_destroy(e->timeline);
    *e = (emulator){.base = e->base, .options = e->options, .module_base = FIRST_MODULE};
}

static void emulator_close(cute_device *device)
{
    clear_device(as_emulator(device));
    free(device);
}

/* ---- memory ---- */

static cute_status emulator_alloc(cute_device *device, size_t size, cute_address *out, cute_diag *diag)
{
    emulator *e = as_emulator(device);
    if (em_memory_alloc(&e->memory, size, out) &&
        (!e->checks || em_checks_add_buffer(e->checks, *out, size ? size : 1, size, NULL, false)))
        return CUTE_OK;
    return cute_fail(diag, CUTE_SYSTEM, NULL, "allocating %zu bytes on the device: out of memory", size);
}

static cute_status emulator_free(cute_device *device, cute_address address, cute_diag *diag)
{
    emulator *e = as_emulator(device);
    const em_allocation *a = em_memory_find(&e->memory, address);
    if (!a || a->base != address || !a->owned)
        return cute_fail(diag, CUTE_INVALID, NULL, "freeing memory: 0x%llx was not allocated",
                         (unsigned long long)address);
    if (e->checks) em_checks_remove_buffer(e->checks, address);
    em_memory_free(&e->memory, address);
    return CUTE_OK;
}

static cute_status host_pointer(cute_device *device, cute_address address, size_t size, uint8_t **out,
                                cute_diag *diag)
{
    const em_allocation *a = em_memory_find(&as_emulator(device)->memory, address);
    if (!a || size > a->size - (address - a->base))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "a copy of %zu bytes at 0x%llx is not within one allocation", size,
                         (unsigned long long)address);
    *out = a->host + (address - a->base);
    return CUTE_OK;
}

static void note_host_write(cute_device *device, cute_address to, size_t size)
{
    if (as_emulator(device)->checks) em_checks_host_wrote(as_emulator(device)->checks, to, size);
}

static cute_status emulator_upload(cute_device *device, cute_stream *stream, cute_address to,
                                   const void *from, size_t size, cute_diag *diag)
{
    (void)stream;
    uint8_t *host = NULL;
    CUTE_TRY(host_pointer(device, to, size, &host, diag));
    memcpy(host, from, size);
    note_host_write(device, to, size);
    return CUTE_OK;
}

static cute_status emulator_download(cute_device *device, cute_stream *stream, void *to, cute_address from,
                                     size_t size, cute_diag *diag)
{
    (void)stream;
    uint8_t *host = NULL;
    CUTE_TRY(host_pointer(device, from, size, &host, diag));
    memcpy(to, host, size);
    return CUTE_OK;
}

static cute_status emulator_copy(cute_device *device, cute_stream *stream, cute_address to, cute_address from,
                                 size_t size, cute_diag *diag)
{
    (void)stream;
    uint8_t *target = NULL, *source = NULL;
    CUTE_TRY(host_pointer(device, to, size, &target, diag));
    CUTE_TRY(host_pointer(device, from, size, &source, diag));
    memmove(target, source, size);
    note_host_write(device, to, size);
    return CUTE_OK;
}

static cute_status emulator_copy_rows(cute_device *device, cute_stream *stream, const cute_copy_rows *c,
                                      cute_diag *diag)
{
    for (size_t i = 0; i < c->count; i++)
        CUTE_TRY(emulator_copy(device, stream, c->to + i * c->to_pitch, c->from + i * c->from_pitch, c->row,
                               diag));
    return CUTE_OK;
}

static cute_status emulator_fill(cute_device *device, cute_stream *stream, cute_address to, uint64_t value,
                                 int width, size_t size, cute_diag *diag)
{
    (void)stream;
    uint8_t *host = NULL;
    CUTE_TRY(host_pointer(device, to, size, &host, diag));
    for (size_t i = 0; width > 1 && i < size; i += (size_t)width) memcpy(host + i, &value, (size_t)width);
    if (width == 1) memset(host, (int)value, size);
    note_host_write(device, to, size);
    return CUTE_OK;
}

/* ---- code ---- */

/* Each variable is an allocation, so that out-of-bounds accesses are detected. */
static bool add_variables(emulator *e, const em_program *program, uint32_t device)
{
    for (size_t i = 0; i < program->variable_count; i++) {
        const em_variable *v = program->variables[i];
        em_allocation a = {.base = v->address,
                           .size = v->size ? (uint64_t)v->size : 1,
                           .name = v->name,
                           .host = program->image + v->offset,
                           .read_only = v->space == EM_CONST,
                           .device = device};
        if (!em_memory_add(&e->memory, &a)) return false;
    }
    return true;
}

static void remove_variables(emulator *e, const cute_device_module *module)
{
    for (uint32_t d = 0; d < EM_DEVICES && module->copies[d]; d++)
        for (size_t i = 0; i < module->program->variable_count; i++)
            em_memory_free(&e->memory, module->copies[d]->variables[i]->address);
}

/* Parses the program, once for each device, so that each has its own variables. */
static cute_status load_programs(emulator *e, cute_device_module *m, const char *name, const char *text,
                                 size_t length, cute_diag *diag)
{
    for (uint32_t d = 0; d < devices_of(e); d++) {
        em_program *program = NULL;
        CUTE_TRY(em_program_parse(m->arena, name, text, length, e->module_base, &program, diag));
        m->copies[d] = program;
        if (!add_variables(e, program, d)) return cute_fail_memory(diag);
        e->module_base += (program->image_length / MODULE_GAP + 2) * MODULE_GAP;
    }
    m->program = m->copies[0];
    return CUTE_OK;
}

/* Finds the PTX embedded in a compiled module; in a fatbin, that for the emulator's architecture, else the
 * newest. */
static cute_status find_ptx(const cute_device *device, const char *label, const char **text, size_t *length,
                            cute_module **compiled, cute_diag *diag)
{
    cute_content content = cute_content_of(*text, *length);
    *compiled = NULL;
    if (content == CUTE_CONTENT_PTX || content == CUTE_CONTENT_UNKNOWN) {
        while (*length && !(*text)[*length - 1]) --*length;
        return CUTE_OK;
    }
    if (cute_module_open(label, *text, *length, device->info.arch, compiled, NULL) != CUTE_OK)
        CUTE_TRY(cute_module_open(label, *text, *length, NULL, compiled, diag));
    *text = cute_module_ptx(*compiled, length);
    if (*text) return CUTE_OK;
    return cute_fail(
        diag, CUTE_INVALID, NULL,
        "the module has no PTX for the emulator to run: link it with cute-link from PTX or MLIR");
}

static cute_status emulator_load(cute_device *device, const char *label, const void *image, size_t length,
                                 cute_device_module **out, cute_diag *diag)
{
    emulator *e = as_emulator(device);
    const char *text = image;
    cute_device_module *m = calloc(1, sizeof *m);
    if (!m) return cute_fail_memory(diag);
    cute_status status = find_ptx(device, label, &text, &length, &m->compiled, diag);
    m->arena = cute_arena_create();
    char *copy = m->arena && status == CUTE_OK ? cute_arena_copy(m->arena, text, length) : NULL;
    char *name = copy ? cute_arena_copy(m->arena, label, strlen(label)) : NULL;
    if (status == CUTE_OK)
        status = name ? load_programs(e, m, name, copy, length, diag) : cute_fail_memory(diag);
    if (status != CUTE_OK) {
        remove_variables(e, m);
        free_module(m);
        return status;
    }
    m->next = e->modules;
    e->modules = m;
    *out = m;
    return CUTE_OK;
}

/* Counts and findings refer to the program, which is kept with them. */
static cute_status emulator_unload(cute_device *device, cute_device_module *module, cute_diag *diag)
{
    emulator *e = as_emulator(device);
    (void)diag;
    free_functions(e, module);
    remove_variables(e, module);
    if (e->checks || e->counters) return CUTE_OK;
    for (cute_device_module **at = &e->modules; *at; at = &(*at)->next)
        if (*at == module) {
            *at = module->next;
            break;
        }
    free_module(module);
    return CUTE_OK;
}

static cute_status emulator_get_function(cute_device *device, cute_device_module *module, const char *name,
                                         cute_device_function **out, cute_diag *diag)
{
    emulator *e = as_emulator(device);
    const em_function *found = em_program_find(module->program, name);
    if (!found || !found->defined)
        return cute_fail(diag, CUTE_INVALID, NULL, "no kernel '%s' in the PTX of the module", name);
    cute_device_function *f = calloc(1, sizeof *f);
    if (!f) return cute_fail_memory(diag);
    *f = (cute_device_function){e->functions, module, found};
    e->functions = f;
    *out = f;
    return CUTE_OK;
}

static cute_status emulator_get_global(cute_device *device, cute_device_module *module, const char *name,
                                       cute_address *out, size_t *size, cute_diag *diag)
{
    const em_program *program = module->copies[as_emulator(device)->memory.device];
    for (size_t i = 0; i < program->variable_count; i++) {
        const em_variable *v = program->variables[i];
        if (strcmp(v->name, name) != 0) continue;
        *out = v->address;
        *size = (size_t)v->size;
        return CUTE_OK;
    }
    return cute_fail(diag, CUTE_INVALID, NULL, "no variable '%s' in the PTX of the module", name);
}

static int64_t threads_limit(const em_function *f)
{
    const uint32_t *n = f->reqntid[0] ? f->reqntid : f->maxntid;
    int64_t threads = n[0] ? (int64_t)n[0] * n[1] * n[2] : CUTE_SM_BLOCK_THREADS;
    return threads < CUTE_SM_BLOCK_THREADS ? threads : CUTE_SM_BLOCK_THREADS;
}

/* Registers per thread in the compiled module; 0: unknown. */
static int64_t registers_of(const cute_device_module *module, const char *kernel)
{
    size_t count = module->compiled ? cute_module_kernel_count(module->compiled) : 0;
    for (size_t n = 0; n < count; n++) {
        const cute_kernel *k = cute_module_kernel(module->compiled, n);
        if (strcmp(k->name, kernel) == 0 && k->resources.registers > 0) return k->resources.registers;
    }
    return 0;
}

/* The total size of the module's .const variables, with alignment. */
static int64_t constant_bytes(const em_program *program)
{
    int64_t end = 0;
    for (size_t n = 0; n < program->variable_count; n++) {
        const em_variable *v = program->variables[n];
        if (v->space == EM_CONST) end = (end + v->align - 1) / v->align * v->align + v->size;
    }
    return end;
}

/* 90 of "sm_90a". */
static int64_t virtual_architecture(const em_program *program)
{
    const cute_arch *arch = cute_arch_find(program->target);
    return arch ? arch->number : 0;
}

static cute_status emulator_function_info(cute_device *device, cute_device_function *function,
                                          cute_function_info *out, cute_diag *diag)
{
    (void)diag;
    const cute_device_module *module = function->module;
    *out = (cute_function_info){
        .registers = registers_of(module, function->function->name),
        .static_smem = em_static_shared(function->function),
        .local_bytes = function->function->stack_bytes,
        .constant_bytes = constant_bytes(module->program),
        .threads_limit = threads_limit(function->function),
        .ptx_version = virtual_architecture(module->program),
        .binary_version = 10 * device->info.major + device->info.minor,
    };
    return CUTE_OK;
}

static cute_status emulator_occupancy(cute_device *device, cute_device_function *function,
                                      const cute_device_launch *launch, int64_t *blocks, int64_t *clusters,
                                      cute_diag *diag)
{
    const em_function *f = function->function;
    cute_occupancy_input in = {.size = sizeof in,
                               .arch = device->info.arch,
                               .threads = launch->block[0] * launch->block[1] * launch->block[2],
                               .registers = registers_of(function->module, f->name),
                               .static_smem = em_static_shared(f),
                               .dynamic_smem = launch->dynamic_smem};
    cute_occupancy found = {.size = sizeof found};
    CUTE_TRY(cute_occupancy_compute(&in, &found, diag));
    *blocks = in.threads > threads_limit(f) ? 0 : found.blocks;
    *clusters = -1; /* depends on the GPU's GPCs, which are unknown */
    return CUTE_OK;
}

static bool emulator_param_size(cute_device *device, cute_device_function *function, size_t index,
                                size_t *size)
{
    (void)device;
    if (index >= function->function->param_count) return false;
    *size = (size_t)function->function->params[index]->size;
    return true;
}

static cute_status emulator_prepare(cute_device *device, cute_device_function *function,
                                    const cute_device_launch *launch, cute_diag *diag)
{
    const em_function *f = function->function;
    int64_t fixed = em_static_shared(f);
    int64_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    int64_t cluster = cute_multiprocessor_of(90)->cluster;
    if (fixed + launch->dynamic_smem > device->info.shared_optin)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "%lld bytes of static and %lld bytes of dynamic shared memory exceed the limit of "
                         "%lld bytes per block",
                         (long long)fixed, (long long)launch->dynamic_smem,
                         (long long)device->info.shared_optin);
    if (launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > cluster)
        return cute_fail(diag, CUTE_INVALID, NULL, "expected at most %lld blocks per cluster",
                         (long long)cluster);
    if (f->reqntid[0] && (launch->block[0] != f->reqntid[0] || launch->block[1] != f->reqntid[1] ||
                          launch->block[2] != f->reqntid[2]))
        return cute_fail(diag, CUTE_INVALID, NULL, "kernel '%s' requires blocks of %ux%ux%u threads", f->name,
                         f->reqntid[0], f->reqntid[1], f->reqntid[2]);
    if (threads > threads_limit(f))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "kernel '%s' expects at most %lld threads per block, got %lld", f->name,
                         (long long)threads_limit(f), (long long)threads);
    return CUTE_OK;
}

/* The number of processors available to this process. */
static int threads_here(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1 : count > THREADS_DEFAULT ? THREADS_DEFAULT : count;
}

static void add_counts(cute_emulator_counts *sum, const cute_emulator_counts *c)
{
    sum->instructions += c->instructions;
    sum->lanes += c->lanes;
    sum->global_read += c->global_read;
    sum->global_written += c->global_written;
    sum->shared_read += c->shared_read;
    sum->shared_written += c->shared_written;
    sum->divergences += c->divergences;
    sum->barriers += c->barriers;
    sum->mma_flops += c->mma_flops;
}

/* The parameter block of one device. */
static uint8_t *make_params(const em_function *f, void *const *params)
{
    uint8_t *block = aligned_alloc(64, ((size_t)f->param_bytes + 127) / 64 * 64);
    for (size_t i = 0; block && i < f->param_count; i++)
        memcpy(block + f->params[i]->offset, params[i], (size_t)f->params[i]->size);
    return block;
}

/* The parameters of each device, and the distance of its variables from those of device 0. */
typedef struct device_arguments {
    uint8_t *blocks[EM_DEVICES];
    uint64_t shifts[EM_DEVICES];
} device_arguments;

static bool make_arguments(const emulator *e, const cute_device_function *function,
                           void *const *const *params, device_arguments *out)
{
    const cute_device_module *module = function->module;
    for (uint32_t d = 0; d < devices_of(e); d++) {
        if (!params[d]) continue;
        out->blocks[d] = make_params(function->function, params[d]);
        out->shifts[d] = module->copies[d]->base - module->program->base;
        if (!out->blocks[d]) return false;
    }
    return true;
}

static void release_arguments(device_arguments *arguments)
{
    for (uint32_t d = 0; d < EM_DEVICES; d++) free(arguments->blocks[d]);
}

static cute_status emulator_start_on(cute_device *device, uint32_t only, cute_device_function *function,
                                     const cute_device_launch *launch, void *const *const *params,
                                     cute_diag *diag)
{
    emulator *e = as_emulator(device);
    const em_function *f = function->function;
    device_arguments arguments = {0};
    em_launch l = {.program = function->module->program,
                   .kernel = f,
                   .memory = &e->memory,
                   .textures = &e->textures,
                   .options = e->options,
                   .dynamic_shared = (uint32_t)launch->dynamic_smem,
                   .cooperative = launch->cooperative,
                   .programmatic = launch->programmatic};
    cute_emulator_counts counts;
    if (e->failed) return cute_fail(diag, CUTE_INVALID, NULL, "an earlier kernel failed on this device");
    if (!make_arguments(e, function, params, &arguments)) {
        release_arguments(&arguments);
        return cute_fail_memory(diag);
    }
    l.params = arguments.blocks[0];
    if (devices_of(e) > 1) {
        l.devices = devices_of(e);
        l.only = only;
        l.device_params = (const uint8_t *const *)arguments.blocks;
        l.device_shifts = arguments.shifts;
    }
    for (int d = 0; d < 3; d++) {
        l.grid[d] = (uint32_t)launch->grid[d];
        l.block[d] = (uint32_t)launch->block[d];
        l.cluster[d] = launch->cluster[0] ? (uint32_t)launch->cluster[d] : f->cluster[d];
    }
    bool ok = true;
    if (e->options.counters) {
        if (!e->counters) e->counters = em_counters_create();
        ok = e->counters && em_counters_begin(e->counters, &l);
    }
    if (ok && e->checks)
        ok = em_checks_begin(e->checks, &l, e->counters ? em_counters_transactions(e->counters) : NULL,
                             e->counters ? em_counters_footprint(e->counters) : NULL);
    if (ok && e->options.timeline) {
        if (!e->timeline) e->timeline = em_timeline_create(e->options.timeline_block);
        ok = e->timeline != NULL;
        if (ok) em_timeline_begin(e->timeline, &l);
        int64_t blocks = (int64_t)l.grid[0] * l.grid[1] * l.grid[2];
        if (e->options.timeline_block >= blocks)
            cute_report(diag, CUTE_WARNING, NULL,
                        "the timeline of kernel '%s' is empty: expected a block below %lld, got %lld",
                        f->name, (long long)blocks, (long long)e->options.timeline_block);
    }
    if (!ok) {
        release_arguments(&arguments);
        return cute_fail_memory(diag);
    }
    cute_status status = em_run_grid(&l, &counts, diag);
    add_counts(&e->counts, &counts);
    e->failed = status != CUTE_OK;
    release_arguments(&arguments);
    return status;
}

static cute_status emulator_start(cute_device *device, cute_device_function *function,
                                  const cute_device_launch *launch, void *const *params, cute_diag *diag)
{
    void *const *all[EM_DEVICES];
    for (uint32_t d = 0; d < EM_DEVICES; d++) all[d] = params;
    return emulator_start_on(device, UINT32_MAX, function, launch, all, diag);
}

static cute_status emulator_encode_map(cute_device *device, const cute_tensor_map *map, uint8_t *out,
                                       cute_diag *diag)
{
    (void)device;
    return num_tensor_map_encode(map, out, diag);
}

/* ---- textures: kernels read and write the memory itself ---- */

static cute_status emulator_texture_create(cute_device *device, const cute_texture *texture,
                                           cute_device_texture **out, uint64_t *handle, cute_diag *diag)
{
    emulator *e = as_emulator(device);
    cute_device_texture *t = calloc(1, sizeof *t);
    if (!t || !em_texture_add(&e->textures, texture, handle)) {
        free(t);
        return cute_fail_memory(diag);
    }
    *t = (cute_device_texture){e->texture_handles, *handle};
    e->texture_handles = t;
    *out = t;
    return CUTE_OK;
}

static cute_status emulator_texture_destroy(cute_device *device, cute_device_texture *texture,
                                            cute_diag *diag)
{
    emulator *e = as_emulator(device);
    (void)diag;
    for (cute_device_texture **at = &e->texture_handles; *at; at = &(*at)->next)
        if (*at == texture) {
            *at = texture->next;
            em_texture_remove(&e->textures, texture->handle);
            free(texture);
            break;
        }
    return CUTE_OK;
}

static cute_status emulator_texture_move(cute_device *device, cute_stream *stream,
                                         cute_device_texture *texture, bool to_memory, cute_diag *diag)
{
    (void)device, (void)stream, (void)texture, (void)to_memory, (void)diag;
    return CUTE_OK;
}

static cute_status emulator_sync(cute_device *device, cute_diag *diag)
{
    (void)device, (void)diag;
    return CUTE_OK;
}

/* ---- streams: all work is synchronous ---- */

static cute_status emulator_stream_create(cute_device *device, cute_stream **out, cute_diag *diag)
{
    emulator *e = as_emulator(device);
    emulator_stream *stream = calloc(1, sizeof *stream);
    if (!stream) return cute_fail_memory(diag);
    *stream = (emulator_stream){.base.device = device, .next = e->streams};
    e->streams = stream;
    *out = &stream->base;
    return CUTE_OK;
}

static void emulator_stream_destroy(cute_stream *stream)
{
    for (emulator_stream **at = &as_emulator(stream->device)->streams; *at; at = &(*at)->next)
        if (&(*at)->base == stream) {
            emulator_stream *gone = *at;
            *at = gone->next;
            free(gone);
            return;
        }
}

static cute_status emulator_stream_wait(cute_device *device, cute_stream *stream, cute_device_event *event,
                                        cute_diag *diag)
{
    (void)device, (void)stream, (void)event, (void)diag;
    return CUTE_OK;
}

/* Work is synchronous: a counter that has not reached the value never will. */
static cute_status emulator_stream_wait_count(cute_device *device, cute_stream *stream, cute_address counter,
                                              uint32_t count, cute_diag *diag)
{
    uint32_t now = 0;
    CUTE_TRY(device->ops->download(device, stream, &now, counter, sizeof now, diag));
    if (now >= count) return CUTE_OK;
    return cute_fail(diag, CUTE_INVALID, NULL,
                     "a stream waits for a counter that nothing increases: expected %u at 0x%llx, got %u",
                     count, (unsigned long long)counter, now);
}

static cute_status emulator_stream_sync(cute_device *device, cute_stream *stream, cute_diag *diag)
{
    (void)device, (void)stream, (void)diag;
    return CUTE_OK;
}

/* ---- time: host time, for the phases of a run only ---- */

static cute_status emulator_event_create(cute_device *device, cute_device_event **out, cute_diag *diag)
{
    emulator *e = as_emulator(device);
    *out = calloc(1, sizeof **out);
    if (!*out) return cute_fail_memory(diag);
    (*out)->next = e->events;
    e->events = *out;
    return CUTE_OK;
}

static cute_status emulator_event_record(cute_device *device, cute_stream *stream, cute_device_event *event,
                                         cute_diag *diag)
{
    struct timespec t;
    (void)device, (void)stream, (void)diag;
    clock_gettime(CLOCK_MONOTONIC, &t);
    event->time = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
    return CUTE_OK;
}

static cute_status emulator_elapsed(cute_device *device, cute_device_event *from, cute_device_event *to,
                                    double *seconds, cute_diag *diag)
{
    (void)device, (void)diag;
    *seconds = to->time - from->time;
    return CUTE_OK;
}

static cute_status no_graphs(cute_diag *diag)
{
    return cute_fail(diag, CUTE_INVALID, NULL,
                     "the emulator does not support graphs: it does not time kernels");
}

static cute_status emulator_graph_begin(cute_device *device, cute_diag *diag)
{
    (void)device;
    return no_graphs(diag);
}

static cute_status emulator_graph_end(cute_device *device, cute_device_graph **out, cute_diag *diag)
{
    (void)device, (void)out;
    return no_graphs(diag);
}

static cute_status emulator_graph_start(cute_device *device, cute_device_graph *graph, cute_diag *diag)
{
    (void)device, (void)graph;
    return no_graphs(diag);
}

/* ---- emulator only ---- */

static cute_status make_checks(emulator *e, cute_diag *diag)
{
    if (!e->options.checks) return CUTE_OK;
    e->checks =
        em_checks_create(e->options.checks, e->options.allow, e->options.allow_count, e->options.plugins);
    return e->checks ? CUTE_OK : cute_fail_memory(diag);
}

static cute_status emulator_reset(cute_device *device, cute_diag *diag)
{
    clear_device(as_emulator(device));
    return make_checks(as_emulator(device), diag);
}

static cute_status emulator_add_host(cute_device *device, void *memory, size_t size, cute_diag *diag)
{
    emulator *e = as_emulator(device);
    em_allocation a = {.base = (uintptr_t)memory, .size = size, .host = memory};
    if (!memory || !size)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected a non-empty memory range, got %zu bytes", size);
    if (em_memory_overlaps(&e->memory, a.base, a.size))
        return cute_fail(diag, CUTE_INVALID, NULL, "%zu bytes at %p overlap existing memory of the device",
                         size, memory);
    if (!em_memory_add(&e->memory, &a)) return cute_fail_memory(diag);
    if (!e->checks || em_checks_add_buffer(e->checks, a.base, size, size, NULL, true)) return CUTE_OK;
    em_memory_free(&e->memory, a.base);
    return cute_fail_memory(diag);
}

static cute_status emulator_remove_host(cute_device *device, void *memory, cute_diag *diag)
{
    emulator *e = as_emulator(device);
    const em_allocation *a = em_memory_find(&e->memory, (uintptr_t)memory);
    if (!a || a->base != (uintptr_t)memory || a->host != memory)
        return cute_fail(diag, CUTE_INVALID, NULL, "%p was not registered", memory);
    if (e->checks) em_checks_remove_buffer(e->checks, a->base);
    em_memory_free(&e->memory, a->base);
    return CUTE_OK;
}

static cute_status emulator_describe_buffer(cute_device *device, cute_address address, const char *name,
                                            size_t size, bool written, cute_diag *diag)
{
    emulator *e = as_emulator(device);
    const em_allocation *a = em_memory_find(&e->memory, address);
    if (!a || a->base != address)
        return cute_fail(diag, CUTE_INVALID, NULL, "0x%llx was not allocated", (unsigned long long)address);
    if (size > a->size)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "a buffer of %zu bytes exceeds its allocation of %llu bytes", size,
                         (unsigned long long)a->size);
    if (!e->checks || em_checks_add_buffer(e->checks, address, a->size, size, name, written)) return CUTE_OK;
    return cute_fail_memory(diag);
}

static cute_status emulator_select(cute_device *device, int64_t rank, cute_diag *diag)
{
    emulator *e = as_emulator(device);
    if (rank < 0 || rank >= devices_of(e))
        return cute_fail(diag, CUTE_USAGE, NULL, "expected a device from 0 to %u, got %lld",
                         devices_of(e) - 1, (long long)rank);
    e->memory.device = (uint32_t)rank;
    return CUTE_OK;
}

static void emulator_acquire(cute_device *device, int rank, cute_address counter)
{
    const emulator *e = as_emulator(device);
    if (e->checks) em_checks_acquire(e->checks, (uint32_t)rank, counter);
}

static void emulator_signal(cute_device *device, int rank, int to)
{
    const emulator *e = as_emulator(device);
    if (e->checks) em_checks_signal(e->checks, (uint32_t)rank, (uint32_t)to);
}

static void emulator_observe(cute_device *device, int rank, int from)
{
    const emulator *e = as_emulator(device);
    if (e->checks) em_checks_observe(e->checks, (uint32_t)rank, (uint32_t)from);
}

static const cute_emulator_counts *emulator_counts(const cute_device *device)
{
    return &((const emulator *)device)->counts;
}

static const cute_finding *emulator_findings(const cute_device *device, size_t *count)
{
    const emulator *e = (const emulator *)device;
    *count = 0;
    return e->checks ? em_checks_findings(e->checks, count) : NULL;
}

static char *emulator_counters_json(const cute_device *device)
{
    const emulator *e = (const emulator *)device;
    return e->counters ? em_counters_json(e->counters) : NULL;
}

static char *emulator_timeline_json(const cute_device *device)
{
    const emulator *e = (const emulator *)device;
    return e->timeline ? em_timeline_json(e->timeline) : NULL;
}

static char *emulator_checks_json(const cute_device *device)
{
    const emulator *e = (const emulator *)device;
    return e->checks ? em_checks_json(e->checks) : NULL;
}

static const cute_emulator_ops only_emulator_ops = {
    .reset = emulator_reset,
    .add_host = emulator_add_host,
    .remove_host = emulator_remove_host,
    .describe_buffer = emulator_describe_buffer,
    .select = emulator_select,
    .start_on = emulator_start_on,
    .acquire = emulator_acquire,
    .signal = emulator_signal,
    .observe = emulator_observe,
    .counts = emulator_counts,
    .findings = emulator_findings,
    .counters_json = emulator_counters_json,
    .checks_json = emulator_checks_json,
    .timeline_json = emulator_timeline_json,
};

static const cute_device_ops emulator_ops = {
    .kind = "emulator",
    .emulator = &only_emulator_ops,
    .close = emulator_close,
    .alloc = emulator_alloc,
    .free = emulator_free,
    .upload = emulator_upload,
    .download = emulator_download,
    .copy = emulator_copy,
    .copy_rows = emulator_copy_rows,
    .fill = emulator_fill,
    .load = emulator_load,
    .unload = emulator_unload,
    .get_function = emulator_get_function,
    .get_global = emulator_get_global,
    .function_info = emulator_function_info,
    .param_size = emulator_param_size,
    .occupancy = emulator_occupancy,
    .prepare = emulator_prepare,
    .start = emulator_start,
    .encode_map = emulator_encode_map,
    .texture_create = emulator_texture_create,
    .texture_destroy = emulator_texture_destroy,
    .texture_move = emulator_texture_move,
    .sync = emulator_sync,
    .stream_create = emulator_stream_create,
    .stream_destroy = emulator_stream_destroy,
    .stream_wait = emulator_stream_wait,
    .stream_wait_count = emulator_stream_wait_count,
    .share_alloc = cute_shared_memory_alloc,
    .share_reach = cute_shared_memory_reach,
    .share_leave = cute_shared_memory_leave,
    .share_free = cute_shared_memory_free,
    .stream_sync = emulator_stream_sync,
    .event_create = emulator_event_create,
    .event_record = emulator_event_record,
    .elapsed = emulator_elapsed,
    .graph_begin = emulator_graph_begin,
    .graph_end = emulator_graph_end,
    .graph_start = emulator_graph_start,
};

/* The limits of an H100, so that launches that fit there fit here. */
static cute_device_info emulator_info(void)
{
    const cute_multiprocessor *sm = cute_multiprocessor_of(CUTE_GPU_USUAL_ARCH);
    return (cute_device_info){
        .size = sizeof(cute_device_info),
        .kind = "emulator",
        .name = "PTX emulator",
        .major = 9,
        .arch = "sm_90a",
        .multiprocessors = cute_gpu_multiprocessors(CUTE_GPU_USUAL_ARCH),
        .memory = INT64_C(80) << 30,
        .shared_block = SHARED_BLOCK,
        .shared_optin = sm->block_shared,
        .shared_reserved = EM_SHARED_RESERVED,
        .shared_multiprocessor = sm->shared,
        .registers_block = CUTE_SM_REGISTERS,
        .registers_multiprocessor = CUTE_SM_REGISTERS,
        .threads_block = CUTE_SM_BLOCK_THREADS,
        .threads_multiprocessor = sm->warps * EM_LANES,
        .blocks_multiprocessor = sm->blocks,
        .block_limit = {1024, 1024, 64},
        .grid_limit = {2147483647, 65535, 65535},
        .warp_size = EM_LANES,
        .cooperative = true,
        .clusters = true,
        .tensor_maps = true,
    };
}

cute_status cute_emulator_read_options(const cute_emulator_options *given, cute_emulator_options *out,
                                       cute_diag *diag)
{
    *out = (cute_emulator_options){.size = sizeof *out};
    if (given) CUTE_TRY(cute_struct_read(out, sizeof *out, given, "cute_emulator_options", diag));
    if (out->threads < 0 || out->threads > THREADS_MOST)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected 1 to %d threads, or 0 for the default, got %lld",
                         THREADS_MOST, (long long)out->threads);
    if (!(out->timeout >= 0) || !(out->patience >= 0))
        return cute_fail(diag, CUTE_USAGE, NULL, "expected a time of 0 or more seconds, got %g",
                         out->timeout >= 0 ? out->patience : out->timeout);
    if (out->multiprocessors < 0 || out->multiprocessors > MULTIPROCESSORS_MOST)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "expected 1 to %d multiprocessors, or 0 for the default, got %lld",
                         MULTIPROCESSORS_MOST, (long long)out->multiprocessors);
    if (out->devices < 0 || out->devices > EM_DEVICES)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected 1 to %d devices, or 0 for one, got %lld",
                         EM_DEVICES, (long long)out->devices);
    const uint32_t known = CUTE_CHECK_ALL | CUTE_CHECK_STRICT | cute_plugins_check_bits(out->plugins);
    if (out->checks & ~known)
        return cute_fail(diag, CUTE_USAGE, NULL, "unknown check 0x%x", (unsigned)(out->checks & ~known));
    CUTE_TRY(em_plugins_check(out->plugins, diag));
    return em_allowed_check(out->allow, out->allow_count, out->plugins, diag);
}

cute_status cute_emulator_open(const cute_emulator_options *options, cute_device **out, cute_diag *diag)
{
    cute_emulator_options ours;
    *out = NULL;
    CUTE_TRY(cute_emulator_read_options(options, &ours, diag));
    if (!ours.threads) ours.threads = threads_here();
    emulator *e = calloc(1, sizeof *e);
    if (!e) return cute_fail_memory(diag);
    *e = (emulator){.base = {&emulator_ops, emulator_info()}, .options = ours, .module_base = FIRST_MODULE};
    if (ours.multiprocessors) e->base.info.multiprocessors = ours.multiprocessors;
    cute_status status = make_checks(e, diag);
    if (status == CUTE_OK)
        *out = &e->base;
    else
        free(e);
    return status;
}
