/* The operations of one role, out of those of a kernel. */
#ifndef CUTE_LIB_PASSES_TILES_ROLE_BODY_H
#define CUTE_LIB_PASSES_TILES_ROLE_BODY_H

#include "lib/ir/mlir/util.h"

/* The mark of operations that stay in front of all roles. */
#define TILE_FRONT "cute.front"

/* Operations of a role: those with effects for which `has` is true, the loops and branches around them, and the definitions of their operands. Each
 * definition satisfies `has` or `copies`, or has neither tiles nor effects. */
typedef struct tile_role_rule {
    bool (*has)(MlirOperation op, const void *context);
    bool (*copies)(MlirOperation op, const void *context); /* NULL: nothing else */
    const void *context;
} tile_role_rule;

/* A block with copies of them; their order is kept. Null: *stuck needs a value that the role cannot have. */
MlirBlock tile_role_body(MlirBlock entry, const tile_role_rule *rule, MlirOperation *stuck);
/* Without operands or results that are tiles, regions or effects. */
bool tile_is_scalar_op(MlirOperation op);

#endif
