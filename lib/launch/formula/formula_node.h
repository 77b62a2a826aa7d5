/* A compiled formula: shared by the compiler (formula.c) and the evaluation (formula_eval.c). */
#ifndef CUTE_LIB_LAUNCH_FORMULA_FORMULA_NODE_H
#define CUTE_LIB_LAUNCH_FORMULA_FORMULA_NODE_H

#include "lib/base/numbers/expr_tree.h"
#include "lib/launch/formula/formula.h"
#include "lib/plugin/plugins.h"

/* Variables of a formula: the result's indices, and one for each reduction. */
enum { CUTE_FORMULA_SLOTS = 60 };
#define FORMULA_EXTRA_BIT (UINT64_C(1) << 63)

typedef enum formula_kind {
    FORMULA_CONSTANT,
    FORMULA_VARIABLE,
    FORMULA_EXTRA,
    FORMULA_ELEMENT,
    FORMULA_ONE,
    FORMULA_TWO,
    FORMULA_CAST,
    FORMULA_OPERATOR,
    FORMULA_REDUCTION
} formula_kind;

typedef enum formula_reduction {
    FORMULA_SUM,
    FORMULA_PROD,
    FORMULA_MEAN,
    FORMULA_MAX,
    FORMULA_MIN,
    FORMULA_ADDED /* of a plugin */
} formula_reduction;

typedef struct formula_node {
    formula_kind kind;
    cute_expr_op op;
    struct formula_node **args;
    int count;
    uint64_t reads; /* bit mask of the slots that the value depends on */
    int vectors;    /* upper bound of scratch vectors for an evaluation */
    cute_place place;
    double value;
    int slot; /* of a variable, or of a reduction's variable */
    const cute_tensor *tensor;
    double (*one)(double);
    double (*two)(double, double);
    cute_dtype dtype;
    formula_reduction reduction;
    const plugin_reduction *added; /* FORMULA_ADDED */
    int64_t extent;
    int cache; /* index of a reduction's cache in the state */
} formula_node;

struct cute_formula {
    formula_node *root;
    int index_count, slot_count, cache_count;
    const cute_tensor **tensors;
    size_t tensor_count;
};

#endif
