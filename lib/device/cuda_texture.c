/* Texture and surface objects of the CUDA driver: descriptors, arrays, and copies between arrays and memory. */
#include "lib/device/cuda_texture.h"

#include <string.h>

#include "lib/numeric/texture.h"

/* The driver's CUarray_format and CUaddress_mode. */
static const int formats[CUTE_TEXTURE_FORMATS] = {
    [CUTE_TEXTURE_U8] = 0x01,  [CUTE_TEXTURE_U16] = 0x02, [CUTE_TEXTURE_U32] = 0x03,
    [CUTE_TEXTURE_S8] = 0x08,  [CUTE_TEXTURE_S16] = 0x09, [CUTE_TEXTURE_S32] = 0x0a,
    [CUTE_TEXTURE_F16] = 0x10, [CUTE_TEXTURE_F32] = 0x20,
};
static const int modes[] = {
    [CUTE_TEXTURE_CLAMP] = 1, [CUTE_TEXTURE_WRAP] = 0, [CUTE_TEXTURE_MIRROR] = 2, [CUTE_TEXTURE_BORDER] = 3};

bool cute_cuda_has_textures(const cuda_api *api)
{
    return api->copy_3d && api->array_create && api->array_destroy && api->texture_create &&
           api->texture_destroy && api->surface_create && api->surface_destroy;
}

/* Missing dimensions are 0 in an array, layers are its depth. */
static cu_result make_array(const cuda_api *api, cuda_texture *t)
{
    const num_texture_kind *kind = num_texture_kind_get(t->texture.kind);
    cu_array_descriptor descriptor = {
        .width = t->texture.width,
        .height = kind->dimensions > 1 ? t->texture.height : 0,
        .depth = kind->dimensions > 2 || kind->layered || kind->cube ? t->texture.depth : 0,
        .format = formats[t->texture.format],
        .channels = (unsigned)t->texture.channels};
    descriptor.flags = (kind->layered ? CU_ARRAY_LAYERED : 0u) |
                       (t->texture.surface ? CU_ARRAY_SURFACE : 0u) | (kind->cube ? CU_ARRAY_CUBE : 0u) |
                       (t->texture.gather ? CU_ARRAY_GATHER : 0u);
    return api->array_create(&t->array, &descriptor);
}

static void describe_resource(const cuda_texture *t, cu_resource *out)
{
    const cute_texture *x = &t->texture;
    memset(out, 0, sizeof *out);
    if (x->memory == CUTE_TEXTURE_LINEAR) {
        out->kind = CU_RESOURCE_LINEAR;
        out->of.linear.address = x->address;
        out->of.linear.format = formats[x->format];
        out->of.linear.channels = (unsigned)x->channels;
        out->of.linear.bytes = num_texture_row(x);
    } else if (x->memory == CUTE_TEXTURE_PITCH) {
        out->kind = CU_RESOURCE_PITCH;
        out->of.pitch.address = x->address;
        out->of.pitch.format = formats[x->format];
        out->of.pitch.channels = (unsigned)x->channels;
        out->of.pitch.width = x->width;
        out->of.pitch.height = x->height;
        out->of.pitch.pitch = x->pitch;
    } else {
        out->kind = CU_RESOURCE_ARRAY;
        out->of.array = t->array;
    }
}

static void describe_reading(const cute_texture *t, cu_texture_descriptor *out)
{
    memset(out, 0, sizeof *out);
    for (int i = 0; i < 3; i++) out->modes[i] = modes[t->modes[i]];
    out->filter = t->filter == CUTE_TEXTURE_LINEAR_FILTER;
    out->flags = (num_texture_is_float(t) ? 0u : CU_TEXTURE_AS_INTEGERS) |
                 (t->normalized ? CU_TEXTURE_NORMALIZED : 0u);
    memcpy(out->border, t->border, sizeof out->border);
}

cu_result cute_cuda_texture_make(const cuda_api *api, cuda_texture *t, const char **doing)
{
    cu_resource resource;
    cu_texture_descriptor reading;
    cu_result result = 0;
    *doing = "creating an array";
    if (t->texture.memory == CUTE_TEXTURE_ARRAY) result = make_array(api, t);
    if (result != 0) return result;
    *doing = t->texture.surface ? "creating a surface object" : "creating a texture object";
    describe_resource(t, &resource);
    describe_reading(&t->texture, &reading);
    result = t->texture.surface ? api->surface_create(&t->object, &resource)
                                : api->texture_create(&t->object, &resource, &reading, NULL);
    t->made = result == 0;
    return result;
}

cu_result cute_cuda_texture_release(const cuda_api *api, cuda_texture *t)
{
    cu_result first = 0, second = 0;
    if (t->made)
        first = t->texture.surface ? api->surface_destroy(t->object) : api->texture_destroy(t->object);
    if (t->array) second = api->array_destroy(t->array);
    return first ? first : second;
}

cu_result cute_cuda_texture_move(const cuda_api *api, const cuda_texture *t, bool to_memory, cu_stream stream)
{
    const cute_texture *x = &t->texture;
    cu_copy_end memory = {.memory = CU_MEMORY_DEVICE,
                          .address = x->address,
                          .pitch = x->pitch,
                          .rows = x->slice / x->pitch},
                array = {.memory = CU_MEMORY_ARRAY, .array = t->array};
    cu_copy_3d copy = {to_memory ? array : memory, to_memory ? memory : array, num_texture_row(x), x->height,
                       x->depth};
    return t->array ? api->copy_3d(&copy, stream) : 0;
}
