/* Binds arguments: checks each entry of "args" against the kernel's metadata and converts it to parameter
 * bytes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/numbers/checked.h"
#include "lib/launch/formula/fit.h"
#include "lib/launch/plan/offsets.h"
#include "lib/launch/plan/plan.h"

enum { POINTER_BYTES = 8, MAX_FIXUPS = 4096 };

typedef struct binder {
    cute_plan *plan;
    plan_launch *launch;
    const cute_config *config;
    const cute_kernel *kernel;
    size_t next;         /* index of the next parameter */
    const cute_arg *arg; /* the kernel's argument that begins there; NULL: unknown */
    char label[160];     /* "argument 2 (C)" */
    char shown[64];      /* the value of a scalar, for the report */
    cute_diag *diag;
} binder;

#define FAIL(b, path, ...) cute_document_fail(&(b)->config->document, path, false, (b)->diag, __VA_ARGS__)

/* ---- parameters ---- */

cute_status cute_plan_fixup(const cute_config *config, plan_launch *launch, plan_fixup fixup, cute_diag *diag)
{
    if (!launch->fixups &&
        !(launch->fixups = cute_arena_array(config->arena, MAX_FIXUPS, sizeof *launch->fixups)))
        return cute_fail_memory(diag);
    if (launch->fixup_count == MAX_FIXUPS)
        return cute_document_fail(&config->document, launch->config->path, false, diag,
                                  "expected at most %d addresses in the arguments", MAX_FIXUPS);
    launch->fixups[launch->fixup_count++] = fixup;
    return CUTE_OK;
}

static cute_status add_fixup(binder *b, plan_fixup fixup)
{
    return cute_plan_fixup(b->config, b->launch, fixup, b->diag);
}

/* Adds the next parameter, of the given size. */
static cute_status add_param(binder *b, const void *bytes, int64_t size, const cute_path *path)
{
    plan_launch *l = b->launch;
    if (b->next >= l->param_count)
        return FAIL(b, path, "unexpected argument: kernel '%s' has %zu parameters", b->kernel->name,
                    l->param_count);
    int64_t wanted = b->kernel->params[b->next].size;
    if (wanted > 0 && wanted != size)
        return FAIL(b, path, "expected %lld bytes for %s, got %lld", (long long)wanted, b->label,
                    (long long)size);
    uint8_t *copy = cute_arena_alloc(b->config->arena, (size_t)size);
    if (!copy) return cute_fail_memory(b->diag);
    memcpy(copy, bytes, (size_t)size);
    l->params[b->next] = copy;
    l->param_sizes[b->next++] = size;
    return CUTE_OK;
}

static cute_status add_integer(binder *b, int64_t value, const cute_path *path)
{
    return add_param(b, &value, 8, path);
}

static cute_status add_pointer(binder *b, size_t buffer, int64_t bytes, const cute_path *path)
{
    plan_fixup fixup = {FIXUP_BUFFER, b->next, 0, buffer, bytes, 0};
    CUTE_TRY(add_integer(b, 0, path));
    return add_fixup(b, fixup);
}

/* ---- agreement of a buffer with the argument ---- */

static bool dtypes_agree(const char *wanted, cute_dtype given)
{
    cute_dtype dtype;
    if (cute_is_packed(wanted)) return given == CUTE_I8 || given == CUTE_U8;
    if (!wanted || !cute_dtype_find(wanted, &dtype) || dtype == given) return true;
    const cute_dtype_info *a = cute_dtype_get(dtype), *b = cute_dtype_get(given);
    if (a->bytes != b->bytes) return false;
    bool a_float = a->class == CUTE_CLASS_FLOAT, b_float = b->class == CUTE_CLASS_FLOAT;
    if (a_float && b_float)
        return (dtype == CUTE_F32 || dtype == CUTE_TF32) && (given == CUTE_F32 || given == CUTE_TF32);
    /* MLIR's integers are signless, and 8-bit floats may be passed as i8. */
    return a_float == b_float || a->bytes == 1;
}

static cute_status check_buffer(binder *b, const config_buffer *buffer, int64_t offset_bytes,
                                const cute_path *path)
{
    const cute_arg *arg = b->arg;
    size_t index = (size_t)(buffer - b->config->buffers);
    bool written = b->plan->writes[index]; /* by an earlier argument */
    b->plan->used[index] = 1;
    /* An unknown access may write. */
    if (!arg || arg->writes || !arg->reads || !b->kernel->has_metadata) b->plan->writes[index] = 1;
    if (!arg) return CUTE_OK;
    const cute_dtype_info *info = cute_dtype_get(buffer->tensor.dtype);
    if (!dtypes_agree(arg->dtype, buffer->tensor.dtype))
        return FAIL(b, path, "expected a buffer of %s for %s, got '%s' of %s", arg->dtype, b->label,
                    buffer->tensor.name, info->name);
    if (arg->reads && !arg->writes && !written && buffer->init == INIT_NONE)
        return FAIL(b, path, "%s is read-only, but buffer '%s' has no 'init'", b->label, buffer->tensor.name);
    int64_t align = arg->align > info->bytes ? arg->align : info->bytes;
    if (offset_bytes % align != 0)
        return FAIL(b, path,
                    "%s is misaligned: expected a multiple of %lld bytes, got an offset of %lld in '%s'",
                    b->label, (long long)align, (long long)offset_bytes, buffer->tensor.name);
    return CUTE_OK;
}

/* Checks a memref's or tensor's static extents and strides against the buffer's. */
static cute_status check_shape(binder *b, const config_buffer *buffer, const cute_path *path)
{
    const cute_arg *arg = b->arg;
    const cute_tensor *t = &buffer->tensor;
    if (!arg || !arg->shape || arg->rank == 0) return CUTE_OK;
    cute_buffer shape = {0};
    cute_tensor_shape_text(t, &shape);
    cute_status status = CUTE_OK;
    if (arg->kind == CUTE_ARG_MEMREF && (size_t)t->rank != arg->rank)
        status = FAIL(b, path, "expected %zu dimension%s for %s (%s), got %d in buffer '%s' (%s)", arg->rank,
                      arg->rank == 1 ? "" : "s", b->label, arg->type ? arg->type : "memref", t->rank, t->name,
                      shape.data);
    int64_t wanted = 1;
    bool same_rank = (size_t)t->rank == arg->rank;
    for (size_t i = 0; i < arg->rank && status == CUTE_OK; i++) {
        int64_t extent = arg->shape[i];
        if (extent == CUTE_DYNAMIC || (wanted > 0 && !cute_mul64(wanted, extent, &wanted))) wanted = -1;
        if (same_rank && extent != CUTE_DYNAMIC && extent != t->shape[i])
            status =
                FAIL(b, path, "expected %lld elements in dimension %zu of %s, got %lld in buffer '%s' (%s)",
                     (long long)extent, i, b->label, (long long)t->shape[i], t->name, shape.data);
    }
    for (size_t i = 0; i < arg->rank && arg->strides && same_rank && status == CUTE_OK; i++)
        if (arg->strides[i] != CUTE_DYNAMIC && arg->strides[i] != t->strides[i] && t->shape[i] > 1)
            status = FAIL(b, path, "expected stride %lld in dimension %zu of %s, got %lld in buffer '%s'",
                          (long long)arg->strides[i], i, b->label, (long long)t->strides[i], t->name);
    if (status == CUTE_OK && (size_t)t->rank != arg->rank && wanted > 0 && t->span - t->offset < wanted)
        status = FAIL(b, path, "expected at least %lld elements for %s, got %lld in buffer '%s' (%s)",
                      (long long)wanted, b->label, (long long)(t->span - t->offset), t->name, shape.data);
    cute_buffer_release(&shape);
    return status;
}

/* ---- kinds of arguments ---- */

static cute_status bind_memref(binder *b, const config_buffer *buffer, const cute_path *path)
{
    const cute_tensor *t = &buffer->tensor;
    size_t index = (size_t)(buffer - b->config->buffers);
    CUTE_TRY(add_pointer(b, index, 0, path));
    CUTE_TRY(add_pointer(b, index, 0, path));
    CUTE_TRY(add_integer(b, t->offset, path));
    for (int i = 0; i < t->rank; i++) CUTE_TRY(add_integer(b, t->shape[i], path));
    for (int i = 0; i < t->rank; i++) CUTE_TRY(add_integer(b, t->strides[i], path));
    return CUTE_OK;
}

static cute_status bind_map(binder *b, const json_t *json, const config_buffer *buffer, const cute_path *path)
{
    uint8_t zeros[CUTE_MAP_BYTES] = {0};
    size_t map, param = b->next;
    CUTE_TRY(check_buffer(b, buffer, 0, path));
    CUTE_TRY(cute_plan_map(b->plan, json, path, buffer, b->arg, &map, b->diag));
    if (b->plan->maps[map].in_memory) {
        CUTE_TRY(add_integer(b, 0, path));
        return add_fixup(b, (plan_fixup){FIXUP_MAP_ADDRESS, param, 0, map, 0, 0});
    }
    CUTE_TRY(add_param(b, zeros, CUTE_MAP_BYTES, path));
    return add_fixup(b, (plan_fixup){FIXUP_MAP, param, 0, map, 0, 0});
}

/* The handle of a texture or surface object, an integer of 64 bits. */
static cute_status bind_texture(binder *b, const json_t *json, bool surface, const cute_path *path)
{
    const cute_arg *arg = b->arg;
    const char *what = surface ? "surface" : "texture";
    config_buffer *buffer;
    size_t texture, param = b->next;
    cute_dtype dtype;
    bool fits =
        !arg || arg->kind == CUTE_ARG_UNKNOWN ||
        (arg->kind == CUTE_ARG_SCALAR &&
         (!arg->dtype || (cute_dtype_find(arg->dtype, &dtype) && (dtype == CUTE_I64 || dtype == CUTE_U64))));
    if (!fits)
        return FAIL(b, path, "expected an argument of i64 for the handle of a %s, got %s, a %s%s%s", what,
                    b->label, cute_arg_kind_name(arg->kind), arg->dtype ? " of " : "",
                    arg->dtype ? arg->dtype : "");
    CUTE_TRY(config_find_buffer(b->config, json_string_value(json_object_get(json, "buffer")),
                                config_member(b->config, path, "buffer"), &buffer, b->diag));
    size_t index = (size_t)(buffer - b->config->buffers);
    if (!surface && buffer->init == INIT_NONE && !buffer->global && !b->plan->writes[index])
        return FAIL(
            b, path,
            "the texture reads buffer '%s', which has no 'init' and is not written by an earlier launch",
            buffer->tensor.name);
    CUTE_TRY(cute_plan_texture(b->plan, json, path, buffer, surface, &texture, b->diag));
    b->plan->used[index] = 1;
    if (surface) b->plan->writes[index] = 1;
    CUTE_TRY(add_integer(b, 0, path));
    return add_fixup(b, (plan_fixup){FIXUP_TEXTURE, param, 0, texture, 0, 0});
}

/* The index of the buffer that a fixup refers to; SIZE_MAX: a temporary. */
static size_t buffer_of(const binder *b, const plan_fixup *f)
{
    size_t index = f->kind == FIXUP_TEXTURE                               ? b->plan->textures[f->index].buffer
                   : f->kind == FIXUP_MAP || f->kind == FIXUP_MAP_ADDRESS ? b->plan->maps[f->index].buffer
                                                                          : f->index;
    return index < b->config->buffer_count ? index : SIZE_MAX;
}

/* Whether another argument may change the buffer of a texture or surface in an array, which is a copy of it during the launch. */
static bool clashes(const binder *b, const plan_fixup *object, const plan_fixup *other)
{
    const plan_texture *t = &b->plan->textures[object->index];
    const cute_arg *arg = cute_kernel_arg_of(b->kernel, other->param);
    if (other == object || buffer_of(b, other) != t->buffer) return false;
    if (t->texture.surface) return true;
    if (other->kind == FIXUP_TEXTURE) return b->plan->textures[other->index].texture.surface;
    return t->texture.memory == CUTE_TEXTURE_ARRAY && (!arg || arg->writes || !arg->reads);
}

static cute_status check_arrays(binder *b, const cute_path *path)
{
    const plan_launch *l = b->launch;
    for (size_t i = 0; i < l->fixup_count; i++)
        for (size_t k = 0; k < l->fixup_count && l->fixups[i].kind == FIXUP_TEXTURE; k++) {
            const plan_texture *t = &b->plan->textures[l->fixups[i].index];
            if (!clashes(b, &l->fixups[i], &l->fixups[k])) continue;
            FAIL(b, path, "buffer '%s' is bound to a %s and to another argument%s",
                 b->config->buffers[t->buffer].tensor.name, t->texture.surface ? "surface" : "texture",
                 t->texture.surface ? "" : " that may write it");
            cute_note(b->diag, NULL,
                      "expected another buffer: during the launch the %s is an array, a copy of its buffer",
                      t->texture.surface ? "surface" : "texture");
            return CUTE_INVALID;
        }
    return CUTE_OK;
}

/* The struct of a cute tensor: its address, then the unknown leaves of the layout. */
static cute_status bind_tensor_struct(binder *b, const config_buffer *buffer, int64_t offset,
                                      const cute_path *path)
{
    const cute_arg *arg = b->arg;
    cute_arena *arena = b->config->arena;
    cute_value layout;
    int64_t *leaves;
    size_t count = 0, param = b->next;
    cute_buffer why = {0};
    int64_t size = arg->first < b->kernel->param_count ? b->kernel->params[arg->first].size : 0;
    uint8_t *bytes = size > 0 ? cute_arena_alloc(arena, (size_t)size) : NULL;
    if (!bytes ||
        cute_value_parse_any(arena, arg->layout, strlen(arg->layout), &layout, NULL, NULL) != CUTE_OK)
        return FAIL(b, path, "%s has an unknown layout: %s", b->label, arg->layout);
    const cute_tensor own = cute_tensor_as(arg->dtype, &buffer->tensor);
    cute_status status = cute_fit(arena, &layout, &own, &leaves, &count, &why, b->diag);
    if (status == CUTE_INVALID) {
        FAIL(b, path, "buffer '%s': %s", buffer->tensor.name, cute_buffer_text(&why));
        cute_note(b->diag, NULL, "%s has the layout %s", b->label, arg->layout);
    }
    cute_buffer_release(&why);
    if (status == CUTE_OK && arg->field_count != count + 1)
        status =
            FAIL(b, path, "expected %zu fields for %s, one more than the layout's unknown leaves, got %zu",
                 count + 1, b->label, arg->field_count);
    for (size_t i = 0; status == CUTE_OK && i <= count; i++) {
        const cute_field *field = &arg->fields[i];
        if (field->offset < 0 || field->size < 1 || field->size > 8 || field->offset > size - field->size)
            return FAIL(b, path, "%s has a field beyond its %lld bytes", b->label, (long long)size);
        if (i) memcpy(bytes + field->offset, &leaves[i - 1], (size_t)field->size);
    }
    uint64_t farthest;
    if (status == CUTE_OK && !cute_offsets_fit(arg, bytes, &farthest)) {
        status =
            FAIL(b, path,
                 "expected the last element of buffer '%s' less than %lld elements from the first for %s, "
                 "got %llu",
                 buffer->tensor.name, (long long)arg->offsets_below, b->label, (unsigned long long)farthest);
        cute_note(b->diag, NULL, CUTE_OFFSETS_FIX);
    }
    if (status == CUTE_OK) status = add_param(b, bytes, size, path);
    if (status != CUTE_OK) return status;
    plan_fixup fixup = {FIXUP_BUFFER, param, arg->fields[0].offset, (size_t)(buffer - b->config->buffers),
                        offset,       0};
    return add_fixup(b, fixup);
}

static cute_status buffer_offset(binder *b, const json_t *json, const config_buffer *buffer,
                                 const cute_path *path, int64_t *bytes)
{
    int64_t elements = 0;
    const json_t *offset = json_object_get(json, "offset");
    const cute_path *at = config_member(b->config, path, "offset");
    if (offset) CUTE_TRY(config_integer(b->config, offset, at, &elements, b->diag));
    if (elements < 0 || elements > buffer->tensor.span)
        return FAIL(b, at, "offset %lld is out of bounds of '%s', which has %lld elements",
                    (long long)elements, buffer->tensor.name, (long long)buffer->tensor.span);
    int64_t total = elements + buffer->tensor.offset;
    *bytes = total * cute_dtype_get(buffer->tensor.dtype)->bytes;
    return CUTE_OK;
}

static cute_status bind_buffer(binder *b, const json_t *json, const char *name, const cute_path *path)
{
    config_buffer *buffer;
    int64_t bytes;
    const cute_path *at = json ? config_member(b->config, path, "buffer") : path;
    CUTE_TRY(config_find_buffer(b->config, name, at, &buffer, b->diag));
    CUTE_TRY(buffer_offset(b, json, buffer, path, &bytes));
    const cute_arg *arg = b->arg;
    cute_arg_kind kind = arg ? arg->kind : CUTE_ARG_UNKNOWN;
    if (kind == CUTE_ARG_SCALAR)
        return FAIL(b, path, "%s is a scalar of %s, but '%s' is a buffer", b->label,
                    arg->dtype  ? arg->dtype
                    : arg->type ? arg->type
                                : "an unknown type",
                    name);
    if (kind == CUTE_ARG_STRUCT)
        return FAIL(b, path, "expected the fields of struct %s: {\"struct\": [...]}", b->label);
    if (kind == CUTE_ARG_TENSOR_MAP) return bind_map(b, NULL, buffer, path);
    CUTE_TRY(check_buffer(b, buffer, bytes, path));
    if (kind == CUTE_ARG_MEMREF && arg->layout && arg->field_count)
        return bind_tensor_struct(b, buffer, bytes, path);
    CUTE_TRY(check_shape(b, buffer, path));
    if (kind == CUTE_ARG_MEMREF && arg->count > 1) return bind_memref(b, buffer, path);
    return add_pointer(b, (size_t)(buffer - b->config->buffers), bytes, path);
}

static cute_status check_range(binder *b, cute_dtype dtype, double value, const cute_path *path)
{
    const cute_dtype_info *info = cute_dtype_get(dtype);
    if (info->class == CUTE_CLASS_FLOAT) return CUTE_OK;
    if (value != rint(value))
        return FAIL(b, path, "expected an integer for %s, which is of %s, got %g", b->label, info->name,
                    value);
    int bits = info->class == CUTE_CLASS_BOOL ? 1 : (int)info->bytes * 8;
    /* Signless integers may be given as signed or unsigned. */
    double low = info->class == CUTE_CLASS_SIGNED ? -ldexp(1, bits - 1) : 0, high = ldexp(1, bits);
    if (value < low || value >= high) return FAIL(b, path, "%.0f does not fit in %s", value, info->name);
    return CUTE_OK;
}

/* Integers are not converted to double, which has fewer digits than i64. */
static cute_status encode_scalar(binder *b, const json_t *value, cute_dtype dtype, const cute_path *path,
                                 uint8_t *out)
{
    const cute_dtype_info *info = cute_dtype_get(dtype);
    double real;
    int64_t integer;
    if (info->class != CUTE_CLASS_FLOAT && !json_is_real(value)) {
        CUTE_TRY(config_integer(b->config, value, path, &integer, b->diag));
        CUTE_TRY(check_range(b, dtype, (double)integer, path));
        memcpy(out, &integer, (size_t)info->bytes);
        snprintf(b->shown, sizeof b->shown, "%lld", (long long)integer);
        return CUTE_OK;
    }
    CUTE_TRY(config_real(b->config, value, path, &real, b->diag));
    CUTE_TRY(check_range(b, dtype, real, path));
    cute_dtype_store(dtype, out, 1, 1, &real);
    snprintf(b->shown, sizeof b->shown, "%.9g", real);
    return CUTE_OK;
}

/* Encodes a number or a list of numbers into `out` of `room` bytes; *size is the encoded size. */
static cute_status encode_value(binder *b, const json_t *value, cute_dtype dtype, const cute_path *path,
                                uint8_t *out, int64_t room, int64_t *size)
{
    int64_t bytes = cute_dtype_get(dtype)->bytes;
    size_t count = json_is_array(value) ? json_array_size(value) : 1;
    *size = bytes * (int64_t)count;
    if (*size > room)
        return FAIL(b, path, "expected at most %lld bytes, got %lld", (long long)room, (long long)*size);
    if (!json_is_array(value)) return encode_scalar(b, value, dtype, path, out);
    for (size_t i = 0; i < count; i++)
        CUTE_TRY(encode_scalar(b, json_array_get(value, i), dtype, config_element(b->config, path, i),
                               out + (int64_t)i * bytes));
    return CUTE_OK;
}

static cute_status scalar_type(binder *b, const json_t *json, const char *known, const cute_path *path,
                               cute_dtype *out)
{
    const char *given = json_string_value(json_object_get(json, "type"));
    if (!given && !known)
        return FAIL(b, path, "unknown type of %s: write {\"type\": \"i32\", \"value\": ...}", b->label);
    if (!cute_dtype_find(given ? given : known, out))
        return FAIL(b, path, "unsupported type of %s: '%s' is not a number", b->label, known);
    if (given && !dtypes_agree(known, *out))
        return FAIL(b, path, "expected %s for %s, got %s", known, b->label, given);
    return CUTE_OK;
}

static cute_status bind_scalar(binder *b, const json_t *json, const json_t *value, const cute_path *path)
{
    enum { MAX_SCALARS = 8192 };
    uint8_t bytes[MAX_SCALARS];
    cute_dtype dtype;
    int64_t size;
    const cute_arg *arg = b->arg;
    if (arg &&
        (arg->kind == CUTE_ARG_POINTER || arg->kind == CUTE_ARG_MEMREF || arg->kind == CUTE_ARG_TENSOR_MAP))
        return FAIL(b, path, "expected the name of a buffer for %s, a %s", b->label,
                    cute_arg_kind_name(arg->kind));
    if (arg && arg->kind == CUTE_ARG_STRUCT)
        return FAIL(b, path, "expected the fields of struct %s: {\"struct\": [...]}", b->label);
    CUTE_TRY(scalar_type(b, json, arg ? arg->dtype : NULL, path, &dtype));
    const cute_path *at = json ? config_member(b->config, path, "value") : path;
    CUTE_TRY(encode_value(b, value, dtype, at, bytes, sizeof bytes, &size));
    return add_param(b, bytes, size, at);
}

/* ---- structs ---- */

typedef struct struct_bytes {
    uint8_t bytes[32764];
    int64_t size, align;
} struct_bytes;

static cute_status place_field(binder *b, struct_bytes *l, const json_t *json, int64_t size, int64_t align,
                               const cute_field *known, const cute_path *path, int64_t *at)
{
    const json_t *given = json_is_object(json) ? json_object_get(json, "at") : NULL;
    *at = known ? known->offset : given ? json_integer_value(given) : (l->size + align - 1) / align * align;
    if (*at > (int64_t)sizeof l->bytes - size)
        return FAIL(b, path, "the struct is larger than %zu bytes", sizeof l->bytes);
    if (known && known->size > 0 && known->size != size)
        return FAIL(b, path, "expected %lld bytes for field '%s', got %lld", (long long)known->size,
                    known->name ? known->name : "?", (long long)size);
    if (*at + size > l->size) l->size = *at + size;
    if (align > l->align) l->align = align;
    return CUTE_OK;
}

static cute_status bind_field(binder *b, struct_bytes *l, const json_t *json, const cute_field *known,
                              const cute_path *path)
{
    const char *name =
        json_is_string(json) ? json_string_value(json) : json_string_value(json_object_get(json, "buffer"));
    bool is_buffer = json_object_get(json, "buffer") != NULL;
    for (size_t i = 0; i < b->config->buffer_count && name; i++)
        is_buffer = is_buffer || strcmp(b->config->buffers[i].tensor.name, name) == 0;
    int64_t at, size;
    if (json_is_null(json)) return place_field(b, l, json, POINTER_BYTES, POINTER_BYTES, known, path, &at);
    if (is_buffer) {
        config_buffer *buffer;
        int64_t bytes;
        CUTE_TRY(config_find_buffer(b->config, name, path, &buffer, b->diag));
        CUTE_TRY(buffer_offset(b, json_is_object(json) ? json : NULL, buffer, path, &bytes));
        b->plan->used[buffer - b->config->buffers] = 1;
        CUTE_TRY(place_field(b, l, json, POINTER_BYTES, POINTER_BYTES, known, path, &at));
        return add_fixup(
            b, (plan_fixup){FIXUP_BUFFER, b->next, at, (size_t)(buffer - b->config->buffers), bytes, 0});
    }
    uint8_t bytes[8192];
    cute_dtype dtype;
    const json_t *value = json_is_object(json) ? json_object_get(json, "value") : json;
    CUTE_TRY(scalar_type(b, json, known ? known->dtype : NULL, path, &dtype));
    CUTE_TRY(encode_value(b, value, dtype,
                          json_is_object(json) ? config_member(b->config, path, "value") : path, bytes,
                          sizeof bytes, &size));
    CUTE_TRY(place_field(b, l, json, size, cute_dtype_get(dtype)->bytes, known, path, &at));
    memcpy(l->bytes + at, bytes, (size_t)size);
    return CUTE_OK;
}

static const cute_field *find_field(const cute_arg *arg, const char *name)
{
    for (size_t i = 0; arg && i < arg->field_count; i++)
        if (arg->fields[i].name && strcmp(arg->fields[i].name, name) == 0) return &arg->fields[i];
    return NULL;
}

static cute_status bind_fields(binder *b, struct_bytes *l, const json_t *fields, const cute_path *path)
{
    const cute_arg *arg = b->arg;
    const char *name;
    json_t *value;
    size_t index;
    if (json_is_object(fields)) {
        json_object_foreach((json_t *)(uintptr_t)fields, name, value)
        {
            const cute_field *known = find_field(arg, name);
            const cute_path *at = config_member(b->config, path, name);
            if (!known)
                return cute_document_fail(&b->config->document, at, true, b->diag, "%s has no field '%s'",
                                          b->label, name);
            CUTE_TRY(bind_field(b, l, value, known, at));
        }
        if (arg && json_object_size(fields) != arg->field_count)
            return FAIL(b, path, "%s: expected %zu fields, got %zu", b->label, arg->field_count,
                        json_object_size(fields));
        return CUTE_OK;
    }
    bool matched = arg && arg->kind == CUTE_ARG_STRUCT && arg->field_count > 0;
    if (matched && json_array_size(fields) != arg->field_count)
        return FAIL(b, path, "%s: expected %zu fields, got %zu", b->label, arg->field_count,
                    json_array_size(fields));
    json_array_foreach((json_t *)(uintptr_t)fields, index, value) CUTE_TRY(bind_field(
        b, l, value, matched ? &arg->fields[index] : NULL, config_element(b->config, path, index)));
    return CUTE_OK;
}

static cute_status bind_struct(binder *b, const json_t *json, const cute_path *path)
{
    const cute_arg *arg = b->arg;
    if (arg && arg->kind != CUTE_ARG_STRUCT && arg->kind != CUTE_ARG_UNKNOWN)
        return FAIL(b, path, "expected a %s for %s, got a struct", cute_arg_kind_name(arg->kind), b->label);
    struct_bytes *l = cute_arena_alloc(b->config->arena, sizeof *l);
    if (!l) return cute_fail_memory(b->diag);
    l->align = 1;
    CUTE_TRY(bind_fields(b, l, json_object_get(json, "struct"), config_member(b->config, path, "struct")));
    int64_t size = json_integer_value(json_object_get(json, "size"));
    if (size && size < l->size)
        return FAIL(b, path, "expected a 'size' of at least %lld bytes, got %lld", (long long)l->size,
                    (long long)size);
    if (!size)
        size = arg && arg->kind == CUTE_ARG_STRUCT && arg->size > l->size
                   ? arg->size
                   : (l->size + l->align - 1) / l->align * l->align;
    return add_param(b, l->bytes, size, path);
}

/* ---- other ranks ---- */

/* The addresses and maps that an argument added refer to the memory of another rank. */
static cute_status use_memory_of(binder *b, const json_t *json, size_t first_fixup, const cute_path *path)
{
    int64_t rank;
    const cute_path *at = config_member(b->config, path, "rank");
    CUTE_TRY(config_integer(b->config, json, at, &rank, b->diag));
    if (rank < 0 || rank >= b->config->ranks)
        return FAIL(b, at, "expected a rank from 0 to %lld, got %lld", (long long)b->config->ranks - 1,
                    (long long)rank);
    for (size_t i = first_fixup; i < b->launch->fixup_count; i++) {
        plan_fixup *f = &b->launch->fixups[i];
        if (f->kind == FIXUP_BUFFER) {
            f->peer = rank + 1;
            b->plan->writes[f->index] = 1; /* by the other ranks, too */
        } else {
            b->plan->maps[f->index].rank = (size_t)rank;
        }
    }
    return CUTE_OK;
}

/* The address of a table with each rank's address of the buffer. */
static cute_status bind_peers(binder *b, const json_t *name, const cute_path *path)
{
    config_buffer *buffer;
    const cute_path *at = config_member(b->config, path, "peers");
    CUTE_TRY(config_find_buffer(b->config, json_string_value(name), at, &buffer, b->diag));
    if (b->arg && b->arg->kind != CUTE_ARG_POINTER && b->arg->kind != CUTE_ARG_UNKNOWN)
        return FAIL(b, path, "expected a %s for %s, got the address of a table",
                    cute_arg_kind_name(b->arg->kind), b->label);
    if (buffer->global)
        return FAIL(b, at, "expected a buffer, got the variable '%s' of the module", buffer->tensor.name);
    size_t index = (size_t)(buffer - b->config->buffers);
    plan_fixup fixup = {.kind = FIXUP_PEERS, .param = b->next, .index = index};
    b->plan->used[index] = b->plan->writes[index] = 1;
    CUTE_TRY(add_integer(b, 0, path));
    return add_fixup(b, fixup);
}

/* ---- all arguments ---- */

static cute_status bind_name(binder *b, const json_t *json, const cute_path *path)
{
    const char *name = json_string_value(json);
    for (size_t i = 0; i < b->config->buffer_count; i++)
        if (strcmp(b->config->buffers[i].tensor.name, name) == 0) return bind_buffer(b, NULL, name, path);
    const cute_arg *arg = b->arg;
    /* Not a param either, so report an unknown buffer. */
    bool is_scalar = arg && arg->kind == CUTE_ARG_SCALAR;
    if (!is_scalar && !config_param(b->config, name)) {
        config_buffer *unused;
        return config_find_buffer(b->config, name, path, &unused, b->diag);
    }
    return bind_scalar(b, NULL, json, path);
}

static cute_status bind_kind(binder *b, const json_t *json, const cute_path *path)
{
    config_buffer *buffer;
    const json_t *item;
    if (json_is_null(json)) {
        if (b->arg && b->arg->kind == CUTE_ARG_SCALAR)
            return FAIL(b, path, "expected a number for %s, got null", b->label);
        return add_integer(b, 0, path);
    }
    if (json_is_string(json)) return bind_name(b, json, path);
    if (json_is_number(json)) return bind_scalar(b, NULL, json, path);
    if ((item = json_object_get(json, "value"))) return bind_scalar(b, json, item, path);
    if ((item = json_object_get(json, "buffer"))) return bind_buffer(b, json, json_string_value(item), path);
    if ((item = json_object_get(json, "peers"))) return bind_peers(b, item, path);
    if (json_object_get(json, "struct")) return bind_struct(b, json, path);
    if ((item = json_object_get(json, "memref"))) {
        CUTE_TRY(config_find_buffer(b->config, json_string_value(item),
                                    config_member(b->config, path, "memref"), &buffer, b->diag));
        CUTE_TRY(check_buffer(b, buffer, 0, path));
        CUTE_TRY(check_shape(b, buffer, path));
        return bind_memref(b, buffer, path);
    }
    if ((item = json_object_get(json, "texture")))
        return bind_texture(b, item, false, config_member(b->config, path, "texture"));
    if ((item = json_object_get(json, "surface")))
        return bind_texture(b, item, true, config_member(b->config, path, "surface"));
    item = json_object_get(json, "tensor_map");
    const cute_path *at = config_member(b->config, path, "tensor_map");
    CUTE_TRY(config_find_buffer(b->config, json_string_value(json_object_get(item, "buffer")),
                                config_member(b->config, at, "buffer"), &buffer, b->diag));
    return bind_map(b, item, buffer, at);
}

static cute_status bind_arg(binder *b, const json_t *json, const cute_path *path)
{
    const json_t *map = json_object_get(json, "tensor_map"),
                 *rank = json_object_get(map ? map : json, "rank");
    size_t first = b->launch->fixup_count;
    CUTE_TRY(bind_kind(b, json, path));
    if (!rank) return CUTE_OK;
    return use_memory_of(b, rank, first, map ? config_member(b->config, path, "tensor_map") : path);
}

/* The kernel's argument that begins at the next parameter. */
static void find_arg(binder *b, size_t number)
{
    b->arg = NULL;
    for (size_t i = 0; i < b->kernel->arg_count; i++)
        if (b->kernel->args[i].first == b->next && b->kernel->args[i].count > 0) b->arg = &b->kernel->args[i];
    if (b->arg && b->kernel->has_metadata)
        snprintf(b->label, sizeof b->label, "argument %zu (%.100s)", number, b->arg->name);
    else
        snprintf(b->label, sizeof b->label, "argument %zu", number);
}

/* Whether a launch has to provide it: not if it is static, or a map derived from another argument. */
static bool is_given(const cute_kernel *kernel, const cute_arg *arg)
{
    return arg->count > 0 && !cute_arg_is_derived(kernel, arg);
}

static size_t given_args(const cute_kernel *kernel)
{
    size_t count = 0;
    for (size_t i = 0; i < kernel->arg_count; i++) count += is_given(kernel, &kernel->args[i]);
    return count;
}

/* A map of the tensor that another argument was given. */
static cute_status bind_derived_map(binder *b, const cute_arg *arg, const cute_path *path)
{
    uint8_t zeros[CUTE_MAP_BYTES] = {0};
    const cute_arg *tensor = &b->kernel->args[arg->map_tensor];
    size_t map, param = b->next;
    const plan_fixup *base = NULL;
    for (size_t i = 0; i < b->launch->fixup_count; i++)
        if (b->launch->fixups[i].kind == FIXUP_BUFFER && b->launch->fixups[i].param == tensor->first &&
            b->launch->fixups[i].at == 0)
            base = &b->launch->fixups[i];
    if (!base)
        return FAIL(b, path, "%s is a tensor map of '%s', which is not bound to a buffer", b->label,
                    tensor->name);
    CUTE_TRY(cute_plan_tma_map_of(b->plan, path, b->kernel, arg, &b->config->buffers[base->index],
                                  base->bytes, &map, b->diag));
    CUTE_TRY(add_param(b, zeros, arg->in_memory ? 8 : CUTE_MAP_BYTES, path));
    if (base->peer) b->plan->maps[map].rank = (size_t)base->peer - 1;
    return add_fixup(b, (plan_fixup){arg->in_memory ? FIXUP_MAP_ADDRESS : FIXUP_MAP, param, 0, map, 0, 0});
}

static cute_status fail_count(binder *b, size_t given, const cute_path *path)
{
    const cute_kernel *kernel = b->kernel;
    cute_buffer wanted = {0};
    size_t count = given_args(kernel);
    FAIL(b, path, "expected %zu argument%s for kernel '%s', got %zu", count, count == 1 ? "" : "s",
         kernel->name, given);
    for (size_t i = 0; i < kernel->arg_count; i++) {
        const cute_arg *arg = &kernel->args[i];
        if (!is_given(kernel, arg)) continue;
        cute_buffer_printf(&wanted, "%s%s", wanted.length ? ", " : "", arg->name);
        if (arg->type)
            cute_buffer_printf(&wanted, ": %s", arg->type);
        else
            cute_buffer_printf(&wanted, " (%lld bytes)", (long long)arg->size);
    }
    if (wanted.length) cute_note(b->diag, NULL, "its arguments are %s", wanted.data);
    cute_buffer_release(&wanted);
    return CUTE_INVALID;
}

/* "n: i32 = 1000", "A: memref<?xf32> = A"; structs and lists as in launch.json. */
static cute_status add_arg_text(binder *b, size_t index, const json_t *json)
{
    cute_buffer text = {0};
    bool is_scalar =
        b->shown[0] && !json_object_get(json, "struct") && !json_is_array(json_object_get(json, "value"));
    char *whole = is_scalar || json_is_string(json)
                      ? NULL
                      : json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    const char *shown = is_scalar ? b->shown : whole ? whole : json_string_value(json);
    const char *type = b->arg ? b->arg->type : NULL;
    cute_buffer_printf(&text, "%s%s%s = %s", b->arg ? b->arg->name : b->label, type ? ": " : "",
                       type ? type : "", shown ? shown : "?");
    free(whole);
    b->launch->arg_texts[index] = cute_arena_copy(b->config->arena, cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
    return b->launch->arg_texts[index] ? CUTE_OK : cute_fail_memory(b->diag);
}

/* Without "args", the kernel's arguments are bound to the buffers and params of the same names. */
static json_t *args_by_name(const cute_kernel *kernel)
{
    json_t *args = json_array();
    for (size_t i = 0; i < kernel->arg_count; i++)
        if (is_given(kernel, &kernel->args[i]))
            json_array_append_new(args, json_string(kernel->args[i].name));
    return args;
}

cute_status cute_plan_bind(cute_plan *plan, plan_launch *launch, cute_diag *diag)
{
    const cute_config *config = plan->config;
    binder b = {.plan = plan, .launch = launch, .config = config, .kernel = launch->kernel, .diag = diag};
    const cute_kernel *kernel = launch->kernel;
    if (launch->config->host) return cute_plan_bind_host(plan, launch, diag);
    json_t *given = json_object_get(launch->config->json, "args");
    json_t *args = given ? json_incref(given) : kernel->has_metadata ? args_by_name(kernel) : json_array();
    const cute_path *path =
        given ? config_member(config, launch->config->path, "args") : launch->config->path;
    cute_status status = CUTE_OK;
    launch->arg_count = json_array_size(args);
    launch->param_count = kernel->param_count;
    launch->params = cute_arena_array(config->arena, kernel->param_count + 1, sizeof *launch->params);
    launch->param_sizes =
        cute_arena_array(config->arena, kernel->param_count + 1, sizeof *launch->param_sizes);
    launch->arg_texts = cute_arena_array(config->arena, launch->arg_count + 1, sizeof *launch->arg_texts);
    if (!launch->params || !launch->param_sizes || !launch->arg_texts) status = cute_fail_memory(diag);
    if (status == CUTE_OK && kernel->has_metadata && launch->arg_count != given_args(kernel))
        status = fail_count(&b, launch->arg_count, path);
    for (size_t i = 0; i < launch->arg_count && status == CUTE_OK; i++) {
        const json_t *arg = json_array_get(args, i);
        find_arg(&b, i);
        if (b.next >= kernel->param_count) status = fail_count(&b, launch->arg_count, path);
        b.shown[0] = '\0';
        if (status == CUTE_OK) status = bind_arg(&b, arg, given ? config_element(config, path, i) : path);
        if (status == CUTE_OK) status = add_arg_text(&b, i, arg);
    }
    while (status == CUTE_OK && b.next < kernel->param_count) { /* trailing derived maps */
        find_arg(&b, launch->arg_count);
        if (!b.arg || !cute_arg_is_derived(kernel, b.arg)) break;
        status = bind_derived_map(&b, b.arg, path);
    }
    if (status == CUTE_OK && b.next != kernel->param_count) status = fail_count(&b, launch->arg_count, path);
    if (status == CUTE_OK) status = check_arrays(&b, path);
    json_decref(args);
    return status;
}
