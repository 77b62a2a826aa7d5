/* Reads schedules from the metadata of kernels, by tables of fields. */
#include "lib/report/schedule/schedule.h"

#include <stddef.h>
#include <string.h>

#include "lib/base/devices/arch.h"
#include "lib/base/devices/multiprocessor.h"
#include "lib/base/diagnostics/diag.h"

typedef enum field_kind { NUMBER, TEXT, EXTENTS } field_kind;
typedef struct field {
    const char *key;
    field_kind kind;
    bool required;
    size_t offset;
    int64_t missing; /* of a number, also for null */
} field;

#define FIELD(type, kind, required, name, missing) {#name, kind, required, offsetof(type, name), missing}
#define END                                        {0}

static const field role_fields[] = {FIELD(schedule_role, TEXT, true, name, 0),
                                    FIELD(schedule_role, NUMBER, true, first_warp, 0),
                                    FIELD(schedule_role, NUMBER, true, warps, 0),
                                    FIELD(schedule_role, NUMBER, false, registers, 0),
                                    FIELD(schedule_role, NUMBER, false, barrier, 0),
                                    FIELD(schedule_role, NUMBER, false, turns, 1),
                                    END};
static const field ring_fields[] = {FIELD(schedule_ring, TEXT, true, dtype, 0),
                                    FIELD(schedule_ring, TEXT, false, swizzle, 0),
                                    FIELD(schedule_ring, TEXT, false, layout, 0),
                                    FIELD(schedule_ring, TEXT, false, copy, 0),
                                    FIELD(schedule_ring, TEXT, false, file, 0),
                                    FIELD(schedule_ring, EXTENTS, true, tile, 0),
                                    FIELD(schedule_ring, EXTENTS, false, multicast, 0),
                                    FIELD(schedule_ring, NUMBER, false, tensor, -1),
                                    FIELD(schedule_ring, NUMBER, true, stages, 0),
                                    FIELD(schedule_ring, NUMBER, true, bytes, 0),
                                    FIELD(schedule_ring, NUMBER, true, offset, 0),
                                    FIELD(schedule_ring, NUMBER, false, role, 0),
                                    FIELD(schedule_ring, NUMBER, false, pipe, -1),
                                    FIELD(schedule_ring, NUMBER, false, line, 0),
                                    END};
static const field pipe_fields[] = {
    FIELD(schedule_pipe, TEXT, true, reader, 0),     FIELD(schedule_pipe, NUMBER, true, stages, 0),
    FIELD(schedule_pipe, NUMBER, true, offset, 0),   FIELD(schedule_pipe, NUMBER, true, bytes, 0),
    FIELD(schedule_pipe, NUMBER, true, expected, 0), FIELD(schedule_pipe, NUMBER, true, arrivals, 0),
    FIELD(schedule_pipe, NUMBER, true, readers, 0),  FIELD(schedule_pipe, NUMBER, true, producer, 0),
    FIELD(schedule_pipe, NUMBER, true, consumer, 0), FIELD(schedule_pipe, NUMBER, false, writers, 1),
    FIELD(schedule_pipe, NUMBER, false, other, -1),  END};
static const field product_fields[] = {
    FIELD(schedule_product, TEXT, true, instruction, 0), FIELD(schedule_product, TEXT, false, file, 0),
    FIELD(schedule_product, EXTENTS, true, tile, 0),     FIELD(schedule_product, EXTENTS, false, atom, 0),
    FIELD(schedule_product, NUMBER, true, role, 0),      FIELD(schedule_product, NUMBER, true, pending, -1),
    FIELD(schedule_product, NUMBER, false, line, 0),     END};
static const field store_fields[] = {
    FIELD(schedule_store, TEXT, false, file, 0),      FIELD(schedule_store, TEXT, false, copy, 0),
    FIELD(schedule_store, NUMBER, false, band, 0),    FIELD(schedule_store, EXTENTS, true, tile, 0),
    FIELD(schedule_store, NUMBER, false, tensor, -1), FIELD(schedule_store, NUMBER, true, role, 0),
    FIELD(schedule_store, NUMBER, false, line, 0),    END};
static const field scratch_fields[] = {FIELD(schedule_scratch, NUMBER, true, role, 0),
                                       FIELD(schedule_scratch, NUMBER, true, offset, 0),
                                       FIELD(schedule_scratch, NUMBER, true, bytes, 0), END};
static const field barrier_fields[] = {
    FIELD(schedule_barrier, NUMBER, true, number, 0), FIELD(schedule_barrier, NUMBER, true, role, 0),
    FIELD(schedule_barrier, NUMBER, true, threads, 0), FIELD(schedule_barrier, NUMBER, true, uses, 0), END};
static const field refusal_fields[] = {FIELD(schedule_refusal, TEXT, true, text, 0),
                                       FIELD(schedule_refusal, TEXT, false, file, 0),
                                       FIELD(schedule_refusal, NUMBER, false, line, 0), END};

static const struct {
    const char *key;
    size_t size, items, count; /* offsets of the pointer and the number in schedule_kernel */
    const field *fields;
} lists[] =
    {
#define LIST(key, type, name, number)                                                                        \
    {                                                                                                        \
        key, sizeof(type), offsetof(schedule_kernel, name), offsetof(schedule_kernel, number)
        LIST("roles", schedule_role, roles, role_count), role_fields},
  LIST("rings", schedule_ring, rings, ring_count), ring_fields
}
, LIST("pipes", schedule_pipe, pipes, pipe_count), pipe_fields
}
, LIST("products", schedule_product, products, product_count), product_fields
}
, LIST("stores", schedule_store, stores, store_count), store_fields
}
, LIST("loads", schedule_store, loads, load_count), store_fields
}
, LIST("scratch", schedule_scratch, scratch, scratch_count), scratch_fields
}
, LIST("barriers", schedule_barrier, barriers, barrier_count), barrier_fields
}
, LIST("refused", schedule_refusal, refused, refused_count), refusal_fields
}
,
#undef LIST
}
;

typedef struct reader {
    cute_arena *arena;
    const char *label;
    cute_diag *diag;
} reader;

static cute_status refuse(const reader *r, const char *list, const char *key, const char *expected)
{
    const cute_place file = {.file = r->label};
    return cute_fail(r->diag, CUTE_INVALID, &file, "schedule.%s.%s in the metadata: expected %s", list, key,
                     expected);
}

static bool read_number(const json_t *value, int64_t missing, int64_t *out)
{
    enum { BITS = 48 };
    *out = json_is_integer(value) ? json_integer_value(value) : missing;
    if (value && !json_is_integer(value) && !json_is_null(value)) return false;
    return *out >= (missing < 0 ? -1 : 0) && *out < INT64_C(1) << BITS;
}

static bool read_extents(const json_t *value, schedule_extents *out)
{
    out->rank = json_array_size(value);
    if ((value && !json_is_array(value)) || out->rank > SCHEDULE_RANK) return false;
    for (size_t n = 0; n < out->rank; n++)
        if (!json_is_integer(json_array_get(value, n)) ||
            !read_number(json_array_get(value, n), 0, &out->extent[n]) || out->extent[n] < 0)
            return false;
    return true;
}

static cute_status read_fields(const reader *r, const char *list, const json_t *from, const field *fields,
                               void *to)
{
    for (const field *f = fields; f->key; f++) {
        const json_t *value = json_object_get(from, f->key);
        void *at = (char *)to + f->offset;
        if (!value && f->required) return refuse(r, list, f->key, "a value");
        if (f->kind == NUMBER && !read_number(value, f->missing, at))
            return refuse(r, list, f->key, "a number");
        if (f->kind == EXTENTS && !read_extents(value, at))
            return refuse(r, list, f->key, "a list of at most 8 numbers");
        if (f->kind != TEXT || !value) continue;
        if (!json_is_string(value)) return refuse(r, list, f->key, "a text");
        *(const char **)at = cute_arena_copy(r->arena, json_string_value(value), json_string_length(value));
        if (!*(const char **)at) return cute_fail_memory(r->diag);
    }
    return CUTE_OK;
}

static cute_status read_list(const reader *r, const json_t *from, size_t index, schedule_kernel *k)
{
    const json_t *list = json_object_get(from, lists[index].key);
    size_t count = json_array_size(list), size = lists[index].size;
    if (list && !json_is_array(list)) return refuse(r, lists[index].key, "", "a list");
    char *items = cute_arena_array(r->arena, count + 1, size);
    if (!items) return cute_fail_memory(r->diag);
    memset(items, 0, (count + 1) * size);
    for (size_t n = 0; n < count; n++)
        CUTE_TRY(
            read_fields(r, lists[index].key, json_array_get(list, n), lists[index].fields, items + n * size));
    memcpy((char *)k + lists[index].items, &items, sizeof items);
    memcpy((char *)k + lists[index].count, &count, sizeof count);
    return CUTE_OK;
}

/* ---- a kernel ---- */

static bool is_role(const schedule_kernel *k, int64_t role)
{
    return role >= 0 && (size_t)role < k->role_count;
}

static const char *tensor_name(const cute_kernel *k, int64_t tensor)
{
    return tensor >= 0 && (size_t)tensor < k->arg_count ? k->args[tensor].name : NULL;
}

/* Blocks along the dimensions of `multicast`; 0: such a dimension does not exist. */
static int64_t sharers_of(const schedule_kernel *k, const schedule_extents *multicast)
{
    int64_t blocks = 1;
    for (size_t n = 0; n < multicast->rank; n++) {
        int64_t dim = multicast->extent[n];
        if ((size_t)dim >= k->cluster.rank || __builtin_mul_overflow(blocks, k->cluster.extent[dim], &blocks))
            return 0;
    }
    return blocks;
}

/* Roles and pipes are indices of lists; names of tensors are those of arguments. */
static cute_status resolve(const reader *r, const cute_kernel *from, schedule_kernel *k)
{
    bool ok = true;
    for (size_t n = 0; n < k->ring_count; n++) {
        schedule_ring *ring = &k->rings[n];
        ok &= is_role(k, ring->role) && ring->stages > 0 && ring->pipe < (int64_t)k->pipe_count;
        ring->name = tensor_name(from, ring->tensor);
        ring->sharers = sharers_of(k, &ring->multicast);
        ok &= ring->sharers > 0;
    }
    for (size_t n = 0; n < k->pipe_count; n++)
        ok &= is_role(k, k->pipes[n].producer) && is_role(k, k->pipes[n].consumer) &&
              k->pipes[n].stages > 0 && (k->pipes[n].other == -1 || is_role(k, k->pipes[n].other));
    for (size_t n = 0; n < k->product_count; n++) ok &= is_role(k, k->products[n].role);
    for (size_t n = 0; n < k->scratch_count; n++) ok &= is_role(k, k->scratch[n].role);
    for (size_t n = 0; n < k->barrier_count; n++) ok &= is_role(k, k->barriers[n].role);
    for (size_t n = 0; n < k->store_count; n++) {
        ok &= is_role(k, k->stores[n].role);
        k->stores[n].name = tensor_name(from, k->stores[n].tensor);
    }
    for (size_t n = 0; n < k->load_count; n++) {
        ok &= is_role(k, k->loads[n].role);
        k->loads[n].name = tensor_name(from, k->loads[n].tensor);
    }
    const cute_place file = {.file = r->label};
    return ok ? CUTE_OK
              : cute_fail(r->diag, CUTE_INVALID, &file,
                          "the schedule in the metadata of kernel '%s' refers to a role, pipe or dimension "
                          "that it does not have",
                          from->name);
}

static cute_status read_schedule(const reader *r, const json_t *from, const cute_kernel *source,
                                 schedule_kernel *k)
{
    static const field own[] = {FIELD(schedule_kernel, TEXT, false, text, 0),
                                FIELD(schedule_kernel, NUMBER, false, copies_pending, -1),
                                FIELD(schedule_kernel, NUMBER, false, shared, 0), END};
    static const field grid_fields[] = {
        FIELD(schedule_kernel, EXTENTS, false, tile, 0), FIELD(schedule_kernel, EXTENTS, false, cluster, 0),
        FIELD(schedule_kernel, NUMBER, false, order, 1), FIELD(schedule_kernel, NUMBER, false, slices, 1),
        FIELD(schedule_kernel, TEXT, false, tail, 0),    END};
    const json_t *grid = json_object_get(from, "grid");
    k->copies_pending = -1;
    k->order = k->slices = 1;
    if (!from) {
        k->why_none = source->metadata ? "it is not a tile program" : "it has no metadata of cute-ptx";
        return CUTE_OK;
    }
    CUTE_TRY(read_fields(r, "kernel", from, own, k));
    if (grid) CUTE_TRY(read_fields(r, "grid", grid, grid_fields, k));
    k->resident = json_is_true(json_object_get(grid, "resident"));
    for (size_t n = 0; n < sizeof lists / sizeof *lists; n++) CUTE_TRY(read_list(r, from, n, k));
    CUTE_TRY(resolve(r, source, k));
    if (k->text && !strcmp(k->text, "naive"))
        k->why_none = "naive: one element at a time, a barrier before each operation";
    else if (!k->ring_count && !k->resident)
        k->why_none = k->product_count ? "no load of a loop with products runs ahead"
                                       : "no loop has a product whose loads could run ahead";
    return CUTE_OK;
}

cute_status cute_schedule_read_kernel(cute_arena *arena, const char *label, const char *arch_name,
                                      const cute_kernel *source, schedule_kernel *k, cute_diag *diag)
{
    const reader own = {arena, label, diag}, *r = &own;
    json_t *metadata = NULL;
    const cute_arch *arch = arch_name ? cute_arch_find(arch_name) : NULL;
    const cute_multiprocessor *sm = arch ? cute_multiprocessor_of(arch->number) : NULL;
    *k = (schedule_kernel){.kernel = source->name, .shared_limit = sm ? sm->block_shared : -1};
    if (source->metadata)
        CUTE_TRY(cute_json_parse(r->label, source->metadata, strlen(source->metadata), &metadata, r->diag));
    cute_status status = read_schedule(r, json_object_get(metadata, "schedule"), source, k);
    json_decref(metadata);
    return status;
}

cute_status cute_schedule_read(cute_arena *arena, const char *label, const cute_module *module,
                               const char *only, schedule_report *out, cute_diag *diag)
{
    size_t count = cute_module_kernel_count(module);
    *out = (schedule_report){.label = label};
    out->kernels = cute_arena_array(arena, count + 1, sizeof *out->kernels);
    if (!out->kernels) return cute_fail_memory(diag);
    for (size_t n = 0; n < count; n++) {
        const cute_kernel *k = cute_module_kernel(module, n);
        if (only && strcmp(only, k->name) != 0) continue;
        CUTE_TRY(cute_schedule_read_kernel(arena, label, cute_module_arch(module), k,
                                           &out->kernels[out->count++], diag));
    }
    return CUTE_OK;
}

const schedule_role *cute_schedule_role_of(const schedule_kernel *k, int64_t warp, int64_t *group)
{
    enum { WARPGROUP = 4 };
    for (size_t n = 0; n < k->role_count; n++) {
        const schedule_role *role = &k->roles[n];
        if (warp < role->first_warp || warp - role->first_warp >= role->warps) continue;
        *group = (warp - role->first_warp) / WARPGROUP;
        return role;
    }
    return NULL;
}
