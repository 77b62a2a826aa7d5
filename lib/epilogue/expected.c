/* Expected results as formulas of launch.json, their tolerances, and where a comparison, rounding to an integer or bit is uncertain. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/epilogue/implement.h"

enum { CHECK_TEXT = 1 << 18, FULL_CHECK = 1 << 25, FULL_COST = 1 << 28, SAMPLES = 1000, VECTOR_SAMPLES = 4 };

typedef struct formula_writer {
    const epilogue_tree *tree;
    const epilogue_output *output;
    bool sums;    /* the product's sum is `x` of an einsum */
    bool results; /* matrices that are results are read from their buffers */
    bool acc;     /* the product's sum was used */
    bool stored;  /* the product's sums are a matrix acc */
    int fresh;
    cute_buffer out;
} formula_writer;

/* ---- values ---- */

static void put_node(formula_writer *w, const epilogue_node *n, const char *row, const char *column);

static const char *format_text(formula_writer *w, const char *format, ...) CUTE_PRINTF(2, 3);
static const char *format_text(formula_writer *w, const char *format, ...)
{
    cute_buffer text = {0};
    va_list args;
    va_start(args, format);
    cute_buffer_vprintf(&text, format, args);
    va_end(args);
    const char *copy = cute_arena_copy(w->tree->arena, cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
    if (!copy) w->out.failed = true;
    return copy ? copy : "0";
}

static void put_number(formula_writer *w, double value)
{
    if (isinf(value))
        cute_buffer_puts(&w->out, value > 0 ? "inf" : "(-inf)");
    else
        cute_buffer_printf(&w->out, value < 0 ? "(%.17g)" : "%.17g", value);
}

static void put_element(formula_writer *w, const char *name, epilogue_shape s, bool batched, const char *row,
                        const char *column)
{
    const char *at[3], *separator = "[";
    int count = 0;
    cute_buffer_puts(&w->out, name);
    if (batched && w->tree->problem.batch > 1) at[count++] = "l";
    if (s.rows) at[count++] = row;
    if (s.mul) at[count++] = column;
    for (int i = 0; i < count; i++, separator = ",") cute_buffer_printf(&w->out, "%s%s", separator, at[i]);
    if (count) cute_buffer_putc(&w->out, ']');
}

static void put_call(formula_writer *w, const epilogue_node *n, const char *row, const char *column)
{
    for (const char *c = n->function->check; *c; c++) {
        if (*c == '$')
            put_node(w, n->args[*++c - '1'], row, column);
        else
            cute_buffer_putc(&w->out, *c);
    }
}

static void put_reduction(formula_writer *w, const epilogue_node *n, const char *row, const char *column)
{
    const epilogue_node *x = n->args[0];
    const char *kind = epilogue_kind_name(n->kind);
    int closed = 0;
    if (n->group) {
        const char *at = format_text(w, "at_%d", w->fresh++);
        cute_buffer_printf(&w->out, "%s(%s, %lld, ", kind, at, (long long)n->group);
        put_node(w, x, row, format_text(w, "%lld * (%s) + %s", (long long)n->group, column, at));
        cute_buffer_putc(&w->out, ')');
        return;
    }
    if (n->axis != 1) {
        row = format_text(w, "at_%d", w->fresh++);
        cute_buffer_printf(&w->out, "%s(%s, %lld, ", kind, row, (long long)epilogue_rows(w->tree, x->shape));
        closed++;
    }
    if (n->axis != 0) {
        column = format_text(w, "at_%d", w->fresh++);
        cute_buffer_printf(&w->out, "%s(%s, %lld, ", kind, column,
                           (long long)epilogue_columns(w->tree, x->shape));
        closed++;
    }
    put_node(w, x, row, column);
    while (closed--) cute_buffer_putc(&w->out, ')');
}

static void put_node(formula_writer *w, const epilogue_node *n, const char *row, const char *column)
{
    const char *item = w->tree->problem.batch > 1 ? "l," : "";
    if (w->out.length > CHECK_TEXT) return;
    for (int i = 0; w->results && i < w->tree->output_count; i++) {
        const epilogue_output *o = &w->tree->outputs[i];
        if (o == w->output || o->node != n) continue;
        put_element(w, o->name, n->shape, true, row, column);
        return;
    }
    switch (n->op) {
    case EPILOGUE_ACC:
        w->acc = true;
        if (w->stored) {
            cute_buffer_printf(&w->out, "acc[%s,%s]", row, column);
            return;
        }
        if (w->sums) {
            cute_buffer_putc(&w->out, 'x');
            return;
        }
        cute_buffer_printf(&w->out, "sum(at_%d, %lld, A[%s%s,at_%d] * B[%sat_%d,%s])", w->fresh,
                           (long long)w->tree->problem.k, item, row, w->fresh, item, w->fresh, column);
        w->fresh++;
        return;
    case EPILOGUE_LOAD: put_element(w, n->name, n->shape, n->batched, row, column); return;
    case EPILOGUE_SCALAR: cute_buffer_puts(&w->out, n->name); return;
    case EPILOGUE_CONSTANT: put_number(w, n->value); return;
    case EPILOGUE_COMPUTE: put_call(w, n, row, column); return;
    case EPILOGUE_CAST:
        cute_buffer_printf(&w->out, "%s(", cute_dtype_get(n->dtype)->name);
        put_node(w, n->args[0], row, column);
        cute_buffer_putc(&w->out, ')');
        return;
    case EPILOGUE_SLICE:
        put_node(w, n->args[0], row,
                 format_text(w, "%lld * (%s) + %lld", (long long)n->step, column, (long long)n->first));
        return;
    case EPILOGUE_REPEAT:
        put_node(w, n->args[0], row, format_text(w, "floor_div(%s, %lld)", column, (long long)n->step));
        return;
    case EPILOGUE_PLACES:
        cute_buffer_printf(&w->out, "pow(2, mod(%s, %lld))", column, (long long)n->step);
        return;
    case EPILOGUE_INTERLEAVE: {
        const char *half = format_text(w, "floor_div(%s, 2)", column);
        cute_buffer_printf(&w->out, "(mod(%s, 2) == 0 ? ", column);
        put_node(w, n->args[0], row, half);
        cute_buffer_puts(&w->out, " : ");
        put_node(w, n->args[1], row, half);
        cute_buffer_putc(&w->out, ')');
        return;
    }
    case EPILOGUE_REDUCE: put_reduction(w, n, row, column); return;
    case EPILOGUE_COMMUNICATE: return;
    }
}

/* Whether the value at (i,j) needs the product at (i,j) only. */
static bool is_elementwise(const epilogue_node *n)
{
    if (!n->summed || n->op == EPILOGUE_ACC || n->op == EPILOGUE_PLACES) return true;
    if (n->op != EPILOGUE_COMPUTE && n->op != EPILOGUE_CAST) return false;
    for (int i = 0; i < n->count; i++)
        if (!is_elementwise(n->args[i])) return false;
    return true;
}

/* ---- tolerances ---- */

/* Bounds of the value and of its error, for sums and operands of deviation about 1. */
typedef struct bounds {
    double value, error;
} bounds;

/* Larger errors would excuse too much: of an operand of a comparison, relative to the bound of its value; of a number that is rounded to an
 * integer, absolute. */
static const double most_compared = 0x1p-5, most_rounded = 0.25;

static bounds bound_node(const epilogue_tree *t, const epilogue_node *n, double sum_error, bounds *known,
                         bool *done)
{
    bounds a[3] = {{0, 0}}, b = {8, 0};
    if (done[n->number]) return known[n->number];
    for (int i = 0; i < n->count; i++) a[i] = bound_node(t, n->args[i], sum_error, known, done);
    double most = 0, error = 0, scale = n->op == EPILOGUE_COMPUTE ? n->function->slope : 1;
    for (int i = 0; i < n->count; i++) {
        if (a[i].value > most) most = a[i].value;
        error += a[i].error;
    }
    bool narrow = cute_dtype_get(t->problem.in)->bytes == 1;
    switch (n->op) {
    case EPILOGUE_ACC:
        if (t->problem.in == CUTE_I8) { /* sums of products of -3 to 3, exact in f32 */
            b.value = 32 * sqrt((double)t->problem.k);
            break;
        }
        b.error = (narrow ? 0x1p-11 : 0x1p-18) * 8 + sum_error;
        break;
    case EPILOGUE_CONSTANT: b.value = fabs(n->value); break;
    case EPILOGUE_COMPUTE:
        b.error = scale > 0 ? scale * error + 0x1p-20 * most : error * (most + 1) + 0x1p-20 * most;
        b.value = most > 8 ? most : 8;
        if (strcmp(n->function->name, "mul") == 0) {
            b.value = a[0].value * a[1].value;
            b.error = a[0].error * a[1].value + a[1].error * a[0].value + 0x1p-22 * b.value;
        }
        if (epilogue_approximates(t, n)) b.error += 0x1p-9 * most / 8;
        if (epilogue_rounds(n->function) && error > most_rounded) b.error += 1;
        break;
    case EPILOGUE_REDUCE: {
        double count = n->group ? (double)n->group
                                : (double)(n->axis == 1   ? t->problem.n
                                           : n->axis == 0 ? t->problem.m
                                                          : t->problem.m * t->problem.n);
        bool adds = n->kind == EPILOGUE_SUM;
        b.value = adds ? a[0].value * sqrt(count) : a[0].value;
        b.error = (adds ? a[0].error * sqrt(count) * 2 : a[0].error) + 0x1p-20 * b.value;
        break;
    }
    case EPILOGUE_PLACES: b.value = (double)(1 << (n->step - 1)); break;
    case EPILOGUE_CAST:
        b.value = most;
        b.error = error + most * ldexp(1, -cute_dtype_get(n->dtype)->mantissa);
        break;
    default:
        if (n->count) b.value = most, b.error = error;
    }
    if (b.value > 1e6) b.value = 1e6;
    if (b.error > 1e5) b.error = 1e5;
    done[n->number] = true;
    return known[n->number] = b;
}

void epilogue_tolerances(const epilogue_tree *t, const epilogue_output *o, double sum_error, double *rtol,
                         double *atol)
{
    bounds known[EPILOGUE_NODES];
    bool done[EPILOGUE_NODES] = {false};
    bounds b = bound_node(t, o->node, sum_error, known, done);
    double eps = ldexp(1, -cute_dtype_get(o->dtype)->mantissa);
    if (o->dtype == CUTE_I8) {
        *rtol = 0;
        *atol = epilogue_packed(o->node) || b.error < 1 ? 0 : floor(b.error);
        return;
    }
    *rtol = eps + 0x1p-12;
    *atol = b.error + ldexp(eps, -6);
    if (cute_dtype_get(o->dtype)->bytes == 1) *atol += 0x1p-9;
}

/* A bound of the value. */
static double value_bound(const epilogue_tree *t, const epilogue_node *n)
{
    bounds known[EPILOGUE_NODES];
    bool done[EPILOGUE_NODES] = {false};
    return bound_node(t, n, 0, known, done).value;
}

/* ---- thresholds ---- */

/* Comparisons and roundings to integers whose operands have errors: near the threshold, results may differ from those in double. */
typedef struct jump_finder {
    formula_writer *w;
    double errors[EPILOGUE_NODES]; /* at a node's threshold; 0: it has none */
    bool jumps[EPILOGUE_NODES];    /* the node or an operand has a threshold */
    bool extreme
        [EPILOGUE_NODES]; /* with the largest or smallest value of others, which is compared with itself */
    bool inexact[EPILOGUE_NODES]; /* f32 and double may differ: not of integers alone */
} jump_finder;

/* Whether a function of integers, or of integers and powers of two, is exact in f32. */
static bool is_exact(const epilogue_node *n)
{
    static const char *const names[] = {"add", "sub", "mul",     "neg",     "where",
                                        "fma", "abs", "maximum", "minimum", "relu"};
    if (strcmp(n->function->name, "div") == 0) return n->args[1]->op == EPILOGUE_PLACES;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(n->function->name, names[i]) == 0) return true;
    return false;
}

/* `operands`: an operand is inexact. */
static bool is_inexact(const jump_finder *f, const epilogue_node *n, bool operands)
{
    switch (n->op) {
    case EPILOGUE_ACC: return f->w->tree->problem.in != CUTE_I8;
    case EPILOGUE_LOAD: return n->dtype != CUTE_I8;
    case EPILOGUE_CONSTANT: return (double)(float)n->value != n->value;
    case EPILOGUE_SCALAR: return true;
    case EPILOGUE_COMPUTE:
        return !n->condition && !epilogue_rounds(n->function) && (operands || !is_exact(n));
    default: return operands;
    }
}

static void find_jump(jump_finder *f, const epilogue_node *n, const bounds *known)
{
    bool rounds = n->op == EPILOGUE_COMPUTE && epilogue_rounds(n->function), extreme = false, inexact = false;
    int at = n->number;
    double error = 0, most = 0;
    for (int i = 0; i < n->count; i++) {
        int from = n->args[i]->number;
        extreme = extreme || f->extreme[from];
        inexact = inexact || f->inexact[from];
        f->jumps[at] = f->jumps[at] || f->jumps[from];
        error += known[from].error;
        if (known[from].value > most) most = known[from].value;
    }
    bool near = rounds ? error <= most_rounded : n->condition && error <= most_compared * most;
    if (near && inexact && !extreme) f->errors[at] = error;
    f->jumps[at] = f->jumps[at] || f->errors[at] > 0;
    f->extreme[at] =
        extreme || (n->op == EPILOGUE_REDUCE && (n->kind == EPILOGUE_MAX || n->kind == EPILOGUE_MIN));
    f->inexact[at] = is_inexact(f, n, inexact);
}

static void find_jumps(jump_finder *f, const epilogue_node *n, double sum_error)
{
    const epilogue_tree *t = f->w->tree;
    bounds known[EPILOGUE_NODES];
    bool done[EPILOGUE_NODES] = {false};
    bound_node(t, n, sum_error, known, done);
    for (int i = 0; i < t->count; i++)
        if (done[t->nodes[i]->number]) find_jump(f, t->nodes[i], known);
}

/* The distance from a threshold. */
static void put_distance(formula_writer *w, const epilogue_node *n, const char *row, const char *column)
{
    bool half = !n->condition && strcmp(n->function->name, "round") == 0;
    put_node(w, n->args[0], row, column);
    cute_buffer_puts(&w->out, n->condition ? " - (" : half ? " - floor(" : " - round(");
    put_node(w, n->args[n->condition], row, column);
    cute_buffer_puts(&w->out, half ? ") - 0.5" : ")");
}

/* Where a node reads another one. */
static const char *column_of(formula_writer *w, const epilogue_node *n, const char *column)
{
    long long step = (long long)n->step;
    if (n->op == EPILOGUE_SLICE)
        return format_text(w, "%lld * (%s) + %lld", step, column, (long long)n->first);
    if (n->op == EPILOGUE_REPEAT) return format_text(w, "floor_div(%s, %lld)", column, step);
    return n->op == EPILOGUE_INTERLEAVE ? format_text(w, "floor_div(%s, 2)", column) : column;
}

/* Appends a formula that is 0 where a node's value at (row, column) is certain. The node jumps. */
static void put_uncertain(jump_finder *f, const epilogue_node *n, const char *row, const char *column)
{
    formula_writer *w = f->w;
    double error = f->errors[n->number];
    int closed = 0, terms = 0;
    if (w->out.length > CHECK_TEXT) return;
    if (n->op == EPILOGUE_REDUCE && (n->group || n->axis != 0)) {
        const char *at = format_text(w, "at_%d", w->fresh++);
        cute_buffer_printf(&w->out, "sum(%s, %lld, ", at,
                           (long long)(n->group ? n->group : epilogue_columns(w->tree, n->args[0]->shape)));
        column = n->group ? format_text(w, "%lld * (%s) + %s", (long long)n->group, column, at) : at;
        closed++;
    }
    if (n->op == EPILOGUE_REDUCE && !n->group && n->axis != 1) {
        row = format_text(w, "at_%d", w->fresh++);
        cute_buffer_printf(&w->out, "sum(%s, %lld, ", row,
                           (long long)epilogue_rows(w->tree, n->args[0]->shape));
        closed++;
    }
    cute_buffer_putc(&w->out, '(');
    if (error > 0) {
        cute_buffer_puts(&w->out, "(abs(");
        put_distance(w, n, row, column);
        cute_buffer_printf(&w->out, ") <= %.6g)", error);
        terms++;
    }
    for (int i = 0; i < n->count; i++) {
        if (!f->jumps[n->args[i]->number]) continue;
        if (terms++) cute_buffer_puts(&w->out, " + ");
        if (n->op == EPILOGUE_INTERLEAVE) cute_buffer_printf(&w->out, "(mod(%s, 2) == %d) * ", column, i);
        put_uncertain(f, n->args[i], row, column_of(w, n, column));
    }
    cute_buffer_putc(&w->out, ')');
    while (closed--) cute_buffer_putc(&w->out, ')');
}

/* Appends the formula of an output's uncertain elements or bits; false: none, or it is too long. */
static bool put_thresholds(formula_writer *w, double sum_error, bool *bits)
{
    const epilogue_node *n = w->output->node,
                        *condition = w->output->dtype == CUTE_I8 ? epilogue_packed(n) : NULL;
    jump_finder f = {.w = w};
    find_jumps(&f, n, sum_error);
    *bits = condition != NULL;
    if (!f.jumps[condition ? condition->number : n->number]) return false;
    if (condition) {
        const char *at = format_text(w, "at_%d", w->fresh++);
        cute_buffer_printf(&w->out, "sum(%s, %d, pow(2, %s) * (0 != ", at, EPILOGUE_BYTE_COLUMNS, at);
        put_uncertain(&f, condition, "i", format_text(w, "%d * j + %s", EPILOGUE_BYTE_COLUMNS, at));
        cute_buffer_puts(&w->out, "))");
    } else {
        put_uncertain(&f, n, "i", "j");
    }
    return cute_buffer_ok(&w->out) && w->out.length <= CHECK_TEXT;
}

/* ---- checks ---- */

/* Multiplications for one element of a formula, in which nothing is computed once for several. */
static double element_cost(const epilogue_tree *t, const epilogue_node *n, double *known)
{
    if (known[n->number] > 0) return known[n->number];
    double cost = n->op == EPILOGUE_ACC ? (double)t->problem.k : 1;
    for (int i = 0; i < n->count; i++) cost += element_cost(t, n->args[i], known);
    if (n->op == EPILOGUE_REDUCE && n->group) cost *= (double)n->group;
    if (n->op == EPILOGUE_REDUCE && !n->group) {
        epilogue_shape s = n->args[0]->shape;
        if (n->axis != 1) cost *= (double)epilogue_rows(t, s);
        if (n->axis != 0) cost *= (double)epilogue_columns(t, s);
    }
    return known[n->number] = cost;
}

static json_t *check_of(const epilogue_tree *t, const epilogue_output *o)
{
    const epilogue_problem *p = &t->problem;
    const epilogue_node *n = o->node;
    double costs[EPILOGUE_NODES] = {0};
    bool matrix = epilogue_is_matrix(n), batched = p->batch > 1,
         large = (double)p->m * (double)p->n * (double)p->k * (double)p->batch > FULL_CHECK;
    /* Sums of values that need whole rows, say, are computed again for each element. */
    large = large ||
            (!matrix && element_cost(t, n, costs) * (double)epilogue_elements(t, n->shape, true) > FULL_COST);
    formula_writer w = {.tree = t, .output = o, .sums = matrix && is_elementwise(n)};
    /* The sum of all elements of a large product takes too long: it is that of the results in memory. */
    w.results = large && !n->shape.rows && !n->shape.mul;
    put_node(&w, n, "i", "j");
    double rtol, atol;
    json_t *check = NULL;
    bool possible = cute_buffer_ok(&w.out) && w.out.length <= CHECK_TEXT && !(w.results && w.acc);
    if (possible && w.sums && w.acc)
        check = json_pack("{s:s,s:[ss],s:s}", "einsum", batched ? "lmk,lkn->lmn" : "mk,kn->mn", "operands",
                          "A", "B", "epilogue", cute_buffer_text(&w.out));
    else if (possible)
        check = json_pack("{s:s}", "expr", cute_buffer_text(&w.out));
    cute_buffer_release(&w.out);
    if (!check) return NULL;
    formula_writer u = {.tree = t, .output = o, .sums = w.sums && w.acc};
    bool bits;
    if (!w.results && put_thresholds(&u, 0, &bits))
        json_object_set_new(check, bits ? "uncertain_bits" : "uncertain",
                            json_string(cute_buffer_text(&u.out)));
    cute_buffer_release(&u.out);
    epilogue_tolerances(t, o, 0, &rtol, &atol);
    if (w.results) {
        double result = ldexp(1, -cute_dtype_get(p->out)->mantissa), most = value_bound(t, n);
        rtol += result;
        atol += most * result;
    }
    json_object_set_new(check, "rtol", json_real(rtol));
    json_object_set_new(check, "atol", json_real(atol));
    json_t *index = json_array();
    if (batched) json_array_append_new(index, json_string("l"));
    if (n->shape.rows) json_array_append_new(index, json_string("i"));
    if (n->shape.mul) json_array_append_new(index, json_string("j"));
    if (json_array_size(index))
        json_object_set_new(check, "index", index);
    else
        json_decref(index);
    if (large && (n->shape.rows || n->shape.mul))
        json_object_set_new(check, "sample", json_integer(matrix ? SAMPLES : VECTOR_SAMPLES));
    return check;
}

bool epilogue_formula(const epilogue_tree *t, const epilogue_output *o, cute_buffer *out)
{
    formula_writer w = {.tree = t, .output = o, .stored = true};
    put_node(&w, o->node, "i", "j");
    bool fits = w.out.length <= CHECK_TEXT;
    cute_buffer_append(out, cute_buffer_text(&w.out), w.out.length);
    cute_buffer_release(&w.out);
    return fits && cute_buffer_ok(out);
}

bool epilogue_thresholds(const epilogue_tree *t, const epilogue_output *o, double sum_error, bool *bits,
                         cute_buffer *out)
{
    formula_writer w = {.tree = t, .output = o, .stored = true};
    bool any = put_thresholds(&w, sum_error, bits);
    if (any) cute_buffer_append(out, cute_buffer_text(&w.out), w.out.length);
    cute_buffer_release(&w.out);
    return any && cute_buffer_ok(out);
}

bool epilogue_reads_rows(const epilogue_node *n)
{
    if (n->op == EPILOGUE_REDUCE && !n->group && n->axis != 1) return true;
    for (int i = 0; i < n->count; i++)
        if (epilogue_reads_rows(n->args[i])) return true;
    return false;
}

json_t *epilogue_checks(const epilogue_tree *t)
{
    json_t *checks = json_object();
    for (int i = 0; checks && i < t->output_count; i++) {
        json_t *check = check_of(t, &t->outputs[i]);
        if (check) json_object_set_new(checks, t->outputs[i].name, check);
    }
    return checks;
}
