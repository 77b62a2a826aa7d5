/* Expressions over real numbers, params, index variables and the elements of tensors, computed in double over
 * whole rows: `A[i,k] * 2`, `exp(X[i,j] - max(k, X[i,k])) / sum(k, exp(X[i,k] - max(l, X[i,l])))`. Beyond the
 * grammar of lib/base/numbers/expr.h: functions of one and two numbers, casts named as the element types, and
 * reductions sum, prod, mean, max, min over a fresh name, whose extent is that of the dimension that it
 * indexes or is given: sum(k, 16, ...). A tensor's name alone stands for its element at the index of the
 * result. */
#ifndef CUTE_LIB_LAUNCH_FORMULA_FORMULA_H
#define CUTE_LIB_LAUNCH_FORMULA_FORMULA_H

#include "lib/base/numbers/expr.h"
#include "lib/launch/data/tensor.h"

typedef struct cute_formula cute_formula;

typedef struct cute_formula_param {
    const char *name;
    bool real;
    int64_t integer;
    double number; /* also of an integer */
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
    const char *extra; /* a name whose values are passed to the evaluation, or NULL */
} cute_formula_scope;

enum { CUTE_FORMULA_LANES = 256 };

/* Everything that names mean is settled here. The formula lives in the arena; the scope's tensors are read
 * when it is evaluated, through tensor->data. */
cute_status cute_formula_compile(cute_arena *arena, const cute_expr *expr, const cute_formula_scope *scope,
                                 cute_formula **out, cute_diag *diag);

/* What one thread needs to evaluate; NULL when memory is exhausted. */
typedef struct cute_formula_state cute_formula_state;
cute_formula_state *cute_formula_state_create(const cute_formula *formula);
void cute_formula_state_destroy(cute_formula_state *state);
/* The values at `count` (at most CUTE_FORMULA_LANES) positions: `index` is that of the first, the last index
 * variable grows by one each and stays within its extent. `extra` as many values, or NULL. False: an index
 * left its tensor or is no integer; cute_formula_error tells. */
bool cute_formula_eval(cute_formula_state *state, const int64_t *index, int count, const double *extra,
                       double *out);
cute_status cute_formula_error(const cute_formula_state *state, cute_diag *diag);

/* A constant: compiles and evaluates without tensors and indices. */
cute_status cute_formula_constant(cute_arena *arena, const cute_expr *expr, const cute_formula_param *params,
                                  size_t count, double *out, cute_diag *diag);

#endif
