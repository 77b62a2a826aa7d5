/* Sets arguments by name: checks values against the kernel's metadata and converts them to parameter
 * bytes. */
#include "cute/arguments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/abi.h"
#include "lib/base/numbers/checked.h"
#include "lib/base/options/nearest.h"
#include "lib/cubin/module.h"
#include "lib/device/device.h"
#include "lib/launch/data/dtype.h"
#include "lib/launch/plan/offsets.h"
#include "lib/launch/plan/plan.h"

enum { POINTER_BYTES = 8 };

struct cute_arguments {
    cute_arena *arena;
    cute_device *device;
    cute_device_function *function;
    const cute_kernel *kernel;
    void **params;      /* each aligned for a tensor map */
    bool *set;          /* per parameter */
    cute_address *maps; /* per argument: a tensor map in device memory; 0: none */
    cute_device_launch prepared;
};

/* An argument being set. */
typedef struct target {
    cute_arguments *arguments;
    size_t index;
    const cute_arg *arg;
    cute_diag *diag;
} target;

/* "argument 'B' of kernel 'k' (f32): expected ..., got ...". */
static cute_status fail_argument(const target *t, const char *expected, const char *got)
{
    const char *type = t->arg->type ? t->arg->type : t->arg->dtype;
    return cute_fail(t->diag, CUTE_USAGE, NULL, "argument '%s' of kernel '%s'%s%s%s: expected %s, got %s",
                     t->arg->name, t->arguments->kernel->name, type ? " (" : "", type ? type : "",
                     type ? ")" : "", expected, got);
}

/* ---- loading ---- */

cute_status cute_launch_load(cute_device *device, const cute_module *module, const char *label,
                             cute_device_module **out, cute_diag *diag)
{
    size_t length = 0;
    const void *image = NULL;
    /* The emulator needs PTX, for which it selects another image of a fatbin than a GPU does. */
    if (device->ops->emulator) image = cute_module_fatbin(module, &length);
    if (device->ops->emulator && !image) image = cute_module_ptx(module, &length);
    if (!image) image = cute_module_image(module, &length);
    *out = NULL;
    return cute_device_load(device, label, image, length, out, diag);
}

cute_status cute_device_load_module(cute_device *device, const cute_module *module, cute_device_module **out,
                                    cute_diag *diag)
{
    return cute_launch_load(device, module, NULL, out, diag);
}

static cute_status make_params(cute_arguments *a, cute_diag *diag)
{
    const cute_kernel *k = a->kernel;
    a->params = cute_arena_array(a->arena, k->param_count + 1, sizeof *a->params);
    a->set = cute_arena_array(a->arena, k->param_count + 1, sizeof *a->set);
    a->maps = cute_arena_array(a->arena, k->arg_count + 1, sizeof *a->maps);
    if (!a->params || !a->set || !a->maps) return cute_fail_memory(diag);
    for (size_t i = 0; i < k->param_count; i++) {
        int64_t size = k->params[i].size;
        if (size < 0 || size > INT32_MAX)
            return cute_fail(diag, CUTE_INVALID, NULL, "parameter %zu of kernel '%s' has no known size", i,
                             k->name);
        a->params[i] = cute_plan_param_room(a->arena, size);
        if (!a->params[i]) return cute_fail_memory(diag);
    }
    return CUTE_OK;
}

cute_status cute_arguments_create(cute_device *device, cute_device_module *loaded, const cute_module *module,
                                  const char *name, cute_arguments **out, cute_diag *diag)
{
    const cute_kernel *kernel;
    *out = NULL;
    CUTE_TRY(cute_module_find_kernel(module, name, &kernel, diag));
    cute_arguments *a = calloc(1, sizeof *a);
    if (!a) return cute_fail_memory(diag);
    a->device = device;
    a->kernel = kernel;
    a->arena = cute_arena_create();
    cute_status status = a->arena ? make_params(a, diag) : cute_fail_memory(diag);
    if (status == CUTE_OK)
        status = cute_device_get_function(device, loaded, kernel->name, &a->function, diag);
    if (status == CUTE_OK)
        *out = a;
    else
        cute_arguments_destroy(a);
    return status;
}

void cute_arguments_destroy(cute_arguments *a)
{
    if (!a) return;
    for (size_t i = 0; a->maps && i < a->kernel->arg_count; i++)
        cute_device_free(a->device, a->maps[i], NULL);
    cute_arena_destroy(a->arena);
    free(a);
}

const cute_kernel *cute_arguments_kernel(const cute_arguments *a)
{
    return a->kernel;
}

/* ---- setting ---- */

static const char *arg_name_at(const void *list, size_t index)
{
    const cute_kernel *k = list;
    return index < k->arg_count ? k->args[index].name : NULL;
}

static cute_status find_argument(cute_arguments *a, const char *name, target *out, cute_diag *diag)
{
    const cute_kernel *k = a->kernel;
    char *end;
    size_t index = 0;
    while (index < k->arg_count && strcmp(k->args[index].name, name) != 0) index++;
    unsigned long number = strtoul(name, &end, 10);
    if (index == k->arg_count && end != name && !*end && *name != '-') index = number;
    *out = (target){a, index, index < k->arg_count ? &k->args[index] : NULL, diag};
    if (out->arg && out->arg->first + out->arg->count <= k->param_count) return CUTE_OK;
    const char *near = cute_nearest(name, arg_name_at, k);
    if (near)
        return cute_fail(diag, CUTE_USAGE, NULL, "kernel '%s' has no argument '%s'; did you mean '%s'?",
                         k->name, name, near);
    return cute_fail(diag, CUTE_USAGE, NULL, "kernel '%s' has no argument '%s', only %zu", k->name, name,
                     k->arg_count);
}

/* Sets parameter `at` of the argument; the caller has checked the size. */
static void put_param(const target *t, size_t at, const void *bytes, size_t size)
{
    memcpy(t->arguments->params[t->arg->first + at], bytes, size);
    t->arguments->set[t->arg->first + at] = true;
}

static int64_t param_size(const target *t)
{
    return t->arg->count == 1 ? t->arguments->kernel->params[t->arg->first].size : -1;
}

static cute_status put_address(const target *t, cute_address address)
{
    char got[64];
    int64_t align = t->arg->align;
    if (param_size(t) != POINTER_BYTES) return fail_argument(t, "another kind of value", "an address");
    if (align > 0 && address % (uint64_t)align != 0) {
        char expected[64];
        snprintf(expected, sizeof expected, "an address that is a multiple of %lld", (long long)align);
        snprintf(got, sizeof got, "0x%llx", (unsigned long long)address);
        return fail_argument(t, expected, got);
    }
    put_param(t, 0, &address, sizeof address);
    return CUTE_OK;
}

/* Checks extents and strides against the static ones of the kernel's type. */
static cute_status check_extents(const target *t, size_t rank, const int64_t *shape, const int64_t *strides)
{
    char expected[96], got[64];
    const cute_arg *arg = t->arg;
    if (rank > CUTE_TENSOR_RANK || (arg->shape && arg->rank != rank)) {
        snprintf(expected, sizeof expected, "%zu dimensions",
                 arg->shape ? arg->rank : (size_t)CUTE_TENSOR_RANK);
        snprintf(got, sizeof got, "%zu", rank);
        return fail_argument(t, expected, got);
    }
    for (size_t i = 0; i < rank; i++) {
        bool fixed = arg->shape && arg->shape[i] != CUTE_DYNAMIC;
        if (shape[i] < 0 || (fixed && shape[i] != arg->shape[i])) {
            snprintf(expected, sizeof expected, "%lld elements in dimension %zu",
                     fixed ? (long long)arg->shape[i] : 0LL, i);
            snprintf(got, sizeof got, "%lld", (long long)shape[i]);
            return fail_argument(t, expected, got);
        }
        if (arg->strides && arg->shape && arg->strides[i] != CUTE_DYNAMIC && arg->strides[i] != strides[i] &&
            shape[i] > 1) {
            snprintf(expected, sizeof expected, "stride %lld in dimension %zu", (long long)arg->strides[i],
                     i);
            snprintf(got, sizeof got, "%lld", (long long)strides[i]);
            return fail_argument(t, expected, got);
        }
    }
    return CUTE_OK;
}

/* MLIR's memref descriptor: allocated and aligned pointer, offset, shape, strides. */
static cute_status put_descriptor(const target *t, cute_address address, int64_t offset, size_t rank,
                                  const int64_t *shape, const int64_t *strides)
{
    if (t->arg->count != 3 + 2 * rank) return fail_argument(t, "another number of dimensions", "this memref");
    put_param(t, 0, &address, sizeof address);
    put_param(t, 1, &address, sizeof address);
    put_param(t, 2, &offset, sizeof offset);
    for (size_t i = 0; i < rank; i++) {
        put_param(t, 3 + i, &shape[i], sizeof *shape);
        put_param(t, 3 + rank + i, &strides[i], sizeof *strides);
    }
    return CUTE_OK;
}

static bool compute_row_major(size_t rank, const int64_t *shape, int64_t *strides)
{
    int64_t step = 1;
    for (size_t i = rank; i-- > 0;) {
        strides[i] = step;
        if (!cute_mul64(step, shape[i] > 0 ? shape[i] : 1, &step)) return false;
    }
    return true;
}

cute_status cute_arguments_set_address(cute_arguments *a, const char *name, cute_address address,
                                       cute_diag *diag)
{
    target t;
    int64_t strides[CUTE_TENSOR_RANK];
    CUTE_TRY(find_argument(a, name, &t, diag));
    const cute_arg *arg = t.arg;
    if (arg->kind == CUTE_ARG_SCALAR) return fail_argument(&t, "a number", "an address");
    if (arg->kind == CUTE_ARG_STRUCT) return fail_argument(&t, "the bytes of a struct", "an address");
    if (arg->kind == CUTE_ARG_TENSOR_MAP && !arg->in_memory)
        return fail_argument(&t, "a tensor map", "an address");
    if (arg->kind != CUTE_ARG_MEMREF || arg->count == 1) return put_address(&t, address);
    bool known = arg->shape && arg->rank <= CUTE_TENSOR_RANK;
    for (size_t i = 0; known && i < arg->rank; i++) known = arg->shape[i] != CUTE_DYNAMIC;
    if (!known || !compute_row_major(arg->rank, arg->shape, strides))
        return fail_argument(&t, "a shape (cute_arguments_set_memref)", "an address");
    for (size_t i = 0; arg->strides && i < arg->rank; i++)
        if (arg->strides[i] != CUTE_DYNAMIC) strides[i] = arg->strides[i];
    return put_descriptor(&t, address, 0, arg->rank, arg->shape, strides);
}

cute_status cute_arguments_set_memref(cute_arguments *a, const char *name, cute_address address,
                                      int64_t offset, size_t rank, const int64_t *shape,
                                      const int64_t *strides, cute_diag *diag)
{
    target t;
    int64_t own[CUTE_TENSOR_RANK];
    CUTE_TRY(find_argument(a, name, &t, diag));
    if (t.arg->kind != CUTE_ARG_MEMREF && t.arg->kind != CUTE_ARG_POINTER && t.arg->kind != CUTE_ARG_UNKNOWN)
        return fail_argument(&t, "another kind of value", "a memref");
    if (rank > CUTE_TENSOR_RANK) return fail_argument(&t, "at most 16 dimensions", "more");
    if (!strides && !compute_row_major(rank, shape, own))
        return fail_argument(&t, "a shape of 64 bits", "a larger one");
    if (!strides) strides = own;
    CUTE_TRY(check_extents(&t, rank, shape, strides));
    if (t.arg->count > 1) return put_descriptor(&t, address, offset, rank, shape, strides);
    cute_dtype dtype;
    int64_t bytes = 0;
    if (offset && (!t.arg->dtype || !cute_dtype_find(t.arg->dtype, &dtype)))
        return fail_argument(&t, "offset 0 for an unknown element type", "another");
    if (offset && !cute_mul64(offset, cute_dtype_get(dtype)->bytes, &bytes))
        return fail_argument(&t, "an offset of 64 bits", "a larger one");
    return put_address(&t, address + (cute_address)bytes);
}

/* The type of a scalar; without metadata, an integer of the parameter's size. */
static cute_status scalar_type(const target *t, const char *got, cute_dtype *out)
{
    const cute_arg *arg = t->arg;
    if (arg->kind == CUTE_ARG_SCALAR && arg->dtype && cute_dtype_find(arg->dtype, out) &&
        cute_dtype_get(*out)->bytes <= param_size(t))
        return CUTE_OK;
    if (arg->kind == CUTE_ARG_UNKNOWN) switch (param_size(t)) {
        case 1: return *out = CUTE_I8, CUTE_OK;
        case 2: return *out = CUTE_I16, CUTE_OK;
        case 4: return *out = CUTE_I32, CUTE_OK;
        case 8: return *out = CUTE_I64, CUTE_OK;
        }
    return fail_argument(t,
                         arg->kind == CUTE_ARG_SCALAR ? "its bytes (cute_arguments_set_bytes)"
                                                      : cute_arg_kind_name(arg->kind),
                         got);
}

cute_status cute_arguments_set_integer(cute_arguments *a, const char *name, int64_t value, cute_diag *diag)
{
    target t;
    cute_dtype dtype;
    char got[32], expected[64];
    CUTE_TRY(find_argument(a, name, &t, diag));
    snprintf(got, sizeof got, "%lld", (long long)value);
    CUTE_TRY(scalar_type(&t, got, &dtype));
    const cute_dtype_info *info = cute_dtype_get(dtype);
    if (info->class == CUTE_CLASS_FLOAT) return cute_arguments_set_real(a, name, (double)value, diag);
    int bits = info->class == CUTE_CLASS_BOOL ? 1 : (int)info->bytes * 8;
    /* MLIR's integers are signless, so signed and unsigned values are accepted. */
    int64_t low = bits == 64 ? INT64_MIN : -(INT64_C(1) << (bits - 1));
    int64_t high = bits == 64 ? INT64_MAX : (INT64_C(1) << bits) - 1;
    if (value < low || value > high) {
        snprintf(expected, sizeof expected, "%lld to %lld", (long long)low, (long long)high);
        return fail_argument(&t, expected, got);
    }
    if (info->class == CUTE_CLASS_BOOL) value &= 1;
    put_param(&t, 0, &value, (size_t)info->bytes);
    return CUTE_OK;
}

cute_status cute_arguments_set_real(cute_arguments *a, const char *name, double value, cute_diag *diag)
{
    target t;
    cute_dtype dtype;
    char got[40];
    uint8_t bytes[8];
    CUTE_TRY(find_argument(a, name, &t, diag));
    snprintf(got, sizeof got, "%.17g", value);
    CUTE_TRY(scalar_type(&t, got, &dtype));
    if (cute_dtype_get(dtype)->class != CUTE_CLASS_FLOAT) return fail_argument(&t, "an integer", got);
    cute_dtype_store(dtype, bytes, 1, 1, &value);
    put_param(&t, 0, bytes, (size_t)cute_dtype_get(dtype)->bytes);
    return CUTE_OK;
}

cute_status cute_arguments_set_map(cute_arguments *a, const char *name, const cute_tensor_map *map,
                                   cute_diag *diag)
{
    target t;
    cute_tensor_map ours;
    uint8_t bytes[CUTE_MAP_BYTES];
    const char *expected, *got;
    CUTE_TRY(find_argument(a, name, &t, diag));
    CUTE_TRY(cute_struct_read(&ours, sizeof ours, map, "cute_tensor_map", diag));
    bool in_memory = t.arg->kind == CUTE_ARG_TENSOR_MAP ? t.arg->in_memory : param_size(&t) == POINTER_BYTES;
    if ((t.arg->kind != CUTE_ARG_TENSOR_MAP && t.arg->kind != CUTE_ARG_UNKNOWN) ||
        param_size(&t) != (in_memory ? POINTER_BYTES : CUTE_MAP_BYTES))
        return fail_argument(&t, cute_arg_kind_name(t.arg->kind), "a tensor map");
    cute_arena *texts = cute_arena_create();
    if (!texts) return cute_fail_memory(diag);
    cute_status status = CUTE_OK;
    if (!cute_tensor_map_agrees(texts, t.arg, &ours, &expected, &got))
        status = fail_argument(&t, expected, got);
    cute_arena_destroy(texts);
    if (status == CUTE_OK) status = cute_device_encode_map(a->device, &ours, bytes, diag);
    if (status != CUTE_OK) return status;
    if (!in_memory) {
        put_param(&t, 0, bytes, sizeof bytes);
        return CUTE_OK;
    }
    if (!a->maps[t.index]) CUTE_TRY(cute_device_alloc(a->device, CUTE_MAP_BYTES, &a->maps[t.index], diag));
    CUTE_TRY(cute_device_upload(a->device, a->maps[t.index], bytes, sizeof bytes, diag));
    put_param(&t, 0, &a->maps[t.index], sizeof a->maps[t.index]);
    return CUTE_OK;
}

cute_status cute_arguments_set_bytes(cute_arguments *a, const char *name, const void *bytes, size_t size,
                                     cute_diag *diag)
{
    target t;
    char expected[64], got[32];
    CUTE_TRY(find_argument(a, name, &t, diag));
    if (param_size(&t) < 0 || (uint64_t)param_size(&t) != size) {
        snprintf(expected, sizeof expected,
                 param_size(&t) < 0 ? "a descriptor (cute_arguments_set_memref)" : "%lld bytes",
                 (long long)param_size(&t));
        snprintf(got, sizeof got, "%zu bytes", size);
        return fail_argument(&t, expected, got);
    }
    uint64_t farthest;
    if (!cute_offsets_fit(t.arg, bytes, &farthest)) {
        snprintf(expected, sizeof expected, "a last element less than %lld elements from the first",
                 (long long)t.arg->offsets_below);
        snprintf(got, sizeof got, "%llu", (unsigned long long)farthest);
        cute_status status = fail_argument(&t, expected, got);
        cute_note(diag, NULL, CUTE_OFFSETS_FIX);
        return status;
    }
    put_param(&t, 0, bytes, size);
    return CUTE_OK;
}

/* ---- launching ---- */

static void default3(int64_t out[3], const int64_t *first, const int64_t *second)
{
    const int64_t *from = first[0] > 0 ? first : second;
    if (!out[0] && !out[1] && !out[2]) memcpy(out, from, 3 * sizeof *out);
}

static cute_status check_set(const cute_arguments *a, cute_diag *diag)
{
    const cute_kernel *k = a->kernel;
    for (size_t i = 0; i < k->arg_count; i++)
        for (size_t p = k->args[i].first; p < k->args[i].first + k->args[i].count && p < k->param_count; p++)
            if (!a->set[p])
                return cute_fail(diag, CUTE_USAGE, NULL, "argument '%s' of kernel '%s' is not set",
                                 k->args[i].name, k->name);
    return CUTE_OK;
}

cute_status cute_arguments_launch(cute_arguments *a, const cute_device_launch *launch, cute_diag *diag)
{
    const cute_kernel *k = a->kernel;
    cute_device_launch l;
    CUTE_TRY(cute_struct_read(&l, sizeof l, launch, "cute_device_launch", diag));
    default3(l.grid, k->grid, k->grid);
    default3(l.block, k->reqntid, k->block);
    default3(l.cluster, k->cluster, k->cluster);
    if (!l.dynamic_smem && k->dynamic_smem > 0) l.dynamic_smem = k->dynamic_smem;
    CUTE_TRY(check_set(a, diag));
    if (memcmp(&a->prepared, &l, sizeof l) != 0) {
        CUTE_TRY(cute_device_prepare(a->device, a->function, &l, diag));
        memcpy(&a->prepared, &l, sizeof l);
    }
    return cute_device_start(a->device, a->function, &l, a->params, diag);
}
