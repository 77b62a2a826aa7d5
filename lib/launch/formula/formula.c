/* Compiles formulas: resolves names to slots, tensors and functions, and infers the extents of reductions.
 * Evaluation is in formula_eval.c. */
#include "lib/launch/formula/formula_node.h"

#include <math.h>
#include <string.h>

#include "lib/base/options/nearest.h"

typedef struct compiler {
    cute_arena *arena;
    const cute_formula_scope *scope;
    cute_formula *formula;
    const char *names[CUTE_FORMULA_SLOTS]; /* of the variables; NULL: out of scope */
    cute_diag *diag;
} compiler;

static double one_over_sqrt(double x)
{
    return 1.0 / sqrt(x);
}
static double sign_of(double x)
{
    return x > 0 ? 1 : x < 0 ? -1 : x;
}
static double relu(double x)
{
    return x < 0 ? 0 : x;
}
static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}
static double silu(double x)
{
    return x * sigmoid(x);
}
static double gelu(double x)
{
    return 0.5 * x * (1 + erf(x * 0.70710678118654752));
}
static double gelu_tanh(double x)
{
    return 0.5 * x * (1 + tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
}
static double is_nan(double x)
{
    return x != x;
}
static double modulo(double a, double b)
{
    return a - b * floor(a / b);
}
static double floor_div(double a, double b)
{
    return floor(a / b);
}
static double ceil_div(double a, double b)
{
    return ceil(a / b);
}

typedef struct formula_function {
    const char *name;
    double (*one)(double);
    double (*two)(double, double);
} formula_function;

static const formula_function functions[] = {
    {"exp", exp, NULL},
    {"exp2", exp2, NULL},
    {"expm1", expm1, NULL},
    {"log", log, NULL},
    {"log2", log2, NULL},
    {"log10", log10, NULL},
    {"log1p", log1p, NULL},
    {"sqrt", sqrt, NULL},
    {"rsqrt", one_over_sqrt, NULL},
    {"cbrt", cbrt, NULL},
    {"sin", sin, NULL},
    {"cos", cos, NULL},
    {"tan", tan, NULL},
    {"asin", asin, NULL},
    {"acos", acos, NULL},
    {"atan", atan, NULL},
    {"sinh", sinh, NULL},
    {"cosh", cosh, NULL},
    {"tanh", tanh, NULL},
    {"erf", erf, NULL},
    {"erfc", erfc, NULL},
    {"abs", fabs, NULL},
    {"sign", sign_of, NULL},
    {"relu", relu, NULL},
    {"sigmoid", sigmoid, NULL},
    {"silu", silu, NULL},
    {"gelu", gelu, NULL},
    {"gelu_tanh", gelu_tanh, NULL},
    {"floor", floor, NULL},
    {"ceil", ceil, NULL},
    {"trunc", trunc, NULL},
    {"round", rint, NULL},
    {"isnan", is_nan, NULL},
    {"pow", NULL, pow},
    {"atan2", NULL, atan2},
    {"mod", NULL, modulo},
    {"floor_div", NULL, floor_div},
    {"ceil_div", NULL, ceil_div},
    {"hypot", NULL, hypot},
    {"min", NULL, fmin},
    {"max", NULL, fmax},
};

static const char *function_at(const void *unused, size_t index)
{
    static const char *const reductions[] = {"sum", "prod", "mean"};
    size_t count = sizeof functions / sizeof *functions;
    if (index < count) return functions[index].name;
    index -= count;
    if (index < 3) return reductions[index];
    return cute_dtype_name_at(unused, index - 3);
}

static int slot_of(const compiler *c, const char *name)
{
    for (int i = c->formula->slot_count; i-- > 0;)
        if (c->names[i] && strcmp(c->names[i], name) == 0) return i;
    return -1;
}

static const cute_formula_param *param_of(const compiler *c, const char *name)
{
    for (size_t i = 0; i < c->scope->param_count; i++)
        if (strcmp(c->scope->params[i].name, name) == 0) return &c->scope->params[i];
    return NULL;
}

static const cute_tensor *tensor_of(const compiler *c, const char *name)
{
    for (size_t i = 0; i < c->scope->tensor_count; i++)
        if (strcmp(c->scope->tensors[i]->name, name) == 0) return c->scope->tensors[i];
    return NULL;
}

static bool constant_of(const char *name, double *value)
{
    if (strcmp(name, "pi") == 0)
        *value = 3.141592653589793;
    else if (strcmp(name, "inf") == 0)
        *value = INFINITY;
    else if (strcmp(name, "nan") == 0)
        *value = NAN;
    else
        return false;
    return true;
}

static bool is_known(const compiler *c, const char *name)
{
    double unused;
    return slot_of(c, name) >= 0 || param_of(c, name) || tensor_of(c, name) || constant_of(name, &unused) ||
           (c->scope->extra && strcmp(c->scope->extra, name) == 0);
}

static const char *known_at(const void *context, size_t index)
{
    const compiler *c = context;
    for (int i = 0; i < c->formula->slot_count; i++)
        if (c->names[i] && index-- == 0) return c->names[i];
    if (index < c->scope->param_count) return c->scope->params[index].name;
    index -= c->scope->param_count;
    return index < c->scope->tensor_count ? c->scope->tensors[index]->name : NULL;
}

static cute_status fail_name(const compiler *c, const cute_expr *x)
{
    const char *near = cute_nearest(x->name, known_at, c);
    cute_fail(c->diag, CUTE_INVALID, &x->place,
              near ? "unknown name '%s'; did you mean '%s'?" : "unknown name '%s'", x->name, near);
    cute_buffer known = {0};
    const char *name;
    for (size_t i = 0; (name = known_at(c, i)); i++) cute_buffer_printf(&known, "%s%s", i ? ", " : "", name);
    if (known.length) cute_note(c->diag, NULL, "known here: %s", known.data);
    cute_buffer_release(&known);
    return CUTE_INVALID;
}

static cute_status compile_expr(compiler *c, const cute_expr *x, formula_node **out);

static cute_status make_node(compiler *c, formula_kind kind, const cute_expr *x, int count,
                             formula_node **out)
{
    formula_node *node = cute_arena_alloc(c->arena, sizeof *node);
    if (!node) return cute_fail_memory(c->diag);
    node->kind = kind;
    node->op = x->op;
    node->place = x->place;
    node->count = count;
    node->vectors = 1;
    if (count > 0 && !(node->args = cute_arena_array(c->arena, (size_t)count, sizeof *node->args)))
        return cute_fail_memory(c->diag);
    *out = node;
    return CUTE_OK;
}

static void set_child(formula_node *node, int index, formula_node *child)
{
    node->args[index] = child;
    node->reads |= child->reads;
    node->vectors += child->vectors;
}

static cute_status compile_args(compiler *c, const cute_expr *x, int from, formula_node *node)
{
    for (int i = 0; i < node->count; i++) {
        formula_node *child;
        CUTE_TRY(compile_expr(c, x->args[from + i], &child));
        set_child(node, i, child);
    }
    return CUTE_OK;
}

static void note_tensor(compiler *c, const cute_tensor *tensor)
{
    cute_formula *f = c->formula;
    for (size_t i = 0; i < f->tensor_count; i++)
        if (f->tensors[i] == tensor) return;
    f->tensors[f->tensor_count++] = tensor;
}

static cute_status compile_element(compiler *c, const cute_expr *x, const cute_tensor *tensor,
                                   formula_node **out)
{
    if (x->count != tensor->rank)
        return cute_fail(c->diag, CUTE_INVALID, &x->place, "expected %d ind%s of %s, got %d", tensor->rank,
                         tensor->rank == 1 ? "ex" : "ices", tensor->name, x->count);
    CUTE_TRY(make_node(c, FORMULA_ELEMENT, x, x->count, out));
    (*out)->tensor = tensor;
    note_tensor(c, tensor);
    CUTE_TRY(compile_args(c, x, 0, *out));
    if ((*out)->reads & FORMULA_EXTRA_BIT)
        return cute_fail(c->diag, CUTE_INVALID, &x->place, "'%s' cannot be an index", c->scope->extra);
    return CUTE_OK;
}

/* A name without indices: the element at the result's indices, or the only element. */
static cute_status compile_whole(compiler *c, const cute_expr *x, const cute_tensor *tensor,
                                 formula_node **out)
{
    bool single = tensor->count == 1;
    if (!single && tensor->rank != c->scope->index_count)
        return cute_fail(c->diag, CUTE_INVALID, &x->place,
                         "%s has %d dimension%s and the result %d: expected indices, as in %s[i]",
                         tensor->name, tensor->rank, tensor->rank == 1 ? "" : "s", c->scope->index_count,
                         tensor->name);
    CUTE_TRY(make_node(c, FORMULA_ELEMENT, x, tensor->rank, out));
    (*out)->tensor = tensor;
    note_tensor(c, tensor);
    for (int i = 0; i < tensor->rank; i++) {
        formula_node *index = NULL;
        if (!single && tensor->shape[i] != c->scope->extents[i])
            return cute_fail(c->diag, CUTE_INVALID, &x->place,
                             "expected dimension %d of %s to have the result's %lld elements, got %lld", i,
                             tensor->name, (long long)c->scope->extents[i], (long long)tensor->shape[i]);
        CUTE_TRY(make_node(c, single ? FORMULA_CONSTANT : FORMULA_VARIABLE, x, 0, &index));
        index->slot = i;
        index->reads = single ? 0 : UINT64_C(1) << i;
        set_child(*out, i, index);
    }
    return CUTE_OK;
}

static cute_status compile_name(compiler *c, const cute_expr *x, formula_node **out)
{
    int slot = slot_of(c, x->name);
    const cute_formula_param *param = param_of(c, x->name);
    const cute_tensor *tensor = tensor_of(c, x->name);
    double value;
    if (slot >= 0 && slot < c->scope->index_count && param)
        return cute_fail(c->diag, CUTE_INVALID, &x->place,
                         "'%s' is both a param and an index: rename the indices with 'index'", x->name);
    if (c->scope->extra && strcmp(c->scope->extra, x->name) == 0) {
        CUTE_TRY(make_node(c, FORMULA_EXTRA, x, 0, out));
        (*out)->reads = FORMULA_EXTRA_BIT;
    } else if (slot >= 0) {
        CUTE_TRY(make_node(c, FORMULA_VARIABLE, x, 0, out));
        (*out)->slot = slot;
        (*out)->reads = UINT64_C(1) << slot;
    } else if (param) {
        CUTE_TRY(make_node(c, FORMULA_CONSTANT, x, 0, out));
        (*out)->value = param->number;
    } else if (tensor) {
        return compile_whole(c, x, tensor, out);
    } else if (constant_of(x->name, &value)) {
        CUTE_TRY(make_node(c, FORMULA_CONSTANT, x, 0, out));
        (*out)->value = value;
    } else {
        return fail_name(c, x);
    }
    return CUTE_OK;
}

/* ---- reductions ---- */

static const char *const reduction_names[] = {"sum", "prod", "mean", "max", "min"};

/* max and min are reductions only if their first operand is a name that is not defined. */
static bool is_reduction(const compiler *c, const cute_expr *x, formula_reduction *which)
{
    *which = FORMULA_ADDED;
    if (cute_plugins_reduction(c->scope->plugins, x->name)) return true;
    for (size_t i = 0; i < sizeof reduction_names / sizeof *reduction_names; i++) {
        if (strcmp(x->name, reduction_names[i]) != 0) continue;
        *which = (formula_reduction)i;
        bool fresh = x->count > 0 && x->args[0]->kind == CUTE_EXPR_NAME && !is_known(c, x->args[0]->name);
        return i < FORMULA_MAX || (fresh && (x->count == 2 || x->count == 3));
    }
    return false;
}

/* The extent of the dimensions indexed by exactly `name`; -1: none, -2: they differ. */
static int64_t inferred_extent(const compiler *c, const cute_expr *x, const char *name)
{
    int64_t extent = -1;
    for (int i = 0; i < x->count; i++) {
        const cute_expr *arg = x->args[i];
        int64_t found = inferred_extent(c, arg, name);
        const cute_tensor *tensor = x->kind == CUTE_EXPR_INDEX ? tensor_of(c, x->name) : NULL;
        if (tensor && i < tensor->rank && arg->kind == CUTE_EXPR_NAME && strcmp(arg->name, name) == 0)
            found = tensor->shape[i];
        if (found == -2 || (found >= 0 && extent >= 0 && found != extent)) return -2;
        if (found >= 0) extent = found;
    }
    return extent;
}

static bool lookup_param(void *context, const char *name, int64_t *value)
{
    const cute_formula_param *param = param_of(context, name);
    if (!param || param->real) return false;
    *value = param->integer;
    return true;
}

static cute_status compile_reduction(compiler *c, const cute_expr *x, formula_reduction which,
                                     formula_node **out)
{
    const char *f = x->name;
    if ((x->count != 2 && x->count != 3) || x->args[0]->kind != CUTE_EXPR_NAME)
        return cute_fail(c->diag, CUTE_INVALID, &x->place,
                         "expected a reduction such as %s(k, A[i,k]) or, with an extent, %s(k, 16, ...)", f,
                         f);
    const char *name = x->args[0]->name;
    if (is_known(c, name))
        return cute_fail(c->diag, CUTE_INVALID, &x->args[0]->place,
                         "'%s' is already defined: a reduction needs a new name", name);
    const cute_expr *body = x->args[x->count - 1];
    int64_t extent;
    if (x->count == 3) {
        CUTE_TRY(cute_expr_int(x->args[1], lookup_param, c, &extent, c->diag));
        if (extent < 0)
            return cute_fail(c->diag, CUTE_INVALID, &x->args[1]->place,
                             "expected an extent of at least 0, got %lld", (long long)extent);
    } else {
        extent = inferred_extent(c, body, name);
        if (extent < 0)
            return cute_fail(c->diag, CUTE_INVALID, &x->args[0]->place,
                             extent == -1
                                 ? "unknown extent of '%s', which does not index a tensor by itself: "
                                   "write %s(%s, EXTENT, ...)"
                                 : "ambiguous extent of '%s', which indexes dimensions of different "
                                   "extents: write %s(%s, EXTENT, ...)",
                             name, f, name);
    }
    if (c->formula->slot_count == CUTE_FORMULA_SLOTS)
        return cute_fail(c->diag, CUTE_INVALID, &x->place, "expected at most %d variables in an expression",
                         CUTE_FORMULA_SLOTS);
    CUTE_TRY(make_node(c, FORMULA_REDUCTION, x, 1, out));
    formula_node *node = *out, *child;
    node->slot = c->formula->slot_count++;
    node->extent = extent;
    node->reduction = which;
    if (which == FORMULA_ADDED) node->added = cute_plugins_reduction(c->scope->plugins, f);
    node->cache = c->formula->cache_count++;
    c->names[node->slot] = name;
    CUTE_TRY(compile_expr(c, body, &child));
    c->names[node->slot] = NULL;
    set_child(node, 0, child);
    node->reads &= ~(UINT64_C(1) << node->slot);
    return CUTE_OK;
}

/* ---- calls and operators ---- */

/* min and max of more than two operands, folded from the left. */
static cute_status compile_fold(compiler *c, const cute_expr *x, const formula_function *f,
                                formula_node **out)
{
    formula_node *left, *right;
    CUTE_TRY(compile_expr(c, x->args[0], &left));
    for (int i = 1; i < x->count; i++) {
        CUTE_TRY(compile_expr(c, x->args[i], &right));
        CUTE_TRY(make_node(c, FORMULA_TWO, x, 2, out));
        (*out)->two = f->two;
        set_child(*out, 0, left);
        set_child(*out, 1, right);
        left = *out;
    }
    *out = left;
    return CUTE_OK;
}

static cute_status compile_call(compiler *c, const cute_expr *x, formula_node **out)
{
    formula_reduction which;
    cute_dtype dtype;
    if (is_reduction(c, x, &which)) return compile_reduction(c, x, which, out);
    if (cute_dtype_find(x->name, &dtype)) {
        if (x->count != 1)
            return cute_fail(c->diag, CUTE_INVALID, &x->place, "%s expects 1 operand, got %d", x->name,
                             x->count);
        CUTE_TRY(make_node(c, FORMULA_CAST, x, 1, out));
        (*out)->dtype = dtype;
        return compile_args(c, x, 0, *out);
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const formula_function *f = &functions[i];
        if (strcmp(f->name, x->name) != 0) continue;
        int wanted = f->one ? 1 : 2;
        if ((f->two == fmin || f->two == fmax) && x->count > 2) return compile_fold(c, x, f, out);
        if (x->count != wanted)
            return cute_fail(c->diag, CUTE_INVALID, &x->place, "%s expects %d operand%s, got %d", f->name,
                             wanted, wanted == 1 ? "" : "s", x->count);
        CUTE_TRY(make_node(c, f->one ? FORMULA_ONE : FORMULA_TWO, x, wanted, out));
        (*out)->one = f->one;
        (*out)->two = f->two;
        return compile_args(c, x, 0, *out);
    }
    const char *near = cute_nearest(x->name, function_at, NULL);
    cute_fail(c->diag, CUTE_INVALID, &x->place,
              near ? "unknown function '%s'; did you mean '%s'?" : "unknown function '%s'", x->name, near);
    cute_note(c->diag, NULL,
              "functions: exp log sqrt tanh erf abs min max pow sin cos floor ..., sum(k, x), casts such as "
              "f16(x)");
    return CUTE_INVALID;
}

static cute_status compile_expr(compiler *c, const cute_expr *x, formula_node **out)
{
    const cute_tensor *tensor;
    switch (x->kind) {
    case CUTE_EXPR_INTEGER:
    case CUTE_EXPR_REAL:
        CUTE_TRY(make_node(c, FORMULA_CONSTANT, x, 0, out));
        (*out)->value = x->kind == CUTE_EXPR_REAL ? x->real : (double)x->integer;
        return CUTE_OK;
    case CUTE_EXPR_NAME: return compile_name(c, x, out);
    case CUTE_EXPR_INDEX:
        tensor = tensor_of(c, x->name);
        return tensor ? compile_element(c, x, tensor, out) : fail_name(c, x);
    case CUTE_EXPR_CALL: return compile_call(c, x, out);
    case CUTE_EXPR_OPERATOR: break;
    }
    CUTE_TRY(make_node(c, FORMULA_OPERATOR, x, x->count, out));
    (*out)->vectors += 2; /* the masks of a select */
    return compile_args(c, x, 0, *out);
}

cute_status cute_formula_check_plugins(const cute_plugins *plugins, cute_diag *diag)
{
    for (size_t i = 0; plugins && i < plugins->reduction_count; i++) {
        const char *name = plugins->reductions[i].row.name, *taken;
        for (size_t k = 0; (taken = function_at(NULL, k)); k++)
            if (strcmp(taken, name) == 0)
                return cute_fail(diag, CUTE_INVALID,
                                 &(cute_place){.file = plugins->reductions[i].library->path},
                                 "reduction '%s': a function of launch.json has this name", name);
    }
    return CUTE_OK;
}

cute_status cute_formula_compile(cute_arena *arena, const cute_expr *expr, const cute_formula_scope *scope,
                                 cute_formula **out, cute_diag *diag)
{
    cute_formula *formula = cute_arena_alloc(arena, sizeof *formula);
    compiler c = {.arena = arena, .scope = scope, .formula = formula, .diag = diag};
    if (!formula ||
        !(formula->tensors = cute_arena_array(arena, scope->tensor_count + 1, sizeof *formula->tensors)))
        return cute_fail_memory(diag);
    formula->index_count = formula->slot_count = scope->index_count;
    for (int i = 0; i < scope->index_count; i++) c.names[i] = scope->indices[i];
    CUTE_TRY(compile_expr(&c, expr, &formula->root));
    *out = formula;
    return CUTE_OK;
}

cute_status cute_formula_constant(cute_arena *arena, const cute_expr *expr, const cute_formula_param *params,
                                  size_t count, double *out, cute_diag *diag)
{
    cute_formula_scope scope = {.params = params, .param_count = count};
    cute_formula *formula;
    CUTE_TRY(cute_formula_compile(arena, expr, &scope, &formula, diag));
    cute_formula_state *state = cute_formula_state_create(formula);
    if (!state) return cute_fail_memory(diag);
    int64_t none = 0;
    cute_status status =
        cute_formula_eval(state, &none, 1, NULL, out) ? CUTE_OK : cute_formula_error(state, diag);
    cute_formula_state_destroy(state);
    return status;
}
