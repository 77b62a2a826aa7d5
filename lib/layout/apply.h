/* One call of an operation, as seen by the files op_*.c. */
#ifndef CUTE_LIB_LAYOUT_APPLY_H
#define CUTE_LIB_LAYOUT_APPLY_H

#include "lib/layout/algebra.h"

typedef struct call {
    cute_algebra *a;
    const char *name;
    const cute_value *in;
    size_t count;
    const int64_t *attributes;
    size_t attribute_count;
    cute_value *out;
} call;

#define CUTE_BIT(type) (1u << (type))
#define CUTE_ANY_TUPLE                                                                                       \
    (CUTE_BIT(CUTE_SHAPE) | CUTE_BIT(CUTE_STRIDE) | CUTE_BIT(CUTE_COORD) | CUTE_BIT(CUTE_INT_TUPLE))
#define CUTE_ANY_LAYOUT (CUTE_BIT(CUTE_LAYOUT) | CUTE_BIT(CUTE_COMPOSED_LAYOUT))
#define CUTE_ANY_TENSOR (CUTE_BIT(CUTE_MEMREF) | CUTE_BIT(CUTE_COORD_TENSOR))
/* All types with a layout. Operations on layouts apply to a tensor's layout and keep its iterator. */
#define CUTE_LAID_OUT (CUTE_ANY_LAYOUT | CUTE_ANY_TENSOR)

static inline bool call_is(const cute_value *v, unsigned types)
{
    return (types & CUTE_BIT(v->type)) != 0;
}
/* A composed layout A o offset o B, or a tensor with one. */
static inline bool call_is_composed(const cute_value *v)
{
    return v->type == CUTE_COMPOSED_LAYOUT || (v->type == CUTE_MEMREF && v->tree);
}

/* Fails with "SENTENCE, but got TYPE" unless the operand has one of these types. */
bool call_expects(call *c, size_t operand, unsigned types, const char *sentence);
/* Sets the prefix of messages (cute_algebra.sentence). */
static inline void call_sentence(call *c, const char *sentence)
{
    c->a->sentence = sentence;
}
/* Sets the result; false if it is NULL. */
bool call_give_tree(call *c, cute_type type, cute_node tree);
bool call_give_layout(call *c, cute_layout layout);
/* Returns a layout, or `like` (a composed layout, a tensor) with another B. */
bool call_give_like(call *c, const cute_value *like, cute_layout layout);
/* Replaces a composed layout whose A and offset are trivial by B. */
void call_decay(cute_value *v);
/* The tree whose nesting and rank are those of the value. */
cute_node call_profile(const cute_value *v);
/* Checks that the path in the attributes exists in `v`. */
bool call_check_path(call *c, const cute_value *v);
bool call_at_path(call *c, cute_value *out);
/* Building blocks of other operations; *v need not be an operand. */
enum { CALL_LOGICAL, CALL_ZIPPED, CALL_TILED, CALL_FLAT };
bool call_divide(call *c, const cute_value *v, const cute_value *tiler, int flavour, cute_value *out);
bool call_slice(call *c, const cute_value *v, cute_node coord, cute_value *out);
/* Advances a tensor's iterator by `index`. */
bool call_advance(call *c, cute_value *tensor, cute_node index);
/* (index / stride) % shape for each leaf. */
cute_node call_divided(cute_algebra *a, cute_node index, cute_node shape, cute_node stride);

#define CUTE_OPERATION(id, name, least, most, summary) bool op_##name(call *c);
#include "cute/layout_ops.def"
#undef CUTE_OPERATION

#endif
