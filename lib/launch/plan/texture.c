/* Textures and surfaces of launch.json: "texture" and "surface" of an argument, checked against every rule of the driver. */
#include <string.h>

#include "lib/base/list.h"
#include "lib/launch/plan/plan.h"
#include "lib/numeric/texture.h"

typedef struct binding {
    cute_plan *plan;
    const cute_config *config;
    const cute_path *path;
    const json_t *json;
    cute_tensor view;
    cute_texture texture;
    cute_diag *diag;
} binding;

#define FAIL(b, key, ...)                                                                                    \
    cute_document_fail(&(b)->config->document, config_key((b)->config, (b)->json, (b)->path, key), false,    \
                       (b)->diag, __VA_ARGS__)

/* Words of launch.json, by the values of cute/texture.h. */
static const char *const memories[] = {"array", "linear", "pitch", NULL};
static const char *const modes[] = {"clamp", "wrap", "mirror", "border", NULL};
static const char *const filters[] = {"point", "linear", NULL};
static const char *const reads[] = {"element", "normalized", NULL};

/* The index of a word, which the schema has checked; 0 if it is not given. */
static int find_word(const char *const *words, const char *word)
{
    for (int i = 0; word && words[i]; i++)
        if (strcmp(words[i], word) == 0) return i;
    return 0;
}

static int read_word(const binding *b, const char *key, const char *const *words)
{
    return find_word(words, json_string_value(json_object_get(b->json, key)));
}

static cute_texture_kind read_kind(const binding *b)
{
    const char *word = json_string_value(json_object_get(b->json, "kind"));
    int k = 0;
    while (k + 1 < CUTE_TEXTURE_KINDS && word &&
           strcmp(num_texture_kind_get((cute_texture_kind)k)->name, word) != 0)
        k++;
    return (cute_texture_kind)k;
}

static cute_status read_format(binding *b)
{
    const char *name = cute_dtype_get(b->view.dtype)->name;
    for (int f = 0; f < CUTE_TEXTURE_FORMATS; f++) {
        b->texture.format = (cute_texture_format)f;
        if (strcmp(num_texture_format_get(b->texture.format)->name, name) == 0) return CUTE_OK;
    }
    return FAIL(b, "buffer", "expected texels of u8, u16, u32, i8, i16, i32, f16 or f32, got '%s' of %s",
                b->view.name, name);
}

/* Dimensions from the slowest: cubes and faces or layers, depth, height, width, then the channels, if there is one dimension more. */
static cute_status read_extents(binding *b)
{
    cute_texture *t = &b->texture;
    const cute_tensor *v = &b->view;
    const num_texture_kind *kind = num_texture_kind_get(t->kind);
    int rank = kind->dimensions + kind->layered + kind->cube, bytes = (int)cute_dtype_get(v->dtype)->bytes;
    if (v->rank != rank && v->rank != rank + 1)
        return FAIL(b, "buffer",
                    "expected %d dimensions for kind %s, or one more for the channels, got %d in buffer '%s'",
                    rank, kind->name, v->rank, v->name);
    for (int i = 0; i < v->rank; i++)
        if (v->shape[i] < 1)
            return FAIL(b, "shape", "expected at least 1 element in dimension %d of a texture, got %lld", i,
                        (long long)v->shape[i]);
    bool many = v->rank == rank + 1;
    int x = rank - 1;
    if (many && (v->shape[rank] > 4 || v->shape[rank] == 3))
        return FAIL(b, "buffer", "expected 1, 2 or 4 channels in the last dimension, got %lld",
                    (long long)v->shape[rank]);
    t->channels = many ? (int)v->shape[rank] : 1;
    if ((many && v->shape[rank] > 1 && v->strides[rank] != 1) ||
        (v->shape[x] > 1 && v->strides[x] != t->channels))
        return FAIL(b, "strides", "expected the texels of a row without gaps, got stride %lld between them",
                    (long long)v->strides[x]);
    t->width = (uint64_t)v->shape[x];
    t->height = kind->dimensions > 1 ? (uint64_t)v->shape[x - 1] : 1;
    t->pitch = kind->dimensions > 1 && t->height > 1 ? (uint64_t)(v->strides[x - 1] * bytes) : 0;
    int slices = rank - (kind->dimensions > 1 ? 2 : 1);
    t->depth = 1;
    for (int i = 0; i < slices; i++) t->depth *= (uint64_t)v->shape[i];
    if (slices == 2 && v->shape[0] > 1 && v->strides[0] != v->shape[1] * v->strides[1])
        return FAIL(b, "strides", "expected cubes without gaps, got stride %lld between them",
                    (long long)v->strides[0]);
    if (slices && t->depth > 1) t->slice = (uint64_t)(v->strides[slices - 1] * bytes);
    if (t->height == 1) t->pitch = t->slice;
    if (kind->cube && v->shape[slices - 1] != 6)
        return FAIL(b, "buffer", "expected 6 faces in dimension %d of kind %s, got %lld", slices - 1,
                    kind->name, (long long)v->shape[slices - 1]);
    return CUTE_OK;
}

static cute_status read_modes(binding *b)
{
    const json_t *given = json_object_get(b->json, "address");
    size_t dimensions = (size_t)num_texture_kind_get(b->texture.kind)->dimensions;
    if (json_is_array(given) && json_array_size(given) != dimensions)
        return FAIL(b, "address", "expected %zu address mode%s, one for each dimension, got %zu", dimensions,
                    dimensions == 1 ? "" : "s", json_array_size(given));
    for (size_t i = 0; i < 3; i++) {
        const json_t *word = json_is_array(given) ? json_array_get(given, dimensions - 1 - i) : given;
        b->texture.modes[i] =
            (cute_texture_address)find_word(modes, i < dimensions ? json_string_value(word) : NULL);
    }
    return CUTE_OK;
}

static cute_status read_border(binding *b)
{
    const json_t *given = json_object_get(b->json, "border");
    const cute_path *path = config_key(b->config, b->json, b->path, "border");
    size_t count = json_is_array(given) ? json_array_size(given) : 0;
    for (size_t i = 0; i < 4 && given; i++) {
        double value = 0;
        const json_t *item = count ? json_array_get(given, i) : given;
        if (item)
            CUTE_TRY(config_real(b->config, item, count ? config_element(b->config, path, i) : path, &value,
                                 b->diag));
        b->texture.border[i] = (float)value;
    }
    return CUTE_OK;
}

/* Repeats a message of num_texture_check at the place in launch.json. */
static cute_status check_rules(binding *b)
{
    cute_diag *found = cute_diag_create();
    cute_status status = num_texture_check(&b->texture, found);
    const cute_message *message = status == CUTE_OK ? NULL : cute_diag_get(found, 0);
    if (message) cute_document_fail(&b->config->document, b->path, false, b->diag, "%s", message->text);
    cute_diag_destroy(found);
    return status;
}

/* "2d texture of 64x32 u8 x 4 in an array, address clamp, filter linear, normalized coordinates, read as normalized numbers" */
static const char *describe(const binding *b)
{
    const cute_texture *t = &b->texture;
    const num_texture_kind *kind = num_texture_kind_get(t->kind);
    cute_buffer text = {0};
    cute_buffer_printf(&text, "%s %s of '%s', ", kind->name, t->surface ? "surface" : "texture",
                       b->view.name);
    if (kind->dimensions > 2 || kind->layered || kind->cube)
        cute_buffer_printf(&text, "%llux", (unsigned long long)t->depth);
    if (kind->dimensions > 1) cute_buffer_printf(&text, "%llux", (unsigned long long)t->height);
    cute_buffer_printf(&text, "%llu texels of %d x %s, %s", (unsigned long long)t->width, t->channels,
                       num_texture_format_get(t->format)->name, memories[t->memory]);
    if (!t->surface) {
        cute_buffer_puts(&text, ", address ");
        for (int i = kind->dimensions - 1; i >= 0; i--)
            cute_buffer_printf(&text, "%s%s", modes[t->modes[i]], i ? " " : "");
        cute_buffer_printf(&text, ", filter %s, %s coordinates, read as %s", filters[t->filter],
                           t->normalized ? "normalized" : "unnormalized",
                           t->normalized_float       ? "normalized numbers"
                           : num_texture_is_float(t) ? "f32"
                                                     : "integers");
        if (t->gather) cute_buffer_puts(&text, ", gather");
    }
    const char *copy = cute_arena_copy(b->config->arena, cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
    return copy ? copy : "";
}

cute_status cute_plan_texture(cute_plan *plan, const json_t *json, const cute_path *path,
                              const config_buffer *buffer, bool surface, size_t *index, cute_diag *diag)
{
    const cute_config *config = plan->config;
    binding b = {
        .plan = plan, .config = config, .path = path, .json = json, .view = buffer->tensor, .diag = diag};
    b.texture = (cute_texture){.size = sizeof b.texture, .surface = surface};
    CUTE_TRY(config_buffer_view(config, json, path, &buffer->tensor, &b.view, diag));
    b.texture.kind = read_kind(&b);
    CUTE_TRY(read_format(&b));
    CUTE_TRY(read_extents(&b));
    int64_t bytes = b.view.offset * cute_dtype_get(b.view.dtype)->bytes;
    b.texture.address = (cute_address)bytes; /* buffers are aligned */
    b.texture.memory = (cute_texture_memory)read_word(&b, "memory", memories);
    b.texture.filter = (cute_texture_filter)read_word(&b, "filter", filters);
    b.texture.normalized = json_is_true(json_object_get(json, "normalized"));
    b.texture.normalized_float = read_word(&b, "read", reads) == 1;
    b.texture.gather = json_is_true(json_object_get(json, "gather"));
    CUTE_TRY(read_modes(&b));
    CUTE_TRY(read_border(&b));
    CUTE_TRY(check_rules(&b));
    if (!cute_arena_more(config->arena, &plan->textures, plan->texture_count, &plan->texture_capacity,
                         sizeof *plan->textures, 8))
        return cute_fail_memory(diag);
    *index = plan->texture_count;
    plan->textures[plan->texture_count++] = (plan_texture){.texture = b.texture,
                                                           .buffer = (size_t)(buffer - config->buffers),
                                                           .bytes = bytes,
                                                           .text = describe(&b),
                                                           .rank = cute_plan_rank(plan)};
    return CUTE_OK;
}

/* ---- running ---- */

cute_status cute_plan_open_texture(const plan_texture *texture, const cute_address *memory,
                                   cute_device *device, plan_texture_object *out, cute_diag *diag)
{
    cute_texture own = texture->texture;
    own.address = memory[texture->buffer] + (cute_address)texture->bytes;
    CUTE_TRY(cute_device_texture_create(device, &own, &out->object, &out->handle, diag));
    out->address = own.address;
    return cute_device_texture_load(device, NULL, out->object, diag);
}

/* Before a launch, arrays get texels that an earlier step may have written; after it, the memory of surfaces gets theirs. */
cute_status cute_plan_move_textures(const plan_run *run, const plan_launch *launch, bool after,
                                    cute_stream *stream, cute_diag *diag)
{
    const cute_plan *plan = run->plan;
    for (size_t i = 0; i < launch->fixup_count; i++) {
        const plan_fixup *f = &launch->fixups[i];
        if (f->kind != FIXUP_TEXTURE) continue;
        const plan_texture *t = &plan->textures[f->index];
        cute_device_texture *object = run->textures[f->index].object;
        if (after && t->texture.surface)
            CUTE_TRY(cute_device_texture_store(run->device, stream, object, diag));
        if (!after && plan->writes[t->buffer])
            CUTE_TRY(cute_device_texture_load(run->device, stream, object, diag));
    }
    return CUTE_OK;
}
