/* Evaluates formulas over lanes: one variable (the lane variable) takes consecutive values, the others are
 * fixed. A reduction evaluates its body with its own variable as the lane variable. Values that do not depend
 * on the lane variable are computed once, and a reduction caches its last value with the variables it depends
 * on, so that the sum of a row is computed once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/launch/formula/formula_node.h"

enum { LANES = CUTE_FORMULA_LANES };

typedef struct reduction_cache {
    bool valid;
    int64_t key[CUTE_FORMULA_SLOTS];
    double value;
} reduction_cache;

struct cute_formula_state {
    const cute_formula *formula;
    int64_t values[CUTE_FORMULA_SLOTS]; /* the lane variable's value is lane 0's */
    const double *extra;
    reduction_cache *caches;
    double *scratch;
    size_t used;
    const formula_node *failed;
    char message[160];
};

cute_formula_state *cute_formula_state_create(const cute_formula *formula)
{
    cute_formula_state *state = calloc(1, sizeof *state);
    if (!state) return NULL;
    state->formula = formula;
    state->caches = calloc((size_t)formula->cache_count + 1, sizeof *state->caches);
    state->scratch = malloc((size_t)(formula->root->vectors + 2) * LANES * sizeof *state->scratch);
    if (state->caches && state->scratch) return state;
    cute_formula_state_destroy(state);
    return NULL;
}

void cute_formula_state_destroy(cute_formula_state *state)
{
    if (!state) return;
    free(state->caches);
    free(state->scratch);
    free(state);
}

cute_status cute_formula_error(const cute_formula_state *state, cute_diag *diag)
{
    return cute_fail(diag, CUTE_INVALID, state->failed ? &state->failed->place : NULL, "%s", state->message);
}

/* The lanes of an evaluation. `mask` NULL: all. */
typedef struct lanes {
    int slot; /* the lane variable; -1: a single lane */
    int count;
    const unsigned char *mask;
} lanes;

static bool eval_node(cute_formula_state *s, const formula_node *node, lanes l, double *out);

static bool depends_on_lane(const formula_node *node, lanes l)
{
    return l.slot >= 0 && (node->reads >> l.slot & 1);
}

static double *push_vector(cute_formula_state *s)
{
    double *vector = s->scratch + s->used * LANES;
    s->used++;
    return vector;
}

static void fill_vector(double *out, int count, double value)
{
    for (int i = 0; i < count; i++) out[i] = value;
}

/* ---- elements of tensors ---- */

static bool fail_index(cute_formula_state *s, const formula_node *node, int dimension, double value)
{
    if (s->failed) return false;
    s->failed = node;
    if (value == rint(value))
        snprintf(s->message, sizeof s->message,
                 "index %.0f is out of bounds for dimension %d of %s, which has %lld elements", value,
                 dimension, node->tensor->name, (long long)node->tensor->shape[dimension]);
    else
        snprintf(s->message, sizeof s->message,
                 "expected an integer index of %s, got %g: floor_div(a, b) divides integers",
                 node->tensor->name, value);
    return false;
}

static bool in_range(const formula_node *node, int dimension, double value)
{
    return value >= 0 && value < (double)node->tensor->shape[dimension] && value == rint(value);
}

/* Computes each lane's offset, for indices other than the lane variable itself. */
static bool eval_gather(cute_formula_state *s, const formula_node *node, lanes l, double *out)
{
    const cute_tensor *t = node->tensor;
    int64_t offsets[LANES];
    double *index = push_vector(s);
    for (int i = 0; i < l.count; i++) offsets[i] = t->offset;
    bool good = true;
    for (int d = 0; d < node->count && good; d++) {
        good = eval_node(s, node->args[d], l, index);
        for (int i = 0; i < l.count && good; i++) {
            if (l.mask && !l.mask[i]) continue;
            if (!in_range(node, d, index[i]))
                good = fail_index(s, node, d, index[i]);
            else
                offsets[i] += (int64_t)index[i] * t->strides[d];
        }
    }
    s->used--;
    int64_t bytes = cute_dtype_get(t->dtype)->bytes;
    for (int i = 0; i < l.count && good; i++) {
        if (l.mask && !l.mask[i])
            out[i] = 0;
        else
            cute_dtype_load(t->dtype, (const char *)t->data + offsets[i] * bytes, 1, 1, &out[i]);
    }
    return good;
}

static bool eval_element(cute_formula_state *s, const formula_node *node, lanes l, double *out)
{
    const cute_tensor *t = node->tensor;
    int64_t offset = t->offset, step = 0;
    for (int d = 0; d < node->count; d++) {
        const formula_node *arg = node->args[d];
        double first;
        if (depends_on_lane(arg, l)) {
            int64_t from = s->values[l.slot];
            bool plain = arg->kind == FORMULA_VARIABLE && from >= 0 && from + l.count <= t->shape[d];
            if (!plain) return eval_gather(s, node, l, out);
            offset += from * t->strides[d];
            step += t->strides[d];
            continue;
        }
        if (!eval_node(s, arg, (lanes){-1, 1, NULL}, &first)) return false;
        if (!in_range(node, d, first)) {
            if (l.mask) return eval_gather(s, node, l, out);
            return fail_index(s, node, d, first);
        }
        offset += (int64_t)first * t->strides[d];
    }
    const char *from = (const char *)t->data + offset * cute_dtype_get(t->dtype)->bytes;
    cute_dtype_load(t->dtype, from, step, (size_t)l.count, out);
    return true;
}

/* ---- reductions ---- */

static double accumulate(formula_reduction how, double total, const double *values, int count)
{
    switch (how) {
    case FORMULA_PROD:
        for (int i = 0; i < count; i++) total *= values[i];
        return total;
    case FORMULA_MAX:
        for (int i = 0; i < count; i++) total = fmax(total, values[i]);
        return total;
    case FORMULA_MIN:
        for (int i = 0; i < count; i++) total = fmin(total, values[i]);
        return total;
    default: {
        double part[4] = {0, 0, 0, 0};
        for (int i = 0; i < count; i++) part[i & 3] += values[i];
        return total + ((part[0] + part[1]) + (part[2] + part[3]));
    }
    }
}

/* The same by a plugin's function. */
static double accumulate_added(const plugin_reduction *r, double total, const double *values, int count)
{
    plugin_mark mark;
    plugin_enter(&mark, r->library, "reduction", r->row.name);
    total = r->row.add(total, values, (size_t)count);
    plugin_leave(&mark);
    return total;
}

static double finish_added(const plugin_reduction *r, double total, int64_t count)
{
    plugin_mark mark;
    if (!r->row.finish) return total;
    plugin_enter(&mark, r->library, "reduction", r->row.name);
    total = r->row.finish(total, count);
    plugin_leave(&mark);
    return total;
}

static bool compute_reduction(cute_formula_state *s, const formula_node *node, double *out)
{
    static const double starts[] = {0, 1, 0, -INFINITY, INFINITY};
    reduction_cache *c = &s->caches[node->cache];
    bool hit = c->valid && !(node->reads & FORMULA_EXTRA_BIT);
    for (int i = 0; i < s->formula->slot_count && hit; i++)
        if (node->reads >> i & 1) hit = c->key[i] == s->values[i];
    if (hit) {
        *out = c->value;
        return true;
    }
    const plugin_reduction *added = node->added;
    double total = added ? added->row.initial : starts[node->reduction];
    double *values = push_vector(s);
    const double *extra = s->extra;
    bool good = true;
    for (int64_t k = 0; k < node->extent && good; k += LANES) {
        int count = node->extent - k < LANES ? (int)(node->extent - k) : LANES;
        s->values[node->slot] = k;
        good = eval_node(s, node->args[0], (lanes){node->slot, count, NULL}, values);
        if (good)
            total = added ? accumulate_added(added, total, values, count)
                          : accumulate(node->reduction, total, values, count);
    }
    s->extra = extra;
    s->used--;
    if (!good) return false;
    if (added) total = finish_added(added, total, node->extent);
    if (node->reduction == FORMULA_MEAN) total /= (double)node->extent;
    memcpy(c->key, s->values, sizeof c->key);
    c->value = *out = total;
    c->valid = true;
    return true;
}

static bool eval_reduction(cute_formula_state *s, const formula_node *node, lanes l, double *out)
{
    /* The extra values vary along the result's last index; inside another reduction they are fixed. */
    bool by_extra = (node->reads & FORMULA_EXTRA_BIT) && l.slot == s->formula->index_count - 1;
    if (!depends_on_lane(node, l) && !by_extra) {
        double value;
        if (!compute_reduction(s, node, &value)) return false;
        fill_vector(out, l.count, value);
        return true;
    }
    int64_t first = l.slot >= 0 ? s->values[l.slot] : 0;
    const double *extra = s->extra;
    bool good = true;
    for (int i = 0; i < l.count && good; i++) {
        out[i] = 0;
        if (l.mask && !l.mask[i]) continue;
        if (l.slot >= 0) s->values[l.slot] = first + i;
        s->extra = extra ? extra + i : NULL;
        good = compute_reduction(s, node, &out[i]);
    }
    if (l.slot >= 0) s->values[l.slot] = first;
    s->extra = extra;
    return good;
}

/* ---- operators ---- */

static bool eval_select(cute_formula_state *s, const formula_node *node, lanes l, double *out)
{
    double *condition = push_vector(s), *other = push_vector(s);
    unsigned char yes[LANES], no[LANES];
    int yes_count = 0, no_count = 0;
    bool good = eval_node(s, node->args[0], l, condition);
    for (int i = 0; i < l.count && good; i++) {
        bool active = !l.mask || l.mask[i];
        yes_count += yes[i] = active && condition[i] != 0;
        no_count += no[i] = active && condition[i] == 0;
    }
    if (good && yes_count) good = eval_node(s, node->args[1], (lanes){l.slot, l.count, yes}, out);
    if (good && no_count) good = eval_node(s, node->args[2], (lanes){l.slot, l.count, no}, other);
    for (int i = 0; i < l.count && good; i++)
        if (!yes[i]) out[i] = no[i] ? other[i] : 0;
    s->used -= 2;
    return good;
}

/* && and || evaluate the right side only in lanes where the left side does not decide. */
static bool eval_logic(cute_formula_state *s, const formula_node *node, lanes l, double *out)
{
    unsigned char open[LANES];
    bool is_and = node->op == CUTE_EXPR_OP_AND;
    double *right = push_vector(s);
    int open_count = 0;
    bool good = eval_node(s, node->args[0], l, out);
    for (int i = 0; i < l.count && good; i++) {
        out[i] = out[i] != 0;
        open_count += open[i] = (!l.mask || l.mask[i]) && (out[i] != 0) == is_and;
    }
    if (good && open_count) good = eval_node(s, node->args[1], (lanes){l.slot, l.count, open}, right);
    for (int i = 0; i < l.count && good; i++)
        if (open[i]) out[i] = right[i] != 0;
    s->used--;
    return good;
}

#define EACH(expression)                                                                                     \
    for (int i = 0; i < l.count; i++) {                                                                      \
        double a = out[i], b = right[i];                                                                     \
        out[i] = (double)(expression);                                                                       \
    }                                                                                                        \
    break

static bool eval_operator(cute_formula_state *s, const formula_node *node, lanes l, double *out)
{
    if (node->op == CUTE_EXPR_OP_SELECT) return eval_select(s, node, l, out);
    if (node->op == CUTE_EXPR_OP_AND || node->op == CUTE_EXPR_OP_OR) return eval_logic(s, node, l, out);
    if (!eval_node(s, node->args[0], l, out)) return false;
    if (node->count == 1) {
        for (int i = 0; i < l.count; i++) out[i] = node->op == CUTE_EXPR_OP_NEGATE ? -out[i] : out[i] == 0;
        return true;
    }
    double *right = push_vector(s);
    bool good = eval_node(s, node->args[1], l, right);
    if (good) {
        switch (node->op) {
        case CUTE_EXPR_OP_EQ: EACH(a == b);
        case CUTE_EXPR_OP_NE: EACH(a != b);
        case CUTE_EXPR_OP_LT: EACH(a < b);
        case CUTE_EXPR_OP_LE: EACH(a <= b);
        case CUTE_EXPR_OP_GT: EACH(a > b);
        case CUTE_EXPR_OP_GE: EACH(a >= b);
        case CUTE_EXPR_OP_ADD: EACH(a + b);
        case CUTE_EXPR_OP_SUB: EACH(a - b);
        case CUTE_EXPR_OP_MUL: EACH(a * b);
        case CUTE_EXPR_OP_DIV: EACH(a / b);
        default: EACH(fmod(a, b));
        }
    }
    s->used--;
    return good;
}

static bool eval_two(cute_formula_state *s, const formula_node *node, lanes l, double *out)
{
    double *right = push_vector(s);
    bool good = eval_node(s, node->args[0], l, out) && eval_node(s, node->args[1], l, right);
    for (int i = 0; i < l.count && good; i++) out[i] = node->two(out[i], right[i]);
    s->used--;
    return good;
}

static bool eval_node(cute_formula_state *s, const formula_node *node, lanes l, double *out)
{
    switch (node->kind) {
    case FORMULA_CONSTANT: fill_vector(out, l.count, node->value); return true;
    case FORMULA_VARIABLE:
        if (node->slot != l.slot)
            fill_vector(out, l.count, (double)s->values[node->slot]);
        else
            for (int i = 0; i < l.count; i++) out[i] = (double)(s->values[node->slot] + i);
        return true;
    case FORMULA_EXTRA:
        /* Inside a reduction, the lanes are the reduction's, and the extra value is the same for all. */
        if (l.slot == s->formula->index_count - 1)
            memcpy(out, s->extra, (size_t)l.count * sizeof *out);
        else
            fill_vector(out, l.count, s->extra[0]);
        return true;
    case FORMULA_ELEMENT: return eval_element(s, node, l, out);
    case FORMULA_REDUCTION: return eval_reduction(s, node, l, out);
    case FORMULA_OPERATOR: return eval_operator(s, node, l, out);
    case FORMULA_TWO: return eval_two(s, node, l, out);
    case FORMULA_ONE:
        if (!eval_node(s, node->args[0], l, out)) return false;
        for (int i = 0; i < l.count; i++) out[i] = node->one(out[i]);
        return true;
    case FORMULA_CAST:
        if (!eval_node(s, node->args[0], l, out)) return false;
        cute_dtype_round(node->dtype, out, (size_t)l.count);
        return true;
    }
    return false;
}

bool cute_formula_eval(cute_formula_state *state, const int64_t *index, int count, const double *extra,
                       double *out)
{
    int indices = state->formula->index_count;
    for (int i = 0; i < indices; i++) state->values[i] = index[i];
    state->extra = extra;
    state->used = 0;
    return eval_node(state, state->formula->root, (lanes){indices - 1, count, NULL}, out);
}
