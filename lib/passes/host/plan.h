/* A launch plan under construction: values of MLIR as lists of the plan's values. */
#ifndef CUTE_LIB_PASSES_HOST_PLAN_H
#define CUTE_LIB_PASSES_HOST_PLAN_H

#include <mlir-c/IR.h>

#include "lib/base/buffer.h"
#include "lib/base/text/json.h"

enum { PLAN_UNDEFINED = -1 };

/* What an MLIR value is in the plan: the indices of the plan's values for its leaves (one for a number, those of a
 * struct in order, PLAN_UNDEFINED where nothing was stored), or the name of an environment variable on its way from
 * getenv to atoi. */
typedef struct plan_known {
    MlirValue value;
    const int64_t *items;
    size_t count;
    MlirStringRef text;
} plan_known;

typedef struct plan {
    MlirOperation module;
    cute_arena *arena;
    json_t *values, *launches;
    int *widths; /* bits of each value */
    size_t width_capacity;
    plan_known *known; /* a hash table by value */
    size_t known_count, known_capacity;
    int64_t condition; /* under which launches happen here, or PLAN_UNDEFINED */
    int depth;         /* of calls */
    int steps;         /* operations so far, those of calls each time */
    bool placed;       /* there are loops: each launch says when it happens */
    cute_buffer refusal;
} plan;

/* Results of a block, in order: those of its terminator. */
typedef struct plan_results {
    const plan_known **list;
    size_t count;
} plan_results;

/* ---- values (plan_values.c) ---- */

/* False, always; the first reason counts: "'OP' at line N ...". */
bool plan_refuse(plan *p, MlirOperation op, const char *format, ...) CUTE_PRINTF(3, 4);
const plan_known *plan_find(plan *p, MlirValue value);
bool plan_bind(plan *p, MlirValue value, const int64_t *items, size_t count);
bool plan_bind_text(plan *p, MlirValue value, MlirStringRef text);
/* A value with one leaf. */
bool plan_bind_one(plan *p, MlirValue value, int64_t index);
/* The index of the plan's value that `value` is, which `user` takes; refused where it is none. */
bool plan_index(plan *p, MlirOperation user, MlirValue value, int64_t *out);
/* All leaves of `value`; what is undefined is 0. */
bool plan_leaves(plan *p, MlirOperation user, MlirValue value, const int64_t **items, size_t *count);
/* Appends a value of `width` bits, which it takes over; its index. */
int64_t plan_add(plan *p, int width, json_t *value);
int64_t plan_operation(plan *p, const char *name, int width, int64_t a, int64_t b);
int64_t plan_select(plan *p, int64_t condition, int64_t yes, int64_t no);
int64_t plan_constant(plan *p, int width, int64_t number);
int plan_width(const plan *p, int64_t index);
/* Bits of a number or pointer; 0 for other types. */
int plan_type_width(MlirType type);
/* The plan's values for parameter `index` of the function: one for each leaf. */
bool plan_parameter(plan *p, MlirValue argument, intptr_t index);
/* An operation that only computes. *found: it is one that a plan has; false after a refusal. */
bool plan_compute(plan *p, MlirOperation op, bool *found);

#endif
