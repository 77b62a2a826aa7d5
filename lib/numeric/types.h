/* The types of PTX for registers, memory and matrix elements; the table is types.def. */
#ifndef CUTE_LIB_NUMERIC_TYPES_H
#define CUTE_LIB_NUMERIC_TYPES_H

#include <stddef.h>

#include "cute/tensor_map.h"
#include "lib/numeric/number.h"

typedef enum ptx_type {
#define T(name, bits, kind, count, format, map) PTX_##name,
#include "lib/numeric/types.def"
    PTX_TYPES
} ptx_type;

typedef enum ptx_kind { PTX_BITS, PTX_UNSIGNED, PTX_SIGNED, PTX_FLOAT, PTX_PREDICATE } ptx_kind;

typedef struct ptx_type_info {
    const char *name;
    ptx_kind kind;
    uint8_t bits, bytes; /* bits of a value; bytes in memory, where less than 8 bits count as one byte */
    uint8_t count;       /* elements in a value: 2 for f16x2 */
    uint8_t format;      /* num_format of an element; NUM_FORMATS: not floating-point */
    int8_t map;          /* cute_tensor_map_type; -1: none */
} ptx_type_info;
extern const ptx_type_info ptx_types[PTX_TYPES];

/* The type of a PTX suffix without its dot: "f16", "e4m3" ... False: unknown type. */
bool ptx_type_find(const char *text, size_t length, ptx_type *out);

#endif
