/* Textures and surfaces: their limits, and the texels and weights of a fetch. */
#ifndef CUTE_LIB_NUMERIC_TEXTURE_H
#define CUTE_LIB_NUMERIC_TEXTURE_H

#include "cute/texture.h"

/* A kind of texture: its spelling in PTX and the number of its coordinates apart from the layer. */
typedef struct num_texture_kind {
    const char *name, *ptx;
    int coordinates, dimensions; /* of a cube 3 and 2 */
    bool layered, cube;
} num_texture_kind;
const num_texture_kind *num_texture_kind_get(cute_texture_kind kind);

typedef struct num_texture_format {
    const char *name;
    int bytes;
    bool is_float, is_signed;
} num_texture_format;
const num_texture_format *num_texture_format_get(cute_texture_format format);

/* Bytes of a texel, and of a row without its gap. */
uint64_t num_texel_bytes(const cute_texture *t);
uint64_t num_texture_row(const cute_texture *t);
/* Whether a fetch returns floating-point numbers. */
bool num_texture_is_float(const cute_texture *t);

/* Checks the rules of the driver and the limits of compute capability 8.0 to 9.0, and fills in extents and distances that are 0.
 * CUTE_INVALID names the violated rule. */
cute_status num_texture_check(cute_texture *t, cute_diag *diag);

/* The texels of a fetch: offsets in bytes from the address, and weights, which sum up to 1. */
enum { NUM_TEXELS = 8 };
typedef struct num_texel {
    bool border;
    uint64_t at;
    double weight;
} num_texel;
typedef struct num_fetch {
    int count;
    num_texel texels[NUM_TEXELS];
} num_fetch;

/* At floating-point coordinates x, y, z as in PTX; `layer` is clamped to the layers. Filters as the texture says. Weights have 8 bits of
 * fraction. */
void num_texture_fetch(const cute_texture *t, const float *coordinates, uint32_t layer, num_fetch *out);
/* At the texel with these numbers; unfiltered. */
void num_texture_fetch_texel(const cute_texture *t, const int32_t *coordinates, uint32_t layer,
                             num_fetch *out);
/* The four texels that linear filtering would blend, in the order of tld4: (0,1), (1,1), (1,0), (0,0). */
void num_texture_gather(const cute_texture *t, const float *coordinates, num_fetch *out);
/* The four components of a texel, as f32 or as integers of 32 bits; components that the format lacks are 0. NULL: the border. */
void num_texel_read(const cute_texture *t, const uint8_t *texel, uint32_t out[4]);
/* The weighted sum of the fetch's texels, rounded to f32; of one texel, itself. */
void num_texture_blend(const num_fetch *fetch, const uint32_t (*texels)[4], uint32_t out[4]);

#endif
