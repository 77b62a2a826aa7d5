/* Element types: names, sizes and conversions from and to double. Rounds to nearest, ties to even. e4m3 and
 * e5m2 saturate, infinities included, as cvt.rn.satfinite does; tf32 is stored as an f32 whose low 13 bits
 * are zero; i1 is a byte, 0 or 1. */
#ifndef CUTE_LIB_LAUNCH_DATA_DTYPE_H
#define CUTE_LIB_LAUNCH_DATA_DTYPE_H

#include "cute/base.h"

typedef enum cute_dtype {
#define D(id, name, bytes, class, exponent, mantissa, npy, rtol, atol, map) CUTE_##id,
#include "lib/launch/data/dtype.def"
#undef D
    CUTE_DTYPE_COUNT
} cute_dtype;

typedef enum cute_dtype_class {
    CUTE_CLASS_FLOAT,
    CUTE_CLASS_SIGNED,
    CUTE_CLASS_UNSIGNED,
    CUTE_CLASS_BOOL
} cute_dtype_class;

typedef struct cute_dtype_info {
    const char *name;
    int64_t bytes;
    cute_dtype_class class;
    int exponent, mantissa;
    const char *npy;
    double rtol, atol;
    int map; /* cute_tensor_map_type */
} cute_dtype_info;

const cute_dtype_info *cute_dtype_get(cute_dtype dtype);
/* The MLIR spelling of the elements in memory: f32 for tf32. */
const char *cute_dtype_mlir(cute_dtype dtype);
/* Looks up a type by name; false if unknown. */
bool cute_dtype_find(const char *name, cute_dtype *out);
/* The names in order, then NULL, for cute_nearest. */
const char *cute_dtype_name_at(const void *unused, size_t index);

/* Reads `count` elements from `from` with a stride of `stride` elements. */
void cute_dtype_load(cute_dtype dtype, const void *from, int64_t stride, size_t count, double *out);
/* Integers: truncates fractions and wraps values beyond the type; values beyond 64 bits saturate, NaN becomes
 * 0. */
void cute_dtype_store(cute_dtype dtype, void *to, int64_t stride, size_t count, const double *values);
/* Rounds each value to the type and converts it back. */
void cute_dtype_round(cute_dtype dtype, double *values, size_t count);
/* Distance in units in the last place of two floating-point values; INT64_MAX if either is NaN. For integers,
 * the absolute difference. */
int64_t cute_dtype_ulps(cute_dtype dtype, double a, double b);

/* A byte pattern that kernels are unlikely to write: a NaN if the type has one, else 0xCB. `variant` (0 or 1)
 * selects one of two patterns that differ in every element. */
void cute_dtype_poison(cute_dtype dtype, int variant, uint8_t out[8]);

#endif
