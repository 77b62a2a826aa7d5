/* Shared by complements and inverses: the modes of a layout sorted by stride, grouped by leaf of the codomain
 * (integer strides have a single group). */
#ifndef CUTE_LIB_LAYOUT_BUCKETS_H
#define CUTE_LIB_LAYOUT_BUCKETS_H

#include "lib/layout/layouts.h"

typedef struct alg_sorted {
    cute_node shape, stride, before; /* before: the product of the extents to the left */
    size_t position;                 /* among the flattened modes */
} alg_sorted;

/* Sorts flat tuples by path and stride; an unknown stride is only allowed for a single mode. */
alg_sorted *alg_sort_modes(cute_algebra *a, cute_node shape, cute_node stride, cute_node before,
                           size_t *count);

typedef struct alg_bucket {
    alg_layouts modes;
    cute_node current; /* the extent covered so far */
} alg_bucket;

typedef struct alg_buckets {
    cute_node coprofile;
    alg_bucket *items;
    size_t count;
} alg_buckets;

alg_buckets *alg_make_buckets(cute_algebra *a, cute_node coprofile);
/* The bucket that a stride contributes to. */
alg_bucket *alg_find_bucket(cute_algebra *a, const alg_buckets *b, cute_node stride);
/* Applies `finish` to each bucket; the results are nested like the coprofile. */
cute_layout alg_join_buckets(cute_algebra *a, const alg_buckets *b,
                             cute_layout (*finish)(cute_algebra *, const alg_bucket *));
/* The scale of a basis vector, or the integer itself. */
cute_node alg_scale_of(cute_algebra *a, cute_node stride);

#endif
