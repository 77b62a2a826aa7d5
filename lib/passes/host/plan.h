/* A launch plan under construction: maps MLIR values to lists of plan values. */
#ifndef CUTE_LIB_PASSES_HOST_PLAN_H
#define CUTE_LIB_PASSES_HOST_PLAN_H

#include <mlir-c/IR.h>

#include "lib/base/buffer.h"
#include "lib/base/text/json.h"

enum { PLAN_UNDEFINED = -1, PLAN_STREAMS = 64 };

/* The plan representation of an MLIR value: the indices of the plan values of its leaves (one for a
 * number, those of a struct in order, PLAN_UNDEFINED for fields not set), or the name of an environment
 * variable between getenv and atoi. */
typedef struct plan_known {
    MlirValue value;
    const int64_t *items;
    size_t count;
    MlirStringRef text;
} plan_known;

typedef struct plan {
    MlirOperation module;
    cute_arena *arena;
    json_t *values, *launches, *steps, *temporaries;
    int *widths; /* bits of each plan value */
    size_t width_capacity;
    plan_known *known; /* hash table by MLIR value */
    size_t known_count, known_capacity;
    int64_t condition; /* condition for the current launches, or PLAN_UNDEFINED */
    int depth;         /* call depth */
    int loops;         /* open loops */
    int operations;    /* so far; those of a function count for each call */
    bool placed;       /* the function contains loops or steps: each launch has an explicit position */
    int streams, events;
    int64_t work, seen[PLAN_STREAMS]; /* work of stream 0 so far, and that for which each stream has waited */
    cute_buffer refusal;
} plan;

/* Results of a block: the operands of its terminator. */
typedef struct plan_results {
    const plan_known **list;
    size_t count;
} plan_results;

/* ---- values (plan_values.c) ---- */

/* Records the first refusal, "'OP' at line N ...". Always returns false. */
bool plan_refuse(plan *p, MlirOperation op, const char *format, ...) CUTE_PRINTF(3, 4);
const plan_known *plan_find(plan *p, MlirValue value);
bool plan_bind(plan *p, MlirValue value, const int64_t *items, size_t count);
bool plan_bind_text(plan *p, MlirValue value, MlirStringRef text);
/* Binds a value with one leaf. */
bool plan_bind_one(plan *p, MlirValue value, int64_t index);
/* The plan value of `value`, an operand of `user`; refuses if it has none. */
bool plan_index(plan *p, MlirOperation user, MlirValue value, int64_t *out);
/* All leaves of `value`; undefined ones become 0. */
bool plan_leaves(plan *p, MlirOperation user, MlirValue value, const int64_t **items, size_t *count);
/* Appends a plan value of `width` bits, which it takes ownership of; returns its index. */
int64_t plan_add(plan *p, int width, json_t *value);
int64_t plan_operation(plan *p, const char *name, int width, int64_t a, int64_t b);
int64_t plan_select(plan *p, int64_t condition, int64_t yes, int64_t no);
int64_t plan_constant(plan *p, int width, int64_t number);
int plan_width(const plan *p, int64_t index);
/* Bits of an integer, float or pointer type; 0 for other types. */
int plan_type_width(MlirType type);
/* Creates the plan values of parameter `index` of the function, one for each leaf. */
bool plan_parameter(plan *p, MlirValue argument, intptr_t index);
/* ---- steps (plan_steps.c) ---- */

/* Adds a copy, fill, allocation or wait. *found: `op` is one of these; false after a refusal. */
bool plan_step(plan *p, MlirOperation op, bool *found);
/* Adds an entry of "temporaries", which it takes ownership of; *address is the plan value of its address. */
bool plan_temporary(plan *p, MlirOperation op, json_t *entry, int64_t *address);
/* The stream for work of `op`, which waits for its operands from `first`, `count` tokens; 0 unless it is asynchronous. */
bool plan_begin_work(plan *p, MlirOperation op, intptr_t first, intptr_t count, bool async, int *stream);
/* Binds the token that is result `result`; -1: the operation has none. */
bool plan_end_work(plan *p, MlirOperation op, intptr_t result, int stream);
intptr_t plan_token_result(MlirOperation op);

/* ---- */

/* Adds an operation without side effects. *found: plans support it; false after a refusal. */
bool plan_compute(plan *p, MlirOperation op, bool *found);

#endif
