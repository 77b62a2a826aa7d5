/* Einstein summation in double: "mk,kn->mn", "bhqd,bhkd->bhqk", "ii->i". */
#ifndef CUTE_LIB_LAUNCH_FORMULA_EINSUM_H
#define CUTE_LIB_LAUNCH_FORMULA_EINSUM_H

#include "lib/launch/data/tensor.h"

enum { EINSUM_LABELS = 52, EINSUM_OPERANDS = 8 };

typedef struct cute_einsum {
    int operand_count;
    const cute_tensor *operands[EINSUM_OPERANDS]; /* read at evaluation, through tensor->data */
    int label_count, out_count;                   /* labels 0 to out_count - 1 are the result's, in order */
    int64_t extents[EINSUM_LABELS];
    int64_t strides[EINSUM_OPERANDS][EINSUM_LABELS];
    double work; /* multiplications for the whole result */
} cute_einsum;

/* Parses `text` and checks it against the operands and the result's shape. `message` gets the error without a
 * place. */
cute_status cute_einsum_parse(const char *text, const cute_tensor *const *operands, int count,
                              const cute_tensor *result, cute_einsum *out, char *message, size_t size);
/* One element of the result; `index` has out_count entries. */
double cute_einsum_element(const cute_einsum *einsum, const int64_t *index);
/* All elements in row-major order, computed in parallel. Caller frees; NULL when memory is exhausted. */
double *cute_einsum_all(const cute_einsum *einsum);

#endif
