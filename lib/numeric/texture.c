/* Textures and surfaces: limits, and the texels of a fetch (CUDA C++ Programming Guide, "Texture Fetching", and its table of technical
 * specifications). Where the guide leaves a choice, as graphics interfaces do: the numbers of texels outside are clamped, not the
 * coordinate before filtering. */
#include "lib/numeric/texture.h"

#include <math.h>
#include <string.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/base/numbers/checked.h"
#include "lib/numeric/number.h"
#include "lib/numeric/number_quick.h"

static const num_texture_kind kinds[CUTE_TEXTURE_KINDS] = {
    [CUTE_TEXTURE_1D] = {"1d", "1d", 1, 1, false, false},
    [CUTE_TEXTURE_2D] = {"2d", "2d", 2, 2, false, false},
    [CUTE_TEXTURE_3D] = {"3d", "3d", 3, 3, false, false},
    [CUTE_TEXTURE_1D_LAYERED] = {"1d_layered", "a1d", 1, 1, true, false},
    [CUTE_TEXTURE_2D_LAYERED] = {"2d_layered", "a2d", 2, 2, true, false},
    [CUTE_TEXTURE_CUBE] = {"cube", "cube", 3, 2, false, true},
    [CUTE_TEXTURE_CUBE_LAYERED] = {"cube_layered", "acube", 3, 2, true, true},
};

static const num_texture_format formats[CUTE_TEXTURE_FORMATS] = {
    [CUTE_TEXTURE_U8] = {"u8", 1, false, false},   [CUTE_TEXTURE_U16] = {"u16", 2, false, false},
    [CUTE_TEXTURE_U32] = {"u32", 4, false, false}, [CUTE_TEXTURE_S8] = {"i8", 1, false, true},
    [CUTE_TEXTURE_S16] = {"i16", 2, false, true},  [CUTE_TEXTURE_S32] = {"i32", 4, false, true},
    [CUTE_TEXTURE_F16] = {"f16", 2, true, true},   [CUTE_TEXTURE_F32] = {"f32", 4, true, true},
};

const num_texture_kind *num_texture_kind_get(cute_texture_kind kind)
{
    return &kinds[kind];
}

const num_texture_format *num_texture_format_get(cute_texture_format format)
{
    return &formats[format];
}

uint64_t num_texel_bytes(const cute_texture *t)
{
    return (uint64_t)(formats[t->format].bytes * t->channels);
}

uint64_t num_texture_row(const cute_texture *t)
{
    return t->width * num_texel_bytes(t);
}

bool num_texture_is_float(const cute_texture *t)
{
    return formats[t->format].is_float || (t->normalized_float && formats[t->format].bytes < 4);
}

/* ---- limits ---- */

/* Most texels along each dimension, layers or cubes last; 0: there is no such dimension. */
static const struct {
    uint64_t texture[3], surface[3];
} limits[CUTE_TEXTURE_KINDS] = {
    [CUTE_TEXTURE_1D] = {{131072, 1, 1}, {32768, 1, 1}},
    [CUTE_TEXTURE_2D] = {{131072, 65536, 1}, {131072, 65536, 1}},
    [CUTE_TEXTURE_3D] = {{16384, 16384, 16384}, {16384, 16384, 16384}},
    [CUTE_TEXTURE_1D_LAYERED] = {{32768, 1, 2048}, {32768, 1, 2048}},
    [CUTE_TEXTURE_2D_LAYERED] = {{32768, 32768, 2048}, {32768, 32768, 2048}},
    [CUTE_TEXTURE_CUBE] = {{32768, 32768, 6}, {32768, 32768, 6}},
    [CUTE_TEXTURE_CUBE_LAYERED] = {{32768, 32768, 2046}, {32768, 32768, 2046}},
};
static const uint64_t linear_limits[3] = {UINT64_C(1) << 28, 1, 1}, pitch_limits[3] = {131072, 65000, 1},
                      gather_limits[3] = {32768, 32768, 1};
enum { PITCH_MOST = 2097120, PITCH_ALIGN = 32, ADDRESS_ALIGN = 512 };

static cute_status check_extents(const cute_texture *t, cute_diag *diag)
{
    static const char *const names[] = {"width", "height", "depth"};
    const uint64_t extents[] = {t->width, t->height, t->depth};
    const uint64_t *most = t->surface                         ? limits[t->kind].surface
                           : t->memory == CUTE_TEXTURE_LINEAR ? linear_limits
                           : t->memory == CUTE_TEXTURE_PITCH  ? pitch_limits
                           : t->gather                        ? gather_limits
                                                              : limits[t->kind].texture;
    for (int i = 0; i < 3; i++)
        if (extents[i] < 1 || extents[i] > most[i])
            return cute_fail(diag, CUTE_INVALID, NULL, "expected a %s of 1 to %llu for a %s %s, got %llu",
                             i == 2 && kinds[t->kind].layered ? "number of layers" : names[i],
                             (unsigned long long)most[i], kinds[t->kind].name,
                             t->surface  ? "surface"
                             : t->gather ? "texture with gather"
                                         : "texture",
                             (unsigned long long)extents[i]);
    if (!kinds[t->kind].cube) return CUTE_OK;
    if (t->width != t->height)
        return cute_fail(diag, CUTE_INVALID, NULL, "expected square faces of a cube, got %llux%llu",
                         (unsigned long long)t->height, (unsigned long long)t->width);
    if (t->depth % 6)
        return cute_fail(diag, CUTE_INVALID, NULL, "expected 6 faces for each cube, got %llu",
                         (unsigned long long)t->depth);
    return CUTE_OK;
}

static cute_status check_memory(cute_texture *t, cute_diag *diag)
{
    uint64_t row = num_texture_row(t);
    int64_t bytes;
    if (!t->pitch) t->pitch = row;
    if (!t->slice) t->slice = t->pitch * t->height;
    if (t->pitch < row)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expected at least %llu bytes, a row, from row to row, got %llu",
                         (unsigned long long)row, (unsigned long long)t->pitch);
    if (t->slice % t->pitch || t->slice < t->pitch * t->height ||
        !cute_mul64((int64_t)t->slice, (int64_t)t->depth, &bytes))
        return cute_fail(
            diag, CUTE_INVALID, NULL,
            "expected at least %llu whole rows of %llu bytes from slice to slice, got %llu bytes",
            (unsigned long long)t->height, (unsigned long long)t->pitch, (unsigned long long)t->slice);
    if (t->memory != CUTE_TEXTURE_ARRAY && t->address % ADDRESS_ALIGN)
        return cute_fail(
            diag, CUTE_INVALID, NULL,
            "expected texels at a multiple of %d bytes, got 0x%llx; memory 'array' has no alignment",
            ADDRESS_ALIGN, (unsigned long long)t->address);
    if (t->memory == CUTE_TEXTURE_PITCH && (t->pitch % PITCH_ALIGN || t->pitch > PITCH_MOST))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expected a multiple of %d and at most %d bytes from row to row, got %llu",
                         PITCH_ALIGN, PITCH_MOST, (unsigned long long)t->pitch);
    return CUTE_OK;
}

/* The rules of reading: addressing modes, filters, results. */
static cute_status check_reading(const cute_texture *t, cute_diag *diag)
{
    const num_texture_kind *kind = &kinds[t->kind];
    if (t->memory == CUTE_TEXTURE_LINEAR && (t->normalized || t->filter != CUTE_TEXTURE_POINT))
        return cute_fail(
            diag, CUTE_INVALID, NULL,
            "expected unnormalized coordinates and filter point for linear memory, which is read "
            "by texel numbers; memory 'array' has filters");
    if (t->memory == CUTE_TEXTURE_LINEAR && t->kind != CUTE_TEXTURE_1D)
        return cute_fail(diag, CUTE_INVALID, NULL, "expected kind 1d for linear memory, got %s", kind->name);
    if (t->memory == CUTE_TEXTURE_PITCH && t->kind != CUTE_TEXTURE_2D)
        return cute_fail(diag, CUTE_INVALID, NULL, "expected kind 2d for pitched memory, got %s", kind->name);
    if (t->normalized_float && (formats[t->format].is_float || formats[t->format].bytes == 4))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expected integers of 8 or 16 bits to read as normalized numbers, got %s",
                         formats[t->format].name);
    if (t->filter == CUTE_TEXTURE_LINEAR_FILTER && !num_texture_is_float(t))
        return cute_fail(
            diag, CUTE_INVALID, NULL, "expected floating-point texels for filter linear, got %s%s",
            formats[t->format].name, formats[t->format].bytes < 4 ? "; read them as normalized numbers" : "");
    if (t->gather && (t->kind != CUTE_TEXTURE_2D || t->memory != CUTE_TEXTURE_ARRAY))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expected a 2d array for gather (tld4), got a %s texture in %s", kind->name,
                         t->memory == CUTE_TEXTURE_ARRAY ? "an array" : "memory");
    for (int i = 0; i < kind->dimensions; i++) {
        bool repeats = t->modes[i] == CUTE_TEXTURE_WRAP || t->modes[i] == CUTE_TEXTURE_MIRROR;
        if (repeats && !t->normalized && !kind->cube)
            return cute_fail(
                diag, CUTE_INVALID, NULL,
                "expected normalized coordinates for address mode %s; others are clamp and border",
                t->modes[i] == CUTE_TEXTURE_WRAP ? "wrap" : "mirror");
    }
    for (int i = 0; i < 4; i++)
        if (t->border[i] != 0 && !num_texture_is_float(t))
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "expected border 0 for a texture that is read as integers, got %g",
                             (double)t->border[i]);
    return CUTE_OK;
}

cute_status num_texture_check(cute_texture *t, cute_diag *diag)
{
    if ((unsigned)t->kind >= CUTE_TEXTURE_KINDS || (unsigned)t->format >= CUTE_TEXTURE_FORMATS)
        return cute_fail(diag, CUTE_INVALID, NULL, "unknown kind %d or format %d of a texture", (int)t->kind,
                         (int)t->format);
    if (t->channels != 1 && t->channels != 2 && t->channels != 4)
        return cute_fail(diag, CUTE_INVALID, NULL, "expected 1, 2 or 4 channels, got %d", t->channels);
    if (!t->height) t->height = 1;
    if (!t->depth) t->depth = 1;
    if (t->surface && t->memory != CUTE_TEXTURE_ARRAY)
        return cute_fail(diag, CUTE_INVALID, NULL, "expected an array for a surface, got memory");
    if (!t->surface) CUTE_TRY(check_reading(t, diag));
    CUTE_TRY(check_extents(t, diag));
    return check_memory(t, diag);
}

/* ---- fetches ---- */

/* Fraction bits of weights, which are rounded (CUDA guide, "Linear Filtering"), and of normalized coordinates, which are truncated (measured on an H100
 * and an H200). */
enum { FRACTION = 8, NORMALIZED_FRACTION = 21 };

typedef struct axis {
    int64_t at[2];
    int64_t alpha; /* weight of the second, in 2^-FRACTION */
} axis;

/* The coordinate in texels after the addressing mode; numbers of texels may still be outside. */
static double in_texels(const cute_texture *t, int dimension, double x, double extent)
{
    if (!(fabs(x) < 0x1p40)) x = x > 0 ? 0x1p40 : x < 0 ? -0x1p40 : 0; /* NaN is 0 */
    if (!t->normalized && !kinds[t->kind].cube) return x;
    cute_texture_address mode = kinds[t->kind].cube ? CUTE_TEXTURE_CLAMP : t->modes[dimension];
    if (mode == CUTE_TEXTURE_WRAP)
        x = fmin(x - floor(x), 1 - ldexp(1, -NORMALIZED_FRACTION)); /* no sum that is rounded to 1 */
    if (mode == CUTE_TEXTURE_MIRROR) x -= 2 * floor(x / 2);
    if (!kinds[t->kind].cube) x = floor(ldexp(x, NORMALIZED_FRACTION)) * ldexp(1, -NORMALIZED_FRACTION);
    return x * extent;
}

static axis locate_linear(double x)
{
    int64_t fixed = (int64_t)floor((x - 0.5) * (1 << FRACTION) + 0.5);
    int64_t at = fixed >> FRACTION;
    return (axis){{at, at + 1}, fixed & ((1 << FRACTION) - 1)};
}

/* The number of a texel in 0 to extent - 1; -1: the border. */
static int64_t texel_in_bounds(const cute_texture *t, int dimension, int64_t at, int64_t extent)
{
    cute_texture_address mode = kinds[t->kind].cube ? CUTE_TEXTURE_CLAMP : t->modes[dimension];
    if (at >= 0 && at < extent) return at;
    if (mode == CUTE_TEXTURE_BORDER || t->memory == CUTE_TEXTURE_LINEAR) return -1;
    if (mode == CUTE_TEXTURE_WRAP) return (at % extent + extent) % extent;
    if (mode == CUTE_TEXTURE_MIRROR) {
        at = (at % (2 * extent) + 2 * extent) % (2 * extent);
        return at < extent ? at : 2 * extent - 1 - at;
    }
    return at < 0 ? 0 : extent - 1;
}

static uint64_t clamp_layer(const cute_texture *t, uint32_t layer, uint64_t face)
{
    const num_texture_kind *kind = &kinds[t->kind];
    uint64_t layers = kind->cube ? t->depth / 6 : t->depth, at = layer;
    if (!kind->layered) return face;
    if ((int32_t)layer < 0) at = 0;
    if (at >= layers) at = layers - 1;
    return kind->cube ? at * 6 + face : at;
}

/* The texel with these numbers, of which missing dimensions are 0. */
static num_texel texel_at(const cute_texture *t, const int64_t *at, uint64_t layer, double weight)
{
    const int64_t extents[3] = {(int64_t)t->width, (int64_t)t->height, (int64_t)t->depth};
    int64_t in[3] = {0, 0, (int64_t)layer};
    for (int i = 0; i < kinds[t->kind].dimensions; i++) {
        in[i] = texel_in_bounds(t, i, at[i], extents[i]);
        if (in[i] < 0) return (num_texel){.border = true, .weight = weight};
    }
    return (num_texel){
        false, (uint64_t)in[0] * num_texel_bytes(t) + (uint64_t)in[1] * t->pitch + (uint64_t)in[2] * t->slice,
        weight};
}

/* The face of a cube that a vector points to, and the coordinates there from 0 to 1. */
static uint64_t cube_face(const float *v, float *out)
{
    float ax = fabsf(v[0]), ay = fabsf(v[1]), az = fabsf(v[2]), m, s, t;
    int face;
    if (ax >= ay && ax >= az) {
        face = v[0] < 0;
        m = ax, s = face ? v[2] : -v[2], t = -v[1];
    } else if (ay >= az) {
        face = 2 + (v[1] < 0);
        m = ay, s = v[0], t = v[1] < 0 ? -v[2] : v[2];
    } else {
        face = 4 + (v[2] < 0);
        m = az, s = v[2] < 0 ? -v[0] : v[0], t = -v[1];
    }
    out[0] = m > 0 ? (s / m + 1) / 2 : 0.5f;
    out[1] = m > 0 ? (t / m + 1) / 2 : 0.5f;
    return (uint64_t)face;
}

/* The two texels along each dimension. */
static int locate_axes(const cute_texture *t, const float *coordinates, bool linear, axis axes[3])
{
    const double extents[3] = {(double)t->width, (double)t->height, (double)t->depth};
    int dimensions = kinds[t->kind].dimensions;
    for (int i = 0; i < dimensions; i++) {
        double x = in_texels(t, i, (double)coordinates[i], extents[i]);
        axes[i] = linear ? locate_linear(x) : (axis){{(int64_t)floor(x), 0}, 0};
    }
    return dimensions;
}

void num_texture_fetch(const cute_texture *t, const float *coordinates, uint32_t layer, num_fetch *out)
{
    bool linear = t->filter == CUTE_TEXTURE_LINEAR_FILTER;
    float on_face[2];
    uint64_t face = 0;
    axis axes[3];
    if (kinds[t->kind].cube) {
        face = cube_face(coordinates, on_face);
        coordinates = on_face;
    }
    int dimensions = locate_axes(t, coordinates, linear, axes);
    uint64_t slice = clamp_layer(t, layer, face);
    out->count = 0;
    for (int n = 0; n < (linear ? 1 << dimensions : 1); n++) {
        int64_t at[3] = {0};
        double weight = 1;
        for (int i = 0; i < dimensions; i++) {
            int second = n >> i & 1;
            at[i] = axes[i].at[second];
            if (linear)
                weight *=
                    (double)(second ? axes[i].alpha : (1 << FRACTION) - axes[i].alpha) / (1 << FRACTION);
        }
        if (weight > 0) out->texels[out->count++] = texel_at(t, at, slice, weight);
    }
}

void num_texture_fetch_texel(const cute_texture *t, const int32_t *coordinates, uint32_t layer,
                             num_fetch *out)
{
    int64_t at[3] = {0};
    for (int i = 0; i < kinds[t->kind].dimensions; i++) at[i] = coordinates[i];
    out->count = 1;
    out->texels[0] = texel_at(t, at, clamp_layer(t, layer, 0), 1);
}

void num_texture_gather(const cute_texture *t, const float *coordinates, num_fetch *out)
{
    static const int order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    axis axes[3];
    locate_axes(t, coordinates, true, axes);
    out->count = 4;
    for (int n = 0; n < 4; n++) {
        const int64_t at[3] = {axes[0].at[order[n][0]], axes[1].at[order[n][1]], 0};
        out->texels[n] = texel_at(t, at, 0, 1);
    }
}

/* 8 and 16 bits as -1 or 0 to 1: the least signed integer is -1, too. Textures for tld4 have 16 bits of signed bytes (measured on an H100). */
static uint32_t read_normalized(const num_texture_format *f, int64_t value, bool gather)
{
    double most = (double)((INT64_C(1) << (8 * f->bytes - f->is_signed)) - 1), part = (double)value / most;
    if (gather && f->is_signed && f->bytes == 1) part = nearbyint(part * INT16_MAX) / INT16_MAX;
    return num_as_bits((float)fmax(part, -1));
}

void num_texel_read(const cute_texture *t, const uint8_t *texel, uint32_t out[4])
{
    const num_texture_format *f = &formats[t->format];
    memset(out, 0, 4 * sizeof *out);
    for (int c = 0; c < t->channels; c++) {
        uint32_t bits = 0;
        if (!texel) {
            if (num_texture_is_float(t)) out[c] = num_as_bits(t->border[c]);
            continue;
        }
        memcpy(&bits, texel + c * f->bytes, (size_t)f->bytes);
        if (f->is_float) {
            out[c] = f->bytes == 2 ? (uint32_t)num_convert(NUM_F32, NUM_F16, bits, NUM_RN, 0) : bits;
            continue;
        }
        int64_t value = f->is_signed ? (int64_t)((uint64_t)bits << (64 - 8 * f->bytes)) >> (64 - 8 * f->bytes)
                                     : (int64_t)bits;
        out[c] = num_texture_is_float(t) ? read_normalized(f, value, t->gather) : (uint32_t)value;
    }
}

void num_texture_blend(const num_fetch *fetch, const uint32_t (*texels)[4], uint32_t out[4])
{
    if (fetch->count == 1) {
        memcpy(out, texels[0], sizeof texels[0]);
        return;
    }
    for (int c = 0; c < 4; c++) {
        double sum = 0;
        for (int n = 0; n < fetch->count; n++)
            sum += fetch->texels[n].weight * (double)num_as_float(texels[n][c]);
        out[c] = num_as_bits((float)sum);
    }
}
