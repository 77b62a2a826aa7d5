/* Translates launch plans (docs/metadata.md) to C: a function that evaluates the values of a plan and performs its launches. A value
 * that may be undefined, after a division by zero for example, has a flag beside it; only a launch that uses it fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/aot/function.h"
#include "lib/launch/data/dtype.h"

enum { MAX_LOOPS = 64, MAX_MAPS = 4096 };

typedef struct plan_writer {
    aot_writer *w;
    const aot_function *f;
    const host_plan *plan;
    const aot_param *params;
    const cute_module *module;
    cute_place file;
    const json_t *operations, *launches, *temporaries;
    size_t count;
    int *widths;
    bool *doubtful; /* may be undefined */
    bool *maps;     /* a tensor map: its value is the index of the operation that makes it */
    cute_buffer *out;
    size_t open[MAX_LOOPS], depth, map_count;
    bool placed;
} plan_writer;

static cute_status fail_plan(const plan_writer *p, const char *problem)
{
    return cute_fail(p->w->diag, CUTE_INVALID, &p->file, "the plan of '%s' %s", p->plan->name, problem);
}

#define PUT(...) cute_buffer_printf(p->out, __VA_ARGS__)

static void indent(const plan_writer *p)
{
    for (size_t i = 0; i <= p->depth; i++) cute_buffer_puts(p->out, "    ");
}

static const char *name_of(const json_t *op)
{
    const char *name = json_string_value(json_array_get(op, 0));
    return name ? name : "";
}

static bool is_named(const json_t *op, const char *name)
{
    return strcmp(name_of(op), name) == 0;
}

/* An index below `limit`. */
static bool index_of(const json_t *item, size_t limit, size_t *out)
{
    if (!json_is_integer(item) || json_integer_value(item) < 0 || (uint64_t)json_integer_value(item) >= limit)
        return false;
    *out = (size_t)json_integer_value(item);
    return true;
}

/* The value that item `i` of a list refers to. */
static bool operand(const plan_writer *p, const json_t *list, size_t i, size_t limit, size_t *out)
{
    return index_of(json_array_get(list, i), limit < p->count ? limit : p->count, out);
}

/* ---- known values ---- */

static int integer_of(const char *name)
{
    int op = 0;
    while (op < CUTE_INTEGERS && strcmp(name, cute_integers[op].plan) != 0) op++;
    return op;
}

static bool is_predicate(const char *name)
{
    for (int i = 0; i < CUTE_PREDICATES; i++)
        if (strcmp(name, cute_predicates[i]) == 0) return true;
    return false;
}

/* Texts of integers.def: the sources compute as cute-run does. */
static const struct {
    const char *condition, *result;
} integer_texts[] = {
#define CUTE_INTEGER(id, plan, arith, llvm, condition, result) {#condition, #result},
#include "lib/base/numbers/integers.def"
};

static bool may_fail(const char *name)
{
    int op = integer_of(name);
    return op < CUTE_INTEGERS && strcmp(integer_texts[op].condition, "true") != 0;
}

static int width_of(const json_t *op)
{
    const json_t *second = json_array_get(op, 1);
    cute_dtype dtype;
    if (is_named(op, "fcmp") || is_predicate(name_of(op))) return 1;
    if (json_is_string(second))
        return cute_dtype_find(json_string_value(second), &dtype) ? (int)cute_dtype_get(dtype)->bytes * 8 : 0;
    return json_is_integer(second) ? (int)json_integer_value(second) : 0;
}

static bool argument_is_given(const plan_writer *p, const json_t *op)
{
    int64_t which = json_integer_value(json_array_get(op, 2)),
            leaf = json_integer_value(json_array_get(op, 3));
    return which >= 0 && (uint64_t)which < p->f->param_count && leaf >= 0 &&
           (uint64_t)leaf < p->params[which].host.leaf_count;
}

/* Whether an operand at position `from` or after is doubtful. */
static bool has_doubtful(const plan_writer *p, const json_t *op, size_t from)
{
    size_t x;
    for (size_t i = from; i < json_array_size(op); i++)
        if (operand(p, op, i, p->count, &x) && p->doubtful[x]) return true;
    return false;
}

/* One pass over the values; true if it learnt something. Carried values depend on later ones. */
static bool learn_values(plan_writer *p)
{
    bool learnt = false;
    size_t loops[MAX_LOOPS], depth = 0;
    for (size_t i = 0; i < p->count; i++) {
        const json_t *op = json_array_get(p->operations, i);
        const char *name = name_of(op);
        bool doubtful = p->doubtful[i], map = p->maps[i];
        size_t a, b;
        if (!strcmp(name, "for") && depth < MAX_LOOPS) {
            loops[depth++] = i;
            for (size_t k = 5; k < json_array_size(op); k++)
                if (operand(p, op, k, i, &a) && p->doubtful[a] && i + k - 4 < p->count)
                    p->doubtful[i + k - 4] = true;
        } else if (!strcmp(name, "end") && depth) {
            size_t loop = loops[--depth];
            for (size_t k = 2; k < json_array_size(op); k++)
                if (operand(p, op, k, i, &a) && p->doubtful[a] && loop + k - 1 < p->count &&
                    !p->doubtful[loop + k - 1])
                    p->doubtful[loop + k - 1] = learnt = true;
        } else if (!strcmp(name, "arg")) {
            doubtful = !argument_is_given(p, op);
        } else if (!strcmp(name, "tensor_map")) {
            map = true;
        } else if (!strcmp(name, "select")) {
            map = operand(p, op, 3, i, &a) && operand(p, op, 4, i, &b) && p->maps[a] && p->maps[b];
            doubtful = doubtful || has_doubtful(p, op, 2);
        } else if (integer_of(name) < CUTE_INTEGERS || is_predicate(name) || !strcmp(name, "sext") ||
                   !strcmp(name, "zext") || !strcmp(name, "trunc")) {
            doubtful = doubtful || may_fail(name) || has_doubtful(p, op, 2);
        } else if (json_is_string(json_array_get(op, 1)) && strcmp(name, "fconst")) {
            doubtful = doubtful || !strcmp(name, "fcast") || has_doubtful(p, op, 2);
        }
        learnt = learnt || doubtful != p->doubtful[i] || map != p->maps[i];
        p->doubtful[i] = doubtful;
        p->maps[i] = map;
        p->widths[i] = width_of(op);
        p->placed = p->placed || !strcmp(name, "launch") || !strcmp(name, "step");
    }
    return learnt;
}

/* The flag of a value as an expression. */
static void put_known(const plan_writer *p, size_t i)
{
    if (p->doubtful[i])
        PUT("k%zu", i);
    else
        PUT("true");
}

/* "if (!(k3 && k5)) return ...;" if one of them is doubtful. */
static void put_require(const plan_writer *p, const size_t *values, size_t count, const char *role)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) any = any || p->doubtful[values[i]];
    if (!any) return;
    indent(p);
    PUT("if (!(");
    for (size_t i = 0, put = 0; i < count; i++)
        if (p->doubtful[values[i]]) PUT("%sk%zu", put++ ? " && " : "", values[i]);
    PUT(")) return aot_unknown(run, \"%s\");\n", role);
}

/* ---- integers ---- */

static void put_constant(const plan_writer *p, int64_t value)
{
    if (value == INT64_MIN)
        PUT("INT64_MIN");
    else
        PUT("INT64_C(%lld)", (long long)value);
}

static cute_status put_integer(plan_writer *p, size_t i, const json_t *op)
{
    static const char *const relations[CUTE_PREDICATES] = {"==", "!=", "<",  "<=", ">",
                                                           ">=", "<",  "<=", ">",  ">="};
    const char *name = name_of(op);
    size_t a, b;
    if (!operand(p, op, 2, i, &a) || !operand(p, op, 3, i, &b))
        return fail_plan(p, "has an operand that is not an earlier value");
    int which = integer_of(name), width = p->widths[a];
    indent(p);
    if (which < CUTE_INTEGERS) {
        p->w->operations[which] = true;
        if (p->doubtful[i]) {
            PUT("k%zu = ", i);
            put_known(p, a);
            PUT(" && ");
            put_known(p, b);
            PUT(" && ");
        } else {
            PUT("(void)");
        }
        PUT("aot_op_%s(v%zu, v%zu, %d, &v%zu);\n", name, a, b, width, i);
        return CUTE_OK;
    }
    if (p->doubtful[i]) {
        PUT("k%zu = ", i);
        put_known(p, a);
        PUT(" && ");
        put_known(p, b);
        PUT("; ");
    }
    int predicate = 0;
    while (predicate < CUTE_PREDICATES && strcmp(name, cute_predicates[predicate]) != 0) predicate++;
    if (predicate == CUTE_PREDICATES)
        return cute_fail(p->w->diag, CUTE_INVALID, &p->file, "the plan of '%s' has an unknown operation '%s'",
                         p->plan->name, name);
    bool is_unsigned = predicate >= 6;
    if (is_unsigned)
        PUT("v%zu = -(int64_t)(aot_bits(v%zu, %d) %s aot_bits(v%zu, %d));\n", i, a, width,
            relations[predicate], b, width);
    else
        PUT("v%zu = -(int64_t)(v%zu %s v%zu);\n", i, a, relations[predicate], b);
    return CUTE_OK;
}

static cute_status put_cast(plan_writer *p, size_t i, const json_t *op)
{
    size_t a;
    if (!operand(p, op, 2, i, &a)) return fail_plan(p, "has an operand that is not an earlier value");
    indent(p);
    if (p->doubtful[i]) PUT("k%zu = k%zu; ", i, a);
    if (is_named(op, "zext"))
        PUT("v%zu = aot_fit((int64_t)aot_bits(v%zu, %d), %d);\n", i, a, p->widths[a], p->widths[i]);
    else
        PUT("v%zu = aot_fit(v%zu, %d);\n", i, a, p->widths[i]);
    return CUTE_OK;
}

static cute_status put_select(plan_writer *p, size_t i, const json_t *op)
{
    size_t a, b, c;
    if (!operand(p, op, 2, i, &a) || !operand(p, op, 3, i, &b) || !operand(p, op, 4, i, &c))
        return fail_plan(p, "has an operand that is not an earlier value");
    indent(p);
    if (p->doubtful[i]) {
        PUT("k%zu = ", i);
        put_known(p, a);
        PUT(" && (v%zu ? ", a);
        put_known(p, b);
        PUT(" : ");
        put_known(p, c);
        PUT("); ");
    }
    PUT("v%zu = aot_fit(v%zu ? v%zu : v%zu, %d);\n", i, a, b, c, p->widths[i]);
    return CUTE_OK;
}

static cute_status put_argument(plan_writer *p, size_t i, const json_t *op)
{
    if (!argument_is_given(p, op)) return CUTE_OK;
    const aot_param *param = &p->params[json_integer_value(json_array_get(op, 2))];
    size_t leaf = (size_t)json_integer_value(json_array_get(op, 3));
    indent(p);
    PUT("v%zu = aot_fit(leaf[%zu], %d);\n", i, param->first + leaf, p->widths[i]);
    return CUTE_OK;
}

/* ---- floats: computed as doubles and rounded, as cute-run does ---- */

static const struct {
    const char *name, *expression;
} float_table[] =
    {
        {"fadd", "x + y"},
        {"fsub", "x - y"},
        {"fmul", "x * y"},
        {"fdiv", "x / y"},
        {"fmin", "isnan(x) || isnan(y) ? (double)NAN : fmin(x, y)"},
        {"fmax", "isnan(x) || isnan(y) ? (double)NAN : fmax(x, y)"},
        {"fminnum", "fmin(x, y)"},
        {"fmaxnum", "fmax(x, y)"},
        {"fneg", "-x"},
        {"fabs", "fabs(x)"},
        {"fsqrt", "sqrt(x)"},
        {"frsqrt", "1 / sqrt(x)"},
        {"fexp", "exp(x)"},
        {"fexp2", "exp2(x)"},
        {"flog", "log(x)"},
        {"flog2", "log2(x)"},
        {"ffloor", "floor(x)"},
        {"fceil", "ceil(x)"},
},
  comparisons[] = {
      {"eq", "x == y"}, {"gt", "x > y"},  {"ge", "x >= y"}, {"lt", "x < y"},
      {"le", "x <= y"}, {"ne", "x != y"}, {"rd", "true"},   {"no", "false"},
};

/* The type of floats in the source: "f32"; NULL: unsupported. */
static const char *float_type(const json_t *item)
{
    const char *text = json_string_value(item);
    return text && (!strcmp(text, "f32") || !strcmp(text, "f64")) ? text : NULL;
}

static cute_status put_float_cast(plan_writer *p, size_t i, const json_t *op, size_t a)
{
    const char *to = json_string_value(json_array_get(op, 1)),
               *from = json_string_value(json_array_get(op, 3));
    cute_dtype to_dtype, from_dtype;
    if (!from || !cute_dtype_find(from, &from_dtype) || !cute_dtype_find(to, &to_dtype))
        return fail_plan(p, "converts from an unknown type");
    const cute_dtype_info *t = cute_dtype_get(to_dtype), *f = cute_dtype_get(from_dtype);
    bool to_float = t->class == CUTE_CLASS_FLOAT, from_float = f->class == CUTE_CLASS_FLOAT;
    if ((to_float && !float_type(json_array_get(op, 1))) ||
        (from_float && !float_type(json_array_get(op, 3))) || (!to_float && !from_float))
        return fail_plan(p, "converts between types that --emit-c does not support: expected f32 or f64");
    if (from_float)
        PUT("{ const double x = aot_%s(v%zu); ", from, a);
    else if (f->class == CUTE_CLASS_SIGNED)
        PUT("{ const double x = (double)v%zu; ", a);
    else
        PUT("{ const double x = (double)aot_bits(v%zu, %d); ", a,
            f->class == CUTE_CLASS_BOOL ? 1 : (int)f->bytes * 8);
    PUT("k%zu = ", i);
    put_known(p, a);
    if (to_float) {
        PUT("; v%zu = aot_from_%s(x); }\n", i, to);
        return CUTE_OK;
    }
    int width = (int)t->bytes * 8;
    bool is_signed = t->class == CUTE_CLASS_SIGNED;
    p->w->math = true;
    PUT(" && trunc(x) >= %s && trunc(x) < ldexp(1, %d); ", is_signed ? "-ldexp(1, 63)" : "0",
        is_signed ? width - 1 : width);
    if (is_signed && width < 64) PUT("k%zu = k%zu && trunc(x) >= -ldexp(1, %d); ", i, i, width - 1);
    PUT("if (k%zu) v%zu = aot_fit((int64_t)%strunc(x), %d); }\n", i, i, is_signed ? "" : "(uint64_t)", width);
    return CUTE_OK;
}

static cute_status put_comparison(plan_writer *p, size_t i, const json_t *op, const char *type, size_t a,
                                  size_t b)
{
    const char *predicate = json_string_value(json_array_get(op, 4));
    for (size_t c = 0; predicate && *predicate && c < sizeof comparisons / sizeof *comparisons; c++) {
        if ((*predicate != 'o' && *predicate != 'u') || strcmp(predicate + 1, comparisons[c].name) != 0)
            continue;
        p->w->math = true;
        PUT("{ const double x = aot_%s(v%zu), y = aot_%s(v%zu); v%zu = -(int64_t)(isnan(x) || isnan(y) ? %s "
            ": %s); }\n",
            type, a, type, b, i, *predicate == 'u' ? "true" : "false", comparisons[c].expression);
        return CUTE_OK;
    }
    return fail_plan(p, "has an unknown comparison predicate");
}

static cute_status put_float(plan_writer *p, size_t i, const json_t *op)
{
    const char *name = name_of(op), *type = float_type(json_array_get(op, 1));
    size_t a, b = 0;
    if (!strcmp(name, "fcast")) {
        if (!operand(p, op, 2, i, &a)) return fail_plan(p, "has an operand that is not an earlier value");
        indent(p);
        return put_float_cast(p, i, op, a);
    }
    if (!type)
        return fail_plan(p, "computes with floats that --emit-c does not support: expected f32 or f64");
    if (!strcmp(name, "fconst")) {
        const char *text = json_string_value(json_array_get(op, 2));
        double value = text ? strtod(text, NULL) : json_number_value(json_array_get(op, 2));
        uint8_t bytes[8] = {0};
        cute_dtype dtype = CUTE_F64;
        cute_dtype_find(type, &dtype);
        cute_dtype_store(dtype, bytes, 1, 1, &value);
        indent(p);
        PUT("v%zu = ", i);
        put_constant(p, host_number_of(bytes, cute_dtype_get(dtype)->bytes).value);
        PUT(";\n");
        return CUTE_OK;
    }
    bool two = operand(p, op, 3, i, &b);
    if (!operand(p, op, 2, i, &a)) return fail_plan(p, "has an operand that is not an earlier value");
    indent(p);
    if (p->doubtful[i]) {
        PUT("k%zu = ", i);
        put_known(p, a);
        if (two) PUT(" && ");
        if (two) put_known(p, b);
        PUT("; ");
    }
    if (!strcmp(name, "fcmp")) return put_comparison(p, i, op, type, a, b);
    for (size_t k = 0; k < sizeof float_table / sizeof *float_table; k++) {
        if (strcmp(name, float_table[k].name) != 0) continue;
        bool binary = strchr(float_table[k].expression, 'y') != NULL;
        if (binary && !two) return fail_plan(p, "has an operand that is not an earlier value");
        p->w->math = p->w->math || strchr(float_table[k].expression, '(') != NULL;
        PUT("{ const double x = aot_%s(v%zu)", type, a);
        if (binary) PUT(", y = aot_%s(v%zu)", type, b);
        PUT("; v%zu = aot_from_%s(%s); }\n", i, type, float_table[k].expression);
        return CUTE_OK;
    }
    return cute_fail(p->w->diag, CUTE_INVALID, &p->file, "the plan of '%s' has an unknown operation '%s'",
                     p->plan->name, name);
}

/* ---- temporaries, assertions and loops ---- */

static cute_status put_temporary(plan_writer *p, size_t i, const json_t *op)
{
    size_t which = (size_t)json_integer_value(json_array_get(op, 2)), used = 0, values[64], n = 0;
    const json_t *json = json_array_get(p->temporaries, which), *init = json_object_get(json, "init"),
                 *condition = json_object_get(json, "if"), *shape = json_object_get(json, "shape"),
                 *strides = json_object_get(json, "strides");
    size_t rank = json_array_size(shape);
    if (!json_is_object(json) || rank > 32 || json_array_size(strides) != rank)
        return fail_plan(p, "has a malformed temporary");
    for (size_t k = 0; k < rank; k++)
        if (!operand(p, shape, k, i, &values[n++]) || !operand(p, strides, k, i, &values[n++]))
            return fail_plan(p, "has a malformed temporary");
    if (condition) {
        if (!index_of(condition, i, &used)) return fail_plan(p, "has a malformed temporary");
        put_require(p, &used, 1, "condition of a temporary");
        indent(p);
        PUT("if (v%zu) {\n", used);
        p->depth++;
    }
    put_require(p, values, n, "size of a temporary");
    indent(p);
    PUT("{ const int64_t extents[] = {");
    for (size_t k = 0; k < rank; k++) PUT("%sv%zu", k ? ", " : "", values[2 * k]);
    PUT("%s}, strides[] = {", rank ? "" : "0");
    for (size_t k = 0; k < rank; k++) PUT("%sv%zu", k ? ", " : "", values[2 * k + 1]);
    PUT("%s}; AOT_TRY(aot_measure(run, %zu, %lld, %d, extents, strides, %zu, &v%zu)); }\n", rank ? "" : "0",
        which, (long long)json_integer_value(json_object_get(json, "size")),
        init ? (int)json_integer_value(init) : -1, rank, i);
    if (condition) {
        p->depth--;
        indent(p);
        PUT("}\n");
    }
    return CUTE_OK;
}

static cute_status put_assertion(plan_writer *p, size_t i, const json_t *op)
{
    size_t a;
    const char *text = json_string_value(json_array_get(op, 3));
    if (!operand(p, op, 2, i, &a)) return fail_plan(p, "has an assertion with an undefined condition");
    put_require(p, &a, 1, "condition of an assertion");
    indent(p);
    PUT("if (!v%zu) return aot_fail(AOT_ARGUMENT, \"%%s: assertion failed: %%s\", run->function, ", a);
    aot_put_string(text ? text : "", p->out);
    PUT(");\n");
    return CUTE_OK;
}

static cute_status put_for(plan_writer *p, size_t i, const json_t *op)
{
    size_t bounds[3], x, carried = json_array_size(op) > 5 ? json_array_size(op) - 5 : 0;
    for (size_t k = 0; k < 3; k++)
        if (!operand(p, op, 2 + k, i, &bounds[k])) return fail_plan(p, "has a loop without bounds");
    if (p->depth == MAX_LOOPS || carried >= p->count - i) return fail_plan(p, "has a loop without an end");
    put_require(p, bounds, 3, "bound of a loop");
    indent(p);
    PUT("if (v%zu < 1) return aot_unknown(run, \"step of a loop\");\n", bounds[2]);
    indent(p);
    PUT("v%zu = v%zu;\n", i, bounds[0]);
    for (size_t k = 0; k < carried; k++) {
        if (!operand(p, op, 5 + k, i, &x)) return fail_plan(p, "has a loop without initial values");
        indent(p);
        PUT("v%zu = v%zu;", i + 1 + k, x);
        if (p->doubtful[i + 1 + k]) {
            PUT(" k%zu = ", i + 1 + k);
            put_known(p, x);
            PUT(";");
        }
        PUT("\n");
    }
    indent(p);
    PUT("while (v%zu < v%zu) {\n", i, bounds[1]);
    p->open[p->depth++] = i;
    return CUTE_OK;
}

static cute_status put_end(plan_writer *p, size_t i, const json_t *op)
{
    size_t x, step;
    if (!p->depth) return fail_plan(p, "has an end without a loop");
    size_t loop = p->open[p->depth - 1];
    const json_t *begin = json_array_get(p->operations, loop);
    size_t carried = json_array_size(begin) > 5 ? json_array_size(begin) - 5 : 0;
    for (size_t k = 0; k < carried; k++) {
        if (!operand(p, op, 2 + k, i, &x))
            return fail_plan(p, "has a loop that does not update all carried values");
        indent(p);
        PUT("const int64_t n%zu_%zu = v%zu;", i, k, x);
        if (p->doubtful[loop + 1 + k]) {
            PUT(" const bool m%zu_%zu = ", i, k);
            put_known(p, x);
            PUT(";");
        }
        PUT("\n");
    }
    for (size_t k = 0; k < carried; k++) {
        indent(p);
        PUT("v%zu = n%zu_%zu;", loop + 1 + k, i, k);
        if (p->doubtful[loop + 1 + k]) PUT(" k%zu = m%zu_%zu;", loop + 1 + k, i, k);
        PUT("\n");
    }
    if (!operand(p, begin, 4, loop, &step)) return fail_plan(p, "has a loop without bounds");
    indent(p);
    PUT("if (__builtin_add_overflow(v%zu, v%zu, &v%zu)) break;\n", loop, step, loop);
    p->depth--;
    indent(p);
    PUT("}\n");
    return CUTE_OK;
}

/* ---- launches ---- */

/* Encodes the tensor map of operation `i` into the argument's parameter. */
static cute_status put_one_map(plan_writer *p, size_t i, const cute_arg *arg)
{
    const json_t *op = json_array_get(p->operations, i), *known = json_array_get(op, 5);
    cute_tensor_map map;
    size_t address, values[2 * CUTE_MAP_RANK] = {0}, rank = json_array_size(json_array_get(op, 3));
    const char *tensor = json_string_value(json_object_get(known, "tensor"));
    if (rank < 1 || rank > CUTE_MAP_RANK || !tensor || !host_map_read(known, (int)rank, &map) ||
        !operand(p, op, 2, i, &address))
        return fail_plan(p, "has an unsupported tensor map");
    for (size_t k = 0; k < rank; k++)
        if (!operand(p, json_array_get(op, 3), k, i, &values[k]) ||
            (k && !operand(p, json_array_get(op, 4), k - 1, i, &values[rank + k])))
            return fail_plan(p, "has an unsupported tensor map");
    values[rank] = address;
    indent(p);
    PUT("{\n");
    p->depth++;
    put_require(p, values, 2 * rank, "tensor map");
    indent(p);
    PUT("static const aot_map map = ");
    aot_put_map(tensor, &map, p->out);
    PUT(";\n");
    indent(p);
    PUT("const int64_t extents[] = {");
    for (size_t k = 0; k < rank; k++) PUT("%sv%zu", k ? ", " : "", values[k]);
    PUT("}, strides[] = {0");
    for (size_t k = 1; k < rank; k++) PUT(", v%zu", values[rank + k]);
    PUT("};\n");
    indent(p);
    PUT("AOT_TRY(aot_encode(run, &map, v%zu, extents, strides, p%zu));\n", address, arg->first);
    p->depth--;
    indent(p);
    PUT("}\n");
    return CUTE_OK;
}

/* A tensor map, or a selection among several. */
static cute_status put_map_argument(plan_writer *p, const cute_arg *arg, size_t value)
{
    const json_t *op = json_array_get(p->operations, value);
    size_t a, b, c;
    if (++p->map_count > MAX_MAPS) return fail_plan(p, "selects among too many tensor maps");
    if (is_named(op, "tensor_map")) return put_one_map(p, value, arg);
    if (!is_named(op, "select") || !operand(p, op, 2, value, &a) || !operand(p, op, 3, value, &b) ||
        !operand(p, op, 4, value, &c))
        return fail_plan(p, "has an unsupported tensor map");
    indent(p);
    PUT("if (v%zu) {\n", a);
    p->depth++;
    CUTE_TRY(put_map_argument(p, arg, b));
    p->depth--;
    indent(p);
    PUT("} else {\n");
    p->depth++;
    CUTE_TRY(put_map_argument(p, arg, c));
    p->depth--;
    indent(p);
    PUT("}\n");
    return CUTE_OK;
}

static cute_status put_argument_of_launch(plan_writer *p, const cute_kernel *kernel, size_t index,
                                          const json_t *item, const json_t *list)
{
    const cute_arg *arg = &kernel->args[index];
    bool several = json_is_array(item);
    size_t count = several ? json_array_size(item) : 1, value = 0;
    if (arg->kind == CUTE_ARG_TENSOR_MAP) {
        bool found =
            several ? operand(p, item, 0, p->count, &value) : operand(p, list, index, p->count, &value);
        if (count != 1 || !found || !p->maps[value])
            return fail_plan(p, "launches a kernel without its tensor map");
        if (arg->in_memory)
            return fail_plan(p, "has a tensor map in device memory, which --emit-c does not support");
        if (arg->first >= kernel->param_count || kernel->params[arg->first].size != CUTE_MAP_BYTES)
            return fail_plan(p, "launches a kernel whose tensor map does not have 128 bytes");
        return put_map_argument(p, arg, value);
    }
    if (count != aot_leaf_count(arg))
        return cute_fail(p->w->diag, CUTE_INVALID, &p->file,
                         "the plan of '%s' launches '%s': expected %zu values for argument %zu (%s), got %zu",
                         p->plan->name, kernel->name, aot_leaf_count(arg), index, arg->name, count);
    for (size_t k = 0; k < count; k++) {
        char text[32];
        if (!(several ? operand(p, item, k, p->count, &value) : operand(p, list, index, p->count, &value)))
            return fail_plan(p, "has a launch with a malformed argument");
        put_require(p, &value, 1, "argument");
        snprintf(text, sizeof text, "v%zu", value);
        indent(p);
        if (!aot_put_store(kernel, arg, k, text, p->out))
            return fail_plan(p, "has a launch with a malformed argument");
        PUT("\n");
    }
    return aot_put_offsets(p->w, arg, p->out);
}

/* ".grid" of the launch's shape, from `key`; `fallback`: the kernel's own. */
static cute_status put_extents(plan_writer *p, const json_t *launch, const char *key, const int64_t *fallback,
                               int64_t least)
{
    const json_t *list = json_object_get(launch, key);
    size_t values[3], count = json_array_size(list);
    if (!count) {
        for (int i = 0; i < 3; i++) {
            indent(p);
            PUT("shape.%s[%d] = %lld;\n", key, i, (long long)fallback[i]);
        }
        return CUTE_OK;
    }
    if (count != 3) return fail_plan(p, "has a launch without three extents");
    for (size_t i = 0; i < 3; i++)
        if (!operand(p, list, i, p->count, &values[i]))
            return fail_plan(p, "has a launch without three extents");
    put_require(p, values, 3, key);
    for (size_t i = 0; i < 3; i++) {
        indent(p);
        PUT("shape.%s[%zu] = v%zu;\n", key, i, values[i]);
    }
    if (least < 1) return CUTE_OK;
    indent(p);
    PUT("if (v%zu < 1 || v%zu < 1 || v%zu < 1) return aot_unknown(run, \"%s\");\n", values[0], values[1],
        values[2], key);
    return CUTE_OK;
}

static cute_status put_shape_number(plan_writer *p, const json_t *launch, const char *key, const char *field,
                                    const char *fallback, const char *test)
{
    const json_t *list = json_object_get(launch, key);
    size_t value;
    if (!json_array_size(list)) {
        indent(p);
        PUT("shape.%s = %s;\n", field, fallback);
        return CUTE_OK;
    }
    if (!operand(p, list, 0, p->count, &value)) return fail_plan(p, "has a malformed launch");
    put_require(p, &value, 1, field);
    indent(p);
    PUT("shape.%s = v%zu%s;\n", field, value, test);
    return CUTE_OK;
}

static cute_status put_launch(plan_writer *p, const json_t *launch)
{
    const char *name = json_string_value(json_object_get(launch, "kernel"));
    const cute_kernel *kernel;
    const json_t *condition = json_object_get(launch, "if"), *args = json_object_get(launch, "args");
    size_t index, used, given = json_array_size(args);
    char shared[32];
    if (!name || !aot_kernel_index(p->module, name, &index))
        return cute_fail(p->w->diag, CUTE_INVALID, &p->file,
                         "the plan of '%s' launches '%s', which is not in the module", p->plan->name,
                         name ? name : "");
    kernel = cute_module_kernel(p->module, index);
    if (given != kernel->arg_count)
        return cute_fail(p->w->diag, CUTE_INVALID, &p->file,
                         "the plan of '%s' launches '%s': expected %zu arguments, got %zu", p->plan->name,
                         name, kernel->arg_count, given);
    indent(p);
    PUT("{ /* ");
    aot_put_comment(name, p->out);
    PUT(" */\n");
    p->depth++;
    if (condition) {
        if (!index_of(condition, p->count, &used))
            return fail_plan(p, "has a launch with an undefined condition");
        put_require(p, &used, 1, "condition of a launch");
        indent(p);
        PUT("if (v%zu) {\n", used);
        p->depth++;
    }
    indent(p);
    PUT("aot_shape shape;\n");
    CUTE_TRY(put_extents(p, launch, "grid", kernel->grid, 0));
    CUTE_TRY(put_extents(p, launch, "block", kernel->reqntid[0] > 0 ? kernel->reqntid : kernel->block, 1));
    CUTE_TRY(put_extents(p, launch, "cluster", kernel->cluster, 1));
    snprintf(shared, sizeof shared, "%lld", (long long)(kernel->dynamic_smem > 0 ? kernel->dynamic_smem : 0));
    CUTE_TRY(put_shape_number(p, launch, "dynamic_smem", "shared", shared, ""));
    CUTE_TRY(put_shape_number(p, launch, "cooperative", "cooperative", "false", " != 0"));
    CUTE_TRY(put_shape_number(p, launch, "programmatic", "programmatic", "false", " != 0"));
    CUTE_TRY(aot_put_param_room(p->w, kernel, p->out));
    for (size_t i = 0; i < given; i++)
        CUTE_TRY(put_argument_of_launch(p, kernel, i, json_array_get(args, i), args));
    indent(p);
    PUT("AOT_TRY(aot_start(run, %zu, &shape, params));\n", index);
    for (int i = condition ? 0 : 1; i < 2; i++) {
        p->depth--;
        indent(p);
        PUT("}\n");
    }
    return CUTE_OK;
}

/* ---- steps: on one stream, in order, so that events are not needed ---- */

static bool step_operand(const plan_writer *p, const json_t *step, const char *key, size_t *out)
{
    return index_of(json_object_get(step, key), p->count, out);
}

/* A copy of elements at strides. */
static cute_status put_box(plan_writer *p, const json_t *step, const size_t *values)
{
    static const char *const keys[] = {"shape", "to_strides", "from_strides"}, *const names[] = {
                                                                                   "extents", "to_strides",
                                                                                   "from_strides"};
    size_t rank = json_array_size(json_object_get(step, "shape")), lists[3][16];
    int64_t size = json_integer_value(json_object_get(step, "size"));
    if (rank > 16 || size < 1) return fail_plan(p, "has a malformed step");
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < rank; i++)
            if (!operand(p, json_object_get(step, keys[k]), i, p->count, &lists[k][i]))
                return fail_plan(p, "has a malformed step");
    for (int k = 0; k < 3; k++) put_require(p, lists[k], rank, "strided copy");
    indent(p);
    PUT("{ const int64_t ");
    for (int k = 0; k < 3; k++) {
        PUT("%s%s[] = {", k ? ", " : "", names[k]);
        for (size_t i = 0; i < rank; i++) PUT("%sv%zu", i ? ", " : "", lists[k][i]);
        PUT("%s}", rank ? "" : "0");
    }
    PUT("; AOT_TRY(aot_copy_box(run, v%zu, v%zu, %lld, extents, to_strides, from_strides, %zu)); }\n",
        values[0], values[1], (long long)size, rank);
    return CUTE_OK;
}

static cute_status put_step(plan_writer *p, const json_t *step)
{
    const json_t *condition = json_object_get(step, "if");
    bool copy = json_object_get(step, "copy");
    int width = (int)json_integer_value(json_object_get(step, "width"));
    size_t values[3], used;
    if (!copy && !json_object_get(step, "fill")) return CUTE_OK;
    if (!step_operand(p, step, copy ? "to" : "fill", &values[0]) ||
        !step_operand(p, step, copy ? "copy" : "value", &values[1]) ||
        !step_operand(p, step, "bytes", &values[2]) || (condition && !index_of(condition, p->count, &used)) ||
        (!copy && width != 1 && width != 2 && width != 4 && width != 8))
        return fail_plan(p, "has a malformed step");
    if (condition) {
        put_require(p, &used, 1, "condition of a step");
        indent(p);
        PUT("if (v%zu) {\n", used);
        p->depth++;
    }
    put_require(p, values, 3, copy ? "copy" : "fill");
    bool strided = copy && json_object_get(step, "shape");
    if (!strided) indent(p);
    if (strided)
        CUTE_TRY(put_box(p, step, values));
    else if (copy)
        PUT("AOT_TRY(aot_copy(run, v%zu, v%zu, v%zu));\n", values[0], values[1], values[2]);
    else
        PUT("AOT_TRY(aot_fill(run, v%zu, v%zu, v%zu, %d));\n", values[0], values[2], values[1], width);
    if (!condition) return CUTE_OK;
    p->depth--;
    indent(p);
    PUT("}\n");
    return CUTE_OK;
}

/* ---- the function ---- */

static cute_status put_value(plan_writer *p, size_t i)
{
    const json_t *op = json_array_get(p->operations, i), *third = json_array_get(op, 2);
    const char *name = name_of(op);
    int width = p->widths[i];
    if (!strcmp(name, "carry")) return CUTE_OK;
    if (!strcmp(name, "for")) return put_for(p, i, op);
    if (!strcmp(name, "end")) return put_end(p, i, op);
    if (!strcmp(name, "assert")) return put_assertion(p, i, op);
    if (!strcmp(name, "temporary")) return put_temporary(p, i, op);
    if (!strcmp(name, "launch"))
        return put_launch(p, json_array_get(p->launches, (size_t)json_integer_value(third)));
    if (!strcmp(name, "step"))
        return put_step(
            p, json_array_get(json_object_get(p->plan->json, "steps"), (size_t)json_integer_value(third)));
    if (json_is_string(json_array_get(op, 1))) return put_float(p, i, op);
    if (width < 1 || width > 64) return fail_plan(p, "has a malformed operation");
    if (!strcmp(name, "arg")) return put_argument(p, i, op);
    if (!strcmp(name, "tensor_map")) return CUTE_OK;
    if (!strcmp(name, "const") && json_is_integer(third)) {
        indent(p);
        PUT("v%zu = ", i);
        put_constant(p, cute_integer_fit(json_integer_value(third), width));
        PUT(";\n");
        return CUTE_OK;
    }
    if (!strcmp(name, "sms")) {
        indent(p);
        PUT("v%zu = aot_fit(run->slot->multiprocessors, %d);\n", i, width);
        return CUTE_OK;
    }
    if (!strcmp(name, "env") && json_is_string(third)) {
        indent(p);
        PUT("AOT_TRY(aot_environment(run, ");
        aot_put_string(json_string_value(third), p->out);
        PUT(", &v%zu)); v%zu = aot_fit(v%zu, %d);\n", i, i, i, width);
        return CUTE_OK;
    }
    if (!strcmp(name, "sext") || !strcmp(name, "zext") || !strcmp(name, "trunc")) return put_cast(p, i, op);
    if (!strcmp(name, "select")) return p->maps[i] ? CUTE_OK : put_select(p, i, op);
    return put_integer(p, i, op);
}

static void put_variables(const plan_writer *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const json_t *op = json_array_get(p->operations, i);
        if (is_named(op, "end") || is_named(op, "launch") || is_named(op, "step") || is_named(op, "assert") ||
            p->maps[i])
            continue;
        PUT("    int64_t v%zu = 0;", i);
        if (p->doubtful[i]) PUT(" bool k%zu = false;", i);
        PUT(" (void)v%zu;", i);
        if (p->doubtful[i]) PUT(" (void)k%zu;", i);
        PUT("\n");
    }
}

cute_status aot_put_plan(aot_writer *w, const aot_function *f, size_t group, cute_buffer *out)
{
    const aot_body *body = &f->bodies[group];
    plan_writer writer = {.w = w, .f = f, .plan = &body->plan, .params = body->params, .out = out},
                *p = &writer;
    p->module = w->input->groups[group].module;
    p->file.file = w->input->groups[group].label;
    p->operations = json_object_get(body->plan.json, "values");
    p->launches = json_object_get(body->plan.json, "launches");
    p->temporaries = json_object_get(body->plan.json, "temporaries");
    p->count = json_array_size(p->operations);
    p->widths = cute_arena_array(w->arena, p->count + 1, sizeof *p->widths);
    p->doubtful = cute_arena_array(w->arena, p->count + 1, sizeof *p->doubtful);
    p->maps = cute_arena_array(w->arena, p->count + 1, sizeof *p->maps);
    if (!p->widths || !p->doubtful || !p->maps) return cute_fail_memory(w->diag);
    while (learn_values(p)) continue;
    PUT("static int plan_%zu_%s(aot_run *run, const int64_t *leaf)\n{\n", group, f->symbol);
    put_variables(p);
    PUT("    (void)leaf;\n");
    for (size_t i = 0; i < p->count; i++) CUTE_TRY(put_value(p, i));
    if (p->depth) return fail_plan(p, "has a loop without an end");
    for (size_t i = 0; !p->placed && i < json_array_size(p->launches); i++)
        CUTE_TRY(put_launch(p, json_array_get(p->launches, i)));
    PUT("    return AOT_OK;\n}\n\n");
    return CUTE_OK;
}
