/* Properties of a layout as a function, decided without enumerating all coordinates where possible. */
#ifndef CUTE_LIB_LAYOUT_FACTS_H
#define CUTE_LIB_LAYOUT_FACTS_H

#include "cute/layout.h"

typedef enum cute_truth { CUTE_UNDECIDED, CUTE_NO, CUTE_YES } cute_truth;

typedef struct cute_layout_facts {
    bool has_size, has_cosize; /* known and at most 64 bits */
    int64_t size, cosize;
    cute_truth injective;  /* no two coordinates have the same index */
    cute_truth contiguous; /* injective with consecutive indices (for basis strides: they fill a box) */
} cute_layout_facts;

/* Values that are not layouts have no known properties, layouts with unknown leaves few. Injectivity amounts
 * to solving integer equations; cases that take too long remain undecided. */
void cute_layout_facts_of(cute_arena *arena, const cute_value *value, cute_layout_facts *out);

#endif
