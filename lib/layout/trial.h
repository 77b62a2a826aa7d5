/* Static layouts as functions on integers, evaluated without trees, for exhaustive tests. */
#ifndef CUTE_LIB_LAYOUT_TRIAL_H
#define CUTE_LIB_LAYOUT_TRIAL_H

#include "lib/layout/layouts.h"

/* A static layout of integer strides, flat. */
typedef struct alg_flat {
    size_t count;
    int64_t *extent, *stride;
} alg_flat;

/* False if the layout is not static with integer strides (nothing is reported), or memory ran out. */
bool alg_flat_of(cute_algebra *a, cute_layout layout, alg_flat *out);
/* L(i), the last mode unbounded; false on overflow. */
bool alg_flat_at(const alg_flat *f, int64_t i, int64_t *out);

/* Limit on the digits evaluated by a test: about 10 ms. */
enum { ALG_TRIAL_LIMIT = 1 << 21 };

typedef enum alg_verdict { ALG_RIGHT, ALG_WRONG, ALG_UNDECIDED } alg_verdict;

/* Is R(i) = A(B(i)) on B's domain? *bad is a counterexample, or -1 if unknown. Undecided if something is
 * unknown or the domain is too large. */
alg_verdict alg_try_composition(cute_algebra *a, cute_layout outer, cute_layout inner, cute_layout result,
                                int64_t *bad);

/* The layout with B's profile that equals A(B(i)) on B's domain; otherwise no layout, without a message.
 * *tried is false if the domain is too large to decide. */
cute_layout alg_find_composition(cute_algebra *a, cute_layout outer, cute_layout inner, bool *tried);

#endif
