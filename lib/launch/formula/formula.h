/* Expressions over numbers, params, index variables and elements of tensors, evaluated in double, a row at a
 * time: `A[i,k] * 2`, `exp(X[i,j] - max(k, X[i,k])) / sum(k, exp(X[i,k] - max(l, X[i,l])))`. They add to the
 * grammar of lib/base/numbers/expr.h functions of one and two operands, casts named after element types, and
 * the reductions sum, prod, mean, max and min over a new name, whose extent is inferred from a dimension that
 * it indexes or is explicit: sum(k, 16, ...). A tensor's name alone denotes its element at the result's
 * index. */
#ifndef CUTE_LIB_LAUNCH_FORMULA_FORMULA_H
#define CUTE_LIB_LAUNCH_FORMULA_FORMULA_H

#include "lib/base/numbers/expr.h"
#include "lib/launch/data/tensor.h"

typedef struct cute_formula cute_formula;

typedef struct cute_formula_param {
    const char *name;
    bool real;
    int64_t integer;
    double number; /* set for integers, too */
} cute_formula_param;

typedef struct cute_formula_scope {
    const cute_formula_param *params;
    size_t param_count;
    const cute_tensor *const *tensors;
    size_t tensor_count;
    /* the result's index variables, slowest first */
    const char *const *indices;
    const int64_t *extents;
    int index_count;
    const char *extra;                  /* a name whose values are passed to cute_formula_eval; may be NULL */
    const struct cute_plugins *plugins; /* with reductions of their own; may be NULL */
} cute_formula_scope;

/* CUTE_INVALID: a plugin's reduction has the name of a function or type. */
cute_status cute_formula_check_plugins(const struct cute_plugins *plugins, cute_diag *diag);

enum { CUTE_FORMULA_LANES = 256 };

/* Resolves all names. The formula lives in the arena; the scope's tensors are read at evaluation, through
 * tensor->data. */
cute_status cute_formula_compile(cute_arena *arena, const cute_expr *expr, const cute_formula_scope *scope,
                                 cute_formula **out, cute_diag *diag);

/* One thread's evaluation state; NULL when memory is exhausted. */
typedef struct cute_formula_state cute_formula_state;
cute_formula_state *cute_formula_state_create(const cute_formula *formula);
void cute_formula_state_destroy(cute_formula_state *state);
/* Evaluates at `count` (at most CUTE_FORMULA_LANES) consecutive values of the last index variable, which
 * stays within its extent, from `index` on. `extra`: as many values, or NULL. False: an index is out of
 * bounds or not an integer; see cute_formula_error. */
bool cute_formula_eval(cute_formula_state *state, const int64_t *index, int count, const double *extra,
                       double *out);
cute_status cute_formula_error(const cute_formula_state *state, cute_diag *diag);

/* Compiles and evaluates an expression without tensors and indices. */
cute_status cute_formula_constant(cute_arena *arena, const cute_expr *expr, const cute_formula_param *params,
                                  size_t count, double *out, cute_diag *diag);

#endif
