/* What is known of a layout as a function, without trying all of its coordinates. */
#ifndef CUTE_LIB_LAYOUT_FACTS_H
#define CUTE_LIB_LAYOUT_FACTS_H

#include "cute/layout.h"

typedef enum cute_truth { CUTE_UNDECIDED, CUTE_NO, CUTE_YES } cute_truth;

typedef struct cute_layout_facts {
    bool has_size, has_cosize; /* known, and at most 64 bits */
    int64_t size, cosize;
    cute_truth injective; /* no two coordinates have one index */
    cute_truth
        contiguous; /* injective, and the indices are consecutive numbers (for basis strides: fill a box) */
} cute_layout_facts;

/* Nothing is known of values that are no layouts, little where there are unknown leaves. Injectivity is a
 * question about integer equations; what takes too long is left undecided. */
void cute_layout_facts_of(cute_arena *arena, const cute_value *value, cute_layout_facts *out);

#endif
