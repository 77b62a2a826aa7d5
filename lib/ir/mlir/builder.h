/* Creates operations at an insertion point. */
#ifndef CUTE_LIB_IR_MLIR_BUILDER_H
#define CUTE_LIB_IR_MLIR_BUILDER_H

#include <mlir-c/IR.h>
#include <stdint.h>

/* Insertion point and location of new operations. May be copied and changed freely. */
typedef struct cute_builder {
    MlirContext context;
    MlirLocation location;
    MlirBlock block;
    MlirOperation before; /* in `block`; null: at its end */
} cute_builder;

/* Before `op`, with its location. */
cute_builder cute_builder_before(MlirOperation op);
cute_builder cute_builder_at_start(MlirBlock block, MlirLocation location);
cute_builder cute_builder_at_end(MlirBlock block, MlirLocation location);

typedef struct cute_operands {
    const MlirValue *items;
    intptr_t count;
} cute_operands;
typedef struct cute_types {
    const MlirType *items;
    intptr_t count;
} cute_types;
typedef struct cute_named {
    const MlirNamedAttribute *items;
    intptr_t count;
} cute_named;

/* Lists for one call: CUTE_OPERANDS(a, b), CUTE_TYPES(i32), CUTE_NAMED(cute_attribute(c, "value", v)). */
#define CUTE_LIST(list, item, ...)                                                                           \
    ((list){(const item[]){__VA_ARGS__}, (intptr_t)(sizeof((const item[]){__VA_ARGS__}) / sizeof(item))})
#define CUTE_OPERANDS(...) CUTE_LIST(cute_operands, MlirValue, __VA_ARGS__)
#define CUTE_TYPES(...)    CUTE_LIST(cute_types, MlirType, __VA_ARGS__)
#define CUTE_NAMED(...)    CUTE_LIST(cute_named, MlirNamedAttribute, __VA_ARGS__)
#define CUTE_NO_OPERANDS   ((cute_operands){0})
#define CUTE_NO_TYPES      ((cute_types){0})
#define CUTE_NO_NAMED      ((cute_named){0})

/* An operation without regions at the insertion point. */
MlirOperation cute_build(const cute_builder *b, const char *name, cute_operands operands, cute_types results,
                         cute_named attributes);
/* The same with `count` regions, which it takes ownership of. */
MlirOperation cute_build_regions(const cute_builder *b, const char *name, cute_operands operands,
                                 cute_types results, cute_named attributes, MlirRegion *regions,
                                 intptr_t count);
/* With inferred result types; null after a diagnostic if inference fails. */
MlirOperation cute_build_inferred(const cute_builder *b, const char *name, cute_operands operands,
                                  cute_named attributes);
/* Builds an operation with a single result of `type` and returns the result. */
MlirValue cute_build_value(const cute_builder *b, const char *name, MlirType type, cute_operands operands,
                           cute_named attributes);
/* arith.constant of type i<width>. */
MlirValue cute_build_constant(const cute_builder *b, int width, int64_t value);

#endif
