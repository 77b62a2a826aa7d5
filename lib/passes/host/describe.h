/* Description of an argument for launches, as a dictionary (docs/metadata.md). */
#ifndef CUTE_LIB_PASSES_HOST_DESCRIBE_H
#define CUTE_LIB_PASSES_HOST_DESCRIBE_H

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/IR.h>

/* A dictionary under construction. */
typedef struct cute_dict {
    MlirContext context;
    MlirNamedAttribute items[24];
    intptr_t count;
} cute_dict;

void cute_dict_put(cute_dict *d, const char *name, MlirAttribute value);
void cute_dict_text(cute_dict *d, const char *name, const char *text);
void cute_dict_ref(cute_dict *d, const char *name, MlirStringRef text);
void cute_dict_int(cute_dict *d, const char *name, int64_t value);
MlirAttribute cute_dict_finish(cute_dict *d);
/* The attribute `name`; null if the dictionary is null or lacks it. */
MlirAttribute cute_dict_find(MlirAttribute dictionary, const char *name);
/* Numbers, or a unit attribute (null in JSON) for those in `unknown`. */
MlirAttribute cute_int_array(MlirContext context, const int64_t *values, intptr_t count, int64_t unknown);

/* Describes argument `index` of a kernel; *first is its first parameter and is advanced to the next
 * argument's. */
MlirAttribute cute_describe_argument(MlirOperation kernel, intptr_t index, MlirStringRef tensor_map_space,
                                     int64_t *first);
/* Attributes of a tensor map by value: 128 bytes, aligned to 64, read-only. */
MlirAttribute cute_grid_constant(MlirContext context);
/* Describes parameter `index` of a host function. */
MlirAttribute cute_describe_parameter(MlirOperation function, intptr_t index);

#endif
